//! Topology files of the htsim family (`.topo`): fat-trees of two or three tiers, one speed and delay for each.
//!
//! ```text
//! # comment
//! Nodes 128            hosts
//! Tiers 3
//! Podsize 16           hosts of a pod
//! Tier 0               edge switches; 1: aggregation; 2: cores
//! Downlink_speed_Gbps 100
//! Downlink_Latency_ns 1000
//! Radix_Down 4         links downwards of a switch
//! Radix_Up 4           links upwards; not of the top tier
//! Bundle 1             parallel links between two switches
//! Oversubscribed 1     must agree with speeds and radices
//! Switch_Latency_ns 0
//! Queue_Down 100       bytes; Queue_Up likewise
//! ```
//!
//! Read: `fat_tree_topology.cpp` of csg-htsim and of the artifact of Uno. Keys are not case-sensitive, as there. What those
//! programs accept and ignore, or stop at without a word, is an error here with its line.

use cc_algos::{Rate, Span};
use sim::spec::TreeShape;

/// A tree that a file describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreePlan {
    /// How many of everything.
    pub shape: TreeShape,
    /// Edge, aggregation and core switches, from the bottom; two or three.
    pub tiers: Vec<Tier>,
}

/// What the links below one tier have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tier {
    /// Rate of the links downwards, and of those upwards from the tier below.
    pub rate: Rate,
    /// Their propagation delay.
    pub delay: Span,
    /// What a packet takes through a switch of this tier.
    pub switch_delay: Span,
    /// Room of the queues downwards, bytes, where the file says it.
    pub queue_down: Option<u64>,
    /// Room of the queues upwards, likewise.
    pub queue_up: Option<u64>,
}

/// Why a topology file was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", match line { 0 => String::new(), line => format!("line {line}: ") })]
pub struct TopologyFileError {
    /// The line, from 1; 0 where the whole file is meant.
    pub line: usize,
    /// What is wrong, and what was expected.
    pub problem: String,
}

/// Largest number of any line, so that products of two fit: a second of delay, a gigabyte of queue.
const MAX_NUMBER: u64 = 1_000_000_000;

/// Most hosts.
const MAX_NODES: u64 = 1 << 20;

/// Most switches, hosts or links of one kind.
const MAX_COUNT: u64 = 4_096;

/// What one `Tier` section says.
#[derive(Clone, Debug, Default)]
struct Section {
    line: usize,
    speed: Option<u64>,
    latency: Option<u64>,
    radix_down: Option<u64>,
    radix_up: Option<u64>,
    bundle: Option<u64>,
    oversubscribed: Option<u64>,
    switch_latency: Option<u64>,
    queue_down: Option<u64>,
    queue_up: Option<u64>,
}

const KEYS: [&str; 9] = [
    "downlink_speed_gbps",
    "downlink_latency_ns",
    "radix_down",
    "radix_up",
    "bundle",
    "oversubscribed",
    "switch_latency_ns",
    "queue_down",
    "queue_up",
];

impl Section {
    fn slot(&mut self, key: &str) -> Option<&mut Option<u64>> {
        Some(match key {
            "downlink_speed_gbps" => &mut self.speed,
            "downlink_latency_ns" => &mut self.latency,
            "radix_down" => &mut self.radix_down,
            "radix_up" => &mut self.radix_up,
            "bundle" => &mut self.bundle,
            "oversubscribed" => &mut self.oversubscribed,
            "switch_latency_ns" => &mut self.switch_latency,
            "queue_down" => &mut self.queue_down,
            "queue_up" => &mut self.queue_up,
            _ => return None,
        })
    }

    fn needed(&self, value: Option<u64>, key: &str, tier: usize) -> Result<u64, TopologyFileError> {
        value.ok_or_else(|| fault(self.line, format!("tier {tier} has no `{key}`")))
    }
}

fn fault(line: usize, problem: impl Into<String>) -> TopologyFileError {
    TopologyFileError { line, problem: problem.into() }
}

/// The whole file as it stands.
#[derive(Debug, Default)]
struct File {
    nodes: Option<u64>,
    tiers: Option<u64>,
    pod_size: Option<u64>,
    sections: [Option<Section>; 3],
}

impl File {
    fn read(text: &str) -> Result<Self, TopologyFileError> {
        let mut file = Self::default();
        let mut current = None;
        for (line, content) in (1..).zip(text.lines()) {
            let mut words = content.split_whitespace();
            let Some(key) = words.next().filter(|word| !word.starts_with('#')) else { continue };
            let value = number(line, key, words.next())?;
            if let Some(more) = words.next().filter(|word| !word.starts_with('#')) {
                return Err(fault(line, format!("`{more}` after the value of `{key}`: expected nothing more")));
            }
            let name = key.to_ascii_lowercase();
            match name.as_str() {
                "tier" => current = Some(file.open(line, value)?),
                "nodes" => set(line, key, &mut file.nodes, value)?,
                "tiers" => set(line, key, &mut file.tiers, value)?,
                "podsize" => set(line, key, &mut file.pod_size, value)?,
                _ => {
                    let section = current.and_then(|tier: usize| file.sections[tier].as_mut());
                    let section = section.ok_or_else(|| {
                        fault(line, format!("`{key}` before any `Tier`: expected Nodes, Tiers or Podsize"))
                    })?;
                    let slot = section.slot(&name).ok_or_else(|| unknown(line, key, &name))?;
                    set(line, key, slot, value)?;
                }
            }
        }
        Ok(file)
    }

    fn open(&mut self, line: usize, tier: u64) -> Result<usize, TopologyFileError> {
        let index = usize::try_from(tier).unwrap_or(usize::MAX);
        let slot = self.sections.get_mut(index).ok_or_else(|| fault(line, format!("tier {tier}: expected 0 to 2")))?;
        if slot.is_some() {
            return Err(fault(line, format!("tier {tier} a second time")));
        }
        *slot = Some(Section { line, ..Section::default() });
        Ok(index)
    }
}

fn number(line: usize, key: &str, word: Option<&str>) -> Result<u64, TopologyFileError> {
    let expected = || fault(line, format!("`{key}`: expected a whole number, found {}", word.unwrap_or("nothing")));
    let number = word.ok_or_else(expected)?.parse().map_err(|_| expected())?;
    if number > MAX_NUMBER {
        return Err(fault(line, format!("`{key}` is {number}: expected at most {MAX_NUMBER}")));
    }
    Ok(number)
}

fn set(line: usize, key: &str, slot: &mut Option<u64>, value: u64) -> Result<(), TopologyFileError> {
    if slot.is_some() {
        return Err(fault(line, format!("`{key}` a second time")));
    }
    *slot = Some(value);
    Ok(())
}

fn unknown(line: usize, key: &str, name: &str) -> TopologyFileError {
    let hint = match cc_algos::registry::nearest(name, KEYS.into_iter()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("expected one of {}", KEYS.join(", ")),
    };
    fault(line, format!("unknown key `{key}`: {hint}"))
}

impl TreePlan {
    /// A fat-tree of k-port switches with the same links everywhere.
    pub fn fat_tree(k: u32, rate: Rate, delay: Span) -> Self {
        let tier = Tier { rate, delay, switch_delay: Span::ZERO, queue_down: None, queue_up: None };
        Self { shape: TreeShape::fat_tree(k), tiers: vec![tier; 3] }
    }

    /// What a packet takes on the way down from a switch of tier `tier`: link and switch.
    pub fn down(&self, tier: usize) -> Span {
        self.tiers.get(tier).map_or(Span::ZERO, |tier| tier.delay + tier.switch_delay)
    }

    /// The same on the way up; from a host, which is no switch, to tier 0.
    pub fn up(&self, to: usize) -> Span {
        let through = to.checked_sub(1).and_then(|from| self.tiers.get(from));
        self.tiers.get(to).map_or(Span::ZERO, |tier| tier.delay) + through.map_or(Span::ZERO, |tier| tier.switch_delay)
    }

    /// Propagation between cores and border switches: that of the top tier.
    pub fn border(&self) -> Span {
        self.tiers.last().map_or(Span::ZERO, |tier| tier.delay + tier.switch_delay)
    }

    /// The longest round trip: to another datacentre, if that takes `between`, else over the top of the tree.
    pub fn longest_rtt(&self, between: Option<Span>) -> Span {
        let within: Span =
            (0..self.tiers.len()).map(|tier| self.up(tier) + self.down(tier)).fold(Span::ZERO, |a, b| a + b);
        let joins = between.map_or(Span::ZERO, |between| self.border().saturating_mul(2) + between);
        (within + joins).saturating_mul(2)
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// If a line is not understood, something is missing, or the numbers do not make a tree.
    pub fn parse(text: &str) -> Result<Self, TopologyFileError> {
        let file = File::read(text)?;
        let header = |value: Option<u64>, key: &str| {
            value
                .filter(|value| *value > 0)
                .ok_or_else(|| fault(0, format!("no `{key}` above 0 before the first tier")))
        };
        let (nodes, tiers) = (header(file.nodes, "Nodes")?, header(file.tiers, "Tiers")?);
        let pod_size = header(file.pod_size, "Podsize")?;
        if nodes > MAX_NODES {
            return Err(fault(0, format!("{nodes} nodes: expected at most {MAX_NODES}")));
        }
        if !(2..=3).contains(&tiers) {
            return Err(fault(0, format!("{tiers} tiers: expected 2 or 3")));
        }
        let mut sections = Vec::new();
        for (tier, section) in file.sections.into_iter().enumerate() {
            match (section, (tier as u64) < tiers) {
                (Some(section), true) => sections.push(section),
                (None, true) => return Err(fault(0, format!("no section `Tier {tier}`"))),
                (Some(section), false) => {
                    return Err(fault(section.line, format!("tier {tier} of a tree of {tiers}")));
                }
                (None, false) => {}
            }
        }
        let plan = Self { shape: shape(&sections, nodes, pod_size)?, tiers: Self::tiers(&sections)? };
        check_oversubscription(&sections)?;
        Ok(plan)
    }

    fn tiers(sections: &[Section]) -> Result<Vec<Tier>, TopologyFileError> {
        let tier = |(tier, section): (usize, &Section)| {
            let gbps = section.needed(section.speed.filter(|speed| *speed > 0), "Downlink_speed_Gbps", tier)?;
            let delay = section.needed(section.latency.filter(|delay| *delay > 0), "Downlink_Latency_ns", tier)?;
            Ok(Tier {
                rate: Rate::from_gbps(gbps),
                delay: Span::from_nanos(delay),
                switch_delay: Span::from_nanos(section.switch_latency.unwrap_or(0)),
                queue_down: section.queue_down,
                queue_up: section.queue_up,
            })
        };
        sections.iter().enumerate().map(tier).collect()
    }
}

/// How many of everything follow from radices, bundles, nodes and the size of a pod.
fn shape(sections: &[Section], nodes: u64, pod_size: u64) -> Result<TreeShape, TopologyFileError> {
    let down = |tier: usize| sections[tier].needed(sections[tier].radix_down.filter(|n| *n > 0), "Radix_Down", tier);
    let up = |tier: usize| sections[tier].needed(sections[tier].radix_up.filter(|n| *n > 0), "Radix_Up", tier);
    let bundle = |tier: usize| sections[tier].bundle.unwrap_or(1).max(1);
    let top = sections.len() - 1;
    if let Some(up) = sections[top].radix_up {
        return Err(fault(sections[top].line, format!("Radix_Up {up} of the top tier: nothing stands above it")));
    }
    if bundle(0) != 1 {
        return Err(fault(sections[0].line, "hosts have one link: expected Bundle 1"));
    }
    let (hosts, edge_up) = (down(0)?, up(0)?);
    let pods = divide(sections[0].line, nodes, pod_size, "Nodes", "Podsize")?;
    let edges = divide(sections[0].line, pod_size, hosts, "Podsize", "Radix_Down of tier 0")?;
    let aggregations = divide(sections[1].line, edge_up, bundle(1), "Radix_Up of tier 0", "Bundle of tier 1")?;
    same(sections[1].line, down(1)?, edges * bundle(1), "Radix_Down of tier 1", "edge switches of a pod x Bundle")?;
    let (cores, core_bundle) = if top == 2 {
        let cores = divide(sections[2].line, up(1)?, bundle(2), "Radix_Up of tier 1", "Bundle of tier 2")?;
        same(sections[2].line, down(2)?, pods * bundle(2), "Radix_Down of tier 2", "pods x Bundle")?;
        (cores, bundle(2))
    } else if pods == 1 {
        (0, 1)
    } else {
        return Err(fault(0, format!("{pods} pods of two tiers: expected Podsize to be Nodes")));
    };
    let count = |count: u64| {
        u32::try_from(count).ok().filter(|_| count <= MAX_COUNT).ok_or_else(|| {
            fault(0, format!("{count} switches, hosts or links of a kind: expected at most {MAX_COUNT}"))
        })
    };
    Ok(TreeShape {
        pods: count(pods)?,
        edges: count(edges)?,
        hosts: count(hosts)?,
        aggregations: count(aggregations)?,
        cores: count(cores)?,
        edge_bundle: count(bundle(1))?,
        core_bundle: count(core_bundle)?,
    })
}

fn divide(line: usize, whole: u64, part: u64, what: &str, by: &str) -> Result<u64, TopologyFileError> {
    if part > 0 && whole.is_multiple_of(part) {
        return Ok(whole / part);
    }
    Err(fault(line, format!("{what} is {whole}: expected a multiple of {by}, which is {part}")))
}

fn same(line: usize, found: u64, expected: u64, what: &str, why: &str) -> Result<(), TopologyFileError> {
    if found == expected {
        return Ok(());
    }
    Err(fault(line, format!("{what} is {found}: expected {expected}, {why}")))
}

/// `Oversubscribed` says again what speeds and radices make: what comes from below over what goes up.
fn check_oversubscription(sections: &[Section]) -> Result<(), TopologyFileError> {
    for (tier, pair) in sections.windows(2).enumerate() {
        let (lower, upper) = (&pair[0], &pair[1]);
        let Some(stated) = lower.oversubscribed else { continue };
        let below = lower.radix_down.unwrap_or(0).saturating_mul(lower.speed.unwrap_or(0));
        let above = lower.radix_up.unwrap_or(0).saturating_mul(upper.speed.unwrap_or(0));
        if stated == 0 || below != above.saturating_mul(stated) {
            let problem =
                format!("tier {tier} says Oversubscribed {stated}, but {below} Gb/s come from below and {above} go up");
            return Err(fault(lower.line, problem));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
