use super::*;
use crate::controller::Limit;
use crate::testing::{Batch, Bottleneck, Driver, Fate, MTU, setup};

const BASE: Span = Span::from_millis(100);

fn vegas(params: VegasParams) -> Vegas {
    Vegas::new(params, &setup()).unwrap()
}

/// A flow past slow start with a window of `packets` on a path of fixed delay.
fn avoiding(packets: u64) -> Driver<Vegas> {
    let mut resumed = setup();
    resumed.handover =
        Some(Handover { window: Some(packets * MTU), ssthresh: Some(packets * MTU), ..Handover::default() });
    Driver::new(Vegas::new(VegasParams::default(), &resumed).unwrap())
}

/// A path that holds 50 packets.
fn path(params: VegasParams) -> Bottleneck<Vegas> {
    Bottleneck::new(vegas(params), BASE, 50)
}

#[test]
fn a_flow_alone_keeps_alpha_to_beta_packets_in_the_queue() {
    // Packets in the queue are the window less the product, 50 packets: diff = cwnd (rtt - base) / rtt with
    // rtt = base x cwnd / 50. Slow start overshoots, so beta holds it; after a loss it comes from below, so alpha does.
    for (alpha, beta) in [(2.0, 4.0), (1.0, 3.0), (10.0, 20.0)] {
        let mut path = path(VegasParams { alpha, beta, ..VegasParams::default() });
        path.run(Span::from_secs(20), |_| {});
        let above = path.flow.packets() - 50;
        assert!((alpha as u64..=beta as u64 + 1).contains(&above), "{above} of {alpha} to {beta}");
        path.run(Span::from_secs(5), |path| assert_eq!(path.flow.packets(), 50 + above, "it stays there"));
        // The packet in service counts with the base RTT, the smallest of a round with its front: 2 % in all.
        assert!((path.flow.controller.diff / above as f64 - 1.0).abs() < 0.02, "{}", path.flow.controller.diff);
    }
}

#[test]
fn one_packet_a_round_trip_up_without_a_queue_and_down_with_too_long_a_one() {
    let mut flow = avoiding(20);
    // The first flight is only measured.
    flow.rounds(11);
    assert_eq!(flow.packets(), 30);
    // 30 x 20 / 120 = 5 packets are above beta, 29 x 20 / 120 = 4.83 too, and so on down to 24 packets, where it is 4.
    flow.rtt = Span::from_millis(120);
    flow.rounds(1);
    assert_eq!(flow.packets(), 31, "this flight ends the round of the last one, which found no queue");
    flow.rounds(1);
    assert_eq!(flow.packets(), 30);
    flow.rounds(20);
    assert_eq!(flow.packets(), 24);
    // 24 x 5 / 105 = 1.14 packets are below alpha; at 42 packets it is 2.
    flow.rtt = Span::from_millis(105);
    flow.rounds(40);
    assert_eq!(flow.packets(), 42);
}

#[test]
fn acknowledging_ten_packets_at_once_changes_nothing() {
    let run = |stretch| {
        let mut flow = avoiding(20);
        flow.stretch = stretch;
        flow.rounds(30);
        flow.packets()
    };
    assert_eq!(run(1), run(10));
}

#[test]
fn one_or_two_samples_a_round_tell_of_no_queue() {
    // An ACK for all that is in flight may have been held back; 20 packets in four ACKs were not.
    let run = |stretch| {
        let mut flow = avoiding(20);
        flow.stretch = stretch;
        flow.rounds(2);
        flow.rtt = BASE + BASE;
        let before = flow.packets();
        flow.rounds(6);
        flow.packets() as i64 - before as i64
    };
    assert!(run(30) > 0, "{}", run(30));
    assert!(run(5) < 0, "{}", run(5));
}

#[test]
fn slow_start_doubles_in_every_other_round_trip() {
    let mut flow = Driver::new(vegas(VegasParams::default()));
    let mut windows = Vec::new();
    for _ in 0..8 {
        flow.rounds(1);
        windows.push(flow.packets());
    }
    // The round ends with the first acknowledgement of the next flight, which still grows the window by its packet.
    assert_eq!(windows.len(), 8);
    for pair in windows.chunks(2) {
        assert!(pair[1] - pair[0] <= 1, "{windows:?}");
    }
    assert!((145..=170).contains(&windows[7]), "10 x 2^4 = 160 after eight round trips: {windows:?}");
}

#[test]
fn slow_start_ends_with_the_window_that_the_path_holds_and_one() {
    let mut path = path(VegasParams::default());
    let mut left = None;
    path.run(Span::from_secs(3), |path| {
        if left.is_none() && !path.flow.controller.window.in_slow_start() {
            left = Some(path.flow.packets());
        }
    });
    // 10, 20, 40, 80: of 80 packets 30 stand in the queue, so the rate is that of 50.
    assert!(left.is_some_and(|packets| (50..=52).contains(&packets)), "{left:?}");
}

#[test]
fn a_loss_or_a_mark_halves_once_a_round_trip() {
    let mut lost = avoiding(40);
    lost.round(|place| if place % 10 == 0 { Fate::Lost } else { Fate::Acked });
    assert_eq!((lost.packets(), lost.controller.state().ssthresh), (20, Some(20_000)));
    let mut marked = avoiding(40);
    marked.round(|_| Fate::Marked);
    assert_eq!(marked.packets(), 20);
    marked.rounds(2);
    assert_eq!(marked.packets(), 21, "a whole round trip is measured before the window moves again");
}

#[test]
fn the_slower_of_two_laws_gives_way_when_the_queue_is_not_its_own() {
    // Somebody else keeps 20 ms of queue: 40 x 20 / 120 = 6.7 packets are not Vegas' own, and yet it shrinks to 24.
    let mut flow = avoiding(40);
    flow.rounds(1);
    flow.rtt = Span::from_millis(120);
    flow.rounds(40);
    assert_eq!(flow.packets(), 24);
}

#[test]
fn a_longer_route_looks_like_a_queue_until_the_path_is_known_to_be_new() {
    let mut flow = avoiding(40);
    flow.rounds(1);
    flow.rtt = Span::from_millis(200);
    flow.rounds(60);
    assert_eq!(flow.packets(), 8, "8 x 100 / 200 = 4");
    flow.signal(&Signal::PathChange { path: crate::PathId(0), change: PathChange::Migrated });
    assert_eq!((flow.packets(), flow.controller.state().phase), (10, "slow_start"));
    flow.rounds(4);
    assert!(flow.packets() >= 38, "{}", flow.packets());
}

#[test]
fn persistent_congestion_collapses_to_the_minimum_and_slow_starts() {
    let mut flow = avoiding(40);
    flow.fill();
    flow.now += flow.rtt;
    let lost = flow.take(40);
    flow.feed(&Batch { lost, persistent_congestion: Some(Span::from_secs(1)), ..Batch::default() });
    assert_eq!((flow.packets(), flow.controller.state().phase), (2, "slow_start"));
    flow.rounds(9);
    assert!(flow.packets() >= 20, "{}", flow.packets());
}

#[test]
fn a_limited_application_moves_nothing_either_way() {
    let mut flow = avoiding(40);
    flow.rounds(1);
    flow.limit = Limit::Application;
    flow.rtt = Span::from_millis(150);
    let before = flow.packets();
    for _ in 0..20 {
        flow.send(3);
        flow.now += flow.rtt;
        flow.report(&[Fate::Acked; 3]);
    }
    assert_eq!(flow.packets(), before);
}

#[test]
fn window_over_time_is_as_recorded() {
    let mut path = path(VegasParams::default());
    path.capacity = 20;
    insta::assert_snapshot!(path.curve(Span::from_millis(200), 40), @"21@0 42@0 21@0 22@0 24@0 26@0 28@0 30@0 32@0 34@0 36@0 38@0 40@0 42@0 44@0 46@0 48@0 50@0 52@0 53@0 53@0 53@0 53@0 53@0 53@0 53@0 53@0 53@0 53@0 53@0 53@0 53@0 53@0 53@0 53@0 53@0 53@0 53@0 53@0 53@0");
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    let default = VegasParams::default;
    let cases = [
        (VegasParams { alpha: -1.0, ..default() }, "alpha"),
        (VegasParams { beta: 1.0, ..default() }, "beta"),
        (VegasParams { gamma: f64::NAN, ..default() }, "gamma"),
        (VegasParams { kept: 1.0, ..default() }, "kept"),
        (VegasParams { initial_window: 0, ..default() }, "initial_window"),
        (VegasParams { min_window: 0, ..default() }, "min_window"),
    ];
    for (params, name) in cases {
        assert_eq!(Vegas::new(params, &setup()).unwrap_err().name, name);
    }
}
