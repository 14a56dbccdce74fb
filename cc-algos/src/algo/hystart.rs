//! HyStart++ (RFC 9406): leaves slow start when the RTT rises, before the queue overflows. A part for laws with a slow
//! start of their own.
//!
//! ```text
//! rounds     end when something sent after their beginning is acknowledged
//! standard   cwnd += min(acked, L mtu)
//!            rise of the round's minimum over the last round's >= clamp(last / 8, 4 ms, 16 ms)
//!            with at least 8 samples:                          enter conservative slow start
//! CSS        cwnd += min(acked, L mtu) / 4
//!            minimum below the one that began it:              a false alarm, back to standard
//!            5 rounds over:                                    ssthresh = cwnd
//! ```
//!
//! ## Differences from the reference
//!
//! | | RFC 9406 | here |
//! |---|---|---|
//! | end of a round | `windowEnd`, a sequence number | a send time, which several paths can share |
//! | end of the first round | `SND.NXT` when it begins | what was sent when the first acknowledgement came |
//! | `CSS_GROWTH_DIVISOR` | rounds down at each ACK | carries the remainder |
//! | RTT | with the acknowledgement delay, as TCP sees it | without it, as far as that is credible |

use crate::controller::{Feedback, Flight};
use crate::estimate::RoundCounter;
use crate::units::Span;

/// Smallest rise of the RTT that counts (RFC 9406, section 4.3: `MIN_RTT_THRESH`).
const MIN_RTT_THRESHOLD: Span = Span::from_millis(4);
/// Largest rise that is waited for (`MAX_RTT_THRESH`).
const MAX_RTT_THRESHOLD: Span = Span::from_millis(16);
/// Share of the RTT by which it must rise in between (`MIN_RTT_DIVISOR`).
const RTT_DIVISOR: u64 = 8;
/// Samples that a round needs (`N_RTT_SAMPLE`).
const ROUND_SAMPLES: u32 = 8;
/// By how much conservative slow start is slower (`CSS_GROWTH_DIVISOR`).
const CSS_GROWTH_DIVISOR: u64 = 4;
/// Rounds that conservative slow start lasts, the one it begins in included (`CSS_ROUNDS`).
const CSS_ROUNDS: u32 = 5;
/// Packets that count of one acknowledgement if the sender does not pace (`L`).
const UNPACED_PACKETS: u64 = 8;

/// Whether the sender spaces its packets, so that a stretched acknowledgement makes no burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// Packets are spaced: acknowledged bytes count without bound (`L` = infinity).
    Paced,
    /// Packets leave back to back: eight packets at most count of one acknowledgement.
    Bursts,
}

/// What to do after a batch of feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// Go on.
    Stay,
    /// Slow start is over: the threshold is the window.
    Leave,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Standard,
    Conservative { baseline: Span, rounds: u32 },
}

/// HyStart++'s state during the first slow start of a flow.
#[derive(Clone, Debug)]
pub struct HyStart {
    sending: Sending,
    phase: Phase,
    /// `None` until something was acknowledged: the first round is the first flight, whose packets queue behind each other.
    round: Option<RoundCounter>,
    last_min: Option<Span>,
    current_min: Option<Span>,
    samples: u32,
    /// Bytes acknowledged in conservative slow start that made no whole byte of growth yet.
    remainder: u64,
}

impl HyStart {
    /// A slow start that begins.
    pub const fn new(sending: Sending) -> Self {
        Self {
            sending,
            phase: Phase::Standard,
            round: None,
            last_min: None,
            current_min: None,
            samples: 0,
            remainder: 0,
        }
    }

    /// Whether growth is slowed down.
    pub const fn is_conservative(&self) -> bool {
        matches!(self.phase, Phase::Conservative { .. })
    }

    /// Bytes by which the window grows on `acked` bytes.
    pub fn growth(&mut self, acked: u64, mtu: u64) -> u64 {
        let counted = match self.sending {
            Sending::Paced => acked,
            Sending::Bursts => acked.min(mtu.saturating_mul(UNPACED_PACKETS)),
        };
        match self.phase {
            Phase::Standard => counted,
            Phase::Conservative { .. } => {
                let sum = self.remainder.saturating_add(counted);
                self.remainder = sum % CSS_GROWTH_DIVISOR;
                sum / CSS_GROWTH_DIVISOR
            }
        }
    }

    /// Watches the RTT and the rounds of a batch, after the window has grown on it.
    pub fn watch(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) -> Advice {
        let Some(newest) = feedback.acked.last() else { return Advice::Stay };
        if let Some(rtt) = flight.latest_rtt.filter(|_| feedback.rtt.is_some()) {
            self.on_sample(rtt);
        }
        let now = feedback.now.as_nanos();
        if self.round.get_or_insert(RoundCounter::new(now)).on_acked(newest.sent_at.as_nanos(), now) {
            return self.on_round_end();
        }
        Advice::Stay
    }

    fn on_sample(&mut self, rtt: Span) {
        let current = self.current_min.map_or(rtt, |min| min.min(rtt));
        self.current_min = Some(current);
        self.samples = self.samples.saturating_add(1);
        if self.samples < ROUND_SAMPLES {
            return;
        }
        match (self.phase, self.last_min) {
            (Phase::Standard, Some(last)) => {
                let rise = last.mul_div(1, RTT_DIVISOR).clamp(MIN_RTT_THRESHOLD, MAX_RTT_THRESHOLD);
                if current >= last + rise {
                    self.phase = Phase::Conservative { baseline: current, rounds: 0 };
                }
            }
            (Phase::Conservative { baseline, .. }, _) if current < baseline => self.phase = Phase::Standard,
            _ => {}
        }
    }

    fn on_round_end(&mut self) -> Advice {
        self.last_min = self.current_min.take();
        self.samples = 0;
        if let Phase::Conservative { rounds, .. } = &mut self.phase {
            *rounds += 1;
            if *rounds >= CSS_ROUNDS {
                return Advice::Leave;
            }
        }
        Advice::Stay
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::{Cause, PacketRecord, RttSample};
    use crate::testing::{MTU, at};
    use crate::units::Timestamp;

    /// Feeds HyStart++ rounds of single acknowledgements; round i lasts from i seconds on.
    struct Rounds {
        hystart: HyStart,
        round: u64,
    }

    impl Rounds {
        fn new() -> Self {
            let mut hystart = HyStart::new(Sending::Paced);
            hystart.round = Some(RoundCounter::new(at(1_000).as_nanos()));
            Self { hystart, round: 1 }
        }

        fn ack(&mut self, sent_at: Timestamp, now: Timestamp, rtt: Span) -> Advice {
            let acked = [PacketRecord::new(0, MTU as u32, sent_at)];
            let mut feedback = Feedback::new(now, Cause::Ack);
            feedback.acked = &acked;
            feedback.rtt = Some(RttSample { latest: rtt, ack_delay: Span::ZERO, sent_at });
            let mut flight = Flight::idle(MTU);
            flight.latest_rtt = Some(rtt);
            self.hystart.watch(&feedback, &flight)
        }

        /// A round of `samples` acknowledgements with the same RTT, of which the last ends it.
        fn round(&mut self, samples: u32, rtt: Span) -> Advice {
            let begin = at(1_000 * self.round);
            self.round += 1;
            let old = begin.saturating_sub(Span::from_nanos(1));
            for _ in 1..samples {
                assert_eq!(self.ack(old, begin + rtt, rtt), Advice::Stay);
            }
            self.ack(begin, at(1_000 * self.round), rtt)
        }
    }

    #[test]
    fn the_threshold_is_an_eighth_of_the_rtt_between_4_and_16_ms() {
        // (RTT of the first round, smallest rise that counts), ms.
        for (base, rise) in [(1, 4), (32, 4), (64, 8), (100, 12), (128, 16), (500, 16)] {
            let mut below = Rounds::new();
            below.round(9, Span::from_millis(base));
            below.round(9, Span::from_millis(base + rise) - Span::from_micros(501));
            assert!(!below.hystart.is_conservative(), "{base} ms");
            let mut above = Rounds::new();
            above.round(9, Span::from_millis(base));
            above.round(9, Span::from_millis(base + rise) + Span::from_micros(500));
            assert!(above.hystart.is_conservative(), "{base} ms");
        }
    }

    #[test]
    fn the_queue_that_the_first_flight_makes_for_itself_is_no_rise() {
        // Ten packets sent at once over 1 Mb/s: each waits 12 ms for the one before, far more than the threshold of 4 ms.
        let mut rounds = Rounds { hystart: HyStart::new(Sending::Paced), round: 1 };
        for packet in 0..10 {
            let rtt = Span::from_millis(10 + 12 * packet);
            assert_eq!(rounds.ack(at(0), at(0) + rtt, rtt), Advice::Stay);
        }
        assert!(!rounds.hystart.is_conservative());
        // Another flight, sent on the first acknowledgement, is measured against the smallest RTT of the first. Its first
        // acknowledgement still belongs to that round.
        for packet in 0..10 {
            rounds.ack(at(10), at(130 + packet), Span::from_millis(120));
        }
        assert!(rounds.hystart.is_conservative());
    }

    #[test]
    fn seven_samples_do_not_suffice() {
        let mut rounds = Rounds::new();
        rounds.round(9, Span::from_millis(10));
        rounds.round(7, Span::from_millis(100));
        assert!(!rounds.hystart.is_conservative());
        rounds.round(8, Span::from_millis(200));
        assert!(rounds.hystart.is_conservative(), "100 ms more than the round before");
    }

    #[test]
    fn slow_start_ends_after_five_rounds_the_first_of_them_partial() {
        let mut rounds = Rounds::new();
        rounds.round(9, Span::from_millis(10));
        let advice: Vec<_> = (0..5).map(|_| rounds.round(10, Span::from_millis(20))).collect();
        assert_eq!(advice[..4], [Advice::Stay; 4]);
        assert_eq!(advice[4], Advice::Leave);
    }

    #[test]
    fn an_rtt_below_the_baseline_is_a_false_alarm() {
        let mut rounds = Rounds::new();
        rounds.round(9, Span::from_millis(10));
        rounds.round(9, Span::from_millis(20));
        assert!(rounds.hystart.is_conservative());
        rounds.round(9, Span::from_millis(19));
        assert!(!rounds.hystart.is_conservative());
        // The rise is measured against the last round from then on.
        rounds.round(9, Span::from_millis(22));
        assert!(!rounds.hystart.is_conservative());
        rounds.round(9, Span::from_millis(26));
        assert!(rounds.hystart.is_conservative());
    }

    #[test]
    fn growth_is_a_quarter_when_conservative_with_remainders_carried() {
        let mut rounds = Rounds::new();
        assert_eq!(rounds.hystart.growth(1_003, MTU), 1_003);
        rounds.round(9, Span::from_millis(10));
        rounds.round(9, Span::from_millis(20));
        let grown: u64 = (0..4).map(|_| rounds.hystart.growth(1_003, MTU)).sum();
        assert_eq!(grown, 1_003);
    }

    #[test]
    fn eight_packets_of_an_acknowledgement_count_unless_paced() {
        let mut bursts = HyStart::new(Sending::Bursts);
        assert_eq!(bursts.growth(100 * MTU, MTU), 8 * MTU);
        assert_eq!(bursts.growth(3 * MTU, MTU), 3 * MTU);
        assert_eq!(bursts.growth(u64::MAX, u64::MAX), u64::MAX);
        assert_eq!(HyStart::new(Sending::Paced).growth(100 * MTU, MTU), 100 * MTU);
    }

    #[test]
    fn a_batch_without_an_rtt_sample_counts_for_the_round_only() {
        let mut hystart = HyStart::new(Sending::Paced);
        let acked = [PacketRecord::new(0, MTU as u32, at(0))];
        let mut feedback = Feedback::new(at(10), Cause::Ack);
        feedback.acked = &acked;
        for _ in 0..100 {
            assert_eq!(hystart.watch(&feedback, &Flight::idle(MTU)), Advice::Stay);
        }
        assert!(!hystart.is_conservative());
        assert_eq!(hystart.watch(&Feedback::new(at(10), Cause::LossTimer), &Flight::idle(MTU)), Advice::Stay);
    }
}
