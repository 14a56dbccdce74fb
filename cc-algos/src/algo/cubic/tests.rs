use super::*;
use crate::controller::Limit;
use crate::testing::{Batch, Driver, Fate, MTU, at, setup};

/// A flow past slow start with a window of exactly `packets`.
fn avoiding(packets: u64, params: CubicParams) -> Driver<Cubic> {
    let mut resumed = setup();
    resumed.handover =
        Some(Handover { window: Some(packets * MTU), ssthresh: Some(packets * MTU), ..Handover::default() });
    Driver::new(Cubic::new(params, &resumed).unwrap())
}

fn cubic(packets: u64) -> Driver<Cubic> {
    avoiding(packets, CubicParams::default())
}

fn gauge(flow: &Driver<Cubic>, name: &str) -> f64 {
    flow.controller.state().gauges().find(|(gauge, _)| *gauge == name).map(|(_, value)| value).unwrap()
}

fn assert_close(value: f64, expected: f64, share: f64) {
    assert!((value - expected).abs() <= share * expected.abs(), "{value} is not within {share} of {expected}");
}

#[test]
fn k_is_the_time_back_to_the_plateau() {
    let mut flow = cubic(100);
    flow.lose_one();
    assert_eq!((flow.controller.window(), gauge(&flow, "w_max")), (70_000, 100.0));
    flow.rounds(1);
    // C K^3 = 100 - 70.
    assert_close(0.4 * gauge(&flow, "k").powi(3), 30.0, 1e-12);
}

#[test]
fn fast_convergence_lowers_the_plateau_and_not_the_window_once_more() {
    // Window 8, plateau 12: the window becomes 5.6 and not 4.76, the plateau 8 x 0.85.
    let mut flow = cubic(8);
    flow.controller.w_max = Some(12.0);
    flow.lose_one();
    assert_eq!(flow.controller.window(), 5_600);
    assert_close(gauge(&flow, "w_max"), 6.8, 1e-12);
}

#[test]
fn k_after_fast_convergence_counts_from_the_lowered_plateau() {
    // Peak P = 100: W_max = 85, cwnd = 70, so C K^3 = 15 and not 25.5.
    let mut flow = cubic(100);
    flow.controller.w_max = Some(200.0);
    flow.lose_one();
    flow.rounds(1);
    assert_close(0.4 * gauge(&flow, "k").powi(3), 15.0, 1e-12);
}

#[test]
fn without_fast_convergence_the_plateau_is_the_window() {
    let mut flow = avoiding(100, CubicParams { fast_convergence: false, ..CubicParams::default() });
    flow.controller.w_max = Some(200.0);
    flow.lose_one();
    assert_close(gauge(&flow, "w_max"), 100.0, 1e-12);
}

#[test]
fn the_window_follows_the_cubic_function_through_plateau_and_beyond() {
    let mut flow = cubic(1_000);
    flow.stretch = 10;
    flow.lose_one();
    flow.rounds(1);
    let epoch = flow.controller.epoch.unwrap();
    // K = cbrt(300 / 0.4) = 9.09 s. From a second on the window has caught up with the curve.
    for round in 1..180 {
        flow.rounds(1);
        let elapsed = flow.now.saturating_since(epoch.began).as_secs_f64();
        if round > 10 {
            let cwnd = flow.controller.window_in_packets();
            assert_close(cwnd, epoch.window(0.4, elapsed), 0.02);
            let phase = flow.controller.state().phase;
            assert_eq!(phase, if cwnd < 1_000.0 { "concave" } else { "convex" }, "at {elapsed} s");
        }
    }
    assert!(flow.packets() > 1_200, "{}", flow.packets());
}

#[test]
fn growth_is_at_most_half_a_packet_for_each_acknowledged() {
    let mut flow = cubic(10);
    flow.rounds(1);
    // Far beyond the plateau: an hour after the epoch began.
    flow.controller.epoch.as_mut().unwrap().w_est = 0.0;
    flow.now = at(3_600_000);
    let before = flow.controller.window();
    flow.stretch = 100;
    flow.rounds(1);
    assert_eq!(flow.controller.window(), before + 10 * MTU / 2);
}

#[test]
fn with_a_short_rtt_it_grows_like_reno_by_alpha_and_by_one_past_the_old_window() {
    let mut flow = cubic(40);
    flow.rtt = Span::from_millis(1);
    flow.lose_one();
    assert_eq!(flow.packets(), 28);
    // alpha = 3 x 0.3 / 1.7 = 0.529 packets a round: 12 packets in 22.7 rounds.
    flow.rounds(22);
    assert_close(flow.controller.window() as f64, 39_600.0, 0.01);
    assert_eq!(flow.controller.state().phase, "reno_friendly");
    flow.rounds(10);
    // Less than 10 packets more, as each round sends whole packets only, up to one less than the window.
    assert_close(flow.controller.window() as f64, 49_000.0, 0.01);
}

#[test]
fn ten_packets_in_one_ack_grow_about_as_ten_acks() {
    let windows: Vec<_> = [1, 10, 1_000]
        .map(|stretch| {
            let mut flow = cubic(100);
            flow.stretch = stretch;
            flow.lose_one();
            flow.rounds(60);
            flow.controller.window() as f64
        })
        .into();
    assert_close(windows[1], windows[0], 0.01);
    assert_close(windows[2], windows[0], 0.05);
}

/// Loses a packet each `1/p` packets, and averages the window over a score of saw teeth.
///
/// Begins with the peak that has `expected` for its average, K seconds of concave growth having 0.925 of the peak: a tooth
/// that ends near its plateau, where the curve is flat, has a peak like the one before, so that any other beginning would
/// take hundreds of teeth to be forgotten.
fn average_window(p: f64, rtt: Span, expected: u64) -> f64 {
    // The equations assume that the plateau is regained each time: no fast convergence (RFC 9438, section 4.7).
    let peak = expected * 1_000 / 925;
    let mut flow = avoiding(peak, CubicParams { fast_convergence: false, ..CubicParams::default() });
    flow.rtt = rtt;
    flow.stretch = 4;
    flow.lose_one();
    let (mut sent, mut teeth, mut sum, mut rounds) = (0.0, 0, 0.0, 0.0);
    while teeth < 40 {
        flow.fill();
        let due = ((sent * p).floor() + 1.0) / p;
        let place = (due - sent) as usize;
        if place < flow.in_flight.len() {
            teeth += 1;
        }
        if teeth >= 20 {
            sum += flow.controller.window_in_packets();
            rounds += 1.0;
        }
        sent += flow.in_flight.len() as f64;
        flow.round(|packet| if packet == place { Fate::Lost } else { Fate::Acked });
    }
    sum / rounds
}

#[test]
fn the_average_window_under_periodic_loss_is_that_of_rfc_9438() {
    // Tables 1 and 2 of section 5.1: cubic region, then Reno-friendly region.
    for (p, rtt, expected) in [(1e-4, 100, 187), (1e-5, 100, 1_054), (1e-3, 10, 38), (1e-4, 10, 120)] {
        assert_close(average_window(p, Span::from_millis(rtt), expected), expected as f64, 0.1);
    }
}

#[test]
fn persistent_congestion_reduces_the_threshold_once_and_forgets_the_plateau() {
    let mut flow = cubic(100);
    flow.fill();
    flow.now = at(1_000);
    let lost = flow.take(100);
    flow.feed(&Batch { lost, persistent_congestion: Some(Span::from_millis(900)), ..Batch::default() });
    // 0.7 and not 0.49.
    assert_eq!((flow.packets(), flow.controller.state().ssthresh), (2, Some(70_000)));
    flow.rounds(7);
    // Slow start from 2 reaches 70 in the sixth round: from there K = 0 and the plateau is where the epoch began.
    assert!(gauge(&flow, "k").abs() < f64::EPSILON);
    assert!(flow.controller.epoch.unwrap().plateau >= 70.0);
}

#[test]
fn a_mark_takes_the_window_down_to_one_packet_and_a_loss_does_not_raise_it() {
    let mut flow = cubic(4);
    for _ in 0..10 {
        flow.round(|_| Fate::Marked);
    }
    assert_eq!((flow.packets(), flow.controller.state().ssthresh), (1, Some(2_000)));
    flow.lose_one();
    assert_eq!(flow.packets(), 1);
    let mut lossy = cubic(4);
    for _ in 0..10 {
        lossy.lose_one();
    }
    assert_eq!(lossy.packets(), 2);
}

#[test]
fn bursts_that_drain_between_round_trips_do_not_stop_the_clock() {
    let mut flow = cubic(100);
    flow.lose_one();
    flow.rounds(1);
    let began = flow.controller.epoch.unwrap().began;
    let window = flow.controller.window();
    for _ in 0..20 {
        flow.rounds(1);
        assert!(flow.in_flight.is_empty());
    }
    assert_eq!(flow.controller.epoch.unwrap().began, began);
    assert!(flow.controller.window() > window);
}

#[test]
fn idleness_of_five_seconds_moves_the_epoch_by_five_seconds_and_keeps_the_window() {
    let mut flow = cubic(100);
    flow.lose_one();
    flow.rounds(10);
    let (began, window) = (flow.controller.epoch.unwrap().began, flow.controller.window());
    flow.idle(Span::from_secs(5));
    assert_eq!(flow.controller.epoch.unwrap().began, began + Span::from_secs(5));
    assert_eq!(flow.controller.window(), window);
}

#[test]
fn time_spent_limited_by_the_application_is_not_counted_and_idleness_within_it_only_once() {
    for idle in [false, true] {
        let mut flow = cubic(100);
        flow.lose_one();
        flow.rounds(10);
        let (began, window) = (flow.controller.epoch.unwrap().began, flow.controller.window());
        flow.limit = Limit::Application;
        // All of the window but a packet, for five minutes.
        let used = flow.packets() - 1;
        for _ in 0..3_000 {
            flow.send(used);
            flow.now += flow.rtt;
            flow.report(&vec![Fate::Acked; used as usize]);
        }
        if idle {
            flow.idle(Span::from_secs(60));
        }
        assert_eq!(flow.controller.window(), window);
        flow.limit = Limit::Window;
        flow.rounds(1);
        // Until the next growing acknowledgement: five minutes, less the round trip from the last growth to the first
        // acknowledgement that might not grow the window, plus the round trip after it.
        let stood = Span::from_secs(300) + if idle { Span::from_secs(60) } else { Span::ZERO };
        assert_eq!(flow.controller.epoch.unwrap().began, began + stood, "idle {idle}");
        assert!(flow.controller.window() < window + window / 50, "no jump");
    }
}

#[test]
fn an_unused_window_does_not_grow_in_slow_start_either() {
    let mut flow = Driver::new(Cubic::new(CubicParams::default(), &setup()).unwrap());
    flow.limit = Limit::Application;
    for _ in 0..100 {
        flow.send(3);
        flow.now += flow.rtt;
        flow.report(&[Fate::Acked; 3]);
    }
    assert_eq!(flow.packets(), 10);
    flow.limit = Limit::Window;
    flow.rounds(1);
    assert_eq!(flow.packets(), 20);
}

#[test]
fn a_spurious_loss_restores_window_plateau_and_epoch() {
    let mut flow = cubic(100);
    flow.lose_one();
    flow.rounds(20);
    let (window, epoch) = (flow.controller.window(), flow.controller.epoch.unwrap());
    flow.fill();
    flow.now += flow.rtt;
    let lost = flow.take(1);
    flow.feed(&Batch { lost: lost.clone(), ..Batch::default() });
    assert!(flow.controller.window() < window);
    flow.feed(&Batch { spurious: lost, ..Batch::default() });
    assert_eq!(flow.controller.window(), window);
    assert_eq!((gauge(&flow, "w_max"), gauge(&flow, "k"), gauge(&flow, "w_est")), (100.0, epoch.k, epoch.w_est));
    assert_eq!(flow.controller.epoch.unwrap().began, epoch.began);
    assert_eq!(flow.controller.state().ssthresh, Some(70_000));
}

#[test]
fn a_spurious_loss_known_after_the_window_outgrew_it_restores_nothing() {
    let mut flow = cubic(20);
    flow.fill();
    flow.now += flow.rtt;
    let lost = flow.take(1);
    flow.feed(&Batch { lost: lost.clone(), ..Batch::default() });
    flow.report(&[Fate::Acked; 19]);
    flow.rounds(40);
    let before = (flow.controller.window(), flow.controller.state().ssthresh);
    assert!(before.0 > 20_000);
    flow.feed(&Batch { spurious: lost, ..Batch::default() });
    assert_eq!((flow.controller.window(), flow.controller.state().ssthresh), before);
}

#[test]
fn undo_can_be_switched_off() {
    let mut flow = avoiding(100, CubicParams { undo: false, ..CubicParams::default() });
    flow.fill();
    flow.now += flow.rtt;
    let lost = flow.take(1);
    flow.feed(&Batch { lost: lost.clone(), ..Batch::default() });
    flow.feed(&Batch { spurious: lost, ..Batch::default() });
    assert_eq!(flow.packets(), 70);
}

#[test]
fn hystart_leaves_slow_start_before_any_loss_and_the_epoch_starts_there() {
    let mut flow = Driver::new(Cubic::new(CubicParams::default(), &setup()).unwrap());
    flow.rounds(3);
    assert_eq!(flow.packets(), 80);
    // A queue builds up: 20 ms more a round. 12.5 ms are the threshold at 100 ms.
    flow.rtt += Span::from_millis(20);
    flow.rounds(1);
    assert_eq!(flow.controller.state().phase, "conservative_slow_start");
    flow.rounds(5);
    let threshold = flow.controller.state().ssthresh.unwrap();
    assert!(threshold > 80_000 && threshold < 800_000, "{threshold}");
    assert_close(flow.controller.cwnd_prior.unwrap(), threshold as f64 / 1_000.0, 1e-12);
    flow.rounds(1);
    assert!(gauge(&flow, "k").abs() < f64::EPSILON);
}

#[test]
fn without_hystart_a_rising_rtt_changes_nothing() {
    let params = CubicParams { hystart: false, ..CubicParams::default() };
    let mut flow = Driver::new(Cubic::new(params, &setup()).unwrap());
    for _ in 0..6 {
        flow.rtt += Span::from_millis(50);
        flow.rounds(1);
    }
    assert_eq!((flow.packets(), flow.controller.state().phase), (640, "slow_start"));
}

#[test]
fn a_new_path_forgets_plateau_and_epoch() {
    let mut flow = cubic(100);
    flow.lose_one();
    flow.rounds(5);
    flow.signal(&Signal::PathChange { path: crate::PathId(0), change: PathChange::Migrated });
    let state = flow.controller.state();
    assert_eq!((flow.packets(), state.ssthresh, state.gauges().count()), (10, None, 0));
}

#[test]
fn a_new_path_has_a_first_slow_start_of_its_own() {
    let mut flow = Driver::new(Cubic::new(CubicParams::default(), &setup()).unwrap());
    flow.rounds(3);
    flow.rtt += Span::from_millis(20);
    flow.rounds(6);
    assert!(flow.controller.state().ssthresh.is_some(), "HyStart++ ended the one on the old path");
    flow.signal(&Signal::PathChange { path: crate::PathId(0), change: PathChange::Migrated });
    // An RTT that would be a rise, were it measured against the old path's.
    flow.rtt = Span::from_millis(200);
    flow.rounds(3);
    assert_eq!((flow.packets(), flow.controller.state().phase), (80, "slow_start"));
}

#[test]
fn cubes_of_any_time_and_windows_beyond_53_bits_stay_finite() {
    // (window bytes, seconds since the epoch began): 15 974 185 s overflow a 64-bit cube in nanosecond-like units.
    for window in [1, MTU, 1 << 53, (1 << 53) + 1, u64::MAX] {
        for seconds in [0, 1, 15_974_185, u64::MAX / 1_000_000_000] {
            let mut resumed = setup();
            resumed.handover = Some(Handover { window: Some(window), ssthresh: Some(1), ..Handover::default() });
            let mut flow = Driver::new(Cubic::new(CubicParams::default(), &resumed).unwrap());
            flow.send(3);
            flow.now += flow.rtt;
            flow.report(&[Fate::Lost, Fate::Acked]);
            flow.send(2);
            flow.now += flow.rtt;
            flow.report(&[Fate::Acked, Fate::Acked]);
            let before = flow.controller.window();
            flow.now += Span::from_secs(seconds);
            flow.report(&[Fate::Acked]);
            assert!(flow.controller.window() >= before, "{window} B, {seconds} s");
            assert!(flow.controller.state().gauges().all(|(_, value)| value.is_finite()));
        }
    }
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    let cases = [
        (CubicParams { beta: 0.0, ..CubicParams::default() }, "beta"),
        (CubicParams { c: 0.0, ..CubicParams::default() }, "c"),
        (CubicParams { c: f64::INFINITY, ..CubicParams::default() }, "c"),
        (CubicParams { initial_window: 0, ..CubicParams::default() }, "initial_window"),
        (CubicParams { min_window: 0, ..CubicParams::default() }, "min_window"),
    ];
    for (params, name) in cases {
        assert_eq!(Cubic::new(params, &setup()).unwrap_err().name, name);
    }
}
