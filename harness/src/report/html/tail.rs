//! The tail of a distribution: value at each percentile, on an axis that gives every further nine the same room.

use std::fmt::Write as _;

use super::figure::{Axis, Frame, Scale, path};
use super::palette::{colour, dash, line_width, marker};
use crate::measure::{Distribution, Percentile, Reading, Row, Unit};

/// Steps of the percentile axis per nine.
const STEPS_PER_NINE: u32 = 24;

/// The last percentile shown.
const NINES: f64 = 4.0;

/// What a tail plot shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    Slowdown,
    Queueing,
}

impl Shown {
    /// Slowdown where any row has a p99 of it, else queueing delay; nothing where neither has.
    pub(super) fn choose(rows: &[(usize, &Row)]) -> Option<Self> {
        let any = |shown: Self| rows.iter().any(|(_, row)| shown.of(row).percentile(Percentile::P99).is_some());
        [Self::Slowdown, Self::Queueing].into_iter().find(|&shown| any(shown))
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Slowdown => "FCT slowdown",
            Self::Queueing => "queueing delay",
        }
    }

    const fn unit(self) -> Unit {
        match self {
            Self::Slowdown => Unit::Factor,
            Self::Queueing => Unit::Time,
        }
    }

    const fn of(self, row: &Row) -> &Distribution {
        match self {
            Self::Slowdown => &row.slowdown_milli,
            Self::Queueing => &row.queueing_ns,
        }
    }
}

/// The plot of rows with their series numbers.
pub(super) fn tail(rows: &[(usize, &Row)], shown: Shown) -> String {
    let curves: Vec<Curve> = rows.iter().map(|&(series, row)| Curve::of(series, row, shown)).collect();
    let values: Vec<f64> =
        curves.iter().flat_map(|curve| &curve.points).map(|(_, reading)| reading.raw() as f64).collect();
    let frame = Frame::PLOT;
    let x = Scale::linear(nines(Percentile::P50), NINES);
    let y = Scale::fit(&values);
    let mut body = String::new();
    for curve in &curves {
        body.push_str(&curve.draw(&frame, x, y));
    }
    let ticks = [("50 %", Percentile::P50), ("90 %", Percentile::P90), ("99 %", Percentile::P99)]
        .into_iter()
        .chain([("99.9 %", Percentile::P99_9), ("99.99 %", Percentile::P99_99)])
        .map(|(text, percentile)| (x.at(nines(percentile)), text.to_owned()));
    let x = Axis { name: "percentile".into(), ticks: ticks.collect() };
    frame.draw(&x, &Axis::of(shown.name(), y, shown.unit()), &format!("Tail of the {}", shown.name()), &body)
}

struct Curve {
    series: usize,
    rival: bool,
    /// (nines, value), from the median to the last percentile that has samples enough.
    points: Vec<(f64, Reading)>,
}

impl Curve {
    fn of(series: usize, row: &Row, shown: Shown) -> Self {
        Self { series, rival: row.key.is_rival(), points: points(shown.of(row)) }
    }

    fn draw(&self, frame: &Frame, x: Scale, y: Scale) -> String {
        let at = |(nines, reading): &(f64, Reading)| (frame.x(x.at(*nines)), frame.y(y.at(reading.raw() as f64)));
        let known = self.points.iter().take_while(|(_, reading)| !reading.is_bound()).count();
        let (exact, bounds) = self.points.split_at(known);
        let rival = if self.rival { " rival" } else { "" };
        let (colour, dash, width) = (colour(self.series), dash(self.series), line_width(self.series));
        let line = path(exact.iter().map(|point| Some(at(point))));
        let mut svg = format!(
            "<g class=\"{colour}{rival}\"><path class=\"line\" stroke-width=\"{width:.1}\" stroke-dasharray=\"{dash}\" d=\"{line}\"/>"
        );
        if !bounds.is_empty() {
            let line = path(exact.last().into_iter().chain(bounds).map(|point| Some(at(point))));
            let _ = write!(svg, "<path class=\"line bound\" d=\"{line}\"/>");
        }
        // A marker at every nine, for eyes and printers that do not tell the colours apart.
        for whole in 1..=NINES as u32 {
            let nearest = exact.iter().find(|(nines, _)| (nines - f64::from(whole)).abs() < 1e-3);
            svg.extend(nearest.map(|point| marker(self.series, at(point).0, at(point).1)));
        }
        svg.push_str("</g>");
        svg
    }
}

fn points(values: &Distribution) -> Vec<(f64, Reading)> {
    let first = libm::floor(nines(Percentile::P50) * f64::from(STEPS_PER_NINE)) as u32;
    let mut points = Vec::new();
    for step in first..=(NINES as u32 * STEPS_PER_NINE) {
        let share = 1.0 - libm::pow(10.0, -f64::from(step) / f64::from(STEPS_PER_NINE));
        let percentile = Percentile::from_milli_percent(libm::round(share * 100_000.0) as u32);
        let Some(percentile) = percentile.map(|percentile| percentile.max(Percentile::P50)) else { break };
        match values.percentile(percentile) {
            Some(reading) => points.push((nines(percentile), reading)),
            None => break,
        }
    }
    points
}

/// −log₁₀(1 − q): 1 for 90 %, 2 for 99 %.
fn nines(percentile: Percentile) -> f64 {
    -libm::log10(1.0 - percentile.as_percent() / 100.0)
}
