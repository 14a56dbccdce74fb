//! A deterministic packet-level network simulator. Nothing but [`transport::flow`] sends packets in it.
//!
//! The simulator knows nothing of command lines, files or reports: an experiment goes in, an
//! [`Outcome`] comes out, and the same experiment with the same seed gives the same bytes.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod error;
pub mod ids;
pub mod link;
pub mod outcome;
pub mod queue;
pub mod rng;
pub mod spec;
pub mod time;

pub use error::{Probability, SpecError};
pub use ids::{FlowId, HostId};
pub use outcome::Outcome;
pub use time::SimTime;
