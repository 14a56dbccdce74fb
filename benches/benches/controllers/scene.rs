//! Where each family of algorithms is measured: a bottleneck that two flows of the algorithm share, with a switch that says
//! what the algorithm declares to need.
//!
//! | family | bottleneck | base RTT | packet | queue |
//! |---|---|---|---|---|
//! | wide area, control | 100 Mb/s | 20 ms | 1 500 B | drop-tail of one BDP; DualPI2 for L4S |
//! | datacentre | 100 Gb/s | 10 us | 1 500 B | drop-tail of four BDP, or trimming above one; CE above an eighth |
//! | across datacentres | 10 Gb/s | 200 us | 1 500 B | as in the datacentre; notices above a sixth |

use cc_algos::{Declaration, Family, Need, Rate, Span, Timestamp};
use sim::link::ServiceSpec;
use sim::link::impair::ImpairmentSpec;
use sim::queue::{Capacity, CongestionPointSpec, DisciplineSpec, DualPi2Spec, MarkAt, MarkingSpec, TrimmingSpec};
use sim::spec::{
    Balancing, BlockTimeout, Contestant, Dumbbell, EndpointSpec, FlowSpec, LinkSpec, Load, PathRto, Side, Start,
    Switching, Topology,
};
use sim::{Experiment, HostId};
use transport::flow::{ReceiverConfig, SenderConfig};

/// Packet size, bytes.
pub(crate) const MTU: u64 = 1_500;
/// Flows that share the bottleneck.
const FLOWS: u32 = 2;

/// A bottleneck and what its queue says.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    rate: Rate,
    base_rtt: Span,
    needs: Vec<Need>,
    family: Family,
}

impl Scene {
    /// Where an algorithm that declares so is measured.
    pub(crate) fn of(declaration: &Declaration) -> Self {
        let (rate, base_rtt) = match declaration.family {
            Family::Datacentre => (Rate::from_gbps(100), Span::from_micros(10)),
            Family::AcrossDatacentres => (Rate::from_gbps(10), Span::from_micros(200)),
            _ => (Rate::from_mbps(100), Span::from_millis(20)),
        };
        Self { rate, base_rtt, needs: declaration.needs.clone(), family: declaration.family }
    }

    /// A run in which each of the flows gets about `packets` packets through, `per_ack` to an acknowledgement.
    pub(crate) fn experiment(&self, contestant: Contestant, packets: u64, per_ack: u32) -> Experiment {
        let time = self.rate.time_for(packets * MTU * u64::from(FLOWS)).unwrap_or(Span::from_secs(1));
        let flow = |host| FlowSpec {
            source: HostId(host),
            destination: HostId(FLOWS + host),
            start: Start::At(Timestamp::ZERO),
            stop: None,
            load: Load::Unlimited,
            contestant: 0,
            group: 0,
        };
        Experiment {
            seed: 1,
            duration: time,
            topology: Topology::Dumbbell(self.dumbbell()),
            contestants: vec![contestant],
            flows: (0..FLOWS).map(flow).collect(),
            endpoints: self.endpoints(per_ack),
            sample_every: None,
            balance: Balancing::ecmp(),
            switching: Switching::Ecmp,
            faults: Vec::new(),
            triggers: Vec::new(),
            check_wire: false,
        }
    }

    fn needs(&self, need: Need) -> bool {
        self.needs.contains(&need)
    }

    fn dumbbell(&self) -> Dumbbell {
        let one_way = Span::from_nanos(self.base_rtt.as_nanos() / 2);
        Dumbbell {
            pairs: FLOWS,
            access: LinkSpec::fixed(self.rate, Span::ZERO),
            extra_delay: vec![],
            extra_side: Side::Left,
            delivery: vec![],
            bottleneck: self.bottleneck(one_way),
            reverse: LinkSpec::fixed(self.rate, one_way),
        }
    }

    fn bottleneck(&self, propagation: Span) -> LinkSpec {
        let bdp = self.rate.bytes_in(self.base_rtt);
        let marks = MarkingSpec::Threshold { bytes: bdp / 8 };
        let drop_tail = |bytes| DisciplineSpec::DropTail { capacity: Capacity::Bytes(bytes) };
        let (discipline, marking) = match self.family {
            _ if self.needs(Need::L4s) => {
                let spec = DualPi2Spec { capacity: Capacity::Bytes(bdp), ..DualPi2Spec::default() };
                (DisciplineSpec::DualPi2(spec), MarkingSpec::None)
            }
            Family::Datacentre | Family::AcrossDatacentres if self.needs(Need::Trimming) => {
                let spec = TrimmingSpec { marking: marks, ..TrimmingSpec::new(Capacity::Bytes(bdp)) };
                (DisciplineSpec::Trimming(spec), MarkingSpec::None)
            }
            Family::Datacentre | Family::AcrossDatacentres => (drop_tail(4 * bdp), marks),
            _ => (drop_tail(bdp), MarkingSpec::None),
        };
        LinkSpec {
            service: ServiceSpec::Fixed(self.rate),
            propagation,
            discipline,
            marking,
            mark_at: MarkAt::Enqueue,
            phantom: None,
            policer: None,
            near_source: self.needs(Need::NearSource).then(|| CongestionPointSpec::new(bdp / 6)),
            impairments: ImpairmentSpec::default(),
        }
    }

    fn endpoints(&self, per_ack: u32) -> EndpointSpec {
        let near = self.base_rtt < Span::from_millis(5);
        let mut sender = if near { SenderConfig::datacentre() } else { SenderConfig::default() };
        (sender.mtu, sender.initial_rtt) = (MTU, self.base_rtt);
        // Long enough that acknowledgements wait for their packets and not for the timer.
        let ack_delay = if per_ack > 1 { self.base_rtt } else { sender.max_ack_delay };
        sender.max_ack_delay = ack_delay;
        EndpointSpec {
            receiver: ReceiverConfig::default(),
            ack_every: per_ack,
            ack_delay,
            rto: PathRto::Configured,
            block_timeout: BlockTimeout::Configured,
            sender,
        }
    }
}
