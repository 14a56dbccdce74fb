//! The engine that numbers, acknowledges, paces and recovers packets without touching their bytes.
//!
//! A [`Sender`] is told what leaves and what comes back, and says when something may leave and when it wants to be woken.
//! What a packet carries is a token of up to 16 bytes ([`Content`]), which comes back once as acknowledged or lost. A
//! [`Receiver`] records what arrives on one path and writes acknowledgements. Neither reads a clock or draws a random
//! number; the simulator and the real transport drive the very same code.
//!
//! # What a sender does, in order
//!
//! *Before a packet*, [`Sender::gate`] asks, in this order: probes owed after a timeout pass whatever the limits; the
//! congestion window; the pacer. A window below one packet lets one leave each RTT x packet / window.
//!
//! *For an acknowledgement*, [`Sender::on_ack`] settles what is newly acknowledged, takes the RTT and delivery-rate
//! samples, validates ECN counts, detects losses with the new RTT, checks for persistent congestion, and then tells the
//! controller everything in one [`Feedback`](cc_algos::Feedback). An acknowledgement that is refused changes nothing.
//!
//! *When time passes*, [`Sender::on_timeout`] runs the loss timer, the probe timeout and the controller's own timer.
//!
//! # Delay and hops
//!
//! `fabric_delay` is the RTT sample less the time that the receiver says it held the packet: (t4 - t1) - (t3 - t2) in Swift's
//! terms (SIGCOMM'20, section 3.1; Falcon, section 10.4). Our ACK delay is exact, so it comes with every RTT sample, unless the
//! receiver claims more than the whole of it. t1 is when the packet was handed to the driver: what waits at the sender's own
//! link counts as fabric. `hops` is there if the receiver knows the count and echoes it ([`EchoConfig::hops`]).
//!
//! # Telemetry
//!
//! `int` holds what the ports on the way wrote into the largest packet acknowledged, if that is newly acknowledged and larger
//! than any before: records come in the order of packets, each once, and are empty otherwise. The receiver is handed a packet's
//! records by [`Receiver::on_int`] and echoes the newest. Values are those that [`IntStack`](crate::wire::IntStack) can carry.
//!
//! # Coding
//!
//! A flow whose [`SenderConfig::coding`] says so sends blocks of data and parity: see [`code`]. What is sent again is then
//! decided by block, and [`Event::Lost`] never speaks of shards.
//!
//! # Not filled yet
//!
//! [`Feedback`](cc_algos::Feedback) has room for what switches will tell: `csig`. This engine leaves it empty.
//!
//! # Cost
//!
//! Nothing is allocated per packet once rings and scratch have grown to a flow's window. An acknowledgement costs what is
//! new in it and its number of ranges; loss detection looks at each packet once.

pub mod balance;
pub mod code;
mod config;
mod ecn;
mod feedback;
mod lanes;
mod ledger;
mod limits;
pub mod loss;
mod pacer;
mod path;
mod persistent;
mod ranges;
mod receiver;
mod sender;
mod skip;
mod stats;
mod workspace;

#[cfg(test)]
mod tests;

pub use config::{EcnMode, Pacing, SenderConfig, Skip};
pub use loss::{LossPolicy, Rto};
pub use ranges::{Missing, RangeSet};
pub use receiver::{Arrival, Arrived, EchoConfig, Receiver, ReceiverConfig};
pub use sender::Sender;
pub use stats::{PathStats, Totals};
pub use workspace::{Event, Workspace};

use core::fmt::Debug;

use cc_algos::controller::Limit;
use cc_algos::ids::{Entropy, PathId};
use cc_algos::units::Timestamp;

/// What a packet carries, as its owner names it: a range of a stream, a control frame, a probe, a simulated chunk.
///
/// Implemented for every copyable type; at most 16 bytes, which [`Sender::new`] checks when it is compiled.
pub trait Content: Copy + Debug + 'static {}

impl<T: Copy + Debug + 'static> Content for T {}

/// A packet that the driver hands to the network.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<C> {
    /// The path it takes.
    pub path: PathId,
    /// The entropy it carries.
    pub entropy: Entropy,
    /// Its size, bytes, all headers of ours included.
    pub bytes: u32,
    /// What it carries.
    pub content: C,
    /// Its place in a coding block, as [`BlockSender::next`](code::BlockSender::next) gave it.
    pub block: Option<code::Place>,
}

/// Whether a packet may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// Now.
    Open,
    /// Not yet.
    Blocked {
        /// What holds it back.
        limit: Limit,
        /// When to ask again, if time alone opens the gate: for the pacer, and for windows below one packet.
        until: Option<Timestamp>,
    },
}

/// Why an acknowledgement was refused. It changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AckError {
    /// There is no such path.
    #[error("acknowledgement for path {}, which does not exist", .0.0)]
    UnknownPath(PathId),
    /// A packet was acknowledged that was never sent.
    #[error("acknowledgement of packet {largest}, but the next number to be sent is {next}")]
    NeverSent {
        /// Largest number acknowledged.
        largest: u64,
        /// Number of the next packet.
        next: u64,
    },
    /// A number was acknowledged that was left out on purpose: the peer acknowledges what it did not receive.
    #[error("acknowledgement of packet number {0}, which was skipped")]
    Skipped(u64),
    /// The ranges are empty, not descending, or do not start at the largest number.
    #[error("acknowledgement whose ranges are not descending from packet {largest}")]
    Malformed {
        /// Largest number acknowledged.
        largest: u64,
    },
    /// ECN counts of a trusted network shrank.
    #[error("ECN counts that are smaller than those of an earlier acknowledgement")]
    EcnBackwards,
}
