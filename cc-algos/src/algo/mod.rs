//! One algorithm a file. Each begins with its source, its law in formulas, its parameters with unit and origin, and a
//! table of differences from the reference.
//!
//! | name | file | source |
//! |---|---|---|
//! | `fixed-window` | [`fixed_window`] | a control: a window that never moves |
//! | `fixed-rate` | [`fixed_rate`] | a control: a rate that never moves |
//! | `newreno` | [`newreno`] | RFC 9002, section 7; RFC 5681; RFC 6582 |
//! | `cubic` | [`cubic`] | RFC 9438 |
//! | `dctcp` | [`dctcp`] | RFC 8257 |
//! | `vegas` | [`vegas`] | Brakmo and Peterson, IEEE JSAC 1995; Linux `tcp_vegas.c` |
//!
//! Parts that several laws share, and that laws of other crates may use too: [`recovery`] (one reduction a round trip,
//! and the undoing of spurious ones), [`window`] (Reno's window) and [`hystart`] (HyStart++).

pub mod cubic;
pub mod dctcp;
pub mod fixed_rate;
pub mod fixed_window;
pub mod hystart;
pub mod newreno;
pub mod recovery;
pub mod vegas;
pub mod window;

pub use cubic::{Cubic, CubicParams};
pub use dctcp::{Dctcp, DctcpParams};
pub use fixed_rate::{FixedRate, FixedRateParams};
pub use fixed_window::{FixedWindow, FixedWindowParams};
pub use newreno::{NewReno, NewRenoParams};
pub use vegas::{Vegas, VegasParams};

use crate::registry::{Algorithm, RegistryError};

/// Every algorithm of this crate, for [`Registry::builtin`](crate::Registry::builtin).
pub fn all() -> Vec<Algorithm> {
    vec![
        fixed_rate::algorithm(),
        fixed_window::algorithm(),
        newreno::algorithm(),
        cubic::algorithm(),
        dctcp::algorithm(),
        vegas::algorithm(),
    ]
}

/// A parameter has a value that the law cannot work with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("parameter `{name}`: expected {expected}")]
pub struct InvalidParam {
    /// The parameter.
    pub name: &'static str,
    /// What would do.
    pub expected: &'static str,
}

impl InvalidParam {
    /// `Err` unless `holds`.
    fn unless(holds: bool, name: &'static str, expected: &'static str) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self { name, expected }) }
    }

    /// As an error of the registry's entry `algorithm`.
    fn of(self, algorithm: &str) -> RegistryError {
        RegistryError::Unsuitable { algorithm: algorithm.to_owned(), reason: self.to_string() }
    }
}

#[cfg(test)]
mod tests;
