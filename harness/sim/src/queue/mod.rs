//! Queue disciplines and markers, written once for simulator and emulator: time and packets in, verdicts out.
//!
//! None has events or a clock of its own: what would be a timer is caught up with when a packet comes or goes. The
//! caller lets departures happen before arrivals of the same instant; then a burst of one packet more than the
//! capacity, of which the first leaves at that very instant, fits.

mod codel;
mod congestion_point;
mod discipline;
mod dualpi2;
mod fifo;
mod fq_codel;
mod marking;
mod phantom;
mod pie;
mod policer;
#[cfg(test)]
mod testing;
mod trimming;

use cc_algos::Ecn;

use crate::time::SimTime;

pub use codel::{Codel, CodelParameters, CodelSpec};
pub use congestion_point::{Congestion, CongestionPoint, CongestionPointSpec};
pub use discipline::{Capacity, Counts, Discipline, DisciplineSpec};
pub use dualpi2::{DualPi2, DualPi2Spec, LowLatencyRamp, Scheduler};
pub use fifo::DropTail;
pub use fq_codel::{FqCodel, FqCodelSpec};
pub use marking::{MarkAt, Marker, MarkingSpec, Red, RedAverage, Verdict};
pub use phantom::{Phantom, PhantomFeed, PhantomRole, PhantomSpec};
pub use pie::{Pie, PieSpec, Spacing};
pub use policer::{Admit, Excess, Policer, PolicerSpec};
pub use trimming::{ControlScheduler, Trimming, TrimmingSpec, Victim};

/// What a queue needs to know of a packet; `handle` is the caller's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queued {
    /// The caller's handle of the packet.
    pub handle: u32,
    /// Size on the wire, bytes.
    pub bytes: u32,
    /// What a switch leaves of it that cuts off its payload, bytes: all of a packet that has none.
    pub header_bytes: u32,
    /// Hash of the flow, for disciplines that keep flows apart.
    pub flow: u32,
    /// ECN codepoint; a discipline that marks sets it to CE.
    pub ecn: Ecn,
    /// When it was offered to the queue.
    pub arrived: SimTime,
}

impl Queued {
    /// Whether it carries no payload: an acknowledgement, a notice, or what a switch left of a packet.
    pub const fn is_control(&self) -> bool {
        self.bytes <= self.header_bytes
    }
}

#[cfg(test)]
mod tests;
