//! Recorded delivery opportunities, as mahimahi's traces have them.
//!
//! Each opportunity delivers up to its bytes, all at its instant. A packet that does not fit continues at the next one;
//! what an opportunity has left serves the packets that were waiting at that instant and is lost when none is. After the
//! last one the series begins again, shifted by its period.

use std::sync::Arc;

use cc_algos::{Rate, Span};

use super::clock::{Clock, WORK_PER_BYTE};
use super::{End, picos};
use crate::error::{SpecError, ensure};

/// A number of bytes that can leave at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opportunity {
    /// When, from the start of the series.
    pub at: Span,
    /// How many bytes.
    pub bytes: u64,
}

/// A series of delivery opportunities; cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub struct Opportunities {
    list: Arc<[Instant]>,
    period: u64,
    period_bytes: u64,
    end: End,
}

/// All that can leave at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Instant {
    at: u64,
    /// Bytes of all instants of the pass before this one.
    before: u64,
    bytes: u64,
}

impl Opportunities {
    /// Opportunities in order of time; those of one instant add up. `period` is the length of a pass: mahimahi takes
    /// the time of the last opportunity, so that time zero of the next pass is the same instant.
    ///
    /// # Errors
    /// If there are none, times go back or lie beyond the period, no byte is ever carried, or the period is zero or
    /// beyond simulated time (213 days).
    pub fn new(list: impl IntoIterator<Item = Opportunity>, period: Span, end: End) -> Result<Self, SpecError> {
        let length = picos(period);
        ensure(0 < length && length < u64::MAX, "period", period, "above zero and below 213 days")?;
        let (at_zero, mut instants) = collect(list, length)?;
        // Passes are (0, period]: time zero is the end of the pass before. In the first pass nobody can use it, since
        // what arrives at the start of time arrives after the departures of that instant.
        if end == End::Repeat && at_zero > 0 {
            match instants.last_mut() {
                Some(last) if last.at == length => last.bytes += at_zero,
                _ => instants.push(Instant { at: length, before: 0, bytes: at_zero }),
            }
        }
        let mut period_bytes = 0;
        for instant in &mut instants {
            instant.before = period_bytes;
            period_bytes += instant.bytes;
        }
        if instants.is_empty() {
            return Err(SpecError::Empty { list: LIST, entry: "opportunity of at least one byte after time zero" });
        }
        Ok(Self { list: instants.into(), period: length, period_bytes, end })
    }

    /// Length of one pass.
    pub fn period(&self) -> Span {
        Span::from_nanos(self.period / 1_000)
    }

    fn repeats(&self) -> bool {
        self.end == End::Repeat
    }

    /// Whole passes before `at`, and the time into its own, from 1 picosecond to the period; `None` once all is over.
    fn split(&self, at: u64) -> Option<(u64, u64)> {
        let passes = at.saturating_sub(1) / self.period;
        (passes == 0 || self.repeats()).then(|| (passes, at - passes * self.period))
    }

    /// Bytes of all opportunities until and including `at`.
    pub(super) fn bytes_until(&self, at: u64) -> u64 {
        let Some((passes, offset)) = self.split(at) else { return self.period_bytes };
        let index = self.list.partition_point(|instant| instant.at <= offset);
        let bytes = self.list.get(index).map_or(self.period_bytes, |next| next.before);
        passes.saturating_mul(self.period_bytes).saturating_add(bytes)
    }

    /// The mean rate over the gap between the opportunities around `at`.
    pub(super) fn rate_at(&self, at: u64) -> Rate {
        let Some((_, offset)) = self.split(at) else { return Rate::ZERO };
        let index = self.list.partition_point(|instant| instant.at < offset);
        let last = self.list[self.list.len() - 1].at;
        let (since, next) = match self.list.get(index) {
            Some(next) if index == 0 => (self.period - last + next.at, next),
            Some(next) => (next.at - self.list[index - 1].at, next),
            None if self.repeats() => (self.period - last + self.list[0].at, &self.list[0]),
            None => return Rate::ZERO,
        };
        let bps = u128::from(next.bytes) * u128::from(WORK_PER_BYTE) / u128::from(since.max(1));
        Rate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX))
    }
}

const LIST: &str = "delivery opportunities";

/// Checks the list and adds up what belongs to one instant, time zero apart.
fn collect(list: impl IntoIterator<Item = Opportunity>, length: u64) -> Result<(u64, Vec<Instant>), SpecError> {
    let (mut at_zero, mut instants, mut total, mut latest) = (0, Vec::<Instant>::new(), 0_u64, 0);
    for (index, Opportunity { at, bytes }) in list.into_iter().enumerate() {
        let at = picos(at);
        let wrong = |expected| SpecError::Entry { list: LIST, index, expected };
        if at < latest {
            return Err(wrong("times that never go back"));
        }
        if at > length {
            return Err(wrong("times within the period"));
        }
        total = total.checked_add(bytes).ok_or_else(|| wrong("less than 2^64 bytes in all"))?;
        latest = at;
        match instants.last_mut() {
            _ if bytes == 0 => {}
            _ if at == 0 => at_zero += bytes,
            Some(last) if last.at == at => last.bytes += bytes,
            _ => instants.push(Instant { at, before: 0, bytes }),
        }
    }
    Ok((at_zero, instants))
}

/// Serves at recorded opportunities.
#[derive(Clone, Debug)]
pub(super) struct OpportunityServer {
    series: Opportunities,
    /// The opportunity under way or next: its index, the start of its pass, its time, and the bytes it still has.
    index: usize,
    pass: u64,
    at: u64,
    left: u64,
}

impl OpportunityServer {
    pub(super) fn new(series: &Opportunities) -> Self {
        let mut server = Self { series: series.clone(), index: 0, pass: 0, at: 0, left: 0 };
        server.enter(0, 0);
        server
    }

    /// As [`super::Source::run`]. Whole bytes leave: what a rate left of one counts as whole here.
    pub(super) fn run(&mut self, clock: &mut Clock, ready: u64, work: u64, limit: u64) -> u64 {
        let mut bytes = work.div_ceil(WORK_PER_BYTE);
        if self.at <= ready {
            self.seek_after(ready);
        }
        while bytes > 0 {
            if self.left == 0 {
                self.advance();
            }
            if self.at == u64::MAX || self.at > limit {
                *clock = Clock { at: limit, used: 0 };
                return bytes * WORK_PER_BYTE;
            }
            let sent = self.left.min(bytes);
            self.left -= sent;
            bytes -= sent;
            *clock = Clock { at: self.at, used: 0 };
            if bytes > self.series.period_bytes && self.series.repeats() {
                bytes = self.skip_passes(bytes, limit);
            }
        }
        0
    }

    /// A packet that needs many whole passes takes them at once; the opportunity under way is used up.
    fn skip_passes(&mut self, bytes: u64, limit: u64) -> u64 {
        let Opportunities { period, period_bytes, .. } = self.series;
        let passes = ((bytes - 1) / period_bytes).min((limit - self.at) / period);
        self.enter(self.pass + passes * period, self.index);
        self.left = 0;
        bytes - passes * period_bytes
    }

    fn advance(&mut self) {
        if self.at == u64::MAX {
            return;
        }
        if self.index + 1 < self.series.list.len() {
            self.enter(self.pass, self.index + 1);
        } else if self.series.repeats() {
            self.enter(self.pass.saturating_add(self.series.period), 0);
        } else {
            self.stop();
        }
    }

    /// Goes to the first opportunity later than `ready`, which the current one is not.
    fn seek_after(&mut self, ready: u64) {
        self.advance();
        if self.at > ready {
            return;
        }
        let period = self.series.period;
        let (passes, offset) = (ready / period, ready % period);
        if passes > 0 && !self.series.repeats() {
            return self.stop();
        }
        let index = self.series.list.partition_point(|instant| instant.at <= offset);
        if index < self.series.list.len() {
            self.enter(passes * period, index);
        } else {
            self.enter(passes * period, index - 1);
            self.advance();
        }
    }

    fn enter(&mut self, pass: u64, index: usize) {
        let instant = self.series.list[index];
        self.pass = pass;
        self.index = index;
        self.at = pass.saturating_add(instant.at);
        self.left = instant.bytes;
    }

    fn stop(&mut self) {
        self.at = u64::MAX;
        self.left = 0;
    }
}
