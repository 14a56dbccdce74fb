//! One packet for each frame and each header, with values that show in a dump.

use cc_algos::ids::{BlockId, Entropy, PathId};
use cc_algos::signal::{EcnCounts, IntHop};
use cc_algos::units::{Rate, Span, Timestamp};
use smallvec::smallvec;

use crate::wire::{
    AckFloor, AckFrame, AckFrequency, BlockAck, Close, CloseOrigin, CodedHeader, CongestionNotification, Credit,
    CryptoHeader, CsigEcho, CsigTag, Datagram, Delivery, Frame, Header, IntStack, MarkBitmap, MaxData, MaxStreamData,
    MessageHeader, Nack, NearSource, NewKey, PacketBuilder, PacketKind, PacketNumberRange, ParityHeader, PathChallenge,
    PathResponse, Shard, ShardSet, StreamHeader, Trimmed, VersionNegotiation, WireError, Writer,
};

const CONNECTION: u64 = 0x0102_0304_0506_0708;
const SOURCE: u64 = 0x1112_1314_1516_1718;
const PATH: PathId = PathId(3);

/// A name and a datagram (without AEAD tag) for each header form, each frame, and telemetry.
///
/// # Errors
/// None, if the format is sound.
pub fn samples() -> Result<Vec<(String, Vec<u8>)>, WireError> {
    let mut samples = headers()?;
    let mut asking = vec![0; telemetry().prefix_len()];
    telemetry().write_prefix(&mut Writer::new(&mut asking))?;
    asking.extend(packet(&data_header(), &[], |builder| builder.push(&Frame::Ping, &[]))?);
    samples.push(("prefix: telemetry of two ports".into(), asking));
    for (frame, payload) in frames() {
        let name = format!("frame: {}", frame.frame_type().name());
        samples.push((name, packet(&data_header(), &[], |builder| builder.push(&frame, payload))?));
    }
    for (name, ack) in acks() {
        samples.push((format!("frame: {name}"), packet(&data_header(), &[], |builder| builder.push_ack(&ack))?));
    }
    Ok(samples)
}

fn data_header() -> Header {
    Header::data(CONNECTION, PathId(0), 7)
}

fn packet(
    header: &Header,
    token: &[u8],
    fill: impl FnOnce(&mut PacketBuilder<'_>) -> Result<(), WireError>,
) -> Result<Vec<u8>, WireError> {
    let mut datagram = vec![0; 512];
    let mut builder = PacketBuilder::new(&mut datagram, header, None, token)?;
    fill(&mut builder)?;
    let len = builder.finish().len;
    datagram.truncate(len);
    Ok(datagram)
}

fn headers() -> Result<Vec<(String, Vec<u8>)>, WireError> {
    let long = |kind| Header { connection: CONNECTION, path: PathId(0), packet_number: 0, kind };
    let data = |path, packet_number, key_phase, tag| {
        let kind = PacketKind::Data { key_phase, tag };
        Header { connection: CONNECTION, path: PathId(path), packet_number, kind }
    };
    let compact = Some(CsigTag::Compact([0xc1, 0xc2, 0xc3, 0xc4]));
    let wide = Some(CsigTag::Wide([0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8]));
    let headers = [
        ("initial", long(PacketKind::Initial { source: SOURCE, token_len: 5 })),
        ("0-rtt", long(PacketKind::ZeroRtt { source: SOURCE })),
        ("handshake", long(PacketKind::Handshake { source: SOURCE })),
        ("retry", long(PacketKind::Retry { source: SOURCE, token_len: 5 })),
        ("data", data(0, 1, false, None)),
        ("data, key phase one, path 3", data(3, 0x1234, true, None)),
        ("data, compact slot, path 300", data(300, 0x12_3456, false, compact)),
        ("data, wide slot", data(0, 0x1234_5678, false, wide)),
    ];
    let mut samples = Vec::new();
    for (name, header) in headers {
        let token = b"token".get(..usize::from(header.kind.token_len())).unwrap_or_default();
        samples.push((format!("header: {name}"), packet(&header, token, |_| Ok(()))?));
    }
    let versions = smallvec![0x6377_0001, 0x6377_0002];
    let negotiation = VersionNegotiation { connection: CONNECTION, source: SOURCE, versions };
    let mut datagram = vec![0; negotiation.encoded_len()];
    negotiation.write(&mut Writer::new(&mut datagram))?;
    samples.push(("header: version negotiation".into(), datagram));
    Ok(samples)
}

fn frames() -> Vec<(Frame<'static>, &'static [u8])> {
    let mut frames: Vec<(Frame<'static>, &'static [u8])> = control_frames().into_iter().map(|f| (f, &[][..])).collect();
    let shard = Shard { block: BlockId(9), index: 1, k: 8, m: 2, shard_len: 64 };
    let parity = Shard { index: 9, shard_len: 4, ..shard };
    let message = MessageHeader {
        id: 5,
        offset: 70_000,
        len: 5,
        priority: 2,
        deadline: Some(Span::from_millis(20)),
        delivery: Delivery::Reliable,
        fin: true,
    };
    frames.extend([
        (Frame::Crypto(CryptoHeader { offset: 100, len: 5 }), &b"hello"[..]),
        (Frame::NewKey(NewKey { generation: 3, len: 3 }), b"key"),
        (Frame::Close(Close { origin: CloseOrigin::Application, code: 404, len: 4 }), b"gone"),
        (Frame::Stream(StreamHeader { id: 4, offset: 1_000_000, len: 5, fin: true }), b"bytes"),
        (Frame::Datagram(Datagram { len: 2 }), b"hi"),
        (Frame::Coded(CodedHeader { shard, len: 3 }), &[0x22, 1, b'x']),
        (Frame::Parity(ParityHeader { shard: parity }), &[0xa5, 0x5a, 0xa5, 0x5a]),
        (Frame::Message(message), b"words"),
    ]);
    frames
}

fn control_frames() -> Vec<Frame<'static>> {
    let mut missing = ShardSet::EMPTY;
    missing.insert(0);
    missing.insert(9);
    let range = |first, last| PacketNumberRange { first, last };
    let frequency = AckFrequency {
        path: PATH,
        sequence: 1,
        packet_threshold: 10,
        max_ack_delay: Span::from_micros(25),
        reordering_threshold: 1,
    };
    let near_source = NearSource {
        path: PATH,
        packet_number: 1_000,
        queue_bytes: 150_000,
        former_queue_bytes: 120_000,
        set_point_bytes: 26_000,
        port_rate: Rate::from_gbps(400),
    };
    let tag = CsigTag::Compact([0x99, 0x00, 0x2b, 0x85]);
    vec![
        Frame::Padding { len: 3 },
        Frame::Ping,
        Frame::HandshakeDone,
        Frame::CongestionNotification(CongestionNotification { path: PATH }),
        Frame::AckFloor(AckFloor { path: PATH, packet_number: 90 }),
        Frame::AckFrequency(frequency),
        Frame::PathChallenge(PathChallenge { data: *b"question" }),
        Frame::PathResponse(PathResponse { data: *b"question" }),
        Frame::MaxData(MaxData { maximum: 1 << 24 }),
        Frame::MaxStreamData(MaxStreamData { stream: 4, maximum: 1 << 20 }),
        Frame::Credit(Credit { total: 1 << 40 }),
        Frame::NearSource(near_source),
        Frame::Trimmed(Trimmed { path: PATH, ranges: smallvec![range(50, 52), range(40, 40)] }),
        Frame::CsigEcho(CsigEcho { path: PATH, entropy: Entropy(0xabcde), age: Span::from_nanos(500), tag }),
        Frame::Nack(Nack { block: BlockId(9), shards: 10, missing }),
        Frame::BlockAck(BlockAck { next: BlockId(9), beyond: 0b101 }),
    ]
}

fn telemetry() -> IntStack {
    let mut stack = IntStack::default();
    for (port, queue_bytes) in [(7, 0), (300, 150_000)] {
        let at = Timestamp::from_nanos(1_000_000 + u64::from(port));
        stack.push(&IntHop { port, at, tx_bytes: 1 << 33, queue_bytes, rate: Rate::from_gbps(100) });
    }
    stack
}

fn acks() -> Vec<(&'static str, AckFrame)> {
    let one = AckFrame {
        largest: 100,
        ack_delay: Span::from_nanos(800),
        ranges: smallvec![PacketNumberRange { first: 90, last: 100 }],
        ..AckFrame::default()
    };
    let full = AckFrame {
        path: PATH,
        ranges: smallvec![
            PacketNumberRange::single(100),
            PacketNumberRange { first: 95, last: 98 },
            PacketNumberRange { first: 1, last: 20 },
        ],
        ecn: Some(EcnCounts { ect0: 10, ect1: 200, ce: 3 }),
        marks: MarkBitmap::new(10, 0b10_0000_0101),
        received_at: Some(Timestamp::from_nanos(1_500_000_000)),
        entropy_echo: Some(Entropy(0x1234)),
        hops: Some(5),
        int: telemetry(),
        ..one.clone()
    };
    vec![("ack, one range", one), ("ack with everything", full)]
}
