//! A picture of a trace: rate over time, as SVG.

use std::fmt::Write;

use crate::error::clip_to;
use crate::stats::{OUTAGE_NS, format_rate};
use crate::trace::Trace;

const LEFT: f64 = 64.0;
const RIGHT: f64 = 18.0;
const TOP: f64 = 42.0;
const BOTTOM: f64 = 46.0;
const INK: &str = "#1f2933";
const FAINT: &str = "#616e7c";
const GRID: &str = "#e4e7eb";
const LINE: &str = "#2166ac";
const OUTAGE: &str = "#d6604d";

/// How [`plot_svg`] draws.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlotOptions {
    /// The title; none is drawn when empty.
    pub title: String,
    /// Width in pixels, at least 200. Default 960.
    pub width: u32,
    /// Height in pixels, at least 150. Default 340.
    pub height: u32,
    /// The window in nanoseconds over which the rate is averaged. When `None`, a series of few segments is drawn as it
    /// is, anything else averaged over about two pixels, but at least 1 ms.
    pub window_ns: Option<u64>,
}

impl Default for PlotOptions {
    fn default() -> Self {
        Self { title: String::new(), width: 960, height: 340, window_ns: None }
    }
}

/// One axis: how values become pixels, and where the marks are.
#[derive(Debug)]
struct Axis {
    /// The value at the far end.
    end: f64,
    /// Pixels from the near to the far end.
    length: f64,
    ticks: Vec<f64>,
    decimals: usize,
}

impl Axis {
    /// Marks at 1, 2 or 5 times a power of ten, about `wanted` of them. The axis ends at `end`, or at the first mark at
    /// or above it when `rounded`.
    fn new(end: f64, length: f64, wanted: f64, rounded: bool) -> Self {
        let raw = end / wanted;
        let power = libm::pow(10.0, libm::floor(libm::log10(raw)));
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= raw * 0.999).unwrap_or(raw);
        let last = if rounded { libm::ceil(end / step - 1e-9) } else { libm::floor(end / step + 1e-9) };
        let ticks = (0..=last as u32).map(|k| f64::from(k) * step).collect();
        let decimals = libm::ceil(-libm::log10(step) - 1e-9).max(0.0) as usize;
        Self { end: if rounded { last * step } else { end }, length, ticks, decimals }
    }

    fn place(&self, value: f64) -> f64 {
        value / self.end * self.length
    }
}

/// What is drawn: start, end and rate of each step.
#[derive(Debug)]
struct Steps {
    rates: Vec<(u64, u64, u64)>,
    averaged_ns: Option<u64>,
}

impl Steps {
    fn of(trace: &Trace, window_ns: Option<u64>, automatic_ns: u64) -> Self {
        // More steps than pixels would only be a blot.
        const FEW: usize = 1000;
        if let (Trace::Rate(series), None) = (trace, window_ns)
            && series.segments().len() <= FEW
        {
            let rates = series.starts().map(|(start, s)| (start, start + s.duration_ns, s.bps)).collect();
            return Self { rates, averaged_ns: None };
        }
        let period = trace.period_ns();
        let window = window_ns.unwrap_or(automatic_ns).clamp((period / 20_000).max(1), period);
        let rates = (0_u64..).map(|k| k * window).zip(trace.window_rates(window));
        let rates = rates.map(|(start, bps)| (start, start + window, bps)).collect();
        Self { rates, averaged_ns: Some(window) }
    }
}

/// Draws one pass of the trace: the rate as a step line, its mean dashed, outages shaded.
///
/// The picture stands alone: a light background, no script, no font but the viewer's.
pub fn plot_svg(trace: &Trace, options: &PlotOptions) -> String {
    let (width, height) = (f64::from(options.width.max(200)), f64::from(options.height.max(150)));
    let (plot_width, plot_height) = (width - LEFT - RIGHT, height - TOP - BOTTOM);
    let period = trace.period_ns();
    let automatic = (period / (plot_width / 2.0) as u64).max(1_000_000);
    let steps = Steps::of(trace, options.window_ns, automatic);

    let top_bps = steps.rates.iter().map(|(_, _, bps)| *bps).max().unwrap_or(0);
    let (rate_scale, rate_unit) = rate_unit(top_bps);
    let (time_scale, time_unit) = time_unit(period);
    let highest = top_bps.max(1) as f64 / rate_scale;
    let x = Axis::new(period as f64 / time_scale, plot_width, (plot_width / 90.0).max(2.0), false);
    let y = Axis::new(highest, plot_height, (plot_height / 50.0).max(2.0), true);

    let mut svg = String::new();
    // Writing to a `String` cannot fail, here and below.
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"system-ui, sans-serif\" font-size=\"12\" role=\"img\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>"
    );
    heading(&mut svg, trace, (&options.title, steps.averaged_ns), width);
    let _ = writeln!(svg, "<g transform=\"translate({LEFT},{TOP})\">");
    axes(&mut svg, &x, &y, (time_unit, rate_unit));
    outages(&mut svg, trace, &x, time_scale, plot_height);
    curve(&mut svg, &steps, (time_scale, rate_scale), (&x, &y));
    let mean = plot_height - y.place(trace.mean_bps() as f64 / rate_scale);
    let _ = writeln!(
        svg,
        "<line x2=\"{plot_width:.1}\" y1=\"{mean:.1}\" y2=\"{mean:.1}\" stroke=\"{INK}\" stroke-dasharray=\"5 4\" \
         stroke-width=\"1\" opacity=\"0.7\"/>"
    );
    svg.push_str("</g>\n</svg>\n");
    svg
}

fn heading(svg: &mut String, trace: &Trace, (title, averaged_ns): (&str, Option<u64>), width: f64) {
    // A letter of the title takes some eight pixels; the caption on the right needs about 300.
    let room = ((width - LEFT - RIGHT - 300.0) / 8.0).max(10.0) as usize;
    let title = escape(&clip_to(title, room));
    if !title.is_empty() {
        let _ = writeln!(svg, "<title>{title}</title>");
        let _ = writeln!(
            svg,
            "<text x=\"{LEFT}\" y=\"24\" font-size=\"15\" font-weight=\"600\" fill=\"{INK}\">{title}</text>"
        );
    }
    let mean = format_rate(trace.mean_bps());
    let averaged = averaged_ns.map_or(String::new(), |ns| {
        let (scale, unit) = time_unit(ns);
        format!(", averaged over {:.0} {unit}", ns as f64 / scale)
    });
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"24\" text-anchor=\"end\" fill=\"{FAINT}\">mean {mean} (dashed){averaged}</text>",
        width - RIGHT
    );
}

fn axes(svg: &mut String, x: &Axis, y: &Axis, (time_unit, rate_unit): (&str, &str)) {
    let bottom = y.length;
    for tick in &y.ticks {
        let at = bottom - y.place(*tick);
        let _ = writeln!(
            svg,
            "<line x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"{GRID}\"/><text x=\"-8\" y=\"{:.1}\" \
             text-anchor=\"end\" fill=\"{FAINT}\">{tick:.*}</text>",
            x.length,
            at + 4.0,
            y.decimals
        );
    }
    for tick in &x.ticks {
        let at = x.place(*tick);
        let _ = writeln!(
            svg,
            "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{bottom:.1}\" y2=\"{:.1}\" stroke=\"{FAINT}\"/><text x=\"{at:.1}\" \
             y=\"{:.1}\" text-anchor=\"middle\" fill=\"{FAINT}\">{tick:.*}</text>",
            bottom + 5.0,
            bottom + 19.0,
            x.decimals
        );
    }
    let _ = writeln!(
        svg,
        "<line x2=\"{:.1}\" y1=\"{bottom:.1}\" y2=\"{bottom:.1}\" stroke=\"{FAINT}\"/>\n\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"{INK}\">time ({time_unit})</text>\n\
         <text transform=\"translate({:.1},{:.1}) rotate(-90)\" text-anchor=\"middle\" fill=\"{INK}\">rate \
         ({rate_unit})</text>",
        x.length,
        x.length / 2.0,
        bottom + 38.0,
        16.0 - LEFT,
        bottom / 2.0
    );
}

fn outages(svg: &mut String, trace: &Trace, x: &Axis, time_scale: f64, height: f64) {
    // Bands closer than half a pixel would be one anyway; joining them bounds the size of the picture.
    let mut bands: Vec<(f64, f64)> = Vec::new();
    for (start, end) in trace.silences().filter(|(start, end)| end - start >= OUTAGE_NS) {
        let (from, to) = (x.place(start as f64 / time_scale), x.place(end as f64 / time_scale));
        match bands.last_mut() {
            Some(last) if from - last.1 < 0.5 => last.1 = to,
            _ => bands.push((from, to)),
        }
    }
    for (from, to) in bands {
        let _ = writeln!(
            svg,
            "<rect x=\"{from:.1}\" width=\"{:.1}\" height=\"{height:.1}\" fill=\"{OUTAGE}\" opacity=\"0.18\"/>",
            (to - from).max(0.5)
        );
    }
}

fn curve(svg: &mut String, steps: &Steps, (time_scale, rate_scale): (f64, f64), (x, y): (&Axis, &Axis)) {
    let place = |ns: u64| x.place(ns as f64 / time_scale).min(x.length);
    let mut path = String::new();
    for (index, (from, to, bps)) in steps.rates.iter().enumerate() {
        let at = y.length - y.place(*bps as f64 / rate_scale);
        let command = if index == 0 { 'M' } else { 'L' };
        let _ = write!(path, "{command}{:.1} {at:.1}H{:.1}", place(*from), place(*to));
    }
    let end = steps.rates.last().map_or(0.0, |(_, to, _)| place(*to));
    let _ = writeln!(
        svg,
        "<path d=\"{path}L{end:.1} {0:.1}H0Z\" fill=\"{LINE}\" opacity=\"0.12\"/>\n\
         <path d=\"{path}\" fill=\"none\" stroke=\"{LINE}\" stroke-width=\"1.3\" stroke-linejoin=\"round\"/>",
        y.length
    );
}

fn rate_unit(highest_bps: u64) -> (f64, &'static str) {
    match highest_bps {
        0..2_000 => (1.0, "b/s"),
        2_000..2_000_000 => (1e3, "kb/s"),
        2_000_000..2_000_000_000 => (1e6, "Mb/s"),
        _ => (1e9, "Gb/s"),
    }
}

fn time_unit(period_ns: u64) -> (f64, &'static str) {
    match period_ns {
        0..2_000 => (1.0, "ns"),
        2_000..2_000_000 => (1e3, "µs"),
        2_000_000..2_000_000_000 => (1e6, "ms"),
        2_000_000_000..3_600_000_000_000 => (1e9, "s"),
        _ => (3.6e12, "h"),
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opportunity::OpportunityTrace;
    use crate::rate::{RateTrace, Segment};
    use crate::trace::Playback;

    fn steps(steps: &[(u64, u64)]) -> Trace {
        let segments = steps.iter().map(|(ns, bps)| Segment::new(*ns, *bps)).collect();
        RateTrace::new(segments, Playback::Loop).unwrap().into()
    }

    #[test]
    fn marks_are_round_numbers() {
        let axis = Axis::new(17.3, 300.0, 6.0, true);
        assert_eq!((axis.ticks.as_slice(), axis.decimals), (&[0.0, 5.0, 10.0, 15.0, 20.0][..], 0));
        let small = Axis::new(0.7, 300.0, 6.0, false);
        assert_eq!(small.decimals, 1);
        assert_eq!(small.ticks.len(), 4);
    }

    #[test]
    fn the_picture_has_axes_units_curve_and_outages() {
        let trace = steps(&[(2_000_000_000, 10_000_000), (1_000_000_000, 0), (2_000_000_000, 5_000_000)]);
        let svg = plot_svg(&trace, &PlotOptions { title: "a < b & c".into(), ..PlotOptions::default() });
        for part in
            ["a &lt; b &amp; c", "time (s)", "rate (Mb/s)", "mean 6.000 Mb/s (dashed)<", ">10<", "stroke=\"#2166ac\""]
        {
            assert!(svg.contains(part), "{part} in {svg}");
        }
        // 960 pixels less margins are 878; the outage is the third fifth.
        assert!(svg.contains("<rect x=\"351.2\" width=\"175.6\""), "{svg}");
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    }

    #[test]
    fn extreme_traces_give_small_finite_pictures() {
        let week = crate::MAX_DURATION_NS;
        let sparse = OpportunityTrace::new(vec![week], 1, Playback::Once).unwrap();
        let many: Vec<(u64, u64)> = (0..50_000).map(|k| (150_000_000, k % 2 * 1000)).collect();
        let tiny = PlotOptions { width: 0, height: 0, window_ns: Some(1), ..PlotOptions::default() };
        for trace in [steps(&[(1, 1)]), steps(&[(week, crate::MAX_RATE_BPS)]), sparse.into(), steps(&many)] {
            for options in [&PlotOptions::default(), &tiny] {
                let svg = plot_svg(&trace, options);
                assert!(!svg.contains("NaN") && !svg.contains("inf") && svg.len() < 1 << 20, "{}", svg.len());
            }
        }
    }
}
