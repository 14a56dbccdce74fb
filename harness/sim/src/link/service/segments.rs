//! A series of rates, each for a while.

use std::sync::Arc;

use cc_algos::{Rate, Span};

use super::clock::{self, Clock};
use super::{End, picos};
use crate::error::{SpecError, ensure};

/// One rate for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// For how long.
    pub span: Span,
    /// How fast; zero is a pause.
    pub rate: Rate,
}

/// A series of rates from the start of time; cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub struct Segments {
    list: Arc<[Step]>,
    end: End,
    /// Length and work of one pass.
    period: u64,
    period_work: u128,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    /// Picoseconds from the start of the pass, and work done until then in it.
    start: u64,
    work_before: u128,
    rate: Rate,
}

impl Segments {
    /// The given segments one after the other, and what comes then.
    ///
    /// # Errors
    /// If there are none, one is empty, all rates are zero, or they last longer than simulated time (213 days).
    pub fn new(segments: impl IntoIterator<Item = Segment>, end: End) -> Result<Self, SpecError> {
        const LIST: &str = "rate segments";
        let (mut list, mut period, mut period_work) = (Vec::new(), 0_u64, 0_u128);
        for (index, Segment { span, rate }) in segments.into_iter().enumerate() {
            if span.is_zero() {
                return Err(SpecError::Entry { list: LIST, index, expected: "a span above zero" });
            }
            list.push(Step { start: period, work_before: period_work, rate });
            period_work += clock::capacity(rate, picos(span));
            period = period.saturating_add(picos(span));
            if period == u64::MAX {
                return Err(SpecError::Entry {
                    list: LIST,
                    index,
                    expected: "all spans together to be below 213 days",
                });
            }
        }
        if list.is_empty() {
            return Err(SpecError::Empty { list: LIST, entry: "segment" });
        }
        ensure(period_work > 0, "highest rate of all segments", "zero", "one above zero")?;
        Ok(Self { list: list.into(), end, period, period_work })
    }

    /// Length of one pass.
    pub fn period(&self) -> Span {
        Span::from_nanos(self.period / 1_000)
    }

    /// The segment that holds `offset` picoseconds into a pass.
    fn index_at(&self, offset: u64) -> usize {
        self.list.partition_point(|step| step.start <= offset).saturating_sub(1)
    }

    fn end_of(&self, index: usize) -> u64 {
        self.list.get(index + 1).map_or(self.period, |next| next.start)
    }

    fn last_rate(&self) -> Rate {
        self.list.last().map_or(Rate::ZERO, |step| step.rate)
    }

    pub(super) fn rate_at(&self, at: u64) -> Rate {
        match self.end {
            End::Hold if at >= self.period => self.last_rate(),
            End::Stop if at >= self.period => Rate::ZERO,
            _ => self.list[self.index_at(at % self.period)].rate,
        }
    }

    /// Work that the link can do from the start until `at`.
    pub(super) fn work_until(&self, at: u64) -> u128 {
        if at >= self.period && self.end != End::Repeat {
            let rate = if self.end == End::Hold { self.last_rate() } else { Rate::ZERO };
            return self.period_work + clock::capacity(rate, at - self.period);
        }
        let (passes, offset) = (at / self.period, at % self.period);
        let step = self.list[self.index_at(offset)];
        u128::from(passes) * self.period_work + step.work_before + clock::capacity(step.rate, offset - step.start)
    }
}

/// Where a stretch of constant rate ends, and the rate.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    end: u64,
    per_pico: u64,
}

/// Serves along a series of rates.
#[derive(Clone, Debug)]
pub(super) struct SegmentServer {
    segments: Segments,
    index: usize,
    /// Start of the current pass.
    pass: u64,
    stretch: Stretch,
}

impl SegmentServer {
    pub(super) fn new(segments: &Segments) -> Self {
        let stretch = Stretch { end: 0, per_pico: 0 };
        let mut server = Self { segments: segments.clone(), index: 0, pass: 0, stretch };
        server.seek(0);
        server
    }

    /// As [`super::Source::run`].
    pub(super) fn run(&mut self, clock: &mut Clock, mut work: u64, limit: u64) -> u64 {
        loop {
            if clock.at >= self.stretch.end {
                self.seek(clock.at);
            }
            let end = self.stretch.end.min(limit);
            work = clock.run(self.stretch.per_pico, end, work);
            if work == 0 || clock.at >= limit {
                return work;
            }
            work = self.skip_passes(clock, work, limit);
        }
    }

    /// A packet that needs many whole passes takes them at once.
    fn skip_passes(&self, clock: &mut Clock, work: u64, limit: u64) -> u64 {
        let period_work = match u64::try_from(self.segments.period_work) {
            Ok(period_work) if self.segments.end == End::Repeat && period_work < work => period_work,
            _ => return work,
        };
        // Something must be left for the last pass, which may end in a pause after its last work.
        let passes = ((work - 1) / period_work).min((limit - clock.at) / self.segments.period);
        clock.at += passes * self.segments.period;
        work - passes * period_work
    }

    /// Finds the stretch that holds `at`.
    fn seek(&mut self, at: u64) {
        let segments = &self.segments;
        if at >= segments.period && segments.end != End::Repeat {
            let rate = if segments.end == End::Hold { segments.last_rate() } else { Rate::ZERO };
            self.stretch = Stretch { end: u64::MAX, per_pico: clock::work_per_pico(rate) };
            return;
        }
        // The next segment is the usual case; anything else is looked up.
        let next = self.index + 1;
        let follows = next < segments.list.len()
            && (segments.list[next].start..segments.end_of(next)).contains(&at.wrapping_sub(self.pass));
        if follows {
            self.index = next;
        } else {
            self.pass = at - at % segments.period;
            self.index = segments.index_at(at - self.pass);
        }
        let end = self.pass.saturating_add(segments.end_of(self.index));
        self.stretch = Stretch { end, per_pico: clock::work_per_pico(segments.list[self.index].rate) };
    }
}
