//! A scenario as plain data, every default filled in.

mod queue;

use cc_algos::{Rate, Span};
use sim::link::impair::JitterSchedule;
use sim::spec::{FaultSpec, Switching};
use transport::flow::code::Parity;
use transport::flow::{EcnMode, Pacing};

use super::value::Amount;
use crate::workload::Workload;

pub use queue::{CoDel, DualPi2, MarkAt, Marking, Phantom, PhantomFeed, PhantomRole, Pie, Queue, Trimming, Victim};

/// One experiment but for the algorithm under test and the seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Name in results: lower-case letters, digits and hyphens.
    pub name: String,
    /// What it shows, in a sentence or two.
    pub description: String,
    /// Simulated time.
    pub duration: Span,
    /// How many seeds a sweep runs, from 1 on.
    pub seeds: u32,
    /// Algorithms that a sweep runs unless others are named, as `name` or `name?key=value`.
    pub algorithms: Vec<String>,
    /// The algorithm that others are compared with.
    pub baseline: Option<String>,
    /// Who plays the `rival` of the workloads.
    pub rivals: Rivals,
    /// How often to sample time series; `None` for never.
    pub sample_every: Option<Span>,
    /// The balancer, as `name` or `name?key=value`: which routes packets take where there are several.
    pub balance: String,
    /// Erasure coding of all flows; `None` for none.
    pub coding: Option<Coding>,
    /// Whether controllers are told base RTT and bottleneck rate, as published simulators do.
    pub oracle: bool,
    /// Hosts and links.
    pub topology: Topology,
    /// The transport at both ends.
    pub endpoints: Endpoints,
    /// Links that fail.
    pub faults: Vec<FaultSpec>,
    /// Who sends what, and when.
    pub workloads: Vec<Workload>,
}

/// Who plays the `rival` of the workloads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rivals {
    /// There is none.
    None,
    /// Each algorithm of the sweep in turn.
    Each,
    /// These, in turn.
    Named(Vec<String>),
}

/// Erasure coding: blocks of data with parity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coding {
    /// Data packets of a full block.
    pub data: u8,
    /// Parity packets of a block.
    pub parity: Parity,
    /// How long after a block's first packet the receiver complains.
    pub timeout: BlockTimeout,
}

/// How long a receiver waits for a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockTimeout {
    /// The RTT assumed before the first sample.
    InitialRtt,
    /// So long.
    After(Span),
    /// As full queues on the flow's way take to drain.
    FullQueues,
}

/// Hosts and links.
#[derive(Clone, Debug, PartialEq)]
pub enum Topology {
    /// Pairs of hosts on both sides of one bottleneck.
    Dumbbell(Dumbbell),
    /// Hosts around one switch.
    Star(Star),
    /// A three-tier fat-tree.
    FatTree(FatTree),
    /// Trees joined by border switches.
    Datacentres(Datacentres),
}

/// Pairs of hosts on both sides of one bottleneck; data flow from left to right.
#[derive(Clone, Debug, PartialEq)]
pub struct Dumbbell {
    /// Pairs of hosts.
    pub pairs: u32,
    /// Round-trip propagation of every pair, all of it on the bottleneck.
    pub rtt: Span,
    /// Round-trip propagation on top of that, by `pair % len`; may be empty.
    pub extra_rtt: Vec<Span>,
    /// Jitter of the links to the hosts on the right, by `pair % len`; may be empty.
    pub pair_jitter: Vec<JitterSchedule>,
    /// The side whose access links carry it.
    pub extra_rtt_side: Side,
    /// Rate of the hosts' own links.
    pub access_rate: Rate,
    /// From left to right.
    pub bottleneck: Link,
    /// From right to left; `None` is a link of `access_rate` that never drops.
    pub reverse: Option<Box<Link>>,
}

/// A side of a dumbbell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Side {
    /// That of the senders.
    #[default]
    Left,
    /// That of the receivers.
    Right,
}

/// Hosts around one switch.
#[derive(Clone, Debug, PartialEq)]
pub struct Star {
    /// Hosts.
    pub hosts: u32,
    /// Propagation of one link: a round trip crosses four.
    pub delay: Span,
    /// From the switch to a host. Hosts send at the same rate, mark alike and never drop.
    pub link: Link,
}

/// A three-tier fat-tree.
#[derive(Clone, Debug, PartialEq)]
pub struct FatTree {
    /// Ports of a switch; k³/4 hosts.
    pub k: u32,
    /// Propagation of one link: the longest round trip crosses twelve.
    pub delay: Span,
    /// Every link from a switch. Hosts send at the same rate, mark alike and never drop.
    pub link: Link,
    /// How switches choose among ports that lead to the same end.
    pub switches: Switching,
}

/// One or several datacentres of one shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Datacentres {
    /// How many.
    pub count: u32,
    /// The tree of each.
    pub tree: Tree,
    /// Border switches of each.
    pub borders: u32,
    /// Parallel links from each core to each border switch.
    pub core_border_links: u32,
    /// Parallel links from each border switch to each one of another datacentre.
    pub between_links: u32,
    /// Propagation of these, by `link % len`.
    pub between_delay: Vec<Span>,
    /// Whether hosts' own links mark as those of switches do. They never drop.
    pub hosts_mark: bool,
    /// Every link from a switch; a file of the tree has rates and perhaps buffers of its own.
    pub link: Link,
    /// Links to, from and between border switches; as the others unless it is there.
    pub border: Option<Box<Link>>,
    /// How switches choose among ports that lead to the same end.
    pub switches: Switching,
}

/// The tree of a datacentre.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// A three-tier fat-tree of k-port switches.
    FatTree {
        /// Ports of a switch.
        k: u32,
        /// Propagation of one link.
        delay: Span,
    },
    /// A topology file of htsim, relative to the scenario's.
    File(String),
}

impl Topology {
    /// Its name in scenarios.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Dumbbell(_) => "dumbbell",
            Self::Star(_) => "star",
            Self::FatTree(_) => "fat-tree",
            Self::Datacentres(_) => "datacentres",
        }
    }

    /// How its switches choose among ports that lead to the same end.
    pub const fn switching(&self) -> Switching {
        match self {
            Self::Dumbbell(_) | Self::Star(_) => Switching::Ecmp,
            Self::FatTree(tree) => tree.switches,
            Self::Datacentres(datacentres) => datacentres.switches,
        }
    }

    /// The link that matters: the bottleneck, or every link from a switch.
    pub const fn main_link(&self) -> &Link {
        match self {
            Self::Dumbbell(dumbbell) => &dumbbell.bottleneck,
            Self::Star(star) => &star.link,
            Self::FatTree(tree) => &tree.link,
            Self::Datacentres(datacentres) => &datacentres.link,
        }
    }
}

/// One direction of a link, and the queue before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// How fast it is.
    pub service: Service,
    /// Room of the queue; `None` for as much as it takes.
    pub buffer: Option<Amount>,
    /// The queue's discipline.
    pub queue: Queue,
    /// Marking by backlog; drop-tail and trimming only.
    pub marking: Option<Marking>,
    /// When a drop-tail queue is asked for marks; trimming says so itself, other disciplines mark what leaves.
    pub mark_at: MarkAt,
    /// A phantom queue beside the queue.
    pub phantom: Option<Phantom>,
    /// Policer before the queue.
    pub policer: Option<Policer>,
    /// Notices straight to the sources of packets that find congestion.
    pub near_source: Option<NearSource>,
    /// What happens to packets on the way.
    pub impairments: Impairments,
    /// Rate changes and outages, in order of time.
    pub changes: Vec<Change>,
}

impl Link {
    /// A link of constant rate with a drop-tail queue of one bandwidth-delay product.
    pub fn fixed(rate: Rate) -> Self {
        Self::of(Service::Rate(rate))
    }

    /// A link with a drop-tail queue of one bandwidth-delay product.
    pub fn of(service: Service) -> Self {
        Self {
            service,
            buffer: Some(Amount::Bdp(1.0)),
            queue: Queue::DropTail,
            marking: None,
            mark_at: MarkAt::Enqueue,
            phantom: None,
            policer: None,
            near_source: None,
            impairments: Impairments::default(),
            changes: Vec::new(),
        }
    }
}

/// How fast a link is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Service {
    /// A constant rate.
    Rate(Rate),
    /// A trace: `sample:NAME`, `gen:NAME?key=value&...`, or a file relative to the scenario's.
    Trace {
        /// Which.
        name: String,
        /// Where in it a run begins.
        offset: TraceOffset,
    },
}

/// Where in a trace a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceOffset {
    /// At a place that the seed decides, so that seeds see different parts.
    Random,
    /// At a time.
    At(Span),
}

/// A token bucket that drops what exceeds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policer {
    /// Rate of tokens.
    pub rate: Rate,
    /// Depth of the bucket, bytes.
    pub burst: u64,
}

/// A congestion point as in QCN (IEEE 802.1Qau): it samples packets and tells their sources of its queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearSource {
    /// The backlog that it aims at.
    pub set_point: Amount,
    /// Bytes from one sample to the next, on average.
    pub every: u64,
    /// Weight of the backlog's change since the sample before.
    pub weight: u32,
}

/// What happens to packets on the way.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Impairments {
    /// Loss.
    pub loss: Loss,
    /// Extra delay, uniform from zero to this, that never reorders.
    pub jitter: Span,
    /// Extra delay along a schedule, that never reorders either.
    pub jitter_schedule: JitterSchedule,
    /// Packets held back so that others overtake them.
    pub reorder: Option<Reorder>,
    /// Probability of a second copy.
    pub duplicate: f64,
    /// Probability that a packet arrives damaged, and so is dropped there.
    pub corrupt: f64,
    /// Pure acknowledgements let through: one in this many.
    pub ack_thinning: Option<u32>,
}

/// Loss on the wire.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Loss {
    /// None.
    #[default]
    None,
    /// Independent, with this probability.
    Bernoulli(f64),
    /// A good and a bad state (Gilbert 1960, Elliott 1963), stepped per packet.
    GilbertElliott {
        /// Probability of going from good to bad.
        to_bad: f64,
        /// Probability of going from bad to good.
        to_good: f64,
        /// Loss in the good state.
        loss_good: f64,
        /// Loss in the bad state.
        loss_bad: f64,
    },
    /// Every n-th packet.
    Periodic(u64),
    /// The packets of these numbers, counted from 0 at the link.
    Scripted(Vec<u64>),
    /// Of each block of `length` packets one, two or more together with these probabilities.
    Blocks {
        /// Packets of a block.
        length: u32,
        /// Probability of one loss, of two, and so on.
        probabilities: Vec<f64>,
    },
}

/// Packets held back so that others overtake them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reorder {
    /// Share of packets.
    pub probability: f64,
    /// How long they are held.
    pub delay: Span,
}

/// A change of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// When.
    pub at: Span,
    /// What.
    pub to: ChangeTo,
}

/// What a link changes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeTo {
    /// Another rate.
    Rate(Rate),
    /// Nothing passes.
    Down,
    /// It works again.
    Up,
}

/// The transport at both ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Endpoints {
    /// Largest IP packet, bytes.
    pub mtu: u64,
    /// Data packets per acknowledgement.
    pub ack_every: u32,
    /// Longest time an acknowledgement is held back.
    pub ack_delay: Span,
    /// How losses are found.
    pub loss: LossDetection,
    /// Whether packets are spaced out.
    pub pacing: Pacing,
    /// Whether packets are marked as ECN-capable.
    pub ecn: EcnMode,
    /// Granularity of timers (`kGranularity` of RFC 9002, section 6.1.2).
    pub granularity: Span,
    /// RTT assumed before the first sample; `None` is the topology's round-trip propagation, as a handshake would have
    /// measured it.
    pub initial_rtt: Option<Span>,
}

impl Endpoints {
    /// As QUIC on the Internet: RFC 9000 and RFC 9002.
    pub const INTERNET: Self = Self {
        mtu: 1_500,
        ack_every: 2,
        ack_delay: Span::from_millis(25),
        loss: LossDetection::Rfc9002,
        pacing: Pacing::On,
        ecn: EcnMode::Validate,
        granularity: Span::from_millis(1),
        initial_rtt: None,
    };

    /// As inside a datacentre: an ACK for each packet, timers in microseconds. Ours.
    pub const DATACENTRE: Self = Self {
        mtu: 1_500,
        ack_every: 1,
        ack_delay: Span::from_micros(10),
        loss: LossDetection::Rfc9002,
        pacing: Pacing::On,
        ecn: EcnMode::Trust,
        granularity: Span::from_micros(1),
        initial_rtt: None,
    };
}

/// How losses are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossDetection {
    /// Packet and time thresholds of RFC 9002, section 6.1.
    Rfc9002,
    /// Time-based with an adaptive reordering window (RFC 8985).
    Rack,
    /// A timer of this length for each packet, and nothing else, as simulators of datacentres have it.
    PerPacketRto(Span),
    /// The same with timers of the flow's base RTT and the time that full queues on its way take to drain.
    PerPacketRtoOfFullQueues,
}
