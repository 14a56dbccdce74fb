//! Applications that do not fill the window.

use cc_algos::Span;
use cwndtunnel_tests::{dumbbell, experiment, flow, payload, run, windows};
use sim::Experiment;
use sim::link::Change;
use sim::spec::{LinkSpec, Load};

use crate::{path, window_at};

const RTT: Span = Span::from_millis(40);
const MTU: u64 = 1_472;

/// An application that produces so many packets each round trip.
fn producing(algorithm: &str, packets: u64, link: LinkSpec, rounds: u64) -> Experiment {
    let load = Load::OnOff { burst: packets * payload(MTU), period: RTT };
    let flows = vec![flow(0, 1, load)];
    let mut experiment =
        experiment(algorithm, dumbbell(1, link), flows, RTT.saturating_mul(rounds) - Span::from_nanos(1));
    experiment.endpoints.sender.mtu = MTU;
    // As a handshake would have measured it: else the first bursts are spread over the 333 ms that RFC 9002 assumes.
    experiment.endpoints.sender.initial_rtt = RTT;
    experiment.sample_every = Some(Span::from_millis(5));
    experiment
}

/// Three packets of ten each round trip leave the window as it is, although the pacer holds back some of them.
#[test]
fn a_window_used_to_three_tenths_does_not_grow_in_a_hundred_round_trips() {
    for algorithm in ["newreno", "cubic", "dctcp"] {
        let outcome = run(&producing(algorithm, 3, path(RTT), 100));
        let windows = windows(&outcome, 0);
        assert!(windows.iter().all(|(_, window)| *window == 10 * MTU), "{algorithm}: {windows:?}");
        assert_eq!(outcome.flows[0].packets_sent, 300);
    }
}

/// A pause of four round trips piles up twelve packets and more: the window is full until the link is back, and the
/// first acknowledgements after that let it grow.
#[test]
fn the_window_grows_in_the_first_round_trip_that_fills_it() {
    for algorithm in ["newreno", "cubic", "dctcp"] {
        let (down, up) = (RTT.saturating_mul(100), RTT.saturating_mul(104));
        let mut link = path(RTT);
        link.service = link.service.with_changes([(down, Change::Down), (up, Change::Restore)]).unwrap();
        let outcome = run(&producing(algorithm, 3, link, 106));
        assert_eq!(window_at(&outcome, up), 10 * MTU, "{algorithm}");
        let after = window_at(&outcome, up + RTT + Span::from_millis(5));
        assert!((15 * MTU..=22 * MTU).contains(&after), "{algorithm}: {after}");
    }
}

/// RFC 9438, section 5.8: a window that the application does not use must not grow without bound. Within a burst of the
/// pacer, two packets here, the window counts as used up; slow start at most doubles it in the round in which it last
/// was.
#[test]
fn a_window_nearly_used_stays_within_twice_its_use_and_a_burst() {
    for algorithm in ["newreno", "cubic", "dctcp"] {
        for packets in [9, 10, 12] {
            // Five minutes.
            let outcome = run(&producing(algorithm, packets, path(RTT), 7_500));
            let largest = windows(&outcome, 0).iter().map(|(_, window)| *window).max().unwrap();
            assert!(largest <= 2 * (packets + 2) * MTU, "{algorithm}, {packets} packets: {largest}");
        }
    }
}
