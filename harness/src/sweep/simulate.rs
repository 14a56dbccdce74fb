//! One run, from a cell and a seed to its record.

use cc_algos::Registry;
use sim::SimError;

use super::plan::{Cell, Job};
use crate::measure::{CollectError, Context, FlowRole, KeepSeries, RunRecord};
use crate::scenario::CompileError;

/// Why a run has no record.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The scenario could not be compiled.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The simulator refused it, or found a defect.
    #[error(transparent)]
    Simulate(#[from] SimError),
    /// The outcome could not be read.
    #[error(transparent)]
    Collect(#[from] CollectError),
}

/// Runs a job of a cell.
///
/// # Errors
///
/// If the scenario cannot be compiled for the algorithm, or the simulation fails.
pub fn simulate(registry: &Registry, cell: &Cell, job: &Job, keep: KeepSeries) -> Result<RunRecord, RunError> {
    let compiled = cell.prepared.compile(registry, &cell.cast, job.seed)?;
    let experiment = &compiled.experiment;
    let outcome = sim::run(experiment)?;
    let contestants: Vec<_> = experiment.contestants.iter().map(|contestant| contestant.label.clone()).collect();
    let role =
        |flow: &sim::spec::FlowSpec| FlowRole { contestant: flow.contestant, group: flow.group, stop: flow.stop };
    let flows: Vec<_> = experiment.flows.iter().map(role).collect();
    let context = Context {
        contestants: &contestants,
        groups: &compiled.groups,
        flows: &flows,
        mtu: experiment.endpoints.sender.mtu,
        keep_series: keep,
    };
    let mut record = RunRecord::collect(job.identity.clone(), context, &outcome)?;
    let background: Vec<_> = compiled.unmeasured.iter().filter_map(|group| compiled.groups.get(group)).collect();
    for class in &mut record.classes {
        class.background = background.contains(&&class.group);
    }
    Ok(record)
}
