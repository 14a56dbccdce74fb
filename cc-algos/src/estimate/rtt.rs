//! Round-trip time after RFC 9002, section 5, and the timeouts built on it (sections 6.1.2 and 6.2.1).
//!
//! ```text
//! first sample     smoothed = latest             variation = latest / 2
//! later samples    adjusted = latest - ack_delay   if that is not below min, else latest
//!                  variation = 3/4 variation + 1/4 |smoothed - adjusted|
//!                  smoothed  = 7/8 smoothed  + 1/8 adjusted
//! probe timeout    smoothed + max(4 variation, granularity) + max_ack_delay
//! ```
//!
//! The text of section 5.3 updates `smoothed` first, appendix A.7 and RFC 6298 update `variation` first; this follows
//! the latter, as deployed stacks do.

use crate::units::{Span, mul_div};

/// Smoothed RTT, variation, minimum and newest sample of one path.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    granularity: Span,
    max_ack_delay: Span,
    smoothed: Span,
    variation: Span,
    measured: Option<Measured>,
    min_is_void: bool,
}

/// What exists from the first sample on.
#[derive(Clone, Copy, Debug)]
struct Measured {
    latest: Span,
    adjusted: Span,
    min: Span,
}

impl RttEstimator {
    /// The RTT to assume before the first sample (RFC 9002, section 6.2.2: `kInitialRtt`).
    pub const INITIAL_RTT: Span = Span::from_millis(333);
    /// Timer granularity for wide-area networks (RFC 9002, section 6.1.2: `kGranularity`).
    pub const WIDE_AREA_GRANULARITY: Span = Span::from_millis(1);
    /// Timer granularity for datacentres, where whole round trips take ten microseconds (ours).
    pub const DATACENTRE_GRANULARITY: Span = Span::from_micros(1);

    /// An estimator that assumes `initial` until the first sample. `granularity` is the smallest time that timers can
    /// tell; `max_ack_delay` is the longest time by which the peer promised to delay acknowledgements.
    pub fn new(initial: Span, granularity: Span, max_ack_delay: Span) -> Self {
        Self {
            granularity,
            max_ack_delay,
            smoothed: initial,
            // RFC 9002, section 6.2.2 and appendix A.4.
            variation: initial.mul_div(1, 2),
            measured: None,
            min_is_void: false,
        }
    }

    /// Takes a sample: `latest` from sending the newest acknowledged packet until now, of which the peer says that it
    /// held the acknowledgement back for `ack_delay`.
    pub fn on_sample(&mut self, latest: Span, ack_delay: Span) {
        let Some(before) = self.measured else {
            self.measured = Some(Measured { latest, adjusted: latest, min: latest });
            self.smoothed = latest;
            self.variation = latest.mul_div(1, 2);
            self.min_is_void = false;
            return;
        };
        let min = if self.min_is_void { latest } else { before.min.min(latest) };
        self.min_is_void = false;
        // A peer that claims more than it promised, or so much that the rest falls below the minimum, gets no credit.
        let delay = ack_delay.min(self.max_ack_delay);
        let adjusted = if latest >= min + delay { latest - delay } else { latest };
        self.variation = weigh(self.variation, 3, self.smoothed.abs_diff(adjusted));
        self.smoothed = weigh(self.smoothed, 7, adjusted);
        self.measured = Some(Measured { latest, adjusted, min });
    }

    /// Persistent congestion was established: the minimum starts anew with the next sample (RFC 9002, section 5.2), since
    /// the path may have changed.
    pub const fn on_persistent_congestion(&mut self) {
        self.min_is_void = true;
    }

    /// The peer promised a new bound on its acknowledgement delay.
    pub const fn set_max_ack_delay(&mut self, max_ack_delay: Span) {
        self.max_ack_delay = max_ack_delay;
    }

    /// Longest time by which the peer promised to delay acknowledgements.
    pub const fn max_ack_delay(&self) -> Span {
        self.max_ack_delay
    }

    /// Whether there was a sample at all.
    pub const fn has_sample(&self) -> bool {
        self.measured.is_some()
    }

    /// Smoothed RTT, or the initial assumption.
    pub const fn smoothed(&self) -> Span {
        self.smoothed
    }

    /// Smoothed RTT, once measured.
    pub fn measured_smoothed(&self) -> Option<Span> {
        self.measured.map(|_| self.smoothed)
    }

    /// Mean deviation (`rttvar`).
    pub const fn variation(&self) -> Span {
        self.variation
    }

    /// Newest sample, acknowledgement delay included.
    pub fn latest(&self) -> Option<Span> {
        self.measured.map(|measured| measured.latest)
    }

    /// Newest sample without the acknowledgement delay, as far as that is credible.
    pub fn adjusted(&self) -> Option<Span> {
        self.measured.map(|measured| measured.adjusted)
    }

    /// Smallest sample, acknowledgement delay included.
    pub fn min(&self) -> Option<Span> {
        self.measured.map(|measured| measured.min)
    }

    /// Probe timeout without back-off (RFC 9002, section 6.2.1).
    pub fn pto(&self) -> Span {
        self.smoothed + self.variation.saturating_mul(4).max(self.granularity) + self.max_ack_delay
    }

    /// Probe timeout after `expired` timeouts in a row: doubled for each, saturating.
    pub fn pto_after(&self, expired: u32) -> Span {
        self.pto().saturating_mul(1_u64.checked_shl(expired).unwrap_or(u64::MAX))
    }

    /// Time after which a packet overtaken by an acknowledged one counts as lost: `numerator / denominator` (9/8 in RFC
    /// 9002, section 6.1.2) of the larger of smoothed and latest RTT, and not less than the granularity.
    pub fn loss_delay(&self, numerator: u64, denominator: u64) -> Span {
        let rtt = self.latest().unwrap_or(Span::ZERO).max(self.smoothed);
        Span::from_nanos(mul_div(rtt.as_nanos(), numerator, denominator)).max(self.granularity)
    }
}

/// `(share * old + new) / (share + 1)`, rounded to nearest so that tiny RTTs do not drift down; `share + 1` is 4 or 8.
fn weigh(old: Span, share: u64, new: Span) -> Span {
    let whole = u128::from(share) + 1;
    let sum = u128::from(old.as_nanos()) * u128::from(share) + u128::from(new.as_nanos()) + whole / 2;
    // A weighted mean of two 64-bit values fits into 64 bits.
    Span::from_nanos((sum >> whole.trailing_zeros()).min(u128::from(u64::MAX)) as u64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: fn(u64) -> Span = Span::from_millis;

    fn estimator() -> RttEstimator {
        RttEstimator::new(RttEstimator::INITIAL_RTT, RttEstimator::WIDE_AREA_GRANULARITY, MS(25))
    }

    #[test]
    fn before_the_first_sample_the_initial_rtt_stands_in() {
        let rtt = estimator();
        assert!(!rtt.has_sample());
        assert_eq!((rtt.smoothed(), rtt.measured_smoothed(), rtt.min(), rtt.latest()), (MS(333), None, None, None));
        // 333 + 4 x 166.5 + 25 ms.
        assert_eq!(rtt.pto(), MS(333 + 666 + 25));
    }

    #[test]
    fn the_first_sample_ignores_the_ack_delay() {
        let mut rtt = estimator();
        rtt.on_sample(MS(100), MS(20));
        assert_eq!((rtt.smoothed(), rtt.variation(), rtt.min()), (MS(100), MS(50), Some(MS(100))));
    }

    #[test]
    fn later_samples_follow_the_weights_of_rfc_9002_appendix_a7() {
        let mut rtt = estimator();
        rtt.on_sample(MS(100), Span::ZERO);
        rtt.on_sample(MS(140), MS(8));
        // adjusted 132; variation 3/4 x 50 + 1/4 x 32 = 45.5; smoothed 7/8 x 100 + 1/8 x 132 = 104.
        assert_eq!(rtt.variation(), Span::from_micros(45_500));
        assert_eq!((rtt.smoothed(), rtt.adjusted(), rtt.latest()), (MS(104), Some(MS(132)), Some(MS(140))));
        assert_eq!(rtt.pto(), MS(104 + 182 + 25));
    }

    #[test]
    fn an_ack_delay_counts_up_to_the_promise_and_never_takes_the_rtt_below_the_minimum() {
        let mut promised = estimator();
        promised.on_sample(MS(100), Span::ZERO);
        promised.on_sample(MS(200), MS(90));
        assert_eq!(promised.adjusted(), Some(MS(175)), "25 ms were promised, 90 claimed");
        let mut below = estimator();
        below.on_sample(MS(100), Span::ZERO);
        below.on_sample(MS(110), MS(20));
        assert_eq!(below.adjusted(), Some(MS(110)), "90 ms would be below the minimum of 100");
    }

    #[test]
    fn persistent_congestion_renews_the_minimum_with_the_next_sample() {
        let mut rtt = estimator();
        rtt.on_sample(MS(10), Span::ZERO);
        rtt.on_persistent_congestion();
        assert_eq!(rtt.min(), Some(MS(10)));
        rtt.on_sample(MS(80), Span::ZERO);
        rtt.on_sample(MS(90), Span::ZERO);
        assert_eq!(rtt.min(), Some(MS(80)));
    }

    #[test]
    fn granularity_bounds_the_timers_of_a_steady_path() {
        let us = Span::from_micros;
        let mut rtt = RttEstimator::new(us(100), RttEstimator::DATACENTRE_GRANULARITY, Span::ZERO);
        for _ in 0..200 {
            rtt.on_sample(us(10), Span::ZERO);
        }
        assert_eq!(rtt.pto(), us(11), "no variation is left: 10 us and a granularity of 1 us");
        assert_eq!(rtt.loss_delay(9, 8), Span::from_nanos(11_250));
        assert_eq!(RttEstimator::new(Span::ZERO, us(7), Span::ZERO).loss_delay(9, 8), us(7));
    }

    #[test]
    fn back_off_doubles_and_saturates() {
        let mut rtt = estimator();
        rtt.on_sample(MS(100), Span::ZERO);
        assert_eq!(rtt.pto_after(0), MS(325));
        assert_eq!(rtt.pto_after(3), MS(2_600));
        assert_eq!(rtt.pto_after(70), Span::MAX);
    }

    #[test]
    fn extreme_samples_neither_overflow_nor_stick() {
        let mut rtt = estimator();
        for sample in [Span::ZERO, Span::MAX, Span::MAX, Span::ZERO] {
            rtt.on_sample(sample, Span::MAX);
        }
        assert_eq!(rtt.min(), Some(Span::ZERO));
        assert_eq!(rtt.pto(), Span::MAX);
        for _ in 0..1_000 {
            rtt.on_sample(MS(1), Span::ZERO);
        }
        assert_eq!(rtt.smoothed().as_micros(), 1_000);
    }

    proptest! {
        #[test]
        fn smoothed_stays_between_the_extreme_samples(samples in prop::collection::vec(1_u64..u64::MAX, 1..100)) {
            let mut rtt = estimator();
            for nanos in &samples {
                rtt.on_sample(Span::from_nanos(*nanos), Span::ZERO);
            }
            let (low, high) = (samples.iter().min().unwrap(), samples.iter().max().unwrap());
            // Rounding to the nearest nanosecond may step over neither end.
            prop_assert!((*low..=*high).contains(&rtt.smoothed().as_nanos()));
            prop_assert_eq!(rtt.min(), Some(Span::from_nanos(*low)));
        }
    }
}
