use cc_algos::units::Span;

use super::*;

const LATE: Span = Span::from_millis(300);

fn at(micros: u64) -> Timestamp {
    Timestamp::ZERO + Span::from_micros(micros)
}

fn push(ledger: &mut Ledger<u64>, entropy: u32) -> u64 {
    let content = ledger.next_number();
    ledger.push(NewPacket {
        now: at(content),
        bytes: 100,
        entropy: Entropy(entropy),
        codepoint: Ecn::NotEct,
        block: None,
        content,
        at_send: SendState::default(),
    })
}

fn acknowledge(ledger: &mut Ledger<u64>, range: Range<u64>) -> Vec<(u64, Was)> {
    let mut fresh = Vec::new();
    ledger.fresh_in(core::iter::once(range), &mut fresh);
    let mut settled = Vec::new();
    for part in fresh.into_iter().rev() {
        ledger.acknowledge(part, |number, entry, was| {
            assert_eq!(number, entry.content);
            settled.push((number, was));
        });
    }
    settled
}

#[test]
fn the_ring_spans_what_is_in_flight_and_not_the_history() {
    let mut ledger = Ledger::new();
    for number in 0..100_000 {
        push(&mut ledger, 0);
        if number >= 10 {
            acknowledge(&mut ledger, 0..number - 9);
        }
    }
    assert_eq!((ledger.ring.len(), ledger.in_flight_packets(), ledger.in_flight_bytes()), (10, 10, 1_000));
    assert_eq!(ledger.known.range_count(), 1);
    assert!(ledger.ring.capacity() <= 32, "{}", ledger.ring.capacity());
}

#[test]
fn an_acknowledgement_brings_only_what_is_new_in_it() {
    let mut ledger = Ledger::new();
    (0..6).for_each(|_| {
        push(&mut ledger, 0);
    });
    let numbers = |settled: Vec<(u64, Was)>| settled.into_iter().map(|(number, _)| number).collect::<Vec<_>>();
    assert_eq!(numbers(acknowledge(&mut ledger, 1..3)), [1, 2]);
    assert_eq!(numbers(acknowledge(&mut ledger, 0..5)), [0, 3, 4]);
    assert_eq!(numbers(acknowledge(&mut ledger, 0..5)), []);
    assert_eq!(ledger.oldest().map(|oldest| oldest.packet_number), Some(5));
}

#[test]
fn a_lost_packet_outlives_the_ring_until_its_time_is_over() {
    let mut ledger = Ledger::new();
    (0..4).for_each(|_| {
        push(&mut ledger, 0);
    });
    ledger.begin(at(10), at(10) + LATE);
    ledger.lose(0, |_, _| ());
    ledger.lose(1, |_, _| ());
    assert_eq!((ledger.base, ledger.settled_below()), (2, 0));
    assert_eq!(acknowledge(&mut ledger, 0..1), [(0, Was::Lost)]);
    ledger.begin(at(10) + LATE, Timestamp::ZERO);
    assert_eq!(acknowledge(&mut ledger, 0..2), []);
    assert_eq!(ledger.settled_below(), 2);
}

#[test]
fn a_lost_packet_still_in_the_ring_is_found_there() {
    let mut ledger = Ledger::new();
    (0..3).for_each(|_| {
        push(&mut ledger, 0);
    });
    ledger.begin(at(10), at(10) + LATE);
    ledger.lose(1, |_, _| ());
    assert_eq!(acknowledge(&mut ledger, 0..3), [(0, Was::InFlight), (1, Was::Lost), (2, Was::InFlight)]);
    assert!(ledger.take_reordered());
    assert_eq!(ledger.in_flight_bytes(), 0);
}

#[test]
fn packets_waited_for_are_bounded_in_number() {
    let mut ledger = Ledger::new();
    for _ in 0..3 * Ledger::<u64>::GHOSTS_KEPT as u64 {
        let number = push(&mut ledger, 0);
        push(&mut ledger, 0);
        ledger.begin(at(number), at(number) + Span::from_secs(1_000));
        acknowledge(&mut ledger, number + 1..number + 2);
        ledger.lose(number, |_, _| ());
    }
    assert!(ledger.ghosts.len() <= Ledger::<u64>::GHOSTS_KEPT + 1);
    assert!(ledger.known.range_count() <= Ledger::<u64>::GHOSTS_KEPT + 2);
}

#[test]
fn packets_are_overtaken_within_their_lane() {
    let mut ledger = Ledger::new();
    // Lane 0: 0 2 4 6; lane 1: 1 3 5 7.
    for number in 0..8 {
        push(&mut ledger, number % 2);
    }
    acknowledge(&mut ledger, 3..7);
    let mut overtaken: Vec<_> = core::iter::from_fn(|| ledger.take_advanced_lane())
        .collect::<Vec<_>>()
        .into_iter()
        .map(|lane| (ledger.overtaken(lane, 2), ledger.overtaken(lane, 3)))
        .collect();
    overtaken.sort();
    // Packet 1 is two behind 5 on its lane, packet 0 three behind 6.
    assert_eq!(overtaken, [(Some(0), Some(0)), (Some(1), None)]);
}

#[test]
fn the_head_of_a_lane_follows_its_oldest_packet_in_flight() {
    let mut ledger = Ledger::new();
    for number in 0..9 {
        push(&mut ledger, number % 3);
    }
    // Lane 0 holds 0 3 6; settle 3 first, then 0: the head jumps to 6.
    acknowledge(&mut ledger, 3..4);
    acknowledge(&mut ledger, 0..1);
    push(&mut ledger, 0);
    push(&mut ledger, 0);
    acknowledge(&mut ledger, 10..11);
    let lanes: Vec<_> = core::iter::from_fn(|| ledger.take_advanced_lane()).collect();
    assert_eq!(lanes.iter().map(|&lane| ledger.overtaken(lane, 2)).collect::<Vec<_>>(), [Some(6)]);
}

#[test]
fn untracked_numbers_take_no_room_while_nothing_is_in_flight() {
    let mut ledger = Ledger::<u64>::new();
    (0..1_000).for_each(|_| {
        ledger.push_untracked();
    });
    assert_eq!((ledger.next_number(), ledger.ring.len(), ledger.ghosts.len()), (1_000, 0, 0));
    assert_eq!(acknowledge(&mut ledger, 0..1_000), []);
}
