//! What is wrong with a specification or an experiment, and the checked numbers that specifications are made of.

use core::fmt;

use transport::flow::AckError;
use transport::flow::code::BlockError;

/// A specification that makes no sense. The message says what was given and what was expected; the caller adds where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// A value outside its range.
    #[error("{parameter} is {value}, expected {expected}")]
    OutOfRange {
        /// Which parameter.
        parameter: &'static str,
        /// The value, as text.
        value: String,
        /// What would have been good.
        expected: &'static str,
    },
    /// A list without entries.
    #[error("{list} is empty, expected at least one {entry}")]
    Empty {
        /// Which list.
        list: &'static str,
        /// What its entries are.
        entry: &'static str,
    },
    /// An entry that breaks a rule of its list.
    #[error("{list}, entry {index} (counted from 0): expected {expected}")]
    Entry {
        /// Which list.
        list: &'static str,
        /// The first entry that breaks the rule.
        index: usize,
        /// The rule.
        expected: &'static str,
    },
}

impl SpecError {
    pub(crate) fn out_of_range(parameter: &'static str, value: impl fmt::Display, expected: &'static str) -> Self {
        Self::OutOfRange { parameter, value: value.to_string(), expected }
    }
}

/// Fails with an out-of-range error unless `good`.
pub(crate) fn ensure(
    good: bool,
    parameter: &'static str,
    value: impl fmt::Display,
    expected: &'static str,
) -> Result<(), SpecError> {
    if good { Ok(()) } else { Err(SpecError::out_of_range(parameter, value, expected)) }
}

/// Why an experiment was refused or a run ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimError {
    /// The experiment makes no sense.
    #[error("{what}: {problem}")]
    Invalid {
        /// Which part of the experiment.
        what: String,
        /// What is wrong with it, and what was expected.
        problem: String,
    },
    /// The engine refused an acknowledgement of its own peer: a defect of this program, never of an input.
    #[error("flow {flow}: acknowledgement refused: {source}")]
    Ack {
        /// The flow.
        flow: u32,
        /// Why.
        source: AckError,
    },
    /// The engine refused what its own peer said about blocks: a defect of this program, never of an input.
    #[error("flow {flow}: {source}")]
    Blocks {
        /// The flow.
        flow: u32,
        /// Why.
        source: BlockError,
    },
    /// A frame did not survive encoding and parsing: a defect of this program, never of an input.
    #[error("flow {flow}, packet {packet_number}: {problem}")]
    Wire {
        /// The flow.
        flow: u32,
        /// The packet.
        packet_number: u64,
        /// What differed.
        problem: String,
    },
}

/// A probability: a real number from 0 to 1.
#[derive(Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Probability(f64);

impl Probability {
    /// Never.
    pub const ZERO: Self = Self(0.0);
    /// Always.
    pub const ONE: Self = Self(1.0);

    /// Checks that `value` is a probability.
    ///
    /// # Errors
    /// If it is NaN, below 0 or above 1.
    pub fn new(value: f64) -> Result<Self, SpecError> {
        ensure((0.0..=1.0).contains(&value), "probability", value, "a number from 0 to 1")?;
        Ok(Self(value))
    }

    /// A constant of a law, checked where constants are.
    pub(crate) const fn literal(value: f64) -> Self {
        assert!(value >= 0.0 && value <= 1.0);
        Self(value)
    }

    /// The number.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl fmt::Debug for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_outside_zero_to_one_are_refused_with_the_value() {
        for value in [-0.1, 1.5, f64::NAN, f64::INFINITY] {
            let error = Probability::new(value).unwrap_err().to_string();
            assert_eq!(error, format!("probability is {value}, expected a number from 0 to 1"));
        }
        assert_eq!(Probability::new(1.0), Ok(Probability::ONE));
    }
}
