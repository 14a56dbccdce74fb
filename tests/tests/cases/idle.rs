//! Bursts with nothing in flight between them, and silence.

use std::sync::Arc;

use cc_algos::Span;
use cwndtunnel_tests::{
    MTU, bulk, contestant, dumbbell, experiment, experiment_of, flow, losing, payload, reductions, run, windows,
};
use sim::link::impair::LossSpec;
use sim::spec::Load;
use transport::flow::Pacing;

use crate::{path, window_at};

const RTT: Span = Span::from_millis(100);

/// One loss, then twenty rounds in which the whole window leaves at once and nothing is in flight before the next: the
/// recovery is over after the first of them, and CUBIC's clock runs on. RFC 9438: W(t) = C (t - K)^3 + W_max, with
/// W_max the window at the loss and K = cbrt(0.3 W_max / C), counted from the end of recovery.
#[test]
fn cubic_grows_through_rounds_that_empty_the_flight() {
    let link = losing(path(RTT), LossSpec::Packets(Arc::new([400])));
    let mut experiment = experiment("cubic?hystart=off", dumbbell(1, link), bulk(1), RTT.saturating_mul(32));
    experiment.endpoints.ack_every = 100_000;
    experiment.endpoints.ack_delay = Span::from_millis(1);
    experiment.endpoints.sender.pacing = Pacing::Off;
    experiment.sample_every = Some(Span::from_millis(5));
    let outcome = run(&experiment);
    assert_eq!(reductions(&outcome, 0).len(), 1);
    let windows = windows(&outcome, 0);
    // Reduced to 0.7 W_max in the middle of the acknowledgements of one round, so W_max itself is in no sample.
    let (lost, reduced) = windows.windows(2).find(|pair| pair[1].1 < pair[0].1).map(|pair| pair[1]).unwrap();
    let w_max = reduced as f64 / 0.7 / MTU as f64;
    let k = (0.3 * w_max / 0.4).cbrt();
    // Rounds last 101 ms. Growth begins with the second acknowledgement after the reduction.
    let round = 0.101;
    for rounds in 3..20 {
        let at = Span::from_nanos(lost.as_nanos()) + RTT.mul_f64(1.01 * (rounds as f64 + 0.5));
        let t = (rounds as f64 - 1.0) * round;
        let expected = 0.4 * (t - k).powi(3) + w_max;
        let measured = window_at(&outcome, at) as f64 / MTU as f64;
        assert!((measured / expected - 1.0).abs() < 0.05, "{rounds} rounds: {measured} instead of {expected}");
    }
}

/// Five seconds of silence: RFC 9002 leaves the window as it is (section 7.8 only forbids to raise it), and CUBIC's
/// clock stands still (RFC 9438, section 4.2 counts the time in which the window is in use). With `idle_restart` the
/// window falls back to the initial one (RFC 5681, section 4.1).
#[test]
fn silence_leaves_window_and_clock_as_they_are_unless_restart_is_asked_for() {
    // 3 000 packets in a second or so, then silence until the sixth second.
    let load = Load::OnOff { burst: 3_000 * payload(MTU), period: Span::from_secs(7) };
    for algorithm in ["newreno", "cubic?hystart=off"] {
        for (switch, restarts) in [("off", false), ("on", true)] {
            let mark = if algorithm.contains('?') { '&' } else { '?' };
            let algorithm = format!("{algorithm}{mark}idle_restart={switch}");
            let link = losing(path(RTT), LossSpec::Packets(Arc::new([700])));
            let flows = vec![flow(0, 1, load)];
            let contestants = vec![contestant(&algorithm)];
            let mut experiment = experiment_of(contestants, dumbbell(1, link), flows, Span::from_secs(9));
            experiment.sample_every = Some(Span::from_millis(10));
            let outcome = run(&experiment);
            let before = window_at(&outcome, Span::from_millis(6_990));
            assert!(before > 50 * MTU, "{algorithm}: {before}");
            assert_eq!(before, window_at(&outcome, Span::from_secs(5)), "{algorithm}");
            let resumed = window_at(&outcome, Span::from_millis(7_050));
            let later = window_at(&outcome, Span::from_millis(7_350));
            if restarts {
                assert!(resumed < 11 * MTU, "{algorithm}: {resumed}");
            } else {
                assert_eq!(resumed, before, "{algorithm}");
                // Three round trips: Reno gains three packets; CUBIC, near its plateau or below it, hardly more than in
                // the three round trips before the silence, and not what five seconds would have brought.
                assert!(later <= before + before / 7, "{algorithm}: {later} after {before}");
            }
        }
    }
}
