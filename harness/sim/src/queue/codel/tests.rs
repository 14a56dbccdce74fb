use super::super::testing::{Out, Port, millis, packet};
use super::*;
use cc_algos::Rate;

fn codel(ecn: bool) -> Box<Codel> {
    let parameters = CodelParameters { ecn, ..CodelParameters::default() };
    Box::new(Codel::new(CodelSpec { parameters, capacity: Capacity::Unlimited }))
}

/// 12 Mb/s: a packet of 1 500 bytes takes 1 ms.
const RATE: Rate = Rate::from_mbps(12);

/// Drops or marks under an unresponsive overload of 2 packets per ms from time zero.
fn overload(ecn: Ecn, for_millis: u64) -> Port {
    let mut port = Port::new(codel(true), RATE);
    for ms in 0..for_millis {
        for handle in 0..2 {
            port.offer(millis(ms), Queued { ecn, ..packet(2 * ms as u32 + handle) });
        }
    }
    port
}

/// When each signal should come: the entry, then interval / sqrt(n) after the one before.
fn law(entry: SimTime, signals: usize) -> Vec<SimTime> {
    let mut times = vec![entry];
    let mut due = entry;
    for count in 1..signals {
        due = due.plus_picos((100e9 / (count as f64).sqrt()).round() as u64);
        // Judged at the next dequeue, and those fall on whole milliseconds.
        times.push(SimTime::from_picos(due.as_picos().div_ceil(1_000_000_000) * 1_000_000_000));
    }
    times
}

#[test]
fn drops_follow_the_control_law() {
    let port = overload(Ecn::NotEct, 1_000);
    let drops: Vec<_> = port.drops().collect();
    // Packet n leaves the queue at n ms and came at floor(n / 2) ms: its sojourn of ceil(n / 2) ms reaches 5 ms at 9 ms.
    // One interval later the first drop; the next ones at interval / sqrt(count).
    assert_eq!(drops[..12], law(millis(109), 12));
}

#[test]
fn capable_packets_are_marked_at_the_same_times() {
    let port = overload(Ecn::Ect0, 1_000);
    assert_eq!(port.drops().count(), 0);
    // A marked packet leaves 1 ms after it was dequeued.
    let marks: Vec<_> = port.sent().filter(|(_, packet)| packet.ecn == Ecn::Ce).map(|(end, _)| end).collect();
    let expected: Vec<_> = law(millis(109), 12).iter().map(|at| at.plus_picos(1_000_000_000)).collect();
    assert_eq!(marks[..12], expected);
    assert_eq!(port.discipline.counts().marked as usize, marks.len());
}

#[test]
fn a_burst_that_drains_within_an_interval_is_left_alone() {
    let mut port = Port::new(codel(false), RATE);
    for handle in 0..100 {
        port.offer(SimTime::ZERO, packet(handle));
    }
    port.advance(millis(200));
    assert_eq!(port.sent().count(), 100);
}

#[test]
fn a_queue_of_one_packet_is_left_alone_however_late() {
    let parameters = CodelParameters {
        target: Span::from_micros(1),
        interval: Span::from_micros(10),
        mtu: 1_500,
        ..CodelParameters::default()
    };
    let mut queue = Codel::new(CodelSpec { parameters, capacity: Capacity::Unlimited });
    let mut dropped = Vec::new();
    for ms in 0..100 {
        queue.enqueue(millis(ms), Queued { arrived: millis(ms), ..packet(0) }, &mut dropped);
        if ms > 0 {
            assert!(queue.dequeue(millis(ms), &mut dropped).is_some());
        }
    }
    assert!(dropped.is_empty());
}

#[test]
fn a_packet_below_target_ends_dropping_even_when_a_drop_is_due() {
    let (mut queue, mut dropped) = (codel(false), Vec::new());
    queue.controller = Controller { dropping: true, next_drop: millis(10), count: 5, ..Controller::default() };
    for _ in 0..5 {
        queue.enqueue(millis(20), Queued { arrived: millis(20), ..packet(0) }, &mut dropped);
    }
    // 4 ms of sojourn, target 5 ms.
    assert!(queue.dequeue(millis(24), &mut dropped).is_some());
    assert!(dropped.is_empty() && !queue.controller.dropping);
}

#[test]
fn dropping_again_soon_resumes_at_the_rate_that_was_needed() {
    let mut controller = Controller { count: 12, count_at_entry: 4, next_drop: millis(100), ..Controller::default() };
    // 8 drops were needed beyond the count at entry.
    controller.enter(millis(1_699), Span::from_millis(100));
    assert_eq!(controller.count, 8);
    assert_eq!(controller.next_drop, millis(1_699).plus_picos(35_355_339_059)); // 100 ms / sqrt(8)
    // 16 intervals after the next drop was due that is forgotten.
    let mut controller = Controller { count: 12, count_at_entry: 4, next_drop: millis(100), ..Controller::default() };
    controller.enter(millis(1_700), Span::from_millis(100));
    assert_eq!((controller.count, controller.next_drop), (1, millis(1_800)));
}

#[test]
fn the_standing_queue_of_a_responsive_sender_is_held_near_target() {
    // A fluid AIMD sender of 20 ms base round trip: its window grows by a packet each round and halves on a drop.
    let mut port = Port::new(codel(false), RATE);
    let (mut window, mut deficit, mut seen) = (20.0_f64, 0.0, 0);
    let mut delays = Vec::new();
    for tick in 0..300_000_u64 {
        let now = SimTime::from_picos(tick * 100_000_000);
        port.advance(now);
        let rtt = 20.0 + port.discipline.packets() as f64;
        window += 0.1 / rtt;
        let drops = port.log.iter().filter(|entry| matches!(entry.1, Out::Dropped(_))).count();
        if drops > seen {
            window = (window / 2.0).max(2.0);
            seen = drops;
        }
        deficit += 0.1 * window / rtt;
        while deficit >= 1.0 {
            deficit -= 1.0;
            port.offer(now, packet(0));
        }
        if tick > 50_000 {
            delays.push(port.discipline.packets());
        }
    }
    // Reno without AQM would fill any buffer; here the mean sojourn stays at the scale of the target (5 packets).
    let mean = delays.iter().sum::<u64>() as f64 / delays.len() as f64;
    assert!((0.5..10.0).contains(&mean), "{mean} ms");
    assert!(seen > 10);
}

#[test]
fn overflow_is_counted_apart_from_control() {
    let mut queue = Codel::new(CodelSpec { capacity: Capacity::Packets(2), ..CodelSpec::default() });
    let mut dropped = Vec::new();
    for handle in 0..3 {
        queue.enqueue(SimTime::ZERO, packet(handle), &mut dropped);
    }
    assert_eq!((queue.counts().overflowed, queue.counts().dropped_early), (1, 0));
    assert_eq!(dropped[0].handle, 2);
}

#[test]
fn an_interval_shorter_than_the_target_is_refused() {
    let parameters = CodelParameters { interval: Span::from_millis(1), ..CodelParameters::default() };
    let message = CodelSpec { parameters, ..CodelSpec::default() }.validate().unwrap_err().to_string();
    assert_eq!(message, "codel interval is 1ms, expected at least the target");
    assert!(CodelSpec { capacity: Capacity::Packets(0), ..CodelSpec::default() }.validate().is_err());
}
