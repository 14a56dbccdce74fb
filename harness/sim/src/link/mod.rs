//! Links, written once for simulator and emulator: how fast they serve, and what they do to packets on the way.

pub mod service;

pub use service::{Change, End, Opportunities, Opportunity, Segment, Segments, Server, ServiceSpec};
