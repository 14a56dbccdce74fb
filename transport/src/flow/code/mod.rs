//! Erasure-coded blocks: which packets belong together, which of them still have to arrive, and when to ask for more.
//!
//! A *block* has k data *shards* and m *parity* shards, one to a packet; any k of them give back all data (RFC 5510 speaks
//! of source and repair symbols of a source block). The code is systematic: data shards are sent as they are, and parity
//! follows the last of them. Nothing here touches a byte. A driver brings the contents, and a codec or, in a simulator, the
//! knowledge of what a codec would give back.
//!
//! # The sender
//!
//! [`BlockSender`] says what leaves next: what must be sent again, parity that is owed, or data, and at which [`Place`]. A
//! block is as long as its policy says or as there is data when it begins, so that the last one of a stream, and each
//! that an application fills in dribs and drabs, is short and not late; it has the same m. Parity passes window and pacer like
//! any packet, and is acknowledged and lost like any.
//!
//! A lost shard is not sent again while its block can still be decoded by what has arrived, is under way or will leave
//! anyway. Once more than m are lost, all of them are sent again, so that the repair is as well protected as the block was
//! (as in UnoRC's artifact, SC'25; ours is that loss detection may find out before the receiver complains). A block is complete
//! once the peer says so ([`BlockAck`]) or k of its shards are acknowledged; nothing of it is sent any more then.
//!
//! # What controllers are told
//!
//! Losses that coding makes good are congestion all the same (RFC 9265, section 4). A shard leaves flight when it is acknowledged or
//! when loss detection gives it up, never because its block is complete: what trails behind the k-th shard is under way and
//! not lost. If the block is complete by then, the packet is told as
//! [`recovered`](cc_algos::controller::Feedback::recovered), else as lost.
//!
//! # The receiver
//!
//! [`BlockReceiver`] keeps the set of shards that came, says when a block is complete and which data shards are to be decoded,
//! and sends a [`Nack`](crate::wire::Nack) once when a block is not complete [`Coding::timeout`] after its first shard; the next
//! shard of the block starts the timer anew. Frames do not say the time-out: both ends know it from the start of the connection.
//!
//! # Bounds
//!
//! At most [`MAX_BLOCKS`] blocks reach from the oldest incomplete one on, on both sides: a sender waits, and a receiver refuses
//! what lies beyond. What a peer says is checked against what was sent before anything of it is believed.

mod block;
mod complete;
mod policy;
mod receive;
mod send;

pub use complete::CompleteBlocks;
pub use policy::{Coding, CodingError, Parity};
pub use receive::{BlockReceiver, ReceivedBlocks, Refused, ShardArrival};
pub use send::{BlockSender, Next, SentBlocks};

use cc_algos::ids::BlockId;

use crate::wire::Shard;

#[cfg(doc)]
use crate::wire::BlockAck;

/// Most blocks from the oldest incomplete one on. Ours: enough for a window of 160 MB in blocks of ten packets of 4 KiB.
pub const MAX_BLOCKS: usize = 4_096;

/// A shard's place in its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The block.
    pub block: BlockId,
    /// Which shard this is: below `k` for data, from `k` to `k + m - 1` for parity.
    pub index: u8,
    /// Data shards of the block.
    pub k: u8,
    /// Parity shards of the block.
    pub m: u8,
}

impl Place {
    /// Whether parity stands here.
    pub const fn is_parity(&self) -> bool {
        self.index >= self.k
    }

    /// The place as frames have it, in a block whose shards have `shard_len` bytes.
    pub const fn shard(&self, shard_len: u16) -> Shard {
        Shard { block: self.block, index: self.index, k: self.k, m: self.m, shard_len }
    }
}

/// What happened to a packet that carried a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Arrived,
    Lost,
}

/// One packet of a block that left flight, or that arrived after having been given up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShardReport {
    pub(crate) block: BlockId,
    pub(crate) index: u8,
    pub(crate) fate: Fate,
}

/// Why what a peer said about blocks was refused. It changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BlockError {
    /// This flow has no blocks.
    #[error("a frame about block {}, but the flow is not coded", .0.0)]
    NotCoded(BlockId),
    /// The block is not sent yet, or fewer of its shards than would make it complete.
    #[error("a frame about block {}, of which too little was sent: expected one below {next}", .block.0)]
    NeverSent {
        /// The block.
        block: BlockId,
        /// The first block that cannot be complete.
        next: u64,
    },
    /// The block has another number of shards.
    #[error("a complaint about block {} with {shards} shards, but it has {expected}", .block.0)]
    WrongShape {
        /// The block.
        block: BlockId,
        /// Shards that the peer believes it to have.
        shards: u8,
        /// Shards that it has.
        expected: u8,
    },
}
