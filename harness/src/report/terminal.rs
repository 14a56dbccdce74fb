//! Tables for the terminal.

use comfy_table::{Cell, CellAlignment, LineStyle, Table as Grid, TableStyle};

use crate::measure::{
    Comparison, ComparisonTable, Estimate, METRICS, MIN_SEEDS, Metric, Missing, Row, Table, Unit, Verdict,
    short_columns,
};

/// A line below the headings and no other.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// The short table: a block per scenario, a row per algorithm and group, the headline metrics.
///
/// A star marks a value only where paired differences separate it from every other algorithm's.
pub fn table(table: &Table) -> String {
    let mut out = String::new();
    for block in table.rows.chunk_by(|a, b| a.key.scenario == b.key.scenario) {
        if let Some(first) = block.first() {
            out.push_str(&format!("\n{}\n{}\n", first.key.scenario, block_table(block)));
        }
    }
    out.push_str(&footnotes(table));
    out
}

fn block_table(block: &[Row]) -> Grid {
    let shown = short_columns(&block.iter().collect::<Vec<_>>());
    let several_groups = block.iter().any(|row| row.key.group != block[0].key.group);
    let any_unfinished = block.iter().any(|row| row.totals.unfinished > 0);
    let any_unstarted = block.iter().any(|row| row.totals.not_started > 0);
    let mut grid = Grid::new();
    grid.load_style(STYLE);
    let scales: Vec<_> =
        shown.iter().map(|&index| METRICS[index].unit.human_scale(smallest_shown(block, index))).collect();
    let mut header = vec!["algorithm".to_owned()];
    header.extend(several_groups.then(|| "group".to_owned()));
    header.extend(shown.iter().zip(&scales).map(|(&index, scale)| heading(&METRICS[index], scale.name)));
    header.extend(any_unfinished.then(|| "unfinished".to_owned()));
    header.extend(any_unstarted.then(|| "never\nbegan".to_owned()));
    grid.set_header(header.into_iter().map(|text| Cell::new(text).set_alignment(CellAlignment::Center)));
    for row in block {
        let mut cells = vec![Cell::new(row.key.name())];
        cells.extend(several_groups.then(|| Cell::new(&row.key.group)));
        cells.extend(shown.iter().zip(&scales).map(|(&index, scale)| {
            let text = estimate_text(row.estimates[index], &METRICS[index], |raw| scale.number(raw));
            Cell::new(text).set_alignment(CellAlignment::Right)
        }));
        let counts = [(any_unfinished, row.totals.unfinished), (any_unstarted, row.totals.not_started)];
        let counts = counts.into_iter().filter(|(any, _)| *any);
        cells.extend(counts.map(|(_, count)| Cell::new(count).set_alignment(CellAlignment::Right)));
        grid.add_row(cells);
    }
    grid
}

/// The smallest value of a column other than nothing: the unit that fits it fits all.
fn smallest_shown(block: &[Row], index: usize) -> f64 {
    let values = block.iter().filter_map(|row| Some(row.estimates[index].ok()?.reading.raw()));
    values.filter(|&raw| raw > 0).min().unwrap_or(0) as f64
}

fn heading(metric: &Metric, unit: &str) -> String {
    let label = metric.label.replacen(' ', "\n", 1);
    if unit.is_empty() { label } else { format!("{label}\n[{unit}]") }
}

/// `2.31 ±4%*`: value, half the interval's width, and a star for the best; `>` in front of a lower bound.
fn estimate_text(estimate: Result<Estimate, Missing>, metric: &Metric, number: impl Fn(f64) -> String) -> String {
    let estimate = match estimate {
        Ok(estimate) => estimate,
        Err(Missing::NotApplicable) => return "–".into(),
        Err(Missing::TooFewSamples { .. }) => return "n/a".into(),
    };
    let reading = estimate.reading;
    let mut text = number(reading.raw() as f64);
    if reading.is_bound() {
        text.insert(0, '>');
    }
    if let Some(interval) = estimate.interval {
        let half = interval.high.raw().saturating_sub(interval.low.raw()) as f64 / 2.0;
        if interval.high.is_bound() {
            text.push_str(" +?");
        } else if reading.raw() > 0 && metric.is_relative() {
            let percent = half / reading.raw() as f64 * 100.0;
            // Rounded up: never narrower than it is.
            text.push_str(&format!(" ±{}%", percent.ceil()));
        }
    }
    if estimate.best {
        text.push('*');
    }
    text
}

fn footnotes(table: &Table) -> String {
    let seeds: Vec<usize> = table.rows.iter().map(|row| row.seeds.len()).collect();
    let (Some(fewest), Some(most)) = (seeds.iter().min(), seeds.iter().max()) else {
        return "no results\n".into();
    };
    let seeds = match (fewest, most) {
        (1, 1) => "1 seed".to_owned(),
        _ if fewest == most => format!("{fewest} seeds"),
        _ => format!("{fewest} to {most} seeds"),
    };
    let mut notes = format!(
        "\n{seeds}. Slowdown: completion time over base RTT + wire time at the bottleneck; no handshake is counted.\n\
         ±: half the 95 % bootstrap interval over seeds. *: better than every other algorithm, paired by seed, with 95 % confidence.\n\
         n/a: fewer than 10/(1-q) samples. >: falls among flows that had not finished; a lower bound.\n"
    );
    if *fewest < MIN_SEEDS {
        notes.push_str(&format!("Intervals and stars need at least {MIN_SEEDS} seeds.\n"));
    }
    notes
}

/// What differs between two results folders, or from a baseline: a row per cell, the headline metrics, and the gaps.
pub fn comparison(comparisons: &ComparisonTable) -> String {
    let all = &comparisons.comparisons;
    let compared = |metric: &&Metric| metric.headline && all.iter().any(|one| one.metric.name == metric.name);
    let shown: Vec<&Metric> = METRICS.iter().filter(compared).collect();
    let mut grid = Grid::new();
    grid.load_style(STYLE);
    grid.set_header(
        ["scenario", "algorithm", "group"]
            .into_iter()
            .map(str::to_owned)
            .chain(shown.iter().map(|metric| heading(metric, ""))),
    );
    for row in all.chunk_by(|a, b| a.key == b.key) {
        let key = &row[0].key;
        let verdicts = shown.iter().map(|metric| {
            let one = row.iter().find(|one| one.metric.name == metric.name);
            one.map_or_else(|| "–".to_owned(), verdict_text)
        });
        grid.add_row([key.scenario.clone(), key.name(), key.group.clone()].into_iter().chain(verdicts));
    }
    let mut out = format!("{grid}\n\n");
    let counts = [Verdict::Better, Verdict::Worse, Verdict::Indistinguishable, Verdict::TooFewSeeds]
        .map(|verdict| format!("{} {}", comparisons.count(verdict), verdict.name()));
    out.push_str(&format!("All metrics: {}.\n", counts.join(", ")));
    out.push_str(
        "+ and −: paired differences by seed whose 95 % interval excludes none. ≈: not distinguishable. ?: fewer than ",
    );
    out.push_str(&format!("{MIN_SEEDS} seeds in common.\n"));
    let lists = [
        ("only in the first", &comparisons.only_ours),
        ("only in the second", &comparisons.only_theirs),
        ("run with another configuration", &comparisons.other_configuration),
    ];
    for (what, keys) in lists {
        for key in keys {
            out.push_str(&format!("{what}: {}, {}, {}\n", key.scenario, key.name(), key.group));
        }
    }
    out
}

/// `−12.0 % better`: how large and what it means, or that there is nothing to tell.
fn verdict_text(one: &Comparison) -> String {
    let difference = difference_text(one).unwrap_or_default();
    match one.verdict {
        Verdict::Indistinguishable => "≈".into(),
        Verdict::TooFewSeeds => format!("? {difference}"),
        Verdict::Better | Verdict::Worse => format!("{difference} {}", one.verdict.name()).trim_start().to_owned(),
    }
}

/// The difference with its sign: in per cent of the other value, or in percentage points or plainly where the metric is a
/// part or an index itself; nothing where either is only a bound.
pub(super) fn difference_text(one: &Comparison) -> Option<String> {
    let difference = one.difference()?;
    let sign = if difference < 0.0 { "−" } else { "+" };
    let size = match one.relative().filter(|_| one.metric.is_relative()) {
        Some(relative) => format!("{:.1} %", relative.abs() * 100.0),
        None if one.metric.unit == Unit::Fraction => format!("{:.2} pp", difference.abs() / 1e4),
        None => one.metric.unit.human(difference.abs()),
    };
    Some(format!("{sign}{size}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Interval, Reading, RunRecord, TableOptions, testing};

    fn records() -> Vec<RunRecord> {
        let cubic = (1..=8).map(|seed| testing::run("lte", "cubic", seed));
        cubic.chain((1..=8).map(|seed| testing::run_scaled("lte", "quick", seed, 80))).collect()
    }

    #[test]
    fn the_winner_is_starred_only_where_it_is_separated() {
        let built = Table::build(&records(), &TableOptions::default()).unwrap();
        let text = table(&built);
        let line = |name: &str| text.lines().find(|line| line.trim_start().starts_with(name)).unwrap().to_owned();
        assert!(line("quick").contains('*'), "{text}");
        assert!(!line("cubic").contains('*'), "{text}");
    }

    #[test]
    fn unfinished_flows_and_missing_samples_are_shown() {
        let mut records = records();
        records.truncate(1);
        let class = &mut records[0].classes[0];
        (0..700).for_each(|_| class.slowdown_milli.censor(90_000));
        class.totals.unfinished = 700;
        let text = table(&Table::build(&records, &TableOptions::default()).unwrap());
        assert!(text.contains("700") && text.contains("unfinished") && text.contains("began"), "{text}");
        assert!(text.contains(">90"), "{text}");
        assert!(text.contains("need at least 6 seeds"), "{text}");
    }

    #[test]
    fn half_widths_are_rounded_up() {
        let interval = Some(Interval { low: Reading::Exactly(1_990), high: Reading::Exactly(2_011) });
        let estimate = Estimate { reading: Reading::Exactly(2_000), interval, best: true };
        // 10.5 / 2000 = 0.525 %
        assert_eq!(estimate_text(Ok(estimate), &METRICS[0], |raw| Unit::Factor.human(raw)), "2.00 ±1%*");
    }

    #[test]
    fn a_comparison_shows_verdicts_and_lists_gaps() {
        let before = records();
        let mut after: Vec<RunRecord> = before[..8].to_vec();
        for record in &mut after {
            *record = testing::run_scaled("lte", "cubic", record.identity.seed, 80);
        }
        let text = comparison(&ComparisonTable::of(&after, &before, "before").unwrap());
        assert!(text.contains("−20.0 % better"), "{text}");
        assert!(text.contains("only in the second: lte, quick, rpc"), "{text}");
    }
}
