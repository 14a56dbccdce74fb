//! The central type: a link whose capacity changes over time.

use crate::opportunity::OpportunityTrace;
use crate::rate::RateTrace;

/// Bytes of one mahimahi opportunity: an MTU of 1500 plus the 4-byte header of a TUN device (mahimahi,
/// `link_queue.cc`, where the constant is 1504).
pub const MAHIMAHI_OPPORTUNITY_BYTES: u64 = 1504;
/// The longest pass accepted, in nanoseconds: seven days. Ours, so that statistics stay bounded in memory.
pub const MAX_DURATION_NS: u64 = 7 * 24 * 3600 * 1_000_000_000;
/// The highest rate accepted, in bits per second: 100 Tb/s. Ours, far above any port.
pub const MAX_RATE_BPS: u64 = 100_000_000_000_000;
/// The most segments a rate series may have. Ours, so that a hostile file cannot exhaust memory.
pub const MAX_SEGMENTS: usize = 1 << 22;
/// The most opportunities a trace may have. Ours, so that a hostile file cannot exhaust memory.
pub const MAX_OPPORTUNITIES: usize = 1 << 24;

/// One byte in the unit that the sums inside this crate use: bits per second times nanoseconds.
pub(crate) const BIT_NS_PER_BYTE: u128 = 8 * 1_000_000_000;

/// What happens when a trace has been played to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Playback {
    /// It starts again.
    #[default]
    Loop,
    /// The link stays silent.
    Once,
}

/// A link's capacity over time, in one of two shapes.
///
/// [`to_rate`](Self::to_rate) and [`to_opportunities`](Self::to_opportunities) turn one shape into the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trace {
    /// Instants worth a fixed number of bytes each.
    Opportunities(OpportunityTrace),
    /// A piecewise-constant rate.
    Rate(RateTrace),
}

impl Trace {
    /// The length of one pass in nanoseconds; never zero.
    pub fn period_ns(&self) -> u64 {
        match self {
            Self::Opportunities(trace) => trace.period_ns(),
            Self::Rate(trace) => trace.period_ns(),
        }
    }

    /// What happens after the end.
    pub fn playback(&self) -> Playback {
        match self {
            Self::Opportunities(trace) => trace.playback(),
            Self::Rate(trace) => trace.playback(),
        }
    }

    /// The same trace with another end.
    #[must_use]
    pub fn with_playback(self, playback: Playback) -> Self {
        match self {
            Self::Opportunities(trace) => Self::Opportunities(trace.with_playback(playback)),
            Self::Rate(trace) => Self::Rate(trace.with_playback(playback)),
        }
    }

    /// The mean rate over one pass in bits per second, rounded down.
    pub fn mean_bps(&self) -> u64 {
        let bit_ns = match self {
            Self::Opportunities(trace) => trace.period_bit_ns(),
            Self::Rate(trace) => trace.period_bit_ns(),
        };
        // The constructors bound the mean by MAX_RATE_BPS.
        u64::try_from(bit_ns / u128::from(self.period_ns())).unwrap_or(u64::MAX)
    }

    /// The bytes that the link offers from `from_ns` (inclusive) to `to_ns` (exclusive), rounded down; zero if the
    /// window is empty.
    pub fn offered_bytes(&self, from_ns: u64, to_ns: u64) -> u64 {
        let bit_ns = self.bit_ns_before(to_ns).saturating_sub(self.bit_ns_before(from_ns));
        u64::try_from(bit_ns / BIT_NS_PER_BYTE).unwrap_or(u64::MAX)
    }

    pub(crate) fn bit_ns_before(&self, t_ns: u64) -> u128 {
        match self {
            Self::Opportunities(trace) => trace.bit_ns_before(t_ns),
            Self::Rate(trace) => trace.bit_ns_before(t_ns),
        }
    }
}

impl From<OpportunityTrace> for Trace {
    fn from(trace: OpportunityTrace) -> Self {
        Self::Opportunities(trace)
    }
}

impl From<RateTrace> for Trace {
    fn from(trace: RateTrace) -> Self {
        Self::Rate(trace)
    }
}
