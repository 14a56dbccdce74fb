//! Sets of numbers kept as ranges: packet numbers that arrived, bytes that are there.

use core::ops::Range;

use smallvec::SmallVec;

/// A half-open range that can be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    start: u64,
    end: u64,
}

impl Run {
    const fn len(self) -> u64 {
        self.end - self.start
    }
}

impl From<Run> for Range<u64> {
    fn from(run: Run) -> Self {
        run.start..run.end
    }
}

/// A set of `u64`, kept as sorted ranges that neither overlap nor touch.
///
/// Numbers that arrive in order extend the last range, which costs a few nanoseconds and no search. `u64::MAX` itself
/// cannot be a member, since ranges are half-open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeSet {
    runs: SmallVec<[Run; 2]>,
}

impl RangeSet {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a range and returns how many of its numbers were not in the set before. An empty range adds nothing.
    #[inline]
    pub fn insert(&mut self, range: Range<u64>) -> u64 {
        if range.start >= range.end {
            return 0;
        }
        let run = Run { start: range.start, end: range.end };
        match self.runs.last_mut() {
            Some(last) if run.start > last.end => self.runs.push(run),
            Some(last) if run.start >= last.start => {
                let grown = run.end.saturating_sub(last.end);
                last.end += grown;
                return grown;
            }
            Some(_) => return self.insert_inside(run),
            None => self.runs.push(run),
        }
        run.len()
    }

    /// Adds one number; returns whether it is new.
    #[inline]
    pub fn insert_one(&mut self, number: u64) -> bool {
        self.insert(number..number.saturating_add(1)) == 1
    }

    /// The general case: a range that starts before the last one.
    fn insert_inside(&mut self, run: Run) -> u64 {
        // Runs `first..behind` overlap or touch the new one and melt into it.
        let first = self.runs.partition_point(|other| other.end < run.start);
        let behind = first + self.runs[first..].partition_point(|other| other.start <= run.end);
        if first == behind {
            self.runs.insert(first, run);
            return run.len();
        }
        let melted = Run { start: run.start.min(self.runs[first].start), end: run.end.max(self.runs[behind - 1].end) };
        let before: u64 = self.runs[first..behind].iter().map(|other| other.len()).sum();
        self.runs[first] = melted;
        self.runs.drain(first + 1..behind);
        melted.len() - before
    }

    /// Whether a number is in the set.
    pub fn contains(&self, number: u64) -> bool {
        self.intersects(number..number.saturating_add(1))
    }

    /// Whether the set and a range have a number in common.
    pub fn intersects(&self, range: Range<u64>) -> bool {
        if range.start >= range.end {
            return false;
        }
        let first = self.first_ending_after(range.start);
        self.runs.get(first).is_some_and(|run| run.start < range.end)
    }

    /// The parts of a range that are not in the set, ascending.
    pub fn missing(&self, range: Range<u64>) -> Missing<'_> {
        let runs = &self.runs[self.first_ending_after(range.start)..];
        Missing { runs, rest: range }
    }

    /// Forgets every number below `bound`.
    pub fn remove_below(&mut self, bound: u64) {
        let gone = self.first_ending_after(bound);
        self.runs.drain(..gone);
        if let Some(first) = self.runs.first_mut() {
            first.start = first.start.max(bound);
        }
    }

    /// Forgets the lowest range and returns it.
    pub fn pop_first(&mut self) -> Option<Range<u64>> {
        if self.runs.is_empty() { None } else { Some(self.runs.remove(0).into()) }
    }

    /// The ranges, ascending.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Range<u64>> + ExactSizeIterator + '_ {
        self.runs.iter().map(|&run| run.into())
    }

    /// The lowest range.
    pub fn first(&self) -> Option<Range<u64>> {
        self.runs.first().map(|&run| run.into())
    }

    /// The highest range.
    pub fn last(&self) -> Option<Range<u64>> {
        self.runs.last().map(|&run| run.into())
    }

    /// Number of ranges.
    pub fn range_count(&self) -> usize {
        self.runs.len()
    }

    /// Whether there is no number in the set.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Numbers in the set; takes time proportional to the number of ranges.
    pub fn covered(&self) -> u64 {
        self.runs.iter().map(|run| run.len()).sum()
    }

    /// A walk from the top that subtracts the set from descending ranges.
    #[inline]
    pub(crate) fn descend(&self) -> Descent<'_> {
        Descent { runs: &self.runs }
    }

    fn first_ending_after(&self, number: u64) -> usize {
        match self.runs.last() {
            // What is asked about is mostly near the top.
            Some(last) if number >= last.end => self.runs.len(),
            Some(last) if number >= last.start => self.runs.len() - 1,
            _ => self.runs.partition_point(|run| run.end <= number),
        }
    }
}

/// Iterator over the parts of a range that a [`RangeSet`] lacks.
#[derive(Clone, Debug)]
pub struct Missing<'a> {
    runs: &'a [Run],
    rest: Range<u64>,
}

impl Iterator for Missing<'_> {
    type Item = Range<u64>;

    fn next(&mut self) -> Option<Range<u64>> {
        while self.rest.start < self.rest.end {
            let from = self.rest.start;
            let Some((run, others)) = self.runs.split_first() else {
                self.rest.start = self.rest.end;
                return Some(from..self.rest.end);
            };
            let until = run.start.min(self.rest.end);
            if run.start < self.rest.end {
                self.runs = others;
                self.rest.start = run.end;
            } else {
                self.rest.start = self.rest.end;
            }
            if from < until {
                return Some(from..until);
            }
        }
        None
    }
}

/// Subtracts a set from ranges that come in descending order; all of them together cost one walk over the set.
#[derive(Debug)]
pub(crate) struct Descent<'a> {
    /// Runs not yet wholly above the ranges that come.
    runs: &'a [Run],
}

impl Descent<'_> {
    /// Hands the parts of `range` that the set lacks to `found`, descending. `range` lies below all earlier ones.
    #[inline]
    pub(crate) fn subtract(&mut self, range: Range<u64>, mut found: impl FnMut(Range<u64>)) {
        let mut end = range.end;
        while let Some(&run) = self.runs.last() {
            if run.end <= range.start {
                break;
            }
            if run.end < end {
                found(run.end..end);
            }
            end = end.min(run.start);
            if run.start <= range.start {
                // This run may reach into the ranges that are still to come.
                return;
            }
            self.runs = &self.runs[..self.runs.len() - 1];
        }
        if range.start < end {
            found(range.start..end);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn set(ranges: &[(u64, u64)]) -> RangeSet {
        let mut set = RangeSet::new();
        for &(start, end) in ranges {
            set.insert(start..end);
        }
        set
    }

    fn ranges(set: &RangeSet) -> Vec<(u64, u64)> {
        set.iter().map(|range| (range.start, range.end)).collect()
    }

    #[test]
    fn ranges_in_order_extend_the_last_one() {
        let mut set = RangeSet::new();
        assert_eq!(set.insert(0..5), 5);
        assert_eq!(set.insert(5..6), 1);
        assert_eq!(set.insert(4..8), 2);
        assert_eq!(set.insert(3..4), 0);
        assert_eq!(ranges(&set), [(0, 8)]);
    }

    #[test]
    fn a_range_that_bridges_a_gap_melts_its_neighbours() {
        let mut set = set(&[(0, 2), (4, 6), (10, 12), (20, 30)]);
        assert_eq!(set.insert(2..4), 2);
        assert_eq!(ranges(&set), [(0, 6), (10, 12), (20, 30)]);
        // 6..10 and 12..20 are new: 4 + 8.
        assert_eq!(set.insert(5..21), 12);
        assert_eq!(ranges(&set), [(0, 30)]);
    }

    #[test]
    fn empty_ranges_change_nothing() {
        let mut set = set(&[(3, 4)]);
        assert_eq!(set.insert(7..7), 0);
        assert!(!set.intersects(3..3));
        assert_eq!(set.missing(9..9).count(), 0);
        assert_eq!(ranges(&set), [(3, 4)]);
    }

    #[test]
    fn removing_below_cuts_the_range_that_straddles() {
        let mut set = set(&[(0, 2), (4, 8), (9, 10)]);
        set.remove_below(5);
        assert_eq!(ranges(&set), [(5, 8), (9, 10)]);
        set.remove_below(8);
        assert_eq!(ranges(&set), [(9, 10)]);
        set.remove_below(100);
        assert!(set.is_empty());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn behaves_like_a_set_of_numbers(
            inserts in prop::collection::vec((0u64..120, 0u64..12), 0..60),
            probe in (0u64..130, 0u64..60),
            floor in 0u64..130,
        ) {
            let mut model = BTreeSet::new();
            let mut set = RangeSet::new();
            for (start, len) in inserts {
                let before = model.len();
                model.extend(start..start + len);
                prop_assert_eq!(set.insert(start..start + len), (model.len() - before) as u64);
            }
            let probed = probe.0..probe.0 + probe.1;
            let missing: Vec<u64> = set.missing(probed.clone()).flatten().collect();
            let expected: Vec<u64> = probed.clone().filter(|number| !model.contains(number)).collect();
            prop_assert_eq!(&missing, &expected);
            prop_assert_eq!(set.intersects(probed.clone()), probed.clone().any(|number| model.contains(&number)));
            prop_assert_eq!(set.covered(), model.len() as u64);
            let all = ranges(&set);
            prop_assert!(all.windows(2).all(|pair| pair[0].1 < pair[1].0), "disjoint, not touching: {:?}", all);
            set.remove_below(floor);
            let kept: Vec<u64> = set.iter().flatten().collect();
            prop_assert_eq!(kept, model.range(floor..).copied().collect::<Vec<_>>());
        }

        #[test]
        fn descending_subtraction_finds_what_is_missing(
            held in prop::collection::vec((0u64..120, 1u64..12), 0..30),
            reported in prop::collection::vec((0u64..120, 1u64..12), 0..12),
        ) {
            let mut set = RangeSet::new();
            held.iter().for_each(|&(start, len)| { set.insert(start..start + len); });
            let mut report = RangeSet::new();
            reported.iter().for_each(|&(start, len)| { report.insert(start..start + len); });
            let mut descent = set.descend();
            let mut found = Vec::new();
            for range in report.iter().rev() {
                descent.subtract(range, |part| found.push(part));
            }
            let mut numbers: Vec<u64> = found.into_iter().rev().flatten().collect();
            let expected: Vec<u64> = report.iter().flatten().filter(|&number| !set.contains(number)).collect();
            numbers.dedup();
            prop_assert_eq!(numbers, expected);
        }
    }
}
