//! Congestion never pays.

use cc_algos::controller::Controller;

use super::absence::{tells_of_congestion, without_congestion};
use crate::observe::{Call, Invariant, Outputs, Step, Violation};

/// From one and the same state, a batch with losses or marks never leaves a larger window, nor a higher pacing rate, than the
/// same batch without them.
#[derive(Clone, Debug, Default)]
pub struct Monotone {
    without: Option<Outputs>,
}

impl Invariant for Monotone {
    fn before(&mut self, call: &Call<'_>, controller: &dyn Controller) {
        let feedback = call.feedback().filter(|feedback| tells_of_congestion(feedback));
        self.without = feedback.map(|feedback| without_congestion(controller, feedback, call.flight()));
    }

    fn after(&mut self, step: &Step<'_>) -> Result<(), Violation> {
        let Some(without) = self.without else { return Ok(()) };
        let (with, without_window) = (step.after.window, without.window);
        Violation::unless(
            with <= without_window.saturating_add(1),
            "no larger window with losses or marks than without them",
            || format!("{with} B with them, {without_window} B without"),
        )?;
        let (Some(with), Some(calm)) = (step.after.pacing_rate, without.pacing_rate) else { return Ok(()) };
        // A thousandth for rounding.
        let most = calm.as_bps().saturating_add(calm.as_bps() / 1_000).saturating_add(8);
        Violation::unless(with.as_bps() <= most, "no higher pacing rate with losses or marks than without them", || {
            format!("{with} with them, {calm} without")
        })
    }
}
