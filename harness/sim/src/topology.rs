//! How hosts, switches and ports are wired, and which port leads where.
//!
//! Ports are numbered so that routes are arithmetic: no tables to miss the cache with.

use cc_algos::{Rate, Span};

use crate::ids::HostId;
use crate::link::ServiceSpec;
use crate::packet::Packet;
use crate::spec::{Dumbbell, FatTree, LinkSpec, Side, Star, Topology};
use crate::time::SimTime;

/// What stands at the far end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Host(u32),
    Switch(u32),
}

/// A port to be built.
#[derive(Debug)]
pub(crate) struct PortPlan<'a> {
    pub(crate) link: &'a LinkSpec,
    pub(crate) extra_delay: Span,
    pub(crate) to: Node,
    /// The entry of [`Wiring::watched`] that this port counts towards.
    pub(crate) watched: Option<u32>,
    /// Whether it writes telemetry into packets that ask for it.
    pub(crate) stamps: bool,
}

impl PortPlan<'_> {
    /// Picoseconds from the first bit offered to the last bit at the far end, over an empty queue. A link of changing rate
    /// counts with its propagation alone: waiting for service is part of what is measured there.
    pub(crate) fn crossing(&self, bytes: u32) -> u64 {
        let propagation = (SimTime::ZERO + self.link.propagation + self.extra_delay).as_picos();
        match self.link.service {
            ServiceSpec::Fixed(rate) => propagation.saturating_add(serialisation(bytes, rate)),
            _ => propagation,
        }
    }

    /// Mean rate of the link over a run.
    pub(crate) fn mean_rate(&self, duration: Span) -> Rate {
        match &self.link.service {
            ServiceSpec::Fixed(rate) => *rate,
            changing => {
                let bytes = changing.offered(SimTime::ZERO, SimTime::ZERO + duration);
                Rate::from_bytes_in(bytes, duration).unwrap_or_default()
            }
        }
    }
}

fn serialisation(bytes: u32, rate: Rate) -> u64 {
    let picos = u128::from(bytes) * 8 * 1_000_000_000_000 / u128::from(rate.as_bps().max(1));
    u64::try_from(picos).unwrap_or(u64::MAX)
}

/// A topology laid out. Port `h` is host `h`'s own link into the network.
#[derive(Debug)]
pub(crate) struct Wiring<'a> {
    pub(crate) ports: Vec<PortPlan<'a>>,
    pub(crate) router: Router,
    /// Names of the watched ports or groups of ports.
    pub(crate) watched: Vec<String>,
}

impl<'a> Wiring<'a> {
    pub(crate) fn new(topology: &'a Topology) -> Self {
        match topology {
            Topology::Dumbbell(dumbbell) => lay_dumbbell(dumbbell),
            Topology::Star(star) => lay_star(star),
            Topology::FatTree(tree) => lay_fat_tree(tree),
        }
    }

    /// The same with ports that write telemetry.
    pub(crate) fn stamping(mut self) -> Self {
        self.ports.iter_mut().for_each(|port| port.stamps = true);
        self
    }

    /// The ports that `packet` crosses from `source` to its destination.
    pub(crate) fn path(&self, source: HostId, packet: &Packet) -> Vec<usize> {
        let mut path = vec![source.0 as usize];
        while let Some(Node::Switch(switch)) = path.last().map(|port| self.ports[*port].to) {
            path.push(self.router.route(switch, packet) as usize);
        }
        path
    }
}

/// Which port a switch sends a packet out of.
#[derive(Debug)]
pub(crate) enum Router {
    Dumbbell { pairs: u32 },
    Star { hosts: u32 },
    FatTree(FatTreeRouter),
}

impl Router {
    #[inline]
    pub(crate) fn route(&self, switch: u32, packet: &Packet) -> u32 {
        match self {
            Self::Dumbbell { pairs } => {
                let home = u32::from(packet.destination >= *pairs);
                if switch == home { 2 * pairs + packet.destination } else { 4 * pairs + switch }
            }
            Self::Star { hosts } => hosts + packet.destination,
            Self::FatTree(router) => router.route(switch, packet),
        }
    }
}

fn plan(link: &LinkSpec, to: Node, watched: Option<u32>) -> PortPlan<'_> {
    PortPlan { link, extra_delay: Span::ZERO, to, watched, stamps: false }
}

/// Ports: 2p host links, 2p links to hosts, bottleneck, reverse. Switch 0 stands left, switch 1 right.
fn lay_dumbbell(dumbbell: &Dumbbell) -> Wiring<'_> {
    let pairs = dumbbell.pairs;
    let extra = |host: u32| {
        let side = if host < pairs { Side::Left } else { Side::Right };
        match dumbbell.extra_delay.as_slice() {
            [] => Span::ZERO,
            delays if side == dumbbell.extra_side => delays[(host % pairs) as usize % delays.len()],
            _ => Span::ZERO,
        }
    };
    let access = |host: u32, to: Node| PortPlan { extra_delay: extra(host), ..plan(&dumbbell.access, to, None) };
    let mut ports: Vec<_> = (0..2 * pairs).map(|host| access(host, Node::Switch(u32::from(host >= pairs)))).collect();
    ports.extend((0..pairs).map(|host| access(host, Node::Host(host))));
    ports.extend((0..pairs).map(|pair| match dumbbell.delivery.as_slice() {
        [] => access(pairs + pair, Node::Host(pairs + pair)),
        links => {
            let link = plan(&links[pair as usize % links.len()], Node::Host(pairs + pair), None);
            PortPlan { extra_delay: extra(pairs + pair), ..link }
        }
    }));
    ports.push(plan(&dumbbell.bottleneck, Node::Switch(1), Some(0)));
    ports.push(plan(&dumbbell.reverse, Node::Switch(0), Some(1)));
    Wiring { ports, router: Router::Dumbbell { pairs }, watched: vec!["bottleneck".into(), "reverse".into()] }
}

/// Ports: n host links, n links to hosts.
fn lay_star(star: &Star) -> Wiring<'_> {
    let mut ports: Vec<_> = (0..star.hosts).map(|_| plan(&star.up, Node::Switch(0), None)).collect();
    ports.extend((0..star.hosts).map(|host| plan(&star.down, Node::Host(host), Some(host))));
    Wiring {
        ports,
        router: Router::Star { hosts: star.hosts },
        watched: (0..star.hosts).map(|host| format!("to-host-{host}")).collect(),
    }
}

/// Where things stand in a fat-tree of k-port switches; `half` is k/2. Switches: edges by pod, then aggregation switches by
/// pod, then cores; aggregation switch `a` of each pod reaches cores `a * half` to `a * half + half - 1`.
#[derive(Debug)]
pub(crate) struct FatTreeRouter {
    half: u32,
    edges: u32,
    first_edge_up: u32,
    first_aggregation_down: u32,
    first_aggregation_up: u32,
    first_core_down: u32,
    /// Edge switch of each host.
    edge_of: Box<[u32]>,
    /// Pod of each edge switch.
    pod_of: Box<[u32]>,
}

impl FatTreeRouter {
    fn new(k: u32) -> Self {
        let half = k / 2;
        let edges = k * half;
        let hosts = edges * half;
        let first_edge_up = 2 * hosts;
        let tier = edges * half;
        Self {
            half,
            edges,
            first_edge_up,
            first_aggregation_down: first_edge_up + tier,
            first_aggregation_up: first_edge_up + 2 * tier,
            first_core_down: first_edge_up + 3 * tier,
            edge_of: (0..hosts).map(|host| host / half).collect(),
            pod_of: (0..edges).map(|edge| edge / half).collect(),
        }
    }

    #[inline]
    fn route(&self, switch: u32, packet: &Packet) -> u32 {
        let edge = self.edge_of[packet.destination as usize];
        if switch < self.edges {
            return if edge == switch {
                self.hosts() + packet.destination
            } else {
                self.first_edge_up + switch * self.half + self.spread(switch, packet)
            };
        }
        let pod = self.pod_of[edge as usize];
        if switch < 2 * self.edges {
            let aggregation = switch - self.edges;
            return if self.pod_of[aggregation as usize] == pod {
                self.first_aggregation_down + aggregation * self.half + (edge - pod * self.half)
            } else {
                self.first_aggregation_up + aggregation * self.half + self.spread(switch, packet)
            };
        }
        self.first_core_down + (switch - 2 * self.edges) * 2 * self.half + pod
    }

    const fn hosts(&self) -> u32 {
        self.first_edge_up / 2
    }

    /// ECMP: a hash of flow and entropy, salted by the switch so that tiers choose independently, scaled to the ports.
    #[inline]
    fn spread(&self, switch: u32, packet: &Packet) -> u32 {
        let key = u64::from(packet.flow) << 32 | u64::from(packet.entropy);
        let mut hash =
            (key ^ u64::from(switch).wrapping_mul(0xd6e8_feb8_6659_fd93)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        (((hash >> 32) * u64::from(self.half)) >> 32) as u32
    }
}

fn lay_fat_tree(tree: &FatTree) -> Wiring<'_> {
    let router = FatTreeRouter::new(tree.k);
    let (half, edges, hosts) = (router.half, router.edges, router.hosts());
    let link = |to, watched| plan(&tree.link, to, Some(watched));
    let mut ports: Vec<_> = (0..hosts).map(|host| plan(&tree.host_up, Node::Switch(host / half), Some(0))).collect();
    ports.extend((0..hosts).map(|host| link(Node::Host(host), 1)));
    let pairs = || (0..edges).flat_map(|switch| (0..half).map(move |port| (switch, port)));
    ports.extend(pairs().map(|(edge, up)| link(Node::Switch(edges + edge / half * half + up), 2)));
    ports.extend(pairs().map(|(aggregation, down)| link(Node::Switch(aggregation / half * half + down), 3)));
    ports.extend(pairs().map(|(aggregation, up)| link(Node::Switch(2 * edges + aggregation % half * half + up), 4)));
    let cores = (0..half * half).flat_map(|core| (0..tree.k).map(move |pod| (core, pod)));
    ports.extend(cores.map(|(core, pod)| link(Node::Switch(edges + pod * half + core / half), 5)));
    let watched = ["host-up", "edge-down", "edge-up", "aggregation-down", "aggregation-up", "core-down"];
    Wiring { ports, router: Router::FatTree(router), watched: watched.map(String::from).to_vec() }
}

#[cfg(test)]
mod tests {
    use cc_algos::Ecn;

    use super::*;
    use crate::packet::Body;

    fn packet(flow: u32, destination: u32) -> Packet {
        Packet {
            flow,
            destination,
            entropy: flow.wrapping_mul(77),
            bytes: 1_500,
            packet_number: 0,
            sent_at: SimTime::ZERO,
            body: Body::Ping,
            ecn: Ecn::NotEct,
            hops: 0,
            int: None,
        }
    }

    fn link() -> LinkSpec {
        LinkSpec::fixed(Rate::from_gbps(1), Span::from_micros(1))
    }

    fn arrives(wiring: &Wiring<'_>, source: u32, destination: u32, flow: u32) -> usize {
        let path = wiring.path(HostId(source), &packet(flow, destination));
        assert_eq!(wiring.ports[*path.last().unwrap()].to, Node::Host(destination), "{source} -> {destination}");
        path.len()
    }

    #[test]
    fn every_pair_of_a_fat_tree_is_joined_by_two_four_or_six_links() {
        let topology = Topology::FatTree(FatTree { k: 4, link: link(), host_up: link() });
        let wiring = Wiring::new(&topology);
        // 16 host links each way, and 3 tiers x 16 links between switches, and 16 from the cores down.
        assert_eq!(wiring.ports.len(), 16 * 2 + 16 * 4);
        for (source, destination) in (0..16).flat_map(|a| (0..16).map(move |b| (a, b))).filter(|(a, b)| a != b) {
            let expected = match (source / 2 == destination / 2, source / 4 == destination / 4) {
                (true, _) => 2,
                (false, true) => 4,
                (false, false) => 6,
            };
            for flow in 0..8 {
                assert_eq!(arrives(&wiring, source, destination, flow), expected);
            }
        }
    }

    #[test]
    fn flows_spread_evenly_over_the_cores() {
        let topology = Topology::FatTree(FatTree { k: 8, link: link(), host_up: link() });
        let wiring = Wiring::new(&topology);
        let mut counts = std::collections::BTreeMap::new();
        for flow in 0..16_000 {
            let path = wiring.path(HostId(0), &packet(flow, 127));
            *counts.entry(path[2]).or_insert(0_u32) += 1;
        }
        // 16 core-bound links, 1 000 flows each on average; five standard deviations of the binomial are 153.
        assert_eq!(counts.len(), 16);
        assert!(counts.values().all(|count| count.abs_diff(1_000) < 153), "{counts:?}");
    }

    #[test]
    fn a_dumbbell_crosses_its_bottleneck_and_comes_back_by_the_reverse() {
        let topology = Topology::Dumbbell(Dumbbell {
            pairs: 3,
            access: link(),
            extra_delay: vec![],
            delivery: vec![],
            extra_side: Side::Left,
            bottleneck: link(),
            reverse: link(),
        });
        let wiring = Wiring::new(&topology);
        assert_eq!(wiring.path(HostId(1), &packet(0, 4)), [1, 12, 6 + 4]);
        assert_eq!(wiring.path(HostId(4), &packet(0, 1)), [4, 13, 6 + 1]);
        assert_eq!(arrives(&wiring, 0, 2, 1), 2, "neighbours do not cross the bottleneck");
    }

    #[test]
    fn a_star_is_two_links_from_anywhere() {
        let topology = Topology::Star(Star { hosts: 5, up: link(), down: link() });
        let wiring = Wiring::new(&topology);
        assert_eq!(arrives(&wiring, 4, 0, 9), 2);
    }
}
