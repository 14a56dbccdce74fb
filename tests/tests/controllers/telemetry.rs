//! Laws of the datacentre that steer by what switches report: HPCC, PowerTCP and Poseidon. The papers' texts were not at
//! hand, so that their experiments are named by content and not by figure.

use cc_algos::{Rate, Span};
use cwndtunnel_tests::{at, bulk, drop_tail, dumbbell, flow, sample_at};
use sim::Outcome;
use sim::link::{Change, ServiceSpec};
use sim::outcome::Sample;
use sim::queue::Capacity;
use sim::spec::{FlowSpec, LinkSpec, Load, Start, Topology};

use super::delay::{fairness, mean, settled, simulate, simulate_estimating};

/// 25 Gb/s and a round trip of 40 us: 125 000 bytes.
const BDP: f64 = 125_000.0;

fn bottleneck() -> LinkSpec {
    drop_tail(Rate::from_gbps(25), Span::from_micros(20), Capacity::Packets(2_000))
}

/// Four flows without end share the bottleneck.
fn shared(algorithm: &str) -> Outcome {
    simulate(algorithm, dumbbell(4, bottleneck()), bulk(4), Span::from_millis(20))
}

fn utilisation(outcome: &Outcome) -> f64 {
    let half = &outcome.samples[outcome.samples.len() / 2..];
    let (first, last) = (&half[0].ports[0], &half[half.len() - 1].ports[0]);
    (last.bytes - first.bytes) as f64 / (last.offered - first.offered) as f64
}

fn backlog(outcome: &Outcome) -> f64 {
    mean(&settled(outcome, |sample| sample.ports[0].backlog as f64))
}

/// HPCC's headline: links at the target utilisation of 95 % with hardly a queue.
#[test]
fn hpcc_runs_a_link_at_its_target_utilisation_with_hardly_a_queue() {
    let outcome = shared("hpcc");
    assert!((0.9..0.97).contains(&utilisation(&outcome)), "{}", utilisation(&outcome));
    assert!(backlog(&outcome) < 0.05 * BDP, "{}", backlog(&outcome));
}

/// HPCC's target is the one that it is given.
#[test]
fn hpcc_follows_another_target() {
    let outcome = shared("hpcc?eta=0.8");
    assert!((0.75..0.84).contains(&utilisation(&outcome)), "{}", utilisation(&outcome));
}

/// Time from the longest queue until it is below a tenth of that, base RTTs; and the longest queue.
fn drain(algorithm: &str) -> (f64, f64) {
    let mut flows: Vec<FlowSpec> = vec![flow(0, 16, Load::Unlimited)];
    let late = Start::At(at(Span::from_millis(2)));
    flows.extend((1..16).map(|pair| FlowSpec { start: late, ..flow(pair, 16 + pair, Load::Unlimited) }));
    let outcome = simulate(algorithm, dumbbell(16, bottleneck()), flows, Span::from_millis(10));
    let backlog = |sample: &Sample| sample.ports[0].backlog;
    let peak = outcome.samples.iter().max_by_key(|sample| backlog(sample)).unwrap();
    let drained = outcome.samples.iter().find(|sample| sample.at > peak.at && backlog(sample) * 10 < backlog(peak));
    let rtts = drained.map_or(f64::INFINITY, |sample| sample.at.saturating_since(peak.at).as_secs_f64() / 40e-6);
    (rtts, backlog(peak) as f64)
}

/// HPCC's and PowerTCP's incast: the queue that fifteen joining flows build is gone within a few times what the link needs to
/// send it.
#[test]
fn hpcc_and_powertcp_drain_an_incast_at_once() {
    for algorithm in ["hpcc", "powertcp"] {
        let (rtts, peak) = drain(algorithm);
        assert!(rtts < 2.0 * peak / BDP + 5.0, "{algorithm}: {rtts} round trips for a queue of {peak} bytes");
    }
}

/// PowerTCP's time series of a bandwidth that changes: it gives way without undershoot, and takes up what returns faster than
/// HPCC, which tries additive growth for five round trips first.
#[test]
fn powertcp_follows_a_step_of_capacity_without_undershoot_and_faster_than_hpcc() {
    let step = |algorithm: &str| {
        let mut bottleneck = bottleneck();
        let steps =
            [(Span::from_millis(4), Change::Rate(Rate::from_mbps(6_250))), (Span::from_millis(8), Change::Restore)];
        bottleneck.service = ServiceSpec::Fixed(Rate::from_gbps(25)).with_changes(steps).unwrap();
        let mut topology = dumbbell(2, bottleneck);
        let Topology::Dumbbell(dumbbell) = &mut topology else { unreachable!() };
        dumbbell.access = LinkSpec::fixed(Rate::from_gbps(25), Span::ZERO);
        let outcome = simulate_estimating(algorithm, topology, bulk(2), Span::from_millis(12));
        let sample = |millis: f64| sample_at(&outcome, at(Span::from_secs_f64(millis / 1e3))).ports[0];
        let used = |from: f64, to: f64| {
            let (first, last) = (sample(from), sample(to));
            (last.bytes - first.bytes) as f64 / (last.offered - first.offered) as f64
        };
        (used(4.2, 8.0), used(8.0, 8.4))
    };
    let (power, hpcc) = (step("powertcp"), step("hpcc"));
    assert!(power.0 > 0.95, "{power:?}");
    assert!(power.1 > 1.2 * hpcc.1, "{power:?} against {hpcc:?}");
}

/// Poseidon's property: flows of one bottleneck meet at one rate, with the delay there that this rate tolerates.
#[test]
fn poseidon_shares_equally_with_the_delay_that_the_fair_rate_tolerates() {
    let outcome = shared("poseidon");
    let index = fairness(&outcome, at(Span::from_millis(10)), at(Span::from_millis(20)));
    assert!(index > 0.98, "{index}");
    // 2 us + 40 us x ln 4 / ln 1000 = 10.03 us at 25 Gb/s.
    assert!((backlog(&outcome) / 31_340.0 - 1.0).abs() < 0.3, "{}", backlog(&outcome));
    assert!(utilisation(&outcome) > 0.95, "{}", utilisation(&outcome));
}
