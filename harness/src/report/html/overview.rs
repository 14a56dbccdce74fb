//! The whole suite at a glance: scenarios down, algorithms across, the tail that counts in each cell.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::table::swatch;
use super::{anchor, escape};
use crate::measure::{Better, Estimate, METRICS, Metric, Row, Table};

/// The metrics that sum up a group of flows with an end: the first that any row has.
const TAILS: [&str; 2] = ["slowdown_p999", "slowdown_p99"];

/// The metrics that sum up flows without one.
const BULK: [&str; 2] = ["goodput", "queueing_p99"];

/// The matrix, for algorithms with their series numbers.
pub(super) fn overview(table: &Table, series: &BTreeMap<&str, usize>) -> String {
    let mut algorithms: Vec<(&str, usize)> = series.iter().map(|(name, index)| (*name, *index)).collect();
    algorithms.sort_by_key(|(_, index)| *index);
    let mut html =
        "<div class=\"scroll\"><table class=\"overview\"><thead><tr><th>scenario</th><th>metric</th>".to_owned();
    for (algorithm, index) in &algorithms {
        let _ = write!(html, "<th class=\"n\">{}{}</th>", swatch(*index), escape(algorithm));
    }
    html.push_str("</tr></thead><tbody>");
    for block in table.rows.chunk_by(|a, b| a.key.scenario == b.key.scenario) {
        for group in groups(block) {
            html.push_str(&lines(block, group, &algorithms));
        }
    }
    html.push_str("</tbody></table></div>");
    html
}

fn groups(block: &[Row]) -> Vec<&str> {
    let mut groups: Vec<&str> = Vec::new();
    for row in block {
        if !groups.contains(&&*row.key.group) {
            groups.push(&row.key.group);
        }
    }
    groups
}

fn lines(block: &[Row], group: &str, algorithms: &[(&str, usize)]) -> String {
    let rows: Vec<&Row> = block.iter().filter(|row| row.key.group == group && !row.key.is_rival()).collect();
    let scenario = &block[0].key.scenario;
    let mut html = String::new();
    for metric in summaries(&rows) {
        let arrow = if metric.better == Better::Higher { "↑" } else { "↓" };
        let _ = write!(
            html,
            "<tr><th><a href=\"#{}\">{}</a> <small>{}</small></th><td>{} {arrow}</td>",
            anchor(scenario),
            escape(scenario),
            escape(group),
            escape(metric.label)
        );
        for (algorithm, _) in algorithms {
            let row = rows.iter().find(|row| row.key.algorithm == *algorithm);
            let estimate = row.and_then(|row| row.estimate(metric.name));
            html.push_str(
                &estimate.map_or_else(|| "<td class=\"n none\">–</td>".into(), |estimate| cell(metric, estimate)),
            );
        }
        html.push_str("</tr>");
    }
    html
}

fn summaries(rows: &[&Row]) -> Vec<&'static Metric> {
    let measured = |name: &&str| rows.iter().any(|row| row.estimate(name).is_some());
    let tail: Vec<&str> = TAILS.into_iter().find(measured).into_iter().collect();
    let names = if tail.is_empty() { BULK.into_iter().filter(measured).collect() } else { tail };
    METRICS.iter().filter(|metric| names.contains(&metric.name)).collect()
}

fn cell(metric: &Metric, estimate: Estimate) -> String {
    let value = escape(&metric.unit.human(estimate.reading.raw() as f64));
    let bound = if estimate.reading.is_bound() { "&gt;&thinsp;" } else { "" };
    if estimate.best {
        format!("<td class=\"n\"><b>{bound}{value}</b>&thinsp;★</td>")
    } else {
        format!("<td class=\"n\">{bound}{value}</td>")
    }
}
