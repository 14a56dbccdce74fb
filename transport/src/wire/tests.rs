//! Properties of the whole format, and its golden bytes.

use proptest::prelude::*;
use smallvec::{SmallVec, smallvec};

use super::testing::{self, AnyFrame, fuzz_frames, fuzz_packet, samples};
use super::*;
use cc_algos::ids::PathId;

/// The bytes of a packet that holds these frames.
fn build(header: &Header, acked: Option<u64>, frames: &[AnyFrame]) -> (Vec<u8>, BuiltPacket) {
    let token = vec![0xaa; usize::from(header.kind.token_len())];
    let mut datagram = vec![0; 64 * 1024];
    let mut builder = PacketBuilder::new(&mut datagram, header, acked, &token).unwrap();
    for frame in frames {
        let room = builder.room();
        match frame {
            AnyFrame::Ack(ack) => builder.push_ack(ack).unwrap(),
            AnyFrame::Other(frame, payload) => builder.push(frame, payload).unwrap(),
        }
        assert_eq!(room - builder.room(), frame.encoded_len() + frame.payload().len(), "encoded_len is what it takes");
    }
    let built = builder.finish();
    datagram.truncate(built.len);
    (datagram, built)
}

fn parse_all(payload: &[u8]) -> Result<Vec<(Frame<'_>, &[u8])>, WireError> {
    Frames::new(payload).collect()
}

fn bytes_of(frame: &AnyFrame) -> Vec<u8> {
    let mut bytes = vec![0; frame.encoded_len()];
    frame.write(&mut Writer::new(&mut bytes)).unwrap();
    bytes.extend_from_slice(frame.payload());
    bytes
}

proptest! {
    #[test]
    fn every_packet_comes_back_as_it_was_written((header, acked, frames) in testing::packet()) {
        let (datagram, built) = build(&header, acked, &frames);
        let mut reader = Reader::new(&datagram);
        let parsed = Header::parse(&mut reader).unwrap();
        // In a long run the receiver has at least what it acknowledged.
        prop_assert_eq!(parsed.expand(acked), header);
        prop_assert_eq!(reader.offset(), header.encoded_len(acked));
        let token_len = usize::from(header.kind.token_len());
        prop_assert_eq!(built.header_len, reader.offset() + token_len);
        prop_assert_eq!(connection_id(&datagram), Ok(header.connection));
        prop_assert_eq!(frames, parse_all(&datagram[built.header_len..]).unwrap());
        let overhead = packet_overhead(&header, acked);
        prop_assert_eq!(overhead, IP_UDP_OVERHEAD + built.header_len - token_len + AEAD_TAG_LEN);
        fuzz_packet(&datagram);
    }

    #[test]
    fn a_packet_cut_anywhere_is_an_error_or_holds_fewer_frames((header, acked, frames) in testing::packet()) {
        let (datagram, built) = build(&header, acked, &frames);
        for end in 0..datagram.len() {
            let cut = &datagram[..end];
            match Header::parse(&mut Reader::new(cut)) {
                Err(error) => prop_assert!(matches!(error, WireError::CutOff { .. }), "{}", error),
                Ok(_) if end < built.header_len => {}
                Ok(_) => match parse_all(&cut[built.header_len..]) {
                    Err(error) => prop_assert!(matches!(error, WireError::CutOff { .. }), "{}", error),
                    Ok(fewer) => prop_assert!(is_cut_list(&fewer, &frames)),
                },
            }
        }
    }

    #[test]
    fn a_buffer_too_short_is_refused_and_left_alone(frame in testing::any_frame()) {
        let bytes = bytes_of(&frame);
        let header = Header::data(1, Default::default(), 0);
        for room in 0..bytes.len() {
            let mut datagram = vec![0; header.encoded_len(None) + room + AEAD_TAG_LEN];
            let mut builder = PacketBuilder::new(&mut datagram, &header, None, &[]).unwrap();
            let pushed = match &frame {
                AnyFrame::Ack(ack) => builder.push_ack(ack),
                AnyFrame::Other(frame, payload) => builder.push(frame, payload),
            };
            prop_assert!(matches!(pushed, Err(WireError::NoRoom { .. })), "{:?}", pushed);
            prop_assert!(builder.is_empty());
            prop_assert_eq!(builder.room(), room);
        }
    }

    #[test]
    fn a_recycled_acknowledgement_takes_all_of_the_new_one(
        old in testing::ack_frame(),
        new in testing::ack_frame(),
    ) {
        let bytes = bytes_of(&AnyFrame::Ack(new.clone()));
        let mut recycled = old;
        recycled.parse_into(&mut Reader::new(&bytes)).unwrap();
        prop_assert_eq!(&recycled, &new);
        recycled.clear();
        prop_assert_eq!(recycled, AckFrame::default());
        let parsed = AckRef::parse(&mut Reader::new(&bytes)).unwrap();
        prop_assert_eq!(parsed.ranges().len(), new.ranges.len());
    }

    #[test]
    fn telemetry_comes_back_as_each_port_wrote_it(hops in prop::collection::vec(testing::int_hop(), 0..10)) {
        let mut stack = IntStack::default();
        for hop in &hops {
            stack.push(hop);
        }
        prop_assert_eq!(stack.hops().len() + usize::from(stack.missed()), hops.len());
        for (written, hop) in stack.hops().iter().zip(&hops) {
            let mut again = IntStack::default();
            again.push(written);
            prop_assert_eq!(again.hops(), [*written], "what was rounded once stays");
            prop_assert_eq!(written.port, hop.port & 0xff_ffff);
            prop_assert_eq!(written.queue_bytes, (hop.queue_bytes / 16 * 16).min(((1 << 24) - 1) * 16));
            let (rate, told) = (hop.rate.as_bps(), written.rate.as_bps());
            // A mantissa of at least 410 loses less than 1 of itself.
            prop_assert!(told <= rate && (rate - told <= rate / 409 || rate > 4_095_000_000_000_000_000));
        }
        let mut bytes = vec![0; stack.prefix_len()];
        stack.write_prefix(&mut Writer::new(&mut bytes)).unwrap();
        let mut parsed = IntStack::default();
        let mut reader = Reader::new(&bytes);
        prop_assert_eq!(parsed.parse_prefix(&mut reader), Ok(true));
        prop_assert!(reader.is_empty());
        prop_assert_eq!(&parsed, &stack);
        for end in 1..bytes.len() {
            let cut = parsed.parse_prefix(&mut Reader::new(&bytes[..end]));
            prop_assert!(matches!(cut, Err(WireError::CutOff { .. })), "{:?}", cut);
        }
        fuzz_packet(&bytes);
    }

    #[test]
    fn version_negotiations_come_back(negotiation in testing::version_negotiation()) {
        let mut datagram = vec![0; negotiation.encoded_len()];
        negotiation.write(&mut Writer::new(&mut datagram)).unwrap();
        prop_assert_eq!(VersionNegotiation::parse(&mut Reader::new(&datagram)).unwrap(), negotiation);
        let refused = Header::parse(&mut Reader::new(&datagram));
        prop_assert_eq!(refused, Err(WireError::UnknownVersion { version: 0, offset: 1 }));
        fuzz_packet(&datagram);
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        fuzz_packet(&bytes);
    }

    #[test]
    fn damaged_packets_never_panic(
        (header, acked, frames) in testing::packet(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let (mut datagram, _) = build(&header, acked, &frames);
        for (place, byte) in damage {
            let place = place.index(datagram.len());
            datagram[place] = byte;
        }
        fuzz_packet(&datagram);
    }

    #[test]
    fn a_hop_rewrites_the_slot_and_nothing_else((header, acked) in testing::header()) {
        let (mut datagram, built) = build(&header, acked, &[]);
        let PacketKind::Data { key_phase, tag: Some(tag) } = header.kind else {
            prop_assert_eq!(csig_slot(&datagram), None);
            prop_assert_eq!(authenticated_header(&datagram), (&datagram[..], &[][..]));
            return Ok(());
        };
        let before = datagram.clone();
        csig_slot_mut(&mut datagram).unwrap().fill(0x77);
        prop_assert_eq!(authenticated_header(&datagram[..built.header_len]), authenticated_header(&before));
        let tag = match tag {
            CsigTag::Compact(_) => CsigTag::Compact([0x77; 4]),
            CsigTag::Wide(_) => CsigTag::Wide([0x77; 8]),
        };
        let parsed = Header::parse(&mut Reader::new(&datagram)).unwrap().expand(acked);
        prop_assert_eq!(parsed, Header { kind: PacketKind::Data { key_phase, tag: Some(tag) }, ..header });
    }

    #[test]
    fn the_longest_stream_payload_fills_a_packet(id in 0u64..1 << 62, offset in 0u64..1 << 61, room in 0usize..2_000) {
        let Some(len) = StreamHeader::payload_that_fits(id, offset, room) else {
            let smallest = StreamHeader { id, offset, len: 0, fin: false };
            prop_assert!(smallest.encoded_len() > room);
            return Ok(());
        };
        let taken = |len| StreamHeader { id, offset, len, fin: false }.encoded_len() as u64 + len;
        prop_assert!(taken(len) <= room as u64 && taken(len + 1) > room as u64);
    }
}

/// Whether `fewer` is what remains of `frames` when bytes are cut off at the end: padding may become shorter.
fn is_cut_list(fewer: &[(Frame<'_>, &[u8])], frames: &[AnyFrame]) -> bool {
    let Some((last, whole)) = fewer.split_last() else { return true };
    let original = &frames[whole.len()];
    let shorter_padding = matches!(
        (&last.0, original),
        (Frame::Padding { len: a }, AnyFrame::Other(Frame::Padding { len: b }, _)) if a < b
    );
    &frames[..whole.len()] == whole && (original == last || shorter_padding)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// The golden bytes: a packet a line, `name = hex`.
const CORPUS: &str = include_str!("corpus.txt");

#[test]
fn the_golden_bytes_stand() {
    let lines = samples().unwrap().into_iter().map(|(name, bytes)| format!("{name} = {}\n", hex(&bytes)));
    let current: String = lines.collect();
    if std::env::var_os("UPDATE_CORPUS").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/wire/corpus.txt"), &current).unwrap();
    }
    assert_eq!(current, CORPUS, "the format changed: new VERSION, then run this test with UPDATE_CORPUS=1");
}

#[test]
fn every_frame_type_has_a_golden_packet() {
    for kind in FrameType::ALL {
        assert!(CORPUS.contains(&format!("frame: {}", kind.name())), "{kind:?}");
    }
}

#[test]
fn golden_packets_cut_or_with_any_byte_replaced_never_panic() {
    for line in CORPUS.lines() {
        let (_, hex) = line.split_once(" = ").unwrap();
        let golden = unhex(hex);
        fuzz_packet(&golden);
        for end in 0..golden.len() {
            fuzz_packet(&golden[..end]);
        }
        for place in 0..golden.len() {
            let mut bytes = golden.clone();
            for byte in 0..=u8::MAX {
                bytes[place] = byte;
                fuzz_packet(&bytes);
            }
        }
    }
}

#[test]
fn short_payloads_of_any_bytes_never_panic() {
    for bytes in 0..=0xff_ffffu32 {
        let [_, a, b, c] = bytes.to_be_bytes();
        // All of two bytes; of three, those whose last is at a border.
        if matches!(c, 0 | 0x3f | 0x40 | 0x7f | 0xff) {
            fuzz_frames(&[a, b, c]);
        }
    }
}

/// Ranges of one packet each, every second number, `count` of them.
fn every_second(count: usize) -> Vec<PacketNumberRange> {
    (0..count as u64).rev().map(|number| PacketNumberRange::single(2 * number)).collect()
}

#[test]
fn an_acknowledgement_takes_64_ranges_and_no_more() {
    let ack = |count: usize| {
        let ranges = SmallVec::from_vec(every_second(count));
        AckFrame { largest: 2 * (count as u64 - 1), ranges, ..AckFrame::default() }
    };
    let mut buffer = [0; 512];
    assert_eq!(ack(MAX_ACK_RANGES).write(&mut Writer::new(&mut buffer)), Ok(()));
    let refused = ack(MAX_ACK_RANGES + 1).write(&mut Writer::new(&mut buffer));
    assert!(matches!(refused, Err(WireError::TooLarge { what: "range count", value: 64, limit: 63, .. })));
    // Type, path, delay, largest in two bytes, then the count: 64 more ranges.
    let claimed = [0x10, 0, 0, 0x40, 0x80, 0x40, 64];
    let refused = AckFrame::parse(&mut Reader::new(&claimed));
    assert_eq!(refused, Err(WireError::TooLarge { what: "range count", offset: 5, value: 64, limit: 63 }));
}

#[test]
fn a_trimming_notice_takes_8_ranges_and_no_more() {
    let mut buffer = [0; 64];
    let trimmed = |count| Trimmed { ranges: SmallVec::from_vec(every_second(count)), ..Trimmed::default() };
    let full = trimmed(MAX_TRIMMED_RANGES);
    let mut writer = Writer::new(&mut buffer);
    full.write(&mut writer).unwrap();
    let parsed = Trimmed::parse(&mut Reader::new(writer.written())).unwrap();
    assert!(!parsed.ranges.spilled(), "no allocation");
    let refused = trimmed(MAX_TRIMMED_RANGES + 1).write(&mut Writer::new(&mut buffer));
    assert!(matches!(refused, Err(WireError::TooLarge { what: "range count", value: 8, limit: 7, .. })));
}

#[test]
fn acknowledgements_out_of_order_are_not_written() {
    let range = |first, last| PacketNumberRange { first, last };
    let wrong: [&[PacketNumberRange]; 5] = [
        &[],
        &[range(5, 9)],               // does not end at 10
        &[range(11, 10)],             // ends swapped
        &[range(5, 10), range(2, 4)], // adjacent
        &[range(5, 10), range(4, 6)], // overlapping
    ];
    for ranges in wrong {
        let ack = AckFrame { largest: 10, ranges: ranges.into(), ..AckFrame::default() };
        let mut buffer = [0; 64];
        let written = ack.write(&mut Writer::new(&mut buffer));
        assert!(matches!(written, Err(WireError::Invalid { what: "packet number ranges", .. })), "{ranges:?}");
        assert!(ack.encoded_len() > 0, "a length is still told");
    }
}

#[test]
fn acknowledgements_of_packets_below_zero_are_refused() {
    // Type, path, delay, largest 3, one range, five packets: 3 down to -1.
    let range = AckFrame::parse(&mut Reader::new(&[0x10, 0, 0, 3, 0, 4]));
    assert!(matches!(range, Err(WireError::Invalid { what: "range length", .. })), "{range:?}");
    // Largest 3, another range below it, gap of four missing packets: would end at -2.
    let gap = AckFrame::parse(&mut Reader::new(&[0x10, 0, 0, 3, 1, 0, 3, 0]));
    assert!(matches!(gap, Err(WireError::Invalid { what: "gap", .. })), "{gap:?}");
    // Largest 0, marks for two packets, the second marked.
    let mark = AckFrame::parse(&mut Reader::new(&[0x12, 0, 0, 0, 0, 0, 2, 0b10]));
    assert!(matches!(mark, Err(WireError::Invalid { what: "marks", .. })), "{mark:?}");
}

#[test]
fn mark_maps_have_one_encoding() {
    let ack = |marks: &[u8]| AckFrame::parse(&mut Reader::new(&[&[0x12, 0, 0, 60, 0, 0], marks].concat()));
    assert_eq!(ack(&[9, 0b1, 0b1]).unwrap().marks, MarkBitmap::new(9, 0b1_0000_0001));
    for wrong in [&[0][..], &[65, 0, 0, 0, 0, 0, 0, 0, 0, 0], &[3, 0b1000]] {
        assert!(matches!(ack(wrong), Err(WireError::Invalid { what: "marks", .. })), "{wrong:?}");
    }
}

#[test]
fn blocks_that_no_code_has_are_refused() {
    // Type, block 0, index, k, m, shard length 10, length.
    let coded = |index, k, m, shard_len, len| {
        CodedHeader::parse(&mut Reader::new(&[0x26, 0, index, k, m, shard_len, len])).map(|header| header.shard.index)
    };
    assert_eq!(coded(7, 8, 2, 10, 10), Ok(7));
    assert_eq!(coded(0, 128, 127, 10, 0), Ok(0));
    for (index, k, m, shard_len, len) in
        [(0, 0, 2, 10, 0), (0, 128, 128, 10, 0), (0, 8, 2, 0, 0), (8, 8, 2, 10, 0), (0, 8, 2, 10, 11)]
    {
        let refused = coded(index, k, m, shard_len, len);
        assert!(matches!(refused, Err(WireError::Invalid { .. })), "{refused:?}");
    }
    let parity = |index| ParityHeader::parse(&mut Reader::new(&[0x27, 0, index, 8, 2, 10]));
    assert!(parity(7).is_err() && parity(8).is_ok() && parity(9).is_ok() && parity(10).is_err());
}

#[test]
fn a_nack_names_shards_that_exist_and_one_at_least() {
    // Type, block 0, shards, map.
    let nack = |bytes: &[u8]| Nack::parse(&mut Reader::new(bytes)).map(|nack| Vec::from_iter(nack.missing.iter()));
    assert_eq!(nack(&[0x28, 0, 10, 0b1, 0b10]), Ok(vec![0, 9]));
    assert!(nack(&[0x28, 0, 10, 0, 0]).is_err(), "nothing missing");
    assert!(nack(&[0x28, 0, 10, 0, 0b100]).is_err(), "shard 10 of 10");
    assert!(nack(&[0x28, 0, 0]).is_err(), "no shards");
}

#[test]
fn shards_do_not_nest() {
    let sample = samples().unwrap().into_iter().find(|(name, _)| name == "frame: coded").unwrap().1;
    let frames = &sample[Header::data(1, Default::default(), 7).encoded_len(None)..];
    let nested = Frames::in_shard(frames).next().unwrap();
    assert_eq!(nested, Err(WireError::Invalid { what: "frame type", offset: 0, expected: "no shard inside a shard" }));
    // What the shard holds: a datagram of one byte; recovered, with the zero bytes up to the shard length.
    let mut recovered = [0; 64];
    recovered[..3].copy_from_slice(&[0x22, 1, b'x']);
    let inside: Result<Vec<_>, _> = Frames::in_shard(&recovered).collect();
    let datagram = (Frame::Datagram(Datagram { len: 1 }), &b"x"[..]);
    assert_eq!(inside.unwrap(), [datagram, (Frame::Padding { len: 61 }, &[][..])]);
}

#[test]
fn a_stream_ends_at_the_largest_offset() {
    let stream = |offset, len| StreamHeader { id: 0, offset, len, fin: true };
    let mut buffer = [0; 32];
    assert_eq!(stream(VARINT_MAX - 10, 10).write(&mut Writer::new(&mut buffer)), Ok(()));
    for (offset, len) in [(VARINT_MAX - 10, 11), (u64::MAX, 1)] {
        let refused = stream(offset, len).write(&mut Writer::new(&mut buffer));
        assert!(matches!(refused, Err(WireError::TooLarge { .. })), "{refused:?}");
    }
}

#[test]
fn bytes_beyond_the_largest_offset_are_refused() {
    // Type, id where there is one, the largest offset, length, and priority where there is one.
    let parse = |before: &[u8], len: u8| {
        let bytes = [before, &[0xff; 8], &[len, 0]].concat();
        Frame::parse(&mut Reader::new(&bytes)).map(|frame| frame.payload_len())
    };
    for before in [&[0x20, 7][..], &[0x30, 7], &[0x04]] {
        assert_eq!(parse(before, 0), Ok(0));
        let refused = parse(before, 1);
        assert!(matches!(refused, Err(WireError::TooLarge { value: 0x4000_0000_0000_0000, .. })), "{refused:?}");
    }
}

#[test]
fn headers_that_cannot_be_are_not_written() {
    let mut buffer = [0; 64];
    let mut write = |header: Header, acked| header.write(acked, &mut Writer::new(&mut buffer));
    let data = |packet_number| Header::data(1, Default::default(), packet_number);
    assert_eq!(write(data(0x7fff_ffff), None), Ok(()));
    // 2^31 + 1 numbers in doubt need more than four bytes.
    assert!(matches!(write(data(0x8000_0000), None), Err(WireError::Invalid { what: "packet number", .. })));
    assert!(matches!(write(data(1 << 62), Some(1 << 62)), Err(WireError::Invalid { what: "packet number", .. })));
    let long = |kind, path, packet_number| Header { connection: 1, path: PathId(path), packet_number, kind };
    let handshake = PacketKind::Handshake { source: 2 };
    assert!(matches!(write(long(handshake, 1, 0), None), Err(WireError::Invalid { what: "path id", .. })));
    let initial = PacketKind::Initial { source: 2, token_len: MAX_TOKEN_LEN + 1 };
    assert!(matches!(write(long(initial, 0, 0), None), Err(WireError::TooLarge { what: "token length", .. })));
    let retry = PacketKind::Retry { source: 2, token_len: 9 };
    assert!(matches!(write(long(retry, 0, 1), None), Err(WireError::Invalid { what: "packet number", .. })));
}

#[test]
fn headers_that_cannot_be_are_refused() {
    let short = |first: u8, rest: &[u8]| {
        Header::parse(&mut Reader::new(&[&[first], &[0; 8][..], rest].concat())).map(|header| header.path.0)
    };
    assert_eq!(short(0b0100, &[5, 0]), Ok(5));
    assert_eq!(short(0b1000, &[1, 5, 0]), Ok(0x105));
    assert_eq!(short(0b0100, &[0, 0]), Err(WireError::NotShortest { what: "path id", offset: 9 }));
    assert_eq!(short(0b1000, &[0, 5, 0]), Err(WireError::NotShortest { what: "path id", offset: 9 }));
    assert!(matches!(short(0b1100, &[0; 8]), Err(WireError::Invalid { what: "path id", .. })));
    assert!(matches!(short(0b11_0000, &[0; 8]), Err(WireError::Invalid { what: "CSIG slot", .. })));

    let long = |first: u8| {
        let bytes = [&[first][..], &VERSION.to_be_bytes(), &[0; 20]].concat();
        Header::parse(&mut Reader::new(&bytes)).map(|header| header.kind)
    };
    assert_eq!(long(0xa0), Ok(PacketKind::Handshake { source: 0 }));
    assert!(long(0xa4).is_err(), "reserved bit");
    assert!(long(0xb1).is_err(), "packet number length in a retry");
    assert!(long(0xc0).is_err(), "unknown type");
}

#[test]
fn another_version_is_told_apart_from_nonsense() {
    let datagram = [&[0xff][..], &0xdead_beef_u32.to_be_bytes(), &7u64.to_be_bytes(), &9u64.to_be_bytes()].concat();
    let refused = Header::parse(&mut Reader::new(&datagram));
    assert_eq!(refused, Err(WireError::UnknownVersion { version: 0xdead_beef, offset: 1 }));
    let prefix = LongPrefix::parse(&mut Reader::new(&datagram)).unwrap();
    assert_eq!(prefix, LongPrefix { version: 0xdead_beef, connection: 7, source: 9 });
    assert_eq!(connection_id(&datagram), Ok(7));

    let many = VersionNegotiation { connection: 7, source: 9, versions: SmallVec::from_vec(vec![1; 17]) };
    let mut buffer = [0; 128];
    assert!(matches!(many.write(&mut Writer::new(&mut buffer)), Err(WireError::TooLarge { value: 17, .. })));
    let none = VersionNegotiation { versions: smallvec![], ..many };
    assert!(matches!(none.write(&mut Writer::new(&mut buffer)), Err(WireError::Invalid { .. })));
}

#[test]
fn a_stream_packet_weighs_what_is_built_and_the_headers_around_it() {
    let header = Header::data(1, PathId(2), 1_000);
    let stream = StreamHeader { id: 4, offset: 100_000, len: 1_200, fin: false };
    let frame = AnyFrame::Other(Frame::Stream(stream), vec![0; 1_200]);
    let (datagram, _) = build(&header, Some(990), &[frame]);
    // First byte, connection, path, number of one byte; type, id, offset of four bytes, length of two; payload.
    assert_eq!(datagram.len(), (1 + 8 + 1 + 1) + (1 + 1 + 4 + 2) + 1_200);
    let on_the_wire = datagram.len() + AEAD_TAG_LEN + IP_UDP_OVERHEAD;
    assert_eq!(stream_packet_len(&header, Some(990), &stream), on_the_wire as u64);
}

#[test]
fn a_builder_checks_lengths() {
    let header = Header::data(1, Default::default(), 0);
    let mut datagram = [0; 100];
    let mut builder = PacketBuilder::new(&mut datagram, &header, None, &[]).unwrap();
    let stream = Frame::Stream(StreamHeader { id: 0, offset: 0, len: 3, fin: false });
    assert!(matches!(builder.push(&stream, b"four"), Err(WireError::Invalid { what: "payload", .. })));
    assert_eq!(builder.push(&stream, b"yes"), Ok(()));
    assert!(matches!(
        PacketBuilder::new(&mut [0; 100], &header, None, b"token"),
        Err(WireError::Invalid { what: "token", .. })
    ));
    assert!(matches!(PacketBuilder::new(&mut [0; 9], &header, None, &[]), Err(WireError::NoRoom { missing: 7, .. })));
}
