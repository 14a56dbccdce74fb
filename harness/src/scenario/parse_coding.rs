//! The key `coding` of a scenario.

use cc_algos::Span;
use transport::flow::code::{self, Parity};
use transport::wire::MAX_SHARDS;

use super::error::ScenarioError;
use super::model::{BlockTimeout, Coding};
use super::read::Entry;

pub(super) fn read(entry: &Entry<'_>) -> Result<Coding, ScenarioError> {
    let mut section = entry.section()?;
    let coding = Coding {
        data: read_shards(&section.required("data")?, 1)?,
        parity: read_parity(&section.required("parity")?)?,
        timeout: section.or("timeout", BlockTimeout::InitialRtt, |entry| match entry.as_text() {
            Some("full-queues") => Ok(BlockTimeout::FullQueues),
            _ => entry.positive_span().map(BlockTimeout::After),
        })?,
    };
    section.finish()?;
    // Times are checked already, and any does to check the rest.
    let checked = code::Coding::new(coding.data, coding.parity, Span::from_nanos(1));
    checked.map(|_| coding).map_err(|error| entry.fault(error.to_string()))
}

fn read_parity(entry: &Entry<'_>) -> Result<Parity, ScenarioError> {
    if !entry.is_table() {
        return read_shards(entry, 0).map(Parity::Fixed);
    }
    let mut section = entry.section()?;
    let min = section.or("min", 0, |entry| read_shards(entry, 0))?;
    let parity = Parity::Adaptive { min, max: read_shards(&section.required("max")?, 0)? };
    section.finish()?;
    Ok(parity)
}

fn read_shards(entry: &Entry<'_>, min: u32) -> Result<u8, ScenarioError> {
    entry.count(min, u32::from(MAX_SHARDS)).map(|count| u8::try_from(count).unwrap_or(MAX_SHARDS))
}
