use super::*;
use crate::controller::{Limit, Oracle};
use crate::signal::PathChange;
use crate::testing::{Batch, Driver, Fate, MTU, assert_near, at, setup};
use crate::units::Rate;

/// A base RTT of 100 ms, as the driver's: targets are multiples of it.
fn flow(packets: f64, params: SwiftParams) -> Driver<Swift> {
    let mut resumed = setup();
    resumed.handover = Some(Handover::of_window((packets * MTU as f64) as u64));
    resumed.oracle = Some(Oracle { base_rtt: Span::from_millis(100), bottleneck: Rate::from_gbps(1) });
    Driver::new(Swift::new(params, &resumed).unwrap())
}

#[test]
fn the_target_shrinks_with_the_root_of_the_window_between_its_bounds() {
    // alpha = 2.5 / (1 / sqrt(0.1) - 1 / sqrt(100)) = 2.5 / 3.06228 = 0.81639, beta = -0.081639, in base RTTs.
    let cases = [
        (0.05, 4.0),
        (0.1, 4.0),
        (1.0, 1.5 + 0.81639 - 0.081639),
        (4.0, 1.5 + 0.408195 - 0.081639),
        (25.0, 1.5 + 0.163278 - 0.081639),
        (100.0, 1.5),
        (10_000.0, 1.5),
    ];
    for (packets, rtts) in cases {
        let flow = flow(packets, SwiftParams::default());
        assert_near(flow.controller.target(), rtts * 100e6);
    }
}

#[test]
fn each_hop_adds_to_the_target_as_headers_or_else_the_parameter_say() {
    let params = SwiftParams { per_hop: Span::from_millis(1), fs_range: 0.0, ..SwiftParams::default() };
    let mut flow = flow(10.0, params);
    let target_millis = |flow: &Driver<Swift>| (flow.controller.target() / 1e6).round() as u64;
    assert_eq!(target_millis(&flow), 155);
    let rtt = flow.rtt;
    for hops in [6, 3] {
        flow.signals.hops = Some(hops);
        flow.ack_after(rtt);
        assert_eq!(target_millis(&flow), 150 + u64::from(hops));
    }
}

#[test]
fn below_the_target_a_window_grows_by_a_packet_a_round_trip() {
    // w' = w + 1 / w per packet: after a round from 50, sqrt(50^2 + 2 x 50) = 50.99.
    let mut flow = flow(50.0, SwiftParams::default());
    flow.round(|_| Fate::Acked);
    assert_near(flow.controller.window.packets(), 50.990);
    flow.stretch = 50;
    let before = flow.controller.window.packets();
    flow.round(|_| Fate::Acked);
    assert_near(flow.controller.window.packets(), before + 50.0 / before);
}

#[test]
fn below_one_packet_each_acknowledged_packet_adds_one() {
    let mut flow = flow(0.25, SwiftParams::default());
    flow.ack_after(Span::from_millis(100));
    assert_near(flow.controller.window.packets(), 1.25);
}

#[test]
fn above_the_target_the_cut_is_in_proportion_to_the_excess_and_bounded() {
    // Target 150 ms without flow scaling: 1 - 0.8 (d - 150) / d, at least 1 - max_mdf.
    for (millis, kept) in [(150, 1.0), (160, 0.95), (200, 0.8), (300, 0.6), (400, 0.5), (10_000, 0.5)] {
        let mut flow = flow(200.0, SwiftParams { fs_range: 0.0, ..SwiftParams::default() });
        flow.ack_after(Span::from_millis(millis));
        let grown = if millis > 150 { 0.0 } else { 1.0 / 200.0 };
        assert_near(flow.controller.window.packets(), 200.0 * kept + grown);
    }
}

#[test]
fn a_round_trip_is_cut_once_by_delay_and_loss_together() {
    let mut flow = flow(100.0, SwiftParams { fs_range: 0.0, ..SwiftParams::default() });
    flow.fill();
    flow.now += Span::from_millis(300);
    let mut fates = vec![Fate::Acked; 50];
    fates.push(Fate::Lost);
    flow.report(&fates);
    assert_near(flow.controller.window.packets(), 60.0);
    // What is sent after the cut may be cut again.
    flow.take(flow.in_flight.len());
    flow.ack_after(Span::from_millis(300));
    assert_near(flow.controller.window.packets(), 36.0);
}

#[test]
fn a_loss_takes_the_largest_cut() {
    let mut flow = flow(100.0, SwiftParams { max_mdf: 0.3, ..SwiftParams::default() });
    flow.fill();
    flow.now += flow.rtt;
    flow.report(&[Fate::Lost]);
    assert_near(flow.controller.window.packets(), 70.0);
}

#[test]
fn timeouts_in_a_row_leave_the_smallest_window() {
    let mut flow = flow(100.0, SwiftParams::default());
    let window = |consecutive: u32, flow: &mut Driver<Swift>| {
        let flight = flow.flight();
        flow.controller.on_feedback(&Feedback::new(flow.now, Cause::Timeout { consecutive }), &flight);
        flow.controller.window()
    };
    assert_eq!(window(1, &mut flow), 100_000);
    assert_eq!(window(4, &mut flow), 100_000);
    assert_eq!(window(5, &mut flow), 1, "a thousandth of 1 000 bytes");
}

#[test]
fn the_fabrics_delay_goes_before_the_round_trip_time() {
    let mut flow = flow(100.0, SwiftParams::default());
    flow.signals.fabric_delay = Some(Span::from_millis(90));
    flow.ack_after(Span::from_secs(5));
    assert!(flow.packets() >= 100, "the host took the rest of the time");
}

#[test]
fn a_smoothed_delay_reacts_late() {
    let mut flow = flow(100.0, SwiftParams { smoothing: 0.5, fs_range: 0.0, ..SwiftParams::default() });
    flow.ack_after(Span::from_millis(100));
    // 100 ms, then half way to 180 ms: 140 ms, still below 150.
    flow.ack_after(Span::from_millis(180));
    assert!(flow.packets() >= 100);
    flow.ack_after(Span::from_millis(180));
    assert!(flow.packets() < 100);
}

#[test]
fn the_base_is_the_smallest_delay_seen_on_this_path() {
    let mut flow = Driver::new(Swift::new(SwiftParams::default(), &setup()).unwrap());
    flow.ack_after(Span::from_millis(80));
    flow.ack_after(Span::from_millis(40));
    flow.ack_after(Span::from_millis(60));
    assert_eq!(flow.controller.window.base_rtt(), Some(Span::from_millis(40)));
    flow.signal(&Signal::PathChange { path: crate::PathId(0), change: PathChange::Migrated });
    assert_eq!((flow.controller.window.base_rtt(), flow.packets()), (None, 10));
}

#[test]
fn nothing_grows_while_the_application_holds_back() {
    let mut flow = flow(50.0, SwiftParams::default());
    flow.limit = Limit::Application;
    flow.rounds(10);
    assert_eq!(flow.packets(), 50);
}

#[test]
fn forged_delays_leave_the_window_within_its_bounds() {
    let mut flow = Driver::new(Swift::new(SwiftParams::default(), &setup()).unwrap());
    for delay in [0, 1, u64::MAX, 0, u64::MAX, 3] {
        flow.signals.fabric_delay = Some(Span::from_nanos(delay));
        flow.rounds(3);
        let packets = flow.controller.window.packets();
        assert!((0.001..=1e6).contains(&packets), "{packets}");
    }
    let acked = crate::PacketRecord::new(1, u32::MAX, at(0));
    flow.signals.fabric_delay = Some(Span::ZERO);
    flow.feed(&Batch { acked: vec![acked; 9], ..Batch::default() });
    assert!(flow.controller.window.packets() <= 1e6);
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    let default = SwiftParams::default;
    let cases = [
        (SwiftParams { ai: 0.0, ..default() }, "ai"),
        (SwiftParams { beta: 1.5, ..default() }, "beta"),
        (SwiftParams { max_mdf: 1.0, ..default() }, "max_mdf"),
        (SwiftParams { base_target: 0.9, ..default() }, "base_target"),
        (SwiftParams { fs_range: f64::NAN, ..default() }, "fs_range"),
        (SwiftParams { fs_min: 0.0, ..default() }, "fs_min"),
        (SwiftParams { fs_max: 0.1, ..default() }, "fs_max"),
        (SwiftParams { smoothing: 1.0, ..default() }, "smoothing"),
        (SwiftParams { retransmit_limit: 0, ..default() }, "retransmit_limit"),
        (SwiftParams { initial_window: 0, ..default() }, "initial_window"),
        (SwiftParams { min_window: 0.0, ..default() }, "min_window"),
        (SwiftParams { max_window: 0.5, ..default() }, "max_window"),
    ];
    for (params, name) in cases {
        assert_eq!(Swift::new(params, &setup()).unwrap_err().name, name);
    }
}

#[test]
fn windows_over_a_rise_and_fall_of_the_delay_are_as_recorded() {
    // Whole packets after each of 40 round trips: base RTT 100 ms, 220 ms from round 10 on, 100 ms again from 20, a loss in
    // round 30.
    let mut flow = Driver::new(Swift::new(SwiftParams::default(), &setup()).unwrap());
    let windows = (0..40).map(|round| {
        flow.rtt = Span::from_millis(if (10..20).contains(&round) { 220 } else { 100 });
        if round == 30 {
            flow.lose_one();
        } else {
            flow.rounds(1);
        }
        flow.packets().to_string()
    });
    insta::assert_snapshot!(windows.collect::<Vec<_>>().join(" "), @"10 11 12 13 14 15 16 17 18 19 15 11 9 7 6 5 4 3 3 2 3 4 5 6 7 7 8 9 10 11 7 8 9 10 11 11 12 13 14 15");
}
