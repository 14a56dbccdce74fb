//! Time, durations and rates as integers that cannot be mixed up.
//!
//! Byte and packet counts stay `u64`, in fields and arguments whose names end in `bytes` or `packets`: windows and
//! totals never need more, and never less (a 32-bit window overflows at 400 Gb/s and 100 ms).
//!
//! Arithmetic says by name whether it saturates or checks. The operators saturate: a deadline "ten years after the end
//! of time" is simply never reached.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};

const NANOS_PER_SEC: u64 = 1_000_000_000;

/// A point in time, in nanoseconds since an origin that the driver chooses (start of the simulation, start of the process).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Timestamp(u64);

impl Timestamp {
    /// The driver's origin of time.
    pub const ZERO: Self = Self(0);

    /// The point `nanos` nanoseconds after the origin.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the origin.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The time from `earlier` until now; zero if `earlier` lies in the future.
    pub const fn saturating_since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// The time from `earlier` until now, or `None` if `earlier` lies in the future.
    pub const fn checked_since(self, earlier: Self) -> Option<Span> {
        match self.0.checked_sub(earlier.0) {
            Some(nanos) => Some(Span(nanos)),
            None => None,
        }
    }

    /// The point `span` before this one; the origin if that lies before it.
    pub const fn saturating_sub(self, span: Span) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

/// Saturates at the end of representable time (584 years).
impl Add<Span> for Timestamp {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Timestamp {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{:?}", Span(self.0))
    }
}

/// A length of time in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Span(u64);

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The longest representable span, 584 years.
    pub const MAX: Self = Self(u64::MAX);

    /// `nanos` nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// `micros` microseconds, saturating.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// `millis` milliseconds, saturating.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// `secs` seconds, saturating.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(NANOS_PER_SEC))
    }

    /// `secs` seconds, rounded to the nearest nanosecond. Negative and NaN give zero, too large gives [`Span::MAX`].
    pub fn from_secs_f64(secs: f64) -> Self {
        Self(round_to_u64(secs * NANOS_PER_SEC as f64))
    }

    /// Whole nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Whole microseconds, rounded down.
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000
    }

    /// Whole milliseconds, rounded down.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }

    /// Seconds, as a real number.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC as f64
    }

    /// Whether this is no time at all.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Difference, or zero if `other` is longer.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Product with an integer, saturating.
    pub const fn saturating_mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }

    /// Product with a real factor, rounded to the nearest nanosecond; negative and NaN give zero, too large saturates.
    pub fn mul_f64(self, factor: f64) -> Self {
        Self(round_to_u64(self.0 as f64 * factor))
    }

    /// `self * numerator / denominator` without overflow in between, rounded down; a zero denominator gives [`Span::MAX`].
    pub const fn mul_div(self, numerator: u64, denominator: u64) -> Self {
        Self(mul_div(self.0, numerator, denominator))
    }

    /// The absolute difference of two spans.
    pub const fn abs_diff(self, other: Self) -> Self {
        Self(self.0.abs_diff(other.0))
    }
}

/// Saturates at [`Span::MAX`].
impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// Saturates at zero.
impl Sub for Span {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.saturating_sub(other)
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The largest unit in which the value is at least one, for people: `1.5ms`, `40us`, `2s`.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0;
        match nanos {
            0..1_000 => write!(f, "{nanos}ns"),
            1_000..1_000_000 => write!(f, "{}us", nanos as f64 / 1e3),
            1_000_000..NANOS_PER_SEC => write!(f, "{}ms", nanos as f64 / 1e6),
            _ => write!(f, "{}s", nanos as f64 / 1e9),
        }
    }
}

/// A data rate in bits per second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Rate(u64);

impl Rate {
    /// Nothing moves.
    pub const ZERO: Self = Self(0);
    /// The largest representable rate, 18 Eb/s.
    pub const MAX: Self = Self(u64::MAX);

    /// `bps` bits per second.
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }

    /// `kbps` kilobits (1 000 bits) per second, saturating.
    pub const fn from_kbps(kbps: u64) -> Self {
        Self(kbps.saturating_mul(1_000))
    }

    /// `mbps` megabits per second, saturating.
    pub const fn from_mbps(mbps: u64) -> Self {
        Self(mbps.saturating_mul(1_000_000))
    }

    /// `gbps` gigabits per second, saturating.
    pub const fn from_gbps(gbps: u64) -> Self {
        Self(gbps.saturating_mul(1_000_000_000))
    }

    /// `bytes` moved in `span`, rounded down, saturating; `None` for an empty span, where no rate exists.
    pub const fn from_bytes_in(bytes: u64, span: Span) -> Option<Self> {
        if span.0 == 0 {
            return None;
        }
        Some(Self(mul_div(bytes, 8 * NANOS_PER_SEC, span.0)))
    }

    /// Bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Whole bytes moved in `span`, rounded down, saturating.
    pub const fn bytes_in(self, span: Span) -> u64 {
        mul_div(self.0, span.0, 8 * NANOS_PER_SEC)
    }

    /// How long `bytes` take, rounded up to whole nanoseconds, saturating; `None` at rate zero, where they never arrive.
    pub const fn time_for(self, bytes: u64) -> Option<Span> {
        if self.0 == 0 {
            return None;
        }
        let bits = bytes as u128 * 8 * NANOS_PER_SEC as u128;
        Some(Span(clamp_u128(bits.div_ceil(self.0 as u128))))
    }

    /// Product with a real factor, rounded; negative and NaN give zero, too large saturates.
    pub fn mul_f64(self, factor: f64) -> Self {
        Self(round_to_u64(self.0 as f64 * factor))
    }

    /// `self * numerator / denominator` without overflow in between, rounded down; a zero denominator gives [`Rate::MAX`].
    pub const fn mul_div(self, numerator: u64, denominator: u64) -> Self {
        Self(mul_div(self.0, numerator, denominator))
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The largest unit in which the value is at least one, for people: `12.5Mbps`.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bps = self.0;
        match bps {
            0..1_000 => write!(f, "{bps}bps"),
            1_000..1_000_000 => write!(f, "{}kbps", bps as f64 / 1e3),
            1_000_000..1_000_000_000 => write!(f, "{}Mbps", bps as f64 / 1e6),
            _ => write!(f, "{}Gbps", bps as f64 / 1e9),
        }
    }
}

/// `value * numerator / denominator` in 128 bits, rounded down, saturating; a zero denominator gives `u64::MAX`.
pub const fn mul_div(value: u64, numerator: u64, denominator: u64) -> u64 {
    if denominator == 0 {
        return u64::MAX;
    }
    // Dividing 128 bits takes several times as long as 64, and hardly any product needs them.
    match value.checked_mul(numerator) {
        Some(product) => product / denominator,
        None => clamp_u128(value as u128 * numerator as u128 / denominator as u128),
    }
}

/// Nearest integer to a real number of bytes or the like; negative and NaN give zero, too large gives `u64::MAX`.
pub fn round_to_u64(value: f64) -> u64 {
    // `as` truncates, saturates and maps NaN to zero. What it cuts off is exact: from 2^52 on there is none.
    let whole = value as u64;
    if value - whole as f64 >= 0.5 { whole.saturating_add(1) } else { whole }
}

const fn clamp_u128(value: u128) -> u64 {
    if value > u64::MAX as u128 { u64::MAX } else { value as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_times_spans_saturate_at_the_extremes() {
        // (rate, span, bytes): 10 Gb/s x 2 s = 2.5 GB; the rest would overflow 64 bits in between.
        let cases = [
            (Rate::from_gbps(10), Span::from_secs(2), 2_500_000_000),
            (Rate::from_gbps(800), Span::from_secs(3_600 * 24 * 365), 3_153_600_000_000_000_000),
            (Rate::MAX, Span::MAX, u64::MAX),
            (Rate::from_bps(7), Span::from_secs(1), 0),
            (Rate::ZERO, Span::MAX, 0),
        ];
        for (rate, span, bytes) in cases {
            assert_eq!(rate.bytes_in(span), bytes, "{rate} for {span}");
        }
        assert_eq!(Rate::from_kbps(1).time_for(u64::MAX), Some(Span::MAX));
        assert_eq!(Rate::ZERO.time_for(1), None);
        assert_eq!(Rate::from_bytes_in(1, Span::ZERO), None);
        assert_eq!(Rate::from_bytes_in(u64::MAX, Span::from_nanos(1)), Some(Rate::MAX));
    }

    #[test]
    fn a_header_at_800_gbps_takes_one_nanosecond_rounded_up() {
        // 64 B x 8 / 800e9 b/s = 640 ps.
        assert_eq!(Rate::from_gbps(800).time_for(64), Some(Span::from_nanos(1)));
    }

    #[test]
    fn operators_saturate_instead_of_wrapping() {
        let end = Timestamp::from_nanos(u64::MAX);
        assert_eq!(end + Span::from_secs(1), end);
        assert_eq!(Span::MAX + Span::MAX, Span::MAX);
        assert_eq!(Span::ZERO - Span::MAX, Span::ZERO);
        assert_eq!(Timestamp::ZERO.saturating_since(end), Span::ZERO);
        assert_eq!(Timestamp::ZERO.checked_since(end), None);
    }

    #[test]
    fn real_factors_never_poison_an_integer() {
        let second = Span::from_secs(1);
        assert_eq!(second.mul_f64(f64::NAN), Span::ZERO);
        assert_eq!(second.mul_f64(-1.0), Span::ZERO);
        assert_eq!(second.mul_f64(f64::INFINITY), Span::MAX);
        assert_eq!(second.mul_f64(1.25), Span::from_millis(1_250));
        assert_eq!(Span::from_secs_f64(0.04), Span::from_millis(40));
        assert_eq!(mul_div(u64::MAX, 3, 3), u64::MAX);
        assert_eq!(mul_div(1, 1, 0), u64::MAX);
    }

    #[test]
    fn real_numbers_go_to_the_nearest_integer_and_halves_away_from_zero() {
        let around = |value: f64| [value.next_down(), value, value.next_up()];
        let halves = [0.5, 1.5, 2.5, 1e6 + 0.5, 4_503_599_627_370_495.5].map(around);
        let edges = [0.0, 1.0, 4_503_599_627_370_496.0, 9_007_199_254_740_993.0, 1.844_674_407_370_955e19].map(around);
        for value in halves.into_iter().chain(edges).flatten().flat_map(|value| [value, -value]) {
            assert_eq!(round_to_u64(value), libm::round(value) as u64, "{value}");
        }
    }

    #[test]
    fn display_uses_the_largest_fitting_unit() {
        assert_eq!(Span::from_micros(1_500).to_string(), "1.5ms");
        assert_eq!(Span::from_nanos(999).to_string(), "999ns");
        assert_eq!(Rate::from_kbps(12_500).to_string(), "12.5Mbps");
    }
}
