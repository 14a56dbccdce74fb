//! Links that fail: what is lost, and that nobody else notices.

use cc_algos::{Rate, Span};
use cwndtunnel_tests::{balancing, drop_tail, dumbbell, experiment, flow, run, seconds};
use sim::queue::Capacity;
use sim::spec::{Datacentres, Experiment, FaultLinks, FaultSpec, LinkSpec, Load, Topology, Tree, TreeLinks, TreeShape};
use sim::{Outcome, SimError};

fn fault(group: &str, links: FaultLinks, from: Span, until: Option<Span>) -> FaultSpec {
    FaultSpec { group: group.to_owned(), links, from, until }
}

/// Twelve hosts of 10 Gb/s on either side of four links.
fn datacentres() -> Topology {
    let link = |propagation| drop_tail(Rate::from_gbps(10), propagation, Capacity::Bytes(1_000_000));
    let near = link(Span::from_micros(1));
    let shape = TreeShape { pods: 1, edges: 3, hosts: 4, aggregations: 2, cores: 1, edge_bundle: 1, core_bundle: 2 };
    let links = TreeLinks::alike(near.clone(), LinkSpec::fixed(Rate::from_gbps(10), Span::from_micros(1)));
    Topology::Datacentres(Datacentres {
        count: 2,
        tree: Tree { shape, links },
        borders: 1,
        core_border_links: 2,
        core_up: near.clone(),
        border_down: near,
        between: vec![link(Span::from_micros(100))],
        between_links: 4,
    })
}

fn across(faults: Vec<FaultSpec>) -> Experiment {
    let flows = (0..12).map(|host| flow(host, 12 + host, Load::Bytes(100_000))).collect();
    Experiment { faults, ..experiment("newreno", datacentres(), flows, seconds(2.0)) }
}

fn losses(outcome: &Outcome, port: &str) -> u64 {
    outcome.ports.iter().find(|candidate| candidate.name == port).expect("such a port").wire_losses
}

fn unfinished(outcome: &Outcome) -> usize {
    outcome.flows.iter().filter(|flow| flow.completed.is_none()).count()
}

/// 12 Mb/s of packets of 1 500 B are one each millisecond: a hole of 300 ms swallows 300 of them, and after it all goes on.
#[test]
fn a_link_loses_exactly_what_it_is_given_while_it_is_out_of_order() {
    let link = drop_tail(Rate::from_mbps(100), Span::from_millis(5), Capacity::Bytes(1_000_000));
    let flows = vec![flow(0, 1, Load::Unlimited)];
    let mut experiment = experiment("fixed-rate?rate=12Mbps", dumbbell(1, link), flows, seconds(2.0));
    let whole = run(&experiment);
    experiment.faults =
        vec![fault("bottleneck", FaultLinks::All, Span::from_millis(500), Some(Span::from_millis(800)))];
    let broken = run(&experiment);
    assert_eq!(losses(&whole, "bottleneck"), 0);
    let lost = losses(&broken, "bottleneck");
    assert!((299..=301).contains(&lost), "{lost} packets");
    assert_eq!(losses(&broken, "reverse"), 0);
}

/// A third of the way through a link is out of order twice, at times that overlap: the union counts.
#[test]
fn faults_of_the_same_link_add_up() {
    let link = drop_tail(Rate::from_mbps(100), Span::from_millis(5), Capacity::Bytes(1_000_000));
    let flows = vec![flow(0, 1, Load::Unlimited)];
    let mut experiment = experiment("fixed-rate?rate=12Mbps", dumbbell(1, link), flows, seconds(2.0));
    let hole = |from, until| {
        fault("bottleneck", FaultLinks::These(vec![0]), Span::from_millis(from), Some(Span::from_millis(until)))
    };
    experiment.faults = vec![hole(600, 800), hole(500, 700), hole(1_000, 1_100)];
    let lost = losses(&run(&experiment), "bottleneck");
    assert!((398..=402).contains(&lost), "{lost} packets");
}

#[test]
fn one_dead_link_of_four_stops_the_flows_that_hash_to_it_and_spraying_gets_through() {
    let dead = || vec![fault("dc0-to-dc1", FaultLinks::These(vec![0]), Span::ZERO, None)];
    let ecmp = run(&across(dead()));
    assert!((1..12).contains(&unfinished(&ecmp)), "{} of twelve flows did not end", unfinished(&ecmp));
    assert!(losses(&ecmp, "dc0-to-dc1") > 0);
    assert_eq!(losses(&ecmp, "dc1-to-dc0"), 0, "the other direction is whole");
    let sprayed = run(&Experiment { balance: balancing("spray"), ..across(dead()) });
    assert_eq!(unfinished(&sprayed), 0);
}

#[test]
fn random_links_are_the_seed_s_and_as_many_as_were_asked_for() {
    let random = |seed, count| {
        let faults = vec![fault("dc0-to-dc1", FaultLinks::Random(count), Span::ZERO, None)];
        run(&Experiment { seed, ..across(faults) })
    };
    assert_eq!(random(3, 1), random(3, 1));
    assert_eq!(unfinished(&random(3, 4)), 12, "without any link nothing gets through");
    let stopped: Vec<_> = (1..=4).map(|seed| unfinished(&random(seed, 2))).collect();
    assert!(stopped.iter().all(|count| (1..12).contains(count)), "{stopped:?}");
}

#[test]
fn links_that_are_not_there_are_refused() {
    let message = |group: &str, links| match sim::run(&across(vec![fault(group, links, Span::ZERO, None)])) {
        Err(SimError::Invalid { what, problem }) => format!("{what}: {problem}"),
        other => panic!("accepted: {other:?}"),
    };
    let unknown = message("dc0-to-dc2", FaultLinks::All);
    assert!(
        unknown.starts_with("fault 0: no links are called `dc0-to-dc2`") && unknown.contains("dc1-to-dc0"),
        "{unknown}"
    );
    let beyond = message("dc0-to-dc1", FaultLinks::These(vec![0, 4]));
    assert!(beyond.contains("link 4") && beyond.contains("0 to 3"), "{beyond}");
    let many = message("dc0-to-dc1", FaultLinks::Random(5));
    assert!(many.contains("1 to 4"), "{many}");
}
