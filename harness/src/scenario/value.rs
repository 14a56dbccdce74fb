//! Values of the schema as text: times, rates, sizes, buffers.

use std::fmt;

use cc_algos::registry::Value;
use cc_algos::{Rate, Span};

/// Longest time in a scenario: thirty days. Ours; simulated time itself ends after 213 days.
pub const MAX_SPAN: Span = Span::from_secs(30 * 24 * 3_600);

/// A size in bytes: `1500`, `64kB`, `1MB`.
pub fn parse_bytes(text: &str) -> Option<u64> {
    match Value::Bytes(0).parse_as(text)? {
        Value::Bytes(bytes) => Some(bytes),
        _ => None,
    }
}

/// A time: `100us`, `25ms`, `1s`.
pub fn parse_span(text: &str) -> Option<Span> {
    match Value::Span(Span::ZERO).parse_as(text)? {
        Value::Span(span) => Some(span),
        _ => None,
    }
}

/// A rate: `10Mbps`, `400Gbps`.
pub fn parse_rate(text: &str) -> Option<Rate> {
    match Value::Rate(Rate::ZERO).parse_as(text)? {
        Value::Rate(rate) => Some(rate),
        _ => None,
    }
}

/// The largest unit that keeps a size whole: `64kB`, `1500B`.
pub fn format_bytes(bytes: u64) -> String {
    for (unit, scale) in [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)] {
        if bytes > 0 && bytes.is_multiple_of(scale) {
            return format!("{}{unit}", bytes / scale);
        }
    }
    format!("{bytes}B")
}

/// An amount of queue: `1bdp`, `100kB`, `100packets`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// Times the link's rate and the topology's round-trip propagation. A trace counts with its mean rate.
    Bdp(f64),
    /// Bytes.
    Bytes(u64),
    /// Times the MTU.
    Packets(u64),
}

/// What an amount may be written as.
pub const AMOUNT_EXPECTED: &str = "an amount such as 1bdp, 100kB or 100packets";

impl Amount {
    /// Reads `1bdp`, `100kB`, `100packets`.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(factor) = text.strip_suffix("bdp") {
            return factor.parse().ok().filter(|factor: &f64| (0.0..1e6).contains(factor)).map(Self::Bdp);
        }
        if let Some(count) = text.strip_suffix("packets").or_else(|| text.strip_suffix("packet")) {
            return count.parse().ok().map(Self::Packets);
        }
        parse_bytes(text).map(Self::Bytes)
    }

    /// Whether it is nothing at all.
    pub fn is_zero(self) -> bool {
        match self {
            Self::Bdp(factor) => factor <= 0.0,
            Self::Bytes(amount) | Self::Packets(amount) => amount == 0,
        }
    }

    /// In bytes, for a link of this bandwidth-delay product and packets of this size.
    pub fn in_bytes(self, bdp: u64, mtu: u64) -> u64 {
        match self {
            Self::Bdp(factor) => cc_algos::units::round_to_u64(bdp as f64 * factor),
            Self::Bytes(bytes) => bytes,
            Self::Packets(packets) => packets.saturating_mul(mtu),
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bdp(factor) => write!(f, "{factor}bdp"),
            Self::Bytes(bytes) => f.write_str(&format_bytes(*bytes)),
            Self::Packets(packets) => write!(f, "{packets}packets"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn amounts_scale_with_the_link_or_the_packet() {
        assert_eq!(Amount::parse("1.5bdp").map(|amount| amount.in_bytes(200_000, 1_500)), Some(300_000));
        assert_eq!(Amount::parse("100packets").map(|amount| amount.in_bytes(1, 1_500)), Some(150_000));
        assert_eq!(Amount::parse("100kB").map(|amount| amount.in_bytes(1, 1)), Some(100_000));
        for bad in ["", "bdp", "-1bdp", "NaNbdp", "infbdp", "1.5packets", "100kb", "fast"] {
            assert_eq!(Amount::parse(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn printed_values_parse_to_themselves(whole in 0_u64..(1 << 50), factor in 0.0_f64..1e5) {
            prop_assert_eq!(parse_span(&Span::from_nanos(whole).to_string()), Some(Span::from_nanos(whole)));
            prop_assert_eq!(parse_rate(&Rate::from_bps(whole).to_string()), Some(Rate::from_bps(whole)));
            prop_assert_eq!(parse_bytes(&format_bytes(whole)), Some(whole));
            for amount in [Amount::Bdp(factor), Amount::Bytes(whole), Amount::Packets(whole)] {
                prop_assert_eq!(Amount::parse(&amount.to_string()), Some(amount));
            }
        }
    }
}
