//! Links that switch between rates: on-off and fades.
//!
//! The lengths of spells are exponential, so that the chain of states is Markov's. They are drawn stratified: the
//! distribution is cut into as many equally likely parts as there are spells, each part is used once, and the order is
//! shuffled. Every seed then gives a trace with the right shares of time, even a short one.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};

use super::fit::{Statistic, Target};
use super::{check_duration_s, check_range, check_rate_bps};
use crate::error::TraceError;
use crate::random::shuffle;
use crate::rate::{RateTrace, Segment};
use crate::stats::OUTAGE_NS;
use crate::trace::{MAX_SEGMENTS, Playback};

const NS_PER_MS: u64 = 1_000_000;

/// Two rates with exponentially distributed spells. The default is 20 Mb/s for 4 s on average, then nothing for 1 s on
/// average, for 300 s.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct OnOff {
    /// The rate when on, in bits per second.
    pub on_bps: u64,
    /// The rate when off, in bits per second.
    pub off_bps: u64,
    /// The mean time on, in milliseconds.
    pub mean_on_ms: u64,
    /// The mean time off, in milliseconds.
    pub mean_off_ms: u64,
    /// The length in seconds.
    pub duration_s: u64,
}

impl Default for OnOff {
    fn default() -> Self {
        Self { on_bps: 20_000_000, off_bps: 0, mean_on_ms: 4_000, mean_off_ms: 1_000, duration_s: 300 }
    }
}

impl OnOff {
    pub(super) fn generate(&self, seed: u64) -> Result<RateTrace, TraceError> {
        const NAME: &str = "on-off";
        check_rate_bps(NAME, "on_bps", self.on_bps)?;
        check_range(NAME, "off_bps", self.off_bps, (0, self.on_bps))?;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let spells =
            Alternation { name: NAME, means_ms: [self.mean_on_ms, self.mean_off_ms], duration_s: self.duration_s }
                .draw(&mut rng)?;
        let levels = [self.on_bps, self.off_bps].into_iter().cycle();
        RateTrace::new(spells.into_iter().zip(levels).map(|(ns, bps)| Segment::new(ns, bps)).collect(), Playback::Loop)
    }

    fn off_share(&self) -> f64 {
        self.mean_off_ms as f64 / (self.mean_on_ms as f64 + self.mean_off_ms as f64)
    }

    pub(super) fn targets(&self) -> Vec<Target> {
        let off = self.off_share();
        let mean = (1.0 - off) * self.on_bps as f64 + off * self.off_bps as f64;
        let mut targets = vec![Target::new(Statistic::Mean, mean, 0.01)];
        if self.off_bps == 0 {
            // Spells shorter than an outage do not count: of exponential time with mean m, the share in spells above x
            // is exp(-x/m)(1 + x/m).
            let x = OUTAGE_NS as f64 / (self.mean_off_ms as f64 * NS_PER_MS as f64);
            targets.push(Target::new(Statistic::OutageShare, off * libm::exp(-x) * (1.0 + x), 0.01));
        }
        targets
    }
}

/// A long-haul link that loses part of its rate in fades. The default is 100 Gb/s, every 20 s on average a fade of 2 s
/// on average that leaves three, two or one quarter of the rate, for 300 s.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct InterDc {
    /// The nominal rate in bits per second.
    pub rate_bps: u64,
    /// The mean time between fades, in milliseconds.
    pub mean_between_ms: u64,
    /// The mean length of a fade, in milliseconds.
    pub mean_fade_ms: u64,
    /// The length in seconds.
    pub duration_s: u64,
}

impl Default for InterDc {
    fn default() -> Self {
        Self { rate_bps: 100_000_000_000, mean_between_ms: 20_000, mean_fade_ms: 2_000, duration_s: 300 }
    }
}

impl InterDc {
    pub(super) fn generate(&self, seed: u64) -> Result<RateTrace, TraceError> {
        const NAME: &str = "inter-dc";
        check_range(NAME, "rate_bps", self.rate_bps, (4, crate::MAX_RATE_BPS))?;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let means_ms = [self.mean_between_ms, self.mean_fade_ms];
        let spells = Alternation { name: NAME, means_ms, duration_s: self.duration_s }.draw(&mut rng)?;
        // Each depth comes equally often, in random order.
        let mut quarters: Vec<u64> = (0..spells.len() as u64 / 2).map(|k| k % 3 + 1).collect();
        shuffle(&mut quarters, &mut rng);
        let levels = quarters.into_iter().flat_map(|left| [self.rate_bps, self.rate_bps / 4 * left]);
        RateTrace::new(spells.into_iter().zip(levels).map(|(ns, bps)| Segment::new(ns, bps)).collect(), Playback::Loop)
    }

    pub(super) fn targets(&self) -> Vec<Target> {
        let rate = self.rate_bps as f64;
        let faded = self.mean_fade_ms as f64 / (self.mean_between_ms as f64 + self.mean_fade_ms as f64);
        vec![
            // A fade leaves half the rate on average. Which depth a long fade gets is chance.
            Target::new(Statistic::Mean, rate * (1.0 - faded / 2.0), 0.03),
            Target::new(Statistic::P50, rate, 0.001),
            Target::new(Statistic::Max, rate, 0.0),
            Target::new(Statistic::OutageShare, 0.0, 0.0),
        ]
    }
}

/// Spells of two kinds in turn.
#[derive(Debug, Clone, Copy)]
struct Alternation {
    name: &'static str,
    means_ms: [u64; 2],
    duration_s: u64,
}

impl Alternation {
    /// The lengths in nanoseconds, as many of each kind, with the wanted sum.
    fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> Result<Vec<u64>, TraceError> {
        check_duration_s(self.name, self.duration_s)?;
        let total_ms = self.duration_s * 1000;
        for (name, mean) in ["mean time of the first state", "mean time of the second state"].iter().zip(self.means_ms)
        {
            check_range(self.name, name, mean, (total_ms.div_ceil(MAX_SEGMENTS as u64).max(1), total_ms))?;
        }
        let cycle_ms = self.means_ms[0] + self.means_ms[1];
        let cycles = ((total_ms + cycle_ms / 2) / cycle_ms).max(1);
        let total_ns = total_ms * NS_PER_MS;
        // The spells of one kind share what the ratio of means gives to it.
        let first_ns = u128::from(total_ns) * u128::from(self.means_ms[0]) / u128::from(cycle_ms);
        let first_ns = u64::try_from(first_ns).unwrap_or(total_ns);
        let first = stratified(cycles, first_ns, rng);
        let second = stratified(cycles, total_ns - first_ns, rng);
        Ok(first.into_iter().zip(second).flat_map(|(a, b)| [a, b]).collect())
    }
}

/// `count` exponential lengths with exactly this sum, each at least 1 ns.
fn stratified(count: u64, sum_ns: u64, rng: &mut Xoshiro256PlusPlus) -> Vec<u64> {
    let quantiles: Vec<f64> = (0..count).map(|k| -libm::log(1.0 - (k as f64 + 0.5) / count as f64)).collect();
    let scale = sum_ns as f64 / quantiles.iter().sum::<f64>();
    let mut lengths: Vec<u64> = quantiles.iter().map(|q| ((q * scale) as u64).max(1)).collect();
    // The longest takes what rounding left over; it is longer than that by far.
    let others: u64 = lengths.iter().rev().skip(1).sum();
    if let Some(longest) = lengths.last_mut() {
        *longest = sum_ns.saturating_sub(others).max(1);
    }
    shuffle(&mut lengths, rng);
    lengths
}
