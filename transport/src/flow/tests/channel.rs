//! Two ends and a channel between them, in virtual time: what the tests of this module drive.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use cc_algos::controller::{
    Cause, Controller, ControllerState, Feedback, Flight, Handover, Limit, PacketRecord, PacketTag, PathSnapshot, Sent,
};
use cc_algos::ids::{Entropy, PathId};
use cc_algos::receiver::AckEvery;
use cc_algos::signal::{Ecn, IntHop, Signal};
use cc_algos::units::{Rate, Span, Timestamp};

use crate::flow::{Arrived, Event, Gate, Outgoing, Pacing, Receiver, ReceiverConfig, Sender, SenderConfig, Workspace};
use crate::wire::{AckFrame, PacketNumberRange};

pub(super) const PATH: PathId = PathId(0);
pub(super) const MTU: u32 = 1_200;
/// Switches on the way.
pub(super) const HOPS: u8 = 3;

pub(super) fn ms(millis: u64) -> Timestamp {
    Timestamp::ZERO + Span::from_millis(millis)
}

/// RFC 9002 without pacing and without delayed acknowledgements.
pub(super) fn plain() -> SenderConfig {
    SenderConfig { pacing: Pacing::Off, max_ack_delay: Span::ZERO, ..SenderConfig::default() }
}

/// What a [`Probe`] was told, without the slices.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Told {
    pub(super) now: Timestamp,
    pub(super) cause: Cause,
    pub(super) acked: Vec<u64>,
    pub(super) lost: Vec<u64>,
    pub(super) recovered: Vec<u64>,
    pub(super) spurious: Vec<u64>,
    pub(super) marked_packets: u64,
    pub(super) prior_in_flight: u64,
    pub(super) in_flight: u64,
    pub(super) limit: Limit,
    pub(super) persistent: Option<Span>,
    pub(super) rtt: Option<Span>,
    pub(super) fabric_delay: Option<Span>,
    pub(super) hops: Option<u8>,
    pub(super) int: Vec<IntHop>,
    pub(super) mtu: u64,
    pub(super) tags: Vec<PacketTag>,
}

/// What a [`Probe`] and its copies share.
#[derive(Debug, Default)]
struct Shared {
    window: u64,
    told: Vec<Told>,
    signals: Vec<Signal>,
    siblings: Vec<PathSnapshot>,
    in_slow_start: Option<bool>,
    timer: Option<Timestamp>,
    timers_run: Vec<Timestamp>,
}

/// A controller with settings instead of a law, which writes down what it is told. Copies share one notebook.
#[derive(Clone, Debug)]
pub(super) struct Probe {
    pub(super) rate: Option<Rate>,
    pub(super) in_slow_start: bool,
    shared: Arc<Mutex<Shared>>,
}

impl Probe {
    pub(super) fn with_window(packets: u64) -> Self {
        Self::with_window_bytes(packets * u64::from(MTU))
    }

    pub(super) fn with_window_bytes(window: u64) -> Self {
        let shared = Arc::new(Mutex::new(Shared { window, ..Shared::default() }));
        Self { rate: None, in_slow_start: false, shared }
    }

    /// Everything told so far.
    pub(super) fn told(&self) -> Vec<Told> {
        self.shared.lock().unwrap().told.clone()
    }

    pub(super) fn signals(&self) -> Vec<Signal> {
        self.shared.lock().unwrap().signals.clone()
    }

    /// Enters or leaves slow start.
    pub(super) fn set_slow_start(&self, in_slow_start: bool) {
        self.shared.lock().unwrap().in_slow_start = Some(in_slow_start);
    }

    /// Sets the controller's own timer.
    pub(super) fn set_timer(&self, at: Timestamp) {
        self.shared.lock().unwrap().timer = Some(at);
    }

    /// When the controller's own timer ran.
    pub(super) fn timers_run(&self) -> Vec<Timestamp> {
        self.shared.lock().unwrap().timers_run.clone()
    }

    /// The siblings shown with the latest feedback.
    pub(super) fn siblings(&self) -> Vec<PathSnapshot> {
        self.shared.lock().unwrap().siblings.clone()
    }
}

impl Controller for Probe {
    fn on_sent(&mut self, sent: &Sent, flight: &Flight<'_>) -> PacketTag {
        assert_eq!(flight.next_packet_number, sent.packet_number + 1);
        PacketTag([sent.packet_number, flight.bytes])
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let numbers = |records: &[PacketRecord]| records.iter().map(|record| record.packet_number).collect();
        let mut shared = self.shared.lock().unwrap();
        shared.siblings = flight.siblings.to_vec();
        shared.told.push(Told {
            now: feedback.now,
            cause: feedback.cause,
            acked: numbers(feedback.acked),
            lost: numbers(feedback.lost),
            recovered: numbers(feedback.recovered_packets),
            spurious: numbers(feedback.spurious),
            marked_packets: feedback.newly_marked.packets,
            prior_in_flight: feedback.prior_in_flight,
            in_flight: flight.bytes,
            limit: flight.limit,
            persistent: feedback.persistent_congestion,
            rtt: feedback.rtt.map(|sample| sample.latest),
            fabric_delay: feedback.fabric_delay,
            hops: feedback.hops,
            int: feedback.int.to_vec(),
            mtu: flight.mtu,
            tags: feedback.acked.iter().chain(feedback.lost).map(|record| record.tag).collect(),
        });
    }

    fn on_signal(&mut self, _now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
        self.shared.lock().unwrap().signals.push(*signal);
    }

    fn on_timer(&mut self, now: Timestamp, _flight: &Flight<'_>) {
        let mut shared = self.shared.lock().unwrap();
        shared.timer = None;
        shared.timers_run.push(now);
    }

    fn next_timer(&self) -> Option<Timestamp> {
        self.shared.lock().unwrap().timer
    }

    fn window(&self) -> u64 {
        self.shared.lock().unwrap().window
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.rate
    }

    fn in_slow_start(&self) -> bool {
        self.shared.lock().unwrap().in_slow_start.unwrap_or(self.in_slow_start)
    }

    fn state(&self) -> ControllerState {
        ControllerState::new(self.window(), "fixed")
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn handover(&self) -> Handover {
        Handover::of_window(self.window())
    }
}

/// What happens to a packet on its way to the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Arrives,
    /// Arrives this much later than others.
    Late(Span),
    Marked,
    Dropped,
}

/// Packet numbers serve as contents, so that each is known by its number.
pub(super) struct Channel {
    pub(super) now: Timestamp,
    pub(super) sender: Sender<u64>,
    pub(super) receiver: Receiver,
    pub(super) work: Workspace<u64>,
    /// Everything that became of packets.
    pub(super) events: Vec<Event<u64>>,
    /// When each packet left.
    pub(super) departures: Vec<(u64, Timestamp)>,
    /// The codepoint that each acknowledged packet arrived with, as far as the receiver told.
    pub(super) arrived_as: Vec<(u64, Option<Ecn>)>,
    /// Whether ECN codepoints are wiped out on the way.
    pub(super) bleaches: bool,
    pub(super) delay: Span,
    data: VecDeque<Arrived>,
    acks: VecDeque<(Timestamp, AckFrame)>,
    latest_ack: AckFrame,
}

impl Channel {
    /// `one_way` from end to end, an acknowledgement for each packet at once.
    pub(super) fn new(config: SenderConfig, controller: &Probe, one_way: Span) -> Self {
        Self::with_ack_every(config, controller, one_way, 1)
    }

    pub(super) fn with_ack_every(config: SenderConfig, controller: &Probe, one_way: Span, every: u32) -> Self {
        Self::with_receiver(config, controller, one_way, ReceiverConfig::default(), every)
    }

    pub(super) fn with_receiver(
        config: SenderConfig,
        controller: &Probe,
        one_way: Span,
        receiver: ReceiverConfig,
        ack_every: u32,
    ) -> Self {
        let policy = AckEvery::new(ack_every, config.max_ack_delay.max(Span::from_millis(20)));
        Self {
            now: Timestamp::ZERO,
            sender: Sender::new(config, controller.clone_box(), Timestamp::ZERO),
            receiver: Receiver::new(receiver, Box::new(policy)),
            work: Workspace::new(),
            events: Vec::new(),
            departures: Vec::new(),
            arrived_as: Vec::new(),
            bleaches: false,
            delay: one_way,
            data: VecDeque::new(),
            acks: VecDeque::new(),
            latest_ack: AckFrame::default(),
        }
    }

    /// Sends a packet whatever the gate says.
    pub(super) fn send(&mut self, entropy: u32, fate: Fate) -> u64 {
        let content = self.sender.next_packet_number(PATH);
        let ecn = self.sender.ecn(PATH);
        let entropy = Entropy(entropy);
        let number = self.sender.on_sent(self.now, Outgoing { path: PATH, entropy, bytes: MTU, content, block: None });
        assert_eq!(number, content);
        self.departures.push((number, self.now));
        let (extra, ecn) = match fate {
            Fate::Dropped => return number,
            Fate::Arrives => (Span::ZERO, ecn),
            Fate::Late(extra) => (extra, ecn),
            Fate::Marked => (Span::ZERO, if ecn.is_capable() { Ecn::Ce } else { ecn }),
        };
        let ecn = if self.bleaches { Ecn::NotEct } else { ecn };
        let now = self.now + self.delay + extra;
        let at = self.data.partition_point(|other| other.now <= now);
        let arrived = Arrived {
            now,
            packet_number: number,
            bytes: MTU,
            path: PATH,
            entropy,
            ecn,
            hops: Some(HOPS),
            ack_eliciting: true,
        };
        self.data.insert(at, arrived);
        number
    }

    /// Sends `packets` in a row, of which those in `dropped` get lost.
    pub(super) fn burst(&mut self, packets: u64, dropped: &[u64]) {
        for _ in 0..packets {
            let fate =
                if dropped.contains(&self.sender.next_packet_number(PATH)) { Fate::Dropped } else { Fate::Arrives };
            self.send(0, fate);
        }
    }

    /// Sends up to `packets` while the gate is open; returns how many left.
    pub(super) fn fill(&mut self, packets: u64) -> u64 {
        let mut sent = 0;
        while sent < packets && self.sender.gate(self.now, PATH, u64::from(MTU)) == Gate::Open {
            self.send(0, Fate::Arrives);
            sent += 1;
        }
        sent
    }

    /// Lets time pass until `until`, with everything that happens meanwhile.
    pub(super) fn run_until(&mut self, until: Timestamp) {
        while let Some(at) = self.next_event().filter(|at| *at <= until) {
            self.now = self.now.max(at);
            self.step();
        }
        self.now = until;
    }

    /// The next thing that happens by itself.
    pub(super) fn next_event(&self) -> Option<Timestamp> {
        let data = self.data.front().map(|packet| packet.now);
        let ack = self.acks.front().map(|(at, _)| *at);
        [data, ack, self.receiver.next_timeout(), self.sender.next_timeout()].into_iter().flatten().min()
    }

    pub(super) fn step(&mut self) {
        while self.data.front().is_some_and(|packet| packet.now <= self.now) {
            let packet = self.data.pop_front().unwrap();
            self.receiver.on_packet(packet);
            self.acknowledge();
        }
        self.receiver.on_timeout(self.now);
        self.acknowledge();
        while self.acks.front().is_some_and(|(at, _)| *at <= self.now) {
            let (_, frame) = self.acks.pop_front().unwrap();
            self.sender.on_ack(self.now, &frame, &mut self.work).unwrap();
            self.arrived_as.extend(self.work.acked().iter().map(|packet| (packet.packet_number, packet.arrived_as)));
            self.events.append(&mut self.work.events);
            self.latest_ack = frame;
        }
        self.sender.on_timeout(self.now, &mut self.work);
        self.events.append(&mut self.work.events);
    }

    fn acknowledge(&mut self) {
        if self.receiver.ack_due(self.now) {
            let mut frame = AckFrame::default();
            self.receiver.write_ack(self.now, &mut frame);
            self.acks.push_back((self.now + self.delay, frame));
        }
    }

    /// One packet is acknowledged 100 ms after the start, whatever is on its way.
    pub(super) fn acknowledge_only(&mut self, packet_number: u64) {
        self.now = ms(100);
        let mut frame = AckFrame { largest: packet_number, ..AckFrame::default() };
        frame.ranges.push(PacketNumberRange::single(packet_number));
        self.sender.on_ack(self.now, &frame, &mut self.work).unwrap();
        self.events.append(&mut self.work.events);
    }

    /// Takes back the acknowledgements under way.
    pub(super) fn drop_acks(&mut self) {
        self.acks.clear();
    }

    /// The latest acknowledgement arrives once more.
    pub(super) fn repeat_ack(&mut self) {
        if !self.latest_ack.ranges.is_empty() {
            self.sender.on_ack(self.now, &self.latest_ack, &mut self.work).unwrap();
            assert!(self.work.events.is_empty(), "a repeated acknowledgement brings nothing new");
        }
    }

    pub(super) fn lost(&self) -> Vec<u64> {
        self.events
            .iter()
            .filter_map(|event| if let Event::Lost(content) = event { Some(*content) } else { None })
            .collect()
    }
}
