//! The plot of a finding: what the link offers and what is delivered, and the round-trip time, over time.

use std::fmt::Write as _;

use sim::SimTime;
use sim::link::impair::JitterSchedule;

use crate::measure::{FlowSeries, RunRecord, Series, Unit};
use crate::report::html::escape;
use crate::report::html::figure::{Axis, Frame, Scale, path};
use crate::report::html::series::rates;
use crate::scenario::{Scenario, Topology};

/// Both panels and the legend, in pixels.
const WIDTH: f64 = 640.0;
const PANEL: f64 = 260.0;
const LEGEND: f64 = 28.0;

/// Colours of Okabe and Ito (2008), as on the page of results: the algorithm's flows, then the baseline's.
const STYLE: &str = "svg{background:#fff}text{fill:#5c6670;font:12px system-ui,sans-serif}.tx{text-anchor:middle}\
.ty{text-anchor:end}.name{fill:#1b1f24}.grid{stroke:#d5dae0;fill:none}.axis{stroke:#5c6670;fill:none}\
.line{fill:none;stroke-width:1.8;stroke-linejoin:round}.net{stroke:#8a939c;stroke-dasharray:5 4}\
.s0{stroke:#0072b2}.s1{stroke:#56b4e9}.b0{stroke:#d55e00}.b1{stroke:#e69f00}";

/// One line: its class in the style, its name, and its points.
struct Line {
    class: String,
    name: String,
    points: Vec<Option<(u64, f64)>>,
}

/// The plot of both runs on a network; the records must have kept their series.
pub fn to_svg(scenario: &Scenario, subject: &RunRecord, baseline: Option<&RunRecord>) -> String {
    let runs: Vec<(&str, &RunRecord, &Series)> = [("s", Some(subject)), ("b", baseline)]
        .into_iter()
        .filter_map(|(class, run)| Some((class, run?, run?.series.as_ref()?)))
        .collect();
    let height = LEGEND + 2.0 * PANEL;
    let title = escape(&scenario.description);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{title}\">\
         <title>{title}</title><style>{STYLE}</style>"
    );
    let (rates, delays) = (rate_lines(&runs), delay_lines(scenario, &runs));
    svg.push_str(&legend(&rates));
    let panels = [("throughput", Unit::Rate, rates), ("round-trip time", Unit::Time, delays)];
    for (index, (name, unit, lines)) in panels.into_iter().enumerate() {
        let panel = panel(name, unit, &lines, scenario.duration.as_nanos());
        let _ = write!(svg, "<g transform=\"translate(0 {})\">{panel}</g>", LEGEND + index as f64 * PANEL);
    }
    svg.push_str("</svg>\n");
    svg
}

fn panel(name: &str, unit: Unit, lines: &[Line], end: u64) -> String {
    let frame = Frame::new(WIDTH, PANEL);
    let values = lines.iter().flat_map(|line| line.points.iter().flatten()).map(|point| point.1);
    let (x, y) = (Scale::linear(0.0, end as f64), Scale::from_zero(values));
    let mut body = String::new();
    for line in lines {
        let at = |(nanos, value): (u64, f64)| (frame.x(x.at(nanos as f64)), frame.y(y.at(value)));
        let points = line.points.iter().map(|point| point.map(at));
        let _ = write!(body, "<path class=\"line {}\" d=\"{}\"/>", line.class, path(points));
    }
    frame.inside(&Axis::of("time", x, Unit::Time), &Axis::of(name, y, unit), &body)
}

fn legend(lines: &[Line]) -> String {
    let mut svg = String::new();
    for (index, line) in lines.iter().enumerate() {
        let left = 74.0 + index as f64 * (WIDTH - 80.0) / lines.len() as f64;
        let _ = write!(
            svg,
            "<path class=\"line {}\" d=\"M{left:.0} 16h22\"/><text x=\"{:.0}\" y=\"20\">{}</text>",
            line.class,
            left + 28.0,
            escape(&line.name)
        );
    }
    svg
}

/// What the link could carry, and what each flow delivered.
fn rate_lines(runs: &[(&str, &RunRecord, &Series)]) -> Vec<Line> {
    let link = runs.first().and_then(|(_, _, series)| {
        let offered: Vec<Option<u64>> = series.port.as_ref()?.offered.iter().copied().map(Some).collect();
        Some(Line { class: "net".into(), name: "link".into(), points: rates(&series.at_ns, &offered) })
    });
    let flows = flow_lines(runs, |series, flow| rates(&series.at_ns, &flow.delivered));
    link.into_iter().chain(flows).collect()
}

/// Propagation with the jitter of the shared link, and what each flow measured.
fn delay_lines(scenario: &Scenario, runs: &[(&str, &RunRecord, &Series)]) -> Vec<Line> {
    let flows = flow_lines(runs, |series, flow| {
        let values = series.at_ns.iter().zip(&flow.smoothed_rtt_ns);
        values.map(|(at, rtt)| Some((*at, (*rtt)? as f64))).collect()
    });
    let network = runs.first().map(|(_, _, series)| Line {
        class: "net".into(),
        name: "propagation and jitter".into(),
        points: series.at_ns.iter().map(|&at| Some((at, network_delay(scenario, at)))).collect(),
    });
    network.into_iter().chain(flows).collect()
}

fn network_delay(scenario: &Scenario, at_ns: u64) -> f64 {
    let none = JitterSchedule::default();
    let (rtt, jitter) = match &scenario.topology {
        Topology::Dumbbell(dumbbell) => {
            let jitter = dumbbell.pair_jitter.first().unwrap_or(&dumbbell.bottleneck.impairments.jitter_schedule);
            (dumbbell.rtt, jitter)
        }
        _ => (cc_algos::Span::ZERO, &none),
    };
    let at = SimTime::ZERO + cc_algos::Span::from_nanos(at_ns);
    (rtt + jitter.delay_at(at)).as_nanos() as f64
}

fn flow_lines(
    runs: &[(&str, &RunRecord, &Series)],
    points: impl Fn(&Series, &FlowSeries) -> Vec<Option<(u64, f64)>>,
) -> Vec<Line> {
    let mut lines = Vec::new();
    for (class, run, series) in runs {
        // Cross traffic stands in other classes than the first.
        let flows: Vec<_> = series.flows.iter().filter(|flow| flow.class == 0).collect();
        for (index, flow) in flows.iter().enumerate() {
            let number = if flows.len() > 1 { format!(" {}", index + 1) } else { String::new() };
            lines.push(Line {
                class: format!("{class}{}", index % 2),
                name: format!("{}{number}", run.identity.algorithm),
                points: points(series, flow),
            });
        }
    }
    lines
}
