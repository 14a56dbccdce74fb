use super::*;
use crate::controller::{Limit, Oracle};
use crate::testing::{Batch, Driver, Fate, MTU, setup};
use crate::units::Rate;

/// A flow past slow start with a window of exactly `packets`, a base RTT of 100 ms and the given rate.
fn avoiding(packets: u64, rate: Rate, params: GeminiParams) -> Driver<Gemini> {
    let mut told = setup();
    told.oracle = Some(Oracle { base_rtt: Span::from_millis(100), bottleneck: rate });
    let ssthresh = Some(packets * MTU);
    told.handover = Some(Handover { ssthresh, ..Handover::of_window(packets * MTU) });
    Driver::new(Gemini::new(params, &told).unwrap())
}

fn default_flow(packets: u64) -> Driver<Gemini> {
    avoiding(packets, Rate::from_mbps(160), GeminiParams::default())
}

#[test]
fn a_clean_round_adds_h_packets_in_proportion_to_the_product() {
    // h = 1.2e-7 x 160 Mb/s x 100 ms = 1.92 packets; at 1 Mb/s and 1 Gb/s the bounds, 0.1 and 5 packets.
    for (rate, gain) in [(Rate::from_mbps(160), 1.92), (Rate::from_mbps(1), 0.1), (Rate::from_gbps(1), 5.0)] {
        let mut flow = avoiding(500, rate, GeminiParams::default());
        flow.rounds(20);
        let gained = flow.controller.window.exact() / 1_000.0 - 500.0;
        assert!((gained / (20.0 * gain) - 1.0).abs() < 0.02, "{rate}: {gained}");
    }
}

#[test]
fn marks_take_alpha_4k_over_k_plus_the_product() {
    // K / C = 25 ms at an RTT of 100 ms: 4 x 25 / 125 = 0.8. K / C = 300 ms: 4 x 300 / 400 counts as 1.
    for (threshold, alpha, packets) in [(25, 1.0, 20), (25, 0.5, 60), (25, 0.0, 100), (300, 0.5, 50)] {
        let threshold = Span::from_millis(threshold);
        let params = GeminiParams { alpha, threshold, ..GeminiParams::default() };
        let mut flow = avoiding(100, Rate::from_mbps(160), params);
        flow.fill();
        flow.now += flow.rtt;
        // The first packet ends a round in which nothing else was marked; it moves alpha, hence one batch.
        flow.controller.rounds.restart(u64::MAX);
        flow.report(&[Fate::Marked; 100]);
        let kept = flow.controller.window.exact() / 1_000.0;
        assert!((kept - f64::from(packets)).abs() < 0.01, "{threshold}, {alpha}: {kept}");
    }
}

#[test]
fn alpha_moves_by_a_sixteenth_towards_the_share_of_each_round() {
    let params = GeminiParams { alpha: 0.0, ..GeminiParams::default() };
    let mut flow = avoiding(50, Rate::from_mbps(160), params);
    flow.limit = Limit::Application;
    for _ in 0..=16 {
        flow.send(10);
        flow.now += flow.rtt;
        flow.report(&[Fate::Marked; 10]);
    }
    assert!((flow.controller.alpha - (1.0 - (15.0_f64 / 16.0).powi(16))).abs() < 1e-9, "{}", flow.controller.alpha);
}

#[test]
fn a_round_whose_smallest_rtt_is_over_t_takes_a_fifth_once() {
    let mut flow = default_flow(100);
    flow.rtt = Span::from_millis(104);
    flow.rounds(3);
    assert_eq!(flow.packets(), 105, "4 ms are below T");
    flow.rtt = Span::from_millis(106);
    // The first such round is known at its end, with the first packet of the next.
    flow.rounds(2);
    let before = flow.controller.window.exact();
    flow.rounds(3);
    assert!((flow.controller.window.exact() / before - 0.8_f64.powi(3)).abs() < 1e-6, "{}", flow.controller.window());
}

#[test]
fn of_marks_and_delay_the_larger_cut_counts() {
    // Marks alone would take 0.5 x 0.8 = 0.4 here, delay 0.2: together 0.4.
    let params = GeminiParams { alpha: 0.5, g: 1e-6, threshold: Span::from_millis(25), ..GeminiParams::default() };
    let mut flow = avoiding(100, Rate::from_mbps(160), params);
    flow.rtt = Span::from_millis(110);
    flow.rounds(2);
    let before = flow.controller.window.exact();
    flow.round(|_| Fate::Marked);
    assert!((flow.controller.window.exact() / before - 0.6).abs() < 1e-3, "{}", flow.controller.window());
}

#[test]
fn a_loss_halves_once_a_round_trip_and_persistent_congestion_leaves_the_minimum() {
    let mut flow = default_flow(100);
    flow.round(|place| if place % 10 == 0 { Fate::Lost } else { Fate::Acked });
    assert_eq!(flow.packets(), 50);
    flow.fill();
    flow.now += flow.rtt;
    let lost = flow.take(50);
    flow.feed(&Batch { lost, persistent_congestion: Some(Span::from_secs(1)), ..Batch::default() });
    assert_eq!(flow.packets(), 2);
}

#[test]
fn marks_losses_and_delay_of_one_round_trip_reduce_once() {
    let params = GeminiParams { alpha: 0.5, g: 1e-6, threshold: Span::from_millis(25), ..GeminiParams::default() };
    let mut flow = avoiding(100, Rate::from_mbps(160), params);
    flow.rtt = Span::from_millis(110);
    flow.rounds(2);
    let before = flow.controller.window.exact();
    // The marks take 0.4; the losses behind them, and the delay of all, belong to the same round trip.
    flow.round(|place| match place {
        0..10 => Fate::Marked,
        10..20 => Fate::Lost,
        _ => Fate::Acked,
    });
    assert!((flow.controller.window.exact() / before - 0.6).abs() < 1e-3, "{}", flow.controller.window());
}

#[test]
fn a_longer_route_is_taken_for_congestion_for_ten_seconds() {
    let mut told = setup();
    told.local_line_rate = Some(Rate::from_mbps(160));
    told.handover = Some(Handover { ssthresh: Some(50_000), ..Handover::of_window(50_000) });
    let mut flow = Driver::new(Gemini::new(GeminiParams::default(), &told).unwrap());
    flow.rtt = Span::from_millis(100);
    flow.rounds(3);
    flow.rtt = Span::from_millis(250);
    // Fifteen round trips lead down; forty are ten seconds.
    flow.rounds(38);
    assert_eq!((flow.packets(), flow.controller.state().phase), (2, "wan_congested"));
    flow.rounds(22);
    assert!(flow.packets() > 10, "{}", flow.packets());
}

#[test]
fn two_packets_behind_each_other_are_no_congestion() {
    let mut told = setup();
    told.handover = Some(Handover { ssthresh: Some(4_000), ..Handover::of_window(4_000) });
    let mut flow = Driver::new(Gemini::new(GeminiParams::default(), &told).unwrap());
    flow.rounds(2);
    // At four packets in 100 ms two take 50 ms.
    for (rtt, late) in [(130, false), (170, true)] {
        flow.rtt = Span::from_millis(rtt);
        flow.rounds(2);
        assert_eq!(flow.controller.wan_congested, late, "{rtt} ms");
    }
}

#[test]
fn slow_start_ends_with_the_first_mark() {
    let params = GeminiParams { threshold: Span::from_millis(25), ..GeminiParams::default() };
    let mut flow = Driver::new(Gemini::new(params, &setup()).unwrap());
    flow.rounds(2);
    assert_eq!((flow.packets(), flow.controller.state().phase), (40, "slow_start"));
    flow.round(|place| if place == 0 { Fate::Marked } else { Fate::Acked });
    assert_eq!(flow.controller.state().phase, "congestion_avoidance");
    assert!(flow.packets() < 40);
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    let default = GeminiParams::default;
    let cases = [
        (GeminiParams { h: 0.0, ..default() }, "h"),
        (GeminiParams { min_increase: 6.0, ..default() }, "min_increase"),
        (GeminiParams { beta: 1.0, ..default() }, "beta"),
        (GeminiParams { threshold: Span::ZERO, ..default() }, "threshold"),
        (GeminiParams { g: 0.0, ..default() }, "g"),
        (GeminiParams { alpha: f64::NAN, ..default() }, "alpha"),
        (GeminiParams { loss_beta: 0.0, ..default() }, "loss_beta"),
        (GeminiParams { initial_window: 0, ..default() }, "initial_window"),
        (GeminiParams { min_window: 0, ..default() }, "min_window"),
    ];
    for (params, name) in cases {
        assert_eq!(Gemini::new(params, &setup()).unwrap_err().name, name);
    }
}

/// Window in whole packets after each of 30 round trips: marks in round 5, 8 ms of queue in rounds 10 to 13, a loss in
/// round 20.
#[test]
fn the_window_over_marks_delay_and_a_loss_is_as_recorded() {
    let mut flow = default_flow(100);
    let windows = (0..30).map(|round| {
        flow.rtt = Span::from_millis(if (10..14).contains(&round) { 108 } else { 100 });
        match round {
            5 => flow.round(|place| if place % 4 == 0 { Fate::Marked } else { Fate::Acked }),
            20 => flow.lose_one(),
            _ => flow.rounds(1),
        }
        flow.packets().to_string()
    });
    insta::assert_snapshot!(windows.collect::<Vec<_>>().join(" "), @"101 103 105 107 109 107 109 111 113 115 117 93 74 59 61 63 65 67 69 71 35 37 39 41 43 44 46 48 50 52");
}
