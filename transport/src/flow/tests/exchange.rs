//! Exchanges at fixed times, one behaviour each.

use cc_algos::controller::{Cause, Limit};
use cc_algos::units::Span;

use super::channel::{Channel, MTU, PATH, Probe, ms};
use crate::flow::{Event, Gate, Pacing, SenderConfig};

/// RFC 9002 without pacing, and without delayed acknowledgements.
fn plain() -> SenderConfig {
    let mut config = SenderConfig::default();
    config.pacing = Pacing::Off;
    config.max_ack_delay = Span::ZERO;
    config
}

const ONE_WAY: Span = Span::from_millis(50);

#[test]
fn packets_are_acknowledged_after_a_round_trip_and_measure_it() {
    let probe = Probe::with_window(10);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    channel.burst(2, &[]);
    channel.run_until(ms(100));
    assert_eq!(channel.events, [Event::Acked(0), Event::Acked(1)]);
    let told = probe.told();
    assert_eq!(told.iter().map(|told| told.rtt).collect::<Vec<_>>(), [Some(Span::from_millis(100)); 2]);
    let stats = channel.sender.stats(PATH);
    assert_eq!((stats.in_flight_bytes, stats.smoothed_rtt), (0, Some(Span::from_millis(100))));
}

#[test]
fn the_third_later_acknowledgement_declares_a_packet_lost_in_the_same_batch() {
    let probe = Probe::with_window(10);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    channel.burst(6, &[1]);
    channel.run_until(ms(100));
    let told = probe.told();
    let losses: Vec<_> = told.iter().map(|told| (told.acked.clone(), told.lost.clone())).collect();
    let expected = [(vec![0], vec![]), (vec![2], vec![]), (vec![3], vec![]), (vec![4], vec![1]), (vec![5], vec![])];
    assert_eq!(losses, expected);
    // Before the batch of packet 4: 1, 4 and 5 in flight; after it only 5.
    assert_eq!((told[3].cause, told[3].prior_in_flight, told[3].in_flight), (Cause::Ack, 3 * 1_200, 1_200));
}

#[test]
fn the_window_stops_the_sender_and_says_so() {
    let probe = Probe::with_window(4);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    assert_eq!(channel.fill(10), 4);
    let gate = channel.sender.gate(ms(0), PATH, u64::from(MTU));
    assert_eq!(gate, Gate::Blocked { limit: Limit::Window, until: None });
}
