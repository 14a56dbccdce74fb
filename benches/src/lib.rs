//! What the benchmarks share: the work they do, and how its cost is measured.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod cpu;
pub mod memory;
pub mod workload;
