//! harness

pub mod measure;
pub mod report;
pub mod scenario;
pub mod sweep;
pub mod workload;
