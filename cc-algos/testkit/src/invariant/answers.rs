//! A loss is answered.

use cc_algos::controller::{Cause, Feedback, Flight};
use cc_algos::declare::{Family, Law, Reductions};
use cc_algos::signal::Signal;
use cc_algos::units::Timestamp;

use super::{Context, FEW_PACKETS};
use crate::observe::{Invariant, Step, Violation};

/// A reduction takes away at least this part of the window: less is no answer. DCTCP with hardly any marks takes less, but not
/// for losses (RFC 8257, section 3.5).
const LEAST_SHARE: u64 = 50;

/// A law that reduces once per window of data does so: the loss of a packet that was sent after the last reduction makes the
/// window smaller by a fiftieth at least, unless it is a few packets or as small as can be, or the last reduction is less than
/// a round trip ago. Whatever made the window smaller, or its path another, covers the packets sent before.
#[derive(Clone, Debug)]
pub struct Answers {
    applies: bool,
    min_packets: f64,
    /// Packets with smaller numbers were sent before the last reduction.
    covered_below: u64,
    /// When that was: some laws count round trips by the clock.
    reduced_at: Option<Timestamp>,
}

impl Answers {
    /// For one history.
    pub fn new(context: &Context<'_>) -> Self {
        let declaration = context.declaration;
        let bounds = declaration.bounds;
        let reduces = bounds.reductions == Reductions::OncePerWindow && bounds.law == Law::Steps;
        Self {
            applies: reduces && declaration.family != Family::Control,
            min_packets: bounds.min_window,
            covered_below: 0,
            reduced_at: None,
        }
    }

    /// Whether the batch tells of a loss that has not been answered for.
    fn is_news(&self, feedback: &Feedback<'_>, flight: &Flight<'_>) -> bool {
        let is_new = feedback.lost.last().is_some_and(|newest| newest.packet_number >= self.covered_below);
        let round = flight.smoothed_rtt.unwrap_or_default() + flight.rtt_variation.saturating_mul(4);
        let is_later = self.reduced_at.is_none_or(|at| feedback.now.saturating_since(at) > round);
        is_new && is_later && feedback.cause != Cause::PathDead && feedback.spurious.is_empty()
    }
}

impl Invariant for Answers {
    fn after(&mut self, step: &Step<'_>) -> Result<(), Violation> {
        if !self.applies {
            return Ok(());
        }
        let flight = step.call.flight();
        let (before, after) = (step.before.window, step.after.window);
        let unanswered = step.call.feedback().filter(|feedback| self.is_news(feedback, flight));
        let changes_path = matches!(step.call.signal(), Some(Signal::PathChange { .. }));
        if after < before || unanswered.is_some() || changes_path {
            (self.covered_below, self.reduced_at) = (flight.next_packet_number, Some(step.call.now()));
        }
        let Some(feedback) = unanswered else { return Ok(()) };
        let least = (self.min_packets * flight.mtu as f64) as u64;
        // A packet more, and what the same batch may have added.
        let smallest = least.max(FEW_PACKETS * flight.mtu) + flight.mtu + feedback.newly_acked.bytes;
        let most = (before - before / LEAST_SHARE).saturating_add(feedback.newly_acked.bytes);
        let is_smaller = after < before && after <= most;
        Violation::unless(is_smaller || after <= smallest, "a smaller window after a loss", || {
            let newest = feedback.lost.last().map_or(0, |packet| packet.packet_number);
            format!("{before} B before and {after} B after the loss of packet {newest}, which no reduction covers")
        })
    }
}
