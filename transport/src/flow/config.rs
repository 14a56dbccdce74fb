//! How a sender behaves where the RFCs leave a choice.

use cc_algos::estimate::rtt::RttEstimator;
use cc_algos::units::Span;

use super::code::Coding;
use super::loss::{LossPolicy, Rto};

/// What all paths of a [`Sender`](super::Sender) have in common. The default is RFC 9002 on a wide-area network.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SenderConfig {
    /// Largest packet, bytes, all headers of ours included. 1 200 B is what every QUIC path carries (RFC 9000, section 14).
    pub mtu: u64,
    /// How losses are detected.
    pub loss: LossPolicy,
    /// Whether packets are spaced out.
    pub pacing: Pacing,
    /// RTT to assume until the first sample. A driver whose handshake measured one sets it here: the initial window is
    /// paced over it.
    pub initial_rtt: Span,
    /// Smallest time that timers can tell (RFC 9002, section 6.1.2: `kGranularity`).
    pub granularity: Span,
    /// Longest time by which the peer promised to delay acknowledgements.
    pub max_ack_delay: Span,
    /// Probe timeouts over which everything must be lost to establish persistent congestion (RFC 9002, section 7.6.1).
    pub persistent_congestion_threshold: u32,
    /// Whether packets are marked as ECN-capable.
    pub ecn: EcnMode,
    /// Packet numbers to leave out, so that acknowledgements of packets never received show (RFC 9000, section 21.4). Off
    /// by default: in a simulation nobody cheats, and a gap costs a range in each acknowledgement.
    pub skip: Option<Skip>,
    /// How the flow is coded, if it is.
    pub coding: Option<Coding>,
}

impl Default for SenderConfig {
    fn default() -> Self {
        Self {
            mtu: 1_200,
            loss: LossPolicy::default(),
            pacing: Pacing::On,
            initial_rtt: RttEstimator::INITIAL_RTT,
            granularity: RttEstimator::WIDE_AREA_GRANULARITY,
            max_ack_delay: Span::from_millis(25),
            persistent_congestion_threshold: 3,
            ecn: EcnMode::Validate,
            skip: None,
            coding: None,
        }
    }
}

impl SenderConfig {
    /// A datacentre: packets of 4 KiB and headers, microsecond timers, an acknowledgement for every packet, switches
    /// known to mark, and pacing only for laws that set a rate (ours, after csg-htsim's defaults).
    pub fn datacentre() -> Self {
        Self {
            mtu: 4_160,
            pacing: Pacing::ByController,
            initial_rtt: Span::from_micros(20),
            granularity: RttEstimator::DATACENTRE_GRANULARITY,
            max_ack_delay: Span::ZERO,
            ecn: EcnMode::Trust,
            ..Self::default()
        }
    }

    /// As [`SenderConfig::datacentre`], with a retransmission timer of its own for each packet and nothing else, as
    /// simulators of the htsim family detect loss.
    pub fn datacentre_rto(rto: Span) -> Self {
        Self { loss: LossPolicy::PerPacketRto { rto: Rto::Fixed(rto) }, ..Self::datacentre() }
    }
}

/// Whether packets are spaced out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pacing {
    /// Never: whatever the window allows leaves at once, even if the controller sets a rate.
    Off,
    /// Only at a rate that the controller sets.
    ByController,
    /// At the controller's rate, or else at 5/4 of window per smoothed RTT, and twice that quotient in slow start (RFC 9002,
    /// section 7.7; the factors are Linux's `tcp_pacing_ca_ratio` and `tcp_pacing_ss_ratio`, the former rounded).
    On,
}

/// Whether packets are marked as ECN-capable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EcnMode {
    /// Never.
    Off,
    /// While the path proves to carry marks (RFC 9000, section 13.4.2).
    Validate,
    /// Always, as the controller likes: the network is known.
    Trust,
}

/// Packet numbers left out at random distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skip {
    /// Mean number of packets between two skipped numbers; the distances are even between half and one and a half of it.
    pub mean_distance: u32,
    /// Seed of the distances. Against a real peer it must be one that nobody can guess.
    pub seed: u64,
}
