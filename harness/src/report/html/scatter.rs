//! Delay against throughput: one point per algorithm, better up and to the left.

use std::fmt::Write as _;

use super::escape;
use super::figure::{Axis, Frame, Scale};
use super::palette::{colour, marker};
use crate::measure::{Estimate, Row, Unit};

struct Point<'a> {
    row: &'a Row,
    series: usize,
    tail: Estimate,
    median: Option<Estimate>,
    goodput: Estimate,
}

/// The plot of rows with their series numbers; `None` where no row has both a delay and a goodput.
pub(super) fn scatter(rows: &[(usize, &Row)]) -> Option<String> {
    let points: Vec<Point<'_>> = rows
        .iter()
        .filter_map(|&(series, row)| {
            Some(Point {
                row,
                series,
                tail: row.estimate("queueing_p99")?,
                median: row.estimate("queueing_p50"),
                goodput: row.estimate("goodput")?,
            })
        })
        .collect();
    if points.is_empty() {
        return None;
    }
    let medians = points.iter().filter_map(|point| point.median).map(|median| median.reading.raw() as f64);
    let x = Scale::fit(&points.iter().flat_map(|point| ends(&point.tail)).chain(medians).collect::<Vec<_>>());
    let y = Scale::fit(&points.iter().flat_map(|point| ends(&point.goodput)).collect::<Vec<_>>());
    let frame = Frame::PLOT;
    let mut body = better_arrow(&frame);
    for point in &points {
        body.push_str(&draw(point, &frame, x, y));
    }
    let x = Axis::of("queueing delay: p99 with 95 % interval, tick at the median", x, Unit::Time);
    let y = Axis::of("goodput", y, Unit::Rate);
    Some(frame.draw(&x, &y, "Goodput against queueing delay; up and to the left is better", &body))
}

fn ends(estimate: &Estimate) -> Vec<f64> {
    let mut ends = vec![estimate.reading.raw() as f64];
    if let Some(interval) = estimate.interval {
        ends.extend([interval.low.raw() as f64, interval.high.raw() as f64]);
    }
    ends
}

fn draw(point: &Point<'_>, frame: &Frame, x: Scale, y: Scale) -> String {
    let at_x = |raw: u64| frame.x(x.at(raw as f64));
    let at_y = |raw: u64| frame.y(y.at(raw as f64));
    let (cx, cy) = (at_x(point.tail.reading.raw()), at_y(point.goodput.reading.raw()));
    let rival = if point.row.key.is_rival() { " rival" } else { "" };
    let mut group = format!("<g class=\"{}{rival}\"><title>{}</title>", colour(point.series), escape(&tooltip(point)));
    if let Some(interval) = point.tail.interval {
        let (low, high) = (at_x(interval.low.raw()), at_x(interval.high.raw()));
        let _ = write!(group, "<path class=\"bar\" d=\"M{low:.1} {cy:.1}H{high:.1}\"/>");
    }
    if let Some(interval) = point.goodput.interval {
        let (low, high) = (at_y(interval.low.raw()), at_y(interval.high.raw()));
        let _ = write!(group, "<path class=\"bar\" d=\"M{cx:.1} {low:.1}V{high:.1}\"/>");
    }
    if let Some(median) = point.median {
        let mx = at_x(median.reading.raw());
        let (above, below) = (cy - 4.0, cy + 4.0);
        let _ = write!(group, "<path class=\"thin\" d=\"M{mx:.1} {cy:.1}H{cx:.1}M{mx:.1} {above:.1}V{below:.1}\"/>");
    }
    group.push_str(&marker(point.series, cx, cy));
    group.push_str("</g>");
    group
}

fn tooltip(point: &Point<'_>) -> String {
    let key = &point.row.key;
    format!(
        "{}, {}: queueing p99 {}, goodput {}",
        key.contestant,
        key.group,
        Unit::Time.human(point.tail.reading.raw() as f64),
        Unit::Rate.human(point.goodput.reading.raw() as f64)
    )
}

/// An arrow towards the corner that everyone wants to be in.
fn better_arrow(frame: &Frame) -> String {
    let (x, y) = frame.corner();
    format!(
        "<g class=\"hint\"><path d=\"M{:.1} {:.1}L{x:.1} {y:.1}m0 8v-8h8\"/><text x=\"{:.1}\" y=\"{:.1}\">better</text></g>",
        x + 22.0,
        y + 22.0,
        x + 26.0,
        y + 30.0
    )
}
