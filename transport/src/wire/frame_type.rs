//! The registry of frame types.

use super::{Reader, WireError};

/// A kind of frame, with its first code point as discriminant.
///
/// A frame starts with one byte. Some kinds take several code points: some of the bits are then flags, which
/// [`flags`](Self::flags) names as a mask. All other code points are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum FrameType {
    /// A byte without meaning.
    Padding = 0x00,
    /// Asks for an acknowledgement.
    Ping = 0x01,
    /// The server confirms the handshake (RFC 9000, section 19.20).
    HandshakeDone = 0x02,
    /// The receiver saw congestion marks (DCQCN, SIGCOMM'15, section 3.1).
    CongestionNotification = 0x03,
    /// A piece of the handshake (RFC 9000, section 19.6).
    Crypto = 0x04,
    /// Start of a new key generation.
    NewKey = 0x05,
    /// The connection ends (RFC 9000, section 19.19). Flag 1: the application ended it.
    Close = 0x06,
    /// Numbers below which nothing more needs to be acknowledged.
    AckFloor = 0x08,
    /// When to acknowledge (draft-ietf-quic-ack-frequency).
    AckFrequency = 0x09,
    /// Asks for an answer over the same path (RFC 9000, section 19.17).
    PathChallenge = 0x0a,
    /// Answers a challenge (RFC 9000, section 19.18).
    PathResponse = 0x0b,
    /// Flow control of the connection (RFC 9000, section 19.9).
    MaxData = 0x0c,
    /// Flow control of a stream (RFC 9000, section 19.10).
    MaxStreamData = 0x0d,
    /// Bytes that a receiver-driven law grants.
    Credit = 0x0e,
    /// A switch's report on its queue.
    NearSource = 0x0f,
    /// Acknowledgement (RFC 9000, section 19.3). Flag 1: ECN counts; 2: marks; 4: receive timestamp; 8: entropy echo;
    /// 0x40: hop count; 0x80: telemetry.
    Ack = 0x10,
    /// Bytes of a stream (RFC 9000, section 19.8). Flag 1: the stream ends with them.
    Stream = 0x20,
    /// Unreliable application data (RFC 9221).
    Datagram = 0x22,
    /// Packets whose payload a switch cut off.
    Trimmed = 0x23,
    /// A CSIG tag as it arrived. Flag 1: the eight-byte form.
    CsigEcho = 0x24,
    /// A data shard of an erasure-coded block.
    Coded = 0x26,
    /// A parity shard of an erasure-coded block.
    Parity = 0x27,
    /// Shards of a block that did not arrive.
    Nack = 0x28,
    /// Blocks that are complete.
    BlockAck = 0x29,
    /// Bytes of a message. Flag 1: the message ends with them; 2: reliable; 4: has a deadline.
    Message = 0x30,
}

impl FrameType {
    /// Every kind, in the order of code points.
    pub const ALL: [Self; 25] = [
        Self::Padding,
        Self::Ping,
        Self::HandshakeDone,
        Self::CongestionNotification,
        Self::Crypto,
        Self::NewKey,
        Self::Close,
        Self::AckFloor,
        Self::AckFrequency,
        Self::PathChallenge,
        Self::PathResponse,
        Self::MaxData,
        Self::MaxStreamData,
        Self::Credit,
        Self::NearSource,
        Self::Ack,
        Self::Stream,
        Self::Datagram,
        Self::Trimmed,
        Self::CsigEcho,
        Self::Coded,
        Self::Parity,
        Self::Nack,
        Self::BlockAck,
        Self::Message,
    ];

    /// The bits of the code point that are flags.
    pub const fn flags(self) -> u8 {
        match self {
            Self::Ack => 0b1100_1111,
            Self::Message => 0b111,
            Self::Close | Self::Stream | Self::CsigEcho => 0b1,
            _ => 0,
        }
    }

    /// The kind that a code point belongs to, and its flags. `None` if no frame has it.
    pub const fn from_code(code: u8) -> Option<(Self, u8)> {
        let kind = match code {
            0x00 => Self::Padding,
            0x01 => Self::Ping,
            0x02 => Self::HandshakeDone,
            0x03 => Self::CongestionNotification,
            0x04 => Self::Crypto,
            0x05 => Self::NewKey,
            0x06 | 0x07 => Self::Close,
            0x08 => Self::AckFloor,
            0x09 => Self::AckFrequency,
            0x0a => Self::PathChallenge,
            0x0b => Self::PathResponse,
            0x0c => Self::MaxData,
            0x0d => Self::MaxStreamData,
            0x0e => Self::Credit,
            0x0f => Self::NearSource,
            0x10..=0x1f | 0x50..=0x5f | 0x90..=0x9f | 0xd0..=0xdf => Self::Ack,
            0x20 | 0x21 => Self::Stream,
            0x22 => Self::Datagram,
            0x23 => Self::Trimmed,
            0x24 | 0x25 => Self::CsigEcho,
            0x26 => Self::Coded,
            0x27 => Self::Parity,
            0x28 => Self::Nack,
            0x29 => Self::BlockAck,
            0x30..=0x37 => Self::Message,
            _ => return None,
        };
        Some((kind, code & kind.flags()))
    }

    /// Whether a packet with such a frame wants to be acknowledged (RFC 9000, section 1.2). Feedback whose loss later
    /// feedback makes good does not, or acknowledgements would beget each other.
    pub const fn is_ack_eliciting(self) -> bool {
        !matches!(
            self,
            Self::Padding
                | Self::Ack
                | Self::Close
                | Self::AckFloor
                | Self::BlockAck
                | Self::CongestionNotification
                | Self::CsigEcho
                | Self::NearSource
                | Self::Trimmed
        )
    }

    /// Whether such a frame may stand inside a data shard. Shards do not nest.
    pub const fn is_shardable(self) -> bool {
        !matches!(self, Self::Coded | Self::Parity)
    }

    /// Reads a type byte.
    #[inline]
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<(Self, u8), WireError> {
        let offset = reader.offset();
        let code = reader.u8("frame type")?;
        Self::from_code(code).ok_or(WireError::UnknownFrame { code, offset })
    }

    /// Reads a type byte of this kind and gives its flags.
    #[inline]
    pub(super) fn expect(self, reader: &mut Reader<'_>) -> Result<u8, WireError> {
        let offset = reader.offset();
        match Self::read(reader)? {
            (kind, flags) if kind == self => Ok(flags),
            _ => Err(WireError::Invalid { what: "frame type", offset, expected: self.name() }),
        }
    }

    /// What the kind is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Padding => "padding",
            Self::Ping => "ping",
            Self::HandshakeDone => "handshake done",
            Self::CongestionNotification => "congestion notification",
            Self::Crypto => "crypto",
            Self::NewKey => "new key",
            Self::Close => "close",
            Self::AckFloor => "ack floor",
            Self::AckFrequency => "ack frequency",
            Self::PathChallenge => "path challenge",
            Self::PathResponse => "path response",
            Self::MaxData => "max data",
            Self::MaxStreamData => "max stream data",
            Self::Credit => "credit",
            Self::NearSource => "near source",
            Self::Ack => "ack",
            Self::Stream => "stream",
            Self::Datagram => "datagram",
            Self::Trimmed => "trimmed",
            Self::CsigEcho => "csig echo",
            Self::Coded => "coded",
            Self::Parity => "parity",
            Self::Nack => "nack",
            Self::BlockAck => "block ack",
            Self::Message => "message",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_points_belong_to_one_kind_each() {
        for code in 0..=u8::MAX {
            let owners = FrameType::ALL.into_iter().filter(|kind| code & !kind.flags() == *kind as u8);
            let owners: Vec<_> = owners.map(|kind| (kind, code & kind.flags())).collect();
            assert_eq!(owners, Vec::from_iter(FrameType::from_code(code)), "code point {code:#04x}");
        }
    }

    #[test]
    fn feedback_does_not_beget_acknowledgements() {
        use FrameType::*;
        let silent = FrameType::ALL.into_iter().filter(|kind| !kind.is_ack_eliciting());
        // RFC 9000, section 1.2, names PADDING, CONNECTION_CLOSE and ACK; the others are ours.
        let expected = [Padding, CongestionNotification, Close, AckFloor, NearSource, Ack, Trimmed, CsigEcho, BlockAck];
        assert_eq!(Vec::from_iter(silent), expected);
    }
}
