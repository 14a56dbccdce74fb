//! What can be read off a path at any time.

use cc_algos::controller::{Limit, Tally};
use cc_algos::units::{Rate, Span};

/// A cheap picture of one path of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathStats {
    /// Congestion window, bytes.
    pub window: u64,
    /// Rate of the pacer, where it is at work.
    pub pacing_rate: Option<Rate>,
    /// Bytes in flight.
    pub in_flight_bytes: u64,
    /// Packets in flight.
    pub in_flight_packets: u64,
    /// Smoothed RTT, from the first sample on.
    pub smoothed_rtt: Option<Span>,
    /// Newest RTT sample.
    pub latest_rtt: Option<Span>,
    /// Smallest RTT.
    pub min_rtt: Option<Span>,
    /// RTT variation.
    pub rtt_variation: Span,
    /// Probe timeouts in a row.
    pub pto_count: u32,
    /// What held the sender back in the round that was acknowledged last.
    pub limit: Limit,
    /// Totals since the path began.
    pub totals: Totals,
}

/// Totals of a path. `acked + lost + recovered - spurious + in flight = sent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Totals {
    /// Packets sent that count as in flight.
    pub sent: Tally,
    /// Acknowledged, late ones included.
    pub acked: Tally,
    /// Declared lost, wrongly or not.
    pub lost: Tally,
    /// Given up, but of blocks that were complete by then.
    pub recovered: Tally,
    /// Declared lost or recovered, and acknowledged after all.
    pub spurious: Tally,
    /// Arrived marked CE.
    pub marked: Tally,
    /// Probe timeouts that expired.
    pub probe_timeouts: u64,
    /// Times that persistent congestion was established.
    pub persistent_congestions: u64,
}

/// Adds one tally to another.
pub(super) const fn accumulate(total: &mut Tally, more: Tally) {
    total.bytes = total.bytes.saturating_add(more.bytes);
    total.packets = total.packets.saturating_add(more.packets);
}
