//! An undo takes back the last reduction, and no more.

use std::collections::BTreeSet;

use cc_algos::controller::{Controller, Feedback, Tally};
use cc_algos::declare::{Family, Law, Reductions};
use cc_algos::signal::{PathChange, Signal};

use super::Context;
use super::absence::without_spurious;
use crate::observe::{Call, Invariant, Outputs, Step, Violation};

/// A window that grows because losses prove spurious is one whose last reduction is undone: one of these losses was answered
/// by that reduction, and the window becomes at most what it was before it, and what has been acknowledged since (RFC 4015,
/// section 5). A copy that is told the same batch without its spurious losses shows what grew for that.
#[derive(Clone, Debug)]
pub struct Undo {
    applies: bool,
    last: Reduction,
    without: Option<Outputs>,
}

/// The last reduction of a history.
#[derive(Clone, Debug, Default)]
struct Reduction {
    /// The window before it.
    former: u64,
    /// Acknowledged since.
    acked: u64,
    /// Packets declared lost with it or later.
    lost: BTreeSet<u64>,
}

impl Undo {
    /// For one history.
    pub fn new(context: &Context<'_>) -> Self {
        let declaration = context.declaration;
        let steps = declaration.bounds.law == Law::Steps;
        let once = declaration.bounds.reductions == Reductions::OncePerWindow;
        let applies = steps && once && declaration.family != Family::Control;
        Self { applies, last: Reduction::default(), without: None }
    }

    fn note(&mut self, feedback: &Feedback<'_>, step: &Step<'_>) {
        let tells = !feedback.newly_lost.is_zero() || !feedback.newly_marked.is_zero();
        if tells && step.after.window < step.before.window {
            self.last = Reduction { former: step.before.window, ..Reduction::default() };
        } else if tells {
            self.last.former = self.last.former.max(step.before.window);
        }
        self.last.acked = self.last.acked.saturating_add(arrived(feedback));
        self.last.lost.extend(feedback.lost.iter().map(|packet| packet.packet_number));
    }
}

/// Bytes that a batch tells to have arrived.
fn arrived(feedback: &Feedback<'_>) -> u64 {
    let mut late = Tally::ZERO;
    feedback.spurious.iter().for_each(|packet| late.add(u64::from(packet.bytes)));
    feedback.newly_acked.bytes.saturating_add(late.bytes)
}

impl Invariant for Undo {
    fn before(&mut self, call: &Call<'_>, controller: &dyn Controller) {
        let told = call.feedback().filter(|feedback| self.applies && !feedback.spurious.is_empty());
        self.without = told.map(|feedback| without_spurious(controller, feedback, call.flight()));
    }

    fn after(&mut self, step: &Step<'_>) -> Result<(), Violation> {
        let flight = step.call.flight();
        match step.call.signal() {
            Some(Signal::PathChange { change: PathChange::Migrated | PathChange::Revived, .. }) => {
                self.last = Reduction::default();
            }
            // Windows may go with the packets.
            Some(Signal::MtuChange { .. }) => self.last.former = u64::MAX,
            _ => {}
        }
        let Some(feedback) = step.call.feedback().filter(|_| self.applies) else { return Ok(()) };
        let plain = self.without.map_or(u64::MAX, |without| without.window);
        let after = step.after.window;
        if after > plain.saturating_add(arrived(feedback)).saturating_add(flight.mtu) {
            let is_answered = feedback.spurious.iter().any(|packet| self.last.lost.contains(&packet.packet_number));
            Violation::unless(is_answered, "an undo of the reduction that the spurious losses brought about", || {
                format!("{after} B instead of {plain} B for losses that were found before the last reduction")
            })?;
            let most = self.last.former.saturating_add(self.last.acked).saturating_add(arrived(feedback));
            let most = most.saturating_add(flight.mtu);
            Violation::unless(after <= most, "an undo to leave no more than the window before the reduction", || {
                format!(
                    "{after} B, {} B before the reduction, {} B acknowledged since",
                    self.last.former, self.last.acked
                )
            })?;
        }
        self.note(feedback, step);
        Ok(())
    }
}
