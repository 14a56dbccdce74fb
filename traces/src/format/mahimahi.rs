//! The format of mahimahi's `mm-link`: one whole number of milliseconds a line.
//!
//! Rejected, as mahimahi does (`link_queue.cc`): an empty file, an empty line, anything but digits, a time before its
//! predecessor's, and a last time of 0. Carriage returns before line feeds are allowed. A last line without a line feed
//! is accepted when it is a whole number: a file cut inside its last number cannot be told from a complete one.

use std::fmt::Write;

use crate::convert::ConvertOptions;
use crate::error::{TraceError, TraceErrorKind, clip};
use crate::opportunity::OpportunityTrace;
use crate::trace::{MAX_DURATION_NS, MAX_OPPORTUNITIES, Playback, Trace};

const NS_PER_MS: u64 = 1_000_000;

pub(super) fn parse(text: &str, bytes: u64) -> Result<OpportunityTrace, TraceError> {
    let mut times = Vec::new();
    let mut previous = 0;
    for (line, number) in text.lines().zip(1_u64..) {
        let located = |kind| TraceError::at_line(number, kind);
        let ms = parse_line(line).map_err(located)?;
        if ms < previous {
            let [previous, found] = [previous, ms].map(|ms| format!("{ms} ms"));
            return Err(located(TraceErrorKind::Backwards { previous, found }));
        }
        if times.len() >= MAX_OPPORTUNITIES {
            return Err(located(TraceErrorKind::TooLarge { what: "lines", limit: MAX_OPPORTUNITIES as u64 }));
        }
        times.push(ms * NS_PER_MS);
        previous = ms;
    }
    if times.is_empty() {
        return Err(TraceErrorKind::Empty("line").into());
    }
    OpportunityTrace::new(times, bytes, Playback::Loop)
}

/// A time in milliseconds of which the nanoseconds are within range.
fn parse_line(line: &str) -> Result<u64, TraceErrorKind> {
    let what = "timestamp";
    if line.is_empty() {
        return Err(TraceErrorKind::EmptyLine);
    }
    if !line.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(classify(line, what));
    }
    // Digits alone can only fail to parse by being too many.
    match line.parse::<u64>() {
        Ok(ms) if ms <= MAX_DURATION_NS / NS_PER_MS => Ok(ms),
        _ => Err(TraceErrorKind::OutOfRange {
            what,
            text: clip(line),
            limit: format!("{} ms (seven days)", MAX_DURATION_NS / NS_PER_MS),
        }),
    }
}

fn classify(line: &str, what: &'static str) -> TraceErrorKind {
    let text = clip(line);
    match line.trim().parse::<f64>() {
        Ok(value) if !value.is_finite() => TraceErrorKind::NotFinite { what, text },
        Ok(value) if value < 0.0 => TraceErrorKind::Negative { what, text },
        _ => TraceErrorKind::NotANumber { what, text, expected: "a whole number of milliseconds" },
    }
}

pub(super) fn format(trace: &Trace, options: &ConvertOptions) -> Result<String, TraceError> {
    let mut text = String::new();
    let on_grid = ConvertOptions { resolution_ns: NS_PER_MS, ..options.clone() };
    let whole_ms = |t: &u64| t.is_multiple_of(NS_PER_MS);
    let opportunities = match trace {
        Trace::Opportunities(trace) if !trace.times_ns().iter().all(whole_ms) => {
            // Off the grid: bring it there by way of a rate series, which keeps the rate.
            let keep_size = ConvertOptions { opportunity_bytes: trace.bytes(), ..on_grid };
            Trace::from(Trace::from(trace.clone()).to_rate(&keep_size)?).to_opportunities(&keep_size)?
        }
        trace => trace.to_opportunities(&on_grid)?,
    };
    for t in opportunities.times_ns() {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "{}", t / NS_PER_MS);
    }
    Ok(text)
}
