//! Paired differences between rows, with intervals and verdicts.

use std::path::Path;

use super::bootstrap::{self, Draws, Resamples};
use super::distribution::Reading;
use super::grid::{Column, Field, Grid};
use super::metric::{Better, METRICS, Metric, Missing, SeedSet, SeedView};
use super::record::RunRecord;
use super::store::{StoreError, load_folder};
use super::table::{RowKey, TableError, rows_of};

/// Three significant digits: neighbouring buckets differ by no more than a thousandth.
const HISTOGRAM_RESOLUTION: f64 = 1_000.0;

/// What a paired difference says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The whole interval lies on the better side.
    Better,
    /// The whole interval lies on the worse side.
    Worse,
    /// The interval includes no difference or one below the resolution of the histograms (0.1 %), or reaches into what was cut off
    /// and is not known.
    Indistinguishable,
    /// Fewer than [`super::MIN_SEEDS`] seeds in common.
    TooFewSeeds,
}

impl Verdict {
    /// Name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Indistinguishable => "indistinguishable",
            Self::TooFewSeeds => "too few seeds",
        }
    }

    /// Of an interval for a metric, where `resolution` is the largest difference that its histograms may make up.
    fn of(interval: Option<(f64, f64)>, better: Better, resolution: f64) -> Self {
        let Some((low, high)) = interval else { return Self::TooFewSeeds };
        match better {
            Better::Lower if high < -resolution => Self::Better,
            Better::Lower if low > resolution => Self::Worse,
            Better::Higher if low > resolution => Self::Better,
            Better::Higher if high < -resolution => Self::Worse,
            _ => Self::Indistinguishable,
        }
    }
}

/// One metric of one row against another row's.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The row.
    pub key: RowKey,
    /// What it is held against: an algorithm, or a folder.
    pub against: String,
    /// Which metric.
    pub metric: &'static Metric,
    /// Seeds in common.
    pub seeds: usize,
    /// Its value over these.
    pub ours: Reading,
    /// The other's value over these.
    pub theirs: Reading,
    /// Ends of the 95 % interval of the difference, in base units; infinite where nothing is known.
    pub interval: Option<(f64, f64)>,
    /// What that says.
    pub verdict: Verdict,
}

impl Comparison {
    /// `ours - theirs` in base units, if both are known.
    pub fn difference(&self) -> Option<f64> {
        let (low, high) = bootstrap::difference_bounds(self.ours, self.theirs);
        (low.is_finite() && high.is_finite()).then_some(low)
    }

    /// The difference as a part of the other's value.
    pub fn relative(&self) -> Option<f64> {
        let theirs = self.theirs.raw();
        self.difference().filter(|_| theirs > 0).map(|difference| difference / theirs as f64)
    }
}

/// A row's draws of one metric, kept to be paired.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    pub(crate) value: Reading,
    pub(crate) draws: Draws,
}

/// Draws every metric, in the order of [`METRICS`], from the draws of seeds that belong to the scenario.
pub(crate) fn draw_all(scenario: &str, set: &SeedSet<'_>) -> Vec<Result<Drawn, Missing>> {
    let resamples = Resamples::new(scenario, set.seeds().len());
    let draw = |metric: &Metric| {
        let value = metric.value(set)?;
        Ok(Drawn { value, draws: resamples.draw(|weights| metric.evaluate(set, weights)) })
    };
    METRICS.iter().map(draw).collect()
}

/// Which way `ours` differs from `theirs`, both drawn from the same seeds.
pub(crate) fn verdict(metric: &Metric, ours: &Drawn, theirs: &Drawn) -> Verdict {
    Verdict::of(ours.draws.difference(&theirs.draws), metric.better, resolution(metric, ours.value, theirs.value))
}

/// A bucket of the histograms at the larger of two values, where they come from histograms.
fn resolution(metric: &Metric, ours: Reading, theirs: Reading) -> f64 {
    if metric.is_from_histogram() { ours.raw().max(theirs.raw()) as f64 / HISTOGRAM_RESOLUTION } else { 0.0 }
}

/// Compares all metrics with a direction that both rows have, over the seeds that both have.
pub(crate) fn compare_rows(key: &RowKey, against: &str, ours: &SeedSet<'_>, theirs: &SeedSet<'_>) -> Vec<Comparison> {
    let common: Vec<u64> = ours.numbers().filter(|seed| theirs.numbers().any(|other| other == *seed)).collect();
    let draw = |set: &SeedSet<'_>| draw_all(&key.scenario, &set.restricted_to(&common));
    compare_drawn(key, against, common.len(), [&draw(ours), &draw(theirs)])
}

/// The same of rows drawn from the same `seeds` seeds.
pub(crate) fn compare_drawn(
    key: &RowKey,
    against: &str,
    seeds: usize,
    [ours, theirs]: [&[Result<Drawn, Missing>]; 2],
) -> Vec<Comparison> {
    let directed = METRICS.iter().enumerate().filter(|(_, metric)| metric.better != Better::Neither);
    let compare = |(index, metric): (usize, &'static Metric)| {
        let (ours, theirs) = (ours[index].as_ref().ok()?, theirs[index].as_ref().ok()?);
        let interval = ours.draws.difference(&theirs.draws);
        Some(Comparison {
            key: key.clone(),
            against: against.to_owned(),
            metric,
            seeds,
            ours: ours.value,
            theirs: theirs.value,
            interval,
            verdict: Verdict::of(interval, metric.better, resolution(metric, ours.value, theirs.value)),
        })
    };
    directed.filter_map(compare).collect()
}

/// Two results folders held against each other, or the rows of one against a baseline's.
#[derive(Clone, Debug, Default)]
pub struct ComparisonTable {
    /// The comparisons, row by row.
    pub comparisons: Vec<Comparison>,
    /// Rows that only the first has.
    pub only_ours: Vec<RowKey>,
    /// Rows that only the second has.
    pub only_theirs: Vec<RowKey>,
    /// Rows whose configurations differ: what is compared may not be the same experiment.
    pub other_configuration: Vec<RowKey>,
}

impl ComparisonTable {
    /// Holds the runs of one folder against those of another, cell by cell.
    ///
    /// # Errors
    /// If a cell of either mixes configurations or has a seed twice.
    pub fn of(ours: &[RunRecord], theirs: &[RunRecord], against: &str) -> Result<Self, TableError> {
        let (our_rows, their_rows) = (rows_of(ours)?, rows_of(theirs)?);
        let mut table = Self::default();
        for (key, seeds) in &our_rows {
            let Some(others) = their_rows.get(key) else {
                table.only_ours.push(key.clone());
                continue;
            };
            let hash = |views: &[SeedView<'_>]| views.first().map(|view| view.run.identity.config_hash.clone());
            if hash(seeds) != hash(others) {
                table.other_configuration.push(key.clone());
            }
            let (ours, theirs) = (SeedSet::new(seeds.clone()), SeedSet::new(others.clone()));
            table.comparisons.extend(compare_rows(key, against, &ours, &theirs));
        }
        table.only_theirs = their_rows.keys().filter(|key| !our_rows.contains_key(*key)).cloned().collect();
        Ok(table)
    }

    /// How many comparisons came to `verdict`.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.comparisons.iter().filter(|comparison| comparison.verdict == verdict).count()
    }

    /// As columns and rows, one metric a row, for files.
    pub fn grid(&self) -> Grid {
        let text = ["scenario", "algorithm", "contestant", "group", "against", "metric"].map(Column::text);
        let columns = text
            .into_iter()
            .chain([Column::integer("seeds")])
            .chain(
                ["value", "value_against", "difference", "difference_low", "difference_high", "relative"]
                    .map(Column::decimal),
            )
            .chain([Column::text("verdict")])
            .collect();
        Grid { columns, rows: self.comparisons.iter().map(grid_row).collect() }
    }
}

fn grid_row(comparison: &Comparison) -> Vec<Field> {
    let scale = comparison.metric.unit.scale();
    let real = |value: Option<f64>| value.filter(|value| value.is_finite()).map_or(Field::Empty, Field::Real);
    let scaled = |value: Option<f64>| real(value.map(|value| value / scale as f64));
    vec![
        Field::Text(comparison.key.scenario.clone()),
        Field::Text(comparison.key.algorithm.clone()),
        Field::Text(comparison.key.contestant.clone()),
        Field::Text(comparison.key.group.clone()),
        Field::Text(comparison.against.clone()),
        Field::Text(comparison.metric.column()),
        Field::Integer(comparison.seeds as u64),
        Field::decimal(comparison.ours.raw(), scale),
        Field::decimal(comparison.theirs.raw(), scale),
        scaled(comparison.difference()),
        scaled(comparison.interval.map(|interval| interval.0)),
        scaled(comparison.interval.map(|interval| interval.1)),
        real(comparison.relative()),
        Field::Text(comparison.verdict.name().to_owned()),
    ]
}

/// Reads two results folders and compares them.
///
/// # Errors
/// If either cannot be read whole, or mixes configurations.
pub fn compare_folders(ours: &Path, theirs: &Path) -> Result<ComparisonTable, CompareError> {
    let (first, second) = (load_folder(ours)?, load_folder(theirs)?);
    Ok(ComparisonTable::of(&first, &second, &theirs.display().to_string())?)
}

/// Why two folders cannot be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// One cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// One mixes what does not belong together.
    #[error(transparent)]
    Table(#[from] TableError),
}
