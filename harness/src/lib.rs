//! harness

pub mod measure;
pub mod scenario;
pub mod sweep;
pub mod workload;
