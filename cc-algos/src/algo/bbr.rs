//! `bbr`: BBR, version 1 (Cardwell et al., ACM Queue 14(5), 2016), as Linux runs it (`net/ipv4/tcp_bbr.c`).
//!
//! ```text
//! bw           = the largest delivery rate of the last 10 rounds; min_rtt = the smallest RTT of the last 10 s
//! pacing rate  = 0.99 pacing_gain x bw
//! cwnd         = cwnd_gain x bw x min_rtt + extra_acked + 3 quanta, at least 4 packets
//!
//! state        pacing gain                                       cwnd gain   until
//! startup      2.885                                             2.885       three rounds without 25 % more bandwidth
//! drain        1 / 2.885                                         2.885       no more in flight than bw x min_rtt
//! probe_bw     1.25, 0.75, 1, 1, 1, 1, 1, 1, a min_rtt each      2           for ever
//! probe_rtt    1                                                 4 packets   200 ms and a round; when min_rtt is 10 s old
//!
//! loss         reduces nothing for long: in the first round of a recovery as much leaves as arrives
//! policer      two intervals of at least 4 rounds with more than 20 % loss and about the same rate: bw = that rate, 48 rounds
//! ```
//!
//! | parameter | unit | default | origin (names in `tcp_bbr.c`) |
//! |---|---|---|---|
//! | `startup_gain` | factor of `bw` | 2.885 | `bbr_high_gain`: 2 / ln 2 |
//! | `probe_gain` | factor of `bw` | 1.25 | `bbr_pacing_gain`; the phase after it has 2 - `probe_gain` |
//! | `cwnd_gain` | factor of the BDP | 2 | `bbr_cwnd_gain` |
//! | `bw_window` | rounds | 10 | `bbr_bw_rtts` |
//! | `min_rtt_window`, `probe_rtt_duration` | time | 10 s, 200 ms | `bbr_min_rtt_win_sec`, `bbr_probe_rtt_mode_ms` |
//! | `policer` | switch | on | `bbr_lt_*` |
//! | `initial_window` | packets | 10 | RFC 6928; RFC 9002, section 7.2 |
//!
//! ## Differences from the reference
//!
//! | | Linux | here |
//! |---|---|---|
//! | units | packets of one MSS, gains in 1/256 | bytes, gains in 1/1000 |
//! | packets that the pacer holds | in flight already, so their share is taken off | not in flight before they leave |
//! | samples that the receiver limited | are the network's | count as limited by the application do |
//! | growth of `cwnd` | on every acknowledgement | not while application or receiver held the sender back (RFC 9002, 7.8) |
//! | recovery | until what was in flight when it began is acknowledged, repairs included | until a round trip without losses, as in Chromium's QUIC |
//! | retransmission time-out | TCP's | persistent congestion, or a timer that declares losses; the round trip follows once as much was delivered as was missing |
//! | `extra_acked` | the largest of 5 to 10 rounds, in two slots | the largest of 10 rounds |
//! | age of a smallest RTT | 10 s | and no less than ten round trips, for which the bandwidth is remembered too |
//! | window saved before ProbeRTT | the larger of it and one of an earlier recovery | outside a recovery that window alone |
//! | samples of ProbeRTT count as limited | until as much was delivered as was in flight | until that was delivered or lost |
//! | a policer is found | its rate is the mean of two intervals, the pacing gain is 1 at once | no more than the bandwidth remembered then; a phase that drains goes on draining |
//! | an RTT of a delayed ACK | does not replace a `min_rtt` that is too old | does: engines report ACK delays of any size |
//! | ECN | ignores marks | asks for drops |
//! | losses that coding restored | unknown | count as losses (RFC 9265, section 4) |
//! | rate before any bandwidth is measured | 1 % below gain x window / RTT | gain x window / RTT |
//! | no bandwidth to speak of | pacing rate 0 | four packets in ten seconds |

mod control;
mod model;
mod policer;

use self::policer::Policer;
use super::InvalidParam;
use super::newreno::packets;
use super::pacing::{Gain, ModelPacing};
use super::probe_rtt::{Dip, OwnLimit};
use super::random::SplitMix64;
use super::recovery::{Recovery, Verdict, is_retransmission_timeout};
use super::sample::{AckSample, ends_silence};
use super::window::initial_window;
use crate::controller::{Controller, ControllerState, Feedback, Flight, Handover, PacketTag, Sent, Setup};
use crate::declare::{Declaration, Family, Law, Reductions};
use crate::estimate::{AckAggregation, AgedMin, FullPipe, RoundCounter, WindowedMax};
use crate::registry::{Algorithm, Args, Param, Value};
use crate::signal::{Ecn, PathChange, Signal};
use crate::units::{Rate, Span, Timestamp};

/// Packets that the window always holds outside the first round of a recovery (`bbr_cwnd_min_target`).
const MIN_PACKETS: u64 = 4;

/// Phases of a ProbeBW cycle (`CYCLE_LEN`), of which the first probes and the second drains.
const PHASES: u8 = 8;

/// Phases that a cycle may begin with; never the one that drains (`bbr_cycle_rand`).
const FIRST_PHASES: u64 = 7;

/// Rounds over which aggregation is remembered.
const AGGREGATION_ROUNDS: u64 = 10;

/// Round trips that a smallest RTT is believed at least; ours.
const MIN_RTT_ROUNDS: u64 = 10;

/// Parameters of [`Bbr`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct BbrParams {
    /// Pacing and window gain in Startup, and its inverse the pacing gain in Drain; above 1, at most 100.
    pub startup_gain: f64,
    /// Pacing gain of the probing phase; above 1, below 2.
    pub probe_gain: f64,
    /// Window gain in ProbeBW; at least 1, at most 100.
    pub cwnd_gain: f64,
    /// Rounds over which the bandwidth is the largest delivery rate; at least one.
    pub bw_window: u64,
    /// How long a smallest RTT is believed; not zero.
    pub min_rtt_window: Span,
    /// How long it is measured at least.
    pub probe_rtt_duration: Span,
    /// Whether a policer is looked for and kept to.
    pub policer: bool,
    /// Packets to start with; at least one.
    pub initial_window: u64,
}

impl Default for BbrParams {
    fn default() -> Self {
        Self {
            startup_gain: 2.885,
            probe_gain: 1.25,
            cwnd_gain: 2.0,
            bw_window: 10,
            min_rtt_window: Span::from_secs(10),
            probe_rtt_duration: Span::from_millis(200),
            policer: true,
            initial_window: 10,
        }
    }
}

impl BbrParams {
    fn validate(&self) -> Result<(), InvalidParam> {
        let is_in = |value: f64, least: f64| value > least && value <= 100.0;
        InvalidParam::unless(is_in(self.startup_gain, 1.0), "startup_gain", "a gain above 1, at most 100")?;
        InvalidParam::unless(self.probe_gain > 1.0 && self.probe_gain < 2.0, "probe_gain", "a gain between 1 and 2")?;
        InvalidParam::unless((1.0..=100.0).contains(&self.cwnd_gain), "cwnd_gain", "a gain from 1 to 100")?;
        InvalidParam::unless(self.bw_window > 0, "bw_window", "at least one round")?;
        InvalidParam::unless(!self.min_rtt_window.is_zero(), "min_rtt_window", "more than no time")?;
        InvalidParam::unless(self.initial_window > 0, "initial_window", "at least one packet")
    }
}

/// What the flow is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    ProbeBw {
        /// Which phase of the cycle.
        phase: u8,
        /// Since when.
        since: Timestamp,
    },
    ProbeRtt,
}

/// How far the repair of losses has come. It is over with the acknowledgement, in a batch without losses, of a packet sent
/// when `from` bytes had been delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repair {
    /// There is nothing to repair.
    None,
    /// Losses were found, and nothing has been acknowledged since.
    Begun { from: u64 },
    /// The first round trip: as much leaves as arrives.
    Conserving { from: u64 },
    /// The window grows back.
    Growing { from: u64 },
}

impl Repair {
    /// More losses were found, with `delivered` bytes delivered in all.
    const fn extend(self, delivered: u64) -> Self {
        match self {
            Self::None | Self::Begun { .. } => Self::Begun { from: delivered },
            Self::Conserving { .. } => Self::Conserving { from: delivered },
            Self::Growing { from } => Self::Growing { from: if from > delivered { from } else { delivered } },
        }
    }
}

/// The parameters that are factors.
#[derive(Clone, Copy, Debug)]
struct Gains {
    startup: Gain,
    drain: Gain,
    probe: Gain,
    yields: Gain,
    cwnd: Gain,
}

/// Sends at the largest bandwidth seen and holds two bandwidth-delay products at most.
#[derive(Clone, Debug)]
pub struct Bbr {
    params: BbrParams,
    gains: Gains,
    mtu: u64,
    state: State,
    max_bw: WindowedMax<u64, Rate>,
    min_rtt: AgedMin,
    aggregation: AckAggregation,
    rounds: RoundCounter,
    full_pipe: FullPipe,
    policer: Policer,
    dip: Dip,
    own_limit: OwnLimit,
    /// Nothing was acknowledged since sending resumed after silence.
    idle_restart: bool,
    recovery: Recovery,
    repair: Repair,
    pacing: ModelPacing,
    window: u64,
    /// The window before recovery or ProbeRTT cut it.
    prior_window: u64,
    random: SplitMix64,
}

/// An acknowledgement as the steps of the algorithm see it.
#[derive(Clone, Copy)]
struct Ack<'a> {
    sample: AckSample,
    feedback: &'a Feedback<'a>,
    flight: &'a Flight<'a>,
    /// Whether it starts a round trip.
    round_start: bool,
    /// Whether its rate says nothing of the network.
    limited: bool,
}

impl Bbr {
    /// A controller for a flow that begins as `setup` says.
    ///
    /// # Errors
    ///
    /// If a parameter is out of its range.
    pub fn new(params: BbrParams, setup: &Setup) -> Result<Self, InvalidParam> {
        params.validate()?;
        let from = setup.handover.unwrap_or_default();
        let mut new = Self::begin(params, setup.mtu.max(1), from.min_rtt, setup.now);
        new.random = SplitMix64::new(setup.seed);
        let resumed = from.window.or(from.bandwidth.zip(from.min_rtt).map(|(rate, rtt)| rate.bytes_in(rtt)));
        if let Some(window) = resumed {
            new.window = window.max(new.min_window());
            new.pacing = ModelPacing::new(new.window, from.min_rtt, new.gains.startup);
        }
        Ok(new)
    }

    fn begin(params: BbrParams, mtu: u64, rtt: Option<Span>, now: Timestamp) -> Self {
        let gains = Gains {
            startup: Gain::from_f64(params.startup_gain),
            drain: Gain::from_f64(1.0 / params.startup_gain),
            probe: Gain::from_f64(params.probe_gain),
            yields: Gain::from_f64(2.0 - params.probe_gain),
            cwnd: Gain::from_f64(params.cwnd_gain),
        };
        let window = initial_window(params.initial_window, mtu);
        Self {
            gains,
            mtu,
            state: State::Startup,
            max_bw: WindowedMax::new(params.bw_window),
            min_rtt: AgedMin::new(now, rtt),
            aggregation: AckAggregation::new(now, AGGREGATION_ROUNDS),
            rounds: RoundCounter::default(),
            full_pipe: FullPipe::default(),
            policer: Policer::default(),
            dip: Dip::default(),
            own_limit: OwnLimit::default(),
            idle_restart: false,
            recovery: Recovery::default(),
            repair: Repair::None,
            pacing: ModelPacing::new(window, rtt, gains.startup),
            window: window.max(mtu.saturating_mul(MIN_PACKETS)),
            prior_window: 0,
            random: SplitMix64::new(0),
            params,
        }
    }

    /// Everything learnt belongs to another path.
    fn begin_anew(&mut self, now: Timestamp) {
        let random = self.random.clone();
        *self = Self { random, ..Self::begin(self.params.clone(), self.mtu, None, now) };
    }

    /// `bbr_save_cwnd`.
    fn save_window(&mut self) {
        let is_whole = self.repair == Repair::None && self.state != State::ProbeRtt;
        self.prior_window = if is_whole { self.window } else { self.prior_window.max(self.window) };
    }

    fn restore_window(&mut self) {
        self.window = self.window.max(self.prior_window);
    }

    /// All losses of a recovery were spurious (`bbr_undo_cwnd`).
    fn undo(&mut self) {
        self.repair = Repair::None;
        self.restore_window();
        if !self.full_pipe.is_full() {
            self.full_pipe = FullPipe::default();
        }
        self.policer.forget();
    }
}

impl Controller for Bbr {
    fn on_sent(&mut self, sent: &Sent, flight: &Flight<'_>) -> PacketTag {
        if ends_silence(sent, flight) {
            self.restart_from_idle(sent.now);
        }
        PacketTag::NONE
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.pacing.on_rtt(
            initial_window(self.params.initial_window, self.mtu),
            flight.smoothed_rtt,
            self.gains.startup,
        );
        let timed_out = is_retransmission_timeout(feedback);
        if self.recovery.judge(feedback, flight) == Some(Verdict::Undo) {
            self.undo();
        }
        if self.has_losses(feedback) {
            if self.repair == Repair::None {
                self.save_window();
            }
            self.repair = self.repair.extend(flight.delivered);
        }
        if let Some(sample) = AckSample::of(feedback, flight) {
            let ack = self.update_model(sample, feedback, flight);
            self.pace(self.pacing_gain());
            self.set_window(&ack);
        }
        if timed_out {
            self.on_retransmission_timeout(feedback, flight);
        }
    }

    fn on_signal(&mut self, now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
        match signal {
            Signal::Restart { .. } => self.restart_from_idle(now),
            Signal::MtuChange { mtu } => self.set_mtu(*mtu),
            Signal::PathChange { change: PathChange::Migrated | PathChange::Revived, .. } => self.begin_anew(now),
            _ => {}
        }
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(self.pacing.rate())
    }

    fn send_quantum(&self) -> Option<u64> {
        Some(self.quantum())
    }

    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    fn state(&self) -> ControllerState {
        let phase = match self.state {
            State::Startup => "startup",
            State::Drain => "drain",
            State::ProbeBw { phase: 0, .. } => "probe_bw_up",
            State::ProbeBw { phase: 1, .. } => "probe_bw_down",
            State::ProbeBw { .. } => "probe_bw_cruise",
            State::ProbeRtt => "probe_rtt",
        };
        let mut state = ControllerState::new(self.window, phase)
            .with_pacing_rate(self.pacing_rate())
            .with_gauge("bw_bps", self.bw().as_bps() as f64)
            .with_gauge("extra_acked", self.aggregation.extra_acked() as f64);
        if let Some(min_rtt) = self.min_rtt.get() {
            state = state.with_gauge("min_rtt_seconds", min_rtt.as_secs_f64());
        }
        match self.policer.rate() {
            Some(rate) => state.with_gauge("policed_bps", rate.as_bps() as f64),
            None => state,
        }
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn handover(&self) -> Handover {
        Handover {
            window: Some(self.window),
            ssthresh: None,
            min_rtt: self.min_rtt.get(),
            bandwidth: self.max_bw.get(),
        }
    }
}

/// The registry's entry.
pub(super) fn algorithm() -> Algorithm {
    const NAME: &str = "bbr";
    let default = BbrParams::default();
    let number = |name, value, help| Param::new(name, Value::Number(value), help);
    let span = |name, value, help| Param::new(name, Value::Span(value), help);
    let source = "Cardwell et al., ACM Queue 2016; Linux tcp_bbr.c";
    Algorithm::new(NAME, "a model of bandwidth and delay that heeds no loss", source, |args, setup| {
        Ok(Box::new(Bbr::new(params(args), setup).map_err(|error| error.of(NAME))?))
    })
    .declaring(declaration())
    .with_param(number("startup_gain", default.startup_gain, "pacing and window gain in Startup").within(1.01, 100.0))
    .with_param(number("probe_gain", default.probe_gain, "pacing gain of the probing phase").within(1.01, 1.99))
    .with_param(
        number("cwnd_gain", default.cwnd_gain, "window in ProbeBW, bandwidth-delay products").within(1.0, 100.0),
    )
    .with_param(
        Param::new("bw_window", Value::Integer(default.bw_window), "rounds that a delivery rate is remembered")
            .within(1.0, 1e6),
    )
    .with_param(
        span("min_rtt_window", default.min_rtt_window, "how long a smallest RTT is believed")
            .within(1e6, f64::INFINITY),
    )
    .with_param(span("probe_rtt_duration", default.probe_rtt_duration, "least time in ProbeRTT"))
    .with_param(Param::new("policer", Value::Switch(default.policer), "keep to the rate of a policer"))
    .with_param(packets("initial_window", default.initial_window, "packets to start with"))
}

/// The smallest window is a packet: after a retransmission time-out one may leave, until something is acknowledged.
fn declaration() -> Declaration {
    Declaration::new(Family::WideArea)
        .law(Law::Model)
        .min_window(1.0)
        .reductions(Reductions::Unbounded)
        .utilisation(0.9)
        .queueing_delay(0.5)
        .least_share_against_cubic(0.3)
        .loss_tolerance(0.1)
        .reaction_to_drop_rtts(150)
        .reaction_to_rise_rtts(100)
}

fn params(args: &Args) -> BbrParams {
    BbrParams {
        startup_gain: args.number("startup_gain"),
        probe_gain: args.number("probe_gain"),
        cwnd_gain: args.number("cwnd_gain"),
        bw_window: args.integer("bw_window"),
        min_rtt_window: args.span("min_rtt_window"),
        probe_rtt_duration: args.span("probe_rtt_duration"),
        policer: args.switch("policer"),
        initial_window: args.integer("initial_window"),
    }
}

#[cfg(test)]
mod tests;
