//! Frames that steer the connection, its paths and its congestion control, and carry no data.

use cc_algos::ids::{Entropy, PathId};
use cc_algos::units::{Rate, Span};

use super::field::{Field, parse_with_type, plain_frame};
use super::{CsigTag, FrameType, Reader, WireError, Writer};

plain_frame! {
    /// The receiver saw congestion marks on a path. Not acknowledged, sent at most as often as the receiver's policy says.
    CongestionNotification {
        /// Path that the marked packets took.
        path: PathId = "path id",
    }
}

plain_frame! {
    /// The sender has settled everything below a packet number: acknowledged or given up. The receiver may forget it.
    AckFloor {
        /// Path whose numbers are meant.
        path: PathId = "path id",
        /// The smallest number that still matters.
        packet_number: u64 = "packet number",
    }
}

plain_frame! {
    /// How often the peer shall acknowledge (draft-ietf-quic-ack-frequency, there per connection, here per path).
    AckFrequency {
        /// Path whose packets are meant.
        path: PathId = "path id",
        /// Counts these frames; one with a smaller number than a former one is outdated.
        sequence: u64 = "sequence number",
        /// Packets that may stay unacknowledged: zero asks for an acknowledgement of each.
        packet_threshold: u64 = "packet threshold",
        /// Longest time that an acknowledgement may be held back.
        max_ack_delay: Span = "largest ack delay",
        /// How far ahead of a gap a packet must be to be acknowledged at once; zero: out of order does not matter.
        reordering_threshold: u64 = "reordering threshold",
    }
}

plain_frame! {
    /// Asks the peer to send these bytes back over the path on which they came.
    PathChallenge {
        /// Unpredictable bytes.
        data: [u8; 8] = "challenge",
    }
}

plain_frame! {
    /// The bytes of a challenge, sent back.
    PathResponse {
        /// What the challenge held.
        data: [u8; 8] = "response",
    }
}

plain_frame! {
    /// How much the peer may send over all streams and messages.
    MaxData {
        /// Bytes since the connection began.
        maximum: u64 = "maximum",
    }
}

plain_frame! {
    /// How much the peer may send on one stream.
    MaxStreamData {
        /// The stream.
        stream: u64 = "stream id",
        /// Bytes since the stream began.
        maximum: u64 = "maximum",
    }
}

plain_frame! {
    /// What a receiver-driven law grants the sender. Totals, so that a lost frame costs nothing once the next arrives.
    Credit {
        /// Bytes since the connection began.
        total: u64 = "total",
    }
}

plain_frame! {
    /// A switch's report on its queue (QCN, Annulus, Bolt's SRC), passed to the sender.
    NearSource {
        /// Path of the packet that triggered it.
        path: PathId = "path id",
        /// Number of that packet; the sender knows when it left.
        packet_number: u64 = "packet number",
        /// Bytes queued at the switch.
        queue_bytes: u64 = "queued bytes",
        /// Bytes queued at the sample before.
        former_queue_bytes: u64 = "formerly queued bytes",
        /// The queue that the switch aims at, bytes.
        set_point_bytes: u64 = "set point",
        /// Rate of the switch's port, coded in bits per second.
        port_rate: Rate = "port rate",
    }
}

plain_frame! {
    /// The sender seals with a new key generation from this packet on. `len` bytes of key agreement follow, none if the
    /// generation derives from the one before.
    NewKey {
        /// Number of the generation; its low bit is the key phase of the header.
        generation: u64 = "key generation",
        /// Bytes that follow.
        len: u64 = "key length",
    }
}

/// Who ended a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CloseOrigin {
    /// The transport; the code is one of its own.
    Transport,
    /// The application; the code is the application's.
    Application,
}

/// The connection ends. `len` bytes of UTF-8 follow, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Close {
    /// Who ended it.
    pub origin: CloseOrigin,
    /// Why.
    pub code: u64,
    /// Bytes that follow.
    pub len: u64,
}

impl Close {
    /// Bytes that [`write`](Self::write) takes, type byte included, text excluded.
    pub fn encoded_len(&self) -> usize {
        1 + self.code.encoded_len() + self.len.encoded_len()
    }

    /// Writes the frame up to its text.
    ///
    /// # Errors
    /// [`WireError::NoRoom`], or [`WireError::TooLarge`] for a value that its field cannot hold.
    pub fn write(&self, writer: &mut Writer<'_>) -> Result<(), WireError> {
        let flags = match self.origin {
            CloseOrigin::Transport => 0,
            CloseOrigin::Application => 1,
        };
        writer.u8(FrameType::Close as u8 | flags, "frame type")?;
        self.code.write(writer, "close code")?;
        self.len.write(writer, "length of the reason")
    }

    pub(super) fn parse_body(flags: u8, reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let origin = if flags == 0 { CloseOrigin::Transport } else { CloseOrigin::Application };
        let code = Field::parse(reader, "close code")?;
        Ok(Self { origin, code, len: Field::parse(reader, "length of the reason")? })
    }
}

parse_with_type!(Close, Close);

/// A CSIG tag as it arrived, sent back to who asked for it. One frame per entropy, as routes must not be mixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CsigEcho {
    /// Path of the tagged packet.
    pub path: PathId,
    /// Entropy of the tagged packet.
    pub entropy: Entropy,
    /// Time from the arrival of the tagged packet until this frame was built, coded in nanoseconds.
    pub age: Span,
    /// The bytes of the tag.
    pub tag: CsigTag,
}

impl CsigEcho {
    /// Bytes that [`write`](Self::write) takes, type byte included.
    #[inline]
    pub fn encoded_len(&self) -> usize {
        1 + self.path.encoded_len() + self.entropy.encoded_len() + self.age.encoded_len() + self.tag.encoded_len()
    }

    /// Writes the frame, type byte included.
    ///
    /// # Errors
    /// [`WireError::NoRoom`], or [`WireError::TooLarge`] for a value that its field cannot hold.
    pub fn write(&self, writer: &mut Writer<'_>) -> Result<(), WireError> {
        let flags = match self.tag {
            CsigTag::Compact(_) => 0,
            CsigTag::Wide(_) => 1,
        };
        writer.u8(FrameType::CsigEcho as u8 | flags, "frame type")?;
        self.path.write(writer, "path id")?;
        self.entropy.write(writer, "entropy")?;
        self.age.write(writer, "age")?;
        match self.tag {
            CsigTag::Compact(bytes) => bytes.write(writer, "CSIG tag"),
            CsigTag::Wide(bytes) => bytes.write(writer, "CSIG tag"),
        }
    }

    pub(super) fn parse_body(flags: u8, reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let path = Field::parse(reader, "path id")?;
        let entropy = Field::parse(reader, "entropy")?;
        let age = Field::parse(reader, "age")?;
        let tag = match flags {
            0 => CsigTag::Compact(Field::parse(reader, "CSIG tag")?),
            _ => CsigTag::Wide(Field::parse(reader, "CSIG tag")?),
        };
        Ok(Self { path, entropy, age, tag })
    }
}

parse_with_type!(CsigEcho, CsigEcho);
