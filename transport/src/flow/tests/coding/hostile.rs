//! Frames about blocks from a peer that says whatever it likes.

use std::collections::BTreeSet;

use cc_algos::ids::{BlockId, Entropy};
use cc_algos::units::{Span, Timestamp};
use proptest::prelude::*;

use super::super::channel::{MTU, PATH, Probe, plain};
use crate::flow::code::{BlockError, Coding, Next, Parity};
use crate::flow::{Event, Outgoing, Sender, SenderConfig, Workspace};
use crate::wire::{BlockAck, Frame, Nack, Reader, ShardSet};

fn sender() -> Sender<u64> {
    let coding = Coding::new(4, Parity::Fixed(2), Span::from_micros(640)).unwrap();
    let config = SenderConfig { coding: Some(coding), ..plain() };
    Sender::new(config, Box::new(Probe::with_window(1_000)), Timestamp::ZERO)
}

/// Sends so many shards, with their number as content; returns which of them were data.
fn send(sender: &mut Sender<u64>, packets: u64) -> BTreeSet<u64> {
    let mut data = BTreeSet::new();
    for _ in 0..packets {
        let content = sender.next_packet_number(PATH);
        let place = match sender.blocks_mut().unwrap().next(1_000) {
            Next::Again(place, _) | Next::Parity(place) => place,
            Next::Data(place) => {
                data.insert(content);
                place
            }
            Next::Nothing | Next::Blocked => break,
        };
        let packet = Outgoing { path: PATH, entropy: Entropy(0), bytes: MTU, content, block: Some(place) };
        sender.on_sent(Timestamp::ZERO, packet);
    }
    data
}

#[test]
fn what_was_not_sent_is_not_complete_and_nothing_of_the_frame_is_believed() {
    let mut sender = sender();
    let mut work = Workspace::new();
    // Two blocks, and three of the four data shards of a third.
    send(&mut sender, 15);
    let ack = |next, beyond| BlockAck { next: BlockId(next), beyond };
    let never = |block| Err(BlockError::NeverSent { block: BlockId(block), next: 2 });
    for (frame, block) in [(ack(3, 0), 2), (ack(u64::MAX, 0), u64::MAX - 1), (ack(1, 1 << 20), 22), (ack(1, 0b11), 3)] {
        // The first named that is impossible.
        let refused = sender.on_block_ack(&frame, &mut work);
        assert!(matches!(refused, Err(BlockError::NeverSent { next: 2, .. })), "{block}: {refused:?}");
        assert!(work.events.is_empty());
    }
    assert_eq!(sender.on_block_ack(&ack(0, 0b10), &mut work), never(2));
    assert_eq!(sender.blocks().unwrap().complete().next(), 0);
    // Block 1 alone, which is possible, and then both.
    assert_eq!(sender.on_block_ack(&ack(0, 1), &mut work), Ok(()));
    assert_eq!(work.events, [6, 7, 8, 9].map(Event::Restored));
    assert_eq!(sender.on_block_ack(&ack(2, 0), &mut work), Ok(()));
    assert_eq!(work.events, [0, 1, 2, 3].map(Event::Restored));
    assert_eq!(sender.on_block_ack(&ack(0, 0), &mut work), Ok(()), "old news are none");
    assert_eq!(sender.stats(PATH).in_flight_packets, 15, "nothing leaves flight by that");
}

#[test]
fn complaints_about_blocks_that_do_not_exist_or_look_otherwise_are_refused() {
    let mut sender = sender();
    let mut work = Workspace::new();
    send(&mut sender, 6);
    let mut missing = ShardSet::EMPTY;
    missing.insert(2);
    let mut complain = |block, shards| {
        let nack = Nack { block: BlockId(block), shards, missing };
        sender.on_block_nack(Timestamp::ZERO + Span::from_secs(9), &nack, &mut work)
    };
    assert_eq!(complain(1, 6), Err(BlockError::NeverSent { block: BlockId(1), next: 1 }));
    assert_eq!(complain(0, 7), Err(BlockError::WrongShape { block: BlockId(0), shards: 7, expected: 6 }));
    assert_eq!(complain(0, 6), Ok(()));
    assert_eq!(work.lost().len(), 1);
}

#[test]
fn flows_without_blocks_know_of_none() {
    let mut sender = Sender::<u64>::new(plain(), Box::new(Probe::with_window(10)), Timestamp::ZERO);
    let frame = BlockAck { next: BlockId(3), beyond: 0 };
    assert_eq!(sender.on_block_ack(&frame, &mut Workspace::new()), Err(BlockError::NotCoded(BlockId(3))));
}

/// Any bytes that parse as frames about blocks, to a sender that goes on sending: it never panics, never settles what was not
/// sent or is no data, and settles everything once at most.
fn fuzz(bytes: &[u8]) {
    let mut sender = sender();
    let mut work = Workspace::new();
    let mut data = send(&mut sender, 20);
    let mut restored = BTreeSet::new();
    let mut reader = Reader::new(bytes);
    let mut now = Timestamp::ZERO;
    while let Ok(frame) = Frame::parse(&mut reader) {
        now += Span::from_millis(200);
        let before = sender.blocks().unwrap().complete().next();
        let taken = match frame {
            Frame::BlockAck(ack) => sender.on_block_ack(&ack, &mut work),
            Frame::Nack(nack) => sender.on_block_nack(now, &nack, &mut work),
            _ => continue,
        };
        if taken.is_err() {
            assert!(work.events.is_empty() && work.lost().is_empty());
            assert_eq!(sender.blocks().unwrap().complete().next(), before);
        }
        for event in work.events.drain(..) {
            let Event::Restored(content) = event else { panic!("{event:?}") };
            assert!(data.contains(&content) && restored.insert(content), "{content}");
        }
        data.extend(send(&mut sender, 3));
    }
    let blocks = sender.blocks().unwrap();
    assert!(blocks.totals().complete <= blocks.totals().begun);
}

fn hostile_frames() -> impl Strategy<Value = Vec<u8>> {
    let near = prop_oneof![4 => 0_u64..8, 1 => any::<u64>().prop_map(|id| id >> 2)];
    let ack = (near.clone(), prop_oneof![0_u64..8, any::<u64>().prop_map(|bits| bits >> 2)])
        .prop_map(|(next, beyond)| Frame::BlockAck(BlockAck { next: BlockId(next), beyond }));
    let nack = (near, prop_oneof![3 => Just(6_u8), 1 => 1_u8..=255], proptest::collection::btree_set(0_u8..6, 1..6))
        .prop_map(|(block, shards, indices)| {
            let mut missing = ShardSet::EMPTY;
            indices.into_iter().for_each(|index| missing.insert(index.min(shards - 1)));
            Frame::Nack(Nack { block: BlockId(block), shards, missing })
        });
    proptest::collection::vec(prop_oneof![ack, nack], 0..24).prop_map(|frames| {
        let mut bytes = vec![0; frames.iter().map(Frame::encoded_len).sum()];
        let mut writer = crate::wire::Writer::new(&mut bytes);
        frames.iter().for_each(|frame| frame.write(&mut writer).unwrap());
        bytes
    })
}

proptest! {
    #[test]
    fn hostile_frames_settle_nothing_that_was_not_sent(bytes in hostile_frames()) {
        fuzz(&bytes);
    }

    #[test]
    fn any_bytes_settle_nothing_that_was_not_sent(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        fuzz(&bytes);
    }
}
