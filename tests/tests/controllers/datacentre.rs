//! Laws of the datacentre that react to marks and trims.

use cc_algos::{Rate, Span};
use cwndtunnel_tests::{at, delivery_rate, experiment, flow, probability, run, sample_at};
use sim::outcome::FlowOutcome;
use sim::queue::{Capacity, DisciplineSpec, MarkingSpec, Red, RedAverage, TrimmingSpec};
use sim::spec::{Balancing, FatTree, FlowSpec, Knowledge, LinkSpec, Load, Star, Start, Topology};
use sim::{Experiment, Outcome};
use transport::flow::SenderConfig;

/// Hosts around a switch; an empty path takes four hops each way and back.
fn star(algorithm: &str, down: LinkSpec, up: LinkSpec, flows: Vec<FlowSpec>) -> Experiment {
    let hosts = 1 + flows.iter().map(|flow| flow.source.0.max(flow.destination.0)).max().unwrap_or(0);
    let topology = Topology::Star(Star { hosts, up, down });
    let mut experiment = experiment(algorithm, topology, flows, Span::from_millis(20));
    experiment.endpoints.sender = SenderConfig::datacentre();
    experiment
}

fn jain(values: &[f64]) -> f64 {
    let (sum, squares) = values.iter().fold((0.0, 0.0), |(sum, squares), value| (sum + value, squares + value * value));
    sum * sum / (values.len() as f64 * squares)
}

/// Bytes per second of each flow between two times of the run.
fn rates(outcome: &Outcome, flows: usize, from: Span, to: Span) -> Vec<f64> {
    (0..flows).map(|flow| delivery_rate(outcome, flow, at(from), at(to))).collect()
}

/// Two flows of 40 Gb/s links into one, the second 2 ms after the first, with the marking of the paper's deployment.
fn two_dcqcn_flows(algorithm: &str) -> Outcome {
    let rate = Rate::from_gbps(40);
    let hop = Span::from_micros(1);
    let mut down = LinkSpec::fixed(rate, hop);
    let (min_bytes, max_bytes) = (5_000, 200_000);
    let max_probability = probability(0.01);
    down.marking = MarkingSpec::Red(Red {
        min_bytes,
        max_bytes,
        max_probability,
        average: RedAverage::Instantaneous,
        gentle: false,
    });
    let mut flows = vec![flow(1, 0, Load::Unlimited), flow(2, 0, Load::Unlimited)];
    flows[1].start = Start::At(at(Span::from_millis(2)));
    let mut experiment = star(algorithm, down, LinkSpec::fixed(rate, hop), flows);
    experiment.duration = Span::from_millis(60);
    experiment.sample_every = Some(Span::from_micros(100));
    run(&experiment)
}

/// SIGCOMM'15 (figures 13 and 14, by memory) shows that the timer of 55 us with a byte counter of 10 MB lets flows converge
/// to a fair share, and that the byte counter of QCN with a slow timer does not.
#[test]
fn two_dcqcn_flows_converge_with_the_paper_s_counters_and_less_with_qcn_s() {
    let fairness = |algorithm: &str| {
        let outcome = two_dcqcn_flows(algorithm);
        let rates = rates(&outcome, 2, Span::from_millis(30), Span::from_millis(60));
        let used = rates.iter().sum::<f64>() / (40e9 / 8.0);
        assert_eq!(outcome.ports.iter().map(|port| port.queue_drops).sum::<u64>(), 0);
        (jain(&rates), used)
    };
    let (fair, used) = fairness("dcqcn");
    assert!(fair > 0.95 && used > 0.85, "fairness {fair}, {used} used");
    let (unfair, _) = fairness("dcqcn?byte_counter=150kB&timer=1500us");
    assert!(unfair < fair, "{unfair} with the byte counter, {fair} with the timer");
}

/// Flows of many sources to host 0 through a queue of one BDP that trims what does not fit.
fn incast_of(algorithm: &str, sources: u32, bytes: u64) -> Experiment {
    let rate = Rate::from_gbps(100);
    // Four hops of 2 us and serialisation: an RTT of about 9 us, a BDP of about 110 kB.
    let hop = Span::from_micros(2);
    let mut down = LinkSpec::fixed(rate, hop);
    let mut trimming = TrimmingSpec::new(Capacity::Bytes(110_000));
    trimming.marking = MarkingSpec::Red(Red {
        min_bytes: 22_000,
        max_bytes: 88_000,
        max_probability: probability(1.0),
        average: RedAverage::Instantaneous,
        gentle: false,
    });
    down.discipline = DisciplineSpec::Trimming(trimming);
    let flows = (1..=sources).map(|source| flow(source, 0, Load::Bytes(bytes))).collect();
    star(algorithm, down, LinkSpec::fixed(rate, hop), flows)
}

/// When the last flow was complete, in multiples of what the link needs for the payload, and when the first was.
fn spread(outcome: &Outcome, bytes: u64) -> (f64, f64) {
    let times = outcome.flows.iter().map(|flow| flow.completion_time().unwrap().as_secs_f64());
    let ideal = bytes as f64 * outcome.flows.len() as f64 * 8.0 / 100e9;
    let (first, last) = times.fold((f64::MAX, 0.0_f64), |(first, last), time| (first.min(time), last.max(time)));
    (first / ideal, last / ideal)
}

fn timeouts(flows: &[FlowOutcome]) -> u64 {
    flows.iter().map(|flow| flow.timeouts).sum()
}

/// Ultra Ethernet's claim for NSCC with trimming: an incast ends near the ideal, without timeouts.
#[test]
fn an_incast_of_nscc_over_trimming_switches_ends_near_the_ideal_time() {
    for sources in [4, 16] {
        let outcome = run(&incast_of("nscc", sources, 1_000_000));
        let (_, last) = spread(&outcome, 1_000_000);
        assert!(last < 1.15, "{sources} sources: {last} of the ideal time");
        assert_eq!(timeouts(&outcome.flows), 0);
    }
}

/// arXiv 2404.01630 claims fairness in incast and quick reaction by Quick Adapt: sixteen flows that each start with one and
/// a half BDPs have come down to about what the path holds within five round trips, and end close together near the ideal.
#[test]
fn an_incast_of_fastflow_is_fair_and_quick_adapt_brings_it_down_within_five_round_trips() {
    let mut experiment = incast_of("fastflow", 16, 1_000_000);
    let contestant = experiment.contestants.remove(0);
    experiment.contestants.push(contestant.knowing(Knowledge::Oracle));
    experiment.sample_every = Some(Span::from_micros(1));
    let outcome = run(&experiment);
    let windows =
        |micros: u64| sample_at(&outcome, at(Span::from_micros(micros))).flows.iter().map(|flow| flow.window).sum();
    let (start, later): (u64, u64) = (windows(1), windows(50));
    assert!(start > 16 * 150_000 && later < 500_000, "{start} B in flight at first, {later} B after 50 us");
    let (first, last) = spread(&outcome, 1_000_000);
    assert!(last < 1.15 && first > 0.5 * last, "from {first} to {last} of the ideal time");
}

/// MP-RDMA spreads one window over all paths of a fat-tree. Flows between all pairs of hosts of different pods collide on
/// some links where each keeps to one; the abstract claims up to 47 % more utilisation.
#[test]
fn mprdma_over_all_paths_uses_more_of_a_fat_tree_than_over_one_each() {
    let throughput = |balance: Balancing| {
        let rate = Rate::from_gbps(10);
        let mut link = LinkSpec::fixed(rate, Span::from_micros(1));
        link.marking = MarkingSpec::Threshold { bytes: 60_000 };
        let tree = FatTree { k: 4, host_up: LinkSpec::fixed(rate, Span::from_micros(1)), link };
        let flows = (0..16).map(|host| flow(host, (host + 8) % 16, Load::Unlimited)).collect();
        let mut experiment = experiment("mprdma", Topology::FatTree(tree), flows, Span::from_millis(5));
        experiment.endpoints.sender = SenderConfig::datacentre();
        experiment.balance = balance;
        run(&experiment).flows.iter().map(|flow| flow.delivered).sum::<u64>() as f64
    };
    let (one, all) = (throughput(Balancing::ecmp()), throughput(Balancing::spray()));
    assert!(all > 1.2 * one, "{all} over all paths, {one} over one");
    // 16 hosts of 10 Gb/s for 5 ms.
    assert!(all > 0.7 * 16.0 * 10e9 / 8.0 * 5e-3, "{all} of {one}");
}
