//! Units of time and rate, and how column names tell them.

use std::str::FromStr;

use crate::error::{TraceError, TraceErrorKind};

/// The unit of a time column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
}

impl TimeUnit {
    /// The power of ten that turns the unit into nanoseconds.
    pub(super) const fn to_ns(self) -> i32 {
        match self {
            Self::Seconds => 9,
            Self::Milliseconds => 6,
            Self::Microseconds => 3,
            Self::Nanoseconds => 0,
        }
    }

    fn from_token(token: &str) -> Option<Self> {
        Some(match token {
            "s" | "sec" | "secs" | "second" | "seconds" => Self::Seconds,
            "ms" | "msec" | "msecs" | "millis" | "millisecond" | "milliseconds" => Self::Milliseconds,
            "us" | "µs" | "usec" | "usecs" | "micros" | "microsecond" | "microseconds" => Self::Microseconds,
            "ns" | "nsec" | "nsecs" | "nanos" | "nanosecond" | "nanoseconds" => Self::Nanoseconds,
            _ => return None,
        })
    }

    /// The unit in a column's name: `time_ms`, `t (us)`, `seconds`.
    pub(super) fn in_name(name: &str) -> Option<Self> {
        tokens(name).iter().find_map(|token| Self::from_token(token))
    }

    /// The unit of a time since 1970, by its size: seconds since then are below 10^11 until the year 5138, and each
    /// finer unit is a thousand times larger. Small numbers are no such times and taken as seconds.
    pub(super) fn by_magnitude(text: &str) -> Self {
        match text.split('.').next().unwrap_or("").trim().len() {
            0..=11 => Self::Seconds,
            12..=14 => Self::Milliseconds,
            15..=17 => Self::Microseconds,
            _ => Self::Nanoseconds,
        }
    }
}

impl FromStr for TimeUnit {
    type Err = TraceError;

    fn from_str(name: &str) -> Result<Self, TraceError> {
        Self::from_token(name).ok_or_else(|| unknown("time unit", name, "s, ms, us, ns"))
    }
}

/// The unit of a rate column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RateUnit {
    /// Bits per second.
    Bits,
    /// 1000 bits per second.
    Kilobits,
    /// 10^6 bits per second.
    Megabits,
    /// 10^9 bits per second.
    Gigabits,
    /// Bytes per second.
    Bytes,
    /// 1000 bytes per second.
    Kilobytes,
    /// 10^6 bytes per second.
    Megabytes,
    /// 10^9 bytes per second.
    Gigabytes,
}

impl RateUnit {
    /// The power of ten, and the factor after it, that turn the unit into bits per second.
    pub(super) const fn to_bps(self) -> (i32, u64) {
        match self {
            Self::Bits => (0, 1),
            Self::Kilobits => (3, 1),
            Self::Megabits => (6, 1),
            Self::Gigabits => (9, 1),
            Self::Bytes => (0, 8),
            Self::Kilobytes => (3, 8),
            Self::Megabytes => (6, 8),
            Self::Gigabytes => (9, 8),
        }
    }

    /// A capital B means bytes: `MBps`, `MB/s`; everything else is bits: `mbps`, `Mbit/s`, `Mb/s`.
    fn from_token(token: &str) -> Option<Self> {
        match token {
            "Bps" | "B" | "Bytes" | "bytes" => return Some(Self::Bytes),
            "kBps" | "KBps" | "kB" | "KB" => return Some(Self::Kilobytes),
            "MBps" | "MB" => return Some(Self::Megabytes),
            "GBps" | "GB" => return Some(Self::Gigabytes),
            _ => {}
        }
        Some(match token.to_lowercase().as_str() {
            "bps" | "bit" | "bits" => Self::Bits,
            "kbps" | "kbit" | "kbits" | "kb" => Self::Kilobits,
            "mbps" | "mbit" | "mbits" | "mb" => Self::Megabits,
            "gbps" | "gbit" | "gbits" | "gb" => Self::Gigabits,
            _ => return None,
        })
    }

    /// The unit in a column's name: `rate_mbps`, `bandwidth (kbit/s)`.
    ///
    /// `DL_bitrate` and `UL_bitrate` are in kb/s, as the README of the 5G dataset of MMSys'20 (and of its LTE
    /// predecessor) defines them.
    pub(super) fn in_name(name: &str) -> Option<Self> {
        let words = split(name);
        let named = words.iter().find_map(|token| Self::from_token(token));
        let is_dataset = ["dl_bitrate", "ul_bitrate"].iter().any(|column| name.eq_ignore_ascii_case(column));
        named.or(is_dataset.then_some(Self::Kilobits))
    }
}

impl FromStr for RateUnit {
    type Err = TraceError;

    /// Reads `Mbps`, `mbit`, `kb/s`, `MB/s` and so on.
    fn from_str(name: &str) -> Result<Self, TraceError> {
        let token = name.strip_suffix("/s").unwrap_or(name);
        Self::from_token(token)
            .ok_or_else(|| unknown("rate unit", name, "bps, kbps, Mbps, Gbps, B/s, kB/s, MB/s, GB/s"))
    }
}

fn unknown(what: &'static str, name: &str, known: &str) -> TraceError {
    TraceErrorKind::UnknownName { what, name: name.to_owned(), known: known.to_owned() }.into()
}

fn split(name: &str) -> Vec<&str> {
    name.split(|c: char| !c.is_alphanumeric()).filter(|token| !token.is_empty()).collect()
}

/// The words of a column name, in lower case.
pub(super) fn tokens(name: &str) -> Vec<String> {
    split(name).into_iter().map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_found_in_names() {
        for (name, unit) in [
            ("throughput_mbps", Some(RateUnit::Megabits)),
            ("bandwidth (kbit/s)", Some(RateUnit::Kilobits)),
            ("rate_bps", Some(RateUnit::Bits)),
            ("DL_bitrate", Some(RateUnit::Kilobits)),
            ("goodput [MB/s]", Some(RateUnit::Megabytes)),
            ("bitrate", None),
        ] {
            assert_eq!(RateUnit::in_name(name), unit, "{name}");
        }
        for (name, unit) in [
            ("time_s", Some(TimeUnit::Seconds)),
            ("t(us)", Some(TimeUnit::Microseconds)),
            ("timestamp_ns", Some(TimeUnit::Nanoseconds)),
            ("Timestamp", None),
        ] {
            assert_eq!(TimeUnit::in_name(name), unit, "{name}");
        }
    }

    #[test]
    fn unknown_units_are_refused_with_the_known_ones() {
        let error = "furlongs".parse::<RateUnit>().unwrap_err().to_string();
        assert!(error.contains("`furlongs`") && error.contains("Mbps"), "{error}");
        assert!("fortnight".parse::<TimeUnit>().is_err());
        assert_eq!("kb/s".parse::<RateUnit>().unwrap(), RateUnit::Kilobits);
    }

    #[test]
    fn times_since_1970_are_known_by_their_size() {
        assert_eq!(TimeUnit::by_magnitude("1576499225.5"), TimeUnit::Seconds);
        assert_eq!(TimeUnit::by_magnitude("1576499225500"), TimeUnit::Milliseconds);
        assert_eq!(TimeUnit::by_magnitude("1576499225500000"), TimeUnit::Microseconds);
        assert_eq!(TimeUnit::by_magnitude("1576499225500000000"), TimeUnit::Nanoseconds);
    }
}
