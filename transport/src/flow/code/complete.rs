//! Which blocks are complete.

use cc_algos::ids::BlockId;

use crate::flow::RangeSet;
use crate::wire::BlockAck;

/// The complete blocks of a flow: all below some id, and some above it.
#[derive(Clone, Debug, Default)]
pub struct CompleteBlocks {
    /// The oldest that is not complete.
    next: u64,
    beyond: RangeSet,
}

impl CompleteBlocks {
    /// Id of the oldest block that is not complete.
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// Whether a block is complete.
    #[inline]
    pub fn contains(&self, block: BlockId) -> bool {
        block.0 < self.next || self.beyond.contains(block.0)
    }

    /// A block is complete; returns whether that is news.
    pub(super) fn insert(&mut self, block: BlockId) -> bool {
        if block.0 < self.next || !self.beyond.insert_one(block.0) {
            return false;
        }
        if block.0 == self.next
            && let Some(first) = self.beyond.pop_first()
        {
            self.next = first.end;
        }
        true
    }

    /// What a receiver says about them. Of those above the oldest incomplete one, the frame names the nearest
    /// [`BlockAck::MAX_BEYOND`]; others will be said later.
    pub fn to_frame(&self) -> BlockAck {
        let mut frame = BlockAck { next: BlockId(self.next), beyond: 0 };
        let above = self.next + 1;
        for range in self.beyond.iter() {
            if range.start - above >= BlockAck::MAX_BEYOND {
                break;
            }
            let end = range.end.min(above + BlockAck::MAX_BEYOND);
            frame.beyond |= (range.start..end).fold(0, |bits, block| bits | 1 << (block - above));
        }
        frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frame_names_all_below_the_oldest_gap_and_the_nearest_above() {
        let mut complete = CompleteBlocks::default();
        for block in [0, 1, 3, 4, 6, 64, 65] {
            assert!(complete.insert(BlockId(block)) && !complete.insert(BlockId(block)));
        }
        let frame = complete.to_frame();
        // Bit 0 stands for block 3; block 64 is the last that finds room.
        assert_eq!(frame, BlockAck { next: BlockId(2), beyond: 0b1011 | 1 << 61 });
        assert_eq!(Vec::from_iter(frame.blocks_beyond()), [3, 4, 6, 64].map(BlockId));
        complete.insert(BlockId(2));
        assert_eq!((complete.next(), complete.contains(BlockId(5)), complete.contains(BlockId(6))), (5, false, true));
        assert_eq!(complete.to_frame().blocks_beyond().count(), 3);
    }
}
