//! Nothing is lost or found: what holds in any small experiment, whatever its links, queues, impairments, loads and
//! algorithms.

use cc_algos::{Rate, Span, Timestamp};
use cwndtunnel_tests::{MTU, at, balancing, contestant, experiment_of, flow, probability};
use proptest::prelude::*;
use sim::link::impair::{
    AckThinning, BlockLoss, GilbertElliott, ImpairmentSpec, JitterLaw, JitterSchedule, JitterSpec, JitterStep,
    LossSpec, Outage, Reorder,
};
use sim::link::{Change, ServiceSpec};
use sim::outcome::{FlowOutcome, PortOutcome};
use sim::queue::{
    Capacity, CodelSpec, DisciplineSpec, DualPi2Spec, FqCodelSpec, MarkAt, MarkingSpec, PieSpec, TrimmingSpec, Victim,
};
use sim::spec::{
    Datacentres, Dumbbell, FatTree, FlowSpec, LinkSpec, Load, Side, Star, Start, Switching, Topology, Tree, TreeLinks,
    TreeShape,
};
use sim::{Experiment, Outcome};
use transport::flow::code::{Coding, Parity};
use transport::flow::{LossPolicy, Pacing, Rto, SenderConfig};

const ALGORITHMS: [&str; 5] = ["newreno", "cubic", "dctcp", "fixed-window?window=40kB", "fixed-rate?rate=8Mbps"];

fn disciplines() -> impl Strategy<Value = DisciplineSpec> {
    let capacity = prop_oneof![
        (3_000_u64..200_000).prop_map(Capacity::Bytes),
        (1_u64..100).prop_map(Capacity::Packets),
        Just(Capacity::Unlimited),
    ];
    prop_oneof![
        3 => capacity.clone().prop_map(|capacity| DisciplineSpec::DropTail { capacity }),
        2 => (capacity, 1_u64..30).prop_map(|(capacity, control)| DisciplineSpec::Trimming(TrimmingSpec {
            control_capacity: Capacity::Packets(control),
            victim: Victim::ArrivingOrNewest,
            ..TrimmingSpec::new(capacity)
        })),
        1 => Just(DisciplineSpec::Codel(CodelSpec::default())),
        1 => Just(DisciplineSpec::FqCodel(FqCodelSpec::default())),
        1 => Just(DisciplineSpec::Pie(PieSpec::default())),
        1 => Just(DisciplineSpec::DualPi2(DualPi2Spec::default())),
    ]
}

fn losses() -> impl Strategy<Value = LossSpec> {
    prop_oneof![
        3 => Just(LossSpec::None),
        1 => (0.0..0.3).prop_map(|loss| LossSpec::Bernoulli(probability(loss))),
        1 => (0.001..0.1, 0.1..1.0).prop_map(|(to_bad, to_good)| LossSpec::GilbertElliott(GilbertElliott {
            to_bad: probability(to_bad),
            to_good: probability(to_good),
            loss_good: probability(0.0),
            loss_bad: probability(0.9),
        })),
        1 => (2_u64..50).prop_map(|every| LossSpec::Periodic { every, offset: every - 1 }),
        1 => (3_u32..20, 0.0..0.3).prop_map(|(length, one)| LossSpec::Blocks(BlockLoss {
            length,
            probabilities: [one, one / 2.0, one / 4.0].map(probability).into(),
        })),
    ]
}

fn impairments() -> impl Strategy<Value = ImpairmentSpec> {
    let chance = || prop_oneof![3 => Just(0.0), 1 => 0.0..0.1];
    let jitter = prop::option::weighted(0.3, (1_u64..5_000, 0_u64..3_000));
    let thinning = prop::option::weighted(0.2, 1_u32..5);
    let outage = prop::option::weighted(0.2, (0_u64..200).prop_map(Span::from_millis));
    (losses(), chance(), chance(), chance(), (jitter, jitter_schedule()), (thinning, outage)).prop_map(
        |(loss, corrupt, duplicate, reorder, (jitter, schedule), (thinning, outage))| ImpairmentSpec {
            loss,
            corrupt: probability(corrupt),
            duplicate: probability(duplicate),
            reorder: (reorder > 0.0)
                .then_some(Reorder { probability: probability(reorder), extra: Span::from_millis(3) }),
            jitter: jitter.map(|(max, hold)| JitterSpec {
                law: JitterLaw::Uniform { max: Span::from_micros(max) },
                hold: Span::from_micros(hold),
            }),
            ack_thinning: thinning.map(|every| AckThinning { every, hold: Span::from_millis(5) }),
            jitter_schedule: schedule,
            outages: outage.map(|from| Outage { from, until: from + Span::from_millis(40) }).into_iter().collect(),
        },
    )
}

fn jitter_schedule() -> impl Strategy<Value = JitterSchedule> {
    let steps = prop::collection::btree_map(0_u64..50_000, 0_u64..20_000, 0..4);
    (steps, any::<bool>()).prop_map(|(steps, repeats)| {
        let step = |(at, delay)| JitterStep { at: Span::from_micros(at), delay: Span::from_micros(delay) };
        let schedule = JitterSchedule::new(steps.into_iter().map(step)).unwrap();
        if repeats { schedule.repeating(Span::from_millis(50)).unwrap() } else { schedule }
    })
}

fn links() -> impl Strategy<Value = LinkSpec> {
    let marking = prop_oneof![Just(MarkingSpec::None), Just(MarkingSpec::Threshold { bytes: 12_000 })];
    let mark_at = prop_oneof![Just(MarkAt::Enqueue), Just(MarkAt::Dequeue)];
    let down = prop::option::weighted(0.2, 50_u64..400);
    (200_u64..50_000, 0_u64..20_000, disciplines(), (marking, mark_at), impairments(), down).prop_map(
        |(kbps, micros, discipline, (marking, mark_at), impairments, down)| {
            let fixed = ServiceSpec::Fixed(Rate::from_kbps(kbps));
            let service = match down {
                None => fixed,
                Some(millis) => {
                    let changes =
                        [(Span::from_millis(100), Change::Down), (Span::from_millis(100 + millis), Change::Restore)];
                    fixed.with_changes(changes).unwrap()
                }
            };
            let plain = LinkSpec::fixed(Rate::from_kbps(kbps), Span::from_micros(micros));
            LinkSpec { service, discipline, marking, mark_at, impairments, ..plain }
        },
    )
}

fn topologies() -> impl Strategy<Value = (u32, Topology)> {
    let access = LinkSpec::fixed(Rate::from_mbps(100), Span::from_micros(50));
    let up = access.clone();
    let delivery = proptest::collection::vec(links(), 0..2);
    let side = prop_oneof![Just(Side::Left), Just(Side::Right)];
    let both = (links(), links());
    let dumbbell = (1_u32..4, delivery, both, side).prop_map(move |(pairs, delivery, both, extra_side)| {
        let access = access.clone();
        let (bottleneck, reverse) = both;
        let extra_delay = vec![Span::ZERO, Span::from_micros(700)];
        let dumbbell = Dumbbell { pairs, access, extra_delay, extra_side, delivery, bottleneck, reverse };
        (2 * pairs, Topology::Dumbbell(dumbbell))
    });
    let star = (2_u32..6, links())
        .prop_map(move |(hosts, down)| (hosts, Topology::Star(Star { hosts, up: up.clone(), down })));
    let tree = links().prop_map(|link| {
        let host_up = LinkSpec::fixed(Rate::from_mbps(100), Span::from_micros(50));
        (16, Topology::FatTree(FatTree { k: 4, link, host_up }))
    });
    let datacentres = (links(), links()).prop_map(|(link, between)| {
        let host_up = LinkSpec::fixed(Rate::from_mbps(100), Span::from_micros(50));
        let shape =
            TreeShape { pods: 1, edges: 2, hosts: 2, aggregations: 2, cores: 2, edge_bundle: 1, core_bundle: 2 };
        let datacentres = Datacentres {
            count: 2,
            tree: Tree { shape, links: TreeLinks::alike(link.clone(), host_up) },
            borders: 1,
            core_border_links: 1,
            core_up: link.clone(),
            border_down: link,
            between: vec![between],
            between_links: 2,
        };
        (8, Topology::Datacentres(datacentres))
    });
    prop_oneof![3 => dumbbell, 2 => star, 1 => tree, 1 => datacentres]
}

fn loads() -> impl Strategy<Value = Load> {
    prop_oneof![
        4 => (1_u64..200_000).prop_map(Load::Bytes),
        1 => Just(Load::Unlimited),
        1 => (1_u64..50_000, 1_u64..300)
            .prop_map(|(burst, millis)| Load::OnOff { burst, period: Span::from_millis(millis) }),
    ]
}

fn flows(hosts: u32) -> impl Strategy<Value = Vec<FlowSpec>> {
    let stop = prop::option::weighted(0.3, 1_u64..1_500);
    let one = (0..hosts, 1..hosts.max(2), loads(), 0_u64..500, stop, 0..ALGORITHMS.len());
    prop::collection::vec(one, 1..6).prop_map(move |list| {
        let build =
            |(source, distance, load, start, stop, contestant): (u32, u32, Load, u64, Option<u64>, usize)| FlowSpec {
                start: Start::At(at(Span::from_millis(start))),
                stop: stop.map(|stop| at(Span::from_millis(start + stop))),
                contestant,
                ..flow(source, (source + distance) % hosts, load)
            };
        list.into_iter().map(build).collect()
    })
}

fn senders() -> impl Strategy<Value = SenderConfig> {
    let loss = prop_oneof![
        2 => Just(LossPolicy::RFC_9002),
        2 => Just(LossPolicy::RACK),
        1 => Just(LossPolicy::PerPacketRto { rto: Rto::Estimated { min: Span::from_millis(20) } }),
    ];
    let pacing = prop_oneof![Just(Pacing::On), Just(Pacing::Off)];
    let mtu = prop_oneof![Just(MTU), Just(300), Just(9_000)];
    (loss, pacing, mtu, prop::option::weighted(0.4, coding())).prop_map(|(loss, pacing, mtu, coding)| {
        let mut sender = SenderConfig::default();
        (sender.loss, sender.pacing, sender.mtu, sender.coding) = (loss, pacing, mtu, coding);
        sender
    })
}

fn coding() -> impl Strategy<Value = Coding> {
    let parity = prop_oneof![
        (0_u8..4).prop_map(Parity::Fixed),
        (0_u8..2, 0_u8..4).prop_map(|(min, more)| Parity::Adaptive { min, max: min + more }),
    ];
    (1_u8..12, parity, 1_u64..100)
        .prop_map(|(data, parity, millis)| Coding::new(data, parity, Span::from_millis(millis)).unwrap())
}

const BALANCERS: &[&str] =
    &["ecmp", "spray", "flowlet", "plb?rounds=1&pause=1ms", "reps?freeze=loss&freezing=1ms", "bitmap", "uno"];

fn experiments() -> impl Strategy<Value = Experiment> {
    let network = topologies().prop_flat_map(|(hosts, topology)| (Just(topology), flows(hosts)));
    let gap = Span::from_millis(1);
    let switches = vec![Switching::Ecmp, Switching::Spray, Switching::Flowlet { gap }, Switching::Adaptive];
    let choice = (prop::sample::select(BALANCERS), prop::sample::select(switches));
    (network, senders(), 1_u32..5, choice, any::<u64>()).prop_map(
        |((topology, flows), sender, every, (balance, switching), seed)| {
            let contestants = ALGORITHMS.map(contestant).to_vec();
            let mut experiment = experiment_of(contestants, topology, flows, Span::from_secs(3));
            experiment.endpoints.sender = sender;
            experiment.endpoints.ack_every = every;
            (experiment.seed, experiment.balance, experiment.check_wire) = (seed, balancing(balance), true);
            experiment.switching = switching;
            experiment.sample_every = Some(Span::from_millis(50));
            experiment
        },
    )
}

fn check_flow(flow: &FlowOutcome, spec: &FlowSpec, mtu: u64, end: Timestamp) {
    if let Some(size) = flow.size {
        assert!(flow.delivered <= size, "{flow:?}");
    }
    if let Load::Bytes(bytes) = spec.load {
        assert!(flow.delivered <= bytes, "{flow:?}");
    }
    if let Some(completed) = flow.completed {
        let (started, received) = (flow.started.unwrap(), flow.received.unwrap());
        assert!(started <= received && received <= completed && completed <= end, "{flow:?}");
        // A flow that was stopped has no size.
        let sized = matches!(spec.load, Load::Bytes(_));
        assert_eq!(flow.size, sized.then_some(flow.delivered));
        if spec.stop.is_none() {
            assert_eq!(spec.load, Load::Bytes(flow.delivered));
        }
    }
    // No byte arrives that was not sent, and no packet is larger than the MTU.
    assert!(flow.delivered <= flow.bytes_sent && flow.bytes_sent <= flow.packets_sent * mtu, "{flow:?}");
    assert!(flow.retransmitted <= flow.packets_sent && flow.lost <= flow.packets_sent, "{flow:?}");
    assert!(flow.spurious <= flow.lost && flow.marked <= flow.packets_sent, "{flow:?}");
    if let Some(coding) = flow.coding {
        assert!(coding.parity_packets <= flow.packets_sent && coding.parity_bytes <= flow.bytes_sent, "{flow:?}");
        assert!(coding.decoded <= coding.blocks && coding.repaired <= coding.blocks, "{flow:?}");
        assert!(coding.recovered <= flow.lost, "{flow:?}");
    }
}

fn check_port(port: &PortOutcome) {
    assert!(port.bytes <= port.offered, "more than the link can carry: {port:?}");
    assert!(port.wire_losses <= port.packets && port.bytes >= 28 * port.packets, "{port:?}");
}

/// What flows sent, the bottlenecks of a dumbbell dropped, lost or passed on; without duplication no more arrives than
/// passed.
fn check_dumbbell(experiment: &Experiment, outcome: &Outcome) {
    let Topology::Dumbbell(dumbbell) = &experiment.topology else { return };
    let (mut sent, mut crossing) = ([0, 0], true);
    for (flow, spec) in outcome.flows.iter().zip(&experiment.flows) {
        let side = |host: u32| usize::from(host >= dumbbell.pairs);
        crossing &= side(spec.source.0) != side(spec.destination.0);
        sent[side(spec.source.0)] += flow.packets_sent;
    }
    for (port, data) in outcome.ports.iter().zip(sent) {
        // A port also carries the ACKs of the other side's data, at most one per packet and one per delay timer.
        let acks = outcome.flows.iter().map(|flow| 2 * flow.packets_sent).sum::<u64>();
        assert!(port.packets + port.queue_drops + port.policer_drops <= data + 2 * acks, "{port:?}");
    }
    let duplicates = |link: &LinkSpec| link.impairments.duplicate.get() > 0.0;
    if crossing && !duplicates(&dumbbell.bottleneck) && !duplicates(&dumbbell.reverse) {
        let passed: u64 = outcome.ports.iter().map(|port| port.packets - port.wire_losses).sum();
        assert!(outcome.work.data_packets <= passed, "{:?} {:?}", outcome.work, outcome.ports);
    }
}

/// Running totals never shrink, and the last ones are the outcome's.
fn check_samples(outcome: &Outcome) {
    for pair in outcome.samples.windows(2) {
        assert!(pair[0].at < pair[1].at);
        for (before, after) in pair[0].ports.iter().zip(&pair[1].ports) {
            assert!(before.bytes <= after.bytes && before.offered <= after.offered && after.bytes <= after.offered);
        }
        for flow in &pair[1].flows {
            let before = pair[0].flows.iter().find(|entry| entry.flow == flow.flow).map_or(0, |entry| entry.delivered);
            let last = outcome.flows[flow.flow.0 as usize].delivered;
            assert!((before..=last).contains(&flow.delivered), "{flow:?}, before {before}, at last {last}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn packets_and_bytes_are_conserved_in_any_experiment(experiment in experiments()) {
        let outcome = sim::run(&experiment).unwrap();
        let mtu = experiment.endpoints.sender.mtu;
        for (flow, spec) in outcome.flows.iter().zip(&experiment.flows) {
            check_flow(flow, spec, mtu, outcome.ended_at);
        }
        outcome.ports.iter().for_each(check_port);
        check_dumbbell(&experiment, &outcome);
        check_samples(&outcome);
    }
}
