//! Epochs: what share of the bytes sent in one was marked.

use crate::controller::Feedback;
use crate::units::{Span, Timestamp};

/// What an epoch brought.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Marks {
    /// Share of its bytes that came back marked.
    pub(super) share: f64,
    /// Mean share before it, and with it.
    pub(super) former: f64,
    pub(super) mean: f64,
    /// Bytes acknowledged in it, and how many of them came back marked.
    pub(super) bytes: f64,
    pub(super) marked: f64,
    /// How many epochs have ended since the one before: several where packets are few.
    pub(super) epochs: f64,
}

/// When the running epoch ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    /// It has not begun: it does once so many bytes have been sent since the flow began.
    Waiting { until_sent: f64 },
    /// It ends with the first packet sent at this time or later.
    Running { end: Timestamp },
}

/// The running epoch, and the mean of those before.
#[derive(Clone, Debug)]
pub(super) struct Epoch {
    stage: Stage,
    acked: u64,
    marked: u64,
    mean: f64,
    clean: u32,
}

impl Epoch {
    /// One that begins once `until_sent` bytes have been sent since the flow began: nothing sent before counts.
    pub(super) const fn after(until_sent: f64) -> Self {
        Self { stage: Stage::Waiting { until_sent }, acked: 0, marked: 0, mean: 0.0, clean: 0 }
    }

    /// The same, with the mean of `former`.
    pub(super) const fn remembering(self, former: &Self) -> Self {
        Self { mean: former.mean, ..self }
    }

    /// Begins if it is time, with `sent` bytes sent by now.
    pub(super) fn begin_if_due(&mut self, now: Timestamp, sent: u64) {
        if let Stage::Waiting { until_sent } = self.stage
            && sent as f64 >= until_sent
        {
            self.stage = Stage::Running { end: now };
        }
    }

    /// Counts a batch; where that ends the epoch, what it brought. The next one ends `length` later, in time of sending, or with
    /// the first packet sent from now on if that is sooner. It never lags behind: epochs without packets end with the one before.
    pub(super) fn on_acked(&mut self, feedback: &Feedback<'_>, length: Span, weight: f64) -> Option<Marks> {
        let Stage::Running { end } = self.stage else { return None };
        let acked = feedback.newly_acked.bytes;
        self.acked = self.acked.saturating_add(acked);
        self.marked = self.marked.saturating_add(feedback.newly_marked.bytes.min(acked));
        let newest = feedback.acked.last()?.sent_at;
        if newest < end || self.acked == 0 {
            return None;
        }
        let (bytes, marked, former) = (self.acked as f64, self.marked as f64, self.mean);
        let share = marked / bytes;
        self.mean += weight * (share - former);
        self.clean = if share > 0.0 { 0 } else { self.clean.saturating_add(1) };
        (self.acked, self.marked) = (0, 0);
        let missed = newest.saturating_since(end).as_nanos() / length.as_nanos().max(1);
        let next = if end + length > newest { end + length } else { newest + length };
        self.stage = Stage::Running { end: next.min(feedback.now) };
        Some(Marks { share, former, mean: self.mean, bytes, marked, epochs: 1.0 + missed as f64 })
    }

    /// Mean share of marks.
    pub(super) const fn mean(&self) -> f64 {
        self.mean
    }

    /// Epochs without marks in a row.
    pub(super) const fn clean(&self) -> u32 {
        self.clean
    }
}
