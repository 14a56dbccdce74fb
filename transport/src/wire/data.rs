//! Headers of the frames that carry bytes of the application or of the handshake. The bytes follow the header.

use cc_algos::units::Span;

use super::field::{Field, parse_with_type, plain_frame};
use super::{FrameType, Header, Reader, VARINT_MAX, WireError, Writer, packet_overhead, varint_len};

const FIN: u8 = 1;
const RELIABLE: u8 = 2;
const DEADLINE: u8 = 4;

plain_frame! {
    /// `len` bytes of the application, delivered whole or not at all.
    Datagram {
        /// Bytes that follow.
        len: u64 = "length",
    }
}

/// `len` bytes of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamHeader {
    /// The stream.
    pub id: u64,
    /// Where in the stream the bytes belong. `offset + len` is at most [`VARINT_MAX`] (RFC 9000, section 19.8).
    pub offset: u64,
    /// Bytes that follow.
    pub len: u64,
    /// Whether the stream ends after them.
    pub fin: bool,
}

impl StreamHeader {
    /// Bytes that [`write`](Self::write) takes, type byte included, payload excluded.
    #[inline]
    pub const fn encoded_len(&self) -> usize {
        1 + varint_len(self.id) + varint_len(self.offset) + varint_len(self.len)
    }

    /// The most payload that a frame at this place can have in `room` bytes, its own header included. `None` if not
    /// even the header fits.
    pub const fn payload_that_fits(id: u64, offset: u64, room: usize) -> Option<u64> {
        longest_payload(room, 1 + varint_len(id) + varint_len(offset))
    }

    /// Writes the frame up to its payload.
    ///
    /// # Errors
    /// [`WireError::NoRoom`], [`WireError::TooLarge`] for a value that its field cannot hold or for
    /// bytes beyond [`VARINT_MAX`].
    pub fn write(&self, writer: &mut Writer<'_>) -> Result<(), WireError> {
        check_end(self.offset, self.len, writer.offset())?;
        writer.u8(FrameType::Stream as u8 | if self.fin { FIN } else { 0 }, "frame type")?;
        writer.varint(self.id, "stream id")?;
        writer.varint(self.offset, "stream offset")?;
        writer.varint(self.len, "length")
    }

    pub(super) fn parse_body(flags: u8, reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let (id, offset, len) =
            (reader.varint("stream id")?, reader.varint("stream offset")?, reader.varint("length")?);
        check_end(offset, len, reader.offset())?;
        Ok(Self { id, offset, len, fin: flags & FIN != 0 })
    }
}

parse_with_type!(StreamHeader, Stream);

/// Bytes on the wire of a packet that carries nothing but one stream frame: [`packet_overhead`], frame and payload;
/// saturating.
#[inline]
pub const fn stream_packet_len(header: &Header, largest_acked: Option<u64>, stream: &StreamHeader) -> u64 {
    let overhead = packet_overhead(header, largest_acked) + stream.encoded_len();
    stream.len.saturating_add(overhead as u64)
}

/// Whether lost bytes of a message are sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Delivery {
    /// Until they arrive.
    Reliable,
    /// Never.
    Unreliable,
}

/// `len` bytes of a message. Messages are delivered whole and in no order among each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageHeader {
    /// The message.
    pub id: u64,
    /// Where in the message the bytes belong. `offset + len` is at most [`VARINT_MAX`].
    pub offset: u64,
    /// Bytes that follow.
    pub len: u64,
    /// Lower is more urgent.
    pub priority: u8,
    /// Time that was left to deliver the message when this frame was built, coded in nanoseconds; `None`: no hurry.
    pub deadline: Option<Span>,
    /// Whether lost bytes are sent again.
    pub delivery: Delivery,
    /// Whether the message ends after these bytes.
    pub fin: bool,
}

impl MessageHeader {
    /// Bytes that [`write`](Self::write) takes, type byte included, payload excluded.
    #[inline]
    pub fn encoded_len(&self) -> usize {
        let deadline = self.deadline.map_or(0, Field::encoded_len);
        2 + varint_len(self.id) + varint_len(self.offset) + varint_len(self.len) + deadline
    }

    /// Writes the frame up to its payload.
    ///
    /// # Errors
    /// [`WireError::NoRoom`], [`WireError::TooLarge`] for a value that its field cannot hold or for
    /// bytes beyond [`VARINT_MAX`].
    pub fn write(&self, writer: &mut Writer<'_>) -> Result<(), WireError> {
        check_end(self.offset, self.len, writer.offset())?;
        let fin = if self.fin { FIN } else { 0 };
        let reliable = match self.delivery {
            Delivery::Reliable => RELIABLE,
            Delivery::Unreliable => 0,
        };
        let deadline = if self.deadline.is_some() { DEADLINE } else { 0 };
        writer.u8(FrameType::Message as u8 | fin | reliable | deadline, "frame type")?;
        writer.varint(self.id, "message id")?;
        writer.varint(self.offset, "message offset")?;
        writer.varint(self.len, "length")?;
        writer.u8(self.priority, "priority")?;
        match self.deadline {
            Some(deadline) => deadline.write(writer, "deadline"),
            None => Ok(()),
        }
    }

    pub(super) fn parse_body(flags: u8, reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let id = reader.varint("message id")?;
        let (offset, len) = (reader.varint("message offset")?, reader.varint("length")?);
        check_end(offset, len, reader.offset())?;
        let priority = reader.u8("priority")?;
        let deadline = match flags & DEADLINE {
            0 => None,
            _ => Some(Field::parse(reader, "deadline")?),
        };
        let delivery = if flags & RELIABLE == 0 { Delivery::Unreliable } else { Delivery::Reliable };
        Ok(Self { id, offset, len, priority, deadline, delivery, fin: flags & FIN != 0 })
    }
}

parse_with_type!(MessageHeader, Message);

/// `len` bytes of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CryptoHeader {
    /// Where in the handshake the bytes belong. `offset + len` is at most [`VARINT_MAX`].
    pub offset: u64,
    /// Bytes that follow.
    pub len: u64,
}

impl CryptoHeader {
    /// Bytes that [`write`](Self::write) takes, type byte included, payload excluded.
    pub const fn encoded_len(&self) -> usize {
        1 + varint_len(self.offset) + varint_len(self.len)
    }

    /// Writes the frame up to its payload.
    ///
    /// # Errors
    /// [`WireError::NoRoom`], [`WireError::TooLarge`] for a value that its field cannot hold or for
    /// bytes beyond [`VARINT_MAX`].
    pub fn write(&self, writer: &mut Writer<'_>) -> Result<(), WireError> {
        check_end(self.offset, self.len, writer.offset())?;
        writer.u8(FrameType::Crypto as u8, "frame type")?;
        writer.varint(self.offset, "handshake offset")?;
        writer.varint(self.len, "length")
    }

    pub(super) fn parse_body(_: u8, reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let (offset, len) = (reader.varint("handshake offset")?, reader.varint("length")?);
        check_end(offset, len, reader.offset())?;
        Ok(Self { offset, len })
    }
}

parse_with_type!(CryptoHeader, Crypto);

/// The longest payload that fits into `room` together with its own length field and `fixed` other bytes.
const fn longest_payload(room: usize, fixed: usize) -> Option<u64> {
    let Some(room) = room.checked_sub(fixed + 1) else { return None };
    let room = room as u64;
    // One byte is left for the length field above; longer lengths need one, three or seven more.
    Some(match room {
        0..=0x3f => room,
        0x40 => 0x3f,
        0x41..=0x4000 => room - 1,
        0x4001..=0x4002 => 0x3fff,
        0x4003..=0x4000_0002 => room - 3,
        0x4000_0003..=0x4000_0006 => 0x3fff_ffff,
        _ => room - 7,
    })
}

/// No byte of a stream lies beyond [`VARINT_MAX`].
#[inline]
const fn check_end(start: u64, len: u64, offset: usize) -> Result<(), WireError> {
    let end = start.saturating_add(len);
    if end > VARINT_MAX {
        return Err(WireError::TooLarge { what: "offset of the last byte", offset, value: end, limit: VARINT_MAX });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_payload_fills_the_room_to_within_its_length_field() {
        let rooms = (0..0x200).chain(0x3ff0..0x4010).chain(0x3fff_fff0..0x4000_0010);
        for room in rooms {
            let longest = longest_payload(room, 3);
            let fits = |len: u64| 3 + varint_len(len) as u64 + len <= room as u64;
            match longest {
                Some(len) => assert!(fits(len) && !fits(len + 1), "{len} in {room}"),
                None => assert!(!fits(0), "nothing in {room}"),
            }
        }
    }
}
