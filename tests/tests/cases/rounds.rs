//! Acknowledgements of many packets at once.

use cc_algos::Span;
use cwndtunnel_tests::{bulk, dumbbell, experiment, run, windows};
use sim::{Experiment, Outcome};
use transport::flow::Pacing;

use crate::path;

const RTT: Span = Span::from_millis(50);
/// Ten packets of this size are the initial window of RFC 9002, section 7.2: 14 720 bytes.
const MTU: u64 = 1_472;

fn bulk_with(algorithm: &str, ack_every: u32, rounds: u64) -> Experiment {
    let mut experiment = experiment(algorithm, dumbbell(1, path(RTT)), bulk(1), RTT.saturating_mul(rounds));
    experiment.endpoints.sender.mtu = MTU;
    experiment.endpoints.sender.pacing = Pacing::Off;
    experiment.endpoints.ack_every = ack_every;
    experiment.sample_every = Some(Span::from_millis(1));
    experiment
}

/// The window half-way through each round.
fn by_round(outcome: &Outcome, rounds: u64) -> Vec<u64> {
    let windows = windows(outcome, 0);
    let half = |round: u64| windows.iter().rfind(|(at, _)| at.as_nanos() <= RTT.as_nanos() * (2 * round + 1) / 2);
    (0..rounds).map(|round| half(round).unwrap().1).collect()
}

/// Reno's window grows by what is acknowledged, whether ten acknowledgements say so or one. Windows double from 10
/// packets, so all of them are whole tens.
#[test]
fn one_acknowledgement_of_ten_packets_is_worth_ten_of_one() {
    let [one, ten] = [1, 10].map(|every| by_round(&run(&bulk_with("newreno", every, 5)), 5));
    assert_eq!(one, ten);
    // The first packets are up to ten bytes short of the MTU, and bytes are what counts.
    for (round, window) in one.iter().enumerate() {
        let doubled = (MTU * 10) << round;
        assert!((doubled * 99 / 100..=doubled).contains(window), "round {round}: {window} of {doubled}");
    }
}

/// The receiver waits until all is there, so each acknowledgement covers the whole window, nothing is left in flight
/// and the next round leaves at once. That is a window in full use, not an application short of data.
#[test]
fn an_acknowledgement_of_everything_in_flight_lets_the_window_grow() {
    for algorithm in ["newreno", "cubic?hystart=off", "dctcp"] {
        let mut experiment = bulk_with(algorithm, 100_000, 6);
        experiment.endpoints.ack_delay = Span::from_millis(5);
        experiment.endpoints.sender.max_ack_delay = Span::from_millis(5);
        // Rounds last 55 ms.
        experiment.duration = Span::from_millis(6 * 55);
        let outcome = run(&experiment);
        let windows = windows(&outcome, 0);
        let doubled = (MTU * 10) << 5;
        let last = windows.last().unwrap().1;
        assert!((doubled * 98 / 100..=doubled).contains(&last), "{algorithm}: {last} of {doubled}");
    }
}
