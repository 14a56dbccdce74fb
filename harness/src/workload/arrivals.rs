//! Arrival times.

use cc_algos::{Span, Timestamp};
use sim::rng::{self, Random};

/// A Poisson process: independent exponential gaps.
#[derive(Debug)]
pub struct Poisson {
    random: Random,
    per_nano: f64,
    next: f64,
    stop: f64,
}

impl Poisson {
    /// Arrivals at `per_second` on average, from `start` until before `stop`.
    pub fn new(random: Random, per_second: f64, start: Span, stop: Span) -> Self {
        Self { random, per_nano: per_second / 1e9, next: start.as_nanos() as f64, stop: stop.as_nanos() as f64 }
    }
}

impl Iterator for Poisson {
    type Item = Timestamp;

    fn next(&mut self) -> Option<Timestamp> {
        // 1 - unit lies in (0, 1], where the logarithm is finite.
        self.next -= libm::log(1.0 - rng::unit(&mut self.random)) / self.per_nano;
        (self.next < self.stop).then(|| Timestamp::from_nanos(cc_algos::units::round_to_u64(self.next)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(per_second: f64, seconds: u64) -> Vec<f64> {
        let random = rng::stream(11, "arrivals", 0);
        Poisson::new(random, per_second, Span::ZERO, Span::from_secs(seconds))
            .map(|at| at.as_nanos() as f64 / 1e9)
            .collect()
    }

    #[test]
    fn counts_and_gaps_are_those_of_a_poisson_process() {
        let times = arrivals(1_000.0, 100);
        // Mean 100 000, standard deviation 316; five of them.
        assert!((98_420..=101_580).contains(&times.len()), "{}", times.len());
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean) * (gap - mean)).sum::<f64>() / gaps.len() as f64;
        // An exponential's variation coefficient is 1; its estimate from n gaps has a standard error of about 1/sqrt(n) = 0.003.
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.015, "{}", variance.sqrt() / mean);
        // A share exp(-1) of the gaps is longer than the mean: standard error 0.0015.
        let longer = gaps.iter().filter(|&&gap| gap > 1e-3).count() as f64 / gaps.len() as f64;
        assert!((longer - (-1.0_f64).exp()).abs() < 0.008, "{longer}");
    }

    #[test]
    fn nothing_arrives_outside_its_window_or_at_rate_zero() {
        let random = || rng::stream(1, "arrivals", 0);
        let (start, stop) = (Span::from_secs(2), Span::from_secs(3));
        let times: Vec<_> = Poisson::new(random(), 500.0, start, stop).collect();
        assert!(!times.is_empty());
        assert!(times.iter().all(|at| (2_000_000_000..3_000_000_000).contains(&at.as_nanos())));
        assert_eq!(Poisson::new(random(), 0.0, start, stop).next(), None);
    }
}
