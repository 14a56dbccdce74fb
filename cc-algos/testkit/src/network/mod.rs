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
use cc_algos::declare::{Declaration, Need};
use cc_algos::ids::PathId;
use cc_algos::receiver::AckEvery;
use cc_algos::signal::Signal;
use cc_algos::units::{Rate, Span, Timestamp};
use transport::flow::{
    Arrived, EchoConfig, LossPolicy, Receiver, ReceiverConfig, Rto, Sender, SenderConfig, Workspace,
};
use transport::wire::AckFrame;

use crate::observe::{Invariant, Moment, Outputs, Violation};
use crate::script::{Csig, Honesty, Network};
use crate::subject::Subject;
use crate::tap::Tap;
use crate::trial::Found;

use exchange::{Demand, Until};
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

/// A network on which nothing is amiss.
#[derive(Clone, Copy, Debug)]
pub struct Clean {
    /// Packets that it holds in a round trip.
    pub packets: u32,
    /// Packets that its buffer holds.
    pub buffer: u32,
    /// Packets in the buffer above which it marks.
    pub mark_above: Option<u32>,
}

/// Two ends, and a link between them.
pub struct World {
    network: Network,
    now: Timestamp,
    mtu: u64,
    /// What was added to the base round trip.
    extra_delay: Span,
    /// Shortest round trip that the path has had.
    shortest_round: Span,
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
        Self::of(subject, network, subject.build(&setup(network)), invariants)
    }

    /// A network with a flow whose controller the caller built, as `subject` or around what it builds.
    pub fn with_controller(subject: &Subject, network: &Network, controller: Box<dyn Controller>) -> Self {
        Self::of(subject, network, controller, Vec::new())
    }

    fn of(
        subject: &Subject,
        network: &Network,
        controller: Box<dyn Controller>,
        invariants: Vec<Box<dyn Invariant>>,
    ) -> Self {
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
        let mut world = Self {
            network: network.clone(),
            now,
            mtu: network.mtu.max(1),
            extra_delay: Span::ZERO,
            shortest_round: Span::MAX,
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
        };
        world.note_round();
        world
    }

    /// Bytes in flight.
    pub fn in_flight(&self) -> u64 {
        self.sender.stats(PATH).in_flight_bytes
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
        let packet = self.link.time_for(self.mtu);
        self.network.rtt + self.extra_delay + packet
    }

    /// What the path is now counts among what it has been.
    fn note_round(&mut self) {
        self.shortest_round = self.shortest_round.min(self.round());
    }

    /// Whether the round trip was shorter before, by more than one in `part`: a law that measures queues by the shortest one
    /// sees one where there is none. A migration of an idle flow makes the path new.
    pub fn has_grown_longer(&self, part: u64) -> bool {
        self.round() > self.shortest_round + self.shortest_round.mul_div(1, part)
    }

    /// Largest packet, bytes.
    pub const fn mtu(&self) -> u64 {
        self.mtu
    }

    /// Bytes that the link carries in `span`.
    pub const fn capacity(&self, span: Span) -> u64 {
        self.link.rate().bytes_in(span)
    }

    /// What the controller answers now.
    pub fn outputs(&self) -> Outputs {
        Outputs::of(&*self.tap.lock().controller)
    }

    /// Largest window since the flow began.
    pub fn largest_window(&self) -> u64 {
        self.tap.lock().largest_window
    }

    /// What the controller hands over now.
    pub fn handover(&self) -> Handover {
        self.tap.lock().controller.handover()
    }

    /// Whether packets go out as ECN-capable, and their marks can be told: counts that were forged to the end of their range do
    /// not grow any more.
    pub fn is_marking(&self) -> bool {
        let is_told = self.network.echo || self.fates.forge_marks < u64::MAX / 2;
        self.sender.ecn(PATH).is_capable() && is_told
    }

    /// Puts another controller in charge, watched by `invariants`.
    pub fn replace(&mut self, controller: Box<dyn Controller>, invariants: Vec<Box<dyn Invariant>>) {
        self.tap = Tap::new(controller, invariants);
        self.sender.replace_controller(self.now, PATH, self.tap.clone_box());
    }

    /// From now on so many packets of a hundred thousand are dropped, at random.
    pub const fn lose_at_random(&mut self, per_100_000: u32) {
        self.fates.lose_per_100_000 = per_100_000;
    }

    /// Gives the signals that the controller needs.
    pub fn provide(&mut self, declaration: &Declaration) {
        let mut inner = self.tap.lock();
        inner.decor.fabric = Honesty::Honest;
        inner.decor.int = if declaration.needs(Need::Int) { Honesty::Honest } else { Honesty::Absent };
        inner.decor.csig = if declaration.needs(Need::Csig) { Csig::Ratio } else { Csig::Absent };
        let marks = [Need::Ecn, Need::L4s, Need::CongestionNotification];
        if marks.iter().any(|need| declaration.needs(*need)) {
            self.network.mark_above = self.network.mark_above.or(Some(4));
        }
    }

    /// What befell packets is over, and the network is as `clean` says; the round trip stays as long as it was. The
    /// controller gets the signals that it needs.
    pub fn clean(&mut self, clean: &Clean, declaration: &Declaration) {
        // Counts that shrank would fail ECN for good.
        self.fates = Fates { forge_marks: self.fates.forge_marks, ..Fates::default() };
        let round = self.network.rtt + self.extra_delay;
        let bytes = self.mtu.saturating_mul(u64::from(clean.packets));
        // No faster than the host's own link, which the controller may know.
        let rate = Rate::from_bytes_in(bytes, round).unwrap_or(Rate::MAX).min(self.network.rate);
        self.link = Link::new(rate.max(Rate::from_bps(1)), self.now);
        // What stood in the queue of the former link is through, or it might take days; but no sooner than a packet that finds
        // the new one empty, or that would be the smallest RTT ever after.
        let latest = self.now + self.one_way() + self.link.time_for(self.mtu);
        self.data.iter_mut().for_each(|packet| packet.now = packet.now.min(latest));
        (self.network.buffer, self.network.mark_above) = (clean.buffer, clean.mark_above);
        self.provide(declaration);
        self.network.mark_above = clean.mark_above;
    }

    /// Lets time pass until something arrives: after timeouts in a row the next probe may be a long time off. False if timers
    /// that fire meanwhile are too many to wait for it.
    pub fn await_delivery(&mut self) -> bool {
        self.demand = Demand::Endless;
        self.run(Until::Delivered(self.delivered))
    }

    /// Whether all packets that were granted have been sent.
    pub const fn is_exhausted(&self) -> bool {
        self.allowance == 0
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

    /// What an invariant found as an error.
    pub(crate) fn verdict(&self) -> Result<(), Box<Found>> {
        match self.violation() {
            Some((violation, moment)) => Err(Box::new(Found { violation, moment: Some(moment) })),
            None => Ok(()),
        }
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
    if let Some(time) = network.retransmit_after {
        config.loss = LossPolicy::PerPacketRto { rto: Rto::Fixed(time.max(Span::from_nanos(1))) };
    }
    config
}

fn receiver(network: &Network) -> ReceiverConfig {
    let mut config = ReceiverConfig::default();
    if network.echo {
        config.echo = EchoConfig::ALL;
    }
    config
}
