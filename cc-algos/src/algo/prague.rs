//! `prague`: the L4S congestion control of draft-briscoe-iccrg-prague-congestion-control, which meets the Prague
//! requirements of RFC 9331, section 4.3, over the queues of RFC 9332.
//!
//! ```text
//! RTT_ref = max(srtt, rtt_ref)     from `transition` round trips after slow start on, before that srtt
//! M       = RTT_ref / srtt
//! once per RTT_ref  frac = marked / acked bytes;  alpha += g (frac - alpha)      from the first mark on
//! mark              ssthresh = cwnd = cwnd (1 - alpha / 2)                       once per RTT_ref
//! loss              ssthresh = cwnd = kept x cwnd                                once per round trip
//! unmarked bytes    slow start:  cwnd += acked
//!                   avoidance:   cwnd += mtu acked / cwnd / M^2                  also between reductions
//! pacing            cwnd / srtt, in slow start min(2 cwnd, ssthresh) / srtt;  bursts of up to 250 us
//! ```
//!
//! In steady state one packet of increase on the unmarked share meets a decrease by half the marked one: p cwnd = 2 (1 - p),
//! two marks a round trip at any rate. With M > 1 the increase is 1/M^2 a round trip and the decrease comes every M round
//! trips, which gives cwnd / srtt = 2 (1 - p) / (p rtt_ref): flows of all RTTs below rtt_ref get the same rate.
//!
//! | parameter | unit | default | origin |
//! |---|---|---|---|
//! | `g` | weight of the newest round | 1/16 | draft, "Moving Average of ECN Feedback" |
//! | `alpha` | estimate at the first mark | 1 | Linux `tcp_prague.c` (`PRAGUE_MAX_ALPHA`) |
//! | `rtt_ref` | time | 25 ms | draft, "Reduced RTT-Dependence"; Linux (`prague_rtt_target`); 0 turns it off |
//! | `transition` | round trips | 500 | the same (D); Linux (`DEFAULT_RTT_TRANSITION`) |
//! | `kept` | share kept on loss | 0.5 | draft, "Fall-Back on Loss": as Reno |
//! | `max_burst` | time | 250 us | draft, "Segmentation Offload" (`MAX_BURST_DELAY`); Linux: 2^-12 s |
//! | `initial_window`, `min_window` | packets | 10, 2 | RFC 9002, section 7.2; Linux (`MIN_CWND`) |
//!
//! Sources read: the draft's text of November 2021, between versions 00 and 01 (of later ones, up to 04, only the abstracts);
//! L4STeam's `tcp_prague.c` in its versions 0.6 and 0.7, and `udp_prague` of February 2026. Where these differ, the draft
//! counts. RFC 9331's section 4.3 by the draft's summary of it.
//!
//! ## Differences from the reference
//!
//! | | draft and Linux 0.6 | Linux 0.7 and UDP Prague | here |
//! |---|---|---|---|
//! | estimate at the first mark | 1 | 0; Linux: the first mark halves | `alpha`: 1 |
//! | `transition` | 500 round trips | 4; UDP Prague: none | 500 round trips |
//! | resolution of alpha | 20 bits, upscaled by 1/g | 24 bits | a double |
//! | fractions of a packet | kept beside the whole window | the same | bytes, and fractions of them |
//! | bytes or packets | draft: bytes; Linux: packets | packets of 1 500 B | bytes |
//! | fall-back on a classic ECN queue (RFC 9331, section 4.3) | algorithm by reference, off by default | none | none |
//! | windows below two packets (the same) | research code, not maintained | paced, down to 100 kb/s, with smaller packets | none: at least `min_window` |
//! | loss soon after a mark | halves on top; may halve in all | halves on top | halves on top |
//! | losses answered | once a round trip | UDP Prague: once in RTT_ref | once a round trip |
//! | increase after long quiet | a packet (plans for more) | UDP Prague: a queue of 1 ms | a packet |
//! | growth after a loss | not while recovering | the same | not on packets sent before the reduction |
//! | reduction moves the window | by a packet an ACK | the same | at once |
//! | pacing | max(cwnd, inflight) / srtt | the same, 3 % more and less in the halves of an RTT_ref | cwnd / srtt |
//! | pacing from ssthresh / 2 to ssthresh | falls from 2 cwnd to cwnd | the same | ssthresh / srtt: the rate does not fall as the window grows |
//! | path without ECN | Reno | Reno | the same without marks: losses remain, and the reduced RTT dependence |
//! | after idleness | RTT dependence should return (plan) | it does not | it does not |

use super::InvalidParam;
use super::newreno::packets;
use super::recovery::{Recovery, Verdict};
use super::window::{RenoWindow, Sizes};
use crate::controller::{Controller, ControllerState, Feedback, Flight, Handover, Setup, Tally};
use crate::declare::{Declaration, Family, Need, Reductions};
use crate::estimate::RoundCounter;
use crate::registry::{Algorithm, Args, Param, Value};
use crate::signal::{Ecn, PathChange, Signal};
use crate::units::{Rate, Span, Timestamp, round_to_u64};

/// Parameters of [`Prague`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct PragueParams {
    /// Weight of the newest round in the estimate; above 0, at most 1.
    pub g: f64,
    /// Estimate at the first mark; 0 to 1.
    pub alpha: f64,
    /// RTT below which flows behave as if they had it; zero turns that off.
    pub rtt_ref: Span,
    /// Round trips after slow start from which on they do.
    pub transition: u64,
    /// Share of the window that a loss keeps; between 0 and 1, both excluded.
    pub kept: f64,
    /// Longest burst, by the time it takes at the pacing rate.
    pub max_burst: Span,
    /// Packets to start with; at least one.
    pub initial_window: u64,
    /// Packets never to go below; at least one.
    pub min_window: u64,
}

impl Default for PragueParams {
    fn default() -> Self {
        Self {
            g: 1.0 / 16.0,
            alpha: 1.0,
            rtt_ref: Span::from_millis(25),
            transition: 500,
            kept: 0.5,
            max_burst: Span::from_micros(250),
            initial_window: 10,
            min_window: 2,
        }
    }
}

impl PragueParams {
    fn validate(&self) -> Result<(), InvalidParam> {
        InvalidParam::unless(self.g > 0.0 && self.g <= 1.0, "g", "a weight above 0, at most 1")?;
        InvalidParam::unless((0.0..=1.0).contains(&self.alpha), "alpha", "a share from 0 to 1")?;
        InvalidParam::unless(self.kept > 0.0 && self.kept < 1.0, "kept", "a share between 0 and 1")?;
        InvalidParam::unless(self.initial_window > 0, "initial_window", "at least one packet")?;
        InvalidParam::unless(self.min_window > 0, "min_window", "at least one packet")
    }
}

/// The moving average of marks, from the first mark on.
#[derive(Clone, Copy, Debug)]
struct Marking {
    alpha: f64,
    updated_at: Timestamp,
}

/// Bytes of the running round of observation.
#[derive(Clone, Copy, Debug, Default)]
struct Observed {
    acked: u64,
    marked: u64,
}

/// Prague.
#[derive(Clone, Debug)]
pub struct Prague {
    params: PragueParams,
    window: RenoWindow,
    /// Responses to losses, and to marks: a loss counts also where a mark has been answered already.
    losses: Recovery,
    marks: Recovery,
    reduced_at: Option<Timestamp>,
    before_loss: Option<(u64, Option<u64>)>,
    marking: Option<Marking>,
    observed: Observed,
    rounds: RoundCounter,
    /// Round trips since slow start ended, up to the transition.
    avoiding: u64,
    smoothed_rtt: Option<Span>,
    min_rtt: Option<Span>,
    pacing_rate: Option<Rate>,
}

impl Prague {
    /// A controller for a flow that begins as `setup` says.
    ///
    /// # Errors
    ///
    /// If a parameter is out of its range.
    pub fn new(params: PragueParams, setup: &Setup) -> Result<Self, InvalidParam> {
        params.validate()?;
        Ok(Self {
            window: RenoWindow::new(setup, Sizes { initial: params.initial_window, min: params.min_window }),
            losses: Recovery::default(),
            marks: Recovery::default(),
            reduced_at: None,
            before_loss: None,
            marking: None,
            observed: Observed::default(),
            // What is sent when the flow begins is the first round.
            rounds: RoundCounter::new(setup.now.as_nanos().saturating_add(1)),
            avoiding: 0,
            smoothed_rtt: None,
            min_rtt: None,
            pacing_rate: None,
            params,
        })
    }

    /// RTT_ref, where it is longer than the actual RTT and in force.
    fn reference(&self) -> Option<Span> {
        let in_force = self.avoiding >= self.params.transition && !self.window.in_slow_start();
        in_force
            .then_some(self.params.rtt_ref)
            .filter(|reference| self.smoothed_rtt.is_some_and(|rtt| rtt < *reference))
    }

    /// Whether RTT_ref has passed since `since`. The actual round trip is counted apart.
    fn reference_passed(&self, since: Timestamp, now: Timestamp) -> bool {
        self.reference().is_none_or(|reference| now.saturating_since(since) >= reference)
    }

    fn observe(&mut self, feedback: &Feedback<'_>) {
        let acked = feedback.newly_acked.bytes;
        let marked = feedback.newly_marked.bytes.min(acked);
        self.observed.acked = self.observed.acked.saturating_add(acked);
        self.observed.marked = self.observed.marked.saturating_add(marked);
        if marked > 0 && self.marking.is_none() {
            self.marking = Some(Marking { alpha: self.params.alpha, updated_at: feedback.now });
        }
        let Some(newest) = feedback.acked.last() else { return };
        if self.rounds.on_acked(newest.sent_at.as_nanos(), feedback.now.as_nanos()) {
            self.end_round(feedback.now);
        }
    }

    fn end_round(&mut self, now: Timestamp) {
        if !self.window.in_slow_start() {
            self.avoiding = self.avoiding.saturating_add(1);
        }
        let Some(Marking { mut alpha, updated_at }) = self.marking else {
            self.observed = Observed::default();
            return;
        };
        if !self.reference_passed(updated_at, now) {
            return;
        }
        let Observed { acked, marked } = core::mem::take(&mut self.observed);
        if acked > 0 {
            alpha += self.params.g * (marked as f64 / acked as f64 - alpha);
        }
        self.marking = Some(Marking { alpha, updated_at: now });
    }

    fn respond(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        // Losses and marks each have their round trip; a mark of packets that a loss has answered for is nothing new.
        let lost = Feedback { newly_marked: Tally::ZERO, ..*feedback };
        match self.losses.judge(&lost, flight) {
            Some(Verdict::Reduce(_)) => {
                self.before_loss = Some((self.window.bytes(), self.window.ssthresh()));
                self.reduce(self.params.kept);
                self.marks = self.losses.clone();
            }
            Some(Verdict::Undo) => {
                if let Some((window, ssthresh)) = self.before_loss.take() {
                    self.window.restore(window, ssthresh);
                }
            }
            None => {}
        }
        let marked = Feedback { lost: &[], spurious: &[], recovered: Tally::ZERO, recovered_packets: &[], ..*feedback };
        let due = self.reduced_at.is_none_or(|at| self.reference_passed(at, feedback.now));
        if due && matches!(self.marks.judge(&marked, flight), Some(Verdict::Reduce(_))) {
            let alpha = self.marking.map_or(0.0, |marking| marking.alpha);
            self.reduce(1.0 - alpha / 2.0);
            self.reduced_at = Some(feedback.now);
        }
    }

    fn reduce(&mut self, kept: f64) {
        self.window.reduce_to(round_to_u64(self.window.bytes() as f64 * kept), self.window.min());
    }

    fn grow(&mut self, feedback: &Feedback<'_>) {
        let marked = feedback.newly_marked.bytes;
        let unmarked = self.losses.acked_outside(feedback).saturating_sub(marked);
        let rest = self.window.slow_start(unmarked);
        if rest > 0 {
            let window = self.window.bytes() as f64;
            // No batch counts for more than a window.
            let windows = (rest as f64 / window).min(1.0);
            let scale = match (self.reference(), self.smoothed_rtt) {
                (Some(reference), Some(rtt)) => rtt.as_nanos() as f64 / reference.as_nanos() as f64,
                _ => 1.0,
            };
            self.window.shift(self.window.mtu() as f64 * windows * scale * scale);
        }
    }

    fn pace(&mut self) {
        let Some(rtt) = self.smoothed_rtt.filter(|rtt| !rtt.is_zero()) else { return };
        let window = self.window.bytes();
        let twice = window.saturating_mul(2);
        // From half of ssthresh on the factor falls as the window grows: the rate must not.
        let per_rtt = self.window.ssthresh().map_or(twice, |ssthresh| twice.min(ssthresh.max(window)));
        let bits = per_rtt as f64 * 8.0;
        // Saturates where the rate would.
        self.pacing_rate = Some(Rate::from_bps(((bits * 1e9 / rtt.as_nanos() as f64) as u64).max(1)));
    }

    fn restart(&mut self) {
        self.window.restart();
        self.losses.forget();
        self.marks.forget();
        (self.reduced_at, self.before_loss, self.marking) = (None, None, None);
        self.observed = Observed::default();
        self.avoiding = 0;
        (self.smoothed_rtt, self.pacing_rate) = (None, None);
    }
}

impl Controller for Prague {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.smoothed_rtt = flight.smoothed_rtt.or(self.smoothed_rtt);
        self.min_rtt = flight.min_rtt.or(self.min_rtt);
        self.observe(feedback);
        let quiet = feedback.lost.is_empty()
            && feedback.newly_marked.is_zero()
            && feedback.spurious.is_empty()
            && feedback.recovered.is_zero();
        if quiet {
            self.losses.judge(feedback, flight);
        } else {
            self.respond(feedback, flight);
        }
        if feedback.persistent_congestion.is_some() {
            self.window.collapse();
            self.losses.on_collapse(feedback, flight);
            self.marks = self.losses.clone();
        }
        if flight.limit.allows_growth() {
            self.grow(feedback);
        }
        self.pace();
    }

    fn on_signal(&mut self, _now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
        match signal {
            Signal::MtuChange { mtu } => {
                self.window.set_mtu(*mtu);
                self.pace();
            }
            Signal::PathChange { change: PathChange::Migrated | PathChange::Revived, .. } => self.restart(),
            _ => {}
        }
    }

    fn window(&self) -> u64 {
        self.window.bytes()
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.pacing_rate
    }

    fn send_quantum(&self) -> Option<u64> {
        // The engine lets a packet leave in any case.
        self.pacing_rate.map(|rate| rate.bytes_in(self.params.max_burst).max(self.window.mtu()))
    }

    fn ecn(&self) -> Ecn {
        Ecn::Ect1
    }

    fn in_slow_start(&self) -> bool {
        !self.losses.is_running() && self.window.in_slow_start()
    }

    fn state(&self) -> ControllerState {
        let phase = match (self.losses.is_running(), self.window.in_slow_start()) {
            (true, _) => "recovery",
            (false, true) => "slow_start",
            (false, false) => "congestion_avoidance",
        };
        let state = ControllerState::new(self.window.bytes(), phase)
            .with_ssthresh(self.window.ssthresh())
            .with_pacing_rate(self.pacing_rate);
        match self.marking {
            Some(marking) => state.with_gauge("alpha", marking.alpha),
            None => state,
        }
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
    const NAME: &str = "prague";
    const SUMMARY: &str = "the scalable law of L4S: two marks a round trip, equal rates at unequal RTTs";
    const SOURCE: &str = "draft-briscoe-iccrg-prague-congestion-control; RFC 9331";
    let default = PragueParams::default();
    Algorithm::new(NAME, SUMMARY, SOURCE, |args, setup| {
        Ok(Box::new(Prague::new(params(args), setup).map_err(|error| error.of(NAME))?))
    })
    .with_param(Param::new("g", Value::Number(default.g), "weight of the newest round").within(1e-6, 1.0))
    .with_param(Param::new("alpha", Value::Number(default.alpha), "estimate at the first mark").within(0.0, 1.0))
    .with_param(
        Param::new("rtt_ref", Value::Span(default.rtt_ref), "RTT that shorter ones are taken for").within(0.0, 1e9),
    )
    .with_param(
        Param::new("transition", Value::Integer(default.transition), "round trips until that begins").within(0.0, 1e9),
    )
    .with_param(Param::new("kept", Value::Number(default.kept), "share of the window kept on loss").within(0.01, 0.99))
    .with_param(Param::new("max_burst", Value::Span(default.max_burst), "longest burst").within(0.0, 1e9))
    .with_param(packets("initial_window", default.initial_window, "packets to start with"))
    .with_param(packets("min_window", default.min_window, "packets never to go below"))
    .declaring(declaration(&default))
}

fn declaration(default: &PragueParams) -> Declaration {
    Declaration::new(Family::WideArea)
        .needing(Need::L4s)
        .min_window(default.min_window as f64)
        // A loss halves also the window of data that a mark has answered for.
        .reductions(Reductions::Unbounded)
        .utilisation(0.9)
        .fairness(0.9)
}

fn params(args: &Args) -> PragueParams {
    PragueParams {
        g: args.number("g"),
        alpha: args.number("alpha"),
        rtt_ref: args.span("rtt_ref"),
        transition: args.integer("transition"),
        kept: args.number("kept"),
        max_burst: args.span("max_burst"),
        initial_window: args.integer("initial_window"),
        min_window: args.integer("min_window"),
    }
}

#[cfg(test)]
mod tests;
