//! Scenarios: the TOML schema, its errors, the built-in suites, and the way from a scenario to an experiment.
//!
//! `docs/scenarios.md` describes every key. Reading is by hand over a tree that keeps places, so that an error can name file,
//! line and key and suggest the near spelling; what was read prints back as TOML with every default filled in.

mod builtin;
mod compile;
mod compile_link;
mod entrant;
mod error;
mod fingerprint;
mod htsim_topology;
mod jitter;
mod model;
mod parse;
mod parse_coding;
mod parse_link;
mod parse_workload;
mod read;
mod resources;
pub mod value;
mod write;

pub use builtin::{Builtin, SCENARIOS, SUITES, Suite};
pub use compile::{Cast, CompileError, Compiled};
pub use entrant::{Entrant, EntrantError};
pub(crate) use entrant::{joined, parts};
pub use error::ScenarioError;
pub use fingerprint::Fingerprint;
pub use htsim_topology::{Tier, TopologyFileError, TreePlan};
pub use model::{
    BlockTimeout, Change, ChangeTo, CoDel, Coding, Datacentres, DualPi2, Dumbbell, Endpoints, FatTree, Impairments,
    Link, Loss, LossDetection, MarkAt, Marking, NearSource, Phantom, PhantomFeed, PhantomRole, Pie, Policer, Queue,
    Reorder, Rivals, Scenario, Service, Side, Star, Topology, TraceOffset, Tree, Trimming, Victim,
};
pub use resources::Prepared;
pub(crate) use resources::TraceSource;

#[cfg(test)]
mod tests;
