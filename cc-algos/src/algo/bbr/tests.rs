use super::*;
use crate::controller::Limit;
use crate::testing::{Batch, Driver, Fate, MTU, at, setup};

const RTT: Span = Span::from_millis(100);

/// A flow that begins with a window of so many packets.
fn resumed(packets: u64) -> Driver<Bbr> {
    let mut resumed = setup();
    resumed.handover = Some(Handover { window: Some(packets * MTU), min_rtt: Some(RTT), ..Handover::default() });
    Driver::new(Bbr::new(BbrParams::default(), &resumed).unwrap())
}

/// A flow past Startup over a path that delivers 100 packets in each round trip of 100 ms: 8 Mb/s.
fn settled() -> Driver<Bbr> {
    let mut flow = resumed(100);
    for _ in 0..12 {
        flow.send(100);
        flow.now += RTT;
        flow.report(&[Fate::Acked; 100]);
    }
    assert!(flow.controller.state().phase.starts_with("probe_bw"), "{}", flow.controller.state().phase);
    flow
}

#[test]
fn the_bandwidth_is_the_largest_of_ten_rounds() {
    let mut flow = settled();
    assert_eq!(flow.controller.bw(), Rate::from_mbps(8));
    let mut rounds = 0;
    while flow.controller.bw() > Rate::from_mbps(4) {
        flow.send(50);
        flow.now += RTT;
        flow.report(&[Fate::Acked; 50]);
        rounds += 1;
    }
    // The first of the slower rounds still measures what was delivered before it, and a sample ten rounds old counts.
    assert!((10..=12).contains(&rounds), "{rounds}");
}

#[test]
fn slower_rounds_of_an_application_change_nothing() {
    let mut flow = settled();
    flow.limit = Limit::Application;
    for _ in 0..30 {
        flow.send(10);
        flow.now += RTT;
        flow.report(&[Fate::Acked; 10]);
    }
    assert_eq!(flow.controller.bw(), Rate::from_mbps(8));
}

#[test]
fn the_first_round_of_a_recovery_lets_as_much_leave_as_arrives() {
    let mut flow = resumed(100);
    flow.fill();
    flow.now += RTT;
    flow.stretch = 2;
    flow.report(&[Fate::Lost, Fate::Acked]);
    assert_eq!(flow.packets(), 99, "98 in flight and one acknowledged");
    flow.stretch = 1;
    flow.report(&[Fate::Acked; 98]);
    assert_eq!(flow.packets(), 99, "all of the flight was sent before the loss was found");
    flow.send(2);
    flow.now += RTT;
    flow.report(&[Fate::Acked]);
    assert!(flow.packets() >= 100, "a round trip without losses brings the window back: {}", flow.packets());
}

#[test]
fn a_timeout_leaves_one_packet_and_spurious_losses_bring_the_window_back() {
    let mut flow = settled();
    let window = flow.controller.window();
    flow.send(100);
    flow.now += RTT;
    let lost = flow.take(100);
    flow.feed(&Batch { lost: lost.clone(), timeout: Some(1), ..Batch::default() });
    assert_eq!(flow.packets(), 1);
    flow.feed(&Batch { spurious: lost, ..Batch::default() });
    assert!(flow.controller.window() >= window.min(200 * MTU), "{}", flow.packets());
}

#[test]
fn every_phase_but_the_one_that_drains_may_be_first() {
    let mut begun = [0; 8];
    let mut bbr = Bbr::new(BbrParams::default(), &setup()).unwrap();
    for _ in 0..700 {
        bbr.enter_probe_bw(at(1));
        let State::ProbeBw { phase, .. } = bbr.state else { panic!("{:?}", bbr.state) };
        begun[usize::from(phase)] += 1;
    }
    assert_eq!(begun[1], 0);
    assert!(begun.iter().enumerate().all(|(phase, count)| phase == 1 || *count > 50), "{begun:?}");
}

#[test]
fn the_quantum_is_a_millisecond_of_the_rate_in_whole_packets() {
    let mut bbr = Bbr::new(BbrParams::default(), &setup()).unwrap();
    for (kbps, packets) in [(1_000, 1), (1_300, 2), (50_000, 6), (1_000_000, 65), (100_000_000, 65)] {
        bbr.pacing.follow(Rate::from_kbps(kbps), Gain::ONE, MTU);
        assert_eq!(bbr.quantum(), packets * MTU, "{kbps} kb/s");
    }
    // Three quanta and a pair more than the volume at most, in whole pairs.
    bbr.pacing.follow(Rate::from_mbps(10), Gain::ONE, MTU);
    assert_eq!((bbr.inflight(0), bbr.inflight(1), bbr.inflight(3_000)), (6_000, 8_000, 10_000));
}

#[test]
fn the_rate_derives_from_the_first_rtt_sample() {
    let mut flow = Driver::new(Bbr::new(BbrParams::default(), &setup()).unwrap());
    // 10 000 B / 1 ms x 2.885, then 10 000 B / 40 ms x 2.885.
    assert_eq!(flow.controller.pacing_rate(), Some(Rate::from_kbps(230_800)));
    flow.limit = Limit::Application;
    flow.rtt = Span::from_millis(40);
    flow.send(1);
    flow.now += flow.rtt;
    flow.report(&[Fate::Acked]);
    assert_eq!(flow.controller.pacing_rate(), Some(Rate::from_kbps(5_770)));
}

#[test]
fn round_trips_of_seconds_leave_ten_between_two_probes_of_the_rtt() {
    let mut flow = Driver::new(Bbr::new(BbrParams::default(), &setup()).unwrap());
    flow.rtt = Span::from_secs(4);
    let mut between = Vec::new();
    let mut since = 0;
    for _ in 0..100 {
        flow.send(flow.packets().min(40));
        flow.now += flow.rtt;
        let packets = flow.in_flight.len();
        flow.report(&vec![Fate::Acked; packets]);
        since += 1;
        if flow.controller.state().phase == "probe_rtt" {
            between.push(core::mem::take(&mut since));
        }
    }
    // The round trips of one probe follow upon each other.
    between.retain(|rounds| *rounds > 1);
    assert!(between.len() > 5 && between.iter().all(|rounds| *rounds > 10), "{between:?}");
}

#[test]
fn silence_of_an_application_replaces_probe_rtt() {
    let mut flow = settled();
    flow.limit = Limit::Application;
    flow.idle(Span::from_secs(11));
    assert_eq!(flow.controller.pacing_rate(), Some(Rate::from_kbps(7_920)), "99 % of the bandwidth");
    flow.send(10);
    flow.now += RTT;
    flow.report(&[Fate::Acked]);
    assert_ne!(flow.controller.state().phase, "probe_rtt");
}

#[test]
fn it_asks_for_drops_and_not_for_marks() {
    assert_eq!(Bbr::new(BbrParams::default(), &setup()).unwrap().ecn(), Ecn::NotEct);
}

#[test]
fn a_new_path_is_learnt_from_the_beginning() {
    let mut flow = settled();
    flow.signal(&Signal::PathChange { path: crate::PathId(0), change: PathChange::Migrated });
    assert_eq!((flow.packets(), flow.controller.state().phase), (10, "startup"));
    assert_eq!(flow.controller.handover().bandwidth, None);
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    let default = BbrParams::default;
    let cases = [
        (BbrParams { startup_gain: 1.0, ..default() }, "startup_gain"),
        (BbrParams { probe_gain: 2.0, ..default() }, "probe_gain"),
        (BbrParams { cwnd_gain: f64::NAN, ..default() }, "cwnd_gain"),
        (BbrParams { bw_window: 0, ..default() }, "bw_window"),
        (BbrParams { min_rtt_window: Span::ZERO, ..default() }, "min_rtt_window"),
        (BbrParams { initial_window: 0, ..default() }, "initial_window"),
    ];
    for (params, name) in cases {
        assert_eq!(Bbr::new(params, &setup()).unwrap_err().name, name);
    }
}
