//! The page around tables and plots.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::overview::overview;
use super::scatter::scatter;
use super::series::small_multiples;
use super::table::{Columns, swatch, table};
use super::tail::{Shown, tail};
use super::{anchor, escape};
use crate::measure::{Comparison, METRICS, MIN_SEEDS, RESAMPLES, Row, RunRecord, Table};

/// What the page says besides results.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// Heading.
    pub title: String,
    /// Version of cwndtunnel that ran the sweep.
    pub version: String,
    /// The configuration, as names and values.
    pub configuration: Vec<(String, String)>,
    /// The algorithms with what they say of themselves.
    pub algorithms: Vec<(String, String)>,
    /// Descriptions of the scenarios.
    pub scenarios: Vec<ScenarioNote>,
}

/// A scenario in words, and as the file it was read from.
#[derive(Clone, Debug, Default)]
pub struct ScenarioNote {
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: String,
    /// Its definition, to reproduce it from.
    pub definition: String,
}

/// One self-contained page of results. `records` are asked for time series only.
pub fn to_html(page: &Page, results: &Table, records: &[RunRecord]) -> String {
    let series = number_series(results);
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{0}</title><style>{1}</style></head><body>\n\
         <header><h1>{0}</h1><button id=\"theme\" type=\"button\">dark / light</button></header><main>\n",
        escape(&page.title),
        include_str!("style.css")
    );
    let _ = write!(html, "<p class=\"sub\">cwndtunnel {}</p>", escape(&page.version));
    html.push_str(&legend(&series));
    html.push_str("<h2>At a glance</h2>\n");
    html.push_str(&overview(results, &series));
    html.push_str(&reading_notes(results));
    for block in results.rows.chunk_by(|a, b| a.key.scenario == b.key.scenario) {
        html.push_str(&section(page, block, &series, results, records));
    }
    html.push_str(&algorithms(page));
    html.push_str(&definitions());
    html.push_str(&configuration(page));
    let _ = writeln!(html, "</main><script>{}</script></body></html>", include_str!("script.js"));
    html
}

/// A number for each algorithm, the same on the whole page, in the order of the table.
fn number_series(results: &Table) -> BTreeMap<&str, usize> {
    let mut series = BTreeMap::new();
    for row in &results.rows {
        let next = series.len();
        series.entry(&*row.key.algorithm).or_insert(next);
    }
    series
}

fn legend(series: &BTreeMap<&str, usize>) -> String {
    let mut entries: Vec<_> = series.iter().collect();
    entries.sort_by_key(|(_, index)| **index);
    let entries = entries.iter().map(|(name, index)| format!("<span>{}{}</span>", swatch(**index), escape(name)));
    format!("<div class=\"legend\">{}</div>\n", entries.collect::<String>())
}

fn reading_notes(results: &Table) -> String {
    let mut notes = format!(
        "<p class=\"note\">★ better than every other algorithm here, paired by seed, with 95 % confidence (not corrected for many \
         comparisons). Small numbers: 95 % interval. <b>&gt;</b> falls among flows that had not finished: a lower bound. \
         n/a: fewer than 10/(1−q) samples. Intervals and stars need at least {MIN_SEEDS} seeds."
    );
    if let Some(first) = results.versus.as_ref().and_then(|versus| versus.comparisons.first()) {
        let _ = write!(notes, " ▲ better, ▼ worse, ≈ not distinguishable from {}.", escape(&first.against));
    }
    notes.push_str("</p>\n");
    notes
}

fn section(
    page: &Page,
    block: &[Row],
    series: &BTreeMap<&str, usize>,
    results: &Table,
    records: &[RunRecord],
) -> String {
    let scenario = &block[0].key.scenario;
    let rows: Vec<(usize, &Row)> = block.iter().map(|row| (series[&*row.key.algorithm], row)).collect();
    let comparisons: &[Comparison] = results.versus.as_ref().map_or(&[], |versus| &versus.comparisons);
    let versus: Vec<&Comparison> = comparisons.iter().filter(|one| one.key.scenario == *scenario).collect();
    let mut html = format!("<section id=\"{}\"><h2>{}</h2>\n", anchor(scenario), escape(scenario));
    if let Some(note) = page.scenarios.iter().find(|note| note.name == *scenario) {
        let _ = writeln!(html, "<p>{}</p>", escape(&note.description));
    }
    html.push_str(&table(&rows, Columns::Headline, &versus));
    html.push_str(&figures(&rows));
    let _ = writeln!(html, "<details><summary>All metrics</summary>{}</details>", table(&rows, Columns::All, &versus));
    if let Some(panels) = time_series(scenario, series, records) {
        let _ = writeln!(
            html,
            "<details class=\"wide\"><summary>Time series</summary><p class=\"note\">One seed. Colours are flows here, not algorithms. \
             Grey: what the link offered.</p>{panels}</details>"
        );
    }
    if let Some(note) = page.scenarios.iter().find(|note| note.name == *scenario && !note.definition.is_empty()) {
        let _ =
            writeln!(html, "<details><summary>Definition</summary><pre>{}</pre></details>", escape(&note.definition));
    }
    html.push_str("</section>\n");
    html
}

/// The scatter plot of the rows that move bulk data (or of all), and a tail plot of each group.
fn figures(rows: &[(usize, &Row)]) -> String {
    let endless: Vec<(usize, &Row)> =
        rows.iter().copied().filter(|(_, row)| row.totals.finite < row.totals.flows).collect();
    let points = if endless.is_empty() { rows } else { &endless };
    let mut html = "<div class=\"figures\">".to_owned();
    if let Some(plot) = scatter(points) {
        let _ = write!(html, "<figure>{plot}<figcaption>Goodput against queueing delay</figcaption></figure>");
    }
    let mut groups: Vec<&str> = rows.iter().map(|(_, row)| &*row.key.group).collect();
    groups.sort_unstable();
    groups.dedup();
    for group in groups {
        let of_group: Vec<(usize, &Row)> = rows.iter().copied().filter(|(_, row)| row.key.group == group).collect();
        if let Some(shown) = Shown::choose(&of_group) {
            let _ = write!(
                html,
                "<figure>{}<figcaption>Tail of the {}, {}</figcaption></figure>",
                tail(&of_group, shown),
                shown.name(),
                escape(group)
            );
        }
    }
    html.push_str("</div>\n");
    html
}

fn time_series(scenario: &str, series: &BTreeMap<&str, usize>, records: &[RunRecord]) -> Option<String> {
    let mut runs: Vec<&RunRecord> =
        records.iter().filter(|run| run.identity.scenario == scenario && run.series.is_some()).collect();
    runs.sort_by_key(|run| (series.get(&*run.identity.algorithm).copied(), run.identity.seed));
    runs.dedup_by_key(|run| &run.identity.algorithm);
    small_multiples(&runs)
}

fn algorithms(page: &Page) -> String {
    if page.algorithms.is_empty() {
        return String::new();
    }
    let row = |(name, about): &(String, String)| {
        format!("<tr><th>{}</th><td>{}</td></tr>", escape(name), escape(about).replace('\n', "<br>"))
    };
    let rows = page.algorithms.iter().map(row).collect::<String>();
    format!(
        "<section><h2>Algorithms</h2><p class=\"note\">What they declare. Promises hold on the network of their family, which is not \
         that of these scenarios; the testing kit measures them.</p><table>{rows}</table></section>\n"
    )
}

fn definitions() -> String {
    let mut html = format!(
        "<section><h2>Definitions</h2>\n<ul>\
         <li><b>Slowdown</b>: flow completion time over what it would be in an empty network: base RTT plus the time the flow's wire bytes, \
         headers included, take at its path's bottleneck (for a trace, at its mean rate), less what the base RTT holds already: one packet, full or \
         as small as the flow. \
         Completion runs from the flow's start until the sender knows that every byte arrived. <b>No handshake is counted.</b></li>\
         <li><b>Unfinished flows</b> are censored: they count as larger than every finished one, so a percentile that falls among them is only \
         known to be more than a bound, and starving flows cannot improve a tail. Flows that never began are counted beside them.</li>\
         <li><b>Percentiles</b> are read from HDR histograms (three significant digits) of all seeds merged, and given only from \
         10/(1−q) samples: 1 000 for a p99, 10 000 for a p99.9.</li>\
         <li><b>Intervals</b>: percentile bootstrap over seeds, {RESAMPLES} draws of whole seeds, 95 %. With ten seeds such intervals are somewhat \
         narrow and cover about 90 %. Comparisons draw the same seeds for both sides; a difference must also be larger than a bucket of the histograms, 0.1 %.</li>\
         <li><b>Convergence and Jain's index over time</b>: windows of ten base RTTs, a hundredth of the run or one sample, whichever is \
         longest, over the flows active all through each; converged at the end of the first window from which on the index stays at or \
         above 0.95 until the next arrival or departure of a long flow (our definition).</li></ul>\n"
    );
    html.push_str("<details><summary>Every column</summary><div class=\"scroll\"><table><thead><tr><th>column</th><th>label</th><th>meaning</th></tr></thead><tbody>");
    for metric in METRICS {
        let (column, label, what) = (metric.column(), escape(metric.label), escape(metric.what));
        let _ = write!(html, "<tr><td><code>{column}</code></td><td>{label}</td><td>{what}</td></tr>");
    }
    html.push_str("</tbody></table></div></details></section>\n");
    html
}

fn configuration(page: &Page) -> String {
    if page.configuration.is_empty() {
        return String::new();
    }
    let rows = page.configuration.iter();
    let rows =
        rows.map(|(name, value)| format!("<tr><th>{}</th><td><code>{}</code></td></tr>", escape(name), escape(value)));
    format!("<section><h2>Configuration</h2><table>{}</table></section>\n", rows.collect::<String>())
}
