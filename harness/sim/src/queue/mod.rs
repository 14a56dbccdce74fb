//! Queue disciplines and markers, written once for simulator and emulator: time and packets in, verdicts out.

use cc_algos::Ecn;

use crate::time::SimTime;

/// What a queue needs to know of a packet; `handle` is the caller's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queued {
    /// The caller's handle of the packet.
    pub handle: u32,
    /// Size on the wire, bytes.
    pub bytes: u32,
    /// Hash of the flow, for disciplines that keep flows apart.
    pub flow: u32,
    /// ECN codepoint; a discipline that marks sets it to CE.
    pub ecn: Ecn,
    /// When it was offered to the queue.
    pub arrived: SimTime,
}
