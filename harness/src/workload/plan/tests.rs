use std::collections::BTreeSet;

use super::*;
use crate::workload::{MatrixSource, Published, Sizes};

const DUMBBELL: Site = Site {
    hosts: Hosts::Pairs(4),
    capacity: Rate::from_mbps(100),
    duration: Span::from_secs(100),
    seed: 1,
    datacentre: None,
};
const STAR: Site = Site {
    hosts: Hosts::Any(16),
    capacity: Rate::from_gbps(10),
    duration: Span::from_millis(100),
    seed: 1,
    datacentre: None,
};

fn flows_with(pattern: &Pattern, sizes: &[SizeDistribution], site: &Site) -> Result<Vec<FlowSpec>, PlanError> {
    let sizes = sizes.iter().cloned().map(Arc::new).collect();
    plan(&[Assigned { pattern, sizes, contestant: 0, group: 0, matrix: None, other_group: 1 }], site)
        .map(|plan| plan.flows)
}

fn flows(pattern: &Pattern, sizes: &[SizeDistribution], site: &Site) -> Vec<FlowSpec> {
    flows_with(pattern, sizes, site).unwrap()
}

fn bytes(flow: &FlowSpec) -> u64 {
    match flow.load {
        Load::Bytes(bytes) => bytes,
        ref other => panic!("{other:?}"),
    }
}

fn start(flow: &FlowSpec) -> Span {
    match flow.start {
        Start::At(at) => at.saturating_since(Timestamp::ZERO),
        ref other => panic!("{other:?}"),
    }
}

fn poisson(arrivals: Arrivals) -> Pattern {
    Pattern::Poisson { sizes: Sizes::Published(Published::AliStorage), arrivals, start: Span::ZERO, stop: None }
}

#[test]
fn poisson_flows_offer_the_load_asked_for() {
    let curve = Published::AliStorage.distribution();
    for (site, links) in [(DUMBBELL, 1.0), (STAR, 16.0)] {
        let flows = flows(&poisson(Arrivals::Load(0.6)), std::slice::from_ref(&curve), &site);
        let offered = flows.iter().map(|flow| bytes(flow) as f64).sum::<f64>();
        let expected = 0.6 * links * site.capacity.bytes_in(site.duration) as f64;
        // A compound Poisson sum has a relative deviation of sqrt(E[X²] / n) / E[X]; for AliStorage2019 E[X²] = 3.85e10, so
        // sqrt(E[X²]) / E[X] = 4.8 and, from n flows, 4.8 / sqrt(n). Five of them.
        let bound = 5.0 * 4.8 / (flows.len() as f64).sqrt();
        assert!((offered / expected - 1.0).abs() < bound, "{offered} of {expected}, {} flows", flows.len());
        assert!(bound < 0.2);
    }
}

#[test]
fn poisson_flows_spread_over_all_pairs_of_hosts_alike() {
    let flows = flows(&poisson(Arrivals::PerSecond(1e6)), &[SizeDistribution::fixed(1_000)], &STAR);
    let mut counts = vec![0_u32; 16 * 16];
    for flow in &flows {
        assert_ne!(flow.source, flow.destination);
        counts[(flow.source.0 * 16 + flow.destination.0) as usize] += 1;
    }
    // 240 ordered pairs share about 100 000 flows: 417 each, standard deviation 20; six of them for 240 draws.
    let mean = flows.len() as f64 / 240.0;
    for (cell, &count) in counts.iter().enumerate().filter(|(cell, _)| cell / 16 != cell % 16) {
        assert!((f64::from(count) - mean).abs() < 6.0 * mean.sqrt(), "{cell}: {count} of {mean}");
    }
}

#[test]
fn a_response_waits_for_its_request_and_comes_back() {
    let pattern = Pattern::RequestResponse {
        request: Sizes::Fixed(200),
        response: Sizes::Fixed(40_000),
        arrivals: Arrivals::Load(0.5),
        think: Span::from_micros(50),
        start: Span::from_secs(1),
        stop: Some(Span::from_secs(9)),
    };
    let flows = flows(&pattern, &[SizeDistribution::fixed(200), SizeDistribution::fixed(40_000)], &DUMBBELL);
    // 0.5 x 100 Mb/s over 40 kB responses: 156.25 a second for 8 s: 1 250, standard deviation 35; five of them.
    assert!((2 * 1_073..=2 * 1_427).contains(&flows.len()), "{}", flows.len());
    for (index, exchange) in flows.chunks(2).enumerate() {
        let [request, response] = exchange else { panic!("odd number of flows") };
        assert_eq!((request.source, request.destination), (response.destination, response.source));
        assert!(response.source.0 < 4, "data go from left to right");
        assert_eq!((bytes(request), bytes(response)), (200, 40_000));
        assert_eq!((request.group, response.group), (1, 0));
        assert!((Span::from_secs(1)..Span::from_secs(9)).contains(&start(request)));
        let after = Start::After { flow: FlowId(2 * index as u32), delay: Span::from_micros(50) };
        assert_eq!(response.start, after);
    }
}

#[test]
fn bulk_flows_join_in_turn_and_leave_in_turn() {
    let pattern = Pattern::Bulk {
        flows: 6,
        volume: Volume::Unlimited,
        start: Span::from_secs(1),
        stagger: Span::from_secs(10),
        hold: Some(Span::from_secs(30)),
        jitter: Span::ZERO,
    };
    let flows = flows(&pattern, &[], &DUMBBELL);
    let seconds: Vec<_> = flows.iter().map(|flow| start(flow).as_millis() / 1_000).collect();
    assert_eq!(seconds, [1, 11, 21, 31, 41, 51]);
    let stops: Vec<_> = flows.iter().map(|flow| flow.stop.unwrap().as_nanos() / 1_000_000_000).collect();
    assert_eq!(stops, [31, 41, 51, 61, 71, 81]);
    let pairs: Vec<_> = flows.iter().map(|flow| (flow.source.0, flow.destination.0)).collect();
    assert_eq!(pairs, [(0, 4), (1, 5), (2, 6), (3, 7), (0, 4), (1, 5)]);
}

#[test]
fn jitter_spreads_starts_over_its_whole_width_and_no_further() {
    let jitter = Span::from_millis(100);
    let pattern = Pattern::OnOff {
        flows: 1_000,
        burst: 10_000,
        period: Span::from_millis(50),
        start: Span::from_secs(1),
        jitter,
    };
    let starts: Vec<_> = flows(&pattern, &[], &DUMBBELL).iter().map(start).collect();
    assert!(starts.iter().all(|at| (Span::from_secs(1)..Span::from_millis(1_100)).contains(at)));
    let early = starts.iter().filter(|&&at| at < Span::from_millis(1_050)).count();
    // Binomial: 500, standard deviation 16; five of them.
    assert!((420..=580).contains(&early), "{early}");
}

#[test]
fn incast_has_distinct_senders_and_one_receiver_each_epoch() {
    let pattern = Pattern::Incast {
        fan_in: 15,
        sizes: Sizes::Fixed(20_000),
        epochs: 3,
        period: Span::from_millis(10),
        start: Span::ZERO,
        jitter: Span::ZERO,
    };
    let flows = flows(&pattern, &[SizeDistribution::fixed(20_000)], &STAR);
    assert_eq!(flows.len(), 45);
    for (epoch, together) in flows.chunks(15).enumerate() {
        let senders: BTreeSet<_> = together.iter().map(|flow| flow.source).collect();
        assert_eq!(senders.len(), 15);
        assert!(together.iter().all(|flow| flow.destination == HostId(0) && flow.source != HostId(0)));
        assert!(together.iter().all(|flow| start(flow) == Span::from_millis(10 * epoch as u64)));
    }
}

#[test]
fn a_permutation_gives_every_host_one_flow_out_and_one_in() {
    for seed in 1..20 {
        let pattern = Pattern::Permutation { volume: Volume::Unlimited, start: Span::ZERO, jitter: Span::ZERO };
        let flows = flows(&pattern, &[], &Site { seed, ..STAR });
        let sources: BTreeSet<_> = flows.iter().map(|flow| flow.source).collect();
        let destinations: BTreeSet<_> = flows.iter().map(|flow| flow.destination).collect();
        assert_eq!((flows.len(), sources.len(), destinations.len()), (16, 16, 16));
        assert!(flows.iter().all(|flow| flow.source != flow.destination));
    }
}

#[test]
fn a_seed_repeats_its_flows_and_another_changes_them() {
    let pattern = poisson(Arrivals::Load(0.3));
    let of = |seed| flows(&pattern, &[Published::Rpc.distribution()], &Site { seed, ..STAR });
    let key = |flows: Vec<FlowSpec>| {
        flows.into_iter().map(|flow| (flow.source, flow.destination, flow.start, flow.load)).collect::<Vec<_>>()
    };
    assert!(key(of(5)) == key(of(5)));
    assert!(key(of(5)) != key(of(6)));
}

#[test]
fn another_workload_leaves_the_flows_of_the_first_alone() {
    let (first, second) = (poisson(Arrivals::Load(0.1)), poisson(Arrivals::Load(0.2)));
    let assigned = |pattern| Assigned {
        pattern,
        sizes: vec![Arc::new(Published::Rpc.distribution())],
        contestant: 0,
        group: 0,
        matrix: None,
        other_group: 0,
    };
    let alone = plan(&[assigned(&first)], &STAR).unwrap().flows;
    let both = plan(&[assigned(&first), assigned(&second)], &STAR).unwrap().flows;
    assert!(both.len() > alone.len());
    assert!(alone.iter().zip(&both).all(|(a, b)| (a.start, a.load) == (b.start, b.load)));
}

#[test]
fn absurd_rates_are_an_error_not_an_exhausted_memory() {
    let error = flows_with(&poisson(Arrivals::PerSecond(1e12)), &[SizeDistribution::fixed(1)], &STAR);
    assert_eq!(error.unwrap_err(), PlanError::TooManyFlows);
}

#[test]
fn a_matrix_gives_each_workload_its_flows_and_what_starts_them() {
    use sim::spec::{FlowEnd, TriggerKind};
    let text = "Nodes 16\nConnections 4\nTriggers 1\n0->9 start 3 size 10\n1->2 start 0 size 20 send_done_trigger 1\n\
                3->12 trigger 1 size 30\n4->5 trigger 1 size 40\ntrigger id 1 oneshot\n";
    let matrix = Some(Arc::new(Matrix::parse(text).unwrap()));
    let site = Site { datacentre: Some(8), ..STAR };
    let planned = |only| {
        let pattern = Pattern::Matrix { source: MatrixSource::File("x.cm".into()), only };
        let matrix = matrix.clone();
        let assigned = Assigned { pattern: &pattern, sizes: vec![], matrix, contestant: 0, group: 0, other_group: 1 };
        plan(&[assigned], &site)
    };
    let all = planned(Only::All).unwrap();
    let loads: Vec<_> = all.flows.iter().map(|flow| (flow.load, flow.group)).collect();
    let expected = [(10, 1), (20, 0), (30, 1), (40, 0)].map(|(bytes, group)| (Load::Bytes(bytes), group));
    assert_eq!(loads, expected, "flows between datacentres are a class of their own");
    assert_eq!(all.flows[0].start, Start::At(Timestamp::ZERO + Span::from_micros(3)));
    assert_eq!(all.flows[2].start, Start::Triggered);
    let [trigger] = &all.triggers[..] else { panic!("{:?}", all.triggers) };
    assert_eq!(trigger.kind, TriggerKind::All { after: 1 });
    assert_eq!(trigger.causes, [(FlowId(1), FlowEnd::Completed)]);
    assert_eq!(trigger.flows, [FlowId(2), FlowId(3)]);
    assert_eq!(planned(Only::Intra).unwrap_err(), PlanError::SplitTrigger { line: 6 });
    assert!(planned(Only::Inter).unwrap_err().to_string().starts_with("line 6 of the matrix: its trigger joins flows"));
}
