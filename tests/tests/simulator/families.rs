//! One experiment of each family: every queue, impairment, topology, load, loss policy and algorithm takes part in
//! some.

use std::sync::Arc;

use cc_algos::{Need, Rate, Span};
use cwndtunnel_tests::{
    FAST, MTU, at, bulk, contestant, drop_tail, dumbbell, experiment, experiment_of, flow, losing, probability,
};
use sim::link::impair::{AckThinning, GilbertElliott, JitterLaw, JitterSpec, LossSpec, Outage, Reorder};
use sim::link::{Change, End, Opportunities, Opportunity, Segment, Segments, ServiceSpec};
use sim::queue::{
    Capacity, CodelSpec, CongestionPointSpec, DisciplineSpec, DualPi2Spec, Excess, FqCodelSpec, MarkAt, MarkingSpec,
    PhantomFeed, PhantomRole, PhantomSpec, PieSpec, PolicerSpec, Red, RedAverage, TrimmingSpec, Victim,
};
use sim::spec::{
    Balancing, Datacentres, FatTree, FlowSpec, LinkSpec, Load, Side, Star, Start, Topology, Tree, TreeLinks, TreeShape,
};
use sim::{Experiment, FlowId};
use transport::flow::code::{Coding, Parity};
use transport::flow::{EchoConfig, EcnMode, LossPolicy, Rto, SenderConfig, Skip};

/// Name and experiment of each family. Chance is involved in all of them.
pub(crate) fn families() -> Vec<(&'static str, Experiment)> {
    let mut all = vec![
        ("three algorithms share a drop-tail queue", coexistence()),
        ("incast around a switch that marks", incast()),
        ("permutation over a fat-tree, sprayed", fat_tree()),
        ("two datacentres with phantom queues, sprayed", two_datacentres()),
        ("request and response", request_response()),
        ("random and bursty loss", bursty_loss()),
        ("reordering under rack", reordering()),
        ("a cellular trace with jitter and thinned acknowledgements", cellular()),
        ("a link that fails", outage()),
        ("a policer and red", policed()),
        ("timers per packet", per_packet_timers()),
    ];
    all.push(("notices from near the source", near_source()));
    all.push(("coded flows that lose, reorder and double packets", coded()));
    all.extend(disciplines());
    all
}

fn coded() -> Experiment {
    let mut experiment = reordering();
    let timeout = Span::from_millis(12);
    experiment.endpoints.sender.coding = Coding::new(8, Parity::Adaptive { min: 1, max: 4 }, timeout).ok();
    if let Topology::Dumbbell(dumbbell) = &mut experiment.topology {
        dumbbell.bottleneck.impairments.loss = LossSpec::Bernoulli(probability(0.03));
        dumbbell.bottleneck.impairments.duplicate = probability(0.02);
    }
    experiment
}

fn wan() -> LinkSpec {
    drop_tail(Rate::from_mbps(20), Span::from_millis(15), Capacity::Bytes(60_000))
}

fn coexistence() -> Experiment {
    let contestants = ["newreno", "cubic", "fixed-rate?rate=4Mbps"].map(contestant).to_vec();
    let flow = |(index, flow): (usize, FlowSpec)| FlowSpec {
        contestant: index,
        start: Start::At(at(Span::from_millis(100 * (index as u64 / 2)))),
        stop: Some(at(Span::from_millis(2_500))),
        ..flow
    };
    let flows = bulk(3).into_iter().enumerate().map(flow).collect();
    let mut topology = dumbbell(3, wan());
    if let Topology::Dumbbell(dumbbell) = &mut topology {
        dumbbell.extra_delay = vec![Span::ZERO, Span::ZERO, Span::from_millis(10)];
    }
    experiment_of(contestants, topology, flows, Span::from_secs(3))
}

fn incast() -> Experiment {
    let up = LinkSpec::fixed(Rate::from_gbps(100), Span::from_nanos(500));
    let mut down = drop_tail(Rate::from_gbps(100), Span::from_nanos(500), Capacity::Bytes(300_000));
    down.marking = MarkingSpec::Threshold { bytes: 60_000 };
    down.mark_at = MarkAt::Dequeue;
    let flows = (1..17).map(|source| flow(source, 0, Load::Bytes(150_000))).collect();
    let topology = Topology::Star(Star { hosts: 17, up, down });
    let mut experiment = experiment("dctcp", topology, flows, Span::from_millis(50));
    experiment.endpoints.sender = SenderConfig::datacentre();
    experiment.endpoints.receiver.echo = EchoConfig::ALL;
    experiment
}

fn fat_tree() -> Experiment {
    let link = drop_tail(Rate::from_gbps(100), Span::from_micros(1), Capacity::Packets(40));
    let tree = FatTree { k: 4, host_up: LinkSpec::fixed(Rate::from_gbps(100), Span::from_micros(1)), link };
    let flows = (0..16).map(|host| flow(host, (host + 7) % 16, Load::Bytes(400_000))).collect();
    let mut experiment = experiment("newreno", Topology::FatTree(tree), flows, Span::from_millis(20));
    experiment.endpoints.sender = SenderConfig::datacentre();
    experiment.balance = Balancing::spray();
    experiment
}

/// Trees of four hosts with parallel links; every port but the hosts' own has a phantom queue.
fn two_datacentres() -> Experiment {
    let mut link = drop_tail(Rate::from_gbps(100), Span::from_micros(1), Capacity::Bytes(200_000));
    let marking = MarkingSpec::Threshold { bytes: 100_000 };
    link.phantom = Some(PhantomSpec {
        drain: Rate::from_gbps(95),
        size: 1_000_000,
        marking,
        feed: PhantomFeed::Arrivals,
        role: PhantomRole::Alone,
    });
    let between = [100, 130].map(|micros| LinkSpec { propagation: Span::from_micros(micros), ..link.clone() });
    let shape = TreeShape { pods: 2, edges: 2, hosts: 1, aggregations: 2, cores: 1, edge_bundle: 2, core_bundle: 1 };
    let links = TreeLinks::alike(link.clone(), LinkSpec::fixed(Rate::from_gbps(100), Span::from_micros(1)));
    let topology = Topology::Datacentres(Datacentres {
        count: 2,
        tree: Tree { shape, links },
        borders: 2,
        core_border_links: 1,
        core_up: link.clone(),
        border_down: link,
        between: between.to_vec(),
        between_links: 2,
    });
    let flows = (0..8).map(|host| flow(host, (host + 3) % 8, Load::Bytes(400_000))).collect();
    let mut experiment = experiment("dctcp", topology, flows, Span::from_millis(50));
    experiment.endpoints.sender = SenderConfig::datacentre();
    experiment.balance = Balancing::spray();
    experiment
}

fn request_response() -> Experiment {
    let mut flows = Vec::new();
    for index in 0..20_u32 {
        let start = Start::At(at(Span::from_millis(u64::from(index) * 37)));
        flows.push(FlowSpec { start, group: 1, ..flow(0, 1, Load::Bytes(900)) });
        let answered = Start::After { flow: FlowId(2 * index), delay: Span::from_millis(1) };
        flows.push(FlowSpec { start: answered, group: 2, ..flow(1, 0, Load::Bytes(120_000)) });
    }
    let link = losing(wan(), LossSpec::Bernoulli(probability(0.02)));
    experiment("cubic", dumbbell(1, link), flows, Span::from_secs(20))
}

fn bursty_loss() -> Experiment {
    let chain = GilbertElliott {
        to_bad: probability(0.01),
        to_good: probability(0.2),
        loss_good: probability(0.001),
        loss_bad: probability(0.7),
    };
    let mut link = losing(wan(), LossSpec::GilbertElliott(chain));
    link.impairments.corrupt = probability(0.005);
    link.impairments.duplicate = probability(0.01);
    let mut experiment = experiment("cubic", dumbbell(2, link), bulk(2), Span::from_secs(4));
    experiment.endpoints.ack_every = 4;
    experiment
}

fn reordering() -> Experiment {
    let mut link = wan();
    link.impairments.reorder = Some(Reorder { probability: probability(0.05), extra: Span::from_millis(8) });
    let mut experiment = experiment("newreno", dumbbell(1, link), bulk(1), Span::from_secs(4));
    experiment.endpoints.sender.loss = LossPolicy::RACK;
    experiment.endpoints.sender.skip = Some(Skip { mean_distance: 300, seed: 5 });
    experiment
}

fn cellular() -> Experiment {
    // Between 1 and 24 Mb/s, changing every 200 ms.
    let step = |index: u64| {
        let every = [500, 1_000, 12_000, 2_000, 700][index as usize % 5];
        (0..200_000 / every).map(move |count| index * 200_000 + count * every + every)
    };
    let list = (0..5).flat_map(step).map(|micros| Opportunity { at: Span::from_micros(micros), bytes: MTU });
    let service = ServiceSpec::Opportunities(Opportunities::new(list, Span::from_secs(1), End::Repeat).unwrap());
    let mut link = LinkSpec { service, ..drop_tail(FAST, Span::from_millis(20), Capacity::Packets(100)) };
    let law = JitterLaw::Exponential { mean: Span::from_millis(3), max: Span::from_millis(30) };
    link.impairments.jitter = Some(JitterSpec { law, hold: Span::from_millis(5) });
    let mut topology = dumbbell(2, link);
    if let Topology::Dumbbell(dumbbell) = &mut topology {
        dumbbell.reverse.impairments.ack_thinning = Some(AckThinning { every: 3, hold: Span::from_millis(10) });
    }
    experiment("cubic", topology, bulk(2), Span::from_secs(4))
}

fn outage() -> Experiment {
    let changes = [(Span::from_millis(1_000), Change::Down), (Span::from_millis(1_600), Change::Restore)];
    let slow = Segment { span: Span::from_millis(300), rate: Rate::from_mbps(5) };
    let fast = Segment { span: Span::from_millis(200), rate: Rate::from_mbps(30) };
    let segments = ServiceSpec::Segments(Segments::new([slow, fast], End::Repeat).unwrap());
    let service = segments.with_changes(changes).unwrap();
    let outage = Outage { from: Span::from_millis(2_400), until: Span::from_millis(2_900) };
    let link = losing(LinkSpec { service, ..wan() }, LossSpec::Outages(Arc::new([outage])));
    let load = Load::OnOff { burst: 100_000, period: Span::from_millis(150) };
    let flows = vec![flow(0, 2, load), FlowSpec { stop: Some(at(Span::from_secs(4))), ..flow(1, 3, load) }];
    experiment("newreno", dumbbell(2, link), flows, Span::from_secs(5))
}

fn policed() -> Experiment {
    let mut link = wan();
    link.policer = Some(PolicerSpec { rate: Rate::from_mbps(15), burst_bytes: 30_000, excess: Excess::Drop });
    link.marking = MarkingSpec::Red(Red {
        min_bytes: 5_000,
        max_bytes: 50_000,
        max_probability: probability(0.1),
        average: RedAverage::Instantaneous,
        gentle: true,
    });
    let mut experiment = experiment("newreno", dumbbell(2, link), bulk(2), Span::from_secs(3));
    experiment.endpoints.ack_every = 2;
    experiment
}

fn per_packet_timers() -> Experiment {
    let up = LinkSpec::fixed(Rate::from_gbps(10), Span::from_micros(2));
    let down = drop_tail(Rate::from_gbps(10), Span::from_micros(2), Capacity::Packets(20));
    let flows = (1..9).map(|source| flow(source, 0, Load::Bytes(200_000))).collect();
    let mut experiment = experiment("dctcp", Topology::Star(Star { hosts: 9, up, down }), flows, Span::from_secs(1));
    experiment.endpoints.sender = SenderConfig::datacentre_rto(Span::from_micros(300));
    let rto = Rto::Estimated { min: Span::from_micros(100) };
    experiment.endpoints.sender.loss = LossPolicy::PerPacketRto { rto };
    experiment
}

/// A near and a far flow that are told of the queue they share.
fn near_source() -> Experiment {
    let mut link = wan();
    link.near_source = Some(CongestionPointSpec { sample_bytes: 15_000, ..CongestionPointSpec::new(20_000) });
    let mut topology = dumbbell(2, link);
    if let Topology::Dumbbell(dumbbell) = &mut topology {
        (dumbbell.extra_delay, dumbbell.extra_side) = (vec![Span::ZERO, Span::from_millis(50)], Side::Right);
    }
    let contestants = vec![contestant("cubic").needing(Need::NearSource)];
    experiment_of(contestants, topology, bulk(2), Span::from_secs(3))
}

/// Two flows, one of which answers marks, through each discipline that decides at dequeue.
fn disciplines() -> Vec<(&'static str, Experiment)> {
    let through = |discipline| {
        let link = LinkSpec { discipline, ..LinkSpec::fixed(Rate::from_mbps(20), Span::from_millis(15)) };
        let contestants = vec![contestant("cubic?ecn=off"), contestant("newreno")];
        let flows = bulk(2).into_iter().enumerate().map(|(index, flow)| FlowSpec { contestant: index, ..flow });
        let mut experiment = experiment_of(contestants, dumbbell(2, link), flows.collect(), Span::from_secs(3));
        experiment.endpoints.sender.ecn = EcnMode::Validate;
        experiment
    };
    let trimming = TrimmingSpec {
        victim: Victim::ArrivingOrNewest,
        marking: MarkingSpec::Threshold { bytes: 20_000 },
        ..TrimmingSpec::new(Capacity::Packets(20))
    };
    vec![
        ("trimming", through(DisciplineSpec::Trimming(trimming))),
        ("codel", through(DisciplineSpec::Codel(CodelSpec::default()))),
        ("fq_codel", through(DisciplineSpec::FqCodel(FqCodelSpec::default()))),
        ("pie", through(DisciplineSpec::Pie(PieSpec::default()))),
        ("dualpi2", through(DisciplineSpec::DualPi2(DualPi2Spec::default()))),
    ]
}
