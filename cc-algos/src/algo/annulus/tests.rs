use super::*;
use crate::algo::fixed_window::{FixedWindow, FixedWindowParams};
use crate::testing::{Driver, Fate, MTU, setup};

/// A fixed window of 1 000 packets around the near-source loop: 80 Mb/s at 100 ms.
fn flow() -> Driver<Annulus> {
    let inner = FixedWindow::new(&FixedWindowParams { window: 1_000 * MTU }, &setup()).unwrap();
    let mut flow = Driver::new(Annulus::new(AnnulusParams::default(), Box::new(inner), &setup()).unwrap());
    flow.send(1);
    flow.now += flow.rtt;
    flow.report(&[Fate::Acked]);
    flow
}

/// A notice of a port of 10 Gb/s that aims at 26 kB, for a packet sent just now.
fn notice(flow: &Driver<Annulus>, queue_bytes: u64, former_queue_bytes: u64) -> NearSource {
    NearSource {
        queue_bytes,
        former_queue_bytes,
        set_point_bytes: 26_000,
        port_rate: Rate::from_gbps(10),
        triggered_by_sent_at: Some(flow.now),
    }
}

fn tell(flow: &mut Driver<Annulus>, queue: u64, former: u64) {
    let notice = notice(flow, queue, former);
    flow.now += Span::from_micros(5);
    flow.signal(&Signal::NearSource(notice));
}

fn mbps(flow: &Driver<Annulus>) -> Option<f64> {
    flow.controller.pacing_rate().map(|rate| rate.as_bps() as f64 / 1e6)
}

#[test]
fn the_feedback_is_that_of_qcn_in_63_steps() {
    let params = AnnulusParams::default();
    let flow = flow();
    // Q_off + 2 Q_delta over Q_eq (2 x 2 + 1) = 130 kB, times 63, rounded down.
    let cases = [
        (26_000, 26_000, 0),
        (52_000, 52_000, 12), // 26 / 130 x 63 = 12.6
        (52_000, 26_000, 37), // (26 + 52) / 130 x 63 = 37.8
        (52_000, 78_000, 0),  // falling fast enough
        (0, 0, 0),
        (1_000_000, 0, 63),
        (u64::MAX, 0, 63),
        (0, u64::MAX, 0),
    ];
    for (queue, former, expected) in cases {
        assert_eq!(params.feedback(&notice(&flow, queue, former)) as u64, expected, "{queue}, {former}");
    }
    let odd = NearSource { set_point_bytes: 0, ..notice(&flow, 1, 0) };
    assert!((0.0..=63.0).contains(&params.feedback(&odd)));
}

#[test]
fn a_notice_cuts_the_rate_by_a_128th_a_step_and_the_window_with_it() {
    let mut flow = flow();
    assert_eq!((flow.packets(), mbps(&flow)), (1_000, None));
    tell(&mut flow, 52_000, 26_000);
    // 80 Mb/s (1 - 37 / 128).
    assert_eq!(mbps(&flow), Some(56.875));
    assert_eq!((flow.controller.window(), flow.controller.state().phase), (710_937, "near_source"));
    let mut full = self::flow();
    tell(&mut full, u64::MAX, 0);
    assert_eq!(mbps(&full), Some(40.625), "63 steps leave a little more than half");
}

#[test]
fn notices_for_packets_sent_before_the_last_reduction_tell_nothing_new() {
    let mut flow = flow();
    let same = notice(&flow, u64::MAX, 0);
    flow.now += Span::from_micros(5);
    for _ in 0..100 {
        flow.signal(&Signal::NearSource(same));
    }
    assert_eq!(mbps(&flow), Some(40.625));
    let settled = NearSource { triggered_by_sent_at: None, ..same };
    flow.signal(&Signal::NearSource(settled));
    assert_eq!(mbps(&flow), Some(40.625));
    let idle_port = NearSource { port_rate: Rate::ZERO, ..notice(&flow, u64::MAX, 0) };
    flow.signal(&Signal::NearSource(idle_port));
    assert_eq!(mbps(&flow), Some(40.625));
    flow.now += Span::from_micros(1);
    tell(&mut flow, u64::MAX, 0);
    assert!(mbps(&flow) < Some(21.0));
}

#[test]
fn no_number_of_notices_stops_the_flow() {
    let mut flow = flow();
    for _ in 0..200 {
        tell(&mut flow, u64::MAX, 0);
    }
    assert_eq!(mbps(&flow), Some(10.0));
    assert!(flow.controller.window() >= MTU);
}

#[test]
fn the_rate_recovers_in_five_stages_and_the_near_loop_lets_go_at_the_rate_of_the_port() {
    let mut flow = flow();
    tell(&mut flow, u64::MAX, 0);
    for expected in [60.3125, 70.15625, 75.078125, 77.5390625, 78.76953125] {
        // A stage of the byte counter: 150 packets.
        flow.send(150);
        assert!((mbps(&flow).unwrap() - expected).abs() < 1e-3, "{:?}", mbps(&flow));
        flow.take(150);
    }
    for _ in 0..100_000 {
        flow.send(150);
        flow.take(150);
        flow.pass(Span::from_millis(15));
        if mbps(&flow).is_none() {
            break;
        }
    }
    assert_eq!((mbps(&flow), flow.packets(), flow.controller.next_timer()), (None, 1_000, None));
}

#[test]
fn while_the_near_loop_holds_the_sender_the_end_to_end_loop_does_not_grow() {
    let grown = |notices: bool| {
        let inner = NewReno::new(NewRenoParams::default(), &setup()).unwrap();
        let mut flow = Driver::new(Annulus::new(AnnulusParams::default(), Box::new(inner), &setup()).unwrap());
        flow.rtt = Span::from_millis(1);
        flow.rounds(3);
        for _ in 0..4 {
            if notices {
                tell(&mut flow, u64::MAX, 0);
            }
            flow.rounds(1);
        }
        flow.controller.end_to_end.window() / MTU
    };
    assert_eq!((grown(false), grown(true)), (1_280, 80));
}

#[test]
fn without_notices_it_is_the_end_to_end_loop() {
    let run = |controller: Box<dyn Controller>| {
        let mut flow = Driver::new(controller);
        flow.rounds(5);
        flow.lose_one();
        flow.rounds(10);
        flow.controller.state()
    };
    let registry = crate::Registry::builtin();
    for name in END_TO_END {
        let wrapped = registry.build(&format!("annulus?end_to_end={name}"), &setup()).unwrap();
        assert_eq!(run(wrapped), run(registry.build(name, &setup()).unwrap()), "{name}");
    }
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    let default = AnnulusParams::default;
    let no_timer = Stages { time_reset: Span::ZERO, ..default().stages };
    let cases = [
        (AnnulusParams { w: -1.0, ..default() }, "w"),
        (AnnulusParams { gd: 0.1, ..default() }, "gd"),
        (AnnulusParams { stages: no_timer, ..default() }, "timer"),
    ];
    for (params, name) in cases {
        let inner = FixedWindow::new(&FixedWindowParams { window: MTU }, &setup()).unwrap();
        assert_eq!(Annulus::new(params, Box::new(inner), &setup()).unwrap_err().name, name);
    }
}

/// Window in whole packets and rate in Mb/s each 5 ms: notices of growing queues in steps 2 and 3, of a small one in 12.
#[test]
fn window_and_rate_over_three_notices_are_as_recorded() {
    let mut flow = flow();
    let steps = (0..24).map(|step| {
        match step {
            2 | 3 => tell(&mut flow, 100_000, 60_000),
            12 => tell(&mut flow, 40_000, 40_000),
            _ => {}
        }
        flow.send(50);
        flow.take(50);
        flow.pass(Span::from_millis(5));
        format!("{}/{:.0}", flow.packets(), mbps(&flow).unwrap_or(0.0))
    });
    insta::assert_snapshot!(steps.collect::<Vec<_>>().join(" "), @"1000/0 1000/0 507/41 257/21 257/21 445/36 445/36 445/36 492/39 492/39 492/39 503/40 480/38 480/38 498/40 498/40 498/40 502/40 502/40 502/40 503/40 503/40 503/40 503/40");
}
