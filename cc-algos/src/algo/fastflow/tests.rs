use super::*;
use crate::controller::{Limit, Oracle};
use crate::testing::{Batch, Driver, Fate, MTU, setup};
use crate::units::{Rate, Span};

/// Base RTT of 12 us at 100 Gb/s: a BDP of 150 packets. The target is 18 us, the largest window 225 packets.
const BASE: Span = Span::from_micros(12);

fn flow_of(packets: Option<u64>, params: FastFlowParams) -> Driver<FastFlow> {
    let mut told = setup();
    told.oracle = Some(Oracle { base_rtt: BASE, bottleneck: Rate::from_gbps(100) });
    told.handover = packets.map(|packets| Handover::of_window(packets * MTU));
    Driver::new(FastFlow::new(params, &told).unwrap())
}

/// A flow with a window of exactly `packets`.
fn running(packets: u64) -> Driver<FastFlow> {
    flow_of(Some(packets), FastFlowParams::default())
}

/// Ten packets come back in one batch with an RTT of `micros`.
fn ten(flow: &mut Driver<FastFlow>, micros: u64, fate: Fate) -> u64 {
    flow.send(10);
    flow.now += Span::from_micros(micros);
    flow.stretch = 10;
    flow.report(&[fate; 10]);
    flow.controller.window()
}

#[test]
fn the_four_cases_move_the_window_as_computed_by_hand() {
    // Unmarked at 15 us: 10 000 B (2 x 3/15 x 1000 B + 0.02 x 150 000 B) / 100 000 B = 340 B.
    assert_eq!(ten(&mut running(100), 15, Fate::Acked), 100_340);
    // Unmarked at 20 us: 10 000 B x 3000 B / 100 000 B = 300 B.
    assert_eq!(ten(&mut running(100), 20, Fate::Acked), 100_300);
    // Marked at 15 us: 10 000 B x 0.5 x 100/150.
    assert_eq!(ten(&mut running(100), 15, Fate::Marked), 96_667);
    // Marked at 36 us: 10 000 B x (18/36 + 0.5 x 100/150).
    assert_eq!(ten(&mut running(100), 36, Fate::Marked), 91_667);
    // Marked at 180 us: more than a packet a packet; it is cut off there.
    assert_eq!(ten(&mut running(100), 180, Fate::Marked), 90_000);
}

#[test]
fn nothing_decreases_while_the_mean_share_of_marks_is_at_most_a_quarter() {
    // Means after one, two and three marked packets: 0.125, 0.234, 0.330.
    let mut flow = running(100);
    flow.send(3);
    flow.now += Span::from_micros(15);
    flow.report(&[Fate::Marked; 2]);
    assert_eq!(flow.controller.window(), 100_000);
    flow.report(&[Fate::Marked]);
    assert_eq!(flow.controller.window(), 99_667);
}

#[test]
fn with_every_other_packet_marked_at_the_target_the_window_stands_at_a_fifth_of_the_product() {
    // (1 - p) fi B / W = p fd W / B at W = B sqrt((1 - p) fi / (p fd)) = 150 x sqrt(0.02 / 0.5) = 30 packets.
    for start in [10, 120] {
        let mut flow = running(start);
        flow.rtt = Span::from_micros(18);
        for _ in 0..3_000 {
            flow.round(|place| if place % 2 == 0 { Fate::Marked } else { Fate::Acked });
        }
        let packets = flow.controller.window() as f64 / 1_000.0;
        assert!((packets / 30.0 - 1.0).abs() < 0.1, "from {start}: {packets}");
    }
}

#[test]
fn a_queue_that_is_empty_for_a_window_is_filled_a_packet_a_packet() {
    let mut flow = running(20);
    for _ in 0..3 {
        ten(&mut flow, 12, Fate::Acked);
    }
    assert_eq!(flow.controller.state().phase, "fast_increase");
    let before = flow.controller.window();
    assert_eq!(ten(&mut flow, 12, Fate::Acked), before + 10 * MTU);
    assert!(ten(&mut flow, 15, Fate::Acked) < before + 11 * MTU);
    assert_eq!(flow.controller.state().phase, "congestion_avoidance");
}

fn trim(flow: &mut Driver<FastFlow>, packets: usize) {
    let lost = flow.take(packets);
    flow.feed(&Batch { lost, trimmed: true, ..Batch::default() });
}

#[test]
fn after_a_trim_the_window_becomes_what_a_target_rtt_brought() {
    let mut flow = running(100);
    flow.fill();
    flow.now += BASE;
    trim(&mut flow, 10);
    assert_eq!(flow.packets(), 90, "the first period begins");
    flow.now += Span::from_micros(5);
    flow.report(&[Fate::Acked; 6]);
    flow.now += Span::from_micros(14);
    trim(&mut flow, 1);
    assert_eq!((flow.packets(), flow.controller.state().phase), (6, "quick_adapt"));
    flow.report(&[Fate::Marked; 40]);
    trim(&mut flow, 20);
    assert_eq!(flow.packets(), 6, "what was in flight is ignored");
    flow.report(&[Fate::Marked; 23]);
    assert_ne!(flow.controller.state().phase, "quick_adapt");
}

#[test]
fn without_quick_adapt_a_trim_takes_its_bytes_and_no_more() {
    let mut flow = flow_of(Some(100), FastFlowParams { quick_adapt: false, ..FastFlowParams::default() });
    flow.fill();
    for expected in [99, 98, 97] {
        flow.now += Span::from_micros(30);
        trim(&mut flow, 1);
        assert_eq!(flow.packets(), expected);
    }
}

#[test]
fn an_oracle_gives_the_largest_window_and_else_it_doubles_until_the_target() {
    assert_eq!(flow_of(None, FastFlowParams::default()).packets(), 225);
    let mut flow = Driver::new(FastFlow::new(FastFlowParams::default(), &setup()).unwrap());
    flow.rtt = BASE;
    flow.rounds(3);
    assert_eq!((flow.packets(), flow.controller.state().phase), (80, "slow_start"));
    flow.rtt = Span::from_micros(18);
    flow.rounds(1);
    assert_eq!(flow.controller.state().phase, "congestion_avoidance");
}

#[test]
fn persistent_congestion_leaves_a_packet_and_unused_windows_do_not_grow() {
    let mut flow = running(100);
    flow.limit = Limit::Application;
    assert_eq!(ten(&mut flow, 12, Fate::Acked), 100_000);
    flow.send(10);
    flow.now += BASE;
    let lost = flow.take(10);
    flow.feed(&Batch { lost, persistent_congestion: Some(Span::from_secs(1)), ..Batch::default() });
    assert_eq!(flow.packets(), 1);
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    let default = FastFlowParams::default;
    let cases = [
        (FastFlowParams { target: 1.0, ..default() }, "target"),
        (FastFlowParams { proportional: -1.0, ..default() }, "proportional"),
        (FastFlowParams { fair_increase: 0.0, ..default() }, "fair_increase"),
        (FastFlowParams { fair_decrease: 1.1, ..default() }, "fair_decrease"),
        (FastFlowParams { multiplicative: f64::INFINITY, ..default() }, "multiplicative"),
        (FastFlowParams { fast: 5.0, ..default() }, "fast"),
        (FastFlowParams { wait: f64::NAN, ..default() }, "wait"),
        (FastFlowParams { average: 0.0, ..default() }, "average"),
        (FastFlowParams { initial_window: 0, ..default() }, "initial_window"),
        (FastFlowParams { min_window: 0, ..default() }, "min_window"),
    ];
    for (params, name) in cases {
        assert_eq!(FastFlow::new(params, &setup()).unwrap_err().name, name);
    }
}

/// Window in whole packets after each of 30 round trips: 16 us, marked 16 us, marked 30 us, trims in round 14, empty.
#[test]
fn the_window_over_queues_marks_and_trims_is_as_recorded() {
    let mut flow = running(60);
    let windows = (0..30).map(|round| {
        flow.rtt = Span::from_micros(match round {
            0..8 => 16,
            8..16 => 30,
            _ => 12,
        });
        let marked = (4..16).contains(&round);
        flow.fill();
        flow.now += flow.rtt;
        if round == 14 {
            trim(&mut flow, 1);
        }
        flow.report(&vec![if marked { Fate::Marked } else { Fate::Acked }; flow.in_flight.len()]);
        flow.packets().to_string()
    });
    insta::assert_snapshot!(windows.collect::<Vec<_>>().join(" "), @"63 66 69 72 57 47 40 35 18 10 6 3 2 1 1 1 2 4 7 14 28 56 112 224 225 225 225 225 225 225");
}
