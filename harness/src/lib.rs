//! The wind tunnel: scenarios, workloads, sweeps, measures, reports and the command line around the simulator.
//!
//! * [`scenario`]: the TOML schema, the built-in suites, and the way to an experiment of the simulator;
//! * [`workload`]: who sends what to whom, and when;
//! * [`sweep`]: algorithms x scenarios x seeds, into a folder that survives interruption;
//! * [`measure`]: what runs measured, with confidence intervals;
//! * [`report`]: tables, files and a page;
//! * [`hunt`]: the adversary, which looks for networks on which an algorithm does badly;
//! * [`cli`]: the program, for this crate's algorithms and anybody else's.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod cli;
pub mod hunt;
pub mod measure;
pub mod report;
pub mod scenario;
pub mod sweep;
pub mod workload;
