//! `poseidon`: Wang et al., *Poseidon: Efficient, Robust, and Practical Datacenter CC via Deployable INT*, NSDI'23.
//!
//! ```text
//! MPD         largest delay of any hop on the path
//! MPT(rate)   = p (ln R_max - ln rate) / (ln R_max - ln R_min) + k          the delay a flow of that rate tolerates
//! U           = exp(m (MPT - MPD) / p (ln R_max - ln R_min)) = (MPT^-1(MPD) / rate)^m
//! MPD <= MPT  cwnd += (U - 1) min(acked, cwnd)                              each acknowledgement
//! MPD >  MPT  cwnd *= U                                                     once a round trip
//! rate        = cwnd / RTT;  R_max = line rate;  R_min = R_max / rate_range
//! ```
//!
//! A faster flow tolerates less delay, so flows of one bottleneck meet at one rate, whatever the number of hops.
//!
//! **Signal.** The largest CSIG sample of the batch (per-hop delay, else queue depth over port speed); without one, the
//! largest q / C of in-band telemetry.
//!
//! Neither the paper nor the authors' simulator was at hand. The law is from two third-party implementations that name
//! the paper: `rocev2-poseidon.cc` of `blueroaring/PrioPlus` (defaults m, k, p; increase an acknowledgement, decrease a
//! round trip) and an htsim fork's `uec.cpp` with Poseidon by CSIG (the exponent, the bound on a step); they differ in the
//! exponent's last factor, where only the latter makes U the power of a ratio of rates, as stated above.
//!
//! | parameter | unit | default | origin |
//! |---|---|---|---|
//! | `m` | step | 0.25 | PrioPlus; examples of the authors' simulator by its README |
//! | `p` | time | 40 us | PrioPlus: span of tolerated delays |
//! | `k` | time | 2 us | PrioPlus: the delay that the fastest flow tolerates |
//! | `rate_range` | R_max / R_min | 1 000 | authors' `run.py` by way of a fork: 0.1 Gb/s at 100 Gb/s |
//! | `max_step` | U | 2.5 | htsim fork: U within 0.4 and 2.5 |
//! | `loss_beta` | share kept | 0.5 | htsim fork: halves on a NACK |
//! | `initial_window` | packets | 10 | RFC 9002, section 7.2, until T is known |
//! | `min_window` | packets | 0.01 | ours |
//!
//! ## Differences from the references
//!
//! | | third-party implementations | here |
//! |---|---|---|
//! | R_max without a known line rate | configured | 100 Gb/s |
//! | increase below one packet | by (U - 1) packets, or a factor U | by a factor U a packet |
//! | start | line rate at once | `initial_window` until the first RTT sample, then line rate x T, unless something was lost before |
//! | decrease | PrioPlus: by U once a round trip; htsim fork: by a packet's share of it each acknowledgement | by U once a round trip |
//! | first acknowledgement | htsim fork: changes nothing | starts the flow; the next one counts |
//! | growth | always | not while application or receiver hold the sender back |
//! | neither CSIG nor telemetry | | a packet of growth a round trip; losses halve |

use super::InvalidParam;
use super::fabric::{FabricWindow, Limits, Start, Step, delay_of};
use super::hpcc::{loss_beta, min_window};
use super::newreno::packets;
use crate::controller::{Controller, ControllerState, Feedback, Flight, Handover, Setup};
use crate::declare::{Declaration, Family, Law, Need};
use crate::registry::{Algorithm, Args, Param, Value};
use crate::signal::{CsigSample, CsigValue, Ecn, IntHop, Signal};
use crate::units::{Rate, Span, Timestamp};

/// R_max where the line rate is not known.
const MAX_RATE: Rate = Rate::from_gbps(100);

/// Parameters of [`Poseidon`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct PoseidonParams {
    /// How far one step goes towards the rate that the delay is the target of; above 0, at most 1.
    pub m: f64,
    /// What the slowest flow tolerates above `k`; not zero.
    pub p: Span,
    /// What the fastest flow tolerates.
    pub k: Span,
    /// Fastest over slowest rate; above 1.
    pub rate_range: f64,
    /// Largest factor of one step, and the inverse of the smallest; above 1.
    pub max_step: f64,
    /// Share of the window that a loss keeps; between 0 and 1, both excluded.
    pub loss_beta: f64,
    /// Packets to start with until T is known; at least one.
    pub initial_window: u64,
    /// Packets never to go below; above 0.
    pub min_window: f64,
}

impl Default for PoseidonParams {
    fn default() -> Self {
        Self {
            m: 0.25,
            p: Span::from_micros(40),
            k: Span::from_micros(2),
            rate_range: 1_000.0,
            max_step: 2.5,
            loss_beta: 0.5,
            initial_window: 10,
            min_window: 0.01,
        }
    }
}

impl PoseidonParams {
    fn validate(&self) -> Result<(), InvalidParam> {
        let above_one = |value: f64| value > 1.0 && value.is_finite();
        InvalidParam::unless(self.m > 0.0 && self.m <= 1.0, "m", "a step above 0, at most 1")?;
        InvalidParam::unless(!self.p.is_zero(), "p", "a time above 0")?;
        InvalidParam::unless(above_one(self.rate_range), "rate_range", "a ratio above 1")?;
        InvalidParam::unless(above_one(self.max_step), "max_step", "a factor above 1")?;
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

/// A window whose rate tolerates the delay of its worst hop.
#[derive(Clone, Debug)]
pub struct Poseidon {
    params: PoseidonParams,
    window: FabricWindow,
    /// ln (R_max / R_min).
    log_range: f64,
    /// Nanoseconds of delay per unit of ln rate: p / ln (R_max / R_min).
    slope: f64,
    /// Bytes per nanosecond.
    max_rate: f64,
    /// MPD and MPT of the newest answer, nanoseconds.
    newest: (f64, f64),
}

impl Poseidon {
    /// A controller for a flow that begins as `setup` says.
    ///
    /// # Errors
    ///
    /// If a parameter is out of its range.
    pub fn new(params: PoseidonParams, setup: &Setup) -> Result<Self, InvalidParam> {
        params.validate()?;
        let window = FabricWindow::new(setup, params.limits());
        let log_range = libm::log(params.rate_range);
        Ok(Self {
            log_range,
            slope: params.p.as_nanos() as f64 / log_range,
            max_rate: window.line_rate().unwrap_or(MAX_RATE).as_bps() as f64 / 8e9,
            window,
            newest: (0.0, 0.0),
            params,
        })
    }

    /// MPT: the delay, nanoseconds, that a flow of `rate` bytes per nanosecond tolerates at one hop.
    fn tolerated(&self, rate: f64) -> f64 {
        let below = libm::log(self.max_rate / rate);
        below.clamp(0.0, self.log_range) * self.slope + self.params.k.as_nanos() as f64
    }

    /// U, for a worst hop with `delay` nanoseconds where `tolerated` are the target.
    fn ratio(&self, delay: f64, tolerated: f64) -> f64 {
        let step = self.params.m * (tolerated - delay) / self.slope;
        libm::exp(step).clamp(1.0 / self.params.max_step, self.params.max_step)
    }

    fn answer(&mut self, delay: f64, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let Some(newest) = feedback.acked.last() else { return };
        let rtt = delay_of(feedback, flight).or(flight.smoothed_rtt).or(self.window.base_rtt());
        let Some(rtt) = rtt.filter(|rtt| !rtt.is_zero()) else { return };
        let bytes = self.window.bytes();
        let tolerated = self.tolerated(bytes / rtt.as_nanos() as f64);
        self.newest = (delay, tolerated);
        // The ratio takes an exponential, and most of what is above the target was sent before the last cut and moves nothing.
        if delay <= tolerated {
            let acked = (feedback.newly_acked.bytes as f64).min(bytes);
            self.window.propose(bytes + (self.ratio(delay, tolerated) - 1.0) * acked, flight);
        } else if !self.window.covers(newest) {
            self.window.reduce(bytes * self.ratio(delay, tolerated), feedback, flight);
        }
    }
}

/// The largest delay that any sample reports: per-hop delay, else queue depth over port speed.
fn worst_sample(samples: &[CsigSample]) -> Option<Span> {
    let hop_delay = |sample: &CsigSample| match sample.value {
        CsigValue::HopDelay(delay) => Some(delay),
        _ => None,
    };
    let queue_depth = |sample: &CsigSample| match sample.value {
        CsigValue::QueueDepth(depth) => Some(depth),
        _ => None,
    };
    samples.iter().filter_map(hop_delay).max().or_else(|| samples.iter().filter_map(queue_depth).max())
}

/// The largest time, nanoseconds, that a hop takes to send what it holds. A hop without a rate says nothing.
fn worst_hop(hops: &[IntHop]) -> Option<f64> {
    let known = hops.iter().filter(|hop| hop.rate > Rate::ZERO);
    known.map(|hop| hop.queue_bytes as f64 * 8e9 / hop.rate.as_bps() as f64).reduce(f64::max)
}

impl Controller for Poseidon {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let step = self.window.begin(feedback, flight);
        let sampled = worst_sample(feedback.csig).map(|delay| delay.as_nanos() as f64);
        let Some(delay) = sampled.or_else(|| worst_hop(feedback.int)) else {
            self.window.grow_blindly(feedback, flight);
            return;
        };
        self.window.on_signalled(feedback.now);
        if step == Step::Usual {
            self.answer(delay, feedback, flight);
        }
    }

    fn on_signal(&mut self, _now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
        self.window.on_signal(signal);
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
        let (delay, tolerated) = self.newest;
        let phase = match (self.window.is_starting(), delay > tolerated) {
            (true, _) => "start",
            (false, true) => "decrease",
            (false, false) => "increase",
        };
        ControllerState::new(self.window(), phase)
            .with_pacing_rate(self.pacing_rate())
            .with_gauge("hop_delay_us", delay / 1e3)
            .with_gauge("tolerated_us", tolerated / 1e3)
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
    const NAME: &str = "poseidon";
    let default = PoseidonParams::default();
    let number = |name, value, help| Param::new(name, Value::Number(value), help);
    let time = |name, value, help| Param::new(name, Value::Span(value), help);
    Algorithm::new(
        NAME,
        "lets slow flows tolerate more delay at the worst hop",
        "Wang et al., NSDI'23",
        |args, setup| Ok(Box::new(Poseidon::new(params(args), setup).map_err(|error| error.of(NAME))?)),
    )
    .declaring(declaration(&default))
    .with_param(number("m", default.m, "how far one step goes").within(1e-3, 1.0))
    .with_param(time("p", default.p, "what the slowest flow tolerates above `k`").within(1.0, 1e12))
    .with_param(time("k", default.k, "what the fastest flow tolerates").within(0.0, 1e12))
    .with_param(number("rate_range", default.rate_range, "fastest over slowest rate").within(1.01, 1e9))
    .with_param(number("max_step", default.max_step, "largest factor of one step").within(1.01, 100.0))
    .with_param(loss_beta(default.loss_beta))
    .with_param(packets("initial_window", default.initial_window, "packets to start with until the RTT is known"))
    .with_param(min_window(default.min_window))
}

fn declaration(default: &PoseidonParams) -> Declaration {
    Declaration::new(Family::Datacentre)
        .law(Law::Model)
        .needing(Need::Int)
        .needing(Need::Csig)
        .min_window(default.min_window)
        .utilisation(0.9)
        .queueing_delay(0.6)
        .fairness(0.95)
}

fn params(args: &Args) -> PoseidonParams {
    PoseidonParams {
        m: args.number("m"),
        p: args.span("p"),
        k: args.span("k"),
        rate_range: args.number("rate_range"),
        max_step: args.number("max_step"),
        loss_beta: args.number("loss_beta"),
        initial_window: args.integer("initial_window"),
        min_window: args.number("min_window"),
    }
}

#[cfg(test)]
mod tests;
