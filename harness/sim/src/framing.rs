//! What packets weigh on the wire: exactly what their headers and frames encode to.
//!
//! Each flow is a connection of its own with one stream. A packet is IPv4 and UDP headers, our header, the frames, and the
//! AEAD's tag.

use core::num::NonZeroU64;

use cc_algos::PathId;
use cc_algos::ids::BlockId;
use transport::wire::{
    AckFloor, AckFrame, BlockAck, CodedHeader, Frame, Frames, Header, IP_UDP_OVERHEAD, IntStack, PacketNumberRange,
    ParityHeader, Reader, Shard, StreamHeader, WireError, Writer, packet_overhead,
};

use crate::error::SimError;
use crate::packet::{Arena, Body, Packet, ShardContent};

const PATH: PathId = PathId(0);
const STREAM: u64 = 0;

/// Bytes of the largest packet-number encoding.
const LONGEST_NUMBER: u64 = 1 << 31;
/// An offset that takes the longest encoding.
const LONGEST_OFFSET: u64 = 1 << 61;
/// A block id that takes as many bytes as any of a flow whose packets have such numbers.
const LONGEST_BLOCK: BlockId = BlockId((1 << 30) - 1);

/// Payload of a full packet. It leaves room for the longest packet number and offset, so that all full chunks of a flow are
/// alike; packets early in a flow stay a few bytes below the MTU.
pub(crate) fn payload(mtu: u64) -> u32 {
    let fixed = overhead(LONGEST_NUMBER - 1, LONGEST_OFFSET, mtu);
    u32::try_from(mtu.saturating_sub(fixed)).unwrap_or(u32::MAX).max(1)
}

/// As [`payload`], of packets that carry shards. It leaves room for the shard's header, so that data shards and parity of a
/// block fit alike.
pub(crate) fn coded_payload(mtu: u64) -> u32 {
    let shard_len = u16::try_from(mtu).unwrap_or(u16::MAX);
    let shard = Shard { block: LONGEST_BLOCK, index: 0, k: 1, m: 0, shard_len };
    payload(mtu.saturating_sub(CodedHeader { shard, len: shard_len }.encoded_len() as u64))
}

/// Length of the shards of a block of `k` data shards, of which the first carries `len` bytes of the stream at `offset` and
/// the others no more.
pub(crate) fn shard_len(offset: u64, len: u32, k: u8) -> u16 {
    let len = u64::from(len);
    let longest = StreamHeader { id: STREAM, offset: offset + len * u64::from(k - 1), len, fin: false };
    // A shard fits into a packet, whose length has 16 bits.
    (longest.encoded_len() as u64 + len).min(u64::from(u16::MAX)) as u16
}

/// Bytes besides payload of a data packet; `len` only matters by the length of its encoding.
fn overhead(packet_number: u64, offset: u64, len: u64) -> u64 {
    let header = Header::data(0, PATH, packet_number);
    (packet_overhead(&header, None) + StreamHeader { id: STREAM, offset, len, fin: false }.encoded_len()) as u64
}

/// Size of a packet of the sending end.
#[inline]
pub(crate) fn data_bytes(flow: u32, packet_number: u64, largest_acked: Option<u64>, body: &Body) -> u32 {
    let header = Header::data(u64::from(flow), PATH, packet_number);
    let base = packet_overhead(&header, largest_acked);
    let frames = match *body {
        Body::Data { offset, len, fin, floor } => {
            let stream = StreamHeader { id: STREAM, offset, len: u64::from(len), fin };
            let floor = floor.map_or(0, |floor| AckFloor { path: PATH, packet_number: floor.get() }.encoded_len());
            stream.encoded_len() + len as usize + floor
        }
        Body::Ping => Frame::Ping.encoded_len(),
        Body::Shard { .. } | Body::Ack { .. } | Body::CodedAck { .. } | Body::Notice { .. } | Body::Header => 0,
    };
    (base + frames) as u32
}

/// As [`data_bytes`], of a packet with a shard.
pub(crate) fn shard_bytes(flow: u32, packet_number: u64, largest_acked: Option<u64>, content: &ShardContent) -> u32 {
    let header = Header::data(u64::from(flow), PATH, packet_number);
    let floor = content.floor.map_or(0, |floor| AckFloor { path: PATH, packet_number: floor.get() }.encoded_len());
    let frames = if content.is_parity() {
        ParityHeader { shard: content.shard }.encoded_len() + usize::from(content.shard.shard_len)
    } else {
        let coded = coded_header(content);
        coded.encoded_len() + usize::from(coded.len)
    };
    (packet_overhead(&header, largest_acked) + floor + frames) as u32
}

/// The stream frame in a data shard.
const fn stream_in(content: &ShardContent) -> StreamHeader {
    StreamHeader { id: STREAM, offset: content.offset, len: content.len as u64, fin: content.fin }
}

fn coded_header(content: &ShardContent) -> CodedHeader {
    let len = stream_in(content).encoded_len() + content.len as usize;
    CodedHeader { shard: content.shard, len: len.min(usize::from(u16::MAX)) as u16 }
}

/// Size of a packet that carries an acknowledgement alone. Nobody acknowledges it, so its number is never shortened.
#[inline]
pub(crate) fn ack_bytes(flow: u32, packet_number: u64, ack: &AckFrame) -> u32 {
    let header = Header::data(u64::from(flow), PATH, packet_number);
    (packet_overhead(&header, None) + ack.encoded_len()) as u32
}

/// What saying about blocks adds to an acknowledgement.
pub(crate) fn block_ack_bytes(blocks: &BlockAck) -> u32 {
    blocks.encoded_len() as u32
}

/// Size of a packet that carries a notice alone. Nobody acknowledges it either.
pub(crate) fn notice_bytes(flow: u32, packet_number: u64, notice: &Frame<'_>) -> u32 {
    let header = Header::data(u64::from(flow), PATH, packet_number);
    (packet_overhead(&header, None) + notice.encoded_len()) as u32
}

/// What a switch leaves of a packet when it cuts off its payload: IP, UDP and our header, as for a number that is not
/// shortened. The AEAD's tag goes with the payload: a cut packet cannot be authenticated. Packets without payload stay whole.
#[inline]
pub(crate) fn header_bytes(packet: &Packet) -> u32 {
    if !packet.body.has_payload() {
        return packet.bytes;
    }
    let header = Header::data(u64::from(packet.flow), PATH, packet.packet_number);
    ((IP_UDP_OVERHEAD + header.encoded_len(None)) as u32).min(packet.bytes)
}

/// What asking for telemetry adds to a packet before any port has answered.
#[inline]
pub(crate) fn prefix_bytes(telemetry: bool) -> u32 {
    if telemetry { IntStack::EMPTY_PREFIX_LEN as u32 } else { 0 }
}

/// The least that `size` bytes of a flow weigh on the wire: with the shortest packet numbers that could be used.
pub(crate) fn wire_size(size: u64, mtu: u64) -> u64 {
    let payload = u64::from(payload(mtu));
    // The offset's encoding grows at 64 B, 16 KiB and 1 GiB: whole runs of packets weigh the same.
    let mut total = size;
    let mut offset = 0;
    while offset < size {
        let run_end = [1_u64 << 6, 1 << 14, 1 << 30, 1 << 62].into_iter().find(|end| *end > offset).unwrap_or(size);
        let packets = (run_end.min(size) - offset).div_ceil(payload);
        total += packets * overhead(0, offset, payload.min(size - offset));
        offset += packets * payload;
    }
    total
}

/// Size of the acknowledgement that answers the first packet of a flow.
pub(crate) fn smallest_ack() -> u32 {
    let mut ack = AckFrame::default();
    ack.ranges.push(PacketNumberRange::single(0));
    ack_bytes(0, 0, &ack)
}

/// Encodes a packet, parses it again and compares: what the simulator carries is what the wire would.
pub(crate) fn check(packet: &Packet, largest_acked: Option<u64>, arena: &Arena) -> Result<(), SimError> {
    round_trip(packet, largest_acked, arena).map_err(|problem| SimError::Wire {
        flow: packet.flow,
        packet_number: packet.packet_number,
        problem,
    })
}

/// As [`check`], for what ports have written into a packet on its way.
pub(crate) fn check_telemetry(packet: &Packet, stack: &IntStack) -> Result<(), SimError> {
    let mut bytes = vec![0; stack.prefix_len()];
    let mut parsed = IntStack::default();
    let written = stack.write_prefix(&mut Writer::new(&mut bytes));
    let read = written.and_then(|()| parsed.parse_prefix(&mut Reader::new(&bytes)));
    if read == Ok(true) && parsed == *stack {
        return Ok(());
    }
    let problem = format!("{stack:?} was read back as {parsed:?}: {read:?}");
    Err(SimError::Wire { flow: packet.flow, packet_number: packet.packet_number, problem })
}

fn round_trip(packet: &Packet, largest_acked: Option<u64>, arena: &Arena) -> Result<(), String> {
    let header = Header::data(u64::from(packet.flow), PATH, packet.packet_number);
    let mut buffer = vec![0; packet.bytes as usize];
    let mut writer = Writer::new(&mut buffer);
    let telemetry = packet.int.map(|handle| arena.stack(handle));
    if let Some(stack) = telemetry {
        stack.write_prefix(&mut writer).map_err(|error| error.to_string())?;
    }
    header.write(largest_acked, &mut writer).map_err(|error| error.to_string())?;
    write_body(packet, arena, &mut writer).map_err(|error| error.to_string())?;
    let written = writer.offset();
    let outside = packet_overhead(&header, largest_acked) - header.encoded_len(largest_acked);
    if written + outside != packet.bytes as usize {
        return Err(format!("{} B on the wire, but {} B were charged", written + outside, packet.bytes));
    }
    let mut reader = Reader::new(&buffer[..written]);
    let mut stack = IntStack::default();
    let asked = stack.parse_prefix(&mut reader).map_err(|error| error.to_string())?;
    if asked.then_some(&stack) != telemetry {
        return Err(format!("{telemetry:?} was read back as {stack:?}"));
    }
    let parsed = Header::parse(&mut reader).map_err(|error| error.to_string())?.expand(largest_acked);
    if parsed != header {
        return Err(format!("{header:?} was read back as {parsed:?}"));
    }
    let body = read_body(reader.remaining(), arena, packet).map_err(|error| error.to_string())?;
    if body == packet.body { Ok(()) } else { Err(format!("{:?} was read back as {body:?}", packet.body)) }
}

fn write_body(packet: &Packet, arena: &Arena, writer: &mut Writer<'_>) -> Result<(), WireError> {
    match packet.body {
        Body::Data { offset, len, fin, floor } => {
            if let Some(floor) = floor {
                AckFloor { path: PATH, packet_number: floor.get() }.write(writer)?;
            }
            StreamHeader { id: STREAM, offset, len: u64::from(len), fin }.write(writer)?;
            writer.reserve(len as usize, "payload").map(|_| ())
        }
        Body::Shard { content } => write_shard(arena.shard(content), writer),
        Body::Ping => Frame::Ping.write(writer),
        Body::Ack { frame } => arena.ack(frame).write(writer),
        Body::CodedAck { frame, blocks } => {
            arena.ack(frame).write(writer)?;
            blocks.write(writer)
        }
        Body::Notice { frame } => arena.notice(frame).write(writer),
        Body::Header => Ok(()),
    }
}

fn write_shard(content: &ShardContent, writer: &mut Writer<'_>) -> Result<(), WireError> {
    if let Some(floor) = content.floor {
        AckFloor { path: PATH, packet_number: floor.get() }.write(writer)?;
    }
    if content.is_parity() {
        ParityHeader { shard: content.shard }.write(writer)?;
        return writer.reserve(usize::from(content.shard.shard_len), "parity").map(|_| ());
    }
    coded_header(content).write(writer)?;
    stream_in(content).write(writer)?;
    writer.reserve(content.len as usize, "payload").map(|_| ())
}

/// What a shard's frames say. What parity is made of only a codec could tell: that is taken from the one sent.
fn read_shard(frame: &Frame<'_>, bytes: &[u8], sent: ShardContent) -> Result<Option<ShardContent>, WireError> {
    match frame {
        Frame::Parity(parity) if sent.is_parity() => Ok(Some(ShardContent { shard: parity.shard, ..sent })),
        Frame::Coded(coded) => {
            let mut read = None;
            for inner in Frames::in_shard(bytes) {
                if let Frame::Stream(stream) = inner?.0 {
                    let (offset, len, fin) = (stream.offset, stream.len as u32, stream.fin);
                    read = Some(ShardContent { shard: coded.shard, offset, len, fin, ..sent });
                }
            }
            Ok(read)
        }
        _ => Ok(None),
    }
}

/// What a packet's frames say; an ACK frame or notice that differs from the one sent is not the one of that handle.
fn read_body(frames: &[u8], arena: &Arena, sent: &Packet) -> Result<Body, WireError> {
    let mut body = Body::Ping;
    let mut floor = None;
    for item in Frames::new(frames) {
        let (frame, bytes) = item?;
        match (frame, sent.body) {
            (Frame::AckFloor(frame), _) => floor = NonZeroU64::new(frame.packet_number),
            (Frame::Stream(stream), _) => {
                body = Body::Data { offset: stream.offset, len: stream.len as u32, fin: stream.fin, floor };
            }
            (Frame::Ack(ack), Body::Ack { frame }) => {
                let mut parsed = AckFrame::default();
                ack.copy_to(&mut parsed);
                if parsed == *arena.ack(frame) {
                    body = Body::Ack { frame };
                }
            }
            (Frame::Ack(ack), Body::CodedAck { frame, blocks }) => {
                let mut parsed = AckFrame::default();
                ack.copy_to(&mut parsed);
                if parsed == *arena.ack(frame) {
                    // Completed by the frame behind.
                    body = Body::CodedAck { frame, blocks: BlockAck { next: BlockId(u64::MAX), ..blocks } };
                }
            }
            (Frame::BlockAck(read), Body::CodedAck { .. }) => {
                if let Body::CodedAck { blocks, .. } = &mut body {
                    *blocks = read;
                }
            }
            (frame @ (Frame::Coded(_) | Frame::Parity(_)), Body::Shard { content }) => {
                let wanted = *arena.shard(content);
                let read = read_shard(&frame, bytes, wanted)?;
                if read.map(|read| ShardContent { floor, ..read }) == Some(wanted) {
                    body = Body::Shard { content };
                }
            }
            (notice, Body::Notice { frame }) if notice == *arena.notice(frame) => body = Body::Notice { frame },
            _ => {}
        }
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_wire_size_is_the_sum_over_its_packets() {
        for (size, mtu) in [(1, 1_500), (1_400, 1_500), (20_000, 1_500), (3_000_000, 4_160), (1 << 30, 9_000)] {
            let step = u64::from(payload(mtu));
            let sum: u64 = (0..size)
                .step_by(step as usize)
                .map(|offset| {
                    let len = step.min(size - offset) as u32;
                    u64::from(data_bytes(0, 0, None, &Body::Data { offset, len, fin: false, floor: None }))
                })
                .sum();
            assert_eq!(wire_size(size, mtu), sum, "{size} bytes");
        }
    }

    #[test]
    fn a_full_packet_never_exceeds_the_mtu() {
        for mtu in [256, 1_500, 4_160, 9_000, 65_535] {
            let body = Body::Data { offset: LONGEST_OFFSET, len: payload(mtu), fin: true, floor: None };
            let bytes = data_bytes(7, LONGEST_NUMBER - 1, None, &body);
            assert!(u64::from(bytes) <= mtu && u64::from(bytes) + 3 > mtu, "{bytes} of {mtu}");
        }
    }
}
