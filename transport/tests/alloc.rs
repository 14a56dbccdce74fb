//! In steady state the flow engine allocates nothing, whatever happens to packets.

use cc_algos::controller::{Controller, ControllerState, Feedback, Flight, Handover};
use cc_algos::ids::{Entropy, PathId};
use cc_algos::receiver::AckEvery;
use cc_algos::signal::Ecn;
use cc_algos::units::{Span, Timestamp};
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
}

impl Loop {
    fn new(loss: LossPolicy, entropies: u32) -> Self {
        let mut config = SenderConfig::default();
        config.loss = loss;
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
        }
    }

    /// A millisecond: what the gate lets pass is sent, all but each 31st packet arrives, everything is acknowledged.
    fn turn(&mut self) -> u64 {
        self.round += 1;
        self.now += Span::from_millis(1);
        let first = self.sender.next_packet_number(PATH);
        while self.sender.gate(self.now, PATH, u64::from(MTU)) == Gate::Open {
            let content = self.sender.next_packet_number(PATH);
            let entropy = Entropy(content as u32 % self.entropies);
            self.sender.on_sent(self.now, Outgoing { path: PATH, entropy, bytes: MTU, content, block: None });
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
    for (loss, entropies) in [(LossPolicy::RFC_9002, 1), (LossPolicy::RACK, 1), (LossPolicy::RFC_9002, 16)] {
        let mut exchange = Loop::new(loss, entropies);
        for _ in 0..2_000 {
            exchange.turn();
        }
        let mut sent = 0;
        let allocations = allocation_counter::measure(|| sent = (0..2_000).map(|_| exchange.turn()).sum());
        assert!(sent > 20_000, "{sent} packets");
        assert!(exchange.sender.stats(PATH).totals.lost.packets > 1_000);
        assert_eq!(allocations.count_total, 0, "{loss:?} over {entropies} entropies, {sent} packets");
    }
}
