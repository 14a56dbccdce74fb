//! Algorithms x scenarios x seeds, over the cores of this machine, into a folder that survives interruption.
//!
//! A results folder holds
//!
//! ```text
//! manifest.json                          what was asked for, by whom and when; nothing else in the folder depends on a clock
//! runs/SCENARIO/ALGORITHM/SEED.json      one record a run, each written whole or not at all
//! ```
//!
//! and what reports add to it. A run depends on nothing but its scenario, algorithm and seed, so that a folder completed after
//! an interruption, or put together from shards, holds the very bytes of one written in one go.

mod folder;
mod manifest;
mod plan;
mod pool;
mod progress;
mod simulate;

pub use folder::{Existing, FolderError, ResultsFolder, free_folder};
pub use manifest::{Manifest, ManifestError, Metadata, Recipe, RecipeScenario};
pub use plan::{Cell, Job, PlanRequest, Shard, Sweep, SweepError};
pub(crate) use pool::panic_text;
pub use pool::{Failure, Interrupt, PoolOptions, Summary, run_all};
pub use progress::Progress;
pub use simulate::{Played, RunError, simulate};

#[cfg(test)]
mod tests;
