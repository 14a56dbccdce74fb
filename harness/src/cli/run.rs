//! `run`: one scenario, one algorithm, one seed.

use std::path::PathBuf;
use std::sync::Arc;

use cc_algos::Registry;
use transport::flow::balance::Balancers;

use super::balance::BalanceArgs;
use super::error::CliError;
use super::output::{note, print};
use super::target::find_scenario;
use crate::measure::{KeepSeries, Table, TableOptions, write_atomically};
use crate::report;
use crate::scenario::{Cast, Prepared, Rivals};
use crate::sweep::{Cell, Played};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  cwndtunnel run wan-bulk
  cwndtunnel run mine.toml --algo 'cubic?beta=0.5' --seed 7 --json
  cwndtunnel run dc-incast --algo dctcp --flows flows.csv
  cwndtunnel run coexist-deep --algo newreno --rival cubic --qlog run.qlog")]
pub(super) struct Args {
    /// A built-in scenario (see `list scenarios`), or a file.
    #[arg(value_name = "SCENARIO | FILE.toml")]
    scenario: String,
    /// The algorithm under test, with a balancer of its own after `@` [default: the scenario's first].
    #[arg(long, value_name = "ALGO?KEY=VALUE@BALANCER")]
    algo: Option<String>,
    /// The rival, in scenarios that have one [default: the scenario's first].
    #[arg(long, value_name = "ALGO?KEY=VALUE")]
    rival: Option<String>,
    #[command(flatten)]
    balance: BalanceArgs,
    /// Seed of everything random.
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    seed: u64,
    /// Print the whole record as JSON, histograms and time series included.
    #[arg(long)]
    json: bool,
    /// Write the time series of the flows as qlog.
    #[arg(long, value_name = "FILE")]
    qlog: Option<PathBuf>,
    /// Write a line for each flow as CSV: when it began and ended, what it sent and lost.
    #[arg(long, value_name = "FILE")]
    flows: Option<PathBuf>,
}

pub(super) fn run(args: &Args, registry: &Registry, balancers: &Arc<Balancers>) -> Result<(), CliError> {
    let (scenario, base) = find_scenario(&args.scenario, || [].into_iter())?;
    let cell = cell(args, Arc::new(args.balance.prepare(scenario, &base, balancers)?), registry)?;
    cell.prepared.compile(registry, &cell.cast, args.seed)?;
    let failed = |error: &dyn std::fmt::Display| CliError::failed(error.to_string());
    let played = Played::new(registry, &cell, args.seed).map_err(|error| failed(&error))?;
    let record = played.record(cell.identity(args.seed), KeepSeries::Yes).map_err(|error| failed(&error))?;
    if let Some(path) = &args.flows {
        let text = report::flows_to_csv(&played.compiled, &played.outcome.flows).map_err(|error| failed(&error))?;
        write_atomically(path, &text)?;
    }
    let qlog = args.qlog.as_ref().map(|path| (path, report::to_qlog(&record)));
    if args.json {
        print(&(record.to_json() + "\n"))?;
    } else {
        print(&report::table(&Table::build(&[record], &TableOptions::default())?))?;
    }
    match qlog {
        Some((path, Some(text))) => Ok(write_atomically(path, text.as_bytes())?),
        Some((_, None)) => {
            note("the run has no time series: no qlog was written");
            Ok(())
        }
        None => Ok(()),
    }
}

fn cell(args: &Args, prepared: Arc<Prepared>, registry: &Registry) -> Result<Cell, CliError> {
    let scenario = &prepared.scenario;
    let first = scenario.algorithms.first().cloned().unwrap_or_default();
    let of_scenario = |name: &String| {
        let resolved = prepared.resolve(name, registry);
        resolved.map_err(|error| CliError::usage(format!("scenario `{}`: {error}", scenario.name)))
    };
    let subject =
        args.algo.as_ref().map_or_else(|| of_scenario(&first), |name| Ok(prepared.resolve(name, registry)?))?;
    let rival = match (&scenario.rivals, &args.rival) {
        (Rivals::None, Some(_)) => {
            return Err(CliError::usage(format!("scenario `{}` has no rival: leave --rival out", scenario.name)));
        }
        (Rivals::None, None) => None,
        (_, Some(name)) => Some(prepared.resolve(name, registry)?),
        (Rivals::Each, None) => Some(of_scenario(&first)?),
        (Rivals::Named(names), None) => names.first().map(of_scenario).transpose()?,
    };
    Ok(Cell {
        scenario: scenario.name.clone(),
        algorithm: subject.to_string(),
        seeds: 1,
        cast: Cast { subject, rival },
        prepared,
    })
}
