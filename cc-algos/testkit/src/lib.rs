//! The testing kit.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod closed_loop;
