//! One block as its sender sees it.

use cc_algos::ids::{BlockId, PathId};

use super::Place;

/// How far a block has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// Whatever was lost, parity makes good.
    Covered,
    /// More was lost once than parity makes good.
    Repaired,
    /// The peer has its data.
    Complete,
}

/// What is known of a shard that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// So many packets with it are in flight; at least one.
    InFlight(u16),
    /// All packets with it were given up.
    Lost,
    /// As `Lost`, and it waits to be sent again.
    Queued,
    Arrived,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct SentShard<C> {
    pub(super) content: C,
    pub(super) state: State,
    /// The newest packet with it.
    pub(super) path: PathId,
    pub(super) packet_number: u64,
}

/// A block of which something was sent.
#[derive(Debug)]
pub(super) struct Block<C> {
    pub(super) id: BlockId,
    pub(super) k: u8,
    pub(super) m: u8,
    pub(super) progress: Progress,
    /// By index, as far as they were sent: data first. Empty once the block is complete.
    pub(super) shards: Vec<SentShard<C>>,
    arrived: u8,
    lost: u8,
}

impl<C: Copy> Block<C> {
    /// A block with room for its shards.
    pub(super) const fn new(place: Place, room: Vec<SentShard<C>>) -> Self {
        let Place { block, k, m, .. } = place;
        Self { id: block, k, m, progress: Progress::Covered, shards: room, arrived: 0, lost: 0 }
    }

    pub(super) const fn place(&self, index: u8) -> Place {
        Place { block: self.id, index, k: self.k, m: self.m }
    }

    pub(super) const fn size(&self) -> u8 {
        self.k + self.m
    }

    pub(super) fn is_complete(&self) -> bool {
        self.progress == Progress::Complete
    }

    /// Whether the peer can have enough of it.
    pub(super) fn may_be_complete(&self) -> bool {
        self.is_complete() || self.shards.len() >= usize::from(self.k)
    }

    /// The place of the shard that is sent next for the first time, while there is one.
    pub(super) fn unsent(&self) -> Option<Place> {
        let next = self.shards.len() as u8;
        (!self.is_complete() && next < self.size()).then(|| self.place(next))
    }

    /// A packet with a shard leaves.
    pub(super) fn on_sent(&mut self, index: u8, packet: SentShard<C>) {
        let Some(shard) = self.shards.get_mut(usize::from(index)) else {
            debug_assert_eq!(usize::from(index), self.shards.len(), "shards leave in order");
            return self.shards.push(packet);
        };
        let before = shard.state;
        shard.state = match before {
            State::InFlight(packets) => State::InFlight(packets.saturating_add(1)),
            State::Lost | State::Queued => State::InFlight(1),
            State::Arrived => State::Arrived,
        };
        (shard.path, shard.packet_number) = (packet.path, packet.packet_number);
        self.lost -= u8::from(before == State::Lost);
    }

    /// A packet with a shard arrived; returns whether the block is complete by that.
    pub(super) fn on_arrived(&mut self, index: u8) -> bool {
        let Some(shard) = self.shards.get_mut(usize::from(index)) else { return false };
        let before = core::mem::replace(&mut shard.state, State::Arrived);
        self.arrived += u8::from(before != State::Arrived);
        self.lost -= u8::from(before == State::Lost);
        self.arrived == self.k
    }

    /// A packet with a shard was given up.
    pub(super) fn on_lost(&mut self, index: u8) {
        let Some(shard) = self.shards.get_mut(usize::from(index)) else { return };
        match shard.state {
            State::InFlight(packets @ 2..) => shard.state = State::InFlight(packets - 1),
            State::InFlight(_) => {
                shard.state = State::Lost;
                self.lost += 1;
            }
            State::Lost | State::Queued | State::Arrived => {}
        }
    }

    /// Whether more is lost than what has arrived, is under way or will leave anyway makes good.
    pub(super) const fn lacks_more_than_parity(&self) -> bool {
        self.lost > self.m
    }

    /// Everything lost is to be sent again; hands the place of each to `each`.
    pub(super) fn queue_lost(&mut self, mut each: impl FnMut(Place)) {
        let (block, k, m) = (self.id, self.k, self.m);
        self.lost = 0;
        for (shard, index) in self.shards.iter_mut().zip(0..) {
            if shard.state == State::Lost {
                shard.state = State::Queued;
                each(Place { block, index, k, m });
            }
        }
    }

    /// The first shard that was sent and is not known to have arrived.
    pub(super) fn oldest_unsettled(&self) -> Option<(Place, C)> {
        let index = self.shards.iter().position(|shard| shard.state != State::Arrived)?;
        Some((self.place(index as u8), self.shards[index].content))
    }
}
