//! The flow engine without a network: what a sender and a receiver spend on a packet, 100 of them in flight.

use std::error::Error;
use std::hint::black_box;
use std::time::Duration;

use benches::cpu::CpuTime;
use cc_algos::receiver::AckEvery;
use cc_algos::{Ecn, Entropy, PathId, Registry, Setup, Span, Timestamp};
use criterion::{BatchSize, Criterion};
use transport::flow::{Arrived, Outgoing, Receiver, ReceiverConfig, Sender, SenderConfig, Workspace};
use transport::wire::AckFrame;

const PATH: PathId = PathId(0);
const MTU: u32 = 1_500;
const IN_FLIGHT: u64 = 100;
/// Between packets.
const SPACING: Span = Span::from_micros(10);
/// Packets that one batch of criterion's spends: state must not be made within what is timed.
const BATCH: u64 = 1_000;

/// Both ends of a flow, and acknowledgements that need no network.
struct Flow {
    now: Timestamp,
    sender: Sender<u64>,
    receiver: Receiver,
    ack: AckFrame,
    work: Workspace<u64>,
}

impl Flow {
    fn new() -> Result<Self, Box<dyn Error>> {
        let now = Timestamp::ZERO;
        let controller =
            Registry::builtin().build("fixed-window?window=1000000", &Setup::new(now, u64::from(MTU), 1))?;
        let receiver = Receiver::new(ReceiverConfig::default(), Box::new(AckEvery::new(1, Span::ZERO)));
        let mut sender_config = SenderConfig::datacentre();
        sender_config.mtu = u64::from(MTU);
        let mut flow = Self {
            now,
            sender: Sender::new(sender_config, controller, now),
            receiver,
            ack: AckFrame::default(),
            work: Workspace::new(),
        };
        (0..IN_FLIGHT).for_each(|_| {
            flow.send();
        });
        Ok(flow)
    }

    /// The gate and `on_sent`.
    fn send(&mut self) -> u64 {
        self.now += SPACING;
        black_box(self.sender.gate(self.now, PATH, u64::from(MTU)));
        let packet = Outgoing { path: PATH, entropy: Entropy(0), bytes: MTU, content: 0, block: None };
        self.sender.on_sent(self.now, packet)
    }

    /// The packet arrives and its acknowledgement is written.
    fn receive(&mut self, packet_number: u64) {
        self.receiver.on_packet(Arrived {
            now: self.now,
            packet_number,
            bytes: MTU,
            path: PATH,
            entropy: Entropy(0),
            ecn: Ecn::Ect0,
            hops: None,
            ack_eliciting: true,
        });
        self.receiver.write_ack(self.now, &mut self.ack);
    }

    /// `on_ack` with one new packet.
    fn acknowledge(&mut self) {
        let outcome = self.sender.on_ack(self.now, &self.ack, &mut self.work);
        assert!(outcome.is_ok(), "an honest receiver is refused");
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let criterion =
        Criterion::default().warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(1));
    let mut criterion = criterion.sample_size(20).with_measurement(CpuTime).configure_from_args();

    let mut flow = Flow::new()?;
    criterion.bench_function("engine/round", |bencher| {
        bencher.iter(|| {
            let number = flow.send();
            flow.receive(number - IN_FLIGHT);
            flow.acknowledge();
        });
    });
    let mut flow = Flow::new()?;
    let mut number = 0;
    criterion.bench_function("engine/receive", |bencher| {
        bencher.iter(|| {
            flow.receive(number);
            number += 1;
        });
    });
    // A sender that is never acknowledged grows: each batch gets one of its own.
    criterion.bench_function(&format!("engine/send x {BATCH}"), |bencher| {
        bencher.iter_batched_ref(
            || Flow::new().expect("it was built before"),
            |flow| (0..BATCH).for_each(|_| _ = black_box(flow.send())),
            BatchSize::LargeInput,
        );
    });
    criterion.final_summary();
    Ok(())
}
