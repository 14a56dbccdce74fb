//! The smallest RTT, ProbeRTT, which finds it, and resuming after silence (sections "ProbeRTT Logic" and "Restarting From
//! Idle").

use super::super::probe_rtt::{Dip, DipStep, patience};
use super::state::State;
use super::{Ack, Bbr3};
use crate::controller::Flight;
use crate::units::Timestamp;

/// Round trips between two ProbeRTT states at least, and for which a smallest RTT is believed at least; ours.
const PROBE_RTT_ROUNDS: u64 = 5;
const MIN_RTT_ROUNDS: u64 = 10;

impl Bbr3 {
    /// The draft's `UpdateMinRTT`.
    pub(super) fn update_min_rtt(&mut self, ack: &Ack<'_>) {
        let now = ack.sample.now;
        let interval = patience(self.params.probe_rtt_interval, PROBE_RTT_ROUNDS, ack.flight);
        let window = patience(self.params.min_rtt_window, MIN_RTT_ROUNDS, ack.flight);
        let (min_rtt, probe_min) = (&mut self.model.min_rtt, &mut self.model.probe_rtt_min);
        self.probe_rtt_due = probe_min.is_older_than(interval, now);
        match ack.sample.rtt {
            Some(rtt) if self.probe_rtt_due => probe_min.replace(now, rtt),
            Some(rtt) => probe_min.take_smaller(now, rtt),
            None => {}
        }
        let Some(smallest) = probe_min.get() else { return };
        let expired = min_rtt.is_older_than(window, now);
        if expired || min_rtt.get().is_none_or(|min| smallest < min) {
            min_rtt.replace(probe_min.seen_at(), smallest);
            self.model.refresh_bdp();
        }
    }

    /// The draft's `CheckProbeRTT`.
    pub(super) fn check_probe_rtt(&mut self, ack: &Ack<'_>) {
        if self.state != State::ProbeRtt && self.probe_rtt_due && !self.idle_restart {
            self.save_window(ack.recovering);
            self.state = State::ProbeRtt;
            self.dip = Dip::default();
            self.probe.stop();
            self.rounds.restart(ack.flight.delivered);
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(ack);
        }
        if ack.sample.delivered > 0 {
            self.idle_restart = false;
        }
    }

    /// The draft's `HandleProbeRTT`.
    fn handle_probe_rtt(&mut self, ack: &Ack<'_>) {
        let (now, flight) = (ack.sample.now, ack.flight);
        self.own_limit.mark(flight);
        let step = match self.dip {
            Dip::Draining if flight.bytes <= self.probe_rtt_window() => {
                self.dip.begin(now, self.params.probe_rtt_duration)
            }
            _ => self.dip.on_ack(now, ack.round_start),
        };
        match step {
            DipStep::Goes => {}
            DipStep::Began => self.rounds.restart(flight.delivered),
            DipStep::Over => self.exit_probe_rtt(now, flight),
        }
    }

    /// The rest of the draft's `CheckProbeRTTDone`, and `ExitProbeRTT`.
    fn exit_probe_rtt(&mut self, now: Timestamp, flight: &Flight<'_>) {
        self.model.probe_rtt_min.renew(now);
        self.restore_window();
        self.model.reset_shortterm();
        if self.full_bw_reached {
            self.start_down(now, flight);
            self.start_cruise();
        } else {
            self.enter_startup();
        }
    }

    /// The draft's `HandleRestartFromIdle`.
    pub(super) fn restart_from_idle(&mut self, now: Timestamp, flight: &Flight<'_>) {
        self.idle_restart = true;
        self.model.aggregation.restart(now);
        if self.state.is_probe_bw() {
            self.pace_at_bandwidth();
        } else if self.state == State::ProbeRtt && self.dip.is_past(now) {
            self.exit_probe_rtt(now, flight);
        }
    }
}
