//! The window of a flow whose packets are sprayed over many paths: what `fastflow` and `nscc` share.
//!
//! ```text
//! start           1.5 BDP where base RTT and rate were given, else doubling while the queueing delay is below the target
//! fast increase   unmarked and no queue (1 us) for a whole window: from then on each byte adds `gain` bytes, until that ends
//! Quick Adapt     at the end of a period: cwnd = bytes acknowledged in it, if that is less
//! bounds          the smallest window to 1.5 BDP, where the BDP is no guess
//! ```
//!
//! The queueing delay is the newest RTT sample's. Packets that bring none wait for the next sample before they count or let
//! the window grow, so that an acknowledgement of ten packets means the same as ten of one.

use super::fractional::FractionalWindow;
use super::quick_adapt::QuickAdapt;
use super::window::Sizes;
use crate::controller::{Feedback, Flight, Handover, Setup};
use crate::estimate::Pipe;
use crate::signal::{PathChange, Signal};
use crate::units::Span;

/// Queueing delay below which a queue counts as empty, ns.
const EMPTY: f64 = 1_000.0;
/// Largest window in BDPs.
pub const MAX_BDPS: f64 = 1.5;

/// What moves the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Doubling.
    Start,
    /// The law's cases of mark and delay.
    Cases,
    /// The queue was empty for a window.
    FastIncrease,
}

/// A path as a law sees it when a batch arrives.
#[derive(Clone, Copy, Debug)]
pub struct Clearance {
    /// Queueing delay of the newest sample, ns.
    pub delay: f64,
    /// Queueing delay aimed at, ns.
    pub target: f64,
    /// Bytes that a byte adds in fast increase.
    pub gain: f64,
}

/// A window with its estimate of the path, its start and its ways to move at once.
#[derive(Clone, Debug)]
pub struct SprayWindow {
    /// The window itself, for the law's cases.
    pub window: FractionalWindow,
    /// Base RTT and BDP.
    pub pipe: Pipe,
    adapt: QuickAdapt,
    /// Whether Quick Adapt is on.
    adapts: bool,
    phase: Phase,
    /// Queueing delay of the newest RTT sample, ns.
    delay: f64,
    /// Bytes acknowledged in a row that met an empty queue.
    empty_for: f64,
    /// Unmarked bytes that no sample has judged yet, and bytes that Quick Adapt has not counted yet for want of one.
    waiting: f64,
    uncounted: u64,
}

impl SprayWindow {
    /// The window of a flow that begins as `setup` says; with Quick Adapt if it `adapts`.
    pub fn new(setup: &Setup, sizes: Sizes, adapts: bool) -> Self {
        let pipe = Pipe::new(setup);
        let mut window = FractionalWindow::new(setup, sizes.initial, sizes.min);
        let resumed = setup.handover.is_some_and(|from| from.window.is_some());
        let given = pipe.bdp().filter(|_| pipe.is_given() && !resumed);
        if let Some(bdp) = given {
            window.set(MAX_BDPS * bdp);
        }
        let phase = if given.is_none() && !resumed { Phase::Start } else { Phase::Cases };
        Self {
            window,
            pipe,
            adapt: QuickAdapt::default(),
            adapts,
            phase,
            delay: 0.0,
            empty_for: 0.0,
            waiting: 0.0,
            uncounted: 0,
        }
    }

    /// Takes what a batch tells of the path and of Quick Adapt: the first thing to do with it. True if base RTT or BDP are
    /// others now.
    pub fn observe(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) -> bool {
        let news = self.pipe.observe(feedback, flight);
        self.delay = self.pipe.queueing(feedback).unwrap_or(self.delay);
        let lost = lost(feedback);
        if lost > 0 {
            self.adapt.on_lost(lost);
            self.leave_start();
        }
        news
    }

    /// Queueing delay of the newest sample, ns; 0 before the first.
    pub const fn delay(&self) -> f64 {
        self.delay
    }

    /// Whether the window doubles.
    pub fn in_slow_start(&self) -> bool {
        self.phase == Phase::Start
    }

    /// The law's cases take over from the start.
    pub fn leave_start(&mut self) {
        if self.phase == Phase::Start {
            self.phase = Phase::Cases;
        }
    }

    /// The queue is not empty any more: fast increase ends.
    pub fn end_fast_increase(&mut self) {
        self.leave_start();
        self.empty_for = 0.0;
        if self.phase == Phase::FastIncrease {
            self.phase = Phase::Cases;
        }
    }

    /// Whether marks and trims still tell of the time before the last adaptation.
    pub const fn is_ignoring(&self) -> bool {
        self.adapt.is_ignoring()
    }

    /// Counts what a batch acknowledges, and adapts where it ends a period of `length`, the window was in use, and the law
    /// `wants` it: told whether packets were trimmed or lost since the last adaptation, and how many bytes the period
    /// brought. True if that cut the window.
    pub fn quick_adapt(
        &mut self,
        feedback: &Feedback<'_>,
        flight: &Flight<'_>,
        length: Span,
        wants: impl FnOnce(bool, f64) -> bool,
    ) -> bool {
        self.uncounted = self.uncounted.saturating_add(feedback.newly_acked.bytes);
        if feedback.rtt.is_none() && lost(feedback) == 0 {
            return false;
        }
        let acked = core::mem::replace(&mut self.uncounted, 0);
        let achieved = self.adapt.end_period(feedback.now, length.max(Span::from_nanos(1)));
        let may_adapt = self.adapts && flight.limit.allows_growth() && !self.adapt.is_ignoring();
        let wanted = achieved
            .map(|achieved| achieved as f64)
            .filter(|achieved| may_adapt && wants(self.adapt.is_triggered(), *achieved));
        let cut = wanted.filter(|achieved| *achieved < self.window.exact());
        if let Some(achieved) = cut {
            self.window.set(achieved);
            self.empty_for = 0.0;
            self.adapt.adapted(flight.bytes.saturating_add(acked));
        } else if wanted.is_some() {
            self.adapt.adapted(0);
        }
        if wanted.is_some() {
            self.leave_start();
        }
        self.adapt.on_acked(acked);
        cut.is_some()
    }

    /// `bytes` came back unmarked. Those that are judged by this batch's sample, the ones that waited for it included.
    pub const fn judged(&mut self, bytes: u64, feedback: &Feedback<'_>) -> f64 {
        self.waiting += bytes as f64;
        if feedback.rtt.is_none() {
            return 0.0;
        }
        core::mem::replace(&mut self.waiting, 0.0)
    }

    /// `bytes` came back unmarked: start and fast increase take what is theirs, and the rest is for the law's cases.
    pub fn grow_at_once(&mut self, bytes: f64, path: Clearance) -> f64 {
        if self.phase == Phase::Start && path.delay < path.target {
            self.window.add(bytes);
            return 0.0;
        }
        if path.delay >= EMPTY {
            self.end_fast_increase();
            return bytes;
        }
        self.leave_start();
        self.empty_for += bytes;
        let beyond = match self.phase {
            Phase::FastIncrease => bytes,
            _ => (self.empty_for - self.window.exact()).clamp(0.0, bytes),
        };
        if beyond > 0.0 {
            self.phase = Phase::FastIncrease;
            self.window.add(path.gain * beyond);
        }
        bytes - beyond
    }

    /// Keeps the window below its largest. A product of measured rates grows with the window and bounds nothing.
    pub fn cap(&mut self) {
        if let Some(bdp) = self.pipe.bdp().filter(|_| self.pipe.is_upper_bound()) {
            self.window.cap(MAX_BDPS * bdp);
        }
    }

    /// Heeds what concerns window and path; true if the path is another one and all is forgotten.
    pub fn on_signal(&mut self, signal: &Signal) -> bool {
        match signal {
            Signal::MtuChange { mtu } => self.window.set_mtu(*mtu),
            Signal::Restart { .. } => {
                self.adapt.restart();
                (self.waiting, self.uncounted) = (0.0, 0);
            }
            Signal::PathChange { change: PathChange::Migrated | PathChange::Revived, .. } => {
                self.window.restart();
                self.pipe.forget();
                self.adapt = QuickAdapt::default();
                (self.phase, self.delay) = (Phase::Start, 0.0);
                (self.empty_for, self.waiting, self.uncounted) = (0.0, 0.0, 0);
                return true;
            }
            _ => {}
        }
        false
    }

    /// The phase's name in pictures of the state.
    pub fn phase_name(&self) -> &'static str {
        match self.phase {
            _ if self.adapt.is_ignoring() => "quick_adapt",
            Phase::Start => "slow_start",
            Phase::FastIncrease => "fast_increase",
            Phase::Cases => "congestion_avoidance",
        }
    }

    /// What another controller may start from.
    pub fn handover(&self) -> Handover {
        self.window.handover(self.pipe.base_rtt())
    }
}

/// Bytes of a batch that were trimmed or lost, also those that coding restored.
pub const fn lost(feedback: &Feedback<'_>) -> u64 {
    feedback.newly_lost.bytes.saturating_add(feedback.recovered.bytes)
}

#[cfg(test)]
mod tests;
