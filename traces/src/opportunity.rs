//! Delivery opportunities, the way mahimahi's link shell sees a link.

use crate::error::{TraceError, TraceErrorKind};
use crate::rate::{check_duration, check_rate};
use crate::trace::{BIT_NS_PER_BYTE, MAX_OPPORTUNITIES, Playback};

/// Instants at which a link can deliver a fixed number of bytes.
///
/// The semantics are mahimahi's (`link_queue.cc`): each instant is worth [`bytes`](Self::bytes) bytes, the same instant
/// may occur several times, a packet larger than what is left of an opportunity goes on in the next one, and what finds
/// an empty queue is lost. One pass lasts until the last instant; a looping trace then starts again with that instant as
/// its zero, so that an entry at 0 coincides with the last one of the pass before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpportunityTrace {
    times_ns: Vec<u64>,
    bytes: u64,
    playback: Playback,
}

impl OpportunityTrace {
    /// Builds a trace from its instants in nanoseconds, in order, each worth `bytes` bytes.
    ///
    /// # Errors
    /// If there is no instant or too many, if they go backwards or too far, if the last is 0, or if `bytes` is 0 or
    /// so large that the mean rate passes [`MAX_RATE_BPS`](crate::MAX_RATE_BPS).
    pub fn new(times_ns: Vec<u64>, bytes: u64, playback: Playback) -> Result<Self, TraceError> {
        if bytes == 0 {
            return Err(TraceErrorKind::ZeroOpportunity.into());
        }
        if times_ns.len() > MAX_OPPORTUNITIES {
            return Err(TraceErrorKind::TooLarge { what: "opportunities", limit: MAX_OPPORTUNITIES as u64 }.into());
        }
        let Some(last) = times_ns.last().copied() else {
            return Err(TraceErrorKind::Empty("opportunity").into());
        };
        if let Some(pair) = times_ns.windows(2).find(|pair| pair[1] < pair[0]) {
            let [previous, found] = [pair[0], pair[1]].map(|ns| format!("{ns} ns"));
            return Err(TraceErrorKind::Backwards { previous, found }.into());
        }
        if last == 0 {
            return Err(TraceErrorKind::ZeroPeriod.into());
        }
        check_duration(last)?;
        let trace = Self { times_ns, bytes, playback };
        check_rate(u64::try_from(trace.period_bit_ns() / u128::from(last)).unwrap_or(u64::MAX))?;
        Ok(trace)
    }

    /// The instants of one pass in nanoseconds, in order.
    pub fn times_ns(&self) -> &[u64] {
        &self.times_ns
    }

    /// What each opportunity delivers.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Instant in nanoseconds and bytes of each opportunity of one pass.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u64, u64)> + '_ {
        self.times_ns.iter().map(|t| (*t, self.bytes))
    }

    /// Number of opportunities in one pass.
    pub fn count(&self) -> usize {
        self.times_ns.len()
    }

    /// The length of one pass in nanoseconds: the last instant.
    pub fn period_ns(&self) -> u64 {
        self.times_ns.last().copied().unwrap_or(0)
    }

    /// What happens after the last opportunity.
    pub fn playback(&self) -> Playback {
        self.playback
    }

    /// The same opportunities with another end.
    #[must_use]
    pub fn with_playback(mut self, playback: Playback) -> Self {
        self.playback = playback;
        self
    }

    /// The opportunities of all passes strictly before `t_ns`.
    pub fn count_before(&self, t_ns: u64) -> u64 {
        let within = |t: u64| self.times_ns.partition_point(|x| *x < t) as u64;
        match self.playback {
            Playback::Once => within(t_ns),
            // A pass covers the instants above its zero up to and including its period, plus those at zero; a moment
            // just before `t_ns` therefore belongs to the pass that `t_ns - 1` lies in.
            Playback::Loop => {
                let Some(last_ns) = t_ns.checked_sub(1) else {
                    return 0;
                };
                let passes = last_ns / self.period_ns();
                passes * self.count() as u64 + within(last_ns % self.period_ns() + 1)
            }
        }
    }

    /// The bytes offered strictly before `t_ns`.
    pub fn bytes_before(&self, t_ns: u64) -> u64 {
        self.count_before(t_ns).saturating_mul(self.bytes)
    }

    pub(crate) fn period_bit_ns(&self) -> u128 {
        self.count() as u128 * u128::from(self.bytes) * BIT_NS_PER_BYTE
    }

    /// What one pass has delivered up to and including `t_ns`.
    pub(crate) fn pass_bit_ns_until(&self, t_ns: u64) -> u128 {
        let count = self.times_ns.partition_point(|x| *x <= t_ns);
        count as u128 * u128::from(self.bytes) * BIT_NS_PER_BYTE
    }

    pub(crate) fn bit_ns_before(&self, t_ns: u64) -> u128 {
        u128::from(self.count_before(t_ns)) * u128::from(self.bytes) * BIT_NS_PER_BYTE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_ends_at_its_last_instant_and_wraps_there() {
        let trace = OpportunityTrace::new(vec![0, 1, 1, 4], 1500, Playback::Loop).unwrap();
        assert_eq!(trace.period_ns(), 4);
        // Instants of three passes: 0 1 1 4 | 4 5 5 8 | 8 9 9 12.
        let expected = [0, 1, 3, 3, 3, 5, 7, 7, 7, 9];
        for (t, count) in expected.into_iter().enumerate() {
            assert_eq!(trace.count_before(t as u64), count, "before {t}");
        }
        assert_eq!(trace.bytes_before(5), 7500);
        assert_eq!(trace.with_playback(Playback::Once).count_before(u64::MAX), 4);
    }

    #[test]
    fn refuses_what_mahimahi_refuses() {
        let error = |times, bytes| OpportunityTrace::new(times, bytes, Playback::Loop).unwrap_err().to_string();
        assert_eq!(error(vec![], 1504), "empty: expected at least one opportunity");
        assert_eq!(error(vec![5, 4], 1504), "time goes backwards: 4 ns after 5 ns");
        assert!(error(vec![0, 0], 1504).contains("last timestamp is 0"));
        assert!(error(vec![1], 0).contains("at least one byte"));
        assert!(error(vec![1], u64::MAX).contains("rate is out of range"));
        assert!(error(vec![u64::MAX], 1504).contains("seven days"));
    }
}
