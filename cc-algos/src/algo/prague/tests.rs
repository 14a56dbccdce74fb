use std::cell::Cell;

use super::*;
use crate::controller::Limit;
use crate::testing::{Batch, Bottleneck, Driver, Fate, MTU, setup};

/// A flow past slow start with a window of exactly `packets`.
fn avoiding(packets: u64, params: PragueParams) -> Driver<Prague> {
    let mut resumed = setup();
    resumed.handover =
        Some(Handover { window: Some(packets * MTU), ssthresh: Some(packets * MTU), ..Handover::default() });
    Driver::new(Prague::new(params, &resumed).unwrap())
}

fn alpha(flow: &Driver<Prague>) -> f64 {
    flow.controller.marking.unwrap().alpha
}

fn assert_close(value: f64, expected: f64, share: f64) {
    assert!((value - expected).abs() <= share * expected.abs(), "{value} is not within {share} of {expected}");
}

/// Mean window in packets over the second half of `rounds` round trips in which one packet in `every` is marked.
fn mean_window(flow: &mut Driver<Prague>, every: u64, rounds: usize) -> f64 {
    let count = Cell::new(0);
    let mut sum = 0.0;
    for round in 0..rounds {
        flow.round(|_| {
            count.set(count.get() + 1);
            if u64::is_multiple_of(count.get(), every) { Fate::Marked } else { Fate::Acked }
        });
        if round >= rounds / 2 {
            sum += flow.controller.window() as f64 / MTU as f64 / (rounds - rounds / 2) as f64;
        }
    }
    sum
}

#[test]
fn two_marks_a_round_trip_hold_the_window_at_any_rate() {
    // 1 - p packets of increase a round trip and p cwnd / 2 of decrease: cwnd = 2 (1 - p) / p.
    for every in [20, 50, 200] {
        let expected = 2.0 * (every - 1) as f64;
        let mut flow = avoiding(expected as u64, PragueParams::default());
        assert_close(mean_window(&mut flow, every, 4_000), expected, 0.05);
    }
}

#[test]
fn rtts_below_the_reference_get_the_same_rate() {
    // cwnd / srtt = 2 (1 - p) / (p rtt_ref), which for p = 1 / 100 and 25 ms is 198 packets per 25 ms.
    for millis in [2, 5, 25] {
        let expected = 198.0 * millis as f64 / 25.0;
        let mut flow = avoiding(expected as u64, PragueParams { transition: 0, ..PragueParams::default() });
        flow.rtt = Span::from_millis(millis);
        assert_close(mean_window(&mut flow, 100, 20_000), expected, 0.1);
    }
    let mut above = avoiding(198, PragueParams { transition: 0, ..PragueParams::default() });
    above.rtt = Span::from_millis(100);
    assert_close(mean_window(&mut above, 100, 2_000), 198.0, 0.05);
}

#[test]
fn young_flows_depend_on_their_rtt() {
    let mut flow = avoiding(50, PragueParams { transition: 20, ..PragueParams::default() });
    flow.rtt = Span::from_millis(5);
    flow.rounds(20);
    assert!((69..=70).contains(&flow.packets()), "a packet a round trip: {}", flow.packets());
    // Then one in M^2 = 25 round trips.
    flow.rounds(50);
    assert!((71..=72).contains(&flow.packets()), "{}", flow.packets());
}

#[test]
fn alpha_waits_for_the_first_mark_and_then_moves_by_a_sixteenth_a_round_trip() {
    let mut flow = avoiding(100, PragueParams::default());
    flow.stretch = 100;
    flow.rounds(10);
    assert!(flow.controller.marking.is_none());
    flow.round(|_| Fate::Marked);
    // The round ends with that batch: 10 of its rounds were clean, this one is all marked.
    assert_close(alpha(&flow), 1.0, 0.07);
    let begin = alpha(&flow);
    flow.rounds(16);
    assert_close(alpha(&flow), begin * (15.0_f64 / 16.0).powi(16), 0.01);
}

#[test]
fn a_share_of_one_in_four_thousand_is_neither_lost_nor_rounded_up() {
    // Linux DCTCP's ten bits stuck at 15 / 1024, or fell to zero (draft, "Moving Average of ECN Feedback").
    let mut flow = avoiding(4_000, PragueParams::default());
    flow.limit = Limit::Application;
    for _ in 0..200 {
        flow.send(4_000);
        flow.now += flow.rtt;
        let fates: Vec<_> = (0..4_000).map(|place| if place == 0 { Fate::Marked } else { Fate::Acked }).collect();
        flow.report(&fates);
    }
    assert_close(alpha(&flow), 1.0 / 4_000.0, 0.05);
}

#[test]
fn a_mark_takes_half_of_alpha_once_a_round_trip_and_ends_slow_start() {
    let mut flow = Driver::new(Prague::new(PragueParams::default(), &setup()).unwrap());
    flow.rounds(2);
    assert_eq!((flow.packets(), flow.controller.state().phase), (40, "slow_start"));
    flow.fill();
    flow.now += flow.rtt;
    flow.report(&[Fate::Marked; 20]);
    assert!((19..=22).contains(&flow.packets()), "alpha is hardly below 1: {}", flow.packets());
    assert_eq!(flow.controller.state().phase, "congestion_avoidance");
}

#[test]
fn unmarked_packets_grow_the_window_also_after_a_reduction_and_marked_ones_do_not() {
    let mut flow = avoiding(100, PragueParams { alpha: 0.0, ..PragueParams::default() });
    flow.round(|place| if place % 2 == 0 { Fate::Marked } else { Fate::Acked });
    // A reduction by alpha / 2 = 0, or by a hundredth or two once alpha has moved, and half a packet of increase.
    let window = flow.controller.window();
    assert!((98_400..=100_500).contains(&window), "{window}");
    let mut all = avoiding(100, PragueParams { alpha: 0.0, ..PragueParams::default() });
    all.fill();
    all.now += all.rtt;
    all.report(&[Fate::Marked; 50]);
    assert_eq!(all.packets(), 100);
}

#[test]
fn a_loss_halves_also_after_a_mark_of_the_same_flight_but_not_the_other_way_round() {
    let mut lost = avoiding(100, PragueParams { alpha: 0.2, ..PragueParams::default() });
    lost.round(|place| if place < 3 { Fate::Lost } else { Fate::Acked });
    assert_eq!(lost.packets(), 50);
    let mut after = avoiding(100, PragueParams { alpha: 0.2, ..PragueParams::default() });
    after.round(|place| match place {
        10 => Fate::Marked,
        50 | 60 => Fate::Lost,
        _ => Fate::Acked,
    });
    assert_eq!(after.packets(), 45, "100 x 0.9 / 2");
    let mut before = avoiding(100, PragueParams { alpha: 0.2, ..PragueParams::default() });
    before.round(|place| match place {
        10 => Fate::Lost,
        50 | 60 => Fate::Marked,
        _ => Fate::Acked,
    });
    assert_eq!(before.packets(), 50);
}

#[test]
fn a_spurious_loss_is_undone() {
    let mut flow = avoiding(100, PragueParams::default());
    flow.fill();
    flow.now += flow.rtt;
    let lost = flow.take(1);
    flow.feed(&Batch { lost: lost.clone(), ..Batch::default() });
    assert_eq!(flow.packets(), 50);
    flow.feed(&Batch { spurious: lost, ..Batch::default() });
    assert_eq!(flow.packets(), 100);
}

#[test]
fn it_paces_at_the_window_per_round_trip_in_bursts_of_a_quarter_millisecond() {
    let mut flow = avoiding(1_000, PragueParams::default());
    flow.rounds(1);
    let rate = flow.controller.pacing_rate().unwrap().as_bps() as f64;
    assert_close(rate, 1_001.0 * 8_000.0 * 10.0, 0.002);
    // 80 Mb/s for 250 us are 2 500 B.
    assert_close(flow.controller.send_quantum().unwrap() as f64, 2_502.0, 0.01);
    let mut young = Driver::new(Prague::new(PragueParams::default(), &setup()).unwrap());
    young.rounds(1);
    assert_close(young.controller.pacing_rate().unwrap().as_bps() as f64, 2.0 * 20.0 * 80_000.0, 0.01);
    assert_eq!((young.controller.send_quantum(), young.controller.ecn()), (Some(MTU), Ecn::Ect1));
}

#[test]
fn the_pacing_rate_never_falls_as_slow_start_grows_the_window() {
    let mut resumed = setup();
    resumed.handover = Some(Handover { window: Some(4 * MTU), ssthresh: Some(40 * MTU), ..Handover::default() });
    let mut flow = Driver::new(Prague::new(PragueParams::default(), &resumed).unwrap());
    let mut former = 0;
    for _ in 0..60 {
        flow.send(1);
        flow.now += flow.rtt;
        flow.report(&[Fate::Acked]);
        let rate = flow.controller.pacing_rate().unwrap().as_bps();
        assert!(rate >= former, "{rate} after {former} at {} packets", flow.packets());
        former = rate;
    }
    assert_eq!((flow.packets(), flow.controller.state().phase), (40, "congestion_avoidance"));
}

#[test]
fn a_mark_soon_after_a_loss_is_answered_where_it_is_of_a_packet_sent_since() {
    // RTT_ref of 25 ms holds marks apart, and not a mark from a loss.
    let mut flow = avoiding(100, PragueParams { transition: 0, alpha: 1.0, ..PragueParams::default() });
    flow.rtt = Span::from_millis(5);
    flow.rounds(1);
    flow.round(|place| if place == 0 { Fate::Lost } else { Fate::Acked });
    let before = flow.packets();
    flow.round(|_| Fate::Marked);
    assert!(flow.packets() <= before / 2 + 4, "{before} {}", flow.packets());
}

#[test]
fn a_new_path_forgets_alpha_and_the_age_of_the_flow() {
    let mut flow = avoiding(100, PragueParams { transition: 5, ..PragueParams::default() });
    flow.rounds(10);
    flow.round(|_| Fate::Marked);
    flow.signal(&Signal::PathChange { path: crate::PathId(0), change: PathChange::Migrated });
    assert_eq!((flow.packets(), flow.controller.state().ssthresh), (10, None));
    assert!(flow.controller.marking.is_none() && flow.controller.avoiding == 0);
}

#[test]
fn window_and_rate_over_time_are_as_recorded() {
    let mut path = Bottleneck::new(Prague::new(PragueParams::default(), &setup()).unwrap(), Span::from_millis(20), 50);
    path.mark_from = 5;
    insta::assert_snapshot!(path.curve(Span::from_millis(50), 40), @"8@3136 10@4086 13@5185 15@5933 18@7070 19@7835 22@8936 24@9681 27@10765 29@11564 32@12608 34@13469 36@14772 39@15389 41@16704 44@17317 46@18650 49@19252 51@20607 53@20727 54@19938 53@19409 54@20740 52@20201 54@20698 51@20370 54@20489 51@18720 53@20548 55@20635 52@20606 54@20707 51@20285 54@20411 51@18687 53@20435 55@20531 52@20482 54@20592 51@18753");
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    let default = PragueParams::default;
    let cases = [
        (PragueParams { g: 0.0, ..default() }, "g"),
        (PragueParams { alpha: f64::NAN, ..default() }, "alpha"),
        (PragueParams { kept: 1.0, ..default() }, "kept"),
        (PragueParams { initial_window: 0, ..default() }, "initial_window"),
        (PragueParams { min_window: 0, ..default() }, "min_window"),
    ];
    for (params, name) in cases {
        assert_eq!(Prague::new(params, &setup()).unwrap_err().name, name);
    }
}
