//! Jitter schedules in TOML: a list of steps, or a table that repeats them.
//!
//! ```toml
//! jitter_schedule = [{ at = "0s", delay = "0s" }, { at = "2ms", delay = "20ms" }]
//! jitter_schedule = { repeat = "50ms", steps = [{ at = "0s", delay = "20ms" }, { at = "20ms", delay = "0s" }] }
//! ```

use cc_algos::Span;
use sim::link::impair::{JitterSchedule, JitterStep};

use super::error::ScenarioError;
use super::read::Entry;

/// Reads a schedule.
pub(super) fn read(entry: &Entry<'_>) -> Result<JitterSchedule, ScenarioError> {
    if !entry.is_table() {
        return read_steps(entry);
    }
    let mut section = entry.section()?;
    let steps = read_steps(&section.required("steps")?)?;
    let repeat = section.required("repeat")?;
    let schedule = steps.repeating(repeat.positive_span()?).map_err(|error| repeat.fault(error.to_string()))?;
    section.finish()?;
    Ok(schedule)
}

/// Reads a list of schedules.
pub(super) fn read_all(entry: &Entry<'_>) -> Result<Vec<JitterSchedule>, ScenarioError> {
    entry.entries()?.iter().map(read).collect()
}

fn read_steps(entry: &Entry<'_>) -> Result<JitterSchedule, ScenarioError> {
    let step = |entry: &Entry<'_>| {
        let mut section = entry.section()?;
        let step = JitterStep { at: section.required("at")?.span()?, delay: section.required("delay")?.span()? };
        section.finish()?;
        Ok(step)
    };
    let steps = entry.entries()?.iter().map(step).collect::<Result<Vec<_>, ScenarioError>>()?;
    JitterSchedule::new(steps).map_err(|error| entry.fault(error.to_string()))
}

/// The schedule as TOML; `quote` writes a time as a value.
pub(super) fn to_toml(schedule: &JitterSchedule, quote: impl Fn(Span) -> String) -> String {
    let step = |step: &JitterStep| format!("{{ at = {}, delay = {} }}", quote(step.at), quote(step.delay));
    let steps: Vec<String> = schedule.steps().iter().map(step).collect();
    let steps = format!("[{}]", steps.join(", "));
    match schedule.period() {
        None => steps,
        Some(period) => format!("{{ repeat = {}, steps = {steps} }}", quote(period)),
    }
}
