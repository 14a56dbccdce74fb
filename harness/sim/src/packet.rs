//! Packets and the arena they live in.

use core::num::NonZeroU32;

use cc_algos::Ecn;
use cc_algos::signal::IntHop;
use transport::wire::{AckFrame, BlockAck, Frame, INT_HOP_LEN, IntStack, Shard};

use crate::time::SimTime;

/// A packet under way: 64 bytes, aligned, so that a hop touches one cache line. What does not fit stands in side pools.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Packet {
    pub(crate) flow: u32,
    pub(crate) destination: u32,
    pub(crate) entropy: u32,
    /// Size on the wire with IP and UDP headers.
    pub(crate) bytes: u32,
    pub(crate) packet_number: u64,
    /// When the sender handed it to its link.
    pub(crate) sent_at: SimTime,
    pub(crate) body: Body,
    pub(crate) ecn: Ecn,
    /// Switches passed.
    pub(crate) hops: u8,
    /// Telemetry in the side pool, of packets that ask for it.
    pub(crate) int: Option<StackHandle>,
}

/// A telemetry stack of the arena: its place, counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StackHandle(NonZeroU32);

impl StackHandle {
    const fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// What a packet carries, as its frames say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// A stream frame, and perhaps an ACK floor before it.
    Data { offset: u64, len: u32, fin: bool, floor: Option<core::num::NonZeroU64> },
    /// A shard of a coded block, in the side pool.
    Shard { content: u32 },
    /// A ping: asks for an acknowledgement, carries nothing.
    Ping,
    /// What a switch that trims left of a data packet: the header, and so its number.
    Header,
    /// An ACK frame in the side pool.
    Ack { frame: u32 },
    /// As `Ack`, and behind it what is said about blocks.
    CodedAck { frame: u32, blocks: BlockAck },
    /// A notice to the flow's sender in the side pool: of its receiver, or of a switch on the way.
    Notice { frame: u32 },
}

const _: () = assert!(size_of::<Packet>() <= 64);

impl Body {
    /// Whether there is something that a switch may cut off.
    pub(crate) const fn has_payload(&self) -> bool {
        matches!(self, Self::Data { .. } | Self::Shard { .. })
    }
}

/// A shard and what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShardContent {
    pub(crate) shard: Shard,
    /// Of a data shard, the piece of the stream in it; of parity, that in all data of the block.
    pub(crate) offset: u64,
    pub(crate) len: u32,
    /// Bytes of the stream in each data shard of the block but the last.
    pub(crate) step: u32,
    pub(crate) fin: bool,
    /// An ACK floor before the shard.
    pub(crate) floor: Option<core::num::NonZeroU64>,
}

impl ShardContent {
    /// Whether the shard is parity.
    pub(crate) const fn is_parity(&self) -> bool {
        self.shard.index >= self.shard.k
    }
}

/// Packets and the frames that they carry, by handle; slots are recycled.
#[derive(Default)]
pub(crate) struct Arena {
    packets: Vec<Packet>,
    free: Vec<u32>,
    acks: Vec<AckFrame>,
    free_acks: Vec<u32>,
    notices: Vec<Frame<'static>>,
    free_notices: Vec<u32>,
    shards: Vec<ShardContent>,
    free_shards: Vec<u32>,
    stacks: Vec<IntStack>,
    free_stacks: Vec<StackHandle>,
}

impl Arena {
    #[inline]
    pub(crate) fn insert(&mut self, packet: Packet) -> u32 {
        if let Some(handle) = self.free.pop() {
            self.packets[handle as usize] = packet;
            return handle;
        }
        self.packets.push(packet);
        u32::try_from(self.packets.len() - 1).expect("fewer than 2^32 packets under way")
    }

    #[inline]
    pub(crate) fn get(&self, handle: u32) -> &Packet {
        &self.packets[handle as usize]
    }

    /// The packet behind a handle that may be none.
    #[inline]
    pub(crate) fn peek(&self, handle: u32) -> Option<&Packet> {
        self.packets.get(handle as usize)
    }

    /// Reads a little of a packet, so that it is near when it is needed. The value means nothing.
    #[inline]
    pub(crate) fn touch(&self, handle: u32) -> u64 {
        self.peek(handle).map_or(0, |packet| packet.packet_number)
    }

    /// As [`Arena::touch`], for an ACK frame.
    #[inline]
    pub(crate) fn touch_ack(&self, frame: u32) -> u64 {
        let ack = self.ack(frame);
        ack.largest ^ ack.ecn.map_or(0, |ecn| ecn.ce) ^ ack.ranges.len() as u64 ^ ack.ack_delay.as_nanos()
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, handle: u32) -> &mut Packet {
        &mut self.packets[handle as usize]
    }

    /// Takes a packet that has arrived; the frame and the telemetry it carries, if any, are the caller's to release.
    #[inline]
    pub(crate) fn take(&mut self, handle: u32) -> Packet {
        self.free.push(handle);
        self.packets[handle as usize]
    }

    /// Leaves `bytes` of a data packet, those of its header, without telemetry; what carries no payload stays as it is.
    pub(crate) fn cut(&mut self, handle: u32, bytes: u32) {
        let packet = self.get_mut(handle);
        if packet.body.has_payload() {
            let body = core::mem::replace(&mut packet.body, Body::Header);
            packet.bytes = bytes;
            self.release(body);
            self.stop_telemetry(handle);
        }
    }

    /// Frees what stands in side pools.
    fn release(&mut self, body: Body) {
        match body {
            Body::Ack { frame } | Body::CodedAck { frame, .. } => self.release_ack(frame),
            Body::Notice { frame } => self.release_notice(frame),
            Body::Shard { content } => self.release_shard(content),
            Body::Data { .. } | Body::Ping | Body::Header => {}
        }
    }

    /// Drops a packet with all it carries.
    pub(crate) fn discard(&mut self, handle: u32) {
        let packet = self.take(handle);
        self.release_stack(packet.int);
        self.release(packet.body);
    }

    /// A second packet with the same content, but no telemetry: nobody could tell to which of the two a port's record belongs.
    pub(crate) fn duplicate(&mut self, handle: u32) -> u32 {
        let mut copy = *self.get(handle);
        copy.int = None;
        copy.body = match copy.body {
            Body::Ack { frame } => Body::Ack { frame: self.duplicate_ack(frame) },
            Body::CodedAck { frame, blocks } => Body::CodedAck { frame: self.duplicate_ack(frame), blocks },
            Body::Shard { content } => Body::Shard { content: self.new_shard(*self.shard(content)) },
            Body::Notice { frame } => {
                let content = self.notice(frame).clone();
                Body::Notice { frame: self.new_notice(content) }
            }
            body @ (Body::Data { .. } | Body::Ping | Body::Header) => body,
        };
        self.insert(copy)
    }

    fn duplicate_ack(&mut self, frame: u32) -> u32 {
        let twin = self.new_ack();
        let content = self.acks[frame as usize].clone();
        self.acks[twin as usize] = content;
        twin
    }

    /// A recycled ACK frame to fill.
    #[inline]
    pub(crate) fn new_ack(&mut self) -> u32 {
        if let Some(frame) = self.free_acks.pop() {
            return frame;
        }
        self.acks.push(AckFrame::default());
        (self.acks.len() - 1) as u32
    }

    #[inline]
    pub(crate) fn ack(&self, frame: u32) -> &AckFrame {
        &self.acks[frame as usize]
    }

    #[inline]
    pub(crate) fn ack_mut(&mut self, frame: u32) -> &mut AckFrame {
        &mut self.acks[frame as usize]
    }

    #[inline]
    pub(crate) fn release_ack(&mut self, frame: u32) {
        self.free_acks.push(frame);
    }

    /// A place for a notice.
    pub(crate) fn new_notice(&mut self, notice: Frame<'static>) -> u32 {
        if let Some(frame) = self.free_notices.pop() {
            self.notices[frame as usize] = notice;
            return frame;
        }
        self.notices.push(notice);
        (self.notices.len() - 1) as u32
    }

    pub(crate) fn notice(&self, frame: u32) -> &Frame<'static> {
        &self.notices[frame as usize]
    }

    pub(crate) fn release_notice(&mut self, frame: u32) {
        self.free_notices.push(frame);
    }

    /// A place for a shard.
    pub(crate) fn new_shard(&mut self, content: ShardContent) -> u32 {
        if let Some(place) = self.free_shards.pop() {
            self.shards[place as usize] = content;
            return place;
        }
        self.shards.push(content);
        (self.shards.len() - 1) as u32
    }

    pub(crate) fn shard(&self, content: u32) -> &ShardContent {
        &self.shards[content as usize]
    }

    pub(crate) fn release_shard(&mut self, content: u32) {
        self.free_shards.push(content);
    }

    /// An empty telemetry stack.
    pub(crate) fn new_stack(&mut self) -> StackHandle {
        if let Some(handle) = self.free_stacks.pop() {
            self.stacks[handle.index()].clear();
            return handle;
        }
        self.stacks.push(IntStack::default());
        let place = u32::try_from(self.stacks.len()).ok().and_then(NonZeroU32::new);
        StackHandle(place.expect("fewer than 2^32 packets under way"))
    }

    pub(crate) fn stack(&self, handle: StackHandle) -> &IntStack {
        &self.stacks[handle.index()]
    }

    pub(crate) fn release_stack(&mut self, handle: Option<StackHandle>) {
        self.free_stacks.extend(handle);
    }

    /// A packet that asks for telemetry is to leave by a port: it grows by the port's record if there is room.
    pub(crate) fn make_room_for_record(&mut self, packet: u32) {
        let packet = &mut self.packets[packet as usize];
        if packet.int.is_some_and(|handle| !self.stacks[handle.index()].is_full()) {
            packet.bytes += INT_HOP_LEN as u32;
        }
    }

    /// A port writes its record into a packet that asks for it.
    pub(crate) fn stamp(&mut self, packet: u32, record: impl FnOnce() -> IntHop) {
        if let Some(handle) = self.packets[packet as usize].int {
            self.stacks[handle.index()].push(&record());
        }
    }

    /// What a packet gathered so far is forgotten, and no more is gathered.
    pub(crate) fn stop_telemetry(&mut self, packet: u32) {
        let stack = self.packets[packet as usize].int.take();
        self.release_stack(stack);
    }
}
