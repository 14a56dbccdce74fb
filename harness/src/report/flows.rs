//! One line a flow, for those who look at single flows: a matrix of connections, the slowest of an incast.

use cc_algos::{Span, Timestamp};
use sim::outcome::FlowOutcome;
use sim::spec::FlowSpec;

use super::FormatError;
use crate::scenario::Compiled;

/// The columns: times in nanoseconds, sizes in bytes; nothing stands for what did not happen.
const COLUMNS: [&str; 20] = [
    "flow",
    "group",
    "algorithm",
    "source",
    "destination",
    "started_ns",
    "received_ns",
    "fct_ns",
    "ideal_fct_ns",
    "base_rtt_ns",
    "min_rtt_ns",
    "size",
    "delivered",
    "packets_sent",
    "bytes_sent",
    "retransmitted",
    "lost",
    "spurious",
    "marked",
    "timeouts",
];

/// CSV with a header line and a line for each flow, in the order of the scenario's flows.
///
/// # Errors
/// If the writer fails, which it does not in memory.
pub fn flows_to_csv(compiled: &Compiled, flows: &[FlowOutcome]) -> Result<Vec<u8>, FormatError> {
    let failed = FormatError::new("CSV");
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS).map_err(|error| failed(&error))?;
    for (index, (spec, outcome)) in compiled.experiment.flows.iter().zip(flows).enumerate() {
        writer.write_record(row(compiled, index, spec, outcome)).map_err(|error| failed(&error))?;
    }
    writer.into_inner().map_err(|error| failed(&error))
}

fn row(compiled: &Compiled, index: usize, spec: &FlowSpec, outcome: &FlowOutcome) -> [String; COLUMNS.len()] {
    let at = |time: Option<Timestamp>| time.map_or_else(String::new, |time| time.as_nanos().to_string());
    let span = |time: Option<Span>| time.map_or_else(String::new, |time| time.as_nanos().to_string());
    let contestant = compiled.experiment.contestants.get(spec.contestant);
    [
        index.to_string(),
        compiled.groups.get(&spec.group).cloned().unwrap_or_default(),
        contestant.map_or_else(String::new, |contestant| contestant.label.clone()),
        spec.source.0.to_string(),
        spec.destination.0.to_string(),
        at(outcome.started),
        at(outcome.received),
        span(outcome.completion_time()),
        span(outcome.ideal_completion_time(compiled.experiment.endpoints.sender.mtu)),
        span(Some(outcome.base_rtt)),
        span(outcome.min_rtt),
        outcome.size.map_or_else(String::new, |size| size.to_string()),
        outcome.delivered.to_string(),
        outcome.packets_sent.to_string(),
        outcome.bytes_sent.to_string(),
        outcome.retransmitted.to_string(),
        outcome.lost.to_string(),
        outcome.spurious.to_string(),
        outcome.marked.to_string(),
        outcome.timeouts.to_string(),
    ]
}
