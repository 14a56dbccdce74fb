//! The JSON of the bandwidth models of the `netem-trace` crate (stack-rs/netem-trace, `src/model/bw.rs`).
//!
//! A model is an object with one key, its name: `StaticBwConfig`, `NormalizedBwConfig`, `SawtoothBwConfig`,
//! `RepeatedBwPatternConfig` or `TraceBwConfig`. Durations are `{"secs", "nanos"}` or, as that crate writes them with its
//! feature `human`, text like `1s 500ms`; bandwidths are `{"gbps", "bps"}` or text like `12Mbps`. Fields that are left
//! out have that crate's defaults.
//!
//! Random models are seeded there with a generator that is not portable, so that ours gives other values of the same
//! distribution. A pattern with count 0 repeats for ever: it becomes a loop, and must therefore stand outermost or be
//! the first part of what does. Everything else is played once.

mod model;
mod quantity;

use std::fmt::Write;

use crate::error::{TraceError, TraceErrorKind};
use crate::rate::RateTrace;
use crate::trace::{MAX_SEGMENTS, Playback};

pub(super) fn parse(text: &str) -> Result<RateTrace, TraceError> {
    let model: model::Model = serde_json::from_str(text).map_err(|error| match error.line() {
        0 => TraceErrorKind::Json(error).into(),
        line => TraceError::at_line(line as u64, TraceErrorKind::Json(error)),
    })?;
    let expanded = model.expand(MAX_SEGMENTS)?;
    RateTrace::new(expanded.segments, if expanded.endless { Playback::Loop } else { Playback::Once })
}

/// Writes a `TraceBwConfig`, in an endless pattern when the trace loops, in the human-readable form.
pub(super) fn format(trace: &RateTrace) -> String {
    let mut runs = Vec::new();
    for run in trace.segments().chunk_by(|a, b| a.duration_ns == b.duration_ns) {
        let mut text = format!("[\"{}ns\",[", run[0].duration_ns);
        for (index, segment) in run.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            // Writing to a `String` cannot fail.
            let _ = write!(text, "{comma}\"{}bps\"", segment.bps);
        }
        text.push_str("]]");
        runs.push(text);
    }
    let model = format!("{{\"TraceBwConfig\":{{\"pattern\":[\n{}\n]}}}}", runs.join(",\n"));
    match trace.playback() {
        Playback::Loop => {
            format!("{{\"RepeatedBwPatternConfig\":{{\"pattern\":[{model}],\"count\":0}}}}\n")
        }
        Playback::Once => format!("{model}\n"),
    }
}

#[cfg(test)]
mod tests;
