//! `cubic`: RFC 9438, with HyStart++ (RFC 9406) as its slow start.
//!
//! Windows in packets, times in seconds:
//!
//! ```text
//! congestion         W_max = cwnd (1 + beta) / 2  if cwnd < W_max (fast convergence), else cwnd
//!                    cwnd_prior = cwnd;  ssthresh = cwnd = max(beta cwnd, min)
//! epoch              begins with the first growth after that:  K = cbrt((W_max - cwnd) / C),  W_est = cwnd
//! per ACK            W_cubic(t) = C (t - K)^3 + W_max
//!                    W_est += alpha acked / cwnd,  alpha = 3 (1 - beta) / (1 + beta),  1 once W_est >= cwnd_prior
//!   Reno-friendly    cwnd = W_est                                     if W_cubic(t) < W_est
//!   otherwise        cwnd += (target - cwnd) acked / cwnd,  target = clamp(W_cubic(t + RTT), cwnd, 1.5 cwnd)
//! ```
//!
//! The clock t stands still while the application or the receiver holds the sender back, and while it is silent.
//!
//! | parameter | unit | default | origin |
//! |---|---|---|---|
//! | `beta` | share kept | 0.7 | RFC 9438, section 4.6 |
//! | `c` | packets/s^3 | 0.4 | RFC 9438, section 5.1 |
//! | `fast_convergence` | switch | on | RFC 9438, section 4.7 |
//! | `hystart` | switch | on | RFC 9438, section 4.10 |
//! | `paced` | switch | on | RFC 9406, section 4.3: `L` = infinity, since the engine paces; off: 8 packets an ACK |
//! | `undo` | switch | on | RFC 9438, section 4.9.2 |
//! | `ecn` | switch | on | RFC 9438, section 4.6; off asks the network for drops |
//! | `idle_restart` | switch | off | RFC 5681, section 4.1 |
//! | `initial_window`, `min_window` | packets | 10, 2 | RFC 9002, section 7.2 |
//!
//! ## Differences from the reference
//!
//! | | RFC 9438 | here |
//! |---|---|---|
//! | `ssthresh` | `beta * flight_size` | `beta * cwnd`, which only grows when it is used (allowed there for that case) |
//! | a timeout (section 4.8) | TCP's retransmission timeout | persistent congestion (RFC 9002, section 7.6) |
//! | growth on an ACK of more than a window | not considered | up to `target`, not past it |
//! | marks that go on at a window of one packet | the sending rate must fall further | it stays |
//! | a loss below `min_window` after marks | `cwnd` is at least 2 | `cwnd` does not rise by a loss |
//! | several losses in a recovery | "the loss is confirmed to be spurious" | undone when all of them are, and nothing was marked |
//! | a clock that stood still | | from the first ACK that may not grow the window to the next that may |

use super::InvalidParam;
use super::hystart::{Advice, HyStart, Sending};
use super::newreno::packets;
use super::recovery::{Congestion, Recovery, Verdict};
use super::window::{RenoWindow, Sizes};
use crate::controller::{Controller, ControllerState, Feedback, Flight, Handover, Setup};
use crate::declare::{Declaration, Family};
use crate::registry::{Algorithm, Args, Param, Value};
use crate::signal::{Ecn, PathChange, Signal};
use crate::units::{Span, Timestamp, round_to_u64};

/// Parameters of [`Cubic`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct CubicParams {
    /// Share of the window that a reduction keeps; between 0 and 1, both excluded.
    pub beta: f64,
    /// How fast the window grows away from its plateau, packets/s^3; positive.
    pub c: f64,
    /// Whether a flow that could not regain its plateau gives up more of it.
    pub fast_convergence: bool,
    /// Whether HyStart++ ends the first slow start.
    pub hystart: bool,
    /// Whether the sender paces, so that HyStart++ need not bound bursts.
    pub paced: bool,
    /// Whether a reduction is undone when all its losses prove spurious.
    pub undo: bool,
    /// Whether packets are sent as ECN-capable.
    pub ecn: bool,
    /// Whether the window falls back to the initial one after a longer silence.
    pub idle_restart: bool,
    /// Packets to start with; at least one.
    pub initial_window: u64,
    /// Packets below which losses do not take the window; at least one. Marks take it down to one packet.
    pub min_window: u64,
}

impl Default for CubicParams {
    fn default() -> Self {
        Self {
            beta: 0.7,
            c: 0.4,
            fast_convergence: true,
            hystart: true,
            paced: true,
            undo: true,
            ecn: true,
            idle_restart: false,
            initial_window: 10,
            min_window: 2,
        }
    }
}

impl CubicParams {
    fn validate(&self) -> Result<(), InvalidParam> {
        InvalidParam::unless(self.beta > 0.0 && self.beta < 1.0, "beta", "a share between 0 and 1")?;
        InvalidParam::unless(self.c > 0.0 && self.c.is_finite(), "c", "a positive number")?;
        InvalidParam::unless(self.initial_window > 0, "initial_window", "at least one packet")?;
        InvalidParam::unless(self.min_window > 0, "min_window", "at least one packet")
    }

    fn first_slow_start(&self) -> Option<HyStart> {
        let sending = if self.paced { Sending::Paced } else { Sending::Bursts };
        self.hystart.then(|| HyStart::new(sending))
    }

    /// Reno's increase at CUBIC's decrease with the same average window (RFC 9438, section 4.3).
    fn alpha(&self) -> f64 {
        3.0 * (1.0 - self.beta) / (1.0 + self.beta)
    }
}

/// One stretch of congestion avoidance (RFC 9438, section 4.2).
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// When it began, moved on by the time for which its clock stood still (`t_epoch`).
    began: Timestamp,
    /// Seconds from the beginning to the plateau (`K`).
    k: f64,
    /// The plateau, packets (`W_max`).
    plateau: f64,
    /// Reno's window in its place, packets (`W_est`).
    w_est: f64,
}

impl Epoch {
    /// `W_cubic` after `seconds`, packets.
    fn window(&self, c: f64, seconds: f64) -> f64 {
        let offset = seconds - self.k;
        c * offset * offset * offset + self.plateau
    }
}

/// Which rule moved the window last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Region {
    RenoFriendly,
    Concave,
    Convex,
}

/// What a reduction replaced (RFC 9438, section 4.9.2).
#[derive(Clone, Copy, Debug)]
struct Saved {
    window: u64,
    ssthresh: Option<u64>,
    cwnd_prior: Option<f64>,
    w_max: Option<f64>,
    epoch: Option<Epoch>,
}

/// CUBIC.
#[derive(Clone, Debug)]
pub struct Cubic {
    params: CubicParams,
    alpha: f64,
    window: RenoWindow,
    recovery: Recovery,
    hystart: Option<HyStart>,
    /// Window before the last reduction, reduced further by fast convergence, packets; `None` if there was none or a
    /// collapse voided it.
    w_max: Option<f64>,
    /// Window when the threshold was set last, packets.
    cwnd_prior: Option<f64>,
    epoch: Option<Epoch>,
    region: Region,
    /// Growth that made no whole byte yet, bytes.
    fraction: f64,
    /// Since when the epoch's clock has stood still.
    stalled_since: Option<Timestamp>,
    saved: Option<Saved>,
    min_rtt: Option<Span>,
}

impl Cubic {
    /// A controller for a flow that begins as `setup` says.
    ///
    /// # Errors
    ///
    /// If a parameter is out of its range.
    pub fn new(params: CubicParams, setup: &Setup) -> Result<Self, InvalidParam> {
        params.validate()?;
        Ok(Self {
            alpha: params.alpha(),
            window: RenoWindow::new(setup, Sizes { initial: params.initial_window, min: params.min_window }),
            recovery: Recovery::default(),
            hystart: params.first_slow_start(),
            w_max: None,
            cwnd_prior: None,
            epoch: None,
            region: Region::Concave,
            fraction: 0.0,
            stalled_since: None,
            saved: None,
            min_rtt: None,
            params,
        })
    }

    fn window_in_packets(&self) -> f64 {
        self.window.bytes() as f64 / self.window.mtu() as f64
    }

    /// RFC 9438, sections 4.6 and 4.7.
    fn reduce(&mut self, congestion: Congestion) {
        self.saved = Some(Saved {
            window: self.window.bytes(),
            ssthresh: self.window.ssthresh(),
            cwnd_prior: self.cwnd_prior,
            w_max: self.w_max,
            epoch: self.epoch,
        });
        let cwnd = self.window_in_packets();
        let not_regained = self.w_max.is_some_and(|w_max| cwnd < w_max);
        let gives_way = not_regained && self.params.fast_convergence;
        self.w_max = Some(if gives_way { cwnd * (1.0 + self.params.beta) / 2.0 } else { cwnd });
        self.cwnd_prior = Some(cwnd);
        let floor = match congestion {
            Congestion::Loss => self.window.min(),
            Congestion::Mark => self.window.mtu(),
        };
        self.window.reduce_to(round_to_u64(self.window.bytes() as f64 * self.params.beta), floor);
        self.end_epoch();
    }

    fn end_epoch(&mut self) {
        self.epoch = None;
        self.stalled_since = None;
        self.fraction = 0.0;
    }

    /// RFC 9438, section 4.9.2: "if the current cwnd is lower than cwnd_prior".
    fn undo(&mut self) {
        let outgrown = |saved: &Saved| self.window.bytes() >= saved.window;
        let Some(saved) = self.saved.take().filter(|saved| self.params.undo && !outgrown(saved)) else { return };
        self.window.restore(saved.window, saved.ssthresh);
        self.recovery.forget();
        self.end_epoch();
        self.cwnd_prior = saved.cwnd_prior;
        self.w_max = saved.w_max;
        self.epoch = saved.epoch;
    }

    /// RFC 9438, section 4.8: the plateau of the next epoch is where that begins.
    fn collapse(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.window.collapse();
        self.recovery.on_collapse(feedback, flight);
        self.w_max = None;
        self.saved = None;
        self.end_epoch();
    }

    /// Whether HyStart++ has the first slow start grow slowly.
    fn is_conservative(&self) -> bool {
        self.window.ssthresh().is_none() && self.hystart.as_ref().is_some_and(HyStart::is_conservative)
    }

    fn restart(&mut self) {
        self.window.restart();
        self.recovery.forget();
        self.hystart = self.params.first_slow_start();
        self.w_max = None;
        self.cwnd_prior = None;
        self.saved = None;
        self.end_epoch();
    }

    fn grow(&mut self, acked: u64, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        if !self.window.in_slow_start() {
            return self.avoid_congestion(acked, feedback.now, flight);
        }
        // RFC 9406, section 4.2: HyStart++ is for the first slow start, when no threshold is known yet.
        match self.hystart.as_mut().filter(|_| self.window.ssthresh().is_none()) {
            Some(hystart) => {
                self.window.slow_start(hystart.growth(acked, self.window.mtu()));
            }
            None => match self.window.slow_start(acked) {
                0 => {}
                rest => self.avoid_congestion(rest, feedback.now, flight),
            },
        }
    }

    /// The epoch with its clock set going again, or a new one.
    fn start_clock(&mut self, now: Timestamp) {
        if let Some(epoch) = &mut self.epoch {
            if let Some(since) = self.stalled_since.take() {
                epoch.began += now.saturating_since(since);
            }
            return;
        }
        let cwnd = self.window_in_packets();
        let plateau = self.w_max.filter(|w_max| *w_max > cwnd).unwrap_or(cwnd);
        self.epoch = Some(Epoch { began: now, k: libm::cbrt((plateau - cwnd) / self.params.c), plateau, w_est: cwnd });
    }

    /// RFC 9438, sections 4.2 to 4.5. On every acknowledgement, hence with a single division.
    fn avoid_congestion(&mut self, acked: u64, now: Timestamp, flight: &Flight<'_>) {
        self.start_clock(now);
        let Some(epoch) = &mut self.epoch else { return };
        let mtu = self.window.mtu() as f64;
        let bytes = self.window.bytes() as f64;
        let windows_acked = acked as f64 / bytes;
        let regained = self.cwnd_prior.is_none_or(|prior| epoch.w_est >= prior);
        epoch.w_est += if regained { windows_acked } else { self.alpha * windows_acked };

        let elapsed = seconds(now.saturating_since(epoch.began));
        let growth = if epoch.window(self.params.c, elapsed) < epoch.w_est {
            self.region = Region::RenoFriendly;
            epoch.w_est * mtu - bytes - self.fraction
        } else {
            self.region = if bytes < epoch.plateau * mtu { Region::Concave } else { Region::Convex };
            let ahead = elapsed + flight.smoothed_rtt.map_or(0.0, seconds);
            let target = (epoch.window(self.params.c, ahead) * mtu).clamp(bytes, 1.5 * bytes);
            (target - bytes) * windows_acked.min(1.0)
        };
        self.grow_by(growth);
    }

    /// Adds the whole bytes and keeps the rest for the next time. Never shrinks the window.
    fn grow_by(&mut self, bytes: f64) {
        let sum = self.fraction + bytes;
        if sum >= 1.0 {
            // Saturates where the window would.
            let whole = sum as u64;
            self.fraction = sum - whole as f64;
            self.window.set(self.window.bytes().saturating_add(whole));
        } else {
            self.fraction = sum.max(0.0);
        }
    }

    fn leave_slow_start(&mut self) {
        self.window.leave_slow_start();
        // RFC 9438, section 4.10.
        self.cwnd_prior = Some(self.window_in_packets());
    }
}

impl Controller for Cubic {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        match self.recovery.judge(feedback, flight) {
            Some(Verdict::Reduce(congestion)) => self.reduce(congestion),
            Some(Verdict::Undo) => self.undo(),
            None => {}
        }
        if feedback.persistent_congestion.is_some() {
            self.collapse(feedback, flight);
        }
        let acked = self.recovery.acked_outside(feedback);
        if acked > 0 {
            if flight.limit.allows_growth() {
                self.grow(acked, feedback, flight);
            } else if self.epoch.is_some() {
                self.stalled_since = self.stalled_since.or(Some(feedback.now));
            }
        }
        if self.window.ssthresh().is_none() {
            let advice = self.hystart.as_mut().map(|hystart| hystart.watch(feedback, flight));
            if advice == Some(Advice::Leave) {
                self.leave_slow_start();
            }
        }
        self.min_rtt = flight.min_rtt.or(self.min_rtt);
    }

    fn on_signal(&mut self, _now: Timestamp, signal: &Signal, flight: &Flight<'_>) {
        match signal {
            Signal::MtuChange { mtu } => {
                self.window.set_mtu(*mtu);
                // The epoch counts in packets of the old size.
                self.end_epoch();
            }
            Signal::Restart { idle } => {
                // A clock that stands still already goes on when the window may grow again.
                if let (Some(epoch), None) = (&mut self.epoch, self.stalled_since) {
                    epoch.began += *idle;
                }
                if self.params.idle_restart && self.window.restart_after(*idle, flight) {
                    self.end_epoch();
                }
            }
            Signal::PathChange { change: PathChange::Migrated | PathChange::Revived, .. } => self.restart(),
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
        !self.recovery.is_running() && self.window.in_slow_start() && !self.is_conservative()
    }

    fn state(&self) -> ControllerState {
        let phase = if self.recovery.is_running() {
            "recovery"
        } else if self.window.in_slow_start() {
            if self.is_conservative() { "conservative_slow_start" } else { "slow_start" }
        } else {
            match self.region {
                Region::RenoFriendly => "reno_friendly",
                Region::Concave => "concave",
                Region::Convex => "convex",
            }
        };
        let mut state = ControllerState::new(self.window.bytes(), phase).with_ssthresh(self.window.ssthresh());
        if let Some(w_max) = self.w_max {
            state = state.with_gauge("w_max", w_max);
        }
        if let Some(epoch) = self.epoch {
            state = state.with_gauge("k", epoch.k).with_gauge("w_est", epoch.w_est);
        }
        state
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn handover(&self) -> Handover {
        self.window.handover(self.min_rtt)
    }
}

/// A span in seconds, by a product: it is computed on every acknowledgement.
fn seconds(span: Span) -> f64 {
    span.as_nanos() as f64 * 1e-9
}

/// The registry's entry.
pub(super) fn algorithm() -> Algorithm {
    const NAME: &str = "cubic";
    let default = CubicParams::default();
    Algorithm::new(NAME, "grows by the cube of time since the last loss", "RFC 9438, RFC 9406", |args, setup| {
        Ok(Box::new(Cubic::new(params(args), setup).map_err(|error| error.of(NAME))?))
    })
    .declaring(
        // Losses leave two packets, marks one.
        Declaration::new(Family::WideArea)
            .min_window(1.0)
            .utilisation(0.95)
            .fairness(0.9)
            .rtt_fairness(0.9)
            .convergence_rtts(300)
            .least_share_against_cubic(0.4)
            .most_share_against_cubic(0.6)
            // RFC 9438, section 5.1: as Reno at the first, equation 6 at the second.
            .window_at_losses(38.7)
            .window_at_rare_losses(315.0)
            .reaction_to_rise_rtts(20),
    )
    .with_param(Param::new("beta", Value::Number(default.beta), "share of the window kept").within(0.01, 0.99))
    .with_param(Param::new("c", Value::Number(default.c), "packets/s^3 away from the plateau").within(1e-6, 1e6))
    .with_param(switch("fast_convergence", default.fast_convergence, "give up more of a plateau not regained"))
    .with_param(switch("hystart", default.hystart, "end the first slow start by HyStart++"))
    .with_param(switch("paced", default.paced, "the sender paces: no bound on the growth of one ACK"))
    .with_param(switch("undo", default.undo, "undo reductions on spurious losses"))
    .with_param(switch("ecn", default.ecn, "send as ECN-capable"))
    .with_param(switch("idle_restart", default.idle_restart, "initial window again after silence"))
    .with_param(packets("initial_window", default.initial_window, "packets to start with"))
    .with_param(packets("min_window", default.min_window, "packets below which losses do not go"))
}

const fn switch(name: &'static str, default: bool, help: &'static str) -> Param {
    Param::new(name, Value::Switch(default), help)
}

fn params(args: &Args) -> CubicParams {
    CubicParams {
        beta: args.number("beta"),
        c: args.number("c"),
        fast_convergence: args.switch("fast_convergence"),
        hystart: args.switch("hystart"),
        paced: args.switch("paced"),
        undo: args.switch("undo"),
        ecn: args.switch("ecn"),
        idle_restart: args.switch("idle_restart"),
        initial_window: args.integer("initial_window"),
        min_window: args.integer("min_window"),
    }
}

#[cfg(test)]
mod tests;
