//! Parameters and their values.

use core::fmt;

use crate::units::{Rate, Span, round_to_u64};

/// A parameter: its type and default in one, its bounds and its meaning.
#[derive(Clone, Debug)]
pub struct Param {
    pub(super) name: &'static str,
    pub(super) default: Value,
    pub(super) min: f64,
    pub(super) max: f64,
    pub(super) help: &'static str,
}

impl Param {
    /// A parameter with the type of its default, without bounds but those of the type.
    pub const fn new(name: &'static str, default: Value, help: &'static str) -> Self {
        Self { name, default, min: f64::NEG_INFINITY, max: f64::INFINITY, help }
    }

    /// With bounds, both allowed: plain numbers; nanoseconds for spans; bit/s for rates; bytes for sizes.
    #[must_use]
    pub const fn within(mut self, min: f64, max: f64) -> Self {
        self.min = min;
        self.max = max;
        self
    }

    /// Its name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Its default.
    pub const fn default(&self) -> Value {
        self.default
    }

    /// What it means.
    pub const fn help(&self) -> &'static str {
        self.help
    }
}

/// A parameter's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A real number.
    Number(f64),
    /// A whole number.
    Integer(u64),
    /// Bytes; accepts `1500`, `64kB`, `1MB`.
    Bytes(u64),
    /// A span of time; accepts `100us`, `25ms`, `1s`.
    Span(Span),
    /// A rate; accepts `10Mbps`, `400Gbps`.
    Rate(Rate),
    /// `on` or `off`.
    Switch(bool),
    /// One of several names.
    Choice(Choice),
}

/// One of several names, such as the law that another one is built around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    options: &'static [&'static str],
    chosen: &'static str,
}

impl Choice {
    /// The first of `options`; nothing at all if there are none.
    pub const fn first_of(options: &'static [&'static str]) -> Self {
        let chosen = match options {
            [first, ..] => first,
            [] => "",
        };
        Self { options, chosen }
    }

    /// The chosen name.
    pub const fn name(self) -> &'static str {
        self.chosen
    }

    /// The names that were not chosen.
    pub fn others(self) -> impl Iterator<Item = Self> {
        self.options
            .iter()
            .filter(move |option| **option != self.chosen)
            .map(move |option| Self { chosen: option, ..self })
    }

    fn choose(self, text: &str) -> Option<Self> {
        let chosen = self.options.iter().find(|option| **option == text)?;
        Some(Self { chosen, ..self })
    }
}

impl Value {
    /// Reads a value of the type of this one, with its unit; `None` if it is anything else.
    pub fn parse_as(self, text: &str) -> Option<Self> {
        Some(match self {
            Self::Number(_) => Self::Number(text.parse().ok().filter(|number: &f64| number.is_finite())?),
            Self::Integer(_) => Self::Integer(text.parse().ok()?),
            Self::Bytes(_) => Self::Bytes(parse_scaled(text, BYTE_UNITS)?),
            Self::Span(_) => Self::Span(Span::from_nanos(parse_scaled(text, SPAN_UNITS)?)),
            Self::Rate(_) => Self::Rate(Rate::from_bps(parse_scaled(text, RATE_UNITS)?)),
            Self::Switch(_) => Self::Switch(match text {
                "on" | "true" | "1" => true,
                "off" | "false" | "0" => false,
                _ => return None,
            }),
            Self::Choice(choice) => Self::Choice(choice.choose(text)?),
        })
    }

    /// A value of the same type, `factor` times as large and rounded to what the type can hold; `None` of switches and choices.
    pub fn scaled(self, factor: f64) -> Option<Self> {
        let whole = |amount: u64| round_to_u64(amount as f64 * factor);
        Some(match self {
            Self::Number(number) => Self::Number(number * factor),
            Self::Integer(number) => Self::Integer(whole(number)),
            Self::Bytes(bytes) => Self::Bytes(whole(bytes)),
            Self::Span(span) => Self::Span(Span::from_nanos(whole(span.as_nanos()))),
            Self::Rate(rate) => Self::Rate(Rate::from_bps(whole(rate.as_bps()))),
            Self::Switch(_) | Self::Choice(_) => return None,
        })
    }

    pub(super) fn magnitude(self) -> f64 {
        match self {
            Self::Number(number) => number,
            Self::Integer(number) | Self::Bytes(number) => number as f64,
            Self::Span(span) => span.as_nanos() as f64,
            Self::Rate(rate) => rate.as_bps() as f64,
            Self::Switch(on) => f64::from(u8::from(on)),
            Self::Choice(_) => 0.0,
        }
    }

    pub(super) fn kind(self) -> String {
        let kind = match self {
            Self::Number(_) => "a number",
            Self::Integer(_) => "a whole number",
            Self::Bytes(_) => "a size such as 1500, 64kB or 1MB",
            Self::Span(_) => "a time such as 100us, 25ms or 1s",
            Self::Rate(_) => "a rate such as 10Mbps or 400Gbps",
            Self::Switch(_) => "on or off",
            Self::Choice(choice) => return format!("one of {}", choice.options.join(", ")),
        };
        kind.to_owned()
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Bytes(bytes) => write!(f, "{bytes}B"),
            Self::Span(span) => write!(f, "{span}"),
            Self::Rate(rate) => write!(f, "{rate}"),
            Self::Switch(true) => f.write_str("on"),
            Self::Switch(false) => f.write_str("off"),
            Self::Choice(choice) => f.write_str(choice.chosen),
        }
    }
}

const BYTE_UNITS: &[(&str, f64)] = &[
    ("GiB", 1_073_741_824.0),
    ("MiB", 1_048_576.0),
    ("KiB", 1_024.0),
    ("GB", 1e9),
    ("MB", 1e6),
    ("kB", 1e3),
    ("B", 1.0),
    ("", 1.0),
];
const SPAN_UNITS: &[(&str, f64)] = &[("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
const RATE_UNITS: &[(&str, f64)] = &[("Gbps", 1e9), ("Mbps", 1e6), ("kbps", 1e3), ("bps", 1.0)];

/// `text` as a non-negative number with one of the `units`, scaled and rounded; `None` if it is anything else.
fn parse_scaled(text: &str, units: &[(&str, f64)]) -> Option<u64> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let scale = units.iter().find(|(name, _)| *name == unit)?.1;
    let scaled = number.parse::<f64>().ok()? * scale;
    (scaled >= 0.0 && scaled < u64::MAX as f64).then(|| round_to_u64(scaled))
}
