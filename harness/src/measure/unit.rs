//! Units of results: how integers become numbers for machines and for people.

/// What a metric's integers count, and in what it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds, given in milliseconds.
    Time,
    /// Thousandths of a factor.
    Factor,
    /// Millionths of a whole; people read them as per cent.
    Fraction,
    /// Millionths of an index that goes from 0 to 1.
    Index,
    /// Bits per second, given in Mb/s.
    Rate,
    /// Bytes.
    Bytes,
    /// A number of things.
    Count,
}

impl Unit {
    /// Integers per given unit.
    pub const fn scale(self) -> u64 {
        match self {
            Self::Time | Self::Fraction | Self::Index | Self::Rate => 1_000_000,
            Self::Factor => 1_000,
            Self::Bytes | Self::Count => 1,
        }
    }

    /// What a column's name ends in.
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Time => "_ms",
            Self::Rate => "_mbps",
            Self::Bytes => "_bytes",
            Self::Factor | Self::Fraction | Self::Index | Self::Count => "",
        }
    }

    /// The value for people: three significant digits in the largest fitting unit.
    pub fn human(self, raw: f64) -> String {
        let scale = self.human_scale(raw);
        if scale.name.is_empty() { scale.number(raw) } else { format!("{} {}", scale.number(raw), scale.name) }
    }

    /// Two values that belong together, the unit only once where it is the same.
    pub fn human_range(self, low: f64, high: f64) -> String {
        let (low_scale, high_scale) = (self.human_scale(low), self.human_scale(high));
        let low = if low_scale == high_scale { low_scale.number(low) } else { self.human(low) };
        format!("{low} – {}", self.human(high))
    }

    /// The unit in which people read values of up to `largest`.
    pub fn human_scale(self, largest: f64) -> HumanScale {
        const fn of(divisor: f64, name: &'static str) -> HumanScale {
            HumanScale { divisor, name }
        }
        let scales: &[HumanScale] = match self {
            Self::Time => &[of(1e9, "s"), of(1e6, "ms"), of(1e3, "µs"), of(1.0, "ns")],
            Self::Rate => &[of(1e9, "Gb/s"), of(1e6, "Mb/s"), of(1e3, "kb/s"), of(1.0, "b/s")],
            Self::Bytes => &[of(1e9, "GB"), of(1e6, "MB"), of(1e3, "kB"), of(1.0, "B")],
            Self::Factor => &[of(1e3, "")],
            Self::Fraction => &[of(1e4, "%")],
            Self::Index => &[of(1e6, "")],
            Self::Count => &[of(1.0, "")],
        };
        let fitting = scales.iter().find(|scale| largest.abs() >= scale.divisor);
        // Every list has an entry; below its smallest unit, that unit.
        *fitting.or(scales.last()).unwrap_or(&HumanScale { divisor: 1.0, name: "" })
    }
}

/// A unit as people read it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HumanScale {
    divisor: f64,
    /// Its sign; empty for plain numbers.
    pub name: &'static str,
}

impl HumanScale {
    /// The number in front of the unit, with three significant digits.
    pub fn number(self, raw: f64) -> String {
        three_digits(raw / self.divisor)
    }
}

fn three_digits(value: f64) -> String {
    let size = value.abs();
    let decimals = match size {
        _ if size == 0.0 || size >= 99.95 => 0,
        _ if size >= 9.995 => 1,
        _ if size >= 0.9995 => 2,
        _ if size >= 0.099_95 => 3,
        _ if size >= 0.009_995 => 4,
        _ if size >= 0.000_05 => 5,
        _ => return "<0.0001".into(),
    };
    format!("{value:.decimals$}")
}

/// `raw / scale`, exactly, without trailing zeros.
pub fn decimal(raw: u64, scale: u64) -> String {
    let scale = scale.max(1);
    let (whole, rest) = (raw / scale, raw % scale);
    if rest == 0 {
        return whole.to_string();
    }
    let digits = scale.ilog10() as usize;
    let fraction = format!("{rest:0digits$}");
    format!("{whole}.{}", fraction.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact_at_any_size() {
        let cases = [
            (0, 1_000, "0"),
            (1_500, 1_000, "1.5"),
            (1, 1_000_000, "0.000001"),
            (1_000_000, 1_000_000, "1"),
            (u64::MAX, 1_000_000, "18446744073709.551615"),
            (7, 1, "7"),
        ];
        for (raw, scale, text) in cases {
            assert_eq!(decimal(raw, scale), text);
        }
    }

    #[test]
    fn people_get_three_digits_in_the_largest_fitting_unit() {
        let cases = [
            (Unit::Time, 12_345_678.0, "12.3 ms"),
            (Unit::Time, 999.0, "999 ns"),
            (Unit::Time, 2.5e9, "2.50 s"),
            (Unit::Rate, 9_840_000.0, "9.84 Mb/s"),
            (Unit::Bytes, 150_000.0, "150 kB"),
            (Unit::Factor, 2_313.0, "2.31"),
            (Unit::Factor, 1_234_567.0, "1235"),
            (Unit::Fraction, 12_345.0, "1.23 %"),
            (Unit::Fraction, 927_800.0, "92.8 %"),
            (Unit::Fraction, 0.0, "0 %"),
            (Unit::Index, 12_345.0, "0.0123"),
            (Unit::Index, 6_900.0, "0.00690"),
            (Unit::Index, 7.0, "<0.0001"),
            (Unit::Index, 0.0, "0"),
            (Unit::Count, 12.0, "12.0"),
        ];
        for (unit, raw, text) in cases {
            assert_eq!(unit.human(raw), text, "{unit:?} {raw}");
        }
    }
}
