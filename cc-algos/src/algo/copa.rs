//! `copa`: Copa (Arun and Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the Internet", NSDI'18).
//!
//! ```text
//! RTT_min       smallest RTT of the last 10 s, or 20 RTT_min;  RTT_standing = smallest RTT of the last srtt / 2
//! d_q           RTT_standing - RTT_min
//! per ACK       lambda = cwnd / RTT_standing,  lambda_t = 1 / (delta d_q)          packets per second
//!               lambda <= lambda_t: cwnd += v acked / (delta cwnd), else cwnd -= the same
//! per window    direction = whether cwnd is larger than one window ago
//!               the same for two in a row and from then on: v doubles;  another: v = 1
//! slow start    cwnd += acked until lambda > lambda_t
//! mode          default, delta = 1/2, if in the last five round trips d_q fell to
//!               0.1 (RTT_max - RTT_min), RTT_max over the last four; else competitive
//! competitive   1 / delta += 1 per round trip without loss, 1 / delta /= 2 with;  delta <= 1/2
//! heavy loss    more than 30 % lost, of 21 packets or more: cwnd *= 0.7             once in two round trips
//! pacing        2 cwnd / RTT_standing
//! ```
//!
//! At equilibrium lambda = lambda_t, a flow keeps 1 / delta packets in the queue; the window swings around that with a period
//! of five round trips, and the queue is nearly empty once in each. A buffer-filling flow keeps it from being so, and
//! that is how Copa knows it. It can be wrong: Copa flows whose windows swing out of step keep the queue from emptying for
//! each other, compete, and go on doing so, for as their deltas move apart they never come into step.
//!
//! How soon the velocity doubles decides whether they do. Where it waits for three round trips in one direction, as in the
//! paper, swings are small: in 24 of 60 combinations of 2 to 8 flows, starts up to 2 s apart and buffers of 1 to 8 BDP (48 Mb/s,
//! 40 ms) Copa flows held a queue against each other. With the second round trip, as in the authors' `genericCC`, they did in
//! none; a flow alone uses 97 % of the link instead of 99.6 %. A velocity that stays until the end of the window in which the
//! direction turns, as in paper and `genericCC`, makes a flow alone swing between too much and nothing here.
//!
//! | parameter | unit | default | origin |
//! |---|---|---|---|
//! | `delta` | 1 / packets | 0.5 | section 2.2 and mvfst (`deltaParam_`) |
//! | `mode_switching` | switch | on | section 3; `genericCC`'s `auto:0.5`; off as in mvfst |
//! | `steady_rounds` | round trips | 2 | `genericCC`; 3 in the paper (section 2.2, as quoted by mvfst) |
//! | `initial_window`, `min_window` | packets | 10, 2 | RFC 9002, section 7.2; `genericCC`'s floor of 2 |
//!
//! Read at the source: the abstract, the authors' sender `genericCC` (`markoviancc.cc`, `rtt-window.cc`, `estimators.cc`),
//! mvfst's `Copa.cpp`, which quotes the paper on the velocity, and a summary of sections 2 and 3. The paper's full text was
//! not at hand: the mode switch's five round trips are from memory; its tenth stands in `genericCC` too.
//!
//! ## Differences from the reference
//!
//! | | paper | `genericCC` | mvfst | here |
//! |---|---|---|---|---|
//! | doubling of v | after three round trips in one direction | after two | after three (four with RTT_standing) | `steady_rounds`: two |
//! | direction | cwnd against one window ago | majority of steps up or down | cwnd against one srtt ago | cwnd against one window ago |
//! | v when the direction turns within a window | stays until its end | stays | 1 at once | 1 at once |
//! | bound on v | none | v / delta <= cwnd, v >= 1 | none | v / delta <= cwnd, v >= 1, and no step beyond what was acknowledged |
//! | d_q | RTT_standing - RTT_min | the same | newest RTT - RTT_min, or as the paper | RTT_standing - RTT_min |
//! | RTT_min | 10 s | 10 s or 20 RTT_min | 10 s | 10 s or 20 RTT_min |
//! | "nearly empty" looked for over | five round trips | smallest RTT of four srtt | – | five round trips |
//! | when a loss changes delta | not said in the part known | from the next ACK on | – | from the next ACK on |
//! | loss in default mode | none | 0.7 if more than 30 % in two RTT | none | 0.7 if more than 30 %, judged when a loss is reported |
//! | slow start ends | lambda > lambda_t | the same, after two probing windows | the same | lambda > lambda_t, heavy loss, persistent congestion |
//! | persistent congestion | – | – | the smallest window | the smallest window |
//! | an ACK of many packets | – | one packet an ACK | one step of as many packets | its packets one after the other |
//! | an ACK without an RTT sample | – | – | by the last sample | by the last sample |
//! | pacing | 2 cwnd / RTT_standing | the same | 2 cwnd / srtt | 2 cwnd / RTT_standing |
//! | windows of RTT_max and modes | time | time | – | round trips by send times |
//! | CE marks | not considered | – | – | not asked for; taken for losses |
//! | limited by the application or the receiver | – | – | – | does not grow |

mod heavy_loss;

use core::cmp::Ordering;

use super::InvalidParam;
use super::newreno::packets;
use super::recovery::{Recovery, Verdict};
use super::window::{RenoWindow, Sizes};
use crate::controller::{Controller, ControllerState, Feedback, Flight, Handover, Setup};
use crate::declare::{Declaration, Family, Reductions};
use crate::estimate::{RoundCounter, WindowedMax, WindowedMin};
use crate::registry::{Algorithm, Args, Param, Value};
use crate::signal::{Ecn, PathChange, Signal};
use crate::units::{Rate, Span, Timestamp, round_to_u64};
use heavy_loss::HeavyLoss;

/// How long RTT_min is remembered (section 2.2).
const MIN_RTT_WINDOW: Span = Span::from_secs(10);
/// The same in smallest RTTs, where that is longer (`genericCC`): ten seconds are few round trips on some paths.
const MIN_RTT_WINDOW_RTTS: u64 = 20;
/// Share of the window that is left (`genericCC`).
const KEPT_UNDER_HEAVY_LOSS: f64 = 0.7;
/// Round trips that RTT_max is the largest of (section 3).
const MAX_RTT_ROUNDS: u64 = 4;
/// Round trips in which the queue must have been nearly empty once (section 3).
const EMPTY_ROUNDS: u64 = 5;
/// How much of the swing a nearly empty queue may hold: a tenth (section 3).
const EMPTY_DIVISOR: u64 = 10;
/// Parameters of [`Copa`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct CopaParams {
    /// Inverse of the packets to keep in the queue; positive, at most 1.
    pub delta: f64,
    /// Whether delta follows losses while others fill the buffer.
    pub mode_switching: bool,
    /// Round trips in one direction from which on the velocity doubles; at least one.
    pub steady_rounds: u64,
    /// Packets to start with; at least one.
    pub initial_window: u64,
    /// Packets never to go below; at least one.
    pub min_window: u64,
}

impl Default for CopaParams {
    fn default() -> Self {
        Self { delta: 0.5, mode_switching: true, steady_rounds: 2, initial_window: 10, min_window: 2 }
    }
}

impl CopaParams {
    fn validate(&self) -> Result<(), InvalidParam> {
        InvalidParam::unless(self.delta > 0.0 && self.delta <= 1.0, "delta", "a number above 0, at most 1")?;
        InvalidParam::unless(self.steady_rounds > 0, "steady_rounds", "at least one round trip")?;
        InvalidParam::unless(self.initial_window > 0, "initial_window", "at least one packet")?;
        InvalidParam::unless(self.min_window > 0, "min_window", "at least one packet")
    }
}

/// Which way the window goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
}

/// How fast the window goes which way.
#[derive(Clone, Copy, Debug)]
struct Velocity {
    value: f64,
    /// `None` until the window has moved.
    direction: Option<Direction>,
    /// Round trips in that direction so far.
    steady: u64,
    /// Window when the running round began, bytes.
    window_before: u64,
}

impl Velocity {
    const fn new(window: u64) -> Self {
        Self { value: 1.0, direction: None, steady: 0, window_before: window }
    }

    const fn turn(&mut self, direction: Option<Direction>) {
        self.value = 1.0;
        self.direction = direction;
        self.steady = 0;
    }

    /// A round trip has passed, and the congestion window is `window` now. The velocity doubles from `steady_rounds` in one
    /// direction on.
    fn on_round(&mut self, window: u64, steady_rounds: u64) {
        let direction = match window.cmp(&self.window_before) {
            Ordering::Greater => Some(Direction::Up),
            Ordering::Less => Some(Direction::Down),
            Ordering::Equal => None,
        };
        self.window_before = window;
        if direction.is_none() || direction != self.direction {
            self.turn(direction);
        }
        self.steady = self.steady.saturating_add(1);
        if direction.is_some() && self.steady >= steady_rounds {
            self.value *= 2.0;
        }
    }
}

/// How delta is found.
#[derive(Clone, Copy, Debug)]
enum Mode {
    Default,
    /// `inverse` is 1 / delta.
    Competitive {
        inverse: f64,
    },
}

/// Copa.
#[derive(Clone, Debug)]
pub struct Copa {
    params: CopaParams,
    window: RenoWindow,
    recovery: Recovery,
    min_rtt: WindowedMin<Timestamp, Span>,
    standing_rtt: WindowedMin<Timestamp, Span>,
    max_rtt: WindowedMax<u64, Span>,
    rounds: RoundCounter,
    /// Round in which the queue was nearly empty last.
    empty_in: u64,
    /// Round of the last loss that delta has answered for, if any.
    lost_in: Option<u64>,
    heavy_loss: HeavyLoss,
    velocity: Velocity,
    mode: Mode,
    pacing_rate: Option<Rate>,
}

impl Copa {
    /// A controller for a flow that begins as `setup` says.
    ///
    /// # Errors
    ///
    /// If a parameter is out of its range.
    pub fn new(params: CopaParams, setup: &Setup) -> Result<Self, InvalidParam> {
        params.validate()?;
        let window = RenoWindow::new(setup, Sizes { initial: params.initial_window, min: params.min_window });
        Ok(Self {
            recovery: Recovery::default(),
            min_rtt: WindowedMin::new(MIN_RTT_WINDOW),
            standing_rtt: WindowedMin::new(Span::ZERO),
            max_rtt: WindowedMax::new(MAX_RTT_ROUNDS),
            // What is sent when the flow begins is the first round.
            rounds: RoundCounter::new(setup.now.as_nanos().saturating_add(1)),
            empty_in: 0,
            lost_in: None,
            heavy_loss: HeavyLoss::new(setup.now),
            velocity: Velocity::new(window.bytes()),
            mode: Mode::Default,
            pacing_rate: None,
            window,
            params,
        })
    }

    fn delta(&self) -> f64 {
        match self.mode {
            Mode::Default => self.params.delta,
            Mode::Competitive { inverse } => 1.0 / inverse,
        }
    }

    /// Takes the RTT of a batch.
    fn sample(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let Some(rtt) = flight.latest_rtt.filter(|_| feedback.rtt.is_some()) else { return };
        let known = self.min_rtt.get().unwrap_or(rtt);
        self.min_rtt.set_window(MIN_RTT_WINDOW.max(known.saturating_mul(MIN_RTT_WINDOW_RTTS)));
        let min = self.min_rtt.update(feedback.now, rtt);
        self.standing_rtt.set_window(flight.smoothed_rtt.unwrap_or(rtt).mul_div(1, 2));
        let standing = self.standing_rtt.update(feedback.now, rtt);
        let round = self.rounds.rounds();
        let max = self.max_rtt.update(round, rtt);
        if (standing - min).saturating_mul(EMPTY_DIVISOR) <= max - min {
            self.empty_in = round;
        }
    }

    /// A round trip has passed: which mode, and delta in it.
    fn on_round(&mut self) {
        self.velocity.on_round(self.window.bytes(), self.params.steady_rounds);
        let round = self.rounds.rounds();
        let alone = round.saturating_sub(self.empty_in) <= EMPTY_ROUNDS || !self.params.mode_switching;
        let least = 1.0 / self.params.delta;
        self.mode = match self.mode {
            _ if alone => Mode::Default,
            Mode::Default => Mode::Competitive { inverse: least },
            // The round of a loss has been answered for by halving.
            competitive if self.lost_in.is_some_and(|lost_in| lost_in + 1 >= round) => competitive,
            Mode::Competitive { inverse } => Mode::Competitive { inverse: inverse + 1.0 },
        };
    }

    /// So many losses that delay cannot be the whole story: RTT_min may be wrong, or the buffer short.
    fn give_way(&mut self) {
        let kept = round_to_u64(self.window.bytes() as f64 * KEPT_UNDER_HEAVY_LOSS);
        self.window.reduce_to(kept, self.window.min());
        self.velocity = Velocity::new(self.window.bytes());
    }

    fn on_congestion(&mut self) {
        self.lost_in = Some(self.rounds.rounds());
        if let Mode::Competitive { inverse } = &mut self.mode {
            *inverse = (*inverse / 2.0).max(1.0 / self.params.delta);
        }
    }

    /// The law: on every acknowledgement, by the delays known so far.
    fn adjust(&mut self, acked: u64, may_grow: bool) {
        let (Some(standing), Some(min)) = (self.standing_rtt.get(), self.min_rtt.get()) else { return };
        let queueing = standing - min;
        let (window, mtu) = (self.window.bytes() as f64, self.window.mtu() as f64);
        let delta = self.delta();
        // lambda <= lambda_t without a division: cwnd delta d_q <= RTT_standing.
        let below = window * delta * queueing.as_nanos() as f64 <= standing.as_nanos() as f64 * mtu;
        if self.in_slow_start() {
            if below {
                if may_grow {
                    self.window.slow_start(acked);
                }
                return;
            }
            self.window.leave_slow_start();
            self.velocity = Velocity::new(self.window.bytes());
        }
        let direction = Some(if below { Direction::Up } else { Direction::Down });
        if self.velocity.value > 1.0 && self.velocity.direction != direction {
            self.velocity.turn(direction);
        }
        if self.velocity.value > 1.0 {
            self.velocity.value = self.velocity.value.min((delta * window / mtu).max(1.0));
        }
        let acked = (acked as f64).min(window);
        // Where 1 / delta is larger than the window, even a velocity of one would add several windows in a round trip.
        let step = (self.velocity.value * mtu * acked / window / delta).min(acked);
        self.window.shift(if below { step } else { -step });
    }

    /// Steps up and down within a batch that may not grow the window make up for each other. A direction is one of windows in
    /// use.
    fn on_acked(&mut self, feedback: &Feedback<'_>, may_grow: bool) {
        let before = self.window.bytes();
        for packet in feedback.acked {
            self.adjust(u64::from(packet.bytes), may_grow);
            if self.rounds.on_acked(packet.sent_at.as_nanos(), feedback.now.as_nanos()) {
                self.on_round();
            }
        }
        if !may_grow {
            self.window.set(self.window.bytes().min(before));
            self.velocity = Velocity::new(self.window.bytes());
        }
    }

    fn pace(&mut self) {
        let Some(standing) = self.standing_rtt.get() else { return };
        let bits = self.window.bytes() as f64 * 16.0;
        // Saturates where the rate would.
        let rate = (bits * 1e9 / (standing.as_nanos() as f64).max(1.0)) as u64;
        self.pacing_rate = Some(Rate::from_bps(rate.max(1)));
    }

    fn restart(&mut self, now: Timestamp) {
        self.window.restart();
        self.recovery.forget();
        self.min_rtt = WindowedMin::new(MIN_RTT_WINDOW);
        self.standing_rtt = WindowedMin::new(Span::ZERO);
        self.max_rtt = WindowedMax::new(MAX_RTT_ROUNDS);
        self.velocity = Velocity::new(self.window.bytes());
        self.mode = Mode::Default;
        self.empty_in = self.rounds.rounds();
        self.lost_in = None;
        self.heavy_loss = HeavyLoss::new(now);
        self.pacing_rate = None;
    }
}

impl Controller for Copa {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.sample(feedback, flight);
        // By the delta before: what a loss changes holds from the next acknowledgement on, as in `genericCC`. A smaller step
        // down would otherwise be the reward of a loss.
        self.on_acked(feedback, flight.limit.allows_growth());
        if let Some(Verdict::Reduce(_)) = self.recovery.judge(feedback, flight) {
            self.on_congestion();
        }
        if self.heavy_loss.judge(feedback, flight) {
            self.give_way();
        }
        if feedback.persistent_congestion.is_some() {
            self.window.collapse();
            self.window.leave_slow_start();
            self.recovery.on_collapse(feedback, flight);
            self.velocity = Velocity::new(self.window.bytes());
        }
        self.pace();
    }

    fn on_signal(&mut self, now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
        match signal {
            Signal::MtuChange { mtu } => {
                self.window.set_mtu(*mtu);
                self.pace();
            }
            Signal::Restart { .. } => {
                self.velocity = Velocity::new(self.window.bytes());
                self.rounds.restart(now.as_nanos());
            }
            Signal::PathChange { change: PathChange::Migrated | PathChange::Revived, .. } => self.restart(now),
            _ => {}
        }
    }

    fn window(&self) -> u64 {
        self.window.bytes()
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.pacing_rate
    }

    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    /// There is one slow start only; where it ended means nothing afterwards.
    fn in_slow_start(&self) -> bool {
        self.window.ssthresh().is_none()
    }

    fn state(&self) -> ControllerState {
        let phase = match (self.in_slow_start(), self.mode) {
            (true, _) => "slow_start",
            (false, Mode::Default) => "default",
            (false, Mode::Competitive { .. }) => "competitive",
        };
        ControllerState::new(self.window.bytes(), phase)
            .with_pacing_rate(self.pacing_rate)
            .with_gauge("delta", self.delta())
            .with_gauge("velocity", self.velocity.value)
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn handover(&self) -> Handover {
        self.window.handover(self.min_rtt.get())
    }
}

/// The registry's entry.
pub(super) fn algorithm() -> Algorithm {
    const NAME: &str = "copa";
    const SUMMARY: &str = "aims at the rate 1 / (delta x queueing delay), and competes where others fill the buffer";
    let default = CopaParams::default();
    Algorithm::new(NAME, SUMMARY, "Arun and Balakrishnan, NSDI 2018", |args, setup| {
        Ok(Box::new(Copa::new(params(args), setup).map_err(|error| error.of(NAME))?))
    })
    .with_param(
        Param::new("delta", Value::Number(default.delta), "inverse of the packets to keep in the queue")
            .within(1e-3, 1.0),
    )
    .with_param(Param::new(
        "mode_switching",
        Value::Switch(default.mode_switching),
        "compete while others fill the buffer",
    ))
    .with_param(
        Param::new("steady_rounds", Value::Integer(default.steady_rounds), "round trips until the velocity doubles")
            .within(1.0, 1e6),
    )
    .with_param(packets("initial_window", default.initial_window, "packets to start with"))
    .with_param(packets("min_window", default.min_window, "packets never to go below"))
    .declaring(declaration(&default))
}

fn declaration(default: &CopaParams) -> Declaration {
    Declaration::new(Family::WideArea)
        .min_window(default.min_window as f64)
        // Delay shrinks the window on every acknowledgement.
        .reductions(Reductions::Unbounded)
        .utilisation(0.9)
        .queueing_delay(0.5)
        .fairness(0.9)
        .least_share_against_cubic(0.1)
        .loss_tolerance(0.05)
}

fn params(args: &Args) -> CopaParams {
    CopaParams {
        delta: args.number("delta"),
        mode_switching: args.switch("mode_switching"),
        steady_rounds: args.integer("steady_rounds"),
        initial_window: args.integer("initial_window"),
        min_window: args.integer("min_window"),
    }
}

#[cfg(test)]
mod tests;
