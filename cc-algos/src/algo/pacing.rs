//! Pacing along an estimate of the bottleneck's bandwidth: what `bbr` and `bbr3` share.
//!
//! ```text
//! at first            rate = gain x initial window / RTT         1 ms as long as no RTT is known
//! once measured       rate = gain x bandwidth x 0.99             lowered only once the pipe was full
//! ```
//!
//! Sources: draft-ietf-ccwg-bbr, section "Pacing Rate"; Linux `tcp_bbr.c`, `bbr_set_pacing_rate`.
//!
//! A rate never falls below four packets in ten seconds (ours): the smallest window allows as much on any path, and a flow
//! whose estimate collapsed can thus measure anew.

use crate::units::{Rate, Span, mul_div, round_to_u64};

/// RTT to assume as long as none is known.
const NOMINAL_RTT: Span = Span::from_millis(1);

/// Share of the bandwidth that is used: 99 %.
const MARGIN: (u64, u64) = (99, 100);

/// Packets that may always leave within [`LEAST_RATE_SPAN`].
const LEAST_RATE_PACKETS: u64 = 4;
const LEAST_RATE_SPAN: Span = Span::from_secs(10);

/// A factor in thousandths, so that its products are exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gain(u64);

impl Gain {
    const UNIT: u64 = 1_000;

    /// Leaves what it is applied to as it is.
    pub const ONE: Self = Self(Self::UNIT);

    /// The nearest thousandth; negative and NaN give zero.
    pub fn from_f64(factor: f64) -> Self {
        Self(round_to_u64(factor * Self::UNIT as f64))
    }

    /// A number of bytes times this, rounded down.
    pub const fn of_bytes(self, bytes: u64) -> u64 {
        mul_div(bytes, self.0, Self::UNIT)
    }

    /// A rate times this, rounded down.
    pub const fn of_rate(self, rate: Rate) -> Rate {
        rate.mul_div(self.0, Self::UNIT)
    }
}

/// The rate that packets leave at.
#[derive(Clone, Debug)]
pub struct ModelPacing {
    rate: Rate,
    basis: Basis,
}

/// What the rate derives from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Basis {
    /// The initial window over a nominal RTT.
    Nominal,
    /// That over the first RTT measured, or the bandwidth.
    Measured,
}

impl ModelPacing {
    /// The rate of a flow that begins with `window`, at `gain`, over an RTT if one is known.
    pub fn new(window: u64, rtt: Option<Span>, gain: Gain) -> Self {
        let mut new = Self { rate: Rate::ZERO, basis: Basis::Nominal };
        new.begin(window, rtt, gain);
        new
    }

    fn begin(&mut self, window: u64, rtt: Option<Span>, gain: Gain) {
        if rtt.is_some() {
            self.basis = Basis::Measured;
        }
        let nominal = Rate::from_bytes_in(window, rtt.unwrap_or(NOMINAL_RTT).max(Span::from_nanos(1)));
        self.rate = gain.of_rate(nominal.unwrap_or(Rate::MAX)).max(Rate::from_bps(1));
    }

    /// The first RTT was measured: the rate of the initial window over it replaces the one over the nominal RTT. Without
    /// this an application-limited flow would keep the latter, for nothing it sends measures more.
    pub fn on_rtt(&mut self, window: u64, rtt: Option<Span>, gain: Gain) {
        if self.basis == Basis::Nominal && rtt.is_some() {
            self.begin(window, rtt, gain);
        }
    }

    /// The bandwidth is `bandwidth`. Packets of `mtu` bytes leave at `gain` times that.
    pub fn follow(&mut self, bandwidth: Rate, gain: Gain, mtu: u64) -> Rate {
        let least = Rate::from_bytes_in(mtu.saturating_mul(LEAST_RATE_PACKETS), LEAST_RATE_SPAN);
        self.rate = gain.of_rate(bandwidth).mul_div(MARGIN.0, MARGIN.1).max(least.unwrap_or(Rate::MAX));
        self.rate
    }

    /// As [`ModelPacing::follow`], as long as the pipe was never full: a measured bandwidth may be the application's, so it
    /// only raises the rate.
    pub fn follow_upwards(&mut self, bandwidth: Rate, gain: Gain, mtu: u64) {
        let before = self.rate;
        self.rate = self.follow(bandwidth, gain, mtu).max(before);
    }

    /// The rate.
    pub const fn rate(&self) -> Rate {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MTU: u64 = 1_500;

    fn gain(factor: f64) -> Gain {
        Gain::from_f64(factor)
    }

    #[test]
    fn the_first_rtt_replaces_the_nominal_one_and_only_once() {
        // 12 kB / 1 ms = 96 Mb/s; over 40 ms it is 2.4 Mb/s.
        let mut pacing = ModelPacing::new(12_000, None, gain(2.77));
        assert_eq!(pacing.rate(), Rate::from_kbps(265_920));
        pacing.on_rtt(12_000, None, gain(2.77));
        assert_eq!(pacing.rate(), Rate::from_kbps(265_920));
        pacing.on_rtt(12_000, Some(Span::from_millis(40)), gain(2.77));
        assert_eq!(pacing.rate(), Rate::from_kbps(6_648));
        pacing.on_rtt(12_000, Some(Span::from_millis(1)), gain(2.77));
        assert_eq!(pacing.rate(), Rate::from_kbps(6_648));
    }

    #[test]
    fn the_bandwidth_lowers_the_rate_only_once_the_pipe_was_full() {
        let mut pacing = ModelPacing::new(15_000, Some(Span::from_millis(10)), Gain::ONE);
        assert_eq!(pacing.rate(), Rate::from_mbps(12));
        pacing.follow_upwards(Rate::from_mbps(10), Gain::ONE, MTU);
        assert_eq!(pacing.rate(), Rate::from_mbps(12));
        pacing.follow_upwards(Rate::from_mbps(10), gain(1.25), MTU);
        assert_eq!(pacing.rate(), Rate::from_kbps(12_375), "1 % below 12.5 Mb/s");
        pacing.follow(Rate::from_mbps(10), Gain::ONE, MTU);
        assert_eq!(pacing.rate(), Rate::from_kbps(9_900));
    }

    #[test]
    fn a_collapsed_estimate_still_lets_four_packets_leave_in_ten_seconds() {
        let mut pacing = ModelPacing::new(15_000, None, Gain::ONE);
        pacing.follow(Rate::ZERO, Gain::ONE, MTU);
        assert_eq!(pacing.rate().bytes_in(Span::from_secs(10)), 4 * MTU);
    }

    #[test]
    fn products_saturate() {
        assert_eq!(gain(2.77).of_rate(Rate::MAX), Rate::MAX);
        assert_eq!(gain(2.0).of_bytes(u64::MAX), u64::MAX);
        assert_eq!(gain(f64::NAN).of_bytes(5), 0);
        let pacing = ModelPacing::new(u64::MAX, Some(Span::ZERO), gain(2.77));
        assert_eq!(pacing.rate(), Rate::MAX);
    }
}
