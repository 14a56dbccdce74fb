//! Targets of a generator and how well a trace meets them.

use std::fmt;

use serde::Serialize;

use super::mobile::{FIRST_HANDOVER_S, HANDOVER_S};
use crate::stats::{Stats, format_rate};
use crate::trace::Trace;

/// A statistic that a generator has to match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub enum Statistic {
    /// Mean rate in bits per second.
    Mean,
    /// Lowest rate of a second in bits per second.
    Min,
    /// 5th percentile of the rate over seconds in bits per second.
    P5,
    /// Median rate over seconds in bits per second.
    P50,
    /// 95th percentile of the rate over seconds in bits per second.
    P95,
    /// 99th percentile of the rate over seconds in bits per second.
    P99,
    /// Highest rate of a second in bits per second.
    Max,
    /// Coefficient of variation of the rate over seconds.
    Variation,
    /// Coefficient of variation of the rate over 100 ms.
    Variation100ms,
    /// Correlation of the rates of neighbouring seconds.
    Autocorrelation,
    /// Mean absolute change from one second to the next over the mean rate.
    Change,
    /// Share of time in outages.
    OutageShare,
    /// Mean absolute change of rate around hand-overs over that elsewhere.
    HandoverChange,
}

/// A statistic with the value it must have and how far it may be off.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Target {
    /// The statistic.
    pub statistic: Statistic,
    /// Its value, in the statistic's unit.
    pub value: f64,
    /// The largest error accepted: a share of the value, except for shares of time and correlations, where it is a
    /// difference.
    pub tolerance: f64,
}

/// A target and what a trace has.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Fit {
    /// What was wanted.
    pub target: Target,
    /// What was measured; `None` where the trace is too short to tell.
    pub measured: Option<f64>,
}

impl Statistic {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean rate",
            Self::Min => "min over 1 s",
            Self::P5 => "p5 over 1 s",
            Self::P50 => "p50 over 1 s",
            Self::P95 => "p95 over 1 s",
            Self::P99 => "p99 over 1 s",
            Self::Max => "max over 1 s",
            Self::Variation => "CoV over 1 s",
            Self::Variation100ms => "CoV over 100 ms",
            Self::Autocorrelation => "autocorrelation at 1 s",
            Self::Change => "change per second",
            Self::OutageShare => "outage share",
            Self::HandoverChange => "change at hand-overs",
        }
    }

    const fn is_rate(self) -> bool {
        matches!(self, Self::Mean | Self::Min | Self::P5 | Self::P50 | Self::P95 | Self::P99 | Self::Max)
    }

    /// Whether errors are differences instead of shares of the value.
    const fn is_absolute(self) -> bool {
        matches!(self, Self::Autocorrelation | Self::OutageShare)
    }

    fn measure(self, trace: &Trace, stats: &Stats) -> Option<f64> {
        let w = &stats.per_second;
        Some(match self {
            Self::Mean => stats.mean_bps as f64,
            Self::Min => w.min_bps as f64,
            Self::P5 => w.p5_bps as f64,
            Self::P50 => w.p50_bps as f64,
            Self::P95 => w.p95_bps as f64,
            Self::P99 => w.p99_bps as f64,
            Self::Max => w.max_bps as f64,
            Self::Variation => w.variation,
            Self::Variation100ms => stats.per_100ms.variation,
            Self::Autocorrelation => return stats.autocorrelation_1s,
            Self::Change => return stats.change_per_second,
            Self::OutageShare => stats.outage_share(),
            Self::HandoverChange => return handover_change(&trace.window_rates(1_000_000_000)),
        })
    }
}

/// How much more the rate changes into the second of a hand-over and out of it than between other seconds.
pub(super) fn handover_change(seconds: &[u64]) -> Option<f64> {
    let (mut near, mut far) = ((0_u64, 0_u64), (0_u64, 0_u64));
    for (second, pair) in (1_u64..).zip(seconds.windows(2)) {
        // Into the second that holds it, or out of that one.
        let phase = (second + HANDOVER_S - FIRST_HANDOVER_S % HANDOVER_S) % HANDOVER_S;
        let group = if phase <= 1 { &mut near } else { &mut far };
        *group = (group.0.saturating_add(pair[0].abs_diff(pair[1])), group.1 + 1);
    }
    let mean = |(sum, count): (u64, u64)| sum as f64 / count as f64;
    (near.1 > 0 && far.0 > 0).then(|| mean(near) / mean(far))
}

impl Target {
    pub(super) const fn new(statistic: Statistic, value: f64, tolerance: f64) -> Self {
        Self { statistic, value, tolerance }
    }
}

impl Fit {
    pub(super) fn measure(target: Target, trace: &Trace, stats: &Stats) -> Self {
        Self { target, measured: target.statistic.measure(trace, stats) }
    }

    /// The error: a share of the target, or a difference for shares of time and correlations.
    pub fn error(&self) -> Option<f64> {
        let difference = self.measured? - self.target.value;
        let scale =
            if self.target.statistic.is_absolute() || self.target.value == 0.0 { 1.0 } else { self.target.value };
        Some(difference / scale)
    }

    /// Whether the error was measured and is within the tolerance.
    pub fn is_within(&self) -> bool {
        self.error().is_some_and(|error| error.abs() <= self.target.tolerance)
    }
}

impl fmt::Display for Fit {
    /// One line: the statistic, its target, what was measured, the error, and whether that is within the tolerance.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let statistic = self.target.statistic;
        let show = |value: f64| match statistic.is_rate() {
            true => format_rate(value as u64),
            false => format!("{value:.3}"),
        };
        let measured = self.measured.map_or("-".to_owned(), show);
        let error = match self.error() {
            Some(error) if statistic.is_absolute() => format!("{error:+.3}"),
            Some(error) => format!("{:+.1} %", 100.0 * error),
            None => "-".to_owned(),
        };
        let verdict = if self.is_within() { "ok" } else { "off" };
        write!(
            f,
            "{:<22} target {:>11}  measured {measured:>11}  error {error:>8}  {verdict}",
            statistic.name(),
            show(self.target.value)
        )
    }
}
