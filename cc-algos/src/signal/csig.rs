//! CSIG, rich congestion signals of the bottleneck hop (draft-ravi-ippm-csig-01): the meaning of a reflected sample.
//!
//! The tag's bits belong to the wire; here stands what a controller reads.

use crate::ids::{Entropy, PathId};
use crate::units::{Rate, Span};

/// What one reflected tag says about the worst hop of the forward path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CsigValue {
    /// Smallest available bandwidth of any hop (type 0, ABW).
    AvailableBandwidth(Rate),
    /// Smallest available bandwidth relative to the hop's capacity, in parts per million (type 1, ABW/C).
    AvailableRatioPpm(u32),
    /// Largest delay at any hop (type 2, per-hop delay).
    HopDelay(Span),
    /// Largest queue depth divided by the speed of its port, as time (type 3, nQD).
    QueueDepth(Span),
}

/// A reflected tag with where and when it was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CsigSample {
    /// What the worst hop reported.
    pub value: CsigValue,
    /// Locator of the hop that set the value, in the operator's own numbering.
    pub locator: u16,
    /// Path that the tagged packet took.
    pub path: PathId,
    /// Entropy of the tagged packet. Samples of different routes must not be mixed.
    pub entropy: Entropy,
    /// Time since the tagged packet was sent.
    pub age: Span,
}

impl CsigSample {
    /// A sample of a route, taken from a packet sent `age` ago.
    pub const fn new(value: CsigValue, locator: u16, path: PathId, entropy: Entropy, age: Span) -> Self {
        Self { value, locator, path, entropy, age }
    }
}
