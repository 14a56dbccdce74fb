//! Nothing that a controller shows is nonsense.

use crate::observe::{Invariant, Step, Violation};

/// What laws of that phase call it.
const SLOW_START: &str = "slow_start";

/// The gauges are finite, and the picture of the state shows the very window and rate that the engine acts upon. A flow in slow
/// start has a window of its threshold at most (RFC 5681, section 3.1), and one that shows the phase `slow_start` says so, for
/// the engine's pacing.
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
        let in_slow_start = step.controller.in_slow_start();
        let is_below = state.ssthresh.is_none_or(|ssthresh| state.window <= ssthresh);
        Violation::unless(is_below || !in_slow_start, "slow start to end at the threshold", || {
            format!("slow start with {} B, and a threshold of {:?} B", state.window, state.ssthresh)
        })?;
        Violation::unless(
            in_slow_start || state.phase != SLOW_START,
            "`in_slow_start` in the phase of that name",
            || format!("the phase `{SLOW_START}`, and `in_slow_start` is false"),
        )?;
        state.gauges().try_for_each(|(name, value)| {
            Violation::unless(value.is_finite(), "finite gauges", || format!("`{name}` is {value}"))
        })
    }
}
