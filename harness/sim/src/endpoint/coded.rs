//! The two ends of coded flows: shards instead of plain pieces of the stream.

use core::num::NonZeroU64;
use core::ops::Range;

use cc_algos::Timestamp;
use cc_algos::ids::BlockId;
use transport::flow::Gate;
use transport::flow::code::{BlockReceiver, Coding, Next, Place, ShardArrival};
use transport::wire::Frame;

use super::{Desk, Loaded, PATH, Poll, ReceivingEnd, SendingEnd};
use crate::framing;
use crate::packet::{Body, ShardContent};
use crate::source::{Chunk, ChunkKind};

/// What a coded flow sends next.
enum Pick {
    Shard(Place, Chunk),
    Ping,
    Nothing,
    /// The receiver has no room for another block.
    Blocked,
}

/// A chunk that a block held, to be sent once more.
const fn again(chunk: Chunk) -> Chunk {
    match chunk.kind {
        ChunkKind::Parity => chunk,
        _ => Chunk { kind: ChunkKind::Again, ..chunk },
    }
}

impl SendingEnd {
    /// As [`SendingEnd::poll`], where blocks say what is sent.
    pub(super) fn poll_coded(&mut self, desk: &mut Desk<'_>) -> Poll {
        let now = desk.now.to_timestamp();
        let (place, chunk) = match self.pick() {
            Pick::Shard(place, chunk) => (place, chunk),
            Pick::Ping => return self.poll_chunk(Chunk::PING, desk),
            Pick::Nothing => {
                self.sender.on_app_limited(now, PATH);
                return Poll::Idle;
            }
            Pick::Blocked => {
                self.sender.on_receiver_limited(now, PATH);
                return Poll::Idle;
            }
        };
        let content = self.content(place, &chunk);
        let bytes = self.shard_bytes(&content);
        match self.sender.gate(now, PATH, u64::from(bytes)) {
            Gate::Blocked { until, .. } => Poll::Blocked(until),
            Gate::Open => Poll::Packet(self.emit_shard(place, chunk, desk)),
        }
    }

    fn pick(&mut self) -> Pick {
        let probing = self.sender.probes(PATH) > 0;
        let available = self.source.available();
        let Some(blocks) = self.sender.blocks_mut() else { return Pick::Nothing };
        let picked = match blocks.next(available) {
            Next::Again(place, chunk) => Some((place, again(chunk))),
            Next::Data(place) => self.source.peek_new().map(|chunk| (place, chunk)),
            Next::Parity(place) => blocks.data_of(place.block).map(|(first, last)| {
                let len = (last.end() - first.offset) as u32;
                (place, Chunk { offset: first.offset, len, kind: ChunkKind::Parity })
            }),
            Next::Nothing | Next::Blocked if probing => match blocks.oldest_unsettled() {
                Some((place, chunk)) => Some((place, again(chunk))),
                None => return Pick::Ping,
            },
            Next::Blocked => return Pick::Blocked,
            Next::Nothing => None,
        };
        picked.map_or(Pick::Nothing, |(place, chunk)| Pick::Shard(place, chunk))
    }

    /// A shard with what it stands for. All data shards of a block but the last are full.
    fn content(&self, place: Place, chunk: &Chunk) -> ShardContent {
        let step = self.source.payload();
        let (start, first) = if place.is_parity() || place.index == 0 {
            (chunk.offset, chunk.len.min(step))
        } else {
            (chunk.offset - u64::from(place.index) * u64::from(step), step)
        };
        ShardContent {
            shard: place.shard(framing::shard_len(start, first, place.k)),
            offset: chunk.offset,
            len: chunk.len,
            step,
            fin: self.source.is_last(chunk),
            floor: None,
        }
    }

    fn shard_bytes(&self, content: &ShardContent) -> u32 {
        let number = self.sender.next_packet_number(PATH);
        framing::prefix_bytes(self.telemetry)
            + framing::shard_bytes(self.flow, number, self.sender.largest_acked(PATH), content)
    }

    fn emit_shard(&mut self, place: Place, chunk: Chunk, desk: &mut Desk<'_>) -> u32 {
        let plain = self.content(place, &chunk);
        let floor = self.sender.ack_floor(desk.now.to_timestamp(), PATH).and_then(NonZeroU64::new);
        let longer = ShardContent { floor, ..plain };
        let content = if self.shard_bytes(&longer) <= self.mtu { longer } else { plain };
        let bytes = self.shard_bytes(&content);
        if chunk.kind == ChunkKind::New && place.index == 0 {
            self.source.promise(place.k);
        }
        if place.is_parity() {
            self.count.parity.add(u64::from(bytes));
        }
        let body = Body::Shard { content: desk.arena.new_shard(content) };
        self.launch(Loaded { chunk, place: Some(place), body, bytes }, desk)
    }
}

/// Bytes of the stream in the data shards of a block, as parity of it tells.
#[derive(Clone, Copy, Debug)]
struct Extent {
    block: BlockId,
    start: u64,
    end: u64,
    step: u64,
    fin: bool,
}

impl Extent {
    const fn of(parity: &ShardContent) -> Self {
        Self {
            block: parity.shard.block,
            start: parity.offset,
            end: parity.offset + parity.len as u64,
            step: parity.step as u64,
            fin: parity.fin,
        }
    }

    /// What a codec would give back for a data shard.
    fn shard(&self, index: u8) -> Range<u64> {
        let start = self.start + u64::from(index) * self.step;
        start..(start + self.step).min(self.end)
    }
}

/// Blocks at the receiving end.
pub(crate) struct Incoming {
    pub(crate) blocks: BlockReceiver,
    /// Of blocks that are not complete and of which parity came.
    extents: Vec<Extent>,
}

impl Incoming {
    pub(super) fn new(coding: Coding) -> Self {
        Self { blocks: BlockReceiver::new(coding), extents: Vec::new() }
    }
}

impl ReceivingEnd {
    /// As an end of a flow that is coded that way.
    pub(crate) fn expecting_blocks(mut self, coding: Option<Coding>) -> Self {
        self.incoming = coding.map(|coding| Box::new(Incoming::new(coding)));
        self
    }

    /// A shard arrived, in a packet that [`ReceivingEnd::on_packet`] has taken in.
    pub(crate) fn on_shard(&mut self, content: &ShardContent, now: Timestamp) {
        if let Some(floor) = content.floor {
            self.receiver.on_ack_floor(floor.get());
        }
        if !content.is_parity() {
            let end = content.offset + u64::from(content.len);
            self.deliver(content.offset..end, content.fin);
        }
        self.decode(content, now);
        if self.is_complete() {
            self.receiver.hurry_ack(now);
        }
    }

    /// Delivers what a codec gives back, if the shard completes its block.
    fn decode(&mut self, content: &ShardContent, now: Timestamp) {
        let Some(incoming) = &mut self.incoming else { return };
        let Incoming { blocks, extents } = &mut **incoming;
        let block = content.shard.block;
        let arrival = blocks.on_shard(now, &content.shard);
        let known = extents.iter().position(|extent| extent.block == block);
        match arrival {
            ShardArrival::New if content.is_parity() && known.is_none() => extents.push(Extent::of(content)),
            ShardArrival::Completes { missing } => {
                let known = known.map(|place| extents.swap_remove(place));
                // Who lacks data has parity.
                let Some(extent) = known.or_else(|| content.is_parity().then(|| Extent::of(content))) else { return };
                for index in missing.iter() {
                    let range = extent.shard(index);
                    let fin = extent.fin && range.end == extent.end;
                    self.deliver(range, fin);
                }
            }
            _ => {}
        }
    }

    /// A complaint about a block that is due.
    pub(super) fn poll_nack(&mut self, now: Timestamp) -> Option<Frame<'static>> {
        self.incoming.as_mut()?.blocks.poll_nack(now).map(Frame::Nack)
    }
}
