//! Laws for flows inside and between datacentres.

use cc_algos::{Rate, Span};
use cwndtunnel_tests::{
    at, bulk, contestant, delivery_rate, drop_tail, dumbbell, experiment, experiment_of, mean_backlog, run, sample_at,
};
use sim::Outcome;
use sim::queue::{Capacity, CongestionPointSpec, MarkingSpec};
use sim::spec::{Start, Topology};
use transport::flow::{EcnMode, Pacing};

/// Two flows inside a datacentre and two to another one, 20 ms away, through one switch that marks.
fn mixed(algorithm: &str) -> Outcome {
    let mut bottleneck = drop_tail(Rate::from_gbps(1), Span::from_micros(50), Capacity::Bytes(2_000_000));
    bottleneck.marking = MarkingSpec::Threshold { bytes: 75_000 };
    let mut topology = dumbbell(4, bottleneck);
    let Topology::Dumbbell(dumbbell) = &mut topology else { unreachable!() };
    dumbbell.extra_delay = vec![Span::ZERO, Span::from_millis(10)];
    let mut experiment = experiment(algorithm, topology, bulk(4), Span::from_secs(3));
    experiment.endpoints.sender.ecn = EcnMode::Trust;
    experiment.sample_every = Some(Span::from_millis(10));
    run(&experiment)
}

/// ICNP'19, abstract: lower latency than CUBIC's at a throughput that is not lower. The queue that both classes of flows
/// share stays short with Gemini, and CUBIC, which does not ask for marks, fills it.
#[test]
fn gemini_keeps_a_shared_queue_short_where_cubic_fills_it() {
    let measure = |algorithm: &str| {
        let outcome = mixed(algorithm);
        let rates = (0..4).map(|flow| delivery_rate(&outcome, flow, at(Span::from_secs(1)), at(Span::from_secs(3))));
        (mean_backlog(&outcome, 0), rates.sum::<f64>() * 8.0 / 1e9)
    };
    let (short, used) = measure("gemini?threshold=600us");
    let (long, _) = measure("cubic?ecn=off");
    assert!(used > 0.85, "{used} used");
    assert!(short < 0.25 * long, "{short} B with gemini, {long} B with cubic");
}

/// A flow of 40 ms RTT through a switch next to its source. At 400 ms another one overloads the link.
fn disturbed(algorithm: &str) -> Outcome {
    let mut bottleneck = drop_tail(Rate::from_gbps(1), Span::from_millis(20), Capacity::Bytes(5_000_000));
    bottleneck.near_source = Some(CongestionPointSpec::new(50_000));
    let mut flows = bulk(2);
    flows[1].contestant = 1;
    flows[1].start = Start::At(at(Span::from_millis(400)));
    let contestants = vec![contestant(algorithm), contestant("fixed-rate?rate=800Mbps")];
    let mut experiment = experiment_of(contestants, dumbbell(2, bottleneck), flows, Span::from_millis(450));
    experiment.endpoints.sender.pacing = Pacing::On;
    experiment.sample_every = Some(Span::from_micros(500));
    run(&experiment)
}

/// SIGCOMM'20, abstract: congestion near the source is answered by direct feedback, and not after the RTT of the wide
/// area. Within the first round trip after the link is overloaded Annulus has slowed down, and the queue stays below a
/// tenth of what CUBIC alone makes of it, which cannot have heard of it.
#[test]
fn annulus_answers_congestion_near_the_source_within_a_fraction_of_the_rtt() {
    let sample = |outcome: &Outcome, millis: u64| sample_at(outcome, at(Span::from_millis(millis))).clone();
    let change =
        |outcome: &Outcome| sample(outcome, 420).flows[0].window as f64 / sample(outcome, 399).flows[0].window as f64;
    let longest_queue =
        |outcome: &Outcome| (400..440).map(|millis| sample(outcome, millis).ports[0].backlog).max().unwrap_or_default();
    let (with, without) = (disturbed("annulus?end_to_end=cubic"), disturbed("cubic"));
    assert!(change(&with) < 0.8, "{}", change(&with));
    assert!(change(&without) > 0.95, "{}", change(&without));
    let (short, long) = (longest_queue(&with), longest_queue(&without));
    assert!(short < 500_000 && 10 * short < long, "{short} B and {long} B");
}
