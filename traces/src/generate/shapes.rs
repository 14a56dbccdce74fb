//! Shapes without chance: constant, step, saw-tooth.

use serde::{Deserialize, Serialize};

use super::fit::{Statistic, Target};
use super::{bad, check_duration_s, check_range, check_rate_bps};
use crate::error::TraceError;
use crate::rate::{RateTrace, Segment};
use crate::trace::{MAX_SEGMENTS, Playback};

const NS_PER_MS: u64 = 1_000_000;
/// Relative error from rounding rates to whole bits per second and windows to whole steps.
const ROUNDING: f64 = 0.01;

/// One rate. The default is 12 Mb/s for 60 s.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Constant {
    /// The rate in bits per second.
    pub rate_bps: u64,
    /// The length in seconds.
    pub duration_s: u64,
}

impl Default for Constant {
    fn default() -> Self {
        Self { rate_bps: 12_000_000, duration_s: 60 }
    }
}

impl Constant {
    pub(super) fn generate(&self) -> Result<RateTrace, TraceError> {
        check_duration_s("constant", self.duration_s)?;
        RateTrace::constant(self.rate_bps, self.duration_s * 1000 * NS_PER_MS)
    }

    pub(super) fn targets(&self) -> Vec<Target> {
        let rate = self.rate_bps as f64;
        [Statistic::Mean, Statistic::Min, Statistic::Max].map(|s| Target::new(s, rate, 0.0)).to_vec()
    }
}

/// A square wave that begins high. The default is 20 and 5 Mb/s, 5 s each, for 60 s.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Step {
    /// The higher rate in bits per second.
    pub high_bps: u64,
    /// The lower rate in bits per second.
    pub low_bps: u64,
    /// How long each level lasts, in milliseconds.
    pub hold_ms: u64,
    /// The length in seconds.
    pub duration_s: u64,
}

impl Default for Step {
    fn default() -> Self {
        Self { high_bps: 20_000_000, low_bps: 5_000_000, hold_ms: 5_000, duration_s: 60 }
    }
}

impl Step {
    pub(super) fn generate(&self) -> Result<RateTrace, TraceError> {
        check_duration_s("step", self.duration_s)?;
        check_range("step", "low_bps", self.low_bps, (0, self.high_bps))?;
        let levels = [self.high_bps, self.low_bps].into_iter().cycle();
        let lengths = pieces("step", "hold_ms", self.duration_s * 1000, self.hold_ms)?;
        let segments = lengths.zip(levels).map(|(ms, bps)| Segment::new(ms * NS_PER_MS, bps)).collect();
        RateTrace::new(segments, Playback::Loop)
    }

    pub(super) fn targets(&self) -> Vec<Target> {
        let total = self.duration_s.saturating_mul(1000);
        let wave = self.hold_ms.max(1).saturating_mul(2);
        let high = total / wave * self.hold_ms + (total % wave).min(self.hold_ms);
        let share = high as f64 / total as f64;
        let mean = share * self.high_bps as f64 + (1.0 - share) * self.low_bps as f64;
        vec![Target::new(Statistic::Mean, mean, ROUNDING)]
    }
}

/// A linear rise and fall in small steps. The default goes from 4 to 20 Mb/s and back in 20 s, for 60 s.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SawTooth {
    /// The lowest rate in bits per second.
    pub bottom_bps: u64,
    /// The highest rate in bits per second.
    pub top_bps: u64,
    /// The length of one tooth in milliseconds.
    pub interval_ms: u64,
    /// Which share of a tooth rises, from 0 to 1.
    pub rise: f64,
    /// The length of one step in milliseconds.
    pub step_ms: u64,
    /// The length in seconds.
    pub duration_s: u64,
}

impl Default for SawTooth {
    fn default() -> Self {
        Self {
            bottom_bps: 4_000_000,
            top_bps: 20_000_000,
            interval_ms: 20_000,
            rise: 0.5,
            step_ms: 100,
            duration_s: 60,
        }
    }
}

impl SawTooth {
    pub(super) fn generate(&self) -> Result<RateTrace, TraceError> {
        const NAME: &str = "saw-tooth";
        check_duration_s(NAME, self.duration_s)?;
        check_rate_bps(NAME, "top_bps", self.top_bps)?;
        check_range(NAME, "bottom_bps", self.bottom_bps, (0, self.top_bps))?;
        check_range(NAME, "interval_ms", self.interval_ms, (2, u64::MAX))?;
        if !(0.0..=1.0).contains(&self.rise) {
            return Err(bad(NAME, format!("rise is {}: expected 0 to 1", self.rise)));
        }
        let lengths = pieces(NAME, "step_ms", self.duration_s * 1000, self.step_ms)?;
        let segments = lengths.scan(0, |start, ms| {
            // The rate in the middle of the step keeps the mean of a tooth.
            let middle = ((*start % self.interval_ms) as f64 + ms as f64 / 2.0) / self.interval_ms as f64;
            *start += ms;
            Some(Segment::new(ms * NS_PER_MS, self.rate_at(middle)))
        });
        RateTrace::new(segments.collect(), Playback::Loop)
    }

    /// The rate at a place within the tooth, from 0 to 1.
    fn rate_at(&self, place: f64) -> u64 {
        let height = if place < self.rise { place / self.rise } else { (1.0 - place) / (1.0 - self.rise) };
        let range = (self.top_bps - self.bottom_bps) as f64;
        self.bottom_bps.saturating_add(super::to_bps(range * height.clamp(0.0, 1.0)))
    }

    pub(super) fn targets(&self) -> Vec<Target> {
        // The mean of a straight line is half-way, whatever its slope. It holds for whole teeth.
        let whole = self.duration_s.saturating_mul(1000).is_multiple_of(self.interval_ms);
        let mean = (self.bottom_bps as f64 + self.top_bps as f64) / 2.0;
        if whole { vec![Target::new(Statistic::Mean, mean, ROUNDING)] } else { vec![] }
    }
}

/// Cuts `total` into pieces of `length`, the last of which may be shorter.
fn pieces(
    generator: &'static str,
    name: &str,
    total: u64,
    length: u64,
) -> Result<impl Iterator<Item = u64>, TraceError> {
    check_range(generator, name, length, (total.div_ceil(MAX_SEGMENTS as u64).max(1), u64::MAX))?;
    let whole = usize::try_from(total / length).unwrap_or(usize::MAX);
    Ok(std::iter::repeat_n(length, whole).chain(Some(total % length).filter(|rest| *rest > 0)))
}
