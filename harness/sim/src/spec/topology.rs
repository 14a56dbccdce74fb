//! Hosts, switches and links.

use cc_algos::Span;

use super::{LinkSpec, check};
use crate::error::SimError;

/// Most hosts of a tree or star, or pairs of a dumbbell.
const MAX_HOSTS: u32 = 1 << 20;

/// Most links of one kind that a switch may have.
const MAX_PORTS: u64 = 1 << 12;

/// Hosts, switches and links.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one per run")]
pub enum Topology {
    /// Pairs of hosts on both sides of one bottleneck. Host `i` sends from the left, host `pairs + i` is its peer.
    Dumbbell(Dumbbell),
    /// Hosts around one switch.
    Star(Star),
    /// A three-tier fat-tree of k-port switches with k³/4 hosts (Al-Fares et al., SIGCOMM'08).
    FatTree(FatTree),
    /// Trees of up to three tiers, joined by border switches if there are several.
    Datacentres(Datacentres),
}

/// Pairs of hosts on both sides of one bottleneck.
#[derive(Clone, Debug)]
pub struct Dumbbell {
    /// Number of pairs.
    pub pairs: u32,
    /// Links between hosts and their switch, both directions and both sides.
    pub access: LinkSpec,
    /// Extra one-way propagation of each pair's access link on one side, both directions, by `pair % len`; may be empty.
    pub extra_delay: Vec<Span>,
    /// Links to the hosts on the right, by `pair % len`, in place of `access`; may be empty.
    pub delivery: Vec<LinkSpec>,
    /// Which side that is.
    pub extra_side: Side,
    /// From left to right.
    pub bottleneck: LinkSpec,
    /// From right to left.
    pub reverse: LinkSpec,
}

/// A side of a dumbbell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Side {
    /// That of the senders, if data flow from left to right.
    #[default]
    Left,
    /// That of their peers.
    Right,
}

/// Hosts around one switch.
#[derive(Clone, Debug)]
pub struct Star {
    /// Number of hosts.
    pub hosts: u32,
    /// From a host to the switch.
    pub up: LinkSpec,
    /// From the switch to a host.
    pub down: LinkSpec,
}

/// A three-tier fat-tree.
#[derive(Clone, Debug)]
pub struct FatTree {
    /// Ports of a switch: even, 4 to 64.
    pub k: u32,
    /// Every link between switches, and from switch to host.
    pub link: LinkSpec,
    /// From a host to its switch.
    pub host_up: LinkSpec,
}

impl FatTree {
    /// Number of hosts, k³/4.
    pub const fn hosts(&self) -> u32 {
        self.k * self.k * self.k / 4
    }
}

/// Datacentres of one shape, any two of which are joined by links between their border switches.
///
/// Hosts are numbered datacentre by datacentre: host `h` stands in datacentre `h / tree.shape.hosts_in_all()`.
#[derive(Clone, Debug)]
pub struct Datacentres {
    /// Number of datacentres.
    pub count: u32,
    /// Each of them.
    pub tree: Tree,
    /// Border switches of each. None of the fields from here on matter for one datacentre.
    pub borders: u32,
    /// Parallel links from each core to each border switch of its datacentre.
    pub core_border_links: u32,
    /// From a core to a border switch.
    pub core_up: LinkSpec,
    /// From a border switch to a core.
    pub border_down: LinkSpec,
    /// Parallel links, each direction, from each border switch to each border switch of another datacentre: link `i` is entry
    /// `i % len`. Not empty.
    pub between: Vec<LinkSpec>,
    /// How many these are.
    pub between_links: u32,
}

/// A tree of edge, aggregation and core switches with all its links.
#[derive(Clone, Debug)]
pub struct Tree {
    /// How many of everything.
    pub shape: TreeShape,
    /// Its links.
    pub links: TreeLinks,
}

/// How many switches, hosts and links a tree has. Aggregation switch `a` of each pod reaches cores `a * cores` to
/// `a * cores + cores - 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeShape {
    /// Pods.
    pub pods: u32,
    /// Edge switches of a pod.
    pub edges: u32,
    /// Hosts of an edge switch.
    pub hosts: u32,
    /// Aggregation switches of a pod.
    pub aggregations: u32,
    /// Cores that an aggregation switch reaches; zero for a tree of two tiers, which has one pod.
    pub cores: u32,
    /// Parallel links between an edge and an aggregation switch.
    pub edge_bundle: u32,
    /// Parallel links between an aggregation switch and a core.
    pub core_bundle: u32,
}

impl TreeShape {
    /// A three-tier fat-tree of k-port switches.
    pub const fn fat_tree(k: u32) -> Self {
        let half = k / 2;
        Self { pods: k, edges: half, hosts: half, aggregations: half, cores: half, edge_bundle: 1, core_bundle: 1 }
    }

    /// Hosts in all pods.
    pub const fn hosts_in_all(&self) -> u32 {
        self.pods * self.edges * self.hosts
    }

    /// Cores in all.
    pub const fn cores_in_all(&self) -> u32 {
        self.aggregations * self.cores
    }
}

/// The links of a tree, by tier and direction.
#[derive(Clone, Debug)]
pub struct TreeLinks {
    /// From a host to its edge switch.
    pub host_up: LinkSpec,
    /// From an edge switch to a host.
    pub edge_down: LinkSpec,
    /// From an edge switch to an aggregation switch.
    pub edge_up: LinkSpec,
    /// From an aggregation switch to an edge switch.
    pub aggregation_down: LinkSpec,
    /// From an aggregation switch to a core.
    pub aggregation_up: LinkSpec,
    /// From a core to an aggregation switch.
    pub core_down: LinkSpec,
}

impl TreeLinks {
    /// The same link everywhere but from hosts.
    pub fn alike(link: LinkSpec, host_up: LinkSpec) -> Self {
        Self {
            host_up,
            edge_down: link.clone(),
            edge_up: link.clone(),
            aggregation_down: link.clone(),
            aggregation_up: link.clone(),
            core_down: link,
        }
    }
}

/// How a switch chooses among ports that lead to the same end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Switching {
    /// By a hash of flow and entropy, so that hosts decide (RFC 2992).
    #[default]
    Ecmp,
    /// Anew for each packet, whatever its entropy (Dixit et al., INFOCOM'13).
    Spray,
    /// Anew for a flow that has paused at the switch (Vanini et al., NSDI'17: LetFlow).
    Flowlet {
        /// For longer than this.
        gap: Span,
    },
    /// The port with the smallest backlog, for each packet; equal ones at random (Ghorbani et al., SIGCOMM'17: DRILL, which
    /// looks at a few ports only).
    Adaptive,
}

impl Topology {
    /// Checks the topology and says how many hosts it has.
    pub(crate) fn validate(&self) -> Result<u32, SimError> {
        let (hosts, links) = match self {
            Self::Dumbbell(dumbbell) => {
                let pairs = dumbbell.pairs;
                check((1..=MAX_HOSTS).contains(&pairs), "dumbbell", || {
                    format!("{pairs} pairs: expected 1 to {MAX_HOSTS}")
                })?;
                let links = [&dumbbell.access, &dumbbell.bottleneck, &dumbbell.reverse];
                (2 * pairs, links.into_iter().chain(&dumbbell.delivery).collect())
            }
            Self::Star(star) => {
                let hosts = star.hosts;
                check((2..=MAX_HOSTS).contains(&hosts), "star", || {
                    format!("{hosts} hosts: expected 2 to {MAX_HOSTS}")
                })?;
                (hosts, vec![&star.up, &star.down])
            }
            Self::FatTree(tree) => {
                let k = tree.k;
                check((4..=64).contains(&k) && k % 2 == 0, "fat-tree", || {
                    format!("k = {k}: expected an even number from 4 to 64")
                })?;
                (tree.hosts(), vec![&tree.link, &tree.host_up])
            }
            Self::Datacentres(datacentres) => (datacentres.validate()?, datacentres.links()),
        };
        links.into_iter().try_for_each(LinkSpec::validate)?;
        Ok(hosts)
    }
}

impl Datacentres {
    fn validate(&self) -> Result<u32, SimError> {
        let shape = &self.tree.shape;
        let within = |count: u32| (1..=MAX_PORTS).contains(&u64::from(count));
        let counts = [
            ("pods", shape.pods),
            ("edge switches of a pod", shape.edges),
            ("hosts of an edge switch", shape.hosts),
            ("aggregation switches of a pod", shape.aggregations),
            ("links between an edge and an aggregation switch", shape.edge_bundle),
            ("links between an aggregation switch and a core", shape.core_bundle),
            ("datacentres", self.count),
        ];
        let joins = [
            ("border switches", self.borders),
            ("links between a core and a border switch", self.core_border_links),
            ("links between two border switches", self.between_links),
            ("cores of an aggregation switch", shape.cores),
        ];
        let needed = if self.count > 1 { &joins[..] } else { &[] };
        for &(what, count) in counts.iter().chain(needed) {
            check(within(count), "datacentres", || format!("{count} {what}: expected 1 to {MAX_PORTS}"))?;
        }
        check(shape.cores > 0 || shape.pods == 1, "datacentres", || {
            format!("{} pods without cores: expected one pod, or cores to join them", shape.pods)
        })?;
        check(u64::from(shape.cores) <= MAX_PORTS, "datacentres", || {
            format!("{} cores of an aggregation switch: expected at most {MAX_PORTS}", shape.cores)
        })?;
        check(self.count == 1 || !self.between.is_empty(), "datacentres", || {
            "several, and no link between them: expected at least one".into()
        })?;
        let factors = [self.count, shape.pods, shape.edges, shape.hosts];
        let hosts = factors.iter().try_fold(1_u32, |product, factor| product.checked_mul(*factor));
        let hosts = hosts.filter(|hosts| (2..=MAX_HOSTS).contains(hosts));
        let hosts = hosts.ok_or_else(|| SimError::Invalid {
            what: "datacentres".into(),
            problem: format!("{factors:?} multiplied are the hosts: expected 2 to {MAX_HOSTS}"),
        })?;
        let ports = self.ports();
        check(ports <= u64::from(MAX_HOSTS) * 8, "datacentres", || {
            format!("{ports} links: expected at most {}", MAX_HOSTS * 8)
        })?;
        Ok(hosts)
    }

    /// Links in all, both directions.
    fn ports(&self) -> u64 {
        let product =
            |factors: &[u32]| factors.iter().fold(1_u64, |product, factor| product.saturating_mul(u64::from(*factor)));
        let shape = &self.tree.shape;
        let joins = self.count - 1;
        let one_way = [
            product(&[self.count, shape.pods, shape.edges, shape.hosts]),
            product(&[self.count, shape.pods, shape.edges, shape.aggregations, shape.edge_bundle]),
            product(&[self.count, shape.pods, shape.aggregations, shape.cores, shape.core_bundle]),
            product(&[joins.min(1), self.count, shape.cores_in_all(), self.borders, self.core_border_links]),
            product(&[self.count, joins, self.borders, self.borders, self.between_links]) / 2,
        ];
        one_way.iter().fold(0_u64, |sum, links| sum.saturating_add(*links)).saturating_mul(2)
    }

    fn links(&self) -> Vec<&LinkSpec> {
        let TreeLinks { host_up, edge_down, edge_up, aggregation_down, aggregation_up, core_down } = &self.tree.links;
        let tree = [host_up, edge_down, edge_up, aggregation_down, aggregation_up, core_down];
        let joins = [&self.core_up, &self.border_down].into_iter().chain(&self.between);
        tree.into_iter().chain(joins.filter(|_| self.count > 1)).collect()
    }
}
