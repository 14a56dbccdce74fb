//! `powertcp`: Addanki, Michel, Schmid, *PowerTCP: Pushing the Performance Limits of Datacenter Networks*, NSDI'22,
//! algorithm 1, by in-band telemetry.
//!
//! ```text
//! per hop       lambda = max(dq / dt + tx_rate, C / 2)                        arrivals: the current
//!               Gamma_now = lambda (q + C T) / (C C T)                        times the voltage, over a full link's
//! Gamma         = Gamma (1 - dt / T) + max Gamma_now dt / T                   dt of that hop, at most T
//! W             = gamma (W_old eta / Gamma + beta) + (1 - gamma) W            each acknowledgement
//! pacing rate   = W / T
//! ```
//!
//! Checked against the authors' simulator (`inet-tub/ns3-datacenter`: `rdma-hw.cc`, `UpdateRatePower`; `switch-node.cc`)
//! and, for the form of the algorithm by line, against a second implementation that names the paper's lines
//! (`blueroaring/PrioPlus`, `rocev2-powertcp.cc`); the paper's own text was not at hand.
//!
//! | parameter | unit | default | origin |
//! |---|---|---|---|
//! | `gamma` | weight | 0.9 | paper; both simulators |
//! | `beta` | share of line rate x T | 0.006 | authors' simulator: 150 Mb/s at hosts of 25 Gb/s |
//! | `eta` | power | 1 | paper; the authors' simulator has 0.95, which leaves queues empty and 5 % unused |
//! | `loss_beta` | share kept | 0.5 | ours |
//! | `initial_window` | packets | 10 | RFC 9002, section 7.2, until T is known |
//! | `min_window` | packets | 0.01 | ours; the simulator has 100 Mb/s |
//!
//! ## Differences from the reference
//!
//! | | paper and simulators | here |
//! |---|---|---|
//! | `W_old` | the window remembered once a round trip | the window at which the acknowledged packet left, by its tag |
//! | arrivals | paper: dq/dt + tx_rate; authors' switches count the bytes that come to the port, which is the same | as the paper |
//! | lambda >= C / 2 | authors' simulator only | yes |
//! | window or rate | paper a window, authors' simulator a rate | a window, paced at W / T |
//! | T | configured | the smallest RTT seen, or the oracle's base RTT |
//! | start | line rate at once | `initial_window` until the first RTT sample, then line rate x T, unless something was lost before |
//! | growth | always | not while application or receiver hold the sender back |
//! | beta | 150 Mb/s at any rate of hosts | a share of line rate x T, but at most a packet or an eighth of the window |
//! | who writes telemetry | switches | hosts too, as for [`hpcc`](super::hpcc) |
//! | first report, another route, clocks or counters backwards | undefined | measures nothing |
//! | loss, no telemetry, idle | not said | as in [`hpcc`](super::hpcc) |

use super::InvalidParam;
use super::fabric::Step;
use super::power::{LEAST_CURRENT, PowerParams, PowerWindow};
use crate::controller::{Controller, ControllerState, Feedback, Flight, Handover, PacketTag, Sent, Setup};
use crate::declare::{Declaration, Family, Law, Need, Reductions};
use crate::estimate::{HopChange, HopMeter};
use crate::registry::Algorithm;
use crate::signal::{Ecn, IntHop, Signal};
use crate::units::{Rate, Span, Timestamp};

impl Default for PowerParams {
    /// Those of `powertcp`.
    fn default() -> Self {
        Self { gamma: 0.9, beta: 0.006, eta: 1.0, loss_beta: 0.5, initial_window: 10, min_window: 0.01 }
    }
}

/// A window that keeps the power of the busiest hop at that of a full link with an empty queue.
#[derive(Clone, Debug)]
pub struct PowerTcp {
    power: PowerWindow,
    meter: HopMeter,
}

impl PowerTcp {
    /// A controller for a flow that begins as `setup` says.
    ///
    /// # Errors
    ///
    /// If a parameter is out of its range.
    pub fn new(params: PowerParams, setup: &Setup) -> Result<Self, InvalidParam> {
        Ok(Self { power: PowerWindow::new(params, setup)?, meter: HopMeter::default() })
    }

    /// Algorithm 1, `NormPower`. True if any hop could be compared.
    fn measure(&mut self, reports: &[IntHop], base: Span) -> bool {
        let (mut most, mut over) = (0.0_f64, Span::ZERO);
        let measured = self.meter.measure(reports, |hop| {
            let power = norm_power(hop, base);
            if power >= most {
                (most, over) = (power, hop.elapsed);
            }
        });
        if measured {
            self.power.smooth(most, over, base);
        }
        measured
    }
}

/// Current times voltage of one hop, over those of the full link with an empty queue.
fn norm_power(hop: &HopChange, base: Span) -> f64 {
    let held = hop.rate * base.as_nanos() as f64 / 1e9;
    let gradient = (hop.queue as f64 - hop.former_queue as f64) * 1e9 / hop.elapsed.as_nanos() as f64;
    let current = ((gradient + hop.tx_rate) / hop.rate).max(LEAST_CURRENT);
    current * (hop.queue as f64 / held + 1.0)
}

impl Controller for PowerTcp {
    fn on_sent(&mut self, _sent: &Sent, _flight: &Flight<'_>) -> PacketTag {
        self.power.tag()
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let step = self.power.begin(feedback, flight);
        if feedback.int.is_empty() {
            self.power.window.grow_blindly(feedback, flight);
            return;
        }
        self.power.window.on_signalled(feedback.now);
        let Some(base) = self.power.window.base_rtt() else { return };
        if self.measure(feedback.int, base) && step == Step::Usual {
            let capacity = self.meter.slowest().map(|rate| rate * base.as_secs_f64());
            self.power.answer(capacity, feedback, flight);
        }
    }

    fn on_signal(&mut self, _now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
        if self.power.window.on_signal(signal) {
            self.power.forget();
            self.meter.forget();
        }
        if matches!(signal, Signal::Restart { .. }) {
            self.meter.forget();
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
    const NAME: &str = "powertcp";
    let default = PowerParams::default();
    let algorithm = Algorithm::new(
        NAME,
        "keeps bandwidth times window of the busiest hop at what it holds",
        SOURCE,
        |args, setup| Ok(Box::new(PowerTcp::new(PowerParams::of(args), setup).map_err(|error| error.of(NAME))?)),
    );
    default.declare_in(algorithm.declaring(declaration(&default)))
}

pub(super) const SOURCE: &str = "Addanki et al., NSDI'22";

fn declaration(default: &PowerParams) -> Declaration {
    Declaration::new(Family::Datacentre)
        .law(Law::Model)
        .needing(Need::Int)
        .min_window(default.min_window)
        .reductions(Reductions::Unbounded)
        .utilisation(0.9)
        .queueing_delay(0.1)
        .fairness(0.9)
}

#[cfg(test)]
mod tests;
