//! The receiver's half by hand.

use cc_algos::ids::BlockId;
use cc_algos::units::{Span, Timestamp};

use crate::flow::code::{BlockReceiver, Coding, MAX_BLOCKS, Parity, Refused, ShardArrival};
use crate::wire::{Nack, Shard, ShardSet};

const TIMEOUT: Span = Span::from_micros(640);

fn receiver() -> BlockReceiver {
    BlockReceiver::new(Coding::new(4, Parity::Fixed(2), TIMEOUT).unwrap())
}

/// A shard of a block of four and two.
fn shard(block: u64, index: u8) -> Shard {
    Shard { block: BlockId(block), index, k: 4, m: 2, shard_len: 1_000 }
}

fn set(indices: &[u8]) -> ShardSet {
    let mut set = ShardSet::EMPTY;
    indices.iter().for_each(|index| set.insert(*index));
    set
}

fn nanos(nanos: u64) -> Timestamp {
    Timestamp::from_nanos(nanos)
}

#[test]
fn any_four_of_six_in_any_order_complete_the_block_and_name_what_is_to_be_decoded() {
    for bits in 0_u8..64 {
        let members: Vec<u8> = (0..6).filter(|index| bits >> index & 1 == 1).collect();
        if members.len() != 4 {
            continue;
        }
        for turn in 0..4 {
            let mut order = members.clone();
            order.rotate_left(turn);
            let mut receiver = receiver();
            let mut arrivals: Vec<_> =
                order.iter().map(|index| receiver.on_shard(nanos(0), &shard(0, *index))).collect();
            let absent: Vec<u8> = (0..4).filter(|index| !members.contains(index)).collect();
            assert_eq!(arrivals.pop(), Some(ShardArrival::Completes { missing: set(&absent) }), "{order:?}");
            assert_eq!(arrivals, [ShardArrival::New; 3]);
            assert_eq!(receiver.complete().next(), 1);
            for index in 0..6 {
                assert_eq!(receiver.on_shard(nanos(1), &shard(0, index)), ShardArrival::Late);
            }
        }
    }
}

#[test]
fn a_shard_that_comes_twice_counts_once() {
    let mut receiver = receiver();
    receiver.on_shard(nanos(0), &shard(0, 3));
    for _ in 0..10 {
        assert_eq!(receiver.on_shard(nanos(0), &shard(0, 3)), ShardArrival::Duplicate);
    }
    assert_eq!((receiver.totals().complete, receiver.complete().next()), (0, 0));
}

#[test]
fn blocks_of_one_complete_at_once_and_run_no_timer() {
    let mut receiver = receiver();
    let parity = Shard { k: 1, m: 2, index: 2, ..shard(0, 0) };
    assert_eq!(receiver.on_shard(nanos(0), &parity), ShardArrival::Completes { missing: set(&[0]) });
    assert_eq!(receiver.next_timeout(), None);
    assert_eq!((receiver.totals().decoded, receiver.totals().decoded_shards), (1, 1));
}

#[test]
fn the_complaint_comes_to_the_nanosecond_once_and_again_after_the_next_shard() {
    let mut receiver = receiver();
    receiver.on_shard(nanos(1_000), &shard(7, 1));
    receiver.on_shard(nanos(2_000), &shard(7, 4));
    assert_eq!(receiver.next_timeout(), Some(nanos(641_000)), "the first shard starts the timer");
    assert_eq!(receiver.poll_nack(nanos(640_999)), None);
    let complaint = |missing| Some(Nack { block: BlockId(7), shards: 6, missing });
    assert_eq!(receiver.poll_nack(nanos(641_000)), complaint(set(&[0, 2, 3, 5])));
    assert_eq!((receiver.poll_nack(nanos(900_000)), receiver.next_timeout()), (None, None));
    // What came before does not start it, what is new does.
    receiver.on_shard(nanos(1_000_000), &shard(7, 1));
    assert_eq!(receiver.next_timeout(), None);
    receiver.on_shard(nanos(1_000_001), &shard(7, 2));
    assert_eq!(receiver.next_timeout(), Some(nanos(1_640_001)));
    assert_eq!(receiver.poll_nack(nanos(1_640_001)), complaint(set(&[0, 3, 5])));
    receiver.on_shard(nanos(2_000_000), &shard(7, 0));
    assert_eq!(receiver.next_timeout(), None, "a complete block has nothing to complain about");
    assert_eq!(receiver.totals().nacks, 2);
}

#[test]
fn timers_of_several_blocks_expire_in_the_order_in_which_they_began() {
    let mut receiver = receiver();
    for (at, block) in [(0, 5), (10, 3), (20, 9)] {
        receiver.on_shard(nanos(at), &shard(block, 0));
    }
    for index in 1..4 {
        receiver.on_shard(nanos(30), &shard(3, index));
    }
    let late = nanos(1_000_000);
    let complaints: Vec<_> = std::iter::from_fn(|| receiver.poll_nack(late)).map(|nack| nack.block.0).collect();
    assert_eq!(complaints, [5, 9]);
}

#[test]
fn what_contradicts_itself_or_lies_too_far_ahead_is_refused_and_counted() {
    let mut receiver = receiver();
    receiver.on_shard(nanos(0), &shard(0, 0));
    let refused = |reason| ShardArrival::Refused(reason);
    for other in [Shard { k: 5, ..shard(0, 1) }, Shard { m: 3, ..shard(0, 1) }, Shard { shard_len: 9, ..shard(0, 1) }] {
        assert_eq!(receiver.on_shard(nanos(0), &other), refused(Refused::Contradiction));
    }
    for other in [shard(1, 6), Shard { k: 0, ..shard(1, 0) }, Shard { k: 200, m: 56, ..shard(1, 0) }] {
        assert_eq!(receiver.on_shard(nanos(0), &other), refused(Refused::Impossible));
    }
    for block in [MAX_BLOCKS as u64, 1 << 61, u64::MAX] {
        assert_eq!(receiver.on_shard(nanos(0), &shard(block, 0)), refused(Refused::TooFarAhead));
    }
    assert_eq!(receiver.kept(), (1, 1), "what is refused leaves nothing behind");
    assert_eq!(receiver.on_shard(nanos(0), &shard(MAX_BLOCKS as u64 - 1, 0)), ShardArrival::New);
    assert_eq!(receiver.totals().refused, 9);
}
