//! Frames, scales and axes of a plot.

use std::fmt::Write as _;

use super::escape;
use crate::measure::Unit;

/// Axis from values to a share of its length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    min: f64,
    max: f64,
    log: bool,
}

/// Values that span more than this factor go on a logarithmic axis.
const LOG_FROM: f64 = 20.0;

impl Scale {
    /// An axis that shows all of `values`: logarithmic where they are positive and far apart, else linear.
    pub(super) fn fit(values: &[f64]) -> Self {
        let min = values.iter().copied().fold(f64::INFINITY, f64::min);
        let max = values.iter().copied().fold(0.0, f64::max);
        if !min.is_finite() || max <= 0.0 {
            return Self { min: 0.0, max: 1.0, log: false };
        }
        if min > 0.0 && max / min > LOG_FROM {
            return Self { min: min * 0.85, max: max * 1.15, log: true };
        }
        let room = (max - min).max(max * 0.05) * 0.12;
        Self { min: (min - room).max(0.0), max: max + room, log: false }
    }

    /// A linear axis from zero to a little over the largest value.
    pub(crate) fn from_zero(values: impl IntoIterator<Item = f64>) -> Self {
        let max = values.into_iter().fold(0.0, f64::max);
        Self { min: 0.0, max: if max > 0.0 { max * 1.05 } else { 1.0 }, log: false }
    }

    /// A linear axis with these ends.
    pub(crate) const fn linear(min: f64, max: f64) -> Self {
        Self { min, max, log: false }
    }

    /// Where `value` lies, from 0 to 1 within the axis.
    pub(crate) fn at(self, value: f64) -> f64 {
        if self.log {
            let low = libm::log(self.min);
            (libm::log(value.max(self.min)) - low) / (libm::log(self.max) - low)
        } else {
            (value - self.min) / (self.max - self.min)
        }
    }

    /// Round values to write at the axis, about `count` of them.
    pub(super) fn ticks(self, count: usize) -> Vec<f64> {
        if self.log { self.log_ticks() } else { self.linear_ticks(count) }
    }

    fn linear_ticks(self, count: usize) -> Vec<f64> {
        let rough = (self.max - self.min) / count.max(1) as f64;
        let decade = libm::pow(10.0, libm::floor(libm::log10(rough)));
        let step = [1.0, 2.0, 5.0].map(|step| step * decade).into_iter().find(|&step| step >= rough);
        let step = step.unwrap_or(10.0 * decade);
        let first = libm::ceil(self.min / step);
        (0..=2 * count.max(1)).map(|index| (first + index as f64) * step).take_while(|&tick| tick <= self.max).collect()
    }

    fn log_ticks(self) -> Vec<f64> {
        let decades = libm::log10(self.max / self.min);
        let steps: &[f64] = if decades < 2.5 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let mut decade = libm::pow(10.0, libm::floor(libm::log10(self.min)));
        let mut ticks = Vec::new();
        while decade <= self.max {
            ticks.extend(steps.iter().map(|step| step * decade).filter(|&tick| tick >= self.min && tick <= self.max));
            decade *= 10.0;
        }
        ticks
    }
}

/// A tick's value for people, without needless zeros.
pub(super) fn tick_text(unit: Unit, raw: f64) -> String {
    let text = unit.human(raw);
    let (number, suffix) = text.split_once(' ').map_or((&*text, ""), |(number, suffix)| (number, suffix));
    let number = if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    if suffix.is_empty() { number.to_owned() } else { format!("{number} {suffix}") }
}

/// A plot's frame, in its own pixels.
pub(crate) struct Frame {
    width: f64,
    height: f64,
    left: f64,
    bottom: f64,
}

const TOP: f64 = 12.0;
const RIGHT: f64 = 30.0;

impl Frame {
    /// The size of the plots beside each other in a section.
    pub(super) const PLOT: Self = Self { width: 520.0, height: 330.0, left: 74.0, bottom: 48.0 };

    /// A frame of its own size.
    pub(crate) const fn new(width: f64, height: f64) -> Self {
        Self { width, height, ..Self::PLOT }
    }

    /// Horizontal position of a share of the axis.
    pub(crate) fn x(&self, share: f64) -> f64 {
        self.left + share * (self.width - self.left - RIGHT)
    }

    /// Vertical position of a share of the axis, which points up.
    pub(crate) fn y(&self, share: f64) -> f64 {
        self.height - self.bottom - share * (self.height - self.bottom - TOP)
    }

    /// The lower left corner outside the axes.
    pub(super) fn corner(&self) -> (f64, f64) {
        (8.0, self.height - 40.0)
    }

    /// The whole picture: axes with (share, text) ticks and names around what `body` draws.
    pub(super) fn draw(&self, x: &Axis, y: &Axis, title: &str, body: &str) -> String {
        format!(
            "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\" class=\"plot\">{}</svg>",
            self.width,
            self.height,
            escape(title),
            self.inside(x, y, body)
        )
    }

    /// What [`Frame::draw`] draws, to stand in a larger picture.
    pub(crate) fn inside(&self, x: &Axis, y: &Axis, body: &str) -> String {
        let mut svg = String::new();
        let (left, right, bottom, top) = (self.x(0.0), self.x(1.0), self.y(0.0), self.y(1.0));
        for (share, text) in &y.ticks {
            let at = self.y(*share);
            let _ = write!(svg, "<path class=\"grid\" d=\"M{left:.1} {at:.1}H{right:.1}\"/>");
            let _ =
                write!(svg, "<text x=\"{:.1}\" y=\"{:.1}\" class=\"ty\">{}</text>", left - 6.0, at + 4.0, escape(text));
        }
        for (share, text) in &x.ticks {
            let at = self.x(*share);
            let _ = write!(svg, "<path class=\"grid\" d=\"M{at:.1} {bottom:.1}V{top:.1}\"/>");
            let _ = write!(svg, "<text x=\"{at:.1}\" y=\"{:.1}\" class=\"tx\">{}</text>", bottom + 16.0, escape(text));
        }
        let _ = write!(svg, "<path class=\"axis\" d=\"M{left:.1} {top:.1}V{bottom:.1}H{right:.1}\"/>{body}");
        let middle = f64::midpoint(left, right);
        let _ = write!(
            svg,
            "<text x=\"{middle:.1}\" y=\"{:.1}\" class=\"tx name\">{}</text>",
            self.height - 8.0,
            escape(&x.name)
        );
        let middle = f64::midpoint(top, bottom);
        let _ = write!(
            svg,
            "<text transform=\"translate(14 {middle:.1}) rotate(-90)\" class=\"tx name\">{}</text>",
            escape(&y.name)
        );
        svg
    }
}

/// An axis: its name, and where which texts stand.
pub(crate) struct Axis {
    pub(super) name: String,
    pub(super) ticks: Vec<(f64, String)>,
}

impl Axis {
    /// The axis of a scale of values in `unit`.
    pub(crate) fn of(name: impl Into<String>, scale: Scale, unit: Unit) -> Self {
        let ticks = scale.ticks(5).into_iter().map(|tick| (scale.at(tick), tick_text(unit, tick))).collect();
        Self { name: name.into(), ticks }
    }
}

/// A path through points in whole units, as short as it can be written; `None` breaks it, and a point alone becomes a dot.
pub(crate) fn path(points: impl IntoIterator<Item = Option<(f64, f64)>>) -> String {
    let mut pen = Pen::default();
    for point in points {
        match point {
            Some((x, y)) => pen.line_to(libm::round(x) as i64, libm::round(y) as i64),
            None => pen.lift(),
        }
    }
    pen.lift();
    pen.path
}

#[derive(Default)]
struct Pen {
    path: String,
    at: Option<(i64, i64)>,
    /// A horizontal stretch not yet written.
    run: i64,
    /// Whether anything but a starting point is in the current stretch.
    drawn: bool,
}

impl Pen {
    fn line_to(&mut self, x: i64, y: i64) {
        // Writing to a string cannot fail.
        match self.at {
            None => {
                let _ = write!(self.path, "M{x} {y}");
                self.drawn = false;
            }
            Some((before, level)) if level == y => self.run += x - before,
            Some((before, level)) => {
                self.flush();
                let separator = if y < level { "" } else { " " };
                let _ = write!(self.path, "l{}{separator}{}", x - before, y - level);
                self.drawn = true;
            }
        }
        self.at = Some((x, y));
    }

    fn flush(&mut self) {
        if self.run != 0 {
            let _ = write!(self.path, "h{}", self.run);
            self.run = 0;
            self.drawn = true;
        }
    }

    fn lift(&mut self) {
        self.flush();
        if self.at.take().is_some() && !self.drawn {
            self.path.push_str("h0");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside_the_axis() {
        assert_eq!(Scale::linear(0.0, 10.0).ticks(5), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        let log = Scale::fit(&[1.0, 900.0]);
        assert_eq!(log.ticks(5), [1.0, 10.0, 100.0, 1_000.0]);
        assert!(Scale::fit(&[3.0, 100.0]).ticks(5).contains(&20.0));
        for scale in [Scale::fit(&[]), Scale::fit(&[0.0]), Scale::fit(&[5.0, 5.0]), Scale::from_zero([1e12])] {
            let ticks = scale.ticks(5);
            assert!(ticks.len() >= 2 && ticks.iter().all(|&tick| (0.0..=1.0).contains(&scale.at(tick))), "{scale:?}");
        }
    }

    #[test]
    fn paths_are_short_and_break_where_there_is_nothing() {
        let points = [
            Some((0.0, 5.0)),
            Some((1.0, 5.0)),
            Some((2.0, 5.0)),
            Some((3.0, 9.0)),
            None,
            Some((5.0, 1.0)),
            Some((6.0, 0.0)),
        ];
        assert_eq!(path(points), "M0 5h2l1 4M5 1l1-1");
        assert_eq!(path([Some((3.0, 4.0)), None, None, Some((5.0, 1.0))]), "M3 4h0M5 1h0", "points alone are dots");
    }

    #[test]
    fn tick_texts_have_no_needless_zeros() {
        assert_eq!(tick_text(Unit::Time, 20e6), "20 ms");
        assert_eq!(tick_text(Unit::Factor, 2_500.0), "2.5");
        assert_eq!(tick_text(Unit::Factor, 100_000.0), "100");
    }
}
