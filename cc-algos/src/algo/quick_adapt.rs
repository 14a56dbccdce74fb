//! Quick Adapt: the window becomes what arrived in the last round trip (SMaRTT and FASTFLOW, arXiv 2404.01630; NSCC of
//! Ultra Ethernet).
//!
//! ```text
//! each period    if packets were trimmed or lost meanwhile:  cwnd = bytes acknowledged in the period
//! afterwards     as many bytes as were in flight are ignored where they are marked: they tell of the time before
//! ```
//!
//! A period holds what was acknowledged from its beginning up to, and without, the acknowledgement that ends it: that one
//! is the next period's. So an acknowledgement of ten packets brings the same as ten of one.

use crate::units::{Span, Timestamp};

/// What was achieved in the running period, and what is to be ignored after the last adaptation.
#[derive(Clone, Debug, Default)]
pub struct QuickAdapt {
    /// Bytes acknowledged in the running period.
    achieved: u64,
    /// When it ends; `None` before the first.
    ends: Option<Timestamp>,
    /// Whether packets were trimmed or lost since the last adaptation.
    triggered: bool,
    /// Bytes still to be ignored.
    ignored: u64,
}

impl QuickAdapt {
    /// `bytes` were acknowledged.
    pub const fn on_acked(&mut self, bytes: u64) {
        self.achieved = self.achieved.saturating_add(bytes);
        self.ignored = self.ignored.saturating_sub(bytes);
    }

    /// `bytes` were trimmed or lost.
    pub const fn on_lost(&mut self, bytes: u64) {
        self.ignored = self.ignored.saturating_sub(bytes);
        self.triggered = true;
    }

    /// Whether feedback still tells of the time before the last adaptation.
    pub const fn is_ignoring(&self) -> bool {
        self.ignored > 0
    }

    /// Whether an adaptation is wanted.
    pub const fn is_triggered(&self) -> bool {
        self.triggered
    }

    /// Where a period has ended, what was achieved in it; the next one of `length` begins. To be asked before
    /// [`QuickAdapt::on_acked`] is told of the acknowledgement that ends it.
    pub fn end_period(&mut self, now: Timestamp, length: Span) -> Option<u64> {
        if self.ends.is_some_and(|ends| now <= ends) {
            return None;
        }
        let first = self.ends.is_none();
        self.ends = Some(now + length);
        let achieved = core::mem::take(&mut self.achieved);
        (!first).then_some(achieved)
    }

    /// The window was adapted with `in_flight` bytes outstanding, or needed no adaptation where that is zero.
    pub const fn adapted(&mut self, in_flight: u64) {
        self.triggered = false;
        self.ignored = in_flight;
    }

    /// Nothing was sent for a while: that time says nothing of what can be achieved.
    pub const fn restart(&mut self) {
        (self.achieved, self.ends) = (0, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Span = Span::from_micros(10);

    fn at(micros: u64) -> Timestamp {
        Timestamp::ZERO + Span::from_micros(micros)
    }

    #[test]
    fn a_period_gives_what_was_acknowledged_in_it_and_the_first_only_begins() {
        let mut adapt = QuickAdapt::default();
        assert_eq!(adapt.end_period(at(0), PERIOD), None);
        adapt.on_acked(5_000);
        assert_eq!(adapt.end_period(at(10), PERIOD), None, "ten microseconds are not over ten");
        adapt.on_acked(1_000);
        assert_eq!(adapt.end_period(at(11), PERIOD), Some(6_000));
        adapt.on_acked(2_000);
        assert_eq!(adapt.end_period(at(22), PERIOD), Some(2_000));
        adapt.restart();
        assert_eq!(adapt.end_period(at(900), PERIOD), None);
    }

    #[test]
    fn what_was_in_flight_is_ignored_until_it_is_acknowledged_or_lost() {
        let mut adapt = QuickAdapt::default();
        adapt.on_lost(1_000);
        assert!(adapt.is_triggered());
        adapt.adapted(3_000);
        assert!(adapt.is_ignoring() && !adapt.is_triggered());
        adapt.on_acked(2_000);
        adapt.on_lost(500);
        assert!(adapt.is_ignoring());
        adapt.on_acked(u64::MAX);
        assert!(!adapt.is_ignoring());
    }
}
