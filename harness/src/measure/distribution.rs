//! Distributions whose largest values may be unknown, and the percentiles that may be read off them.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2Serializer};
use serde::{Deserialize, Serialize};

/// Significant decimal digits of every histogram: values are known to within 0.1 %.
pub const SIGNIFICANT_DIGITS: u8 = 3;

/// How many samples must lie beyond a percentile before it is given: ours, a usual rule of thumb. With ten, the count
/// beyond has a standard error of about a third of itself.
const SAMPLES_BEYOND: u64 = 10;

const PARTS: u64 = 100_000;

/// A percentile as an exact fraction, so that its rank never depends on rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Percentile(u32);

impl Percentile {
    /// The median.
    pub const P50: Self = Self(50_000);
    /// Nine of ten are below.
    pub const P90: Self = Self(90_000);
    /// 99 of 100 are below.
    pub const P99: Self = Self(99_000);
    /// 999 of 1 000 are below.
    pub const P99_9: Self = Self(99_900);
    /// 9 999 of 10 000 are below.
    pub const P99_99: Self = Self(99_990);

    /// From thousandths of a percent; `None` from 100 % on, which is the maximum and no percentile.
    pub const fn from_milli_percent(milli_percent: u32) -> Option<Self> {
        if (milli_percent as u64) < PARTS { Some(Self(milli_percent)) } else { None }
    }

    /// As a real number of percent.
    pub fn as_percent(self) -> f64 {
        f64::from(self.0) / 1_000.0
    }

    /// The place of this percentile among `count` sorted values, from 1: the smallest rank with at least this share at or
    /// below it.
    pub const fn rank(self, count: u64) -> u64 {
        let rank = (count as u128 * self.0 as u128).div_ceil(PARTS as u128) as u64;
        if rank == 0 { 1 } else { rank }
    }

    /// How many samples this percentile needs, 10 / (1 − q): 20 for the median, 1 000 for the 99th, 10 000 for the 99.9th.
    pub const fn samples_needed(self) -> u64 {
        (SAMPLES_BEYOND * PARTS).div_ceil(PARTS - self.0 as u64)
    }
}

/// What is known of one value, in whole base units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The value.
    Exactly(u64),
    /// It falls among measurements that were cut off: all that is known is that it is larger.
    MoreThan(u64),
}

impl Reading {
    /// The value, or the bound that it exceeds.
    pub const fn raw(self) -> u64 {
        match self {
            Self::Exactly(value) | Self::MoreThan(value) => value,
        }
    }

    /// Whether only a lower bound is known.
    pub const fn is_bound(self) -> bool {
        matches!(self, Self::MoreThan(_))
    }
}

/// Measured values, and the ones that were cut off at the end of the run.
///
/// A cut-off (censored) measurement counts as larger than every observed one, whatever its bound. A percentile that falls
/// among them is a lower bound, so that an algorithm cannot improve its tail by starving the flows that would be in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    observed: Histogram<u64>,
    censored: Histogram<u64>,
}

impl Default for Distribution {
    fn default() -> Self {
        Self { observed: empty_histogram(), censored: empty_histogram() }
    }
}

impl Distribution {
    /// A distribution of known values, brought to [`SIGNIFICANT_DIGITS`].
    pub fn from_observed(values: &Histogram<u64>) -> Self {
        let mut all = Self::default();
        add(&mut all.observed, values);
        all
    }

    /// Adds a known value.
    pub fn observe(&mut self, value: u64) {
        record(&mut self.observed, value);
    }

    /// Adds a measurement of which only is known that it is larger than `bound`.
    pub fn censor(&mut self, bound: u64) {
        record(&mut self.censored, bound);
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        add(&mut self.observed, &other.observed);
        add(&mut self.censored, &other.censored);
    }

    /// The known values.
    pub fn observed(&self) -> &Histogram<u64> {
        &self.observed
    }

    /// The bounds of those cut off.
    pub fn censored(&self) -> &Histogram<u64> {
        &self.censored
    }

    /// How many measurements there are, cut off or not.
    pub fn count(&self) -> u64 {
        self.observed.len().saturating_add(self.censored.len())
    }

    /// The percentile, if there are samples enough behind it; see [`Percentile::samples_needed`].
    pub fn percentile(&self, percentile: Percentile) -> Option<Reading> {
        if self.count() < percentile.samples_needed() {
            return None;
        }
        Ranked::of(&[self]).percentile(percentile, &[1])
    }

    /// The largest measurement, of one or more.
    pub fn max(&self) -> Option<Reading> {
        Ranked::of(&[self]).max(&[1])
    }
}

/// Several distributions side by side, laid out so that a percentile of any weighted union of them takes a binary search
/// instead of a merge. The bootstrap asks for thousands.
#[derive(Clone, Debug)]
pub(crate) struct Ranked {
    /// Known values only.
    observed: Cumulative,
    /// Known values and bounds together, where there are bounds: the order statistic of these bounds that of the unknown truth
    /// from below.
    floor: Option<Cumulative>,
}

impl Ranked {
    /// Lays out `parts`, in their order.
    pub(crate) fn of(parts: &[&Distribution]) -> Self {
        let any_censored = parts.iter().any(|part| !part.censored.is_empty());
        Self {
            observed: Cumulative::of(parts, |part| vec![&part.observed]),
            floor: any_censored.then(|| Cumulative::of(parts, |part| vec![&part.observed, &part.censored])),
        }
    }

    /// Measurements in the union that holds each part `weights[part]` times.
    pub(crate) fn count(&self, weights: &[u32]) -> u64 {
        self.floor().count(weights)
    }

    /// The percentile of the weighted union, however few samples there are; `None` of none.
    pub(crate) fn percentile(&self, percentile: Percentile, weights: &[u32]) -> Option<Reading> {
        let rank = percentile.rank(self.count(weights));
        match self.observed.value_at(rank, weights) {
            Some(value) => Some(Reading::Exactly(value)),
            None => self.floor().value_at(rank, weights).map(Reading::MoreThan),
        }
    }

    fn floor(&self) -> &Cumulative {
        self.floor.as_ref().unwrap_or(&self.observed)
    }

    /// The largest of the weighted union.
    pub(crate) fn max(&self, weights: &[u32]) -> Option<Reading> {
        let count = self.count(weights);
        let value = self.floor().value_at(count.max(1), weights)?;
        Some(if self.observed.count(weights) == count { Reading::Exactly(value) } else { Reading::MoreThan(value) })
    }
}

/// Distinct values in ascending order, with each part's count at or below them.
#[derive(Clone, Debug)]
struct Cumulative {
    values: Vec<u64>,
    /// `below[i * parts + part]`: how many of `part` are at most `values[i]`.
    below: Vec<u64>,
    parts: usize,
}

impl Cumulative {
    fn of<'a>(parts: &[&'a Distribution], pick: impl Fn(&'a Distribution) -> Vec<&'a Histogram<u64>>) -> Self {
        let mut steps: Vec<(u64, usize, u64)> = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            for histogram in pick(part) {
                let recorded = histogram.iter_recorded();
                steps.extend(recorded.map(|step| (step.value_iterated_to(), index, step.count_at_value())));
            }
        }
        steps.sort_unstable();
        let (mut values, mut below) = (Vec::new(), Vec::new());
        let mut running = vec![0_u64; parts.len()];
        for (value, part, count) in steps {
            if values.last() != Some(&value) {
                values.push(value);
                below.extend_from_slice(&running);
            }
            running[part] = running[part].saturating_add(count);
            let row = below.len() - parts.len();
            below[row + part] = running[part];
        }
        Self { values, below, parts: parts.len() }
    }

    fn below(&self, index: usize, weights: &[u32]) -> u64 {
        let row = &self.below[index * self.parts..(index + 1) * self.parts];
        row.iter().zip(weights).map(|(&count, &weight)| count.saturating_mul(u64::from(weight))).sum()
    }

    fn count(&self, weights: &[u32]) -> u64 {
        self.values.len().checked_sub(1).map_or(0, |last| self.below(last, weights))
    }

    /// The `rank`-th smallest value, from 1; `None` if there are fewer.
    fn value_at(&self, rank: u64, weights: &[u32]) -> Option<u64> {
        let (mut low, mut high) = (0, self.values.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.below(middle, weights) >= rank { high = middle } else { low = middle + 1 }
        }
        self.values.get(low).copied()
    }
}

pub(crate) fn empty_histogram() -> Histogram<u64> {
    Histogram::new(SIGNIFICANT_DIGITS).expect("three digits are within one to five")
}

fn record(histogram: &mut Histogram<u64>, value: u64) {
    // Growing can only fail where `usize` is too small for the counts, which never happens with three digits.
    if histogram.record(value).is_err() {
        histogram.saturating_record(value);
    }
}

fn add(to: &mut Histogram<u64>, from: &Histogram<u64>) {
    for step in from.iter_recorded() {
        let (value, count) = (step.value_iterated_to(), step.count_at_value());
        if to.record_n(value, count).is_err() {
            to.saturating_record_n(value, count);
        }
    }
}

/// On disk, a distribution is its histograms in HdrHistogram's V2 encoding as base64; the second is left out where nothing
/// was cut off.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    observed: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    censored: Option<String>,
}

impl Serialize for Distribution {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let encode_or_fail = |histogram| encode(histogram).map_err(serde::ser::Error::custom);
        Stored {
            observed: encode_or_fail(&self.observed)?,
            censored: if self.censored.is_empty() { None } else { Some(encode_or_fail(&self.censored)?) },
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Distribution {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = Stored::deserialize(deserializer)?;
        let decode_or_fail = |text: &str| decode(text).map_err(serde::de::Error::custom);
        Ok(Self {
            observed: decode_or_fail(&stored.observed)?,
            censored: stored.censored.as_deref().map_or_else(|| Ok(empty_histogram()), decode_or_fail)?,
        })
    }
}

fn encode(histogram: &Histogram<u64>) -> Result<String, hdrhistogram::serialization::V2SerializeError> {
    let mut bytes = Vec::new();
    V2Serializer::new().serialize(histogram, &mut bytes)?;
    Ok(BASE64.encode(bytes))
}

/// Why a text is no histogram.
#[derive(Debug)]
enum DecodeError {
    Base64(base64::DecodeError),
    Truncated,
    Histogram(hdrhistogram::serialization::DeserializeError),
    Precision(u8),
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Base64(error) => write!(f, "histogram is not base64: {error}"),
            Self::Truncated => write!(f, "histogram is shorter or longer than its header says"),
            Self::Histogram(error) => write!(f, "not an HdrHistogram V2 encoding: {error}"),
            Self::Precision(digits) => {
                write!(f, "histogram has {digits} significant digits, expected {SIGNIFICANT_DIGITS}")
            }
        }
    }
}

/// Bytes before the counts: cookie, length, offset and digits of 4 bytes, lowest and highest value and ratio of 8.
const V2_HEADER: usize = 40;

fn decode(text: &str) -> Result<Histogram<u64>, DecodeError> {
    let bytes = BASE64.decode(text).map_err(DecodeError::Base64)?;
    // The decoder allocates what the header asks for before it looks at what is there.
    let length = bytes.get(4..8).and_then(|field| <[u8; 4]>::try_from(field).ok()).map(u32::from_be_bytes);
    if length.is_none_or(|length| Some(length as usize) != bytes.len().checked_sub(V2_HEADER)) {
        return Err(DecodeError::Truncated);
    }
    let stored: Histogram<u64> =
        Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(DecodeError::Histogram)?;
    if stored.sigfig() != SIGNIFICANT_DIGITS {
        return Err(DecodeError::Precision(stored.sigfig()));
    }
    let mut histogram = empty_histogram();
    add(&mut histogram, &stored);
    Ok(histogram)
}

#[cfg(test)]
mod tests;
