//! Piecewise-constant rate series.

use crate::error::{TraceError, TraceErrorKind};
use crate::trace::{BIT_NS_PER_BYTE, MAX_DURATION_NS, MAX_RATE_BPS, MAX_SEGMENTS, Playback};

/// One step of a rate series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Segment {
    /// How long it lasts, in nanoseconds.
    pub duration_ns: u64,
    /// Its rate in bits per second; 0 is an outage.
    pub bps: u64,
}

impl Segment {
    /// A segment of `bps` bits per second for `duration_ns` nanoseconds.
    pub const fn new(duration_ns: u64, bps: u64) -> Self {
        Self { duration_ns, bps }
    }
}

/// A rate that is constant over each of its segments.
///
/// Every segment lasts some time, the whole at most [`MAX_DURATION_NS`], no rate passes [`MAX_RATE_BPS`], and at least
/// one is above zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateTrace {
    segments: Vec<Segment>,
    /// For each segment the time and the bit-nanoseconds (bits per second times nanoseconds) before its start.
    before: Vec<(u64, u128)>,
    period_ns: u64,
    period_bit_ns: u128,
    playback: Playback,
}

impl RateTrace {
    /// Builds a series from its segments.
    ///
    /// # Errors
    /// If there is no segment or too many, if one lasts no time, if the whole lasts too long, if a rate is beyond
    /// [`MAX_RATE_BPS`], or if all rates are zero.
    pub fn new(segments: Vec<Segment>, playback: Playback) -> Result<Self, TraceError> {
        if segments.is_empty() {
            return Err(TraceErrorKind::Empty("segment").into());
        }
        if segments.len() > MAX_SEGMENTS {
            return Err(TraceErrorKind::TooLarge { what: "segments", limit: MAX_SEGMENTS as u64 }.into());
        }
        let mut before = Vec::with_capacity(segments.len());
        let (mut period_ns, mut period_bit_ns) = (0_u64, 0_u128);
        for (index, segment) in segments.iter().enumerate() {
            if segment.duration_ns == 0 {
                return Err(TraceErrorKind::ZeroDuration { index }.into());
            }
            check_rate(segment.bps)?;
            before.push((period_ns, period_bit_ns));
            period_ns = period_ns.saturating_add(segment.duration_ns);
            check_duration(period_ns)?;
            period_bit_ns += u128::from(segment.duration_ns) * u128::from(segment.bps);
        }
        if period_bit_ns == 0 {
            return Err(TraceErrorKind::AllZero.into());
        }
        Ok(Self { segments, before, period_ns, period_bit_ns, playback })
    }

    /// A looping series of one rate.
    ///
    /// # Errors
    /// As [`RateTrace::new`].
    pub fn constant(bps: u64, duration_ns: u64) -> Result<Self, TraceError> {
        Self::new(vec![Segment::new(duration_ns, bps)], Playback::Loop)
    }

    /// The segments in order.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Each segment with its start within the period, in nanoseconds.
    pub fn starts(&self) -> impl ExactSizeIterator<Item = (u64, Segment)> + '_ {
        self.before.iter().map(|(start, _)| *start).zip(self.segments.iter().copied())
    }

    /// The length of one pass in nanoseconds.
    pub fn period_ns(&self) -> u64 {
        self.period_ns
    }

    /// What happens after the last segment.
    pub fn playback(&self) -> Playback {
        self.playback
    }

    /// The same series with another end.
    #[must_use]
    pub fn with_playback(mut self, playback: Playback) -> Self {
        self.playback = playback;
        self
    }

    /// The rate in force at `t_ns`: that of the segment that holds it, or zero after the end of a series played once.
    pub fn bps_at(&self, t_ns: u64) -> u64 {
        let t = match self.playback {
            Playback::Loop => t_ns % self.period_ns,
            Playback::Once if t_ns >= self.period_ns => return 0,
            Playback::Once => t_ns,
        };
        self.segments[self.index_at(t)].bps
    }

    /// The bytes offered before `t_ns`, rounded down.
    pub fn bytes_before(&self, t_ns: u64) -> u64 {
        u64::try_from(self.bit_ns_before(t_ns) / BIT_NS_PER_BYTE).unwrap_or(u64::MAX)
    }

    /// The last segment that starts at or before `t`.
    fn index_at(&self, t: u64) -> usize {
        self.before.partition_point(|(start, _)| *start <= t) - 1
    }

    pub(crate) fn period_bit_ns(&self) -> u128 {
        self.period_bit_ns
    }

    /// Bits per second times nanoseconds, summed from 0 to `t_ns`.
    pub(crate) fn bit_ns_before(&self, t_ns: u64) -> u128 {
        match self.playback {
            Playback::Loop => {
                let passes = u128::from(t_ns / self.period_ns);
                passes * self.period_bit_ns + self.pass_bit_ns_until(t_ns % self.period_ns)
            }
            Playback::Once => self.pass_bit_ns_until(t_ns.min(self.period_ns)),
        }
    }

    /// The same within one pass; `t_ns` is at most the period.
    pub(crate) fn pass_bit_ns_until(&self, t_ns: u64) -> u128 {
        let index = self.index_at(t_ns);
        let (start, sum) = self.before[index];
        sum + u128::from(t_ns - start) * u128::from(self.segments[index].bps)
    }
}

pub(crate) fn check_duration(ns: u64) -> Result<(), TraceErrorKind> {
    if ns > MAX_DURATION_NS {
        return Err(TraceErrorKind::OutOfRange {
            what: "duration",
            text: format!("{ns} ns"),
            limit: format!("{MAX_DURATION_NS} ns (seven days)"),
        });
    }
    Ok(())
}

pub(crate) fn check_rate(bps: u64) -> Result<(), TraceErrorKind> {
    if bps > MAX_RATE_BPS {
        return Err(TraceErrorKind::OutOfRange {
            what: "rate",
            text: format!("{bps} bit/s"),
            limit: format!("{MAX_RATE_BPS} bit/s (100 Tb/s)"),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn two_steps(playback: Playback) -> RateTrace {
        RateTrace::new(vec![Segment::new(2 * MS, 8_000_000), Segment::new(MS, 0)], playback).unwrap()
    }

    #[test]
    fn a_loop_starts_again() {
        let trace = two_steps(Playback::Loop);
        assert_eq!(trace.period_ns(), 3 * MS);
        assert_eq!([0, 2 * MS, 3 * MS].map(|t| trace.bps_at(t)), [8_000_000, 0, 8_000_000]);
        // 8 Mb/s is 1000 bytes a millisecond, for two of every three.
        assert_eq!([0, MS, 3 * MS, 4 * MS, 30 * MS].map(|t| trace.bytes_before(t)), [0, 1000, 2000, 3000, 20_000]);
        assert_eq!(trace.bytes_before(u64::MAX) / 1000, u64::MAX / (3 * MS) * 2 + 1);
    }

    #[test]
    fn a_series_played_once_ends_in_silence() {
        let trace = two_steps(Playback::Once);
        assert_eq!(trace.bps_at(3 * MS), 0);
        assert_eq!(trace.bytes_before(u64::MAX), 2000);
    }

    #[test]
    fn refuses_what_cannot_be_played() {
        let kind = |segments| RateTrace::new(segments, Playback::Loop).unwrap_err().to_string();
        assert_eq!(kind(vec![]), "empty: expected at least one segment");
        assert_eq!(kind(vec![Segment::new(1, 1), Segment::new(0, 1)]), "segment 1 lasts no time");
        assert!(kind(vec![Segment::new(1, 0)]).contains("zero throughout"));
        assert!(kind(vec![Segment::new(u64::MAX, 1), Segment::new(u64::MAX, 1)]).contains("seven days"));
        assert!(kind(vec![Segment::new(1, u64::MAX)]).contains("rate is out of range"));
    }
}
