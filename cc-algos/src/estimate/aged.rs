//! The smallest value of a window that begins anew when it ends: BBR's way to tell when a delay has to be measured again.

use crate::units::{Span, Timestamp};

/// The smallest delay since it was last renewed, and when it was seen.
///
/// Unlike [`WindowedMin`](super::WindowedMin) it keeps one sample, so a larger value takes over only when the owner says
/// that the smaller one is too old. BBR uses the moment to probe (draft-ietf-ccwg-bbr, section "ProbeRTT Logic"; Linux
/// `tcp_bbr.c`, `bbr_update_min_rtt`).
#[derive(Clone, Copy, Debug)]
pub struct AgedMin {
    min: Option<Span>,
    seen_at: Timestamp,
}

impl AgedMin {
    /// A minimum known at `now`, or none yet.
    pub const fn new(now: Timestamp, min: Option<Span>) -> Self {
        Self { min, seen_at: now }
    }

    /// The minimum, once there is one.
    pub const fn get(&self) -> Option<Span> {
        self.min
    }

    /// When it was seen, or else when its age was last [renewed](Self::renew).
    pub const fn seen_at(&self) -> Timestamp {
        self.seen_at
    }

    /// Whether it was seen more than `window` ago.
    pub fn is_older_than(&self, window: Span, now: Timestamp) -> bool {
        now > self.seen_at + window
    }

    /// Takes a sample that was seen `at`, if it is smaller.
    pub fn take_smaller(&mut self, at: Timestamp, sample: Span) {
        if self.min.is_none_or(|min| sample < min) {
            self.replace(at, sample);
        }
    }

    /// Takes a sample that was seen `at`, whatever was known.
    pub const fn replace(&mut self, at: Timestamp, sample: Span) {
        self.min = Some(sample);
        self.seen_at = at;
    }

    /// What is known counts as seen at `now`.
    pub const fn renew(&mut self, now: Timestamp) {
        self.seen_at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minimum_stays_until_it_is_replaced_and_ages_from_when_it_was_seen() {
        let at = |secs| Timestamp::ZERO + Span::from_secs(secs);
        let (window, millis) = (Span::from_secs(10), Span::from_millis);
        let mut min = AgedMin::new(at(0), None);
        min.take_smaller(at(1), millis(20));
        min.take_smaller(at(5), millis(30));
        assert_eq!((min.get(), min.seen_at()), (Some(millis(20)), at(1)));
        assert!(!min.is_older_than(window, at(11)));
        assert!(min.is_older_than(window, at(12)));
        min.replace(at(12), millis(30));
        assert_eq!(min.get(), Some(millis(30)));
        min.renew(at(15));
        assert!(!min.is_older_than(window, at(25)));
    }
}
