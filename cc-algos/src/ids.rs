//! Identifiers that controllers, the flow engine and the wire share.

/// An address pair with its own packet-number space, RTT estimate and loss detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PathId(pub u16);

/// A value (UDP source port or IPv6 flow label) that hashing in the network turns into a route. One path can spray over
/// many entropies. Twenty bits at most, the width of a flow label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Entropy(pub u32);

/// A block of packets that is erasure-coded together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BlockId(pub u64);
