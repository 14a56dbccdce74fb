//! The models and their expansion into segments.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use serde::Deserialize;

use super::quantity::{Bandwidth, Duration};
use crate::error::TraceErrorKind;
use crate::random::normal;
use crate::rate::Segment;
use crate::trace::{MAX_RATE_BPS, MAX_SEGMENTS};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
/// The default rate of `netem-trace`'s models, in bits per second.
const DEFAULT_BPS: u64 = 12_000_000;
/// The default seed of `netem-trace`'s models.
const DEFAULT_SEED: u64 = 42;

#[derive(Debug, Deserialize)]
pub(super) enum Model {
    #[serde(rename = "StaticBwConfig")]
    Static(Static),
    #[serde(rename = "NormalizedBwConfig")]
    Normalized(Normalized),
    #[serde(rename = "SawtoothBwConfig")]
    Sawtooth(Sawtooth),
    #[serde(rename = "RepeatedBwPatternConfig")]
    Repeated(Repeated),
    #[serde(rename = "TraceBwConfig")]
    Replay(Replay),
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Static {
    bw: Option<Bandwidth>,
    duration: Option<Duration>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Normalized {
    mean: Option<Bandwidth>,
    std_dev: Option<Bandwidth>,
    upper_bound: Option<Bandwidth>,
    lower_bound: Option<Bandwidth>,
    duration: Option<Duration>,
    step: Option<Duration>,
    seed: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Sawtooth {
    bottom: Option<Bandwidth>,
    top: Option<Bandwidth>,
    interval: Option<Duration>,
    duty_ratio: Option<f64>,
    duration: Option<Duration>,
    step: Option<Duration>,
    seed: Option<u64>,
    std_dev: Option<Bandwidth>,
    upper_noise_bound: Option<Bandwidth>,
    lower_noise_bound: Option<Bandwidth>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Repeated {
    pattern: Vec<Model>,
    count: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Replay {
    pattern: Vec<(Duration, Vec<Bandwidth>)>,
}

/// The segments of a model, and whether they repeat for ever.
#[derive(Debug)]
pub(super) struct Expanded {
    pub(super) segments: Vec<Segment>,
    pub(super) endless: bool,
}

impl Model {
    /// Expands into at most `budget` segments.
    pub(super) fn expand(&self, budget: usize) -> Result<Expanded, TraceErrorKind> {
        let segments = match self {
            Self::Static(model) => model.expand(),
            Self::Normalized(model) => model.expand(budget)?,
            Self::Sawtooth(model) => model.expand(budget)?,
            Self::Replay(model) => model.expand(),
            Self::Repeated(model) => return model.expand(budget),
        };
        Ok(Expanded { segments, endless: false })
    }
}

impl Static {
    fn expand(&self) -> Vec<Segment> {
        let duration_ns = self.duration.map_or(SECOND, |d| d.0);
        let bps = self.bw.map_or(DEFAULT_BPS, |b| b.0);
        Some(Segment::new(duration_ns, bps)).filter(|s| s.duration_ns > 0).into_iter().collect()
    }
}

impl Normalized {
    fn expand(&self, budget: usize) -> Result<Vec<Segment>, TraceErrorKind> {
        let mean = self.mean.map_or(DEFAULT_BPS, |b| b.0) as f64;
        let std_dev = self.std_dev.map_or(0, |b| b.0) as f64;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed.unwrap_or(DEFAULT_SEED));
        let steps = steps("NormalizedBwConfig", (self.duration, self.step), budget)?;
        Ok(steps
            .map(|(_, duration_ns)| {
                let mut bps = to_bps(mean + std_dev * normal(&mut rng));
                bps = bps.max(self.lower_bound.map_or(0, |b| b.0));
                bps = bps.min(self.upper_bound.map_or(MAX_RATE_BPS, |b| b.0));
                Segment::new(duration_ns, bps)
            })
            .collect())
    }
}

impl Sawtooth {
    fn expand(&self, budget: usize) -> Result<Vec<Segment>, TraceErrorKind> {
        const NAME: &str = "SawtoothBwConfig";
        let bad = |reason| TraceErrorKind::BadModel { model: NAME, reason };
        let bottom = self.bottom.map_or(0, |b| b.0) as f64;
        let top = self.top.map_or(DEFAULT_BPS, |b| b.0) as f64;
        let interval = self.interval.map_or(SECOND, |d| d.0);
        let duty_ratio = self.duty_ratio.unwrap_or(0.5);
        if bottom > top {
            return Err(bad("has a bottom above its top"));
        }
        if interval == 0 || !(0.0..=1.0).contains(&duty_ratio) {
            return Err(bad("needs an interval above zero and a duty ratio from 0 to 1"));
        }
        let std_dev = self.std_dev.map_or(0, |b| b.0) as f64;
        let lower = self.lower_noise_bound.map_or(f64::NEG_INFINITY, |b| -(b.0 as f64));
        let upper = self.upper_noise_bound.map_or(f64::INFINITY, |b| b.0 as f64);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed.unwrap_or(DEFAULT_SEED));
        let change = interval as f64 * duty_ratio;
        Ok(steps(NAME, (self.duration, self.step), budget)?
            .map(|(start, duration_ns)| {
                let at = (start % interval) as f64;
                let height = if at < change { at / change } else { 1.0 - (at - change) / (interval as f64 - change) };
                // The bounds need not enclose zero, and may not even be in order: the lower one wins, as it does there.
                let noise = (std_dev * normal(&mut rng)).min(upper).max(lower);
                Segment::new(duration_ns, to_bps(bottom + (top - bottom) * height + noise))
            })
            .collect())
    }
}

impl Replay {
    fn expand(&self) -> Vec<Segment> {
        let runs = self.pattern.iter().filter(|(duration, _)| duration.0 > 0);
        runs.flat_map(|(duration, rates)| rates.iter().map(|bw| Segment::new(duration.0, bw.0))).collect()
    }
}

impl Repeated {
    fn expand(&self, budget: usize) -> Result<Expanded, TraceErrorKind> {
        let mut once = Vec::new();
        for part in &self.pattern {
            // Nested patterns share one budget, so that all levels together stay within it.
            let mut expanded = part.expand(budget - once.len())?;
            if expanded.endless && once.is_empty() {
                // Whatever follows is never reached.
                return Ok(expanded);
            }
            if expanded.endless {
                return Err(TraceErrorKind::BadModel {
                    model: "RepeatedBwPatternConfig",
                    reason: "with count 0 stands behind other parts: a trace cannot begin to loop half-way",
                });
            }
            check_count(once.len() as u64 + expanded.segments.len() as u64, budget)?;
            once.append(&mut expanded.segments);
        }
        check_count((once.len() as u64).saturating_mul(self.count), budget)?;
        let endless = self.count == 0 && !once.is_empty();
        // An empty pattern stays empty however often it is repeated.
        let copies = if once.is_empty() { 1 } else { usize::try_from(self.count.max(1)).unwrap_or(1) };
        Ok(Expanded { segments: once.repeat(copies), endless })
    }
}

/// Start and length of each step of a model.
fn steps(
    model: &'static str,
    (duration, step): (Option<Duration>, Option<Duration>),
    budget: usize,
) -> Result<impl Iterator<Item = (u64, u64)>, TraceErrorKind> {
    let duration = duration.map_or(SECOND, |d| d.0);
    let step = step.map_or(MS, |d| d.0);
    if step == 0 {
        return Err(TraceErrorKind::BadModel { model, reason: "needs a step above zero" });
    }
    let count = duration.div_ceil(step);
    check_count(count, budget)?;
    Ok((0..count).map(move |k| (k * step, step.min(duration - k * step))))
}

fn check_count(count: u64, budget: usize) -> Result<(), TraceErrorKind> {
    match count > budget as u64 {
        true => Err(TraceErrorKind::TooLarge { what: "segments", limit: MAX_SEGMENTS as u64 }),
        false => Ok(()),
    }
}

/// Rounds down and keeps within what a series accepts; anything below zero is an outage.
fn to_bps(value: f64) -> u64 {
    (value.max(0.0) as u64).min(MAX_RATE_BPS)
}
