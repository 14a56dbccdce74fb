//! An algorithm as it takes part: with its parameters, and a balancer of its own if it names one.
//!
//! `uno` flies with the scenario's balancer, `uno@reps` with another: `cubic?beta=0.5@plb?rounds=3`.

use std::fmt;

use cc_algos::Registry;
use cc_algos::registry::{Args, RegistryError};
use transport::flow::balance::{BalancerError, Balancers, Balancing};

/// What stands between an algorithm and its balancer.
const AT: char = '@';

/// An algorithm that takes part. It prints as its canonical spelling.
#[derive(Clone, Debug)]
pub struct Entrant {
    /// The algorithm with its parameters.
    pub args: Args,
    /// Its own balancer, if it is not the scenario's.
    pub balance: Option<Balancing>,
}

/// What is wrong with an algorithm or its balancer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntrantError {
    /// The algorithm.
    #[error(transparent)]
    Algorithm(#[from] RegistryError),
    /// The balancer.
    #[error(transparent)]
    Balancer(#[from] BalancerError),
}

impl Entrant {
    /// Reads `algorithm` or `algorithm@balancer`, each of them a name or `name?key=value&key=value`.
    ///
    /// # Errors
    ///
    /// If the algorithm, the balancer or a parameter is unknown, or a value is not what was expected.
    pub fn resolve(spec: &str, algorithms: &Registry, balancers: &Balancers) -> Result<Self, EntrantError> {
        let (algorithm, balancer) = parts(spec);
        Ok(Self {
            args: algorithms.resolve(algorithm)?,
            balance: balancer.map(|name| balancers.resolve(name)).transpose()?,
        })
    }
}

/// The algorithm, and the balancer that follows it.
pub(crate) fn parts(spec: &str) -> (&str, Option<&str>) {
    spec.split_once(AT).map_or((spec, None), |(algorithm, balancer)| (algorithm, Some(balancer)))
}

/// The two as one.
pub(crate) fn joined(algorithm: &str, balancer: Option<&str>) -> String {
    balancer.map_or_else(|| algorithm.to_owned(), |balancer| format!("{algorithm}{AT}{balancer}"))
}

impl From<Args> for Entrant {
    fn from(args: Args) -> Self {
        Self { args, balance: None }
    }
}

impl fmt::Display for Entrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.args)?;
        match &self.balance {
            Some(balance) => write!(f, "{AT}{balance}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(spec: &str) -> Result<String, String> {
        let entrant = Entrant::resolve(spec, &Registry::builtin(), &Balancers::builtin());
        entrant.map(|entrant| entrant.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn both_halves_are_spelt_canonically() {
        for (spec, canonical) in [
            ("cubic", "cubic"),
            ("cubic@ecmp", "cubic@ecmp"),
            ("cubic?beta=0.5@plb?rounds=12", "cubic?beta=0.5@plb"),
            ("cubic@plb?threshold=0.25&rounds=3", "cubic@plb?rounds=3&threshold=0.25"),
        ] {
            assert_eq!(resolve(spec).as_deref(), Ok(canonical));
        }
    }

    #[test]
    fn errors_say_which_half_is_wrong() {
        for (spec, message) in [
            ("cubik@plb", "unknown algorithm `cubik`: did you mean `cubic`?"),
            ("cubic@", "unknown balancer ``: expected one of bitmap, ecmp, flowlet, plb, reps, spray, uno"),
            ("cubic@plb@reps", "unknown balancer `plb@reps`: expected one of"),
            ("cubic@reps?buffer=many", "`reps?buffer=many`: expected a whole number"),
        ] {
            let error = resolve(spec).unwrap_err();
            assert!(error.starts_with(message), "{spec}: {error}");
        }
    }
}
