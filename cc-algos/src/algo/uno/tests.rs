use super::*;
use crate::controller::{Limit, Oracle};
use crate::testing::{Driver, Fate, MTU, assert_near, setup};

/// Base RTT of the distant path, and of those nearby: BDPs of 1 250 kB and 12 500 B at 1 Gb/s.
const DISTANT_RTT: Span = Span::from_millis(10);
const NEARBY_RTT: Span = Span::from_micros(100);
const BDP: u64 = 1_250_000;
/// A little more than an epoch of the distant path.
const EPOCH: Span = Span::from_micros(110);

fn told(base_rtt: Span) -> Setup {
    let mut setup = setup();
    setup.oracle = Some(Oracle { base_rtt, bottleneck: Rate::from_gbps(1) });
    setup.host_view.nearby_rtt = Some(NEARBY_RTT);
    setup.host_view.nearby_bdp_bytes = Some(12_500);
    setup
}

fn flow_of(params: UnoParams, setup: &Setup, rtt: Span) -> Driver<Uno> {
    let mut flow = Driver::new(Uno::new(params, setup).unwrap());
    flow.rtt = rtt;
    flow
}

/// A flow between datacentres with a window of `packets` that knows its path, without Quick Adapt.
fn distant(packets: u64, mut params: UnoParams) -> Driver<Uno> {
    let mut setup = told(DISTANT_RTT);
    setup.handover = Some(Handover::of_window(packets * MTU));
    params.quick_adapt = false;
    flow_of(params, &setup, DISTANT_RTT)
}

/// Sends `packets` and has them acknowledged an RTT later, all with the same fate, each in an epoch of its own: `gap` apart.
fn spaced(flow: &mut Driver<Uno>, fates: &[Fate], gap: Span) {
    let mut due = Vec::new();
    for _ in fates {
        flow.send(1);
        due.push(flow.now + flow.rtt);
        flow.now += gap;
    }
    for (at, fate) in due.into_iter().zip(fates) {
        flow.now = flow.now.max(at);
        flow.report(&[*fate]);
    }
}

/// A window is sent and acknowledged, and the first epoch ends. Nothing grows, so that cuts stand alone.
fn settle(flow: &mut Driver<Uno>) {
    flow.limit = Limit::Application;
    flow.send(1_000);
    flow.now += flow.rtt;
    flow.report(&[Fate::Acked; 1_000]);
    spaced(flow, &[Fate::Acked], EPOCH);
}

#[test]
fn a_flow_that_knows_its_path_starts_with_one_product_and_paces_it_over_the_base_rtt() {
    let flow = flow_of(UnoParams::default(), &told(DISTANT_RTT), DISTANT_RTT);
    assert_eq!(flow.controller.window(), BDP);
    assert_eq!(flow.controller.pacing_rate(), Some(Rate::from_gbps(1)));
}

#[test]
fn a_window_of_unmarked_packets_adds_a_thousandth_of_the_product() {
    let mut flow = distant(500, UnoParams::default());
    flow.fill();
    flow.now += flow.rtt;
    flow.report(&[Fate::Acked; 500]);
    // 1 250 B, a little less since the window grows on the way.
    assert_near(flow.controller.window() as f64, 501_250.0);
}

#[test]
fn the_decrease_of_a_full_epoch_follows_k_and_scales_with_the_product() {
    // K = 12 500 / 7. Nearby 4 K / (K + 7 K) = 1/2; at a hundred times that RTT 4 / (1 + 700).
    let nearby = Scale::new(&UnoParams::default(), &Pipe::new(&told(NEARBY_RTT)), Some(12_500.0)).unwrap();
    assert_near(nearby.beta, 0.5);
    assert_near(nearby.ratio, 1.0);
    let distant = Scale::new(&UnoParams::default(), &Pipe::new(&told(DISTANT_RTT)), Some(12_500.0)).unwrap();
    assert_near(distant.beta, 4.0 / 701.0);
    assert_near(distant.ratio, 0.01);
    // The artifact's own: K = 24 576 B, 175 344 B nearby, 22 400 515 B far away: 0.4917 and 0.004 383 66.
    let mut artifact = told(Span::from_nanos(1_792_041));
    artifact.oracle = Some(Oracle { base_rtt: Span::from_nanos(1_792_041), bottleneck: Rate::from_gbps(100) });
    let params = UnoParams { k: 24_576.0 / 175_344.0, ..UnoParams::default() };
    let scale = Scale::new(&params, &Pipe::new(&artifact), Some(175_344.0)).unwrap();
    assert_near(scale.beta, 0.004_383_66);
    assert_near(scale.increase, 22_400.5);
}

#[test]
fn marks_of_a_phantom_queue_take_a_third_and_those_of_a_real_one_all() {
    let cut = |late: bool| {
        let params = UnoParams { draining: false, delay: false, weight: 1.0, ..UnoParams::default() };
        let mut flow = distant(1_000, params);
        settle(&mut flow);
        let before = flow.controller.window() as f64;
        flow.rtt = if late { DISTANT_RTT.mul_f64(1.06) } else { DISTANT_RTT };
        // The first ends the epochs of the pause before it.
        spaced(&mut flow, &[Fate::Acked, Fate::Marked], EPOCH);
        1.0 - flow.controller.window() as f64 / before
    };
    assert_near(cut(true) / (4.0 / 701.0), 1.0);
    assert_near(cut(false) / (0.35 * 4.0 / 701.0), 1.0);
}

#[test]
fn a_round_trip_full_of_marks_costs_a_distant_flow_nearly_what_it_costs_a_near_one() {
    // 100 packets 110 us apart span 110 epochs of 100 us: (1 - 4/701)^110 = 0.53, against 1/2 of the near flow.
    let params = UnoParams { draining: false, weight: 1.0, gentle: 1.0, ..UnoParams::default() };
    let mut flow = distant(1_000, params);
    settle(&mut flow);
    let before = flow.controller.window() as f64;
    let fates = [&[Fate::Acked][..], &[Fate::Marked; 100]].concat();
    spaced(&mut flow, &fates, EPOCH);
    let left = flow.controller.window() as f64 / before;
    assert!((0.51..0.55).contains(&left), "{left}");
}

#[test]
fn while_marks_get_fewer_the_window_grows() {
    let after = |draining| {
        let mut flow = distant(1_000, UnoParams { draining, weight: 0.5, ..UnoParams::default() });
        settle(&mut flow);
        flow.limit = Limit::Window;
        // An epoch of one packet after the pause, then 4 marks of 4; then again one, and a mark of 4.
        let gap = Span::from_nanos(EPOCH.as_nanos() / 4);
        spaced(&mut flow, &[Fate::Marked; 5], gap);
        let before = flow.controller.window();
        spaced(&mut flow, &[Fate::Acked, Fate::Acked, Fate::Acked, Fate::Marked, Fate::Acked], gap);
        (before, flow.controller.window())
    };
    let (before, now) = after(true);
    assert!(now > before, "{before} B and then {now} B");
    let (before, now) = after(false);
    assert!(now < before, "{before} B and then {now} B");
}

#[test]
fn a_distant_flow_answers_delay_where_nothing_marks_and_a_near_one_does_not() {
    let kept = |base: Span, delay: bool| {
        let mut setup = told(base);
        setup.handover = Some(Handover::of_window(100 * MTU));
        let params = UnoParams { quick_adapt: false, max_window: 10.0, delay, ..UnoParams::default() };
        let mut flow = flow_of(params, &setup, base);
        flow.limit = Limit::Application;
        flow.send(100);
        flow.now += base;
        flow.report(&[Fate::Acked; 100]);
        let before = flow.controller.window.exact();
        flow.rtt = base.mul_f64(1.2);
        spaced(&mut flow, &[Fate::Acked; 2], EPOCH);
        flow.controller.window.exact() / before
    };
    // ratio x 0.05 / 1.1, with a ratio of a hundredth.
    assert_near((1.0 - kept(DISTANT_RTT, true)) * 1e4, 0.01 * 0.05 / 1.1 * 1e4);
    assert_near(kept(DISTANT_RTT, false), 1.0);
    assert_near(kept(NEARBY_RTT, true), 1.0);
}

#[test]
fn quick_adapt_takes_what_was_achieved_in_a_target_round_trip() {
    let mut flow = flow_of(UnoParams::default(), &told(DISTANT_RTT), DISTANT_RTT);
    // 1 250 packets out; the first acknowledgement begins the period of 10.5 ms, and from then on a packet comes back every 25 us.
    flow.fill();
    flow.now += DISTANT_RTT;
    flow.report(&[Fate::Acked]);
    for _ in 0..419 {
        flow.now += Span::from_micros(25);
        flow.report(&[Fate::Acked]);
    }
    assert!(flow.controller.window() > 1_249_000, "the period is not over");
    flow.now += Span::from_micros(25);
    flow.report(&[Fate::Acked]);
    // 420 packets in the period: 0.96 of that. The delivery rate of the newest, 421 packets in 20.5 ms, is less.
    assert_near(flow.controller.window.exact(), 0.96 * 420_000.0);
    // It adapts again only on what is sent from now on.
    let adapted = flow.controller.window();
    for _ in 0..20 {
        flow.now += Span::from_millis(1);
        flow.report(&[Fate::Acked]);
    }
    assert!(flow.controller.window() >= adapted, "{} B after {adapted} B", flow.controller.window());
}

#[test]
fn epochs_without_packets_count_for_a_round_trip_at_most() {
    let left_after = |pause| {
        let mut flow = distant(1_000, UnoParams { draining: false, weight: 1.0, gentle: 1.0, ..UnoParams::default() });
        settle(&mut flow);
        flow.now += pause;
        let before = flow.controller.window() as f64;
        flow.send(50);
        flow.now += flow.rtt;
        flow.report(&[Fate::Marked; 50]);
        flow.controller.window() as f64 / before
    };
    // Sent in the same instant: those of the pause end, and the next one is not before a length later. A packet sent 10 ms
    // after the last has 100 epochs of 100 us behind it, as one a second later has.
    assert_near(left_after(Span::ZERO), (1.0_f64 - 4.0 / 701.0).powi(100));
    assert_near(left_after(Span::from_secs(1)), (1.0_f64 - 4.0 / 701.0).powi(100));
}

#[test]
fn without_knowledge_the_window_doubles_until_a_mark_a_loss_or_the_product_of_the_local_link() {
    let mut flow = flow_of(UnoParams::default(), &setup(), DISTANT_RTT);
    flow.rounds(3);
    assert!(flow.packets() >= 80 && flow.controller.in_slow_start());
    flow.lose_one();
    assert!(!flow.controller.in_slow_start());

    let mut local = setup();
    local.local_line_rate = Some(Rate::from_gbps(1));
    let mut flow = flow_of(UnoParams::default(), &local, DISTANT_RTT);
    flow.rounds(10);
    assert_eq!((flow.controller.window(), flow.controller.in_slow_start()), (BDP, false));
}

#[test]
fn a_lost_packet_takes_its_bytes_and_with_zero_nothing() {
    let after = |loss| {
        let mut flow = distant(100, UnoParams { loss, ..UnoParams::default() });
        flow.limit = Limit::Application;
        flow.send(2);
        flow.now += flow.rtt;
        flow.report(&[Fate::Lost, Fate::Lost]);
        flow.controller.window()
    };
    assert_eq!((after(1.0), after(0.0)), (98_000, 100_000));
}

#[test]
fn fast_increase_counts_clean_epochs_from_the_third_on() {
    let grown = |fast_increase| {
        let mut flow = distant(500, UnoParams { fast_increase, ..UnoParams::default() });
        flow.fill();
        flow.now += flow.rtt;
        flow.report(&[Fate::Acked; 500]);
        spaced(&mut flow, &[Fate::Acked; 10], EPOCH);
        flow.controller.window.exact()
    };
    // Of ten packets, each an epoch: one, one, three, four ... nine times a share of 1 250 x 1 000 / 501 250 = 2.494 B.
    let (slow, fast) = (grown(false), grown(true));
    assert!(fast > slow + 30.0 * 2.4 && fast < slow + 50.0 * 2.5, "{slow} B and {fast} B");
}

#[test]
fn parameters_out_of_range_are_refused_by_name() {
    let refused = |change: fn(&mut UnoParams)| {
        let mut params = UnoParams::default();
        change(&mut params);
        Uno::new(params, &setup()).unwrap_err().name
    };
    assert_eq!(refused(|params| params.k = 0.5), "k");
    assert_eq!(refused(|params| params.target = 1.0), "target");
    assert_eq!(refused(|params| params.weight = f64::NAN), "weight");
    assert_eq!(refused(|params| params.loss = -1.0), "loss");
    assert_eq!(refused(|params| params.min_window = 0), "min_window");
}
