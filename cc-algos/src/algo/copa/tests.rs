use super::*;
use crate::controller::Limit;
use crate::testing::{Batch, Bottleneck, Driver, Fate, MTU, setup};

const BASE: Span = Span::from_millis(100);

fn default_mode() -> CopaParams {
    CopaParams { mode_switching: false, ..CopaParams::default() }
}

/// A flow past slow start with a window of `packets` on a path of fixed delay, which it has measured.
fn avoiding(packets: u64, params: CopaParams) -> Driver<Copa> {
    let mut resumed = setup();
    resumed.handover = Some(Handover { window: Some(packets * MTU), ssthresh: Some(MTU), ..Handover::default() });
    let mut flow = Driver::new(Copa::new(params, &resumed).unwrap());
    flow.rtt = BASE;
    flow
}

#[test]
fn where_the_queue_is_not_its_own_the_rate_is_one_by_delta_and_its_delay() {
    // lambda = cwnd / RTT = 1 / (delta d_q): cwnd = RTT / (delta d_q), to within the step of 1 / delta packets.
    for (delta, queueing, packets) in [(0.5, 20, 12.0), (0.5, 5, 42.0), (0.1, 20, 60.0), (1.0, 50, 3.0)] {
        let mut flow = avoiding(20, CopaParams { delta, ..default_mode() });
        flow.rounds(1);
        flow.rtt = BASE + Span::from_millis(queueing);
        // RTT_min is remembered for ten seconds.
        flow.rounds(35);
        let mut sum = 0.0;
        for _ in 0..25 {
            flow.rounds(1);
            sum += flow.controller.window() as f64 / MTU as f64 / 25.0;
        }
        assert!((sum - packets).abs() <= 1.0 / delta, "delta {delta}, {queueing} ms: {sum} instead of {packets}");
    }
}

#[test]
fn alone_it_keeps_about_one_by_delta_packets_in_the_queue_and_empties_it_in_each_cycle() {
    for delta in [0.5, 0.25, 0.1] {
        let controller = Copa::new(CopaParams { delta, ..CopaParams::default() }, &setup()).unwrap();
        let mut path = Bottleneck::new(controller, BASE, 100);
        path.run(Span::from_secs(10), |_| {});
        let (mut sum, mut samples, mut least) = (0.0, 0.0, u64::MAX);
        path.run(Span::from_secs(20), |path| {
            sum += path.queue() as f64;
            samples += 1.0;
            least = least.min(path.queue());
            assert_eq!(path.flow.controller.state().phase, "default");
        });
        let mean = sum / samples * delta;
        assert!((0.7..1.9).contains(&mean), "delta {delta}: {mean} / delta packets");
        assert!(least <= 1, "delta {delta}: never fewer than {least} packets");
    }
}

#[test]
fn the_velocity_doubles_only_after_three_round_trips_in_one_direction() {
    // A step is v / delta = 2 v packets a window.
    let mut flow = avoiding(100, default_mode());
    let mut windows = vec![flow.packets()];
    for _ in 0..8 {
        flow.rounds(1);
        windows.push(flow.packets());
    }
    let steps: Vec<_> = windows.windows(2).map(|pair| pair[1] - pair[0]).collect();
    // The last packet of a flight finds a window that has grown since, hence a little less. A window ends with the first
    // packet of the next flight.
    assert!(steps[..3].iter().all(|step| (1..=2).contains(step)), "{steps:?}");
    assert!((3..=4).contains(&steps[3]) && (6..=8).contains(&steps[4]), "{steps:?}");
    assert!((12..=16).contains(&steps[5]), "{steps:?}");
    // 30 ms of queue turn it: 2.5 packets would do. The velocity is 1 again at once.
    flow.rtt = BASE + Span::from_millis(30);
    let before = flow.packets();
    flow.rounds(1);
    assert!(before - flow.packets() <= 2, "{before} {}", flow.packets());
}

#[test]
fn the_velocity_never_moves_more_than_a_window_in_a_round_trip() {
    let mut flow = avoiding(10, default_mode());
    for _ in 0..14 {
        let before = flow.packets();
        flow.rounds(1);
        assert!(flow.packets() <= 2 * before + 1, "{before} {}", flow.packets());
    }
    assert!(flow.packets() > 1_000, "and yet it grows exponentially: {}", flow.packets());
}

#[test]
fn slow_start_doubles_until_the_target_rate_is_exceeded() {
    let mut flow = Driver::new(Copa::new(CopaParams::default(), &setup()).unwrap());
    flow.rounds(3);
    assert_eq!((flow.packets(), flow.controller.state().phase), (80, "slow_start"));
    // 80 packets / 104 ms exceed 1 / (0.5 x 4 ms) = 500 packets a second; at 2 ms, 1 000, they do not.
    flow.rtt = BASE + Span::from_millis(2);
    flow.fill();
    flow.now += flow.rtt;
    flow.report(&[Fate::Acked]);
    assert_eq!(flow.controller.state().phase, "slow_start");
    flow.rtt = BASE + Span::from_millis(4);
    flow.now += Span::from_millis(60);
    flow.report(&[Fate::Acked]);
    assert_eq!(flow.controller.state().phase, "default");
}

/// A flow in competitive mode after `rounds` round trips with a queue that never empties.
fn competing(rounds: usize) -> Driver<Copa> {
    let mut flow = avoiding(20, CopaParams::default());
    flow.rounds(2);
    flow.rtt = BASE + Span::from_millis(50);
    flow.rounds(rounds);
    flow
}

fn inverse_delta(flow: &Driver<Copa>) -> f64 {
    1.0 / flow.controller.delta()
}

#[test]
fn a_queue_that_does_not_empty_for_five_round_trips_is_competed_for() {
    assert_eq!(competing(5).controller.state().phase, "default");
    let mut flow = competing(8);
    assert_eq!(flow.controller.state().phase, "competitive");
    flow.rtt = BASE + Span::from_millis(5);
    // A tenth of the swing of 50 ms is nearly empty.
    flow.rounds(1);
    assert_eq!(flow.controller.state().phase, "default");
    assert!((inverse_delta(&flow) - 2.0).abs() < 1e-9);
}

#[test]
fn competing_it_moves_one_by_delta_up_by_one_a_round_trip_and_halves_it_on_loss() {
    let mut flow = competing(8);
    let begin = inverse_delta(&flow);
    flow.rounds(10);
    assert!((inverse_delta(&flow) - begin - 10.0).abs() < 1e-9, "{begin} {}", inverse_delta(&flow));
    flow.fill();
    flow.now += flow.rtt;
    flow.report(&[Fate::Acked]);
    let before = inverse_delta(&flow);
    flow.report(&[Fate::Lost, Fate::Lost]);
    assert!((inverse_delta(&flow) - before / 2.0).abs() < 1e-9, "once a round trip");
    for _ in 0..20 {
        flow.lose_one();
    }
    assert!((inverse_delta(&flow) - 2.0).abs() < 1e-9, "delta is at most that of default mode");
}

#[test]
fn losses_in_default_mode_move_nothing() {
    let run = |lost: bool| {
        let mut flow = avoiding(40, CopaParams::default());
        for _ in 0..10 {
            flow.round(|place| if lost && place == 20 { Fate::Lost } else { Fate::Acked });
        }
        flow.controller.window()
    };
    // A lost packet is one acknowledgement less to grow on.
    assert!(run(true) <= run(false) && run(true) * 10 > run(false) * 9);
}

#[test]
fn packets_are_paced_at_twice_the_window_per_round_trip() {
    let mut flow = avoiding(50, CopaParams::default());
    flow.rounds(1);
    let expected = flow.controller.window() * 16 * 10;
    let rate = flow.controller.pacing_rate().unwrap().as_bps();
    assert!(rate.abs_diff(expected) <= expected / 1_000, "{rate} instead of {expected}");
    assert_eq!(flow.controller.ecn(), Ecn::NotEct);
}

#[test]
fn persistent_congestion_collapses_to_the_minimum_and_the_velocity_leads_out_of_it() {
    let mut flow = avoiding(100, CopaParams::default());
    flow.fill();
    flow.now += flow.rtt;
    let lost = flow.take(100);
    flow.feed(&Batch { lost, persistent_congestion: Some(Span::from_secs(1)), ..Batch::default() });
    assert_eq!(flow.packets(), 2);
    flow.rounds(14);
    assert!(flow.packets() > 100, "{}", flow.packets());
}

#[test]
fn a_limited_application_lets_nothing_grow() {
    let mut flow = avoiding(40, CopaParams::default());
    flow.limit = Limit::Application;
    flow.rounds(20);
    assert_eq!(flow.packets(), 40);
}

#[test]
fn a_new_path_is_measured_anew() {
    let mut flow = competing(20);
    flow.signal(&Signal::PathChange { path: crate::PathId(0), change: PathChange::Migrated });
    assert_eq!((flow.packets(), flow.controller.state().phase), (10, "slow_start"));
    flow.rounds(3);
    assert_eq!(flow.packets(), 80, "the longer delay is the base of the new path");
}

#[test]
fn window_and_rate_over_time_are_as_recorded() {
    let mut path = Bottleneck::new(Copa::new(CopaParams::default(), &setup()).unwrap(), BASE, 50);
    insta::assert_snapshot!(path.curve(Span::from_millis(200), 40), @"21@3360 73@11818 72@7993 68@7620 54@6726 30@4843 34@5460 40@6418 57@8807 55@7841 52@7729 53@8535 53@7898 51@8237 54@8402 51@7867 54@8613 51@7719 54@8567 51@7766 54@8522 51@7813 54@8476 52@7715 53@8598 52@7749 53@8563 52@7784 53@8527 52@7818 53@8325 53@8000 53@8376 53@7993 51@7975 54@8347 51@7928 54@8381 51@7893 54@8415");
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    let default = CopaParams::default;
    let cases = [
        (CopaParams { delta: 0.0, ..default() }, "delta"),
        (CopaParams { delta: f64::NAN, ..default() }, "delta"),
        (CopaParams { initial_window: 0, ..default() }, "initial_window"),
        (CopaParams { min_window: 0, ..default() }, "min_window"),
    ];
    for (params, name) in cases {
        assert_eq!(Copa::new(params, &setup()).unwrap_err().name, name);
    }
}
