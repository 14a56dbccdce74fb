//! `ledbat++`: LEDBAT++, congestion control for background traffic (draft-irtf-iccrg-ledbat-plus-plus, successor of RFC
//! 6817).
//!
//! ```text
//! base        smallest RTT of the last 10 minutes;  delay = smallest of the last 4 RTTs - base
//! GAIN        1 / min(16, ceil(2 target / base))
//! slow start  cwnd += GAIN acked                        from 2 packets on, until ssthresh
//!             the first one ends also at delay > 3/4 target
//! avoidance   delay <= target:  cwnd += GAIN                                      packets per round trip
//!             delay > target:   cwnd += max(GAIN - C cwnd (delay / target - 1), -cwnd / 2)
//! slowdown    ssthresh = cwnd, cwnd = 2 packets for 2 RTT, then slow start
//!             the first one begins 2 RTT after the first slow start,
//!             the next ones 9 times as long after the last one's end as that one lasted
//! loss, mark  ssthresh = cwnd = max(cwnd / 2, 2 packets)                          once a round trip
//! ```
//!
//! On short paths GAIN makes a flow grow up to 16 times slower than Reno, so that it gets out of the way even where the
//! buffer is too small for the target. Slowdowns empty the queue, so that flows that came late learn the true base; they
//! cost at most a tenth of the throughput.
//!
//! | parameter | unit | default | origin |
//! |---|---|---|---|
//! | `target` | time | 60 ms | draft, section 4.5 |
//! | `max_gain_divisor` | 1 / GAIN at most | 16 | draft, section 4.2 |
//! | `decrease` | C | 1 | draft, section 4.3: recommended |
//! | `base_history` | time | 10 min | RFC 6817, section 2.4.2 (`BASE_HISTORY`) |
//! | `initial_window`, `min_window` | packets | 2, 2 | draft, section 4.1 and 4.4 |
//! | `slowdowns` | switch | on | draft, section 4.4; off shows what they are for |
//!
//! The draft's own text was at hand only in the passages that implementations quote, of version 01: two ns-3 models and a uTP
//! library, which agree but where noted below. Of the newest version, 06, only the abstract was: reduced gain, modified slow
//! start, multiplicative decrease and periodic slowdowns are the parts that it names, too.
//!
//! ## Differences from the reference
//!
//! | | draft | here |
//! |---|---|---|
//! | slow start after a slowdown | the slow start of section 4.1, hence with GAIN (ns-3; the uTP library doubles) | with GAIN |
//! | a slowdown that falls due while application or receiver hold the sender back | not considered | waits until the window is in use |
//! | depth of a slowdown | 2 packets (ns-3; the uTP library: a quarter) | 2 packets |
//! | base delay | minima of the last ten minutes, one by one | a sliding minimum over as long |
//! | decrease per round trip | once | spread over its acknowledgements |
//! | RTT of 2 RTT | the last one (ns-3) | the smoothed one when the wait begins |
//! | a loss in a slowdown's two round trips | not considered | halves what the slowdown will return to, not the two packets |
//! | persistent congestion | TCP's time-out | 2 packets, then slow start as after a slowdown; one that runs goes on |
//! | an ACK of many packets | – | its packets one after the other: a phase may end in its midst |
//! | CE marks | not considered | as losses |
//! | losses that prove spurious | – | stay |
//!
//! A route that grows longer by more than the target looks like a queue until the base delay is forgotten, after ten minutes:
//! that is RFC 6817's way, and declared as [`Bounds::rtt_memory`](crate::declare::Bounds::rtt_memory).

use super::InvalidParam;
use super::newreno::packets;
use super::recovery::{Recovery, Verdict};
use super::window::{RenoWindow, Sizes};
use crate::controller::{Controller, ControllerState, Feedback, Flight, Handover, Setup};
use crate::declare::{Declaration, Family, Reductions};
use crate::estimate::WindowedMin;
use crate::registry::{Algorithm, Args, Param, Value};
use crate::signal::{PathChange, Signal};
use crate::units::{Span, Timestamp};

/// Samples that the current delay is the smallest of (draft, section 4.5).
const FILTER: usize = 4;
/// Round trips from the end of slow start to the first slowdown, and for which a slowdown keeps the window small (draft,
/// section 4.4).
const WAIT_ROUNDS: u64 = 2;
/// How many times as long as a slowdown the time to the next one is (draft, section 4.4).
const SLOWDOWN_INTERVAL: u64 = 9;
/// Delay that ends the first slow start, as a share of the target (draft, section 4.1).
const LEAVE_AT: f64 = 0.75;

/// Parameters of [`LedbatPlusPlus`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct LedbatPlusPlusParams {
    /// Queueing delay to reach; longer than zero.
    pub target: Span,
    /// Largest value of 1 / GAIN; at least one.
    pub max_gain_divisor: u64,
    /// How strongly the window shrinks with delay beyond the target; positive.
    pub decrease: f64,
    /// How long the base RTT is remembered; longer than zero.
    pub base_history: Span,
    /// Packets to start with; at least one.
    pub initial_window: u64,
    /// Packets never to go below; at least one.
    pub min_window: u64,
    /// Whether the flow slows down regularly.
    pub slowdowns: bool,
}

impl Default for LedbatPlusPlusParams {
    fn default() -> Self {
        Self {
            target: Span::from_millis(60),
            max_gain_divisor: 16,
            decrease: 1.0,
            base_history: Span::from_secs(600),
            initial_window: 2,
            min_window: 2,
            slowdowns: true,
        }
    }
}

impl LedbatPlusPlusParams {
    fn validate(&self) -> Result<(), InvalidParam> {
        InvalidParam::unless(!self.target.is_zero(), "target", "a time longer than zero")?;
        InvalidParam::unless(self.max_gain_divisor > 0, "max_gain_divisor", "at least one")?;
        InvalidParam::unless(self.decrease > 0.0 && self.decrease.is_finite(), "decrease", "a positive number")?;
        InvalidParam::unless(!self.base_history.is_zero(), "base_history", "a time longer than zero")?;
        InvalidParam::unless(self.initial_window > 0, "initial_window", "at least one packet")?;
        InvalidParam::unless(self.min_window > 0, "min_window", "at least one packet")
    }
}

/// What a flow is doing.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// The first slow start, which delay may end.
    SlowStart,
    /// Congestion avoidance until the next slowdown.
    Avoidance { until: Timestamp },
    /// A slowdown's two round trips with a small window.
    Frozen { began: Timestamp, until: Timestamp },
    /// Slow start back to where the slowdown began.
    Ramp { began: Timestamp },
}

/// LEDBAT++.
#[derive(Clone, Debug)]
pub struct LedbatPlusPlus {
    params: LedbatPlusPlusParams,
    window: RenoWindow,
    recovery: Recovery,
    phase: Phase,
    base: WindowedMin<Timestamp, Span>,
    recent: [Span; FILTER],
    newest: usize,
    /// GAIN, renewed when the base changes.
    gain: f64,
    gain_of: Span,
}

impl LedbatPlusPlus {
    /// A controller for a flow that begins as `setup` says.
    ///
    /// # Errors
    ///
    /// If a parameter is out of its range.
    pub fn new(params: LedbatPlusPlusParams, setup: &Setup) -> Result<Self, InvalidParam> {
        params.validate()?;
        let window = RenoWindow::new(setup, Sizes { initial: params.initial_window, min: params.min_window });
        let phase = match window.in_slow_start() {
            true => Phase::SlowStart,
            false => Phase::Avoidance { until: setup.now },
        };
        Ok(Self {
            window,
            recovery: Recovery::default(),
            phase,
            base: WindowedMin::new(params.base_history),
            recent: [Span::MAX; FILTER],
            newest: 0,
            gain: 1.0 / params.max_gain_divisor as f64,
            gain_of: Span::ZERO,
            params,
        })
    }

    fn sample(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let Some(rtt) = flight.latest_rtt.filter(|_| feedback.rtt.is_some()) else { return };
        self.newest = (self.newest + 1) % FILTER;
        self.recent[self.newest] = rtt;
        let base = self.base.update(feedback.now, rtt);
        if base != self.gain_of {
            self.gain_of = base;
            let target = self.params.target.as_nanos();
            let divisor = target.saturating_mul(2).div_ceil(base.as_nanos().max(1));
            self.gain = 1.0 / divisor.clamp(1, self.params.max_gain_divisor) as f64;
        }
    }

    /// Queueing delay as a share of the target.
    fn delay(&self) -> f64 {
        let current = self.recent.iter().copied().fold(Span::MAX, Span::min);
        let delay = self.base.get().map_or(Span::ZERO, |base| current - base);
        delay.as_nanos() as f64 / self.params.target.as_nanos() as f64
    }

    fn avoid(&mut self, now: Timestamp, wait: Span) {
        let until = if self.params.slowdowns { now + wait } else { Timestamp::from_nanos(u64::MAX) };
        self.phase = Phase::Avoidance { until };
    }

    /// Ends and begins phases; called after the window has moved. A slowdown waits until the window is `in_use`: without it
    /// there is no queue of this flow's to clear, and no way back.
    fn advance(&mut self, now: Timestamp, rounds: Span, in_use: bool) {
        match self.phase {
            Phase::SlowStart => {
                if self.window.in_slow_start() && self.delay() > LEAVE_AT {
                    self.window.leave_slow_start();
                }
                if !self.window.in_slow_start() {
                    self.avoid(now, rounds);
                }
            }
            Phase::Avoidance { until } if until <= now && self.params.slowdowns && in_use => {
                let before = self.window.bytes();
                self.window.set(self.window.min().min(before));
                self.window.restore(0, Some(before));
                self.phase = Phase::Frozen { began: now, until: now + rounds };
            }
            Phase::Frozen { began, until } if until <= now => self.phase = Phase::Ramp { began },
            Phase::Ramp { began } if !self.window.in_slow_start() => {
                self.avoid(now, now.saturating_since(began).saturating_mul(SLOWDOWN_INTERVAL));
            }
            _ => {}
        }
    }

    fn answer_congestion(&mut self) {
        let half = self.window.bytes() / 2;
        match (self.phase, self.window.ssthresh()) {
            (Phase::Frozen { .. }, Some(ssthresh)) => {
                self.window.restore(0, Some((ssthresh / 2).max(self.window.bytes())));
            }
            _ => self.window.reduce_to(half, self.window.min()),
        }
    }

    /// Persistent congestion: the way back is that from a slowdown. One that runs already runs on: it holds the window small.
    fn collapse(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.window.collapse();
        self.recovery.on_collapse(feedback, flight);
        let is_frozen = matches!(self.phase, Phase::Frozen { .. });
        if self.window.ssthresh().is_some() && !is_frozen {
            self.phase = Phase::Ramp { began: feedback.now };
        }
    }

    /// A phase may end in the midst of a batch. Steps up and down within one that may not grow the window make up for each
    /// other.
    fn on_acked(&mut self, feedback: &Feedback<'_>, may_grow: bool, rounds: Span) {
        let (delay, before) = (self.delay(), self.window.bytes());
        for packet in feedback.acked {
            self.adjust(if self.recovery.lets_grow(packet) { u64::from(packet.bytes) } else { 0 }, delay);
            if may_grow {
                self.advance(feedback.now, rounds, true);
            }
        }
        if !may_grow {
            self.window.set(self.window.bytes().min(before));
        }
    }

    fn adjust(&mut self, acked: u64, delay: f64) {
        match self.phase {
            Phase::Frozen { .. } => {}
            Phase::SlowStart | Phase::Ramp { .. } => {
                if acked > 0 {
                    let room = self
                        .window
                        .ssthresh()
                        .map_or(u64::MAX, |ssthresh| ssthresh.saturating_sub(self.window.bytes()));
                    self.window.shift((acked as f64 * self.gain).min(room as f64));
                }
            }
            Phase::Avoidance { .. } => {
                let window = self.window.bytes() as f64;
                let windows = (acked as f64 / window).min(1.0);
                let excess = (delay - 1.0).max(0.0) * self.params.decrease;
                let change = (self.gain * self.window.mtu() as f64 - window * excess).max(-window / 2.0);
                self.window.shift(change * windows);
            }
        }
    }

    fn restart(&mut self) {
        self.window.restart();
        self.recovery.forget();
        self.phase = Phase::SlowStart;
        self.base = WindowedMin::new(self.params.base_history);
        self.recent = [Span::MAX; FILTER];
        self.gain = 1.0 / self.params.max_gain_divisor as f64;
        self.gain_of = Span::ZERO;
    }
}

impl Controller for LedbatPlusPlus {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.sample(feedback, flight);
        if let Some(Verdict::Reduce(_)) = self.recovery.judge(feedback, flight) {
            self.answer_congestion();
        }
        let rounds = flight.smoothed_rtt.unwrap_or(Span::ZERO).saturating_mul(WAIT_ROUNDS);
        if feedback.persistent_congestion.is_some() {
            self.collapse(feedback, flight);
        } else {
            self.on_acked(feedback, flight.limit.allows_growth(), rounds);
        }
        self.advance(feedback.now, rounds, flight.limit.allows_growth());
    }

    fn on_signal(&mut self, _now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
        match signal {
            Signal::MtuChange { mtu } => self.window.set_mtu(*mtu),
            Signal::PathChange { change: PathChange::Migrated | PathChange::Revived, .. } => self.restart(),
            _ => {}
        }
    }

    fn window(&self) -> u64 {
        self.window.bytes()
    }

    fn in_slow_start(&self) -> bool {
        // Larger packets may lift the window over the threshold between two acknowledgements.
        matches!(self.phase, Phase::SlowStart | Phase::Ramp { .. }) && self.window.in_slow_start()
    }

    fn state(&self) -> ControllerState {
        let phase = match self.phase {
            Phase::SlowStart if self.window.in_slow_start() => "slow_start",
            Phase::SlowStart | Phase::Avoidance { .. } => "congestion_avoidance",
            Phase::Frozen { .. } => "slowdown",
            Phase::Ramp { .. } => "ramp",
        };
        ControllerState::new(self.window.bytes(), phase)
            .with_ssthresh(self.window.ssthresh())
            .with_gauge("gain", self.gain)
            .with_gauge("delay", self.delay().min(f64::MAX))
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn handover(&self) -> Handover {
        self.window.handover(self.base.get())
    }
}

/// The registry's entry.
pub(super) fn algorithm() -> Algorithm {
    const NAME: &str = "ledbat++";
    const SUMMARY: &str = "background traffic: 60 ms of queue at most, and regular slowdowns";
    const SOURCE: &str = "draft-irtf-iccrg-ledbat-plus-plus; RFC 6817";
    let default = LedbatPlusPlusParams::default();
    Algorithm::new(NAME, SUMMARY, SOURCE, |args, setup| {
        Ok(Box::new(LedbatPlusPlus::new(params(args), setup).map_err(|error| error.of(NAME))?))
    })
    .with_param(Param::new("target", Value::Span(default.target), "queueing delay to reach").within(1e3, 1e10))
    .with_param(packets("max_gain_divisor", default.max_gain_divisor, "how much slower than Reno at most"))
    .with_param(Param::new("decrease", Value::Number(default.decrease), "strength of the decrease").within(0.01, 100.0))
    .with_param(
        Param::new("base_history", Value::Span(default.base_history), "how long the base RTT is remembered")
            .within(1e6, 1e14),
    )
    .with_param(packets("initial_window", default.initial_window, "packets to start with"))
    .with_param(packets("min_window", default.min_window, "packets never to go below"))
    .with_param(Param::new("slowdowns", Value::Switch(default.slowdowns), "slow down regularly"))
    .declaring(declaration(&default))
}

fn declaration(default: &LedbatPlusPlusParams) -> Declaration {
    Declaration::new(Family::WideArea)
        .min_window(default.min_window as f64)
        // Delay shrinks the window on every acknowledgement.
        .reductions(Reductions::Unbounded)
        .rtt_memory(default.base_history)
        .utilisation(0.7)
        .most_share_against_cubic(0.35)
}

fn params(args: &Args) -> LedbatPlusPlusParams {
    LedbatPlusPlusParams {
        target: args.span("target"),
        max_gain_divisor: args.integer("max_gain_divisor"),
        decrease: args.number("decrease"),
        base_history: args.span("base_history"),
        initial_window: args.integer("initial_window"),
        min_window: args.integer("min_window"),
        slowdowns: args.switch("slowdowns"),
    }
}

#[cfg(test)]
mod tests;
