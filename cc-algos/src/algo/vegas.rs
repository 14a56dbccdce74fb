//! `vegas`: TCP Vegas (Brakmo and Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet", IEEE JSAC
//! 13(8), 1995), with Linux' `tcp_vegas.c` as the second reference.
//!
//! ```text
//! per round trip     base = smallest RTT ever;  rtt = smallest RTT of the round
//!                    expected = cwnd / base;  actual = cwnd / rtt
//!                    diff = (expected - actual) base = cwnd (rtt - base) / rtt       packets the flow keeps in queues
//! avoidance          diff < alpha: cwnd += 1      diff > beta: cwnd -= 1      else: stay
//! slow start         doubles in every other round trip;  stands still in between, to measure
//!                    diff > gamma: cwnd = actual x base + 1, slow start is over
//! loss or CE mark    ssthresh = cwnd = max(kept x cwnd, min)                         once a round trip
//! ```
//!
//! The base RTT is never forgotten: a route that grows longer looks like a queue of the flow's own (Mo, La, Anantharam and
//! Walrand, INFOCOM'99). Beside Reno, which fills the buffer, Vegas starves (the same).
//!
//! | parameter | unit | default | origin |
//! |---|---|---|---|
//! | `alpha`, `beta` | packets | 2, 4 | Linux (`alpha`, `beta`); the paper compares 1, 3 and 2, 4 |
//! | `gamma` | packets | 1 | Linux (`gamma`); the paper's threshold of one buffer |
//! | `kept` | share kept on loss | 0.5 | Linux (`tcp_reno_ssthresh`) |
//! | `initial_window`, `min_window` | packets | 10, 2 | RFC 9002, section 7.2; Linux' floor of 2 |
//!
//! The paper's text was not at hand; its law is taken from Linux' description of it and from what both have in common. Linux'
//! file was read whole.
//!
//! ## Differences from the reference
//!
//! | | paper | Linux | here |
//! |---|---|---|---|
//! | `actual` | bytes sent in the RTT of one chosen segment | as here | `cwnd` over the smallest RTT of the round; in slow start that of its first segment |
//! | `diff` | (expected - actual) base | cwnd (rtt - base) / base | as the paper |
//! | slow start | every other round trip | every round trip | as the paper |
//! | end of slow start | as soon as seen | at the end of any round | at the end of a round that stood still |
//! | window after slow start | not said in the part known | actual x base + 1 | as Linux |
//! | rounds with fewer than three RTT samples | – | grow like Reno, by the ACK that ends them | grow as without a queue, a packet |
//! | loss detection | finer time-outs, earlier retransmission | TCP's | the engine's |
//! | after a reduction | – | Reno until recovery is over, then measures again | measures again from the first packet sent after it |
//! | after idleness | not considered | forgets the base RTT | the round starts anew, the base RTT stays |
//! | limited by the application or the receiver | not considered | evaluates | the round is not evaluated |
//! | CE marks | not considered | as losses | as losses |
//! | an ACK that ends a round in its midst | – | belongs to the old one | its packets one after the other |
//! | spurious losses | – | undone | stay |

use super::InvalidParam;
use super::newreno::packets;
use super::recovery::{Recovery, Verdict};
use super::window::{RenoWindow, Sizes};
use crate::controller::{Controller, ControllerState, Feedback, Flight, Handover, PacketRecord, Setup};
use crate::declare::{Declaration, Family, Reductions};
use crate::estimate::RoundCounter;
use crate::registry::{Algorithm, Args, Param, Value};
use crate::signal::{PathChange, Signal};
use crate::units::{Span, Timestamp, mul_div, round_to_u64};

/// RTTs in a round that are enough to judge it by (Linux).
const ENOUGH_SAMPLES: u64 = 3;

/// Parameters of [`Vegas`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct VegasParams {
    /// Packets in queues below which the window grows; not negative.
    pub alpha: f64,
    /// Packets in queues above which the window shrinks; at least `alpha`.
    pub beta: f64,
    /// Packets in queues above which slow start ends; not negative.
    pub gamma: f64,
    /// Share of the window that a loss or mark keeps; between 0 and 1, both excluded.
    pub kept: f64,
    /// Packets to start with; at least one.
    pub initial_window: u64,
    /// Packets never to go below; at least one.
    pub min_window: u64,
}

impl Default for VegasParams {
    fn default() -> Self {
        Self { alpha: 2.0, beta: 4.0, gamma: 1.0, kept: 0.5, initial_window: 10, min_window: 2 }
    }
}

impl VegasParams {
    fn validate(&self) -> Result<(), InvalidParam> {
        InvalidParam::unless(self.alpha >= 0.0 && self.alpha.is_finite(), "alpha", "a number of packets")?;
        let ordered = self.beta >= self.alpha && self.beta.is_finite();
        InvalidParam::unless(ordered, "beta", "a number of packets not below `alpha`")?;
        InvalidParam::unless(self.gamma >= 0.0 && self.gamma.is_finite(), "gamma", "a number of packets")?;
        InvalidParam::unless(self.kept > 0.0 && self.kept < 1.0, "kept", "a share between 0 and 1")?;
        InvalidParam::unless(self.initial_window > 0, "initial_window", "at least one packet")?;
        InvalidParam::unless(self.min_window > 0, "min_window", "at least one packet")
    }
}

/// What a round of slow start does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Grow,
    Measure,
}

impl Turn {
    const fn other(self) -> Self {
        match self {
            Self::Grow => Self::Measure,
            Self::Measure => Self::Grow,
        }
    }
}

/// Whether what is acknowledged was sent with the window that a round would judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Round {
    Settling,
    Judged,
}

/// TCP Vegas.
#[derive(Clone, Debug)]
pub struct Vegas {
    params: VegasParams,
    window: RenoWindow,
    recovery: Recovery,
    rounds: RoundCounter,
    round: Round,
    turn: Turn,
    base_rtt: Option<Span>,
    /// Smallest RTT of the running round, and samples that it is the smallest of.
    round_rtt: Option<Span>,
    samples: u64,
    /// Packets in queues, by the last round that was evaluated.
    diff: f64,
}

impl Vegas {
    /// A controller for a flow that begins as `setup` says.
    ///
    /// # Errors
    ///
    /// If a parameter is out of its range.
    pub fn new(params: VegasParams, setup: &Setup) -> Result<Self, InvalidParam> {
        params.validate()?;
        Ok(Self {
            window: RenoWindow::new(setup, Sizes { initial: params.initial_window, min: params.min_window }),
            recovery: Recovery::default(),
            // What is sent when the flow begins is the first round.
            rounds: RoundCounter::new(setup.now.as_nanos().saturating_add(1)),
            round: Round::Judged,
            turn: Turn::Grow,
            base_rtt: None,
            round_rtt: None,
            samples: 0,
            diff: 0.0,
            params,
        })
    }

    /// What was measured so far tells of another window: the round starts anew with what is sent from now on.
    fn start_round(&mut self, now: Timestamp) {
        self.rounds.restart(now.as_nanos());
        self.round = Round::Settling;
    }

    fn sample(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let Some(rtt) = flight.latest_rtt.filter(|_| feedback.rtt.is_some()) else { return };
        self.base_rtt = Some(self.base_rtt.map_or(rtt, |base| base.min(rtt)));
        // While the window doubles, early packets of a round find less of a queue than the window makes: what counts is the
        // last sample, of the first packet sent within the round.
        let kept = self.round_rtt.filter(|_| !self.window.in_slow_start());
        self.round_rtt = Some(kept.map_or(rtt, |min| min.min(rtt)));
        self.samples = self.samples.saturating_add(1);
    }

    /// A round may end in the midst of a batch.
    fn on_packet(&mut self, packet: &PacketRecord, now: Timestamp, may_grow: bool) {
        if may_grow && self.turn == Turn::Grow && self.window.in_slow_start() && self.recovery.lets_grow(packet) {
            self.window.slow_start(u64::from(packet.bytes));
        }
        if self.rounds.on_acked(packet.sent_at.as_nanos(), now.as_nanos()) {
            let judged = core::mem::replace(&mut self.round, Round::Judged) == Round::Judged;
            if judged && may_grow {
                self.evaluate();
            }
            (self.round_rtt, self.samples) = (None, 0);
        }
    }

    /// The law: once per round trip.
    fn evaluate(&mut self) {
        let (Some(base), Some(rtt)) = (self.base_rtt, self.round_rtt) else { return };
        let mtu = self.window.mtu() as f64;
        // One or two samples may both be of acknowledgements that were held back, which is no queue.
        let queueing = if self.samples < ENOUGH_SAMPLES { Span::ZERO } else { rtt - base };
        let queued = mul_div(self.window.bytes(), queueing.as_nanos(), rtt.as_nanos().max(1));
        self.diff = queued as f64 / mtu;
        if self.window.in_slow_start() {
            self.evaluate_slow_start(queued);
        } else if self.diff > self.params.beta {
            self.shrink_to(self.window.bytes().saturating_sub(self.window.mtu()));
        } else if self.diff < self.params.alpha {
            self.window.set(self.window.bytes().saturating_add(self.window.mtu()));
        }
    }

    fn evaluate_slow_start(&mut self, queued: u64) {
        match self.turn {
            Turn::Measure if self.diff > self.params.gamma => {
                let actual = self.window.bytes().saturating_sub(queued);
                self.shrink_to(actual.saturating_add(self.window.mtu()).min(self.window.bytes()));
            }
            turn => self.turn = turn.other(),
        }
    }

    /// The threshold follows the window down, or it would slow-start back to where it was.
    fn shrink_to(&mut self, bytes: u64) {
        self.window.set(bytes.max(self.window.min()).min(self.window.bytes()));
        self.window.leave_slow_start();
    }
}

impl Controller for Vegas {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        if let Some(Verdict::Reduce(_)) = self.recovery.judge(feedback, flight) {
            let target = round_to_u64(self.window.bytes() as f64 * self.params.kept);
            self.window.reduce_to(target, self.window.min());
            self.start_round(feedback.now);
        }
        if feedback.persistent_congestion.is_some() {
            self.window.collapse();
            self.recovery.on_collapse(feedback, flight);
            self.turn = Turn::Grow;
            self.start_round(feedback.now);
        }
        self.sample(feedback, flight);
        let may_grow = flight.limit.allows_growth();
        for packet in feedback.acked {
            self.on_packet(packet, feedback.now, may_grow);
        }
    }

    fn on_signal(&mut self, now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
        match signal {
            Signal::MtuChange { mtu } => self.window.set_mtu(*mtu),
            Signal::Restart { .. } => self.start_round(now),
            Signal::PathChange { change: PathChange::Migrated | PathChange::Revived, .. } => {
                self.window.restart();
                self.recovery.forget();
                self.base_rtt = None;
                self.turn = Turn::Grow;
                self.start_round(now);
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
            .with_gauge("diff", self.diff)
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn handover(&self) -> Handover {
        self.window.handover(self.base_rtt)
    }
}

/// The registry's entry.
pub(super) fn algorithm() -> Algorithm {
    const NAME: &str = "vegas";
    const SUMMARY: &str = "keeps two to four packets in the queue";
    const SOURCE: &str = "Brakmo and Peterson, IEEE JSAC 1995; Linux tcp_vegas.c";
    let default = VegasParams::default();
    let number = |name, value, help| Param::new(name, Value::Number(value), help).within(0.0, 100_000.0);
    Algorithm::new(NAME, SUMMARY, SOURCE, |args, setup| {
        Ok(Box::new(Vegas::new(params(args), setup).map_err(|error| error.of(NAME))?))
    })
    .with_param(number("alpha", default.alpha, "packets in queues below which the window grows"))
    .with_param(number("beta", default.beta, "packets in queues above which it shrinks"))
    .with_param(number("gamma", default.gamma, "packets in queues that end slow start"))
    .with_param(Param::new("kept", Value::Number(default.kept), "share of the window kept on loss").within(0.01, 0.99))
    .with_param(packets("initial_window", default.initial_window, "packets to start with"))
    .with_param(packets("min_window", default.min_window, "packets never to go below"))
    .declaring(declaration(&default))
}

fn declaration(default: &VegasParams) -> Declaration {
    Declaration::new(Family::WideArea)
        .min_window(default.min_window as f64)
        // Delay takes a packet in any round trip, also in one that a loss has answered for.
        .reductions(Reductions::Unbounded)
        .utilisation(0.95)
        .queueing_delay(0.5)
        .fairness(0.7)
        .most_share_against_cubic(0.5)
}

fn params(args: &Args) -> VegasParams {
    VegasParams {
        alpha: args.number("alpha"),
        beta: args.number("beta"),
        gamma: args.number("gamma"),
        kept: args.number("kept"),
        initial_window: args.integer("initial_window"),
        min_window: args.integer("min_window"),
    }
}

#[cfg(test)]
mod tests;
