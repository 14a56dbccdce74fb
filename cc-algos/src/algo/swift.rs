//! `swift`: Kumar et al., *Swift: Delay is Simple and Effective for Congestion Control in the Datacenter*, SIGCOMM'20, in
//! the form of the OCP Falcon transport specification, revision 0.9, section 10.3.
//!
//! ```text
//! delay     fabric delay where hosts time-stamp, else RTT - ACK delay;  smoothed = s smoothed + (1 - s) delay
//! target    T base_target + per_hop hops + clamp(0, alpha / sqrt(w) + beta_fs, T fs_range)         w = cwnd in packets
//!           alpha = T fs_range / (1 / sqrt(fs_min) - 1 / sqrt(fs_max));  beta_fs = -alpha / sqrt(fs_max)
//! delay <= target    w += ai acked / w                       (w >= 1)      w += ai acked        (w < 1)
//! delay >  target    w *= max(1 - beta (delay - target) / delay, 1 - max_mdf)                   once a round trip
//! loss               w *= 1 - max_mdf                                                           once a round trip
//! `retransmit_limit` timeouts in a row   w = min_window;     persistent congestion: w = 1 at most
//! ```
//!
//! Below one packet the engine paces: a packet each RTT / w. The specification is the primary source here; the paper's
//! text was not at hand, and the specification gives no defaults.
//!
//! | parameter | unit | default | origin |
//! |---|---|---|---|
//! | `ai` | packets a round trip | 1 | Falcon, 10.3.1, comment |
//! | `beta` | weight of the excess | 0.8 | csg-htsim `swift.cpp`, there called a guess; the paper's by hearsay |
//! | `max_mdf` | largest cut | 0.5 | as `beta` |
//! | `base_target` | base RTTs | 1.5 | ours: half a base RTT of queue |
//! | `per_hop` | time | 0 | ours: an estimated base RTT holds the hops; csg-htsim has 20 us / 6.55 |
//! | `hops` | count | 5 | ours: across a fat-tree, where headers do not tell |
//! | `fs_range` | base RTTs | 2.5 | csg-htsim: five times the queueing part of the target |
//! | `fs_min`, `fs_max` | packets | 0.1, 100 | csg-htsim; the paper's figure 5 by hearsay |
//! | `smoothing` | share kept | 0 | ours: off, as in csg-htsim; Falcon leaves it open |
//! | `retransmit_limit` | timeouts | 5 | csg-htsim |
//! | `initial_window` | packets | 10 | RFC 9002, section 7.2; csg-htsim has 12 |
//! | `min_window`, `max_window` | packets | 0.001, 1 000 000 | the paper's by hearsay; ours: a bound on absurdity |
//!
//! ## Differences from the reference
//!
//! | | Falcon, section 10.3 | here |
//! |---|---|---|
//! | base delay | one configured time | multiples of T, the smallest delay seen or the oracle's base RTT. A flow that starts into a queue takes it for the base and gets more than its share |
//! | `alpha` of flow scaling | prints `sqrt` where `1 / sqrt` is meant | reciprocals, as csg-htsim |
//! | "once per RTT" | `now - marker >= rtt` | the packet was sent after the last cut; the same for its own RTT |
//! | acknowledged packets | counted | bytes / MTU: splitting acknowledgements gains nothing |
//! | loss | each retransmission | losses the engine declares; a lone timeout says nothing yet (RFC 9002, section 6.2) |
//! | acknowledgements without a delay of their own | | go by the last one, but cut nothing |
//! | persistent congestion (RFC 9002, section 7.6) | | one packet, or a cut by `max_mdf` if that is less: trimmed packets count as lost, and they tell that the path lives |
//! | growth | always | not while application or receiver hold the sender back |
//! | second window for the receiver's NIC (`ncwnd`), PLB | yes | no: no such signal; balancers are the engine's |
//! | marks | | asks for none; those that come count as losses |

use super::InvalidParam;
use super::fabric::{FabricWindow, Limits, Start, Step, delay_of};
use crate::controller::{Cause, Controller, ControllerState, Feedback, Flight, Handover, Setup};
use crate::declare::{Declaration, Family, Need};
use crate::registry::{Algorithm, Args, Param, Value};
use crate::signal::{Ecn, Signal};
use crate::units::{Span, Timestamp};

/// Parameters of [`Swift`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct SwiftParams {
    /// Packets that the window grows by a round trip; above 0.
    pub ai: f64,
    /// Weight of the share of the delay above the target; above 0, at most 1.
    pub beta: f64,
    /// Largest share that one cut takes; between 0 and 1, both excluded.
    pub max_mdf: f64,
    /// Target of a large window over no hops, base RTTs; at least 1.
    pub base_target: f64,
    /// Time that each hop adds to the target.
    pub per_hop: Span,
    /// Hops of the path where nobody tells.
    pub hops: u64,
    /// Most that a small window adds to the target, base RTTs; not negative.
    pub fs_range: f64,
    /// Window from which down the target is largest, packets; above 0.
    pub fs_min: f64,
    /// Window from which up the target is smallest, packets; above `fs_min`.
    pub fs_max: f64,
    /// Share of the former delay in the smoothed one; from 0, below 1.
    pub smoothing: f64,
    /// Timeouts in a row after which the window is the smallest; at least one.
    pub retransmit_limit: u64,
    /// Packets to start with; at least one.
    pub initial_window: u64,
    /// Packets never to go below; above 0.
    pub min_window: f64,
    /// Packets never to go above; at least one.
    pub max_window: f64,
}

impl Default for SwiftParams {
    fn default() -> Self {
        Self {
            ai: 1.0,
            beta: 0.8,
            max_mdf: 0.5,
            base_target: 1.5,
            per_hop: Span::ZERO,
            hops: 5,
            fs_range: 2.5,
            fs_min: 0.1,
            fs_max: 100.0,
            smoothing: 0.0,
            retransmit_limit: 5,
            initial_window: 10,
            min_window: 0.001,
            max_window: 1e6,
        }
    }
}

impl SwiftParams {
    fn validate(&self) -> Result<(), InvalidParam> {
        let finite = |value: f64| value > 0.0 && value.is_finite();
        InvalidParam::unless(finite(self.ai), "ai", "packets, more than 0")?;
        InvalidParam::unless(self.beta > 0.0 && self.beta <= 1.0, "beta", "a weight above 0, at most 1")?;
        InvalidParam::unless(self.max_mdf > 0.0 && self.max_mdf < 1.0, "max_mdf", "a share between 0 and 1")?;
        let base = self.base_target >= 1.0 && self.base_target.is_finite();
        InvalidParam::unless(base, "base_target", "base RTTs, at least 1")?;
        let range = self.fs_range >= 0.0 && self.fs_range.is_finite();
        InvalidParam::unless(range, "fs_range", "base RTTs, at least 0")?;
        InvalidParam::unless(finite(self.fs_min), "fs_min", "packets, more than 0")?;
        let above = self.fs_max > self.fs_min && self.fs_max.is_finite();
        InvalidParam::unless(above, "fs_max", "packets, more than `fs_min`")?;
        InvalidParam::unless((0.0..1.0).contains(&self.smoothing), "smoothing", "a share from 0, below 1")?;
        InvalidParam::unless(self.retransmit_limit > 0, "retransmit_limit", "at least one timeout")?;
        InvalidParam::unless(self.initial_window > 0, "initial_window", "at least one packet")?;
        InvalidParam::unless(finite(self.min_window), "min_window", "packets, more than 0")?;
        let most = self.max_window >= self.min_window.max(1.0) && self.max_window.is_finite();
        InvalidParam::unless(most, "max_window", "packets, at least 1 and `min_window`")
    }
}

/// A window that holds the delay of its packets at a target.
#[derive(Clone, Debug)]
pub struct Swift {
    params: SwiftParams,
    window: FabricWindow,
    /// Flow scaling in base RTTs: `alpha / sqrt(w) + beta`.
    fs_alpha: f64,
    fs_beta: f64,
    /// Nanoseconds.
    smoothed: Option<f64>,
    hops: u64,
    phase: &'static str,
}

impl Swift {
    /// A controller for a flow that begins as `setup` says.
    ///
    /// # Errors
    ///
    /// If a parameter is out of its range.
    pub fn new(params: SwiftParams, setup: &Setup) -> Result<Self, InvalidParam> {
        params.validate()?;
        let root = |window: f64| 1.0 / libm::sqrt(window);
        let fs_alpha = params.fs_range / (root(params.fs_min) - root(params.fs_max));
        let limits = Limits {
            initial: params.initial_window as f64,
            start: Start::Initial,
            min: params.min_window,
            max: params.max_window,
            loss_beta: 1.0 - params.max_mdf,
        };
        Ok(Self {
            window: FabricWindow::new(setup, limits),
            fs_alpha,
            fs_beta: -fs_alpha * root(params.fs_max),
            smoothed: None,
            hops: params.hops,
            phase: "increase",
            params,
        })
    }

    /// The delay to hold at the current window, nanoseconds; section 10.3.4, `FabricDelayTarget`.
    fn target(&self) -> f64 {
        let base = self.window.base_rtt().map_or(0.0, nanos);
        let scaled = self.fs_alpha / libm::sqrt(self.window.packets()) + self.fs_beta;
        let topology = nanos(self.params.per_hop) * self.hops as f64;
        base * (self.params.base_target + scaled.max(0.0).min(self.params.fs_range)) + topology
    }

    /// The smoothed delay takes the newest one, if there is one.
    fn take_delay(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) -> Option<f64> {
        let delay = nanos(delay_of(feedback, flight)?);
        let kept = self.params.smoothing;
        self.smoothed = Some(self.smoothed.map_or(delay, |former| former + (1.0 - kept) * (delay - former)));
        Some(delay)
    }

    /// Section 10.3.1, `ComputeAckFabricCongestionWindow`. Packets that were acknowledged without a delay of their own go by
    /// the last one, but are no reason for a cut.
    fn answer_delay(&mut self, delay: Option<f64>, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let Some(smoothed) = self.smoothed else { return };
        let target = self.target();
        if smoothed <= target {
            self.phase = "increase";
            if flight.limit.allows_growth() {
                self.grow(feedback.newly_acked.bytes as f64 / self.window.mtu());
            }
        } else if delay.is_some() && feedback.acked.last().is_some_and(|newest| !self.window.covers(newest)) {
            self.phase = "decrease";
            let factor = (1.0 - self.params.beta * (smoothed - target) / smoothed).max(1.0 - self.params.max_mdf);
            self.window.reduce(self.window.bytes() * factor, feedback, flight);
        }
    }

    /// `ai / window` for each packet, `ai` while the window is below one. Several packets at once are what they would be one
    /// by one, in the limit of small steps: window^2 grows by 2 ai for each.
    fn grow(&mut self, acked: f64) {
        let ai = self.params.ai;
        let window = self.window.packets();
        let below_one = if window < 1.0 { ((1.0 - window) / ai).clamp(0.0, acked) } else { 0.0 };
        let (window, left) = (window + ai * below_one, acked - below_one);
        let grown = if left > 1.0 {
            libm::sqrt(window * window + 2.0 * ai * left)
        } else {
            window + ai * left / window.max(1.0)
        };
        self.window.set(grown * self.window.mtu());
    }
}

fn nanos(span: Span) -> f64 {
    span.as_nanos() as f64
}

impl Controller for Swift {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let step = self.window.begin(feedback, flight);
        let gives_up = matches!(feedback.cause, Cause::Timeout { consecutive }
            if u64::from(consecutive) >= self.params.retransmit_limit);
        if gives_up {
            self.window.collapse(self.window.min(), feedback, flight);
        }
        // Persistent congestion without that many timeouts leaves the one packet of `fabric`.
        if gives_up || feedback.persistent_congestion.is_some() {
            return;
        }
        if step == Step::Reduced {
            self.phase = "decrease";
        }
        if let Some(hops) = feedback.hops {
            self.hops = u64::from(hops);
        }
        let delay = self.take_delay(feedback, flight);
        if step != Step::Reduced {
            self.answer_delay(delay, feedback, flight);
        }
    }

    fn on_signal(&mut self, _now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
        if self.window.on_signal(signal) {
            self.smoothed = None;
            self.hops = self.params.hops;
        }
    }

    fn window(&self) -> u64 {
        self.window.rounded()
    }

    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    fn state(&self) -> ControllerState {
        ControllerState::new(self.window(), self.phase)
            .with_gauge("target_us", self.target() / 1e3)
            .with_gauge("delay_us", self.smoothed.unwrap_or(0.0) / 1e3)
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn handover(&self) -> Handover {
        self.window.handover()
    }
}

/// The registry's entry.
pub(super) fn algorithm() -> Algorithm {
    const NAME: &str = "swift";
    let default = SwiftParams::default();
    let number = |name, value, help| Param::new(name, Value::Number(value), help);
    let integer = |name, value, help| Param::new(name, Value::Integer(value), help);
    Algorithm::new(NAME, "holds the delay at a target that shrinks as the window grows", SOURCE, |args, setup| {
        Ok(Box::new(Swift::new(params(args), setup).map_err(|error| error.of(NAME))?))
    })
    .declaring(declaration(&default))
    .with_param(number("ai", default.ai, "packets of growth a round trip").within(1e-6, 1e6))
    .with_param(number("beta", default.beta, "weight of the delay above the target").within(1e-3, 1.0))
    .with_param(number("max_mdf", default.max_mdf, "largest share that one cut takes").within(1e-3, 0.999))
    .with_param(number("base_target", default.base_target, "target of a large window, base RTTs").within(1.0, 1e6))
    .with_param(Param::new("per_hop", Value::Span(default.per_hop), "time that each hop adds to the target"))
    .with_param(integer("hops", default.hops, "hops where nobody tells").within(0.0, 255.0))
    .with_param(number("fs_range", default.fs_range, "most that flow scaling adds, base RTTs").within(0.0, 1e6))
    .with_param(number("fs_min", default.fs_min, "window with the largest target, packets").within(1e-6, 1e6))
    .with_param(number("fs_max", default.fs_max, "window with the smallest target, packets").within(1e-6, 1e9))
    .with_param(number("smoothing", default.smoothing, "share of the former delay kept").within(0.0, 0.999))
    .with_param(integer("retransmit_limit", default.retransmit_limit, "timeouts to give up after").within(1.0, 1e6))
    .with_param(integer("initial_window", default.initial_window, "packets to start with").within(1.0, 1e6))
    .with_param(number("min_window", default.min_window, "packets never to go below").within(1e-6, 1e6))
    .with_param(number("max_window", default.max_window, "packets never to go above").within(1.0, 1e9))
}

const SOURCE: &str = "Kumar et al., SIGCOMM'20; OCP Falcon 0.9, section 10.3";

fn declaration(default: &SwiftParams) -> Declaration {
    Declaration::new(Family::Datacentre)
        .needing(Need::HopCount)
        .min_window(default.min_window)
        .max_window(default.max_window)
        .utilisation(0.95)
        .queueing_delay(1.0)
}

fn params(args: &Args) -> SwiftParams {
    SwiftParams {
        ai: args.number("ai"),
        beta: args.number("beta"),
        max_mdf: args.number("max_mdf"),
        base_target: args.number("base_target"),
        per_hop: args.span("per_hop"),
        hops: args.integer("hops"),
        fs_range: args.number("fs_range"),
        fs_min: args.number("fs_min"),
        fs_max: args.number("fs_max"),
        smoothing: args.number("smoothing"),
        retransmit_limit: args.integer("retransmit_limit"),
        initial_window: args.integer("initial_window"),
        min_window: args.number("min_window"),
        max_window: args.number("max_window"),
    }
}

#[cfg(test)]
mod tests;
