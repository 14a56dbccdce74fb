//! Packet headers and frames: own format in the spirit of QUIC (RFC 9000), written and parsed. `docs/wire.md` describes
//! it field by field.
//!
//! * A [`Header`] is parsed first; its packet number is completed with what the path has received so far.
//! * What follows, once decrypted, are [`Frames`].
//! * A [`PacketBuilder`] packs header and frames into a datagram.
//!
//! Each struct knows its `encoded_len`, which is exactly what `write` takes: a simulator can charge for packets that it
//! never writes. Frames that carry bytes hold only their header; the bytes follow it.
//!
//! Parsing bounds every count, never panics, and allocates nothing: the ranges of an [`AckRef`] stay in the packet, and
//! an [`AckFrame`] that they are copied into keeps its room. Each value has one encoding: whatever parses is written back
//! to the same bytes, but for packet numbers longer than needed.

mod ack;
mod builder;
mod codec;
mod coding;
mod control;
mod csig_slot;
mod data;
mod error;
mod field;
mod frame;
mod frame_type;
mod header;
mod packet_number;
mod ranges;
mod telemetry;
#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub mod testing;
#[cfg(test)]
mod tests;
mod version;

pub use ack::{AckFrame, AckRef, MAX_ACK_RANGES, MarkBitmap};
pub use builder::{BuiltPacket, PacketBuilder};
pub use codec::{Reader, VARINT_MAX, Writer, varint_len};
pub use coding::{BlockAck, CodedHeader, MAX_SHARDS, Nack, ParityHeader, Shard, ShardSet};
pub use control::{
    AckFloor, AckFrequency, Close, CloseOrigin, CongestionNotification, Credit, CsigEcho, MaxData, MaxStreamData,
    NearSource, NewKey, PathChallenge, PathResponse,
};
pub use csig_slot::{CSIG_SLOT_OFFSET, CsigTag, authenticated_header, csig_slot, csig_slot_mut};
pub use data::{CryptoHeader, Datagram, Delivery, MessageHeader, StreamHeader, stream_packet_len};
pub use error::WireError;
pub use field::ENTROPY_MAX;
pub use frame::{Frame, Frames};
pub use frame_type::FrameType;
pub use header::{
    Header, LongPrefix, MAX_TOKEN_LEN, PacketKind, PartialHeader, VERSION, connection_id, packet_overhead,
};
pub use packet_number::{PACKET_NUMBER_MAX, TruncatedPacketNumber, packet_number_len};
pub use ranges::{MAX_TRIMMED_RANGES, PacketNumberRange, Ranges, Trimmed};
pub use telemetry::{EncodedStack, INT_HOP_LEN, INT_PREFIX, IntStack, MAX_INT_HOPS};
pub use version::{MAX_VERSIONS, VersionNegotiation};

/// Bytes of the IPv4 and UDP headers, without options: 20 + 8. (IPv6 takes 48.)
pub const IP_UDP_OVERHEAD: usize = 28;

/// Bytes that the AEAD appends: 16 for AES-GCM and ChaCha20-Poly1305 (RFC 5116, section 5; RFC 8439, section 2.8).
pub const AEAD_TAG_LEN: usize = 16;
