//! `nscc`: network-signal based congestion control of Ultra Ethernet, after `ultraethernet/uet-htsim` (`htsim/sim/uec.cpp`,
//! commit 40ccb05), which calls its constants the specification's defaults.
//!
//! ```text
//! q = RTT - base RTT;  a = BDP / 150 kB;  b = target / 12 us;  MSS the packet size
//! unmarked, q <  target   inc += alpha x acked x (target - q) / cwnd    alpha = 4 MSS a b / target
//!           q < 1 us for a window: at once cwnd += acked a / 4          fast increase
//! unmarked, q >= target   inc += fi x acked / cwnd                      fi = 5 MSS a
//! marked,   q <  target   nothing
//! marked,   q >= target   cwnd *= max(1 - gamma (avg - target) / avg, 1/2)   once a base RTT, if avg > target
//! after 8 packets or a base RTT    cwnd += inc; inc = 0;  after a base RTT also cwnd += eta = 0.15 MSS a
//! avg        avg += 0.0125 (q - avg), with base RTT / 4 in place of q where that is unmarked and above the target
//! trim       cwnd -= its bytes
//! Quick Adapt, each base RTT + target:   if trimmed, lost or q > 4 target, and achieved < max / 8:   cwnd = achieved
//! bounds     one packet to max = 1.5 BDP
//! ```
//!
//! The text of the specification could not be had. A port to ns-3 names what it takes from version 1.0.3, sections 3.6.13.3
//! to 3.6.13.6 and Table 3-82 (`Radonux/asteria-ns3`, `nscc-window.cc`, commit 368ce73): the four cases, gamma, the largest
//! cut, fi, a / 4, eta, alpha, the eighth, 8 packets, a base RTT and 1.5 BDP are the same there. What start, fast increase
//! and Quick Adapt share with FASTFLOW is in [`spray`](super::spray).
//!
//! The fairness promised is low: a flow that starts into a queue takes it for the base RTT, and its larger target for a
//! larger share. With an oracle's base RTT shares are nearly even.
//!
//! | parameter | unit | default | origin |
//! |---|---|---|---|
//! | `target` | queueing delay, base RTTs | 0.75 | uet-htsim and the port, with trimming; 1 without |
//! | `gamma` | strength of the decrease | 0.8 | the same |
//! | `average` | weight of a packet in the mean delay | 0.0125 | uet-htsim |
//! | `quick_adapt` | off or on | on | uet-htsim |
//! | `initial_window`, `min_window` | packets | 10, 1 | RFC 9002, section 7.2; uet-htsim |
//!
//! ## Differences from the reference
//!
//! | | uet-htsim | here |
//! |---|---|---|
//! | largest window | 1.5 BDP | the same with an oracle or a known local link, else none |
//! | base RTT, BDP | base RTT configured and lowered by samples; BDP by the local link | the smallest RTT seen and the local link, or the delivery rate; an oracle's with an oracle |
//! | RTT of the network, for `a`, `eta` and the target | configured: the longest base RTT | the flow's own base RTT |
//! | start | 1.5 BDP | the same with an oracle, else `initial_window`, doubling until the first mark, trim or loss, or until q reaches the target |
//! | mean delay | weight of an acknowledgement; the port: over the last base RTT | weight of a packet |
//! | increase | as above, `inc` divided when applied | divided when earned; no more than the bytes acknowledged; none while the sender does not use its window, and none from before idleness |
//! | fast increase | the acknowledgement that completes the window counts whole | its bytes beyond the window |
//! | lost packets | cwnd -= their bytes on a timeout | the same for every loss, with Quick Adapt as after a trim |
//! | acknowledgements of several packets | one mark for all of them | marked and unmarked bytes apart, marks first |
//! | q above 4 targets | asks for Quick Adapt; in the port only without trimming | asks for it |
//! | Quick Adapt | sets the window, even above what it was; an unmarked acknowledgement may adapt again at once | never raises it; again once what was in flight is through; only where the window is in use; an adaptation that would not cut leaves the trim's own cut |
//! | its period | counts the acknowledgement that ends it | does not: an acknowledgement of ten packets brings the same as ten |
//! | receiver's window penalty, SLEEK | part of it | none |

use super::InvalidParam;
use super::decay::Decay;
use super::newreno::packets;
use super::spray::{Clearance, MAX_BDPS, SprayWindow, lost};
use super::window::Sizes;
use crate::controller::{Cause, Controller, ControllerState, Feedback, Flight, Handover, Setup};
use crate::declare::{Declaration, Family, Need, Reductions};
use crate::registry::{Algorithm, Args, Param, Value};
use crate::signal::Signal;
use crate::units::{Span, Timestamp};

/// BDP of the reference network, bytes: 100 Gb/s x 12 us.
const REFERENCE_BDP: f64 = 150_000.0;
/// RTT of the reference network, ns.
const REFERENCE_RTT: f64 = 12_000.0;
/// Smallest share of the window that a decrease leaves.
const MAX_DECREASE: f64 = 0.5;
/// Quick Adapt needs less achieved than this share of the largest window (2^-3).
const QUICK_ADAPT_SHARE: f64 = 0.125;
/// Quick Adapt needs a queueing delay of so many targets, if nothing was trimmed.
const QUICK_ADAPT_TARGETS: f64 = 4.0;
/// Packets after which increases are applied.
const ADJUST_PACKETS: f64 = 8.0;

/// Parameters of [`Nscc`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct NsccParams {
    /// Queueing delay to aim at, in base RTTs; above 0.
    pub target: f64,
    /// Strength of the decrease; above 0, at most 1.
    pub gamma: f64,
    /// Weight of a packet in the mean delay; above 0, at most 1.
    pub average: f64,
    /// Whether the window is set to what was achieved after trims and losses.
    pub quick_adapt: bool,
    /// Packets to start with; at least one.
    pub initial_window: u64,
    /// Packets never to go below; at least one.
    pub min_window: u64,
}

impl Default for NsccParams {
    fn default() -> Self {
        Self { target: 0.75, gamma: 0.8, average: 0.0125, quick_adapt: true, initial_window: 10, min_window: 1 }
    }
}

impl NsccParams {
    fn validate(&self) -> Result<(), InvalidParam> {
        InvalidParam::unless(self.target > 0.0 && self.target.is_finite(), "target", "a number of base RTTs above 0")?;
        InvalidParam::unless(self.gamma > 0.0 && self.gamma <= 1.0, "gamma", "above 0, at most 1")?;
        InvalidParam::unless(self.average > 0.0 && self.average <= 1.0, "average", "a weight above 0, at most 1")?;
        InvalidParam::unless(self.initial_window > 0, "initial_window", "at least one packet")?;
        InvalidParam::unless(self.min_window > 0, "min_window", "at least one packet")
    }
}

/// What the path makes of the constants; computed anew when base RTT or BDP change.
#[derive(Clone, Copy, Debug)]
struct Scale {
    /// Base RTT, ns.
    base_rtt: f64,
    /// Queueing delay aimed at, ns.
    target: f64,
    /// BDP in reference BDPs.
    a: f64,
    /// Largest window, bytes.
    max: f64,
    /// Proportional increase, bytes per ns.
    alpha: f64,
    /// Fair increase, bytes.
    fair: f64,
    /// Increase of each base RTT, bytes.
    eta: f64,
}

impl Scale {
    fn new(spray: &SprayWindow, target: f64) -> Option<Self> {
        let base_rtt = spray.pipe.base_rtt()?.as_nanos().max(1) as f64;
        let (bdp, mss) = (spray.pipe.bdp()?, spray.window.mtu());
        let a = bdp / REFERENCE_BDP;
        Some(Self {
            base_rtt,
            target: target * base_rtt,
            a,
            max: MAX_BDPS * bdp,
            // 4 MSS a b / target with b = target / 12 us.
            alpha: 4.0 * mss * a / REFERENCE_RTT,
            fair: 5.0 * mss * a,
            eta: 0.15 * mss * a,
        })
    }
}

/// Ultra Ethernet's sender-based controller.
#[derive(Clone, Debug)]
pub struct Nscc {
    params: NsccParams,
    spray: SprayWindow,
    scale: Option<Scale>,
    /// Increase not applied yet, bytes.
    increase: f64,
    /// Bytes acknowledged since increases were applied last, and of these the ones that have added nothing yet.
    acked: f64,
    unused: f64,
    adjusted_at: Timestamp,
    decreased_at: Option<Timestamp>,
    /// Mean queueing delay, ns.
    mean_delay: f64,
    decay: Decay,
}

impl Nscc {
    /// A controller for a flow that begins as `setup` says.
    ///
    /// # Errors
    ///
    /// If a parameter is out of its range.
    pub fn new(params: NsccParams, setup: &Setup) -> Result<Self, InvalidParam> {
        params.validate()?;
        let sizes = Sizes { initial: params.initial_window, min: params.min_window };
        let spray = SprayWindow::new(setup, sizes, params.quick_adapt);
        Ok(Self {
            scale: Scale::new(&spray, params.target),
            decay: Decay::new(params.average),
            params,
            spray,
            increase: 0.0,
            acked: 0.0,
            unused: 0.0,
            adjusted_at: setup.now,
            decreased_at: None,
            mean_delay: 0.0,
        })
    }

    fn rescale(&mut self) {
        self.scale = Scale::new(&self.spray, self.params.target);
    }

    /// Increases that were not applied yet are void.
    const fn forget_increase(&mut self) {
        (self.increase, self.acked, self.unused) = (0.0, 0.0, 0.0);
    }

    /// The mean delay after a batch that met queues of `delay`.
    fn observe_delay(&mut self, feedback: &Feedback<'_>, delay: f64, scale: &Scale) {
        let mut observe = |sample, packets| {
            let kept = self.decay.after(packets);
            self.mean_delay = kept * self.mean_delay + (1.0 - kept) * sample;
        };
        if feedback.cause == Cause::Trim {
            observe(scale.base_rtt, feedback.newly_lost.packets);
        }
        let clean_but_late = feedback.newly_marked.is_zero() && delay > scale.target;
        observe(if clean_but_late { scale.base_rtt / 4.0 } else { delay }, feedback.newly_acked.packets);
    }

    /// True if the window was set to what was achieved.
    fn quick_adapt(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>, delay: f64, scale: &Scale) -> bool {
        let period = Span::from_nanos((scale.base_rtt + scale.target) as u64);
        let late = delay > QUICK_ADAPT_TARGETS * scale.target;
        self.spray.quick_adapt(feedback, flight, period, |triggered, achieved| {
            (triggered || late) && achieved < scale.max * QUICK_ADAPT_SHARE
        })
    }

    /// Marked bytes that met a queue of `delay`.
    fn on_marked(&mut self, now: Timestamp, delay: f64, scale: &Scale) {
        self.spray.leave_start();
        if self.spray.is_ignoring() {
            return self.forget_increase();
        }
        if delay < scale.target {
            return;
        }
        self.spray.end_fast_increase();
        let base_rtt = Span::from_nanos(scale.base_rtt as u64);
        let recently = self.decreased_at.is_some_and(|at| now.saturating_since(at) <= base_rtt);
        if self.mean_delay > scale.target && !recently {
            let over = (self.mean_delay - scale.target) / self.mean_delay;
            let window = &mut self.spray.window;
            window.set(window.exact() * (1.0 - self.params.gamma * over).max(MAX_DECREASE));
            self.decreased_at = Some(now);
        }
    }

    /// `bytes` that were not marked met a queue of `delay`. None adds more than itself.
    fn on_unmarked(&mut self, bytes: f64, delay: f64, scale: &Scale) {
        let before = self.spray.window.exact();
        let (rest, share) = if delay < scale.target {
            let path = Clearance { delay, target: scale.target, gain: (scale.a / 4.0).min(1.0) };
            (self.spray.grow_at_once(bytes, path), scale.alpha * (scale.target - delay))
        } else {
            self.spray.leave_start();
            (bytes, scale.fair)
        };
        let increase = self.spray.window.growth(rest, share);
        self.increase += increase;
        self.unused -= increase + (self.spray.window.exact() - before);
    }

    /// Applies what has come together.
    fn adjust(&mut self, now: Timestamp, scale: &Scale) {
        let waited = now.saturating_since(self.adjusted_at).as_nanos() as f64;
        let window = &mut self.spray.window;
        if self.acked <= ADJUST_PACKETS * window.mtu() && waited <= scale.base_rtt {
            return;
        }
        if waited >= scale.base_rtt {
            self.increase += scale.eta.min(self.unused.max(0.0));
            self.adjusted_at = now;
        }
        window.add(self.increase);
        self.forget_increase();
    }

    /// `bytes` more were acknowledged, and have added what they add.
    fn count(&mut self, bytes: f64, now: Timestamp, scale: &Scale) {
        if self.spray.in_slow_start() {
            self.adjusted_at = now;
            return self.forget_increase();
        }
        self.acked += bytes;
        self.unused += bytes;
        self.adjust(now, scale);
    }

    fn on_acked(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>, delay: f64, scale: &Scale) {
        let acked = feedback.newly_acked.bytes;
        let unmarked = acked - feedback.newly_marked.bytes.min(acked);
        if unmarked < acked {
            self.on_marked(feedback.now, delay, scale);
        }
        if flight.limit.allows_growth() {
            let judged = self.spray.judged(unmarked, feedback);
            if judged > 0.0 {
                self.on_unmarked(judged, delay, scale);
            }
            // What is ignored counts for nothing, or the smallest increase of each round trip would undo the adaptation; nor
            // does what is marked without a sample, for unmarked bytes would wait for one.
            let counts = !self.spray.is_ignoring() && feedback.rtt.is_some();
            let marked = if counts { acked - unmarked } else { 0 };
            if judged > 0.0 || marked > 0 {
                self.count(judged + marked as f64, feedback.now, scale);
            }
        }
        self.spray.cap();
    }
}

impl Controller for Nscc {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        if self.spray.observe(feedback, flight) {
            self.rescale();
        }
        let lost = lost(feedback);
        let delay = self.spray.delay();
        let adapted = self.scale.is_some_and(|scale| {
            self.observe_delay(feedback, delay, &scale);
            self.quick_adapt(feedback, flight, delay, &scale)
        });
        if adapted || (lost > 0 && self.spray.is_ignoring()) {
            self.forget_increase();
        } else if lost > 0 {
            self.spray.window.add(-(lost as f64));
        }
        if feedback.persistent_congestion.is_some() {
            self.spray.window.collapse();
            self.forget_increase();
        }
        if let Some(scale) = self.scale.filter(|_| feedback.newly_acked.bytes > 0) {
            self.on_acked(feedback, flight, delay, &scale);
        }
    }

    fn on_signal(&mut self, now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
        if self.spray.on_signal(signal) {
            (self.decreased_at, self.mean_delay) = (None, 0.0);
            self.forget_increase();
        }
        match signal {
            Signal::Restart { .. } => {
                self.forget_increase();
                self.adjusted_at = now;
            }
            Signal::MtuChange { .. } | Signal::PathChange { .. } => self.rescale(),
            _ => {}
        }
    }

    fn window(&self) -> u64 {
        self.spray.window.bytes()
    }

    fn in_slow_start(&self) -> bool {
        self.spray.in_slow_start()
    }

    fn state(&self) -> ControllerState {
        ControllerState::new(self.spray.window.bytes(), self.spray.phase_name())
            .with_gauge("mean_delay_ns", self.mean_delay)
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn handover(&self) -> Handover {
        self.spray.handover()
    }
}

/// The registry's entry.
pub(super) fn algorithm() -> Algorithm {
    const NAME: &str = "nscc";
    let default = NsccParams::default();
    let summary = "four quadrants of mark and delay, and what was achieved after trims";
    Algorithm::new(NAME, summary, "Ultra Ethernet, uet-htsim", |args, setup| {
        Ok(Box::new(Nscc::new(params(args), setup).map_err(|error| error.of(NAME))?))
    })
    .declaring(
        Declaration::new(Family::Datacentre)
            .needing(Need::Ecn)
            .needing(Need::Trimming)
            .min_window(1.0)
            .reductions(Reductions::Unbounded)
            .utilisation(0.9)
            .fairness(0.6),
    )
    .with_param(
        Param::new("target", Value::Number(default.target), "queueing delay aimed at, base RTTs").within(0.01, 100.0),
    )
    .with_param(Param::new("gamma", Value::Number(default.gamma), "strength of the decrease").within(0.01, 1.0))
    .with_param(
        Param::new("average", Value::Number(default.average), "weight of a packet in the mean delay").within(1e-4, 1.0),
    )
    .with_param(Param::new("quick_adapt", Value::Switch(default.quick_adapt), "set the window to what was achieved"))
    .with_param(packets("initial_window", default.initial_window, "packets to start with"))
    .with_param(packets("min_window", default.min_window, "packets never to go below"))
}

fn params(args: &Args) -> NsccParams {
    NsccParams {
        target: args.number("target"),
        gamma: args.number("gamma"),
        average: args.number("average"),
        quick_adapt: args.switch("quick_adapt"),
        initial_window: args.integer("initial_window"),
        min_window: args.integer("min_window"),
    }
}

#[cfg(test)]
mod tests;
