//! Simulated time in picoseconds: at 800 Gb/s a header of 64 bytes takes 640 ps, which nanoseconds would round away.

use core::fmt;
use core::ops::Add;

use cc_algos::{Span, Timestamp};

/// A point in simulated time, in picoseconds since the start (213 days at most).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SimTime(u64);

const PICOS_PER_NANO: u64 = 1_000;

impl SimTime {
    /// The start of the simulation.
    pub const ZERO: Self = Self(0);
    /// Never.
    pub const MAX: Self = Self(u64::MAX);

    /// `picos` picoseconds after the start.
    pub const fn from_picos(picos: u64) -> Self {
        Self(picos)
    }

    /// Picoseconds since the start.
    pub const fn as_picos(self) -> u64 {
        self.0
    }

    /// The start of the nanosecond that controllers call `timestamp`, saturating.
    pub const fn from_timestamp(timestamp: Timestamp) -> Self {
        Self(timestamp.as_nanos().saturating_mul(PICOS_PER_NANO))
    }

    /// The time as controllers see it: floored to nanoseconds.
    pub const fn to_timestamp(self) -> Timestamp {
        Timestamp::from_nanos(self.0 / PICOS_PER_NANO)
    }

    /// This time plus `picos`, saturating.
    pub const fn plus_picos(self, picos: u64) -> Self {
        Self(self.0.saturating_add(picos))
    }

    /// Picoseconds since `earlier`; zero if that lies in the future.
    pub const fn picos_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Time since `earlier`, floored to nanoseconds; zero if that lies in the future.
    pub const fn since(self, earlier: Self) -> Span {
        Span::from_nanos(self.picos_since(earlier) / PICOS_PER_NANO)
    }
}

/// Saturates.
impl Add<Span> for SimTime {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        self.plus_picos(span.as_nanos().saturating_mul(PICOS_PER_NANO))
    }
}

impl fmt::Debug for SimTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}+{}ps", self.to_timestamp(), self.0 % PICOS_PER_NANO)
    }
}
