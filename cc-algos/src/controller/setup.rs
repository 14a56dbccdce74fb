//! What a controller is built from, and what it leaves to its successor.

use crate::units::{Rate, Span, Timestamp};

/// What a controller is built from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Setup {
    /// When the flow begins.
    pub now: Timestamp,
    /// Largest packet, bytes, all headers of ours included: the "SMSS" of the RFCs.
    pub mtu: u64,
    /// Seed of the controller's own randomness: one stream per flow, so that pairing by seed means something.
    pub seed: u64,
    /// Rate of the local link, where the host knows it.
    pub local_line_rate: Option<Rate>,
    /// What the host knows beyond this flow.
    pub host_view: HostView,
    /// Configured truths that a published simulator would hand its senders. Results say when it was used.
    pub oracle: Option<Oracle>,
    /// State to resume from.
    pub handover: Option<Handover>,
}

impl Setup {
    /// A flow that begins at `now` with packets of at most `mtu` bytes and knows nothing else.
    pub const fn new(now: Timestamp, mtu: u64, seed: u64) -> Self {
        Self {
            now,
            mtu,
            seed,
            local_line_rate: None,
            host_view: HostView { nearby_rtt: None, nearby_bdp_bytes: None },
            oracle: None,
            handover: None,
        }
    }
}

/// What a host knows beyond one flow; UnoCC's inter-datacentre flows pace their epochs by the intra-datacentre RTT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostView {
    /// Base RTT to nearby hosts (the same datacentre).
    pub nearby_rtt: Option<Span>,
    /// Bandwidth-delay product to nearby hosts, bytes.
    pub nearby_bdp_bytes: Option<u64>,
}

/// The configured truth about a flow's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Oracle {
    /// RTT of a full packet and its ACK over empty queues.
    pub base_rtt: Span,
    /// Rate of the slowest link on the path.
    pub bottleneck: Rate,
}

impl Oracle {
    /// Bandwidth-delay product, bytes.
    pub const fn bdp_bytes(&self) -> u64 {
        self.bottleneck.bytes_in(self.base_rtt)
    }
}

/// What a controller may start from instead of from nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Handover {
    /// Congestion window, bytes. Bytes in flight above it are not recalled: sending pauses until they drain.
    pub window: Option<u64>,
    /// Slow-start threshold, bytes.
    pub ssthresh: Option<u64>,
    /// Smallest RTT seen.
    pub min_rtt: Option<Span>,
    /// Estimated bottleneck bandwidth.
    pub bandwidth: Option<Rate>,
}

impl Handover {
    /// A handover of a window alone.
    pub const fn of_window(window: u64) -> Self {
        Self { window: Some(window), ssthresh: None, min_rtt: None, bandwidth: None }
    }
}
