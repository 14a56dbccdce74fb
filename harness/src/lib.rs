//! harness

pub mod measure;
