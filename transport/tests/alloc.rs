//! In steady state the flow engine allocates nothing, whatever happens to packets.

use cc_algos::controller::{Controller, ControllerState, Feedback, Flight, Handover};
use cc_algos::ids::{Entropy, PathId};
use cc_algos::receiver::AckEvery;
use cc_algos::signal::Ecn;
use cc_algos::units::{Span, Timestamp};
use transport::flow::code::{BlockReceiver, Coding, Next, Parity, Place};
use transport::flow::{
    Arrived, EchoConfig, Gate, LossPolicy, Outgoing, Receiver, ReceiverConfig, Sender, SenderConfig, Workspace,
};
use transport::wire::AckFrame;

const PATH: PathId = PathId(0);
const MTU: u32 = 1_200;

#[derive(Clone, Debug)]
struct FixedWindow;

impl Controller for FixedWindow {
    fn on_feedback(&mut self, _feedback: &Feedback<'_>, _flight: &Flight<'_>) {}
    fn window(&self) -> u64 {
        64 * u64::from(MTU)
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

struct Loop {
    now: Timestamp,
    sender: Sender<u64>,
    receiver: Receiver,
    work: Workspace<u64>,
    frame: AckFrame,
    entropies: u32,
    round: u64,
    /// Blocks at the receiver, if the flow is coded.
    blocks: Option<BlockReceiver>,
    /// Places of the packets sent in this round.
    places: Vec<Option<Place>>,
}

impl Loop {
    fn new(loss: LossPolicy, entropies: u32, coding: Option<Coding>) -> Self {
        let mut config = SenderConfig::default();
        (config.loss, config.coding) = (loss, coding);
        config.initial_rtt = Span::from_millis(1);
        let mut receiver = ReceiverConfig::default();
        receiver.echo = EchoConfig::ALL;
        Self {
            now: Timestamp::ZERO,
            sender: Sender::new(config, Box::new(FixedWindow), Timestamp::ZERO),
            receiver: Receiver::new(receiver, Box::new(AckEvery::new(1, Span::ZERO))),
            work: Workspace::new(),
            frame: AckFrame::default(),
            entropies,
            round: 0,
            blocks: coding.map(BlockReceiver::new),
            places: Vec::new(),
        }
    }

    /// The place of the next packet; there is always more data.
    fn next_place(&mut self) -> Option<Place> {
        match self.sender.blocks_mut()?.next(u64::MAX) {
            Next::Again(place, _) | Next::Data(place) | Next::Parity(place) => Some(place),
            Next::Nothing | Next::Blocked => panic!("there is more data, and no block stays incomplete for long"),
        }
    }

    /// The packet of that number arrives and is acknowledged, with what is to be said about blocks before it.
    fn exchange_blocks(&mut self, place: Option<Place>) {
        let (Some(blocks), Some(place)) = (&mut self.blocks, place) else { return };
        blocks.on_shard(self.now, &place.shard(1_000));
        while let Some(nack) = blocks.poll_nack(self.now) {
            self.sender.on_block_nack(self.now, &nack, &mut self.work).expect("an honest complaint");
        }
        self.sender.on_block_ack(&blocks.ack(), &mut self.work).expect("an honest report");
    }

    /// A millisecond: what the gate lets pass is sent, all but each 31st packet arrives, everything is acknowledged.
    fn turn(&mut self) -> u64 {
        self.round += 1;
        self.now += Span::from_millis(1);
        let first = self.sender.next_packet_number(PATH);
        self.places.clear();
        while self.sender.gate(self.now, PATH, u64::from(MTU)) == Gate::Open {
            let content = self.sender.next_packet_number(PATH);
            let entropy = Entropy(content as u32 % self.entropies);
            let block = self.next_place();
            self.places.push(block);
            self.sender.on_sent(self.now, Outgoing { path: PATH, entropy, bytes: MTU, content, block });
        }
        let end = self.sender.next_packet_number(PATH);
        for packet_number in (first..end).filter(|number| number % 31 != 7) {
            self.receiver.on_packet(Arrived {
                now: self.now,
                packet_number,
                bytes: MTU,
                path: PATH,
                entropy: Entropy(0),
                ecn: if packet_number % 5 == 0 { Ecn::Ce } else { self.sender.ecn(PATH) },
                hops: None,
                ack_eliciting: true,
            });
            self.exchange_blocks(self.places[(packet_number - first) as usize]);
            self.receiver.write_ack(self.now, &mut self.frame);
            self.sender.on_ack(self.now, &self.frame, &mut self.work).expect("an honest acknowledgement");
        }
        self.sender.on_timeout(self.now, &mut self.work);
        if let Some(floor) = self.sender.ack_floor(self.now, PATH) {
            self.receiver.on_ack_floor(floor);
        }
        end - first
    }
}

#[test]
fn steady_state_allocates_nothing() {
    // Every 31st packet is lost: blocks of two and one make that good, those of forty and one often do not.
    let coding = Coding::new(2, Parity::Fixed(1), Span::from_micros(640)).ok();
    let many = Coding::new(40, Parity::Fixed(1), Span::from_micros(640)).ok();
    let rfc9002 = LossPolicy::RFC_9002;
    let kinds = [
        (rfc9002, 1, None),
        (LossPolicy::RACK, 1, None),
        (rfc9002, 16, None),
        (rfc9002, 1, coding),
        (rfc9002, 1, many),
    ];
    for (loss, entropies, coding) in kinds {
        let mut exchange = Loop::new(loss, entropies, coding);
        for _ in 0..2_000 {
            exchange.turn();
        }
        let mut sent = 0;
        let allocations = allocation_counter::measure(|| sent = (0..2_000).map(|_| exchange.turn()).sum());
        assert!(sent > 20_000, "{sent} packets");
        let totals = exchange.sender.stats(PATH).totals;
        assert!(totals.lost.packets + totals.recovered.packets > 1_000, "{totals:?}");
        assert_eq!(allocations.count_total, 0, "{loss:?} over {entropies} entropies, {coding:?}, {sent} packets");
        if let Some(blocks) = exchange.sender.blocks() {
            assert!(blocks.totals().complete > 2_000, "{:?}", blocks.totals());
        }
    }
}
