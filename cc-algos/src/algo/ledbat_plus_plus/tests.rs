use super::*;
use crate::controller::Limit;
use crate::testing::{Batch, Bottleneck, Driver, Fate, MTU, setup};

fn ledbat(params: LedbatPlusPlusParams) -> LedbatPlusPlus {
    LedbatPlusPlus::new(params, &setup()).unwrap()
}

fn steady() -> LedbatPlusPlusParams {
    LedbatPlusPlusParams { slowdowns: false, ..LedbatPlusPlusParams::default() }
}

/// A flow past slow start with a window of `packets` on a path of 100 ms, which it has measured.
fn avoiding(packets: u64, params: LedbatPlusPlusParams) -> Driver<LedbatPlusPlus> {
    let mut resumed = setup();
    resumed.handover =
        Some(Handover { window: Some(packets * MTU), ssthresh: Some(packets * MTU), ..Handover::default() });
    let mut flow = Driver::new(LedbatPlusPlus::new(params, &resumed).unwrap());
    flow.rounds(1);
    flow
}

fn window(flow: &Driver<LedbatPlusPlus>) -> f64 {
    flow.controller.window() as f64 / MTU as f64
}

#[test]
fn the_gain_falls_with_the_base_rtt_down_to_a_sixteenth() {
    // 1 / min(16, ceil(2 x 60 ms / base)).
    for (micros, divisor) in [(250_000, 1.0), (120_000, 1.0), (100_000, 2.0), (20_000, 6.0), (7_500, 16.0), (100, 16.0)]
    {
        let mut flow = Driver::new(ledbat(steady()));
        flow.rtt = Span::from_micros(micros);
        flow.rounds(1);
        assert!((flow.controller.gain * divisor - 1.0).abs() < 1e-9, "{micros} us: {}", flow.controller.gain);
    }
}

#[test]
fn slow_start_grows_by_the_gain_from_two_packets() {
    let mut flow = Driver::new(ledbat(steady()));
    flow.rtt = Span::from_millis(120);
    let windows: Vec<_> = (0..6)
        .map(|_| {
            flow.rounds(1);
            flow.packets()
        })
        .collect();
    // The first batch is counted with a gain that its RTT has set already: 1 at 120 ms.
    assert_eq!(windows, [4, 8, 16, 32, 64, 128]);
    let mut short = Driver::new(ledbat(steady()));
    short.rtt = Span::from_millis(5);
    short.rounds(60);
    // (1 + 1/16)^60 x 2 = 76; whole packets of the window leave, so a little less.
    assert!((40..=76).contains(&short.packets()), "{}", short.packets());
}

#[test]
fn three_quarters_of_the_target_end_the_first_slow_start() {
    for (millis, phase) in [(44, "slow_start"), (46, "congestion_avoidance")] {
        let mut flow = Driver::new(ledbat(steady()));
        flow.rtt = Span::from_millis(120);
        flow.rounds(3);
        flow.rtt = Span::from_millis(120 + millis);
        flow.rounds(1);
        assert_eq!(flow.controller.state().phase, phase, "{millis} ms");
    }
}

#[test]
fn below_the_target_the_window_grows_by_the_gain_a_round_trip() {
    let mut flow = avoiding(40, steady());
    let begin = window(&flow);
    flow.rtt = Span::from_millis(155);
    flow.rounds(20);
    assert!((window(&flow) - begin - 10.0).abs() < 0.5, "20 round trips of 1/2: {}", window(&flow));
}

#[test]
fn beyond_the_target_the_window_shrinks_in_proportion_to_the_excess_and_by_half_at_most() {
    // 40 packets: GAIN - 40 (delay / target - 1) a round trip, not below -20.
    for (delay, expected) in [(66, 36.5), (75, 30.5), (90, 20.0), (300, 20.0)] {
        let mut flow = avoiding(40, steady());
        // The smallest of the last four samples counts: a flight before this one has them all.
        let shown = flow.controller.window();
        flow.controller.recent = [Span::from_millis(100 + delay); FILTER];
        flow.rtt = Span::from_millis(100 + delay);
        flow.rounds(1);
        let shrunk = window(&flow) - (shown as f64 / MTU as f64 - 40.0);
        assert!((shrunk - expected).abs() <= 0.7, "{delay} ms: {shrunk} instead of {expected}");
    }
}

#[test]
fn one_late_packet_is_no_queue() {
    let mut flow = avoiding(40, steady());
    flow.rounds(1);
    let before = window(&flow);
    flow.fill();
    flow.now += flow.rtt;
    for _ in 0..3 {
        flow.rtt = Span::from_millis(300);
        flow.report(&[Fate::Acked]);
    }
    assert!(window(&flow) >= before, "three of the last four samples are late");
}

#[test]
fn alone_it_holds_the_queue_at_the_target() {
    // Base 60 ms, GAIN 1/2; 50 packets a base RTT: 60 ms of queue are 50 packets.
    let mut path = Bottleneck::new(ledbat(steady()), Span::from_millis(60), 50);
    path.run(Span::from_secs(30), |_| {});
    path.run(Span::from_secs(30), |path| {
        assert!((44..=53).contains(&path.queue()), "{} packets", path.queue());
    });
}

/// When slowdowns began and ended.
fn slowdowns(path: &mut Bottleneck<LedbatPlusPlus>, time: Span) -> Vec<(Timestamp, Timestamp)> {
    let (mut times, mut began) = (Vec::new(), None);
    path.run(time, |path| match path.flow.controller.phase {
        Phase::Frozen { began: at, .. } | Phase::Ramp { began: at } => began = Some(at),
        _ => times.extend(began.take().map(|at| (at, path.flow.now))),
    });
    times
}

#[test]
fn slowdowns_come_nine_times_their_length_apart_and_return_to_the_window_before() {
    let mut path = Bottleneck::new(ledbat(LedbatPlusPlusParams::default()), Span::from_millis(60), 50);
    let times = slowdowns(&mut path, Span::from_secs(300));
    assert!(times.len() >= 5, "{times:?}");
    for pair in times.windows(2) {
        let length = pair[0].1.saturating_since(pair[0].0).as_secs_f64();
        let pause = pair[1].0.saturating_since(pair[0].1).as_secs_f64();
        assert!((pause / length - 9.0).abs() < 0.3, "{length} s, then {pause} s");
    }
    assert!(path.flow.packets() >= 80, "slowdowns do not add up to a decline: {}", path.flow.packets());
}

#[test]
fn the_first_slowdown_comes_two_round_trips_after_slow_start_and_lasts_two_with_two_packets() {
    let mut flow = Driver::new(ledbat(LedbatPlusPlusParams::default()));
    flow.rtt = Span::from_millis(120);
    flow.rounds(5);
    flow.rtt = Span::from_millis(170);
    flow.rounds(1);
    assert_eq!(flow.controller.state().phase, "congestion_avoidance");
    let left_at = flow.packets();
    flow.rounds(2);
    assert_eq!((flow.packets(), flow.controller.state().phase), (2, "slowdown"));
    assert_eq!(flow.controller.window.ssthresh().map(|bytes| bytes / MTU >= left_at - 1), Some(true));
    flow.rounds(1);
    assert_eq!((flow.packets(), flow.controller.state().phase), (2, "slowdown"));
    flow.rtt = Span::from_millis(120);
    flow.rounds(2);
    assert_eq!(flow.controller.state().phase, "ramp");
    flow.rounds(8);
    assert_eq!(flow.controller.state().phase, "congestion_avoidance");
    assert!(flow.packets() >= left_at - 1, "{} of {left_at}", flow.packets());
}

#[test]
fn a_slowdown_waits_until_the_window_is_in_use() {
    let mut flow = Driver::new(ledbat(LedbatPlusPlusParams::default()));
    flow.rounds(4);
    flow.rtt = Span::from_millis(170);
    flow.rounds(1);
    assert_eq!(flow.controller.state().phase, "congestion_avoidance");
    flow.limit = Limit::Application;
    flow.rounds(10);
    assert_eq!(flow.controller.state().phase, "congestion_avoidance");
    flow.limit = Limit::Window;
    flow.rounds(1);
    assert_eq!((flow.packets(), flow.controller.state().phase), (2, "slowdown"));
}

#[test]
fn larger_packets_that_lift_the_window_over_its_threshold_end_slow_start() {
    let mut flow = avoiding(40, steady());
    flow.fill();
    flow.now += flow.rtt;
    let (lost, acked) = (flow.take(39), flow.take(1));
    flow.feed(&Batch { lost, acked, persistent_congestion: Some(Span::from_secs(1)), ..Batch::default() });
    assert!(flow.controller.in_slow_start(), "on the way back from persistent congestion");
    flow.set_mtu(100 * MTU);
    assert!(flow.controller.window.bytes() >= flow.controller.window.ssthresh().unwrap_or(u64::MAX));
    assert!(!flow.controller.in_slow_start());
}

#[test]
fn a_loss_or_a_mark_halves_once_a_round_trip() {
    for fate in [Fate::Lost, Fate::Marked] {
        let mut flow = avoiding(40, steady());
        flow.round(|place| if place < 5 { fate } else { Fate::Acked });
        assert_eq!(flow.packets(), 20);
    }
}

#[test]
fn a_loss_during_a_slowdown_halves_what_it_returns_to() {
    // A flow that resumes slows down at once, to learn its base RTT.
    let mut resumed = setup();
    resumed.handover = Some(Handover { window: Some(40 * MTU), ssthresh: Some(40 * MTU), ..Handover::default() });
    let mut flow = Driver::new(LedbatPlusPlus::new(LedbatPlusPlusParams::default(), &resumed).unwrap());
    flow.fill();
    flow.now += flow.rtt;
    flow.report(&[Fate::Acked]);
    assert_eq!((flow.packets(), flow.controller.state().phase), (2, "slowdown"));
    flow.report(&[Fate::Lost, Fate::Lost]);
    assert_eq!((flow.packets(), flow.controller.state().ssthresh.map(|bytes| bytes / MTU)), (2, Some(20)));
}

#[test]
fn persistent_congestion_leads_back_by_slow_start() {
    let mut flow = avoiding(40, steady());
    flow.fill();
    flow.now += flow.rtt;
    let lost = flow.take(flow.in_flight.len());
    flow.feed(&Batch { lost, persistent_congestion: Some(Span::from_secs(1)), ..Batch::default() });
    assert_eq!((flow.packets(), flow.controller.state().phase), (2, "ramp"));
    flow.rounds(12);
    assert_eq!(flow.controller.state().phase, "congestion_avoidance");
    assert!(flow.packets() >= 20, "{}", flow.packets());
}

#[test]
fn persistent_congestion_in_a_slowdown_does_not_end_it() {
    let mut resumed = setup();
    resumed.handover = Some(Handover { window: Some(40 * MTU), ssthresh: Some(40 * MTU), ..Handover::default() });
    let mut flow = Driver::new(LedbatPlusPlus::new(LedbatPlusPlusParams::default(), &resumed).unwrap());
    flow.fill();
    flow.now += flow.rtt;
    flow.report(&[Fate::Acked]);
    assert_eq!(flow.controller.state().phase, "slowdown");
    let (lost, acked) = (flow.take(10), flow.take(10));
    flow.feed(&Batch { lost, acked, persistent_congestion: Some(Span::from_secs(1)), ..Batch::default() });
    assert_eq!((flow.packets(), flow.controller.state().phase), (2, "slowdown"));
}

#[test]
fn a_limited_application_lets_nothing_grow() {
    let mut flow = avoiding(40, steady());
    let before = flow.packets();
    flow.limit = Limit::Application;
    flow.rounds(20);
    assert_eq!(flow.packets(), before);
}

#[test]
fn a_base_rtt_is_forgotten_after_its_time() {
    let mut flow = avoiding(40, LedbatPlusPlusParams { base_history: Span::from_secs(20), ..steady() });
    flow.rtt = Span::from_millis(200);
    flow.rounds(30);
    assert_eq!(flow.packets(), 2, "a longer route looks like a queue of 100 ms");
    flow.rounds(200);
    assert!(flow.packets() > 10, "{}", flow.packets());
}

#[test]
fn window_over_time_is_as_recorded() {
    let mut path = Bottleneck::new(ledbat(LedbatPlusPlusParams::default()), Span::from_millis(120), 50);
    insta::assert_snapshot!(path.curve(Span::from_millis(500), 40), @"25@0 96@0 2@0 12@0 65@0 69@0 72@0 74@0 75@0 75@0 74@0 76@0 74@0 75@0 75@0 74@0 76@0 75@0 75@0 75@0 74@0 76@0 75@0 75@0 76@0 2@0 24@0 74@0 72@0 75@0 74@0 76@0 74@0 75@0 75@0 74@0 76@0 74@0 75@0 75@0");
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    let default = LedbatPlusPlusParams::default;
    let cases = [
        (LedbatPlusPlusParams { target: Span::ZERO, ..default() }, "target"),
        (LedbatPlusPlusParams { max_gain_divisor: 0, ..default() }, "max_gain_divisor"),
        (LedbatPlusPlusParams { decrease: f64::NAN, ..default() }, "decrease"),
        (LedbatPlusPlusParams { base_history: Span::ZERO, ..default() }, "base_history"),
        (LedbatPlusPlusParams { initial_window: 0, ..default() }, "initial_window"),
        (LedbatPlusPlusParams { min_window: 0, ..default() }, "min_window"),
    ];
    for (params, name) in cases {
        assert_eq!(LedbatPlusPlus::new(params, &setup()).unwrap_err().name, name);
    }
}
