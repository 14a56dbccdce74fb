use super::*;
use crate::controller::{Limit, Oracle};
use crate::testing::{Driver, Fate, assert_near, hop, setup};
use crate::{Entropy, PathId};

/// 100 Gb/s and 10 us: 125 000 bytes; a window of 12 500 bytes is 10 Gb/s.
const BASE: Span = Span::from_micros(10);

fn flow(bytes: u64) -> Driver<Poseidon> {
    let mut resumed = setup();
    resumed.handover = Some(Handover::of_window(bytes));
    resumed.oracle = Some(Oracle { base_rtt: BASE, bottleneck: Rate::from_gbps(100) });
    Driver::new(Poseidon::new(PoseidonParams::default(), &resumed).unwrap())
}

fn sample(value: CsigValue) -> CsigSample {
    CsigSample::new(value, 0, PathId(0), Entropy(0), BASE)
}

fn hop_delay(nanos: u64) -> Vec<CsigSample> {
    vec![sample(CsigValue::HopDelay(Span::from_nanos(nanos)))]
}

/// Bytes per nanosecond.
fn gbps(gbps: f64) -> f64 {
    gbps / 8.0
}

#[test]
fn slower_flows_tolerate_more_delay_by_the_logarithm_of_their_rate() {
    // p ln(R_max / rate) / ln 1000 + k: a third of p per factor of ten.
    let flow = flow(12_500);
    let third = 40e3 / 3.0;
    for (rate, micros) in [(100.0, 0.0), (10.0, third), (1.0, 2.0 * third), (0.1, 3.0 * third), (0.001, 3.0 * third)] {
        assert_near(flow.controller.tolerated(gbps(rate)), 2e3 + micros);
    }
    assert_near(flow.controller.tolerated(gbps(400.0)), 2e3);
}

#[test]
fn one_step_goes_a_quarter_of_the_way_to_the_rate_that_tolerates_the_delay() {
    // U = (MPT^-1(delay) / rate)^m, within 0.4 and 2.5.
    let flow = flow(12_500);
    let target = |rate: f64| flow.controller.tolerated(gbps(rate));
    let cases: [(f64, f64, f64); 5] = [
        (10.0, 100.0, 10.0_f64.powf(0.25)),
        (10.0, 20.0, 2.0_f64.powf(0.25)),
        (10.0, 1.0, 0.1_f64.powf(0.25)),
        (0.1, 100.0, 2.5),
        (100.0, 0.1, 0.4),
    ];
    for (rate, wanted, ratio) in cases {
        assert_near(flow.controller.ratio(target(wanted), target(rate)), ratio);
    }
}

#[test]
fn below_the_target_each_acknowledged_byte_adds_a_share_of_itself() {
    let mut flow = flow(12_500);
    flow.signals.csig = hop_delay(2_000);
    flow.ack_after(BASE);
    assert_near(flow.controller.window.bytes(), 12_500.0 + 778.3);
    // Below one packet, by the same factor.
    let mut small = self::flow(125);
    small.signals.csig = hop_delay(2_000);
    small.ack_after(BASE);
    assert_near(small.controller.window.bytes(), 125.0 * 2.5);
}

#[test]
fn above_the_target_the_window_shrinks_once_a_round_trip() {
    // 2 + 2/3 x 40 us are tolerated at 1 Gb/s: (1 / 10)^(1/4).
    let mut flow = flow(12_500);
    flow.send(3);
    flow.now += BASE;
    flow.signals.csig = hop_delay(28_667);
    flow.report(&[Fate::Acked; 2]);
    assert_near(flow.controller.window.bytes(), 12_500.0 * 0.562_34);
    flow.report(&[Fate::Acked]);
    assert_near(flow.controller.window.bytes(), 12_500.0 * 0.562_34);
}

#[test]
fn flows_of_different_rates_meet_at_one_where_they_share_the_worst_hop() {
    // The worst hop's delay stands at what 20 Gb/s tolerates: 2 + 40 ln 5 / ln 1 000 = 11.32 us.
    for bytes in [1_000, 12_500, 100_000] {
        let mut flow = flow(bytes);
        flow.signals.csig = hop_delay(11_320);
        for _ in 0..100 {
            let packets = flow.packets().max(1);
            flow.send(packets);
            flow.now += BASE;
            flow.report(&vec![Fate::Acked; packets as usize]);
        }
        assert!((flow.controller.window.bytes() / 25_000.0 - 1.0).abs() < 0.01, "{:?}", flow.controller.window);
    }
}

#[test]
fn telemetry_stands_in_for_a_missing_sample_and_the_worst_hop_counts() {
    let delay_after = |csig: Vec<CsigSample>, int: Vec<IntHop>| {
        let mut flow = flow(12_500);
        (flow.signals.csig, flow.signals.int) = (csig, int);
        flow.ack_after(BASE);
        flow.controller.newest.0
    };
    // 25 000 B at 100 Gb/s are 2 us, 25 000 B at 40 Gb/s 5 us.
    let int = || vec![hop(1, 0, 25_000, 100), hop(1, 0, 25_000, 40), IntHop { rate: Rate::ZERO, ..hop(1, 0, 9, 1) }];
    assert_near(delay_after(vec![], int()), 5e3);
    let depth = sample(CsigValue::QueueDepth(Span::from_micros(9)));
    assert_near(delay_after(vec![depth], int()), 9e3);
    let worst = sample(CsigValue::HopDelay(Span::from_micros(4)));
    let better = sample(CsigValue::HopDelay(Span::from_micros(3)));
    assert_near(delay_after(vec![depth, better, worst], int()), 4e3);
    let other = sample(CsigValue::AvailableRatioPpm(1));
    assert_near(delay_after(vec![other], int()), 5e3);
}

#[test]
fn a_loss_halves_the_window_and_nothing_grows_unused() {
    let mut flow = flow(12_500);
    flow.signals.csig = hop_delay(0);
    flow.send(1);
    flow.now += BASE;
    flow.report(&[Fate::Lost]);
    assert_eq!(flow.controller.window(), 6_250);
    flow.limit = Limit::Application;
    (0..20).for_each(|_| flow.ack_after(BASE));
    assert_eq!(flow.controller.window(), 6_250);
}

#[test]
fn without_any_signal_it_grows_by_a_packet_a_round_trip() {
    let mut flow = Driver::new(Poseidon::new(PoseidonParams::default(), &setup()).unwrap());
    flow.rounds(5);
    assert!((14..=15).contains(&flow.packets()), "{}", flow.packets());
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    let default = PoseidonParams::default;
    let cases = [
        (PoseidonParams { m: 0.0, ..default() }, "m"),
        (PoseidonParams { p: Span::ZERO, ..default() }, "p"),
        (PoseidonParams { rate_range: 1.0, ..default() }, "rate_range"),
        (PoseidonParams { max_step: 1.0, ..default() }, "max_step"),
        (PoseidonParams { loss_beta: 1.0, ..default() }, "loss_beta"),
        (PoseidonParams { initial_window: 0, ..default() }, "initial_window"),
        (PoseidonParams { min_window: -1.0, ..default() }, "min_window"),
    ];
    for (params, name) in cases {
        assert_eq!(Poseidon::new(params, &setup()).unwrap_err().name, name);
    }
}

#[test]
fn windows_and_rates_over_a_rise_and_fall_of_the_delay_are_as_recorded() {
    // Whole packets and Gb/s after each of 30 round trips: 5 us at the worst hop, 20 us from round 10 on, 5 us from 20 on.
    let mut flow = flow(12_500);
    let curve = (0..30).map(|round| {
        flow.signals.csig = hop_delay(if (10..20).contains(&round) { 20_000 } else { 5_000 });
        let packets = flow.packets().max(1);
        flow.send(packets);
        flow.now += BASE;
        flow.report(&vec![Fate::Acked; packets as usize]);
        format!("{}@{}", flow.packets(), flow.controller.pacing_rate().unwrap().as_bps() / 1_000_000_000)
    });
    insta::assert_snapshot!(curve.collect::<Vec<_>>().join(" "), @"18@14 24@19 31@25 38@30 44@35 49@39 54@43 58@46 61@49 64@51 34@27 22@17 15@12 12@9 9@7 8@6 7@6 7@5 6@5 6@5 10@8 16@12 22@18 29@23 35@28 42@33 47@38 52@42 56@45 60@48");
}
