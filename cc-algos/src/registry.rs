//! Algorithms by name, with typed parameters: `cubic`, `cubic?beta=0.5&hystart=off`.
//!
//! The registry is open: a crate of your own adds its algorithm with one call and takes part in every shoot-out.
//!
//! ```
//! use cc_algos::registry::{Algorithm, Param, Registry};
//! use cc_algos::{Setup, Timestamp};
//!
//! let registry = Registry::builtin();
//! let setup = Setup::new(Timestamp::ZERO, 1_500, 1);
//! let cubic = registry.build("cubic?beta=0.5", &setup).unwrap();
//! assert!(cubic.window() > 0);
//! let error = registry.build("cubik", &setup).unwrap_err();
//! assert_eq!(error.to_string(), "unknown algorithm `cubik`: did you mean `cubic`?");
//! ```

mod nearest;
mod value;

use core::fmt;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::controller::{Controller, Setup};
use crate::declare::{Declaration, Family};
use crate::receiver::{AckEvery, ReceiverPolicy};
use crate::units::{Rate, Span};

pub use nearest::nearest;
pub use value::{Choice, Param, Value};

/// Builds a controller from resolved arguments.
pub type Build = dyn Fn(&Args, &Setup) -> Result<Box<dyn Controller>, RegistryError> + Send + Sync;

/// Builds the receiver's half of an algorithm around the acknowledgement rule that the scenario asks for.
pub type BuildReceiver = dyn Fn(&Args, AckEvery) -> Box<dyn ReceiverPolicy> + Send + Sync;

/// One entry of the registry.
#[derive(Clone)]
pub struct Algorithm {
    name: String,
    summary: String,
    source: String,
    declaration: Declaration,
    params: Vec<Param>,
    build: Arc<Build>,
    build_receiver: Arc<BuildReceiver>,
}

impl Algorithm {
    /// An algorithm without parameters. `name` is lower case with hyphens; `source` names the RFC, draft or paper.
    pub fn new(
        name: impl Into<String>,
        summary: impl Into<String>,
        source: impl Into<String>,
        build: impl Fn(&Args, &Setup) -> Result<Box<dyn Controller>, RegistryError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            summary: summary.into(),
            source: source.into(),
            declaration: Declaration::new(Family::default()),
            params: Vec::new(),
            build: Arc::new(build),
            build_receiver: Arc::new(|_, rule| Box::new(rule)),
        }
    }

    /// With what it says of itself.
    #[must_use]
    pub fn declaring(mut self, declaration: Declaration) -> Self {
        self.declaration = declaration;
        self
    }

    /// With a receiver's half of its own, such as one that sends congestion notification packets.
    #[must_use]
    pub fn with_receiver(
        mut self,
        build: impl Fn(&Args, AckEvery) -> Box<dyn ReceiverPolicy> + Send + Sync + 'static,
    ) -> Self {
        self.build_receiver = Arc::new(build);
        self
    }

    /// With one more parameter.
    #[must_use]
    pub fn with_param(mut self, param: Param) -> Self {
        self.params.push(param);
        self
    }

    /// With more parameters.
    #[must_use]
    pub fn with_params(mut self, params: impl IntoIterator<Item = Param>) -> Self {
        self.params.extend(params);
        self
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is, in a line.
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// Where its law comes from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What it says of itself.
    pub const fn declaration(&self) -> &Declaration {
        &self.declaration
    }

    /// Its parameters.
    pub fn params(&self) -> &[Param] {
        &self.params
    }
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Algorithm").field("name", &self.name).field("params", &self.params).finish_non_exhaustive()
    }
}

/// Arguments of one algorithm: each parameter with its given or default value.
#[derive(Clone, Debug, PartialEq)]
pub struct Args {
    algorithm: String,
    values: BTreeMap<&'static str, (Value, Origin)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Default,
    Given,
}

macro_rules! getter {
    ($(#[$doc:meta])* $name:ident, $variant:ident, $type:ty) => {
        $(#[$doc])*
        ///
        /// # Panics
        ///
        /// If the algorithm declared no parameter of this name and type: a mistake in its registration.
        pub fn $name(&self, name: &str) -> $type {
            match self.values.get(name) {
                Some((Value::$variant(value), _)) => *value,
                other => panic!("`{}` declares no {} parameter `{name}` (found {other:?})", self.algorithm, stringify!($variant)),
            }
        }
    };
}

impl Args {
    getter!(/// The value of a number.
        number, Number, f64);
    getter!(/// The value of a whole number.
        integer, Integer, u64);
    getter!(/// The value of a size, bytes.
        bytes, Bytes, u64);
    getter!(/// The value of a span.
        span, Span, Span);
    getter!(/// The value of a rate.
        rate, Rate, Rate);
    getter!(/// The value of a switch.
        switch, Switch, bool);
    getter!(/// The chosen one of several names.
        choice, Choice, Choice);

    /// Reads `query`, what follows the question mark of `name?key=value&key=value`, for something called `name` that has
    /// these parameters: an algorithm, or whatever another registry holds.
    ///
    /// # Errors
    ///
    /// If a parameter is unknown or given twice, or a value is malformed or out of bounds.
    pub fn parse(name: &str, params: &[Param], query: Option<&str>) -> Result<Self, RegistryError> {
        let mut values: BTreeMap<_, _> =
            params.iter().map(|param| (param.name, (param.default, Origin::Default))).collect();
        let mut seen = BTreeSet::new();
        for pair in query.into_iter().flat_map(|query| query.split('&')) {
            let (key, text) = pair
                .split_once('=')
                .ok_or_else(|| RegistryError::Malformed { spec: format!("{name}?{}", query.unwrap_or_default()) })?;
            let param = find_param(name, params, key)?;
            if !seen.insert(param.name) {
                return Err(RegistryError::Repeated { algorithm: name.to_owned(), name: key.to_owned() });
            }
            let value = parse_param(name, param, text)?;
            // The default, spelt out, is still the default: both spellings mean the same experiment.
            let origin = if value == param.default { Origin::Default } else { Origin::Given };
            values.insert(param.name, (value, origin));
        }
        Ok(Self { algorithm: name.to_owned(), values })
    }

    /// The algorithm that they are arguments of.
    pub fn algorithm(&self) -> &str {
        &self.algorithm
    }

    /// Every parameter with its value, by name.
    pub fn values(&self) -> impl Iterator<Item = (&'static str, Value)> + '_ {
        self.values.iter().map(|(name, (value, _))| (*name, *value))
    }
}

/// The canonical spelling: the name and what differs from the defaults, by name.
impl fmt::Display for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.algorithm)?;
        let given = self.values.iter().filter(|(_, (_, origin))| *origin == Origin::Given);
        for (index, (name, (value, _))) in given.enumerate() {
            write!(f, "{}{name}={value}", if index == 0 { '?' } else { '&' })?;
        }
        Ok(())
    }
}

/// What is wrong with a name, a parameter or an entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// No algorithm has this name.
    #[error("unknown algorithm `{name}`{}", suggest(.nearest.as_deref(), .known))]
    UnknownAlgorithm {
        /// The name asked for.
        name: String,
        /// The most similar known name.
        nearest: Option<String>,
        /// All known names.
        known: Vec<String>,
    },
    /// The algorithm has no such parameter.
    #[error("`{algorithm}` has no parameter `{name}`{}", suggest(.nearest.as_deref(), .known))]
    UnknownParam {
        /// The algorithm.
        algorithm: String,
        /// The parameter asked for.
        name: String,
        /// The most similar known name.
        nearest: Option<String>,
        /// All its parameters.
        known: Vec<String>,
    },
    /// The value is not of the parameter's type.
    #[error("`{algorithm}?{name}={value}`: expected {expected}")]
    BadValue {
        /// The algorithm.
        algorithm: String,
        /// The parameter.
        name: String,
        /// What was given.
        value: String,
        /// What was expected.
        expected: String,
    },
    /// Not of the form `name?key=value&key=value`.
    #[error("`{spec}`: expected `name` or `name?key=value&key=value`")]
    Malformed {
        /// What was given.
        spec: String,
    },
    /// A parameter was given twice.
    #[error("`{algorithm}`: parameter `{name}` is given twice")]
    Repeated {
        /// The algorithm.
        algorithm: String,
        /// The parameter.
        name: String,
    },
    /// The parameters do not go together, or the flow's setup lacks something the algorithm needs.
    #[error("`{algorithm}`: {reason}")]
    Unsuitable {
        /// The algorithm.
        algorithm: String,
        /// Why, and what would do.
        reason: String,
    },
}

fn suggest(nearest: Option<&str>, known: &[String]) -> String {
    match nearest {
        Some(name) => format!(": did you mean `{name}`?"),
        None if known.is_empty() => ": it has none".into(),
        None => format!(": expected one of {}", known.join(", ")),
    }
}

/// Algorithms by name.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    algorithms: BTreeMap<String, Algorithm>,
}

impl Registry {
    /// No algorithms at all.
    pub fn empty() -> Self {
        Self::default()
    }

    /// All algorithms of this crate.
    pub fn builtin() -> Self {
        let mut registry = Self::empty();
        for algorithm in crate::algo::all() {
            registry.register(algorithm);
        }
        registry
    }

    /// Adds an algorithm, or replaces the one of the same name, which is returned.
    pub fn register(&mut self, algorithm: Algorithm) -> Option<Algorithm> {
        self.algorithms.insert(algorithm.name.clone(), algorithm)
    }

    /// All algorithms by name.
    pub fn iter(&self) -> impl Iterator<Item = &Algorithm> {
        self.algorithms.values()
    }

    /// Checks `spec`, resolves its defaults and gives the canonical arguments, without building anything.
    ///
    /// # Errors
    ///
    /// If the name or a parameter is unknown, or a value is malformed or out of bounds.
    pub fn resolve(&self, spec: &str) -> Result<Args, RegistryError> {
        let (name, query) = match spec.split_once('?') {
            Some((name, query)) => (name, Some(query)),
            None => (spec, None),
        };
        Args::parse(name, self.find(name)?.params(), query)
    }

    /// Builds the controller that `spec` describes.
    ///
    /// # Errors
    ///
    /// As [`Registry::resolve`], or if the algorithm refuses its setup.
    pub fn build(&self, spec: &str, setup: &Setup) -> Result<Box<dyn Controller>, RegistryError> {
        self.build_args(&self.resolve(spec)?, setup)
    }

    /// Builds a controller from arguments that [`Registry::resolve`] gave.
    ///
    /// # Errors
    ///
    /// If the algorithm is not in this registry, or refuses its setup.
    pub fn build_args(&self, args: &Args, setup: &Setup) -> Result<Box<dyn Controller>, RegistryError> {
        (self.find(&args.algorithm)?.build)(args, setup)
    }

    /// Builds the receiver's half for arguments that [`Registry::resolve`] gave, around an acknowledgement rule.
    ///
    /// # Errors
    ///
    /// If the algorithm is not in this registry.
    pub fn build_receiver(&self, args: &Args, rule: AckEvery) -> Result<Box<dyn ReceiverPolicy>, RegistryError> {
        Ok((self.find(&args.algorithm)?.build_receiver)(args, rule))
    }

    /// The entry of this name.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn find(&self, name: &str) -> Result<&Algorithm, RegistryError> {
        self.algorithms.get(name).ok_or_else(|| RegistryError::UnknownAlgorithm {
            name: name.to_owned(),
            nearest: nearest(name, self.algorithms.keys().map(String::as_str)),
            known: self.algorithms.keys().cloned().collect(),
        })
    }
}

fn find_param<'a>(algorithm: &str, params: &'a [Param], key: &str) -> Result<&'a Param, RegistryError> {
    params.iter().find(|param| param.name == key).ok_or_else(|| RegistryError::UnknownParam {
        algorithm: algorithm.to_owned(),
        name: key.to_owned(),
        nearest: nearest(key, params.iter().map(|param| param.name)),
        known: params.iter().map(|param| param.name.to_owned()).collect(),
    })
}

fn parse_param(algorithm: &str, param: &Param, text: &str) -> Result<Value, RegistryError> {
    let bad = |expected: String| RegistryError::BadValue {
        algorithm: algorithm.to_owned(),
        name: param.name.to_owned(),
        value: text.to_owned(),
        expected,
    };
    let value = param.default.parse_as(text).ok_or_else(|| bad(param.default.kind()))?;
    if (param.min..=param.max).contains(&value.magnitude()) {
        return Ok(value);
    }
    let unit = match value {
        Value::Bytes(_) => " bytes",
        Value::Span(_) => " ns",
        Value::Rate(_) => " bit/s",
        _ => "",
    };
    Err(bad(match (param.min.is_finite(), param.max.is_finite()) {
        (true, true) => format!("{}{unit} to {}{unit}", param.min, param.max),
        (true, false) => format!("at least {}{unit}", param.min),
        _ => format!("at most {}{unit}", param.max),
    }))
}

#[cfg(test)]
mod tests;
