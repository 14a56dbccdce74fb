use super::*;
use crate::testing::{Batch, Driver, Fate, MTU, setup};

const STAGE: Span = Span::from_micros(55);

/// A flow at the full rate of its link.
fn at_line_rate(gbps: u64, params: DcqcnParams) -> Driver<Dcqcn> {
    let mut local = setup();
    local.local_line_rate = Some(Rate::from_gbps(gbps));
    let mut flow = Driver::new(Dcqcn::new(params, &local).unwrap());
    flow.rtt = Span::from_micros(20);
    flow
}

fn notify(flow: &mut Driver<Dcqcn>) {
    flow.signal(&Signal::CongestionNotification);
}

fn mbps(flow: &Driver<Dcqcn>) -> u64 {
    flow.controller.pacing_rate().unwrap().as_bps() / 1_000_000
}

fn assert_close(value: f64, expected: f64, share: f64) {
    assert!((value / expected - 1.0).abs() <= share, "{value} is not within {share} of {expected}");
}

#[test]
fn a_flow_starts_at_the_rate_of_its_link_and_the_first_notification_halves_it() {
    let mut flow = at_line_rate(40, DcqcnParams::default());
    assert_eq!((mbps(&flow), flow.controller.next_timer()), (40_000, None));
    notify(&mut flow);
    assert_eq!((mbps(&flow), flow.controller.next_timer()), (20_000, Some(flow.now + STAGE)));
}

#[test]
fn alpha_decays_by_one_two_hundred_and_fifty_sixth_each_55_us_without_a_notification() {
    for intervals in [1_u64, 2, 10, 1_000] {
        let mut flow = at_line_rate(40, DcqcnParams::default());
        notify(&mut flow);
        flow.pass(STAGE.saturating_mul(intervals));
        flow.now += Span::from_nanos(1);
        let before = mbps(&flow);
        notify(&mut flow);
        let alpha = (255.0_f64 / 256.0).powi(intervals as i32);
        assert_close(mbps(&flow) as f64 / before as f64, 1.0 - alpha / 2.0, 1e-3);
        assert_close(flow.controller.alpha, alpha * 255.0 / 256.0 + 1.0 / 256.0, 1e-9);
    }
}

#[test]
fn rate_and_target_go_through_five_recoveries_and_then_increase() {
    let mut flow = at_line_rate(40, DcqcnParams::default());
    notify(&mut flow);
    flow.now += STAGE;
    notify(&mut flow);
    let mut rates = vec![(mbps(&flow), flow.controller.point.as_ref().unwrap().target().as_bps() / 1_000_000)];
    for _ in 0..7 {
        flow.pass(STAGE);
        rates.push((mbps(&flow), flow.controller.point.as_ref().unwrap().target().as_bps() / 1_000_000));
    }
    // alpha was 255/256 at the second: 20 000 x (1 - 255/512) = 10 039.0, and half of the 9 960.9 missing is regained five
    // times. Then the target gains 40 a stage.
    let expected = [
        (10_039, 20_000),
        (15_019, 20_000),
        (17_509, 20_000),
        (18_754, 20_000),
        (19_377, 20_000),
        (19_688, 20_000),
        (19_864, 20_040),
        (19_972, 20_080),
    ];
    assert_eq!(rates, expected);
}

#[test]
fn notifications_at_a_steady_distance_hold_alpha_and_rate_at_the_fixed_point_of_the_law() {
    // A notification each 6 stages. alpha' = (1 - g)^7 alpha + g, so alpha = g / (1 - (1 - g)^7) after a notification and
    // (1 - g)^6 of it before the next, which is what cuts. The rate loses R alpha / 2, regains all but 1/32 of it, the
    // target gains A = 40 Mb/s, and half of what is missing then is regained: R' = R + A - (R alpha / 64 + A) / 2. It
    // stands at R = 64 A / alpha.
    let mut flow = at_line_rate(100, DcqcnParams::default());
    for _ in 0..20_000 {
        flow.pass(STAGE.saturating_mul(6));
        notify(&mut flow);
    }
    let g = 1.0 / 256.0_f64;
    let alpha = g / (1.0 - (1.0 - g).powi(7));
    assert_close(flow.controller.alpha, alpha, 1e-6);
    let target = flow.controller.point.as_ref().unwrap().target().as_bps() as f64;
    assert_close(target, 64.0 * 40e6 / (alpha * (1.0 - g).powi(6)), 0.001);
}

#[test]
fn marks_on_acknowledgements_do_nothing_and_losses_halve_the_rate_once_a_round_trip() {
    let mut flow = at_line_rate(40, DcqcnParams::default());
    flow.send(40);
    flow.now += flow.rtt;
    flow.report(&[Fate::Marked; 10]);
    assert_eq!(mbps(&flow), 40_000);
    flow.report(&[[Fate::Lost; 10], [Fate::Acked; 10]].concat());
    flow.report(&[Fate::Lost; 10]);
    assert_eq!(mbps(&flow), 20_000);
    flow.send(2);
    let lost = flow.take(2);
    flow.now += flow.rtt;
    flow.feed(&Batch { lost, persistent_congestion: Some(Span::from_millis(1)), ..Batch::default() });
    assert_eq!(mbps(&flow), 1, "persistent congestion leaves the smallest rate");
}

#[test]
fn forged_notifications_reduce_at_most_once_each_4_us() {
    let mut flow = at_line_rate(40, DcqcnParams::default());
    for _ in 0..1_000 {
        notify(&mut flow);
    }
    assert_eq!(mbps(&flow), 20_000);
    flow.now += Span::from_micros(4);
    notify(&mut flow);
    assert_eq!(mbps(&flow), 10_000);
}

#[test]
fn bytes_sent_end_stages_as_well_as_time() {
    let params =
        DcqcnParams { stages: Stages { byte_reset: 10 * MTU, ..DcqcnParams::default().stages }, ..Default::default() };
    let mut flow = at_line_rate(40, params);
    notify(&mut flow);
    flow.send(9);
    assert_eq!(mbps(&flow), 20_000);
    flow.send(1);
    assert_eq!(mbps(&flow), 30_000);
    flow.send(10);
    assert_eq!(mbps(&flow), 35_000);
}

#[test]
fn without_a_known_link_the_rate_starts_from_the_initial_window_and_at_most_doubles_a_round_trip() {
    let mut flow = Driver::new(Dcqcn::new(DcqcnParams::default(), &setup()).unwrap());
    assert_eq!((flow.packets(), flow.controller.pacing_rate()), (10, None));
    flow.rounds(1);
    // Ten packets in 100 ms; the window is only a bound.
    assert_eq!((flow.packets(), flow.controller.pacing_rate()), (250, Some(Rate::from_kbps(800))));
    let sent_in_an_rtt = |flow: &Driver<Dcqcn>| flow.controller.pacing_rate().unwrap().bytes_in(flow.rtt) / MTU;
    let mut before = 10;
    for _ in 0..8 {
        flow.send(before);
        flow.pass(flow.rtt);
        flow.report(&vec![Fate::Acked; before as usize]);
        let after = sent_in_an_rtt(&flow);
        assert!((before..=2 * before).contains(&after), "{after} after {before}");
        before = after;
    }
    assert!(before >= 60, "{before}");
}

#[test]
fn over_long_paths_stages_and_decay_last_a_round_trip() {
    let mut flow = at_line_rate(40, DcqcnParams::default());
    flow.rtt = Span::from_millis(10);
    flow.ack_after(flow.rtt);
    notify(&mut flow);
    // Alpha has decayed once: 40 000 (1 - 255 / 512).
    flow.pass(Span::from_millis(9));
    assert_eq!(mbps(&flow), 20_078, "no answer can have come yet");
    flow.pass(Span::from_millis(1));
    assert_eq!(mbps(&flow), 30_039);
    let g = 1.0 / 256.0;
    assert_close(flow.controller.alpha, (1.0 - g) * (1.0 - g + g * g), 1e-9);
}

#[test]
fn the_window_moves_with_the_rate_and_not_with_queues() {
    let mut flow = at_line_rate(40, DcqcnParams::default());
    flow.ack_after(flow.rtt);
    // 25 x 40 Gb/s x 20 us.
    assert_eq!(flow.controller.window(), 2_500_000);
    flow.rtt = Span::from_micros(400);
    flow.ack_after(flow.rtt);
    assert_eq!(flow.controller.window(), 2_500_000);
    assert_eq!(flow.controller.handover().window, Some(100_000));
    let before = mbps(&flow);
    notify(&mut flow);
    assert_close(flow.controller.window() as f64 / 2_500_000.0, mbps(&flow) as f64 / before as f64, 1e-3);
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    let default = DcqcnParams::default;
    let stages = default().stages;
    let cases = [
        (DcqcnParams { g: 0.0, ..default() }, "g"),
        (DcqcnParams { alpha: 2.0, ..default() }, "alpha"),
        (DcqcnParams { alpha_timer: Span::ZERO, ..default() }, "alpha_timer"),
        (DcqcnParams { initial_window: 0, ..default() }, "initial_window"),
        (DcqcnParams { stages: Stages { threshold: 0, ..stages }, ..default() }, "threshold"),
        (DcqcnParams { stages: Stages { byte_reset: 0, ..stages }, ..default() }, "byte_counter"),
        (DcqcnParams { stages: Stages { time_reset: Span::ZERO, ..stages }, ..default() }, "timer"),
        (DcqcnParams { stages: Stages { min_rate: Rate::ZERO, ..stages }, ..default() }, "min_rate"),
    ];
    for (params, name) in cases {
        assert_eq!(Dcqcn::new(params, &setup()).unwrap_err().name, name);
    }
}

/// Rate in Mb/s and window in whole packets each 55 us: notifications in steps 2, 3 and 4, and in step 20.
#[test]
fn the_rate_over_four_notifications_is_as_recorded() {
    let mut flow = at_line_rate(40, DcqcnParams::default());
    flow.send(1);
    flow.now += flow.rtt;
    flow.report(&[Fate::Acked]);
    let steps = (0..32).map(|step| {
        flow.pass(STAGE);
        if matches!(step, 2..5 | 20) {
            notify(&mut flow);
        }
        format!("{}/{}", mbps(&flow), flow.packets())
    });
    insta::assert_snapshot!(steps.collect::<Vec<_>>().join(" "), @"40000/2500 40000/2500 20233/1264 15291/955 11570/723 17137/1071 19920/1245 21312/1332 22008/1375 22356/1397 22550/1409 22667/1416 22745/1421 22804/1425 22854/1428 22899/1431 22941/1433 22982/1436 23023/1438 23063/1441 12461/778 17782/1111 20443/1277 21773/1360 22438/1402 22771/1423 22957/1434 23070/1441 23147/1446 23205/1450 23254/1453 23299/1456");
}
