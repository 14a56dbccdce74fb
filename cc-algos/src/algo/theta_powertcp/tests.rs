use super::*;
use crate::controller::{Limit, Oracle};
use crate::testing::{Driver, Fate, assert_near, setup};

/// 100 Gb/s and 10 us: 125 000 bytes, and 750 bytes of additive growth.
const BASE: Span = Span::from_micros(10);

/// A flow with a window of `bytes` whose first delay, the base RTT, has been measured.
fn flow(bytes: u64) -> Driver<ThetaPowerTcp> {
    let mut resumed = setup();
    resumed.handover = Some(Handover::of_window(bytes));
    resumed.oracle = Some(Oracle { base_rtt: BASE, bottleneck: Rate::from_gbps(100) });
    let mut flow = Driver::new(ThetaPowerTcp::new(DEFAULT, &resumed).unwrap());
    flow.ack_after(BASE);
    flow
}

#[test]
fn power_is_the_delay_times_its_growth_over_the_base_rtt() {
    // Delay of the next packet, sent when the last was acknowledged: it grew by d - 10 within d.
    // (1 + 5/15) 1.5; standing at 20 after that: 1 x 2.
    let mut flow = flow(100_000);
    flow.ack_after(Span::from_micros(15));
    assert_near(flow.controller.power.power(), 2.0);
    flow.ack_after(Span::from_micros(15));
    assert_near(flow.controller.power.power(), 1.5);
    // A queue that drains: 10 us, 5 less within 10: 1 - 0.5, times 1.
    flow.ack_after(BASE);
    assert_near(flow.controller.power.power(), 0.5);
}

#[test]
fn a_fall_of_the_delay_counts_half_at_most() {
    let mut flow = flow(100_000);
    flow.ack_after(Span::from_micros(100));
    // 10 us, 90 less within 10.
    flow.ack_after(BASE);
    assert_near(flow.controller.power.power(), 0.5);
}

#[test]
fn the_window_follows_power_once_a_round_trip() {
    // 0.7 (100 000 x 1.05 / 2 + 750) + 0.3 x 100 000.
    let mut flow = flow(100_000);
    flow.send(3);
    flow.now += Span::from_micros(15);
    flow.report(&[Fate::Acked]);
    assert_near(flow.controller.power.window.bytes(), 67_275.0);
    flow.now += Span::from_micros(5);
    flow.report(&[Fate::Acked; 2]);
    assert_near(flow.controller.power.window.bytes(), 67_275.0);
}

#[test]
fn delays_within_the_slack_let_the_window_grow_to_the_whole_product() {
    let mut flow = flow(100_000);
    for _ in 0..60 {
        flow.ack_after(Span::from_nanos(10_400));
    }
    assert_eq!(flow.controller.window(), 125_000);
}

#[test]
fn two_acknowledgements_of_one_instant_do_not_divide_by_zero() {
    let mut flow = flow(100_000);
    flow.send(2);
    flow.now += BASE;
    flow.report(&[Fate::Acked]);
    let power = flow.controller.power.power();
    flow.report(&[Fate::Acked]);
    assert!((flow.controller.power.power() - power).abs() < f64::EPSILON);
}

#[test]
fn a_loss_halves_the_window_and_nothing_grows_unused() {
    let mut flow = flow(100_000);
    flow.send(2);
    flow.now += BASE;
    flow.report(&[Fate::Lost]);
    assert_eq!(flow.controller.window(), 50_000);
    flow.take(1);
    flow.limit = Limit::Application;
    for _ in 0..20 {
        flow.ack_after(BASE);
    }
    assert_eq!(flow.controller.window(), 50_000);
}

#[test]
fn windows_and_rates_over_a_rise_and_fall_of_the_delay_are_as_recorded() {
    // Whole packets and Gb/s after each of 30 round trips: the base RTT, 15 us from round 10 on, the base RTT from 20 on.
    let mut flow = flow(50_000);
    let curve = (1..=30).map(|round| {
        flow.ack_after(if (10..20).contains(&round) { Span::from_micros(15) } else { BASE });
        format!("{}@{}", flow.packets(), flow.controller.pacing_rate().unwrap().as_bps() / 1_000_000_000)
    });
    insta::assert_snapshot!(curve.collect::<Vec<_>>().join(" "), @"52@41 54@43 57@45 59@47 62@49 64@51 67@54 70@56 73@58 49@39 39@31 31@25 25@20 20@16 17@13 13@11 11@9 9@7 8@6 14@11 16@12 17@13 18@14 19@15 20@16 21@17 23@18 24@19 25@20 27@21");
}
