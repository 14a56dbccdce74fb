//! Bandwidth, RTT and the states they lead to (`bbr_update_model`).

use super::super::pacing::Gain;
use super::super::probe_rtt::{Dip, DipStep, patience};
use super::super::sample::AckSample;
use super::{Ack, Bbr, FIRST_PHASES, MIN_PACKETS, MIN_RTT_ROUNDS, PHASES, State};
use crate::controller::{Feedback, Flight};
use crate::units::{Rate, Timestamp};

impl Bbr {
    /// `bbr_bw`.
    pub(super) fn bw(&self) -> Rate {
        self.policer.rate().or(self.max_bw.get()).unwrap_or_default()
    }

    pub(super) fn pacing_gain(&self) -> Gain {
        match self.state {
            State::Startup => self.gains.startup,
            State::Drain => self.gains.drain,
            State::ProbeRtt => Gain::ONE,
            State::ProbeBw { phase: 0, .. } if self.policer.rate().is_none() => self.gains.probe,
            State::ProbeBw { phase: 1, since } if !self.policer.is_kept_at(since) => self.gains.yields,
            State::ProbeBw { .. } => Gain::ONE,
        }
    }

    pub(super) const fn cwnd_gain(&self) -> Gain {
        match self.state {
            State::Startup | State::Drain => self.gains.startup,
            State::ProbeBw { .. } => self.gains.cwnd,
            State::ProbeRtt => Gain::ONE,
        }
    }

    /// `bbr_update_model`.
    pub(super) fn update_model<'a>(
        &mut self,
        sample: AckSample,
        feedback: &'a Feedback<'a>,
        flight: &'a Flight<'a>,
    ) -> Ack<'a> {
        let round_start = self.rounds.on_acked(sample.at_send.delivered, flight.delivered);
        let limited = self.own_limit.is_limited(&sample.at_send);
        let ack = Ack { sample, feedback, flight, round_start, limited };
        self.update_bw(&ack);
        self.look_for_policer(&ack);
        self.update_aggregation(&ack);
        self.update_cycle_phase(&ack);
        self.check_full_pipe(&ack);
        self.check_drain(&ack);
        self.update_min_rtt(&ack);
        ack
    }

    /// `bbr_update_bw`: an application-limited rate counts only if it is no smaller than all.
    fn update_bw(&mut self, ack: &Ack<'_>) {
        let max = self.max_bw.get();
        if let Some(rate) = ack.sample.rate.filter(|rate| !ack.limited || max.is_none_or(|max| *rate >= max)) {
            self.max_bw.update(self.rounds.rounds(), rate);
        }
    }

    /// `bbr_update_ack_aggregation`.
    fn update_aggregation(&mut self, ack: &Ack<'_>) {
        let excess = self.aggregation.on_acked(ack.sample.now, ack.sample.newly_acked, self.bw());
        self.aggregation.remember(self.rounds.rounds(), excess.min(self.window));
    }

    /// `bbr_update_cycle_phase`.
    fn update_cycle_phase(&mut self, ack: &Ack<'_>) {
        let State::ProbeBw { phase, since } = self.state else { return };
        if self.is_phase_over(ack, since) {
            self.state = State::ProbeBw { phase: (phase + 1) % PHASES, since: ack.sample.now };
        }
    }

    /// `bbr_is_next_cycle_phase`.
    fn is_phase_over(&self, ack: &Ack<'_>, since: Timestamp) -> bool {
        let elapsed = ack.sample.now.saturating_since(since);
        let is_full_length = self.min_rtt.get().is_some_and(|min_rtt| elapsed > min_rtt);
        let gain = self.pacing_gain();
        let in_flight = ack.sample.prior_in_flight;
        if gain > Gain::ONE {
            let target = self.inflight(self.bdp_of(self.max_bw.get().unwrap_or_default(), gain));
            let reached = in_flight.saturating_add(self.quantum()) >= target;
            is_full_length && (self.has_losses(ack.feedback) || reached)
        } else if gain < Gain::ONE {
            is_full_length || in_flight <= self.inflight_at_max_bw()
        } else {
            is_full_length
        }
    }

    /// What is in flight when the path is full and its queue is empty.
    fn inflight_at_max_bw(&self) -> u64 {
        self.inflight(self.bdp_of(self.max_bw.get().unwrap_or_default(), Gain::ONE))
    }

    pub(super) const fn has_losses(&self, feedback: &Feedback<'_>) -> bool {
        !feedback.newly_lost.is_zero() || !feedback.recovered.is_zero()
    }

    /// `bbr_check_full_bw_reached`.
    fn check_full_pipe(&mut self, ack: &Ack<'_>) {
        if let Some(max_bw) = self.max_bw.get().filter(|_| ack.round_start && !ack.limited) {
            self.full_pipe.on_round(max_bw);
        }
    }

    /// `bbr_check_drain`.
    fn check_drain(&mut self, ack: &Ack<'_>) {
        if self.state == State::Startup && self.full_pipe.is_full() {
            self.state = State::Drain;
        }
        if self.state == State::Drain && ack.flight.bytes <= self.inflight_at_max_bw() {
            self.enter_probe_bw(ack.sample.now);
        }
    }

    /// `bbr_reset_probe_bw_mode`: at a random phase, but for the one that drains.
    pub(super) fn enter_probe_bw(&mut self, now: Timestamp) {
        let phase = (u64::from(PHASES) - self.random.below(FIRST_PHASES)) % u64::from(PHASES);
        self.state = State::ProbeBw { phase: phase as u8, since: now };
    }

    /// `bbr_update_min_rtt`.
    fn update_min_rtt(&mut self, ack: &Ack<'_>) {
        let now = ack.sample.now;
        let window = patience(self.params.min_rtt_window, MIN_RTT_ROUNDS, ack.flight);
        let expired = self.min_rtt.is_older_than(window, now);
        match ack.sample.rtt {
            Some(rtt) if expired => self.min_rtt.replace(now, rtt),
            Some(rtt) => self.min_rtt.take_smaller(now, rtt),
            None => {}
        }
        if expired && !self.idle_restart && self.state != State::ProbeRtt {
            self.save_window();
            self.state = State::ProbeRtt;
            self.dip = Dip::default();
        }
        if self.state == State::ProbeRtt {
            self.go_on_probing_rtt(ack);
        }
        if ack.sample.delivered > 0 {
            self.idle_restart = false;
        }
    }

    fn go_on_probing_rtt(&mut self, ack: &Ack<'_>) {
        let now = ack.sample.now;
        self.own_limit.mark(ack.flight);
        let is_low = ack.flight.bytes <= self.mtu.saturating_mul(MIN_PACKETS);
        let step = match self.dip {
            Dip::Draining if is_low => self.dip.begin(now, self.params.probe_rtt_duration),
            _ => self.dip.on_ack(now, ack.round_start),
        };
        match step {
            DipStep::Goes => {}
            DipStep::Began => self.rounds.restart(ack.flight.delivered),
            DipStep::Over => self.exit_probe_rtt(now),
        }
    }

    /// The rest of `bbr_check_probe_rtt_done`.
    fn exit_probe_rtt(&mut self, now: Timestamp) {
        self.min_rtt.renew(now);
        self.restore_window();
        if self.full_pipe.is_full() {
            self.enter_probe_bw(now);
        } else {
            self.state = State::Startup;
        }
    }

    /// `bbr_cwnd_event` for `CA_EVENT_TX_START`.
    pub(super) fn restart_from_idle(&mut self, now: Timestamp) {
        self.idle_restart = true;
        self.aggregation.restart(now);
        match self.state {
            State::ProbeBw { .. } => self.pace(Gain::ONE),
            State::ProbeRtt if self.dip.is_past(now) => self.exit_probe_rtt(now),
            _ => {}
        }
    }
}
