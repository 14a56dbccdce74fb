//! What `shootout` and `replay` have in common: a sweep into a folder, and the report on it.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use cc_algos::Registry;

use super::about::about;
use super::error::CliError;
use super::output::{note, print};
use super::report::write_report;
use crate::measure::{KeepSeries, RunRecord};
use crate::scenario::{Prepared, joined, parts};
use crate::sweep::{
    Existing, Interrupt, Job, Manifest, Metadata, PlanRequest, PoolOptions, Progress, Recipe, ResultsFolder, Shard,
    Summary, Sweep, free_folder, run_all, simulate,
};

#[derive(Debug, clap::Args)]
pub(super) struct SweepArgs {
    /// Algorithms, with parameters after `?`: newreno,cubic?beta=0.5; or a family as a whole: wide-area, datacentre,
    /// across-datacentres, control, all [default: those of each scenario; in the suites cellular and datacentre the whole
    /// field].
    #[arg(long, value_name = "A,B?KEY=VALUE", value_delimiter = ',')]
    pub(super) algos: Vec<String>,
    /// Seeds of each cell, from 1 on [default: what each scenario says, 10 mostly].
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) seeds: Option<u32>,
    /// The algorithm that others are compared with [default: the first scenario's].
    #[arg(long, value_name = "ALGO")]
    baseline: Option<String>,
    /// Runs at a time [default: one for each core].
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    jobs: Option<NonZeroUsize>,
    /// Results folder [default: results/NAME, or results/NAME-2, ... if that is taken].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Complete the folder named by --out.
    #[arg(long, requires = "out")]
    resume: bool,
    /// Run only part I of N equal parts; `report` merges them.
    #[arg(long, value_name = "I/N", default_value = "1/1")]
    shard: Shard,
    /// Print the table as JSON.
    #[arg(long)]
    json: bool,
}

/// What a sweep is made of where the command line says nothing else.
pub(super) struct Lineup {
    /// The scenarios.
    pub(super) scenarios: Vec<Arc<Prepared>>,
    /// The algorithms; none for those that each scenario names.
    pub(super) default: Vec<String>,
}

/// Runs a sweep of these scenarios, and reports on it.
pub(super) fn run_sweep(name: &str, lineup: Lineup, args: &SweepArgs, registry: &Registry) -> Result<(), CliError> {
    let algorithms = if args.algos.is_empty() { lineup.default } else { expand(&args.algos, registry) };
    let request = PlanRequest { scenarios: lineup.scenarios, algorithms, seeds: args.seeds };
    let sweep = Sweep::plan(&request, registry, args.shard)?;
    // What cannot be run should be told before anything is written.
    for cell in &sweep.cells {
        cell.prepared.compile(registry, &cell.cast, 1)?;
    }
    let recipe = Recipe::of(name, &sweep, baseline(&request, args, registry)?);
    if let (Some(given), None) = (&args.baseline, &recipe.baseline) {
        return Err(CliError::usage(format!(
            "baseline `{given}` is not among the algorithms: {}",
            recipe.algorithms.join(", ")
        )));
    }
    let declared = recipe.algorithms.iter().filter_map(|spec| {
        let algorithm = registry.find(parts(spec).0.split('?').next()?).ok()?;
        Some((spec.clone(), about(algorithm)))
    });
    let declared = declared.collect();
    let path = args.out.clone().unwrap_or_else(|| free_folder(name));
    let existing = if args.resume { Existing::Resume } else { Existing::Refuse };
    let folder = ResultsFolder::create(&path, Manifest::new(recipe, metadata(args.shard, declared)), existing)?;
    let interrupt = Interrupt::default();
    watch_for_interrupt(&interrupt);
    let count = |number: usize, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
    let (cells, runs) = (count(sweep.cells.len(), "cell"), count(sweep.jobs.len(), "run"));
    note(&format!("{name}: {cells}, {runs}, into {}", path.display()));
    let options = PoolOptions { threads: args.jobs.map_or_else(cores, NonZeroUsize::get), interrupt };
    let run = |job: &Job| -> Result<RunRecord, String> {
        let keep = if job.seed == 1 { KeepSeries::Yes } else { KeepSeries::No };
        simulate(registry, &sweep.cells[job.cell], job, keep).map_err(|error| error.to_string())
    };
    let summary = run_all(&sweep, &folder, &options, &run, &Progress::stderr());
    conclude(&summary, &folder, args)
}

/// Puts the members of a family in the place of its name, each with the balancer that follows it. An algorithm of that name
/// comes first.
fn expand(names: &[String], registry: &Registry) -> Vec<String> {
    let mut expanded = Vec::new();
    for name in names {
        let (family, balancer) = parts(name);
        let members = registry
            .iter()
            .filter(|algorithm| family == "all" || *family == algorithm.declaration().family.name().replace(' ', "-"));
        let members: Vec<_> = members.map(|algorithm| joined(algorithm.name(), balancer)).collect();
        if members.is_empty() || registry.find(family).is_ok() {
            expanded.push(name.clone());
        } else {
            let fresh: Vec<_> =
                members.into_iter().filter(|member| !names.contains(member) && !expanded.contains(member)).collect();
            expanded.extend(fresh);
        }
    }
    expanded
}

fn conclude(summary: &Summary, folder: &ResultsFolder, args: &SweepArgs) -> Result<(), CliError> {
    let path = folder.path().display();
    let resume = format!("give the same command with --out {path} --resume to complete it");
    if let Some(error) = &summary.storage {
        return Err(CliError::failed(format!("{error}; {resume}")));
    }
    if summary.left > 0 {
        let there = summary.done + summary.found;
        let total = there + summary.left + summary.failures.len();
        return Err(CliError::failed(format!("interrupted with {there} of {total} runs done; {resume}")));
    }
    if summary.done + summary.found == 0 && summary.failures.is_empty() {
        note("this part of the sweep holds no runs");
        return Ok(());
    }
    let failed = match summary.failures.as_slice() {
        [] => Ok(()),
        [first, ..] => Err(CliError::failed(format!(
            "{} run(s) failed, the first: {}: {}; {resume}",
            summary.failures.len(),
            first.job,
            first.reason
        ))),
    };
    if summary.done + summary.found == 0 {
        return failed;
    }
    if args.shard != Shard::WHOLE {
        note(&format!("part {} is done: merge the parts with `cwndtunnel report {path} ... --out DIR`", args.shard));
        return failed;
    }
    let report = write_report(folder.path(), &[folder.path().to_owned()])?;
    print(&if args.json { report.json } else { report.text })?;
    note(&format!("{} and the files beside it hold all results", report.page.display()));
    failed
}

fn baseline(request: &PlanRequest, args: &SweepArgs, registry: &Registry) -> Result<Option<String>, CliError> {
    let Some(first) = request.scenarios.first() else { return Ok(None) };
    let name = args.baseline.as_ref().or(first.scenario.baseline.as_ref());
    Ok(name.map(|name| first.resolve(name, registry)).transpose()?.map(|entrant| entrant.to_string()))
}

pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

#[expect(clippy::disallowed_methods, reason = "when a folder was begun is told to people; no result depends on it")]
fn metadata(shard: Shard, declared: Vec<(String, String)>) -> Metadata {
    let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    Metadata {
        command: std::env::args().collect(),
        started_unix_s: since_1970.map_or(0, |time| time.as_secs()),
        shard: shard.to_string(),
        declared,
    }
}

/// The first interrupt ends the work in good order, the second at once. Without a handler the work still goes on.
pub(super) fn watch_for_interrupt(interrupt: &Interrupt) {
    let interrupt = interrupt.clone();
    let handler = move || {
        if interrupt.raise() {
            std::process::exit(130);
        }
        note("stopping after the runs under way; interrupt again to stop at once");
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        note(&format!("an interrupt will lose the runs under way: {error}"));
    }
}
