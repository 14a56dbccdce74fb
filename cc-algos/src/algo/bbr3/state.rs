//! The states, their gains, and the way from Startup over Drain into ProbeBW.

use super::super::pacing::Gain;
use super::{Ack, Bbr3, Bbr3Params};
use crate::estimate::FullPipe;

/// Packets that the window always holds while acknowledgements arrive (the draft's `MinPipeCwnd`).
pub(super) const MIN_PIPE_PACKETS: u64 = 4;

/// Rounds after which Drain ends in any case (section "Drain").
const MAX_DRAIN_ROUNDS: u64 = 3;

/// Discontiguous losses in a round that end Startup (the draft's `BBRStartupFullLossCnt`).
const STARTUP_FULL_LOSSES: u64 = 6;

/// What the flow is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Startup,
    Drain {
        /// The round in which it began.
        since_round: u64,
    },
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl State {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Startup => "startup",
            Self::Drain { .. } => "drain",
            Self::Down => "probe_bw_down",
            Self::Cruise => "probe_bw_cruise",
            Self::Refill => "probe_bw_refill",
            Self::Up => "probe_bw_up",
            Self::ProbeRtt => "probe_rtt",
        }
    }

    /// The draft's `IsInAProbeBWState`.
    pub(super) const fn is_probe_bw(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// The draft's `IsProbingBW`: the flow tries to send faster, so losses are answered otherwise.
    pub(super) const fn accelerates(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }
}

/// The parameters that are factors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gains {
    pub(super) startup: Gain,
    drain: Gain,
    down: Gain,
    up: Gain,
    default_cwnd: Gain,
    up_cwnd: Gain,
    pub(super) probe_rtt_cwnd: Gain,
    pub(super) beta: Gain,
    pub(super) headroom: Gain,
}

impl Gains {
    pub(super) fn of(params: &Bbr3Params) -> Self {
        Self {
            startup: Gain::from_f64(params.startup_gain),
            drain: Gain::from_f64(params.drain_gain),
            down: Gain::from_f64(params.down_gain),
            up: Gain::from_f64(params.up_gain),
            default_cwnd: Gain::from_f64(2.0),
            up_cwnd: Gain::from_f64(2.25),
            probe_rtt_cwnd: Gain::from_f64(0.5),
            beta: Gain::from_f64(params.beta),
            headroom: Gain::from_f64(params.headroom),
        }
    }
}

impl Bbr3 {
    pub(super) const fn pacing_gain(&self) -> Gain {
        match self.state {
            State::Startup => self.gains.startup,
            State::Drain { .. } => self.gains.drain,
            State::Down => self.gains.down,
            State::Up => self.gains.up,
            State::Cruise | State::Refill | State::ProbeRtt => Gain::ONE,
        }
    }

    pub(super) const fn cwnd_gain(&self) -> Gain {
        match self.state {
            State::Up => self.gains.up_cwnd,
            State::ProbeRtt => self.gains.probe_rtt_cwnd,
            _ => self.gains.default_cwnd,
        }
    }

    pub(super) const fn min_pipe(&self) -> u64 {
        self.mtu.saturating_mul(MIN_PIPE_PACKETS)
    }

    /// The draft's `EnterStartup`.
    pub(super) const fn enter_startup(&mut self) {
        self.state = State::Startup;
    }

    /// The draft's `CheckFullBWReached`.
    pub(super) fn check_full_bw_reached(&mut self, ack: &Ack<'_>) {
        let Some(rate) = ack.sample.rate.filter(|_| ack.round_start && !ack.limited) else { return };
        self.full_pipe.on_round(rate);
        if self.full_pipe.is_full() {
            self.full_bw_reached = true;
        }
    }

    /// The draft's `ResetFullBW`, and the delivery rate as the new baseline where the flow accelerates from there.
    pub(super) fn look_for_plateau_above(&mut self, ack: &Ack<'_>) {
        self.full_pipe = FullPipe::above(ack.sample.rate.unwrap_or_default());
    }

    /// The draft's `CheckStartupDone`.
    pub(super) fn check_startup_done(&mut self, ack: &Ack<'_>, loss_round_start: bool) {
        if loss_round_start {
            self.check_startup_high_loss(ack);
            self.loss_round.forget_ranges();
        }
        if self.state == State::Startup && self.full_bw_reached {
            self.state = State::Drain { since_round: self.rounds.rounds() };
        }
    }

    /// Section "Exiting Startup Based on Packet Loss", at the end of a round trip in recovery.
    fn check_startup_high_loss(&mut self, ack: &Ack<'_>) {
        if self.state == State::Startup
            && ack.recovering
            && self.loss_round.ranges() >= STARTUP_FULL_LOSSES
            && self.is_inflight_too_high(self.loss_round.lost_of(ack), ack.sample.at_send.in_flight)
        {
            self.undo.state = Some(State::Startup);
            self.full_bw_reached = true;
            self.model.inflight_longterm = Some(self.model.bdp().max(self.loss_round.inflight_latest()));
        }
    }

    /// The draft's `CheckDrainDone`.
    pub(super) fn check_drain_done(&mut self, ack: &Ack<'_>) {
        let State::Drain { since_round } = self.state else { return };
        let overdue = self.rounds.rounds() > since_round.saturating_add(MAX_DRAIN_ROUNDS);
        if overdue || ack.flight.bytes <= self.inflight(self.model.bdp()) {
            self.start_down(ack.sample.now, ack.flight);
        }
    }
}
