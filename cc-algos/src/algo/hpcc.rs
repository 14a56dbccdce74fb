//! `hpcc`: Li et al., *HPCC: High Precision Congestion Control*, SIGCOMM'19, section 3.2 and algorithm 1.
//!
//! ```text
//! per hop       u = tx_rate / C + min(q, q_former) / (C T)              from telemetry of two acknowledgements
//! U             = (1 - tau / T) U + tau / T max u                       tau: time between the reports of that hop, at most T
//! k = U / eta   k >= 1 or stage >= max_stage:   W = Wc / k + W_AI,  stage' = 0
//!               else                            W = Wc + W_AI,      stage' = stage + 1
//! once a round trip    Wc = W, stage = stage'
//! W_AI          = W_init (1 - eta) / N;    W_init = line rate x T;    pacing rate = W / T
//! ```
//!
//! **Variant.** The paper's algorithm sets a window and paces by it; its simulator sets a rate and derives the window as
//! W_init R / line rate. With W = R T and W_AI = R_AI T these are one law. This is that law with one window for the whole
//! path (the simulator's `MULTI_RATE 0`) that answers every acknowledgement (`FAST_REACT 1`).
//!
//! Fairness comes from W_AI alone. At its default that takes thousands of round trips, so none is promised.
//!
//! The laws and defaults were checked against the authors' simulator (`alibaba-edu/High-Precision-Congestion-Control`:
//! `rdma-hw.cc`, `rdma-queue-pair.cc`, `switch-node.cc`, `run.py`); the paper's text was not at hand.
//!
//! | parameter | unit | default | origin |
//! |---|---|---|---|
//! | `eta` | target utilisation | 0.95 | paper; simulator's `U_TARGET` |
//! | `max_stage` | round trips of additive growth | 5 | paper; simulator's class default. Its `run.py` has 0 |
//! | `flows` | N | 100 | W_AI = 0.0005 W_init: 81 B at 100 Gb/s and 13 us, the paper's example; `run.py` has 0.0004 |
//! | `loss_beta` | share kept | 0.5 | ours |
//! | `initial_window` | packets | 10 | RFC 9002, section 7.2, until T is known |
//! | `min_window` | packets | 0.01 | ours; the simulator's 0.1 to 1 Gb/s are more than a fair share in large incasts |
//!
//! ## Differences from the reference
//!
//! | | paper and simulator | here |
//! |---|---|---|
//! | T | configured, the same for all | the smallest RTT seen, or the oracle's base RTT |
//! | start | line rate at once | `initial_window` until the first RTT sample, then W_init, unless something was lost before |
//! | growth | always | not while application or receiver hold the sender back |
//! | W_AI | as above | at most a packet, or an eighth of the window: on long paths it could be more than a slow port holds |
//! | who writes telemetry | switches; the simulator's hosts ask their flows in turn and have no queue | hosts too: their ports are queues here, which flows of one host would fill unseen. Where the fabric is faster than the host, its port is the one that is held at eta |
//! | first report, another route, a clock or counter that runs backwards | undefined: stale or garbage hops are compared | measures nothing |
//! | u | unbounded | at most 1 000: what one forged report can do heals within seven round trips |
//! | idle | the average over the idle time counts | reports from before are forgotten |
//! | loss | retransmission without a reduction (PFC) | halves W and Wc, once a round trip |
//! | no telemetry for a round trip | | a packet of growth a round trip |
//! | several routes | | one is assumed: sprayed packets never repeat a list of ports |

use super::InvalidParam;
use super::fabric::{FabricWindow, Limits, Start, Step};
use super::newreno::packets;
use crate::controller::{Controller, ControllerState, Feedback, Flight, Handover, Setup};
use crate::declare::{Declaration, Family, Law, Need, Reductions};
use crate::estimate::{HopMeter, RoundCounter};
use crate::registry::{Algorithm, Args, Param, Value};
use crate::signal::{Ecn, IntHop, Signal};
use crate::units::{Rate, Span, Timestamp};

/// A utilisation beyond this is not believed: a queue of a thousand bandwidth-delay products.
const MOST_UTILISED: f64 = 1_000.0;

/// Parameters of [`Hpcc`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct HpccParams {
    /// Utilisation to aim at; above 0, at most 1.
    pub eta: f64,
    /// Round trips of additive growth before the window is set by the utilisation again.
    pub max_stage: u64,
    /// Flows expected to share a link, N; at least one.
    pub flows: f64,
    /// Share of the window that a loss keeps; between 0 and 1, both excluded.
    pub loss_beta: f64,
    /// Packets to start with until T is known; at least one.
    pub initial_window: u64,
    /// Packets never to go below; above 0.
    pub min_window: f64,
}

impl Default for HpccParams {
    fn default() -> Self {
        Self { eta: 0.95, max_stage: 5, flows: 100.0, loss_beta: 0.5, initial_window: 10, min_window: 0.01 }
    }
}

impl HpccParams {
    fn validate(&self) -> Result<(), InvalidParam> {
        InvalidParam::unless(self.eta > 0.0 && self.eta <= 1.0, "eta", "a utilisation above 0, at most 1")?;
        InvalidParam::unless(self.flows >= 1.0 && self.flows.is_finite(), "flows", "at least one flow")?;
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
}

/// A window that keeps the bytes in flight over the busiest hop at a share of what the hop holds.
#[derive(Clone, Debug)]
pub struct Hpcc {
    params: HpccParams,
    window: FabricWindow,
    meter: HopMeter,
    /// U, smoothed.
    utilisation: f64,
    /// Wc, bytes.
    reference: f64,
    stage: u64,
    rounds: RoundCounter,
    phase: &'static str,
}

impl Hpcc {
    /// A controller for a flow that begins as `setup` says.
    ///
    /// # Errors
    ///
    /// If a parameter is out of its range.
    pub fn new(params: HpccParams, setup: &Setup) -> Result<Self, InvalidParam> {
        params.validate()?;
        let window = FabricWindow::new(setup, params.limits());
        Ok(Self {
            reference: window.bytes(),
            window,
            meter: HopMeter::default(),
            // The simulator's initial value: neither growth nor decline before something was measured.
            utilisation: 1.0,
            stage: 0,
            rounds: RoundCounter::default(),
            phase: "start",
            params,
        })
    }

    /// Algorithm 1, `MeasureInflight`: the new U, if any hop can be compared.
    fn measure_inflight(&mut self, reports: &[IntHop]) -> Option<f64> {
        let base = self.window.base_rtt()?.as_nanos() as f64;
        let (mut most, mut over) = (0.0_f64, Span::ZERO);
        let measured = self.meter.measure(reports, |hop| {
            let held = hop.rate * base / 1e9;
            let utilised = hop.tx_rate / hop.rate + hop.queue.min(hop.former_queue) as f64 / held;
            if utilised >= most {
                (most, over) = (utilised, hop.elapsed);
            }
        });
        if !measured {
            return None;
        }
        let weight = (over.as_nanos() as f64 / base).min(1.0);
        Some(self.utilisation + weight * (most.min(MOST_UTILISED) - self.utilisation))
    }

    /// Algorithm 1, `ComputeWind`: the window and the stage that follow from U.
    fn compute_window(&self) -> (f64, u64) {
        let ratio = self.utilisation / self.params.eta;
        let largest = self.window.bdp().or_else(|| Some(self.meter.slowest()? * self.base_secs()));
        let additive = self.window.additive((1.0 - self.params.eta) / self.params.flows, largest);
        // T may have become smaller since.
        let reference = largest.map_or(self.reference, |bytes| self.reference.min(bytes));
        if ratio >= 1.0 || self.stage >= self.params.max_stage {
            let next = reference / ratio + additive;
            (largest.map_or(next, |bytes| next.min(bytes)), 0)
        } else {
            (reference + additive, self.stage + 1)
        }
    }

    fn base_secs(&self) -> f64 {
        self.window.base_rtt().map_or(0.0, Span::as_secs_f64)
    }

    fn answer(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let (bytes, stage) = self.compute_window();
        self.phase = if stage == 0 { "multiplicative" } else { "additive" };
        self.window.propose(bytes, flight);
        let Some(newest) = feedback.acked.last() else { return };
        if self.rounds.on_acked(newest.packet_number, flight.next_packet_number) {
            self.reference = self.window.bytes();
            self.stage = stage;
        }
    }

    fn restart(&mut self) {
        self.meter.forget();
        self.utilisation = 1.0;
        self.stage = 0;
        self.phase = "start";
    }
}

impl Controller for Hpcc {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let step = self.window.begin(feedback, flight);
        if step != Step::Usual {
            self.reference = self.window.bytes();
            self.stage = 0;
        }
        if feedback.int.is_empty() {
            self.window.grow_blindly(feedback, flight);
            self.reference = self.reference.max(self.window.bytes());
            return;
        }
        self.window.on_signalled(feedback.now);
        if let Some(utilisation) = self.measure_inflight(feedback.int) {
            self.utilisation = utilisation;
            if step == Step::Usual {
                self.answer(feedback, flight);
            }
        }
    }

    fn on_signal(&mut self, _now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
        if self.window.on_signal(signal) {
            self.restart();
        }
        if matches!(signal, Signal::Restart { .. }) {
            self.meter.forget();
        }
        self.reference = self.window.bytes();
    }

    fn window(&self) -> u64 {
        self.window.rounded()
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.window.pacing_rate()
    }

    fn send_quantum(&self) -> Option<u64> {
        self.window.send_quantum()
    }

    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    fn state(&self) -> ControllerState {
        ControllerState::new(self.window(), self.phase)
            .with_pacing_rate(self.pacing_rate())
            .with_gauge("utilisation", self.utilisation)
            .with_gauge("stage", self.stage as f64)
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
    const NAME: &str = "hpcc";
    let default = HpccParams::default();
    Algorithm::new(NAME, "keeps the bytes over the busiest hop at 95 % of what it holds", SOURCE, |args, setup| {
        Ok(Box::new(Hpcc::new(params(args), setup).map_err(|error| error.of(NAME))?))
    })
    .declaring(declaration(&default))
    .with_param(Param::new("eta", Value::Number(default.eta), "utilisation to aim at").within(0.01, 1.0))
    .with_param(Param::new("max_stage", Value::Integer(default.max_stage), "round trips of additive growth"))
    .with_param(Param::new("flows", Value::Number(default.flows), "flows expected to share a link").within(1.0, 1e9))
    .with_param(loss_beta(default.loss_beta))
    .with_param(packets("initial_window", default.initial_window, "packets to start with until the RTT is known"))
    .with_param(min_window(default.min_window))
}

/// The parameter `loss_beta` of laws whose papers assume that nothing is lost.
pub(super) fn loss_beta(default: f64) -> Param {
    Param::new("loss_beta", Value::Number(default), "share of the window kept on loss").within(0.01, 0.99)
}

/// The parameter `min_window` of laws that go below a packet.
pub(super) fn min_window(default: f64) -> Param {
    Param::new("min_window", Value::Number(default), "packets never to go below").within(1e-6, 1e6)
}

const SOURCE: &str = "Li et al., SIGCOMM'19";

fn declaration(default: &HpccParams) -> Declaration {
    Declaration::new(Family::Datacentre)
        .law(Law::Model)
        .needing(Need::Int)
        .min_window(default.min_window)
        .reductions(Reductions::Unbounded)
        .utilisation(0.9)
        .queueing_delay(0.1)
}

fn params(args: &Args) -> HpccParams {
    HpccParams {
        eta: args.number("eta"),
        max_stage: args.integer("max_stage"),
        flows: args.number("flows"),
        loss_beta: args.number("loss_beta"),
        initial_window: args.integer("initial_window"),
        min_window: args.number("min_window"),
    }
}

#[cfg(test)]
mod tests;
