//! `gemini`: Zeng et al., *Congestion Control for Cross-Datacenter Networks*, ICNP'19; thesis arXiv 2201.03734.
//!
//! ```text
//! once a round trip      F = bytes marked / bytes acknowledged;  alpha = (1 - g) alpha + g F
//! congested inside a datacentre    the acknowledgement brings marks               f_dcn = alpha 4 K / (K + C RTT)
//! congested in the wide area       the last round's smallest RTT > base RTT + T   f_wan = beta
//! either                 cwnd *= 1 - max(f_dcn, f_wan)                            once a round trip
//! neither                slow start, or cwnd += h per window, h = H C RTT packets
//! loss                   cwnd /= 2                                                once a round trip
//! ```
//!
//! Only switches inside a datacentre mark, at K; congestion of the wide area shows as delay. C is the rate of the local
//! link, RTT the base RTT, and C RTT counts in bits where it scales h: at 1 Gb/s and 40 ms, h is 4.8 packets.
//!
//! Read: `gemini.cpp` and `gemini.h` of the Uno artifact (`spcl/Uno_SC25`, commit 68d164e), whose comments quote the
//! paper's H, beta and T; notes on a port to ns-3 that quote T, beta and K and give both formulas; the abstracts of paper
//! and thesis. Their texts could not be had.
//!
//! | parameter | unit | default | origin |
//! |---|---|---|---|
//! | `h` | packets a bit of C RTT | 1.2e-7 | paper, as quoted; that it counts bits and packets is our reading |
//! | `min_increase`, `max_increase` | packets a round trip | 0.1, 5 | ours; the port clamps h to 100 B and 50 kB |
//! | `beta` | share given up for delay | 0.2 | paper, as quoted |
//! | `delay` (T) | queueing delay | 5 ms | paper, as quoted |
//! | `threshold` (K / C) | time that the switch's K takes at C | 600 us | paper, as quoted: 50 packets per Gb/s, of 1 500 B |
//! | `g` | weight of the newest round | 1/16 | as DCTCP, and the port; Uno's scripts: 0.5 |
//! | `alpha` | initial estimate | 1 | as DCTCP (RFC 8257) |
//! | `loss_beta` | share kept on loss | 0.5 | as conventional TCP |
//! | `initial_window`, `min_window` | packets | 10, 2 | RFC 9002, section 7.2 |
//!
//! ## Differences from the reference
//!
//! | | reference | here |
//! |---|---|---|
//! | C | configured | the local link, or the largest delivery rate; an oracle's with an oracle |
//! | base RTT | configured; in the port the smallest RTT seen | the smallest RTT seen; an oracle's with an oracle |
//! | a longer route | unknown | congestion of the wide area for ten seconds and 32 round trips without a break: then the RTT of that round is the base RTT |
//! | round trips | clocked by the base RTT | counted by what is acknowledged |
//! | delay of a round | smallest RTT since it began, from its first acknowledgement on | smallest RTT of this one so far and the one before |
//! | T | as above | at least what two packets of the window take at the base RTT: on slow links they are no congestion |
//! | once a round trip | marks and delay; losses apart | one reduction for all that was sent before it, whatever tells of it |
//! | growth after a reduction | at once | from the first packet sent after it (RFC 9002, section 7.3.2) |
//! | 4 K / (K + C RTT) | above 1 for a C RTT below 3 K | at most 1: no more is given up than was marked |
//! | largest window, pacing | C RTT, and cwnd / RTT, in the port | none, and the engine's |
//! | retransmission timeout | one packet, slow start to half of the window | persistent congestion: the minimum window, and another base RTT |

use super::InvalidParam;
use super::fractional::FractionalWindow;
use super::newreno::packets;
use super::recovery::{Congestion, Recovery, Verdict};
use crate::controller::{Controller, ControllerState, Feedback, Flight, Handover, Setup};
use crate::declare::{Declaration, Family, Need};
use crate::estimate::{Pipe, RoundCounter};
use crate::registry::{Algorithm, Args, Param, Value};
use crate::signal::{PathChange, Signal};
use crate::units::{Span, Timestamp};

/// Parameters of [`Gemini`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct GeminiParams {
    /// Packets that a round trip adds for each bit of the bandwidth-delay product; above 0.
    pub h: f64,
    /// Fewest packets that a round trip adds; above 0.
    pub min_increase: f64,
    /// Most packets that a round trip adds; at least `min_increase`.
    pub max_increase: f64,
    /// Share of the window that congestion of the wide area takes; between 0 and 1, both excluded.
    pub beta: f64,
    /// Queueing delay above which the wide area is congested.
    pub delay: Span,
    /// Time in which a switch's link sends the backlog at which it marks; not zero.
    pub threshold: Span,
    /// Weight of the newest round in the estimate; above 0, at most 1.
    pub g: f64,
    /// Estimate to start with; 0 to 1.
    pub alpha: f64,
    /// Share of the window that a loss keeps; between 0 and 1, both excluded.
    pub loss_beta: f64,
    /// Packets to start with; at least one.
    pub initial_window: u64,
    /// Packets never to go below; at least one.
    pub min_window: u64,
}

impl Default for GeminiParams {
    fn default() -> Self {
        Self {
            h: 1.2e-7,
            min_increase: 0.1,
            max_increase: 5.0,
            beta: 0.2,
            delay: Span::from_millis(5),
            threshold: Span::from_micros(600),
            g: 1.0 / 16.0,
            alpha: 1.0,
            loss_beta: 0.5,
            initial_window: 10,
            min_window: 2,
        }
    }
}

impl GeminiParams {
    fn validate(&self) -> Result<(), InvalidParam> {
        let bounds = self.min_increase > 0.0 && self.min_increase <= self.max_increase && self.max_increase.is_finite();
        InvalidParam::unless(self.h > 0.0 && self.h.is_finite(), "h", "a positive number")?;
        InvalidParam::unless(bounds, "min_increase", "above 0, at most `max_increase`")?;
        InvalidParam::unless(self.beta > 0.0 && self.beta < 1.0, "beta", "a share between 0 and 1")?;
        InvalidParam::unless(!self.threshold.is_zero(), "threshold", "a time above zero")?;
        InvalidParam::unless(self.g > 0.0 && self.g <= 1.0, "g", "a weight above 0, at most 1")?;
        InvalidParam::unless((0.0..=1.0).contains(&self.alpha), "alpha", "a share from 0 to 1")?;
        InvalidParam::unless(self.loss_beta > 0.0 && self.loss_beta < 1.0, "loss_beta", "a share between 0 and 1")?;
        InvalidParam::unless(self.initial_window > 0, "initial_window", "at least one packet")?;
        InvalidParam::unless(self.min_window > 0, "min_window", "at least one packet")
    }
}

/// Time and round trips without a break after which a delay is the path's and not this flow's queue. The time is BBR's
/// memory for the smallest RTT (draft-ietf-ccwg-bbr: MinRTTFilterLen); so many reductions leave a thousandth of any window.
const PATIENCE: (Span, u64) = (Span::from_secs(10), 32);
/// Packets of the window whose time at the base RTT is no delay: they may stand behind each other.
const BURST: f64 = 2.0;

/// What a round trip has brought so far.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    acked: u64,
    marked: u64,
    min_rtt: Option<Span>,
}

/// Gemini's window.
#[derive(Clone, Debug)]
pub struct Gemini {
    params: GeminiParams,
    window: FractionalWindow,
    ssthresh: Option<f64>,
    pipe: Pipe,
    recovery: Recovery,
    alpha: f64,
    rounds: RoundCounter,
    round: Round,
    /// Smallest RTT of the round before.
    former_rtt: Option<Span>,
    /// Smallest RTT of all.
    base_rtt: Option<Span>,
    /// Whether delay tells of congestion in the wide area.
    wan_congested: bool,
    /// Bytes acknowledged that no sample has judged yet.
    waiting: u64,
    /// Since when, and since which round, every round has been late.
    late_since: Option<(Timestamp, u64)>,
}

impl Gemini {
    /// A controller for a flow that begins as `setup` says.
    ///
    /// # Errors
    ///
    /// If a parameter is out of its range.
    pub fn new(params: GeminiParams, setup: &Setup) -> Result<Self, InvalidParam> {
        params.validate()?;
        Ok(Self {
            window: FractionalWindow::new(setup, params.initial_window, params.min_window),
            ssthresh: setup.handover.and_then(|from| from.ssthresh).map(|bytes| bytes as f64),
            pipe: Pipe::new(setup),
            recovery: Recovery::default(),
            alpha: params.alpha,
            rounds: RoundCounter::new(setup.now.as_nanos().saturating_add(1)),
            round: Round::default(),
            former_rtt: None,
            base_rtt: None,
            wan_congested: false,
            waiting: 0,
            late_since: None,
            params,
        })
    }

    /// Sums up the round, and at its end what it told. The acknowledgement that ends it brings the first sample of the next,
    /// so that one of ten packets tells the same as ten of one.
    fn observe(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.pipe.observe(feedback, flight);
        let acked = feedback.newly_acked.bytes;
        self.round.acked = self.round.acked.saturating_add(acked);
        self.round.marked = self.round.marked.saturating_add(feedback.newly_marked.bytes.min(acked));
        if let Some(newest) = feedback.acked.last()
            && self.rounds.on_acked(newest.sent_at.as_nanos(), feedback.now.as_nanos())
        {
            let round = core::mem::take(&mut self.round);
            if round.acked > 0 {
                self.alpha += self.params.g * (round.marked as f64 / round.acked as f64 - self.alpha);
            }
            self.former_rtt = round.min_rtt.or(self.former_rtt);
            self.lose_patience(feedback.now);
        }
        if let Some(rtt) = rtt_of(feedback) {
            self.round.min_rtt = Some(self.round.min_rtt.map_or(rtt, |min| min.min(rtt)));
            self.base_rtt = Some(self.base_rtt.map_or(rtt, |min| min.min(rtt)));
            self.wan_congested = self.is_late();
        }
    }

    /// Whether the smallest RTT of the round before and of this one so far tells of congestion in the wide area.
    fn is_late(&self) -> bool {
        let base = if self.pipe.is_given() { self.pipe.base_rtt() } else { self.base_rtt };
        let least = self.round.min_rtt.into_iter().chain(self.former_rtt).min();
        least.zip(base).is_some_and(|(least, base)| {
            let burst = base.mul_f64(BURST * self.window.mtu() / self.window.exact());
            least.saturating_sub(base) > self.params.delay.max(burst)
        })
    }

    /// A round ended: a delay that stays through so many reductions is the path's.
    fn lose_patience(&mut self, now: Timestamp) {
        let delay = self.former_rtt.zip(self.base_rtt).map(|(rtt, base)| rtt.saturating_sub(base));
        if delay.is_none_or(|delay| delay <= self.params.delay) {
            self.late_since = None;
            return;
        }
        let (since, round) = *self.late_since.get_or_insert((now, self.rounds.rounds()));
        if now.saturating_since(since) > PATIENCE.0 && self.rounds.rounds() - round > PATIENCE.1 {
            (self.base_rtt, self.late_since) = (self.former_rtt, None);
        }
    }

    /// The share that marks take: alpha 4 K / (K + C RTT), in times of C.
    fn marks_take(&self) -> f64 {
        let k = self.params.threshold.as_nanos() as f64;
        let rtt = self.pipe.base_rtt().map_or(0.0, |rtt| rtt.as_nanos() as f64);
        self.alpha * (4.0 * k / (k + rtt)).min(1.0)
    }

    /// Bytes that a window of clean acknowledgements adds.
    fn increase(&self) -> f64 {
        let packets = self.params.h * 8.0 * self.pipe.bdp().unwrap_or(0.0);
        packets.clamp(self.params.min_increase, self.params.max_increase) * self.window.mtu()
    }

    /// What a batch leaves of the window: once a round trip, whatever it tells of.
    fn kept(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) -> Option<f64> {
        let late = if self.wan_congested { self.params.beta } else { 0.0 };
        match self.recovery.judge(feedback, flight) {
            Some(Verdict::Reduce(cause)) => {
                let marked = if feedback.newly_marked.is_zero() { 0.0 } else { self.marks_take() };
                let kept = 1.0 - marked.max(late);
                Some(if cause == Congestion::Loss { kept.min(self.params.loss_beta) } else { kept })
            }
            // Without a sample the batch says nothing new of delay.
            _ if late > 0.0
                && feedback.rtt.is_some()
                && feedback.acked.last().is_some_and(|newest| !self.recovery.covers(newest)) =>
            {
                self.recovery.begin(feedback, flight);
                Some(1.0 - late)
            }
            _ => None,
        }
    }

    fn is_starting(&self) -> bool {
        self.ssthresh.is_none_or(|ssthresh| self.window.exact() < ssthresh)
    }

    fn grow(&mut self, acked: f64) {
        let room = self.ssthresh.map_or(f64::INFINITY, |ssthresh| (ssthresh - self.window.exact()).max(0.0));
        let doubling = acked.min(room);
        self.window.add(doubling);
        self.window.add(self.window.growth(acked - doubling, self.increase()));
    }
}

/// The RTT of a batch less the time that the receiver says it held the acknowledgement.
fn rtt_of(feedback: &Feedback<'_>) -> Option<Span> {
    feedback.rtt.map(|sample| sample.latest.saturating_sub(sample.ack_delay))
}

impl Controller for Gemini {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.observe(feedback, flight);
        if let Some(kept) = self.kept(feedback, flight) {
            self.window.cut(kept);
            self.waiting = 0;
            self.ssthresh = Some(self.window.exact());
        }
        if feedback.persistent_congestion.is_some() {
            self.window.collapse();
            self.recovery.on_collapse(feedback, flight);
            // As RFC 9002, section 5.2, asks of the smallest RTT: the path may be another one.
            (self.base_rtt, self.former_rtt) = (None, None);
        }
        self.waiting = self.waiting.saturating_add(self.recovery.acked_outside(feedback));
        // Packets that bring no sample wait for the next: it says whether there is a delay.
        if feedback.rtt.is_some() || !feedback.newly_marked.is_zero() {
            let judged = core::mem::take(&mut self.waiting);
            let calm = feedback.newly_marked.is_zero() && !self.wan_congested;
            if judged > 0 && calm && flight.limit.allows_growth() {
                self.grow(judged as f64);
            }
        }
    }

    fn on_signal(&mut self, _now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
        match signal {
            Signal::MtuChange { mtu } => self.window.set_mtu(*mtu),
            Signal::PathChange { change: PathChange::Migrated | PathChange::Revived, .. } => {
                self.window.restart();
                self.pipe.forget();
                self.recovery.forget();
                self.round = Round::default();
                (self.alpha, self.ssthresh) = (self.params.alpha, None);
                (self.base_rtt, self.former_rtt, self.waiting) = (None, None, 0);
                (self.wan_congested, self.late_since) = (false, None);
            }
            _ => {}
        }
    }

    fn window(&self) -> u64 {
        self.window.bytes()
    }

    fn in_slow_start(&self) -> bool {
        !self.wan_congested && self.is_starting()
    }

    fn state(&self) -> ControllerState {
        let phase = match (self.wan_congested, self.is_starting()) {
            (true, _) => "wan_congested",
            (false, true) => "slow_start",
            (false, false) => "congestion_avoidance",
        };
        ControllerState::new(self.window.bytes(), phase)
            .with_ssthresh(self.ssthresh.map(crate::units::round_to_u64))
            .with_gauge("alpha", self.alpha)
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn handover(&self) -> Handover {
        let ssthresh = self.ssthresh.map(crate::units::round_to_u64);
        Handover { ssthresh, ..self.window.handover(self.pipe.base_rtt()) }
    }
}

/// The registry's entry.
pub(super) fn algorithm() -> Algorithm {
    const NAME: &str = "gemini";
    let summary = "marks for congestion inside a datacentre, delay for congestion between them";
    Algorithm::new(NAME, summary, "Gemini, ICNP'19", |args, setup| {
        Ok(Box::new(Gemini::new(params(args), setup).map_err(|error| error.of(NAME))?))
    })
    .declaring(Declaration::new(Family::AcrossDatacentres).needing(Need::Ecn).min_window(2.0).utilisation(0.8))
    .with_params(all_params())
}

fn all_params() -> Vec<Param> {
    let default = GeminiParams::default();
    let number = |name, value, help| Param::new(name, Value::Number(value), help);
    let span = |name, value, help| Param::new(name, Value::Span(value), help).within(1.0, 1e10);
    vec![
        number("h", default.h, "packets a round trip adds for each bit of the product").within(1e-12, 1.0),
        number("min_increase", default.min_increase, "fewest packets a round trip adds").within(1e-6, 1e3),
        number("max_increase", default.max_increase, "most packets a round trip adds").within(1e-6, 1e6),
        number("beta", default.beta, "share that congestion of the wide area takes").within(0.01, 0.99),
        span("delay", default.delay, "queueing delay above which the wide area is congested"),
        span("threshold", default.threshold, "time that the backlog at which switches mark takes"),
        number("g", default.g, "weight of the newest round").within(1e-6, 1.0),
        number("alpha", default.alpha, "estimate to start with").within(0.0, 1.0),
        number("loss_beta", default.loss_beta, "share of the window kept on loss").within(0.01, 0.99),
        packets("initial_window", default.initial_window, "packets to start with"),
        packets("min_window", default.min_window, "packets never to go below"),
    ]
}

fn params(args: &Args) -> GeminiParams {
    GeminiParams {
        h: args.number("h"),
        min_increase: args.number("min_increase"),
        max_increase: args.number("max_increase"),
        beta: args.number("beta"),
        delay: args.span("delay"),
        threshold: args.span("threshold"),
        g: args.number("g"),
        alpha: args.number("alpha"),
        loss_beta: args.number("loss_beta"),
        initial_window: args.integer("initial_window"),
        min_window: args.integer("min_window"),
    }
}

#[cfg(test)]
mod tests;
