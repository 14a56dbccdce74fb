//! Pacing rate, quantum and window: section "Updating Control Parameters".

use super::super::pacing::Gain;
use super::super::window::initial_window;
use super::Bbr3;
use super::state::State;
use crate::controller::Flight;
use crate::units::Span;

/// Most bytes that leave back to back.
const MOST_QUANTUM: u64 = 65_536;

/// The time in which a quantum leaves.
const QUANTUM_SPAN: Span = Span::from_millis(1);

impl Bbr3 {
    /// The draft's `UpdateControlParameters`, for an acknowledgement of `acked` bytes.
    pub(super) fn update_control(&mut self, flight: &Flight<'_>, acked: u64) {
        self.pace(self.pacing_gain());
        self.quantum = self.quantum_at_rate();
        self.set_window(flight, acked);
    }

    fn pace(&mut self, gain: Gain) {
        if self.full_bw_reached {
            self.pacing.follow(self.model.bw(), gain, self.mtu);
        } else {
            self.pacing.follow_upwards(self.model.bw(), gain, self.mtu);
        }
    }

    /// As when sending resumes after silence: neither faster nor slower than the path delivers.
    pub(super) fn pace_at_bandwidth(&mut self) {
        self.pace(Gain::ONE);
    }

    /// The draft's `SetSendQuantum`.
    pub(super) fn quantum_at_rate(&self) -> u64 {
        self.pacing.rate().bytes_in(QUANTUM_SPAN).min(MOST_QUANTUM).max(self.mtu.saturating_mul(2))
    }

    /// The draft's `SetCwnd`.
    fn set_window(&mut self, flight: &Flight<'_>, acked: u64) {
        let most = self.max_inflight();
        let grown = if flight.limit.allows_growth() { self.window.saturating_add(acked) } else { self.window };
        if self.full_bw_reached {
            self.window = grown.min(most);
        } else if self.window < most || flight.delivered < self.initial_window() {
            self.window = grown;
        }
        self.window = self.window.max(self.min_pipe());
        if self.state == State::ProbeRtt {
            self.window = self.window.min(self.probe_rtt_window());
        }
        self.bound_window();
    }

    /// The draft's `BoundCwndForModel`.
    fn bound_window(&mut self) {
        let longterm = match self.state {
            State::Down | State::Refill | State::Up => self.model.inflight_longterm,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Startup | State::Drain { .. } => None,
        };
        for bound in [longterm, self.model.inflight_shortterm].into_iter().flatten() {
            self.window = self.window.min(bound.max(self.min_pipe()));
        }
    }

    /// The draft's `UpdateMaxInflight`.
    fn max_inflight(&self) -> u64 {
        let volume = self.cwnd_gain().of_bytes(self.model.bdp());
        self.inflight(volume.saturating_add(self.model.aggregation.extra_acked()))
    }

    /// The draft's `Inflight` for a multiple of the BDP: what has to be in flight at least so that a volume is delivered.
    pub(super) fn inflight(&self, volume: u64) -> u64 {
        let volume = if self.model.min_rtt().is_some() { volume } else { self.initial_window() };
        let probing = if self.state == State::Up { self.mtu.saturating_mul(2) } else { 0 };
        volume.max(self.quantum).max(self.min_pipe()).saturating_add(probing)
    }

    /// The draft's `InflightWithHeadroom`; `None` without a long-term bound.
    pub(super) fn inflight_with_headroom(&self) -> Option<u64> {
        let bound = self.model.inflight_longterm?;
        let headroom = self.gains.headroom.of_bytes(bound).max(self.mtu);
        Some(bound.saturating_sub(headroom).max(self.min_pipe()))
    }

    /// The draft's `ProbeRTTCwnd`.
    pub(super) fn probe_rtt_window(&self) -> u64 {
        let half = self.gains.probe_rtt_cwnd.of_bytes(self.model.bdp());
        let half = if self.model.min_rtt().is_some() { half } else { self.initial_window() };
        half.max(self.min_pipe())
    }

    pub(super) const fn initial_window(&self) -> u64 {
        initial_window(self.params.initial_window, self.mtu)
    }

    /// The draft's `SaveCwnd`.
    pub(super) fn save_window(&mut self, recovering: bool) {
        let is_whole = !recovering && self.state != State::ProbeRtt;
        self.prior_window = if is_whole { self.window } else { self.prior_window.max(self.window) };
    }

    /// The draft's `RestoreCwnd`.
    pub(super) fn restore_window(&mut self) {
        self.window = self.window.max(self.prior_window);
    }

    /// Packets may be of another size from now on. A window that has not moved yet follows (RFC 9002, section 7.2).
    pub(super) fn set_mtu(&mut self, mtu: u64) {
        let untouched = self.window == self.initial_window().max(self.min_pipe());
        self.mtu = mtu.max(1);
        self.window = if untouched { self.initial_window() } else { self.window }.max(self.min_pipe());
        self.quantum = self.quantum_at_rate();
    }
}
