//! `fastflow`: FASTFLOW (Bonato et al., arXiv 2404.01630v3), the later form of SMaRTT and forerunner of Ultra Ethernet's
//! NSCC.
//!
//! ```text
//! for each packet acknowledged, with its RTT r, the target t = 1.5 base RTT and B = BDP:
//!   unmarked, r <  t   cwnd += min(pi (t - r) / r MTU^2 / cwnd, MTU) + fi B MTU / cwnd   proportional and fair increase
//!   unmarked, r >= t   cwnd += fi B MTU / cwnd                                           fair increase
//!   marked,   r <  t   cwnd -= fd MTU cwnd / B                                           fair decrease
//!   marked,   r >= t   cwnd -= min(md (r - t) / r MTU + fd MTU cwnd / B, MTU)            multiplicative decrease
//! wait to decrease     none of the decreases while the mean share of marks is at most a quarter
//! fast increase        unmarked and no queue (1 us) for a whole window: each packet adds k MTU until that ends
//! trim                 cwnd -= its bytes
//! Quick Adapt          each target RTT, if packets were trimmed or lost: cwnd = bytes acknowledged meanwhile
//!                      afterwards as many bytes as were in flight are ignored where they are marked or trimmed
//! bounds               one packet to 1.5 B
//! ```
//!
//! Of the paper only the abstract could be had. The law and its constants are those of the authors' simulator: the Uno
//! artifact (`spcl/Uno_SC25`, commit 68d164e, `sim/uec.cpp`, type `smartt`), and a later form of it in copies of htsim
//! (`smartt_vanilla_main_loop` and `smartt_quick_adapt` in `uec.cpp`), which this follows.
//!
//! Reimplementations that cite the paper's sections and algorithms (a `fastflow.cpp` in a copy of htsim, `smartt.c` of a
//! framework for programmable congestion control) bear out t, pi = base RTT / (t - base RTT), k = 2, the wait and 1.5 B, and
//! know two forms. One is the above, at most once an RTT. In the other, of later versions, a late mark takes
//! (mean r - t) / mean r x 0.8 of the window, at most a half, once a base RTT, an early one nothing, and nothing waits: that
//! law is `nscc`'s. What both share is in [`spray`](super::spray).
//!
//! | parameter | unit | default | origin |
//! |---|---|---|---|
//! | `target` | base RTTs | 1.5 | htsim copies and reimplementations; 1.51 in the artifact |
//! | `proportional` (pi) | | 2 | the same; 1 in the artifact |
//! | `fair_increase` (fi) | BDPs a window | 0.02 | htsim copies, whose comments give 0.006 for the paper's submission |
//! | `fair_decrease` (fd) | | 0.5 | the same; submission 0.8, artifact 1 |
//! | `multiplicative` (md) | | 1 | the same; submission 2, artifact 1 |
//! | `fast` (k) | packets a packet | 1 | the same; submission and reimplementations 2 |
//! | `wait` | share of marks | 0.25 | quoted by a third party for the paper; 0.3 in htsim, where it can be off |
//! | `average` | weight of a packet in the mean share | 0.125 | the artifact; 0.05 in htsim copies |
//! | `quick_adapt` | off or on | on | the paper's abstract |
//! | `initial_window`, `min_window` | packets | 10, 1 | RFC 9002, section 7.2; htsim |
//!
//! ## Differences from the reference
//!
//! | | reference | here |
//! |---|---|---|
//! | base RTT, BDP | configured, or smallest sample and local link | the smallest RTT seen and the local link, or the delivery rate; an oracle's with an oracle |
//! | start | 1.5 BDP | the same with an oracle, else `initial_window`, doubling until the first mark, trim or loss, or until r reaches the target |
//! | largest window | 1.5 BDP; 1.25 in an earlier version | 1.5 BDP with an oracle or a known local link, else none |
//! | count | packets | bytes |
//! | increase | as above | not more than the bytes acknowledged, fast increase apart; none while the sender does not use its window |
//! | losses without trimming | Quick Adapt after a timeout | every loss counts as a trim |
//! | Quick Adapt | sets the window; in reimplementations to 0.8 of what came, and nothing at all counts until what was in flight is through | never raises the window; only where it is in use; unmarked packets let it grow, as in htsim |
//! | its period | counts the acknowledgement that ends it | does not: an acknowledgement of ten packets brings the same as ten |
//! | r = t | nothing happens | as above t |

use super::InvalidParam;
use super::decay::Decay;
use super::newreno::packets;
use super::spray::{Clearance, SprayWindow, lost};
use super::window::Sizes;
use crate::controller::{Controller, ControllerState, Feedback, Flight, Handover, Setup};
use crate::declare::{Declaration, Family, Need, Reductions};
use crate::registry::{Algorithm, Args, Param, Value};
use crate::signal::Signal;
use crate::units::Timestamp;

/// Parameters of [`FastFlow`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct FastFlowParams {
    /// RTT to aim at, in base RTTs; above 1.
    pub target: f64,
    /// Strength of the proportional increase; not negative.
    pub proportional: f64,
    /// BDPs that a window of unmarked packets adds; above 0.
    pub fair_increase: f64,
    /// Strength of the fair decrease; above 0, at most 1.
    pub fair_decrease: f64,
    /// Strength of the multiplicative decrease; not negative.
    pub multiplicative: f64,
    /// Packets that each packet adds in fast increase; 0 to 4.
    pub fast: f64,
    /// Mean share of marks up to which nothing decreases; 0 to 1.
    pub wait: f64,
    /// Weight of a packet in the mean share; above 0, at most 1.
    pub average: f64,
    /// Whether the window is set to what was achieved after trims and losses.
    pub quick_adapt: bool,
    /// Packets to start with; at least one.
    pub initial_window: u64,
    /// Packets never to go below; at least one.
    pub min_window: u64,
}

impl Default for FastFlowParams {
    fn default() -> Self {
        Self {
            target: 1.5,
            proportional: 2.0,
            fair_increase: 0.02,
            fair_decrease: 0.5,
            multiplicative: 1.0,
            fast: 1.0,
            wait: 0.25,
            average: 0.125,
            quick_adapt: true,
            initial_window: 10,
            min_window: 1,
        }
    }
}

impl FastFlowParams {
    fn validate(&self) -> Result<(), InvalidParam> {
        let strength = |value: f64| value >= 0.0 && value.is_finite();
        InvalidParam::unless(self.target > 1.0 && self.target.is_finite(), "target", "a number of base RTTs above 1")?;
        InvalidParam::unless(strength(self.proportional), "proportional", "a strength of 0 or more")?;
        InvalidParam::unless(
            self.fair_increase > 0.0 && self.fair_increase <= 1.0,
            "fair_increase",
            "above 0, at most 1",
        )?;
        InvalidParam::unless(
            self.fair_decrease > 0.0 && self.fair_decrease <= 1.0,
            "fair_decrease",
            "above 0, at most 1",
        )?;
        InvalidParam::unless(strength(self.multiplicative), "multiplicative", "a strength of 0 or more")?;
        InvalidParam::unless((0.0..=4.0).contains(&self.fast), "fast", "0 to 4 packets")?;
        InvalidParam::unless((0.0..=1.0).contains(&self.wait), "wait", "a share from 0 to 1")?;
        InvalidParam::unless(self.average > 0.0 && self.average <= 1.0, "average", "a weight above 0, at most 1")?;
        InvalidParam::unless(self.initial_window > 0, "initial_window", "at least one packet")?;
        InvalidParam::unless(self.min_window > 0, "min_window", "at least one packet")
    }
}

/// FASTFLOW's window.
#[derive(Clone, Debug)]
pub struct FastFlow {
    params: FastFlowParams,
    spray: SprayWindow,
    /// Mean share of marked packets.
    marks: f64,
    decay: Decay,
}

/// What a batch says of the path: base RTT, RTT and target in ns, BDP in bytes.
#[derive(Clone, Copy, Debug)]
struct Trip {
    base: f64,
    rtt: f64,
    target: f64,
    bdp: f64,
}

impl FastFlow {
    /// A controller for a flow that begins as `setup` says.
    ///
    /// # Errors
    ///
    /// If a parameter is out of its range.
    pub fn new(params: FastFlowParams, setup: &Setup) -> Result<Self, InvalidParam> {
        params.validate()?;
        let sizes = Sizes { initial: params.initial_window, min: params.min_window };
        let spray = SprayWindow::new(setup, sizes, params.quick_adapt);
        Ok(Self { spray, decay: Decay::new(params.average), params, marks: 0.0 })
    }

    fn trip(&self) -> Option<Trip> {
        let base = self.spray.pipe.base_rtt()?.as_nanos().max(1) as f64;
        let rtt = base + self.spray.delay();
        Some(Trip { base, rtt, target: self.params.target * base, bdp: self.spray.pipe.bdp()? })
    }

    /// True if the window was set to what was achieved.
    fn quick_adapt(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) -> bool {
        let period = self.spray.pipe.base_rtt().unwrap_or_default().mul_f64(self.params.target);
        self.spray.quick_adapt(feedback, flight, period, |triggered, _| triggered)
    }

    fn on_marked(&mut self, bytes: f64, trip: &Trip) {
        self.spray.end_fast_increase();
        if self.marks <= self.params.wait || self.spray.is_ignoring() {
            return;
        }
        let fair = self.params.fair_decrease * self.spray.window.exact() / trip.bdp;
        let late = self.params.multiplicative * ((trip.rtt - trip.target) / trip.rtt).max(0.0);
        self.spray.window.add(-bytes * (fair + late).min(1.0));
    }

    fn on_unmarked(&mut self, bytes: f64, trip: &Trip) {
        let path = Clearance { delay: trip.rtt - trip.base, target: trip.target - trip.base, gain: self.params.fast };
        let rest = self.spray.grow_at_once(bytes, path);
        let window = &mut self.spray.window;
        let early = self.params.proportional * (trip.target - trip.rtt) / trip.rtt * window.mtu();
        let fair = self.params.fair_increase * trip.bdp;
        window.add(window.growth(rest, early.max(0.0) + fair));
    }

    fn on_acked(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let Some(trip) = self.trip() else { return };
        let acked = feedback.newly_acked.bytes;
        let marked = feedback.newly_marked.bytes.min(acked);
        if marked > 0 {
            self.on_marked(marked as f64, &trip);
        }
        if marked < acked && flight.limit.allows_growth() {
            let judged = self.spray.judged(acked - marked, feedback);
            self.on_unmarked(judged, &trip);
        }
        self.spray.cap();
    }
}

impl Controller for FastFlow {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.spray.observe(feedback, flight);
        let acked = feedback.newly_acked.packets;
        if acked > 0 {
            let share = feedback.newly_marked.packets.min(acked) as f64 / acked as f64;
            let kept = self.decay.after(acked);
            self.marks = kept * self.marks + (1.0 - kept) * share;
        }
        let adapted = self.quick_adapt(feedback, flight);
        let lost = lost(feedback);
        if lost > 0 {
            self.spray.end_fast_increase();
            if !adapted && !self.spray.is_ignoring() {
                self.spray.window.add(-(lost as f64));
            }
        }
        if feedback.persistent_congestion.is_some() {
            self.spray.window.collapse();
        }
        if acked > 0 {
            self.on_acked(feedback, flight);
        }
    }

    fn on_signal(&mut self, _now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
        if self.spray.on_signal(signal) {
            self.marks = 0.0;
        }
    }

    fn window(&self) -> u64 {
        self.spray.window.bytes()
    }

    fn in_slow_start(&self) -> bool {
        self.spray.in_slow_start()
    }

    fn state(&self) -> ControllerState {
        ControllerState::new(self.spray.window.bytes(), self.spray.phase_name()).with_gauge("marks", self.marks)
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
    const NAME: &str = "fastflow";
    let summary = "steers each packet's mark and delay, adapts at once to what arrives after trims";
    Algorithm::new(NAME, summary, "FASTFLOW, arXiv 2404.01630", |args, setup| {
        Ok(Box::new(FastFlow::new(params(args), setup).map_err(|error| error.of(NAME))?))
    })
    .declaring(
        Declaration::new(Family::Datacentre)
            .needing(Need::Ecn)
            .needing(Need::Trimming)
            .min_window(1.0)
            .reductions(Reductions::Unbounded)
            .utilisation(0.9)
            .fairness(0.9),
    )
    .with_params(all_params())
}

fn all_params() -> Vec<Param> {
    let default = FastFlowParams::default();
    let number = |name, value, help| Param::new(name, Value::Number(value), help);
    vec![
        number("target", default.target, "RTT aimed at, base RTTs").within(1.001, 100.0),
        number("proportional", default.proportional, "strength of the proportional increase").within(0.0, 100.0),
        number("fair_increase", default.fair_increase, "BDPs that an unmarked window adds").within(1e-6, 1.0),
        number("fair_decrease", default.fair_decrease, "strength of the fair decrease").within(1e-3, 1.0),
        number("multiplicative", default.multiplicative, "strength of the multiplicative decrease").within(0.0, 100.0),
        number("fast", default.fast, "packets that each packet adds in fast increase").within(0.0, 4.0),
        number("wait", default.wait, "share of marks up to which nothing decreases").within(0.0, 1.0),
        number("average", default.average, "weight of a packet in the mean share of marks").within(1e-3, 1.0),
        Param::new("quick_adapt", Value::Switch(default.quick_adapt), "set the window to what was achieved"),
        packets("initial_window", default.initial_window, "packets to start with"),
        packets("min_window", default.min_window, "packets never to go below"),
    ]
}

fn params(args: &Args) -> FastFlowParams {
    FastFlowParams {
        target: args.number("target"),
        proportional: args.number("proportional"),
        fair_increase: args.number("fair_increase"),
        fair_decrease: args.number("fair_decrease"),
        multiplicative: args.number("multiplicative"),
        fast: args.number("fast"),
        wait: args.number("wait"),
        average: args.number("average"),
        quick_adapt: args.switch("quick_adapt"),
        initial_window: args.integer("initial_window"),
        min_window: args.integer("min_window"),
    }
}

#[cfg(test)]
mod tests;
