use super::super::testing::{run, run_scaled};
use super::*;

fn runs(algorithm: &str, seeds: std::ops::RangeInclusive<u64>, slow: u64) -> Vec<RunRecord> {
    seeds.map(|seed| run_scaled("lte", algorithm, seed, slow)).collect()
}

fn build(records: &[RunRecord]) -> Table {
    Table::build(records, &TableOptions { baseline: Some("cubic".into()), ..TableOptions::default() }).unwrap()
}

fn row<'a>(table: &'a Table, algorithm: &str) -> &'a Row {
    table.rows.iter().find(|row| row.key.algorithm == algorithm).unwrap()
}

fn verdict_of(table: &Table, algorithm: &str, metric: &str) -> Verdict {
    let versus = table.versus.as_ref().unwrap();
    let found = |comparison: &&Comparison| comparison.key.algorithm == algorithm && comparison.metric.name == metric;
    versus.comparisons.iter().find(found).unwrap().verdict
}

#[test]
fn percentiles_stand_on_the_samples_of_all_seeds() {
    // 10 seeds of 1 200 completions: 12 000 are enough for p99.9, 1 200 are not.
    let all = build(&runs("cubic", 1..=10, 100));
    assert!(row(&all, "cubic").estimate("slowdown_p999").is_some());
    let one = build(&runs("cubic", 1..=1, 100));
    let index = METRICS.iter().position(|metric| metric.name == "slowdown_p999").unwrap();
    assert_eq!(one.rows[0].estimates[index], Err(Missing::TooFewSamples { have: 1_200, need: 10_000 }));
}

#[test]
fn intervals_hold_the_value_and_need_six_seeds() {
    let table = build(&runs("cubic", 1..=10, 100));
    for (metric, estimate) in METRICS.iter().zip(&row(&table, "cubic").estimates) {
        let Ok(Estimate { reading, interval: Some(interval), .. }) = estimate else { continue };
        let (low, high) = (interval.low.raw(), interval.high.raw());
        assert!(low <= reading.raw() && reading.raw() <= high, "{}", metric.name);
    }
    let table = build(&runs("cubic", 1..=5, 100));
    assert_eq!(row(&table, "cubic").estimate("slowdown_p99").unwrap().interval, None);
}

#[test]
fn a_clear_difference_wins_and_no_difference_does_not() {
    let mut records = runs("cubic", 1..=8, 100);
    records.extend(runs("quick", 1..=8, 80));
    records.extend(runs("twin", 1..=8, 100));
    let table = build(&records);
    assert_eq!(verdict_of(&table, "quick", "slowdown_p99"), Verdict::Better);
    assert_eq!(verdict_of(&table, "twin", "slowdown_p99"), Verdict::Indistinguishable);
    assert!(row(&table, "quick").estimate("slowdown_p99").unwrap().best);
    assert!(!row(&table, "twin").estimate("slowdown_p99").unwrap().best);
    // Delivered bytes do not depend on the scale: nobody wins in goodput.
    assert!(table.rows.iter().all(|row| !row.estimate("goodput").unwrap().best));
}

#[test]
fn a_tie_for_the_best_has_no_winner() {
    let mut records = runs("cubic", 1..=8, 100);
    records.extend(runs("quick", 1..=8, 80));
    records.extend(runs("quick-too", 1..=8, 80));
    let table = build(&records);
    assert_eq!(verdict_of(&table, "quick", "slowdown_p99"), Verdict::Better);
    assert!(table.rows.iter().all(|row| !row.estimate("slowdown_p99").unwrap().best));
}

#[test]
fn a_difference_below_the_resolution_of_histograms_is_none() {
    // Every value of "hair" lies one bucket, a thousandth at most, above that of "cubic".
    let mut records = runs("cubic", 1..=8, 100);
    for mut record in runs("hair", 1..=8, 100) {
        let mut shifted = Distribution::default();
        let slowdowns = record.classes[0].slowdown_milli.observed().clone();
        for step in slowdowns.iter_recorded() {
            (0..step.count_at_value())
                .for_each(|_| shifted.observe(slowdowns.next_non_equivalent(step.value_iterated_to())));
        }
        record.classes[0].slowdown_milli = shifted;
        records.push(record);
    }
    assert_eq!(verdict_of(&build(&records), "hair", "slowdown_p99"), Verdict::Indistinguishable);
}

#[test]
fn few_seeds_give_no_verdict_and_no_winner() {
    let mut records = runs("cubic", 1..=5, 100);
    records.extend(runs("quick", 1..=5, 50));
    let table = build(&records);
    assert_eq!(verdict_of(&table, "quick", "slowdown_p99"), Verdict::TooFewSeeds);
    assert!(!row(&table, "quick").estimate("slowdown_p99").unwrap().best);
}

#[test]
fn starving_flows_does_not_win_the_tail() {
    // "starver" finishes 1 150 of 1 200 flows in half the time and never the rest.
    let mut records = runs("cubic", 1..=8, 100);
    for mut record in runs("starver", 1..=8, 50) {
        let class = &mut record.classes[0];
        let mut all = Distribution::default();
        let mut left = 1_150;
        for step in class.slowdown_milli.observed().iter_recorded() {
            for _ in 0..step.count_at_value().min(left) {
                all.observe(step.value_iterated_to());
            }
            left -= step.count_at_value().min(left);
        }
        (0..50).for_each(|_| all.censor(100_000));
        class.slowdown_milli = all;
        records.push(record);
    }
    let table = build(&records);
    assert_eq!(verdict_of(&table, "starver", "slowdown_p50"), Verdict::Better);
    assert_eq!(verdict_of(&table, "starver", "slowdown_p99"), Verdict::Worse);
    assert!(row(&table, "starver").estimate("slowdown_p99").unwrap().reading.is_bound());
    assert!(!row(&table, "starver").estimate("slowdown_max").unwrap().best);
}

#[test]
fn rows_come_in_the_order_asked_for() {
    let records = [run("b", "y", 1), run("a", "y", 1), run("a", "x", 1), run("c", "z", 1)];
    let options = TableOptions {
        scenarios: vec!["b".into()],
        algorithms: vec!["y".into(), "x".into()],
        ..TableOptions::default()
    };
    let table = Table::build(&records, &options).unwrap();
    let keys: Vec<_> = table.rows.iter().map(|row| (&*row.key.scenario, &*row.key.algorithm)).collect();
    assert_eq!(keys, [("b", "y"), ("a", "y"), ("a", "x"), ("c", "z")]);
}

#[test]
fn the_order_of_the_records_changes_nothing() {
    let mut records = runs("cubic", 1..=7, 100);
    records.extend(runs("quick", 1..=7, 80));
    let forward = build(&records).grid();
    records.reverse();
    assert_eq!(build(&records).grid(), forward);
}

#[test]
fn records_that_do_not_belong_together_are_refused() {
    let mut records = runs("cubic", 1..=2, 100);
    records[1].identity.config_hash = "other".into();
    let error = Table::build(&records, &TableOptions::default()).unwrap_err();
    assert!(matches!(error, TableError::MixedConfigurations { first: 1, second: 2, .. }), "{error}");
    let records = [run("s", "a", 1), run("s", "a", 1)];
    let error = Table::build(&records, &TableOptions::default()).unwrap_err();
    assert!(matches!(error, TableError::DuplicateSeed { seed: 1, .. }), "{error}");
    let options = TableOptions { baseline: Some("cubik".into()), ..TableOptions::default() };
    let error = Table::build(&[run("s", "a", 1)], &options).unwrap_err();
    assert_eq!(error.to_string(), "baseline \"cubik\" is not among the results: a");
}

#[test]
fn a_field_stands_in_every_column_of_every_row() {
    let table = build(&runs("cubic", 1..=7, 100));
    let grid = table.grid();
    assert!(grid.rows.iter().all(|row| row.len() == grid.columns.len()));
    let versus = table.versus.unwrap().grid();
    assert!(versus.rows.iter().all(|row| row.len() == versus.columns.len()));
}

#[test]
fn two_folders_are_compared_cell_by_cell_and_gaps_listed() {
    let mut before = runs("cubic", 1..=8, 100);
    before.push(run("gone", "cubic", 1));
    let mut after = runs("cubic", 3..=10, 80);
    after.push(run("new", "cubic", 1));
    after.iter_mut().for_each(|run| run.identity.config_hash = "other".into());
    let table = ComparisonTable::of(&after, &before, "before").unwrap();
    let p99 = table.comparisons.iter().find(|comparison| comparison.metric.name == "slowdown_p99").unwrap();
    assert_eq!((p99.seeds, p99.verdict), (6, Verdict::Better), "seeds 3 to 8 are common");
    assert!((p99.relative().unwrap() + 0.2).abs() < 0.01);
    assert_eq!(table.only_ours[0].scenario, "new");
    assert_eq!(table.only_theirs[0].scenario, "gone");
    assert_eq!(table.other_configuration.len(), 1);
}
