//! Links, written once for simulator and emulator: how fast they serve, and what they do to packets on the way.

pub mod impair;
pub mod service;

pub use impair::{Condition, Delivery, Fate, ImpairmentSpec, Impairments, Order, PacketClass, PacketInfo};
pub use service::{Change, Changing, End, Opportunities, Opportunity, Segment, Segments, Server, ServiceSpec};
