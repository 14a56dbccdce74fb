//! One reduction per window of data (RFC 9002, section 7.3.2).

use cc_algos::controller::{Cause, Controller, Feedback};
use cc_algos::declare::Reductions;
use cc_algos::signal::{Ecn, Signal};

use super::Context;
use super::absence::{tells_of_congestion, with_one_loss, without_congestion};
use crate::observe::{Call, Invariant, Outputs, Step, Violation};

/// Losses and marks of packets that were sent before the last reduction do not reduce the window again, and several losses in
/// one batch reduce it no further than one. What a law takes away for other reasons, such as delay, does not count. Laws that
/// declare [`Reductions::Unbounded`] are free.
#[derive(Clone, Debug)]
pub struct OncePerWindow {
    applies: bool,
    /// Packets with smaller numbers were sent before the last reduction.
    covered_below: u64,
    without: Option<Outputs>,
    with_one: Option<Outputs>,
}

impl OncePerWindow {
    /// For one history.
    pub fn new(context: &Context<'_>) -> Self {
        let applies = context.declaration.bounds.reductions == Reductions::OncePerWindow;
        Self { applies, covered_below: 0, without: None, with_one: None }
    }

    /// Whether the batch tells of congestion among packets that no reduction has answered for.
    fn is_new(&self, feedback: &Feedback<'_>) -> bool {
        let news = |number: u64| number >= self.covered_below;
        let lost = feedback.lost.iter().chain(feedback.recovered_packets).any(|packet| news(packet.packet_number));
        let marked = || {
            let echoed = feedback.acked.iter().rfind(|packet| packet.arrived_as == Some(Ecn::Ce));
            // Where marks are only counted, they may be the newest packet's.
            let arrived = echoed.or(feedback.acked.last()).or(feedback.spurious.last());
            arrived.is_some_and(|packet| news(packet.packet_number))
        };
        lost || (!feedback.newly_marked.is_zero() && marked())
    }
}

impl Invariant for OncePerWindow {
    fn before(&mut self, call: &Call<'_>, controller: &dyn Controller) {
        (self.without, self.with_one) = (None, None);
        let Some(feedback) = call.feedback().filter(|feedback| self.applies && tells_of_congestion(feedback)) else {
            return;
        };
        self.without = Some(without_congestion(controller, feedback, call.flight()));
        if feedback.lost.len() > 1 {
            self.with_one = Some(with_one_loss(controller, feedback, call.flight()));
        }
    }

    fn after(&mut self, step: &Step<'_>) -> Result<(), Violation> {
        if let Some(Signal::PathChange { .. }) = step.call.signal() {
            self.covered_below = 0;
        }
        let Some(feedback) = step.call.feedback() else { return Ok(()) };
        if !feedback.spurious.is_empty() && step.after.window > step.before.window {
            // Undone: the congestion that was answered for is none.
            self.covered_below = 0;
        }
        let Some(without) = self.without else { return Ok(()) };
        let is_reduced = step.after.window < step.before.window.min(without.window);
        if !is_reduced || feedback.cause == Cause::PathDead || feedback.persistent_congestion.is_some() {
            return Ok(());
        }
        Violation::unless(self.is_new(feedback), "one reduction for all that was sent before it", || {
            format!("another one, for packets below {}, which were sent before the last", self.covered_below)
        })?;
        self.covered_below = step.call.flight().next_packet_number;
        let Some(one) = self.with_one else { return Ok(()) };
        let least = one.window.saturating_sub(one.window / 100).saturating_sub(step.call.flight().mtu);
        let after = step.after.window;
        Violation::unless(after >= least, "several losses in one batch to reduce the window as much as one", || {
            format!("{after} B after {} losses, {} B after one", feedback.lost.len(), one.window)
        })
    }
}
