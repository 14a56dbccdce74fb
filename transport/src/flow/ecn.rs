//! ECN validation (RFC 9000, section 13.4.2 and appendix A.4): does the path carry marks, does the peer report them?
//!
//! | state | packets are marked | leaves it |
//! |---|---|---|
//! | testing | yes | after ten packets, or when an acknowledgement decides |
//! | unknown | no | when an acknowledgement decides |
//! | capable | yes | when an acknowledgement contradicts |
//! | failed | no | never |
//!
//! The states and numbers are the RFC's. It also lets "testing" end after three probe timeouts; here ten packets alone
//! decide, and a test whose packets are all lost fails the path.

use cc_algos::signal::{Ecn, EcnCounts};

use super::config::EcnMode;

/// Packets marked before the path's answer is awaited.
const TEST_PACKETS: u64 = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Off,
    Testing,
    Unknown,
    Capable,
    Failed,
    /// Validation is not asked for.
    Trusted,
}

/// Validation of one path, and the counts reported so far.
#[derive(Clone, Debug)]
pub(crate) struct EcnValidator {
    state: State,
    /// Packets sent with each codepoint.
    sent: EcnCounts,
    /// The peer's latest counts.
    reported: EcnCounts,
    /// Packets of the test that got lost.
    test_lost: u64,
}

/// What one acknowledgement said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EcnOutcome {
    /// Nothing about ECN, or nothing that may be relied on.
    Nothing,
    /// So many packets more arrived with each codepoint.
    Growth(EcnCounts),
    /// The path or the peer turned out not to support ECN.
    Failed,
}

impl EcnValidator {
    pub(crate) fn new(mode: EcnMode) -> Self {
        let state = match mode {
            EcnMode::Off => State::Off,
            EcnMode::Validate => State::Testing,
            EcnMode::Trust => State::Trusted,
        };
        Self { state, sent: EcnCounts::default(), reported: EcnCounts::default(), test_lost: 0 }
    }

    /// Whether the next packet may be marked as capable.
    #[inline]
    pub(crate) const fn may_mark(&self) -> bool {
        matches!(self.state, State::Testing | State::Capable | State::Trusted)
    }

    /// Whether marks that come back mean anything.
    #[inline]
    pub(crate) const fn listens(&self) -> bool {
        !matches!(self.state, State::Off | State::Failed)
    }

    /// A packet left with `codepoint`.
    #[inline]
    pub(crate) fn on_sent(&mut self, codepoint: Ecn) {
        self.sent.count(codepoint);
        if self.state == State::Testing && self.sent.total() >= TEST_PACKETS {
            self.state = State::Unknown;
        }
    }

    /// A packet sent with `codepoint` was lost. If all of the test are, the path drops what is marked.
    pub(crate) fn on_lost(&mut self, codepoint: Ecn) -> EcnOutcome {
        if !codepoint.is_capable() || self.state != State::Unknown {
            return EcnOutcome::Nothing;
        }
        self.test_lost += 1;
        if self.test_lost < TEST_PACKETS { EcnOutcome::Nothing } else { self.fail() }
    }

    /// Whether these counts are smaller than some reported before, although the packets they cover are newer.
    pub(crate) fn goes_backwards(&self, reported: EcnCounts) -> bool {
        self.state == State::Trusted && reported.since(self.reported).is_none()
    }

    /// An acknowledgement that raised the largest acknowledged number came with `reported` counts. Of the packets that it
    /// newly acknowledged, `acked` were sent with each codepoint.
    #[inline]
    pub(crate) fn on_ack(&mut self, reported: Option<EcnCounts>, acked: &EcnCounts) -> EcnOutcome {
        match self.state {
            State::Off | State::Failed => EcnOutcome::Nothing,
            State::Trusted => reported.map_or(EcnOutcome::Nothing, |reported| self.grow(reported)),
            State::Testing | State::Unknown | State::Capable => self.validate(reported, acked),
        }
    }

    /// An acknowledgement came that did not raise the largest acknowledged number: it tells of packets that others overtook.
    /// Its counts are heard if they are the newest, and must not fail the path (RFC 9000, section 13.4.2.1), since they may
    /// as well be old.
    #[inline]
    pub(crate) fn on_late_ack(&mut self, reported: Option<EcnCounts>) -> EcnOutcome {
        let Some(reported) = reported.filter(|reported| reported.since(self.reported).is_some()) else {
            return EcnOutcome::Nothing;
        };
        match self.state {
            State::Trusted => self.grow(reported),
            State::Capable if !self.is_too_many(reported) => self.grow(reported),
            _ => EcnOutcome::Nothing,
        }
    }

    /// Whether more packets are reported than were sent.
    const fn is_too_many(&self, reported: EcnCounts) -> bool {
        reported.ect0 > self.sent.ect0 || reported.ect1 > self.sent.ect1 || reported.total() > self.sent.total()
    }

    #[inline]
    fn validate(&mut self, reported: Option<EcnCounts>, acked: &EcnCounts) -> EcnOutcome {
        let Some(reported) = reported else {
            // Without marked packets among the acknowledged ones nothing has to be reported.
            return if acked.total() > 0 { self.fail() } else { EcnOutcome::Nothing };
        };
        let Some(growth) = reported.since(self.reported) else { return self.fail() };
        let missing =
            growth.ect0.saturating_add(growth.ce) < acked.ect0 || growth.ect1.saturating_add(growth.ce) < acked.ect1;
        if missing || self.is_too_many(reported) {
            return self.fail();
        }
        if acked.total() > 0 {
            self.state = State::Capable;
        }
        self.grow(reported)
    }

    #[inline]
    fn grow(&mut self, reported: EcnCounts) -> EcnOutcome {
        let growth = reported.since(self.reported).unwrap_or_default();
        self.reported = reported;
        EcnOutcome::Growth(growth)
    }

    fn fail(&mut self) -> EcnOutcome {
        self.state = State::Failed;
        EcnOutcome::Failed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(ect0: u64, ect1: u64, ce: u64) -> EcnCounts {
        EcnCounts { ect0, ect1, ce }
    }

    /// A validator that sent `packets` with ECT(0), as far as it marks.
    fn tested(packets: u64) -> EcnValidator {
        let mut ecn = EcnValidator::new(EcnMode::Validate);
        for _ in 0..packets {
            let codepoint = if ecn.may_mark() { Ecn::Ect0 } else { Ecn::NotEct };
            ecn.on_sent(codepoint);
        }
        ecn
    }

    #[test]
    fn ten_packets_test_the_path_and_the_rest_waits_for_the_answer() {
        let mut ecn = tested(9);
        assert!(ecn.may_mark());
        ecn.on_sent(Ecn::Ect0);
        assert!(!ecn.may_mark());
        assert_eq!(ecn.on_ack(Some(counts(1, 0, 1)), &counts(2, 0, 0)), EcnOutcome::Growth(counts(1, 0, 1)));
        assert!(ecn.may_mark());
    }

    #[test]
    fn validation_follows_the_table_of_rfc_9000() {
        let failed = EcnOutcome::Failed;
        let growth = EcnOutcome::Growth;
        // (what, counts reported, sent as, expected), for ten packets sent with ECT(0), of which four are acknowledged.
        let cases = [
            ("all arrived as sent", Some(counts(4, 0, 0)), growth(counts(4, 0, 0))),
            ("some were marked", Some(counts(1, 0, 3)), growth(counts(1, 0, 3))),
            ("an acknowledgement before this one got lost", Some(counts(6, 0, 0)), growth(counts(6, 0, 0))),
            ("bleached on the way, no counts at all", None, failed),
            ("bleached in part", Some(counts(2, 0, 1)), failed),
            ("re-marked as ECT(1)", Some(counts(0, 4, 0)), failed),
            ("more than were sent", Some(counts(11, 0, 0)), failed),
            ("more in all than were sent", Some(counts(9, 0, 2)), failed),
        ];
        for (what, reported, expected) in cases {
            let mut ecn = tested(10);
            assert_eq!(ecn.on_ack(reported, &counts(4, 0, 0)), expected, "{what}");
            assert_eq!(ecn.may_mark(), expected != failed, "{what}");
        }
    }

    #[test]
    fn counts_that_go_backwards_fail_the_path_for_good() {
        let mut ecn = tested(10);
        ecn.on_ack(Some(counts(5, 0, 2)), &counts(7, 0, 0));
        assert_eq!(ecn.on_ack(Some(counts(6, 0, 1)), &counts(0, 0, 0)), EcnOutcome::Failed);
        assert_eq!(ecn.on_ack(Some(counts(10, 0, 0)), &counts(3, 0, 0)), EcnOutcome::Nothing);
        assert!(!ecn.may_mark());
    }

    #[test]
    fn a_path_that_drops_every_marked_packet_fails() {
        let mut ecn = tested(12);
        let outcomes: Vec<_> = (0..10).map(|_| ecn.on_lost(Ecn::Ect0)).collect();
        assert!(outcomes[..9].iter().all(|outcome| *outcome == EcnOutcome::Nothing));
        assert_eq!(outcomes[9], EcnOutcome::Failed);
    }

    #[test]
    fn a_trusted_network_is_taken_at_its_word_except_backwards() {
        let mut ecn = EcnValidator::new(EcnMode::Trust);
        assert_eq!(ecn.on_ack(None, &counts(3, 0, 0)), EcnOutcome::Nothing);
        assert_eq!(ecn.on_ack(Some(counts(0, 0, 5)), &counts(5, 0, 0)), EcnOutcome::Growth(counts(0, 0, 5)));
        assert!(ecn.goes_backwards(counts(9, 0, 4)));
        assert!(!ecn.goes_backwards(counts(0, 0, 5)));
        assert!(ecn.may_mark());
    }

    #[test]
    fn counts_of_late_acknowledgements_are_heard_if_they_are_the_newest_and_never_fail_the_path() {
        let mut ecn = tested(10);
        assert_eq!(ecn.on_late_ack(Some(counts(0, 0, 1))), EcnOutcome::Nothing, "nothing is validated yet");
        assert_eq!(ecn.on_ack(Some(counts(2, 0, 1)), &counts(3, 0, 0)), EcnOutcome::Growth(counts(2, 0, 1)));
        assert_eq!(ecn.on_late_ack(Some(counts(2, 0, 2))), EcnOutcome::Growth(counts(0, 0, 1)));
        for stale in [None, Some(counts(2, 0, 1)), Some(counts(3, 0, 0)), Some(counts(2, 0, 9))] {
            assert_eq!(ecn.on_late_ack(stale), EcnOutcome::Nothing, "{stale:?}");
        }
        assert!(ecn.may_mark());
        assert_eq!(ecn.on_ack(Some(counts(3, 0, 2)), &counts(1, 0, 0)), EcnOutcome::Growth(counts(1, 0, 0)));
    }

    #[test]
    fn off_means_off() {
        let mut ecn = EcnValidator::new(EcnMode::Off);
        assert!(!ecn.may_mark());
        assert_eq!(ecn.on_ack(Some(counts(0, 0, 5)), &counts(0, 0, 0)), EcnOutcome::Nothing);
        assert_eq!(ecn.on_late_ack(Some(counts(0, 0, 5))), EcnOutcome::Nothing);
    }
}
