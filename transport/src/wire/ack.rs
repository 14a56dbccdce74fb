//! Acknowledgements.

use cc_algos::ids::{Entropy, PathId};
use cc_algos::signal::EcnCounts;
use cc_algos::units::{Span, Timestamp};
use smallvec::SmallVec;

/// Consecutive packet numbers, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacketNumberRange {
    /// The smallest number.
    pub first: u64,
    /// The largest number, not smaller than `first`.
    pub last: u64,
}

impl PacketNumberRange {
    /// A single packet.
    pub const fn single(packet_number: u64) -> Self {
        Self { first: packet_number, last: packet_number }
    }

    /// How many packets the range holds, saturating; zero if the ends are swapped.
    pub const fn packets(self) -> u64 {
        match self.last.checked_sub(self.first) {
            Some(gap) => gap.saturating_add(1),
            None => 0,
        }
    }

    /// Whether the range holds `packet_number`.
    pub const fn contains(self, packet_number: u64) -> bool {
        self.first <= packet_number && packet_number <= self.last
    }
}

/// Which of the packets up to the largest acknowledged one arrived marked (CE), newest first, at most 64 of them.
///
/// Packets that did not arrive, or whose acknowledgement is in an earlier frame, take their place in the map; an unset
/// bit says nothing about them. Ours: RFC 9000 only counts marks, this says which packet each belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MarkBitmap {
    bits: u64,
    packets: u8,
}

impl MarkBitmap {
    /// Most packets that one map covers.
    pub const MAX_PACKETS: u8 = 64;

    /// A map of `packets` packets (1 to 64), bit `i` standing for the packet `i` below the largest. `None` if there are
    /// too many or none, or if a bit stands outside.
    pub const fn new(packets: u8, bits: u64) -> Option<Self> {
        if packets == 0 || packets > Self::MAX_PACKETS || bits & !Self::mask(packets) != 0 {
            return None;
        }
        Some(Self { bits, packets })
    }

    /// A map of one packet, the largest.
    pub const fn of_largest(marked: bool) -> Self {
        Self { bits: marked as u64, packets: 1 }
    }

    /// Makes room for a new largest packet, `by` above the former one: all others move, the oldest fall out. The new
    /// packets are unmarked.
    pub const fn advance(&mut self, by: u64) {
        let shift = if by > u32::MAX as u64 { u32::MAX } else { by as u32 };
        self.bits = match self.bits.checked_shl(shift) {
            Some(bits) => bits,
            None => 0,
        };
        let room = Self::MAX_PACKETS - self.packets;
        self.packets = if by > room as u64 { Self::MAX_PACKETS } else { self.packets + by as u8 };
    }

    /// Marks the packet `below` the largest. Returns whether the map reaches that far down; if not, nothing changes.
    pub const fn mark(&mut self, below: u64) -> bool {
        if below >= self.packets as u64 {
            return false;
        }
        self.bits |= 1 << below;
        true
    }

    /// Whether the packet `below` the largest arrived marked; `None` if the map does not reach that far down.
    pub const fn is_marked(self, below: u64) -> Option<bool> {
        if below >= self.packets as u64 { None } else { Some(self.bits >> below & 1 == 1) }
    }

    /// Bit `i` is set if the packet `i` below the largest arrived marked.
    pub const fn bits(self) -> u64 {
        self.bits
    }

    /// How many packets the map covers, 1 to 64.
    pub const fn packets(self) -> u8 {
        self.packets
    }

    const fn mask(packets: u8) -> u64 {
        if packets >= 64 { u64::MAX } else { (1 << packets) - 1 }
    }
}

/// Which packets of a path arrived, with what was noticed about them (after RFC 9000, section 19.3).
///
/// Reuse one: [`clear`](Self::clear) keeps the room that its ranges took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AckFrame {
    /// The path whose packets are acknowledged.
    pub path: PathId,
    /// The largest packet number that arrived.
    pub largest: u64,
    /// How long the receiver held `largest` back before it built this frame. Coded in whole nanoseconds.
    pub ack_delay: Span,
    /// What arrived: descending, disjoint, not adjacent; the first range ends at `largest`.
    pub ranges: SmallVec<[PacketNumberRange; 2]>,
    /// Packets received so far on the path, by codepoint.
    pub ecn: Option<EcnCounts>,
    /// Which of the newest packets were marked.
    pub marks: Option<MarkBitmap>,
    /// When `largest` arrived, by the receiver's clock.
    pub received_at: Option<Timestamp>,
    /// Entropy of the packet that made the receiver send this frame.
    pub entropy_echo: Option<Entropy>,
}

impl AckFrame {
    /// Empties the frame and keeps its allocation.
    pub fn clear(&mut self) {
        let mut ranges = core::mem::take(&mut self.ranges);
        ranges.clear();
        *self = Self { ranges, ..Self::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_map_moves_with_the_largest_packet_and_forgets_the_oldest() {
        let mut marks = MarkBitmap::of_largest(true);
        marks.advance(3);
        assert_eq!((marks.packets(), marks.bits()), (4, 0b1000));
        assert!(marks.mark(1));
        assert!(!marks.mark(4), "the map covers four packets only");
        assert_eq!(marks.is_marked(1), Some(true));
        assert_eq!(marks.is_marked(4), None);
        marks.advance(61);
        // 4 + 61 packets exceed 64: the mark at 3 would stand at 64 and falls out, the one at 1 stands at 62.
        assert_eq!((marks.packets(), marks.bits()), (64, 1 << 62));
        marks.advance(u64::MAX);
        assert_eq!((marks.packets(), marks.bits()), (64, 0));
    }

    #[test]
    fn a_mark_map_refuses_bits_outside() {
        assert_eq!(MarkBitmap::new(0, 0), None);
        assert_eq!(MarkBitmap::new(65, 0), None);
        assert_eq!(MarkBitmap::new(3, 0b1000), None);
        assert!(MarkBitmap::new(64, u64::MAX).is_some());
    }
}
