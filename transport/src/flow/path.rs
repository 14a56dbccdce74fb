//! One path of a sender: its state, and its sending half.

use cc_algos::controller::{Controller, Flight, Limit, PathSnapshot, Sent};
use cc_algos::estimate::{DeliveryEstimator, RoundCounter, RttEstimator};
use cc_algos::ids::PathId;
use cc_algos::signal::{Ecn, PathChange, Signal};
use cc_algos::units::{Rate, Span, Timestamp};

use super::balance::PathView;
use super::config::{Pacing, SenderConfig};
use super::ecn::EcnValidator;
use super::ledger::{Ledger, NewPacket};
use super::limits::Limits;
use super::loss::Detector;
use super::pacer::Pacer;
use super::persistent::PersistentCongestion;
use super::skip::Skipper;
use super::stats::{PathStats, Totals};
use super::{Content, Gate, Outgoing};

/// Probe timeouts in a row, and the probes they brought.
#[derive(Clone, Debug, Default)]
pub(super) struct Probes {
    pub(super) expired: u32,
    pub(super) owed: u32,
}

/// Bytes delivered between losses, for coupled laws (OLIA, CoNEXT'12).
#[derive(Clone, Debug, Default)]
pub(super) struct LossSpacing {
    /// Bytes delivered when the last loss was found.
    pub(super) last_at: u64,
    /// Bytes delivered between the last two.
    pub(super) between: u64,
}

/// The time that a packet takes on the slowest of several routes. RTT samples do not tell it: they come from the newest
/// packet acknowledged, which is one that took a fast route.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SlowestRoute(pub(super) Span);

impl SlowestRoute {
    /// A packet was acknowledged `age` after it left. Peaks are forgotten by 1/256 per packet, so that even one in hundreds
    /// that takes the slow route keeps it in mind (ours).
    pub(super) fn on_acked(&mut self, age: Span) {
        let decayed = self.0.saturating_sub(self.0.saturating_sub(age).mul_div(1, 256));
        self.0 = decayed.max(age);
    }
}

/// What is known about gaps at the receiver, for [`Path::ack_floor`].
#[derive(Clone, Debug, Default)]
pub(super) struct FloorState {
    /// The lowest number that the newest acknowledgement left out between its ranges.
    pub(super) gap: Option<u64>,
    told_at: Option<Timestamp>,
}

/// An address pair with its own packet numbers, RTT, loss detection, pacer and controller.
#[derive(Debug)]
pub(super) struct Path<C> {
    pub(super) id: PathId,
    pub(super) controller: Box<dyn Controller>,
    pub(super) ledger: Ledger<C>,
    pub(super) rtt: RttEstimator,
    pub(super) delivery: DeliveryEstimator,
    pub(super) detector: Detector,
    pub(super) ecn: EcnValidator,
    pub(super) limits: Limits,
    pub(super) probes: Probes,
    pub(super) persistent: PersistentCongestion,
    pub(super) spacing: LossSpacing,
    pub(super) floor: FloorState,
    pub(super) totals: Totals,
    pub(super) mtu: u64,
    pub(super) slowest_route: SlowestRoute,
    pub(super) largest_acked: Option<u64>,
    /// When the first RTT sample was taken.
    pub(super) measured_since: Option<Timestamp>,
    /// What held the sender back in the round that was acknowledged last.
    pub(super) limit: Limit,
    /// Since when nothing is in flight, unless nothing was ever sent or the controller knows already.
    pub(super) idle_since: Option<Timestamp>,
    last_sent_at: Option<Timestamp>,
    /// `None` while nothing is paced.
    pacer: Option<Pacer>,
    /// Whether the controller is in slow start, looked up once per round.
    slow_start: bool,
    rounds: RoundCounter,
    skipper: Option<Box<Skipper>>,
}

impl<C: Content> Path<C> {
    pub(super) fn new(id: PathId, config: &SenderConfig, controller: Box<dyn Controller>, now: Timestamp) -> Self {
        let slow_start = controller.in_slow_start();
        let mut path = Self {
            id,
            controller,
            ledger: Ledger::new(),
            rtt: RttEstimator::new(config.initial_rtt, config.granularity, config.max_ack_delay),
            delivery: DeliveryEstimator::new(now),
            detector: Detector::new(config.loss),
            ecn: EcnValidator::new(config.ecn),
            limits: Limits::default(),
            probes: Probes::default(),
            persistent: PersistentCongestion::default(),
            spacing: LossSpacing::default(),
            floor: FloorState::default(),
            totals: Totals::default(),
            mtu: config.mtu.max(1),
            slowest_route: SlowestRoute::default(),
            largest_acked: None,
            measured_since: None,
            limit: Limit::Application,
            idle_since: None,
            last_sent_at: None,
            pacer: None,
            slow_start,
            rounds: RoundCounter::default(),
            skipper: config.skip.map(|skip| Box::new(Skipper::new(skip, id))),
        };
        path.refresh_pacer(now, config.pacing);
        path
    }

    /// Whether a packet of `bytes` may leave, and what holds it back if not.
    pub(super) fn gate(&mut self, now: Timestamp, bytes: u64) -> Gate {
        if self.probes.owed > 0 {
            return Gate::Open;
        }
        let in_flight = self.ledger.in_flight_bytes();
        let window = self.controller.window();
        if in_flight.saturating_add(bytes) > window {
            return self.gate_by_window(now, bytes, window);
        }
        let Some(pacer) = &mut self.pacer else { return Gate::Open };
        match pacer.check(now, bytes) {
            Ok(()) => Gate::Open,
            Err(until) => {
                let next = self.ledger.next_number();
                self.limits.mark(Limit::Pacing, next);
                // What is left of the window fits into one burst: it is the window that is in use.
                if in_flight.saturating_add(pacer.burst_bytes()) >= window {
                    self.limits.mark(Limit::Window, next);
                }
                self.hold_until(until);
                Gate::Blocked { limit: Limit::Pacing, until }
            }
        }
    }

    /// There is something to send that may not leave before `until`: as long as that lasts, the path is not idle, although
    /// nothing may be in flight. RFC 9002, section 7.8, has a sender that its own pacing holds back not count as limited.
    fn hold_until(&mut self, until: Option<Timestamp>) {
        self.idle_since = self.idle_since.map(|since| until.map_or(since, |until| since.max(until)));
    }

    /// The window does not hold the packet. If it is smaller than the packet, one leaves each RTT x packet / window.
    fn gate_by_window(&mut self, now: Timestamp, bytes: u64, window: u64) -> Gate {
        let mut until = None;
        if window < bytes && self.ledger.in_flight_packets() == 0 && window > 0 {
            let Some(last) = self.last_sent_at else { return Gate::Open };
            let due = last + self.rtt.smoothed().mul_div(bytes, window);
            if due <= now {
                return Gate::Open;
            }
            until = Some(due);
            self.hold_until(until);
        }
        self.limits.mark(Limit::Window, self.ledger.next_number());
        Gate::Blocked { limit: Limit::Window, until }
    }

    /// Tells the controller if nothing was in flight for longer than a probe timeout (RFC 9002, section 7.8; RFC 5681,
    /// section 4.1).
    #[inline]
    pub(super) fn resume(&mut self, now: Timestamp, pacing: Pacing, siblings: &[PathSnapshot]) {
        let Some(since) = self.idle_since else { return };
        let idle = now.saturating_since(since);
        if idle > self.rtt.pto() {
            self.idle_since = None;
            self.signal(now, &Signal::Restart { idle }, pacing, siblings);
        }
    }

    pub(super) fn on_sent(&mut self, now: Timestamp, packet: &Outgoing<C>, siblings: &[PathSnapshot]) -> u64 {
        let bytes = u64::from(packet.bytes);
        let codepoint = self.codepoint();
        let at_send = self.delivery.on_sent(now, bytes, self.ledger.in_flight_bytes());
        let number = self.ledger.push(NewPacket {
            now,
            bytes: packet.bytes,
            entropy: packet.entropy,
            codepoint,
            block: packet.block,
            content: packet.content,
            at_send,
        });
        self.ecn.on_sent(codepoint);
        if let Some(pacer) = &mut self.pacer {
            pacer.on_sent(now, bytes);
        }
        self.idle_since = None;
        self.last_sent_at = Some(now);
        self.probes.owed = self.probes.owed.saturating_sub(1);
        self.totals.sent.add(bytes);
        let mut sent = Sent::new(now, number, packet.bytes);
        sent.path = self.id;
        sent.entropy = packet.entropy;
        let flight = self.flight(siblings);
        let tag = self.controller.on_sent(&sent, &flight);
        self.ledger.set_newest_tag(tag);
        if let Some(skipper) = &mut self.skipper
            && skipper.skips_next()
        {
            self.ledger.skip();
        }
        number
    }

    /// The codepoint of the next packet.
    pub(super) fn codepoint(&self) -> Ecn {
        if self.ecn.may_mark() { self.controller.ecn() } else { Ecn::NotEct }
    }

    /// There is nothing to send, or the receiver does not let us. If the window is full at the same time, it is the window
    /// that is in use.
    pub(super) fn on_limited(&mut self, limit: Limit) {
        let in_flight = self.ledger.in_flight_bytes();
        let next = self.ledger.next_number();
        if in_flight.saturating_add(self.mtu) > self.controller.window() {
            self.limits.mark(Limit::Window, next);
        } else {
            self.limits.mark(limit, next);
            self.delivery.set_limited(limit, in_flight);
        }
    }

    pub(super) fn signal(&mut self, now: Timestamp, signal: &Signal, pacing: Pacing, siblings: &[PathSnapshot]) {
        match signal {
            Signal::MtuChange { mtu } => self.mtu = (*mtu).max(1),
            Signal::PathChange { change: PathChange::Migrated, .. } => self.rtt.on_persistent_congestion(),
            _ => {}
        }
        let flight = self.flight(siblings);
        self.controller.on_signal(now, signal, &flight);
        self.refresh_pacer(now, pacing);
    }

    pub(super) fn replace_controller(
        &mut self,
        now: Timestamp,
        controller: Box<dyn Controller>,
        pacing: Pacing,
    ) -> Box<dyn Controller> {
        self.ledger.clear_tags();
        self.slow_start = controller.in_slow_start();
        let former = core::mem::replace(&mut self.controller, controller);
        self.refresh_pacer(now, pacing);
        former
    }

    /// The sender as controllers see it.
    pub(super) fn flight<'a>(&self, siblings: &'a [PathSnapshot]) -> Flight<'a> {
        let mut flight = Flight::idle(self.mtu);
        flight.bytes = self.ledger.in_flight_bytes();
        flight.packets = self.ledger.in_flight_packets();
        flight.limit = self.limit;
        flight.smoothed_rtt = self.rtt.measured_smoothed();
        flight.latest_rtt = self.rtt.adjusted();
        flight.min_rtt = self.rtt.min();
        flight.rtt_variation = self.rtt.variation();
        flight.delivered = self.delivery.delivered();
        flight.lost = self.delivery.lost();
        flight.next_packet_number = self.ledger.next_number();
        flight.siblings = siblings;
        flight
    }

    /// This path as a balancer sees it.
    #[inline]
    pub(super) fn view(&self, now: Timestamp) -> PathView {
        PathView {
            id: self.id,
            now,
            next_packet_number: self.ledger.next_number(),
            in_flight: self.ledger.in_flight_packets(),
            min_rtt: self.rtt.min(),
            smoothed_rtt: self.rtt.measured_smoothed(),
        }
    }

    /// This path as its siblings' controllers see it.
    pub(super) fn snapshot(&self) -> PathSnapshot {
        let mut snapshot = PathSnapshot::new(self.id, self.controller.window());
        snapshot.smoothed_rtt = self.rtt.measured_smoothed();
        snapshot.bytes_between_losses = self.spacing.between;
        snapshot.bytes_since_loss = self.delivery.delivered().saturating_sub(self.spacing.last_at);
        snapshot
    }

    /// Whether a round ends with the acknowledgement of `newest`; whether the law is in slow start is then asked again.
    pub(super) fn end_round(&mut self, newest: u64) {
        if self.rounds.on_acked(newest, self.ledger.next_number()) {
            self.slow_start = self.controller.in_slow_start();
        }
    }

    /// Losses or marks may have ended slow start.
    pub(super) fn on_congestion(&mut self) {
        self.slow_start = self.controller.in_slow_start();
    }

    /// Brings the pacer in line with what the controller wants now.
    pub(super) fn refresh_pacer(&mut self, now: Timestamp, pacing: Pacing) {
        let Some(rate) = self.pacing_rate(pacing) else {
            self.pacer = None;
            return;
        };
        let quantum = self.controller.send_quantum();
        match &mut self.pacer {
            Some(pacer) => pacer.set_rate(now, rate, quantum, self.mtu),
            None => self.pacer = Some(Pacer::new(now, rate, quantum, self.mtu)),
        }
    }

    fn pacing_rate(&self, pacing: Pacing) -> Option<Rate> {
        match pacing {
            Pacing::Off => None,
            Pacing::ByController => self.controller.pacing_rate(),
            Pacing::On => self.controller.pacing_rate().or_else(|| self.derived_rate()),
        }
    }

    /// Twice window per smoothed RTT in slow start, 5/4 of it later; `None` at RTT zero, where nothing can be spaced.
    fn derived_rate(&self) -> Option<Rate> {
        let window = self.controller.window();
        let per_rtt = if self.slow_start { window.saturating_mul(2) } else { window.saturating_add(window / 4) };
        Rate::from_bytes_in(per_rtt, self.rtt.smoothed())
    }

    /// Whether a packet is in flight for a round trip or longer.
    pub(super) fn is_overdue(&self, now: Timestamp, packet_number: u64) -> bool {
        let sent_at = self.ledger.sent_at(packet_number);
        sent_at.is_some_and(|sent_at| sent_at + self.rtt.loss_delay(1, 1) <= now)
    }

    /// When the probe timeout expires, if there is something to probe for.
    pub(super) fn probe_at(&self) -> Option<Timestamp> {
        let packets = self.ledger.in_flight_packets();
        let last_sent_at = self.last_sent_at.filter(|_| packets > 0)?;
        let timeout = self.detector.probe_timeout(&self.rtt, self.probes.expired, packets)?;
        Some(last_sent_at + timeout)
    }

    /// Everything below this number is settled, if the receiver reports gaps below it and a round trip has passed since it
    /// was told so last.
    pub(super) fn ack_floor(&mut self, now: Timestamp) -> Option<u64> {
        let gap = self.floor.gap?;
        let settled = self.ledger.settled_below();
        let too_early = self.floor.told_at.is_some_and(|told_at| now < told_at + self.rtt.smoothed());
        if gap >= settled || too_early {
            return None;
        }
        self.floor.told_at = Some(now);
        Some(settled)
    }

    pub(super) fn stats(&self) -> PathStats {
        PathStats {
            window: self.controller.window(),
            pacing_rate: self.pacer.as_ref().map(Pacer::rate),
            in_flight_bytes: self.ledger.in_flight_bytes(),
            in_flight_packets: self.ledger.in_flight_packets(),
            smoothed_rtt: self.rtt.measured_smoothed(),
            latest_rtt: self.rtt.latest(),
            min_rtt: self.rtt.min(),
            rtt_variation: self.rtt.variation(),
            pto_count: self.probes.expired,
            limit: self.limit,
            totals: self.totals,
        }
    }

    /// One field of each part, or two if it is long; see [`Sender::touch`](super::Sender::touch).
    #[inline]
    pub(super) fn touch(&self) -> u64 {
        self.ledger.touch()
            ^ self.rtt.smoothed().as_nanos()
            ^ self.largest_acked.unwrap_or_default()
            ^ self.pacer.as_ref().map_or(0, Pacer::burst_bytes)
            ^ self.detector.touch()
            ^ self.delivery.delivered()
            ^ u64::from(self.ecn.listens())
            ^ self.spacing.between
            ^ self.totals.acked.bytes
            ^ self.totals.probe_timeouts
            ^ self.mtu
    }

    /// How long a late acknowledgement of a lost packet is waited for: three probe timeouts (ours, in line with RFC 9000,
    /// section 10.2, which keeps connection state as long for stragglers).
    pub(super) fn late_window(&self) -> Span {
        self.rtt.pto().saturating_mul(3)
    }
}
