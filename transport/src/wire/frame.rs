//! Any frame, and packets as a row of frames.

use super::{
    AckFloor, AckFrequency, AckRef, BlockAck, Close, CodedHeader, CongestionNotification, Credit, CryptoHeader,
    CsigEcho, Datagram, FrameType, MaxData, MaxStreamData, MessageHeader, Nack, NearSource, NewKey, ParityHeader,
    PathChallenge, PathResponse, Reader, StreamHeader, Trimmed, WireError, Writer,
};

/// Any frame. Those that carry bytes hold their header only.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Frame<'a> {
    /// Zero bytes without meaning, at least one.
    Padding {
        /// How many.
        len: usize,
    },
    /// Asks for an acknowledgement.
    Ping,
    /// The server confirms the handshake.
    HandshakeDone,
    /// The receiver saw congestion marks.
    CongestionNotification(CongestionNotification),
    /// A piece of the handshake; its bytes follow.
    Crypto(CryptoHeader),
    /// Start of a new key generation; its bytes follow.
    NewKey(NewKey),
    /// The connection ends; its reason follows.
    Close(Close),
    /// Numbers below which nothing more needs to be acknowledged.
    AckFloor(AckFloor),
    /// When to acknowledge.
    AckFrequency(AckFrequency),
    /// Asks for an answer over the same path.
    PathChallenge(PathChallenge),
    /// Answers a challenge.
    PathResponse(PathResponse),
    /// Flow control of the connection.
    MaxData(MaxData),
    /// Flow control of a stream.
    MaxStreamData(MaxStreamData),
    /// Bytes that a receiver-driven law grants.
    Credit(Credit),
    /// A switch's report on its queue.
    NearSource(NearSource),
    /// An acknowledgement.
    Ack(AckRef<'a>),
    /// A piece of a stream; its bytes follow.
    Stream(StreamHeader),
    /// Unreliable application data; its bytes follow.
    Datagram(Datagram),
    /// Packets whose payload a switch cut off.
    Trimmed(Trimmed),
    /// A CSIG tag as it arrived.
    CsigEcho(CsigEcho),
    /// A data shard; its frames follow.
    Coded(CodedHeader),
    /// A parity shard; its bytes follow.
    Parity(ParityHeader),
    /// Shards of a block that did not arrive.
    Nack(Nack),
    /// Blocks that are complete.
    BlockAck(BlockAck),
    /// A piece of a message; its bytes follow.
    Message(MessageHeader),
}

/// `$call` on whatever struct the frame holds; `$padding`, `$bare` for those that hold none.
macro_rules! for_each_frame {
    ($self:expr, Padding($len:ident) => $padding:expr, bare($kind:ident) => $bare:expr, $inner:ident => $call:expr) => {
        match $self {
            Frame::Padding { len: $len } => $padding,
            Frame::Ping => {
                let $kind = FrameType::Ping;
                $bare
            }
            Frame::HandshakeDone => {
                let $kind = FrameType::HandshakeDone;
                $bare
            }
            Frame::CongestionNotification($inner) => $call,
            Frame::Crypto($inner) => $call,
            Frame::NewKey($inner) => $call,
            Frame::Close($inner) => $call,
            Frame::AckFloor($inner) => $call,
            Frame::AckFrequency($inner) => $call,
            Frame::PathChallenge($inner) => $call,
            Frame::PathResponse($inner) => $call,
            Frame::MaxData($inner) => $call,
            Frame::MaxStreamData($inner) => $call,
            Frame::Credit($inner) => $call,
            Frame::NearSource($inner) => $call,
            Frame::Ack($inner) => $call,
            Frame::Stream($inner) => $call,
            Frame::Datagram($inner) => $call,
            Frame::Trimmed($inner) => $call,
            Frame::CsigEcho($inner) => $call,
            Frame::Coded($inner) => $call,
            Frame::Parity($inner) => $call,
            Frame::Nack($inner) => $call,
            Frame::BlockAck($inner) => $call,
            Frame::Message($inner) => $call,
        }
    };
}

impl<'a> Frame<'a> {
    /// Bytes that [`write`](Self::write) takes, type byte included, payload excluded.
    pub fn encoded_len(&self) -> usize {
        for_each_frame!(self, Padding(len) => *len, bare(_kind) => 1, frame => frame.encoded_len())
    }

    /// Writes the frame up to its payload.
    ///
    /// # Errors
    /// [`WireError::NoRoom`], or whatever is wrong with the values of the frame.
    pub fn write(&self, writer: &mut Writer<'_>) -> Result<(), WireError> {
        for_each_frame!(self,
            Padding(len) => write_padding(*len, writer),
            bare(kind) => writer.u8(kind as u8, "frame type"),
            frame => frame.write(writer))
    }

    /// Reads a frame up to its payload.
    ///
    /// # Errors
    /// [`WireError::UnknownFrame`], [`WireError::CutOff`], or whatever is wrong with the values of the frame.
    pub fn parse(reader: &mut Reader<'a>) -> Result<Self, WireError> {
        let (kind, flags) = FrameType::read(reader)?;
        Self::parse_body(kind, flags, reader)
    }

    fn parse_body(kind: FrameType, flags: u8, reader: &mut Reader<'a>) -> Result<Self, WireError> {
        Ok(match kind {
            FrameType::Padding => Self::Padding { len: 1 + reader.zeros() },
            FrameType::Ping => Self::Ping,
            FrameType::HandshakeDone => Self::HandshakeDone,
            FrameType::CongestionNotification => {
                Self::CongestionNotification(CongestionNotification::parse_body(flags, reader)?)
            }
            FrameType::Crypto => Self::Crypto(CryptoHeader::parse_body(flags, reader)?),
            FrameType::NewKey => Self::NewKey(NewKey::parse_body(flags, reader)?),
            FrameType::Close => Self::Close(Close::parse_body(flags, reader)?),
            FrameType::AckFloor => Self::AckFloor(AckFloor::parse_body(flags, reader)?),
            FrameType::AckFrequency => Self::AckFrequency(AckFrequency::parse_body(flags, reader)?),
            FrameType::PathChallenge => Self::PathChallenge(PathChallenge::parse_body(flags, reader)?),
            FrameType::PathResponse => Self::PathResponse(PathResponse::parse_body(flags, reader)?),
            FrameType::MaxData => Self::MaxData(MaxData::parse_body(flags, reader)?),
            FrameType::MaxStreamData => Self::MaxStreamData(MaxStreamData::parse_body(flags, reader)?),
            FrameType::Credit => Self::Credit(Credit::parse_body(flags, reader)?),
            FrameType::NearSource => Self::NearSource(NearSource::parse_body(flags, reader)?),
            FrameType::Ack => Self::Ack(AckRef::parse_body(flags, reader)?),
            FrameType::Stream => Self::Stream(StreamHeader::parse_body(flags, reader)?),
            FrameType::Datagram => Self::Datagram(Datagram::parse_body(flags, reader)?),
            FrameType::Trimmed => Self::Trimmed(Trimmed::parse_body(flags, reader)?),
            FrameType::CsigEcho => Self::CsigEcho(CsigEcho::parse_body(flags, reader)?),
            FrameType::Coded => Self::Coded(CodedHeader::parse_body(flags, reader)?),
            FrameType::Parity => Self::Parity(ParityHeader::parse_body(flags, reader)?),
            FrameType::Nack => Self::Nack(Nack::parse_body(flags, reader)?),
            FrameType::BlockAck => Self::BlockAck(BlockAck::parse_body(flags, reader)?),
            FrameType::Message => Self::Message(MessageHeader::parse_body(flags, reader)?),
        })
    }

    /// Bytes that follow the frame's header and belong to it.
    pub const fn payload_len(&self) -> u64 {
        match self {
            Self::Crypto(crypto) => crypto.len,
            Self::NewKey(key) => key.len,
            Self::Close(close) => close.len,
            Self::Stream(stream) => stream.len,
            Self::Datagram(datagram) => datagram.len,
            Self::Coded(coded) => coded.len as u64,
            Self::Parity(parity) => parity.shard.shard_len as u64,
            Self::Message(message) => message.len,
            _ => 0,
        }
    }

    /// What kind of frame this is.
    pub const fn frame_type(&self) -> FrameType {
        match self {
            Self::Padding { .. } => FrameType::Padding,
            Self::Ping => FrameType::Ping,
            Self::HandshakeDone => FrameType::HandshakeDone,
            Self::CongestionNotification(_) => FrameType::CongestionNotification,
            Self::Crypto(_) => FrameType::Crypto,
            Self::NewKey(_) => FrameType::NewKey,
            Self::Close(_) => FrameType::Close,
            Self::AckFloor(_) => FrameType::AckFloor,
            Self::AckFrequency(_) => FrameType::AckFrequency,
            Self::PathChallenge(_) => FrameType::PathChallenge,
            Self::PathResponse(_) => FrameType::PathResponse,
            Self::MaxData(_) => FrameType::MaxData,
            Self::MaxStreamData(_) => FrameType::MaxStreamData,
            Self::Credit(_) => FrameType::Credit,
            Self::NearSource(_) => FrameType::NearSource,
            Self::Ack(_) => FrameType::Ack,
            Self::Stream(_) => FrameType::Stream,
            Self::Datagram(_) => FrameType::Datagram,
            Self::Trimmed(_) => FrameType::Trimmed,
            Self::CsigEcho(_) => FrameType::CsigEcho,
            Self::Coded(_) => FrameType::Coded,
            Self::Parity(_) => FrameType::Parity,
            Self::Nack(_) => FrameType::Nack,
            Self::BlockAck(_) => FrameType::BlockAck,
            Self::Message(_) => FrameType::Message,
        }
    }
}

fn write_padding(len: usize, writer: &mut Writer<'_>) -> Result<(), WireError> {
    if len == 0 {
        return Err(writer.invalid("padding", "a byte at least"));
    }
    writer.reserve(len, "padding")?.fill(FrameType::Padding as u8);
    Ok(())
}

/// The frames of a packet or of a data shard, each with the bytes that it carries.
///
/// Ends after the last frame or after the first error. Offsets in errors count from the start of the slice.
#[derive(Clone, Debug)]
pub struct Frames<'a> {
    reader: Reader<'a>,
    within: Within,
    failed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    Packet,
    Shard,
}

impl<'a> Frames<'a> {
    /// The frames of a packet: what follows the header, decrypted, without the AEAD's tag.
    pub const fn new(payload: &'a [u8]) -> Self {
        Self { reader: Reader::new(payload), within: Within::Packet, failed: false }
    }

    /// The frames of a data shard, as it came or as it was recovered. Shards in it are an error.
    pub const fn in_shard(shard: &'a [u8]) -> Self {
        Self { reader: Reader::new(shard), within: Within::Shard, failed: false }
    }

    fn read(&mut self) -> Result<(Frame<'a>, &'a [u8]), WireError> {
        let offset = self.reader.offset();
        let (kind, flags) = FrameType::read(&mut self.reader)?;
        if self.within == Within::Shard && !kind.is_shardable() {
            return Err(WireError::Invalid { what: "frame type", offset, expected: "no shard inside a shard" });
        }
        let frame = Frame::parse_body(kind, flags, &mut self.reader)?;
        // A length that no slice can have is cut off as well.
        let len = usize::try_from(frame.payload_len()).unwrap_or(usize::MAX);
        let payload = self.reader.bytes(len, "payload")?;
        Ok((frame, payload))
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Result<(Frame<'a>, &'a [u8]), WireError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed || self.reader.is_empty() {
            return None;
        }
        let item = self.read();
        self.failed = item.is_err();
        Some(item)
    }
}

impl core::iter::FusedIterator for Frames<'_> {}
