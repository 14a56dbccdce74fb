//! Durations and bandwidths in the two notations of `netem-trace`.

use serde::Deserialize;
use serde::de::Error as _;

use crate::decimal;
use crate::trace::MAX_RATE_BPS;

/// A duration in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "DurationText")]
pub(super) struct Duration(pub(super) u64);

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a duration: text like \"1s 500ms\" or {\"secs\": 1, \"nanos\": 0}")]
enum DurationText {
    Human(String),
    Parts { secs: u64, nanos: u32 },
}

/// A bandwidth in bits per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "BandwidthText")]
pub(super) struct Bandwidth(pub(super) u64);

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a bandwidth: text like \"12Mbps\" or {\"gbps\": 0, \"bps\": 12000000}")]
enum BandwidthText {
    Human(String),
    Parts { gbps: u64, bps: u64 },
}

impl TryFrom<DurationText> for Duration {
    type Error = serde_json::Error;

    fn try_from(text: DurationText) -> Result<Self, Self::Error> {
        match text {
            DurationText::Human(text) => sum(&text, time_unit).map(Self),
            DurationText::Parts { secs, nanos } => {
                Ok(Self(secs.saturating_mul(1_000_000_000).saturating_add(u64::from(nanos))))
            }
        }
    }
}

impl TryFrom<BandwidthText> for Bandwidth {
    type Error = serde_json::Error;

    fn try_from(text: BandwidthText) -> Result<Self, Self::Error> {
        let bps = match text {
            BandwidthText::Human(text) => sum(&text, rate_unit)?,
            BandwidthText::Parts { gbps, bps } => gbps.saturating_mul(1_000_000_000).saturating_add(bps),
        };
        if bps > MAX_RATE_BPS {
            return Err(Self::Error::custom(format_args!("bandwidth {bps} bit/s is beyond 100 Tb/s")));
        }
        Ok(Self(bps))
    }
}

/// Nanoseconds of a unit, as a factor and a power of ten.
fn time_unit(unit: &str) -> Option<(u64, i32)> {
    Some(match unit {
        "ns" | "nsec" => (1, 0),
        "us" | "µs" | "usec" => (1, 3),
        "ms" | "msec" => (1, 6),
        "s" | "sec" | "secs" | "second" | "seconds" => (1, 9),
        "m" | "min" | "mins" | "minute" | "minutes" => (60, 9),
        "h" | "hr" | "hrs" | "hour" | "hours" => (3600, 9),
        "d" | "day" | "days" => (86_400, 9),
        _ => return None,
    })
}

/// Bits per second of a unit, as a factor and a power of ten.
fn rate_unit(unit: &str) -> Option<(u64, i32)> {
    let prefix = ["bps", "bit/s", "b/s"].iter().find_map(|suffix| unit.strip_suffix(suffix))?;
    Some(match prefix {
        "" => (1, 0),
        "k" | "K" => (1, 3),
        "m" | "M" => (1, 6),
        "g" | "G" => (1, 9),
        "t" | "T" => (1, 12),
        _ => return None,
    })
}

/// The sum of numbers with units: `1s 500ms`, `1 Gbps 500 Mbps`.
fn sum(text: &str, unit_of: fn(&str) -> Option<(u64, i32)>) -> Result<u64, serde_json::Error> {
    let bad = |reason: &str| serde_json::Error::custom(format_args!("`{text}`: {reason}"));
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(bad("expected a number with a unit"));
    }
    let mut total = 0_u64;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let after = after.trim_start();
        let length = after.find(|c: char| c.is_ascii_digit() || c.is_whitespace()).unwrap_or(after.len());
        let (unit, after) = after.split_at(length);
        let (factor, scale) = unit_of(unit).ok_or_else(|| bad("unknown unit"))?;
        let value = decimal::parse_scaled(number, scale, "value").map_err(|kind| bad(&kind.to_string()))?;
        total = total.saturating_add(value.saturating_mul(factor));
        rest = after.trim_start();
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_notations() {
        let duration = |json| serde_json::from_str::<Duration>(json).map(|d| d.0).ok();
        let bandwidth = |json| serde_json::from_str::<Bandwidth>(json).map(|b| b.0).ok();
        assert_eq!(duration("\"1s 500ms\""), Some(1_500_000_000));
        assert_eq!(duration("\"1m30s\""), Some(90_000_000_000));
        assert_eq!(duration("{\"secs\":0,\"nanos\":1000000}"), Some(1_000_000));
        assert_eq!(bandwidth("\"12Mbps\""), Some(12_000_000));
        assert_eq!(bandwidth("\"1Gbps 500 Mbps\""), Some(1_500_000_000));
        assert_eq!(bandwidth("\"1.5 Mbit/s\""), Some(1_500_000));
        assert_eq!(bandwidth("{\"gbps\":1,\"bps\":5}"), Some(1_000_000_005));
        for bad in ["\"\"", "\"12\"", "\"Mbps\"", "\"-1Mbps\"", "\"1 parsec\"", "12", "\"101Tbps\"", "\"1..2Mbps\""] {
            assert_eq!(bandwidth(bad), None, "{bad}");
        }
    }
}
