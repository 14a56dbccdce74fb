//! Acknowledgements.

mod marks;

use cc_algos::ids::{Entropy, PathId};
use cc_algos::signal::EcnCounts;
use cc_algos::units::{Span, Timestamp};
use smallvec::SmallVec;

pub use marks::MarkBitmap;

use super::field::Field;
use super::ranges::{EncodedRanges, Ranges, ranges_len, write_ranges};
use super::{EncodedStack, FrameType, IntStack, PacketNumberRange, Reader, WireError, Writer, varint_len};

/// Most ranges of one acknowledgement. Ours.
pub const MAX_ACK_RANGES: usize = 64;

const ECN: u8 = 1;
const MARKS: u8 = 2;
const RECEIVED_AT: u8 = 4;
const ENTROPY: u8 = 8;
const HOPS: u8 = 0x40;
const INT: u8 = 0x80;

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
    /// Switches that `largest` passed.
    pub hops: Option<u8>,
    /// Telemetry that `largest` gathered; empty if it asked for none.
    pub int: IntStack,
}

impl AckFrame {
    /// Empties the frame and keeps its allocation.
    pub fn clear(&mut self) {
        let mut ranges = core::mem::take(&mut self.ranges);
        ranges.clear();
        let mut int = core::mem::take(&mut self.int);
        int.clear();
        *self = Self { ranges, int, ..Self::default() };
    }

    /// Bytes that [`write`](Self::write) takes, type byte included.
    #[inline]
    pub fn encoded_len(&self) -> usize {
        1 + self.path.encoded_len() + self.ack_delay.encoded_len() + ranges_len(&self.ranges) + self.extras_len()
    }

    #[inline]
    fn extras_len(&self) -> usize {
        self.ecn.map_or(0, |ecn| varint_len(ecn.ect0) + varint_len(ecn.ect1) + varint_len(ecn.ce))
            + self.marks.map_or(0, MarkBitmap::encoded_len)
            + self.received_at.map_or(0, Field::encoded_len)
            + self.entropy_echo.map_or(0, Field::encoded_len)
            + self.hops.map_or(0, Field::encoded_len)
            + if self.int.is_empty() { 0 } else { self.int.encoded_len() }
    }

    fn flags(&self) -> u8 {
        let flag = |there: bool, flag: u8| if there { flag } else { 0 };
        flag(self.ecn.is_some(), ECN)
            | flag(self.marks.is_some(), MARKS)
            | flag(self.received_at.is_some(), RECEIVED_AT)
            | flag(self.entropy_echo.is_some(), ENTROPY)
            | flag(self.hops.is_some(), HOPS)
            | flag(!self.int.is_empty(), INT)
    }

    /// Writes the frame, type byte included.
    ///
    /// # Errors
    /// [`WireError::NoRoom`]; [`WireError::TooLarge`] above [`MAX_ACK_RANGES`] or for a value that its field cannot hold;
    /// [`WireError::Invalid`] for ranges out of order, none, or not up to `largest`, or a mark below packet zero.
    pub fn write(&self, writer: &mut Writer<'_>) -> Result<(), WireError> {
        if self.ranges.first().is_some_and(|newest| newest.last != self.largest) {
            return Err(writer.invalid("packet number ranges", "a first range that ends at the largest number"));
        }
        writer.u8(FrameType::Ack as u8 | self.flags(), "frame type")?;
        self.path.write(writer, "path id")?;
        self.ack_delay.write(writer, "ack delay")?;
        write_ranges(&self.ranges, MAX_ACK_RANGES, writer)?;
        if let Some(ecn) = self.ecn {
            writer.varint(ecn.ect0, "ECT(0) count")?;
            writer.varint(ecn.ect1, "ECT(1) count")?;
            writer.varint(ecn.ce, "CE count")?;
        }
        if let Some(marks) = self.marks {
            marks.write(self.largest, writer)?;
        }
        if let Some(received_at) = self.received_at {
            received_at.write(writer, "receive timestamp")?;
        }
        if let Some(entropy) = self.entropy_echo {
            entropy.write(writer, "entropy")?;
        }
        if let Some(hops) = self.hops {
            hops.write(writer, "hop count")?;
        }
        if !self.int.is_empty() {
            self.int.write(writer)?;
        }
        Ok(())
    }

    /// Reads the frame, type byte included. More than two ranges take an allocation: see [`parse_into`](Self::parse_into).
    ///
    /// # Errors
    /// As [`AckRef::parse`].
    pub fn parse(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let mut frame = Self::default();
        frame.parse_into(reader)?;
        Ok(frame)
    }

    /// Reads the frame, type byte included, over what this one held, and reuses its allocation.
    ///
    /// # Errors
    /// As [`AckRef::parse`]; the frame then stays as it was.
    pub fn parse_into(&mut self, reader: &mut Reader<'_>) -> Result<(), WireError> {
        AckRef::parse(reader)?.copy_to(self);
        Ok(())
    }
}

/// An acknowledgement whose ranges stay in the bytes of the packet; otherwise as [`AckFrame`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckRef<'a> {
    /// The path whose packets are acknowledged.
    pub path: PathId,
    /// How long the receiver held the largest packet back before it built this frame.
    pub ack_delay: Span,
    /// Packets received so far on the path, by codepoint.
    pub ecn: Option<EcnCounts>,
    /// Which of the newest packets were marked.
    pub marks: Option<MarkBitmap>,
    /// When the largest packet arrived, by the receiver's clock.
    pub received_at: Option<Timestamp>,
    /// Entropy of the packet that made the receiver send this frame.
    pub entropy_echo: Option<Entropy>,
    /// Switches that the largest packet passed.
    pub hops: Option<u8>,
    /// Telemetry that the largest packet gathered.
    pub int: EncodedStack<'a>,
    ranges: EncodedRanges<'a>,
    /// The whole frame.
    encoded: &'a [u8],
}

impl<'a> AckRef<'a> {
    /// The largest packet number that arrived.
    pub const fn largest(&self) -> u64 {
        self.ranges.newest.last
    }

    /// What arrived: descending, disjoint, not adjacent, one range at least.
    pub const fn ranges(&self) -> Ranges<'a> {
        self.ranges.iter()
    }

    /// Copies everything into a frame that may have been used before.
    pub fn copy_to(&self, frame: &mut AckFrame) {
        frame.ranges.clear();
        frame.ranges.extend(self.ranges());
        frame.path = self.path;
        frame.largest = self.largest();
        frame.ack_delay = self.ack_delay;
        frame.ecn = self.ecn;
        frame.marks = self.marks;
        frame.received_at = self.received_at;
        frame.entropy_echo = self.entropy_echo;
        frame.hops = self.hops;
        self.int.copy_to(&mut frame.int);
    }

    /// Bytes of the frame, type byte included.
    pub const fn encoded_len(&self) -> usize {
        self.encoded.len()
    }

    /// Writes the frame as it came, type byte included.
    ///
    /// # Errors
    /// [`WireError::NoRoom`].
    pub fn write(&self, writer: &mut Writer<'_>) -> Result<(), WireError> {
        writer.bytes(self.encoded, "acknowledgement")
    }

    /// Reads the frame, type byte included.
    ///
    /// # Errors
    /// [`WireError::Invalid`] if another frame stands here, or for ranges or marks below packet zero or a mark map of
    /// the wrong size; [`WireError::TooLarge`] above [`MAX_ACK_RANGES`]; [`WireError::CutOff`];
    /// [`WireError::NotShortest`].
    pub fn parse(reader: &mut Reader<'a>) -> Result<Self, WireError> {
        let flags = FrameType::Ack.expect(reader)?;
        Self::parse_body(flags, reader)
    }

    pub(super) fn parse_body(flags: u8, reader: &mut Reader<'a>) -> Result<Self, WireError> {
        // The type byte was read.
        let start = reader.offset().saturating_sub(1);
        let path = Field::parse(reader, "path id")?;
        let ack_delay = Field::parse(reader, "ack delay")?;
        let ranges = EncodedRanges::parse(MAX_ACK_RANGES, reader)?;
        let ecn = if flags & ECN == 0 { None } else { Some(parse_ecn(reader)?) };
        let marks = if flags & MARKS == 0 { None } else { Some(MarkBitmap::parse(ranges.newest.last, reader)?) };
        let received_at = optional(flags & RECEIVED_AT, "receive timestamp", reader)?;
        let entropy_echo = optional(flags & ENTROPY, "entropy", reader)?;
        let hops = optional(flags & HOPS, "hop count", reader)?;
        let int = if flags & INT == 0 { EncodedStack::default() } else { parse_int(reader)? };
        let encoded = reader.since(start);
        Ok(Self { path, ack_delay, ecn, marks, received_at, entropy_echo, hops, int, ranges, encoded })
    }
}

fn optional<T: Field>(flag: u8, what: &'static str, reader: &mut Reader<'_>) -> Result<Option<T>, WireError> {
    if flag == 0 { Ok(None) } else { T::parse(reader, what).map(Some) }
}

fn parse_int<'a>(reader: &mut Reader<'a>) -> Result<EncodedStack<'a>, WireError> {
    let stack = EncodedStack::parse(reader)?;
    match stack.hops().len() {
        0 => Err(reader.invalid("telemetry count", "a record at least")),
        _ => Ok(stack),
    }
}

fn parse_ecn(reader: &mut Reader<'_>) -> Result<EcnCounts, WireError> {
    let ect0 = reader.varint("ECT(0) count")?;
    let ect1 = reader.varint("ECT(1) count")?;
    Ok(EcnCounts { ect0, ect1, ce: reader.varint("CE count")? })
}
