use super::*;
use crate::controller::{Limit, Oracle};
use crate::testing::{Driver, Fate, assert_near, setup};

/// The setting of the paper: a minimum RTT of 20 us at 10 Gb/s, so that delta is 10 Mb/s, and the thresholds 50 and 500 us.
/// All rates in bytes per 20 us: the line's is 25 000, delta 25.
fn flow(rate: u64) -> Driver<Timely> {
    let mut resumed = setup();
    resumed.handover = Some(Handover::of_window(rate));
    resumed.oracle = Some(Oracle { base_rtt: micros(20), bottleneck: Rate::from_gbps(10) });
    Driver::new(Timely::new(TimelyParams::default(), &resumed).unwrap())
}

const fn micros(micros: u64) -> Span {
    Span::from_micros(micros)
}

/// The rate after round trips with these RTTs.
fn after(rate: u64, rtts: &[u64]) -> f64 {
    let mut flow = flow(rate);
    rtts.iter().for_each(|rtt| flow.ack_after(micros(*rtt)));
    flow.controller.per_rtt.bytes()
}

#[test]
fn the_increment_is_ten_megabits_per_second_at_ten_gigabits() {
    let mut flow = flow(12_500);
    flow.ack_after(micros(30));
    let before = flow.controller.pacing_rate().unwrap();
    flow.ack_after(micros(30));
    assert_eq!(flow.controller.pacing_rate().unwrap().as_bps() - before.as_bps(), 10_000_000);
}

#[test]
fn below_the_low_threshold_even_a_rising_rtt_lets_the_rate_grow() {
    assert_near(after(10_000, &[20, 35, 49]), 10_050.0);
}

#[test]
fn above_the_high_threshold_the_cut_is_in_proportion_to_the_excess() {
    // 1 - 0.8 (1 - 500 / 1 000) = 0.6, although the RTT stands or falls.
    assert_near(after(10_000, &[1_000, 1_000]), 6_000.0);
    assert_near(after(10_000, &[2_000, 1_000]), 6_000.0);
}

#[test]
fn between_the_thresholds_the_gradient_decides() {
    // From 60 to 70 us: 0.875 x 10 = 8.75, over 20: 0.4375; 1 - 0.8 x 0.4375 = 0.65.
    assert_near(after(10_000, &[60, 70]), 6_500.0);
    // Then 70 again: 0.125 x 8.75 = 1.09375, over 20: 0.0546875; 1 - 0.04375.
    assert_near(after(10_000, &[60, 70, 70]), 6_500.0 * 0.95625);
    assert_near(after(10_000, &[70, 60]), 10_025.0);
}

#[test]
fn after_five_round_trips_without_a_rise_growth_is_fivefold() {
    // Four of 25, then 125 each; a rise begins anew.
    assert_near(after(10_000, &[100; 5]), 10_100.0);
    assert_near(after(10_000, &[100; 6]), 10_225.0);
    assert_near(after(10_000, &[100; 7]), 10_350.0);
    let mut broken = vec![100; 7];
    broken.extend([101, 80, 80]);
    // 1 us more: 0.875 / 20 = 0.04375, 1 - 0.035; then two of 25.
    assert_near(after(10_000, &broken), 10_350.0 * 0.965 + 50.0);
}

#[test]
fn round_trips_below_the_low_threshold_do_not_count_towards_it() {
    assert_near(after(10_000, &[40; 20]), 10_000.0 + 19.0 * 25.0);
}

#[test]
fn a_steep_rise_leaves_the_smallest_rate() {
    // From 60 to 100 us: a gradient of 1.75, more than can be taken away; a hundredth of the line rate stays.
    assert_near(after(10_000, &[60, 100]), 250.0);
}

#[test]
fn the_rate_changes_once_a_round_trip() {
    let mut flow = flow(10_000);
    flow.ack_after(micros(30));
    flow.send(10);
    flow.now += micros(30);
    flow.report(&[Fate::Acked; 10]);
    assert_near(flow.controller.per_rtt.bytes(), 10_025.0);
}

#[test]
fn the_window_only_bounds_what_the_rate_sends_within_the_high_threshold() {
    let flow = flow(10_000);
    assert_eq!(flow.controller.window(), 250_000);
    assert_eq!(flow.controller.pacing_rate(), Some(Rate::from_gbps(4)));
}

#[test]
fn a_loss_halves_the_rate_and_nothing_grows_unused() {
    let mut flow = flow(10_000);
    flow.ack_after(micros(20));
    flow.send(1);
    flow.now += micros(20);
    flow.report(&[Fate::Lost]);
    assert_near(flow.controller.per_rtt.bytes(), 5_000.0);
    flow.limit = Limit::Application;
    (0..20).for_each(|_| flow.ack_after(micros(20)));
    assert_near(flow.controller.per_rtt.bytes(), 5_000.0);
}

#[test]
fn losses_may_leave_less_than_the_smallest_rate_which_comes_back_by_steps() {
    let mut flow = flow(400);
    flow.ack_after(micros(20));
    for expected in [200.0, 100.0] {
        flow.send(1);
        flow.now += micros(20);
        flow.report(&[Fate::Lost]);
        assert_near(flow.controller.per_rtt.bytes(), expected);
    }
    // Below 250, a hundredth of the line rate, even a steep rise takes nothing more, and then it grows by 25.
    flow.ack_after(micros(60));
    let before = flow.controller.per_rtt.bytes();
    flow.ack_after(micros(100));
    assert_near(flow.controller.per_rtt.bytes(), before);
    flow.ack_after(micros(30));
    assert_near(flow.controller.per_rtt.bytes(), before + 25.0);
}

#[test]
fn a_loss_before_the_start_does_not_raise_the_bound() {
    let mut flow = Driver::new(Timely::new(TimelyParams::default(), &setup()).unwrap());
    flow.fill();
    flow.now += flow.rtt;
    flow.report(&[Fate::Lost]);
    assert_eq!(flow.packets(), 5);
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    let default = TimelyParams::default;
    let cases = [
        (TimelyParams { alpha: 0.0, ..default() }, "alpha"),
        (TimelyParams { beta: 1.5, ..default() }, "beta"),
        (TimelyParams { delta: 0.0, ..default() }, "delta"),
        (TimelyParams { t_low: 0.5, ..default() }, "t_low"),
        (TimelyParams { t_high: 2.0, ..default() }, "t_high"),
        (TimelyParams { hai: 0, ..default() }, "hai"),
        (TimelyParams { min_rate: f64::NAN, ..default() }, "min_rate"),
        (TimelyParams { loss_beta: 0.0, ..default() }, "loss_beta"),
        (TimelyParams { initial_window: 0, ..default() }, "initial_window"),
    ];
    for (params, name) in cases {
        assert_eq!(Timely::new(params, &setup()).unwrap_err().name, name);
    }
}

#[test]
fn rates_over_a_rise_and_fall_of_the_rtt_are_as_recorded() {
    // Mb/s after each of 30 round trips: 60 us, from round 10 on 5 us more each, from 20 on 5 us less each.
    let mut flow = flow(12_500);
    let mut rtt = 60;
    let rates = (0..30).map(|round| {
        match round {
            10..20 => rtt += 5,
            20.. => rtt -= 5,
            _ => {}
        }
        flow.ack_after(micros(rtt));
        (flow.controller.pacing_rate().unwrap().as_bps() / 1_000_000).to_string()
    });
    insta::assert_snapshot!(rates.collect::<Vec<_>>().join(" "), @"5000 5010 5020 5030 5040 5090 5140 5190 5240 5290 4364 3505 2805 2244 1795 1436 1149 919 735 588 598 608 618 628 678 728 778 828 878 928");
}
