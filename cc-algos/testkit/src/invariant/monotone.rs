//! Congestion never pays.

use cc_algos::controller::Controller;
use cc_algos::declare::Law;

use super::Context;
use super::absence::{tells_of_congestion, without_congestion};
use crate::observe::{Call, Invariant, Outputs, Step, Violation};

/// From one and the same state, a batch with losses or marks never leaves a larger window, nor a higher pacing rate, than the
/// same batch without them; unless it takes away a tenth, where the other would have taken even more for another reason. The
/// window of a model may be what is in flight: packet conservation adds no load.
#[derive(Clone, Debug)]
pub struct Monotone {
    law: Law,
    without: Option<Outputs>,
}

impl Monotone {
    /// For one history.
    pub const fn new(context: &Context<'_>) -> Self {
        Self { law: context.declaration.bounds.law, without: None }
    }
}

impl Invariant for Monotone {
    fn before(&mut self, call: &Call<'_>, controller: &dyn Controller) {
        let feedback = call.feedback().filter(|feedback| tells_of_congestion(feedback));
        self.without = feedback.map(|feedback| without_congestion(controller, feedback, call.flight()));
    }

    fn after(&mut self, step: &Step<'_>) -> Result<(), Violation> {
        let Some(without) = self.without else { return Ok(()) };
        let (before, with, calm) = (step.before.window, step.after.window, without.window);
        // A law may answer with one kind of reduction in place of another. A hundredth and a quarter of a packet are for
        // rounding and for what laws do at their smallest windows, which congestion cannot make smaller.
        let slack = (calm / 100).max(step.call.flight().mtu / 4).saturating_add(1);
        let answers = with <= before - before / 10;
        let conserved = match self.law {
            Law::Model => step
                .call
                .feedback()
                .map_or(0, |feedback| feedback.prior_in_flight.max(before.saturating_add(feedback.newly_acked.bytes))),
            _ => 0,
        };
        let is_more = with > calm.saturating_add(slack).max(conserved);
        Violation::unless(answers || !is_more, "no larger window with losses or marks than without them", || {
            format!("{with} B with them, {calm} B without")
        })?;
        let (Some(with), Some(calm)) = (step.after.pacing_rate, without.pacing_rate) else { return Ok(()) };
        let most = calm.as_bps().saturating_add(calm.as_bps() / 100).saturating_add(8);
        // A rate that this batch brings, as the first that measures a round trip, goes by the answer of the window.
        let answers = step.before.pacing_rate.map_or(answers, |before| {
            let before = before.as_bps();
            with.as_bps() <= before - before / 10
        });
        Violation::unless(
            answers || with.as_bps() <= most,
            "no higher pacing rate with losses or marks than without them",
            || format!("{with} with them, {calm} without"),
        )
    }
}
