//! Strategies for every frame and header, and a body for fuzzers: for tests, here and in other crates.

mod fuzz;
mod samples;
mod strategies;

pub use fuzz::{fuzz_frames, fuzz_packet};
pub use samples::samples;
pub use strategies::{
    AnyFrame, ack_frame, any_frame, data_frame, header, int_hop, int_stack, packet, trimmed, version_negotiation,
};
