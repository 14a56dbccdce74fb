//! `run`: one scenario, one algorithm, one seed.

use std::path::PathBuf;
use std::sync::Arc;

use cc_algos::Registry;

use super::error::CliError;
use super::output::{note, print};
use super::target::find_scenario;
use crate::measure::{KeepSeries, Table, TableOptions, write_atomically};
use crate::report;
use crate::scenario::{Cast, Prepared, Rivals};
use crate::sweep::{Cell, Job, simulate};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  cwndtunnel run wan-bulk
  cwndtunnel run mine.toml --algo 'cubic?beta=0.5' --seed 7 --json
  cwndtunnel run coexist-deep --algo newreno --rival cubic --qlog run.qlog")]
pub(super) struct Args {
    /// A built-in scenario (see `list scenarios`), or a file.
    #[arg(value_name = "SCENARIO | FILE.toml")]
    scenario: String,
    /// The algorithm under test [default: the scenario's first].
    #[arg(long, value_name = "ALGO?KEY=VALUE")]
    algo: Option<String>,
    /// The rival, in scenarios that have one [default: the scenario's first].
    #[arg(long, value_name = "ALGO?KEY=VALUE")]
    rival: Option<String>,
    /// Seed of everything random.
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    seed: u64,
    /// Print the whole record as JSON, histograms and time series included.
    #[arg(long)]
    json: bool,
    /// Write the time series of the flows as qlog.
    #[arg(long, value_name = "FILE")]
    qlog: Option<PathBuf>,
}

pub(super) fn run(args: &Args, registry: &Registry) -> Result<(), CliError> {
    let (scenario, base) = find_scenario(&args.scenario, || [].into_iter())?;
    let cell = cell(args, Arc::new(Prepared::new(scenario, &base)?), registry)?;
    cell.prepared.compile(registry, &cell.cast, args.seed)?;
    let job = Job { cell: 0, seed: args.seed, identity: cell.identity(args.seed) };
    let record =
        simulate(registry, &cell, &job, KeepSeries::Yes).map_err(|error| CliError::failed(error.to_string()))?;
    if let Some(path) = &args.qlog {
        match report::to_qlog(&record) {
            Some(text) => write_atomically(path, text.as_bytes())?,
            None => note("the run has no time series: no qlog was written"),
        }
    }
    if args.json {
        return print(&(record.to_json() + "\n"));
    }
    let table = Table::build(&[record], &TableOptions::default())?;
    print(&report::table(&table))
}

fn cell(args: &Args, prepared: Arc<Prepared>, registry: &Registry) -> Result<Cell, CliError> {
    let scenario = &prepared.scenario;
    let first = scenario.algorithms.first().cloned().unwrap_or_default();
    let subject = registry.resolve(args.algo.as_deref().unwrap_or(&first))?;
    let rival = match (&scenario.rivals, &args.rival) {
        (Rivals::None, Some(_)) => {
            return Err(CliError::usage(format!("scenario `{}` has no rival: leave --rival out", scenario.name)));
        }
        (Rivals::None, None) => None,
        (_, Some(name)) => Some(registry.resolve(name)?),
        (Rivals::Each, None) => Some(registry.resolve(&first)?),
        (Rivals::Named(names), None) => names.first().map(|name| registry.resolve(name)).transpose()?,
    };
    Ok(Cell {
        scenario: scenario.name.clone(),
        algorithm: subject.to_string(),
        seeds: 1,
        cast: Cast { subject, rival },
        prepared,
    })
}
