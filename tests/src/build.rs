//! Experiments as plain data.

use cc_algos::{Rate, Registry, Span, Timestamp};
use sim::link::impair::LossSpec;
use sim::queue::{Capacity, DisciplineSpec};
use sim::spec::{
    Balancing, BlockTimeout, Contestant, Dumbbell, EndpointSpec, Experiment, FlowSpec, LinkSpec, Load, PathRto, Side,
    Start, Switching, Topology,
};
use sim::{HostId, Probability};
use transport::flow::{ReceiverConfig, SenderConfig};

use crate::read::run;

/// Packet size of most tests, bytes: Ethernet's.
pub const MTU: u64 = 1_500;

/// A link on which a packet of 1 500 B takes 12 ns: too fast to queue in any test.
pub const FAST: Rate = Rate::from_gbps(1_000);

/// So many seconds.
pub fn seconds(seconds: f64) -> Span {
    Span::from_secs_f64(seconds)
}

/// A time so long after the start.
pub fn at(span: Span) -> Timestamp {
    Timestamp::ZERO + span
}

/// A probability known to be one.
pub fn probability(value: f64) -> Probability {
    Probability::new(value).expect("a number from 0 to 1")
}

/// A controller of the built-in registry, by its name and parameters.
pub fn contestant(spec: &str) -> Contestant {
    let registry = Registry::builtin();
    let args = registry.resolve(spec).expect("a built-in algorithm");
    Contestant::registered(&registry, &args, 1_500).expect("parameters that it accepts").labelled(spec)
}

/// A built-in balancer, by its name and parameters.
pub fn balancing(spec: &str) -> Balancing {
    Balancing::builtin(spec).expect("a built-in balancer")
}

/// A flow of the first contestant that starts at time zero.
pub fn flow(source: u32, destination: u32, load: Load) -> FlowSpec {
    FlowSpec {
        source: HostId(source),
        destination: HostId(destination),
        start: Start::At(Timestamp::ZERO),
        stop: None,
        load,
        contestant: 0,
        group: 0,
    }
}

/// An endless flow over each of the dumbbell's pairs.
pub fn bulk(pairs: u32) -> Vec<FlowSpec> {
    (0..pairs).map(|pair| flow(pair, pairs + pair, Load::Unlimited)).collect()
}

/// Pairs of hosts around a bottleneck whose one-way delay stands on the way back, too. All other links are [`FAST`] and
/// have no delay, so the base RTT is twice the bottleneck's delay and hardly more than its serialisation.
pub fn dumbbell(pairs: u32, bottleneck: LinkSpec) -> Topology {
    Topology::Dumbbell(Dumbbell {
        pairs,
        access: LinkSpec::fixed(FAST, Span::ZERO),
        extra_delay: vec![],
        delivery: vec![],
        extra_side: Side::Left,
        reverse: LinkSpec::fixed(FAST, bottleneck.propagation),
        bottleneck,
    })
}

/// A link of fixed rate with a drop-tail queue.
pub fn drop_tail(rate: Rate, propagation: Span, capacity: Capacity) -> LinkSpec {
    LinkSpec { discipline: DisciplineSpec::DropTail { capacity }, ..LinkSpec::fixed(rate, propagation) }
}

/// The same link with losses.
pub fn losing(mut link: LinkSpec, loss: LossSpec) -> LinkSpec {
    link.impairments.loss = loss;
    link
}

/// A link too fast to queue that loses every `every`-th data packet, from number `first` on.
pub fn periodic_loss(propagation: Span, every: u64, first: u64) -> LinkSpec {
    losing(LinkSpec::fixed(FAST, propagation), LossSpec::Periodic { every, offset: first })
}

/// An experiment with one kind of controller, an acknowledgement for each packet, and no samples.
pub fn experiment(algorithm: &str, topology: Topology, flows: Vec<FlowSpec>, duration: Span) -> Experiment {
    experiment_of(vec![contestant(algorithm)], topology, flows, duration)
}

/// An experiment with several kinds of controllers.
pub fn experiment_of(
    contestants: Vec<Contestant>,
    topology: Topology,
    flows: Vec<FlowSpec>,
    duration: Span,
) -> Experiment {
    let mut sender = SenderConfig::default();
    sender.mtu = MTU;
    sender.max_ack_delay = Span::ZERO;
    Experiment {
        seed: 1,
        duration,
        topology,
        contestants,
        flows,
        endpoints: EndpointSpec {
            sender,
            receiver: ReceiverConfig::default(),
            ack_every: 1,
            ack_delay: Span::from_millis(25),
            rto: PathRto::Configured,
            block_timeout: BlockTimeout::Configured,
        },
        sample_every: None,
        balance: Balancing::ecmp(),
        switching: Switching::Ecmp,
        faults: Vec::new(),
        triggers: Vec::new(),
        check_wire: false,
    }
}

/// Application bytes that a full packet carries, found by sending one.
pub fn payload(mtu: u64) -> u64 {
    let topology = dumbbell(1, LinkSpec::fixed(FAST, Span::from_millis(1)));
    let mut one = experiment(&format!("fixed-window?window={mtu}B"), topology, bulk(1), Span::from_micros(1_500));
    one.endpoints.sender.mtu = mtu;
    run(&one).flows[0].delivered
}
