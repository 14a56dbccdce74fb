//! `bbr3`: BBRv3 after draft-ietf-ccwg-bbr (git 4ce5e87, 2026-08-03).
//!
//! ```text
//! max_bw       = the largest delivery rate of this ProbeBW cycle and the one before
//! min_rtt      = the smallest RTT of the last 10 s                   ProbeRTT every 5 s finds it
//! bw           = min(max_bw, bw_shortterm);   bdp = bw x min_rtt
//! pacing rate  = 0.99 pacing_gain x bw
//! cwnd         = cwnd_gain x bdp + extra_acked, at least 4 packets and a quantum, at most the caps
//!
//! state             pacing  cwnd   caps
//! startup           2.77    2      none
//! drain             0.5     2      bw_shortterm, inflight_shortterm
//! probe_bw_down     0.90    2      bw_shortterm, inflight_shortterm, inflight_longterm
//! probe_bw_cruise   1       2      bw_shortterm, inflight_shortterm, 0.85 inflight_longterm
//! probe_bw_refill   1       2      inflight_longterm
//! probe_bw_up       1.25    2.25   inflight_longterm, which grows by 1, 2, 4, ... packets a round
//! probe_rtt         1       0.5    bw_shortterm, inflight_shortterm, 0.85 inflight_longterm
//!
//! loss in a round, while not probing   bw_shortterm = max(bw_latest, 0.7 bw_shortterm), inflight_shortterm alike
//! more than 2 % lost of a probe        inflight_longterm = max(in flight where losses crossed 2 %, 0.7 min(bdp, cwnd))
//! ```
//!
//! | parameter | unit | default | origin (sections of the draft) |
//! |---|---|---|---|
//! | `startup_gain`, `drain_gain` | factor of `bw` | 2.77, 0.5 | "Pacing State and Parameters" |
//! | `down_gain`, `up_gain` | factor of `bw` | 0.9, 1.25 | "ProbeBW_DOWN", "ProbeBW_UP" |
//! | `loss_threshold` | share of what was in flight | 0.02 | "Core Algorithm Design Parameters": `LossThresh` |
//! | `beta` | share kept | 0.7 | there: `Beta` |
//! | `headroom` | share of `inflight_longterm` left free | 0.15 | there: `Headroom` |
//! | `min_rtt_window` | time | 10 s | "Parameters for Estimating BBR.min_rtt" |
//! | `probe_rtt_interval`, `probe_rtt_duration` | time | 5 s, 200 ms | "Parameters for Scheduling ProbeRTT" |
//! | `initial_window` | packets | 10 | RFC 9002, section 7.2; the draft leaves it to the transport |
//! | `ecn` | switch | on | "ECN": whoever asks for marks must treat them as congestion; off asks for drops |
//!
//! ## Differences from the reference
//!
//! | | the draft | here |
//! |---|---|---|
//! | CE marks | congestion, no response given | a marked byte counts as a lost one wherever losses are counted |
//! | losses that coding restored | unknown | count as losses (RFC 9265, section 4) |
//! | samples that the receiver limited | are the network's | count as limited by the application do |
//! | growth of `cwnd` | on every acknowledgement | not while application or receiver held the sender back (RFC 9002, 7.8) |
//! | losses of a probe before a packet already past 2 % | `InflightAtLoss` may fall below what preceded it, even below 0 | the packet's prefix is empty |
//! | plateau: a round without a reliable rate | counts as one without growth | does not count |
//! | `max_bw` filter | of Nichols, length 2 | the same over the running cycle and the one before, as its prose says |
//! | a smallest RTT | is believed for 10 s, and measured anew after 5 s | the same, but for no less than 10 and 5 round trips: RTTs above a second change it |
//! | a precautionary probe | ends once `C.inflight`, after the acknowledgement, reaches `inflight_longterm`, which the window never allows | once what was in flight before it leaves no room for a packet; Linux takes that volume, too |
//! | a probe that losses ended | may drain and cruise with one acknowledgement | drains until the next one at least |
//! | a probe is due before the last packets of the one before are acknowledged, as at RTTs above 2 s | begins, and `max_bw` is never forgotten | waits for them |
//! | window saved before ProbeRTT | the larger of it and one of an earlier recovery, as its pseudocode is ordered | outside a recovery that window alone, as its prose says |
//! | ProbeRTT's mark of limited samples | at the sampler | kept by the law: the engine's mark is the application's alone; it ends with the packets in flight, lost ones included |
//! | idle restart | before any packet that leaves an empty flight | the same, but its pacing rate needs a pause longer than a probe timeout to take effect, when the engine announces it |
//! | retransmission time-out | TCP's | persistent congestion, or a timer that declares losses; recovery ends once as much was delivered as was missing |
//! | what undoing restores | as it was at the first loss of the newest round; after a probe that went too high, as it was after that | as it was when recovery began |
//! | discontiguous ranges of lost data | of sequence numbers | of packet numbers; each mark is one |
//! | `send_quantum` | 64 KB | 65 536 bytes |
//! | no bandwidth to speak of | pacing rate 0 | four packets in ten seconds |

mod congestion;
mod control;
mod min_rtt;
mod model;
mod probe;
mod state;

use self::congestion::{LossRound, Undo};
use self::model::Model;
use self::probe::Probe;
use self::state::{Gains, State};
use super::InvalidParam;
use super::newreno::packets;
use super::pacing::ModelPacing;
use super::probe_rtt::{Dip, OwnLimit};
use super::random::SplitMix64;
use super::recovery::{Recovery, TimeoutRecovery, Verdict, is_retransmission_timeout};
use super::sample::{AckSample, ends_silence};
use super::window::initial_window;
use crate::controller::{Controller, ControllerState, Feedback, Flight, Handover, PacketTag, Sent, Setup};
use crate::declare::{Declaration, Family, Law, Reductions};
use crate::estimate::{FullPipe, RoundCounter};
use crate::registry::{Algorithm, Args, Param, Value};
use crate::signal::{Ecn, PathChange, Signal};
use crate::units::{Rate, Span, Timestamp};

/// Parameters of [`Bbr3`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Bbr3Params {
    /// Pacing gain in Startup; above 1.
    pub startup_gain: f64,
    /// Pacing gain in Drain; above 0, below 1.
    pub drain_gain: f64,
    /// Pacing gain in ProbeBW_DOWN; above 0, below 1.
    pub down_gain: f64,
    /// Pacing gain in ProbeBW_UP; above 1.
    pub up_gain: f64,
    /// Share of what was in flight that may be lost while probing; between 0 and 1, both excluded.
    pub loss_threshold: f64,
    /// Share that a round with losses keeps at least; between 0 and 1, both excluded.
    pub beta: f64,
    /// Share of the safe volume that is left free for others; 0 to 1, 1 excluded.
    pub headroom: f64,
    /// How long a smallest RTT is believed.
    pub min_rtt_window: Span,
    /// How long after it was found low the RTT is measured without a queue again; not zero.
    pub probe_rtt_interval: Span,
    /// For how long at least.
    pub probe_rtt_duration: Span,
    /// Packets to start with; at least one.
    pub initial_window: u64,
    /// Whether packets are sent as ECN-capable.
    pub ecn: bool,
}

impl Default for Bbr3Params {
    fn default() -> Self {
        Self {
            startup_gain: 2.77,
            drain_gain: 0.5,
            down_gain: 0.9,
            up_gain: 1.25,
            loss_threshold: 0.02,
            beta: 0.7,
            headroom: 0.15,
            min_rtt_window: Span::from_secs(10),
            probe_rtt_interval: Span::from_secs(5),
            probe_rtt_duration: Span::from_millis(200),
            initial_window: 10,
            ecn: true,
        }
    }
}

impl Bbr3Params {
    fn validate(&self) -> Result<(), InvalidParam> {
        let slower = |gain: f64| (0.001..1.0).contains(&gain);
        let faster = |gain: f64| gain > 1.0 && gain <= 100.0;
        let share = |share: f64| share > 0.0 && share < 1.0;
        InvalidParam::unless(faster(self.startup_gain), "startup_gain", "a gain above 1, at most 100")?;
        InvalidParam::unless(slower(self.drain_gain), "drain_gain", "a gain from 0.001 to 1, 1 excluded")?;
        InvalidParam::unless(slower(self.down_gain), "down_gain", "a gain from 0.001 to 1, 1 excluded")?;
        InvalidParam::unless(faster(self.up_gain), "up_gain", "a gain above 1, at most 100")?;
        InvalidParam::unless(share(self.loss_threshold), "loss_threshold", "a share between 0 and 1")?;
        InvalidParam::unless(share(self.beta), "beta", "a share between 0 and 1")?;
        InvalidParam::unless((0.0..1.0).contains(&self.headroom), "headroom", "a share from 0 to 1, 1 excluded")?;
        InvalidParam::unless(!self.probe_rtt_interval.is_zero(), "probe_rtt_interval", "more than no time")?;
        InvalidParam::unless(self.initial_window > 0, "initial_window", "at least one packet")
    }
}

/// A model of the path that is probed in turns: faster, slower, at its rate, and with little in flight.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    params: Bbr3Params,
    gains: Gains,
    mtu: u64,
    state: State,
    model: Model,
    rounds: RoundCounter,
    loss_round: LossRound,
    full_pipe: FullPipe,
    /// Whether the pipe was ever full.
    full_bw_reached: bool,
    probe: Probe,
    dip: Dip,
    own_limit: OwnLimit,
    /// Whether the smallest RTT is due to be measured again.
    probe_rtt_due: bool,
    /// Nothing was acknowledged since sending resumed after silence.
    idle_restart: bool,
    recovery: Recovery,
    timeout: TimeoutRecovery,
    undo: Undo,
    pacing: ModelPacing,
    quantum: u64,
    window: u64,
    /// The window before recovery or ProbeRTT cut it.
    prior_window: u64,
    random: SplitMix64,
}

/// An acknowledgement as the steps of the algorithm see it.
#[derive(Clone, Copy)]
struct Ack<'a> {
    sample: AckSample,
    flight: &'a Flight<'a>,
    /// Whether it starts a round trip.
    round_start: bool,
    /// Whether its rate says nothing of the network.
    limited: bool,
    /// Whether it arrived in loss recovery, the one that it ends included.
    recovering: bool,
}

impl Bbr3 {
    /// A controller for a flow that begins as `setup` says.
    ///
    /// # Errors
    ///
    /// If a parameter is out of its range.
    pub fn new(params: Bbr3Params, setup: &Setup) -> Result<Self, InvalidParam> {
        params.validate()?;
        let from = setup.handover.unwrap_or_default();
        let mut new = Self::begin(params, setup.mtu.max(1), from.min_rtt, setup.now);
        new.random = SplitMix64::new(setup.seed);
        let resumed = from.window.or(from.bandwidth.zip(from.min_rtt).map(|(rate, rtt)| rate.bytes_in(rtt)));
        if let Some(window) = resumed {
            new.window = window.max(new.min_pipe());
            new.pacing = ModelPacing::new(new.window, from.min_rtt, new.pacing_gain());
            new.quantum = new.quantum_at_rate();
        }
        Ok(new)
    }

    /// The draft's `OnInit`.
    fn begin(params: Bbr3Params, mtu: u64, rtt: Option<Span>, now: Timestamp) -> Self {
        let window = initial_window(params.initial_window, mtu);
        let gains = Gains::of(&params);
        let mut new = Self {
            gains,
            mtu,
            state: State::Startup,
            model: Model::new(now, rtt),
            rounds: RoundCounter::default(),
            loss_round: LossRound::default(),
            full_pipe: FullPipe::default(),
            full_bw_reached: false,
            probe: Probe::new(now),
            dip: Dip::default(),
            own_limit: OwnLimit::default(),
            probe_rtt_due: false,
            idle_restart: false,
            recovery: Recovery::default(),
            timeout: TimeoutRecovery::default(),
            undo: Undo::default(),
            pacing: ModelPacing::new(window, rtt, gains.startup),
            quantum: 0,
            window: window.max(mtu.saturating_mul(state::MIN_PIPE_PACKETS)),
            prior_window: 0,
            random: SplitMix64::new(0),
            params,
        };
        new.quantum = new.quantum_at_rate();
        new
    }

    /// Everything learnt belongs to another path.
    fn begin_anew(&mut self, now: Timestamp) {
        let random = self.random.clone();
        *self = Self { random, ..Self::begin(self.params.clone(), self.mtu, None, now) };
    }

    /// The draft's `UpdateModelAndState`.
    fn update_model_and_state(&mut self, sample: AckSample, flight: &Flight<'_>, was_recovering: bool) {
        let loss_round_start = self.update_latest_delivery(&sample, flight);
        let limited = self.own_limit.is_limited(&sample.at_send);
        let round_start = self.update_round(&sample, flight);
        let recovering = was_recovering || self.in_recovery();
        let ack = Ack { sample, flight, round_start, limited, recovering };
        self.update_max_bw(&ack);
        if loss_round_start {
            self.adapt_lower_bounds();
        }
        self.update_aggregation(&ack);
        self.check_full_bw_reached(&ack);
        self.check_startup_done(&ack, loss_round_start);
        self.check_drain_done(&ack);
        self.update_cycle_phase(&ack);
        self.update_min_rtt(&ack);
        self.check_probe_rtt(&ack);
        if loss_round_start {
            self.loss_round.advance(&ack.sample);
        }
        self.model.bound_bw();
    }
}

impl Controller for Bbr3 {
    fn on_sent(&mut self, sent: &Sent, flight: &Flight<'_>) -> PacketTag {
        if ends_silence(sent, flight) {
            self.restart_from_idle(sent.now, flight);
        }
        self.loss_round.tag()
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.pacing.on_rtt(self.initial_window(), flight.smoothed_rtt, self.pacing_gain());
        let was_recovering = self.in_recovery();
        let timed_out = is_retransmission_timeout(feedback);
        let verdict = self.recovery.judge(feedback, flight);
        if timed_out || matches!(verdict, Some(Verdict::Reduce(_))) {
            self.save_state(was_recovering);
        }
        self.on_congestion(feedback, flight);
        if verdict == Some(Verdict::Undo) {
            self.undo_spurious(flight);
        }
        if let Some(sample) = AckSample::of(feedback, flight) {
            self.update_model_and_state(sample, flight, was_recovering);
            self.timeout.on_delivered(flight.delivered);
            if was_recovering && !self.in_recovery() {
                self.restore_window();
            }
            self.update_control(flight, sample.newly_acked);
        }
        if timed_out {
            self.on_retransmission_timeout(feedback, flight);
        }
    }

    fn on_signal(&mut self, now: Timestamp, signal: &Signal, flight: &Flight<'_>) {
        match signal {
            Signal::Restart { .. } => self.restart_from_idle(now, flight),
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
        Some(self.quantum)
    }

    fn ecn(&self) -> Ecn {
        if self.params.ecn { Ecn::Ect0 } else { Ecn::NotEct }
    }

    fn state(&self) -> ControllerState {
        self.model.gauges(ControllerState::new(self.window, self.state.name()).with_pacing_rate(self.pacing_rate()))
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn handover(&self) -> Handover {
        Handover {
            window: Some(self.window),
            ssthresh: None,
            min_rtt: self.model.min_rtt(),
            bandwidth: self.model.max_bw(),
        }
    }
}

/// The registry's entry.
pub(super) fn algorithm() -> Algorithm {
    const NAME: &str = "bbr3";
    let default = Bbr3Params::default();
    let number = |name, value, help| Param::new(name, Value::Number(value), help);
    let span = |name, value, help| Param::new(name, Value::Span(value), help);
    Algorithm::new(NAME, "a model of bandwidth and delay, bounded by loss", "draft-ietf-ccwg-bbr", |args, setup| {
        Ok(Box::new(Bbr3::new(params(args), setup).map_err(|error| error.of(NAME))?))
    })
    .declaring(declaration())
    .with_param(number("startup_gain", default.startup_gain, "pacing gain in Startup").within(1.01, 100.0))
    .with_param(number("drain_gain", default.drain_gain, "pacing gain in Drain").within(0.01, 0.99))
    .with_param(number("down_gain", default.down_gain, "pacing gain in ProbeBW_DOWN").within(0.01, 0.99))
    .with_param(number("up_gain", default.up_gain, "pacing gain in ProbeBW_UP").within(1.01, 100.0))
    .with_param(number("loss_threshold", default.loss_threshold, "share a probe may lose").within(0.001, 0.99))
    .with_param(number("beta", default.beta, "share kept in a round with losses").within(0.01, 0.99))
    .with_param(number("headroom", default.headroom, "share of the safe volume left free").within(0.0, 0.99))
    .with_param(span("min_rtt_window", default.min_rtt_window, "how long a smallest RTT is believed"))
    .with_param(
        span("probe_rtt_interval", default.probe_rtt_interval, "time between ProbeRTT states")
            .within(1e6, f64::INFINITY),
    )
    .with_param(span("probe_rtt_duration", default.probe_rtt_duration, "least time in ProbeRTT"))
    .with_param(packets("initial_window", default.initial_window, "packets to start with"))
    .with_param(Param::new("ecn", Value::Switch(default.ecn), "send as ECN-capable"))
}

/// The smallest window is a packet: after a retransmission time-out one may leave, until something is acknowledged.
fn declaration() -> Declaration {
    Declaration::new(Family::WideArea)
        .law(Law::Model)
        .min_window(1.0)
        .reductions(Reductions::Unbounded)
        .utilisation(0.9)
        .queueing_delay(0.5)
        .fairness(0.7)
        .least_share_against_cubic(0.25)
        .most_share_against_cubic(0.9)
        .loss_tolerance(0.01)
        .reaction_to_rise_rtts(200)
}

fn params(args: &Args) -> Bbr3Params {
    Bbr3Params {
        startup_gain: args.number("startup_gain"),
        drain_gain: args.number("drain_gain"),
        down_gain: args.number("down_gain"),
        up_gain: args.number("up_gain"),
        loss_threshold: args.number("loss_threshold"),
        beta: args.number("beta"),
        headroom: args.number("headroom"),
        min_rtt_window: args.span("min_rtt_window"),
        probe_rtt_interval: args.span("probe_rtt_interval"),
        probe_rtt_duration: args.span("probe_rtt_duration"),
        initial_window: args.integer("initial_window"),
        ecn: args.switch("ecn"),
    }
}

#[cfg(test)]
mod tests;
