//! `dctcp`: RFC 8257, Data Center TCP.
//!
//! ```text
//! once a window    M = bytes marked / bytes acked;  alpha = (1 - g) alpha + g M
//! mark             ssthresh = cwnd = cwnd (1 - alpha / 2)           once a round trip
//! loss             ssthresh = cwnd = cwnd / 2                       once a round trip
//! otherwise        Reno's slow start and congestion avoidance; the first mark ends slow start
//! ```
//!
//! Switches should mark on the instantaneous queue above a threshold K of about C x RTT / 7 (Alizadeh et al., SIGCOMM'10,
//! section 3.4); RFC 8257, section 3.1, wants marks by instantaneous queue length.
//!
//! | parameter | unit | default | origin |
//! |---|---|---|---|
//! | `g` | weight of the newest window | 1/16 | RFC 8257, section 4.2 |
//! | `alpha` | initial estimate | 1 | RFC 8257, section 3.3 |
//! | `beta` | share kept on loss | 0.5 | RFC 8257, section 3.5: as conventional TCP |
//! | `initial_window`, `min_window` | packets | 10, 2 | RFC 9002, section 7.2 |
//!
//! ## Differences from the reference
//!
//! | | RFC 8257 | here |
//! |---|---|---|
//! | echo of marks | `DCTCP.CE` state machine at the receiver | counts or per-packet marks of the acknowledgement; exact |
//! | window of observation | from `SND.UNA` to `SND.NXT` | until something sent after its beginning is acknowledged |
//! | growth after a reduction | conventional TCP's | from the first packet sent after it (RFC 9002, section 7.3.2) |
//! | retransmission timeout | loss window of one segment | persistent congestion: the minimum window |
//! | more marked than acknowledged | impossible | counts as all marked: an echo is untrusted |

use super::InvalidParam;
use super::newreno::packets;
use super::recovery::{Congestion, Recovery, Verdict};
use super::window::{RenoWindow, Sizes};
use crate::controller::{Controller, ControllerState, Feedback, Flight, Handover, Setup};
use crate::declare::{Declaration, Family, Need};
use crate::estimate::RoundCounter;
use crate::registry::{Algorithm, Args, Param, Value};
use crate::signal::{PathChange, Signal};
use crate::units::{Span, Timestamp, round_to_u64};

/// Parameters of [`Dctcp`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct DctcpParams {
    /// Weight of the newest window in the estimate; above 0, at most 1.
    pub g: f64,
    /// Estimate to start with; 0 to 1.
    pub alpha: f64,
    /// Share of the window that a loss keeps; between 0 and 1, both excluded.
    pub beta: f64,
    /// Packets to start with; at least one.
    pub initial_window: u64,
    /// Packets never to go below; at least one.
    pub min_window: u64,
}

impl Default for DctcpParams {
    fn default() -> Self {
        Self { g: 1.0 / 16.0, alpha: 1.0, beta: 0.5, initial_window: 10, min_window: 2 }
    }
}

impl DctcpParams {
    fn validate(&self) -> Result<(), InvalidParam> {
        InvalidParam::unless(self.g > 0.0 && self.g <= 1.0, "g", "a weight above 0, at most 1")?;
        InvalidParam::unless((0.0..=1.0).contains(&self.alpha), "alpha", "a share from 0 to 1")?;
        InvalidParam::unless(self.beta > 0.0 && self.beta < 1.0, "beta", "a share between 0 and 1")?;
        InvalidParam::unless(self.initial_window > 0, "initial_window", "at least one packet")?;
        InvalidParam::unless(self.min_window > 0, "min_window", "at least one packet")
    }
}

/// Reno whose answer to marks is in proportion to their share.
#[derive(Clone, Debug)]
pub struct Dctcp {
    params: DctcpParams,
    window: RenoWindow,
    recovery: Recovery,
    alpha: f64,
    /// Bytes acknowledged and marked in the running window of observation.
    acked: u64,
    marked: u64,
    observation: RoundCounter,
    min_rtt: Option<Span>,
}

impl Dctcp {
    /// A controller for a flow that begins as `setup` says.
    ///
    /// # Errors
    ///
    /// If a parameter is out of its range.
    pub fn new(params: DctcpParams, setup: &Setup) -> Result<Self, InvalidParam> {
        params.validate()?;
        Ok(Self {
            window: RenoWindow::new(setup, Sizes { initial: params.initial_window, min: params.min_window }),
            recovery: Recovery::default(),
            alpha: params.alpha,
            acked: 0,
            marked: 0,
            // What is sent when the flow begins is the first window.
            observation: RoundCounter::new(setup.now.as_nanos().saturating_add(1)),
            min_rtt: None,
            params,
        })
    }

    /// RFC 8257, section 3.3, steps 1 to 9.
    fn observe(&mut self, feedback: &Feedback<'_>) {
        let acked = feedback.newly_acked.bytes;
        self.acked = self.acked.saturating_add(acked);
        self.marked = self.marked.saturating_add(feedback.newly_marked.bytes.min(acked));
        let Some(newest) = feedback.acked.last() else { return };
        if self.observation.on_acked(newest.sent_at.as_nanos(), feedback.now.as_nanos()) {
            if self.acked > 0 {
                let share = self.marked as f64 / self.acked as f64;
                self.alpha += self.params.g * (share - self.alpha);
            }
            self.acked = 0;
            self.marked = 0;
        }
    }

    fn reduce(&mut self, congestion: Congestion) {
        let kept = match congestion {
            Congestion::Loss => self.params.beta,
            Congestion::Mark => 1.0 - self.alpha / 2.0,
        };
        self.window.reduce_to(round_to_u64(self.window.bytes() as f64 * kept), self.window.min());
    }
}

impl Controller for Dctcp {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.observe(feedback);
        if let Some(Verdict::Reduce(congestion)) = self.recovery.judge(feedback, flight) {
            self.reduce(congestion);
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

    fn on_signal(&mut self, _now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
        match signal {
            Signal::MtuChange { mtu } => self.window.set_mtu(*mtu),
            Signal::PathChange { change: PathChange::Migrated | PathChange::Revived, .. } => {
                self.window.restart();
                self.recovery.forget();
                self.alpha = self.params.alpha;
                (self.acked, self.marked) = (0, 0);
            }
            _ => {}
        }
    }

    fn window(&self) -> u64 {
        self.window.bytes()
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
        ControllerState::new(self.window.bytes(), phase)
            .with_ssthresh(self.window.ssthresh())
            .with_gauge("alpha", self.alpha)
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
    const NAME: &str = "dctcp";
    let default = DctcpParams::default();
    Algorithm::new(NAME, "reduces in proportion to the share of marked bytes", "RFC 8257", |args, setup| {
        Ok(Box::new(Dctcp::new(params(args), setup).map_err(|error| error.of(NAME))?))
    })
    .declaring(
        Declaration::new(Family::Datacentre)
            .needing(Need::Ecn)
            .min_window(2.0)
            .utilisation(0.9)
            .queueing_delay(0.6)
            .fairness(0.9)
            .convergence_rtts(500)
            .reaction_to_drop_rtts(20)
            .reaction_to_rise_rtts(100),
    )
    .with_param(Param::new("g", Value::Number(default.g), "weight of the newest window").within(1e-6, 1.0))
    .with_param(Param::new("alpha", Value::Number(default.alpha), "estimate to start with").within(0.0, 1.0))
    .with_param(Param::new("beta", Value::Number(default.beta), "share of the window kept on loss").within(0.01, 0.99))
    .with_param(packets("initial_window", default.initial_window, "packets to start with"))
    .with_param(packets("min_window", default.min_window, "packets never to go below"))
}

fn params(args: &Args) -> DctcpParams {
    DctcpParams {
        g: args.number("g"),
        alpha: args.number("alpha"),
        beta: args.number("beta"),
        initial_window: args.integer("initial_window"),
        min_window: args.integer("min_window"),
    }
}

#[cfg(test)]
mod tests;
