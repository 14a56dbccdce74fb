//! Decimal numbers read exactly, without a detour over floating point.

use crate::error::{TraceErrorKind, clip};

/// Reads a non-negative decimal number (`12`, `3.25`, `1.5e3`), multiplies it by `10^scale` and rounds to the nearest
/// integer, halves up.
pub(crate) fn parse_scaled(text: &str, scale: i32, what: &'static str) -> Result<u64, TraceErrorKind> {
    let text = text.trim();
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if ["nan", "inf", "infinity"].iter().any(|word| digits.eq_ignore_ascii_case(word)) {
        return Err(TraceErrorKind::NotFinite { what, text: clip(text) });
    }
    let (mantissa, power) =
        split(digits).ok_or_else(|| TraceErrorKind::NotANumber { what, text: clip(text), expected: "a number" })?;
    if negative && mantissa != 0 {
        return Err(TraceErrorKind::Negative { what, text: clip(text) });
    }
    shift(mantissa, power.saturating_add(i64::from(scale))).ok_or_else(|| TraceErrorKind::OutOfRange {
        what,
        text: clip(text),
        limit: format!("{} counted in the smallest unit (ns, bit/s)", u64::MAX),
    })
}

/// Digits and power of ten: `12.5e3` is `(125, 2)`.
fn split(digits: &str) -> Option<(u128, i64)> {
    // Beyond this many digits a further one cannot change the rounded result, except by size.
    const ENOUGH: u128 = 1_000_000_000_000_000_000_000_000_000_000;
    let (number, exponent) = match digits.find(['e', 'E']) {
        Some(at) => (&digits[..at], parse_exponent(&digits[at + 1..])?),
        None => (digits, 0),
    };
    let (mut mantissa, mut power, mut seen, mut in_fraction) = (0_u128, exponent, false, false);
    for byte in number.bytes() {
        match byte {
            b'0'..=b'9' => {
                seen = true;
                if mantissa < ENOUGH {
                    mantissa = mantissa * 10 + u128::from(byte - b'0');
                    power -= i64::from(in_fraction);
                } else {
                    power += i64::from(!in_fraction);
                }
            }
            b'.' if !in_fraction => in_fraction = true,
            _ => return None,
        }
    }
    seen.then_some((mantissa, power))
}

fn parse_exponent(text: &str) -> Option<i64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if unsigned.is_empty() || !unsigned.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    // An exponent of ten digits is as good as any larger one.
    let value = unsigned.parse::<i64>().unwrap_or(i64::MAX).min(9_999_999_999);
    Some(if text.starts_with('-') { -value } else { value })
}

fn shift(mantissa: u128, power: i64) -> Option<u64> {
    if mantissa == 0 {
        return Some(0);
    }
    let tens = u32::try_from(power.unsigned_abs()).ok().and_then(|p| 10_u128.checked_pow(p));
    let value = match (power >= 0, tens) {
        (true, Some(tens)) => mantissa.checked_mul(tens)?,
        (true, None) => return None,
        (false, Some(tens)) => mantissa / tens + u128::from(mantissa % tens >= tens.div_ceil(2)),
        (false, None) => 0,
    };
    u64::try_from(value).ok()
}

/// Writes a nanosecond count as seconds, without trailing zeros.
pub(crate) fn seconds(ns: u64) -> String {
    let (whole, fraction) = (ns / 1_000_000_000, ns % 1_000_000_000);
    if fraction == 0 {
        return whole.to_string();
    }
    let digits = format!("{fraction:09}");
    format!("{whole}.{}", digits.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn scales_and_rounds_exactly() {
        for (text, scale, expected) in [
            ("0", 9, 0),
            ("-0", 9, 0),
            ("58.4", 6, 58_400_000),
            ("1.5e3", 0, 1500),
            ("1E-3", 9, 1_000_000),
            (".5", 0, 1),
            ("0.49999999999999999999", 0, 0),
            ("2.", 0, 2),
            ("18446744073709551615", 0, u64::MAX),
            ("0.00000000000000000000000000000000000000000000000001", 9, 0),
        ] {
            assert_eq!(parse_scaled(text, scale, "x").unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn names_what_is_wrong() {
        let kind = |text| parse_scaled(text, 0, "rate").unwrap_err();
        assert!(matches!(kind("nan"), TraceErrorKind::NotFinite { .. }));
        assert!(matches!(kind("-Inf"), TraceErrorKind::NotFinite { .. }));
        assert!(matches!(kind("-1"), TraceErrorKind::Negative { .. }));
        assert!(matches!(kind("1e30"), TraceErrorKind::OutOfRange { .. }));
        assert!(matches!(kind("18446744073709551616"), TraceErrorKind::OutOfRange { .. }));
        assert!(matches!(kind("1e99999999999999999999"), TraceErrorKind::OutOfRange { .. }));
        for text in ["", ".", "e5", "1e", "1e+", "1.2.3", "0x10", "1 2", "--1", "a"] {
            assert!(matches!(kind(text), TraceErrorKind::NotANumber { .. }), "{text}");
        }
    }

    proptest! {
        #[test]
        fn seconds_round_trip(ns: u64) {
            prop_assert_eq!(parse_scaled(&seconds(ns), 9, "time").unwrap(), ns);
        }
    }
}
