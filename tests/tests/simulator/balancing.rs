//! Balancers in networks that have more than one way.

use cc_algos::{Rate, Span};
use cwndtunnel_tests::{balancing, contestant, drop_tail, experiment, flow, run};
use sim::Experiment;
use sim::outcome::FlowOutcome;

use sim::queue::{Capacity, Excess, MarkingSpec, PolicerSpec};
use sim::spec::{Datacentres, FatTree, LinkSpec, Load, Switching, Topology, Tree, TreeLinks, TreeShape};
use transport::flow::SenderConfig;
use transport::flow::balance::Balancers;

const RATE: Rate = Rate::from_gbps(10);

fn marking_link(delay: Span) -> LinkSpec {
    let mut link = drop_tail(RATE, delay, Capacity::Bytes(500_000));
    link.marking = MarkingSpec::Threshold { bytes: 60_000 };
    link
}

/// When the last flow was done; `None` if one is not.
fn last_completion(flows: &[FlowOutcome]) -> Option<Span> {
    let spans = flows.iter().map(|flow| Some(flow.completed?.saturating_since(flow.started?)));
    spans.collect::<Option<Vec<_>>>()?.into_iter().max()
}

/// Every host of a fat-tree sends 2 MB to one of another pod, and receives as much.
fn permutation(balancer: &str, seed: u64) -> Experiment {
    let delay = Span::from_micros(1);
    let tree = FatTree { k: 4, host_up: LinkSpec::fixed(RATE, delay), link: marking_link(delay) };
    let flows = (0..16).map(|host| flow(host, (host + 8) % 16, Load::Bytes(2_000_000))).collect();
    let mut experiment = experiment("dctcp", Topology::FatTree(tree), flows, Span::from_millis(200));
    experiment.endpoints.sender = SenderConfig::datacentre();
    experiment.balance = balancing(balancer);
    experiment.seed = seed;
    experiment
}

#[test]
fn a_permutation_over_a_fat_tree_ends_sooner_where_flows_do_not_collide_for_good() {
    let slowest = |balancer| -> f64 {
        let completions = (1..=3).map(|seed| {
            let outcome = run(&permutation(balancer, seed));
            last_completion(&outcome.flows).expect("every flow is done in time").as_secs_f64()
        });
        completions.sum::<f64>() / 3.0
    };
    let ecmp = slowest("ecmp");
    // 2 MB at 10 Gb/s take 1.6 ms; two flows that share a link take twice as long, three of them three times.
    assert!(ecmp > 3.2e-3, "{ecmp} s");
    for balancer in ["spray", "reps", "bitmap", "uno"] {
        let several = slowest(balancer);
        assert!(several < 0.75 * ecmp, "{several} s with {balancer}, {ecmp} s with ecmp");
    }
}

/// Two datacentres joined by eight links, of which one swallows whatever is larger than 200 B: data, not acknowledgements.
fn black_hole() -> Topology {
    let delay = Span::from_micros(1);
    let healthy = marking_link(Span::from_micros(100));
    let mut between = vec![healthy; 8];
    between[0].policer = Some(PolicerSpec { rate: RATE, burst_bytes: 200, excess: Excess::Drop });
    let shape = TreeShape { pods: 1, edges: 1, hosts: 8, aggregations: 1, cores: 1, edge_bundle: 8, core_bundle: 8 };
    Topology::Datacentres(Datacentres {
        count: 2,
        tree: Tree { shape, links: TreeLinks::alike(marking_link(delay), LinkSpec::fixed(RATE, delay)) },
        borders: 1,
        core_border_links: 8,
        core_up: marking_link(delay),
        border_down: marking_link(delay),
        between,
        between_links: 8,
    })
}

/// Eight flows of 2 MB from one datacentre to the other.
fn over_a_black_hole(balancer: &str, seed: u64) -> Experiment {
    let flows = (0..8).map(|host| flow(host, 8 + host, Load::Bytes(2_000_000))).collect();
    let mut experiment = experiment("dctcp", black_hole(), flows, Span::from_millis(500));
    experiment.endpoints.sender = SenderConfig::datacentre();
    experiment.endpoints.sender.initial_rtt = Span::from_micros(210);
    experiment.balance = balancing(balancer);
    experiment.seed = seed;
    experiment
}

/// The first seed whose hash leads a flow into the hole, and that flow.
fn stuck() -> (u64, usize) {
    let stuck = |seed| run(&over_a_black_hole("ecmp", seed)).flows.iter().position(|flow| flow.completed.is_none());
    (1..=20).find_map(|seed| Some((seed, stuck(seed)?))).expect("one of 160 flows, with a chance of 1/8 each")
}

#[test]
fn flows_leave_a_link_that_swallows_their_packets() {
    let (seed, _) = stuck();
    let lost = |balancer| {
        let flows = run(&over_a_black_hole(balancer, seed)).flows;
        (last_completion(&flows), flows.iter().map(|flow| flow.lost).sum::<u64>())
    };
    let (sprayed, into_the_hole) = lost("spray");
    assert!(sprayed.is_some());
    // 8 flows of about 500 packets, of which each has a chance of 1/8.
    assert!(into_the_hole > 350, "{into_the_hole}");
    for balancer in ["uno", "reps", "plb", "bitmap"] {
        let (done, lost) = lost(balancer);
        assert!(done.is_some_and(|done| done < Span::from_millis(50)), "{balancer}: {done:?}");
        assert!(lost < into_the_hole / 2, "{lost} packets with {balancer}, {into_the_hole} if sprayed");
    }
}

#[test]
fn contestants_may_have_balancers_of_their_own() {
    let (seed, stuck) = stuck();
    let mut experiment = over_a_black_hole("uno", seed);
    let contestants = ["ecmp", "plb"].map(|name| contestant("dctcp").balanced_by(balancing(name)));
    experiment.contestants.extend(contestants);
    let template = experiment.flows.clone();
    experiment.flows.clear();
    for (index, flow) in template.iter().enumerate() {
        experiment.flows.push(sim::spec::FlowSpec { contestant: index % 3, ..*flow });
    }
    let of = |experiment: &Experiment, contestant: usize| -> Vec<_> {
        let outcome = run(experiment);
        let flows = outcome.flows.into_iter().zip(&experiment.flows);
        flows.filter(|(_, spec)| spec.contestant == contestant).map(|(flow, _)| flow.completed.is_some()).collect()
    };
    experiment.flows[stuck].contestant = 1;
    assert!(of(&experiment, 0).iter().all(|done| *done) && of(&experiment, 2).iter().all(|done| *done));
    assert!(of(&experiment, 1).contains(&false));
    experiment.contestants[1].balance = None;
    assert!(of(&experiment, 1).iter().all(|done| *done), "without one of its own it has the experiment's");
}

#[test]
fn runs_repeat_to_the_byte_with_every_balancer_and_all_kinds_of_switches() {
    let gap = Span::from_micros(5);
    let switches = [Switching::Spray, Switching::Flowlet { gap }, Switching::Adaptive].map(|switching| {
        let mut experiment = permutation("ecmp", 5);
        experiment.switching = switching;
        experiment
    });
    let balancers = Balancers::builtin();
    let hosts = balancers.iter().map(|kind| permutation(kind.name(), 5));
    for experiment in switches.into_iter().chain(hosts) {
        let (first, second) = (run(&experiment), run(&experiment));
        assert_eq!(format!("{first:?}"), format!("{second:?}"), "{experiment:?}");
    }
}

#[test]
fn switches_that_choose_for_each_packet_end_a_permutation_sooner() {
    let slowest = |switching| {
        let mut experiment = permutation("ecmp", 1);
        experiment.switching = switching;
        last_completion(&run(&experiment).flows).expect("every flow is done in time")
    };
    let by_hash = slowest(Switching::Ecmp);
    let (sprayed, adaptive) = (slowest(Switching::Spray), slowest(Switching::Adaptive));
    assert!(sprayed.as_secs_f64() < 0.75 * by_hash.as_secs_f64(), "{sprayed} and {by_hash}");
    assert!(adaptive < sprayed, "{adaptive} where the shortest queue is taken, {sprayed} where any is");
    // No flow ever pauses for a second: each keeps to the ports that it began with.
    let bursts = slowest(Switching::Flowlet { gap: Span::from_secs(1) });
    assert!(bursts > sprayed, "{bursts} and {sprayed}");
}

#[test]
fn a_flow_that_a_switch_leads_into_a_hole_leaves_it_after_a_pause_that_is_longer_than_the_gap() {
    let completed = |gap, seed| {
        let mut experiment = over_a_black_hole("ecmp", seed);
        experiment.switching = Switching::Flowlet { gap };
        run(&experiment).flows.iter().all(|flow| flow.completed.is_some())
    };
    let stuck = (1..=20).find(|seed| !completed(Span::from_secs(10), *seed)).expect("one of 160 flows");
    // Timeouts come after three round trips of 200 us or more, and are pauses.
    assert!(completed(Span::from_micros(300), stuck));
}
