//! Changes at given times, layered over another service: a link goes down and comes back, or its rate changes.

use std::sync::Arc;

use cc_algos::{Rate, Span};

use super::clock::{self, Clock};
use super::{ServiceSpec, Source, picos};
use crate::error::SpecError;
use crate::time::SimTime;

/// What happens to a link at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It serves at this rate, whatever lies below.
    Rate(Rate),
    /// It carries nothing. A packet being served waits and continues later; whether waiting packets are lost is the
    /// caller's business.
    Down,
    /// The service below applies again. Its own time went on meanwhile.
    Restore,
}

/// A service with changes layered over it; cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub struct Changing {
    base: Arc<ServiceSpec>,
    changes: Arc<[(u64, Change)]>,
}

impl Changing {
    /// `changes` (time from the start, change) over `base`.
    ///
    /// # Errors
    /// If there are none or their times go back.
    pub fn new(base: ServiceSpec, changes: impl IntoIterator<Item = (Span, Change)>) -> Result<Self, SpecError> {
        const LIST: &str = "link changes";
        let changes: Vec<_> = changes.into_iter().map(|(at, change)| (picos(at), change)).collect();
        if changes.is_empty() {
            return Err(SpecError::Empty { list: LIST, entry: "change" });
        }
        if let Some(index) = changes.windows(2).position(|pair| pair[0].0 > pair[1].0) {
            return Err(SpecError::Entry { list: LIST, index: index + 1, expected: "times that never go back" });
        }
        Ok(Self { base: Arc::new(base), changes: changes.into() })
    }

    /// The change in force in the phase number `index`, phase 0 being before all changes, and the end of the phase.
    fn phase(&self, index: usize) -> (Change, u64) {
        let change = index.checked_sub(1).map_or(Change::Restore, |before| self.changes[before].1);
        (change, self.changes.get(index).map_or(u64::MAX, |next| next.0))
    }

    pub(super) fn rate_at(&self, at: SimTime) -> Rate {
        match self.phase(self.changes.partition_point(|change| change.0 <= at.as_picos())).0 {
            Change::Rate(rate) => rate,
            Change::Down => Rate::ZERO,
            Change::Restore => self.base.rate_at(at),
        }
    }

    /// Work that the link can do from the start until `at`.
    pub(super) fn work_until(&self, at: u64) -> u128 {
        let (mut total, mut start) = (0_u128, 0);
        for index in 0..=self.changes.len() {
            let (change, end) = self.phase(index);
            let end = end.min(at);
            total += match change {
                Change::Rate(rate) => clock::capacity(rate, end - start),
                Change::Down => 0,
                Change::Restore => self.base.work_until(end) - self.base.work_until(start),
            };
            start = end;
        }
        total
    }
}

/// Serves through changes.
#[derive(Clone, Debug)]
pub(super) struct ChangingServer {
    changing: Changing,
    /// Changes that have happened.
    index: usize,
    base: Source,
}

impl ChangingServer {
    pub(super) fn new(changing: &Changing) -> Self {
        Self { changing: changing.clone(), index: 0, base: Source::new(&changing.base) }
    }

    /// As [`Source::run`].
    pub(super) fn run(&mut self, clock: &mut Clock, ready: u64, mut work: u64, limit: u64) -> u64 {
        loop {
            while self.changing.changes.get(self.index).is_some_and(|next| next.0 <= clock.at) {
                self.index += 1;
            }
            let (change, end) = self.changing.phase(self.index);
            let end = end.min(limit);
            let since = self.index.checked_sub(1).map_or(0, |last| self.changing.changes[last].0);
            work = match change {
                Change::Rate(rate) => clock.run(clock::work_per_pico(rate), end, work),
                Change::Down => clock.run(0, end, work),
                Change::Restore => self.base.run(clock, ready.max(since), work, end),
            };
            if work == 0 || clock.at >= limit {
                return work;
            }
        }
    }
}
