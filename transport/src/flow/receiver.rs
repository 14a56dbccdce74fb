//! The receiving half of one path: what arrived, and when and how to acknowledge it.

use cc_algos::ids::{Entropy, PathId};
use cc_algos::receiver::{AckWhen, Notice, Order, Received, ReceiverPolicy};
use cc_algos::signal::{Ecn, EcnCounts};
use cc_algos::units::Timestamp;

use super::feedback::earliest;
use super::ranges::RangeSet;
use crate::wire::{AckFrame, IntStack, MarkBitmap, PacketNumberRange};

/// How a receiver acknowledges, beyond what its policy decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReceiverConfig {
    /// Most ranges in one acknowledgement; the newest are reported.
    pub max_ack_ranges: usize,
    /// Most ranges remembered. Beyond them the oldest gap is forgotten, and what arrives in it is taken for a duplicate.
    pub max_ranges: usize,
    /// What acknowledgements echo.
    pub echo: EchoConfig,
}

impl Default for ReceiverConfig {
    fn default() -> Self {
        Self { max_ack_ranges: 32, max_ranges: 1_024, echo: EchoConfig::default() }
    }
}

/// What acknowledgements say beyond ranges and ECN counts. All off by default, as in RFC 9000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct EchoConfig {
    /// Which packets arrived marked.
    pub marks: bool,
    /// When the largest packet arrived.
    pub timestamps: bool,
    /// The entropy of the packet that triggered the acknowledgement.
    pub entropy: bool,
    /// How many switches the largest packet passed, where that is known.
    pub hops: bool,
}

impl EchoConfig {
    /// Everything.
    pub const ALL: Self = Self { marks: true, timestamps: true, entropy: true, hops: true };
}

/// A packet that came in.
#[derive(Clone, Copy, Debug)]
pub struct Arrived {
    /// When.
    pub now: Timestamp,
    /// Its number.
    pub packet_number: u64,
    /// Its size, bytes.
    pub bytes: u32,
    /// The path it came on.
    pub path: PathId,
    /// Its entropy.
    pub entropy: Entropy,
    /// The codepoint it arrived with.
    pub ecn: Ecn,
    /// Switches that it passed, where headers tell: what is gone of an initial TTL that both ends know.
    pub hops: Option<u8>,
    /// Whether it asks for an acknowledgement; packets with nothing but acknowledgements in them do not.
    pub ack_eliciting: bool,
}

/// Whether a packet is to be processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It is new.
    New,
    /// It came before, or may have.
    Duplicate,
}

/// The largest packet so far.
#[derive(Clone, Copy, Debug)]
struct Largest {
    packet_number: u64,
    at: Timestamp,
    hops: Option<u8>,
    marks: MarkBitmap,
}

/// The receiving half of one path.
#[derive(Debug)]
pub struct Receiver {
    config: ReceiverConfig,
    policy: Box<dyn ReceiverPolicy>,
    received: RangeSet,
    /// Numbers below are settled or forgotten.
    floor: u64,
    largest: Option<Largest>,
    counts: EcnCounts,
    path: PathId,
    /// Entropy of the newest packet that asked for an acknowledgement.
    entropy: Entropy,
    /// Packets that asked for an acknowledgement since the last one.
    unacknowledged: u32,
    ack_at: Option<Timestamp>,
    congestion_notice: bool,
    credit_bytes: u64,
    /// Telemetry that was not echoed yet, and the packet that brought it.
    int: IntStack,
    int_of: u64,
}

impl Receiver {
    /// A path on which nothing has arrived.
    pub fn new(config: ReceiverConfig, policy: Box<dyn ReceiverPolicy>) -> Self {
        Self {
            config: ReceiverConfig {
                max_ack_ranges: config.max_ack_ranges.max(1),
                max_ranges: config.max_ranges.max(1),
                ..config
            },
            policy,
            received: RangeSet::new(),
            floor: 0,
            largest: None,
            counts: EcnCounts::default(),
            path: PathId::default(),
            entropy: Entropy::default(),
            unacknowledged: 0,
            ack_at: None,
            congestion_notice: false,
            credit_bytes: 0,
            int: IntStack::default(),
            int_of: 0,
        }
    }

    /// A packet arrived. Duplicates change nothing: they are neither counted nor acknowledged again (RFC 9000, section
    /// 12.3).
    pub fn on_packet(&mut self, packet: Arrived) -> Arrival {
        let number = packet.packet_number;
        if number < self.floor || number == u64::MAX || !self.received.insert_one(number) {
            return Arrival::Duplicate;
        }
        if self.received.range_count() > self.config.max_ranges {
            self.forget_oldest_gap();
        }
        let order = self.note(&packet);
        if packet.ecn.is_capable() {
            self.counts.count(packet.ecn);
        }
        if packet.ack_eliciting {
            self.ask_policy(&packet, order);
        }
        Arrival::New
    }

    /// Telemetry that a packet brought which was just received. The next acknowledgement echoes it if no larger packet comes
    /// before.
    pub fn on_int(&mut self, packet_number: u64, stack: &IntStack) {
        if self.largest.as_ref().is_some_and(|largest| largest.packet_number == packet_number) {
            self.int.copy_from(stack);
            self.int_of = packet_number;
        }
    }

    /// Puts a packet in relation to the largest so far.
    fn note(&mut self, packet: &Arrived) -> Order {
        let number = packet.packet_number;
        let marked = packet.ecn == Ecn::Ce;
        let Some(largest) = &mut self.largest else {
            let marks = MarkBitmap::of_largest(marked);
            self.largest = Some(Largest { packet_number: number, at: packet.now, hops: packet.hops, marks });
            return if number == 0 { Order::InOrder } else { Order::Gap };
        };
        if number < largest.packet_number {
            if marked {
                largest.marks.mark(largest.packet_number - number);
            }
            return Order::Late;
        }
        let ahead = number - largest.packet_number;
        largest.packet_number = number;
        largest.at = packet.now;
        largest.hops = packet.hops;
        largest.marks.advance(ahead);
        if marked {
            largest.marks.mark(0);
        }
        if ahead == 1 { Order::InOrder } else { Order::Gap }
    }

    fn ask_policy(&mut self, packet: &Arrived, order: Order) {
        self.unacknowledged = self.unacknowledged.saturating_add(1);
        self.path = packet.path;
        self.entropy = packet.entropy;
        let mut received = Received::new(packet.now, packet.packet_number, packet.bytes);
        received.path = packet.path;
        received.entropy = packet.entropy;
        received.ecn = packet.ecn;
        received.order = order;
        received.unacknowledged = self.unacknowledged;
        let reply = self.policy.on_received(&received);
        let at = match reply.ack {
            AckWhen::Now => packet.now,
            AckWhen::By(at) => at,
        };
        self.ack_at = earliest(self.ack_at, Some(at));
        self.note_notice(reply.notice);
    }

    /// The sender says that everything below `packet_number` is settled: gaps below need not be reported any more, and what
    /// arrives there is of no use. The largest packet stays.
    pub fn on_ack_floor(&mut self, packet_number: u64) {
        let Some(largest) = &self.largest else { return };
        let floor = packet_number.min(largest.packet_number);
        if floor > self.floor {
            self.floor = floor;
            self.received.remove_below(floor);
        }
    }

    fn forget_oldest_gap(&mut self) {
        if let Some(oldest) = self.received.pop_first() {
            self.floor = self.floor.max(oldest.end);
        }
        if let Some(first) = self.received.first() {
            self.floor = self.floor.max(first.start);
        }
    }

    /// What is owed is to be acknowledged now, whatever the policy would wait for: worth it when a stream has come to its end
    /// and nothing more would follow for long. A receiver may always acknowledge sooner (RFC 9000, section 13.2.1).
    pub fn hurry_ack(&mut self, now: Timestamp) {
        if self.ack_owed() {
            self.ack_at = earliest(self.ack_at, Some(now));
        }
    }

    /// Whether an acknowledgement has to leave by now.
    pub fn ack_due(&self, now: Timestamp) -> bool {
        self.ack_at.is_some_and(|at| at <= now)
    }

    /// Whether an acknowledgement is owed, now or later: worth sending along with anything else that leaves.
    pub const fn ack_owed(&self) -> bool {
        self.unacknowledged > 0
    }

    /// When an acknowledgement is due or the policy wants to be woken.
    pub fn next_timeout(&self) -> Option<Timestamp> {
        earliest(self.ack_at, self.policy.next_timer())
    }

    /// The time of [`Receiver::next_timeout`] has come: runs the policy's timer. Whether an acknowledgement is due is told by
    /// [`Receiver::ack_due`].
    pub fn on_timeout(&mut self, now: Timestamp) {
        if self.policy.next_timer().is_some_and(|at| at <= now) {
            let notice = self.policy.on_timer(now);
            self.note_notice(notice);
        }
    }

    /// Fills a frame with what arrived, and owes nothing any more. Returns whether there was anything to acknowledge.
    pub fn write_ack(&mut self, now: Timestamp, frame: &mut AckFrame) -> bool {
        frame.clear();
        let Some(largest) = &self.largest else { return false };
        frame.path = self.path;
        frame.largest = largest.packet_number;
        frame.ack_delay = now.saturating_since(largest.at);
        let newest_first = self.received.iter().rev().take(self.config.max_ack_ranges);
        frame.ranges.extend(newest_first.map(|range| PacketNumberRange { first: range.start, last: range.end - 1 }));
        frame.ecn = (self.counts != EcnCounts::default()).then_some(self.counts);
        let EchoConfig { marks, timestamps, entropy, hops } = self.config.echo;
        frame.marks = marks.then_some(largest.marks);
        frame.received_at = timestamps.then_some(largest.at);
        frame.entropy_echo = entropy.then_some(self.entropy);
        frame.hops = largest.hops.filter(|_| hops);
        if !self.int.is_empty() {
            if self.int_of == largest.packet_number {
                // The frame is empty, and its room serves the next packet.
                core::mem::swap(&mut frame.int, &mut self.int);
            }
            self.int.clear();
        }
        self.unacknowledged = 0;
        self.ack_at = None;
        true
    }

    fn note_notice(&mut self, notice: Option<Notice>) {
        match notice {
            Some(Notice::CongestionNotification) => self.congestion_notice = true,
            Some(Notice::Credit { bytes }) => self.credit_bytes = self.credit_bytes.saturating_add(bytes),
            Some(_) | None => {}
        }
    }

    /// A notice that is to be sent, if there is one. Credits are added up; ask until there is none.
    pub fn take_notice(&mut self) -> Option<Notice> {
        if core::mem::take(&mut self.congestion_notice) {
            return Some(Notice::CongestionNotification);
        }
        match core::mem::take(&mut self.credit_bytes) {
            0 => None,
            bytes => Some(Notice::Credit { bytes }),
        }
    }

    /// Reads a little of each part, and says nothing by the result; see [`Sender::touch`](super::Sender::touch).
    #[inline]
    pub fn touch(&self) -> u64 {
        let largest = self.largest.as_ref().map_or(0, |largest| largest.packet_number);
        largest ^ self.received.range_count() as u64 ^ self.floor ^ self.counts.ce ^ u64::from(self.unacknowledged)
    }

    /// The policy.
    pub fn policy(&self) -> &dyn ReceiverPolicy {
        &*self.policy
    }
}

#[cfg(test)]
mod tests;
