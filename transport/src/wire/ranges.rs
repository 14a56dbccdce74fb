//! Lists of packet numbers as descending ranges (RFC 9000, section 19.3.1), and the frame that is little else.

use cc_algos::ids::PathId;
use smallvec::SmallVec;

use super::field::{Field, parse_with_type};
use super::{FrameType, Reader, WireError, Writer, varint_len};

/// Most ranges that one [`Trimmed`] frame lists. Ours.
pub const MAX_TRIMMED_RANGES: usize = 8;

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

/// Bytes that [`write_ranges`] takes. Ranges that it would refuse count as something.
#[inline]
pub(super) fn ranges_len(ranges: &[PacketNumberRange]) -> usize {
    let [newest, older @ ..] = ranges else { return 0 };
    let head =
        varint_len(newest.last) + varint_len(older.len() as u64) + varint_len(newest.last.wrapping_sub(newest.first));
    if older.is_empty() { head } else { head + older_len(newest.first, older) }
}

fn older_len(mut above: u64, older: &[PacketNumberRange]) -> usize {
    let mut len = 0;
    for range in older {
        len += varint_len(above.wrapping_sub(range.last).wrapping_sub(2));
        len += varint_len(range.last.wrapping_sub(range.first));
        above = range.first;
    }
    len
}

/// Writes ranges: the largest number, how many ranges follow the first, the first one's numbers less one; then for each
/// other the numbers missing above it less one, and its numbers less one.
pub(super) fn write_ranges(ranges: &[PacketNumberRange], max: usize, writer: &mut Writer<'_>) -> Result<(), WireError> {
    let [newest, older @ ..] = ranges else {
        return Err(writer.invalid("packet number ranges", "one range at least"));
    };
    writer.varint(newest.last, "largest packet number")?;
    writer.varint_up_to(older.len() as u64, max as u64 - 1, "range count")?;
    let backwards = "descending ranges with a gap between them";
    let mut above = newest.first;
    let Some(more) = newest.last.checked_sub(newest.first) else {
        return Err(writer.invalid("packet number ranges", backwards));
    };
    writer.varint(more, "range length")?;
    for range in older {
        let gap = above.checked_sub(range.last).and_then(|distance| distance.checked_sub(2));
        let (Some(gap), Some(more)) = (gap, range.last.checked_sub(range.first)) else {
            return Err(writer.invalid("packet number ranges", backwards));
        };
        writer.varint(gap, "gap")?;
        writer.varint(more, "range length")?;
        above = range.first;
    }
    Ok(())
}

/// Ranges that were checked and stay in the bytes of the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EncodedRanges<'a> {
    pub(super) newest: PacketNumberRange,
    count: usize,
    older: &'a [u8],
}

impl<'a> EncodedRanges<'a> {
    #[inline]
    pub(super) fn parse(max: usize, reader: &mut Reader<'a>) -> Result<Self, WireError> {
        let last = reader.varint("largest packet number")?;
        let older = reader.varint_up_to(max as u64 - 1, "range count")?;
        let newest = parse_range(last, reader)?;
        let start = reader.offset();
        let mut above = newest;
        for _ in 0..older {
            above = parse_older(above, reader)?;
        }
        // The limit of the count is a `usize`.
        Ok(Self { newest, count: 1 + older as usize, older: reader.since(start) })
    }

    pub(super) const fn iter(&self) -> Ranges<'a> {
        Ranges { next: Some(self.newest), left: self.count, older: Reader::new(self.older) }
    }
}

/// Ranges of packet numbers, from the largest down, read out of a frame on the way.
#[derive(Clone, Debug)]
pub struct Ranges<'a> {
    next: Option<PacketNumberRange>,
    left: usize,
    older: Reader<'a>,
}

impl Iterator for Ranges<'_> {
    type Item = PacketNumberRange;

    #[inline]
    fn next(&mut self) -> Option<PacketNumberRange> {
        let range = self.next?;
        self.left -= 1;
        // All ranges were checked, so that only the end of the list ends it.
        self.next = if self.left == 0 { None } else { parse_older(range, &mut self.older).ok() };
        Some(range)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Ranges<'_> {}
impl core::iter::FusedIterator for Ranges<'_> {}

#[inline]
fn parse_range(last: u64, reader: &mut Reader<'_>) -> Result<PacketNumberRange, WireError> {
    let more = reader.varint("range length")?;
    let Some(first) = last.checked_sub(more) else {
        return Err(reader.invalid("range length", "a range that begins at packet zero or later"));
    };
    Ok(PacketNumberRange { first, last })
}

#[inline]
fn parse_older(above: PacketNumberRange, reader: &mut Reader<'_>) -> Result<PacketNumberRange, WireError> {
    let gap = reader.varint("gap")?;
    // Both at most 2^62 - 1: no overflow.
    let Some(last) = above.first.checked_sub(gap + 2) else {
        return Err(reader.invalid("gap", "a range that begins at packet zero or later"));
    };
    parse_range(last, reader)
}

/// Packets that arrived without their payload, because a switch cut it off instead of dropping them (NDP, SIGCOMM'17).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trimmed {
    /// Path of the packets.
    pub path: PathId,
    /// Their numbers: descending, disjoint, not adjacent; one range at least.
    pub ranges: SmallVec<[PacketNumberRange; MAX_TRIMMED_RANGES]>,
}

impl Trimmed {
    /// Bytes that [`write`](Self::write) takes, type byte included.
    #[inline]
    pub fn encoded_len(&self) -> usize {
        1 + self.path.encoded_len() + ranges_len(&self.ranges)
    }

    /// Writes the frame, type byte included.
    ///
    /// # Errors
    /// [`WireError::NoRoom`]; [`WireError::TooLarge`] above [`MAX_TRIMMED_RANGES`]; [`WireError::Invalid`] for ranges out
    /// of order or none.
    pub fn write(&self, writer: &mut Writer<'_>) -> Result<(), WireError> {
        writer.u8(FrameType::Trimmed as u8, "frame type")?;
        self.path.write(writer, "path id")?;
        write_ranges(&self.ranges, MAX_TRIMMED_RANGES, writer)
    }

    pub(super) fn parse_body(_: u8, reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let path = Field::parse(reader, "path id")?;
        let ranges = EncodedRanges::parse(MAX_TRIMMED_RANGES, reader)?;
        Ok(Self { path, ranges: ranges.iter().collect() })
    }
}

parse_with_type!(Trimmed, Trimmed);
