//! ProbeBW: the cycle of DOWN, CRUISE, REFILL and UP, and the long-term bound that its probes find (section "ProbeBW
//! Algorithm Details").

use super::state::State;
use super::{Ack, Bbr3};
use crate::controller::{Flight, Limit};
use crate::units::{Span, Timestamp};

/// A probe waits at least so long, and up to a second more (section "Time Scale for Bandwidth Probing").
const WAIT: Span = Span::from_secs(2);
const WAIT_SPREAD: Span = Span::from_secs(1);

/// ... and no longer than Reno would take to regain a loss, as far as that is in so many rounds.
const MOST_RENO_ROUNDS: u64 = 63;

/// Doublings of the growth per round.
const MOST_UP_ROUNDS: u32 = 30;

/// How the previous probe ended, as the next one needs to know (section "Precautionary Bandwidth Probing").
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Previous {
    pub(super) too_high: bool,
    pub(super) precautionary: bool,
}

/// The state of bandwidth probing.
#[derive(Clone, Debug)]
pub(super) struct Probe {
    /// Whether the last packets of a probe are still being acknowledged: of the draft's `ack_phase`, the one value that
    /// decides anything (`ACKS_PROBE_STOPPING`).
    stopping: bool,
    /// Whether losses found now tell of a probe (the draft's `is_bw_probe_sample`).
    pub(super) judges_losses: bool,
    pub(super) previous: Previous,
    /// When the cycle began, and how long it waits for its probe.
    cycle_began: Timestamp,
    pub(super) wait: Span,
    rounds_since_up: u64,
    up_rounds: u32,
    up_acked: u64,
    /// Bytes to be acknowledged for each packet by which the long-term bound grows.
    pub(super) acked_per_increment: Option<u64>,
}

impl Probe {
    pub(super) const fn new(now: Timestamp) -> Self {
        Self {
            stopping: false,
            judges_losses: false,
            previous: Previous { too_high: false, precautionary: false },
            cycle_began: now,
            wait: Span::ZERO,
            rounds_since_up: 0,
            up_rounds: 0,
            up_acked: 0,
            acked_per_increment: None,
        }
    }

    pub(super) const fn count_round(&mut self) {
        self.rounds_since_up = self.rounds_since_up.saturating_add(1);
    }

    /// Packets still in flight tell of what was before; what is sent now does not probe.
    pub(super) const fn stop(&mut self) {
        self.stopping = true;
    }

    /// A probe lost too much. It is not answered twice.
    pub(super) const fn on_too_high(&mut self) {
        self.previous.too_high = true;
        self.judges_losses = false;
    }
}

impl Bbr3 {
    /// The draft's `StartProbeBW_DOWN`, and `EnterProbeBW`.
    pub(super) fn start_down(&mut self, now: Timestamp, flight: &Flight<'_>) {
        self.loss_round.reset();
        self.probe.acked_per_increment = None;
        self.probe.rounds_since_up = self.random.below(2);
        self.probe.wait = WAIT + Span::from_nanos(self.random.below(WAIT_SPREAD.as_nanos()));
        self.probe.cycle_began = now;
        self.probe.stopping = true;
        self.rounds.restart(flight.delivered);
        self.state = State::Down;
    }

    pub(super) const fn start_cruise(&mut self) {
        self.state = State::Cruise;
    }

    /// The draft's `StartProbeBW_REFILL`.
    pub(super) const fn start_refill(&mut self, flight: &Flight<'_>) {
        self.model.reset_shortterm();
        self.probe.up_rounds = 0;
        self.probe.up_acked = 0;
        self.probe.previous.precautionary = false;
        self.probe.stopping = false;
        self.rounds.restart(flight.delivered);
        self.state = State::Refill;
    }

    /// The draft's `StartProbeBW_UP`.
    fn start_up(&mut self, ack: &Ack<'_>) {
        self.probe.judges_losses = true;
        self.probe.stopping = false;
        self.rounds.restart(ack.flight.delivered);
        self.look_for_plateau_above(ack);
        self.state = State::Up;
        self.raise_growth();
    }

    /// The draft's `UpdateProbeBWCyclePhase`.
    pub(super) fn update_cycle_phase(&mut self, ack: &Ack<'_>) {
        if !self.full_bw_reached || self.end_probe(ack) {
            return;
        }
        self.raise_longterm(ack);
        let goes_down = self.state == State::Up && self.is_time_to_go_down(ack);
        match self.state {
            State::Down | State::Cruise if self.is_time_to_probe(ack.sample.now) => self.start_refill(ack.flight),
            State::Down if self.is_time_to_cruise(ack) => self.start_cruise(),
            State::Refill if ack.round_start => self.start_up(ack),
            State::Up if goes_down => {
                self.probe.previous.too_high = false;
                self.start_down(ack.sample.now, ack.flight);
            }
            _ => {}
        }
    }

    /// The first half of the draft's `AdaptLongTermModel`: a round after a probe its last packet has been acknowledged. True
    /// if the next probe follows at once, because this one only made sure that the bound is still safe.
    fn end_probe(&mut self, ack: &Ack<'_>) -> bool {
        if !(self.probe.stopping && ack.round_start) {
            return false;
        }
        self.probe.stopping = false;
        self.probe.judges_losses = false;
        if !self.state.is_probe_bw() {
            return false;
        }
        if !ack.limited {
            self.model.advance_cycle();
        }
        let Previous { too_high, precautionary } = self.probe.previous;
        if precautionary && !too_high {
            self.start_refill(ack.flight);
            return true;
        }
        false
    }

    /// Its second half: what was in flight without much loss is safe.
    fn raise_longterm(&mut self, ack: &Ack<'_>) {
        let in_flight = ack.sample.at_send.in_flight;
        let Some(bound) = self.model.inflight_longterm else { return };
        if self.is_inflight_too_high(self.loss_round.lost_of(ack), in_flight) {
            return;
        }
        self.model.inflight_longterm = Some(bound.max(in_flight));
        if self.state == State::Up {
            self.probe_longterm_upward(ack);
        }
    }

    /// The draft's `ProbeInflightLongtermUpward`: the bound grows while it is in use.
    fn probe_longterm_upward(&mut self, ack: &Ack<'_>) {
        let Some(bound) = self.longterm_in_use(ack) else { return };
        let probe = &mut self.probe;
        probe.up_acked = probe.up_acked.saturating_add(ack.sample.newly_acked);
        if let Some(per_increment) = probe.acked_per_increment.filter(|bytes| *bytes > 0) {
            let packets = probe.up_acked / per_increment;
            probe.up_acked %= per_increment;
            self.model.inflight_longterm = Some(bound.saturating_add(packets.saturating_mul(self.mtu)));
        }
        if ack.round_start {
            self.raise_growth();
        }
    }

    /// The long-term bound, if it is what keeps more from being in flight.
    fn longterm_in_use(&self, ack: &Ack<'_>) -> Option<u64> {
        self.model.inflight_longterm.filter(|bound| ack.flight.limit == Limit::Window && self.window >= *bound)
    }

    /// Whether as much was in flight as the long-term bound lets be, whole packets. What the acknowledgement took out of flight
    /// was there before: a window that the bound holds would never reach it otherwise.
    fn is_longterm_reached(&self, ack: &Ack<'_>) -> bool {
        self.model.inflight_longterm.is_some_and(|bound| ack.sample.prior_in_flight.saturating_add(self.mtu) > bound)
    }

    /// The draft's `RaiseInflightLongtermSlope`: the bound grows by 1, 2, 4, ... packets a round.
    pub(super) fn raise_growth(&mut self) {
        let increments = 1 << self.probe.up_rounds;
        self.probe.up_rounds = (self.probe.up_rounds + 1).min(MOST_UP_ROUNDS);
        self.probe.acked_per_increment = Some((self.window / increments).max(self.mtu));
    }

    /// The draft's `IsTimeToProbeBW`, once the last probe has told all: its end is what makes the filter of `max_bw` forget.
    fn is_time_to_probe(&self, now: Timestamp) -> bool {
        let Probe { stopping, cycle_began, wait, rounds_since_up, .. } = self.probe;
        let is_due =
            now > cycle_began + wait || rounds_since_up >= (self.target_inflight() / self.mtu).min(MOST_RENO_ROUNDS);
        is_due && !stopping
    }

    /// The draft's `IsTimeToCruise`: there is headroom, and no queue. A probe that losses ended drains for longer than the
    /// acknowledgement that told of them: it would go on at a higher rate with them than without them.
    fn is_time_to_cruise(&self, ack: &Ack<'_>) -> bool {
        let in_flight = ack.flight.bytes;
        let ended_by_losses = self.probe.previous.too_high && self.probe.cycle_began == ack.sample.now;
        !ended_by_losses
            && self.inflight_with_headroom().is_none_or(|bound| in_flight <= bound)
            && in_flight <= self.inflight(self.model.max_bdp())
    }

    /// The draft's `IsTimeToGoDown`.
    fn is_time_to_go_down(&mut self, ack: &Ack<'_>) -> bool {
        if self.probe.previous.too_high && self.is_longterm_reached(ack) {
            self.probe.previous.precautionary = true;
            return true;
        }
        if self.longterm_in_use(ack).is_some() {
            self.look_for_plateau_above(ack);
            return false;
        }
        self.full_pipe.is_full()
    }
}
