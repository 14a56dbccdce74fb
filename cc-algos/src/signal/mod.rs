//! What the network, or the peer on its behalf, told us.
//!
//! Signals are untrusted: they can be wrong, bleached or forged. Absent is `None`, never zero and never a maximum:
//! "no CSIG tag" is not "everything is free".

pub mod csig;
pub mod ecn;
pub mod int;

pub use csig::{CsigSample, CsigValue};
pub use ecn::{Ecn, EcnCounts};
pub use int::IntHop;

use crate::ids::PathId;
use crate::units::{Rate, Span, Timestamp};

/// A notice that arrives apart from acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Signal {
    /// A congestion notification packet of the receiver (DCQCN, SIGCOMM'15, section 3.1).
    CongestionNotification,
    /// A notice sent straight back by a switch near the source (QCN, Annulus, Bolt's SRC).
    NearSource(NearSource),
    /// The receiver granted `bytes` of credit (receiver-driven laws: EQDS, RCCC).
    Credit {
        /// Bytes the sender may send on top of what it was granted before.
        bytes: u64,
    },
    /// Something about a path changed that voids what was learnt about it.
    PathChange {
        /// The path in question.
        path: PathId,
        /// What became of it.
        change: PathChange,
    },
    /// The largest packet that the path carries changed.
    MtuChange {
        /// New largest packet, bytes, all headers of ours included.
        mtu: u64,
    },
    /// Sending resumes after nothing was in flight for a while, and neither window nor pacer was the reason (RFC 9002,
    /// section 7.8; RFC 5681, section 4.1).
    Restart {
        /// How long nothing was in flight, less the time that window or pacer asked for.
        idle: Span,
    },
}

/// What became of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathChange {
    /// Traffic moved to another address pair or route: delay and rate have to be learnt again.
    Migrated,
    /// ECN validation failed: no marks are to be expected from now on (RFC 9000, section 13.4.2).
    EcnUnusable,
    /// The path passed validation again after it was held dead.
    Revived,
}

/// A switch's own report on its queue, sent back without the detour over the receiver.
///
/// It holds what a congestion point of QCN (IEEE 802.1Qau) reckons with, unquantised: with `Q` the queue, `Q_eq` the set
/// point and `Q_old` the queue at the sample before, `Fb = -((Q - Q_eq) + w (Q - Q_old))`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NearSource {
    /// Bytes queued at the switch.
    pub queue_bytes: u64,
    /// Bytes queued when the switch took its sample before this one, whoever was told of it.
    pub former_queue_bytes: u64,
    /// The queue that the switch aims at, bytes.
    pub set_point_bytes: u64,
    /// Rate of the switch's port.
    pub port_rate: Rate,
    /// When the packet that triggered the notice was sent, if it has not been settled in the meantime.
    pub triggered_by_sent_at: Option<Timestamp>,
}
