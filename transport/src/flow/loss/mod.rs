//! Loss detection as a policy: which packets in flight are lost, and when to look again.

mod per_packet_rto;
mod rack;
mod rfc9002;

use cc_algos::estimate::rtt::RttEstimator;
use cc_algos::units::{Span, Timestamp};

use self::per_packet_rto::PerPacketRto;
use self::rack::Rack;
use self::rfc9002::Rfc9002;
use super::ledger::{Entry, Ledger, Oldest};

pub use self::per_packet_rto::Rto;

/// How a sender finds out that packets are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LossPolicy {
    /// Packet and time thresholds (RFC 9002, section 6.1), and probe timeouts. Packets count within their entropy.
    Rfc9002 {
        /// Packets acknowledged ahead of one that make it lost (`kPacketThreshold`, 3).
        packet_threshold: u32,
        /// Share of the RTT after which an overtaken packet is lost, in eighths (`kTimeThreshold`, 9).
        time_threshold_eighths: u32,
    },
    /// Time since sending, with a reordering window that adapts (RFC 8985), and a tail-loss probe.
    Rack {
        /// Packets acknowledged ahead of one that make it lost while no reordering has been seen (`DupThresh`, 3).
        packet_threshold: u32,
    },
    /// A retransmission timer for each packet and nothing else.
    PerPacketRto {
        /// How long it runs.
        rto: Rto,
    },
}

impl LossPolicy {
    /// RFC 9002 with its own constants.
    pub const RFC_9002: Self = Self::Rfc9002 { packet_threshold: 3, time_threshold_eighths: 9 };
    /// RFC 8985 with its own constants.
    pub const RACK: Self = Self::Rack { packet_threshold: 3 };
}

impl Default for LossPolicy {
    fn default() -> Self {
        Self::RFC_9002
    }
}

/// What a detector looks at.
#[derive(Debug)]
pub(super) struct View<'a> {
    pub(super) now: Timestamp,
    pub(super) rtt: &'a RttEstimator,
    /// The largest acknowledged packet: what is older was overtaken.
    pub(super) largest_acked: Option<u64>,
    /// What a packet takes on the slowest route; zero while there is but one.
    pub(super) slowest_route: Span,
}

impl View<'_> {
    /// Whether a packet sent after this one was acknowledged.
    fn overtook(&self, packet: &Oldest) -> bool {
        self.largest_acked.is_some_and(|largest| packet.packet_number < largest)
    }

    /// How long a packet may stay out, if `same_lane` is what is granted to one that its own lane overtook.
    ///
    /// Routes differ in delay, so a packet that only packets on other routes overtook gets the time that the spread of RTTs
    /// suggests: the retransmission timeout of RFC 6298, without its floor, and not less than 9/8 of what the slowest
    /// route takes (ours).
    fn patience(&self, packet: &Oldest, same_lane: Span) -> Span {
        if packet.overtaken_on_lane {
            return same_lane;
        }
        let spread = self.rtt.smoothed() + self.rtt.variation().saturating_mul(4);
        same_lane.max(spread).max(self.slowest_route.mul_div(9, 8))
    }
}

/// A policy at work on one path.
#[derive(Clone, Debug)]
pub(super) enum Detector {
    Rfc9002(Rfc9002),
    Rack(Rack),
    PerPacketRto(PerPacketRto),
}

impl Detector {
    pub(super) fn new(policy: LossPolicy) -> Self {
        match policy {
            LossPolicy::Rfc9002 { packet_threshold, time_threshold_eighths } => {
                Self::Rfc9002(Rfc9002::new(packet_threshold, time_threshold_eighths))
            }
            LossPolicy::Rack { packet_threshold } => Self::Rack(Rack::new(packet_threshold)),
            LossPolicy::PerPacketRto { rto } => Self::PerPacketRto(PerPacketRto::new(rto)),
        }
    }

    /// Declares lost what the policy holds for lost, handing each to `lost`, and sets the timer for the rest.
    pub(super) fn detect<C: Copy>(
        &mut self,
        view: &View<'_>,
        ledger: &mut Ledger<C>,
        lost: impl FnMut(u64, &Entry<C>),
    ) {
        match self {
            Self::Rfc9002(rfc9002) => rfc9002.detect(view, ledger, lost),
            Self::Rack(rack) => rack.detect(view, ledger, lost),
            Self::PerPacketRto(rto) => rto.detect(view, ledger, lost),
        }
    }

    /// When [`Detector::detect`] is to be called next, if nothing is acknowledged before.
    pub(super) fn deadline<C: Copy>(&self, ledger: &Ledger<C>, rtt: &RttEstimator) -> Option<Timestamp> {
        match self {
            Self::Rfc9002(rfc9002) => rfc9002.deadline(),
            Self::Rack(rack) => rack.deadline(),
            Self::PerPacketRto(rto) => rto.deadline(ledger, rtt),
        }
    }

    /// The deadline came. Returns how many retransmission timeouts there were in a row, if that is what it was.
    pub(super) fn on_deadline(&mut self) -> Option<u32> {
        match self {
            Self::Rfc9002(_) | Self::Rack(_) => None,
            Self::PerPacketRto(rto) => Some(rto.on_deadline()),
        }
    }

    /// Which policy it is, as a number: reading it fetches the detector.
    pub(super) const fn touch(&self) -> u64 {
        self.probes() as u64
    }

    /// Something was acknowledged.
    pub(super) fn on_acked(&mut self, acked: &Acked) {
        match self {
            Self::Rfc9002(_) => {}
            Self::Rack(rack) => rack.on_acked(acked),
            Self::PerPacketRto(rto) => rto.on_acked(),
        }
    }

    /// How long to wait for an acknowledgement before a probe is sent, after `expired` probe timeouts in a row. `None`:
    /// this policy does not probe.
    pub(super) fn probe_timeout(&self, rtt: &RttEstimator, expired: u32, in_flight_packets: u64) -> Option<Span> {
        match self {
            Self::Rfc9002(_) => Some(rtt.pto_after(expired)),
            Self::Rack(_) => Some(rack::probe_timeout(rtt, expired, in_flight_packets)),
            Self::PerPacketRto(_) => None,
        }
    }

    /// Probes that a timeout brings: two, lest one more loss cost another timeout (RFC 9002, section 6.2.4), or RACK's one.
    pub(super) const fn probes(&self) -> u32 {
        match self {
            Self::Rfc9002(_) => 2,
            Self::Rack(_) => 1,
            Self::PerPacketRto(_) => 0,
        }
    }
}

/// What a detector learns from an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acked {
    /// The largest number newly acknowledged.
    pub(super) newest: u64,
    /// The number of the next packet.
    pub(super) next: u64,
    /// A packet was acknowledged after a later one of its lane.
    pub(super) reordered: bool,
    /// A packet was acknowledged that had been declared lost.
    pub(super) spurious: bool,
}
