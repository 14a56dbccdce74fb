use super::*;
use crate::controller::{Cause, Limit, RttSample};
use crate::testing::{MTU, at, setup};

const LIMITS: Limits = Limits { initial: 10.0, start: Start::LineRate, min: 0.01, max: f64::INFINITY, loss_beta: 0.5 };

/// 1 MB/s and 100 ms: a product of 100 packets.
fn known() -> Setup {
    Setup { local_line_rate: Some(Rate::from_mbps(8)), ..setup() }
}

fn flight(limit: Limit) -> Flight<'static> {
    Flight { limit, min_rtt: Some(Span::from_millis(100)), ..Flight::idle(MTU) }
}

fn acked(window: &mut FabricWindow, limit: Limit) -> Step {
    acked_after(window, Span::from_millis(100), limit)
}

fn acked_after(window: &mut FabricWindow, rtt: Span, limit: Limit) -> Step {
    let packets = [PacketRecord::new(0, MTU as u32, at(0))];
    let mut feedback = Feedback::new(at(0) + rtt, Cause::Ack);
    feedback.acked = &packets;
    feedback.newly_acked.add(MTU);
    feedback.rtt = Some(RttSample { latest: rtt, ack_delay: Span::ZERO, sent_at: at(0) });
    window.begin(&feedback, &Flight { min_rtt: Some(rtt), ..flight(limit) })
}

fn lost_at(millis: u64, window: &mut FabricWindow) -> Step {
    let lost = [PacketRecord::new(1, MTU as u32, at(millis - 1))];
    let mut feedback = Feedback::new(at(millis), Cause::Trim);
    feedback.lost = &lost;
    feedback.newly_lost.add(MTU);
    window.begin(&feedback, &Flight::idle(MTU))
}

#[test]
fn the_first_rtt_sample_raises_the_window_to_the_product_whoever_limits_it() {
    for limit in [Limit::Window, Limit::Application] {
        let mut window = FabricWindow::new(&known(), LIMITS);
        assert_eq!((window.rounded(), window.pacing_rate(), window.is_starting()), (10_000, None, true));
        assert_eq!(acked(&mut window, limit), Step::Started);
        assert_eq!((window.rounded(), window.pacing_rate()), (100_000, Some(Rate::from_mbps(8))));
    }
}

#[test]
fn a_loss_before_the_first_rtt_sample_ends_the_start() {
    let mut window = FabricWindow::new(&known(), LIMITS);
    assert_eq!(lost_at(50, &mut window), Step::Reduced);
    assert_eq!((acked(&mut window, Limit::Window), window.rounded()), (Step::Usual, 5_000));
}

#[test]
fn no_window_exceeds_the_product_and_no_rate_the_line_whatever_was_handed_over_or_measured() {
    let resumed = Setup { handover: Some(Handover::of_window(900_000)), ..known() };
    let mut window = FabricWindow::new(&resumed, LIMITS);
    assert_eq!((window.rounded(), window.pacing_rate()), (900_000, None));
    assert_eq!((acked(&mut window, Limit::Application), window.rounded()), (Step::Usual, 100_000));
    acked_after(&mut window, Span::from_millis(20), Limit::Application);
    assert_eq!((window.rounded(), window.pacing_rate()), (20_000, Some(Rate::from_mbps(8))));
    // A millionth of a round trip leaves ten packets of window, a hundredth of a packet, in a microsecond.
    acked_after(&mut window, Span::from_micros(1), Limit::Application);
    assert_eq!((window.rounded(), window.pacing_rate()), (10, Some(Rate::from_mbps(8))));
}

#[test]
fn a_rate_stays_what_it_is_when_the_base_rtt_turns_out_to_be_shorter() {
    let mut window = FabricWindow::new(&known(), LIMITS).of_a_rate();
    acked(&mut window, Limit::Window);
    lost_at(150, &mut window);
    assert_eq!((window.rounded(), window.pacing_rate()), (50_000, Some(Rate::from_mbps(4))));
    acked_after(&mut window, Span::from_millis(20), Limit::Window);
    assert_eq!((window.rounded(), window.pacing_rate()), (10_000, Some(Rate::from_mbps(4))));
}

#[test]
fn additive_growth_is_a_share_of_the_product_but_at_most_a_packet_or_an_eighth() {
    let mut window = FabricWindow::new(&known(), LIMITS);
    acked(&mut window, Limit::Window);
    // Of 100 000 B; then of windows of 40 and of 4 packets.
    for (bytes, share, growth) in [(100_000.0, 0.001, 100.0), (40_000.0, 0.1, 5_000.0), (4_000.0, 0.1, 1_000.0)] {
        window.set(bytes);
        assert!((window.additive(share, None) - growth).abs() < 1e-6, "{share} of a window of {bytes}");
    }
    let unknown = FabricWindow::new(&setup(), LIMITS);
    assert!((unknown.additive(0.001, Some(70_000.0)) - 70.0).abs() < 1e-6);
    assert!((unknown.additive(0.001, None) - 1_250.0).abs() < 1e-6);
}

#[test]
fn an_oracle_starts_with_the_product_at_once_and_fixes_the_base_rtt() {
    let oracle = Oracle { base_rtt: Span::from_millis(50), bottleneck: Rate::from_mbps(4) };
    let mut window = FabricWindow::new(&Setup { oracle: Some(oracle), ..known() }, LIMITS);
    assert_eq!(window.rounded(), 25_000);
    acked(&mut window, Limit::Window);
    assert_eq!((window.base_rtt(), window.rounded()), (Some(Span::from_millis(50)), 25_000));
}

#[test]
fn a_window_and_an_rtt_handed_over_are_where_it_goes_on() {
    let handover = Handover { min_rtt: Some(Span::from_millis(100)), ..Handover::of_window(70_000) };
    let mut window = FabricWindow::new(&Setup { handover: Some(handover), ..known() }, LIMITS);
    assert_eq!((window.rounded(), window.bdp()), (70_000, Some(100_000.0)));
    assert_eq!((acked(&mut window, Limit::Window), window.rounded()), (Step::Usual, 70_000));
}

#[test]
fn losses_halve_once_a_round_trip_and_persistent_ones_leave_a_packet() {
    let mut window = FabricWindow::new(&known(), LIMITS);
    acked(&mut window, Limit::Window);
    let lost = [PacketRecord::new(1, MTU as u32, at(50))];
    let mut feedback = Feedback::new(at(120), Cause::Ack);
    feedback.lost = &lost;
    feedback.newly_lost.add(MTU);
    let flight = flight(Limit::Window);
    assert_eq!((window.begin(&feedback, &flight), window.rounded()), (Step::Reduced, 50_000));
    assert_eq!((window.begin(&feedback, &flight), window.rounded()), (Step::Usual, 50_000), "the same round trip");
    feedback.persistent_congestion = Some(Span::from_secs(1));
    for bytes in [1_000, 500, 250] {
        assert_eq!((window.begin(&feedback, &flight), window.rounded()), (Step::Reduced, bytes));
    }
}

#[test]
fn without_a_signal_for_a_round_trip_the_window_grows_by_a_packet_a_round() {
    let mut window = FabricWindow::new(&setup(), LIMITS);
    let packets: Vec<_> = (0..10).map(|number| PacketRecord::new(number, MTU as u32, at(50))).collect();
    let mut feedback = Feedback::new(at(150), Cause::Ack);
    feedback.acked = &packets;
    (0..10).for_each(|_| feedback.newly_acked.add(MTU));
    window.on_signalled(at(60));
    window.grow_blindly(&feedback, &flight(Limit::Window));
    assert_eq!(window.rounded(), 10_000, "these packets left before the last signal came");
    window.on_signalled(at(40));
    window.grow_blindly(&feedback, &flight(Limit::Window));
    assert_eq!(window.rounded(), 11_000);
}

#[test]
fn proposals_stay_within_product_use_and_bounds() {
    let mut window = FabricWindow::new(&known(), LIMITS);
    acked(&mut window, Limit::Window);
    window.propose(f64::INFINITY, &flight(Limit::Window));
    assert_eq!(window.rounded(), 100_000);
    window.propose(40_000.0, &flight(Limit::Application));
    window.propose(60_000.0, &flight(Limit::Application));
    assert_eq!(window.rounded(), 40_000);
    for absurd in [0.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
        window.propose(absurd, &flight(Limit::Window));
        assert_eq!(window.rounded(), 10, "{absurd}: a hundredth of a packet");
    }
}

#[test]
fn where_hosts_time_stamp_the_base_is_the_smallest_fabric_delay() {
    let mut window = FabricWindow::new(&known(), LIMITS);
    // More than the RTT is not to be believed, less than a hundredth of the smallest neither, and after ten seconds the
    // route may be another.
    let cases = [(100, 900, 95), (110, 90, 90), (120, 70, 70), (130, 80, 70), (10_121, 80, 80), (10_130, 0, 1)];
    for (millis, fabric, base) in cases {
        let mut feedback = Feedback::new(at(millis), Cause::Ack);
        let latest = Span::from_millis(95);
        feedback.rtt = Some(RttSample { latest, ack_delay: Span::ZERO, sent_at: at(millis).saturating_sub(latest) });
        feedback.fabric_delay = Some(Span::from_millis(fabric));
        window.begin(&feedback, &flight(Limit::Window));
        assert_eq!(window.base_rtt(), Some(Span::from_millis(base)), "at {millis} ms");
    }
}

#[test]
fn another_path_forgets_all_but_the_oracle() {
    let mut window = FabricWindow::new(&known(), LIMITS);
    acked(&mut window, Limit::Window);
    let change = Signal::PathChange { path: crate::PathId(0), change: PathChange::Migrated };
    assert!(window.on_signal(&change));
    assert_eq!((window.rounded(), window.base_rtt(), window.bdp()), (10_000, None, None));
}

#[test]
fn the_delay_is_the_fabrics_or_the_rtt_less_a_credible_acknowledgement_delay() {
    let mut feedback = Feedback::new(at(200), Cause::Ack);
    let flight = flight(Limit::Window);
    assert_eq!(delay_of(&feedback, &flight), None);
    let sample = |ack_delay| {
        Some(RttSample { latest: Span::from_millis(150), ack_delay: Span::from_millis(ack_delay), sent_at: at(50) })
    };
    for (ack_delay, delay) in [(0, 150), (50, 100), (51, 150), (1_000, 150)] {
        feedback.rtt = sample(ack_delay);
        assert_eq!(delay_of(&feedback, &flight), Some(Span::from_millis(delay)), "{ack_delay}");
    }
    feedback.fabric_delay = Some(Span::from_millis(7));
    assert_eq!(delay_of(&feedback, &flight), feedback.fabric_delay);
}
