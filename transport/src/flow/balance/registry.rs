//! Balancers by name, with typed parameters: `ecmp`, `uno?subflows=8`.
//!
//! The registry is open, as that of controllers is: a crate of your own adds its balancer with one call.
//!
//! ```
//! use cc_algos::Timestamp;
//! use transport::flow::balance::{Balancers, Setup};
//!
//! let balancers = Balancers::builtin();
//! let uno = balancers.resolve("uno?subflows=8").unwrap();
//! assert_eq!(uno.to_string(), "uno?subflows=8");
//! let one_flow = uno.build(&Setup::new(Timestamp::ZERO, 1));
//! assert!(one_flow.listens());
//! let error = balancers.resolve("unno").unwrap_err();
//! assert_eq!(error.to_string(), "unknown balancer `unno`: did you mean `uno`?");
//! ```

use core::fmt;
use std::collections::BTreeMap;
use std::sync::Arc;

use cc_algos::registry::{Args, Param, RegistryError, nearest};
use cc_algos::units::Timestamp;

use super::{Balancer, Setup};

/// Builds the balancer of one flow from resolved arguments. Whether it refuses them depends on nothing but them.
pub type Build = dyn Fn(&Args, &Setup) -> Result<Box<dyn Balancer>, RegistryError> + Send + Sync;

/// One entry of the registry.
#[derive(Clone)]
pub struct Kind {
    name: String,
    summary: String,
    source: String,
    params: Vec<Param>,
    build: Arc<Build>,
}

impl Kind {
    /// A balancer without parameters. `name` is lower case with hyphens; `source` names the RFC, draft or paper.
    pub fn new(
        name: impl Into<String>,
        summary: impl Into<String>,
        source: impl Into<String>,
        build: impl Fn(&Args, &Setup) -> Result<Box<dyn Balancer>, RegistryError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            summary: summary.into(),
            source: source.into(),
            params: Vec::new(),
            build: Arc::new(build),
        }
    }

    /// With one more parameter.
    #[must_use]
    pub fn with_param(mut self, param: Param) -> Self {
        self.params.push(param);
        self
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it does, in a line.
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// Where its law comes from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Its parameters.
    pub fn params(&self) -> &[Param] {
        &self.params
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kind").field("name", &self.name).field("params", &self.params).finish_non_exhaustive()
    }
}

/// What is wrong with a balancer's name or parameters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BalancerError {
    /// No balancer has this name.
    #[error("unknown balancer `{name}`: {}", match .nearest {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("expected one of {}", .known.join(", ")),
    })]
    Unknown {
        /// The name asked for.
        name: String,
        /// The most similar known name.
        nearest: Option<String>,
        /// All known names.
        known: Vec<String>,
    },
    /// It does not take these parameters.
    #[error(transparent)]
    Parameter(#[from] RegistryError),
}

/// Balancers by name.
#[derive(Clone, Debug, Default)]
pub struct Balancers {
    kinds: BTreeMap<String, Kind>,
}

impl Balancers {
    /// No balancers at all.
    pub fn empty() -> Self {
        Self::default()
    }

    /// All balancers of this crate.
    pub fn builtin() -> Self {
        let mut balancers = Self::empty();
        let kinds = [
            super::bitmap::kind(),
            super::ecmp::kind(),
            super::flowlet::kind(),
            super::plb::kind(),
            super::reps::kind(),
            super::spray::kind(),
            super::uno::kind(),
        ];
        for kind in kinds {
            balancers.register(kind);
        }
        balancers
    }

    /// Adds a balancer, or replaces the one of the same name, which is returned.
    pub fn register(&mut self, kind: Kind) -> Option<Kind> {
        self.kinds.insert(kind.name.clone(), kind)
    }

    /// All balancers by name.
    pub fn iter(&self) -> impl Iterator<Item = &Kind> {
        self.kinds.values()
    }

    /// Checks `name` or `name?key=value&key=value` and resolves its defaults.
    ///
    /// # Errors
    ///
    /// If the name or a parameter is unknown, a value is malformed or out of bounds, or the balancer refuses them together.
    pub fn resolve(&self, spec: &str) -> Result<Balancing, BalancerError> {
        let (name, query) = match spec.split_once('?') {
            Some((name, query)) => (name, Some(query)),
            None => (spec, None),
        };
        let kind = self.kinds.get(name).ok_or_else(|| BalancerError::Unknown {
            name: name.to_owned(),
            nearest: nearest(name, self.kinds.keys().map(String::as_str)),
            known: self.kinds.keys().cloned().collect(),
        })?;
        let args = Args::parse(name, &kind.params, query)?;
        // What it refuses, it should refuse now and not once flows begin.
        (kind.build)(&args, &Setup::new(Timestamp::ZERO, 0))?;
        Ok(Balancing { args, build: Arc::clone(&kind.build) })
    }
}

/// A balancer with its parameters, as a way to build one for each flow. It prints as its canonical spelling: the name and what
/// differs from the defaults. The default is `ecmp`.
#[derive(Clone)]
pub struct Balancing {
    args: Args,
    build: Arc<Build>,
}

impl Balancing {
    /// A balancer of [`Balancers::builtin`].
    ///
    /// # Errors
    ///
    /// As [`Balancers::resolve`].
    pub fn builtin(spec: &str) -> Result<Self, BalancerError> {
        Balancers::builtin().resolve(spec)
    }

    /// One route per flow: [`Ecmp`](super::Ecmp).
    pub fn ecmp() -> Self {
        Self::plain(super::ecmp::kind())
    }

    /// A random route per packet: [`Spray`](super::Spray).
    pub fn spray() -> Self {
        Self::plain(super::spray::kind())
    }

    fn plain(kind: Kind) -> Self {
        let args = Args::parse(&kind.name, &kind.params, None);
        Self { args: args.unwrap_or_else(|error| unreachable!("nothing was given: {error}")), build: kind.build }
    }

    /// The balancer of one flow.
    ///
    /// # Panics
    ///
    /// If it refuses now what it took when it was resolved: a mistake in its registration.
    pub fn build(&self, setup: &Setup) -> Box<dyn Balancer> {
        (self.build)(&self.args, setup).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Its name and parameters.
    pub const fn args(&self) -> &Args {
        &self.args
    }
}

impl Default for Balancing {
    fn default() -> Self {
        Self::ecmp()
    }
}

impl fmt::Display for Balancing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.args, f)
    }
}

impl fmt::Debug for Balancing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Balancing").field(&self.args).finish()
    }
}
