//! What every algorithm of the crate must keep, whatever its law.

use proptest::prelude::*;

use crate::controller::{
    Cause, Controller, DeliverySample, Feedback, Flight, Handover, Limit, PacketRecord, RttSample, Setup, Tally,
};
use crate::declare::Declaration;
use crate::registry::Registry;
use crate::signal::{CsigSample, CsigValue, IntHop, PathChange, Signal};
use crate::testing::{Batch, Driver, Fate, MTU, Signals, setup};
use crate::units::{Rate, Span, Timestamp};
use crate::{Ecn, Entropy, PathId};

fn names() -> Vec<String> {
    Registry::builtin().iter().map(|algorithm| algorithm.name().to_owned()).collect()
}

fn build(spec: &str, setup: &Setup) -> Box<dyn Controller> {
    Registry::builtin().build(spec, setup).unwrap()
}

/// The smallest window that an algorithm declares, packets; one for those that declare nothing but the control.
fn least_packets(name: &str) -> f64 {
    let registry = Registry::builtin();
    let declaration = registry.find(name).unwrap().declaration();
    if *declaration == Declaration::default() && name != "fixed-window" { 1.0 } else { declaration.bounds.min_window }
}

fn assert_sane(name: &str, controller: &dyn Controller) {
    let state = controller.state();
    assert!(controller.window() > 0, "{name}: the window is zero");
    assert_eq!(state.window, controller.window(), "{name}: the picture shows another window");
    assert_eq!(state.pacing_rate, controller.pacing_rate(), "{name}: the picture shows another rate");
    assert_ne!(controller.pacing_rate(), Some(Rate::ZERO), "{name}: nothing would ever leave");
    for (gauge, value) in state.gauges() {
        assert!(value.is_finite(), "{name}: {gauge} is {value}");
    }
}

/// One packet of every extreme kind.
fn extreme_packets() -> Vec<PacketRecord> {
    let mut packets = Vec::new();
    for bytes in [0, 1, u32::MAX] {
        for nanos in [0, 1, u64::MAX] {
            let mut packet = PacketRecord::new(packets.len() as u64, bytes, Timestamp::from_nanos(nanos));
            packet.arrived_as = Some(Ecn::Ce);
            packets.push(packet);
        }
    }
    packets.sort_by_key(|packet| packet.sent_at);
    packets
}

#[test]
fn zero_and_endless_inputs_leave_every_algorithm_sane() {
    let packets = extreme_packets();
    let extremes = [0, 1, MTU, u64::MAX];
    for name in names() {
        for mtu in extremes {
            for rtt in [Span::ZERO, Span::from_nanos(1), Span::MAX] {
                let mut controller = build(&name, &Setup::new(Timestamp::ZERO, mtu, 1));
                for amount in extremes {
                    let mut flight = Flight::idle(mtu);
                    (flight.bytes, flight.packets, flight.delivered, flight.lost) = (amount, amount, amount, amount);
                    (flight.smoothed_rtt, flight.latest_rtt, flight.min_rtt) = (Some(rtt), Some(rtt), Some(rtt));
                    flight.rtt_variation = rtt;
                    let tally = Tally { bytes: amount, packets: amount };
                    for now in [Timestamp::ZERO, Timestamp::from_nanos(u64::MAX)] {
                        let mut feedback = Feedback::new(now, Cause::Ack);
                        feedback.rtt = Some(RttSample { latest: rtt, ack_delay: Span::MAX, sent_at: Timestamp::ZERO });
                        feedback.prior_in_flight = amount;
                        feedback.acked = &packets;
                        feedback.newly_acked = tally;
                        feedback.delivery =
                            Some(DeliverySample::new(Rate::from_bps(amount), amount, amount, rtt, packets[0].at_send));
                        controller.on_feedback(&feedback, &flight);
                        assert_sane(&name, &*controller);
                        feedback.lost = &packets;
                        feedback.newly_lost = tally;
                        feedback.newly_marked = tally;
                        feedback.recovered = tally;
                        controller.on_feedback(&feedback, &flight);
                        assert_sane(&name, &*controller);
                        feedback.spurious = &packets;
                        feedback.persistent_congestion = Some(rtt);
                        controller.on_feedback(&feedback, &flight);
                        controller.on_signal(now, &Signal::Restart { idle: rtt }, &flight);
                        controller.on_signal(now, &Signal::MtuChange { mtu: amount }, &flight);
                        assert_sane(&name, &*controller);
                    }
                }
            }
        }
    }
}

#[test]
fn any_handover_is_taken_and_handed_on() {
    for name in names() {
        for amount in [0, 1, 50_000, u64::MAX] {
            let mut resumed = setup();
            resumed.handover = Some(Handover {
                window: Some(amount),
                ssthresh: Some(amount),
                min_rtt: Some(Span::from_nanos(amount)),
                bandwidth: Some(Rate::from_bps(amount)),
            });
            let controller = build(&name, &resumed);
            assert_sane(&name, &*controller);
            let handed_on = controller.handover();
            assert!(handed_on.window.is_some() || handed_on.bandwidth.is_some(), "{name} hands nothing over");
        }
    }
}

#[test]
fn laws_that_differ_on_paper_differ_on_one_saw_tooth() {
    // A loss at 100 packets, 30 round trips of 100 ms, a round that is marked, 10 more.
    let window = |spec: &str| {
        let mut resumed = setup();
        resumed.handover = Some(Handover { window: Some(100 * MTU), ssthresh: Some(100 * MTU), ..Handover::default() });
        let mut flow = Driver::new(build(spec, &resumed));
        flow.lose_one();
        flow.rounds(30);
        flow.round(|_| Fate::Marked);
        flow.rounds(10);
        flow.packets()
    };
    let windows: Vec<_> = ["newreno", "newreno?beta=0.7", "cubic", "dctcp", "fixed-window"].map(window).into();
    for (index, one) in windows.iter().enumerate() {
        assert!(!windows[index + 1..].contains(one), "{windows:?}");
    }
}

/// The window in whole packets after each of 50 round trips of 50 ms: a loss in round 5 and in round 30, a marked round 18.
fn curve(spec: &str) -> String {
    let mut flow = Driver::new(build(spec, &setup()));
    flow.rtt = Span::from_millis(50);
    let windows = (0..50).map(|round| {
        match round {
            5 | 30 => flow.lose_one(),
            18 => flow.round(|_| Fate::Marked),
            _ => flow.rounds(1),
        }
        flow.packets().to_string()
    });
    windows.collect::<Vec<_>>().join(" ")
}

#[test]
fn the_windows_over_a_loss_a_mark_and_a_loss_are_as_recorded() {
    insta::assert_snapshot!(curve("newreno"), @"20 40 80 160 320 160 161 162 163 164 165 166 167 168 169 170 171 172 86 87 88 89 90 91 92 93 94 95 96 97 48 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66");
    insta::assert_snapshot!(curve("cubic"), @"20 40 80 160 320 224 224 227 229 231 233 235 238 240 242 244 246 248 173 174 175 176 177 178 179 180 182 183 184 185 129 130 130 131 132 133 134 135 136 137 138 138 139 140 141 141 142 143 143 144");
    insta::assert_snapshot!(curve("dctcp"), @"20 40 80 160 320 160 161 162 163 164 165 166 167 168 169 170 171 172 145 145 146 147 148 149 150 151 152 153 154 155 77 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95");
}

/// Something that can happen to a flow.
#[derive(Clone, Debug)]
enum Op {
    Fill,
    Send(u64),
    Wait(u64),
    Report(Vec<Fate>),
    Recover(usize),
    LateAck(usize),
    PersistentCongestion,
    Limit(Limit),
    Stretch(usize),
    Idle(u64),
    Mtu(u64),
    Migrate,
    Signals(Signals),
}

/// A number of any size, often an extreme one.
fn extreme() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(1), Just(u64::MAX), 0_u64..1_000_000_000, any::<u64>()]
}

/// One hop's report, whether or not any switch could make it.
fn forged_hop() -> impl Strategy<Value = IntHop> {
    (0_u32..3, extreme(), extreme(), extreme(), extreme()).prop_map(|(port, at, tx_bytes, queue_bytes, rate)| IntHop {
        port,
        at: Timestamp::from_nanos(at),
        tx_bytes,
        queue_bytes,
        rate: Rate::from_bps(rate),
    })
}

fn forged_sample() -> impl Strategy<Value = CsigSample> {
    let value = (0_u8..4, extreme()).prop_map(|(kind, value)| match kind {
        0 => CsigValue::AvailableBandwidth(Rate::from_bps(value)),
        1 => CsigValue::AvailableRatioPpm(value as u32),
        2 => CsigValue::HopDelay(Span::from_nanos(value)),
        _ => CsigValue::QueueDepth(Span::from_nanos(value)),
    });
    value.prop_map(|value| CsigSample::new(value, 0, PathId(0), Entropy(0), Span::ZERO))
}

fn forged_signals() -> impl Strategy<Value = Signals> {
    let int = prop::collection::vec(forged_hop(), 0..10);
    let csig = prop::collection::vec(forged_sample(), 0..3);
    let fabric_delay = prop::option::of(extreme().prop_map(Span::from_nanos));
    (int, csig, fabric_delay, prop::option::of(any::<u8>())).prop_map(|(int, csig, fabric_delay, hops)| Signals {
        int,
        csig,
        fabric_delay,
        hops,
    })
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![8 => Just(Fate::Acked), 1 => Just(Fate::Marked), 1 => Just(Fate::Lost)]
}

fn op() -> impl Strategy<Value = Op> {
    let limits = [Limit::Window, Limit::Application, Limit::Pacing, Limit::Receiver];
    prop_oneof![
        6 => Just(Op::Fill),
        2 => (1_u64..20).prop_map(Op::Send),
        6 => (0_u64..200).prop_map(Op::Wait),
        8 => prop::collection::vec(fate(), 1..80).prop_map(Op::Report),
        1 => (1_usize..5).prop_map(Op::Recover),
        2 => (1_usize..5).prop_map(Op::LateAck),
        1 => Just(Op::PersistentCongestion),
        2 => prop::sample::select(limits.to_vec()).prop_map(Op::Limit),
        1 => (1_usize..30).prop_map(Op::Stretch),
        1 => (1_u64..10_000).prop_map(Op::Idle),
        1 => prop::sample::select(vec![1_u64, 500, MTU, 9_000]).prop_map(Op::Mtu),
        1 => Just(Op::Migrate),
        3 => forged_signals().prop_map(Op::Signals),
    ]
}

/// Never so many packets that a test takes long: the window may be endless.
const MOST_PACKETS: u64 = 300;

fn apply(flow: &mut Driver<Box<dyn Controller>>, op: &Op, lost: &mut Vec<PacketRecord>) {
    match op {
        Op::Fill => {
            let room = flow.packets().min(MOST_PACKETS).saturating_sub(flow.in_flight.len() as u64);
            flow.send(room);
        }
        Op::Send(packets) if (flow.in_flight.len() as u64) < MOST_PACKETS => flow.send(*packets),
        Op::Wait(millis) => flow.now += Span::from_millis(*millis),
        Op::Report(fates) => {
            let known = fates.len().min(flow.in_flight.len());
            let gone = flow.in_flight.iter().zip(fates).filter(|(_, fate)| **fate == Fate::Lost);
            lost.extend(gone.map(|(packet, _)| *packet));
            flow.report(&fates[..known]);
        }
        Op::Recover(packets) => {
            let recovered = flow.take((*packets).min(flow.in_flight.len()));
            flow.feed(&Batch { recovered, ..Batch::default() });
        }
        Op::LateAck(packets) => {
            let spurious = lost.drain(..(*packets).min(lost.len())).collect();
            flow.feed(&Batch { spurious, ..Batch::default() });
        }
        Op::PersistentCongestion => {
            let gone = flow.take(flow.in_flight.len());
            flow.feed(&Batch { lost: gone, persistent_congestion: Some(Span::from_secs(1)), ..Batch::default() });
        }
        Op::Limit(limit) => flow.limit = *limit,
        Op::Stretch(stretch) => flow.stretch = *stretch,
        Op::Idle(millis) if flow.in_flight.is_empty() => flow.idle(Span::from_millis(*millis)),
        Op::Mtu(mtu) if flow.in_flight.is_empty() => flow.set_mtu(*mtu),
        Op::Migrate => flow.signal(&Signal::PathChange { path: PathId(0), change: PathChange::Migrated }),
        Op::Signals(signals) => flow.signals = signals.clone(),
        Op::Send(_) | Op::Idle(_) | Op::Mtu(_) => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_course_of_events_leaves_every_algorithm_sane_and_repeatable(
        ops in prop::collection::vec(op(), 1..80),
        fork in 0_usize..80,
    ) {
        for name in names() {
            let (mut flow, mut lost) = (Driver::new(build(&name, &setup())), Vec::new());
            let mut forked = None;
            for (index, op) in ops.iter().enumerate() {
                if index == fork {
                    forked = Some((flow.fork(), lost.clone()));
                }
                apply(&mut flow, op, &mut lost);
                assert_sane(&name, &*flow.controller);
                let least = least_packets(&name) * flow.mtu() as f64;
                prop_assert!(flow.controller.window() as f64 >= least.floor(), "{} fell below its minimum", name);
                if let Some((copy, copied_lost)) = &mut forked {
                    apply(copy, op, copied_lost);
                    prop_assert_eq!(copy.controller.state(), flow.controller.state(), "{}", &name);
                }
            }
        }
    }

    #[test]
    fn no_window_grows_without_being_used(
        fates in prop::collection::vec(prop_oneof![9 => Just(Fate::Acked), 1 => Just(Fate::Marked)], 1..400),
    ) {
        for name in names() {
            let mut flow = Driver::new(build(&name, &setup()));
            flow.limit = Limit::Application;
            let begin = flow.controller.window();
            for fates in fates.chunks(3) {
                flow.send(fates.len() as u64);
                flow.now += flow.rtt;
                flow.report(fates);
                // The window of a law that sets a rate may be no more than a bound, which nothing ever reaches.
                let paced = flow.controller.pacing_rate().map_or(u64::MAX, |rate| rate.bytes_in(flow.rtt));
                prop_assert!(flow.controller.window().min(paced) <= begin, "{} grew", name);
            }
        }
    }

    #[test]
    fn more_loss_never_leaves_a_larger_window(place in 0_usize..40, rounds in 1_usize..30) {
        for name in ["newreno", "cubic", "dctcp"] {
            let run = |fate: Fate| {
                let mut resumed = setup();
                resumed.handover = Some(Handover { window: Some(40 * MTU), ssthresh: Some(MTU), ..Handover::default() });
                let mut flow = Driver::new(build(name, &resumed));
                flow.round(|packet| if packet == place { fate } else { Fate::Acked });
                flow.rounds(rounds);
                flow.controller.window()
            };
            prop_assert!(run(Fate::Lost) < run(Fate::Acked), "{}", name);
        }
    }
}
