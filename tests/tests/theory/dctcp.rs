//! DCTCP's window and queue against the analysis of Alizadeh et al., SIGCOMM'10, section 3.3.

use cc_algos::{Rate, Span};
use cwndtunnel_tests::{MTU, assert_close, bulk, drop_tail, dumbbell, experiment, reductions, run};
use sim::Outcome;
use sim::outcome::{FlowOutcome, Sample};
use sim::queue::{Capacity, MarkingSpec};
use transport::flow::{EcnMode, Pacing, SenderConfig};

/// The setting of the paper's figure 12: 10 Gb/s, 100 us, K = 40 packets, g = 1/16.
const CAPACITY: Rate = Rate::from_gbps(10);
const RTT: Span = Span::from_micros(100);
const K: f64 = 40.0;

/// What section 3.3 predicts for N synchronised flows, in packets.
struct Analysis {
    /// Share of packets marked, and estimate of it: alpha^2 (1 - alpha / 4) = (2 W* + 1) / (W* + 1)^2.
    alpha: f64,
    /// Swing of the queue: A = N (W* + 1) alpha / 2.
    amplitude: f64,
    /// Q_max = N (W* + 1) - C x RTT = K + N.
    max_queue: f64,
    /// Q_min = Q_max - A.
    min_queue: f64,
    /// All windows together when the queue is longest: N (W* + 1). Only whole packets of a window leave.
    max_windows: f64,
}

fn analyse(flows: u32) -> Analysis {
    let n = f64::from(flows);
    let bdp = CAPACITY.bytes_in(RTT) as f64 / MTU as f64;
    // The window at which the queue reaches K: W* = (C x RTT + K) / N.
    let w = (bdp + K) / n;
    let square = (2.0 * w + 1.0) / (w + 1.0).powi(2);
    // Fixed-point iteration; a contraction, since the derivative is below a quarter.
    let alpha = (0..50).fold(square.sqrt(), |alpha, _| (square / (1.0 - alpha / 4.0)).sqrt());
    let amplitude = n * (w + 1.0) * alpha / 2.0;
    Analysis { alpha, amplitude, max_queue: K + n, min_queue: K + n - amplitude, max_windows: n * (w + 1.0) }
}

fn simulate(flows: u32) -> Outcome {
    let mut bottleneck = drop_tail(CAPACITY, RTT.mul_div(1, 2), Capacity::Packets(1_000));
    bottleneck.marking = MarkingSpec::Threshold { bytes: K as u64 * MTU };
    let mut experiment = experiment("dctcp", dumbbell(flows, bottleneck), bulk(flows), Span::from_millis(100));
    let mut sender = SenderConfig::datacentre();
    sender.mtu = MTU;
    (sender.ecn, sender.pacing) = (EcnMode::Trust, Pacing::ByController);
    experiment.endpoints.sender = sender;
    experiment.sample_every = Some(Span::from_micros(5));
    run(&experiment)
}

/// Values in packets of one quantity over the second half of the run.
fn settled(outcome: &Outcome, value: impl Fn(&Sample) -> u64) -> Vec<f64> {
    let half = &outcome.samples[outcome.samples.len() / 2..];
    half.iter().map(|sample| value(sample) as f64 / MTU as f64).collect()
}

fn extremes(values: &[f64]) -> (f64, f64) {
    (values.iter().copied().fold(f64::MAX, f64::min), values.iter().copied().fold(f64::MIN, f64::max))
}

/// The paper finds its analysis accurate for few flows, and the swings smaller than predicted once flows fall out of
/// step (figure 12). RFC 9002's recovery, a round without growth in each cycle of 6 to 12, adds to
/// that: fewer packets are marked.
#[test]
fn window_queue_and_marks_swing_as_analysed() {
    for flows in [2, 10] {
        let expected = analyse(flows);
        let outcome = simulate(flows);
        let (min, max) = extremes(&settled(&outcome, |sample| sample.ports[0].backlog));
        let windows = settled(&outcome, |sample| sample.flows.iter().map(|flow| flow.window / MTU * MTU).sum());
        let what = |quantity: &str| format!("{quantity} of {flows} flows");
        assert_close(max, expected.max_queue, 0.1, &what("largest queue"));
        assert_close(min, expected.min_queue, 0.15, &what("smallest queue"));
        assert_close(max - min, expected.amplitude, 0.2, &what("swing of the queue"));
        assert_close(extremes(&windows).1, expected.max_windows, 0.05, &what("windows at the peak"));
        let total = |count: fn(&FlowOutcome) -> u64| outcome.flows.iter().map(count).sum::<u64>() as f64;
        let marked = total(|flow| flow.marked) / total(|flow| flow.packets_sent);
        assert_close(marked, expected.alpha, 0.3, &what("share of marks"));
        assert_eq!(outcome.ports[0].queue_drops, 0);
    }
}

/// Reductions tell the estimate: a window shrinks to 1 - alpha / 2. In steady state it stands near the share of marks.
#[test]
fn the_standing_estimate_is_near_the_square_root_of_two_over_the_window() {
    let outcome = simulate(2);
    for flow in 0..2 {
        let shares = reductions(&outcome, flow);
        let late = &shares[shares.len() / 2..];
        let alpha = late.iter().map(|share| 2.0 * (1.0 - share)).sum::<f64>() / late.len() as f64;
        assert_close(alpha, analyse(2).alpha, 0.3, "alpha");
        // It began at 1 and lost a sixteenth in each of the three or four windows before the first mark: 0.77 to 0.82.
        assert!((0.58..0.62).contains(&shares[0]), "{shares:?}");
    }
}
