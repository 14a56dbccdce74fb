//! The long-term bandwidth: the rate that a token-bucket policer lets through (`bbr_lt_bw_sampling`; Flach et al.,
//! SIGCOMM'16).
//!
//! An interval begins with a loss, lasts from 4 to 16 rounds and ends with a loss. If more than a fifth was lost in two
//! intervals that delivered at about the same rate, that rate is the policer's, and the flow keeps to it for 48 rounds.

use super::{Ack, Bbr, State};
use crate::controller::Flight;
use crate::units::{Rate, Span, Timestamp};

/// Rounds that an interval lasts at least (`bbr_lt_intvl_min_rtts`), and at most four times as many.
const LEAST_ROUNDS: u64 = 4;
const MOST_ROUNDS: u64 = 4 * LEAST_ROUNDS;

/// Lost per delivered: 50/256 (`bbr_lt_loss_thresh`).
const LOSS_THRESHOLD: f64 = 50.0 / 256.0;

/// Two rates are about the same if they differ by an eighth (`bbr_lt_bw_ratio`) or 4 kb/s (`bbr_lt_bw_diff`) at most.
const SAME_RATIO: u64 = 8;
const SAME_RATE: Rate = Rate::from_kbps(4);

/// Rounds for which the rate is kept to (`bbr_lt_bw_max_rtts`).
const KEPT_ROUNDS: u64 = 48;

/// An interval that began.
#[derive(Clone, Copy, Debug)]
struct Interval {
    began: Timestamp,
    delivered: u64,
    lost: u64,
    rounds: u64,
}

impl Interval {
    const fn new(now: Timestamp, flight: &Flight<'_>) -> Self {
        Self { began: now, delivered: flight.delivered, lost: flight.lost, rounds: 0 }
    }

    /// The rate delivered until now, if it lost enough.
    fn rate(&self, now: Timestamp, flight: &Flight<'_>) -> Option<Rate> {
        let delivered = flight.delivered.saturating_sub(self.delivered);
        let lost = flight.lost.saturating_sub(self.lost);
        let elapsed = now.saturating_since(self.began);
        let is_lossy = delivered > 0 && lost as f64 >= delivered as f64 * LOSS_THRESHOLD;
        Rate::from_bytes_in(delivered, elapsed).filter(|_| is_lossy && elapsed >= Span::from_millis(1))
    }
}

/// What is known of a policer.
#[derive(Clone, Debug, Default)]
pub(super) struct Policer {
    interval: Option<Interval>,
    /// The rate of the lossy interval before.
    candidate: Option<Rate>,
    kept: Option<Kept>,
}

/// A policer's rate in use.
#[derive(Clone, Copy, Debug)]
struct Kept {
    rate: Rate,
    since: Timestamp,
    rounds: u64,
}

impl Policer {
    /// The rate to keep to.
    pub(super) const fn rate(&self) -> Option<Rate> {
        match self.kept {
            Some(kept) => Some(kept.rate),
            None => None,
        }
    }

    /// Whether a rate was in use already at a time.
    pub(super) fn is_kept_at(&self, time: Timestamp) -> bool {
        self.kept.is_some_and(|kept| kept.since <= time)
    }

    /// Nothing is known any more.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Something was lost. Until the first loss a policer spends its tokens, so only then does an interval begin.
    pub(super) fn on_loss(&mut self, now: Timestamp, flight: &Flight<'_>) {
        if self.kept.is_none() {
            self.interval.get_or_insert(Interval::new(now, flight));
        }
    }

    /// Another round at the policer's rate. True if it was the last.
    fn end_round(&mut self) -> bool {
        let Some(kept) = &mut self.kept else { return false };
        kept.rounds += 1;
        kept.rounds >= KEPT_ROUNDS
    }

    /// An interval ended that delivered at `rate` and lost enough, and another begins. No more than `most` is a policer's rate:
    /// intervals reach back further than the bandwidth does, and losses should not bring back what was forgotten.
    fn conclude(&mut self, rate: Rate, most: Rate, begin: Interval) {
        let is_same = |candidate: &Rate| {
            let apart = Rate::from_bps(candidate.as_bps().abs_diff(rate.as_bps()));
            apart <= candidate.mul_div(1, SAME_RATIO) || apart <= SAME_RATE
        };
        match self.candidate.filter(is_same) {
            Some(candidate) => {
                let mean = Rate::from_bps(candidate.as_bps().midpoint(rate.as_bps()));
                let kept = Kept { rate: mean.min(most), since: begin.began, rounds: 0 };
                *self = Self { kept: Some(kept), ..Self::default() };
            }
            None => {
                self.candidate = Some(rate);
                self.interval = Some(begin);
            }
        }
    }
}

impl Bbr {
    /// `bbr_lt_bw_sampling`.
    pub(super) fn look_for_policer(&mut self, ack: &Ack<'_>) {
        if !self.params.policer {
            return;
        }
        if self.policer.rate().is_some() {
            let in_probe_bw = matches!(self.state, State::ProbeBw { .. });
            if in_probe_bw && ack.round_start && self.policer.end_round() {
                self.policer.forget();
                self.enter_probe_bw(ack.sample.now);
            }
            return;
        }
        let now = ack.sample.now;
        let lost = self.has_losses(ack.feedback);
        if lost {
            self.policer.on_loss(now, ack.flight);
        }
        let Some(interval) = &mut self.policer.interval else { return };
        if ack.limited {
            self.policer.forget();
            return;
        }
        interval.rounds += u64::from(ack.round_start);
        if interval.rounds > MOST_ROUNDS {
            self.policer.forget();
        } else if interval.rounds >= LEAST_ROUNDS
            && lost
            && let Some(rate) = interval.rate(now, ack.flight)
        {
            let most = self.max_bw.get().unwrap_or(rate);
            self.policer.conclude(rate, most, Interval::new(now, ack.flight));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::pacing::Gain;
    use super::*;

    fn interval() -> Interval {
        Interval::new(Timestamp::ZERO, &Flight::idle(1_000))
    }

    #[test]
    fn two_intervals_within_an_eighth_or_4_kbps_of_each_other_make_a_policer() {
        let cases =
            [(8_000, 9_000, true), (8_000, 9_001, false), (8_000, 7_000, true), (10, 14, true), (10, 15, false)];
        for (first, second, same) in cases {
            let mut policer = Policer::default();
            policer.conclude(Rate::from_kbps(first), Rate::MAX, interval());
            assert_eq!(policer.rate(), None, "one interval says nothing");
            policer.conclude(Rate::from_kbps(second), Rate::MAX, interval());
            let mean = Rate::from_bps(500 * (first + second));
            assert_eq!(policer.rate(), same.then_some(mean), "{first} and {second} kb/s");
        }
    }

    #[test]
    fn an_interval_counts_if_it_lost_a_fifth_of_what_it_delivered() {
        let at = |millis| Timestamp::ZERO + Span::from_millis(millis);
        let mut flight = Flight::idle(1_000);
        (flight.delivered, flight.lost) = (256_000, 50_000);
        assert_eq!(interval().rate(at(256), &flight), Some(Rate::from_mbps(8)));
        flight.lost = 49_999;
        assert_eq!(interval().rate(at(256), &flight), None);
        flight.lost = 256_000;
        assert_eq!(interval().rate(Timestamp::from_nanos(999_999), &flight), None, "too short to tell");
    }

    #[test]
    fn a_policer_has_no_more_than_the_bandwidth_that_is_remembered() {
        let mut policer = Policer::default();
        (0..2).for_each(|_| policer.conclude(Rate::from_mbps(8), Rate::from_mbps(5), interval()));
        assert_eq!(policer.rate(), Some(Rate::from_mbps(5)));
    }

    #[test]
    fn a_phase_that_drains_goes_on_draining_when_a_policer_is_found() {
        let at = |millis| Timestamp::ZERO + Span::from_millis(millis);
        let setup = crate::Setup::new(Timestamp::ZERO, 1_000, 1);
        let mut bbr = Bbr::new(crate::algo::BbrParams::default(), &setup).unwrap();
        let kept = Kept { rate: Rate::from_mbps(8), since: at(10), rounds: 0 };
        bbr.policer.kept = Some(kept);
        for (phase, since, gain) in [(0, 5, Gain::ONE), (1, 5, bbr.gains.yields), (1, 10, Gain::ONE), (2, 5, Gain::ONE)]
        {
            bbr.state = State::ProbeBw { phase, since: at(since) };
            assert_eq!(bbr.pacing_gain(), gain, "phase {phase} since {since} ms");
        }
    }

    #[test]
    fn a_policer_is_given_up_after_48_rounds() {
        let kept = Kept { rate: Rate::from_mbps(8), since: Timestamp::ZERO, rounds: 0 };
        let mut policer = Policer { kept: Some(kept), ..Policer::default() };
        assert!((1..KEPT_ROUNDS).all(|_| !policer.end_round()));
        assert!(policer.end_round());
    }
}
