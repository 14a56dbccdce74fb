//! Colours and markers that stay apart for colour-blind readers and in print.
//!
//! The colours are those of Okabe and Ito (2008), brightened for dark backgrounds in `style.css`; each comes with a marker
//! and a dash pattern of its own.

/// How many series can be told apart.
pub(super) const COLOURS: usize = 8;

const DASHES: [&str; COLOURS] = ["", "7 5", "1 4", "9 5 1 5", "4 4", "1 7", "13 6", "6 4 1 4 1 4"];

/// Class of the colour of series `index`.
pub(super) fn colour(index: usize) -> String {
    format!("c{}", index % COLOURS)
}

/// Dash pattern of series `index`.
pub(super) fn dash(index: usize) -> &'static str {
    DASHES[index % COLOURS]
}

/// Width of the line of series `index`: later ones are drawn over earlier ones, which then still show on both sides.
pub(super) fn line_width(index: usize) -> f64 {
    (3.0 - 0.5 * (index % COLOURS) as f64).max(1.3)
}

/// Marker of series `index` around a point, in the current fill and stroke.
pub(super) fn marker(index: usize, x: f64, y: f64) -> String {
    // Earlier ones larger, for the same reason.
    let size = 1.2 - 0.07 * (index % COLOURS) as f64;
    let polygon = |corners: &[(f64, f64)]| {
        let points: Vec<String> =
            corners.iter().map(|(dx, dy)| format!("{:.1},{:.1}", x + size * dx, y + size * dy)).collect();
        format!("<polygon points=\"{}\"/>", points.join(" "))
    };
    let cross = |(ax, ay): (f64, f64), (bx, by): (f64, f64)| {
        let (ax, ay, bx, by) = (size * ax, size * ay, size * bx, size * by);
        let (x1, y1, x2, y2) = (x - ax, y - ay, x + ax, y + ay);
        let (x3, y3, x4, y4) = (x - bx, y - by, x + bx, y + by);
        format!("<path class=\"stroke\" d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}M{x3:.1} {y3:.1}L{x4:.1} {y4:.1}\"/>")
    };
    match index % COLOURS {
        0 => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{:.1}\"/>", 5.0 * size),
        1 => polygon(&[(-4.6, -4.6), (4.6, -4.6), (4.6, 4.6), (-4.6, 4.6)]),
        2 => polygon(&[(0.0, -6.0), (5.6, 4.4), (-5.6, 4.4)]),
        3 => polygon(&[(0.0, -6.4), (6.4, 0.0), (0.0, 6.4), (-6.4, 0.0)]),
        4 => polygon(&[(0.0, 6.0), (5.6, -4.4), (-5.6, -4.4)]),
        5 => cross((6.0, 0.0), (0.0, 6.0)),
        6 => cross((4.6, 4.6), (4.6, -4.6)),
        _ => polygon(&[(-6.0, 0.0), (-3.0, -5.2), (3.0, -5.2), (6.0, 0.0), (3.0, 5.2), (-3.0, 5.2)]),
    }
}
