//! Strategies whose values all have an encoding.

use cc_algos::ids::{BlockId, Entropy, PathId};
use cc_algos::signal::{EcnCounts, IntHop};
use cc_algos::units::{Rate, Span, Timestamp};
use proptest::prelude::*;

use crate::wire::{
    AckFloor, AckFrame, AckFrequency, BlockAck, Close, CloseOrigin, CodedHeader, CongestionNotification, Credit,
    CryptoHeader, CsigEcho, CsigTag, Datagram, Delivery, ENTROPY_MAX, Frame, Header, IntStack, MAX_ACK_RANGES,
    MAX_SHARDS, MAX_TOKEN_LEN, MAX_TRIMMED_RANGES, MAX_VERSIONS, MarkBitmap, MaxData, MaxStreamData, MessageHeader,
    Nack, NearSource, NewKey, PACKET_NUMBER_MAX, PacketKind, PacketNumberRange, ParityHeader, PathChallenge,
    PathResponse, Shard, ShardSet, StreamHeader, Trimmed, VARINT_MAX, VersionNegotiation, WireError, Writer,
};

/// A frame with its payload, owned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnyFrame {
    /// An acknowledgement.
    Ack(AckFrame),
    /// Any other frame and the bytes that it carries.
    Other(Frame<'static>, Vec<u8>),
}

impl AnyFrame {
    /// Bytes of the frame's header, as its `encoded_len` says.
    pub fn encoded_len(&self) -> usize {
        match self {
            Self::Ack(ack) => ack.encoded_len(),
            Self::Other(frame, _) => frame.encoded_len(),
        }
    }

    /// The bytes that the frame carries.
    pub fn payload(&self) -> &[u8] {
        match self {
            Self::Ack(_) => &[],
            Self::Other(_, payload) => payload,
        }
    }

    /// Writes the frame up to its payload.
    ///
    /// # Errors
    /// Those of the frame.
    pub fn write(&self, writer: &mut Writer<'_>) -> Result<(), WireError> {
        match self {
            Self::Ack(ack) => ack.write(writer),
            Self::Other(frame, _) => frame.write(writer),
        }
    }
}

/// Compares with a parsed frame and the bytes behind it.
impl PartialEq<(Frame<'_>, &[u8])> for AnyFrame {
    fn eq(&self, (parsed, bytes): &(Frame<'_>, &[u8])) -> bool {
        match (self, parsed) {
            (Self::Ack(own), Frame::Ack(parsed)) => {
                let mut ack = AckFrame::default();
                parsed.copy_to(&mut ack);
                *own == ack && bytes.is_empty()
            }
            (Self::Ack(_), _) => false,
            (Self::Other(own, payload), parsed) => own == parsed && payload == bytes,
        }
    }
}

/// Numbers of all lengths that a variable-length integer can have, borders included.
fn varint() -> impl Strategy<Value = u64> {
    prop_oneof![
        0u64..0x40,
        0u64..0x4000,
        0u64..0x4000_0000,
        0..=VARINT_MAX,
        prop::sample::select(vec![0x3f, 0x40, 0x3fff, 0x4000, 0x3fff_ffff, 0x4000_0000, VARINT_MAX]),
    ]
}

fn path() -> impl Strategy<Value = PathId> {
    prop_oneof![Just(0u16), 0u16..0x100, any::<u16>()].prop_map(PathId)
}

fn span() -> impl Strategy<Value = Span> {
    varint().prop_map(Span::from_nanos)
}

fn entropy() -> impl Strategy<Value = Entropy> {
    (0..=ENTROPY_MAX).prop_map(Entropy)
}

fn tag() -> impl Strategy<Value = CsigTag> {
    prop_oneof![any::<[u8; 4]>().prop_map(CsigTag::Compact), any::<[u8; 8]>().prop_map(CsigTag::Wide)]
}

fn payload() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..100)
}

/// Descending ranges with gaps, from a largest number and alternating lengths and gaps; fewer where zero is reached.
fn ranges(max: usize) -> impl Strategy<Value = Vec<PacketNumberRange>> {
    let step = prop_oneof![0u64..4, 0u64..0x100, 0u64..0x1_0000_0000];
    (varint(), prop::collection::vec((step.clone(), step), 1..=max)).prop_map(|(largest, steps)| {
        let mut next = Some(largest);
        let mut ranges = Vec::new();
        for (more, gap) in steps {
            let Some(last) = next else { break };
            let first = last.saturating_sub(more);
            ranges.push(PacketNumberRange { first, last });
            next = first.checked_sub(gap + 2);
        }
        ranges
    })
}

/// Acknowledgements with up to [`MAX_ACK_RANGES`] ranges and any optional part.
pub fn ack_frame() -> impl Strategy<Value = AckFrame> {
    let ecn = (varint(), varint(), varint()).prop_map(|(ect0, ect1, ce)| EcnCounts { ect0, ect1, ce });
    let marks = (1u8..=MarkBitmap::MAX_PACKETS, any::<u64>());
    let ranges = prop_oneof![4 => ranges(3), 1 => ranges(MAX_ACK_RANGES)];
    let fields = (path(), span(), ranges, prop::option::of(ecn), prop::option::of(marks));
    let received_at = prop::option::of(varint().prop_map(Timestamp::from_nanos));
    let int = prop_oneof![2 => Just(IntStack::default()), 1 => int_stack()];
    let echoes = (received_at, prop::option::of(entropy()), prop::option::of(any::<u8>()), int);
    (fields, echoes).prop_map(|((path, ack_delay, ranges, ecn, marks), (received_at, entropy_echo, hops, int))| {
        let largest = ranges.first().map_or(0, |newest| newest.last);
        let marks = marks.and_then(|(packets, bits)| {
            let existing = u64::from(packets).min(largest.saturating_add(1));
            MarkBitmap::new(packets, if existing == 64 { bits } else { bits & ((1 << existing) - 1) })
        });
        AckFrame { path, largest, ack_delay, ranges: ranges.into(), ecn, marks, received_at, entropy_echo, hops, int }
    })
}

/// Records of ports with any values.
pub fn int_hop() -> impl Strategy<Value = IntHop> {
    let number = || prop_oneof![0u64..0x1_0000, any::<u64>()];
    (any::<u32>(), number(), number(), number(), number()).prop_map(|(port, at, tx_bytes, queue_bytes, rate)| IntHop {
        port,
        at: Timestamp::from_nanos(at),
        tx_bytes,
        queue_bytes,
        rate: Rate::from_bps(rate),
    })
}

/// Telemetry, also of more ports than have room.
pub fn int_stack() -> impl Strategy<Value = IntStack> {
    prop::collection::vec(int_hop(), 0..20).prop_map(|hops| {
        let mut stack = IntStack::default();
        hops.iter().for_each(|hop| stack.push(hop));
        stack
    })
}

/// Trimming notices.
pub fn trimmed() -> impl Strategy<Value = Trimmed> {
    (path(), ranges(MAX_TRIMMED_RANGES)).prop_map(|(path, ranges)| Trimmed { path, ranges: ranges.into() })
}

fn shard() -> impl Strategy<Value = Shard> {
    (varint(), 1..=MAX_SHARDS, any::<u8>(), any::<u8>(), 1..=u16::MAX).prop_map(|(block, k, m, index, shard_len)| {
        Shard { block: BlockId(block), index: index % k, k, m: m.min(MAX_SHARDS - k), shard_len }
    })
}

fn coded() -> impl Strategy<Value = AnyFrame> {
    (shard(), payload()).prop_map(|(shard, mut payload)| {
        payload.truncate(usize::from(shard.shard_len));
        AnyFrame::Other(Frame::Coded(CodedHeader { shard, len: payload.len() as u16 }), payload)
    })
}

fn parity() -> impl Strategy<Value = AnyFrame> {
    (shard(), payload()).prop_map(|(mut shard, mut payload)| {
        payload.push(0);
        shard.k = shard.k.min(MAX_SHARDS - 1);
        shard.m = shard.m.clamp(1, MAX_SHARDS - shard.k);
        shard.index = shard.k + shard.index % shard.m;
        shard.shard_len = payload.len() as u16;
        AnyFrame::Other(Frame::Parity(ParityHeader { shard }), payload)
    })
}

fn nack() -> impl Strategy<Value = Frame<'static>> {
    (varint(), 1..=MAX_SHARDS, prop::collection::vec(any::<u8>(), 1..20)).prop_map(|(block, shards, indices)| {
        let mut missing = ShardSet::EMPTY;
        for index in indices {
            missing.insert(index % shards);
        }
        Frame::Nack(Nack { block: BlockId(block), shards, missing })
    })
}

/// An offset at which `len` more bytes still have offsets.
fn offset_before(len: usize, offset: u64) -> u64 {
    offset.min(VARINT_MAX - len as u64)
}

fn stream() -> impl Strategy<Value = AnyFrame> {
    (varint(), varint(), payload(), any::<bool>()).prop_map(|(id, offset, payload, fin)| {
        let offset = offset_before(payload.len(), offset);
        AnyFrame::Other(Frame::Stream(StreamHeader { id, offset, len: payload.len() as u64, fin }), payload)
    })
}

fn message() -> impl Strategy<Value = AnyFrame> {
    let delivery = prop::sample::select(vec![Delivery::Reliable, Delivery::Unreliable]);
    let options = (any::<u8>(), prop::option::of(span()), delivery, any::<bool>());
    (varint(), varint(), payload(), options).prop_map(|(id, offset, payload, options)| {
        let (priority, deadline, delivery, fin) = options;
        let (offset, len) = (offset_before(payload.len(), offset), payload.len() as u64);
        let header = MessageHeader { id, offset, len, priority, deadline, delivery, fin };
        AnyFrame::Other(Frame::Message(header), payload)
    })
}

/// Frames that carry bytes, shards apart.
pub fn data_frame() -> impl Strategy<Value = AnyFrame> {
    let origin = prop::sample::select(vec![CloseOrigin::Transport, CloseOrigin::Application]);
    prop_oneof![
        4 => stream(),
        2 => message(),
        1 => payload().prop_map(|payload| {
            AnyFrame::Other(Frame::Datagram(Datagram { len: payload.len() as u64 }), payload)
        }),
        1 => (varint(), payload()).prop_map(|(offset, payload)| {
            let (offset, len) = (offset_before(payload.len(), offset), payload.len() as u64);
            AnyFrame::Other(Frame::Crypto(CryptoHeader { offset, len }), payload)
        }),
        1 => (varint(), payload()).prop_map(|(generation, payload)| {
            AnyFrame::Other(Frame::NewKey(NewKey { generation, len: payload.len() as u64 }), payload)
        }),
        1 => (origin, varint(), payload()).prop_map(|(origin, code, payload)| {
            AnyFrame::Other(Frame::Close(Close { origin, code, len: payload.len() as u64 }), payload)
        }),
    ]
}

fn plain_frame() -> impl Strategy<Value = Frame<'static>> {
    let frequency = (path(), varint(), varint(), span(), varint());
    prop_oneof![
        (1usize..50).prop_map(|len| Frame::Padding { len }),
        Just(Frame::Ping),
        Just(Frame::HandshakeDone),
        path().prop_map(|path| Frame::CongestionNotification(CongestionNotification { path })),
        (path(), varint()).prop_map(|(path, packet_number)| Frame::AckFloor(AckFloor { path, packet_number })),
        frequency.prop_map(|(path, sequence, packet_threshold, max_ack_delay, reordering_threshold)| {
            let frame = AckFrequency { path, sequence, packet_threshold, max_ack_delay, reordering_threshold };
            Frame::AckFrequency(frame)
        }),
        any::<[u8; 8]>().prop_map(|data| Frame::PathChallenge(PathChallenge { data })),
        any::<[u8; 8]>().prop_map(|data| Frame::PathResponse(PathResponse { data })),
        varint().prop_map(|maximum| Frame::MaxData(MaxData { maximum })),
        (varint(), varint()).prop_map(|(stream, maximum)| Frame::MaxStreamData(MaxStreamData { stream, maximum })),
        varint().prop_map(|total| Frame::Credit(Credit { total })),
        (path(), varint(), [varint(), varint(), varint()], varint()).prop_map(|(path, packet_number, queue, rate)| {
            let [queue_bytes, former_queue_bytes, set_point_bytes] = queue;
            let port_rate = Rate::from_bps(rate);
            Frame::NearSource(NearSource {
                path,
                packet_number,
                queue_bytes,
                former_queue_bytes,
                set_point_bytes,
                port_rate,
            })
        }),
        trimmed().prop_map(Frame::Trimmed),
        (path(), entropy(), span(), tag()).prop_map(|(path, entropy, age, tag)| Frame::CsigEcho(CsigEcho {
            path,
            entropy,
            age,
            tag
        })),
        nack(),
        (varint(), varint()).prop_map(|(next, beyond)| Frame::BlockAck(BlockAck { next: BlockId(next), beyond })),
    ]
}

/// Every kind of frame.
pub fn any_frame() -> impl Strategy<Value = AnyFrame> {
    prop_oneof![
        5 => plain_frame().prop_map(|frame| AnyFrame::Other(frame, Vec::new())),
        2 => ack_frame().prop_map(AnyFrame::Ack),
        3 => data_frame(),
        1 => coded(),
        1 => parity(),
    ]
}

/// Headers of all kinds, each with a largest acknowledged packet number that allows its own.
pub fn header() -> impl Strategy<Value = (Header, Option<u64>)> {
    let number = (prop::option::of(0..PACKET_NUMBER_MAX), prop_oneof![1u64..0x1_0000, 1u64..0x8000_0000]);
    let kind = (0u8..5, any::<u64>(), 0..=MAX_TOKEN_LEN, any::<bool>(), prop::option::of(tag()));
    (any::<u64>(), path(), number, kind).prop_map(|(connection, path, (acked, ahead), kind)| {
        let (kind, source, token_len, key_phase, tag) = kind;
        let packet_number = acked.map_or(ahead - 1, |acked| (acked + ahead).min(PACKET_NUMBER_MAX));
        let (kind, path, packet_number) = match kind {
            0 => (PacketKind::Initial { source, token_len }, PathId(0), packet_number),
            1 => (PacketKind::ZeroRtt { source }, PathId(0), packet_number),
            2 => (PacketKind::Handshake { source }, PathId(0), packet_number),
            3 => (PacketKind::Retry { source, token_len }, PathId(0), 0),
            _ => (PacketKind::Data { key_phase, tag }, path, packet_number),
        };
        (Header { connection, path, packet_number, kind }, acked)
    })
}

/// A header with its largest acknowledged packet number, and the frames behind it. No two paddings are neighbours, as
/// they would be read as one.
pub fn packet() -> impl Strategy<Value = (Header, Option<u64>, Vec<AnyFrame>)> {
    (header(), prop::collection::vec(any_frame(), 0..8)).prop_map(|((header, acked), mut frames)| {
        frames.dedup_by(|a, b| is_padding(a) && is_padding(b));
        (header, acked, frames)
    })
}

fn is_padding(frame: &AnyFrame) -> bool {
    matches!(frame, AnyFrame::Other(Frame::Padding { .. }, _))
}

/// Version negotiations.
pub fn version_negotiation() -> impl Strategy<Value = VersionNegotiation> {
    let versions = prop::collection::vec(1..=u32::MAX, 1..=MAX_VERSIONS);
    (any::<u64>(), any::<u64>(), versions).prop_map(|(connection, source, versions)| VersionNegotiation {
        connection,
        source,
        versions: versions.into(),
    })
}
