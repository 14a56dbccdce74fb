//! From TOML to a [`Scenario`].

use std::path::Path;

use cc_algos::{Rate, Span};
use sim::spec::{FaultLinks, FaultSpec, Switching};
use transport::flow::{EcnMode, Pacing};

use super::error::ScenarioError;
use super::model::{
    Datacentres, Dumbbell, Endpoints, FatTree, Link, LossDetection, Rivals, Scenario, Service, Side, Star, Topology,
    Tree,
};
use super::read::{Entry, Section, Source};
use super::{jitter, parse_coding, parse_link, parse_workload};

/// Most hosts, pairs or flows a scenario may name. Ours.
pub(super) const MAX_COUNT: u32 = 100_000;

/// Most samples of one flow's time series. Ours: each flow under way adds one every time.
const MAX_SAMPLES: u64 = 100_000;

impl Scenario {
    /// Reads a scenario. `origin` names it in errors: a path, or the name of a built-in one.
    ///
    /// # Errors
    ///
    /// If the text is no TOML, a key is unknown, missing, of the wrong type, or has an impossible value.
    pub fn parse(text: &str, origin: &str) -> Result<Self, ScenarioError> {
        let source = Source { origin, text };
        let document = source.parse()?;
        let mut root = Section::root(source, &document);
        let scenario = read_scenario(&mut root)?;
        root.finish()?;
        Ok(scenario)
    }

    /// Reads a scenario's file.
    ///
    /// # Errors
    ///
    /// As [`Scenario::parse`], or if the file cannot be read.
    pub fn load(path: &Path) -> Result<Self, ScenarioError> {
        let origin = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|error| ScenarioError::new(&origin, format!("cannot read the scenario: {error}")))?;
        Self::parse(&text, &origin)
    }
}

fn read_scenario(root: &mut Section<'_>) -> Result<Scenario, ScenarioError> {
    let name = root.required("name")?;
    let duration = root.required("duration")?.positive_span()?;
    let topology = read_topology(&mut *root)?;
    let scenario = Scenario {
        name: name.parsed("a name of at most 60 lower-case letters, digits and hyphens", read_name)?,
        description: root.or("description", String::new(), |entry| Ok(entry.text()?.to_owned()))?,
        duration,
        seeds: root.or("seeds", 10, |entry| entry.count(1, MAX_COUNT))?,
        algorithms: root.or("algorithms", default_algorithms(), read_names)?,
        baseline: root.maybe("baseline", |entry| Ok(entry.text()?.to_owned()))?,
        rivals: root.or("rivals", Rivals::None, read_rivals)?,
        sample_every: root.maybe("sample_every", |entry| read_sampling(entry, duration))?,
        balance: root.or("balance", "ecmp".to_owned(), |entry| Ok(entry.text()?.to_owned()))?,
        coding: root.maybe("coding", parse_coding::read)?,
        oracle: root.or("oracle", false, Entry::switch)?,
        endpoints: root.or("endpoints", Endpoints::INTERNET, |entry| read_endpoints(entry.section()?))?,
        faults: root.or("fault", Vec::new(), |entry| entry.entries()?.iter().map(read_fault).collect())?,
        workloads: parse_workload::read(&root.required("workload")?)?,
        topology,
    };
    check_rivals(root, &scenario)?;
    Ok(scenario)
}

fn read_fault(entry: &Entry<'_>) -> Result<FaultSpec, ScenarioError> {
    let mut section = entry.section()?;
    let group = section.required("links")?.text()?.to_owned();
    let links = match (section.optional("which"), section.optional("random")) {
        (None, None) => FaultLinks::All,
        (None, Some(random)) => FaultLinks::Random(random.count(1, MAX_COUNT)?),
        (Some(which), None) => {
            let links = which.entries()?.iter().map(|link| link.count(0, MAX_COUNT)).collect::<Result<Vec<_>, _>>()?;
            if links.is_empty() {
                return Err(which.fault("expected at least one number of a link"));
            }
            FaultLinks::These(links)
        }
        (Some(_), Some(random)) => return Err(random.fault("expected either `which` or `random`")),
    };
    let from = section.or("from", Span::ZERO, Entry::span)?;
    let until = section.maybe("until", Entry::span)?;
    if until.is_some_and(|until| until <= from) {
        return Err(section.fault("expected `until` to come after `from`"));
    }
    section.finish()?;
    Ok(FaultSpec { group, links, from, until })
}

fn read_sampling(entry: &Entry<'_>, duration: Span) -> Result<Span, ScenarioError> {
    let every = entry.positive_span()?;
    if duration.as_nanos() / every.as_nanos() <= MAX_SAMPLES {
        return Ok(every);
    }
    let least = Span::from_nanos(duration.as_nanos().div_ceil(MAX_SAMPLES));
    Err(entry.fault(format!(
        "expected at least {least}, for {MAX_SAMPLES} samples in the {duration} of a run; found {every}"
    )))
}

fn read_name(text: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (!text.is_empty() && text.len() <= 60 && text.chars().all(plain)).then(|| text.to_owned())
}

/// The algorithms compared where a scenario names none.
fn default_algorithms() -> Vec<String> {
    ["newreno", "cubic", "dctcp"].map(str::to_owned).to_vec()
}

fn read_names(entry: &Entry<'_>) -> Result<Vec<String>, ScenarioError> {
    let names = entry.entries()?.iter().map(|name| Ok(name.text()?.to_owned())).collect::<Result<Vec<_>, _>>()?;
    if names.is_empty() {
        return Err(entry.fault("expected at least one algorithm"));
    }
    Ok(names)
}

fn read_rivals(entry: &Entry<'_>) -> Result<Rivals, ScenarioError> {
    match entry.as_text() {
        Some("each") => Ok(Rivals::Each),
        Some(_) => Err(entry.fault("expected \"each\" (every algorithm of the sweep) or a list of algorithms")),
        None => Ok(Rivals::Named(read_names(entry)?)),
    }
}

fn check_rivals(root: &Section<'_>, scenario: &Scenario) -> Result<(), ScenarioError> {
    use crate::workload::Player;
    let plays = |player| scenario.workloads.iter().any(|workload| workload.player == player);
    if !plays(Player::Subject) {
        return Err(root.fault("no workload is played by the algorithm under test: leave `algorithm` out of one"));
    }
    match (&scenario.rivals, plays(Player::Rival)) {
        (Rivals::None, true) => Err(root.fault("a workload has `algorithm = \"rival\"`: expected a key `rivals`")),
        (Rivals::Each | Rivals::Named(_), false) => {
            Err(root.fault("`rivals` are named: expected a workload with `algorithm = \"rival\"`"))
        }
        _ => Ok(()),
    }
}

#[derive(Clone, Copy)]
enum TopologyKind {
    Dumbbell,
    Star,
    FatTree,
    Datacentres,
}

fn read_topology(root: &mut Section<'_>) -> Result<Topology, ScenarioError> {
    let mut section = root.required("topology")?.section()?;
    let kinds = [
        ("dumbbell", TopologyKind::Dumbbell),
        ("star", TopologyKind::Star),
        ("fat-tree", TopologyKind::FatTree),
        ("datacentres", TopologyKind::Datacentres),
    ];
    let topology = match section.required("kind")?.choice(&kinds)? {
        TopologyKind::Dumbbell => Topology::Dumbbell(read_dumbbell(&mut section)?),
        TopologyKind::Star => Topology::Star(Star {
            hosts: section.required("hosts")?.count(2, MAX_COUNT)?,
            delay: section.required("delay")?.span()?,
            link: parse_link::read(section.required("link")?.section()?)?,
        }),
        TopologyKind::FatTree => Topology::FatTree(FatTree {
            k: read_ports(&section.required("k")?)?,
            delay: section.required("delay")?.span()?,
            link: parse_link::read(section.required("link")?.section()?)?,
            switches: read_switches(&mut section)?,
        }),
        TopologyKind::Datacentres => Topology::Datacentres(read_datacentres(&mut section)?),
    };
    section.finish()?;
    Ok(topology)
}

fn read_datacentres(section: &mut Section<'_>) -> Result<Datacentres, ScenarioError> {
    let count = section.or("count", 2, |entry| entry.count(1, MAX_COUNT))?;
    let tree = match (section.optional("tree"), section.optional("k")) {
        (Some(tree), Some(_)) => return Err(tree.fault("a datacentre has a `tree` or a `k`, not both")),
        (Some(tree), None) => match tree.text()? {
            "" => return Err(tree.fault("expected a topology file")),
            file => Tree::File(file.to_owned()),
        },
        (None, _) => {
            Tree::FatTree { k: read_ports(&section.required("k")?)?, delay: section.required("delay")?.span()? }
        }
    };
    let links = |entry: &Entry<'_>| entry.count(1, 4_096);
    Ok(Datacentres {
        tree,
        borders: section.or("borders", 1, links)?,
        core_border_links: section.or("core_border_links", 1, links)?,
        between_links: section.or("between_links", 8, links)?,
        between_delay: match section.optional("between_delay") {
            Some(entry) => read_delays(&entry)?,
            None if count > 1 => return Err(section.fault("missing key `between_delay`")),
            None => vec![Span::ZERO],
        },
        count,
        hosts_mark: section.or("hosts_mark", true, Entry::switch)?,
        link: read_steady_link(&section.required("link")?)?,
        border: section.maybe("border", |entry| read_steady_link(entry).map(Box::new))?,
        switches: read_switches(section)?,
    })
}

fn read_switches(section: &mut Section<'_>) -> Result<Switching, ScenarioError> {
    let kinds = SWITCHES.map(|switching| (switches_name(switching), switching));
    match section.or("switches", Switching::Ecmp, |entry| entry.choice(&kinds))? {
        Switching::Flowlet { gap } => Ok(Switching::Flowlet { gap: section.or("flowlet_gap", gap, Entry::span)? }),
        switching => Ok(switching),
    }
}

/// Ways in which switches choose. The gap is CONGA's (SIGCOMM'14, section 3.4).
const SWITCHES: [Switching; 4] =
    [Switching::Ecmp, Switching::Spray, Switching::Flowlet { gap: Span::from_micros(500) }, Switching::Adaptive];

/// What they are called.
pub(super) const fn switches_name(switching: Switching) -> &'static str {
    match switching {
        Switching::Ecmp => "ecmp",
        Switching::Spray => "spray",
        Switching::Flowlet { .. } => "flowlet",
        Switching::Adaptive => "adaptive",
    }
}

/// One time, or a list of them that is not empty.
fn read_delays(entry: &Entry<'_>) -> Result<Vec<Span>, ScenarioError> {
    if entry.as_text().is_some() {
        return Ok(vec![entry.span()?]);
    }
    match entry.entries()?.iter().map(Entry::span).collect::<Result<Vec<_>, _>>()? {
        delays if delays.is_empty() => Err(entry.fault("expected a time, or a list of at least one")),
        delays => Ok(delays),
    }
}

/// A link of constant rate: tiers of trees differ in theirs, and no trace has as many.
fn read_steady_link(entry: &Entry<'_>) -> Result<Link, ScenarioError> {
    let link = parse_link::read(entry.section()?)?;
    match link.service {
        Service::Rate(_) => Ok(link),
        Service::Trace { .. } => Err(entry.fault("links of datacentres have a `rate`: a trace has no tiers")),
    }
}

fn read_dumbbell(section: &mut Section<'_>) -> Result<Dumbbell, ScenarioError> {
    Ok(Dumbbell {
        pairs: section.or("pairs", 1, |entry| entry.count(1, MAX_COUNT))?,
        rtt: section.required("rtt")?.span()?,
        extra_rtt: section.or("extra_rtt", Vec::new(), |entry| entry.entries()?.iter().map(Entry::span).collect())?,
        pair_jitter: section.or("pair_jitter", Vec::new(), jitter::read_all)?,
        extra_rtt_side: section.or("extra_rtt_side", Side::Left, |entry| entry.choice(SIDES))?,
        access_rate: section.or("access_rate", Rate::from_gbps(10), Entry::rate)?,
        bottleneck: parse_link::read(section.required("bottleneck")?.section()?)?,
        reverse: section.maybe("reverse", |entry| parse_link::read(entry.section()?).map(Box::new))?,
    })
}

/// Names of a dumbbell's sides.
pub(super) const SIDES: &[(&str, Side)] = &[("left", Side::Left), ("right", Side::Right)];

fn read_ports(entry: &Entry<'_>) -> Result<u32, ScenarioError> {
    let k = entry.count(4, 64)?;
    if k % 2 == 0 { Ok(k) } else { Err(entry.fault(format!("expected an even number of ports, found {k}"))) }
}

fn read_endpoints(mut section: Section<'_>) -> Result<Endpoints, ScenarioError> {
    let profiles = [("internet", Endpoints::INTERNET), ("datacentre", Endpoints::DATACENTRE)];
    let base = section.or("profile", Endpoints::INTERNET, |entry| entry.choice(&profiles))?;
    let endpoints = Endpoints {
        mtu: section.or("mtu", base.mtu, read_mtu)?,
        ack_every: section.or("ack_every", base.ack_every, |entry| entry.count(1, 1_000))?,
        ack_delay: section.or("ack_delay", base.ack_delay, Entry::span)?,
        loss: read_loss_detection(&mut section, base.loss)?,
        pacing: section.or("pacing", base.pacing, |entry| entry.choice(PACING))?,
        ecn: section.or("ecn", base.ecn, |entry| entry.choice(ECN_MODES))?,
        granularity: section.or("granularity", base.granularity, Entry::positive_span)?,
        initial_rtt: section.maybe("initial_rtt", Entry::positive_span)?,
    };
    section.finish()?;
    Ok(endpoints)
}

/// Names of ways to space packets out.
pub(super) const PACING: &[(&str, Pacing)] =
    &[("on", Pacing::On), ("by-controller", Pacing::ByController), ("off", Pacing::Off)];

/// Names of ways to use ECN.
pub(super) const ECN_MODES: &[(&str, EcnMode)] =
    &[("validate", EcnMode::Validate), ("trust", EcnMode::Trust), ("off", EcnMode::Off)];

#[derive(Clone, Copy)]
enum DetectionKind {
    Rfc9002,
    Rack,
    PerPacketRto,
}

fn read_loss_detection(section: &mut Section<'_>, base: LossDetection) -> Result<LossDetection, ScenarioError> {
    let kinds = [
        ("rfc9002", DetectionKind::Rfc9002),
        ("rack", DetectionKind::Rack),
        ("per-packet-rto", DetectionKind::PerPacketRto),
    ];
    let Some(kind) = section.optional("loss_detection") else {
        return Ok(base);
    };
    Ok(match kind.choice(&kinds)? {
        DetectionKind::Rfc9002 => LossDetection::Rfc9002,
        DetectionKind::Rack => LossDetection::Rack,
        DetectionKind::PerPacketRto => {
            let rto = section.required("rto")?;
            match rto.as_text() {
                Some("full-queues") => LossDetection::PerPacketRtoOfFullQueues,
                _ => LossDetection::PerPacketRto(rto.positive_span()?),
            }
        }
    })
}

fn read_mtu(entry: &Entry<'_>) -> Result<u64, ScenarioError> {
    // Headers, tag and a payload worth sending; the length of an IP packet has 16 bits.
    entry.bytes().and_then(|mtu| {
        if (256..=65_535).contains(&mtu) {
            Ok(mtu)
        } else {
            Err(entry.fault(format!("expected an MTU from 256 to 65535 bytes, found {mtu}")))
        }
    })
}
