//! `timely`: Mittal et al., *TIMELY: RTT-based Congestion Control for the Datacenter*, SIGCOMM'15, algorithm 1.
//!
//! ```text
//! once a round trip    diff = (1 - alpha) diff + alpha (rtt - rtt_former);   gradient = diff / T
//! rtt < t_low          rate += delta
//! rtt > t_high         rate *= 1 - beta (1 - t_high / rtt)
//! gradient <= 0        rate += n delta            n = 5 after five such in a row (HAI), else 1
//! gradient > 0         rate *= 1 - beta gradient
//! loss                 rate *= loss_beta                                                         once a round trip
//! cwnd = rate t_high   only a bound, once T is known: no law of the paper's
//! ```
//!
//! Without PFC, which the simulator does not have, this law loses packets (27 % by `cwndtunnel run dc-incast --algo
//! timely`): it starts at line rate, nothing but the rate holds it, and a switch whose buffer is less than `t_high` - T of
//! its link never lets the RTT reach `t_high`. Several flows of one host queue at its own port. A steep gradient leaves
//! `min_rate`, from which `delta` takes hundreds of round trips back. The bound of the window, the start and the thresholds
//! in units of T are partly ours; the table says which.
//!
//! Law and constants were checked against TIMELY in the HPCC authors' simulator (`rdma-hw.cc`, `UpdateRateTimely`, and
//! `run.py`) and against algorithm 1 and its constants as Zhu et al., *ECN or Delay*, CoNEXT'16, section 4 print them; hyperactive
//! increase is the former's alone. The paper's own text was not at hand.
//!
//! | parameter | unit | default | origin |
//! |---|---|---|---|
//! | `alpha` | weight of the newest difference | 0.875 | simulator; *ECN or Delay* |
//! | `beta` | factor of decrease | 0.8 | simulator; *ECN or Delay* |
//! | `delta` | share of the line rate | 0.001 | `run.py`: 10 Mb/s for each 10 Gb/s |
//! | `t_low`, `t_high` | T | 2.5, 25 | simulator: 50 us and 500 us at a minimum RTT of 20 us |
//! | `hai` | round trips | 5 | paper by way of the simulator; growth is then fivefold |
//! | `min_rate` | share of the line rate | 0.01 | `run.py`: 1 Gb/s at 100 Gb/s |
//! | `loss_beta` | share kept | 0.5 | ours |
//! | `initial_window` | packets | 10 | RFC 9002, section 7.2, until T is known |
//!
//! ## Differences from the reference
//!
//! | | paper and simulator | here |
//! |---|---|---|
//! | thresholds, minimum RTT | absolute times, configured | multiples of T, the smallest RTT seen or the oracle's base RTT |
//! | RTT | NIC time stamps less the segment's own time | fabric delay where hosts time-stamp, else RTT - ACK delay |
//! | event | paper: a segment of 16 to 64 kB; simulator: a round trip | a round trip |
//! | five in a row | simulator: counts rounds below `t_low` as well | as the paper: negative gradients only |
//! | rate without a known line rate | configured | starts at `initial_window` / T, grows by a packet a round trip |
//! | start | line rate at once | `initial_window` until the first RTT sample, then line rate, unless something was lost before |
//! | T turns out to be less | cannot happen | the rate stays, in bytes per T it is less |
//! | `delta` | as above | at most a packet or an eighth of the rate a round trip |
//! | `min_rate` | under all circumstances | what delay leaves; losses may take more, which comes back by `delta` |
//! | growth | always | not while application or receiver hold the sender back |
//! | loss | not said (PFC) | halves the rate, once a round trip |

use super::InvalidParam;
use super::fabric::{FabricWindow, Limits, Start, Step, delay_of};
use super::hpcc::loss_beta;
use super::newreno::packets;
use crate::controller::{Controller, ControllerState, Feedback, Flight, Handover, Setup};
use crate::declare::{Declaration, Family, Law};
use crate::estimate::RoundCounter;
use crate::registry::{Algorithm, Args, Param, Value};
use crate::signal::{Ecn, Signal};
use crate::units::{Rate, Span, Timestamp, round_to_u64};

/// Growth after `hai` round trips in a row, as a multiple of `delta`.
const HYPERACTIVE: f64 = 5.0;

/// Smallest rate, packets per base RTT, whatever the line rate.
const MIN_WINDOW: f64 = 0.01;

/// Parameters of [`Timely`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct TimelyParams {
    /// Weight of the newest difference of RTTs; above 0, at most 1.
    pub alpha: f64,
    /// Factor of decrease; above 0, at most 1.
    pub beta: f64,
    /// Growth a round trip, as a share of the line rate; above 0, at most 1.
    pub delta: f64,
    /// RTT below which the rate always grows, base RTTs; at least 1.
    pub t_low: f64,
    /// RTT above which the rate always falls, base RTTs; above `t_low`.
    pub t_high: f64,
    /// Round trips without a rising RTT after which growth is fivefold; at least one.
    pub hai: u64,
    /// Smallest rate, as a share of the line rate; above 0, at most 1.
    pub min_rate: f64,
    /// Share of the rate that a loss keeps; between 0 and 1, both excluded.
    pub loss_beta: f64,
    /// Packets to start with until T is known; at least one.
    pub initial_window: u64,
}

impl Default for TimelyParams {
    fn default() -> Self {
        Self {
            alpha: 0.875,
            beta: 0.8,
            delta: 0.001,
            t_low: 2.5,
            t_high: 25.0,
            hai: 5,
            min_rate: 0.01,
            loss_beta: 0.5,
            initial_window: 10,
        }
    }
}

impl TimelyParams {
    fn validate(&self) -> Result<(), InvalidParam> {
        let share = |value: f64| value > 0.0 && value <= 1.0;
        InvalidParam::unless(share(self.alpha), "alpha", "a weight above 0, at most 1")?;
        InvalidParam::unless(share(self.beta), "beta", "a factor above 0, at most 1")?;
        InvalidParam::unless(share(self.delta), "delta", "a share above 0, at most 1")?;
        InvalidParam::unless(self.t_low >= 1.0 && self.t_low.is_finite(), "t_low", "base RTTs, at least 1")?;
        let above = self.t_high > self.t_low && self.t_high.is_finite();
        InvalidParam::unless(above, "t_high", "base RTTs, more than `t_low`")?;
        InvalidParam::unless(self.hai > 0, "hai", "at least one round trip")?;
        InvalidParam::unless(share(self.min_rate), "min_rate", "a share above 0, at most 1")?;
        self.limits().validate()?;
        InvalidParam::unless(self.initial_window > 0, "initial_window", "at least one packet")
    }

    const fn limits(&self) -> Limits {
        Limits {
            initial: self.initial_window as f64,
            start: Start::LineRate,
            min: MIN_WINDOW,
            max: f64::INFINITY,
            loss_beta: self.loss_beta,
        }
    }
}

/// A rate that follows the gradient of the RTT.
#[derive(Clone, Debug)]
pub struct Timely {
    params: TimelyParams,
    /// Bytes per base RTT: the rate, in terms that losses, line rate and bounds are known in.
    per_rtt: FabricWindow,
    /// Smoothed difference of RTTs, nanoseconds.
    difference: f64,
    former: Option<f64>,
    /// Round trips in a row whose RTT did not rise.
    calm: u64,
    rounds: RoundCounter,
    phase: &'static str,
}

impl Timely {
    /// A controller for a flow that begins as `setup` says.
    ///
    /// # Errors
    ///
    /// If a parameter is out of its range.
    pub fn new(params: TimelyParams, setup: &Setup) -> Result<Self, InvalidParam> {
        params.validate()?;
        Ok(Self {
            per_rtt: FabricWindow::new(setup, params.limits()).of_a_rate(),
            difference: 0.0,
            former: None,
            calm: 0,
            rounds: RoundCounter::default(),
            phase: "start",
            params,
        })
    }

    /// Algorithm 1, for an RTT in nanoseconds.
    fn update(&mut self, rtt: f64, base: f64, flight: &Flight<'_>) {
        let Some(former) = self.former.replace(rtt) else { return };
        self.difference += self.params.alpha * (rtt - former - self.difference);
        let gradient = self.difference / base;
        let (low, high) = (self.params.t_low * base, self.params.t_high * base);
        let rate = self.per_rtt.bytes();
        let grown = |times: f64| rate + self.per_rtt.additive(self.params.delta * times, None);
        let (next, phase) = if rtt < low {
            (grown(1.0), "below_t_low")
        } else if rtt > high {
            (rate * (1.0 - self.params.beta * (1.0 - high / rtt)), "above_t_high")
        } else if gradient <= 0.0 {
            self.calm = self.calm.saturating_add(1);
            let hyperactive = self.calm >= self.params.hai;
            if hyperactive { (grown(HYPERACTIVE), "hai") } else { (grown(1.0), "additive") }
        } else {
            (rate * (1.0 - self.params.beta * gradient), "gradient")
        };
        if gradient > 0.0 || rtt < low || rtt > high {
            self.calm = 0;
        }
        self.phase = phase;
        // Delay leaves the smallest rate; losses may have taken more, which comes back by steps.
        let least = self.per_rtt.bdp().map_or(0.0, |bdp| bdp * self.params.min_rate).min(rate);
        self.per_rtt.propose(next.max(least), flight);
    }

    fn forget_delays(&mut self) {
        (self.former, self.difference, self.calm) = (None, 0.0, 0);
    }
}

impl Controller for Timely {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let step = self.per_rtt.begin(feedback, flight);
        if step == Step::Reduced {
            self.calm = 0;
        }
        let Some((delay, base)) = delay_of(feedback, flight).zip(self.per_rtt.base_rtt()) else { return };
        let Some(newest) = feedback.acked.last() else { return };
        let ends = self.rounds.on_acked(newest.packet_number, flight.next_packet_number);
        if ends && step == Step::Usual {
            self.update(delay.as_nanos() as f64, base.as_nanos() as f64, flight);
        }
    }

    fn on_signal(&mut self, _now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
        if self.per_rtt.on_signal(signal) || matches!(signal, Signal::Restart { .. }) {
            self.forget_delays();
        }
    }

    fn window(&self) -> u64 {
        match self.per_rtt.base_rtt() {
            None => self.per_rtt.rounded(),
            Some(_) => round_to_u64(self.per_rtt.bytes() * self.params.t_high).max(1),
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.per_rtt.pacing_rate()
    }

    fn send_quantum(&self) -> Option<u64> {
        self.per_rtt.send_quantum()
    }

    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    fn state(&self) -> ControllerState {
        ControllerState::new(self.window(), self.phase)
            .with_pacing_rate(self.pacing_rate())
            .with_gauge("gradient", self.per_rtt.base_rtt().map_or(0.0, |base| self.difference / nanos(base)))
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn handover(&self) -> Handover {
        self.per_rtt.handover()
    }
}

fn nanos(span: Span) -> f64 {
    span.as_nanos() as f64
}

/// The registry's entry.
pub(super) fn algorithm() -> Algorithm {
    const NAME: &str = "timely";
    let default = TimelyParams::default();
    let number = |name, value, help| Param::new(name, Value::Number(value), help);
    Algorithm::new(NAME, "a rate that follows the gradient of the RTT", "Mittal et al., SIGCOMM'15", |args, setup| {
        Ok(Box::new(Timely::new(params(args), setup).map_err(|error| error.of(NAME))?))
    })
    .declaring(Declaration::new(Family::Datacentre).law(Law::Model).min_window(MIN_WINDOW).utilisation(0.7))
    .with_param(number("alpha", default.alpha, "weight of the newest difference of RTTs").within(1e-3, 1.0))
    .with_param(number("beta", default.beta, "factor of decrease").within(1e-3, 1.0))
    .with_param(number("delta", default.delta, "growth a round trip, share of the line rate").within(1e-9, 1.0))
    .with_param(number("t_low", default.t_low, "RTT below which the rate grows, base RTTs").within(1.0, 1e6))
    .with_param(number("t_high", default.t_high, "RTT above which the rate falls, base RTTs").within(1.0, 1e6))
    .with_param(Param::new("hai", Value::Integer(default.hai), "round trips to fivefold growth").within(1.0, 1e9))
    .with_param(number("min_rate", default.min_rate, "smallest rate, share of the line rate").within(1e-9, 1.0))
    .with_param(loss_beta(default.loss_beta))
    .with_param(packets("initial_window", default.initial_window, "packets to start with until the RTT is known"))
}

fn params(args: &Args) -> TimelyParams {
    TimelyParams {
        alpha: args.number("alpha"),
        beta: args.number("beta"),
        delta: args.number("delta"),
        t_low: args.number("t_low"),
        t_high: args.number("t_high"),
        hai: args.integer("hai"),
        min_rate: args.number("min_rate"),
        loss_beta: args.number("loss_beta"),
        initial_window: args.integer("initial_window"),
    }
}

#[cfg(test)]
mod tests;
