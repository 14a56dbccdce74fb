//! harness

pub mod measure;
pub mod scenario;
pub mod workload;
