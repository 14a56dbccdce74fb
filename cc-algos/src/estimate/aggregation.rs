//! How much a path aggregates data or acknowledgements (draft-ietf-ccwg-bbr, section "BBR.extra_acked").
//!
//! ```text
//! excess       = bytes acknowledged in an episode - bandwidth x its length
//! extra_acked  = the largest excess of the last rounds
//! ```
//!
//! An episode ends when no more has been acknowledged than the bandwidth accounts for.

use super::WindowedMax;
use crate::units::{Rate, Timestamp};

/// The episode that is running, and the largest excess of the last rounds.
#[derive(Clone, Debug)]
pub struct AckAggregation {
    began: Timestamp,
    acked: u64,
    largest: WindowedMax<u64, u64>,
}

impl AckAggregation {
    /// A flow that begins at `now` and remembers `rounds` rounds.
    pub const fn new(now: Timestamp, rounds: u64) -> Self {
        Self { began: now, acked: 0, largest: WindowedMax::new(rounds) }
    }

    /// `acked` bytes were acknowledged on a path of `bandwidth`: what the episode has in excess.
    pub fn on_acked(&mut self, now: Timestamp, acked: u64, bandwidth: Rate) -> u64 {
        let mut expected = bandwidth.bytes_in(now.saturating_since(self.began));
        if self.acked <= expected {
            self.restart(now);
            expected = 0;
        }
        self.acked = self.acked.saturating_add(acked);
        self.acked.saturating_sub(expected)
    }

    /// Keeps an excess of round number `round` in mind.
    pub fn remember(&mut self, round: u64, excess: u64) {
        self.largest.update(round, excess);
    }

    /// From now on the memory reaches back `rounds` rounds.
    pub const fn set_memory(&mut self, rounds: u64) {
        self.largest.set_window(rounds);
    }

    /// A new episode begins, as after idleness.
    pub const fn restart(&mut self, now: Timestamp) {
        self.began = now;
        self.acked = 0;
    }

    /// The largest excess that is remembered, bytes.
    pub fn extra_acked(&self) -> u64 {
        self.largest.get().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    fn at(millis: u64) -> Timestamp {
        Timestamp::ZERO + Span::from_millis(millis)
    }

    /// 8 Mb/s: 1 000 bytes a millisecond.
    const BANDWIDTH: Rate = Rate::from_mbps(8);

    #[test]
    fn acknowledgements_spaced_as_the_bandwidth_says_exceed_it_by_one_packet() {
        let mut path = AckAggregation::new(at(0), 10);
        for millis in 1..100 {
            assert_eq!(path.on_acked(at(millis), 1_000, BANDWIDTH), 1_000, "{millis} ms");
        }
    }

    #[test]
    fn a_burst_after_silence_counts_as_far_as_it_exceeds_the_bandwidth() {
        let mut path = AckAggregation::new(at(0), 10);
        // 10 ms of silence, then 10 acknowledgements within a millisecond.
        let excess: Vec<_> = (0..10).map(|_| path.on_acked(at(10), 1_000, BANDWIDTH)).collect();
        assert_eq!(excess, (1..=10).map(|packets| packets * 1_000).collect::<Vec<_>>());
        assert_eq!(path.on_acked(at(15), 1_000, BANDWIDTH), 6_000, "11 000 acknowledged in 5 ms");
        assert_eq!(path.on_acked(at(30), 1_000, BANDWIDTH), 1_000, "the episode is over");
    }

    #[test]
    fn the_largest_excess_is_forgotten_after_the_given_rounds() {
        let mut path = AckAggregation::new(at(0), 10);
        path.remember(0, 9_000);
        (1..=10).for_each(|round| path.remember(round, 1_000));
        assert_eq!(path.extra_acked(), 9_000);
        path.remember(11, 1_000);
        assert_eq!(path.extra_acked(), 1_000);
        path.remember(12, 5_000);
        path.set_memory(1);
        path.remember(14, 2_000);
        assert_eq!(path.extra_acked(), 2_000);
    }
}
