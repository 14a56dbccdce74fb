//! Percentile-bootstrap confidence intervals over seeds.
//!
//! The seeds of a cell are drawn again, as many as there are, with replacement, 2 000 times; each draw gives one value of
//! the statistic, and the interval runs from the 2.5th to the 97.5th percentile of these (Efron and Tibshirani, *An
//! Introduction to the Bootstrap*, 1993, section 13.3). A percentile of a distribution is that of the drawn seeds'
//! histograms merged, so that a p99.9 has all their samples behind it.
//!
//! Whole seeds are drawn because flows of one run share its queues and are not independent. With ten seeds such
//! intervals are somewhat too narrow: a nominal 95 % covers about 90 %. Below six seeds none is given:
//! five that agree in sign still do so by chance one time in sixteen.
//!
//! The draws belong to the scenario: two algorithms are compared with the same seeds drawn for both, so that what they have in
//! common on a seed (arrivals, sizes, the link's losses) cancels.

use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::distribution::Reading;

/// Draws behind each interval.
pub const RESAMPLES: usize = 2_000;

/// Seeds below which no interval is given: 2 · ½⁶ ≈ 3 % is the first chance of an agreement in sign below 5 %.
pub const MIN_SEEDS: usize = 6;

/// Draws beyond either end of an interval: 2.5 % of them.
const TAIL: usize = RESAMPLES / 40;

/// A 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// Lower end.
    pub low: Reading,
    /// Upper end; [`Reading::MoreThan`] where it falls among values that were cut off and is not known.
    pub high: Reading,
}

/// How often each seed was drawn, for each of the draws.
#[derive(Clone, Debug)]
pub(crate) struct Resamples {
    seeds: usize,
    weights: Vec<u32>,
}

impl Resamples {
    /// The draws of `seeds` seeds that belong to `identity`: the same name always gives the same ones.
    pub(crate) fn new(identity: &str, seeds: usize) -> Self {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(fnv1a(identity));
        let mut weights = vec![0; seeds * RESAMPLES];
        if seeds > 0 {
            for draw in weights.chunks_exact_mut(seeds) {
                for _ in 0..seeds {
                    // The high part of a 64 x 64 bit product is uniform to within seeds / 2⁶⁴.
                    let index = (u128::from(rng.next_u64()) * seeds as u128) >> 64;
                    draw[index as usize] += 1;
                }
            }
        }
        Self { seeds, weights }
    }

    /// The statistic of each draw; nothing at all with too few seeds.
    pub(crate) fn draw(&self, statistic: impl Fn(&[u32]) -> Option<Reading>) -> Draws {
        let weights = self.weights.chunks_exact(self.seeds.max(1));
        Draws(if self.seeds < MIN_SEEDS { Vec::new() } else { weights.map(statistic).collect() })
    }
}

/// A statistic of each draw, in their order; draws of the same [`Resamples`] pair up.
#[derive(Clone, Debug)]
pub(crate) struct Draws(Vec<Option<Reading>>);

impl Draws {
    /// The interval; `None` where most draws have no value.
    pub(crate) fn interval(&self) -> Option<Interval> {
        let mut drawn: Vec<Reading> = self.0.iter().flatten().copied().collect();
        // Bounds come last, as unfinished flows do.
        drawn.sort_unstable_by_key(|reading| (reading.is_bound(), reading.raw()));
        let (low, high) = ends(&drawn)?;
        Some(Interval { low, high })
    }

    /// Ends of the interval of the difference to `theirs`, infinite where nothing is known.
    pub(crate) fn difference(&self, theirs: &Self) -> Option<(f64, f64)> {
        let both =
            self.0.iter().zip(&theirs.0).filter_map(|(ours, theirs)| Some(difference_bounds((*ours)?, (*theirs)?)));
        let (mut lows, mut highs): (Vec<f64>, Vec<f64>) = both.unzip();
        lows.sort_unstable_by(f64::total_cmp);
        highs.sort_unstable_by(f64::total_cmp);
        Some((ends(&lows)?.0, ends(&highs)?.1))
    }
}

/// What is certain of `ours - theirs`.
pub(crate) fn difference_bounds(ours: Reading, theirs: Reading) -> (f64, f64) {
    let difference = ours.raw() as f64 - theirs.raw() as f64;
    match (ours.is_bound(), theirs.is_bound()) {
        (false, false) => (difference, difference),
        (true, false) => (difference, f64::INFINITY),
        (false, true) => (f64::NEG_INFINITY, difference),
        (true, true) => (f64::NEG_INFINITY, f64::INFINITY),
    }
}

fn ends<T: Copy>(sorted: &[T]) -> Option<(T, T)> {
    if sorted.len() < RESAMPLES / 2 {
        return None;
    }
    let tail = sorted.len() * TAIL / RESAMPLES;
    Some((*sorted.get(tail.checked_sub(1)?)?, *sorted.get(sorted.len() - tail)?))
}

/// FNV-1a, 64 bits: a fixed, portable way from a name to a seed.
fn fnv1a(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use rand_distr::{Distribution as _, Normal};

    use super::*;

    fn mean(values: &[u64]) -> impl Fn(&[u32]) -> Option<Reading> {
        let values = values.to_vec();
        move |weights| {
            let sum: u64 = values.iter().zip(weights).map(|(&value, &weight)| value * u64::from(weight)).sum();
            Some(Reading::Exactly(sum / weights.iter().map(|&weight| u64::from(weight)).sum::<u64>()))
        }
    }

    #[test]
    fn the_same_identity_gives_the_same_draws_and_another_does_not() {
        let draws = |identity| Resamples::new(identity, 10).weights;
        assert_eq!(draws("lte/cubic/rpc"), draws("lte/cubic/rpc"));
        assert_ne!(draws("lte/cubic/rpc"), draws("lte/dctcp/rpc"));
        assert!(draws("x").chunks(10).all(|draw| draw.iter().sum::<u32>() == 10));
    }

    #[test]
    fn intervals_of_a_normal_mean_cover_it_about_as_often_as_they_say() {
        // 400 experiments of 20 seeds from a normal distribution of mean 10⁶ and deviation 10⁵. The percentile interval has
        // the width of z rather than t and of the deviation over n: its coverage is P(|t₁₉| < 1.96 √(19/20)) = 92.9 %.
        // The count of 400 then has a deviation of 1.3 points; four of them leave 87.8 to 98.0 %.
        let normal = Normal::new(1e6, 1e5).unwrap();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let covered = (0..400)
            .filter(|experiment| {
                let values: Vec<u64> = (0..20).map(|_| normal.sample(&mut rng) as u64).collect();
                let interval = Resamples::new(&experiment.to_string(), 20).draw(mean(&values)).interval().unwrap();
                (interval.low.raw()..=interval.high.raw()).contains(&1_000_000)
            })
            .count();
        assert!((351..=392).contains(&covered), "{covered} of 400");
    }

    #[test]
    fn fewer_than_six_seeds_give_no_interval() {
        assert_eq!(Resamples::new("x", 5).draw(mean(&[1, 2, 3, 4, 5])).interval(), None);
        assert!(Resamples::new("x", 6).draw(mean(&[1, 2, 3, 4, 5, 6])).interval().is_some());
        assert_eq!(Resamples::new("x", 0).draw(mean(&[])).interval(), None);
    }

    #[test]
    fn what_seeds_have_in_common_cancels_in_a_paired_difference() {
        // The seeds differ by thousands, the algorithms by 10 to 12 on each seed.
        let ours = [1_010, 5_011, 9_012, 3_010, 7_011, 2_012, 8_010];
        let theirs = [1_000, 5_000, 9_000, 3_000, 7_000, 2_000, 8_000];
        let resamples = Resamples::new("x", 7);
        let (low, high) = resamples.draw(mean(&ours)).difference(&resamples.draw(mean(&theirs))).unwrap();
        assert!(low >= 9.0 && high <= 13.0, "{low} to {high}");
    }

    #[test]
    fn a_difference_to_a_bound_is_known_on_one_side_only() {
        let bound = |_: &[u32]| Some(Reading::MoreThan(500));
        let known = |_: &[u32]| Some(Reading::Exactly(100));
        let resamples = Resamples::new("x", 8);
        let (bound, known) = (resamples.draw(bound), resamples.draw(known));
        assert_eq!(bound.difference(&known), Some((400.0, f64::INFINITY)));
        assert_eq!(known.difference(&bound), Some((f64::NEG_INFINITY, -400.0)));
        assert_eq!(bound.difference(&bound), Some((f64::NEG_INFINITY, f64::INFINITY)));
    }

    #[test]
    fn an_interval_that_reaches_the_cut_off_has_no_known_upper_end() {
        // Any draw without the first seed is a bound: (6/7)⁷ = 34 % of them.
        let statistic =
            |weights: &[u32]| Some(if weights[0] > 0 { Reading::Exactly(10) } else { Reading::MoreThan(20) });
        let interval = Resamples::new("x", 7).draw(statistic).interval().unwrap();
        assert_eq!(interval, Interval { low: Reading::Exactly(10), high: Reading::MoreThan(20) });
    }

    #[test]
    fn the_seed_of_a_name_is_the_published_hash() {
        // Test vectors of the FNV reference code.
        assert_eq!(fnv1a(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a("foobar"), 0x85944171f73967e8);
    }
}
