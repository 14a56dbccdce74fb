//! Calendar times as loggers write them.

/// Nanoseconds since 1970 of `YYYY.MM.DD_hh.mm.ss` or `YYYY-MM-DD hh:mm:ss`, with `T` between date and time, a fraction
/// of a second and a final `Z` allowed. `None` if the text is anything else, or outside 1970 to 2499.
pub(super) fn parse(text: &str) -> Option<u64> {
    let text = text.strip_suffix('Z').unwrap_or(text);
    let groups: Vec<&str> = text.split(['.', '-', '/', '_', ' ', 'T', ':']).collect();
    let (date_time, fraction) = match groups.as_slice() {
        [parts @ .., fraction] if parts.len() == 6 => (parts, *fraction),
        parts if parts.len() == 6 => (parts, ""),
        _ => return None,
    };
    let mut fields = [0_u64; 6];
    for ((field, digits), width) in fields.iter_mut().zip(date_time).zip([4, 2, 2, 2, 2, 2]) {
        *field = number(digits).filter(|_| digits.len() == width)?;
    }
    let [year, month, day, hour, minute, second] = fields;
    // A leap second (60) is allowed; it shares its nanoseconds with the second after it.
    let valid = (1970..2500).contains(&year)
        && (1..=12).contains(&month)
        && (1..=days_in(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    if !valid {
        return None;
    }
    let ns =
        if fraction.is_empty() { Some(0) } else { number(&format!("{fraction:0<9}")).filter(|n| *n < 1_000_000_000) };
    let days = days_before_year(year) + (1..month).map(|m| days_in(year, m)).sum::<u64>() + day - 1;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000_000_000 + ns?)
}

fn number(digits: &str) -> Option<u64> {
    let all_digits = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    all_digits.then(|| digits.parse().ok()).flatten()
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn days_in(year: u64, month: u64) -> u64 {
    match month {
        2 => 28 + u64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from the start of 1970 to the start of `year`.
fn days_before_year(year: u64) -> u64 {
    (1970..year).map(|y| 365 + u64::from(is_leap(y))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_instants() {
        // `date -u -d '2019-12-16 12:27:05' +%s` and so on.
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2019.12.16_12.27.05", 1_576_499_225),
            ("2024-02-29 23:59:59", 1_709_251_199),
            ("2000/03/01 00:00:00", 951_868_800),
        ] {
            assert_eq!(parse(text), Some(seconds * 1_000_000_000), "{text}");
        }
        assert_eq!(parse("1970-01-01 00:00:01.5"), Some(1_500_000_000));
    }

    #[test]
    fn what_is_no_calendar_time() {
        for text in [
            "",
            "12.5",
            "2019.02.29_00.00.00",
            "2019.13.01_00.00.00",
            "2019.12.16_24.00.00",
            "2019.12.16",
            "19.12.16_12.27.05",
            "9999.12.16_12.27.05",
            "2019.12.16_12.27.0x",
            "2019-12-16 12:27:05.1234567890",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
