//! The largest or smallest value of a sliding window, in three samples (Kathleen Nichols' filter, as in Linux'
//! `lib/win_minmax.c`).
//!
//! The filter keeps the best sample, the best since a quarter of the window later, and the best since half a window
//! later. An update costs a few comparisons, however many samples the window holds. What it promises:
//!
//! * the result is the value of a sample that is not older than the window;
//! * it is never worse than the newest sample;
//! * it is exact until the best sample of all leaves the window.
//!
//! After that, samples that came between two of the three may have been missed. Where the exact value matters, a queue of
//! samples is needed instead.

use core::fmt::Debug;

use crate::units::{Span, Timestamp};

/// What a window is measured along: time, or round trips.
pub trait Key: Copy + Ord + Debug {
    /// The distance between two keys.
    type Length: Copy + Ord + Debug;

    /// The distance from `earlier` to this key, zero if `earlier` is later.
    fn since(self, earlier: Self) -> Self::Length;

    /// A quarter of a length.
    fn quarter(length: Self::Length) -> Self::Length;

    /// Half a length.
    fn half(length: Self::Length) -> Self::Length;
}

impl Key for Timestamp {
    type Length = Span;

    fn since(self, earlier: Self) -> Span {
        self.saturating_since(earlier)
    }

    fn quarter(length: Span) -> Span {
        length.mul_div(1, 4)
    }

    fn half(length: Span) -> Span {
        length.mul_div(1, 2)
    }
}

/// Round trips, or any other count.
impl Key for u64 {
    type Length = Self;

    fn since(self, earlier: Self) -> Self {
        self.saturating_sub(earlier)
    }

    fn quarter(length: Self) -> Self {
        length / 4
    }

    fn half(length: Self) -> Self {
        length / 2
    }
}

#[derive(Clone, Copy, Debug)]
struct Sample<K, V> {
    at: K,
    value: V,
}

/// Three samples, best first, oldest first.
#[derive(Clone, Copy, Debug)]
struct Best<K: Key, V> {
    window: K::Length,
    samples: Option<[Sample<K, V>; 3]>,
}

impl<K: Key, V: Copy> Best<K, V> {
    /// Takes a sample; `better(a, b)` says whether `a` is at least as good as `b`.
    fn update(&mut self, at: K, value: V, better: impl Fn(V, V) -> bool) -> V {
        let new = Sample { at, value };
        let Some(kept) = &mut self.samples else { return self.restart(at, value) };
        if better(value, kept[0].value) || at.since(kept[2].at) > self.window {
            return self.restart(at, value);
        }
        if better(value, kept[1].value) {
            kept[1] = new;
            kept[2] = new;
        } else if better(value, kept[2].value) {
            kept[2] = new;
        }
        let age = at.since(kept[0].at);
        if age > self.window {
            *kept = [kept[1], kept[2], new];
            if at.since(kept[0].at) > self.window {
                *kept = [kept[1], kept[2], new];
            }
        } else if kept[1].at == kept[0].at && age > K::quarter(self.window) {
            kept[1] = new;
            kept[2] = new;
        } else if kept[2].at == kept[1].at && age > K::half(self.window) {
            kept[2] = new;
        }
        kept[0].value
    }

    fn restart(&mut self, at: K, value: V) -> V {
        self.samples = Some([Sample { at, value }; 3]);
        value
    }
}

macro_rules! windowed {
    ($(#[$doc:meta])* $name:ident, $better:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<K: Key, V> {
            best: Best<K, V>,
        }

        impl<K: Key, V: Copy + PartialOrd> $name<K, V> {
            /// A filter over a window of length `window`, still without a value.
            pub const fn new(window: K::Length) -> Self {
                Self { best: Best { window, samples: None } }
            }

            /// The window has another length from the next sample on.
            pub const fn set_window(&mut self, window: K::Length) {
                self.best.window = window;
            }

            /// Takes a sample and gives the new result. Keys must not go backwards.
            pub fn update(&mut self, at: K, value: V) -> V {
                self.best.update(at, value, $better)
            }

            /// Forgets everything but this sample.
            pub fn reset(&mut self, at: K, value: V) -> V {
                self.best.restart(at, value)
            }

            /// The result as of the last sample; `None` before the first.
            pub fn get(&self) -> Option<V> {
                self.best.samples.map(|kept| kept[0].value)
            }

            /// Where the sample lies that is the result.
            pub fn at(&self) -> Option<K> {
                self.best.samples.map(|kept| kept[0].at)
            }
        }
    };
}

windowed! {
    /// The largest value of a sliding window.
    WindowedMax, |a, b| a >= b
}
windowed! {
    /// The smallest value of a sliding window.
    WindowedMin, |a, b| a <= b
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_better_sample_takes_over_at_once_and_leaves_after_the_window() {
        let mut max = WindowedMax::new(10_u64);
        assert_eq!(max.get(), None);
        assert_eq!(max.update(0, 5), 5);
        assert_eq!(max.update(1, 9), 9);
        // From the fourth round on the runner-up is kept.
        for round in 2..=11 {
            assert_eq!(max.update(round, 3), 9, "round {round}");
        }
        assert_eq!(max.update(12, 3), 3, "9 is eleven rounds old");
    }

    #[test]
    fn silence_longer_than_the_window_voids_everything() {
        let mut min = WindowedMin::new(Span::from_secs(10));
        let at = |secs| Timestamp::ZERO + Span::from_secs(secs);
        min.update(at(0), 20);
        min.update(at(5), 30);
        assert_eq!(min.update(at(100), 90), 90);
        assert_eq!(min.at(), Some(at(100)));
    }

    #[test]
    fn reset_forgets_what_was_better() {
        let mut min = WindowedMin::new(10_u64);
        min.update(0, 1);
        assert_eq!(min.reset(1, 7), 7);
        assert_eq!(min.update(2, 8), 7);
    }

    /// The exact filter, for comparison: every sample of the window.
    struct Exact {
        window: u64,
        samples: VecDeque<(u64, u32)>,
    }

    impl Exact {
        fn update(&mut self, at: u64, value: u32) {
            self.samples.push_back((at, value));
            while at - self.samples[0].0 > self.window {
                self.samples.pop_front();
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn the_result_is_a_sample_of_the_window_and_exact_until_the_best_leaves(
            window in 4_u64..100,
            steps in prop::collection::vec((0_u64..30, 0_u32..50), 1..200),
        ) {
            let mut filter = WindowedMax::new(window);
            let mut exact = Exact { window, samples: VecDeque::new() };
            let mut best = None;
            let mut now = 0;
            for (step, value) in steps {
                now += step;
                exact.update(now, value);
                let result = filter.update(now, value);
                best = best.max(Some((value, now)));
                prop_assert!(result >= value);
                prop_assert!(exact.samples.iter().any(|sample| *sample == (filter.at().unwrap(), result)));
                if let Some((best, _)) = best.filter(|(_, at)| now - at <= window) {
                    prop_assert_eq!(result, best);
                }
            }
        }

        #[test]
        fn the_smallest_mirrors_the_largest(steps in prop::collection::vec((0_u64..30, 0_u32..50), 1..100)) {
            let (mut max, mut min) = (WindowedMax::new(40_u64), WindowedMin::new(40_u64));
            let mut now = 0;
            for (step, value) in steps {
                now += step;
                prop_assert_eq!(max.update(now, value), 50 - min.update(now, 50 - value));
            }
        }
    }
}
