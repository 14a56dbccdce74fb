//! Congestion controllers as plain objects: no clock, no input or output, no randomness but their seed.
//!
//! A [`Controller`] is told what was sent and what came back, in one consistent batch per cause, and answers with a
//! window and, if it likes, a pacing rate. The same object runs inside a simulator, an emulator or a real transport,
//! because everything it knows comes in as an argument.
//!
//! * [`controller`]: the trait and its events;
//! * [`receiver`]: the receiving half, for acknowledgement rules and receiver-driven control;
//! * [`signal`]: what the network said (ECN, CSIG, INT, notices), as types;
//! * [`estimate`]: RTT, delivery rate, windowed extremes, written once and shared by all;
//! * [`algo`]: one algorithm a file;
//! * [`declare`]: what an algorithm says of itself, and is held to;
//! * [`registry`]: names and typed parameters, open to algorithms of other crates;
//! * [`walkthrough`]: what each family of laws needs, and where the trait gives it.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod algo;
pub mod controller;
pub mod declare;
pub mod estimate;
pub mod ids;
pub mod receiver;
pub mod registry;
pub mod signal;
#[cfg(test)]
mod testing;
pub mod units;
pub mod walkthrough;

pub use controller::{
    Cause, Controller, ControllerState, DeliverySample, Feedback, Flight, Handover, HostView, Limit, Oracle,
    PacketRecord, PacketTag, PathSnapshot, RttSample, SendState, Sent, Setup, Tally,
};
pub use declare::{Bounds, Declaration, Family, Law, Need, Promise, Promises, Reductions, Side};
pub use ids::{BlockId, Entropy, PathId};
pub use registry::Registry;
pub use signal::{Ecn, EcnCounts, Signal};
pub use units::{Rate, Span, Timestamp};
