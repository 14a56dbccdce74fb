//! What is wrong with a scenario, and where.

use std::fmt;

/// A scenario that cannot be used: file, line and key where known, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    origin: String,
    line: Option<usize>,
    key: Option<String>,
    message: String,
}

impl ScenarioError {
    /// A fault of a whole scenario.
    pub(crate) fn new(origin: impl Into<String>, message: impl Into<String>) -> Self {
        Self { origin: origin.into(), line: None, key: None, message: message.into() }
    }

    /// The same, at a key.
    #[must_use]
    pub(crate) fn at_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// The same, on a line.
    #[must_use]
    pub(crate) fn at_line(mut self, line: usize) -> Self {
        self.line = Some(line);
        self
    }

    /// The file or built-in scenario.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The line, from 1.
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// What is wrong, without the place.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The key's path, such as `topology.bottleneck.rate`.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(key) = &self.key {
            write!(f, ": `{key}`")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for ScenarioError {}
