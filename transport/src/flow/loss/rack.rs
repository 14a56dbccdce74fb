//! RACK-TLP (RFC 8985): a packet is lost if one sent later was acknowledged, and an RTT and a reordering window have
//! passed since it was sent.
//!
//! ```text
//! lost        sent + latest RTT + window <= now, for packets older than the newest acknowledged one
//! window      min(steps x min RTT / 4, smoothed RTT); without any once three later packets were acknowledged, as long as
//!             no reordering has been seen
//! steps       1; one more in each round in which a loss proved spurious; 1 again after 16 rounds without
//! tail probe  2 x smoothed RTT after the newest packet, and the acknowledgement delay on top if it is alone
//! ```
//!
//! | | RFC 8985 | here |
//! |---|---|---|
//! | packets sent again | keep their sequence number | get a new number, so their order is never in doubt |
//! | sign of a spurious loss | D-SACK | acknowledgement of the packet itself |
//! | steps are kept for | 16 recoveries | 16 rounds |
//! | in recovery, no reordering seen | no window at all | the window, until three later packets are acknowledged |
//! | several routes | not foreseen | the three count within an entropy, the window grows with the spread of RTTs |

use cc_algos::estimate::round::RoundCounter;
use cc_algos::estimate::rtt::RttEstimator;
use cc_algos::units::{Span, Timestamp};

use super::rfc9002::lose_overtaken;
use super::{Acked, View};
use crate::flow::ledger::{Entry, Ledger};

/// Rounds without a spurious loss after which the window shrinks to one step (RFC 8985, section 7.2: `reo_wnd_persist`).
const STEPS_KEPT_ROUNDS: u64 = 16;

/// RACK's state.
#[derive(Clone, Debug)]
pub(crate) struct Rack {
    packet_threshold: u32,
    reordering_seen: bool,
    steps: u64,
    rounds: RoundCounter,
    /// Round of the last step.
    stepped_in: Option<u64>,
    loss_at: Option<Timestamp>,
}

impl Rack {
    pub(crate) fn new(packet_threshold: u32) -> Self {
        Self {
            packet_threshold: packet_threshold.max(1),
            reordering_seen: false,
            steps: 1,
            rounds: RoundCounter::default(),
            stepped_in: None,
            loss_at: None,
        }
    }

    pub(crate) const fn deadline(&self) -> Option<Timestamp> {
        self.loss_at
    }

    pub(crate) fn on_acked(&mut self, acked: &Acked) {
        self.reordering_seen |= acked.reordered;
        self.rounds.on_acked(acked.newest, acked.next);
        let round = self.rounds.rounds();
        match self.stepped_in {
            Some(last) if acked.spurious && last == round => {}
            _ if acked.spurious => {
                self.steps = self.steps.saturating_add(1);
                self.stepped_in = Some(round);
            }
            Some(last) if round > last + STEPS_KEPT_ROUNDS => {
                self.steps = 1;
                self.stepped_in = None;
            }
            _ => {}
        }
    }

    fn window(&self, rtt: &RttEstimator) -> Span {
        rtt.min().unwrap_or(rtt.smoothed()).mul_div(self.steps, 4).min(rtt.smoothed())
    }

    pub(crate) fn detect<C: Copy>(
        &mut self,
        view: &View<'_>,
        ledger: &mut Ledger<C>,
        mut lost: impl FnMut(u64, &Entry<C>),
    ) {
        if self.reordering_seen {
            while ledger.take_advanced_lane().is_some() {}
        } else {
            lose_overtaken(ledger, self.packet_threshold, &mut lost);
        }
        self.loss_at = None;
        while let Some(oldest) = ledger.oldest() {
            if !view.overtook(&oldest) {
                return;
            }
            let same_lane = view.rtt.latest().unwrap_or(view.rtt.smoothed()) + self.window(view.rtt);
            let due = oldest.sent_at + view.patience(&oldest, same_lane);
            if due > view.now {
                self.loss_at = Some(due);
                return;
            }
            ledger.lose(oldest.packet_number, &mut lost);
        }
    }
}

/// Section 7.2 for the first probe; RFC 9002's probe timeout, backed off, for those that follow.
pub(super) fn probe_timeout(rtt: &RttEstimator, expired: u32, in_flight_packets: u64) -> Span {
    if expired > 0 || !rtt.has_sample() {
        return rtt.pto_after(expired);
    }
    let twice = rtt.smoothed().saturating_mul(2);
    if in_flight_packets == 1 { twice + rtt.max_ack_delay() } else { twice }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Span = Span::from_millis;

    fn rtt() -> RttEstimator {
        let mut rtt = RttEstimator::new(MS(333), MS(1), MS(25));
        rtt.on_sample(MS(40), Span::ZERO);
        rtt
    }

    fn round(rack: &mut Rack, number: u64, spurious: bool) {
        let acked = Acked { newest: 10 * number, next: 10 * (number + 1), reordered: spurious, spurious };
        rack.on_acked(&acked);
    }

    #[test]
    fn the_window_grows_by_a_quarter_of_the_minimum_per_spurious_round_up_to_the_smoothed_rtt() {
        let mut rack = Rack::new(3);
        let mut windows = vec![rack.window(&rtt())];
        for number in 0..5 {
            round(&mut rack, number, true);
            round(&mut rack, number, true);
            windows.push(rack.window(&rtt()));
        }
        assert_eq!(windows, [MS(10), MS(20), MS(30), MS(40), MS(40), MS(40)]);
    }

    #[test]
    fn the_window_shrinks_after_sixteen_rounds_without_a_spurious_loss() {
        let mut rack = Rack::new(3);
        round(&mut rack, 0, true);
        (1..=16).for_each(|number| round(&mut rack, number, false));
        assert_eq!(rack.window(&rtt()), MS(20));
        round(&mut rack, 17, false);
        assert_eq!(rack.window(&rtt()), MS(10));
    }

    #[test]
    fn a_tail_probe_comes_after_two_rtts_and_backs_off_like_a_probe_timeout() {
        assert_eq!(probe_timeout(&rtt(), 0, 5), MS(80));
        assert_eq!(probe_timeout(&rtt(), 0, 1), MS(105), "a lone packet's acknowledgement may be delayed");
        // 40 + 4 x 20 + 25 ms, doubled.
        assert_eq!(probe_timeout(&rtt(), 1, 5), MS(290));
    }
}
