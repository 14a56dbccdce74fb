//! Scratch that all flows of a driver share, and through which results come out.

use core::ops::Range;

use cc_algos::controller::{Cause, PacketRecord};
use cc_algos::ids::PathId;

/// What became of a packet's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<C> {
    /// It arrived.
    Acked(C),
    /// It is held for lost and should be sent again, if it still matters.
    Lost(C),
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
    /// What revealed the losses.
    pub(super) lost_by: Option<Cause>,
    pub(super) spurious: Vec<PacketRecord>,
    /// Paths whose probe timeout expired.
    pub(super) probed: Vec<PathId>,
    /// New ranges of an acknowledgement, descending.
    pub(super) fresh: Vec<Range<u64>>,
}

impl<C> Default for Workspace<C> {
    fn default() -> Self {
        Self {
            events: Vec::new(),
            acked: Vec::new(),
            lost: Vec::new(),
            lost_by: None,
            spurious: Vec::new(),
            probed: Vec::new(),
            fresh: Vec::new(),
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

    /// Packets that the last call found acknowledged although they had been declared lost.
    pub fn spurious(&self) -> &[PacketRecord] {
        &self.spurious
    }

    pub(super) fn clear(&mut self) {
        self.events.clear();
        self.acked.clear();
        self.lost.clear();
        self.lost_by = None;
        self.spurious.clear();
        self.probed.clear();
        self.fresh.clear();
    }
}
