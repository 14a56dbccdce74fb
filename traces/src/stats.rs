//! Statistics of a trace, over one pass.

use std::fmt;

use serde::Serialize;

use crate::decimal;
use crate::trace::{Playback, Trace};

const SHORT_WINDOW_NS: u64 = 100_000_000;
const LONG_WINDOW_NS: u64 = 1_000_000_000;
/// From how long on a stretch without any delivery counts as an outage, in nanoseconds: 100 ms. Ours: long beside the
/// pauses between a cellular scheduler's grants, short beside any retransmission timer.
pub const OUTAGE_NS: u64 = 100_000_000;

/// What [`Trace::stats`] measures.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Stats {
    /// Length of one pass in nanoseconds.
    pub duration_ns: u64,
    /// Mean rate in bits per second, rounded down.
    pub mean_bps: u64,
    /// Rates over windows of 100 ms.
    pub per_100ms: WindowStats,
    /// Rates over windows of 1 s.
    pub per_second: WindowStats,
    /// Time in outages, in nanoseconds: stretches of at least [`OUTAGE_NS`] in which nothing is delivered.
    pub outage_ns: u64,
    /// The longest outage in nanoseconds; one that goes on from the end of a looping trace to its start is one outage.
    pub longest_outage_ns: u64,
    /// Correlation of each second's rate with the next one's; `None` for fewer than three seconds or a constant rate.
    pub autocorrelation_1s: Option<f64>,
    /// Mean absolute change from one second to the next, relative to the mean rate; `None` for fewer than two seconds.
    pub change_per_second: Option<f64>,
}

/// Rates over equal windows of a pass; what is left at its end is not counted. A pass shorter than the window counts
/// as one window.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WindowStats {
    /// Length of the windows in nanoseconds.
    pub window_ns: u64,
    /// How many there are.
    pub count: usize,
    /// Lowest rate in bits per second.
    pub min_bps: u64,
    /// 1st percentile (nearest rank, as all percentiles here) in bits per second.
    pub p1_bps: u64,
    /// 5th percentile in bits per second.
    pub p5_bps: u64,
    /// Median in bits per second.
    pub p50_bps: u64,
    /// 95th percentile in bits per second.
    pub p95_bps: u64,
    /// 99th percentile in bits per second.
    pub p99_bps: u64,
    /// Highest rate in bits per second.
    pub max_bps: u64,
    /// Standard deviation over mean (0 when the mean is 0).
    pub variation: f64,
}

impl Trace {
    /// Measures one pass of the trace.
    pub fn stats(&self) -> Stats {
        let seconds = self.window_rates(LONG_WINDOW_NS);
        let outages = outages(self);
        Stats {
            duration_ns: self.period_ns(),
            mean_bps: self.mean_bps(),
            per_100ms: WindowStats::of(SHORT_WINDOW_NS, self.window_rates(SHORT_WINDOW_NS)),
            autocorrelation_1s: autocorrelation(&seconds),
            change_per_second: relative_change(&seconds),
            per_second: WindowStats::of(LONG_WINDOW_NS, seconds),
            outage_ns: outages.iter().sum(),
            longest_outage_ns: outages.into_iter().max().unwrap_or(0),
        }
    }

    /// The mean rate in each whole window of one pass, in bits per second, rounded down. A pass shorter than the window
    /// gives one value, its mean.
    ///
    /// Windows are closed on their right, so that the last opportunity, which stands on the end of the pass, is in the
    /// last one; what stands at 0 counts into the first.
    pub fn window_rates(&self, window_ns: u64) -> Vec<u64> {
        let count = self.period_ns().checked_div(window_ns).unwrap_or(0);
        if count == 0 {
            return vec![self.mean_bps()];
        }
        let mut before = 0;
        (1..=count)
            .map(|k| {
                let sum = self.pass_bit_ns_until(k * window_ns);
                let rate = (sum - before) / u128::from(window_ns);
                before = sum;
                u64::try_from(rate).unwrap_or(u64::MAX)
            })
            .collect()
    }

    /// Start and end of each stretch of one pass without any delivery, in nanoseconds.
    pub(crate) fn silences(&self) -> Box<dyn Iterator<Item = (u64, u64)> + '_> {
        match self {
            Self::Opportunities(trace) => {
                let before = std::iter::once(&0).chain(trace.times_ns());
                Box::new(before.zip(trace.times_ns()).map(|(a, b)| (*a, *b)).filter(|(a, b)| a < b))
            }
            Self::Rate(trace) => {
                let mut end = 0;
                let runs = trace.segments().chunk_by(|a, b| (a.bps == 0) == (b.bps == 0));
                Box::new(runs.filter_map(move |run| {
                    let start = end;
                    end += run.iter().map(|s| s.duration_ns).sum::<u64>();
                    (run[0].bps == 0).then_some((start, end))
                }))
            }
        }
    }

    fn pass_bit_ns_until(&self, t_ns: u64) -> u128 {
        match self {
            Self::Opportunities(trace) => trace.pass_bit_ns_until(t_ns),
            Self::Rate(trace) => trace.pass_bit_ns_until(t_ns),
        }
    }
}

impl Stats {
    /// The share of time in outages, from 0 to 1.
    pub fn outage_share(&self) -> f64 {
        self.outage_ns as f64 / self.duration_ns as f64
    }
}

impl WindowStats {
    fn of(window_ns: u64, mut rates: Vec<u64>) -> Self {
        let variation = variation(&rates);
        rates.sort_unstable();
        // Nearest rank (ISO 2602 and most textbooks): the smallest value with at least that share at or below it.
        let percentile = |p: usize| rates[(rates.len() * p).div_ceil(100).max(1) - 1];
        Self {
            window_ns,
            count: rates.len(),
            min_bps: rates[0],
            p1_bps: percentile(1),
            p5_bps: percentile(5),
            p50_bps: percentile(50),
            p95_bps: percentile(95),
            p99_bps: percentile(99),
            max_bps: rates[rates.len() - 1],
            variation,
        }
    }
}

fn mean(rates: &[u64]) -> f64 {
    rates.iter().map(|r| *r as f64).sum::<f64>() / rates.len() as f64
}

fn variation(rates: &[u64]) -> f64 {
    let mean = mean(rates);
    let squares = rates.iter().map(|r| (*r as f64 - mean) * (*r as f64 - mean)).sum::<f64>();
    if mean > 0.0 { libm::sqrt(squares / rates.len() as f64) / mean } else { 0.0 }
}

pub(crate) fn autocorrelation(rates: &[u64]) -> Option<f64> {
    let mean = mean(rates);
    let deviations: Vec<f64> = rates.iter().map(|r| *r as f64 - mean).collect();
    let squares: f64 = deviations.iter().map(|d| d * d).sum();
    let products: f64 = deviations.windows(2).map(|w| w[0] * w[1]).sum();
    (rates.len() >= 3 && squares > 0.0).then(|| products / squares)
}

pub(crate) fn relative_change(rates: &[u64]) -> Option<f64> {
    let mean = mean(rates);
    let changes: Vec<f64> = rates.windows(2).map(|w| w[0].abs_diff(w[1]) as f64).collect();
    (!changes.is_empty() && mean > 0.0).then(|| changes.iter().sum::<f64>() / changes.len() as f64 / mean)
}

/// Lengths of the outages of one pass.
fn outages(trace: &Trace) -> Vec<u64> {
    let mut silences: Vec<(u64, u64)> = trace.silences().collect();
    if let (Trace::Rate(_), Playback::Loop, [(0, end), .., (start, last)]) =
        (trace, trace.playback(), silences.as_slice())
        && *last == trace.period_ns()
    {
        // A silence at the end of a loop goes on at its start. (A pass of opportunities ends with one.)
        let joined = (*start, last + end);
        silences.pop();
        silences[0] = joined;
    }
    silences.into_iter().map(|(start, end)| end - start).filter(|ns| *ns >= OUTAGE_NS).collect()
}

/// A rate for reading: four significant digits and a unit, such as `5.962 Mb/s`.
pub fn format_rate(bps: u64) -> String {
    let (scale, unit) = match bps {
        0..1_000 => return format!("{bps} b/s"),
        1_000..1_000_000 => (1e3, "kb/s"),
        1_000_000..1_000_000_000 => (1e6, "Mb/s"),
        _ => (1e9, "Gb/s"),
    };
    let value = bps as f64 / scale;
    let decimals = if value < 10.0 {
        3
    } else if value < 100.0 {
        2
    } else {
        1
    };
    format!("{value:.decimals$} {unit}")
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let optional = |value: Option<f64>| value.map_or("-".to_owned(), |v| format!("{v:.3}"));
        writeln!(f, "duration           {} s", decimal::seconds(self.duration_ns))?;
        writeln!(f, "mean rate          {}", format_rate(self.mean_bps))?;
        for (name, w) in [("100 ms", &self.per_100ms), ("1 s", &self.per_second)] {
            let rates = [w.min_bps, w.p1_bps, w.p5_bps, w.p50_bps, w.p95_bps, w.p99_bps, w.max_bps].map(format_rate);
            for (label, rate) in ["min", "p1", "p5", "p50", "p95", "p99", "max"].into_iter().zip(rates) {
                writeln!(f, "{:<19}{rate}", format!("{label} over {name}"))?;
            }
            writeln!(f, "{:<19}{:.3}", format!("CoV over {name}"), w.variation)?;
        }
        writeln!(f, "autocorrelation    {} (1 s)", optional(self.autocorrelation_1s))?;
        writeln!(f, "change per second  {} of the mean", optional(self.change_per_second))?;
        writeln!(f, "outages            {:.2} % of the time", 100.0 * self.outage_share())?;
        write!(f, "longest outage     {} s", decimal::seconds(self.longest_outage_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opportunity::OpportunityTrace;
    use crate::rate::{RateTrace, Segment};

    const MS: u64 = 1_000_000;

    fn rate(steps: &[(u64, u64)], playback: Playback) -> Trace {
        let segments = steps.iter().map(|(ms, bps)| Segment::new(ms * MS, *bps)).collect();
        RateTrace::new(segments, playback).unwrap().into()
    }

    #[test]
    fn windows_and_moments_of_a_known_series() {
        let stats = rate(&[(1000, 1000), (1000, 3000), (1000, 1000), (1500, 3000)], Playback::Loop).stats();
        assert_eq!((stats.duration_ns, stats.mean_bps), (4500 * MS, 9500 * 2 / 9));
        assert_eq!((stats.per_second.count, stats.per_100ms.count), (4, 45));
        assert_eq!((stats.per_second.min_bps, stats.per_second.p50_bps, stats.per_second.max_bps), (1000, 1000, 3000));
        // The four whole seconds have mean 2000 and deviation 1000; their products of neighbours are all -1000².
        assert!((stats.per_second.variation - 0.5).abs() < 1e-12);
        assert!((stats.autocorrelation_1s.unwrap() + 0.75).abs() < 1e-12);
        assert!((stats.change_per_second.unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let steps: Vec<(u64, u64)> = (1..=100).map(|k| (1000, k)).collect();
        let w = rate(&steps, Playback::Once).stats().per_second;
        assert_eq!([w.p1_bps, w.p5_bps, w.p50_bps, w.p95_bps, w.p99_bps], [1, 5, 50, 95, 99]);
    }

    #[test]
    fn a_silence_around_the_end_of_a_loop_is_one_outage() {
        let steps = [(300, 0), (1000, 5), (99, 0), (1000, 5), (200, 0)];
        let looped = rate(&steps, Playback::Loop).stats();
        assert_eq!((looped.outage_ns, looped.longest_outage_ns), (500 * MS, 500 * MS));
        let once = rate(&steps, Playback::Once).stats();
        assert_eq!((once.outage_ns, once.longest_outage_ns), (500 * MS, 300 * MS));
    }

    #[test]
    fn gaps_between_opportunities_of_100_ms_and_more_are_outages() {
        let times = [50, 149, 249, 1000].map(|t| t * MS).to_vec();
        let stats = Trace::from(OpportunityTrace::new(times, 1504, Playback::Loop).unwrap()).stats();
        assert_eq!((stats.outage_ns, stats.longest_outage_ns), (851 * MS, 751 * MS));
        assert_eq!(stats.per_second.max_bps, 4 * 1504 * 8);
    }

    #[test]
    fn a_short_constant_trace_has_no_correlation() {
        let stats = rate(&[(10, 1000)], Playback::Loop).stats();
        assert_eq!((stats.per_second.count, stats.per_second.p99_bps), (1, 1000));
        assert_eq!((stats.autocorrelation_1s, stats.change_per_second), (None, None));
    }

    #[test]
    fn rates_are_written_for_reading() {
        assert_eq!(
            [0, 999, 5_961_600, 12_340_000, 400_000_000_000].map(format_rate),
            ["0 b/s", "999 b/s", "5.962 Mb/s", "12.34 Mb/s", "400.0 Gb/s"]
        );
    }
}
