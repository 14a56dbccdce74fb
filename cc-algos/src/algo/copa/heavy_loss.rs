//! When so much is lost that delay cannot be the whole story.

use crate::controller::{Feedback, Flight};
use crate::units::{Span, Timestamp};

/// Share of packets lost that is too much (`genericCC`).
const HEAVY_LOSS: f64 = 0.3;
/// Round trips, and packets at least, over which that share is taken (`genericCC`).
const HEAVY_LOSS_ROUNDS: u64 = 2;
const HEAVY_LOSS_PACKETS: u64 = 21;

/// Losses since the share of them was taken last.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeavyLoss {
    since: Timestamp,
    lost: u64,
    packets: u64,
    answered_at: Option<Timestamp>,
}

impl HeavyLoss {
    /// Nothing is lost yet.
    pub(super) const fn new(now: Timestamp) -> Self {
        Self { since: now, lost: 0, packets: 0, answered_at: None }
    }

    /// Counts a batch; true if it reports a loss, too much has been lost, and no answer to that is younger than two round
    /// trips.
    pub(super) fn judge(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) -> bool {
        self.lost = self.lost.saturating_add(feedback.newly_lost.packets);
        let resolved = feedback.newly_lost.packets.saturating_add(feedback.newly_acked.packets);
        self.packets = self.packets.saturating_add(resolved);
        if self.packets < HEAVY_LOSS_PACKETS {
            return false;
        }
        let now = feedback.now;
        let span = flight.smoothed_rtt.unwrap_or(Span::ZERO).saturating_mul(HEAVY_LOSS_ROUNDS);
        let is_heavy = self.lost as f64 > HEAVY_LOSS * self.packets as f64;
        let is_due = !feedback.newly_lost.is_zero() && self.answered_at.is_none_or(|at| now >= at + span);
        if is_heavy && is_due {
            *self = Self { answered_at: Some(now), ..Self::new(now) };
            return true;
        }
        if !is_heavy && now >= self.since + span {
            *self = Self { answered_at: self.answered_at, ..Self::new(now) };
        }
        false
    }
}
