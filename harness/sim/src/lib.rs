//! A deterministic packet-level network simulator. Nothing but [`transport::flow`] sends packets in it.
//!
//! The simulator knows nothing of command lines, files or reports: an [`Experiment`] goes in, an [`Outcome`]
//! comes out, and the same experiment with the same seed gives the same bytes.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod endpoint;
pub mod error;
mod event;
mod framing;
pub mod ids;
pub mod link;
mod measure;
pub mod outcome;
mod packet;
mod port;
pub mod queue;
pub mod rng;
mod run;
mod source;
pub mod spec;
pub mod time;
mod topology;

pub use error::{Probability, SimError, SpecError};
pub use ids::{FlowId, HostId};
pub use outcome::Outcome;
pub use run::run;
pub use spec::Experiment;
pub use time::SimTime;
