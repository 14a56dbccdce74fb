//! Round trips, counted by what was acknowledged and not by a clock.

/// Counts round trips on any mark that never decreases along a flow: bytes delivered (draft-ietf-ccwg-bbr, section
/// 5.5.1), packet numbers (RFC 9406, section 4.2) or nanoseconds of send time.
///
/// A round ends when something that was sent at or after its beginning is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundCounter {
    end: u64,
    rounds: u64,
}

impl RoundCounter {
    /// No round has ended yet; the first ends when something with a mark of `end` or more is acknowledged.
    pub const fn new(end: u64) -> Self {
        Self { end, rounds: 0 }
    }

    /// A packet was acknowledged whose mark at its sending was `at_send`; what is sent next bears the mark `next`.
    /// True if that ends a round.
    pub const fn on_acked(&mut self, at_send: u64, next: u64) -> bool {
        if at_send < self.end {
            return false;
        }
        self.end = next;
        self.rounds = self.rounds.saturating_add(1);
        true
    }

    /// The running round ends no earlier than with something sent from now on, which bears the mark `next`.
    pub const fn restart(&mut self, next: u64) {
        self.end = next;
    }

    /// Rounds that have ended.
    pub const fn rounds(&self) -> u64 {
        self.rounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_ends_with_the_first_packet_sent_within_it() {
        // Packet numbers: ten packets are out when 0 is acknowledged; 10 is the first one sent after that.
        let mut rounds = RoundCounter::default();
        assert!(rounds.on_acked(0, 10));
        for packet in 1..10 {
            assert!(!rounds.on_acked(packet, 10 + packet));
        }
        assert!(rounds.on_acked(10, 20));
        assert_eq!(rounds.rounds(), 2);
    }

    #[test]
    fn a_stretched_acknowledgement_ends_one_round_only() {
        let mut rounds = RoundCounter::default();
        assert!(rounds.on_acked(0, 10));
        assert!(rounds.on_acked(50, 60));
        assert_eq!(rounds.rounds(), 2);
    }

    #[test]
    fn a_restarted_round_waits_for_what_is_sent_from_now_on() {
        let mut rounds = RoundCounter::new(5);
        rounds.restart(30);
        assert!(!rounds.on_acked(29, 40));
        assert!(rounds.on_acked(30, 40));
    }
}
