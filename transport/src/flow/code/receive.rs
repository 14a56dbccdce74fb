//! The receiver's side of blocks.

use std::collections::VecDeque;

use cc_algos::ids::BlockId;
use cc_algos::units::{Span, Timestamp};

use super::{Coding, CompleteBlocks, MAX_BLOCKS};
use crate::wire::{BlockAck, Nack, Shard, ShardSet};

/// What the arrival of a shard means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardArrival {
    /// It is new, and its block lacks others.
    New,
    /// Its block is complete by it.
    Completes {
        /// Data shards that did not arrive: what a codec now gives back.
        missing: ShardSet,
    },
    /// It came before.
    Duplicate,
    /// Its block was complete before.
    Late,
    /// It was not taken in.
    Refused(Refused),
}

/// Why a shard was not taken in. A data shard is good by itself all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// Its index does not exist, or its block has no data or too many shards.
    #[error("a shard of an impossible block")]
    Impossible,
    /// It lies more than [`MAX_BLOCKS`] from the oldest incomplete block.
    #[error("a shard more than {MAX_BLOCKS} blocks ahead")]
    TooFarAhead,
    /// Other shards of its block say otherwise of it.
    #[error("a shard that contradicts others of its block")]
    Contradiction,
}

/// What became of a flow's blocks, at its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ReceivedBlocks {
    /// Blocks that are complete.
    pub complete: u64,
    /// Of these, the ones of which data had to be decoded.
    pub decoded: u64,
    /// Data shards that were decoded.
    pub decoded_shards: u64,
    /// Complaints that were sent.
    pub nacks: u64,
    /// Shards that were not taken in.
    pub refused: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timer {
    /// Until the next shard.
    Stopped,
    Running,
}

/// A block of which something arrived.
#[derive(Clone, Copy, Debug)]
struct Incoming {
    k: u8,
    m: u8,
    shard_len: u16,
    timer: Timer,
    arrived: ShardSet,
}

impl Incoming {
    const fn of(shard: &Shard) -> Self {
        let Shard { k, m, shard_len, .. } = *shard;
        Self { k, m, shard_len, timer: Timer::Stopped, arrived: ShardSet::EMPTY }
    }

    fn fits(&self, shard: &Shard) -> bool {
        (self.k, self.m, self.shard_len) == (shard.k, shard.m, shard.shard_len)
    }

    fn missing_below(&self, bound: u8) -> ShardSet {
        let mut missing = ShardSet::EMPTY;
        (0..bound).filter(|&index| !self.arrived.contains(index)).for_each(|index| missing.insert(index));
        missing
    }
}

/// The blocks of a flow at its receiver.
#[derive(Debug)]
pub struct BlockReceiver {
    timeout: Span,
    complete: CompleteBlocks,
    /// From the oldest incomplete block on; `None` for those of which nothing arrived and those that are complete.
    blocks: VecDeque<Option<Incoming>>,
    /// Timers by the time of their expiry. The first one runs; others may be of blocks that are complete.
    timers: VecDeque<(Timestamp, BlockId)>,
    totals: ReceivedBlocks,
}

impl BlockReceiver {
    /// For a flow that is coded that way.
    pub fn new(coding: Coding) -> Self {
        Self {
            timeout: coding.timeout(),
            complete: CompleteBlocks::default(),
            blocks: VecDeque::new(),
            timers: VecDeque::new(),
            totals: ReceivedBlocks::default(),
        }
    }

    /// A shard arrived.
    pub fn on_shard(&mut self, now: Timestamp, shard: &Shard) -> ShardArrival {
        let arrival = self.take_in(now, shard);
        match &arrival {
            ShardArrival::Completes { missing } => {
                self.totals.complete += 1;
                self.totals.decoded += u64::from(!missing.is_empty());
                self.totals.decoded_shards += u64::from(missing.len());
            }
            ShardArrival::Refused(_) => self.totals.refused += 1,
            ShardArrival::New | ShardArrival::Duplicate | ShardArrival::Late => {}
        }
        arrival
    }

    fn take_in(&mut self, now: Timestamp, shard: &Shard) -> ShardArrival {
        let exists = shard.k > 0 && shard.k.checked_add(shard.m).is_some_and(|size| shard.index < size);
        if !exists {
            return ShardArrival::Refused(Refused::Impossible);
        }
        if self.complete.contains(shard.block) {
            return ShardArrival::Late;
        }
        // What is not complete is not below the oldest incomplete block.
        let ahead = shard.block.0 - self.complete.next();
        let Some(position) = usize::try_from(ahead).ok().filter(|position| *position < MAX_BLOCKS) else {
            return ShardArrival::Refused(Refused::TooFarAhead);
        };
        if self.blocks.len() <= position {
            self.blocks.resize(position + 1, None);
        }
        let block = self.blocks[position].get_or_insert_with(|| Incoming::of(shard));
        if !block.fits(shard) {
            return ShardArrival::Refused(Refused::Contradiction);
        }
        if block.arrived.contains(shard.index) {
            return ShardArrival::Duplicate;
        }
        block.arrived.insert(shard.index);
        if block.arrived.len() == u32::from(block.k) {
            let missing = block.missing_below(block.k);
            self.finish(shard.block, position);
            return ShardArrival::Completes { missing };
        }
        if block.timer == Timer::Stopped {
            block.timer = Timer::Running;
            // Time never runs backwards and all timers are alike, so that they expire in the order in which they start.
            self.timers.push_back((now + self.timeout, shard.block));
        }
        ShardArrival::New
    }

    fn finish(&mut self, id: BlockId, position: usize) {
        self.blocks[position] = None;
        self.complete.insert(id);
        let oldest = self.complete.next();
        if id.0 < oldest {
            let gone = (oldest - id.0) as usize;
            self.blocks.drain(..gone.min(self.blocks.len()));
        }
        self.drop_idle_timers();
    }

    /// Lets a timer that runs stand first.
    fn drop_idle_timers(&mut self) {
        while let Some((_, block)) = self.timers.front()
            && self.complete.contains(*block)
        {
            self.timers.pop_front();
        }
    }

    /// When to ask for complaints.
    pub fn next_timeout(&self) -> Option<Timestamp> {
        self.timers.front().map(|(at, _)| *at)
    }

    /// A complaint that is to be sent now. Ask until there is none.
    pub fn poll_nack(&mut self, now: Timestamp) -> Option<Nack> {
        let (_, id) = *self.timers.front().filter(|(at, _)| *at <= now)?;
        self.timers.pop_front();
        self.drop_idle_timers();
        let position = usize::try_from(id.0.checked_sub(self.complete.next())?).ok()?;
        let block = self.blocks.get_mut(position)?.as_mut()?;
        block.timer = Timer::Stopped;
        self.totals.nacks += 1;
        let shards = block.k.saturating_add(block.m);
        Some(Nack { block: id, shards, missing: block.missing_below(shards) })
    }

    /// What to say about complete blocks.
    pub fn ack(&self) -> BlockAck {
        self.complete.to_frame()
    }

    /// Which blocks are complete.
    pub const fn complete(&self) -> &CompleteBlocks {
        &self.complete
    }

    /// Totals since the flow began.
    pub const fn totals(&self) -> ReceivedBlocks {
        self.totals
    }

    /// Blocks and timers that are kept: never more than [`MAX_BLOCKS`] and twice as many.
    pub fn kept(&self) -> (usize, usize) {
        (self.blocks.len(), self.timers.len())
    }
}
