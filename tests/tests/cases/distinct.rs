//! Algorithms that papers tell apart differ in a run, in the way the papers say.

use cc_algos::{Rate, Span};
use cwndtunnel_tests::{bulk, drop_tail, dumbbell, experiment, mean_backlog, reductions, run, windows};
use sim::Outcome;
use sim::queue::{Capacity, MarkingSpec};

const ALGORITHMS: [&str; 3] = ["newreno", "cubic?hystart=off", "dctcp"];

/// 100 Mb/s, 20 ms, marks above 0.2 products of rate and delay, so that losses play no part.
fn marked(algorithm: &str) -> Outcome {
    let (rate, rtt) = (Rate::from_mbps(100), Span::from_millis(20));
    let mut link = drop_tail(rate, rtt.mul_div(1, 2), Capacity::Unlimited);
    link.marking = MarkingSpec::Threshold { bytes: rate.bytes_in(rtt) / 5 };
    let mut experiment = experiment(algorithm, dumbbell(1, link), bulk(1), Span::from_secs(20));
    experiment.sample_every = Some(Span::from_millis(5));
    run(&experiment)
}

#[test]
fn newreno_cubic_and_dctcp_draw_three_different_windows() {
    let traces = ALGORITHMS.map(|algorithm| windows(&marked(algorithm), 0));
    assert!(traces[0] != traces[1] && traces[1] != traces[2] && traces[0] != traces[2]);
}

/// Of a window, a mark leaves Reno half (RFC 9002, section 7.3.2) and CUBIC 0.7 (RFC 9438, section 4.6); DCTCP gives up
/// half the share of marked packets, a few per cent in steady state (RFC 8257, section 3.3).
#[test]
fn a_mark_costs_each_what_its_law_says() {
    let last = |algorithm: &str| *reductions(&marked(algorithm), 0).last().unwrap();
    let [newreno, cubic, dctcp] = ALGORITHMS.map(last);
    assert!((newreno - 0.5).abs() < 0.02, "{newreno}");
    assert!((cubic - 0.7).abs() < 0.02, "{cubic}");
    assert!(dctcp > 0.85, "{dctcp}");
}

/// Alizadeh et al., SIGCOMM'10: with the threshold above C x RTT / 7, DCTCP keeps the link busy at a queue near it,
/// where halving the window at the same threshold leaves the link idle.
#[test]
fn dctcp_keeps_a_link_busy_at_a_threshold_where_halving_does_not() {
    let used = |outcome: &Outcome| outcome.ports[0].bytes as f64 / outcome.ports[0].offered as f64;
    let [newreno, cubic, dctcp] = ALGORITHMS.map(marked);
    assert!(used(&dctcp) > 0.99, "{}", used(&dctcp));
    assert!(used(&newreno) < 0.97, "{}", used(&newreno));
    assert!(used(&cubic) > used(&newreno), "{} and {}", used(&cubic), used(&newreno));
    assert!(mean_backlog(&dctcp, 0) > mean_backlog(&newreno, 0));
}
