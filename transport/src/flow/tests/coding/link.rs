//! A coded flow over a link that treats each packet as it is told, in virtual time.

use std::collections::{BTreeMap, BTreeSet};

use cc_algos::ids::Entropy;
use cc_algos::receiver::AckEvery;
use cc_algos::signal::Ecn;
use cc_algos::units::{Span, Timestamp};

use super::super::channel::{MTU, PATH, Probe, plain};
use crate::flow::code::{BlockReceiver, Coding, Next, Place, ShardArrival};
use crate::flow::{Arrived, Event, Gate, Outgoing, Receiver, ReceiverConfig, Sender, SenderConfig, Workspace};
use crate::wire::{AckFrame, BlockAck, Nack};

pub(super) const ONE_WAY: Span = Span::from_millis(50);
pub(super) const SHARD_LEN: u16 = 1_000;
const PING: u64 = u64::MAX;

/// Copies of a packet that arrive, each so much later than others.
pub(super) type Copies = Vec<Span>;

/// What the receiver sends back at once.
struct Answer {
    at: Timestamp,
    ack: Option<AckFrame>,
    blocks: BlockAck,
    nack: Option<Nack>,
}

struct Flying {
    at: Timestamp,
    packet_number: u64,
    place: Option<Place>,
}

/// Data is a row of numbers from zero; parity of block b has the content `!b`.
pub(super) struct Link {
    pub(super) now: Timestamp,
    pub(super) sender: Sender<u64>,
    pub(super) receiver: Receiver,
    pub(super) blocks: BlockReceiver,
    /// Places in the order in which they left, with the time.
    pub(super) sent: Vec<(Place, Timestamp)>,
    /// How often each piece of data came out at the receiver.
    pub(super) delivered: Vec<u32>,
    /// When the last of them did.
    pub(super) delivered_at: Timestamp,
    /// Data that the sender knows to be there.
    pub(super) settled: BTreeSet<u64>,
    /// Complaints in the order in which they left.
    pub(super) nacks: Vec<(Timestamp, Nack)>,
    pub(super) answers_lost: Box<dyn FnMut() -> bool>,
    fate: Box<dyn FnMut(u64) -> Copies>,
    work: Workspace<u64>,
    next_data: u64,
    /// First data of each block.
    starts: BTreeMap<u64, u64>,
    flying: Vec<Flying>,
    answers: Vec<Answer>,
}

impl Link {
    /// So much data, over a link that asks `fate` what becomes of each packet number.
    pub(super) fn new(coding: Coding, probe: &Probe, data: usize, fate: impl FnMut(u64) -> Copies + 'static) -> Self {
        Self::with_config(&plain(), coding, probe, data, Box::new(fate))
    }

    pub(super) fn with_config(
        config: &SenderConfig,
        coding: Coding,
        probe: &Probe,
        data: usize,
        fate: Box<dyn FnMut(u64) -> Copies>,
    ) -> Self {
        let config = SenderConfig { coding: Some(coding), ..config.clone() };
        Self {
            now: Timestamp::ZERO,
            sender: Sender::new(config, Box::new(probe.clone()), Timestamp::ZERO),
            receiver: Receiver::new(ReceiverConfig::default(), Box::new(AckEvery::new(1, Span::ZERO))),
            blocks: BlockReceiver::new(coding),
            sent: Vec::new(),
            delivered: vec![0; data],
            delivered_at: Timestamp::ZERO,
            settled: BTreeSet::new(),
            nacks: Vec::new(),
            answers_lost: Box::new(|| false),
            fate,
            work: Workspace::new(),
            next_data: 0,
            starts: BTreeMap::new(),
            flying: Vec::new(),
            answers: Vec::new(),
        }
    }

    /// Loses the packets of these numbers and nothing else.
    pub(super) fn losing(coding: Coding, probe: &Probe, data: usize, lost: &'static [u64]) -> Self {
        Self::new(coding, probe, data, |number| if lost.contains(&number) { vec![] } else { vec![Span::ZERO] })
    }

    fn pick(&mut self) -> Option<(Option<Place>, u64)> {
        let available = self.delivered.len() as u64 - self.next_data;
        let probing = self.sender.probes(PATH) > 0;
        let blocks = self.sender.blocks_mut().unwrap();
        match blocks.next(available) {
            Next::Again(place, content) => Some((Some(place), content)),
            Next::Data(place) => {
                self.starts.entry(place.block.0).or_insert(self.next_data);
                Some((Some(place), self.next_data))
            }
            Next::Parity(place) => {
                let start = self.starts[&place.block.0];
                assert_eq!(blocks.data_of(place.block), Some((start, start + u64::from(place.k) - 1)));
                Some((Some(place), !place.block.0))
            }
            Next::Nothing | Next::Blocked if probing => {
                Some(blocks.oldest_unsettled().map_or((None, PING), |(place, content)| (Some(place), content)))
            }
            Next::Nothing | Next::Blocked => None,
        }
    }

    fn send(&mut self) {
        while self.sender.gate(self.now, PATH, u64::from(MTU)) == Gate::Open {
            let Some((place, content)) = self.pick() else {
                self.sender.on_app_limited(self.now, PATH);
                return;
            };
            self.next_data += u64::from(content == self.next_data);
            let packet = Outgoing { path: PATH, entropy: Entropy(0), bytes: MTU, content, block: place };
            let packet_number = self.sender.on_sent(self.now, packet);
            self.sent.extend(place.map(|place| (place, self.now)));
            for extra in (self.fate)(packet_number) {
                self.flying.push(Flying { at: self.now + ONE_WAY + extra, packet_number, place });
            }
        }
    }

    fn receive(&mut self, packet: &Flying) {
        let arrived = Arrived {
            now: self.now,
            packet_number: packet.packet_number,
            bytes: MTU,
            path: PATH,
            entropy: Entropy(0),
            ecn: Ecn::NotEct,
            hops: None,
            ack_eliciting: true,
        };
        self.receiver.on_packet(arrived);
        let Some(place) = packet.place else { return };
        let start = self.starts[&place.block.0] as usize;
        let arrival = self.blocks.on_shard(self.now, &place.shard(SHARD_LEN));
        let mut deliver = |index: u8| {
            self.delivered[start + usize::from(index)] += 1;
            self.delivered_at = self.now;
        };
        match arrival {
            ShardArrival::New | ShardArrival::Completes { .. } if !place.is_parity() => deliver(place.index),
            _ => {}
        }
        if let ShardArrival::Completes { missing } = arrival {
            missing.iter().for_each(deliver);
        }
        assert!(!matches!(arrival, ShardArrival::Refused(_)), "an honest sender's {place:?}: {arrival:?}");
    }

    fn answer(&mut self) {
        let nack = self.blocks.poll_nack(self.now);
        self.nacks.extend(nack.map(|nack| (self.now, nack)));
        self.receiver.on_timeout(self.now);
        let mut ack = None;
        if self.receiver.ack_due(self.now) {
            let mut frame = AckFrame::default();
            self.receiver.write_ack(self.now, &mut frame);
            ack = Some(frame);
        }
        if (ack.is_some() || nack.is_some()) && !(self.answers_lost)() {
            self.answers.push(Answer { at: self.now + ONE_WAY, ack, blocks: self.blocks.ack(), nack });
        }
    }

    fn hear(&mut self, answer: &Answer) {
        self.sender.on_block_ack(&answer.blocks, &mut self.work).unwrap();
        self.take_events();
        if let Some(ack) = &answer.ack {
            self.sender.on_ack(self.now, ack, &mut self.work).unwrap();
            self.take_events();
        }
        if let Some(nack) = &answer.nack {
            self.sender.on_block_nack(self.now, nack, &mut self.work).unwrap();
            self.take_events();
        }
    }

    fn take_events(&mut self) {
        for event in self.work.events.drain(..) {
            match event {
                Event::Acked(content) | Event::LateAcked(content) | Event::Restored(content) => {
                    self.settled.extend((content < self.delivered.len() as u64).then_some(content));
                }
                Event::Lost(content) => assert_eq!(content, PING, "shards are their block's business"),
            }
        }
    }

    /// The next thing that happens by itself.
    fn next_event(&self) -> Option<Timestamp> {
        let flying = self.flying.iter().map(|packet| packet.at).min();
        let answers = self.answers.iter().map(|answer| answer.at).min();
        let timers = [self.sender.next_timeout(), self.receiver.next_timeout(), self.blocks.next_timeout()];
        timers.into_iter().chain([flying, answers]).flatten().min()
    }

    pub(super) fn is_done(&self) -> bool {
        self.settled.len() == self.delivered.len()
    }

    /// Lets time pass until everything arrived and is known to have, or for so many events.
    pub(super) fn run(&mut self, events: usize) {
        self.send();
        for _ in 0..events {
            if self.is_done() {
                return;
            }
            self.step();
        }
    }

    /// Lets time pass until then, or until everything arrived.
    pub(super) fn run_until(&mut self, until: Timestamp) {
        self.send();
        while !self.is_done() && self.next_event().is_some_and(|at| at <= until) {
            self.step();
        }
    }

    /// Lets time pass until nothing is under way.
    pub(super) fn run_out(&mut self) {
        self.run(100_000);
        while !(self.flying.is_empty() && self.answers.is_empty()) {
            self.step();
        }
    }

    fn step(&mut self) {
        let Some(at) = self.next_event() else { panic!("a flow that is not done waits for nothing") };
        self.now = self.now.max(at);
        while let Some(index) = self.flying.iter().position(|packet| packet.at <= self.now) {
            let packet = self.flying.remove(index);
            self.receive(&packet);
            self.answer();
        }
        self.answer();
        while let Some(index) = self.answers.iter().position(|answer| answer.at <= self.now) {
            let answer = self.answers.remove(index);
            self.hear(&answer);
        }
        self.sender.on_timeout(self.now, &mut self.work);
        self.take_events();
        self.send();
    }

    /// Shards that left more than once.
    pub(super) fn sent_again(&self) -> usize {
        let different: BTreeSet<_> = self.sent.iter().map(|(place, _)| (place.block.0, place.index)).collect();
        self.sent.len() - different.len()
    }
}
