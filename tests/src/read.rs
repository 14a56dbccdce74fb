//! Readings of outcomes.

use cc_algos::{Span, Timestamp};
use sim::outcome::Sample;
use sim::{Experiment, Outcome};

/// Runs an experiment that is known to be valid.
pub fn run(experiment: &Experiment) -> Outcome {
    sim::run(experiment).unwrap_or_else(|error| panic!("{error}"))
}

/// The last sample taken no later than `at`.
pub fn sample_at(outcome: &Outcome, at: Timestamp) -> &Sample {
    let after = outcome.samples.partition_point(|sample| sample.at <= at);
    &outcome.samples[after.checked_sub(1).expect("a sample before that time")]
}

/// Application bytes per second that a flow delivered between two samples.
pub fn delivery_rate(outcome: &Outcome, flow: usize, from: Timestamp, to: Timestamp) -> f64 {
    let (first, last) = (sample_at(outcome, from), sample_at(outcome, to));
    let delivered = |sample: &Sample| sample.flows[flow].delivered;
    (delivered(last) - delivered(first)) as f64 / last.at.saturating_since(first.at).as_secs_f64()
}

/// Packets of `payload` bytes per base RTT that the first flow delivered between two samples: the mean window of
/// analyses.
pub fn throughput_in_packets(outcome: &Outcome, payload: u64, from: Timestamp, to: Timestamp) -> f64 {
    delivery_rate(outcome, 0, from, to) / payload as f64 * outcome.flows[0].base_rtt.as_secs_f64()
}

/// The windows of a flow while it was active, bytes, with their times.
pub fn windows(outcome: &Outcome, flow: u32) -> Vec<(Timestamp, u64)> {
    let window = |sample: &Sample| sample.flows.iter().find(|entry| entry.flow.0 == flow).map(|entry| entry.window);
    outcome.samples.iter().filter_map(|sample| Some((sample.at, window(sample)?))).collect()
}

/// How often the window of a flow shrank between samples, as the share that each time was left.
pub fn reductions(outcome: &Outcome, flow: u32) -> Vec<f64> {
    let windows = windows(outcome, flow);
    windows.windows(2).filter(|pair| pair[1].1 < pair[0].1).map(|pair| pair[1].1 as f64 / pair[0].1 as f64).collect()
}

/// Mean backlog of a watched port over the run, bytes.
pub fn mean_backlog(outcome: &Outcome, port: usize) -> f64 {
    let length = outcome.ended_at.saturating_since(Timestamp::ZERO).max(Span::from_nanos(1));
    outcome.ports[port].backlog_byte_nanos as f64 / length.as_nanos() as f64
}

/// Fails unless `measured` is within the share `tolerance` of `expected`.
#[track_caller]
pub fn assert_close(measured: f64, expected: f64, tolerance: f64, what: &str) {
    let off = (measured / expected - 1.0).abs();
    assert!(off <= tolerance, "{what}: {measured:.4} instead of {expected:.4}, off by {:.1} %", 100.0 * off);
}
