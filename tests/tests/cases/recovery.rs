//! Which losses reduce the window, and which packets are taken for lost.

use std::sync::Arc;

use cc_algos::{Rate, Span};
use cwndtunnel_tests::{
    MTU, at, bulk, contestant, drop_tail, dumbbell, experiment, experiment_of, losing, reductions, run,
};
use sim::Outcome;
use sim::link::impair::{LossSpec, Reorder};
use sim::queue::Capacity;
use sim::spec::{FlowSpec, Start};
use transport::flow::{LossPolicy, Skip};

use crate::path;

const RTT: Span = Span::from_millis(50);

fn losing_packets(algorithm: &str, numbers: &[u64]) -> Outcome {
    let link = losing(path(RTT), LossSpec::Packets(Arc::from(numbers)));
    let mut experiment = experiment(algorithm, dumbbell(1, link), bulk(1), Span::from_secs(1));
    experiment.sample_every = Some(Span::from_micros(500));
    run(&experiment)
}

/// Packet 40 is lost in slow start, with 70 or so sent when that shows. Whatever else of that flight is lost belongs to
/// the same congestion. What is sent after the reduction does not, even while the recovery still runs (RFC 9002,
/// section 7.3.2).
#[test]
fn a_loss_of_the_same_flight_reduces_once_and_one_sent_during_recovery_reduces_again() {
    for (algorithm, kept) in [("newreno", 0.5), ("cubic", 0.7), ("dctcp", 0.5)] {
        for (numbers, expected) in [(&[40][..], 1), (&[40, 45, 50], 1), (&[40, 110], 2), (&[40, 45, 110, 115], 2)] {
            let outcome = losing_packets(algorithm, numbers);
            let shares = reductions(&outcome, 0);
            assert_eq!(shares.len(), expected, "{algorithm}, {numbers:?}: {shares:?}");
            assert!(shares.iter().all(|share| (share - kept).abs() < 0.03), "{algorithm}, {numbers:?}: {shares:?}");
            assert_eq!((outcome.flows[0].lost, outcome.flows[0].spurious), (numbers.len() as u64, 0));
        }
    }
}

/// A queue of eight products of rate and delay fills behind a flow whose RTT was measured over an empty one; then a
/// second flow joins at once with as much. All arrives, late: nothing may be taken for lost.
#[test]
fn a_queue_that_multiplies_the_rtt_by_eight_makes_no_spurious_loss() {
    for policy in [LossPolicy::RFC_9002, LossPolicy::RACK] {
        let rate = Rate::from_mbps(50);
        let link = drop_tail(rate, RTT.mul_div(1, 2), Capacity::Unlimited);
        let bdp = rate.bytes_in(RTT);
        let contestants = ["newreno", &format!("fixed-window?window={}B", 4 * bdp)].map(contestant).to_vec();
        let late = FlowSpec { contestant: 1, start: Start::At(at(Span::from_secs(1))), ..bulk(2)[1].clone() };
        let flows = vec![bulk(2)[0].clone(), late];
        let mut experiment = experiment_of(contestants, dumbbell(2, link), flows, Span::from_secs(3));
        experiment.endpoints.sender.loss = policy;
        experiment.sample_every = Some(Span::from_millis(10));
        let outcome = run(&experiment);
        let backlog = outcome.ports[0].max_backlog;
        assert!(backlog > 7 * bdp, "{policy:?}: {backlog}");
        for flow in &outcome.flows {
            assert_eq!((flow.lost, flow.spurious, flow.retransmitted), (0, 0, 0), "{policy:?}: {flow:?}");
        }
    }
}

/// One packet in twenty comes half a round trip late. RFC 9002's thresholds are fixed, so each of these is spurious.
/// RACK widens its window to a round trip within a few rounds and then takes hardly any for lost.
#[test]
fn rack_learns_reordering() {
    let spurious = |policy| {
        let mut link = path(RTT);
        link.impairments.reorder =
            Some(Reorder { probability: cwndtunnel_tests::probability(0.05), extra: RTT.mul_div(1, 2) });
        let mut experiment = experiment("fixed-window?window=60kB", dumbbell(1, link), bulk(1), Span::from_secs(20));
        experiment.endpoints.sender.loss = policy;
        let flow = run(&experiment).flows.remove(0);
        // Nothing was lost. What was taken for lost last may still be on its way.
        assert!(flow.lost - flow.spurious < 5, "{policy:?}: {flow:?}");
        flow.spurious as f64 / flow.packets_sent as f64
    };
    let (fixed, adaptive) = (spurious(LossPolicy::RFC_9002), spurious(LossPolicy::RACK));
    assert!(fixed > 0.03, "{fixed}");
    assert!(adaptive < 0.005, "{adaptive}");
}

/// Numbers left out catch acknowledgements of what was never received (RFC 9000, section 21.4). An honest receiver is
/// none the wiser: the same packets leave and arrive.
#[test]
fn skipped_packet_numbers_change_nothing_with_an_honest_receiver() {
    let delivered = |skip| {
        let mut experiment = experiment("newreno", dumbbell(1, path(RTT)), bulk(1), Span::from_millis(500));
        experiment.endpoints.sender.skip = skip;
        experiment.check_wire = true;
        let flow = run(&experiment).flows.remove(0);
        assert_eq!((flow.lost, flow.retransmitted, flow.timeouts), (0, 0, 0), "{flow:?}");
        flow.delivered / MTU
    };
    let (plain, skipping) = (delivered(None), delivered(Some(Skip { mean_distance: 50, seed: 9 })));
    assert!(plain.abs_diff(skipping) <= plain / 100, "{plain} and {skipping}");
}
