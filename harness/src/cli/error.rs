//! What ends a command early.

use std::fmt;
use std::process::ExitCode;

use crate::hunt::{HuntError, HuntStoreError};
use crate::measure::{CompareError, StoreError, TableError};
use crate::scenario::{CompileError, EntrantError, ScenarioError};
use crate::sweep::{FolderError, SweepError};

/// What ends a command early, by exit code.
#[derive(Debug)]
pub(super) enum CliError {
    /// Usage or bad input.
    Usage(String),
    /// A run failed, or its results could not be kept.
    Failed(String),
}

impl CliError {
    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    pub(super) fn failed(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }

    pub(super) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            Self::Failed(_) => ExitCode::from(1),
        }
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(message) | Self::Failed(message) => f.write_str(message),
        }
    }
}

impl From<HuntError> for CliError {
    fn from(error: HuntError) -> Self {
        match error {
            HuntError::Interrupted | HuntError::Threads { .. } => Self::Failed(error.to_string()),
            _ => Self::Usage(error.to_string()),
        }
    }
}

/// Errors of what the user gave.
macro_rules! from_input {
    ($($error:ty),*) => {
        $(impl From<$error> for CliError {
            fn from(error: $error) -> Self {
                Self::Usage(error.to_string())
            }
        })*
    };
}

from_input!(
    ScenarioError,
    CompileError,
    SweepError,
    FolderError,
    StoreError,
    TableError,
    CompareError,
    HuntStoreError,
    traces::TraceError,
    cc_algos::registry::RegistryError,
    transport::flow::balance::BalancerError,
    EntrantError
);
