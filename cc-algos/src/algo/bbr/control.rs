//! Pacing rate, quantum and window (`bbr_set_pacing_rate`, `bbr_tso_segs_goal`, `bbr_set_cwnd`).

use super::super::pacing::Gain;
use super::super::window::initial_window;
use super::{Ack, Bbr, MIN_PACKETS, Repair, State};
use crate::controller::{Feedback, Flight};
use crate::units::{Rate, Span};

/// Quanta that fit into the window beside what the path holds: in the sender's queue, in its offload engine and at the
/// receiver (`bbr_quantization_budget`).
const QUANTA: u64 = 3;

/// Most bytes that leave back to back: Linux's `GSO_MAX_SIZE` less headers, and 127 packets.
const MOST_QUANTUM: u64 = 65_536 - 1 - 320;
const MOST_QUANTUM_PACKETS: u64 = 127;

/// The time in which a quantum leaves (`sk_pacing_shift` of 10: 1/1024 s).
const QUANTUM_SPAN: Span = Span::from_nanos(976_562);

/// Below this rate packets leave one by one (`bbr_min_tso_rate`).
const PAIRS_FROM: Rate = Rate::from_kbps(1_200);

/// Time at the bandwidth that bounds what the window holds for aggregation (`bbr_extra_acked_max_us`).
const MOST_AGGREGATION: Span = Span::from_millis(100);

impl Bbr {
    pub(super) const fn min_window(&self) -> u64 {
        self.mtu.saturating_mul(MIN_PACKETS)
    }

    pub(super) fn pace(&mut self, gain: Gain) {
        let bw = self.bw();
        if self.full_pipe.is_full() {
            self.pacing.follow(bw, gain, self.mtu);
        } else {
            self.pacing.follow_upwards(bw, gain, self.mtu);
        }
    }

    /// `bbr_tso_segs_goal`, bytes.
    pub(super) fn quantum(&self) -> u64 {
        let rate = self.pacing.rate();
        let least = if rate < PAIRS_FROM { 1 } else { 2 };
        let packets = rate.bytes_in(QUANTUM_SPAN).min(MOST_QUANTUM) / self.mtu;
        packets.max(least).min(MOST_QUANTUM_PACKETS).saturating_mul(self.mtu)
    }

    /// `bbr_bdp`, bytes.
    pub(super) fn bdp_of(&self, bw: Rate, gain: Gain) -> u64 {
        match self.min_rtt.get() {
            Some(min_rtt) => gain.of_bytes(bw.bytes_in(min_rtt)),
            None => initial_window(self.params.initial_window, self.mtu),
        }
    }

    /// `bbr_quantization_budget`: what has to be in flight so that a volume is delivered.
    pub(super) fn inflight(&self, volume: u64) -> u64 {
        let volume = volume.saturating_add(self.quantum().saturating_mul(QUANTA));
        // Receivers acknowledge pairs.
        let pair = self.mtu.saturating_mul(2);
        let volume = volume.div_ceil(pair).saturating_mul(pair);
        let probing = matches!(self.state, State::ProbeBw { phase: 0, .. });
        volume.saturating_add(if probing { pair } else { 0 })
    }

    /// `bbr_ack_aggregation_cwnd`.
    fn aggregation_allowance(&self) -> u64 {
        if !self.full_pipe.is_full() {
            return 0;
        }
        self.aggregation.extra_acked().min(self.bw().bytes_in(MOST_AGGREGATION))
    }

    /// `bbr_set_cwnd`.
    pub(super) fn set_window(&mut self, ack: &Ack<'_>) {
        let acked = ack.sample.newly_acked;
        if !self.repairs(ack) {
            let volume = self.bdp_of(self.bw(), self.cwnd_gain()).saturating_add(self.aggregation_allowance());
            let target = self.inflight(volume);
            let grown = if ack.flight.limit.allows_growth() { self.window.saturating_add(acked) } else { self.window };
            let initial = initial_window(self.params.initial_window, self.mtu);
            if self.full_pipe.is_full() {
                self.window = grown.min(target);
            } else if self.window < target || ack.flight.delivered < initial {
                self.window = grown;
            }
            self.window = self.window.max(self.min_window());
        }
        if self.state == State::ProbeRtt {
            self.window = self.window.min(self.min_window());
        }
    }

    /// `bbr_set_cwnd_to_recover_or_restore`. True in the first round of a recovery, where the window follows what is in
    /// flight.
    fn repairs(&mut self, ack: &Ack<'_>) -> bool {
        let lost = ack.feedback.newly_lost.bytes.saturating_add(ack.feedback.recovered.bytes);
        let conserved = ack.flight.bytes.saturating_add(ack.sample.newly_acked).max(self.mtu);
        self.window = self.window.saturating_sub(lost).max(self.mtu);
        match self.repair {
            Repair::None => return false,
            Repair::Begun { from } => {
                self.repair = Repair::Conserving { from };
                self.rounds.restart(ack.flight.delivered);
                self.window = conserved;
            }
            Repair::Conserving { from } | Repair::Growing { from }
                if lost == 0 && ack.sample.at_send.delivered >= from =>
            {
                self.repair = Repair::None;
                self.restore_window();
            }
            Repair::Conserving { from } if ack.round_start => self.repair = Repair::Growing { from },
            Repair::Conserving { .. } | Repair::Growing { .. } => {}
        }
        let conserves = matches!(self.repair, Repair::Conserving { .. });
        if conserves {
            self.window = self.window.max(conserved);
        }
        conserves
    }

    /// A time-out: one packet may leave (`tcp_enter_loss`), the plateau is looked for anew and the policer learns of a loss
    /// (`bbr_set_state`).
    pub(super) fn on_retransmission_timeout(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        if self.repair == Repair::None {
            self.save_window();
        }
        let missing = feedback.prior_in_flight.max(feedback.newly_lost.bytes);
        self.repair = Repair::Growing { from: flight.delivered.saturating_add(missing) };
        if self.params.policer {
            self.policer.on_loss(feedback.now, flight);
        }
        if !self.full_pipe.is_full() {
            self.full_pipe.forget_baseline();
        }
        self.window = self.window.min(flight.bytes.saturating_add(self.mtu));
    }

    /// Packets may be of another size from now on. A window that has not moved yet follows (RFC 9002, section 7.2).
    pub(super) fn set_mtu(&mut self, mtu: u64) {
        let initial = |mtu| initial_window(self.params.initial_window, mtu);
        let untouched = self.window == initial(self.mtu).max(self.min_window());
        let window = if untouched { initial(mtu.max(1)) } else { self.window };
        self.mtu = mtu.max(1);
        self.window = window.max(self.min_window());
    }
}
