//! What laws of the datacentre share: a window in fractions of a byte, the base RTT and line rate that it is measured
//! by, their answer to losses, and what they do without the signal that they are made for. Ours.
//!
//! ```text
//! T                   oracle's base RTT, else the smallest fabric delay of ten seconds where hosts time-stamp, else the
//!                     smallest RTT
//! line rate           the local link's, but not above the oracle's bottleneck
//! initial window      n packets; line rate x T once T is known and the window is in use
//! loss                cwnd = loss_beta cwnd                                once a round trip
//! persistent          cwnd = one packet, or the minimum if that is more
//! without a signal    cwnd += mtu acked / cwnd                             after a round trip without any
//! ```
//!
//! The papers assume networks without loss (PFC) or count them rarely, and give no law for a flow whose switches say
//! nothing; the last three lines keep such flows safe and moving.

use super::InvalidParam;
use super::recovery::{Recovery, Verdict};
use crate::controller::{Feedback, Flight, Handover, Oracle, PacketRecord, Setup};
use crate::estimate::AgedMin;
use crate::signal::{PathChange, Signal};
use crate::units::{Rate, Span, Timestamp};

/// No window of a real path is larger; keeps sums of absurd amounts finite and exact to a hundred bytes.
const MAX_BYTES: f64 = 1e18;

/// How large the window of a flow is that knows T and is in use for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// As before: the packets to start with.
    Initial,
    /// Line rate x T.
    LineRate,
}

/// How a window starts and what bounds it.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Packets to start with.
    pub initial: f64,
    /// What follows them.
    pub start: Start,
    /// Packets never to go below; may be a fraction.
    pub min: f64,
    /// Packets never to go above; may be infinite.
    pub max: f64,
    /// Share of the window that a loss keeps.
    pub loss_beta: f64,
}

impl Limits {
    /// Checks `min` and `loss_beta`, which laws hand on as parameters of the same names, `min_window` and `loss_beta`.
    pub(super) fn validate(&self) -> Result<(), InvalidParam> {
        let share = self.loss_beta > 0.0 && self.loss_beta < 1.0;
        InvalidParam::unless(share, "loss_beta", "a share between 0 and 1")?;
        InvalidParam::unless(self.min > 0.0 && self.min.is_finite(), "min_window", "packets, more than 0")
    }
}

/// What a batch of feedback did to a window before the law itself has its say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing.
    Usual,
    /// The flow started: the window is line rate x T, where both are known.
    Started,
    /// Losses made it smaller.
    Reduced,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// T is not known, or the window has not been in use yet.
    Starting,
    Running,
}

/// A window in fractions of a byte on a path whose bandwidth-delay product is known, or becomes known.
#[derive(Clone, Debug)]
pub struct FabricWindow {
    bytes: f64,
    rounded: u64,
    limits: Limits,
    mtu: u64,
    oracle: Option<Oracle>,
    line_rate: Option<Rate>,
    base_rtt: Option<Span>,
    /// Smallest fabric delay seen on this path of late.
    least_fabric_delay: AgedMin,
    bdp: Option<f64>,
    recovery: Recovery,
    stage: Stage,
    signalled_at: Option<Timestamp>,
}

impl FabricWindow {
    /// The window of a flow that begins, or resumes from what [`Setup::handover`] says.
    pub fn new(setup: &Setup, limits: Limits) -> Self {
        let bottleneck = setup.oracle.map(|oracle| oracle.bottleneck);
        let mut new = Self {
            bytes: 0.0,
            rounded: 0,
            limits,
            mtu: setup.mtu.max(1),
            oracle: setup.oracle,
            line_rate: setup.local_line_rate.into_iter().chain(bottleneck).min().filter(|rate| *rate > Rate::ZERO),
            base_rtt: setup.oracle.map(|oracle| oracle.base_rtt),
            least_fabric_delay: AgedMin::new(setup.now, None),
            bdp: None,
            recovery: Recovery::default(),
            stage: Stage::Starting,
            signalled_at: None,
        };
        let resumed = setup.handover.and_then(|from| {
            new.base_rtt = new.base_rtt.or(from.min_rtt);
            from.window.or(from.bandwidth.zip(from.min_rtt).map(|(rate, rtt)| rate.bytes_in(rtt)))
        });
        new.bdp = new.product();
        match resumed {
            Some(bytes) => {
                new.stage = Stage::Running;
                new.set(bytes as f64);
            }
            None => new.restart(),
        }
        new
    }

    /// Bytes allowed in flight.
    pub const fn bytes(&self) -> f64 {
        self.bytes
    }

    /// Bytes allowed in flight, to the nearest whole one.
    pub const fn rounded(&self) -> u64 {
        self.rounded
    }

    /// The window in packets of the current size.
    pub fn packets(&self) -> f64 {
        self.bytes / self.mtu as f64
    }

    /// Largest packet, bytes.
    pub fn mtu(&self) -> f64 {
        self.mtu as f64
    }

    /// The window never to go below, bytes.
    pub fn min(&self) -> f64 {
        (self.limits.min * self.mtu as f64).max(1.0)
    }

    /// The window becomes `bytes`, within its bounds; NaN gives the smallest.
    pub fn set(&mut self, bytes: f64) {
        let least = self.min();
        let most = (self.limits.max * self.mtu as f64).min(MAX_BYTES).max(least);
        self.bytes = if bytes > least { bytes.min(most) } else { least };
        // Not less than a byte, so that this rounds to the nearest.
        self.rounded = (self.bytes + 0.5) as u64;
    }

    /// The window becomes `bytes`, but grows no further than line rate x T and only if it is in use.
    pub fn propose(&mut self, bytes: f64, flight: &Flight<'_>) {
        if self.stage == Stage::Starting && !flight.limit.allows_growth() {
            return;
        }
        let bdp = self.bdp.unwrap_or(f64::INFINITY);
        let most = if flight.limit.allows_growth() { bdp } else { bdp.min(self.bytes) };
        self.set(if bytes > most { most } else { bytes });
    }

    /// The base RTT, once known; never zero.
    pub fn base_rtt(&self) -> Option<Span> {
        self.base_rtt.map(|rtt| rtt.max(Span::from_nanos(1)))
    }

    /// Rate of the local link, or the oracle's bottleneck if that is lower.
    pub const fn line_rate(&self) -> Option<Rate> {
        self.line_rate
    }

    /// Line rate x base RTT, bytes.
    pub const fn bdp(&self) -> Option<f64> {
        self.bdp
    }

    /// Window / T, once T is known and the start is over.
    pub fn pacing_rate(&self) -> Option<Rate> {
        let rtt = self.base_rtt().filter(|_| self.stage == Stage::Running)?;
        Rate::from_bytes_in(self.rounded, rtt).map(|rate| rate.max(Rate::from_bps(1)))
    }

    /// One packet: a burst at line rate would look like a busy hop to the next report.
    pub const fn send_quantum(&self) -> Option<u64> {
        Some(self.mtu)
    }

    /// Whether the window is still the initial one.
    pub fn is_starting(&self) -> bool {
        self.stage == Stage::Starting
    }

    /// Learns the base RTT, answers losses and starts the flow: the first thing to do with each batch.
    pub fn begin(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) -> Step {
        self.learn(feedback, flight);
        let verdict = self.recovery.judge(feedback, flight);
        if feedback.persistent_congestion.is_some() {
            self.collapse(self.mtu as f64, feedback, flight);
            return Step::Reduced;
        }
        if let Some(Verdict::Reduce(_)) = verdict {
            self.set((self.bytes * self.limits.loss_beta).min(self.bytes));
            self.stage = Stage::Running;
            return Step::Reduced;
        }
        let starts = self.stage == Stage::Starting && self.base_rtt.is_some() && !feedback.acked.is_empty();
        if starts && flight.limit.allows_growth() {
            self.stage = Stage::Running;
            self.set(self.bdp.map_or(self.bytes, |bdp| bdp.max(self.bytes)));
            return Step::Started;
        }
        Step::Usual
    }

    /// The window falls to `bytes` at most; what was sent before and is declared lost later belongs to that.
    pub fn collapse(&mut self, bytes: f64, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.set(bytes.min(self.bytes));
        self.recovery.on_collapse(feedback, flight);
        self.stage = Stage::Running;
    }

    /// A reduction by the law itself: losses of packets sent before belong to it, and so does their delay.
    pub fn reduce(&mut self, bytes: f64, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.set(bytes.min(self.bytes));
        self.recovery.begin(feedback, flight);
        self.stage = Stage::Running;
    }

    /// Whether a packet was sent before the last reduction.
    pub fn covers(&self, packet: &PacketRecord) -> bool {
        self.recovery.covers(packet)
    }

    /// The signal that the law is made for arrived.
    pub const fn on_signalled(&mut self, now: Timestamp) {
        self.signalled_at = Some(now);
    }

    /// The batch bears no signal. If none has come for a round trip, the window grows by a packet each.
    pub fn grow_blindly(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let Some(newest) = feedback.acked.last() else { return };
        if self.signalled_at.is_some_and(|at| newest.sent_at <= at) {
            return;
        }
        let share = self.recovery.acked_outside(feedback) as f64 / self.bytes;
        self.propose(self.bytes + self.mtu as f64 * share.min(1.0), flight);
    }

    /// Heeds what concerns window and path; true if the path is another one and all is forgotten.
    pub fn on_signal(&mut self, signal: &Signal) -> bool {
        match signal {
            Signal::MtuChange { mtu } => {
                self.mtu = (*mtu).max(1);
                self.set(if self.stage == Stage::Starting { self.initial() } else { self.bytes });
                false
            }
            Signal::PathChange { change: PathChange::Migrated | PathChange::Revived, .. } => {
                self.base_rtt = self.oracle.map(|oracle| oracle.base_rtt);
                self.least_fabric_delay = AgedMin::new(Timestamp::ZERO, None);
                self.bdp = self.product();
                self.recovery.forget();
                self.signalled_at = None;
                self.restart();
                true
            }
            _ => false,
        }
    }

    /// What a law may hand on.
    pub fn handover(&self) -> Handover {
        Handover { window: Some(self.rounded), ssthresh: None, min_rtt: self.base_rtt, bandwidth: None }
    }

    fn initial(&self) -> f64 {
        self.limits.initial * self.mtu as f64
    }

    /// As at the beginning. An oracle's flow starts as published simulators start it, with the whole product.
    fn restart(&mut self) {
        self.set(self.initial());
        self.stage = match (self.limits.start, self.oracle, self.bdp) {
            (Start::Initial, ..) => Stage::Running,
            (Start::LineRate, Some(_), Some(bdp)) => {
                self.set(bdp);
                Stage::Running
            }
            (Start::LineRate, ..) => Stage::Starting,
        };
    }

    fn learn(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        if let Some(delay) = fabric_delay(feedback) {
            if self.least_fabric_delay.is_older_than(MEMORY, feedback.now) {
                self.least_fabric_delay.replace(feedback.now, delay);
            }
            self.least_fabric_delay.take_smaller(feedback.now, delay);
        }
        let seen = self.least_fabric_delay.get().or(flight.min_rtt);
        let known = self.oracle.map(|oracle| oracle.base_rtt).or(seen);
        if known.is_some() && known != self.base_rtt {
            self.base_rtt = known;
            self.bdp = self.product();
        }
    }

    fn product(&self) -> Option<f64> {
        let (rate, rtt) = self.line_rate.zip(self.base_rtt())?;
        Some(rate.as_bps() as f64 / 8e9 * rtt.as_nanos() as f64)
    }
}

/// How long the smallest delay counts: then the route may be another, or what was seen once was never true. BBR's filter
/// (draft-ietf-ccwg-bbr: MinRTTFilterLen).
const MEMORY: Span = Span::from_secs(10);

/// The fabric's share of the RTT, as the peer's time stamps tell: no more than the RTT itself, which nobody can forge.
fn fabric_delay(feedback: &Feedback<'_>) -> Option<Span> {
    feedback.fabric_delay.zip(feedback.rtt).map(|(delay, sample)| delay.min(sample.latest))
}

/// The delay of the newest acknowledged packet: the fabric's share where hosts time-stamp, else the RTT less the time that
/// the receiver says it held the acknowledgement, unless that would pass below the smallest RTT (RFC 9002, section 5.3).
pub fn delay_of(feedback: &Feedback<'_>, flight: &Flight<'_>) -> Option<Span> {
    if let Some(delay) = fabric_delay(feedback) {
        return Some(delay);
    }
    let sample = feedback.rtt?;
    let less = sample.latest.saturating_sub(sample.ack_delay);
    Some(if flight.min_rtt.is_none_or(|min| less >= min) { less } else { sample.latest })
}

#[cfg(test)]
mod tests;
