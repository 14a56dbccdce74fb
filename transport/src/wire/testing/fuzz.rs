//! What must hold for any bytes at all.

use crate::wire::{
    AckFrame, Frame, Frames, Header, INT_PREFIX, IntStack, LongPrefix, PacketKind, Reader, VersionNegotiation,
    WireError, Writer, authenticated_header, connection_id, csig_slot, csig_slot_mut,
};

/// Treats `bytes` as a datagram from a stranger. Panics if something does not hold that must hold for any bytes.
pub fn fuzz_packet(bytes: &[u8]) {
    fuzz_frames(bytes);
    fuzz_version_negotiation(bytes);
    fuzz_hop(bytes);
    let bytes = fuzz_telemetry(bytes);
    let mut reader = Reader::new(bytes);
    let header = match Header::parse(&mut reader) {
        Ok(header) => header,
        Err(error) => {
            assert!(error.offset() <= bytes.len(), "{error}");
            if matches!(error, WireError::UnknownVersion { .. }) {
                assert!(LongPrefix::parse(&mut Reader::new(bytes)).is_ok(), "a sender to answer");
            }
            return;
        }
    };
    assert_eq!(connection_id(bytes), Ok(header.connection));
    let header_len = reader.offset();
    let (before, after) = authenticated_header(&bytes[..header_len]);
    let tag = if let PacketKind::Data { tag, .. } = header.kind { tag } else { None };
    assert_eq!(csig_slot(bytes).map(|slot| &bytes[slot]), tag.as_ref().map(|tag| tag.as_bytes()));
    assert_eq!(before.len() + tag.map_or(0, |tag| tag.encoded_len()) + after.len(), header_len);
    for largest_received in [None, Some(0), Some(0x1234_5678), Some((1 << 62) - 1)] {
        fuzz_number(header.expand(largest_received), largest_received, &bytes[..header_len]);
    }
    if let Ok(_token) = reader.bytes(usize::from(header.kind.token_len()), "token") {
        fuzz_frames(reader.remaining());
    }
}

/// What stands before the header is written back to the same bytes. Returns the packet behind it.
fn fuzz_telemetry(bytes: &[u8]) -> &[u8] {
    let mut stack = IntStack::default();
    let mut reader = Reader::new(bytes);
    match stack.parse_prefix(&mut reader) {
        Ok(false) => assert_ne!(bytes.first(), Some(&INT_PREFIX)),
        Ok(true) => {
            let mut again = vec![0; stack.prefix_len()];
            assert_eq!(stack.write_prefix(&mut Writer::new(&mut again)), Ok(()));
            assert_eq!(again, bytes[..reader.offset()]);
        }
        Err(error) => {
            assert!(error.offset() <= bytes.len(), "{error}");
            assert_eq!(stack, IntStack::default());
            return bytes;
        }
    }
    reader.remaining()
}

/// A hop looks for the slot without parsing the header, and writes into it.
fn fuzz_hop(bytes: &[u8]) {
    let mut rewritten = bytes.to_vec();
    if let Some(slot) = csig_slot_mut(&mut rewritten) {
        slot.fill(0xee);
    }
    assert_eq!(authenticated_header(&rewritten), authenticated_header(bytes));
}

/// What a header means is written back to the same bytes, unless its packet number was longer than needed.
fn fuzz_number(header: Header, largest_received: Option<u64>, bytes: &[u8]) {
    let mut buffer = [0; 64];
    let mut writer = Writer::new(&mut buffer);
    match header.write(largest_received, &mut writer) {
        Ok(()) => {
            assert_eq!(writer.offset(), header.encoded_len(largest_received));
            if writer.offset() == bytes.len() {
                assert_eq!(writer.written(), bytes);
            }
        }
        // The number lies too far before or behind what was received to be written in the same place.
        Err(error) => assert!(matches!(error, WireError::Invalid { what: "packet number", .. }), "{error}"),
    }
}

fn fuzz_version_negotiation(bytes: &[u8]) {
    let Ok(negotiation) = VersionNegotiation::parse(&mut Reader::new(bytes)) else { return };
    let mut buffer = vec![0; bytes.len()];
    let mut writer = Writer::new(&mut buffer);
    assert_eq!(negotiation.encoded_len(), bytes.len());
    assert_eq!(negotiation.write(&mut writer), Ok(()));
    assert_eq!(writer.written(), bytes);
}

/// Treats `bytes` as the decrypted payload of a packet: every frame that parses is written back to the bytes it came
/// from, and nothing comes after an error.
pub fn fuzz_frames(bytes: &[u8]) {
    let mut frames = Frames::new(bytes);
    let mut rewritten = Vec::with_capacity(bytes.len());
    let mut ended_with = None;
    for item in frames.by_ref() {
        assert_eq!(ended_with, None, "a frame after an error");
        match item {
            Ok((frame, payload)) => {
                rewrite(&frame, &mut rewritten);
                rewritten.extend_from_slice(payload);
                if let Frame::Coded(_) = frame {
                    Frames::in_shard(payload).filter_map(Result::ok).for_each(|(frame, _)| {
                        assert!(frame.frame_type().is_shardable());
                    });
                }
            }
            Err(error) => ended_with = Some(error),
        }
    }
    assert!(frames.next().is_none(), "the end stays the end");
    match ended_with {
        None => assert_eq!(rewritten, bytes),
        Some(error) => {
            assert!(bytes.starts_with(&rewritten));
            assert!(error.offset() <= bytes.len(), "{error}");
        }
    }
}

fn rewrite(frame: &Frame<'_>, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + frame.encoded_len(), 0xff);
    let mut writer = Writer::new(&mut out[start..]);
    assert_eq!(frame.write(&mut writer), Ok(()));
    assert_eq!(writer.room(), 0, "encoded_len is what is written");
    if let Frame::Ack(parsed) = frame {
        let mut ack = AckFrame::default();
        parsed.copy_to(&mut ack);
        assert_eq!(ack.encoded_len(), parsed.encoded_len());
        let mut again = vec![0; ack.encoded_len()];
        assert_eq!(ack.write(&mut Writer::new(&mut again)), Ok(()));
        assert_eq!(again, out[start..], "what was copied out of an acknowledgement is all of it");
    }
}
