//! Sortable tables of a scenario's rows.

use std::fmt::Write as _;

use super::escape;
use super::palette::{colour, marker};
use crate::measure::{Better, Comparison, Estimate, METRICS, Metric, Missing, Row, Verdict, short_columns};
use crate::report::terminal::difference_text;

/// Which metrics a table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Columns {
    Headline,
    All,
}

/// The table of `rows`, with series numbers, and what the baseline comparison says of them.
pub(super) fn table(rows: &[(usize, &Row)], columns: Columns, versus: &[&Comparison]) -> String {
    let all: Vec<&Row> = rows.iter().map(|(_, row)| *row).collect();
    let shown: Vec<usize> = match columns {
        Columns::Headline => short_columns(&all),
        Columns::All => {
            (0..METRICS.len()).filter(|&index| all.iter().any(|row| row.estimates[index].is_ok())).collect()
        }
    };
    let mut html = "<div class=\"scroll\"><table class=\"sortable\"><thead><tr><th>algorithm</th>".to_owned();
    let full = columns == Columns::All;
    let with_group = full || rows.iter().any(|(_, row)| row.key.group != rows[0].1.key.group);
    if with_group {
        html.push_str("<th>group</th>");
    }
    for &index in &shown {
        let metric = &METRICS[index];
        let _ = write!(html, "<th class=\"n\" title=\"{}\">{}</th>", escape(metric.what), escape(&heading(metric)));
    }
    html.push_str("<th class=\"n\">unfinished</th>");
    html.push_str(if full { "<th class=\"n\">flows</th><th class=\"n\">seeds</th>" } else { "" });
    html.push_str("</tr></thead><tbody>");
    for (series, row) in rows {
        let _ = write!(html, "<tr><th>{}{}</th>", swatch(*series), escape(&row.key.name()));
        if with_group {
            let _ = write!(html, "<td>{}</td>", escape(&row.key.group));
        }
        for &index in &shown {
            let against = versus.iter().find(|one| one.key == row.key && one.metric.name == METRICS[index].name);
            html.push_str(&cell(&METRICS[index], row.estimates[index], against.copied()));
        }
        html.push_str(&counts(row, full));
    }
    html.push_str("</tbody></table></div>");
    html
}

/// A series' marker in its colour.
pub(super) fn swatch(series: usize) -> String {
    format!(
        "<svg class=\"swatch {}\" viewBox=\"0 0 16 16\" aria-hidden=\"true\">{}</svg>",
        colour(series),
        marker(series, 8.0, 8.0)
    )
}

fn heading(metric: &Metric) -> String {
    let arrow = match metric.better {
        Better::Lower => "\u{a0}↓",
        Better::Higher => "\u{a0}↑",
        Better::Neither => "",
    };
    format!("{}{arrow}", metric.label)
}

fn cell(metric: &Metric, estimate: Result<Estimate, Missing>, against: Option<&Comparison>) -> String {
    let estimate = match estimate {
        Ok(estimate) => estimate,
        Err(Missing::NotApplicable) => return "<td class=\"n none\">–</td>".into(),
        Err(Missing::TooFewSamples { have, need }) => {
            return format!("<td class=\"n none\" title=\"{have} samples, {need} needed\">n/a</td>");
        }
    };
    let raw = estimate.reading.raw();
    let bound = if estimate.reading.is_bound() { "&gt;&thinsp;" } else { "" };
    let value = escape(&metric.unit.human(raw as f64));
    let value = if estimate.best { format!("<b>{bound}{value}</b>&thinsp;★") } else { format!("{bound}{value}") };
    let mut html = format!("<td class=\"n\" data-v=\"{raw}\">{value}");
    if let Some(interval) = estimate.interval {
        let (low, high) = (interval.low.raw() as f64, interval.high.raw() as f64);
        let range = if interval.high.is_bound() {
            format!("{} – ?", metric.unit.human(low))
        } else {
            metric.unit.human_range(low, high)
        };
        let _ = write!(html, "<small>{}</small>", escape(&range));
    }
    html.push_str(&against.map(verdict).unwrap_or_default());
    html.push_str("</td>");
    html
}

fn verdict(comparison: &Comparison) -> String {
    let (class, mark) = match comparison.verdict {
        Verdict::Better => ("better", "▲"),
        Verdict::Worse => ("worse", "▼"),
        Verdict::Indistinguishable => return "<small class=\"same\">≈</small>".into(),
        Verdict::TooFewSeeds => return String::new(),
    };
    let text = difference_text(comparison).unwrap_or_else(|| comparison.verdict.name().to_owned());
    format!(
        "<small class=\"{class}\" title=\"{} than {}\">{mark} {}</small>",
        comparison.verdict.name(),
        escape(&comparison.against),
        escape(&text)
    )
}

fn counts(row: &Row, full: bool) -> String {
    let totals = &row.totals;
    let class = if totals.unfinished > 0 { "n worse" } else { "n" };
    let mut html = format!("<td class=\"{class}\" data-v=\"{0}\">{0}", totals.unfinished);
    if totals.finite > 0 {
        let _ = write!(html, "<small>of {}</small>", totals.finite);
    }
    if totals.not_started > 0 {
        let _ = write!(html, "<small>{} never began</small>", totals.not_started);
    }
    html.push_str("</td>");
    if full {
        let seeds = row.seeds.len();
        let _ = write!(html, "<td class=\"n\" data-v=\"{0}\">{0}</td>", totals.flows);
        let _ = write!(html, "<td class=\"n\" data-v=\"{seeds}\">{seeds}</td>");
    }
    html.push_str("</tr>");
    html
}
