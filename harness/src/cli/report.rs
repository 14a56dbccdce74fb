//! `report` and `compare`: stored results as tables, files and a page.

use std::path::{Path, PathBuf};

use super::error::CliError;
use super::output::{note, print};
use crate::measure::{RunRecord, Table, TableOptions, compare_folders, load_folder};
use crate::report::{self, html};
use crate::scenario::Scenario;
use crate::sweep::{Existing, Manifest, ResultsFolder};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  cwndtunnel report results/quick
  cwndtunnel report part1 part2 part3 --out whole        merges the shards of one sweep")]
pub(super) struct ReportArgs {
    /// Results folders: one, or the shards of one sweep.
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Where table, files and page go [default: the folder, if it is one].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the table as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  cwndtunnel compare results/quick results/quick-2
  cwndtunnel compare before after --json")]
pub(super) struct CompareArgs {
    /// Results folder.
    a: PathBuf,
    /// The one it is held against.
    b: PathBuf,
    /// Print all differences as JSON.
    #[arg(long)]
    json: bool,
}

/// What was reported.
pub(super) struct Report {
    /// The table for people.
    pub(super) text: String,
    /// The table for programs.
    pub(super) json: String,
    /// The page.
    pub(super) page: PathBuf,
}

pub(super) fn report(args: &ReportArgs) -> Result<(), CliError> {
    let out = match (&args.out, args.folders.as_slice()) {
        (Some(out), folders) => merge(out, folders)?,
        (None, [folder]) => folder.clone(),
        (None, _) => return Err(CliError::usage("several folders need --out for what they make together")),
    };
    let report = write_report(&out, std::slice::from_ref(&out))?;
    print(&if args.json { report.json } else { report.text })?;
    note(&format!("{} and the files beside it hold all results", report.page.display()));
    Ok(())
}

/// Copies the runs of shards into one folder; a folder that is one of them already is completed. All parts are read before
/// anything is written, so that a part that does not fit leaves nothing behind.
fn merge(out: &Path, folders: &[PathBuf]) -> Result<PathBuf, CliError> {
    let mut whole: Option<Manifest> = None;
    let mut records = Vec::new();
    for folder in folders {
        let part = ResultsFolder::open(folder)?;
        let first = whole.get_or_insert_with(|| part.manifest.clone());
        part.expect(&first.recipe)?;
        records.extend(load_folder(folder)?);
    }
    let mut manifest = whole.ok_or_else(|| CliError::usage("no folder to report on"))?;
    manifest.metadata.shard = "1/1".to_owned();
    let target = ResultsFolder::create(out, manifest, Existing::Resume)?;
    records.iter().try_for_each(|record| target.save(record))?;
    Ok(target.path().to_owned())
}

/// Writes table, files and page of the runs in `folders` into `out`.
pub(super) fn write_report(out: &Path, folders: &[PathBuf]) -> Result<Report, CliError> {
    let manifest = ResultsFolder::open(out)?.manifest;
    let mut records = Vec::new();
    for folder in folders {
        records.extend(load_folder(folder)?);
    }
    warn_of_missing(&manifest, &records);
    let options = TableOptions {
        baseline: manifest.recipe.baseline.clone().filter(|name| {
            // A folder that is still being filled may not have it yet.
            records.iter().any(|record| record.identity.algorithm == *name)
        }),
        scenarios: manifest.recipe.scenarios.iter().map(|scenario| scenario.name.clone()).collect(),
        algorithms: manifest.recipe.algorithms.clone(),
    };
    let table = Table::build(&records, &options)?;
    let written = report::write_all(out, &page_of(&manifest), &table, &records)
        .map_err(|error| CliError::failed(error.to_string()))?;
    // The page comes last.
    let page = written.last().cloned().unwrap_or_else(|| out.to_owned());
    Ok(Report { text: report::table(&table), json: report::to_json(&table.grid()), page })
}

fn warn_of_missing(manifest: &Manifest, records: &[RunRecord]) {
    let runs = |scenario: &crate::sweep::RecipeScenario| u64::from(scenario.seeds) * u64::from(scenario.cells);
    let expected: u64 = manifest.recipe.scenarios.iter().map(runs).sum();
    if (records.len() as u64) < expected {
        note(&format!(
            "{} of {expected} runs are missing: the table shows what is there",
            expected - records.len() as u64
        ));
    }
}

fn page_of(manifest: &Manifest) -> html::Page {
    let recipe = &manifest.recipe;
    let note = |scenario: &crate::sweep::RecipeScenario| html::ScenarioNote {
        name: scenario.name.clone(),
        description: Scenario::parse(&scenario.toml, &scenario.name)
            .map_or_else(|_| String::new(), |scenario| scenario.description),
        definition: scenario.toml.clone(),
    };
    html::Page {
        title: recipe.name.clone(),
        version: manifest.version.clone(),
        configuration: vec![
            ("Algorithms".to_owned(), recipe.algorithms.join(", ")),
            ("Baseline".to_owned(), recipe.baseline.clone().unwrap_or_else(|| "none".to_owned())),
            ("Recipe".to_owned(), manifest.recipe_hash.clone()),
        ],
        algorithms: manifest.metadata.declared.clone(),
        scenarios: recipe.scenarios.iter().map(note).collect(),
    }
}

pub(super) fn compare(args: &CompareArgs) -> Result<(), CliError> {
    for folder in [&args.a, &args.b] {
        // Records alone do not tell whether another version made the folder.
        ResultsFolder::open(folder)?;
    }
    let comparison = compare_folders(&args.a, &args.b)?;
    if comparison.comparisons.is_empty() {
        return Err(CliError::usage(format!(
            "{} and {} have no scenario and algorithm in common: nothing to compare",
            args.a.display(),
            args.b.display()
        )));
    }
    if args.json { print(&report::to_json(&comparison.grid())) } else { print(&report::comparison(&comparison)) }
}
