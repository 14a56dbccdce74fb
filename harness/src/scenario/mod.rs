//! Scenarios: the TOML schema, its errors, the built-in suites, and the way from a scenario to an experiment.
//!
//! `docs/scenarios.md` describes every key. Reading is by hand over a tree that keeps places, so that an error can name file,
//! line and key and suggest the near spelling; what was read prints back as TOML with every default filled in.

mod builtin;
mod error;
mod model;
mod parse;
mod parse_link;
mod parse_workload;
mod read;
pub mod value;
mod write;

pub use builtin::{Builtin, SCENARIOS, SUITES, Suite};
pub use error::ScenarioError;
pub use model::{
    Balance, Change, ChangeTo, CoDel, DualPi2, Dumbbell, Endpoints, FatTree, Impairments, Link, Loss, LossPolicy,
    Marking, Pie, Policer, Queue, Reorder, Rivals, Scenario, Service, Star, Topology, TraceOffset,
};

#[cfg(test)]
mod tests;
