//! CUBIC's response to periodic loss, RFC 9438, section 5.1.

use cc_algos::Span;
use cwndtunnel_tests::{
    MTU, assert_close, at, bulk, dumbbell, experiment, payload, periodic_loss, run, seconds, throughput_in_packets,
};

/// CUBIC's parameters (RFC 9438, sections 4.6 and 5.1).
const BETA: f64 = 0.7;
const C: f64 = 0.4;

/// Mean window in the cubic region, packets: equation 6 of section 5.1 with the loss rate 1 / `every`.
fn average_cubic(rtt: Span, every: u64) -> f64 {
    let factor = (C * (3.0 + BETA) / (4.0 * (1.0 - BETA))).powf(0.25);
    factor * (rtt.as_secs_f64() * every as f64).powf(0.75)
}

/// Mean window of AIMD(alpha, beta), packets: section 4.3 has AVG_AIMD = sqrt(alpha (1 + beta) / (2 (1 - beta) p)), and
/// chooses alpha = 3 (1 - beta) / (1 + beta), so that this is Reno's sqrt(3 / 2p).
fn average_aimd(every: u64) -> f64 {
    let alpha = 3.0 * (1.0 - BETA) / (1.0 + BETA);
    (alpha * (1.0 + BETA) / (2.0 * (1.0 - BETA)) * every as f64).sqrt()
}

/// Mean number of packets delivered per RTT when every `every`-th is lost.
///
/// The equations know neither slow start nor fast convergence: the one is over after the first loss, which comes early;
/// the other is switched off. Six cycles are left to forget the start.
fn simulated(rtt: Span, every: u64, expected: f64) -> f64 {
    let cycle = every as f64 / expected * rtt.as_secs_f64();
    let (from, to) = (seconds(6.0 * cycle), seconds(16.0 * cycle));
    let first = (expected as u64).min(every - 1);
    let topology = dumbbell(1, periodic_loss(rtt.mul_div(1, 2), every, first));
    let mut experiment = experiment("cubic?fast_convergence=off", topology, bulk(1), to);
    experiment.sample_every = Some(seconds(cycle / 50.0));
    let outcome = run(&experiment);
    assert_eq!(outcome.flows[0].spurious, 0);
    throughput_in_packets(&outcome, payload(MTU), at(from), at(to))
}

#[test]
fn long_round_trips_give_the_average_window_of_the_cubic_region() {
    // (RTT, packets per loss): by the equations CUBIC's window is 1.5 to 2.5 times Reno's here.
    for (millis, every) in [(100, 10_000), (200, 10_000), (400, 1_000)] {
        let rtt = Span::from_millis(millis);
        let expected = average_cubic(rtt, every);
        assert!(expected > 1.5 * average_aimd(every));
        assert_close(simulated(rtt, every, expected), expected, 0.1, &format!("window at {rtt}, one loss in {every}"));
    }
}

#[test]
fn short_round_trips_give_the_average_window_of_the_reno_friendly_region() {
    for (millis, every) in [(10, 10_000), (10, 1_000), (20, 1_000), (5, 300)] {
        let rtt = Span::from_millis(millis);
        let expected = average_aimd(every);
        assert!(expected > 2.0 * average_cubic(rtt, every));
        assert_close(simulated(rtt, every, expected), expected, 0.1, &format!("window at {rtt}, one loss in {every}"));
    }
}
