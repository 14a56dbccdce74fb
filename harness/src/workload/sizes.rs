//! Flow-size distributions: a cumulative curve with straight lines between its points.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use sim::rng::{self, Random};

use super::published::Published;
use crate::scenario::value::{format_bytes, parse_bytes};

/// A distribution of flow sizes. Between two points of the curve sizes are spread evenly.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeDistribution {
    /// (bytes, cumulative probability), both non-decreasing, from probability 0 to 1.
    points: Vec<(u64, f64)>,
}

/// What is wrong with a curve.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SizeError {
    /// A line of a file is not two numbers.
    #[error("line {line}: `{text}`: expected `bytes cumulative_percent`, such as `10000 15`")]
    Malformed {
        /// Line, from 1.
        line: usize,
        /// What stands there.
        text: String,
    },
    /// A curve fell, or left the range of a percentage.
    #[error("line {line}: `{text}`: bytes and percentages may not fall, and percentages run from 0 to 100")]
    Order {
        /// Line, from 1.
        line: usize,
        /// What stands there.
        text: String,
    },
    /// The curve ends below 100 %.
    #[error("the last line reaches {percent} %: expected 100")]
    Incomplete {
        /// Where it ends.
        percent: f64,
    },
    /// Flows without bytes.
    #[error("every flow would be empty: expected sizes above 0")]
    Empty,
    /// Too large to add up.
    #[error("`{text}`: sizes above 1 EB cannot be summed")]
    TooLarge {
        /// What was given.
        text: String,
    },
}

/// Sizes beyond this could overflow the sums that runs keep.
const MAX_BYTES: u64 = 1_000_000_000_000_000_000;

impl SizeDistribution {
    /// Every flow has the same size.
    pub fn fixed(bytes: u64) -> Self {
        Self { points: vec![(bytes, 0.0), (bytes, 1.0)] }
    }

    /// Sizes spread evenly from `min` to `max`, both included.
    pub fn uniform(min: u64, max: u64) -> Self {
        Self { points: vec![(min, 0.0), (max, 1.0)] }
    }

    /// From a published table of (bytes, cumulative percent). A first point above 0 % is a share of flows of that very size.
    pub(super) fn from_table(table: &[(u64, f64)]) -> Self {
        let mut points: Vec<_> = table.iter().map(|&(bytes, percent)| (bytes, percent / 100.0)).collect();
        if let Some(&(bytes, share)) = points.first()
            && share > 0.0
        {
            points.insert(0, (bytes, 0.0));
        }
        Self { points }
    }

    /// Reads lines of `bytes cumulative_percent`; empty lines and what follows `#` are skipped.
    ///
    /// # Errors
    ///
    /// If a line is malformed or falls behind the one before, or the curve does not end at 100 %.
    pub fn parse(text: &str) -> Result<Self, SizeError> {
        let mut table: Vec<(u64, f64)> = Vec::new();
        for (index, raw) in text.lines().enumerate() {
            let content = raw.split('#').next().unwrap_or_default().trim();
            if content.is_empty() {
                continue;
            }
            let line = index + 1;
            let (bytes, percent) =
                parse_point(content).ok_or_else(|| SizeError::Malformed { line, text: content.to_owned() })?;
            let (last_bytes, last_percent) = table.last().copied().unwrap_or((0, 0.0));
            if bytes < last_bytes || percent < last_percent || percent > 100.0 {
                return Err(SizeError::Order { line, text: content.to_owned() });
            }
            if bytes > MAX_BYTES {
                return Err(SizeError::TooLarge { text: content.to_owned() });
            }
            table.push((bytes, percent));
        }
        match table.last() {
            Some(&(0, _)) | None => Err(SizeError::Empty),
            Some(&(_, percent)) if percent < 100.0 => Err(SizeError::Incomplete { percent }),
            Some(_) => Ok(Self::from_table(&table)),
        }
    }

    /// The mean size in bytes: exact for the curve (sampling rounds to whole bytes and makes no empty flow).
    pub fn mean(&self) -> f64 {
        self.points.windows(2).map(|pair| (pair[0].0 as f64 + pair[1].0 as f64) / 2.0 * (pair[1].1 - pair[0].1)).sum()
    }

    /// The size below which a share `probability` of the flows lies.
    pub fn quantile(&self, probability: f64) -> u64 {
        let above = self.points.partition_point(|&(_, cumulative)| cumulative <= probability);
        let (Some(&(from, low)), upper) = (self.points.get(above.saturating_sub(1)), self.points.get(above)) else {
            return 1;
        };
        let Some(&(to, high)) = upper else {
            return from.max(1);
        };
        let share = (probability - low) / (high - low);
        let bytes = from as f64 + (to as f64 - from as f64) * share.clamp(0.0, 1.0);
        cc_algos::units::round_to_u64(bytes).max(1)
    }

    /// A random size: at least one byte.
    pub fn sample(&self, random: &mut Random) -> u64 {
        self.quantile(rng::unit(random))
    }

    /// The curve's points: bytes and cumulative probability.
    pub fn points(&self) -> &[(u64, f64)] {
        &self.points
    }
}

fn parse_point(content: &str) -> Option<(u64, f64)> {
    let mut words = content.split_whitespace();
    let bytes = words.next()?.parse().ok()?;
    let percent: f64 = words.next()?.parse().ok().filter(|percent: &f64| percent.is_finite())?;
    words.next().is_none().then_some((bytes, percent))
}

/// How a scenario names its sizes: `64kB`, `uniform:1kB-1MB`, `web-search`, `file:sizes.txt`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// All the same, bytes.
    Fixed(u64),
    /// Spread evenly between two sizes, bytes.
    Uniform(u64, u64),
    /// One of the published distributions.
    Published(Published),
    /// A file of `bytes cumulative_percent` lines, relative to the scenario's file.
    File(PathBuf),
}

/// What sizes may be written as.
pub const SIZES_EXPECTED: &str = "a size such as 64kB, `uniform:1kB-1MB`, `file:PATH`, or one of web-search, data-mining, \
     hadoop, rpc, ali-storage";

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let positive = |text: &str| parse_bytes(text).filter(|bytes| (1..=MAX_BYTES).contains(bytes));
        if let Some(path) = text.strip_prefix("file:") {
            return if path.is_empty() {
                Err("expected a path after `file:`".into())
            } else {
                Ok(Self::File(path.into()))
            };
        }
        if let Some(range) = text.strip_prefix("uniform:") {
            let ends = range.split_once('-').and_then(|(min, max)| Some((positive(min)?, positive(max)?)));
            return match ends {
                Some((min, max)) if min <= max => Ok(Self::Uniform(min, max)),
                _ => Err("expected `uniform:MIN-MAX` with 0 < MIN <= MAX, such as `uniform:1kB-1MB`".into()),
            };
        }
        if let Some(published) = Published::by_name(text) {
            return Ok(Self::Published(published));
        }
        positive(text).map(Self::Fixed).ok_or_else(|| {
            let names = Published::ALL.iter().map(|published| published.name());
            match cc_algos::registry::nearest(text, names) {
                Some(name) => format!("did you mean `{name}`?"),
                None => format!("expected {SIZES_EXPECTED}"),
            }
        })
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(bytes) => f.write_str(&format_bytes(*bytes)),
            Self::Uniform(min, max) => write!(f, "uniform:{}-{}", format_bytes(*min), format_bytes(*max)),
            Self::Published(published) => f.write_str(published.name()),
            Self::File(path) => write!(f, "file:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn means_are_exact_for_straight_lines() {
        // Two segments: 1/4 of the flows average 50, 3/4 average 550.
        let curve = SizeDistribution::parse("0 0\n100 25\n1000 100\n").unwrap();
        assert!((curve.mean() - (0.25 * 50.0 + 0.75 * 550.0)).abs() < 1e-9);
        assert!((SizeDistribution::fixed(64_000).mean() - 64_000.0).abs() < 1e-9);
        assert!((SizeDistribution::uniform(10, 20).mean() - 15.0).abs() < 1e-9);
    }

    #[test]
    fn a_first_point_above_zero_is_a_share_of_flows_of_that_size() {
        let curve = SizeDistribution::parse("100 40 # two fifths\n200 100").unwrap();
        assert_eq!(curve.quantile(0.39), 100);
        assert_eq!(curve.quantile(0.7), 150);
        assert!((curve.mean() - (0.4 * 100.0 + 0.6 * 150.0)).abs() < 1e-9);
    }

    #[test]
    fn sampled_means_lie_within_five_standard_errors() {
        for curve in
            [SizeDistribution::fixed(7), SizeDistribution::uniform(1, 100), Published::AliStorage.distribution()]
        {
            let mut random = rng::stream(3, "sizes", 0);
            let samples: Vec<f64> = (0..50_000).map(|_| curve.sample(&mut random) as f64).collect();
            let n = samples.len() as f64;
            let mean = samples.iter().sum::<f64>() / n;
            let variance = samples.iter().map(|sample| (sample - mean) * (sample - mean)).sum::<f64>() / n;
            // Half a byte for rounding to whole bytes.
            let bound = 5.0 * (variance / n).sqrt() + 0.5;
            assert!((mean - curve.mean()).abs() <= bound, "{mean} {}", curve.mean());
        }
    }

    #[test]
    fn bad_curves_name_their_line() {
        let message = |text: &str| SizeDistribution::parse(text).unwrap_err().to_string();
        assert!(message("0 0\n10 x").starts_with("line 2: `10 x`"));
        assert!(message("0 0\n10 50\n9 100").starts_with("line 3"));
        assert!(message("0 0\n10 50\n20 40").starts_with("line 3"));
        assert!(message("0 0\n10 NaN").starts_with("line 2"));
        assert!(message("0 0\n10 101").starts_with("line 2"));
        assert_eq!(message("0 0\n10 99"), "the last line reaches 99 %: expected 100");
        assert_eq!(message("# nothing\n"), SizeError::Empty.to_string());
        assert_eq!(message("0 100\n"), SizeError::Empty.to_string());
    }

    #[test]
    fn names_print_as_they_parse() {
        for text in ["64kB", "1500B", "uniform:1kB-1MB", "web-search", "rpc", "file:a/b.txt"] {
            assert_eq!(text.parse::<Sizes>().unwrap().to_string(), text);
        }
        assert_eq!("web-serch".parse::<Sizes>().unwrap_err(), "did you mean `web-search`?");
        for bad in ["0", "uniform:5kB-1kB", "file:", "many", "-3kB"] {
            assert!(bad.parse::<Sizes>().is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn quantiles_never_fall_and_stay_within_the_curve(
            mut bytes in proptest::collection::vec(1_u64..1_000_000_000, 1..8),
            a in 0.0_f64..1.0,
            b in 0.0_f64..1.0,
        ) {
            bytes.sort_unstable();
            let n = bytes.len() as f64;
            let table: Vec<_> = bytes.iter().enumerate().map(|(i, &size)| (size, 100.0 * (i as f64 + 1.0) / n)).collect();
            let curve = SizeDistribution::from_table(&table);
            let (low, high) = (a.min(b), a.max(b));
            prop_assert!(curve.quantile(low) <= curve.quantile(high));
            prop_assert!(curve.quantile(low) >= bytes[0] && curve.quantile(high) <= bytes[bytes.len() - 1]);
        }
    }
}
