//! One run, from a cell and a seed to its record.

use cc_algos::Registry;
use sim::{Outcome, SimError};

use super::plan::{Cell, Job};
use crate::measure::{CollectError, Context, FlowRole, Identity, KeepSeries, RunRecord};
use crate::scenario::{CompileError, Compiled};

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

/// A run that is over: what was simulated and what came of it.
#[derive(Debug)]
pub struct Played {
    /// What was simulated.
    pub compiled: Compiled,
    /// What was measured.
    pub outcome: Outcome,
}

impl Played {
    /// Runs a cell under one seed.
    ///
    /// # Errors
    ///
    /// If the scenario cannot be compiled for the algorithm, or the simulation fails.
    pub fn new(registry: &Registry, cell: &Cell, seed: u64) -> Result<Self, RunError> {
        let compiled = cell.prepared.compile(registry, &cell.cast, seed)?;
        let outcome = sim::run(&compiled.experiment)?;
        Ok(Self { compiled, outcome })
    }

    /// Its record.
    ///
    /// # Errors
    ///
    /// If the outcome does not fit the flows.
    pub fn record(&self, identity: Identity, keep: KeepSeries) -> Result<RunRecord, CollectError> {
        let Self { compiled, outcome } = self;
        let experiment = &compiled.experiment;
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
        let mut record = RunRecord::collect(identity, context, outcome)?;
        let background: Vec<_> = compiled.unmeasured.iter().filter_map(|group| compiled.groups.get(group)).collect();
        for class in &mut record.classes {
            class.background = background.contains(&&class.group);
        }
        Ok(record)
    }
}

/// Runs a job of a cell.
///
/// # Errors
///
/// As [`Played::new`] and [`Played::record`].
pub fn simulate(registry: &Registry, cell: &Cell, job: &Job, keep: KeepSeries) -> Result<RunRecord, RunError> {
    Ok(Played::new(registry, cell, job.seed)?.record(job.identity.clone(), keep)?)
}
