//! The part of PowerTCP that does not depend on how power is measured (Addanki et al., NSDI'22, algorithms 1 and 2): the
//! smoothing of power, and the window that follows from it.
//!
//! ```text
//! Gamma     = Gamma (1 - dt / T) + Gamma_now dt / T                          dt at most T
//! W         = gamma (W_old / (Gamma / eta) + beta) + (1 - gamma) W           beta = share x line rate x T
//! ```
//!
//! Power is arrival rate times the window that queue and link hold, over what the link alone makes of both: 1 means that
//! the link is full and its queue empty and still. `W_old` is the window at which the acknowledged packet left.

use super::InvalidParam;
use super::fabric::{FabricWindow, Limits, Start, Step};
use super::hpcc::{loss_beta, min_window};
use super::newreno::packets;
use crate::controller::{Feedback, Flight, PacketTag, Setup};
use crate::registry::{Algorithm, Args, Param, Value};
use crate::units::Span;

/// Power above this is not believed: what one forged report can do heals within seven round trips (ours). Nor is power
/// below [`LEAST_CURRENT`]: no delay is smaller than the base RTT.
const MOST_POWER: f64 = 1_000.0;

/// Least arrival rate as a share of the link's, and least growth of delay likewise; the authors' simulator has it, the
/// paper's algorithms do not. It keeps one round trip from growing the window more than twofold.
pub(super) const LEAST_CURRENT: f64 = 0.5;

/// Parameters of both PowerTCPs.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct PowerParams {
    /// Weight of the newest window; above 0, at most 1.
    pub gamma: f64,
    /// Additive part, as a share of line rate x T; above 0, at most 1.
    pub beta: f64,
    /// Power to aim at, as a share of a full link's; above 0, at most 2.
    pub eta: f64,
    /// Share of the window that a loss keeps; between 0 and 1, both excluded.
    pub loss_beta: f64,
    /// Packets to start with until T is known; at least one.
    pub initial_window: u64,
    /// Packets never to go below; above 0.
    pub min_window: f64,
}

impl PowerParams {
    pub(super) fn validate(&self) -> Result<(), InvalidParam> {
        InvalidParam::unless(self.gamma > 0.0 && self.gamma <= 1.0, "gamma", "a weight above 0, at most 1")?;
        InvalidParam::unless(self.beta > 0.0 && self.beta <= 1.0, "beta", "a share above 0, at most 1")?;
        InvalidParam::unless(self.eta > 0.0 && self.eta <= 2.0, "eta", "a power above 0, at most 2")?;
        self.limits().validate()?;
        InvalidParam::unless(self.initial_window > 0, "initial_window", "at least one packet")
    }

    const fn limits(&self) -> Limits {
        Limits {
            initial: self.initial_window as f64,
            start: Start::LineRate,
            min: self.min_window,
            max: f64::INFINITY,
            loss_beta: self.loss_beta,
        }
    }

    pub(super) fn declare_in(&self, algorithm: Algorithm) -> Algorithm {
        let number = |name, value, help| Param::new(name, Value::Number(value), help);
        algorithm
            .with_param(number("gamma", self.gamma, "weight of the newest window").within(0.01, 1.0))
            .with_param(number("beta", self.beta, "additive part, share of line rate x T").within(1e-6, 1.0))
            .with_param(number("eta", self.eta, "power to aim at").within(0.01, 2.0))
            .with_param(loss_beta(self.loss_beta))
            .with_param(packets("initial_window", self.initial_window, "packets to start with until the RTT is known"))
            .with_param(min_window(self.min_window))
    }

    pub(super) fn of(args: &Args) -> Self {
        Self {
            gamma: args.number("gamma"),
            beta: args.number("beta"),
            eta: args.number("eta"),
            loss_beta: args.number("loss_beta"),
            initial_window: args.integer("initial_window"),
            min_window: args.number("min_window"),
        }
    }
}

/// A window that follows power.
#[derive(Clone, Debug)]
pub(super) struct PowerWindow {
    params: PowerParams,
    pub(super) window: FabricWindow,
    /// Gamma, smoothed and normalised.
    power: f64,
}

impl PowerWindow {
    pub(super) fn new(params: PowerParams, setup: &Setup) -> Result<Self, InvalidParam> {
        params.validate()?;
        Ok(Self { window: FabricWindow::new(setup, params.limits()), power: 1.0, params })
    }

    pub(super) const fn power(&self) -> f64 {
        self.power
    }

    /// Answers losses and starts the flow; the first thing to do with each batch.
    pub(super) fn begin(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) -> Step {
        self.window.begin(feedback, flight)
    }

    /// What to remember with a packet that leaves: the window that let it.
    pub(super) const fn tag(&self) -> PacketTag {
        PacketTag([self.window.rounded(), 0])
    }

    /// Power `now` over `elapsed` becomes part of the smoothed one.
    pub(super) fn smooth(&mut self, now: f64, elapsed: Span, base: Span) {
        let weight = (elapsed.as_nanos() as f64 / base.as_nanos() as f64).min(1.0);
        self.power += weight * (now.clamp(LEAST_CURRENT, MOST_POWER) - self.power);
    }

    /// Sets the window by power; `capacity` is what the path holds where the line rate is not known, bytes.
    pub(super) fn answer(&mut self, capacity: Option<f64>, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let Some(newest) = feedback.acked.last() else { return };
        let current = self.window.bytes();
        // A packet without a tag left under another controller.
        let old = if newest.tag == PacketTag::NONE { current } else { newest.tag.0[0] as f64 };
        let additive = self.window.additive(self.params.beta, capacity);
        let gamma = self.params.gamma;
        let target = old * self.params.eta / self.power + additive;
        let next = gamma * target + (1.0 - gamma) * current;
        // The line's rate bounds it, else the path's, else the most that power allows.
        let most = self.window.bdp().or(capacity).unwrap_or(2.0 * old.max(current) + additive);
        self.window.propose(next.min(most), flight);
    }

    pub(super) const fn forget(&mut self) {
        self.power = 1.0;
    }
}
