use super::*;
use crate::controller::{Cause, Oracle, RttSample, Tally};
use crate::testing::{MTU, setup};
use crate::units::{Rate, Timestamp};

/// A BDP of 150 packets: 100 Gb/s and 12 us.
const BASE: Span = Span::from_micros(12);
const TEN: u64 = 10 * MTU;

fn resumed(packets: u64) -> SprayWindow {
    let mut told = setup();
    told.oracle = Some(Oracle { base_rtt: BASE, bottleneck: Rate::from_gbps(100) });
    told.handover = Some(Handover::of_window(packets * MTU));
    SprayWindow::new(&told, Sizes { initial: 10, min: 1 }, true)
}

fn acked(micros: u64, bytes: u64) -> Feedback<'static> {
    let mut feedback = Feedback::new(Timestamp::ZERO + Span::from_micros(micros), Cause::Ack);
    feedback.newly_acked = Tally { bytes, packets: bytes / MTU };
    feedback
}

/// Packets that start and fast increase leave of so many that met a queue of `delay` ns, and the window after it.
fn grow(spray: &mut SprayWindow, packets: u64, delay: f64) -> (u64, u64) {
    let left = spray.grow_at_once((packets * MTU) as f64, Clearance { delay, target: 6_000.0, gain: 1.0 });
    (left as u64 / MTU, spray.window.bytes() / MTU)
}

#[test]
fn fast_increase_begins_with_the_bytes_beyond_a_window_and_ends_with_a_queue() {
    let mut spray = resumed(25);
    assert_eq!(grow(&mut spray, 20, 0.0), (20, 25));
    // Five of these ten packets complete the window, the other five are beyond it.
    assert_eq!(grow(&mut spray, 10, 0.0), (5, 30));
    assert_eq!(grow(&mut spray, 10, 0.0), (0, 40));
    assert_eq!(spray.phase, Phase::FastIncrease);
    assert_eq!(grow(&mut spray, 10, 1_000.0), (10, 40));
    assert_eq!(spray.phase, Phase::Cases);
    assert_eq!(grow(&mut spray, 10, 0.0), (10, 40), "the count begins anew");
}

#[test]
fn packets_without_a_sample_wait_for_the_next() {
    let mut spray = resumed(25);
    let flight = Flight::idle(MTU);
    let mut first = acked(20, TEN);
    assert_eq!(spray.delay() as u64, 0);
    let sample = RttSample { latest: Span::from_micros(20), ack_delay: Span::from_micros(3), sent_at: Timestamp::ZERO };
    first.rtt = Some(sample);
    spray.observe(&first, &flight);
    spray.observe(&acked(21, TEN), &flight);
    assert_eq!(spray.delay() as u64, 5_000, "that of the newest sample");
    assert_eq!(spray.judged(TEN, &acked(21, TEN)) as u64, 0);
    assert_eq!(spray.judged(TEN, &first) as u64, 2 * TEN);
}

#[test]
fn an_adaptation_never_raises_the_window_and_comes_not_before_what_was_in_flight_is_through() {
    let period = Span::from_micros(18);
    let mut spray = resumed(25);
    let mut flight = Flight::idle(MTU);
    flight.bytes = 2 * TEN;
    let adapt = |spray: &mut SprayWindow, micros, bytes| {
        let mut feedback = acked(micros, bytes);
        feedback.rtt = Some(RttSample { latest: BASE, ack_delay: Span::ZERO, sent_at: Timestamp::ZERO });
        spray.observe(&feedback, &flight);
        (spray.quick_adapt(&feedback, &flight, period, |_, _| true), spray.window.bytes())
    };
    assert_eq!(adapt(&mut spray, 0, 4 * TEN), (false, 25_000), "the first period begins");
    assert_eq!(adapt(&mut spray, 19, TEN), (false, 25_000), "forty packets came through");
    assert_eq!(adapt(&mut spray, 38, TEN), (true, 10_000));
    assert!(spray.is_ignoring());
    assert_eq!(adapt(&mut spray, 57, TEN), (false, 10_000), "ten of twenty packets");
    assert_eq!(adapt(&mut spray, 76, TEN), (false, 10_000), "all are through, and more than the window came");
    assert_eq!(adapt(&mut spray, 95, MTU), (false, 10_000));
    assert_eq!(adapt(&mut spray, 114, MTU), (true, 1_000));
}
