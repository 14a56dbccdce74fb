//! The event queue: a timing wheel with an overflow heap, in exact (time, tie) order. How long a slot is adapts to how dense
//! events are, and does not change their order.
//!
//! Events of equal time come in an order that is random but fixed by the seed: each gets a tie-breaker that is a
//! bijection of its sequence number, so that synchronised senders share drops instead of the first one built winning.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::time::SimTime;

/// Slots of the wheel. Events further ahead wait in the heap.
const SLOTS: usize = 1 << 14;
const WORDS: usize = SLOTS / 64;
const NIL: u32 = u32::MAX;
/// Events in a slot at best: enough to fetch what they touch ahead, few enough to sort in no time.
const EVENTS_PER_SLOT: u64 = 12;
/// Slots start at 2^20 ps, about a microsecond.
const FIRST_SHIFT: u32 = 20;
const SHIFTS: core::ops::RangeInclusive<u32> = 7..=40;
/// Events after which the slots' length is first looked at, and the most after which it is looked at again.
const FIRST_LOOK: u64 = 1 << 11;
const LATER_LOOK: u64 = 1 << 16;

/// What is to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// The first packet in flight on a port's link reaches the other end.
    Head {
        /// The port.
        port: u32,
        /// The packet, which the port knows as well: it stands here so that both can be fetched at once.
        packet: u32,
    },
    /// A scheduled port's link is free for the next packet.
    Service {
        /// The port.
        port: u32,
    },
    /// A packet that left the order of its link arrives.
    Stray {
        /// The port it left by.
        port: u32,
        /// The packet.
        packet: u32,
    },
    /// A flow begins.
    Start {
        /// The flow.
        flow: u32,
    },
    /// A flow's sender has a timer or its pacer's turn.
    WakeSender {
        /// The flow.
        flow: u32,
    },
    /// A flow's receiver has a delayed acknowledgement to send.
    WakeReceiver {
        /// The flow.
        flow: u32,
    },
    /// A time series gets its next point.
    Sample,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    at: SimTime,
    tie: u64,
    action: Action,
}

impl Entry {
    /// Time, then tie, as one number: compared without a branch.
    fn key(&self) -> u128 {
        key(self.at, self.tie)
    }
}

fn key(at: SimTime, tie: u64) -> u128 {
    u128::from(at.as_picos()) << 64 | u128::from(tie)
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

#[derive(Clone, Copy)]
struct Node {
    entry: Entry,
    next: u32,
}

/// Pending events.
pub(crate) struct EventQueue {
    /// Events of the open slot, latest first, so that the next one is popped off the end.
    open: Vec<Entry>,
    /// Absolute number of the open slot.
    cursor: u64,
    slot_shift: u32,
    heads: Box<[u32; SLOTS]>,
    occupied: Box<[u64; WORDS]>,
    nodes: Vec<Node>,
    free: u32,
    in_wheel: usize,
    overflow: BinaryHeap<Reverse<Entry>>,
    sequence: u64,
    scramble: u64,
    density: Density,
}

/// How many events and slots there were since the slots' length was last looked at.
struct Density {
    since_sequence: u64,
    slots: u64,
    look_after: u64,
}

impl EventQueue {
    /// A queue whose ties are broken by `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            open: Vec::new(),
            cursor: 0,
            slot_shift: FIRST_SHIFT,
            heads: Box::new([NIL; SLOTS]),
            occupied: Box::new([0; WORDS]),
            nodes: Vec::new(),
            free: NIL,
            in_wheel: 0,
            overflow: BinaryHeap::new(),
            sequence: 0,
            scramble: seed,
            density: Density { since_sequence: 0, slots: 0, look_after: FIRST_LOOK },
        }
    }

    /// Schedules `action` at `at`, which must not lie before the last event popped.
    #[inline]
    pub(crate) fn push(&mut self, at: SimTime, action: Action) {
        self.sequence += 1;
        // Xor and multiplication by an odd number are bijections: no two ties are equal. The high bits are well mixed.
        let tie = (self.sequence ^ self.scramble).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.place(at, tie, action);
    }

    /// Schedules an event that only looks: it comes after the others of its instant, and takes no tie-breaker from them, so
    /// that they come in the same order with and without it.
    pub(crate) fn push_observer(&mut self, at: SimTime, action: Action) {
        self.place(at, u64::MAX, action);
    }

    /// Takes the parts of an entry, since they come in registers: an entry that a caller has just put together in memory
    /// would be read back in larger pieces than it was written, which processors wait for.
    #[inline]
    fn place(&mut self, at: SimTime, tie: u64, action: Action) {
        let slot = at.as_picos() >> self.slot_shift;
        if slot <= self.cursor {
            self.push_open(Entry { at, tie, action });
        } else if slot - self.cursor < SLOTS as u64 {
            self.push_wheel(slot, at, tie, action);
        } else {
            self.overflow.push(Reverse(Entry { at, tie, action }));
        }
    }

    /// The next event of the open slot, if any is left in it.
    #[inline]
    pub(crate) fn pop_open(&mut self) -> Option<(SimTime, Action)> {
        self.open.pop().map(|entry| (entry.at, entry.action))
    }

    /// The next event, if any.
    #[cfg(test)]
    fn pop(&mut self) -> Option<(SimTime, Action)> {
        if self.open.is_empty() && !self.open_next_slot() {
            return None;
        }
        self.pop_open()
    }

    /// Events of the open slot, the last to come first.
    pub(crate) fn upcoming(&self) -> impl Iterator<Item = Action> + '_ {
        self.open.iter().map(|entry| entry.action)
    }

    #[inline]
    fn push_open(&mut self, entry: Entry) {
        let position = self.open.partition_point(|other| other.key() > entry.key());
        self.open.insert(position, entry);
    }

    #[inline]
    fn push_wheel(&mut self, slot: u64, at: SimTime, tie: u64, action: Action) {
        let index = slot as usize % SLOTS;
        let next = self.heads[index];
        self.heads[index] = if self.free == NIL {
            self.nodes.push(Node { entry: Entry { at, tie, action }, next });
            (self.nodes.len() - 1) as u32
        } else {
            let id = self.free;
            let place = &mut self.nodes[id as usize];
            self.free = place.next;
            *place = Node { entry: Entry { at, tie, action }, next };
            id
        };
        self.occupied[index / 64] |= 1 << (index % 64);
        self.in_wheel += 1;
    }

    /// Moves the cursor to the next slot that holds an event and sorts its events; `false` if there is none. The open slot
    /// must have been emptied.
    pub(crate) fn open_next_slot(&mut self) -> bool {
        self.adapt();
        if !self.open.is_empty() {
            return true;
        }
        let next_overflow = self.overflow.peek().map(|Reverse(entry)| entry.at.as_picos() >> self.slot_shift);
        let next_wheel = (self.in_wheel > 0).then(|| self.next_occupied());
        self.cursor = match (next_wheel, next_overflow) {
            (Some(wheel), Some(overflow)) => wheel.min(overflow),
            (Some(slot), None) | (None, Some(slot)) => slot,
            (None, None) => return false,
        };
        self.drain_slot(self.cursor as usize % SLOTS);
        while let Some(Reverse(entry)) = self.overflow.peek() {
            let slot = entry.at.as_picos() >> self.slot_shift;
            if slot - self.cursor >= SLOTS as u64 {
                break;
            }
            let entry = *entry;
            self.overflow.pop();
            if slot == self.cursor {
                self.open.push(entry);
            } else {
                self.push_wheel(slot, entry.at, entry.tie, entry.action);
            }
        }
        if self.open.len() > 1 {
            self.open.sort_unstable_by(|a, b| b.cmp(a));
        }
        true
    }

    /// Makes slots longer or shorter if they hold far too few or too many events.
    fn adapt(&mut self) {
        self.density.slots += 1;
        let events = self.sequence - self.density.since_sequence;
        if events < self.density.look_after {
            return;
        }
        // Powers of two: the shift by which slots should hold EVENTS_PER_SLOT.
        let wanted = EVENTS_PER_SLOT.saturating_mul(self.density.slots).max(1).ilog2();
        let shift = (self.slot_shift + wanted).saturating_sub(events.ilog2()).clamp(*SHIFTS.start(), *SHIFTS.end());
        let look_after = (self.density.look_after * 4).min(LATER_LOOK);
        self.density = Density { since_sequence: self.sequence, slots: 0, look_after };
        if shift.abs_diff(self.slot_shift) >= 2 {
            self.rebuild(shift);
        }
    }

    /// Sorts all pending events into slots of another length. The open slot is empty.
    fn rebuild(&mut self, shift: u32) {
        let mut pending: Vec<Entry> =
            std::mem::take(&mut self.overflow).into_iter().map(|Reverse(entry)| entry).collect();
        for index in 0..SLOTS {
            self.drain_slot(index);
        }
        pending.append(&mut self.open);
        // The last event popped lies in the cursor's slot, of whichever length: nothing pending lies before it.
        self.cursor = (self.cursor << self.slot_shift) >> shift;
        self.slot_shift = shift;
        for entry in pending {
            self.place(entry.at, entry.tie, entry.action);
        }
        // What falls into the cursor's slot stands in `open` already sorted; it is due first, and is found there.
    }

    fn drain_slot(&mut self, index: usize) {
        let mut id = self.heads[index];
        while id != NIL {
            let node = &mut self.nodes[id as usize];
            self.open.push(node.entry);
            let next = node.next;
            node.next = self.free;
            self.free = id;
            self.in_wheel -= 1;
            id = next;
        }
        self.heads[index] = NIL;
        self.occupied[index / 64] &= !(1 << (index % 64));
    }

    /// The first occupied slot after the cursor. The wheel holds at least one event.
    fn next_occupied(&self) -> u64 {
        let start = (self.cursor as usize + 1) % SLOTS;
        let mut word = start / 64;
        let mut bits = self.occupied[word] & (u64::MAX << (start % 64));
        for _ in 0..=WORDS {
            if bits != 0 {
                let index = word * 64 + bits.trailing_zeros() as usize;
                let ahead = (index + SLOTS - self.cursor as usize % SLOTS) % SLOTS;
                return self.cursor + ahead as u64;
            }
            word = (word + 1) % WORDS;
            bits = self.occupied[word];
        }
        unreachable!("the wheel counts {} events but no slot is occupied", self.in_wheel)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::rng;

    fn sample(flow: u32) -> Action {
        Action::Start { flow }
    }

    /// Pops everything, pushing `more(n)` after the n-th event, and checks against a sorted list.
    fn popped(queue: &mut EventQueue) -> Vec<(u64, Action)> {
        std::iter::from_fn(|| queue.pop()).map(|(at, action)| (at.as_picos(), action)).collect()
    }

    #[test]
    fn ties_are_broken_by_the_seed_not_by_the_order_of_construction() {
        let order = |seed| {
            let mut queue = EventQueue::new(rng::derive(seed, "ties", 0));
            (0..64).for_each(|flow| queue.push(SimTime::from_picos(5_000), sample(flow)));
            popped(&mut queue)
        };
        assert_eq!(order(1), order(1));
        let winners: BTreeSet<_> = (0..64).map(|seed| format!("{:?}", order(seed)[0])).collect();
        // 64 draws from 64 leave about 1 - 1/e of them, 40, hit at least once.
        assert!(winners.len() > 30, "{winners:?}");
    }

    #[test]
    fn events_far_ahead_come_back_in_order() {
        let mut queue = EventQueue::new(1);
        for at in [u64::MAX / 2, 3, 1 << 50, 1 << 24, (1 << 24) + 1, 0] {
            queue.push(SimTime::from_picos(at), Action::Sample);
        }
        let times: Vec<_> = popped(&mut queue).into_iter().map(|(at, _)| at).collect();
        assert_eq!(times, [0, 3, 1 << 24, (1 << 24) + 1, 1 << 50, u64::MAX / 2]);
    }

    proptest! {
        /// Against a plain binary heap: pushes at and after the current time, over slots and overflow, long enough for the
        /// slots' length to adapt.
        #[test]
        fn order_equals_that_of_a_heap(
            seed: u64,
            scale in 1_u64..10_000,
            delays in prop::collection::vec(prop_oneof![0_u64..3, 0_u64..10_000, 0_u64..100_000_000, 0_u64..1 << 40], 1..300),
        ) {
            let mut queue = EventQueue::new(seed);
            let mut reference = BinaryHeap::new();
            let mut now = 0;
            for (flow, delay) in delays.iter().cycle().take(6_000).enumerate() {
                let at = SimTime::from_picos(now + delay * scale);
                queue.push(at, sample(flow as u32));
                reference.push(Reverse(at));
                if flow % 8 != 0 {
                    let (popped, _) = queue.pop().expect("something was pushed");
                    prop_assert_eq!(Some(Reverse(popped)), reference.pop());
                    now = popped.as_picos();
                }
            }
            while let Some(Reverse(expected)) = reference.pop() {
                prop_assert_eq!(queue.pop().map(|(at, _)| at), Some(expected));
            }
            prop_assert!(queue.pop().is_none());
        }
    }
}
