use super::*;
use crate::controller::{Limit, Oracle};
use crate::testing::{Batch, Driver, Fate, MTU, setup};
use crate::units::Rate;

/// Base RTT of 12 us at 100 Gb/s: the reference network, a = 1. The target is 9 us, the largest window 225 packets.
const BASE: Span = Span::from_micros(12);

fn flow_of(packets: Option<u64>, params: NsccParams) -> Driver<Nscc> {
    let mut told = setup();
    told.oracle = Some(Oracle { base_rtt: BASE, bottleneck: Rate::from_gbps(100) });
    told.handover = packets.map(|packets| Handover::of_window(packets * MTU));
    Driver::new(Nscc::new(params, &told).unwrap())
}

/// A flow with a window of exactly `packets`.
fn running(packets: u64) -> Driver<Nscc> {
    flow_of(Some(packets), NsccParams::default())
}

/// `packets` come back in one batch after a queueing delay.
fn ack(flow: &mut Driver<Nscc>, packets: usize, micros: u64, fate: Fate) {
    flow.send(packets as u64);
    flow.now += BASE + Span::from_micros(micros);
    flow.stretch = packets;
    flow.report(&vec![fate; packets]);
}

#[test]
fn an_oracle_gives_a_first_window_of_one_and_a_half_products() {
    assert_eq!(flow_of(None, NsccParams::default()).packets(), 225);
}

#[test]
fn unmarked_below_the_target_the_increase_is_in_proportion_to_what_is_missing() {
    // alpha = 4 x 1000 B / 12 us. Nine packets at 3 us: 1/3 B/ns x 9000 B x 6000 ns / 100 000 B = 180 B; and eta = 150 B.
    let mut flow = running(100);
    ack(&mut flow, 9, 3, Fate::Acked);
    assert_eq!(flow.controller.window(), 100_330);
    // At 8.7 us a twentieth of that: 9 B.
    let mut flow = running(100);
    flow.send(9);
    flow.now += Span::from_nanos(20_700);
    flow.stretch = 9;
    flow.report(&[Fate::Acked; 9]);
    assert_eq!(flow.controller.window(), 100_159);
}

#[test]
fn unmarked_above_the_target_the_increase_is_the_same_for_all() {
    // fi = 5 x 1000 B: 5000 x 9000 / window, and eta.
    for (packets, gain) in [(100, 450 + 150), (50, 900 + 150)] {
        let mut flow = running(packets);
        ack(&mut flow, 9, 10, Fate::Acked);
        assert_eq!(flow.controller.window(), packets * MTU + gain);
    }
}

#[test]
fn marked_below_the_target_nothing_but_eta_moves_the_window() {
    let mut flow = running(100);
    ack(&mut flow, 9, 3, Fate::Marked);
    assert_eq!(flow.controller.window(), 100_150);
}

#[test]
fn marked_above_the_target_the_mean_delay_decides_how_much_is_given_up() {
    // After n packets at 27 us the mean is 27 (1 - 0.9875^n) us; cwnd (1 - 0.8 (mean - 9) / mean), at least half, and eta.
    for packets in [40, 100, 200, 900] {
        let mean = 27.0 * (1.0 - 0.9875_f64.powi(packets));
        let kept = (1.0 - 0.8 * (mean - 9.0) / mean).max(0.5);
        let mut flow = running(100);
        ack(&mut flow, packets as usize, 27, Fate::Marked);
        let expected = 100_000.0 * kept + 150.0;
        assert!((flow.controller.window() as f64 - expected).abs() < 1.0, "{packets}: {}", flow.controller.window());
    }
    // After 30 the mean is 8.5 us, below the target.
    let mut flow = running(100);
    ack(&mut flow, 30, 27, Fate::Marked);
    assert_eq!(flow.controller.window(), 100_150);
}

#[test]
fn the_decrease_comes_once_a_base_rtt() {
    let mut flow = running(100);
    ack(&mut flow, 200, 27, Fate::Marked);
    let once = flow.controller.window();
    flow.send(9);
    flow.now += Span::from_micros(12);
    flow.report(&[Fate::Marked; 9]);
    assert!(flow.controller.window() >= once);
}

#[test]
fn a_queue_that_is_empty_for_a_window_is_filled_by_a_quarter_packet_a_packet() {
    let mut flow = running(20);
    for _ in 0..3 {
        ack(&mut flow, 9, 0, Fate::Acked);
    }
    assert_eq!(flow.controller.state().phase, "fast_increase");
    let before = flow.controller.window();
    ack(&mut flow, 8, 0, Fate::Acked);
    assert_eq!(flow.controller.window(), before + 8 * 250, "eta waits for the ninth packet or the next round trip");
    ack(&mut flow, 8, 2, Fate::Acked);
    assert_eq!(flow.controller.state().phase, "congestion_avoidance");
}

fn trim(flow: &mut Driver<Nscc>, packets: usize) {
    let lost = flow.take(packets);
    flow.feed(&Batch { lost, trimmed: true, ..Batch::default() });
}

#[test]
fn a_trim_takes_its_bytes_and_the_end_of_the_period_sets_the_window_to_what_was_achieved() {
    let mut flow = running(100);
    flow.fill();
    flow.now += BASE;
    trim(&mut flow, 10);
    assert_eq!(flow.packets(), 90, "the first period begins");
    flow.now += Span::from_micros(5);
    flow.report(&[Fate::Marked; 6]);
    // 21 us are over: six packets came through, 83 are in flight after this trim.
    flow.now += Span::from_micros(17);
    trim(&mut flow, 1);
    assert_eq!((flow.packets(), flow.controller.state().phase), (6, "quick_adapt"));
    // What was in flight is ignored where it is marked or trimmed.
    flow.stretch = 1;
    flow.report(&[Fate::Marked; 40]);
    trim(&mut flow, 20);
    assert_eq!(flow.packets(), 6);
    flow.report(&[Fate::Marked; 23]);
    assert_ne!(flow.controller.state().phase, "quick_adapt");
}

#[test]
fn quick_adapt_does_not_act_on_an_eighth_of_the_largest_window_or_when_it_is_off() {
    for (achieved, quick_adapt) in [(29, true), (6, false)] {
        let mut flow = flow_of(Some(100), NsccParams { quick_adapt, ..NsccParams::default() });
        flow.fill();
        flow.now += BASE;
        trim(&mut flow, 1);
        flow.now += Span::from_micros(5);
        flow.stretch = achieved;
        flow.report(&vec![Fate::Marked; achieved]);
        let before = flow.controller.window();
        flow.now += Span::from_micros(17);
        trim(&mut flow, 1);
        assert_eq!(flow.controller.window(), before - MTU);
    }
}

#[test]
fn a_delay_of_four_targets_adapts_without_a_trim() {
    let mut flow = running(100);
    ack(&mut flow, 5, 40, Fate::Acked);
    flow.send(3);
    flow.now += BASE + Span::from_micros(40);
    flow.report(&[Fate::Acked]);
    // The acknowledgement that ended the period adds its packet to the five of the period.
    assert_eq!((flow.packets(), flow.controller.state().phase), (6, "quick_adapt"));
}

#[test]
fn marks_that_are_ignored_after_an_adaptation_let_nothing_grow() {
    let mut flow = running(100);
    flow.fill();
    flow.now += BASE;
    trim(&mut flow, 1);
    flow.now += Span::from_micros(22);
    trim(&mut flow, 1);
    assert_eq!((flow.packets(), flow.controller.state().phase), (1, "quick_adapt"));
    for _ in 0..20 {
        flow.now += BASE + Span::from_micros(1);
        flow.stretch = 4;
        flow.report(&[Fate::Marked; 4]);
    }
    assert_eq!((flow.packets(), flow.controller.state().phase), (1, "quick_adapt"));
}

/// A path of 100 Tb/s, where every increase is bounded by what was acknowledged.
fn on_a_wide_path() -> Driver<Nscc> {
    let mut local = setup();
    local.local_line_rate = Some(Rate::from_gbps(100_000));
    let mut flow = Driver::new(Nscc::new(NsccParams::default(), &local).unwrap());
    flow.rtt = BASE;
    flow
}

#[test]
fn what_the_start_has_used_is_not_counted_again() {
    let mut flow = on_a_wide_path();
    flow.send(6);
    flow.now += BASE;
    flow.report(&[Fate::Acked; 6]);
    assert_eq!((flow.packets(), flow.controller.state().phase), (16, "slow_start"));
    flow.send(2);
    flow.now += BASE;
    let lost = flow.take(1);
    flow.feed(&Batch { lost, ..Batch::default() });
    flow.report(&[Fate::Acked]);
    assert!(flow.packets() <= 16, "one was lost and one came through: {}", flow.packets());
}

#[test]
fn what_was_acknowledged_before_idleness_lets_nothing_grow_after_it() {
    let mut flow = on_a_wide_path();
    flow.rounds(1);
    flow.controller.spray.leave_start();
    flow.send(8);
    flow.now += Span::from_micros(8);
    // Seven packets are less than the eight after which increases are applied.
    flow.report(&[Fate::Acked; 7]);
    let before = flow.packets();
    flow.signal(&Signal::Restart { idle: Span::from_secs(1) });
    flow.now += Span::from_millis(1);
    flow.report(&[Fate::Acked]);
    assert!(flow.packets() <= before + 1, "{} after {before}", flow.packets());
}

#[test]
fn without_an_oracle_it_doubles_until_the_queue_is_at_the_target() {
    let mut local = setup();
    local.local_line_rate = Some(Rate::from_gbps(100));
    let mut flow = Driver::new(Nscc::new(NsccParams::default(), &local).unwrap());
    flow.rtt = BASE;
    flow.rounds(4);
    assert_eq!((flow.packets(), flow.controller.state().phase), (160, "slow_start"));
    flow.rtt = Span::from_micros(22);
    flow.rounds(1);
    assert_eq!(flow.controller.state().phase, "congestion_avoidance");
    assert!((160..170).contains(&flow.packets()), "{}", flow.packets());
}

#[test]
fn persistent_congestion_leaves_a_packet_and_idle_flows_keep_what_they_have() {
    let mut flow = running(100);
    flow.limit = Limit::Application;
    ack(&mut flow, 20, 0, Fate::Acked);
    assert_eq!(flow.packets(), 100);
    flow.send(10);
    flow.now += BASE;
    let lost = flow.take(10);
    flow.feed(&Batch { lost, persistent_congestion: Some(Span::from_secs(1)), ..Batch::default() });
    assert_eq!(flow.packets(), 1);
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    let default = NsccParams::default;
    let cases = [
        (NsccParams { target: 0.0, ..default() }, "target"),
        (NsccParams { gamma: 1.1, ..default() }, "gamma"),
        (NsccParams { average: f64::NAN, ..default() }, "average"),
        (NsccParams { initial_window: 0, ..default() }, "initial_window"),
        (NsccParams { min_window: 0, ..default() }, "min_window"),
    ];
    for (params, name) in cases {
        assert_eq!(Nscc::new(params, &setup()).unwrap_err().name, name);
    }
}

/// Window in whole packets after each of 30 round trips: empty queue, 8 us, marked 20 us, trims in round 14, empty again.
#[test]
fn the_window_over_queues_marks_and_trims_is_as_recorded() {
    let mut flow = running(60);
    let windows = (0..30).map(|round| {
        flow.rtt = BASE
            + Span::from_micros(match round {
                0..4 | 20.. => 0,
                4..8 => 8,
                _ => 20,
            });
        let marked = (8..20).contains(&round);
        flow.fill();
        flow.now += flow.rtt;
        if round == 14 {
            trim(&mut flow, 5);
        }
        flow.report(&vec![if marked { Fate::Marked } else { Fate::Acked }; flow.in_flight.len()]);
        flow.packets().to_string()
    });
    insta::assert_snapshot!(windows.collect::<Vec<_>>().join(" "), @"62 78 97 122 122 123 123 124 122 75 43 24 13 7 1 1 1 1 1 1 1 2 3 4 5 6 8 10 12 16");
}
