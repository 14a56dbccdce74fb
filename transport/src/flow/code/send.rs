//! The sender's side of blocks.

use std::collections::VecDeque;

use cc_algos::ids::{BlockId, PathId};

use super::block::{Block, Progress, SentShard, State};
use super::policy::LossEstimate;
use super::{BlockError, Coding, CompleteBlocks, Fate, MAX_BLOCKS, Place, ShardReport};
use crate::flow::Event;
use crate::wire::{BlockAck, Nack};

/// What leaves next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next<C> {
    /// A shard that was lost, with its content.
    Again(Place, C),
    /// New data. If it is the first of its block, so much data as its `k` says must really come.
    Data(Place),
    /// Parity of the block whose data was sent last.
    Parity(Place),
    /// There is nothing.
    Nothing,
    /// Nothing until an older block is complete: there are [`MAX_BLOCKS`] since then.
    Blocked,
}

/// What became of a flow's blocks, at its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SentBlocks {
    /// Blocks of which something was sent.
    pub begun: u64,
    /// Blocks that are complete.
    pub complete: u64,
    /// Blocks that lost more than their parity, so that shards were sent again.
    pub repaired: u64,
}

/// The blocks of a flow at its sender.
#[derive(Debug)]
pub struct BlockSender<C> {
    coding: Coding,
    loss: LossEstimate,
    complete: CompleteBlocks,
    /// From the oldest incomplete block on.
    blocks: VecDeque<Block<C>>,
    /// What is to be sent again, unless its block is complete by then.
    again: VecDeque<Place>,
    /// Room of blocks that are complete.
    spare: Vec<Vec<SentShard<C>>>,
    totals: SentBlocks,
}

impl<C: Copy> BlockSender<C> {
    pub(crate) fn new(coding: Coding) -> Self {
        Self {
            coding,
            loss: LossEstimate::default(),
            complete: CompleteBlocks::default(),
            blocks: VecDeque::new(),
            again: VecDeque::new(),
            spare: Vec::new(),
            totals: SentBlocks::default(),
        }
    }

    /// What leaves next, if there are so many packets of new data. A new block is not longer than that: data that is counted
    /// here must not be taken back.
    pub fn next(&mut self, available: u64) -> Next<C> {
        while let Some(&place) = self.again.front() {
            let block = self.get(place.block);
            let shard = block.and_then(|block| block.shards.get(usize::from(place.index)));
            match shard.filter(|shard| shard.state == State::Queued) {
                Some(shard) => return Next::Again(place, shard.content),
                None => self.again.pop_front(),
            };
        }
        match self.blocks.back().and_then(Block::unsent) {
            Some(place) if place.is_parity() => Next::Parity(place),
            _ if available == 0 => Next::Nothing,
            Some(place) => Next::Data(place),
            None if self.blocks.len() >= MAX_BLOCKS => Next::Blocked,
            None => {
                let k = available.min(u64::from(self.coding.data())) as u8;
                let m = self.loss.parity(k, self.coding.parity());
                Next::Data(Place { block: BlockId(self.end()), index: 0, k, m })
            }
        }
    }

    /// The oldest shard not known to have arrived, of a block that is not complete: what a probe had best carry.
    pub fn oldest_unsettled(&self) -> Option<(Place, C)> {
        self.blocks.iter().find_map(Block::oldest_unsettled)
    }

    /// Contents of the first and the last data shard of a block that is not complete, all of whose data was sent: what its
    /// parity is made of.
    pub fn data_of(&self, block: BlockId) -> Option<(C, C)> {
        let block = self.get(block)?;
        let last = block.shards.get(usize::from(block.k - 1))?;
        Some((block.shards.first()?.content, last.content))
    }

    /// Which blocks are complete.
    pub const fn complete(&self) -> &CompleteBlocks {
        &self.complete
    }

    /// Blocks from the oldest incomplete one on.
    pub fn pending(&self) -> usize {
        self.blocks.len()
    }

    /// Totals since the flow began.
    pub const fn totals(&self) -> SentBlocks {
        self.totals
    }

    /// How the flow is coded.
    pub const fn coding(&self) -> Coding {
        self.coding
    }

    /// Id of the next block.
    fn end(&self) -> u64 {
        self.complete.next() + self.blocks.len() as u64
    }

    fn position(&self, block: BlockId) -> Option<usize> {
        usize::try_from(block.0.checked_sub(self.complete.next())?).ok()
    }

    fn get(&self, block: BlockId) -> Option<&Block<C>> {
        self.blocks.get(self.position(block)?).filter(|block| !block.is_complete())
    }

    fn get_mut(&mut self, block: BlockId) -> Option<&mut Block<C>> {
        let position = self.position(block)?;
        self.blocks.get_mut(position).filter(|block| !block.is_complete())
    }

    /// A packet with a shard leaves, whose place [`BlockSender::next`] or [`BlockSender::oldest_unsettled`] gave.
    pub(crate) fn on_sent(&mut self, place: Place, path: PathId, packet_number: u64, content: C) {
        if place.block.0 == self.end() {
            let mut room = self.spare.pop().unwrap_or_default();
            room.reserve(usize::from(place.k) + usize::from(place.m));
            self.blocks.push_back(Block::new(place, room));
            self.totals.begun += 1;
        }
        let packet = SentShard { content, state: State::InFlight(1), path, packet_number };
        if let Some(block) = self.get_mut(place.block) {
            block.on_sent(place.index, packet);
        }
    }

    /// Takes in what became of packets; contents that arrived by coding alone are appended to `events`.
    pub(crate) fn settle(&mut self, reports: &mut Vec<ShardReport>, events: &mut Vec<Event<C>>) {
        for &ShardReport { block: id, index, fate } in &*reports {
            match fate {
                Fate::Arrived => {
                    self.loss.on_arrived();
                    if self.get_mut(id).is_some_and(|block| block.on_arrived(index)) {
                        self.finish(id, events);
                    }
                }
                Fate::Lost => {
                    self.loss.on_lost();
                    if let Some(block) = self.get_mut(id) {
                        block.on_lost(index);
                    }
                }
            }
        }
        // What is lost is lost as a whole before it is said what that means.
        for report in reports.drain(..) {
            if report.fate == Fate::Lost && self.get(report.block).is_some_and(Block::lacks_more_than_parity) {
                self.repair(report.block);
            }
        }
    }

    fn repair(&mut self, id: BlockId) {
        let Some(position) = self.position(id) else { return };
        let Some(block) = self.blocks.get_mut(position) else { return };
        if core::mem::replace(&mut block.progress, Progress::Repaired) == Progress::Covered {
            self.totals.repaired += 1;
        }
        block.queue_lost(|place| self.again.push_back(place));
    }

    /// A block is complete.
    fn finish(&mut self, id: BlockId, events: &mut Vec<Event<C>>) {
        let Some(block) = self.get_mut(id) else { return };
        block.progress = Progress::Complete;
        let mut shards = core::mem::take(&mut block.shards);
        let data = shards.iter().take(usize::from(block.k));
        let restored = data.filter(|shard| shard.state != State::Arrived);
        events.extend(restored.map(|shard| Event::Restored(shard.content)));
        shards.clear();
        self.spare.push(shards);
        self.totals.complete += 1;
        self.complete.insert(id);
        while self.blocks.front().is_some_and(Block::is_complete) {
            self.blocks.pop_front();
        }
    }

    /// The peer says which blocks are complete.
    pub(crate) fn on_block_ack(&mut self, ack: &BlockAck, events: &mut Vec<Event<C>>) -> Result<(), BlockError> {
        let below = ack.next.0.checked_sub(1).map(BlockId);
        if let Some(block) = below.into_iter().chain(ack.blocks_beyond()).find(|block| !self.may_be_complete(*block)) {
            return Err(BlockError::NeverSent { block, next: self.first_impossible() });
        }
        for block in self.complete.next()..ack.next.0 {
            self.finish(BlockId(block), events);
        }
        for block in ack.blocks_beyond() {
            self.finish(block, events);
        }
        Ok(())
    }

    /// Whether enough of a block was sent. Only the newest may lack something.
    fn may_be_complete(&self, block: BlockId) -> bool {
        block.0 < self.first_impossible()
    }

    fn first_impossible(&self) -> u64 {
        self.end() - u64::from(self.blocks.back().is_some_and(|block| !block.may_be_complete()))
    }

    /// The peer complains about a block; the newest packet of each shard that is in flight is appended to `packets`.
    pub(crate) fn on_nack(&self, nack: &Nack, packets: &mut Vec<(PathId, u64)>) -> Result<(), BlockError> {
        if nack.block.0 >= self.end() {
            return Err(BlockError::NeverSent { block: nack.block, next: self.end() });
        }
        let Some(block) = self.get(nack.block) else { return Ok(()) };
        if nack.shards != block.size() {
            let (shards, expected) = (nack.shards, block.size());
            return Err(BlockError::WrongShape { block: nack.block, shards, expected });
        }
        let missing = nack.missing.iter().filter_map(|index| block.shards.get(usize::from(index)));
        let in_flight = missing.filter(|shard| matches!(shard.state, State::InFlight(_)));
        packets.extend(in_flight.map(|shard| (shard.path, shard.packet_number)));
        Ok(())
    }
}
