//! Seeded generators: made-up traces with the statistics of real links.
//!
//! A generator's parameters all have defaults. The same parameters and seed give the same trace on every platform.
//! [`Generator::targets`] names the statistics that a generator must match, and where they come from;
//! [`Generator::check`] measures how well a trace does.

mod fit;
mod mobile;
mod profile;
mod shapes;
mod spells;

use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::{TraceError, TraceErrorKind, clip};
use crate::trace::{MAX_DURATION_NS, MAX_RATE_BPS, Trace};

pub use fit::{Fit, Statistic, Target};
pub use mobile::{FiveG, Leo, Lte};
pub use profile::{FiveGProfile, LteProfile};
pub use shapes::{Constant, SawTooth, Step};
pub use spells::{InterDc, OnOff};

/// A generator with its parameters.
///
/// In text a generator is `name` or `name?parameter=value&…`, the parameters being the fields of its struct:
///
/// ```
/// use traces::Generator;
///
/// let generator: Generator = "lte?mean_bps=8000000&duration_s=60".parse()?;
/// let trace = generator.generate(1)?;
/// assert_eq!(trace.period_ns(), 60_000_000_000);
/// for fit in generator.check(&trace) {
///     println!("{fit}");
/// }
/// # Ok::<(), traces::TraceError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Generator {
    /// One rate.
    Constant(Constant),
    /// A square wave.
    Step(Step),
    /// A linear rise and fall.
    SawTooth(SawTooth),
    /// Two rates with exponentially distributed spells.
    OnOff(OnOff),
    /// Like an LTE downlink.
    Lte(Lte),
    /// Like a 5G downlink.
    #[serde(rename = "5g")]
    FiveG(FiveG),
    /// Like the downlink of a low-orbit satellite terminal, with a hand-over every 15 s.
    Leo(Leo),
    /// A long-haul link between data centres with fades.
    InterDc(InterDc),
}

impl Generator {
    /// Every generator with its default parameters.
    pub fn all() -> [Self; 8] {
        [
            Self::Constant(Constant::default()),
            Self::Step(Step::default()),
            Self::SawTooth(SawTooth::default()),
            Self::OnOff(OnOff::default()),
            Self::Lte(Lte::default()),
            Self::FiveG(FiveG::default()),
            Self::Leo(Leo::default()),
            Self::InterDc(InterDc::default()),
        ]
    }

    /// Its name, as it stands in text.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Constant(_) => "constant",
            Self::Step(_) => "step",
            Self::SawTooth(_) => "saw-tooth",
            Self::OnOff(_) => "on-off",
            Self::Lte(_) => "lte",
            Self::FiveG(_) => "5g",
            Self::Leo(_) => "leo",
            Self::InterDc(_) => "inter-dc",
        }
    }

    /// What it makes, in one line.
    pub const fn description(&self) -> &'static str {
        match self {
            Self::Constant(_) => "one rate",
            Self::Step(_) => "a square wave between two rates",
            Self::SawTooth(_) => "a linear rise and fall between two rates",
            Self::OnOff(_) => "two rates with exponentially distributed spells (a Markov chain)",
            Self::Lte(_) => "like an LTE downlink (profiles verizon, att-driving)",
            Self::FiveG(_) => "like a 5G downlink (profiles tmobile-driving, ireland-driving, ireland-static)",
            Self::Leo(_) => "like a Starlink downlink on the move, with a hand-over every 15 s",
            Self::InterDc(_) => "a long-haul link between data centres with fades",
        }
    }

    /// Where the statistics of its targets were measured, or how they follow from the parameters.
    pub const fn source(&self) -> &'static str {
        match self {
            Self::Constant(_) | Self::Step(_) | Self::SawTooth(_) => "arithmetic on the parameters",
            Self::OnOff(_) => "stationary distribution of the two-state Markov chain",
            Self::InterDc(_) => {
                "arithmetic on the parameters, which are ours; the form (whole steps of rate instead of an outage) after \
                 RADWAN, SIGCOMM'18"
            }
            Self::Lte(lte) => lte.profile.reference().source,
            Self::FiveG(five_g) => five_g.profile.reference().source,
            Self::Leo(_) => profile::STARLINK.source,
        }
    }

    /// Makes a trace.
    ///
    /// # Errors
    /// If a parameter is impossible; the error says which.
    pub fn generate(&self, seed: u64) -> Result<Trace, TraceError> {
        let trace = match self {
            Self::Constant(shape) => shape.generate(),
            Self::Step(shape) => shape.generate(),
            Self::SawTooth(shape) => shape.generate(),
            Self::OnOff(spells) => spells.generate(seed),
            Self::InterDc(spells) => spells.generate(seed),
            Self::Lte(lte) => lte.generate(seed),
            Self::FiveG(five_g) => five_g.generate(seed),
            Self::Leo(leo) => leo.generate(seed),
        };
        Ok(Trace::Rate(trace?))
    }

    /// The statistics that its traces must match. They hold for traces of the default length and longer; shorter ones
    /// have too few seconds for some.
    pub fn targets(&self) -> Vec<Target> {
        match self {
            Self::Constant(shape) => shape.targets(),
            Self::Step(shape) => shape.targets(),
            Self::SawTooth(shape) => shape.targets(),
            Self::OnOff(spells) => spells.targets(),
            Self::InterDc(spells) => spells.targets(),
            Self::Lte(lte) => lte.targets(),
            Self::FiveG(five_g) => five_g.targets(),
            Self::Leo(leo) => leo.targets(),
        }
    }

    /// Measures a trace against the targets.
    pub fn check(&self, trace: &Trace) -> Vec<Fit> {
        let stats = trace.stats();
        self.targets().into_iter().map(|target| Fit::measure(target, trace, &stats)).collect()
    }
}

impl fmt::Display for Generator {
    /// The name with all parameters, such that parsing gives the same generator.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        // A generator is a map from its name to its parameters, all of which JSON can hold.
        let value = serde_json::to_value(self).map_err(|_| fmt::Error)?;
        let parameters = value.as_object().and_then(|outer| outer.values().next()).and_then(Value::as_object);
        let given = parameters.into_iter().flatten().filter(|(_, value)| !value.is_null());
        for ((key, value), separator) in given.zip(std::iter::once('?').chain(std::iter::repeat('&'))) {
            match value.as_str() {
                Some(text) => write!(f, "{separator}{key}={text}")?,
                None => write!(f, "{separator}{key}={value}")?,
            }
        }
        Ok(())
    }
}

impl FromStr for Generator {
    type Err = TraceError;

    fn from_str(text: &str) -> Result<Self, TraceError> {
        let (name, query) = text.split_once('?').unwrap_or((text, ""));
        let parameters = Parameters { query };
        match name {
            "constant" => parameters.read("constant").map(Self::Constant),
            "step" => parameters.read("step").map(Self::Step),
            "saw-tooth" => parameters.read("saw-tooth").map(Self::SawTooth),
            "on-off" => parameters.read("on-off").map(Self::OnOff),
            "lte" => parameters.read("lte").map(Self::Lte),
            "5g" => parameters.read("5g").map(Self::FiveG),
            "leo" => parameters.read("leo").map(Self::Leo),
            "inter-dc" => parameters.read("inter-dc").map(Self::InterDc),
            _ => {
                let known = Self::all().map(|generator| generator.name()).join(", ");
                Err(TraceErrorKind::UnknownName { what: "generator", name: clip(name), known }.into())
            }
        }
    }
}

/// The part of a generator's text behind the question mark.
#[derive(Debug, Clone, Copy)]
struct Parameters<'a> {
    query: &'a str,
}

impl Parameters<'_> {
    fn read<T: DeserializeOwned>(self, generator: &'static str) -> Result<T, TraceError> {
        let mut map = Map::new();
        for pair in self.query.split('&').filter(|pair| !pair.is_empty()) {
            let Some((key, value)) = pair.split_once('=') else {
                return Err(bad(generator, format!("`{}` is not of the form parameter=value", clip(pair))));
            };
            let number = serde_json::from_str::<serde_json::Number>(value).map(Value::Number);
            let value = number.unwrap_or_else(|_| Value::String(value.to_owned()));
            if map.insert(key.to_owned(), value).is_some() {
                return Err(bad(generator, format!("parameter `{}` is given twice", clip(key))));
            }
        }
        serde_json::from_value(Value::Object(map)).map_err(|error| bad(generator, error.to_string()))
    }
}

fn bad(generator: &'static str, reason: impl Into<String>) -> TraceError {
    TraceErrorKind::BadParameter { generator, reason: reason.into() }.into()
}

/// Checks that `value` is from `least` to `most`.
fn check_range(generator: &'static str, name: &str, value: u64, (least, most): (u64, u64)) -> Result<(), TraceError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(bad(generator, format!("{name} is {value}: expected {least} to {most}")))
}

fn check_duration_s(generator: &'static str, value: u64) -> Result<(), TraceError> {
    check_range(generator, "duration_s", value, (1, MAX_DURATION_NS / 1_000_000_000))
}

fn check_rate_bps(generator: &'static str, name: &str, value: u64) -> Result<(), TraceError> {
    check_range(generator, name, value, (0, MAX_RATE_BPS))
}

/// Rounds a rate computed in floating point into what a trace accepts.
fn to_bps(value: f64) -> u64 {
    (libm::round(value.max(0.0)) as u64).min(MAX_RATE_BPS)
}

#[cfg(test)]
mod tests;
