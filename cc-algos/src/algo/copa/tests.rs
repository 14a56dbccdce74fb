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
        let (mut sum, mut samples, mut least, mut mistaken) = (0.0, 0.0, u64::MAX, 0.0);
        path.run(Span::from_secs(20), |path| {
            sum += path.queue() as f64;
            samples += 1.0;
            least = least.min(path.queue());
            if path.flow.controller.state().phase != "default" {
                mistaken += 1.0;
            }
        });
        let mean = sum / samples * delta;
        assert!((0.7..1.9).contains(&mean), "delta {delta}: {mean} / delta packets");
        // When RTT_min of ten seconds ago is forgotten, the queue may seem never to empty for a moment.
        assert!(mistaken < 0.05 * samples, "delta {delta}: competes in {mistaken} of {samples}");
        assert!(least <= 1, "delta {delta}: never fewer than {least} packets");
    }
}

#[test]
fn the_velocity_doubles_from_the_second_round_trip_in_one_direction_or_a_later_one() {
    // A step is v / delta = 2 v packets a window. The last packet of a flight finds a window that has grown since, hence a
    // little less. A window ends with the first packet of the next flight.
    for (steady_rounds, velocities) in [(2, [1_u64, 1, 2, 4, 8, 16]), (3, [1, 1, 1, 2, 4, 8])] {
        let mut flow = avoiding(100, CopaParams { steady_rounds, ..default_mode() });
        for velocity in velocities {
            let before = flow.packets();
            flow.rounds(1);
            let step = flow.packets() - before;
            assert!((2 * velocity - velocity.div_ceil(4)..=2 * velocity).contains(&step), "{velocity}: {step}");
        }
        // 30 ms of queue turn it: 2.5 packets would do. The velocity is 1 again at once.
        flow.rtt = BASE + Span::from_millis(30);
        let before = flow.packets();
        flow.rounds(1);
        assert!(before - flow.packets() <= 2, "{before} {}", flow.packets());
    }
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
fn losses_of_a_third_of_all_packets_take_three_tenths_of_the_window_in_any_mode() {
    let lose = |every: usize| {
        let mut flow = avoiding(40, default_mode());
        flow.rounds(1);
        let before = flow.controller.window();
        flow.round(|place| if place % every == 0 { Fate::Lost } else { Fate::Acked });
        flow.controller.window() as f64 / before as f64
    };
    assert!((0.69..0.75).contains(&lose(2)), "{}", lose(2));
    assert!(lose(5) > 0.99, "{}", lose(5));
}

#[test]
fn a_loss_changes_delta_from_the_next_acknowledgement_on() {
    // Competing, with a large 1 / delta and too long a queue: the step down that comes with the loss is the one without it.
    let step = |fates: &[Fate]| {
        let mut flow = competing(40);
        flow.rtt = BASE + Span::from_millis(400);
        flow.rounds(2);
        flow.fill();
        flow.now += flow.rtt;
        flow.report(fates);
        flow.controller.window()
    };
    assert!(step(&[Fate::Lost, Fate::Acked]) <= step(&[Fate::Acked, Fate::Acked]));
}

#[test]
fn a_smallest_rtt_is_remembered_for_twenty_round_trips_where_these_are_long() {
    let mut flow = avoiding(4, default_mode());
    flow.rtt = Span::from_secs(3);
    flow.rounds(1);
    flow.rtt = Span::from_secs(6);
    flow.rounds(8);
    assert_eq!(flow.controller.min_rtt.get(), Some(Span::from_secs(3)), "48 s later");
    flow.rounds(4);
    assert_eq!(flow.controller.min_rtt.get(), Some(Span::from_secs(6)));
}

#[test]
fn a_batch_means_what_its_packets_mean_one_after_the_other() {
    let run = |stretch| {
        let mut path = avoiding(40, default_mode());
        path.stretch = stretch;
        path.rounds(1);
        path.rtt = BASE + Span::from_millis(6);
        path.rounds(6);
        path.packets()
    };
    assert!(run(1).abs_diff(run(10)) <= 2, "{} {}", run(1), run(10));
}

#[test]
fn an_unused_window_is_not_worn_down_by_steps_around_the_target() {
    // 24 packets / 104 ms are the target at 1 / (2 x ...): the window of each batch swings around it.
    let mut flow = avoiding(52, default_mode());
    flow.rounds(1);
    flow.rtt = BASE + Span::from_millis(4);
    flow.limit = Limit::Application;
    let before = flow.packets();
    flow.stretch = 10;
    flow.rounds(20);
    assert!(before - flow.packets() <= 4, "{before} {}", flow.packets());
}

#[test]
fn window_and_rate_over_time_are_as_recorded() {
    let mut path = Bottleneck::new(Copa::new(CopaParams::default(), &setup()).unwrap(), BASE, 50);
    insta::assert_snapshot!(path.curve(Span::from_millis(200), 40), @"21@3360 73@11818 72@7911 63@7210 26@4179 30@4869 37@6053 54@8734 52@7800 53@8509 52@7982 52@8473 53@8016 52@8272 53@8051 52@8296 54@8194 51@7922 54@8403 51@7868 54@8437 51@7708 54@8580 51@7744 54@8546 51@7780 54@8512 51@7815 53@8466 52@7717 53@8588 52@7762 53@8541 52@7808 53@8493 53@8001 52@8280 53@8047 52@8232 53@8093");
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    let default = CopaParams::default;
    let cases = [
        (CopaParams { delta: 0.0, ..default() }, "delta"),
        (CopaParams { delta: f64::NAN, ..default() }, "delta"),
        (CopaParams { steady_rounds: 0, ..default() }, "steady_rounds"),
        (CopaParams { initial_window: 0, ..default() }, "initial_window"),
        (CopaParams { min_window: 0, ..default() }, "min_window"),
    ];
    for (params, name) in cases {
        assert_eq!(Copa::new(params, &setup()).unwrap_err().name, name);
    }
}
