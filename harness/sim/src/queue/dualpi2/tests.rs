use cc_algos::Rate;

use super::super::testing::{Port, millis, packet};
use super::*;

fn dual() -> DualPi2 {
    DualPi2::new(DualPi2Spec { capacity: Capacity::Unlimited, ..DualPi2Spec::default() })
}

fn with(ecn: Ecn) -> Queued {
    Queued { ecn, ..packet(0) }
}

fn micros(micros: u64) -> SimTime {
    SimTime::ZERO + Span::from_micros(micros)
}

/// 120 Mb/s: a packet of 1 500 bytes takes 100 us.
const RATE: Rate = Rate::from_mbps(120);

/// Offers packets of each (packets per second, codepoint) evenly for `seconds`.
fn load(port: &mut Port, flows: &[(u64, Ecn)], seconds: u64) {
    let mut arrivals: Vec<_> = flows
        .iter()
        .flat_map(|&(rate, ecn)| (0..rate * seconds).map(move |n| (n * 1_000_000_000_000 / rate, ecn)))
        .collect();
    arrivals.sort_by_key(|arrival| arrival.0);
    for (at, ecn) in arrivals {
        port.offer(SimTime::from_picos(at), with(ecn));
    }
}

/// Share of packets with the codepoint's fate after `from`, of those sent or dropped with it.
fn share(port: &Port, from: SimTime, is_hit: impl Fn(Ecn) -> bool, is_counted: impl Fn(Ecn) -> bool) -> f64 {
    let sent: Vec<_> = port.sent().filter(|sent| sent.0 > from && is_counted(sent.1.ecn)).collect();
    sent.iter().filter(|sent| is_hit(sent.1.ecn)).count() as f64 / sent.len() as f64
}

#[test]
fn the_controller_follows_its_law_on_the_head_of_the_queue() {
    let (mut queue, mut dropped) = (dual(), Vec::new());
    for _ in 0..10 {
        queue.enqueue(SimTime::ZERO, with(Ecn::NotEct), &mut dropped);
    }
    // Gains of figure 2: alpha 0.1 x 0.015 / 0.1^2 = 0.15, beta 3. The head waits 15 ms: alpha 0 + beta 15 ms = 0.045.
    queue.catch_up(millis(15));
    assert!((queue.base_probability() - 0.045).abs() < 1e-12);
    // 30 ms: + alpha 15 ms + beta 15 ms = 0.09225. A younger tail does not matter.
    queue.enqueue(millis(29), Queued { arrived: millis(29), ..with(Ecn::NotEct) }, &mut dropped);
    queue.catch_up(millis(30));
    assert!((queue.base_probability() - 0.092_25).abs() < 1e-12);
    // The longer of both heads counts: a low-latency packet from 31 ms is younger than the classic head.
    queue.enqueue(millis(31), Queued { arrived: millis(31), ..with(Ecn::Ect1) }, &mut dropped);
    queue.catch_up(millis(45));
    assert!((queue.base_probability() - (0.092_25 + 0.15 * 0.030 + 3.0 * 0.015)).abs() < 1e-12);
}

#[test]
fn both_queues_are_coupled_by_the_root() {
    // Classic 9 600 packets/s into the 9 000 that 1 000 low-latency ones leave of 10 000: p_C = 1 - 9000/9600 = 0.0625 =
    // p'^2, so p' = 0.25 and p_CL = 2 p' = 0.5. The low-latency packets are 1 ms apart and wait for one packet at most,
    // so that their own ramp is silent.
    let mut port = Port::new(Box::new(dual()), RATE);
    load(&mut port, &[(9_600, Ecn::NotEct), (1_000, Ecn::Ect1)], 40);
    let from = millis(10_000);
    let marked = share(&port, from, |ecn| ecn == Ecn::Ce, |ecn| matches!(ecn, Ecn::Ce | Ecn::Ect1));
    let drops = port.drops().filter(|at| *at > from).count() as f64 / (30.0 * 9_600.0);
    assert!((drops - 0.0625).abs() < 0.002, "{drops}");
    assert!((marked - 0.5).abs() < 0.02, "{marked}");
    // The classic queue stands at its target; low-latency packets pass it: 100 us in front of them, 100 us themselves.
    let delays = |low: bool| {
        port.sent()
            .filter(move |sent| sent.0 > from && matches!(sent.1.ecn, Ecn::Ce | Ecn::Ect1) == low)
            .map(|(end, packet)| end.since(packet.arrived).as_secs_f64())
    };
    let mean = delays(false).sum::<f64>() / delays(false).count() as f64;
    assert!((mean - 0.0151).abs() < 0.001, "{mean}");
    // A classic packet goes first, and never two, for each fifteen of them: a sixteenth of all while both wait.
    assert!(delays(true).all(|delay| delay <= 300.001e-6));
    let yielded = delays(true).filter(|delay| *delay > 200.001e-6).count() as f64 / delays(true).count() as f64;
    assert!((yielded - 1.0 / 15.0).abs() < 0.001, "{yielded}");
}

#[test]
fn capable_classic_packets_are_marked_below_overload() {
    let mut port = Port::new(Box::new(dual()), RATE);
    load(&mut port, &[(10_400, Ecn::Ect0)], 3);
    let first_drop = port.drops().next();
    let marked = port.sent().filter(|sent| sent.1.ecn == Ecn::Ce && first_drop.is_none_or(|at| sent.0 < at)).count();
    assert!(marked > 100, "{marked}");
}

#[test]
fn overload_by_unresponsive_low_latency_traffic_is_dropped_down_to_the_target() {
    // 20 000 packets/s of ECT(1) into 10 000: marks do not help, so half must be dropped: p_C = p'^2 = 0.5.
    let mut port = Port::new(Box::new(dual()), RATE);
    load(&mut port, &[(20_000, Ecn::Ect1)], 20);
    let from = millis(10_000);
    let drops = port.drops().filter(|at| *at > from).count() as f64 / (10.0 * 20_000.0);
    assert!((drops - 0.5).abs() < 0.01, "{drops}");
    // What is left is all marked, and the standing delay is the classic target.
    let unmarked = port.sent().filter(|sent| sent.0 > from && sent.1.ecn != Ecn::Ce).count();
    assert_eq!(unmarked, 0);
    let late: Vec<_> =
        port.sent().filter(|sent| sent.0 > from).map(|(end, packet)| end.since(packet.arrived)).collect();
    let mean = late.iter().map(|delay| delay.as_secs_f64()).sum::<f64>() / late.len() as f64;
    assert!((mean - 0.0151).abs() < 0.002, "{mean}");
}

#[test]
fn capable_classic_packets_are_dropped_too_in_overload() {
    let mut port = Port::new(Box::new(dual()), RATE);
    load(&mut port, &[(20_000, Ecn::Ect0)], 10);
    // p_C = 0.5 is above 1/k^2 = 0.25: no marks any more.
    let marks = port.sent().filter(|sent| sent.0 > millis(5_000) && sent.1.ecn == Ecn::Ce).count();
    assert_eq!(marks, 0);
}

/// Which packets of a train of `length` that comes at once are marked, at 120 Mb/s.
fn marked_in_train(length: usize) -> Vec<usize> {
    let mut port = Port::new(Box::new(dual()), RATE);
    for _ in 0..length {
        port.offer(SimTime::ZERO, with(Ecn::Ect1));
    }
    port.advance(millis(100));
    port.sent().enumerate().filter(|(_, sent)| sent.1.ecn == Ecn::Ce).map(|(index, _)| index).collect()
}

#[test]
fn a_train_of_packets_is_marked_only_where_its_own_delay_reaches_the_ramp() {
    // Packet n waits n x 100 us. Up to 800 us nothing is marked; then p = 0.25, 0.5, 0.75 and 1 add up: 0.25, 0.75,
    // 1.5 (a mark at packet 11), 0.5 + 1 (packet 12), and so on. The last packet of a train is alone and spared.
    assert_eq!(marked_in_train(9), []);
    assert_eq!(marked_in_train(12), []);
    assert_eq!(marked_in_train(15), [11, 12, 13]);
}

#[test]
fn a_paced_low_latency_flow_at_the_rate_of_the_link_is_not_marked() {
    let mut port = Port::new(Box::new(dual()), RATE);
    load(&mut port, &[(10_000, Ecn::Ect1)], 2);
    assert_eq!(port.discipline.counts(), Counts::default());
}

#[test]
fn delay_in_one_queue_is_not_delay_of_a_packet_of_the_other() {
    let (mut queue, mut dropped) = (dual(), Vec::new());
    // Classic packets wait from time zero; a low-latency pair comes at 10 ms and leaves at once: no time of its own has
    // passed, whatever the classic queue has waited.
    for _ in 0..5 {
        queue.enqueue(SimTime::ZERO, with(Ecn::NotEct), &mut dropped);
    }
    for _ in 0..2 {
        queue.enqueue(millis(10), Queued { arrived: millis(10), ..with(Ecn::Ect1) }, &mut dropped);
    }
    let first = queue.dequeue(millis(10), &mut dropped).unwrap();
    assert_eq!((first.ecn, first.arrived), (Ecn::Ect1, millis(10)));
}

#[test]
fn the_classic_queue_keeps_its_share_against_unresponsive_low_latency_traffic() {
    let spec =
        DualPi2Spec { rtt_max: Span::from_secs(10_000), capacity: Capacity::Unlimited, ..DualPi2Spec::default() };
    // A controller that hardly moves: only the scheduler is at work. One byte in sixteen.
    let mut port = Port::new(Box::new(DualPi2::new(spec)), RATE);
    load(&mut port, &[(20_000, Ecn::Ect1), (2_000, Ecn::NotEct)], 2);
    let classic = share(&port, SimTime::ZERO, |ecn| ecn == Ecn::NotEct, |_| true);
    assert!((classic - 1.0 / 16.0).abs() < 0.001, "{classic}");
}

#[test]
fn an_idle_link_forgets_whose_turn_it_was() {
    let (mut queue, mut dropped) = (dual(), Vec::new());
    let first_of_both = |queue: &mut DualPi2, dropped: &mut Vec<Queued>| {
        queue.enqueue(SimTime::ZERO, with(Ecn::NotEct), dropped);
        queue.enqueue(SimTime::ZERO, with(Ecn::Ect1), dropped);
        let first = queue.dequeue(SimTime::ZERO, dropped).unwrap().ecn;
        while queue.dequeue(SimTime::ZERO, dropped).is_some() {}
        first
    };
    // Sent while a classic packet waited, which would have made it the classic queue's turn.
    assert_eq!(first_of_both(&mut queue, &mut dropped), Ecn::Ect1);
    assert_eq!(first_of_both(&mut queue, &mut dropped), Ecn::Ect1);
}

#[test]
fn signals_are_spread_evenly() {
    let mut signaller = Signaller::default();
    let signals: Vec<_> = (1..=8).filter(|_| signaller.signals(0.5)).collect();
    // Sums 0.5, 1, 1.5: the third exceeds one; then each second.
    assert_eq!(signals, [3, 5, 7]);
}

#[test]
fn a_time_shifted_fifo_sends_the_head_that_waited_longer_than_the_shift() {
    let scheduler = Scheduler::TimeShiftedFifo { shift: Span::from_millis(50) };
    for (wait, first) in [(49, Ecn::Ect1), (50, Ecn::Ect1), (51, Ecn::NotEct)] {
        let (mut queue, mut dropped) = (DualPi2::new(DualPi2Spec { scheduler, ..DualPi2Spec::default() }), Vec::new());
        queue.enqueue(SimTime::ZERO, with(Ecn::NotEct), &mut dropped);
        queue.enqueue(millis(wait), Queued { arrived: millis(wait), ..with(Ecn::Ect1) }, &mut dropped);
        assert_eq!(queue.dequeue(millis(wait), &mut dropped).unwrap().ecn, first, "{wait} ms");
    }
}

#[test]
fn long_stalls_are_caught_up_with_exactly() {
    for ecn in [None, Some(Ecn::NotEct)] {
        let (mut polled, mut stalled) = (dual(), dual());
        for queue in [&mut polled, &mut stalled] {
            queue.base = Base { probability: 0.6, previous_delay: 0.02 };
            if let Some(ecn) = ecn {
                queue.enqueue(SimTime::ZERO, with(ecn), &mut Vec::new());
            }
        }
        for step in 1..=24_000 {
            polled.catch_up(millis(step * 15));
        }
        stalled.catch_up(millis(360_000));
        assert_eq!(polled.base, stalled.base);
        assert_eq!(polled.next_update, stalled.next_update);
        stalled.catch_up(SimTime::MAX);
    }
}

#[test]
fn both_queues_share_one_capacity() {
    let mut queue = DualPi2::new(DualPi2Spec { capacity: Capacity::Bytes(3_000), ..DualPi2Spec::default() });
    let mut dropped = Vec::new();
    for ecn in [Ecn::Ect1, Ecn::Ect0, Ecn::Ce] {
        queue.enqueue(micros(1), with(ecn), &mut dropped);
    }
    assert_eq!((queue.packets(), queue.counts().overflowed, dropped.len()), (2, 1, 1));
}

#[test]
fn impossible_parameters_are_refused() {
    let message = |spec: DualPi2Spec| spec.validate().unwrap_err().to_string();
    let spec = DualPi2Spec::default();
    assert_eq!(message(DualPi2Spec { coupling: 0.0, ..spec }), "dualpi2 coupling is 0, expected more than zero");
    assert!(message(DualPi2Spec { coupling: f64::NAN, ..spec }).contains("NaN"));
    assert!(message(DualPi2Spec { target: Span::ZERO, ..spec }).contains("target"));
    assert!(message(DualPi2Spec { rtt_max: Span::ZERO, ..spec }).contains("round trip"));
    let scheduler = Scheduler::WeightedRoundRobin { classic_one_in: 1 };
    assert!(message(DualPi2Spec { scheduler, ..spec }).contains("one in"));
}
