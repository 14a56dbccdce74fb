//! Nothing that a controller shows is nonsense.

use crate::observe::{Invariant, Step, Violation};

/// The gauges are finite, and the picture of the state shows the very window and rate that the engine acts upon.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sanity;

impl Invariant for Sanity {
    fn after(&mut self, step: &Step<'_>) -> Result<(), Violation> {
        let state = step.controller.state();
        Violation::unless(state.window == step.after.window, "`state()` shows the window", || {
            format!("a window of {} B, and {} B in the state", step.after.window, state.window)
        })?;
        Violation::unless(state.pacing_rate == step.after.pacing_rate, "`state()` shows the pacing rate", || {
            format!("a pacing rate of {:?}, and {:?} in the state", step.after.pacing_rate, state.pacing_rate)
        })?;
        state.gauges().try_for_each(|(name, value)| {
            Violation::unless(value.is_finite(), "finite gauges", || format!("`{name}` is {value}"))
        })
    }
}
