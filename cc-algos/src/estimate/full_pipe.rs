//! Whether a flow that accelerates has filled the pipe (draft-ietf-ccwg-bbr, section "Exiting Acceleration Based on
//! Bandwidth Plateau"; Linux `tcp_bbr.c`, `bbr_check_full_bw_reached`).

use crate::units::Rate;

/// Growth that counts as growth: by a quarter.
const GROWTH: (u64, u64) = (5, 4);

/// Rounds without it after which the pipe counts as full.
const ROUNDS: u32 = 3;

/// A plateau of the delivery rate: three round trips in which it did not grow by a quarter.
#[derive(Clone, Copy, Debug, Default)]
pub struct FullPipe {
    baseline: Rate,
    rounds: u32,
}

impl FullPipe {
    /// Looks for a plateau from now on, above `baseline`.
    pub const fn above(baseline: Rate) -> Self {
        Self { baseline, rounds: 0 }
    }

    /// A round trip ended that delivered at `rate`, and the application had enough to send.
    pub fn on_round(&mut self, rate: Rate) {
        if self.is_full() {
            return;
        }
        if rate >= self.baseline.mul_div(GROWTH.0, GROWTH.1) {
            *self = Self::above(rate);
        } else {
            self.rounds += 1;
        }
    }

    /// Whether the plateau was found.
    pub const fn is_full(&self) -> bool {
        self.rounds >= ROUNDS
    }

    /// Any rate counts as growth in the round to come, as after a time-out; rounds counted so far stay counted.
    pub const fn forget_baseline(&mut self) {
        self.baseline = Rate::ZERO;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_rounds_without_a_quarter_more_fill_the_pipe() {
        let mut pipe = FullPipe::default();
        for mbps in [10, 20, 25] {
            pipe.on_round(Rate::from_mbps(mbps));
            assert_eq!(pipe.rounds, 0, "{mbps} Mb/s is growth by a quarter at least");
        }
        for kbps in [31_249, 25_000, 1] {
            assert!(!pipe.is_full());
            pipe.on_round(Rate::from_kbps(kbps));
        }
        assert!(pipe.is_full());
        pipe.on_round(Rate::from_mbps(100));
        assert!(pipe.is_full(), "found is found");
    }

    #[test]
    fn growth_in_between_starts_the_count_anew() {
        let mut pipe = FullPipe::above(Rate::from_mbps(10));
        for mbps in [10, 10, 13, 13, 13] {
            pipe.on_round(Rate::from_mbps(mbps));
        }
        assert!(!pipe.is_full());
        pipe.on_round(Rate::from_mbps(16));
        assert!(pipe.is_full(), "16 < 13 x 5/4");
    }
}
