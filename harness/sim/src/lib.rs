//! A deterministic packet-level network simulator. Nothing but [`transport::flow`] sends packets in it.
//!
//! The simulator knows nothing of command lines, files or reports: an [`spec::Experiment`] goes in, an
//! [`outcome::Outcome`] comes out, and the same experiment with the same seed gives the same bytes.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod link;
pub mod queue;
pub mod rng;
pub mod time;

pub use time::SimTime;
