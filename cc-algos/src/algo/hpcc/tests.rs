use super::*;
use crate::controller::{Limit, Oracle};
use crate::testing::{Driver, Fate, assert_near, hop, setup};

/// 100 Gb/s and 10 us: 125 000 bytes, and 62.5 bytes of additive growth.
const BASE: Span = Span::from_micros(10);
const ADDITIVE: f64 = 125_000.0 * 0.05 / 100.0;

/// A flow with a window of `bytes` whose first report of its two hops has come: 100 Gb/s with `queue` bytes, and 50 Gb/s.
fn flow(bytes: u64, params: HpccParams, queue: u64) -> Driver<Hpcc> {
    let mut resumed = setup();
    resumed.handover = Some(Handover::of_window(bytes));
    resumed.oracle = Some(Oracle { base_rtt: BASE, bottleneck: Rate::from_gbps(100) });
    let mut flow = Driver::new(Hpcc::new(params, &resumed).unwrap());
    flow.signals.int = vec![hop(100, 0, queue, 100), hop(100, 0, 0, 50)];
    flow.ack_after(BASE);
    flow
}

/// An acknowledgement with the reports of `micros` after the first: bytes sent and queued by the first hop; the second is
/// idle.
fn ack(flow: &mut Driver<Hpcc>, micros: u64, tx_bytes: u64, queue: u64) {
    flow.signals.int = vec![hop(100 + micros, tx_bytes, queue, 100), hop(100 + micros, 0, 0, 50)];
    flow.ack_after(BASE);
}

#[test]
fn utilisation_is_that_of_the_busiest_hop_with_the_smaller_of_two_queues() {
    // First hop: 62 500 B in 10 us of 125 000, and min(12 500, 25 000) queued of 125 000: 0.5 + 0.1. Second: 50 000 B of
    // 62 500, and min(6 250, 0) queued: 0.8.
    let mut flow = flow(50_000, HpccParams::default(), 25_000);
    flow.signals.int = vec![hop(110, 62_500, 12_500, 100), hop(110, 50_000, 6_250, 50)];
    flow.ack_after(BASE);
    assert_near(flow.controller.utilisation, 0.8);
    // Now the first: 100 000 B and min(62 500, 12 500) queued are 0.9.
    flow.signals.int = vec![hop(120, 162_500, 62_500, 100), hop(120, 80_000, 0, 50)];
    flow.ack_after(BASE);
    assert_near(flow.controller.utilisation, 0.9);
}

#[test]
fn utilisation_is_smoothed_over_one_base_rtt() {
    // A quarter of T: 3/4 x 1 + 1/4 x 0.4. Then four times T, which counts as one.
    let mut flow = flow(50_000, HpccParams::default(), 0);
    ack_in(&mut flow, 102_500, 12_500);
    assert_near(flow.controller.utilisation, 0.85);
    ack_in(&mut flow, 142_500, 12_500 + 250_000);
    assert_near(flow.controller.utilisation, 0.5);
}

/// As [`ack`], with an exact time of the report.
fn ack_in(flow: &mut Driver<Hpcc>, nanos: u64, tx_bytes: u64) {
    let at = Timestamp::from_nanos(nanos);
    flow.signals.int = vec![IntHop { at, ..hop(0, tx_bytes, 0, 100) }, IntHop { at, ..hop(0, 0, 0, 50) }];
    flow.ack_after(BASE);
}

#[test]
fn above_the_target_the_window_is_divided_by_the_excess() {
    // Full rate and a queue of one product: U = 2, so W = 100 000 / (2 / 0.95) + 62.5.
    let mut flow = flow(100_000, HpccParams::default(), 125_000);
    ack(&mut flow, 10, 125_000, 125_000);
    assert_near(flow.controller.window.bytes(), 47_562.5);
}

#[test]
fn below_the_target_it_grows_by_steps_and_then_by_what_is_free() {
    // U = 0.5 throughout: five round trips of 62.5 B, then 50 312.5 / (0.5 / 0.95) + 62.5.
    let mut flow = flow(50_000, HpccParams::default(), 0);
    let mut windows = Vec::new();
    for round in 1..=6 {
        ack(&mut flow, 10 * round, 62_500 * round, 0);
        windows.push(flow.controller.window.bytes());
    }
    for (stage, window) in windows[..5].iter().enumerate() {
        assert_near(*window, 50_000.0 + ADDITIVE * (stage + 1) as f64);
    }
    assert_near(windows[5], 50_312.5 / (0.5 / 0.95) + ADDITIVE);
    // With max_stage 0, as in the authors' run.py, at once.
    let mut eager = self::flow(50_000, HpccParams { max_stage: 0, ..HpccParams::default() }, 0);
    ack(&mut eager, 10, 62_500, 0);
    assert_near(eager.controller.window.bytes(), 50_000.0 / (0.5 / 0.95) + ADDITIVE);
}

#[test]
fn acknowledgements_of_one_round_trip_answer_from_one_reference() {
    let mut flow = flow(100_000, HpccParams::default(), 125_000);
    flow.send(10);
    flow.now += BASE;
    for packet in 1..=10 {
        flow.signals.int =
            vec![hop(100 + 10 * packet, 125_000 * packet, 125_000, 100), hop(100 + 10 * packet, 0, 0, 50)];
        flow.report(&[Fate::Acked]);
        // The first ends a round trip and sets the reference; the others do not compound on themselves.
        let expected = if packet == 1 { 47_562.5 } else { 47_562.5 * 0.475 + ADDITIVE };
        assert_near(flow.controller.window.bytes(), expected);
    }
}

#[test]
fn the_window_is_paced_over_the_base_rtt() {
    let flow = flow(50_000, HpccParams::default(), 0);
    assert_eq!(flow.controller.pacing_rate(), Some(Rate::from_gbps(40)));
}

#[test]
fn another_route_and_stale_reports_change_nothing() {
    let mut flow = flow(50_000, HpccParams::default(), 0);
    for int in [vec![hop(110, 0, 9_999_999, 40)], vec![hop(90, 0, 9_999_999, 40)], vec![hop(110, 0, 0, 100); 3]] {
        flow.signals.int = int;
        flow.ack_after(BASE);
        assert_eq!(flow.controller.window(), 50_000);
    }
}

#[test]
fn one_forged_report_heals_within_seven_round_trips_of_honest_ones() {
    let mut flow = flow(100_000, HpccParams::default(), 0);
    flow.signals.int = vec![hop(110, u64::MAX, u64::MAX, 100), hop(110, 0, 0, 50)];
    flow.ack_after(BASE);
    assert!(flow.controller.window() >= 10, "a hundredth of a packet");
    assert!(flow.controller.utilisation <= MOST_UTILISED);
    flow.signals.int = vec![hop(120, 0, 0, 100), hop(120, 0, 0, 50)];
    flow.ack_after(BASE);
    for round in 1..=7 {
        ack(&mut flow, 20 + 10 * round, 12_500 * round, 0);
    }
    assert!(flow.controller.utilisation < 1.0);
}

#[test]
fn a_loss_halves_window_and_reference() {
    let mut flow = flow(100_000, HpccParams::default(), 0);
    flow.send(2);
    flow.now += BASE;
    flow.report(&[Fate::Lost]);
    assert_eq!((flow.controller.window(), flow.controller.reference), (50_000, 50_000.0));
}

#[test]
fn without_telemetry_it_grows_by_a_packet_a_round_trip() {
    let mut flow = Driver::new(Hpcc::new(HpccParams::default(), &setup()).unwrap());
    flow.rounds(5);
    assert!((14..=15).contains(&flow.packets()), "{}", flow.packets());
}

#[test]
fn nothing_grows_while_the_application_holds_back() {
    let mut flow = flow(50_000, HpccParams::default(), 0);
    flow.limit = Limit::Application;
    for round in 1..=20 {
        ack(&mut flow, 10 * round, 1_000 * round, 0);
    }
    assert_eq!(flow.controller.window(), 50_000);
}

#[test]
fn reports_from_before_an_idle_time_are_not_compared_with() {
    let mut flow = flow(50_000, HpccParams::default(), 0);
    flow.idle(Span::from_millis(10));
    ack(&mut flow, 20_000, 1_000, 0);
    assert_near(flow.controller.utilisation, 1.0);
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    let default = HpccParams::default;
    let cases = [
        (HpccParams { eta: 0.0, ..default() }, "eta"),
        (HpccParams { flows: 0.5, ..default() }, "flows"),
        (HpccParams { loss_beta: 1.0, ..default() }, "loss_beta"),
        (HpccParams { initial_window: 0, ..default() }, "initial_window"),
        (HpccParams { min_window: 0.0, ..default() }, "min_window"),
    ];
    for (params, name) in cases {
        assert_eq!(Hpcc::new(params, &setup()).unwrap_err().name, name);
    }
}

#[test]
fn windows_and_rates_over_a_rise_and_fall_of_load_are_as_recorded() {
    // Whole packets and Gb/s after each of 30 round trips: half used, from round 10 on a queue of half a product, from 20 on
    // half used again.
    let mut flow = flow(50_000, HpccParams::default(), 0);
    let mut sent = 0;
    let curve = (1..=30).map(|round| {
        let (tx_bytes, queue) = if (10..20).contains(&round) { (125_000, 62_500) } else { (62_500, 0) };
        sent += tx_bytes;
        ack(&mut flow, 10 * round, sent, queue);
        format!("{}@{}", flow.packets(), flow.controller.pacing_rate().unwrap().as_bps() / 1_000_000_000)
    });
    insta::assert_snapshot!(curve.collect::<Vec<_>>().join(" "), @"50@40 50@40 50@40 50@40 50@40 95@76 95@76 95@76 95@76 91@72 57@46 36@29 23@18 14@11 9@7 6@4 3@3 2@2 1@1 1@1 1@1 1@1 1@1 1@1 3@3 3@3 3@3 4@3 4@3 4@3");
}
