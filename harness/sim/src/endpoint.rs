//! The two ends of a flow: an application on `transport::flow`. Each knows only what packets brought it.

mod coded;

use core::num::NonZeroU64;
use core::ops::Range;

use cc_algos::controller::{Cause, Tally};
use cc_algos::receiver::{AckEvery, Notice};
use cc_algos::signal::{NearSource, Signal};
use cc_algos::{Controller, Ecn, Entropy, Need, PathId, Timestamp};
use transport::flow::balance::{self, Balancer};
use transport::flow::code::Place;
use transport::flow::{Arrived, Event, Gate, Outgoing, RangeSet, Receiver, Sender, SenderConfig, Workspace};
use transport::wire::{
    BlockAck, CongestionNotification, Credit, Frame, IntStack, PacketNumberRange, Trimmed, VARINT_MAX,
};

use self::coded::Incoming;
use crate::error::SimError;
use crate::framing;
use crate::packet::{Arena, Body, Packet};
use crate::source::{Chunk, ChunkKind, Source};
use crate::spec::{Contestant, EndpointSpec, FlowSpec};
use crate::time::SimTime;

const PATH: PathId = PathId(0);

/// What an end may use besides its own state.
pub(crate) struct Desk<'a> {
    pub(crate) now: SimTime,
    pub(crate) arena: &'a mut Arena,
    pub(crate) work: &'a mut Workspace<Chunk>,
}

/// Packets counted at the sending application.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SendCount {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    pub(crate) again: u64,
    /// Packets of parity, repaired ones included.
    pub(crate) parity: Tally,
}

/// A packet that is about to leave.
#[derive(Clone, Copy)]
struct Loaded {
    chunk: Chunk,
    place: Option<Place>,
    body: Body,
    bytes: u32,
}

/// The sending end.
pub(crate) struct SendingEnd {
    pub(crate) sender: Sender<Chunk>,
    pub(crate) source: Source,
    pub(crate) count: SendCount,
    /// The pending wake-up: the earliest of those in the event queue that is still meant.
    pub(crate) wake_at: SimTime,
    /// The port by which the host's packets leave.
    pub(crate) port: u32,
    flow: u32,
    destination: u32,
    mtu: u32,
    /// Credit that notices have brought, bytes since the flow began.
    credited: u64,
    /// Whether packets ask for telemetry.
    telemetry: bool,
    balancer: Box<dyn Balancer>,
}

impl SendingEnd {
    pub(crate) fn new(
        flow: u32,
        spec: &FlowSpec,
        config: SenderConfig,
        controller: Box<dyn Controller>,
        route: Route,
    ) -> Self {
        let mtu = config.mtu;
        let room = mtu - u64::from(framing::prefix_bytes(route.telemetry));
        let is_coded = config.coding.is_some();
        let payload = if is_coded { framing::coded_payload(room) } else { framing::payload(room) };
        Self {
            sender: Sender::new(config, controller, route.now),
            source: Source::new(spec.load, route.now, spec.stop, payload),
            count: SendCount::default(),
            wake_at: SimTime::MAX,
            port: spec.source.0,
            flow,
            destination: spec.destination.0,
            mtu: u32::try_from(mtu).unwrap_or(u32::MAX),
            credited: 0,
            telemetry: route.telemetry,
            balancer: route.balancer,
        }
    }

    /// The next packet that may leave now, if any; else when to ask again.
    pub(crate) fn poll(&mut self, desk: &mut Desk<'_>) -> Poll {
        if self.sender.blocks().is_some() {
            return self.poll_coded(desk);
        }
        let now = desk.now.to_timestamp();
        let probing = self.sender.probes(PATH) > 0;
        let chunk = match self.source.peek() {
            Some(chunk) => chunk,
            None if probing => self.source.oldest_unacknowledged().unwrap_or(Chunk::PING),
            None => {
                self.sender.on_app_limited(now, PATH);
                return Poll::Idle;
            }
        };
        self.poll_chunk(chunk, desk)
    }

    #[inline]
    fn poll_chunk(&mut self, chunk: Chunk, desk: &mut Desk<'_>) -> Poll {
        let now = desk.now.to_timestamp();
        let number = self.sender.next_packet_number(PATH);
        let plain = Body::Data { offset: chunk.offset, len: chunk.len, fin: false, floor: None };
        let bytes = self.bytes(number, &plain);
        match self.sender.gate(now, PATH, u64::from(bytes)) {
            Gate::Blocked { until, .. } => Poll::Blocked(until),
            Gate::Open => Poll::Packet(self.emit(chunk, desk)),
        }
    }

    fn emit(&mut self, chunk: Chunk, desk: &mut Desk<'_>) -> u32 {
        let now = desk.now.to_timestamp();
        let number = self.sender.next_packet_number(PATH);
        let body = match chunk.kind {
            ChunkKind::Ping | ChunkKind::Parity => Body::Ping,
            ChunkKind::New | ChunkKind::Again => {
                Body::Data { offset: chunk.offset, len: chunk.len, fin: self.source.is_last(&chunk), floor: None }
            }
        };
        let body = self.with_floor(body, number, now);
        let bytes = self.bytes(number, &body);
        self.launch(Loaded { chunk, place: None, body, bytes }, desk)
    }

    /// A packet leaves.
    #[inline]
    fn launch(&mut self, loaded: Loaded, desk: &mut Desk<'_>) -> u32 {
        let Loaded { chunk, place, body, bytes } = loaded;
        let now = desk.now.to_timestamp();
        let entropy = self.balancer.next_entropy(&self.sender.view(now, PATH));
        let ecn = self.sender.ecn(PATH);
        let outgoing = Outgoing { path: PATH, entropy, bytes, content: chunk, block: place };
        let number = self.sender.on_sent(now, outgoing);
        self.source.sent(&chunk);
        self.count.packets += 1;
        self.count.bytes += u64::from(bytes);
        self.count.again += u64::from(chunk.kind == ChunkKind::Again);
        let int = self.telemetry.then(|| desk.arena.new_stack());
        desk.arena.insert(Packet {
            flow: self.flow,
            destination: self.destination,
            entropy: entropy.0,
            bytes,
            packet_number: number,
            sent_at: desk.now,
            body,
            ecn,
            hops: 0,
            int,
        })
    }

    /// Size of a packet as it leaves.
    #[inline]
    fn bytes(&self, number: u64, body: &Body) -> u32 {
        framing::prefix_bytes(self.telemetry)
            + framing::data_bytes(self.flow, number, self.sender.largest_acked(PATH), body)
    }

    /// Adds the ACK floor to a packet that has room for it; one that has not waits a round trip.
    fn with_floor(&mut self, body: Body, number: u64, now: Timestamp) -> Body {
        let Body::Data { offset, len, fin, .. } = body else { return body };
        let Some(floor) = self.sender.ack_floor(now, PATH).and_then(NonZeroU64::new) else { return body };
        let longer = Body::Data { offset, len, fin, floor: Some(floor) };
        let bytes = self.bytes(number, &longer);
        if bytes <= self.mtu { longer } else { body }
    }

    /// An acknowledgement arrived; its frame is released.
    pub(crate) fn on_ack(&mut self, frame: u32, desk: &mut Desk<'_>) -> Result<(), SimError> {
        let ack = desk.arena.ack(frame);
        self.sender
            .on_ack(desk.now.to_timestamp(), ack, desk.work)
            .map_err(|source| SimError::Ack { flow: self.flow, source })?;
        desk.arena.release_ack(frame);
        self.settle(desk);
        Ok(())
    }

    /// What an acknowledgement says about blocks; what it says about packets comes after it.
    pub(crate) fn on_block_ack(&mut self, blocks: &BlockAck, desk: &mut Desk<'_>) -> Result<(), SimError> {
        let taken = self.sender.on_block_ack(blocks, desk.work);
        taken.map_err(|source| SimError::Blocks { flow: self.flow, source })?;
        self.settle(desk);
        Ok(())
    }

    /// A notice arrived; its frame is released.
    pub(crate) fn on_notice(&mut self, frame: u32, desk: &mut Desk<'_>) -> Result<(), SimError> {
        let now = desk.now.to_timestamp();
        let signal = match desk.arena.notice(frame) {
            Frame::Trimmed(trimmed) => {
                self.sender.on_missing(now, PATH, Cause::Trim, &trimmed.ranges, desk.work);
                desk.arena.release_notice(frame);
                self.settle(desk);
                return Ok(());
            }
            Frame::Nack(nack) => {
                let taken = self.sender.on_block_nack(now, nack, desk.work);
                taken.map_err(|source| SimError::Blocks { flow: self.flow, source })?;
                desk.arena.release_notice(frame);
                self.settle(desk);
                return Ok(());
            }
            Frame::CongestionNotification(_) => Some(Signal::CongestionNotification),
            // Totals make good what was lost; one that was overtaken says nothing new.
            Frame::Credit(credit) if credit.total > self.credited => {
                let bytes = credit.total - self.credited;
                self.credited = credit.total;
                Some(Signal::Credit { bytes })
            }
            Frame::NearSource(report) => Some(Signal::NearSource(NearSource {
                queue_bytes: report.queue_bytes,
                former_queue_bytes: report.former_queue_bytes,
                set_point_bytes: report.set_point_bytes,
                port_rate: report.port_rate,
                triggered_by_sent_at: self.sender.sent_at(PATH, report.packet_number),
            })),
            _ => None,
        };
        desk.arena.release_notice(frame);
        if let Some(signal) = signal {
            self.sender.on_notice(now, PATH, signal);
        }
        Ok(())
    }

    /// A timer may have come.
    pub(crate) fn on_wake(&mut self, desk: &mut Desk<'_>) {
        let now = desk.now.to_timestamp();
        self.source.advance(now);
        if self.sender.next_timeout().is_some_and(|at| at <= now) {
            self.sender.on_timeout(now, desk.work);
            self.settle(desk);
        }
    }

    fn settle(&mut self, desk: &mut Desk<'_>) {
        balance::report(desk.now.to_timestamp(), &self.sender, desk.work, &mut *self.balancer);
        for event in desk.work.events.drain(..) {
            match event {
                Event::Acked(chunk) | Event::LateAcked(chunk) | Event::Restored(chunk) => {
                    self.source.acknowledged(&chunk);
                }
                Event::Lost(chunk) => self.source.lost(&chunk),
            }
        }
    }

    /// Reads a little of each part that an acknowledgement needs, so that it is near when it is needed. The value means
    /// nothing.
    #[inline]
    pub(crate) fn touch(&self) -> u64 {
        self.sender.touch(PATH) ^ self.source.touch() ^ self.count.bytes ^ self.wake_at.as_picos()
    }

    /// As [`SendingEnd::touch`], for what stands behind pointers, if `largest` is acknowledged.
    #[inline]
    pub(crate) fn touch_behind(&self, largest: u64) -> u64 {
        self.sender.touch_packet(PATH, largest) ^ self.sender.controller(PATH).window()
    }

    /// When this end must be woken, given when its gate opens.
    pub(crate) fn next_wake(&self, now: Timestamp, gate_opens: Option<Timestamp>) -> Option<Timestamp> {
        [self.sender.next_timeout(), gate_opens, self.source.next_change(now)].into_iter().flatten().min()
    }
}

/// What [`SendingEnd::poll`] found.
pub(crate) enum Poll {
    /// This packet leaves.
    Packet(u32),
    /// Nothing to send.
    Idle,
    /// The gate is shut, perhaps until a known time.
    Blocked(Option<Timestamp>),
}

/// How a flow's packets find their way, and what they ask of it.
pub(crate) struct Route {
    pub(crate) now: Timestamp,
    pub(crate) balancer: Box<dyn Balancer>,
    /// Whether they ask for telemetry.
    pub(crate) telemetry: bool,
}

/// The receiving end.
pub(crate) struct ReceivingEnd {
    pub(crate) receiver: Receiver,
    pub(crate) received: RangeSet,
    pub(crate) delivered: u64,
    /// Length of the stream, once a packet that ends it has arrived.
    final_size: Option<u64>,
    pub(crate) wake_at: SimTime,
    /// The port by which the host's packets leave.
    pub(crate) port: u32,
    flow: u32,
    source: u32,
    /// Packets sent back, which bear numbers of their own.
    sent: u64,
    /// Credit granted, bytes since the flow began.
    credited: u64,
    /// Blocks, if the flow is coded.
    pub(crate) incoming: Option<Box<Incoming>>,
}

impl ReceivingEnd {
    pub(crate) fn new(flow: u32, spec: &FlowSpec, endpoints: &EndpointSpec, contestant: &Contestant) -> Self {
        let policy = (contestant.build_receiver)(AckEvery::new(endpoints.ack_every, endpoints.ack_delay));
        let mut config = endpoints.receiver;
        config.echo.hops |= contestant.needs(Need::HopCount);
        Self {
            receiver: Receiver::new(config, policy),
            received: RangeSet::default(),
            delivered: 0,
            final_size: None,
            wake_at: SimTime::MAX,
            port: spec.destination.0,
            flow,
            source: spec.source.0,
            sent: 0,
            credited: 0,
            incoming: None,
        }
    }

    /// Reads a little of each part that a packet needs, so that it is near when it is needed. The value means nothing.
    #[inline]
    pub(crate) fn touch(&self) -> u64 {
        self.receiver.touch() ^ self.delivered ^ self.received.range_count() as u64 ^ self.wake_at.as_picos()
    }

    /// As [`ReceivingEnd::touch`], for what stands behind pointers.
    #[inline]
    pub(crate) fn touch_behind(&self) -> u64 {
        let timeout = self.receiver.next_timeout().map_or(0, Timestamp::as_nanos);
        self.received.last().map_or(timeout, |range| range.end ^ timeout)
    }

    /// A packet of the sender arrived.
    pub(crate) fn on_packet(&mut self, packet: &Packet, telemetry: Option<&IntStack>, now: SimTime) {
        let arrived = Arrived {
            now: now.to_timestamp(),
            packet_number: packet.packet_number,
            bytes: packet.bytes,
            path: PATH,
            entropy: Entropy(packet.entropy),
            ecn: packet.ecn,
            hops: Some(packet.hops),
            ack_eliciting: true,
        };
        self.receiver.on_packet(arrived);
        if let Some(stack) = telemetry {
            self.receiver.on_int(packet.packet_number, stack);
        }
        if let Body::Data { offset, len, fin, floor } = packet.body {
            if let Some(floor) = floor {
                self.receiver.on_ack_floor(floor.get());
            }
            self.deliver(Range { start: offset, end: offset + u64::from(len) }, fin);
            // Nothing follows that could make the policy acknowledge sooner, and the sender waits for this to be done.
            if self.is_complete() {
                self.receiver.hurry_ack(now.to_timestamp());
            }
        }
    }

    /// A piece of the stream is there, perhaps its end.
    #[inline]
    fn deliver(&mut self, piece: Range<u64>, fin: bool) {
        if fin {
            self.final_size = Some(piece.end);
        }
        self.delivered += self.received.insert(piece);
    }

    /// When an acknowledgement or a complaint is due, or the policy wants to be woken.
    pub(crate) fn next_timeout(&self) -> Option<Timestamp> {
        let complaint = self.incoming.as_ref().and_then(|incoming| incoming.blocks.next_timeout());
        [self.receiver.next_timeout(), complaint].into_iter().flatten().min()
    }

    /// Whether every byte of the stream has arrived.
    pub(crate) fn is_complete(&self) -> bool {
        self.final_size == Some(self.delivered)
    }

    /// The acknowledgement that is due now, if any.
    pub(crate) fn poll_ack(&mut self, desk: &mut Desk<'_>) -> Option<u32> {
        let now = desk.now.to_timestamp();
        if !self.receiver.ack_due(now) {
            return None;
        }
        let frame = desk.arena.new_ack();
        self.receiver.write_ack(now, desk.arena.ack_mut(frame));
        let bytes = framing::ack_bytes(self.flow, self.sent, desk.arena.ack(frame));
        let Some(incoming) = &self.incoming else { return Some(self.send_back(Body::Ack { frame }, bytes, desk)) };
        let blocks = incoming.blocks.ack();
        let bytes = bytes + framing::block_ack_bytes(&blocks);
        Some(self.send_back(Body::CodedAck { frame, blocks }, bytes, desk))
    }

    /// A notice that is to be sent, in a packet of its own. Ask until there is none.
    pub(crate) fn poll_notice(&mut self, desk: &mut Desk<'_>) -> Option<u32> {
        if let Some(nack) = self.poll_nack(desk.now.to_timestamp()) {
            return Some(self.send_notice(nack, desk));
        }
        let notice = match self.receiver.take_notice()? {
            Notice::CongestionNotification => Frame::CongestionNotification(CongestionNotification { path: PATH }),
            Notice::Credit { bytes } => {
                self.credited = self.credited.saturating_add(bytes).min(VARINT_MAX);
                Frame::Credit(Credit { total: self.credited })
            }
            _ => return None,
        };
        Some(self.send_notice(notice, desk))
    }

    /// Names a packet whose payload a switch cut off.
    pub(crate) fn report_trimmed(&mut self, packet_number: u64, desk: &mut Desk<'_>) -> u32 {
        let mut trimmed = Trimmed { path: PATH, ..Trimmed::default() };
        trimmed.ranges.push(PacketNumberRange::single(packet_number));
        self.send_notice(Frame::Trimmed(trimmed), desk)
    }

    fn send_notice(&mut self, notice: Frame<'static>, desk: &mut Desk<'_>) -> u32 {
        let bytes = framing::notice_bytes(self.flow, self.sent, &notice);
        let frame = desk.arena.new_notice(notice);
        self.send_back(Body::Notice { frame }, bytes, desk)
    }

    fn send_back(&mut self, body: Body, bytes: u32, desk: &mut Desk<'_>) -> u32 {
        let packet_number = self.sent;
        self.sent += 1;
        desk.arena.insert(Packet {
            flow: self.flow,
            destination: self.source,
            entropy: 0,
            bytes,
            packet_number,
            sent_at: desk.now,
            body,
            ecn: Ecn::NotEct,
            hops: 0,
            int: None,
        })
    }
}
