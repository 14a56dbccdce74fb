//! What all disciplines have in common.

use core::fmt::Debug;

use super::{
    Codel, CodelSpec, DropTail, DualPi2, DualPi2Spec, FqCodel, FqCodelSpec, Pie, PieSpec, Queued, Trimming,
    TrimmingSpec,
};
use crate::error::{SpecError, ensure};
use crate::rng::Random;
use crate::time::SimTime;

/// A queue with its rules for dropping, marking and order of service.
///
/// Every packet that goes in comes out exactly once: returned by `dequeue`, or pushed to `dropped` by either call. A
/// marked packet comes out with [`cc_algos::Ecn::Ce`], one that was cut to its header with no more than
/// [`Queued::header_bytes`].
pub trait Discipline: Debug + Send {
    /// Takes a packet in. Whatever is refused, that packet or others, is pushed to `dropped`.
    fn enqueue(&mut self, now: SimTime, packet: Queued, dropped: &mut Vec<Queued>);

    /// The next packet to send, or `None` if none is left. Packets dropped on the way are pushed to `dropped`.
    fn dequeue(&mut self, now: SimTime, dropped: &mut Vec<Queued>) -> Option<Queued>;

    /// Bytes in the queue.
    fn bytes(&self) -> u64;

    /// Packets in the queue.
    fn packets(&self) -> u64;

    /// What was dropped and marked so far.
    fn counts(&self) -> Counts;
}

/// Packets dropped and marked by a discipline since it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counts {
    /// Packets dropped because the queue was full.
    pub overflowed: u64,
    /// Packets dropped to signal congestion.
    pub dropped_early: u64,
    /// Packets marked CE.
    pub marked: u64,
    /// Packets cut to their headers; `None` where none ever is.
    pub trimmed: Option<u64>,
}

/// How much a queue holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// This many bytes.
    Bytes(u64),
    /// This many packets, whatever their size.
    Packets(u64),
    /// Everything.
    Unlimited,
}

impl Capacity {
    /// Whether a packet of `size` fits on top of `bytes` in `packets`.
    pub const fn fits(self, bytes: u64, packets: u64, size: u32) -> bool {
        match self {
            Self::Bytes(limit) => bytes.saturating_add(size as u64) <= limit,
            Self::Packets(limit) => packets < limit,
            Self::Unlimited => true,
        }
    }

    /// Whether `bytes` in `packets` are more than fit.
    pub const fn is_exceeded(self, bytes: u64, packets: u64) -> bool {
        match self {
            Self::Bytes(limit) => bytes > limit,
            Self::Packets(limit) => packets > limit,
            Self::Unlimited => false,
        }
    }

    /// Bytes that fit, with packets of `mtu`, where there is a bound.
    pub(crate) const fn bytes(self, mtu: u64) -> Option<u64> {
        match self {
            Self::Bytes(limit) => Some(limit),
            Self::Packets(limit) => Some(limit.saturating_mul(mtu)),
            Self::Unlimited => None,
        }
    }

    pub(crate) fn validate(self) -> Result<(), SpecError> {
        ensure(!matches!(self, Self::Bytes(0) | Self::Packets(0)), "queue capacity", "zero", "more than zero")
    }
}

/// Which discipline, and its parameters.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum DisciplineSpec {
    /// First in, first out; what does not fit is refused.
    DropTail {
        /// How much the queue holds.
        capacity: Capacity,
    },
    /// CoDel, RFC 8289.
    Codel(CodelSpec),
    /// Flow queues under CoDel, RFC 8290.
    FqCodel(FqCodelSpec),
    /// PIE, RFC 8033.
    Pie(PieSpec),
    /// DualPI2, RFC 9332.
    DualPi2(DualPi2Spec),
    /// What does not fit loses its payload, NDP and Ultra Ethernet.
    Trimming(TrimmingSpec),
}

impl DisciplineSpec {
    /// Checks the parameters.
    ///
    /// # Errors
    /// If one is outside its range.
    pub fn validate(&self) -> Result<(), SpecError> {
        match self {
            Self::DropTail { capacity } => capacity.validate(),
            Self::Codel(spec) => spec.validate(),
            Self::FqCodel(spec) => spec.validate(),
            Self::Pie(spec) => spec.validate(),
            Self::DualPi2(spec) => spec.validate(),
            Self::Trimming(spec) => spec.validate(),
        }
    }

    /// How much data it holds.
    pub(crate) const fn capacity(&self) -> Capacity {
        match self {
            Self::DropTail { capacity } => *capacity,
            Self::Codel(spec) => spec.capacity,
            Self::FqCodel(spec) => spec.capacity,
            Self::Pie(spec) => spec.capacity,
            Self::DualPi2(spec) => spec.capacity,
            Self::Trimming(spec) => spec.capacity,
        }
    }

    /// An empty queue; `random` is a stream of its own, which not every discipline uses.
    ///
    /// # Errors
    /// If [`Self::validate`] fails.
    pub fn build(&self, random: Random) -> Result<Box<dyn Discipline>, SpecError> {
        self.validate()?;
        Ok(match self {
            Self::DropTail { capacity } => Box::new(DropTail::new(*capacity)),
            Self::Codel(spec) => Box::new(Codel::new(*spec)),
            Self::FqCodel(spec) => Box::new(FqCodel::new(*spec, random)),
            Self::Pie(spec) => Box::new(Pie::new(*spec, random)),
            Self::DualPi2(spec) => Box::new(DualPi2::new(*spec)),
            Self::Trimming(spec) => Box::new(Trimming::new(*spec, random)?),
        })
    }
}
