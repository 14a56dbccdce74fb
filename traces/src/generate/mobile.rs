//! Links whose rate wanders: LTE, 5G, LEO satellites.
//!
//! The rate of each second comes from a hidden Gaussian process that mostly wanders and sometimes begins afresh. Its
//! values are only ranked: the k-th smallest becomes the k-th quantile of the real trace, so that every seed has the
//! real distribution of rates (amplitude-adjusted surrogates, Theiler et al., Physica D 58, 1992). Of thirty-two such
//! series the one whose correlation and changes come nearest to the real ones is taken. Inside a second the rate
//! flutters around it, and short outages are set into slow seconds, without changing what the second delivers.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};

use super::fit::{Statistic, Target, handover_change};
use super::profile::{FiveGProfile, LteProfile, Reference, SHARES, STARLINK};
use super::{bad, check_duration_s, check_range, to_bps};
use crate::error::TraceError;
use crate::random::{below, normal, shuffle, uniform};
use crate::rate::{RateTrace, Segment};
use crate::stats::{autocorrelation, relative_change};
use crate::trace::{MAX_RATE_BPS, MAX_SEGMENTS, Playback};

/// Time between reconfigurations of a Starlink link, in seconds (Mohan et al., "A Multifaceted Look at Starlink
/// Performance", WWW'24).
pub(super) const HANDOVER_S: u64 = 15;
/// The second at which the first one comes: where the reference trace, folded to 15 s, changes most.
pub(super) const FIRST_HANDOVER_S: u64 = 12;
/// Share of a satellite link's variance that comes from which satellite serves. Ours, fitted.
const SATELLITE_SHARE: f64 = 0.65;
/// Mean absolute change of rate around hand-overs over that elsewhere, measured on the Starlink reference.
const STARLINK_HANDOVER_CHANGE: f64 = 1.622;
/// How many series are drawn to choose the best from.
const CANDIDATES: u32 = 32;
const NS_PER_MS: u64 = 1_000_000;

/// Like an LTE downlink.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Lte {
    /// The link to imitate.
    pub profile: LteProfile,
    /// The mean rate in bits per second; the profile's when `None`. The whole distribution scales with it.
    pub mean_bps: Option<u64>,
    /// The length in seconds; the profile's when `None`.
    pub duration_s: Option<u64>,
    /// The length of one step in milliseconds; divides 1000, at most 100.
    pub step_ms: u64,
}

impl Default for Lte {
    fn default() -> Self {
        Self { profile: LteProfile::default(), mean_bps: None, duration_s: None, step_ms: 100 }
    }
}

/// Like a 5G downlink.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct FiveG {
    /// The link to imitate.
    pub profile: FiveGProfile,
    /// The mean rate in bits per second; the profile's when `None`. The whole distribution scales with it.
    pub mean_bps: Option<u64>,
    /// The length in seconds; the profile's when `None`.
    pub duration_s: Option<u64>,
    /// The length of one step in milliseconds; divides 1000, at most 100.
    pub step_ms: u64,
}

impl Default for FiveG {
    fn default() -> Self {
        Self { profile: FiveGProfile::default(), mean_bps: None, duration_s: None, step_ms: 100 }
    }
}

/// Like the downlink of a low-orbit satellite terminal. At each hand-over another satellite brings another rate, after
/// a short silence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Leo {
    /// The mean rate in bits per second; the reference's when `None`. The whole distribution scales with it.
    pub mean_bps: Option<u64>,
    /// The length in seconds; the reference's when `None`.
    pub duration_s: Option<u64>,
    /// The length of one step in milliseconds; divides 1000, at most 100.
    pub step_ms: u64,
    /// The silence at a hand-over in milliseconds; shorter than a step. Ours: the reference has only whole seconds.
    pub gap_ms: u64,
}

impl Default for Leo {
    fn default() -> Self {
        Self { mean_bps: None, duration_s: None, step_ms: 100, gap_ms: 50 }
    }
}

impl Lte {
    fn wander(&self) -> Wander {
        let reference = self.profile.reference();
        Wander::new("lte", reference, (self.mean_bps, self.duration_s), self.step_ms)
    }

    pub(super) fn generate(&self, seed: u64) -> Result<RateTrace, TraceError> {
        self.wander().generate(seed)
    }

    pub(super) fn targets(&self) -> Vec<Target> {
        self.wander().targets()
    }
}

impl FiveG {
    fn wander(&self) -> Wander {
        let reference = self.profile.reference();
        Wander::new("5g", reference, (self.mean_bps, self.duration_s), self.step_ms)
    }

    pub(super) fn generate(&self, seed: u64) -> Result<RateTrace, TraceError> {
        self.wander().generate(seed)
    }

    pub(super) fn targets(&self) -> Vec<Target> {
        self.wander().targets()
    }
}

impl Leo {
    fn wander(&self) -> Wander {
        let plain = Wander::new("leo", &STARLINK, (self.mean_bps, self.duration_s), self.step_ms);
        Wander { handover_gap_ms: Some(self.gap_ms), ..plain }
    }

    pub(super) fn generate(&self, seed: u64) -> Result<RateTrace, TraceError> {
        check_range("leo", "gap_ms", self.gap_ms, (0, self.step_ms.saturating_sub(1)))?;
        self.wander().generate(seed)
    }

    pub(super) fn targets(&self) -> Vec<Target> {
        let mut targets = self.wander().targets();
        targets.push(Target::new(Statistic::HandoverChange, STARLINK_HANDOVER_CHANGE, 0.15));
        targets
    }
}

/// A wandering link, whatever its technology.
#[derive(Debug, Clone, Copy)]
struct Wander {
    name: &'static str,
    reference: &'static Reference,
    mean_bps: u64,
    seconds: u64,
    step_ms: u64,
    /// The silence at hand-overs, for links that have them.
    handover_gap_ms: Option<u64>,
}

impl Wander {
    fn new(
        name: &'static str,
        reference: &'static Reference,
        (mean_bps, seconds): (Option<u64>, Option<u64>),
        step_ms: u64,
    ) -> Self {
        let mean_bps = mean_bps.unwrap_or(reference.mean_bps);
        let seconds = seconds.unwrap_or(reference.seconds);
        Self { name, reference, mean_bps, seconds, step_ms, handover_gap_ms: None }
    }

    fn targets(&self) -> Vec<Target> {
        let r = self.reference;
        let scale = self.mean_bps as f64 / r.mean_bps as f64 * 1000.0;
        let [p50, p95, p99] = r.percentiles_kbps.map(|kbps| f64::from(kbps) * scale);
        let mut targets = vec![
            Target::new(Statistic::Mean, self.mean_bps as f64, 0.02),
            Target::new(Statistic::P50, p50, 0.06),
            Target::new(Statistic::P95, p95, 0.06),
            Target::new(Statistic::P99, p99, 0.10),
            Target::new(Statistic::Variation, r.variation, 0.06),
            Target::new(Statistic::Autocorrelation, r.autocorrelation, 0.05),
            Target::new(Statistic::Change, r.change, 0.10),
            Target::new(Statistic::OutageShare, r.outage_share, 0.012),
        ];
        targets.extend(r.variation_100ms.map(|v| Target::new(Statistic::Variation100ms, v, 0.08)));
        targets
    }

    fn generate(&self, seed: u64) -> Result<RateTrace, TraceError> {
        check_duration_s(self.name, self.seconds)?;
        // The highest quantile of every reference is below sixteen times its mean.
        check_range(self.name, "mean_bps", self.mean_bps, (1000, MAX_RATE_BPS / 64))?;
        if !(1..=100).contains(&self.step_ms) || 1000 % self.step_ms != 0 {
            return Err(bad(self.name, format!("step_ms is {}: expected a divisor of 1000 up to 100", self.step_ms)));
        }
        let steps = self.seconds * (1000 / self.step_ms + 1);
        check_range(self.name, "number of steps", steps, (1, MAX_SEGMENTS as u64))?;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let rates = self.best_series(&mut rng);
        let segments = self.flutter(&rates, &mut rng);
        RateTrace::new(segments, Playback::Loop)
    }

    /// The rate of each second in bits per second.
    fn best_series(&self, rng: &mut Xoshiro256PlusPlus) -> Vec<u64> {
        let mut best = (f64::INFINITY, Vec::new());
        for _ in 0..CANDIDATES {
            let hidden = match self.handover_gap_ms {
                Some(_) => self.hidden_with_handovers(rng),
                None => self.hidden(rng),
            };
            let rates = self.with_real_distribution(&hidden);
            let score = self.distance(&rates);
            if best.1.is_empty() || score < best.0 {
                best = (score, rates);
            }
        }
        best.1
    }

    /// How far a series is from the reference in its order, in units of what does not matter.
    fn distance(&self, rates: &[u64]) -> f64 {
        let r = self.reference;
        let correlation = autocorrelation(rates).map_or(0.0, |a| (a - r.autocorrelation).abs() / 0.01);
        let change = relative_change(rates).map_or(0.0, |c| (c / r.change - 1.0).abs() / 0.02);
        let handover = self.handover_gap_ms.and_then(|_| handover_change(rates));
        correlation + change + handover.map_or(0.0, |h| (h / STARLINK_HANDOVER_CHANGE - 1.0).abs() / 0.03)
    }

    fn hidden(&self, rng: &mut Xoshiro256PlusPlus) -> Vec<f64> {
        let memory = self.reference.memory;
        let fresh = libm::sqrt(1.0 - memory * memory);
        let mut state = normal(rng);
        (0..self.seconds)
            .map(|_| {
                let now = state;
                let innovation = normal(rng);
                state =
                    if uniform(rng) <= self.reference.redraw { innovation } else { memory * now + fresh * innovation };
                now
            })
            .collect()
    }

    fn hidden_with_handovers(&self, rng: &mut Xoshiro256PlusPlus) -> Vec<f64> {
        let local = self.hidden(rng);
        let (share, rest) = (libm::sqrt(SATELLITE_SHARE), libm::sqrt(1.0 - SATELLITE_SHARE));
        let mut satellite = normal(rng);
        (0_u64..)
            .zip(local)
            .map(|(second, local)| {
                let old = satellite;
                if is_handover(second) {
                    satellite = normal(rng);
                }
                // The hand-over comes in the middle of its second.
                share * f64::midpoint(old, satellite) + rest * local
            })
            .collect()
    }

    /// Gives the ranked values the quantiles of the reference, scaled to the wanted mean.
    fn with_real_distribution(&self, hidden: &[f64]) -> Vec<u64> {
        let mut order: Vec<usize> = (0..hidden.len()).collect();
        order.sort_by(|a, b| hidden[*a].total_cmp(&hidden[*b]));
        let quantiles: Vec<f64> =
            (0..hidden.len()).map(|k| quantile(self.reference, (k as f64 + 0.5) / hidden.len() as f64)).collect();
        let scale = self.mean_bps as f64 * hidden.len() as f64 / quantiles.iter().sum::<f64>();
        let mut rates = vec![0; hidden.len()];
        for (index, value) in order.into_iter().zip(quantiles) {
            rates[index] = to_bps(value * scale);
        }
        rates
    }

    /// Cuts each second into steps that vary around its rate.
    fn flutter(&self, rates: &[u64], rng: &mut Xoshiro256PlusPlus) -> Vec<Segment> {
        let count = usize::try_from(1000 / self.step_ms).unwrap_or(1);
        let outages = self.inner_outages(rates, rng);
        let mut segments = Vec::with_capacity(rates.len() * (count + 1));
        for ((second, rate), silent) in (0_u64..).zip(rates).zip(outages) {
            let mut weights: Vec<f64> = (0..count).map(|_| libm::exp(self.reference.flutter * normal(rng))).collect();
            let first = below(count - silent + 1, rng);
            weights[first..first + silent].fill(0.0);
            let gap_ms = self.handover_gap_ms.filter(|_| is_handover(second)).unwrap_or(0);
            let parts = weights.into_iter().enumerate().flat_map(|(index, weight)| {
                let gap_ms = if index == count / 2 { gap_ms } else { 0 };
                [(gap_ms, 0.0), (self.step_ms - gap_ms, weight)]
            });
            push_second(&mut segments, *rate, parts.filter(|(ms, _)| *ms > 0).collect());
        }
        segments
    }

    /// How many steps of each second are silent: bursts of 100 to 600 ms in the slower half of the seconds.
    fn inner_outages(&self, rates: &[u64], rng: &mut Xoshiro256PlusPlus) -> Vec<usize> {
        let per_100ms = 100 / self.step_ms.max(1);
        let total_ms = rates.len() as f64 * 1000.0 * self.reference.inner_outage_share;
        let mut left = (libm::round(total_ms / 100.0)) as u64;
        let mut order: Vec<usize> = (0..rates.len()).collect();
        order.sort_by_key(|index| rates[*index]);
        order.truncate(rates.len().div_ceil(2));
        shuffle(&mut order, rng);
        let mut silent = vec![0; rates.len()];
        for index in order {
            let tenths = (below(6, rng) as u64 + 1).min(left);
            left -= tenths;
            silent[index] = usize::try_from(tenths * per_100ms).unwrap_or(0);
        }
        silent
    }
}

fn is_handover(second: u64) -> bool {
    second % HANDOVER_S == FIRST_HANDOVER_S
}

/// Splits what a second delivers over its parts (length in ms and weight); the last one takes what rounding leaves.
fn push_second(segments: &mut Vec<Segment>, rate: u64, parts: Vec<(u64, f64)>) {
    let total: f64 = parts.iter().map(|(ms, weight)| *ms as f64 * weight).sum();
    for (ms, weight) in parts {
        segments.push(Segment::new(ms * NS_PER_MS, to_bps(rate as f64 * 1000.0 * weight / total)));
    }
}

fn quantile(reference: &Reference, share: f64) -> f64 {
    let above = SHARES.partition_point(|s| *s < share).clamp(1, SHARES.len() - 1);
    let [low, high] = [above - 1, above].map(|i| (SHARES[i], f64::from(reference.quantiles_kbps[i])));
    low.1 + (share - low.0) / (high.0 - low.0) * (high.1 - low.1)
}
