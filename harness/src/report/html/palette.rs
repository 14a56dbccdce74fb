//! Colours and markers that stay apart for colour-blind readers and in print.
//!
//! The colours are those of Okabe and Ito (2008), brightened for dark backgrounds in `style.css`; each comes with a marker and a dash pattern of its own.

/// How many series can be told apart.
pub(super) const COLOURS: usize = 8;

const DASHES: [&str; COLOURS] = ["", "7 3", "2 2", "9 3 2 3", "5 2", "1 3", "12 4", "6 2 1 2 1 2"];

/// Class of the colour of series `index`.
pub(super) fn colour(index: usize) -> String {
    format!("c{}", index % COLOURS)
}

/// Dash pattern of series `index`.
pub(super) fn dash(index: usize) -> &'static str {
    DASHES[index % COLOURS]
}

/// Marker of series `index` around a point, in the current fill and stroke.
pub(super) fn marker(index: usize, x: f64, y: f64) -> String {
    let polygon = |corners: &[(f64, f64)]| {
        let points: Vec<String> = corners.iter().map(|(dx, dy)| format!("{:.1},{:.1}", x + dx, y + dy)).collect();
        format!("<polygon points=\"{}\"/>", points.join(" "))
    };
    let cross = |(ax, ay): (f64, f64), (bx, by): (f64, f64)| {
        let (x1, y1, x2, y2) = (x - ax, y - ay, x + ax, y + ay);
        let (x3, y3, x4, y4) = (x - bx, y - by, x + bx, y + by);
        format!("<path class=\"stroke\" d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}M{x3:.1} {y3:.1}L{x4:.1} {y4:.1}\"/>")
    };
    match index % COLOURS {
        0 => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\"/>"),
        1 => polygon(&[(-4.6, -4.6), (4.6, -4.6), (4.6, 4.6), (-4.6, 4.6)]),
        2 => polygon(&[(0.0, -6.0), (5.6, 4.4), (-5.6, 4.4)]),
        3 => polygon(&[(0.0, -6.4), (6.4, 0.0), (0.0, 6.4), (-6.4, 0.0)]),
        4 => polygon(&[(0.0, 6.0), (5.6, -4.4), (-5.6, -4.4)]),
        5 => cross((6.0, 0.0), (0.0, 6.0)),
        6 => cross((4.6, 4.6), (4.6, -4.6)),
        _ => polygon(&[(-6.0, 0.0), (-3.0, -5.2), (3.0, -5.2), (6.0, 0.0), (3.0, 5.2), (-3.0, 5.2)]),
    }
}
