use super::*;
use crate::controller::{Limit, Oracle};
use crate::testing::{Driver, Fate, assert_near, hop, setup};

/// 100 Gb/s and 10 us: 125 000 bytes, and 750 bytes of additive growth.
const BASE: Span = Span::from_micros(10);
const ADDITIVE: f64 = 750.0;

/// A flow with a window of `bytes` whose first report, of one hop of 100 Gb/s with `queue` bytes, has come.
fn flow(bytes: u64, params: PowerParams, queue: u64) -> Driver<PowerTcp> {
    let mut resumed = setup();
    resumed.handover = Some(Handover::of_window(bytes));
    resumed.oracle = Some(Oracle { base_rtt: BASE, bottleneck: Rate::from_gbps(100) });
    let mut flow = Driver::new(PowerTcp::new(params, &resumed).unwrap());
    flow.signals.int = vec![hop(100, 0, queue, 100)];
    flow.ack_after(BASE);
    flow
}

fn ack(flow: &mut Driver<PowerTcp>, micros: u64, tx_bytes: u64, queue: u64) {
    flow.signals.int = vec![hop(100 + micros, tx_bytes, queue, 100)];
    flow.ack_after(BASE);
}

#[test]
fn power_is_arrivals_times_queue_and_pipe_over_those_of_the_full_link() {
    // Former queue, bytes sent in 10 us and queue; arrivals over C, times 1 + q / 125 000.
    let cases = [
        (0, 125_000, 0, 1.0),
        // 0.8 C leave and the queue grows by 0.2 C: 1.0 x 1.3.
        (12_500, 100_000, 37_500, 1.3),
        // The same queue while it drains: (1 - 0.2) x 1.2. What drains by itself needs no cut.
        (50_000, 125_000, 25_000, 0.96),
        (0, 125_000, 125_000, 4.0),
        // Never below half of the link's rate.
        (0, 10_000, 0, 0.5),
        (125_000, 0, 0, 0.5),
    ];
    for (former, sent, queue, power) in cases {
        let mut flow = flow(50_000, PowerParams::default(), former);
        ack(&mut flow, 10, sent, queue);
        assert_near(flow.controller.power.power(), power);
    }
}

#[test]
fn the_hop_of_most_power_counts() {
    let mut flow = flow(50_000, PowerParams::default(), 0);
    flow.signals.int = vec![hop(100, 0, 0, 100), hop(100, 0, 0, 50)];
    flow.ack_after(BASE);
    // 0.6 C of 100 Gb/s; C of 50 Gb/s with a queue of 12 500 B, grown from 0 in 10 us: (1 + 0.2) (1 + 0.2).
    flow.signals.int = vec![hop(110, 75_000, 0, 100), hop(110, 62_500, 12_500, 50)];
    flow.ack_after(BASE);
    assert_near(flow.controller.power.power(), 1.44);
}

#[test]
fn power_is_smoothed_over_one_base_rtt() {
    // 4 us of 10 at power 2 (full rate, standing queue of one product): 0.6 x 1 + 0.4 x 2.
    let mut flow = flow(50_000, PowerParams::default(), 125_000);
    ack(&mut flow, 4, 50_000, 125_000);
    assert_near(flow.controller.power.power(), 1.4);
}

#[test]
fn the_window_follows_power_from_the_window_that_the_packet_left_under() {
    // Power 2: 0.9 (100 000 / 2 + 750) + 0.1 x 100 000.
    let mut flow = flow(100_000, PowerParams::default(), 125_000);
    flow.send(2);
    flow.now += BASE;
    flow.signals.int = vec![hop(110, 125_000, 125_000, 100)];
    flow.report(&[Fate::Acked]);
    assert_near(flow.controller.power.window.bytes(), 55_675.0);
    // The second packet left under 100 000 bytes, too: the cut does not compound.
    flow.signals.int = vec![hop(120, 250_000, 125_000, 100)];
    flow.report(&[Fate::Acked]);
    assert_near(flow.controller.power.window.bytes(), 0.9 * (50_000.0 + ADDITIVE) + 0.1 * 55_675.0);
}

#[test]
fn the_equilibrium_is_a_full_link_with_a_queue_of_the_additive_parts() {
    // NSDI'22, theorem 1: w = b tau + beta. A flow of a host of 200 Gb/s alone on a link of 100 Gb/s, beta = 0.006 x 250 000:
    // the pipe holds 125 000 bytes and 1 500 stand in the queue. There it stays; from elsewhere it goes there.
    for (start, drift) in [(126_500, 0.0), (130_000, -1.0), (123_000, 1.0)] {
        let mut resumed = with_window(start);
        resumed.local_line_rate = Some(Rate::from_gbps(200));
        let mut flow = Driver::new(PowerTcp::new(PowerParams::default(), &resumed).unwrap());
        for round in 0..2 {
            ack(&mut flow, 10 * round, 125_000 * round, start.saturating_sub(125_000));
        }
        let moved = flow.controller.power.window.bytes() - start as f64;
        assert!(if start == 126_500 { moved.abs() < 1.0 } else { moved * drift > 100.0 }, "{start}: {moved}");
    }
}

fn with_window(bytes: u64) -> Setup {
    let handover = Handover { min_rtt: Some(BASE), ..Handover::of_window(bytes) };
    Setup { handover: Some(handover), ..setup() }
}

#[test]
fn without_a_line_rate_the_slowest_port_bounds_the_window() {
    let mut flow = Driver::new(PowerTcp::new(PowerParams::default(), &with_window(100_000)).unwrap());
    for round in 0..50 {
        flow.signals.int = vec![hop(100 + 10 * round, 0, 0, 100)];
        flow.ack_after(BASE);
    }
    assert_eq!(flow.controller.window(), 125_000);
}

#[test]
fn a_loss_halves_the_window_and_nothing_grows_unused() {
    let mut flow = flow(100_000, PowerParams::default(), 0);
    flow.send(2);
    flow.now += BASE;
    flow.report(&[Fate::Lost]);
    assert_eq!(flow.controller.window(), 50_000);
    flow.limit = Limit::Application;
    for round in 1..=20 {
        ack(&mut flow, 10 * round, 1_000 * round, 0);
    }
    assert_eq!(flow.controller.window(), 50_000);
}

#[test]
fn absurd_reports_leave_the_window_within_its_bounds() {
    let mut flow = flow(100_000, PowerParams::default(), 0);
    let absurd = [
        hop(110, u64::MAX, u64::MAX, 100),
        hop(120, u64::MAX, 0, 100),
        hop(90, 0, 0, 100),
        hop(130, 5, u64::MAX, 0),
        hop(140, 6, 0, 100),
    ];
    for report in absurd {
        flow.signals.int = vec![report];
        flow.ack_after(BASE);
        assert!((10..=125_000).contains(&flow.controller.window()), "{report:?}");
    }
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    let default = PowerParams::default;
    let cases = [
        (PowerParams { gamma: 0.0, ..default() }, "gamma"),
        (PowerParams { beta: 1.5, ..default() }, "beta"),
        (PowerParams { eta: f64::NAN, ..default() }, "eta"),
        (PowerParams { loss_beta: 0.0, ..default() }, "loss_beta"),
        (PowerParams { initial_window: 0, ..default() }, "initial_window"),
        (PowerParams { min_window: f64::INFINITY, ..default() }, "min_window"),
    ];
    for (params, name) in cases {
        assert_eq!(PowerTcp::new(params, &setup()).unwrap_err().name, name);
    }
}

#[test]
fn windows_and_rates_over_a_rise_and_fall_of_load_are_as_recorded() {
    // As in `hpcc`: half used, from round 10 on a queue of half a product, from 20 on half used again.
    let mut flow = flow(50_000, PowerParams::default(), 0);
    let mut sent = 0;
    let curve = (1..=30).map(|round| {
        let (tx_bytes, queue) = if (10..20).contains(&round) { (125_000, 62_500) } else { (62_500, 0) };
        sent += tx_bytes;
        ack(&mut flow, 10 * round, sent, queue);
        format!("{}@{}", flow.packets(), flow.controller.pacing_rate().unwrap().as_bps() / 1_000_000_000)
    });
    insta::assert_snapshot!(curve.collect::<Vec<_>>().join(" "), @"95@76 125@100 125@100 125@100 125@100 125@100 125@100 125@100 125@100 63@50 44@35 32@25 23@18 16@13 12@9 9@7 7@5 5@4 4@3 9@7 18@15 36@29 70@56 125@100 125@100 125@100 125@100 125@100 125@100 125@100");
}
