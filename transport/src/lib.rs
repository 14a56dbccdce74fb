//! A content-agnostic transport engine and its wire format.
//!
//! * [`flow`]: the engine that numbers, acknowledges, paces and recovers packets;
//! * [`wire`]: packet headers and frames, written and parsed.
//!
//! Everything here is sans-I/O: no clock, no socket, no randomness. Time and datagrams come in as arguments, what is to
//! be sent and when to wake up go out as return values. A driver, real or simulated, supplies the world.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod flow;
pub mod wire;
