//! A small network that drives the real engine: `transport::flow::{Sender, Receiver}` over one link, in virtual time.
//!
//! Everything a script does goes through the engine's own entry points, so that every history it makes can happen. Signals
//! that the engine does not carry are added on the way to the controller.

mod exchange;
mod link;
mod moves;
mod signals;

use std::collections::VecDeque;

use cc_algos::controller::{Controller, Handover, Setup};
use cc_algos::ids::PathId;
use cc_algos::receiver::AckEvery;
use cc_algos::signal::Signal;
use cc_algos::units::{Rate, Span, Timestamp};
use transport::flow::{Arrived, EchoConfig, Receiver, ReceiverConfig, Sender, SenderConfig, Workspace};
use transport::wire::AckFrame;

use crate::observe::{Invariant, Moment, Violation};
use crate::script::Network;
use crate::subject::Subject;
use crate::tap::Tap;

use exchange::Demand;
use link::{Fates, Link};
pub(crate) use signals::Decor;

pub(crate) const PATH: PathId = PathId(0);

/// Below this round trip the ends are configured as in a datacentre.
const DATACENTRE_RTT: Span = Span::from_millis(1);

/// Most packets of one script. Beyond them nothing more is sent: a case must end, whatever the controller does.
const MOST_PACKETS: u64 = 1_500;

/// Something on its way to the sender apart from acknowledgements.
#[derive(Clone, Copy, Debug)]
enum Notice {
    Signal(Signal),
    Trimmed(u64),
}

/// Two ends, and a link between them.
pub struct World {
    network: Network,
    now: Timestamp,
    mtu: u64,
    /// What was added to the base round trip.
    extra_delay: Span,
    /// What the switch near the source said last.
    nearby_queue_bytes: u64,
    tap: Tap,
    sender: Sender<u64>,
    receiver: Receiver,
    work: Workspace<u64>,
    link: Link,
    fates: Fates,
    data: VecDeque<Arrived>,
    acks: VecDeque<(Timestamp, AckFrame)>,
    notices: VecDeque<(Timestamp, Notice)>,
    demand: Demand,
    /// When the pacer lets the next packet leave.
    wake: Option<Timestamp>,
    /// Packets that may still be sent.
    allowance: u64,
    delivered: u64,
}

impl World {
    /// A network with a fresh flow of the subject on it, watched by `invariants`.
    pub fn new(subject: &Subject, network: &Network, invariants: Vec<Box<dyn Invariant>>) -> Self {
        let controller = subject.build(&setup(network));
        let rule = AckEvery::new(network.ack_every, network.ack_delay);
        Self::with(
            Tap::new(controller, invariants),
            network,
            Receiver::new(receiver(network), subject.build_receiver(rule)),
        )
    }

    fn with(tap: Tap, network: &Network, receiver: Receiver) -> Self {
        let now = Timestamp::ZERO + network.clock;
        let sender = Sender::new(sender(network), tap.clone_box(), now);
        Self {
            network: network.clone(),
            now,
            mtu: network.mtu.max(1),
            extra_delay: Span::ZERO,
            nearby_queue_bytes: 0,
            tap,
            sender,
            receiver,
            work: Workspace::new(),
            link: Link::new(network.rate, now),
            fates: Fates::default(),
            data: VecDeque::new(),
            acks: VecDeque::new(),
            notices: VecDeque::new(),
            demand: Demand::Nothing,
            wake: None,
            allowance: MOST_PACKETS,
            delivered: 0,
        }
    }

    /// The time.
    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// Bytes that arrived so far, without duplicates.
    pub const fn delivered(&self) -> u64 {
        self.delivered
    }

    /// A round trip over an empty queue as the network is now, with the time of one packet on the link.
    pub fn round(&self) -> Span {
        let packet = self.link.rate().time_for(self.mtu).unwrap_or(Span::MAX);
        self.network.rtt + self.extra_delay + packet
    }

    /// Grants more packets than a script has.
    pub const fn allow(&mut self, packets: u64) {
        self.allowance = self.allowance.saturating_add(packets);
    }

    /// What engine and owner share, which outlives a world that panicked.
    pub(crate) fn tap(&self) -> Tap {
        self.tap.clone()
    }

    /// What an invariant found, if one did.
    pub fn violation(&self) -> Option<(Violation, Moment)> {
        let inner = self.tap.lock();
        inner.violation.clone().zip(inner.moment)
    }

    /// Whether the history is over: something was found.
    fn is_over(&self) -> bool {
        self.tap.lock().violation.is_some()
    }
}

/// What the controller of a flow on `network` is built from.
pub fn setup(network: &Network) -> Setup {
    let mut setup = Setup::new(Timestamp::ZERO + network.clock, network.mtu, 1);
    setup.local_line_rate = Some(network.rate.max(Rate::from_bps(1)));
    setup.host_view.nearby_rtt = Some(network.rtt.min(Span::from_micros(20)));
    setup.handover = network.resume.map(|packets| Handover::of_window(u64::from(packets).saturating_mul(network.mtu)));
    setup
}

fn sender(network: &Network) -> SenderConfig {
    let mut config = if network.rtt < DATACENTRE_RTT { SenderConfig::datacentre() } else { SenderConfig::default() };
    config.mtu = network.mtu;
    // As if a handshake had measured it.
    config.initial_rtt = network.rtt.max(Span::from_nanos(1));
    config.max_ack_delay = network.ack_delay;
    config
}

fn receiver(network: &Network) -> ReceiverConfig {
    let mut config = ReceiverConfig::default();
    if network.echo {
        config.echo = EchoConfig::ALL;
    }
    config
}
