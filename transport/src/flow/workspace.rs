//! Scratch that all flows of a driver share, and through which results come out.

use core::ops::Range;

use cc_algos::controller::{Cause, PacketRecord};
use cc_algos::ids::PathId;

use super::code::ShardReport;
use crate::wire::PacketNumberRange;

/// What became of a packet's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<C> {
    /// It arrived.
    Acked(C),
    /// It is held for lost and should be sent again, if it still matters. Never a shard: its block decides about that.
    Lost(C),
    /// It is a data shard of a block that is complete: the peer has it, whatever becomes of its packet.
    Restored(C),
    /// It had been held for lost and arrived after all.
    LateAcked(C),
}

/// Results of one call and room for its intermediate steps. One serves all flows of a driver; each call that fills it
/// clears it first.
#[derive(Debug)]
pub struct Workspace<C> {
    /// What became of contents, in the order in which it was found out.
    pub events: Vec<Event<C>>,
    pub(super) acked: Vec<PacketRecord>,
    pub(super) lost: Vec<PacketRecord>,
    pub(super) recovered: Vec<PacketRecord>,
    /// What revealed the losses.
    pub(super) lost_by: Option<Cause>,
    pub(super) spurious: Vec<PacketRecord>,
    /// Paths whose probe timeout expired.
    pub(super) probed: Vec<PathId>,
    /// New ranges of an acknowledgement, descending.
    pub(super) fresh: Vec<Range<u64>>,
    /// What became of packets that belong to blocks.
    pub(super) shards: Vec<ShardReport>,
    /// Packets whose shards a receiver complains about.
    pub(super) named: Vec<(PathId, u64)>,
    /// Those of one path.
    pub(super) missing: Vec<PacketNumberRange>,
}

impl<C> Default for Workspace<C> {
    fn default() -> Self {
        Self {
            events: Vec::new(),
            acked: Vec::new(),
            lost: Vec::new(),
            recovered: Vec::new(),
            lost_by: None,
            spurious: Vec::new(),
            probed: Vec::new(),
            fresh: Vec::new(),
            shards: Vec::new(),
            named: Vec::new(),
            missing: Vec::new(),
        }
    }
}

impl<C> Workspace<C> {
    /// An empty workspace.
    pub fn new() -> Self {
        Self::default()
    }

    /// Packets that the last call found acknowledged.
    pub fn acked(&self) -> &[PacketRecord] {
        &self.acked
    }

    /// Packets that the last call declared lost.
    pub fn lost(&self) -> &[PacketRecord] {
        &self.lost
    }

    /// Packets that the last call gave up, of blocks that are complete all the same.
    pub fn recovered(&self) -> &[PacketRecord] {
        &self.recovered
    }

    /// Packets that the last call found acknowledged although they had been declared lost.
    pub fn spurious(&self) -> &[PacketRecord] {
        &self.spurious
    }

    pub(super) fn clear(&mut self) {
        self.events.clear();
        self.acked.clear();
        self.lost.clear();
        self.recovered.clear();
        self.lost_by = None;
        self.spurious.clear();
        self.probed.clear();
        self.fresh.clear();
        self.shards.clear();
        self.named.clear();
        self.missing.clear();
    }
}
