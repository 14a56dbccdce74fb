use cc_algos::receiver::{AckEvery, Reply};
use cc_algos::signal::IntHop;
use cc_algos::units::{Rate, Span};

use super::*;

fn ms(millis: u64) -> Timestamp {
    Timestamp::ZERO + Span::from_millis(millis)
}

fn packet(packet_number: u64, at: u64) -> Arrived {
    Arrived {
        now: ms(at),
        packet_number,
        bytes: 1_200,
        path: PathId(3),
        entropy: Entropy(packet_number as u32),
        ecn: Ecn::NotEct,
        hops: None,
        ack_eliciting: true,
    }
}

fn receiver(every: u32) -> Receiver {
    Receiver::new(ReceiverConfig::default(), Box::new(AckEvery::new(every, Span::from_millis(25))))
}

fn ranges(receiver: &mut Receiver, at: u64) -> Vec<(u64, u64)> {
    let mut frame = AckFrame::default();
    receiver.write_ack(ms(at), &mut frame);
    frame.ranges.iter().map(|range| (range.first, range.last)).collect()
}

#[test]
fn ranges_descend_from_the_largest_packet() {
    let mut receiver = receiver(1);
    for number in [0, 1, 2, 5, 6, 9, 4] {
        assert_eq!(receiver.on_packet(packet(number, number)), Arrival::New);
    }
    let mut frame = AckFrame::default();
    assert!(receiver.write_ack(ms(20), &mut frame));
    assert_eq!((frame.path, frame.largest), (PathId(3), 9));
    assert_eq!(frame.ack_delay, Span::from_millis(11), "held back since packet 9, not since 4 which came last");
    assert_eq!(ranges(&mut receiver, 20), [(9, 9), (4, 6), (0, 2)]);
}

#[test]
fn nothing_received_gives_nothing_to_acknowledge() {
    let mut frame = AckFrame::default();
    assert!(!receiver(1).write_ack(ms(0), &mut frame));
}

#[test]
fn every_second_packet_or_the_delay_brings_an_acknowledgement() {
    let mut receiver = receiver(2);
    receiver.on_packet(packet(0, 0));
    assert_eq!((receiver.ack_due(ms(0)), receiver.next_timeout()), (false, Some(ms(25))));
    assert!(receiver.ack_due(ms(25)));
    receiver.on_packet(packet(1, 10));
    assert!(receiver.ack_due(ms(10)));
    ranges(&mut receiver, 10);
    assert_eq!((receiver.ack_due(ms(100)), receiver.ack_owed(), receiver.next_timeout()), (false, false, None));
}

#[test]
fn a_later_packet_does_not_put_off_an_acknowledgement_that_is_due() {
    let mut receiver = receiver(10);
    receiver.on_packet(packet(0, 0));
    receiver.on_packet(packet(1, 20));
    assert_eq!(receiver.next_timeout(), Some(ms(25)));
}

#[test]
fn packets_with_acknowledgements_alone_are_recorded_but_elicit_none() {
    let mut receiver = receiver(1);
    receiver.on_packet(Arrived { ack_eliciting: false, ..packet(0, 0) });
    assert_eq!((receiver.ack_due(ms(1_000)), receiver.next_timeout()), (false, None));
    receiver.on_packet(packet(1, 5));
    assert_eq!(ranges(&mut receiver, 5), [(0, 1)], "they ride along");
}

#[test]
fn duplicates_are_neither_counted_nor_acknowledged() {
    let mut receiver = receiver(1);
    let marked = Arrived { ecn: Ecn::Ce, ..packet(0, 0) };
    receiver.on_packet(marked);
    ranges(&mut receiver, 0);
    assert_eq!(receiver.on_packet(marked), Arrival::Duplicate);
    assert!(!receiver.ack_due(ms(1)));
    let mut frame = AckFrame::default();
    receiver.write_ack(ms(1), &mut frame);
    assert_eq!(frame.ecn, Some(EcnCounts { ect0: 0, ect1: 0, ce: 1 }));
}

#[test]
fn counts_are_reported_only_once_something_capable_arrived() {
    let mut receiver = receiver(1);
    receiver.on_packet(packet(0, 0));
    let mut frame = AckFrame::default();
    receiver.write_ack(ms(0), &mut frame);
    assert_eq!(frame.ecn, None);
    receiver.on_packet(Arrived { ecn: Ecn::Ect1, ..packet(1, 1) });
    receiver.write_ack(ms(1), &mut frame);
    assert_eq!(frame.ecn, Some(EcnCounts { ect0: 0, ect1: 1, ce: 0 }));
}

#[test]
fn echoes_are_written_as_configured() {
    let config = ReceiverConfig { echo: EchoConfig::ALL, ..ReceiverConfig::default() };
    let mut receiver = Receiver::new(config, Box::new(AckEvery::new(1, Span::ZERO)));
    for number in [0, 1, 4, 3] {
        let ecn = if number == 1 || number == 3 { Ecn::Ce } else { Ecn::Ect0 };
        receiver.on_packet(Arrived { ecn, ..packet(number, 10 + number) });
    }
    let mut frame = AckFrame::default();
    receiver.write_ack(ms(20), &mut frame);
    // Largest 4; marked are 3, one below, and 1, three below.
    assert_eq!(frame.marks.map(|marks| (marks.packets(), marks.bits())), Some((5, 0b01010)));
    assert_eq!((frame.received_at, frame.entropy_echo), (Some(ms(14)), Some(Entropy(3))));
}

#[test]
fn an_acknowledgement_carries_the_newest_ranges_up_to_the_limit() {
    let config = ReceiverConfig { max_ack_ranges: 3, ..ReceiverConfig::default() };
    let mut receiver = Receiver::new(config, Box::new(AckEvery::new(1, Span::ZERO)));
    for number in [0, 2, 4, 6, 8] {
        receiver.on_packet(packet(number, 0));
    }
    assert_eq!(ranges(&mut receiver, 0), [(8, 8), (6, 6), (4, 4)]);
}

#[test]
fn memory_is_bounded_and_forgotten_gaps_hold_duplicates() {
    let config = ReceiverConfig { max_ranges: 10, max_ack_ranges: 100, ..ReceiverConfig::default() };
    let mut receiver = Receiver::new(config, Box::new(AckEvery::new(1, Span::ZERO)));
    for number in (0..2_000).step_by(2) {
        receiver.on_packet(packet(number, 0));
    }
    let held = ranges(&mut receiver, 0);
    assert_eq!((held.len(), held[0], held[9]), (10, (1_998, 1_998), (1_980, 1_980)));
    assert_eq!(receiver.on_packet(packet(1_979, 1)), Arrival::Duplicate);
    assert_eq!(receiver.on_packet(packet(1_981, 1)), Arrival::New);
}

#[test]
fn a_floor_closes_the_gaps_below_it_and_keeps_the_largest_packet() {
    let mut receiver = receiver(1);
    for number in [0, 2, 4, 6] {
        receiver.on_packet(packet(number, 0));
    }
    receiver.on_ack_floor(5);
    assert_eq!(receiver.on_packet(packet(3, 1)), Arrival::Duplicate);
    assert_eq!(ranges(&mut receiver, 1), [(6, 6)]);
    receiver.on_ack_floor(u64::MAX);
    assert_eq!(ranges(&mut receiver, 1), [(6, 6)], "a sender cannot make the receiver forget what it got last");
    receiver.on_ack_floor(2);
    assert_eq!(receiver.on_packet(packet(5, 2)), Arrival::Duplicate, "a floor never sinks");
    assert_eq!(receiver.on_packet(packet(7, 2)), Arrival::New);
}

/// Grants credit on a timer and a congestion notice for each packet.
#[derive(Clone, Debug)]
struct Granter {
    at: Option<Timestamp>,
}

impl ReceiverPolicy for Granter {
    fn on_received(&mut self, packet: &Received) -> Reply {
        self.at = Some(packet.now + Span::from_millis(7));
        Reply { ack: AckWhen::By(packet.now + Span::from_millis(40)), notice: Some(Notice::CongestionNotification) }
    }
    fn on_timer(&mut self, now: Timestamp) -> Option<Notice> {
        self.at = Some(now + Span::from_millis(7));
        Some(Notice::Credit { bytes: 1_000 })
    }
    fn next_timer(&self) -> Option<Timestamp> {
        self.at
    }
    fn clone_box(&self) -> Box<dyn ReceiverPolicy> {
        Box::new(self.clone())
    }
}

#[test]
fn a_policys_timer_and_notices_come_through_and_credits_add_up() {
    let mut receiver = Receiver::new(ReceiverConfig::default(), Box::new(Granter { at: None }));
    receiver.on_packet(packet(0, 0));
    assert_eq!(receiver.next_timeout(), Some(ms(7)));
    receiver.on_timeout(ms(6));
    receiver.on_timeout(ms(7));
    receiver.on_timeout(ms(14));
    assert_eq!(receiver.take_notice(), Some(Notice::CongestionNotification));
    assert_eq!(receiver.take_notice(), Some(Notice::Credit { bytes: 2_000 }));
    assert_eq!(receiver.take_notice(), None);
    assert!(receiver.ack_due(ms(40)), "timers of the policy do not count as acknowledgements");
}

#[test]
fn the_largest_number_of_all_is_refused() {
    let mut receiver = receiver(1);
    assert_eq!(receiver.on_packet(packet(u64::MAX, 0)), Arrival::Duplicate);
    assert_eq!(receiver.on_packet(packet(u64::MAX - 1, 0)), Arrival::New);
    assert_eq!(ranges(&mut receiver, 0), [(u64::MAX - 1, u64::MAX - 1)]);
}

fn telemetry(port: u32) -> IntStack {
    let mut stack = IntStack::default();
    stack.push(&IntHop { port, at: ms(1), tx_bytes: 1_000, queue_bytes: 160, rate: Rate::from_gbps(10) });
    stack
}

#[test]
fn telemetry_of_the_largest_packet_is_echoed_once() {
    let mut receiver = receiver(1);
    let mut frame = AckFrame::default();
    let mut echoed = |receiver: &mut Receiver| {
        receiver.write_ack(ms(20), &mut frame);
        frame.int.hops().iter().map(|hop| hop.port).collect::<Vec<_>>()
    };
    for number in [0, 2] {
        receiver.on_packet(packet(number, number));
        receiver.on_int(number, &telemetry(number as u32));
    }
    assert_eq!(echoed(&mut receiver), [2]);
    // One that was overtaken tells of the past.
    receiver.on_packet(packet(1, 3));
    receiver.on_int(1, &telemetry(1));
    assert!(echoed(&mut receiver).is_empty());
    // A larger packet without telemetry voids what the one before brought.
    receiver.on_packet(packet(3, 4));
    receiver.on_int(3, &telemetry(3));
    receiver.on_packet(packet(4, 5));
    assert!(echoed(&mut receiver).is_empty());
    receiver.on_packet(packet(5, 6));
    receiver.on_int(5, &telemetry(5));
    assert_eq!(echoed(&mut receiver), [5]);
}
