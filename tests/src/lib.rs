//! Experiments and readings that the tests across crates share.
//!
//! Builders return plain data with the settings that most tests want; a test changes what it is about.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod build;
mod read;
mod watch;

pub use build::{
    FAST, MTU, at, balancing, bulk, contestant, drop_tail, dumbbell, experiment, experiment_of, flow, losing, payload,
    periodic_loss, probability, seconds,
};
pub use read::{assert_close, delivery_rate, mean_backlog, reductions, run, sample_at, throughput_in_packets, windows};
pub use watch::Watch;
