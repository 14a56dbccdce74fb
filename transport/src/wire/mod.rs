//! Packet headers and frames.

mod ack;

pub use ack::{AckFrame, MarkBitmap, PacketNumberRange};
