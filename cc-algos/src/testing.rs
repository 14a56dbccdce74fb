//! A driver for tests of single laws: a sender over a path without a queue, which keeps the engine's contract, takes
//! delivery-rate samples as the engine does, and leaves the fate of every packet to the test.

mod bottleneck;

use std::collections::VecDeque;

use crate::controller::{
    Cause, Controller, Feedback, Flight, Limit, PacketRecord, RttSample, SendState, Sent, Setup, Tally,
};
use crate::estimate::DeliveryEstimator;
use crate::signal::{CsigSample, Ecn, IntHop, Signal};
use crate::units::{Rate, Span, Timestamp};

pub(crate) use bottleneck::Bottleneck;

pub(crate) const MTU: u64 = 1_000;

/// A flow of 1 000-byte packets that begins at time zero.
pub(crate) fn setup() -> Setup {
    Setup::new(Timestamp::ZERO, MTU, 1)
}

pub(crate) fn at(millis: u64) -> Timestamp {
    Timestamp::ZERO + Span::from_millis(millis)
}

/// Fails unless `value` is within a thousandth of `expected`.
#[track_caller]
pub(crate) fn assert_near(value: f64, expected: f64) {
    assert!((value - expected).abs() <= 1e-3 * expected.abs(), "{value} instead of {expected}");
}

/// A report of a port of `gbps`, taken `micros` after the start.
pub(crate) fn hop(micros: u64, tx_bytes: u64, queue_bytes: u64, gbps: u64) -> IntHop {
    let at = Timestamp::ZERO + Span::from_micros(micros);
    IntHop { port: gbps as u32, at, tx_bytes, queue_bytes, rate: Rate::from_gbps(gbps) }
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Acked,
    Marked,
    Lost,
}

/// What one cause revealed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batch {
    pub(crate) acked: Vec<PacketRecord>,
    pub(crate) lost: Vec<PacketRecord>,
    pub(crate) spurious: Vec<PacketRecord>,
    pub(crate) recovered: Vec<PacketRecord>,
    pub(crate) persistent_congestion: Option<Span>,
    /// A probe or retransmission time-out, with how many there were in a row.
    pub(crate) timeout: Option<u32>,
    /// What is lost was trimmed by a switch and reported by the receiver.
    pub(crate) trimmed: bool,
}

impl Batch {
    const fn cause(&self) -> Cause {
        match self.timeout {
            Some(consecutive) => Cause::Timeout { consecutive },
            None if self.trimmed => Cause::Trim,
            None if !self.acked.is_empty() => Cause::Ack,
            None if !self.lost.is_empty() || self.spurious.is_empty() => Cause::LossTimer,
            None => Cause::Spurious,
        }
    }
}

/// What the network says of the newest packet of each acknowledgement.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signals {
    pub(crate) int: Vec<IntHop>,
    pub(crate) csig: Vec<CsigSample>,
    pub(crate) fabric_delay: Option<Span>,
    pub(crate) hops: Option<u8>,
}

#[derive(Debug)]
pub(crate) struct Driver<C> {
    pub(crate) controller: C,
    pub(crate) now: Timestamp,
    pub(crate) rtt: Span,
    pub(crate) limit: Limit,
    pub(crate) in_flight: VecDeque<PacketRecord>,
    /// Packets that share an acknowledgement.
    pub(crate) stretch: usize,
    /// What the network says with the next acknowledgements.
    pub(crate) signals: Signals,
    mtu: u64,
    next_packet: u64,
    delivery: DeliveryEstimator,
    min_rtt: Option<Span>,
}

fn tally(packets: &[PacketRecord]) -> Tally {
    let mut tally = Tally::ZERO;
    packets.iter().for_each(|packet| tally.add(u64::from(packet.bytes)));
    tally
}

impl<C: Controller> Driver<C> {
    /// A path with an RTT of 100 ms, an acknowledgement for each packet, and a sender that always has data.
    pub(crate) fn new(controller: C) -> Self {
        Self {
            controller,
            now: Timestamp::ZERO,
            rtt: Span::from_millis(100),
            limit: Limit::Window,
            in_flight: VecDeque::new(),
            stretch: 1,
            signals: Signals::default(),
            mtu: MTU,
            next_packet: 0,
            delivery: DeliveryEstimator::new(Timestamp::ZERO),
            min_rtt: None,
        }
    }

    pub(crate) fn packets(&self) -> u64 {
        self.controller.window() / self.mtu
    }

    pub(crate) fn flight(&self) -> Flight<'static> {
        let mut flight = Flight::idle(self.mtu);
        flight.bytes = self.in_flight.len() as u64 * self.mtu;
        flight.packets = self.in_flight.len() as u64;
        flight.limit = self.limit;
        if self.min_rtt.is_some() {
            flight.smoothed_rtt = Some(self.rtt);
            flight.latest_rtt = Some(self.rtt);
        }
        flight.min_rtt = self.min_rtt;
        flight.delivered = self.delivery.delivered();
        flight.lost = self.delivery.lost();
        flight.next_packet_number = self.next_packet;
        flight
    }

    pub(crate) fn send(&mut self, packets: u64) {
        for _ in 0..packets {
            let mut record = PacketRecord::new(self.next_packet, self.mtu as u32, self.now);
            self.next_packet += 1;
            let at_send = self.delivery.on_sent(self.now, self.mtu, self.flight().bytes);
            record.at_send = SendState { limit: self.limit, ..at_send };
            self.in_flight.push_back(record);
            let sent = Sent::new(self.now, record.packet_number, record.bytes);
            let flight = self.flight();
            self.in_flight.back_mut().unwrap().tag = self.controller.on_sent(&sent, &flight);
        }
    }

    /// Sends what the window allows.
    pub(crate) fn fill(&mut self) {
        let flight = self.flight();
        self.send(self.controller.window().saturating_sub(flight.bytes) / self.mtu);
    }

    /// Takes the oldest packets out of flight.
    pub(crate) fn take(&mut self, packets: usize) -> Vec<PacketRecord> {
        self.in_flight.drain(..packets).collect()
    }

    pub(crate) fn feed(&mut self, batch: &Batch) {
        let gone: u64 = [&batch.acked, &batch.lost, &batch.recovered].iter().map(|part| tally(part).bytes).sum();
        let mut feedback = Feedback::new(self.now, batch.cause());
        feedback.acked = &batch.acked;
        feedback.lost = &batch.lost;
        feedback.spurious = &batch.spurious;
        feedback.recovered_packets = &batch.recovered;
        feedback.newly_acked = tally(&batch.acked);
        feedback.newly_lost = tally(&batch.lost);
        feedback.recovered = tally(&batch.recovered);
        for packet in batch.acked.iter().filter(|packet| packet.arrived_as == Some(Ecn::Ce)) {
            feedback.newly_marked.add(u64::from(packet.bytes));
        }
        feedback.prior_in_flight = self.flight().bytes + gone;
        feedback.persistent_congestion = batch.persistent_congestion;
        if let Some(newest) = batch.acked.last() {
            feedback.int = &self.signals.int;
            feedback.csig = &self.signals.csig;
            feedback.fabric_delay = self.signals.fabric_delay;
            feedback.hops = self.signals.hops;
            let latest = self.now.saturating_since(newest.sent_at);
            feedback.rtt = Some(RttSample { latest, ack_delay: Span::ZERO, sent_at: newest.sent_at });
            self.min_rtt = Some(self.min_rtt.map_or(latest, |min| min.min(latest)));
        }
        batch.acked.iter().chain(&batch.spurious).for_each(|packet| self.delivery.on_acked(packet));
        feedback.delivery = self.delivery.sample(self.now, self.min_rtt);
        batch.lost.iter().for_each(|packet| self.delivery.on_lost(u64::from(packet.bytes)));
        let flight = self.flight();
        self.controller.on_feedback(&feedback, &flight);
    }

    /// Reports the fates of the oldest packets in flight, `stretch` packets a batch, without sending.
    pub(crate) fn report(&mut self, fates: &[Fate]) {
        for fates in fates.chunks(self.stretch) {
            let mut batch = Batch::default();
            for (mut packet, fate) in self.take(fates.len()).into_iter().zip(fates) {
                packet.arrived_as = (*fate == Fate::Marked).then_some(Ecn::Ce);
                if *fate == Fate::Lost { batch.lost.push(packet) } else { batch.acked.push(packet) }
            }
            self.feed(&batch);
        }
    }

    /// Sends one packet and has it acknowledged after `delay`.
    pub(crate) fn ack_after(&mut self, delay: Span) {
        self.send(1);
        self.now += delay;
        self.report(&[Fate::Acked]);
    }

    /// One round trip: fills the window, lets an RTT pass, and reports the fates that `fate` gives to the packets by their
    /// place in the window.
    pub(crate) fn round(&mut self, fate: impl Fn(usize) -> Fate) {
        self.fill();
        self.now += self.rtt;
        let fates: Vec<_> = (0..self.in_flight.len()).map(fate).collect();
        self.report(&fates);
    }

    /// Round trips without loss.
    pub(crate) fn rounds(&mut self, rounds: usize) {
        for _ in 0..rounds {
            self.round(|_| Fate::Acked);
        }
    }

    /// Loses the oldest packet in flight, and has the rest acknowledged.
    pub(crate) fn lose_one(&mut self) {
        self.round(|place| if place == 0 { Fate::Lost } else { Fate::Acked });
    }

    pub(crate) const fn mtu(&self) -> u64 {
        self.mtu
    }

    /// Packets are of another size from now on.
    pub(crate) fn set_mtu(&mut self, mtu: u64) {
        self.mtu = mtu;
        self.signal(&Signal::MtuChange { mtu });
    }

    /// Lets `span` pass, and wakes the controller whenever it asks for that.
    pub(crate) fn pass(&mut self, span: Span) {
        let end = self.now + span;
        while let Some(at) = self.controller.next_timer().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            let flight = self.flight();
            self.controller.on_timer(self.now, &flight);
        }
        self.now = end;
    }

    pub(crate) fn signal(&mut self, signal: &Signal) {
        let flight = self.flight();
        self.controller.on_signal(self.now, signal, &flight);
    }

    /// Nothing is sent for `idle`, and then the engine says so.
    pub(crate) fn idle(&mut self, idle: Span) {
        assert!(self.in_flight.is_empty());
        self.now += idle;
        self.signal(&Signal::Restart { idle });
    }
}

impl Driver<Box<dyn Controller>> {
    /// The same flow once more, with a copy of its controller.
    pub(crate) fn fork(&self) -> Self {
        let (in_flight, delivery, signals) = (self.in_flight.clone(), self.delivery.clone(), self.signals.clone());
        Self { controller: self.controller.clone_box(), in_flight, delivery, signals, ..*self }
    }
}
