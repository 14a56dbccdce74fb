//! What laws of the datacentre share: a window in fractions of a byte, the base RTT and line rate that it is measured
//! by, their answer to losses, and what they do without the signal that they are made for. Ours.
//!
//! ```text
//! T                   oracle's base RTT, else the smallest fabric delay of ten seconds where hosts time-stamp, but at
//!                     least a hundredth of the smallest RTT, else the smallest RTT
//! line rate           the local link's, but not above the oracle's bottleneck
//! initial window      n packets; line rate x T from the first RTT sample on, unless something was lost before
//! bounds              cwnd <= line rate x T,  pacing rate <= line rate
//! additive growth     what the law says, but at most a packet or an eighth of the window a round trip
//! loss                cwnd = loss_beta cwnd                                once a round trip
//! persistent          cwnd = one packet, or loss_beta cwnd if that is less, but not below the minimum
//! without a signal    cwnd += mtu acked / cwnd                             after a round trip without any
//! ```
//!
//! The papers' flows start with line rate x T, for they are told T. Here the window waits for T and for nothing else: not
//! for the application, or what happened before would decide when a flow may burst.
//!
//! Their additive growth is a share of line rate x T, far less than a packet in a datacentre. Where packets are tiny or T
//! is long it could be more than a slow bottleneck holds, which no cut by a factor would ever bring down.
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

/// How large the window of a flow is that has learnt T.
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

/// What stays as it is when T turns out to be another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quantity {
    /// Bytes in flight.
    Window,
    /// Bytes per T.
    Rate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// T is not known, and nothing was lost.
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
    quantity: Quantity,
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
            quantity: Quantity::Window,
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
                new.cap();
            }
            None => new.restart(),
        }
        new
    }

    /// The same for a law that sets a rate: the window is what the rate sends in T, whatever T turns out to be.
    #[must_use]
    pub const fn of_a_rate(mut self) -> Self {
        self.quantity = Quantity::Rate;
        self
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

    /// `share` of line rate x T, or of `capacity` where the line rate is not known, else a packet: what a law adds each
    /// round trip, bounded as the head of this file says.
    pub fn additive(&self, share: f64, capacity: Option<f64>) -> f64 {
        let most = self.mtu().max(self.bytes * MOST_ADDITIVE);
        self.bdp.or(capacity).map_or(most, |bytes| (bytes * share).min(most))
    }

    /// Window / T, once T is known and the start is over.
    pub fn pacing_rate(&self) -> Option<Rate> {
        let rtt = self.base_rtt().filter(|_| self.stage == Stage::Running)?;
        // Of the exact window, or a rate would change with rounding whenever T does.
        let rate = Rate::from_bps((self.bytes * 8e9 / rtt.as_nanos() as f64) as u64).max(Rate::from_bps(1));
        Some(self.line_rate.map_or(rate, |line| line.min(rate)))
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
        let less = self.bytes * self.limits.loss_beta;
        if feedback.persistent_congestion.is_some() {
            self.collapse(less.min(self.mtu as f64), feedback, flight);
            return Step::Reduced;
        }
        if let Some(Verdict::Reduce(_)) = verdict {
            self.reduce_to(less);
            return Step::Reduced;
        }
        if self.stage == Stage::Starting && self.base_rtt.is_some() {
            self.stage = Stage::Running;
            self.set(self.bdp.unwrap_or(self.bytes));
            return Step::Started;
        }
        Step::Usual
    }

    /// The window falls to `bytes` at most; what was sent before and is declared lost later belongs to that.
    pub fn collapse(&mut self, bytes: f64, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.reduce_to(bytes);
        self.recovery.on_collapse(feedback, flight);
    }

    /// A reduction by the law itself, by a byte at least: losses of packets sent before belong to it, and so does their delay,
    /// which nothing would have answered if it were less.
    pub fn reduce(&mut self, bytes: f64, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.reduce_to(bytes.min(self.rounded as f64 - 1.0));
        self.recovery.begin(feedback, flight);
    }

    /// A reduction ends the start.
    fn reduce_to(&mut self, bytes: f64) {
        self.stage = Stage::Running;
        self.set(bytes.min(self.bytes));
        self.cap();
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
        // Without a sample of its own, a path that is new may still be told the smallest RTT of the former one.
        if self.oracle.is_some() || feedback.rtt.is_none() {
            return;
        }
        if let Some(delay) = fabric_delay(feedback, flight) {
            let memory = delay.saturating_mul(MEMORY_ROUNDS).max(MEMORY);
            if self.least_fabric_delay.is_older_than(memory, feedback.now) {
                self.least_fabric_delay.replace(feedback.now, delay);
            }
            self.least_fabric_delay.take_smaller(feedback.now, delay);
        }
        let known = self.least_fabric_delay.get().or(flight.min_rtt);
        if known.is_none() || known == self.base_rtt {
            return;
        }
        let former = self.base_rtt();
        self.base_rtt = known;
        self.bdp = self.product();
        if let (Quantity::Rate, Some(former), Some(new)) = (self.quantity, former, self.base_rtt()) {
            self.set(self.bytes * (new.as_nanos() as f64 / former.as_nanos() as f64));
        }
        self.cap();
    }

    /// The window of a law that starts at line rate never exceeds line rate x T.
    fn cap(&mut self) {
        if let (Start::LineRate, Stage::Running, Some(bdp)) = (self.limits.start, self.stage, self.bdp) {
            self.set(self.bytes.min(bdp));
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

/// It counts for as many round trips at least (ours).
const MEMORY_ROUNDS: u64 = 16;

/// Hosts whose shares of the smallest RTT leave the fabric less than a hundredth are not believed (ours): a forged delay of
/// zero would make any window a rate without end.
const MOST_OF_HOSTS: u64 = 100;

/// Most that a law adds each round trip of its window, if that is more than a packet (ours): then losses that halve it in
/// every other round trip still bring it down.
const MOST_ADDITIVE: f64 = 1.0 / 8.0;

/// The fabric's share of the RTT, as the peer's time stamps tell: no more than the RTT itself, which nobody can forge, and
/// not next to nothing.
fn fabric_delay(feedback: &Feedback<'_>, flight: &Flight<'_>) -> Option<Span> {
    let (delay, sample) = feedback.fabric_delay.zip(feedback.rtt)?;
    let least = flight.min_rtt.map_or(Span::ZERO, |min| min.mul_div(1, MOST_OF_HOSTS));
    Some(delay.max(least).min(sample.latest))
}

/// The delay of the newest acknowledged packet: the fabric's share where hosts time-stamp, else the RTT less the time that
/// the receiver says it held the acknowledgement, unless that would pass below the smallest RTT (RFC 9002, section 5.3).
pub fn delay_of(feedback: &Feedback<'_>, flight: &Flight<'_>) -> Option<Span> {
    if let Some(delay) = fabric_delay(feedback, flight) {
        return Some(delay);
    }
    let sample = feedback.rtt?;
    let less = sample.latest.saturating_sub(sample.ack_delay);
    Some(if flight.min_rtt.is_none_or(|min| less >= min) { less } else { sample.latest })
}

#[cfg(test)]
mod tests;
