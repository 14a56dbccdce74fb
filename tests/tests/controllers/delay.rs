//! Laws of the datacentre that steer by delay: Swift, TIMELY and theta-PowerTCP. The papers' texts were not at hand, so that
//! their experiments are named by content and not by figure.

use cc_algos::{Rate, Span, Timestamp};
use cwndtunnel_tests::{at, bulk, contestant, delivery_rate, drop_tail, dumbbell, experiment_of, flow, run};
use sim::Outcome;
use sim::link::{Change, ServiceSpec};
use sim::outcome::Sample;
use sim::queue::{Capacity, DisciplineSpec};
use sim::spec::{FlowSpec, Knowledge, LinkSpec, Load, Star, Topology};
use transport::flow::SenderConfig;

const MTU: u64 = 4_160;

/// Base RTT and line rate are configured in the papers' experiments: flows that start into each other's queues would take
/// these for the base.
pub(crate) fn simulate(algorithm: &str, topology: Topology, flows: Vec<FlowSpec>, duration: Span) -> Outcome {
    let contestant = contestant(algorithm).knowing(Knowledge::Oracle);
    let mut experiment = experiment_of(vec![contestant], topology, flows, duration);
    experiment.endpoints.sender = SenderConfig::datacentre();
    experiment.sample_every = Some(Span::from_micros(20));
    run(&experiment)
}

/// The same by controllers that estimate, over links of 25 Gb/s for packets of the size that the papers' simulators send.
pub(crate) fn simulate_estimating(
    algorithm: &str,
    topology: Topology,
    flows: Vec<FlowSpec>,
    duration: Span,
) -> Outcome {
    let mut experiment = experiment_of(vec![contestant(algorithm)], topology, flows, duration);
    experiment.endpoints.sender = SenderConfig::datacentre();
    experiment.endpoints.sender.mtu = 1_000;
    experiment.sample_every = Some(Span::from_micros(20));
    run(&experiment)
}

/// Many hosts send to one without end, over one switch with links of 25 Gb/s and 2 us.
fn incast(algorithm: &str, senders: u32, buffer_packets: u64) -> Outcome {
    let up = LinkSpec::fixed(Rate::from_gbps(25), Span::from_micros(2));
    let discipline = DisciplineSpec::DropTail { capacity: Capacity::Packets(buffer_packets) };
    let down = LinkSpec { discipline, ..up.clone() };
    let flows = (1..=senders).map(|source| flow(source, 0, Load::Unlimited)).collect();
    let topology = Topology::Star(Star { hosts: senders + 1, up, down });
    simulate(algorithm, topology, flows, Span::from_millis(20))
}

/// One value over the second half of the run.
pub(crate) fn settled(outcome: &Outcome, value: impl Fn(&Sample) -> f64) -> Vec<f64> {
    outcome.samples[outcome.samples.len() / 2..].iter().map(value).collect()
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn base_rtt(outcome: &Outcome) -> f64 {
    outcome.flows[0].base_rtt.as_secs_f64()
}

/// Jain's index of what each flow delivered between two times.
pub(crate) fn fairness(outcome: &Outcome, from: Timestamp, to: Timestamp) -> f64 {
    let rates: Vec<_> = (0..outcome.flows.len()).map(|flow| delivery_rate(outcome, flow, from, to)).collect();
    rates.iter().sum::<f64>().powi(2) / (rates.len() as f64 * rates.iter().map(|rate| rate * rate).sum::<f64>())
}

/// Swift's large incast: a hundred flows to one host keep windows below a packet, hold the delay near the target of
/// such windows, and lose next to nothing. Each acknowledgement below the target adds `ai` to such a window: with a whole
/// packet a hundred flows on a path of eight packets overshoot the target twofold, with a tenth by a third.
#[test]
fn swift_holds_its_target_delay_under_a_hundredfold_incast_almost_without_loss() {
    let outcome = incast("swift?ai=0.1", 100, 1_200);
    let base = base_rtt(&outcome);
    let rtts = settled(&outcome, |sample| {
        mean(&sample.flows.iter().filter_map(|flow| Some(flow.smoothed_rtt?.as_secs_f64() / base)).collect::<Vec<_>>())
    });
    let windows = settled(&outcome, |sample| {
        sample.flows.iter().map(|flow| flow.window as f64 / MTU as f64).sum::<f64>() / sample.flows.len() as f64
    });
    let port = &outcome.ports[0];
    // 1.5 + alpha / sqrt(w) + beta, base RTTs.
    let target = 1.5 + 0.816_39 / mean(&windows).sqrt() - 0.081_64;
    assert!((1.5..1.5 * target).contains(&mean(&rtts)), "{} with a target of {target}", mean(&rtts));
    assert!(mean(&windows) < 1.0, "{}", mean(&windows));
    let lost: u64 = outcome.flows.iter().map(|flow| flow.lost).sum();
    let sent: u64 = outcome.flows.iter().map(|flow| flow.packets_sent).sum();
    assert!(lost * 1_000 <= sent, "{lost} of {sent}");
    assert!(port.bytes as f64 > 0.95 * port.offered as f64, "{port:?}");
}

/// Without flow scaling the same incast has a target of one and a half base RTTs only, and the queue follows it.
#[test]
fn swift_queues_less_without_flow_scaling() {
    let queue = |algorithm: &str| {
        let outcome = incast(algorithm, 20, 1_200);
        mean(&settled(&outcome, |sample| sample.ports[0].backlog as f64))
    };
    let (scaled, plain) = (queue("swift"), queue("swift?fs_range=0"));
    assert!(plain < 0.8 * scaled, "{plain} against {scaled}");
}

/// TIMELY against loss-based control on a deep buffer: the RTT stays within its thresholds where CUBIC fills the buffer, and
/// the link stays in use.
#[test]
fn timely_keeps_the_rtt_within_its_thresholds_where_cubic_fills_the_buffer() {
    let shared = |algorithm: &str| {
        let bottleneck = drop_tail(Rate::from_gbps(10), Span::from_micros(10), Capacity::Packets(2_000));
        let outcome = simulate(algorithm, dumbbell(4, bottleneck), bulk(4), Span::from_millis(100));
        let base = base_rtt(&outcome);
        let rtts = settled(&outcome, |sample| sample.flows[0].smoothed_rtt.map_or(0.0, |rtt| rtt.as_secs_f64() / base));
        let half = &outcome.samples[outcome.samples.len() / 2..];
        let (first, last) = (&half[0].ports[0], &half[half.len() - 1].ports[0]);
        (mean(&rtts), (last.bytes - first.bytes) as f64 / (last.offered - first.offered) as f64)
    };
    let (timely, utilisation) = shared("timely");
    let (cubic, _) = shared("cubic");
    assert!(timely < 25.0, "T_high: {timely}");
    assert!(cubic > 2.0 * timely, "{cubic} against {timely}");
    assert!(utilisation > 0.9, "{utilisation}");
}

/// PowerTCP's time series of a bandwidth that changes: after a drop to a quarter theta-PowerTCP drains what it has queued
/// within a few round trips and keeps the link in use, and it takes the whole link again when it returns. TIMELY, by the
/// gradient alone, keeps whatever queue it has built.
#[test]
fn theta_powertcp_follows_a_step_of_capacity_with_less_queue_than_timely() {
    let step = |algorithm: &str| {
        let mut bottleneck = drop_tail(Rate::from_gbps(25), Span::from_micros(20), Capacity::Packets(2_000));
        let steps =
            [(Span::from_millis(4), Change::Rate(Rate::from_mbps(6_250))), (Span::from_millis(8), Change::Restore)];
        bottleneck.service = ServiceSpec::Fixed(Rate::from_gbps(25)).with_changes(steps).unwrap();
        let mut topology = dumbbell(2, bottleneck);
        let Topology::Dumbbell(dumbbell) = &mut topology else { unreachable!() };
        dumbbell.access = LinkSpec::fixed(Rate::from_gbps(25), Span::ZERO);
        let outcome = simulate_estimating(algorithm, topology, bulk(2), Span::from_millis(12));
        let within = |from: f64, to: f64, value: &dyn Fn(&Sample) -> f64| {
            let (from, to) = (at(Span::from_secs_f64(from / 1e3)), at(Span::from_secs_f64(to / 1e3)));
            let chosen = outcome.samples.iter().filter(|sample| sample.at >= from && sample.at < to);
            chosen.map(value).collect::<Vec<_>>()
        };
        let used = |from: f64, to: f64| {
            let sent = within(from, to, &|sample| sample.ports[0].bytes as f64);
            (sent[sent.len() - 1] - sent[0]) * 8.0 / ((to - from) * 1e6)
        };
        let backlog = mean(&within(5.0, 8.0, &|sample| sample.ports[0].backlog as f64));
        (backlog, used(5.0, 8.0), used(8.0, 9.0))
    };
    let (theta, timely) = (step("theta-powertcp"), step("timely"));
    assert!(theta.0 < 0.5 * timely.0, "{theta:?} against {timely:?}");
    assert!(theta.1 > 0.85 * 6.25, "no undershoot at the lower rate: {theta:?}");
    assert!(theta.2 > 1.5 * timely.2, "in the first millisecond at the full rate: {theta:?} against {timely:?}");
}

/// PowerTCP's fairness experiment: flows share a link equally.
#[test]
fn theta_powertcp_shares_a_link_equally() {
    let bottleneck = drop_tail(Rate::from_gbps(25), Span::from_micros(8), Capacity::Packets(500));
    let outcome = simulate("theta-powertcp", dumbbell(4, bottleneck), bulk(4), Span::from_millis(20));
    let index = fairness(&outcome, at(Span::from_millis(10)), at(Span::from_millis(20)));
    assert!(index > 0.95, "{index}");
}
