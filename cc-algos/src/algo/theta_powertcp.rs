//! `theta-powertcp`: Addanki, Michel, Schmid, *PowerTCP*, NSDI'22, algorithm 2: PowerTCP by delay alone, where switches tell
//! nothing.
//!
//! ```text
//! A             = max((theta - theta_former) / dt + 1, 1 / 2)                 growth of the delay: the current
//! Gamma_now     = A theta / (slack T)                                         times the delay, over the base RTT
//! Gamma         = Gamma (1 - dt / T) + Gamma_now dt / T                       dt: time between acknowledgements, at most T
//! once a round trip    W = gamma (W_old eta / Gamma + beta) + (1 - gamma) W;  pacing rate = W / T
//! ```
//!
//! Checked against the authors' simulator (`inet-tub/ns3-datacenter`, `UpdateRatePower` with `PowerTCPdelay`) and against
//! `rocev2-powertcp.cc` of `blueroaring/PrioPlus`; the paper's own text was not at hand.
//!
//! | parameter | unit | default | origin |
//! |---|---|---|---|
//! | `gamma` | weight | 0.7 | authors' simulator |
//! | `beta` | share of line rate x T | 0.006 | authors' simulator: 150 Mb/s at hosts of 25 Gb/s |
//! | `eta` | power | 1.05 | authors' simulator: it divides the delay by 1.05 T |
//! | `loss_beta` | share kept | 0.5 | ours |
//! | `initial_window` | packets | 10 | RFC 9002, section 7.2, until T is known |
//! | `min_window` | packets | 0.01 | ours |
//!
//! ## Differences from the reference
//!
//! | | paper and simulators | here |
//! |---|---|---|
//! | update | authors' simulator: each acknowledgement from the rate of a round trip ago; the other: once a round trip | once a round trip |
//! | delay | RTT | the fabric's share where hosts time-stamp, else RTT - ACK delay |
//! | T | authors' simulator: running minimum | the same, or the oracle's base RTT |
//! | two acknowledgements in one instant | division by zero | the second says nothing of growth |
//! | all else | | as in [`powertcp`](super::powertcp) |

use super::InvalidParam;
use super::fabric::{Step, delay_of};
use super::power::{LEAST_CURRENT, PowerParams, PowerWindow};
use super::powertcp::SOURCE;
use crate::controller::{Controller, ControllerState, Feedback, Flight, Handover, PacketTag, Sent, Setup};
use crate::declare::{Declaration, Family, Law, Reductions};
use crate::estimate::RoundCounter;
use crate::registry::Algorithm;
use crate::signal::{Ecn, Signal};
use crate::units::{Rate, Span, Timestamp};

/// The defaults of `theta-powertcp`.
pub const DEFAULT: PowerParams =
    PowerParams { gamma: 0.7, beta: 0.006, eta: 1.05, loss_beta: 0.5, initial_window: 10, min_window: 0.01 };

/// A window that keeps delay times its growth at the base RTT.
#[derive(Clone, Debug)]
pub struct ThetaPowerTcp {
    power: PowerWindow,
    /// The delay that was measured last, and when.
    former: Option<(Timestamp, Span)>,
    rounds: RoundCounter,
}

impl ThetaPowerTcp {
    /// A controller for a flow that begins as `setup` says.
    ///
    /// # Errors
    ///
    /// If a parameter is out of its range.
    pub fn new(params: PowerParams, setup: &Setup) -> Result<Self, InvalidParam> {
        Ok(Self { power: PowerWindow::new(params, setup)?, former: None, rounds: RoundCounter::default() })
    }

    /// Algorithm 2, `NormPower`. True if power was measured.
    fn measure(&mut self, now: Timestamp, delay: Span, base: Span) -> bool {
        let Some((then, former)) = self.former else {
            self.former = Some((now, delay));
            return false;
        };
        let elapsed = now.saturating_since(then);
        if elapsed.is_zero() {
            return false;
        }
        self.former = Some((now, delay));
        let growth = (nanos(delay) - nanos(former)) / nanos(elapsed);
        let power = (growth + 1.0).max(LEAST_CURRENT) * nanos(delay) / nanos(base);
        self.power.smooth(power, elapsed, base);
        true
    }
}

fn nanos(span: Span) -> f64 {
    span.as_nanos() as f64
}

impl Controller for ThetaPowerTcp {
    fn on_sent(&mut self, _sent: &Sent, _flight: &Flight<'_>) -> PacketTag {
        self.power.tag()
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let step = self.power.begin(feedback, flight);
        let Some((delay, base)) = delay_of(feedback, flight).zip(self.power.window.base_rtt()) else { return };
        let measured = self.measure(feedback.now, delay, base);
        let Some(newest) = feedback.acked.last() else { return };
        let ends = measured && self.rounds.on_acked(newest.packet_number, flight.next_packet_number);
        if ends && step != Step::Started {
            let reduced = self.power.window.bytes();
            self.power.answer(None, feedback, flight);
            // What is lost leaves no more than the law would without the loss.
            if step == Step::Reduced {
                self.power.window.set(reduced.min(self.power.window.bytes()));
            }
        }
    }

    fn on_signal(&mut self, _now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
        if self.power.window.on_signal(signal) {
            self.power.forget();
            self.former = None;
        }
        if matches!(signal, Signal::Restart { .. }) {
            self.former = None;
        }
    }

    fn window(&self) -> u64 {
        self.power.window.rounded()
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.power.window.pacing_rate()
    }

    fn send_quantum(&self) -> Option<u64> {
        self.power.window.send_quantum()
    }

    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    fn state(&self) -> ControllerState {
        let phase = if self.power.window.is_starting() { "start" } else { "steady" };
        ControllerState::new(self.window(), phase)
            .with_pacing_rate(self.pacing_rate())
            .with_gauge("power", self.power.power())
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn handover(&self) -> Handover {
        self.power.window.handover()
    }
}

/// The registry's entry.
pub(super) fn algorithm() -> Algorithm {
    const NAME: &str = "theta-powertcp";
    let algorithm = Algorithm::new(NAME, "keeps delay times its growth at the base RTT", SOURCE, |args, setup| {
        Ok(Box::new(ThetaPowerTcp::new(PowerParams::of(args), setup).map_err(|error| error.of(NAME))?))
    });
    DEFAULT.declare_in(algorithm.declaring(declaration()))
}

fn declaration() -> Declaration {
    Declaration::new(Family::Datacentre)
        .law(Law::Model)
        .min_window(DEFAULT.min_window)
        .reductions(Reductions::Unbounded)
        .utilisation(0.95)
        .queueing_delay(0.3)
        .fairness(0.9)
        .convergence_rtts(100)
        .reaction_to_drop_rtts(20)
        .reaction_to_rise_rtts(60)
}

#[cfg(test)]
mod tests;
