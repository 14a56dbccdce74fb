//! Time series as small multiples: a column per algorithm, a row per quantity, the same scale along each row.

use std::fmt::Write as _;

use super::escape;
use super::figure::{Scale, path, tick_text};
use super::palette::colour;
use crate::measure::{FlowSeries, PPM, PortSeries, RunRecord, Series, Unit};

/// Most flows drawn of each run.
const MAX_FLOWS: usize = 4;

/// Points over which a rate is taken: a hundredth of a full series.
const RATE_SPAN: usize = 4;

/// A panel in its own units, fine enough for whole numbers.
const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 330.0;

/// Whose line it is.
#[derive(Clone, Copy)]
enum Of {
    Flow(usize),
    Port,
    Offered,
}

/// One line of (time, value) points.
struct Line {
    of: Of,
    points: Vec<Option<(u64, f64)>>,
}

struct Quantity {
    name: &'static str,
    unit: Unit,
    lines: fn(&RunRecord, &Series) -> Vec<Line>,
}

const QUANTITIES: &[Quantity] = &[
    Quantity { name: "cwnd", unit: Unit::Bytes, lines: |_, series| flow_lines(series, |flow| &flow.window) },
    Quantity { name: "pacing rate", unit: Unit::Rate, lines: |_, series| flow_lines(series, |flow| &flow.pacing_bps) },
    Quantity { name: "sRTT", unit: Unit::Time, lines: |_, series| flow_lines(series, |flow| &flow.smoothed_rtt_ns) },
    Quantity { name: "queue", unit: Unit::Bytes, lines: |_, series| port_line(series, |port| &port.backlog) },
    Quantity { name: "phantom queue", unit: Unit::Bytes, lines: |_, series| port_line(series, |port| &port.phantom) },
    Quantity { name: "delivery rate", unit: Unit::Rate, lines: |_, series| rate_lines(series) },
    Quantity { name: "Jain's index", unit: Unit::Index, lines: |run, _| jain_line(run) },
];

/// The grid of panels of runs that kept their series, in this order; nothing if none did.
pub(super) fn small_multiples(runs: &[&RunRecord]) -> Option<String> {
    let runs: Vec<(&RunRecord, &Series)> = runs.iter().filter_map(|run| Some((*run, run.series.as_ref()?))).collect();
    if runs.is_empty() {
        return None;
    }
    let end = runs.iter().map(|(run, _)| run.ended_at_ns).max().unwrap_or(1).max(1);
    let mut html = format!("<div class=\"multiples\" style=\"--columns:{}\"><div></div>", runs.len());
    for (run, series) in &runs {
        let shown = series.flows.len().min(MAX_FLOWS);
        let all: u64 = run.classes.iter().map(|class| class.totals.flows).sum();
        let _ = write!(
            html,
            "<div class=\"head\">{}<small>seed {}, {shown} of {all} flows</small>{}</div>",
            escape(&run.identity.algorithm),
            run.identity.seed,
            whose(run, series)
        );
    }
    for quantity in QUANTITIES {
        let panels: Vec<Vec<Line>> = runs.iter().map(|(run, series)| (quantity.lines)(run, series)).collect();
        if panels.iter().flatten().any(|line| line.points.iter().any(Option::is_some)) {
            html.push_str(&row(quantity, &panels, end));
        }
    }
    let _ = write!(
        html,
        "<div></div>{}",
        format!("<div class=\"foot\"><span>0 s</span><span>{}</span></div>", tick_text(Unit::Time, end as f64))
            .repeat(runs.len())
    );
    html.push_str("</div>");
    Some(html)
}

/// Whose flows the colours are, where several classes meet in a run.
fn whose(run: &RunRecord, series: &Series) -> String {
    if run.classes.len() < 2 {
        return String::new();
    }
    let mut html = String::from("<small>");
    for (index, flow) in series.flows.iter().take(MAX_FLOWS).enumerate() {
        let label = run.classes.get(flow.class).map_or_else(String::new, |class| {
            let own = class.contestant == run.identity.algorithm;
            if own { class.group.clone() } else { class.contestant.clone() }
        });
        let _ = write!(
            html,
            "<svg class=\"dot {}\" viewBox=\"0 0 8 8\" aria-hidden=\"true\"><circle cx=\"4\" cy=\"4\" r=\"4\"/></svg>{} ",
            colour(index),
            escape(&label)
        );
    }
    html.push_str("</small>");
    html
}

fn row(quantity: &Quantity, panels: &[Vec<Line>], end: u64) -> String {
    let values = panels.iter().flatten().flat_map(|line| line.points.iter().flatten()).map(|point| point.1);
    let y = if quantity.unit == Unit::Index { Scale::linear(0.0, PPM as f64 * 1.05) } else { Scale::from_zero(values) };
    let ticks: Vec<f64> = y.ticks(3).into_iter().filter(|&tick| tick > 0.0).collect();
    let mut html = format!("<div class=\"side\">{}</div>", escape(quantity.name));
    for (index, panel) in panels.iter().enumerate() {
        html.push_str("<div class=\"panel\">");
        html.push_str(&draw(quantity, panel, &ticks, y, end));
        for tick in ticks.iter().filter(|_| index == 0) {
            let (top, text) = (100.0 * (1.0 - y.at(*tick)), tick_text(quantity.unit, *tick));
            let _ = write!(html, "<span style=\"top:{top:.1}%\">{}</span>", escape(&text));
        }
        html.push_str("</div>");
    }
    html
}

fn draw(quantity: &Quantity, panel: &[Line], ticks: &[f64], y: Scale, end: u64) -> String {
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{} over time\">",
        escape(quantity.name)
    );
    for tick in ticks {
        let _ = write!(svg, "<path class=\"grid\" d=\"M0 {:.0}h{WIDTH}\"/>", HEIGHT * (1.0 - y.at(*tick)));
    }
    for line in panel {
        let at = |(nanos, value): (u64, f64)| (nanos as f64 / end as f64 * WIDTH, HEIGHT * (1.0 - y.at(value)));
        let class = match line.of {
            Of::Flow(index) => colour(index),
            Of::Port => "port".to_owned(),
            Of::Offered => "offered".to_owned(),
        };
        let _ =
            write!(svg, "<path class=\"line {class}\" d=\"{}\"/>", path(line.points.iter().map(|point| point.map(at))));
    }
    svg.push_str("</svg>");
    svg
}

fn flow_lines(series: &Series, column: fn(&FlowSeries) -> &Vec<Option<u64>>) -> Vec<Line> {
    let flows = series.flows.iter().take(MAX_FLOWS).enumerate();
    flows
        .map(|(index, flow)| Line {
            of: Of::Flow(index),
            points: series.at_ns.iter().zip(column(flow)).map(|(at, value)| Some((*at, (*value)? as f64))).collect(),
        })
        .collect()
}

fn port_line(series: &Series, of: fn(&PortSeries) -> &Vec<u64>) -> Vec<Line> {
    let line = series.port.as_ref().map(|port| Line {
        of: Of::Port,
        points: series.at_ns.iter().zip(of(port)).map(|(at, bytes)| Some((*at, *bytes as f64))).collect(),
    });
    line.into_iter().collect()
}

/// What the link offered, behind what each flow got.
fn rate_lines(series: &Series) -> Vec<Line> {
    let offered = series.port.as_ref().map(|port| {
        let counter: Vec<Option<u64>> = port.offered.iter().copied().map(Some).collect();
        Line { of: Of::Offered, points: rates(&series.at_ns, &counter) }
    });
    let flows = series.flows.iter().take(MAX_FLOWS).enumerate();
    let flows = flows.map(|(index, flow)| Line { of: Of::Flow(index), points: rates(&series.at_ns, &flow.delivered) });
    offered.into_iter().chain(flows).collect()
}

/// Bits per second between counters a few points apart.
pub(crate) fn rates(at_ns: &[u64], counter: &[Option<u64>]) -> Vec<Option<(u64, f64)>> {
    let spans = (RATE_SPAN..at_ns.len()).step_by(RATE_SPAN);
    let rate = |end: usize| {
        let start = end - RATE_SPAN;
        let bytes = (*counter.get(end)?)?.saturating_sub((*counter.get(start)?)?);
        let nanos = at_ns[end].saturating_sub(at_ns[start]).max(1);
        Some((at_ns[end], bytes as f64 * 8e9 / nanos as f64))
    };
    spans.map(rate).collect()
}

fn jain_line(run: &RunRecord) -> Vec<Line> {
    let mut points = Vec::new();
    let mut last = 0;
    for window in &run.fairness.windows {
        // Windows in which fewer than two flows were active are missing.
        if window.until_ns > last + 2 * run.fairness.window_ns {
            points.push(None);
        }
        points.push(Some((window.until_ns, window.jain_ppm as f64)));
        last = window.until_ns;
    }
    vec![Line { of: Of::Port, points }]
}
