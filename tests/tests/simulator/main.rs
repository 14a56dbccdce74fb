//! What the simulator promises whatever runs in it: exact rates, repeatable runs, packets that parse, nothing lost or
//! found.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test")]

mod balancing;
mod coding;
mod conservation;
mod determinism;
mod families;
mod faults;
mod phantom;
mod rate;
mod trimming;
mod wire;
