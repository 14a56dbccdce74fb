//! Packets of one entropy, in the order they were sent: the unit within which reordering means something.
//!
//! Packets of one lane take one route, where switches keep them in order; packets of different lanes overtake each other
//! all the time. Hence thresholds count within a lane. The members of a lane are linked through the ledger's ring; here
//! stand the ends of those lists.

use core::ops::{Index, IndexMut};

use cc_algos::ids::Entropy;
use smallvec::SmallVec;

/// Where a lane stands in [`Lanes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct LaneId(u32);

/// The packets of one entropy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lane {
    entropy: Entropy,
    /// Packets in flight.
    pub(crate) outstanding: u32,
    /// Number of the oldest packet in flight. Meaningless if there is none.
    pub(crate) head: u64,
    /// Number of the newest packet. Meaningless if none is in flight.
    pub(crate) tail: u64,
    /// Position of the next packet, wrapping.
    pub(crate) next_seq: u32,
    /// One more than the largest acknowledged position, wrapping.
    acked_end: u32,
    /// Stands in [`Lanes::advanced`].
    advanced: bool,
}

impl Lane {
    const fn new(entropy: Entropy) -> Self {
        Self { entropy, outstanding: 0, head: 0, tail: 0, next_seq: 0, acked_end: 0, advanced: false }
    }
}

/// All lanes of a path. One lane costs nothing but itself.
#[derive(Clone, Debug)]
pub(crate) struct Lanes {
    lanes: SmallVec<[Lane; 1]>,
    /// Lane of each entropy, sorted. Empty while there is but one lane.
    index: Vec<(Entropy, LaneId)>,
    free: Vec<LaneId>,
    /// Lanes on which something new was acknowledged.
    advanced: SmallVec<[LaneId; 2]>,
    /// The lane of the newest packet.
    current: LaneId,
    /// Number of lanes at which idle ones are reclaimed.
    sweep_at: usize,
}

impl Lanes {
    const FIRST_SWEEP: usize = 32;

    pub(crate) fn new() -> Self {
        Self {
            lanes: SmallVec::new(),
            index: Vec::new(),
            free: Vec::new(),
            advanced: SmallVec::new(),
            current: LaneId::default(),
            sweep_at: Self::FIRST_SWEEP,
        }
    }

    /// One field of each part; see [`Sender::touch`](super::Sender::touch).
    #[inline]
    pub(crate) fn touch(&self) -> usize {
        self.lanes.len() + self.advanced.len() + self.sweep_at
    }

    /// The lane of an entropy, made if there is none.
    #[inline]
    pub(crate) fn of(&mut self, entropy: Entropy) -> LaneId {
        match self.lanes.get(self.current.0 as usize) {
            Some(lane) if lane.entropy == entropy => self.current,
            Some(_) => self.find_or_add(entropy),
            None => {
                self.lanes.push(Lane::new(entropy));
                self.current
            }
        }
    }

    fn find_or_add(&mut self, entropy: Entropy) -> LaneId {
        if self.lanes.len() == 1 {
            let only = &mut self.lanes[0];
            if only.outstanding == 0 {
                // A flow that changes its route now and then while idle stays with one lane.
                only.entropy = entropy;
                return self.current;
            }
            self.index.push((only.entropy, LaneId(0)));
        }
        self.current = match self.index.binary_search_by_key(&entropy, |&(entropy, _)| entropy) {
            Ok(at) => self.index[at].1,
            Err(at) => self.add(entropy, at),
        };
        self.current
    }

    fn add(&mut self, entropy: Entropy, at: usize) -> LaneId {
        let at = if self.index.len() >= self.sweep_at { self.sweep(entropy) } else { at };
        let id = self.free.pop().unwrap_or_else(|| {
            self.lanes.push(Lane::new(entropy));
            LaneId((self.lanes.len() - 1) as u32)
        });
        self.lanes[id.0 as usize] = Lane::new(entropy);
        self.index.insert(at, (entropy, id));
        id
    }

    /// Reclaims lanes with nothing in flight; returns where `entropy` belongs in what remains of the index.
    fn sweep(&mut self, entropy: Entropy) -> usize {
        let Self { lanes, index, free, .. } = self;
        index.retain(|&(_, id)| {
            let lane = &lanes[id.0 as usize];
            let keep = lane.outstanding > 0 || lane.advanced;
            if !keep {
                free.push(id);
            }
            keep
        });
        self.sweep_at = Self::FIRST_SWEEP.max(2 * self.index.len());
        self.index.partition_point(|&(other, _)| other < entropy)
    }

    /// Whether packets take, or took a while ago, more than one lane.
    #[inline]
    pub(crate) fn are_several(&self) -> bool {
        self.lanes.len() > 1
    }

    /// The packet at position `seq` was acknowledged; returns whether a later one of its lane had been before.
    #[inline]
    pub(crate) fn on_acked(&mut self, id: LaneId, seq: u32) -> bool {
        let lane = &mut self.lanes[id.0 as usize];
        let end = seq.wrapping_add(1);
        // Positions in flight lie far less than 2^31 apart, so the sign of the difference tells the order.
        if (end.wrapping_sub(lane.acked_end) as i32) <= 0 {
            return true;
        }
        lane.acked_end = end;
        if !lane.advanced {
            lane.advanced = true;
            self.advanced.push(id);
        }
        false
    }

    /// How far the largest acknowledged packet of a lane is ahead of the packet at position `seq`; zero if behind.
    #[inline]
    pub(crate) fn lead(&self, id: LaneId, seq: u32) -> u32 {
        let lead = self.lanes[id.0 as usize].acked_end.wrapping_sub(1).wrapping_sub(seq) as i32;
        lead.max(0) as u32
    }

    /// A lane on which something new was acknowledged since it was last returned here.
    #[inline]
    pub(crate) fn take_advanced(&mut self) -> Option<LaneId> {
        let id = self.advanced.pop()?;
        self.lanes[id.0 as usize].advanced = false;
        Some(id)
    }
}

impl Index<LaneId> for Lanes {
    type Output = Lane;
    #[inline]
    fn index(&self, id: LaneId) -> &Lane {
        &self.lanes[id.0 as usize]
    }
}

impl IndexMut<LaneId> for Lanes {
    #[inline]
    fn index_mut(&mut self, id: LaneId) -> &mut Lane {
        &mut self.lanes[id.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_lane_changes_its_entropy_in_place() {
        let mut lanes = Lanes::new();
        let ids: Vec<_> = (0..100).map(|entropy| lanes.of(Entropy(entropy))).collect();
        assert!(ids.iter().all(|id| *id == ids[0]));
        assert_eq!(lanes.lanes.len(), 1);
    }

    #[test]
    fn busy_lanes_are_kept_and_idle_ones_reclaimed() {
        let mut lanes = Lanes::new();
        let busy: Vec<_> = (0..10)
            .map(|entropy| {
                let id = lanes.of(Entropy(entropy));
                lanes[id].outstanding = 1;
                id
            })
            .collect();
        for entropy in 1_000..100_000 {
            lanes.of(Entropy(entropy));
        }
        assert!(lanes.lanes.len() <= 64, "{}", lanes.lanes.len());
        let again: Vec<_> = (0..10).map(|entropy| lanes.of(Entropy(entropy))).collect();
        assert_eq!(again, busy);
    }

    #[test]
    fn positions_compare_across_the_wrap() {
        let mut lanes = Lanes::new();
        let id = lanes.of(Entropy(0));
        lanes[id].next_seq = u32::MAX - 1;
        lanes[id].acked_end = u32::MAX - 1;
        assert!(!lanes.on_acked(id, 1));
        assert_eq!(lanes.lead(id, u32::MAX - 1), 3, "MAX - 1, MAX, 0 and 1 follow each other");
        assert!(lanes.on_acked(id, u32::MAX), "it was overtaken by position 1");
        assert_eq!(lanes.lead(id, 2), 0);
    }
}
