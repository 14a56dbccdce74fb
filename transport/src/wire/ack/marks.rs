//! Which packets were marked.

use crate::wire::{Reader, WireError, Writer};

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

    /// Bytes in a frame: how many packets, and a bit for each.
    #[inline]
    pub(super) fn encoded_len(self) -> usize {
        1 + usize::from(self.packets.div_ceil(8))
    }

    pub(super) fn write(self, largest: u64, writer: &mut Writer<'_>) -> Result<(), WireError> {
        if !self.lies_above_zero(largest) {
            return Err(writer.invalid("marks", "no mark below packet zero"));
        }
        writer.u8(self.packets, "marks")?;
        let map = self.bits.to_le_bytes();
        writer.bytes(map.get(..usize::from(self.packets.div_ceil(8))).unwrap_or_default(), "marks")
    }

    pub(super) fn parse(largest: u64, reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let packets = reader.u8("marks")?;
        if packets > Self::MAX_PACKETS {
            return Err(reader.invalid("marks", "64 packets at most"));
        }
        let map = reader.bytes(usize::from(packets.div_ceil(8)), "marks")?;
        let bits = map.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
        match Self::new(packets, bits) {
            Some(marks) if marks.lies_above_zero(largest) => Ok(marks),
            Some(_) => Err(reader.invalid("marks", "no mark below packet zero")),
            None => Err(reader.invalid("marks", "a packet at least and no bits beyond the last")),
        }
    }

    const fn lies_above_zero(self, largest: u64) -> bool {
        largest >= Self::MAX_PACKETS as u64 || self.bits & !Self::mask(largest as u8 + 1) == 0
    }

    const fn mask(packets: u8) -> u64 {
        if packets >= 64 { u64::MAX } else { (1 << packets) - 1 }
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
