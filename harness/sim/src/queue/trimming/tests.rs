use cc_algos::Rate;

use super::super::testing::{Out, Port, packet};
use super::*;
use crate::error::Probability;
use crate::queue::{Red, RedAverage};

const HEADER: u32 = 40;

/// A packet with a payload.
fn data(handle: u32) -> Queued {
    Queued { header_bytes: HEADER, ..packet(handle) }
}

/// A packet without.
fn control(handle: u32) -> Queued {
    Queued { bytes: 60, header_bytes: 60, ..packet(handle) }
}

fn queue(spec: TrimmingSpec) -> Trimming {
    Trimming::new(spec, rng::stream(1, "queue", 0)).unwrap()
}

fn offer(queue: &mut Trimming, packets: impl IntoIterator<Item = Queued>) -> Vec<u32> {
    let mut dropped = Vec::new();
    for packet in packets {
        queue.enqueue(SimTime::ZERO, packet, &mut dropped);
    }
    dropped.iter().map(|packet| packet.handle).collect()
}

fn drain(queue: &mut Trimming) -> Vec<(u32, u32)> {
    let mut dropped = Vec::new();
    let sent = std::iter::from_fn(|| queue.dequeue(SimTime::ZERO, &mut dropped));
    let sent = sent.map(|packet| (packet.handle, packet.bytes)).collect();
    assert!(dropped.is_empty());
    sent
}

#[test]
fn one_packet_more_than_fits_is_cut_and_its_header_goes_first() {
    for capacity in [Capacity::Packets(4), Capacity::Bytes(4 * 1_500 + 1_499)] {
        let mut queue = queue(TrimmingSpec::new(capacity));
        assert!(offer(&mut queue, (0..5).map(data)).is_empty());
        assert_eq!(queue.counts(), Counts { trimmed: Some(1), ..Counts::default() });
        assert_eq!((queue.packets(), queue.bytes()), (5, 4 * 1_500 + u64::from(HEADER)));
        assert_eq!(drain(&mut queue), [(4, HEADER), (0, 1_500), (1, 1_500), (2, 1_500), (3, 1_500)]);
    }
}

#[test]
fn headers_overtake_data_at_a_port() {
    // 12 us for each packet of 1 500 B at 1 Gb/s; the header of the fourth follows the first, which is on the link.
    let mut port = Port::new(Box::new(queue(TrimmingSpec::new(Capacity::Packets(2)))), Rate::from_gbps(1));
    for handle in 0..4 {
        port.offer(SimTime::ZERO, data(handle));
    }
    port.offer(SimTime::ZERO, control(9));
    port.advance(SimTime::MAX);
    let sent: Vec<_> = port.sent().map(|(at, packet)| (at.as_picos() / 1_000, packet.handle)).collect();
    assert_eq!(sent, [(12_000, 0), (12_320, 3), (12_800, 9), (24_800, 1), (36_800, 2)]);
    assert!(port.log.iter().all(|entry| matches!(entry.1, Out::Sent(_))));
}

#[test]
fn what_control_has_no_room_for_is_dropped_whole() {
    let spec = TrimmingSpec { control_capacity: Capacity::Packets(1), ..TrimmingSpec::new(Capacity::Packets(1)) };
    let mut queue = queue(spec);
    assert_eq!(offer(&mut queue, (0..4).map(data)), [2, 3]);
    assert_eq!(offer(&mut queue, [control(9)]), [9]);
    assert_eq!(queue.counts(), Counts { trimmed: Some(1), overflowed: 3, ..Counts::default() });
    assert_eq!(queue.bytes(), 1_500 + u64::from(HEADER));
}

#[test]
fn the_newest_packet_is_cut_as_often_as_the_arriving_one() {
    let spec = TrimmingSpec {
        victim: Victim::ArrivingOrNewest,
        control_capacity: Capacity::Unlimited,
        ..TrimmingSpec::new(Capacity::Packets(1))
    };
    let mut queue = queue(spec);
    // The one that waits in the end is the arriving one of the last swap: count the swaps.
    let mut swaps = 0;
    let mut waiting = 0;
    offer(&mut queue, [data(0)]);
    for handle in 1..=10_000 {
        offer(&mut queue, [data(handle)]);
        let head = queue.data.head().unwrap().handle;
        swaps += u32::from(head != waiting);
        waiting = head;
    }
    // Binomial: 5 000 with standard deviation 50; five of them.
    assert!((4_750..=5_250).contains(&swaps), "{swaps}");
    assert_eq!(queue.counts().trimmed, Some(10_000));
    assert_eq!(queue.packets(), 10_001);
}

#[test]
fn in_turn_ten_headers_go_before_each_data_packet() {
    let scheduler = ControlScheduler::RoundRobin { control_per_data: 10 };
    let mut queue = queue(TrimmingSpec { scheduler, ..TrimmingSpec::new(Capacity::Unlimited) });
    offer(&mut queue, (0..2).map(data));
    offer(&mut queue, (100..125).map(control));
    let sent = drain(&mut queue);
    let data_at: Vec<_> = (0..).zip(&sent).filter(|(_, sent)| sent.1 == 1_500).map(|(at, _)| at).collect();
    assert_eq!((data_at, sent.len()), (vec![10, 21], 27));
}

#[test]
fn marks_count_data_alone_and_at_dequeue_what_is_left_behind() {
    let capable = |handle| Queued { ecn: Ecn::Ect0, ..data(handle) };
    for (mark_at, expected) in [(MarkAt::Enqueue, [3, 4]), (MarkAt::Dequeue, [0, 1])] {
        let marking = MarkingSpec::Threshold { bytes: 3_000 };
        let mut queue = queue(TrimmingSpec { marking, mark_at, ..TrimmingSpec::new(Capacity::Packets(5)) });
        offer(&mut queue, (100..200).map(control));
        offer(&mut queue, (0..5).map(capable));
        let mut dropped = Vec::new();
        let sent = std::iter::from_fn(|| queue.dequeue(SimTime::ZERO, &mut dropped));
        let marked: Vec<_> = sent.filter(|packet| packet.ecn == Ecn::Ce).map(|packet| packet.handle).collect();
        assert_eq!(marked, expected, "{mark_at:?}");
        assert_eq!(queue.counts().marked, 2);
    }
}

#[test]
fn red_cuts_what_it_cannot_mark() {
    let red = Red {
        min_bytes: 0,
        max_bytes: 1,
        max_probability: Probability::ONE,
        average: RedAverage::Instantaneous,
        gentle: false,
    };
    let mut queue = queue(TrimmingSpec { marking: MarkingSpec::Red(red), ..TrimmingSpec::new(Capacity::Packets(100)) });
    assert!(offer(&mut queue, (0..3).map(data)).is_empty());
    assert_eq!(drain(&mut queue), [(1, HEADER), (2, HEADER), (0, 1_500)]);
    assert_eq!(queue.counts(), Counts { trimmed: Some(2), ..Counts::default() });
}

#[test]
fn senseless_parameters_are_refused() {
    let good = TrimmingSpec::new(Capacity::Packets(8));
    assert_eq!(good.validate(), Ok(()));
    let scheduler = ControlScheduler::RoundRobin { control_per_data: 0 };
    let message = TrimmingSpec { scheduler, ..good }.validate().unwrap_err().to_string();
    assert_eq!(message, "control packets per data packet is 0, expected at least one");
    assert!(TrimmingSpec { control_capacity: Capacity::Bytes(0), ..good }.validate().is_err());
}
