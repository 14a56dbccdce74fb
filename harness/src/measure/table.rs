//! The table of results: a row for each scenario, algorithm, contestant and group; a column for each metric.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::bootstrap::Interval;
use super::comparison::{Comparison, ComparisonTable, Drawn, Verdict, compare_drawn, compare_rows, draw_all, verdict};
use super::distribution::{Distribution, Reading};
use super::grid::{Column, Field, Grid};
use super::metric::{Better, METRICS, Metric, Missing, SeedSet, SeedView};
use super::record::{RunRecord, Totals};

/// What a row is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowKey {
    /// The scenario.
    pub scenario: String,
    /// What was put to the test.
    pub algorithm: String,
    /// Whose flows these are: the algorithm's own, or another's that shares the network with it.
    pub contestant: String,
    /// Group of the flows.
    pub group: String,
}

impl RowKey {
    /// Whether the row is about another contestant than the one put to the test.
    pub fn is_rival(&self) -> bool {
        self.contestant != self.algorithm
    }

    /// The algorithm; with whose flows these are, if not its own.
    pub fn name(&self) -> String {
        if self.is_rival() { format!("{} beside {}", self.contestant, self.algorithm) } else { self.algorithm.clone() }
    }

    /// What makes rows of different algorithms comparable: the scenario, the group, and whose flows they are,
    /// "the algorithm's own" being the same for all.
    fn place(&self) -> (&str, &str, Option<&str>) {
        (&self.scenario, &self.group, self.is_rival().then_some(&*self.contestant))
    }
}

/// A value with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// The value over all seeds.
    pub reading: Reading,
    /// Its 95 % confidence interval, if there are seeds enough.
    pub interval: Option<Interval>,
    /// Whether paired differences to every other algorithm of the scenario all say better.
    pub best: bool,
}

/// One row.
#[derive(Clone, Debug)]
pub struct Row {
    /// What it is about.
    pub key: RowKey,
    /// The seeds behind it.
    pub seeds: Vec<u64>,
    /// Sums over the seeds.
    pub totals: Totals,
    /// One entry per metric, in the order of [`METRICS`].
    pub estimates: Vec<Result<Estimate, Missing>>,
    /// Completion times of all seeds relative to an empty network, thousandths.
    pub slowdown_milli: Distribution,
    /// Queueing delays of all seeds, nanoseconds.
    pub queueing_ns: Distribution,
}

impl Row {
    /// The estimate of a metric by name, if it was measured.
    pub fn estimate(&self, name: &str) -> Option<Estimate> {
        let index = METRICS.iter().position(|metric| metric.name == name)?;
        self.estimates.get(index)?.ok()
    }
}

/// The metrics of the short table of `rows`, as indices into [`METRICS`]: the headline ones that were measured, and each
/// side's share where several algorithms meet.
pub(crate) fn short_columns(rows: &[&Row]) -> Vec<usize> {
    let rivals = rows.iter().any(|row| row.key.is_rival());
    let wanted = |metric: &Metric| metric.headline || (rivals && metric.name == "share");
    let measured = |index: &usize| rows.iter().any(|row| row.estimates[*index].is_ok());
    (0..METRICS.len()).filter(|&index| wanted(&METRICS[index])).filter(measured).collect()
}

/// Results, ready to be shown.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The rows: by scenario, then algorithm, each in the order asked for.
    pub rows: Vec<Row>,
    /// Against the baseline, if one was chosen.
    pub versus: Option<ComparisonTable>,
}

/// How to lay out a table.
#[derive(Clone, Debug, Default)]
pub struct TableOptions {
    /// The algorithm that all others are held against.
    pub baseline: Option<String>,
    /// Order of the scenarios; those not named come after, by name.
    pub scenarios: Vec<String>,
    /// Order of the algorithms; those not named come after, by name.
    pub algorithms: Vec<String>,
}

/// Records that make no table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// Seeds of one cell were run with different settings.
    #[error(
        "{scenario}, {algorithm}: seeds {first} and {second} were run with different configurations; use one folder for each"
    )]
    MixedConfigurations {
        /// The scenario.
        scenario: String,
        /// The algorithm.
        algorithm: String,
        /// A seed.
        first: u64,
        /// One that differs.
        second: u64,
    },
    /// A seed is there twice.
    #[error("{scenario}, {algorithm}: seed {seed} is there twice")]
    DuplicateSeed {
        /// The scenario.
        scenario: String,
        /// The algorithm.
        algorithm: String,
        /// The seed.
        seed: u64,
    },
    /// The baseline was never run.
    #[error("baseline {baseline:?} is not among the results: {found}")]
    UnknownBaseline {
        /// What was asked for.
        baseline: String,
        /// What there is.
        found: String,
    },
}

/// A row's key and the seeds behind it.
type Seeds<'a> = (&'a RowKey, &'a Vec<SeedView<'a>>);

/// The seeds behind each row.
pub(crate) fn rows_of(records: &[RunRecord]) -> Result<BTreeMap<RowKey, Vec<SeedView<'_>>>, TableError> {
    let mut sorted: Vec<&RunRecord> = records.iter().collect();
    sorted.sort_by(|a, b| a.identity.cmp(&b.identity));
    for pair in sorted.windows(2) {
        check_neighbours(pair[0], pair[1])?;
    }
    let mut rows: BTreeMap<RowKey, Vec<SeedView<'_>>> = BTreeMap::new();
    for run in sorted {
        for class in run.classes.iter().filter(|class| !class.background) {
            let key = RowKey {
                scenario: run.identity.scenario.clone(),
                algorithm: run.identity.algorithm.clone(),
                contestant: class.contestant.clone(),
                group: class.group.clone(),
            };
            rows.entry(key).or_default().push(SeedView { run, class });
        }
    }
    Ok(rows)
}

fn check_neighbours(first: &RunRecord, second: &RunRecord) -> Result<(), TableError> {
    let (a, b) = (&first.identity, &second.identity);
    if (&a.scenario, &a.algorithm) != (&b.scenario, &b.algorithm) {
        return Ok(());
    }
    let (scenario, algorithm) = (a.scenario.clone(), a.algorithm.clone());
    if a.seed == b.seed {
        return Err(TableError::DuplicateSeed { scenario, algorithm, seed: a.seed });
    }
    if a.config_hash != b.config_hash {
        return Err(TableError::MixedConfigurations { scenario, algorithm, first: a.seed, second: b.seed });
    }
    Ok(())
}

impl Table {
    /// Merges seeds into rows, with intervals, best values and, if asked for, differences to a baseline.
    ///
    /// # Errors
    /// If seeds of a cell do not belong together, or the baseline is not among the algorithms.
    pub fn build(records: &[RunRecord], options: &TableOptions) -> Result<Self, TableError> {
        let rows = rows_of(records)?;
        if let Some(baseline) = &options.baseline {
            check_baseline(&rows, baseline)?;
        }
        let mut scenarios: BTreeMap<(usize, &str), Vec<Seeds<'_>>> = BTreeMap::new();
        for (key, seeds) in &rows {
            let place = position(&options.scenarios, &key.scenario);
            scenarios.entry((place, &key.scenario)).or_default().push((key, seeds));
        }
        for rows in scenarios.values_mut() {
            // Groups together, because rows are compared within one. Stable: what the order does not name stays sorted by name.
            rows.sort_by_key(|(key, _)| (&key.group, position(&options.algorithms, &key.algorithm)));
        }
        let scenarios: Vec<_> = scenarios.into_values().collect();
        let built: Vec<_> =
            scenarios.par_iter().map(|rows| build_scenario(rows, options.baseline.as_deref())).collect();
        let mut table =
            Self { rows: Vec::new(), versus: options.baseline.as_ref().map(|_| ComparisonTable::default()) };
        for (rows, comparisons) in built {
            table.rows.extend(rows);
            if let Some(versus) = &mut table.versus {
                versus.comparisons.extend(comparisons);
            }
        }
        Ok(table)
    }

    /// As columns and rows, for files.
    pub fn grid(&self) -> Grid {
        let mut columns: Vec<Column> = ["scenario", "algorithm", "contestant", "group"].map(Column::text).into();
        columns.extend(["seeds", "flows", "completed", "unfinished", "not_started"].map(Column::integer));
        for metric in METRICS {
            let name = metric.column();
            columns.push(Column::decimal(&name));
            if metric.may_be_censored() {
                columns.push(Column::flag(format!("{name}_is_lower_bound")));
            }
            columns.push(Column::decimal(format!("{name}_low")));
            columns.push(Column::decimal(format!("{name}_high")));
            if metric.better != Better::Neither {
                columns.push(Column::flag(format!("{name}_best")));
            }
        }
        Grid { columns, rows: self.rows.iter().map(grid_row).collect() }
    }
}

fn grid_row(row: &Row) -> Vec<Field> {
    let RowKey { scenario, algorithm, contestant, group } = row.key.clone();
    let mut fields: Vec<Field> = [scenario, algorithm, contestant, group].map(Field::Text).into();
    let totals = &row.totals;
    let counts = [row.seeds.len() as u64, totals.flows, totals.completed, totals.unfinished, totals.not_started];
    fields.extend(counts.map(Field::Integer));
    for (metric, estimate) in METRICS.iter().zip(&row.estimates) {
        let scale = metric.unit.scale();
        let estimate = estimate.ok();
        let known = |value: Option<u64>| value.map_or(Field::Empty, |raw| Field::decimal(raw, scale));
        let interval = estimate.and_then(|estimate| estimate.interval);
        fields.push(known(estimate.map(|estimate| estimate.reading.raw())));
        if metric.may_be_censored() {
            fields.push(estimate.map_or(Field::Empty, |estimate| Field::Flag(estimate.reading.is_bound())));
        }
        fields.push(known(interval.map(|interval| interval.low.raw())));
        // An upper end that is itself only a lower bound is not known.
        fields.push(known(interval.map(|interval| interval.high).filter(|high| !high.is_bound()).map(Reading::raw)));
        if metric.better != Better::Neither {
            fields.push(estimate.map_or(Field::Empty, |estimate| Field::Flag(estimate.best)));
        }
    }
    fields
}

fn position(order: &[String], name: &str) -> usize {
    order.iter().position(|other| other == name).unwrap_or(order.len())
}

fn check_baseline(rows: &BTreeMap<RowKey, Vec<SeedView<'_>>>, baseline: &str) -> Result<(), TableError> {
    if rows.keys().any(|key| key.algorithm == baseline) {
        return Ok(());
    }
    let mut found: Vec<&str> = rows.keys().map(|key| &*key.algorithm).collect();
    found.sort_unstable();
    found.dedup();
    Err(TableError::UnknownBaseline { baseline: baseline.to_owned(), found: found.join(", ") })
}

/// A row in the making.
struct Draft<'a> {
    key: &'a RowKey,
    set: SeedSet<'a>,
    numbers: Vec<u64>,
    drawn: Vec<Result<Drawn, Missing>>,
}

impl<'a> Draft<'a> {
    fn new(key: &'a RowKey, seeds: &[SeedView<'a>]) -> Self {
        let set = SeedSet::new(seeds.to_vec());
        Self { key, numbers: set.numbers().collect(), drawn: draw_all(&key.scenario, &set), set }
    }

    /// Whether its value of a metric is separated from those of all rows in the same place.
    fn is_best(&self, index: usize, all: &[Self]) -> bool {
        let Some(Ok(ours)) = self.drawn.get(index) else { return false };
        let mut rivals =
            all.iter().filter(|other| other.key != self.key && other.key.place() == self.key.place()).peekable();
        rivals.peek().is_some()
            && rivals.all(|rival| {
                // Another set of seeds draws differently and does not pair: then, as where a rival has no value, nobody wins.
                let Some(Ok(theirs)) = rival.drawn.get(index) else { return false };
                self.numbers == rival.numbers && verdict(&METRICS[index], ours, theirs) == Verdict::Better
            })
    }

    fn finish(&self, all: &[Self]) -> Row {
        let estimates = self.drawn.iter().enumerate().map(|(index, drawn)| match drawn {
            Ok(drawn) => Ok(Estimate {
                reading: drawn.value,
                interval: drawn.draws.interval(),
                best: METRICS[index].better != Better::Neither && self.is_best(index, all),
            }),
            Err(missing) => Err(*missing),
        });
        let (mut slowdown_milli, mut queueing_ns) = (Distribution::default(), Distribution::default());
        let mut totals = Totals::default();
        for seed in self.set.seeds() {
            slowdown_milli.merge(&seed.class.slowdown_milli);
            queueing_ns.merge(&seed.class.queueing_ns);
            totals.merge(&seed.class.totals);
        }
        Row {
            key: self.key.clone(),
            seeds: self.numbers.clone(),
            totals,
            estimates: estimates.collect(),
            slowdown_milli,
            queueing_ns,
        }
    }
}

fn build_scenario(rows: &[(&RowKey, &Vec<SeedView<'_>>)], baseline: Option<&str>) -> (Vec<Row>, Vec<Comparison>) {
    let drafts: Vec<Draft<'_>> = rows.iter().map(|(key, seeds)| Draft::new(key, seeds)).collect();
    let finished = drafts.iter().map(|draft| draft.finish(&drafts)).collect();
    let Some(baseline) = baseline else { return (finished, Vec::new()) };
    let mut comparisons = Vec::new();
    for draft in drafts.iter().filter(|draft| draft.key.algorithm != baseline) {
        let counterpart =
            drafts.iter().find(|other| other.key.algorithm == baseline && other.key.place() == draft.key.place());
        match counterpart {
            Some(other) if other.numbers == draft.numbers => {
                comparisons.extend(compare_drawn(
                    draft.key,
                    baseline,
                    draft.numbers.len(),
                    [&draft.drawn, &other.drawn],
                ));
            }
            Some(other) => comparisons.extend(compare_rows(draft.key, baseline, &draft.set, &other.set)),
            None => {}
        }
    }
    (finished, comparisons)
}

#[cfg(test)]
mod tests;
