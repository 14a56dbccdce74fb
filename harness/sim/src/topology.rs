//! How hosts, switches and ports are wired, and which port leads where.
//!
//! Ports are numbered so that routes are arithmetic: no tables to miss the cache with.

mod faults;
mod tree;

use cc_algos::{Rate, Span};

use crate::ids::HostId;
use crate::link::ServiceSpec;
use crate::link::impair::Outage;
use crate::packet::Packet;
use crate::spec::{Dumbbell, LinkSpec, Side, Star, Topology};
use crate::time::SimTime;
use tree::TreeRouter;

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
    /// When the link is out of order, in order and apart.
    pub(crate) outages: Vec<Outage>,
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
            Topology::FatTree(tree) => tree::lay_fat_tree(tree),
            Topology::Datacentres(datacentres) => tree::lay_datacentres(datacentres),
        }
    }

    /// The same with ports that write telemetry.
    pub(crate) fn stamping(mut self) -> Self {
        self.ports.iter_mut().for_each(|port| port.stamps = true);
        self
    }

    /// The ports that a packet crosses from `source` to `destination` on the shortest way. Where several lead on, they lead
    /// to switches that are alike, so that the one of the shortest link is as good as any.
    pub(crate) fn path(&self, source: HostId, destination: HostId) -> Vec<usize> {
        let mut path = vec![source.0 as usize];
        while let Some(Node::Switch(switch)) = path.last().map(|port| self.ports[*port].to) {
            let Choices { first, count } = self.router.choices(switch, destination.0);
            let ports = first as usize..(first + count) as usize;
            path.push(ports.min_by_key(|port| self.ports[*port].crossing(0)).unwrap_or(first as usize));
        }
        path
    }
}

/// Which port a switch sends a packet out of.
#[derive(Debug)]
pub(crate) enum Router {
    Dumbbell { pairs: u32 },
    Star { hosts: u32 },
    Tree(TreeRouter),
}

/// The ports by which a packet may leave a switch: they lead to the same end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Choices {
    pub(crate) first: u32,
    pub(crate) count: u32,
}

impl Choices {
    pub(crate) const fn one(port: u32) -> Self {
        Self { first: port, count: 1 }
    }

    /// ECMP: a hash of flow and entropy, salted by the switch so that tiers choose independently, scaled to the ports.
    #[inline]
    pub(crate) fn spread(self, switch: u32, packet: &Packet) -> u32 {
        if self.count == 1 {
            return self.first;
        }
        self.scaled(mix(u64::from(packet.flow) << 32 | u64::from(packet.entropy), switch))
    }

    /// A port for each packet: a hash of everything that tells it from others.
    pub(crate) fn scatter(self, switch: u32, packet: &Packet) -> u32 {
        let stream = mix(u64::from(packet.flow) << 32 | u64::from(packet.destination), switch);
        self.scaled(mix(stream ^ packet.packet_number, switch))
    }

    /// The port that a hash falls onto.
    #[inline]
    const fn scaled(self, hash: u64) -> u32 {
        self.first + (((hash >> 32) * self.count as u64) >> 32) as u32
    }
}

#[inline]
fn mix(key: u64, salt: u32) -> u64 {
    let hash = (key ^ u64::from(salt).wrapping_mul(0xd6e8_feb8_6659_fd93)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

impl Router {
    #[inline]
    pub(crate) fn route(&self, switch: u32, packet: &Packet) -> u32 {
        self.choices(switch, packet.destination).spread(switch, packet)
    }

    /// The ports of `switch` that lead to `destination`.
    #[inline]
    pub(crate) fn choices(&self, switch: u32, destination: u32) -> Choices {
        match self {
            Self::Dumbbell { pairs } => {
                let home = u32::from(destination >= *pairs);
                Choices::one(if switch == home { 2 * pairs + destination } else { 4 * pairs + switch })
            }
            Self::Star { hosts } => Choices::one(hosts + destination),
            Self::Tree(router) => router.choices(switch, destination),
        }
    }
}

fn plan(link: &LinkSpec, to: Node, watched: Option<u32>) -> PortPlan<'_> {
    PortPlan { link, extra_delay: Span::ZERO, to, watched, stamps: false, outages: Vec::new() }
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

#[cfg(test)]
mod tests;
