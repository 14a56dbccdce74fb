//! `newreno`: RFC 9002, section 7, which is RFC 5681 and RFC 6582 for a transport that never numbers two packets alike.
//!
//! ```text
//! slow start              cwnd += acked                                 while cwnd < ssthresh
//! congestion avoidance    cwnd += mtu per cwnd bytes acked
//! loss or CE mark         ssthresh = cwnd = max(beta cwnd, min)         once a round trip
//! persistent congestion   cwnd = min                                    ssthresh as after the loss
//! ```
//!
//! Nothing grows on packets sent before the last reduction, nor while the application or the receiver held the sender
//! back (section 7.8).
//!
//! | parameter | unit | default | origin |
//! |---|---|---|---|
//! | `beta` | share kept | 0.5 | RFC 9002, appendix B.1 (`kLossReductionFactor`) |
//! | `initial_window` | packets | 10 | RFC 9002, section 7.2 |
//! | `min_window` | packets | 2 | RFC 9002, section 7.2 |
//! | `ecn` | switch | on | RFC 9002, section 7.1; off asks the network for drops |
//! | `undo` | switch | off | RFC 4015 answers spurious losses thus; RFC 9002 has no undo |
//! | `idle_restart` | switch | off | RFC 5681, section 4.1; RFC 9002, section 7.8 leaves it open |
//!
//! ## Differences from the reference
//!
//! | | RFC 9002, appendix B | here |
//! |---|---|---|
//! | congestion avoidance | `mtu * acked / cwnd` per packet, rounded | whole packets by exact byte counts (section 7.3.3) |
//! | passing `ssthresh` | the packet that crosses it counts whole | the bytes up to it, the rest avoids congestion |
//! | packets sent in the instant of the reduction | belong to it | those sent after it do not |
//! | round trip of a mark | the newest acknowledged packet's | the newest *marked* packet's, where echoed per packet |
//! | losses declared after the collapse of packets sent before | reduce `ssthresh` once more | belong to the collapse |
//! | losses that coding restored | unknown | count as losses (RFC 9265, section 4) |
//! | initial window of n packets | n = 10 | the cap of 14 720 bytes scales with n |
//! | on entering recovery | one packet may leave beyond the window | none does |
//! | limited transmit, probe timeouts | | the engine's; a timeout alone reduces nothing, as in section 7.5 |

use super::InvalidParam;
use super::recovery::{Recovery, Verdict};
use super::window::{RenoWindow, Sizes};
use crate::controller::{Controller, ControllerState, Feedback, Flight, Handover, Setup};
use crate::declare::{Declaration, Family};
use crate::registry::{Algorithm, Args, Param, Value};
use crate::signal::{Ecn, PathChange, Signal};
use crate::units::{Span, Timestamp, round_to_u64};

/// Parameters of [`NewReno`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct NewRenoParams {
    /// Share of the window that a reduction keeps; between 0 and 1, both excluded.
    pub beta: f64,
    /// Packets to start with; at least one.
    pub initial_window: u64,
    /// Packets never to go below; at least one.
    pub min_window: u64,
    /// Whether packets are sent as ECN-capable.
    pub ecn: bool,
    /// Whether a reduction is undone when all its losses prove spurious.
    pub undo: bool,
    /// Whether the window falls back to the initial one after a longer silence.
    pub idle_restart: bool,
}

impl Default for NewRenoParams {
    fn default() -> Self {
        Self { beta: 0.5, initial_window: 10, min_window: 2, ecn: true, undo: false, idle_restart: false }
    }
}

impl NewRenoParams {
    fn validate(&self) -> Result<(), InvalidParam> {
        InvalidParam::unless(self.beta > 0.0 && self.beta < 1.0, "beta", "a share between 0 and 1")?;
        InvalidParam::unless(self.initial_window > 0, "initial_window", "at least one packet")?;
        InvalidParam::unless(self.min_window > 0, "min_window", "at least one packet")
    }
}

/// Reno with RFC 9002's recovery.
#[derive(Clone, Debug)]
pub struct NewReno {
    params: NewRenoParams,
    window: RenoWindow,
    recovery: Recovery,
    before_reduction: Option<(u64, Option<u64>)>,
    min_rtt: Option<Span>,
}

impl NewReno {
    /// A controller for a flow that begins as `setup` says.
    ///
    /// # Errors
    ///
    /// If a parameter is out of its range.
    pub fn new(params: NewRenoParams, setup: &Setup) -> Result<Self, InvalidParam> {
        params.validate()?;
        let window = RenoWindow::new(setup, Sizes { initial: params.initial_window, min: params.min_window });
        Ok(Self { params, window, recovery: Recovery::default(), before_reduction: None, min_rtt: None })
    }

    fn reduce(&mut self) {
        self.before_reduction = Some((self.window.bytes(), self.window.ssthresh()));
        self.window.reduce_to(round_to_u64(self.window.bytes() as f64 * self.params.beta), self.window.min());
    }

    fn undo(&mut self) {
        if let Some((window, ssthresh)) = self.before_reduction.take().filter(|_| self.params.undo) {
            self.window.restore(window, ssthresh);
            self.recovery.forget();
        }
    }
}

impl Controller for NewReno {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        match self.recovery.judge(feedback, flight) {
            Some(Verdict::Reduce(_)) => self.reduce(),
            Some(Verdict::Undo) => self.undo(),
            None => {}
        }
        if feedback.persistent_congestion.is_some() {
            self.window.collapse();
            self.recovery.on_collapse(feedback, flight);
        }
        if flight.limit.allows_growth() {
            self.window.grow(self.recovery.acked_outside(feedback));
        }
        self.min_rtt = flight.min_rtt.or(self.min_rtt);
    }

    fn on_signal(&mut self, _now: Timestamp, signal: &Signal, flight: &Flight<'_>) {
        match signal {
            Signal::MtuChange { mtu } => self.window.set_mtu(*mtu),
            Signal::Restart { idle } if self.params.idle_restart => {
                self.window.restart_after(*idle, flight);
            }
            Signal::PathChange { change: PathChange::Migrated | PathChange::Revived, .. } => {
                self.window.restart();
                self.recovery.forget();
            }
            _ => {}
        }
    }

    fn window(&self) -> u64 {
        self.window.bytes()
    }

    fn ecn(&self) -> Ecn {
        if self.params.ecn { Ecn::Ect0 } else { Ecn::NotEct }
    }

    fn in_slow_start(&self) -> bool {
        !self.recovery.is_running() && self.window.in_slow_start()
    }

    fn state(&self) -> ControllerState {
        let phase = match (self.recovery.is_running(), self.window.in_slow_start()) {
            (true, _) => "recovery",
            (false, true) => "slow_start",
            (false, false) => "congestion_avoidance",
        };
        ControllerState::new(self.window.bytes(), phase).with_ssthresh(self.window.ssthresh())
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn handover(&self) -> Handover {
        self.window.handover(self.min_rtt)
    }
}

/// The registry's entry.
pub(super) fn algorithm() -> Algorithm {
    const NAME: &str = "newreno";
    let default = NewRenoParams::default();
    Algorithm::new(NAME, "halves on loss, one packet a round trip", "RFC 9002, RFC 5681, RFC 6582", |args, setup| {
        Ok(Box::new(NewReno::new(params(args), setup).map_err(|error| error.of(NAME))?))
    })
    .declaring(
        Declaration::new(Family::WideArea)
            .min_window(2.0)
            .utilisation(0.95)
            .fairness(0.9)
            .convergence_rtts(400)
            // sqrt(3 / 2p): Mathis et al., CCR 1997, with every packet acknowledged.
            .window_at_losses(38.7)
            .window_at_rare_losses(122.5)
            .reaction_to_rise_rtts(20),
    )
    .with_param(Param::new("beta", Value::Number(default.beta), "share of the window kept").within(0.01, 0.99))
    .with_param(packets("initial_window", default.initial_window, "packets to start with"))
    .with_param(packets("min_window", default.min_window, "packets never to go below"))
    .with_param(Param::new("ecn", Value::Switch(default.ecn), "send as ECN-capable"))
    .with_param(Param::new("undo", Value::Switch(default.undo), "undo reductions on spurious losses"))
    .with_param(Param::new(
        "idle_restart",
        Value::Switch(default.idle_restart),
        "initial window again after silence",
    ))
}

fn params(args: &Args) -> NewRenoParams {
    NewRenoParams {
        beta: args.number("beta"),
        initial_window: args.integer("initial_window"),
        min_window: args.integer("min_window"),
        ecn: args.switch("ecn"),
        undo: args.switch("undo"),
        idle_restart: args.switch("idle_restart"),
    }
}

/// A parameter in packets, from one to a hundred thousand.
pub(super) const fn packets(name: &'static str, default: u64, help: &'static str) -> Param {
    Param::new(name, Value::Integer(default), help).within(1.0, 100_000.0)
}

#[cfg(test)]
mod tests;
