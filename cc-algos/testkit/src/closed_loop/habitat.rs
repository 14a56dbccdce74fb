//! The networks on which families are held to their promises.

use cc_algos::{Declaration, Family, Need, Rate, Span};
use sim::link::ServiceSpec;
use sim::link::impair::ImpairmentSpec;
use sim::queue::{Capacity, DisciplineSpec, DualPi2Spec, MarkAt, MarkingSpec};
use sim::spec::{BlockTimeout, EndpointSpec, LinkSpec, PathRto};
use transport::flow::{ReceiverConfig, SenderConfig};

/// A bottleneck, the hosts' links around it, and how long things take there. Figures are ours.
///
/// | family | bottleneck | host links | base RTT | packet | BDP | queue |
/// |---|---|---|---|---|---|---|
/// | wide area, control | 48 Mb/s | 1 Gb/s | 40 ms | 1 500 B | 160 packets | drop-tail |
/// | the same, L4S | 48 Mb/s | 1 Gb/s | 40 ms | 1 500 B | 160 packets | DualPI2, RFC 9332's defaults |
/// | datacentre | 50 Gb/s | 100 Gb/s | 16 µs | 4 160 B | 24 packets | drop-tail, CE above a third of a BDP |
/// | across datacentres | 10 Gb/s | 20 Gb/s | 1 ms | 4 160 B | 300 packets | drop-tail, CE above a third of a BDP |
#[derive(Clone, Debug, PartialEq)]
pub struct Habitat {
    /// Rate of the bottleneck.
    pub rate: Rate,
    /// Rate of the hosts' links.
    pub host_rate: Rate,
    /// Round trip over empty queues, serialisation apart.
    pub base_rtt: Span,
    /// Packet size, bytes.
    pub mtu: u64,
    /// What its queue says.
    pub queue: Signalling,
    /// Base RTTs after which a flow should have settled.
    pub settling_rtts: u32,
    /// Base RTTs over which what has settled is measured.
    pub measured_rtts: u32,
}

/// What the queue of a habitat's bottleneck says besides dropping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signalling {
    /// Nothing.
    Drops,
    /// CE marks while the backlog is above a third of a BDP.
    Marks,
    /// Marks of a dual queue: shallow for ECT(1), drops for the others.
    DualQueue,
}

impl Habitat {
    /// Where algorithms that declare so are at home.
    pub fn of(declaration: &Declaration) -> Self {
        match declaration.family {
            Family::Datacentre => Self {
                rate: Rate::from_gbps(50),
                host_rate: Rate::from_gbps(100),
                base_rtt: Span::from_micros(16),
                mtu: 4_160,
                queue: Signalling::Marks,
                settling_rtts: 1_000,
                measured_rtts: 1_000,
            },
            Family::AcrossDatacentres => Self {
                rate: Rate::from_gbps(10),
                host_rate: Rate::from_gbps(20),
                base_rtt: Span::from_millis(1),
                mtu: 4_160,
                queue: Signalling::Marks,
                settling_rtts: 500,
                measured_rtts: 500,
            },
            _ => Self {
                rate: Rate::from_mbps(48),
                host_rate: Rate::from_gbps(1),
                base_rtt: Span::from_millis(40),
                mtu: 1_500,
                queue: if declaration.needs(Need::L4s) { Signalling::DualQueue } else { Signalling::Drops },
                settling_rtts: 500,
                measured_rtts: 750,
            },
        }
    }

    /// Bandwidth-delay product, bytes.
    pub const fn bdp_bytes(&self) -> u64 {
        self.rate.bytes_in(self.base_rtt)
    }

    /// So many base RTTs.
    pub fn rtts(&self, rtts: f64) -> Span {
        self.base_rtt.mul_f64(rtts)
    }

    /// The bottleneck with a buffer of so many BDP.
    pub(super) fn bottleneck(&self, service: ServiceSpec, buffer_bdp: f64) -> LinkSpec {
        let buffer = (self.bdp_bytes() as f64 * buffer_bdp) as u64;
        let capacity = Capacity::Bytes(buffer.max(4 * self.mtu));
        let (discipline, marking) = match self.queue {
            Signalling::Drops => (DisciplineSpec::DropTail { capacity }, MarkingSpec::None),
            Signalling::Marks => {
                let bytes = (self.bdp_bytes() / 3).max(self.mtu);
                (DisciplineSpec::DropTail { capacity }, MarkingSpec::Threshold { bytes })
            }
            Signalling::DualQueue => {
                (DisciplineSpec::DualPi2(DualPi2Spec { capacity, ..DualPi2Spec::default() }), MarkingSpec::None)
            }
        };
        LinkSpec {
            service,
            propagation: self.one_way(),
            discipline,
            marking,
            mark_at: MarkAt::Enqueue,
            phantom: None,
            policer: None,
            near_source: None,
            impairments: ImpairmentSpec::default(),
        }
    }

    /// The way back, which is never the bottleneck.
    pub(super) fn reverse(&self) -> LinkSpec {
        LinkSpec::fixed(self.host_rate, self.one_way())
    }

    fn one_way(&self) -> Span {
        Span::from_nanos(self.base_rtt.as_nanos() / 2)
    }

    /// How both ends of a flow are set up: an ACK for each packet and microsecond timers where RTTs are short, an ACK for every
    /// second packet and RFC 9002's timers where they are long.
    pub(super) fn endpoints(&self) -> EndpointSpec {
        let near = self.base_rtt < Span::from_millis(5);
        let mut sender = if near { SenderConfig::datacentre() } else { SenderConfig::default() };
        sender.mtu = self.mtu;
        sender.initial_rtt = self.base_rtt;
        EndpointSpec {
            receiver: ReceiverConfig::default(),
            ack_every: if near { 1 } else { 2 },
            ack_delay: sender.max_ack_delay,
            rto: PathRto::Configured,
            block_timeout: BlockTimeout::Configured,
            sender,
        }
    }
}
