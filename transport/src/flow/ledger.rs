//! What was sent and is not settled: a ring indexed by packet number.
//!
//! The ring begins at the oldest packet in flight, so it spans a window and not the history. Records that were declared
//! lost move on into a short list when the ring passes them, where a late acknowledgement still finds them. What has
//! been acknowledged is known as ranges, and acknowledgements are processed as differences against them: their cost is
//! what is new in them, plus their number of ranges.

use core::ops::Range;
use std::collections::VecDeque;

use cc_algos::controller::{PacketRecord, PacketTag, SendState};
use cc_algos::ids::{BlockId, Entropy, PathId};
use cc_algos::signal::Ecn;
use cc_algos::units::Timestamp;

use super::code::Place;
use super::lanes::{LaneId, Lanes};
use super::ranges::RangeSet;

/// What became of a packet number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    InFlight,
    Acked,
    Lost,
    /// A packet that does not count as in flight and is never missed: nothing but acknowledgements in it.
    Untracked,
    /// A number that no packet bears.
    Skipped,
}

/// One packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<C> {
    pub(crate) sent_at: Timestamp,
    pub(crate) at_send: SendState,
    pub(crate) tag: PacketTag,
    pub(crate) block: Option<BlockId>,
    pub(crate) content: C,
    pub(crate) bytes: u32,
    pub(crate) entropy: Entropy,
    pub(crate) codepoint: Ecn,
    /// Its place in `block`.
    pub(crate) shard: u8,
    state: State,
    lane: LaneId,
    /// Position among the packets of its lane, wrapping.
    seq: u32,
    /// How many numbers on the next packet of the lane follows, if one does.
    next: u32,
}

// Two cache lines: the ring of a large window should stay in the cache.
const _: () = assert!(size_of::<Entry<[u64; 2]>>() <= 128);

impl<C: Copy> Entry<C> {
    /// The packet as a controller sees it.
    pub(crate) fn record(&self, packet_number: u64, path: PathId) -> PacketRecord {
        let mut record = PacketRecord::new(packet_number, self.bytes, self.sent_at);
        record.path = path;
        record.entropy = self.entropy;
        record.tag = self.tag;
        record.block = self.block;
        record.at_send = self.at_send;
        record
    }
}

/// What a packet was until it was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Was {
    InFlight,
    Lost,
}

/// A packet that the ledger is to remember.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewPacket<C> {
    pub(crate) now: Timestamp,
    pub(crate) bytes: u32,
    pub(crate) entropy: Entropy,
    pub(crate) codepoint: Ecn,
    pub(crate) block: Option<Place>,
    pub(crate) content: C,
    pub(crate) at_send: SendState,
}

/// A packet that the ring has passed without it having been acknowledged.
#[derive(Clone, Copy, Debug)]
struct Ghost<C> {
    packet_number: u64,
    /// When a late acknowledgement is no longer waited for.
    expires_at: Timestamp,
    entry: Entry<C>,
    acked: bool,
}

/// The oldest packet in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Oldest {
    pub(crate) packet_number: u64,
    pub(crate) sent_at: Timestamp,
    /// Whether a later packet of the same lane was acknowledged.
    pub(crate) overtaken_on_lane: bool,
}

/// The packets of one path that are not settled.
#[derive(Debug)]
pub(crate) struct Ledger<C> {
    /// Entries of the packet numbers from `base` on. The first one is in flight, if there is any.
    ring: VecDeque<Entry<C>>,
    base: u64,
    /// Numbers that an acknowledgement says nothing new about: acknowledged, or no longer waited for.
    known: RangeSet,
    /// What left the ring without having been acknowledged, ascending.
    ghosts: VecDeque<Ghost<C>>,
    late_until: Timestamp,
    /// The newest skipped numbers, ascending.
    skipped: VecDeque<u64>,
    lanes: Lanes,
    in_flight_bytes: u64,
    in_flight_packets: u64,
    /// An acknowledged packet was overtaken on its own lane since this was last asked.
    reordered: bool,
}

impl<C: Copy> Ledger<C> {
    /// Skipped numbers that are remembered: a cheating peer runs into the newest.
    const SKIPPED_KEPT: usize = 16;

    /// Packets outside the ring for which a late acknowledgement is awaited: bounds memory where much is lost.
    const GHOSTS_KEPT: usize = 4_096;

    pub(crate) fn new() -> Self {
        Self {
            ring: VecDeque::new(),
            base: 0,
            known: RangeSet::new(),
            ghosts: VecDeque::new(),
            late_until: Timestamp::ZERO,
            skipped: VecDeque::new(),
            lanes: Lanes::new(),
            in_flight_bytes: 0,
            in_flight_packets: 0,
            reordered: false,
        }
    }

    /// The number of the next packet.
    pub(crate) fn next_number(&self) -> u64 {
        self.base + self.ring.len() as u64
    }

    /// Whether packets are spread over several entropies.
    pub(crate) fn is_sprayed(&self) -> bool {
        self.lanes.are_several()
    }

    /// The part of a range that may be in flight.
    pub(crate) fn unsettled(&self, range: Range<u64>) -> Range<u64> {
        range.start.max(self.base)..range.end.min(self.next_number())
    }

    pub(crate) const fn in_flight_bytes(&self) -> u64 {
        self.in_flight_bytes
    }

    pub(crate) const fn in_flight_packets(&self) -> u64 {
        self.in_flight_packets
    }

    /// One field of each part; see [`Sender::touch`](super::Sender::touch).
    #[inline]
    pub(crate) fn touch(&self) -> u64 {
        let counts = self.known.range_count() + self.ghosts.len() + self.skipped.len() + self.lanes.touch();
        counts as u64 ^ self.next_number() ^ self.in_flight_packets
    }

    /// One field of each cache line that an entry may span.
    #[inline]
    pub(crate) fn touch_packet(&self, number: u64) -> u64 {
        let entry = number.checked_sub(self.base).and_then(|index| self.ring.get(index as usize));
        entry.map_or(0, |entry| entry.sent_at.as_nanos() ^ entry.at_send.delivered ^ u64::from(entry.seq))
    }

    /// When a packet was sent, if it is in flight.
    pub(crate) fn sent_at(&self, number: u64) -> Option<Timestamp> {
        let entry = self.ring.get(usize::try_from(number.checked_sub(self.base)?).ok()?)?;
        (entry.state == State::InFlight).then_some(entry.sent_at)
    }

    /// Remembers a packet that counts as in flight. Its tag is set by [`Ledger::set_newest_tag`].
    pub(crate) fn push(&mut self, packet: NewPacket<C>) -> u64 {
        let packet_number = self.next_number();
        let (lane, seq) = self.link(packet_number, packet.entropy);
        self.in_flight_bytes += u64::from(packet.bytes);
        self.in_flight_packets += 1;
        self.ring.push_back(Entry {
            sent_at: packet.now,
            at_send: packet.at_send,
            tag: PacketTag::NONE,
            block: packet.block.map(|place| place.block),
            shard: packet.block.map_or(0, |place| place.index),
            content: packet.content,
            bytes: packet.bytes,
            entropy: packet.entropy,
            codepoint: packet.codepoint,
            state: State::InFlight,
            lane,
            seq,
            next: 0,
        });
        packet_number
    }

    /// Appends a packet number to the lane of an entropy.
    fn link(&mut self, packet_number: u64, entropy: Entropy) -> (LaneId, u32) {
        let id = self.lanes.of(entropy);
        let lane = &mut self.lanes[id];
        if lane.outstanding == 0 {
            lane.head = packet_number;
        } else {
            // The lane has a packet in flight, hence its newest is in the ring.
            let tail = (lane.tail - self.base) as usize;
            self.ring[tail].next = (packet_number - lane.tail) as u32;
        }
        lane.tail = packet_number;
        lane.outstanding += 1;
        let seq = lane.next_seq;
        lane.next_seq = seq.wrapping_add(1);
        (id, seq)
    }

    pub(crate) fn set_newest_tag(&mut self, tag: PacketTag) {
        if let Some(newest) = self.ring.back_mut() {
            newest.tag = tag;
        }
    }

    /// Forgets what a controller that is gone wrote on the packets in flight.
    pub(crate) fn clear_tags(&mut self) {
        for entry in &mut self.ring {
            entry.tag = PacketTag::NONE;
        }
        for ghost in &mut self.ghosts {
            ghost.entry.tag = PacketTag::NONE;
        }
    }

    /// Gives out a number for a packet that is not tracked.
    pub(crate) fn push_untracked(&mut self) -> u64 {
        let number = self.next_number();
        if !self.push_empty(State::Untracked) {
            self.known.insert_one(number);
        }
        number
    }

    /// Leaves out the next number.
    pub(crate) fn skip(&mut self) {
        self.skipped.push_back(self.next_number());
        self.push_empty(State::Skipped);
        if self.skipped.len() > Self::SKIPPED_KEPT
            && let Some(oldest) = self.skipped.pop_front()
        {
            self.known.insert_one(oldest);
        }
    }

    /// Takes up the next number without a packet in flight; returns whether the ring holds it.
    fn push_empty(&mut self, state: State) -> bool {
        let Some(newest) = self.ring.back() else {
            self.base += 1;
            return false;
        };
        self.ring.push_back(Entry { state, bytes: 0, next: 0, block: None, ..*newest });
        true
    }

    /// What is new in an acknowledgement's ranges, which come in descending order, is appended to `fresh`, descending.
    pub(crate) fn fresh_in(&self, ranges: impl Iterator<Item = Range<u64>>, fresh: &mut Vec<Range<u64>>) {
        let mut descent = self.known.descend();
        for range in ranges {
            descent.subtract(range, |part| fresh.push(part));
        }
    }

    /// A skipped number within a range.
    pub(crate) fn skipped_in(&self, range: &Range<u64>) -> Option<u64> {
        self.skipped.iter().copied().find(|number| range.contains(number))
    }

    /// Takes in a range of numbers that [`Ledger::fresh_in`] found, and hands each packet in it to `each`, ascending.
    pub(crate) fn acknowledge(&mut self, range: Range<u64>, mut each: impl FnMut(u64, &Entry<C>, Was)) {
        self.known.insert(range.clone());
        if range.start < self.base && !self.ghosts.is_empty() {
            self.acknowledge_ghosts(range.start..range.end.min(self.base), &mut each);
        }
        for number in range.start.max(self.base)..range.end {
            let index = (number - self.base) as usize;
            let Some(entry) = self.ring.get_mut(index) else { break };
            let state = core::mem::replace(&mut entry.state, State::Acked);
            if state == State::InFlight {
                let (lane, seq) = (entry.lane, entry.seq);
                self.reordered |= self.lanes.on_acked(lane, seq);
                self.leave_flight(number, index);
                each(number, &self.ring[index], Was::InFlight);
            } else if state == State::Lost {
                self.reordered = true;
                each(number, &self.ring[index], Was::Lost);
            }
        }
        self.advance();
    }

    fn acknowledge_ghosts(&mut self, range: Range<u64>, each: &mut impl FnMut(u64, &Entry<C>, Was)) {
        let first = self.ghosts.partition_point(|ghost| ghost.packet_number < range.start);
        for ghost in self.ghosts.range_mut(first..) {
            if ghost.packet_number >= range.end {
                break;
            }
            ghost.acked = true;
            if ghost.entry.state != State::Lost {
                continue;
            }
            self.reordered = true;
            each(ghost.packet_number, &ghost.entry, Was::Lost);
        }
    }

    /// Declares a packet lost and hands it to `each`, if it is in flight.
    pub(crate) fn lose(&mut self, number: u64, mut each: impl FnMut(u64, &Entry<C>)) {
        let Some(index) = number.checked_sub(self.base).map(|index| index as usize) else { return };
        let Some(entry) = self.ring.get_mut(index).filter(|entry| entry.state == State::InFlight) else { return };
        entry.state = State::Lost;
        self.leave_flight(number, index);
        each(number, &self.ring[index]);
        self.advance();
    }

    fn leave_flight(&mut self, number: u64, index: usize) {
        let entry = &self.ring[index];
        self.in_flight_bytes -= u64::from(entry.bytes);
        self.in_flight_packets -= 1;
        let lane = &mut self.lanes[entry.lane];
        lane.outstanding -= 1;
        if lane.head != number || lane.outstanding == 0 {
            return;
        }
        // Each link is followed once in the life of a lane.
        let mut at = index;
        loop {
            at += self.ring[at].next as usize;
            if self.ring[at].state == State::InFlight {
                break;
            }
        }
        lane.head = self.base + at as u64;
    }

    /// Lets the ring begin at the oldest packet in flight.
    fn advance(&mut self) {
        while let Some(front) = self.ring.front() {
            if front.state == State::InFlight {
                return;
            }
            if matches!(front.state, State::Lost | State::Untracked) {
                let (packet_number, expires_at) = (self.base, self.late_until);
                self.ghosts.push_back(Ghost { packet_number, expires_at, entry: *front, acked: false });
            }
            self.ring.pop_front();
            self.base += 1;
        }
    }

    /// Begins a batch at `now`: packets lost in it are waited for until `late_until`, and those whose time is over or that
    /// are too many are given up.
    pub(crate) fn begin(&mut self, now: Timestamp, late_until: Timestamp) {
        self.late_until = late_until;
        while let Some(ghost) = self.ghosts.front() {
            if !ghost.acked && ghost.expires_at > now && self.ghosts.len() <= Self::GHOSTS_KEPT {
                return;
            }
            self.known.insert_one(ghost.packet_number);
            self.ghosts.pop_front();
        }
    }

    /// The oldest packet in flight.
    pub(crate) fn oldest(&self) -> Option<Oldest> {
        let entry = self.ring.front()?;
        Some(Oldest {
            packet_number: self.base,
            sent_at: entry.sent_at,
            overtaken_on_lane: self.lanes.lead(entry.lane, entry.seq) > 0,
        })
    }

    /// Content of the oldest packet in flight.
    pub(crate) fn oldest_content(&self) -> Option<C> {
        self.ring.front().map(|entry| entry.content)
    }

    /// A lane on which something new was acknowledged since it was last returned here.
    pub(crate) fn take_advanced_lane(&mut self) -> Option<LaneId> {
        self.lanes.take_advanced()
    }

    /// The oldest packet in flight on a lane, if one sent at least `threshold` packets later on it was acknowledged.
    pub(crate) fn overtaken(&self, lane: LaneId, threshold: u32) -> Option<u64> {
        let state = &self.lanes[lane];
        if state.outstanding == 0 {
            return None;
        }
        let seq = self.ring[(state.head - self.base) as usize].seq;
        (self.lanes.lead(lane, seq) >= threshold).then_some(state.head)
    }

    /// Whether a packet was acknowledged after a later one of its lane, since this was last asked.
    pub(crate) fn take_reordered(&mut self) -> bool {
        core::mem::take(&mut self.reordered)
    }

    /// Whether any number of a range was acknowledged.
    pub(crate) fn any_acked(&self, range: Range<u64>) -> bool {
        self.known.intersects(range)
    }

    /// Everything below this number is settled, and no late acknowledgement is waited for.
    pub(crate) fn settled_below(&self) -> u64 {
        self.ghosts.front().map_or(self.base, |ghost| ghost.packet_number)
    }
}

#[cfg(test)]
mod tests;
