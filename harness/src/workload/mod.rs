//! Who sends what to whom, and when: sizes, arrivals and patterns, turned into a list of flows.
//!
//! Every workload of a scenario draws from named random streams of its own, so that the flows of one seed are the same
//! whatever the algorithm, and adding a workload does not shift the others.

mod arrivals;
mod matrix;
mod pattern;
mod plan;
mod published;
mod sizes;

pub use arrivals::Poisson;
pub use matrix::{Connection, Failure, Matrix, MatrixError, Trigger};
pub use pattern::{Arrivals, MatrixSource, Only, Pattern, Volume};
pub use plan::{Assigned, Hosts, MAX_FLOWS, Plan, PlanError, Site, plan};
pub use published::Published;
pub use sizes::{SIZES_EXPECTED, SizeDistribution, SizeError, Sizes};

/// One workload of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Class of its flows in results. Workloads may share one.
    pub group: String,
    /// Whose controller its flows have.
    pub player: Player,
    /// Whether its flows count in the tables, or are background.
    pub measured: bool,
    /// What it does.
    pub pattern: Pattern,
}

/// Whose controller flows have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Player {
    /// The algorithm under test.
    Subject,
    /// The scenario's rival.
    Rival,
    /// This one, whatever is under test.
    Named(String),
}
