//! Packet headers: a long form until keys are agreed, a short form for data.

use cc_algos::ids::PathId;

use super::packet_number::is_encodable;
use super::{AEAD_TAG_LEN, CsigTag, IP_UDP_OVERHEAD, Reader, TruncatedPacketNumber, WireError, Writer};
use super::{packet_number_len, varint_len};

/// The version that this crate speaks.
pub const VERSION: u32 = 0x6377_0001;

/// Longest address-validation token, bytes. Ours.
pub const MAX_TOKEN_LEN: u16 = 256;

pub(super) const LONG_FORM: u8 = 0x80;
pub(super) const CSIG_MASK: u8 = 0x30;
pub(super) const CSIG_COMPACT: u8 = 0x10;
pub(super) const CSIG_WIDE: u8 = 0x20;
const KEY_PHASE: u8 = 0x40;
const PATH_SHIFT: u8 = 2;
const PATH_MASK: u8 = 0x0c;
const NUMBER_LEN_MASK: u8 = 0x03;
const LONG_RESERVED: u8 = 0x0c;
const LONG_TYPE_SHIFT: u8 = 4;

const CONNECTION_LEN: usize = 8;
/// First byte, version, both connection ids: the same in all versions.
const LONG_PREFIX_LEN: usize = 1 + 4 + 2 * CONNECTION_LEN;

/// What stands before the frames of a packet, without the token of those kinds that have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The receiver's id for the connection.
    pub connection: u64,
    /// The path, in whose space the packet number counts. Zero in all kinds but data.
    pub path: PathId,
    /// The packet's number; zero in a retry, which has none.
    pub packet_number: u64,
    /// What kind of packet it is, with what only that kind has.
    pub kind: PacketKind,
}

/// Kinds of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketKind {
    /// Long form: the first packets of a client and the answers to them.
    Initial {
        /// The sender's id for the connection.
        source: u64,
        /// Length of the address-validation token that follows the header.
        token_len: u16,
    },
    /// Long form: data of a client before the handshake is done.
    ZeroRtt {
        /// The sender's id for the connection.
        source: u64,
    },
    /// Long form: the rest of the handshake.
    Handshake {
        /// The sender's id for the connection.
        source: u64,
    },
    /// Long form: a server's demand to come back with the token that follows the header.
    Retry {
        /// The sender's id for the connection.
        source: u64,
        /// Length of the token, the whole rest of the packet.
        token_len: u16,
    },
    /// Short form: everything after the handshake.
    Data {
        /// Low bit of the key generation (RFC 9001, section 6).
        key_phase: bool,
        /// What the CSIG slot holds, if there is one.
        tag: Option<CsigTag>,
    },
}

impl PacketKind {
    /// Length of the token that follows the header; zero for kinds that have none.
    pub const fn token_len(&self) -> u16 {
        match *self {
            Self::Initial { token_len, .. } | Self::Retry { token_len, .. } => token_len,
            Self::ZeroRtt { .. } | Self::Handshake { .. } | Self::Data { .. } => 0,
        }
    }
}

impl Header {
    /// The header of a data packet in key phase zero, without CSIG slot.
    pub const fn data(connection: u64, path: PathId, packet_number: u64) -> Self {
        Self { connection, path, packet_number, kind: PacketKind::Data { key_phase: false, tag: None } }
    }

    /// Bytes that [`write`](Self::write) takes, given the largest packet number that the peer acknowledged on this path.
    #[inline]
    pub const fn encoded_len(&self, largest_acked: Option<u64>) -> usize {
        let number = packet_number_len(self.packet_number, largest_acked);
        match self.kind {
            PacketKind::Data { tag: None, .. } => 1 + CONNECTION_LEN + path_len(self.path) + number,
            PacketKind::Data { tag: Some(tag), .. } => {
                1 + tag.encoded_len() + CONNECTION_LEN + path_len(self.path) + number
            }
            PacketKind::Initial { token_len, .. } => LONG_PREFIX_LEN + number + varint_len(token_len as u64),
            PacketKind::ZeroRtt { .. } | PacketKind::Handshake { .. } => LONG_PREFIX_LEN + number,
            PacketKind::Retry { token_len, .. } => LONG_PREFIX_LEN + varint_len(token_len as u64),
        }
    }

    /// Writes the header. `largest_acked` is the largest packet number that the peer acknowledged on this path.
    ///
    /// # Errors
    /// [`WireError::NoRoom`]; [`WireError::TooLarge`] for a token above [`MAX_TOKEN_LEN`]; [`WireError::Invalid`] if more
    /// packets are unacknowledged than four bytes can tell apart, for a path in a long form, a number in a retry.
    pub fn write(&self, largest_acked: Option<u64>, writer: &mut Writer<'_>) -> Result<(), WireError> {
        if !is_encodable(self.packet_number, largest_acked) {
            return Err(writer.invalid("packet number", "one within 2^31 of the largest acknowledged"));
        }
        match self.kind {
            PacketKind::Data { key_phase, tag } => self.write_short(key_phase, tag, largest_acked, writer),
            PacketKind::Initial { source, token_len } => {
                self.write_prefix(LongType::Initial, source, largest_acked, writer)?;
                writer.varint_up_to(u64::from(token_len), u64::from(MAX_TOKEN_LEN), "token length")
            }
            PacketKind::ZeroRtt { source } => self.write_prefix(LongType::ZeroRtt, source, largest_acked, writer),
            PacketKind::Handshake { source } => self.write_prefix(LongType::Handshake, source, largest_acked, writer),
            PacketKind::Retry { source, token_len } => {
                if self.packet_number != 0 {
                    return Err(writer.invalid("packet number", "zero in a retry"));
                }
                self.write_prefix(LongType::Retry, source, largest_acked, writer)?;
                writer.varint_up_to(u64::from(token_len), u64::from(MAX_TOKEN_LEN), "token length")
            }
        }
    }

    fn write_short(
        &self,
        key_phase: bool,
        tag: Option<CsigTag>,
        largest_acked: Option<u64>,
        writer: &mut Writer<'_>,
    ) -> Result<(), WireError> {
        let number_len = packet_number_len(self.packet_number, largest_acked);
        let slot = match tag {
            None => 0,
            Some(CsigTag::Compact(_)) => CSIG_COMPACT,
            Some(CsigTag::Wide(_)) => CSIG_WIDE,
        };
        let phase = if key_phase { KEY_PHASE } else { 0 };
        let path_len = path_len(self.path);
        writer.u8(phase | slot | (path_len as u8) << PATH_SHIFT | (number_len - 1) as u8, "first byte")?;
        match tag {
            None => {}
            Some(CsigTag::Compact(bytes)) => writer.array(bytes, "CSIG slot")?,
            Some(CsigTag::Wide(bytes)) => writer.array(bytes, "CSIG slot")?,
        }
        writer.array(self.connection.to_be_bytes(), "connection id")?;
        match path_len {
            0 => {}
            1 => writer.u8(self.path.0 as u8, "path id")?,
            _ => writer.array(self.path.0.to_be_bytes(), "path id")?,
        }
        write_number(self.packet_number, number_len, writer)
    }

    fn write_prefix(
        &self,
        kind: LongType,
        source: u64,
        largest_acked: Option<u64>,
        writer: &mut Writer<'_>,
    ) -> Result<(), WireError> {
        if self.path != PathId(0) {
            return Err(writer.invalid("path id", "path zero in a long header"));
        }
        let number_len = match kind {
            LongType::Retry => 0,
            _ => packet_number_len(self.packet_number, largest_acked),
        };
        let first = LONG_FORM | (kind as u8) << LONG_TYPE_SHIFT | number_len.saturating_sub(1) as u8;
        let prefix = LongPrefix { version: VERSION, connection: self.connection, source };
        write_long_prefix(first, prefix, writer)?;
        write_number(self.packet_number, number_len, writer)
    }

    /// Reads a header, short or long, and leaves the reader at the token of those kinds that have one, else at the
    /// payload.
    ///
    /// # Errors
    /// [`WireError::UnknownVersion`] for a long header of another version ([`LongPrefix::parse`] tells whom to answer);
    /// otherwise any but [`WireError::NoRoom`] and [`WireError::UnknownFrame`].
    pub fn parse(reader: &mut Reader<'_>) -> Result<PartialHeader, WireError> {
        let offset = reader.offset();
        let first = reader.u8("first byte")?;
        if first & LONG_FORM == 0 { parse_short(first, reader) } else { parse_long(first, offset, reader) }
    }
}

/// A header as parsed, before its packet number is known in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartialHeader {
    /// The receiver's id for the connection.
    pub connection: u64,
    /// The path.
    pub path: PathId,
    /// The low bytes of the packet number; `None` in a retry, which has none.
    pub packet_number: Option<TruncatedPacketNumber>,
    /// What kind of packet it is.
    pub kind: PacketKind,
}

impl PartialHeader {
    /// The whole header, given the largest packet number received on the path (RFC 9000, appendix A.3).
    pub const fn expand(self, largest_received: Option<u64>) -> Header {
        let packet_number = match self.packet_number {
            Some(truncated) => truncated.expand(largest_received),
            None => 0,
        };
        Header { connection: self.connection, path: self.path, packet_number, kind: self.kind }
    }
}

/// What all long headers share, whatever their version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongPrefix {
    /// The version; zero in a version negotiation.
    pub version: u32,
    /// The receiver's id for the connection.
    pub connection: u64,
    /// The sender's id for the connection.
    pub source: u64,
}

impl LongPrefix {
    /// Reads the shared fields of a long header of any version.
    ///
    /// # Errors
    /// [`WireError::CutOff`], or [`WireError::Invalid`] for a short header.
    pub fn parse(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let first = reader.clone().u8("first byte")?;
        if first & LONG_FORM == 0 {
            return Err(reader.invalid("first byte", "a long header"));
        }
        reader.u8("first byte")?;
        Self::parse_after_first(reader)
    }

    fn parse_after_first(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        Ok(Self {
            version: u32::from_be_bytes(reader.array("version")?),
            connection: u64::from_be_bytes(reader.array("connection id")?),
            source: u64::from_be_bytes(reader.array("source connection id")?),
        })
    }
}

/// The receiver's connection id of a datagram of any form and version, so that it can be handed to its connection.
///
/// # Errors
/// [`WireError::CutOff`] if the datagram ends before the id does; [`WireError::Invalid`] for an impossible CSIG slot.
pub fn connection_id(datagram: &[u8]) -> Result<u64, WireError> {
    let mut reader = Reader::new(datagram);
    let first = reader.u8("first byte")?;
    if first & LONG_FORM == 0 {
        parse_slot(first, &mut reader)?;
    } else {
        reader.array::<4>("version")?;
    }
    Ok(u64::from_be_bytes(reader.array("connection id")?))
}

/// Bytes on the wire that a packet takes besides its frames: IPv4 and UDP headers, its own header, the AEAD's tag.
#[inline]
pub const fn packet_overhead(header: &Header, largest_acked: Option<u64>) -> usize {
    IP_UDP_OVERHEAD + header.encoded_len(largest_acked) + AEAD_TAG_LEN
}

#[derive(Clone, Copy)]
enum LongType {
    Initial = 0,
    ZeroRtt = 1,
    Handshake = 2,
    Retry = 3,
}

pub(super) fn write_long_prefix(first: u8, prefix: LongPrefix, writer: &mut Writer<'_>) -> Result<(), WireError> {
    writer.u8(first, "first byte")?;
    writer.array(prefix.version.to_be_bytes(), "version")?;
    writer.array(prefix.connection.to_be_bytes(), "connection id")?;
    writer.array(prefix.source.to_be_bytes(), "source connection id")
}

#[inline]
const fn path_len(path: PathId) -> usize {
    match path.0 {
        0 => 0,
        1..=0xff => 1,
        _ => 2,
    }
}

fn write_number(packet_number: u64, len: usize, writer: &mut Writer<'_>) -> Result<(), WireError> {
    let [.., a, b, c, d] = packet_number.to_be_bytes();
    match len {
        0 => Ok(()),
        1 => writer.array([d], "packet number"),
        2 => writer.array([c, d], "packet number"),
        3 => writer.array([b, c, d], "packet number"),
        _ => writer.array([a, b, c, d], "packet number"),
    }
}

fn parse_number(first: u8, reader: &mut Reader<'_>) -> Result<TruncatedPacketNumber, WireError> {
    let len = (first & NUMBER_LEN_MASK) + 1;
    let bytes = reader.bytes(usize::from(len), "packet number")?;
    let value = bytes.iter().fold(0, |value, &byte| value << 8 | u32::from(byte));
    Ok(TruncatedPacketNumber::from_wire(value, len))
}

fn parse_slot(first: u8, reader: &mut Reader<'_>) -> Result<Option<CsigTag>, WireError> {
    match first & CSIG_MASK {
        0 => Ok(None),
        CSIG_COMPACT => Ok(Some(CsigTag::Compact(reader.array("CSIG slot")?))),
        CSIG_WIDE => Ok(Some(CsigTag::Wide(reader.array("CSIG slot")?))),
        _ => Err(reader.invalid("CSIG slot", "none, four or eight bytes")),
    }
}

fn parse_path(first: u8, reader: &mut Reader<'_>) -> Result<PathId, WireError> {
    let offset = reader.offset();
    let (path, len) = match (first & PATH_MASK) >> PATH_SHIFT {
        0 => (PathId(0), 0),
        1 => (PathId(u16::from(reader.u8("path id")?)), 1),
        2 => (PathId(u16::from_be_bytes(reader.array("path id")?)), 2),
        _ => return Err(reader.invalid("path id", "none, one or two bytes")),
    };
    if path_len(path) != len {
        return Err(WireError::NotShortest { what: "path id", offset });
    }
    Ok(path)
}

fn parse_short(first: u8, reader: &mut Reader<'_>) -> Result<PartialHeader, WireError> {
    let tag = parse_slot(first, reader)?;
    let connection = u64::from_be_bytes(reader.array("connection id")?);
    let path = parse_path(first, reader)?;
    let packet_number = Some(parse_number(first, reader)?);
    let kind = PacketKind::Data { key_phase: first & KEY_PHASE != 0, tag };
    Ok(PartialHeader { connection, path, packet_number, kind })
}

fn parse_long(first: u8, offset: usize, reader: &mut Reader<'_>) -> Result<PartialHeader, WireError> {
    let LongPrefix { version, connection, source } = LongPrefix::parse_after_first(reader)?;
    if version != VERSION {
        return Err(WireError::UnknownVersion { version, offset: offset + 1 });
    }
    if first & LONG_RESERVED != 0 {
        return Err(WireError::Invalid { what: "first byte", offset, expected: "reserved bits of zero" });
    }
    let kind = (first & !LONG_FORM) >> LONG_TYPE_SHIFT;
    if kind == LongType::Retry as u8 {
        if first & NUMBER_LEN_MASK != 0 {
            return Err(WireError::Invalid { what: "first byte", offset, expected: "no packet number in a retry" });
        }
        let kind = PacketKind::Retry { source, token_len: parse_token_len(reader)? };
        return Ok(PartialHeader { connection, path: PathId(0), packet_number: None, kind });
    }
    let packet_number = Some(parse_number(first, reader)?);
    let kind = match kind {
        0 => PacketKind::Initial { source, token_len: parse_token_len(reader)? },
        1 => PacketKind::ZeroRtt { source },
        2 => PacketKind::Handshake { source },
        _ => return Err(WireError::Invalid { what: "first byte", offset, expected: "a known long packet type" }),
    };
    Ok(PartialHeader { connection, path: PathId(0), packet_number, kind })
}

fn parse_token_len(reader: &mut Reader<'_>) -> Result<u16, WireError> {
    // The limit itself is a `u16`.
    Ok(reader.varint_up_to(u64::from(MAX_TOKEN_LEN), "token length")? as u16)
}
