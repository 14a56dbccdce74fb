//! The [`Controller`] trait and the events it is told, and apart from them what it is built from ([`Setup`]) and what it shows
//! of itself ([`ControllerState`]).
//!
//! Contract of the engine that calls a controller:
//!
//! 1. Every packet that counts as in flight is reported once by [`Controller::on_sent`].
//! 2. Everything one cause revealed arrives in **one** [`Feedback`]: what an acknowledgement newly acknowledged, what it
//!    let the sender declare lost, and its marks, together. Within a batch a law reads losses first, then marks, then
//!    acknowledgements, so that an ACK of ten packets means the same as ten ACKs of one.
//! 3. [`Flight`] shows the sender *after* the batch was applied, or the packet sent; [`Feedback::prior_in_flight`] is the
//!    amount before the batch.
//! 4. Time never goes backwards between calls.

mod setup;
mod state;

use core::fmt::Debug;

use crate::ids::{BlockId, Entropy, PathId};
use crate::signal::{CsigSample, Ecn, EcnCounts, IntHop, Signal};
use crate::units::{Rate, Span, Timestamp};

pub use setup::{Handover, HostView, Oracle, Setup};
pub use state::ControllerState;

/// A congestion-control law. Object-safe, open to other crates, and free of clocks, I/O and hidden randomness.
pub trait Controller: Debug + Send {
    /// A packet that counts as in flight was handed to the network. The returned tag comes back with the packet's record.
    fn on_sent(&mut self, _sent: &Sent, _flight: &Flight<'_>) -> PacketTag {
        PacketTag::NONE
    }

    /// Packets were acknowledged, marked or declared lost: one consistent batch, whatever its cause.
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>);

    /// A notice arrived apart from acknowledgements.
    fn on_signal(&mut self, _now: Timestamp, _signal: &Signal, _flight: &Flight<'_>) {}

    /// The time of [`Controller::next_timer`] has come.
    fn on_timer(&mut self, _now: Timestamp, _flight: &Flight<'_>) {}

    /// When the controller wants to be woken next, if at all.
    fn next_timer(&self) -> Option<Timestamp> {
        None
    }

    /// Bytes allowed in flight. May be below one packet: the engine then sends a packet each RTT x packet / window.
    fn window(&self) -> u64;

    /// The rate to space packets at; `None` lets the engine derive one from window and RTT.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// Whether the window doubles each round trip, as in slow start. Where the law sets no rate of its own, the engine then paces
    /// at twice the window per RTT, which lets it double, and at 5/4 of it otherwise (RFC 9002, section 7.7, gives the latter).
    fn in_slow_start(&self) -> bool {
        false
    }

    /// Bytes that may leave back to back; `None` lets the engine choose.
    fn send_quantum(&self) -> Option<u64> {
        None
    }

    /// The ECN codepoint that the law wants on its packets. [`Ecn::NotEct`] asks for drops instead of marks.
    fn ecn(&self) -> Ecn {
        Ecn::Ect0
    }

    /// A picture of the state for plots, logs and assertions.
    fn state(&self) -> ControllerState;

    /// A copy with the same state.
    fn clone_box(&self) -> Box<dyn Controller>;

    /// What another controller, or the same law on another path, may start from.
    fn handover(&self) -> Handover;
}

impl Controller for Box<dyn Controller> {
    fn on_sent(&mut self, sent: &Sent, flight: &Flight<'_>) -> PacketTag {
        (**self).on_sent(sent, flight)
    }
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        (**self).on_feedback(feedback, flight);
    }
    fn on_signal(&mut self, now: Timestamp, signal: &Signal, flight: &Flight<'_>) {
        (**self).on_signal(now, signal, flight);
    }
    fn on_timer(&mut self, now: Timestamp, flight: &Flight<'_>) {
        (**self).on_timer(now, flight);
    }
    fn next_timer(&self) -> Option<Timestamp> {
        (**self).next_timer()
    }
    fn window(&self) -> u64 {
        (**self).window()
    }
    fn pacing_rate(&self) -> Option<Rate> {
        (**self).pacing_rate()
    }
    fn in_slow_start(&self) -> bool {
        (**self).in_slow_start()
    }
    fn send_quantum(&self) -> Option<u64> {
        (**self).send_quantum()
    }
    fn ecn(&self) -> Ecn {
        (**self).ecn()
    }
    fn state(&self) -> ControllerState {
        (**self).state()
    }
    fn clone_box(&self) -> Box<dyn Controller> {
        (**self).clone_box()
    }
    fn handover(&self) -> Handover {
        (**self).handover()
    }
}

/// Sixteen bytes of a controller's own that travel with a packet's record and come back with it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PacketTag(pub [u64; 2]);

impl PacketTag {
    /// Nothing to remember.
    pub const NONE: Self = Self([0, 0]);
}

/// A packet that was just sent.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Sent {
    /// When it was sent.
    pub now: Timestamp,
    /// Its number on its path.
    pub packet_number: u64,
    /// Its size, bytes, all headers of ours included.
    pub bytes: u32,
    /// The path it took.
    pub path: PathId,
    /// The entropy it carries.
    pub entropy: Entropy,
}

impl Sent {
    /// A packet on the first path with entropy zero.
    pub const fn new(now: Timestamp, packet_number: u64, bytes: u32) -> Self {
        Self { now, packet_number, bytes, path: PathId(0), entropy: Entropy(0) }
    }
}

/// State of the sender when a packet left, in the terms of draft-ietf-ccwg-bbr, section 4.1.2 ("Per-packet state").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SendState {
    /// Bytes in flight just after this packet was sent, itself included (`tx_in_flight`).
    pub in_flight: u64,
    /// Bytes delivered so far (`delivered`).
    pub delivered: u64,
    /// Bytes lost so far (`lost`).
    pub lost: u64,
    /// When the newest of the delivered bytes was acknowledged (`delivered_time`).
    pub delivered_at: Timestamp,
    /// Send time of the first packet of the flight that this one belongs to (`first_send_time`).
    pub first_sent_at: Timestamp,
    /// What held the sender back at that time; [`Limit::Application`] marks an app-limited sample.
    pub limit: Limit,
}

/// A packet that was acknowledged or declared lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PacketRecord {
    /// Its number on its path.
    pub packet_number: u64,
    /// Its size, bytes.
    pub bytes: u32,
    /// The path it took.
    pub path: PathId,
    /// The entropy it carried.
    pub entropy: Entropy,
    /// The codepoint it arrived with, where the receiver echoes that per packet.
    pub arrived_as: Option<Ecn>,
    /// When it was sent.
    pub sent_at: Timestamp,
    /// When it arrived, by the receiver's clock, where the receiver reports that.
    pub received_at: Option<Timestamp>,
    /// The controller's own tag.
    pub tag: PacketTag,
    /// The coding block it belonged to.
    pub block: Option<BlockId>,
    /// State of the sender when it left.
    pub at_send: SendState,
}

impl PacketRecord {
    /// A record of packet `packet_number` of `bytes` sent at `sent_at`, all else unknown or zero.
    pub const fn new(packet_number: u64, bytes: u32, sent_at: Timestamp) -> Self {
        Self {
            packet_number,
            bytes,
            path: PathId(0),
            entropy: Entropy(0),
            arrived_as: None,
            sent_at,
            received_at: None,
            tag: PacketTag::NONE,
            block: None,
            at_send: SendState {
                in_flight: bytes as u64,
                delivered: 0,
                lost: 0,
                delivered_at: sent_at,
                first_sent_at: sent_at,
                limit: Limit::Window,
            },
        }
    }
}

/// What revealed a batch of feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// An acknowledgement arrived.
    Ack,
    /// The loss-detection timer declared packets lost (RFC 9002, section 6.1.2).
    LossTimer,
    /// A probe or retransmission time-out fired, for the `consecutive`-th time in a row, from 1.
    Timeout {
        /// How many in a row.
        consecutive: u32,
    },
    /// A switch cut the payload off and the receiver reported the headers that arrived.
    Trim,
    /// The receiver gave up on a coding block and asked for what is missing.
    BlockNack,
    /// A path was declared dead; all that was in flight on it counts as lost.
    PathDead,
    /// Packets that had been declared lost were acknowledged after all, and nothing else happened.
    Spurious,
}

/// A number of packets and their bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Tally {
    /// Bytes.
    pub bytes: u64,
    /// Packets.
    pub packets: u64,
}

impl Tally {
    /// Nothing.
    pub const ZERO: Self = Self { bytes: 0, packets: 0 };

    /// Counts one packet of `bytes`.
    pub const fn add(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.packets = self.packets.saturating_add(1);
    }

    /// Whether nothing was counted.
    pub const fn is_zero(&self) -> bool {
        self.packets == 0
    }
}

/// A round-trip time measured by this acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RttSample {
    /// From sending the newest acknowledged packet to now.
    pub latest: Span,
    /// How long the receiver says it held the acknowledgement back.
    pub ack_delay: Span,
    /// When the measured packet was sent.
    pub sent_at: Timestamp,
}

/// Delivery rate over the flight of the newest acknowledged packet (draft-ietf-ccwg-bbr, section 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeliverySample {
    /// Delivered bytes over the longer of send and ACK interval.
    pub rate: Rate,
    /// Bytes delivered between the send and the acknowledgement of the measured packet.
    pub delivered: u64,
    /// Bytes declared lost in the same time.
    pub lost: u64,
    /// The longer of the send and the ACK interval.
    pub interval: Span,
    /// State of the sender when the measured packet left.
    pub at_send: SendState,
}

impl DeliverySample {
    /// A sample with the given parts.
    pub const fn new(rate: Rate, delivered: u64, lost: u64, interval: Span, at_send: SendState) -> Self {
        Self { rate, delivered, lost, interval, at_send }
    }

    /// Whether the sender had too little to send, so that the rate says nothing about the network.
    pub fn is_app_limited(&self) -> bool {
        self.at_send.limit == Limit::Application
    }
}

/// Everything that one cause revealed, consistent in itself.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Feedback<'a> {
    /// When.
    pub now: Timestamp,
    /// What brought it about.
    pub cause: Cause,
    /// The path it concerns.
    pub path: PathId,
    /// Packets newly acknowledged, in order of packet number. They have left flight.
    pub acked: &'a [PacketRecord],
    /// Packets newly declared lost, in order of packet number. They have left flight.
    pub lost: &'a [PacketRecord],
    /// Packets that had been declared lost or recovered earlier and are acknowledged now. They left flight back then.
    pub spurious: &'a [PacketRecord],
    /// Totals over `acked`.
    pub newly_acked: Tally,
    /// Packets that arrived marked CE, by echo per packet or else by the growth of the CE count.
    pub newly_marked: Tally,
    /// Totals over `lost`.
    pub newly_lost: Tally,
    /// Lost packets whose block was complete without them: still congestion (RFC 9265, section 4), but nothing to send again.
    /// They leave flight with this batch, when loss detection gives them up, and are part of neither `acked` nor `lost`: a
    /// complete block alone says nothing about packets that are still under way. Packets given up before their block is
    /// known to be complete are in `lost`, whether or not coding restores them later.
    pub recovered: Tally,
    /// The packets behind `recovered`, in order of packet number: their send times say which round trip was congested.
    pub recovered_packets: &'a [PacketRecord],
    /// Bytes in flight before this batch was applied.
    pub prior_in_flight: u64,
    /// The RTT, if the largest acknowledged packet is newly acknowledged (RFC 9002, section 5.1).
    pub rtt: Option<RttSample>,
    /// The delivery rate, if something was newly acknowledged.
    pub delivery: Option<DeliverySample>,
    /// The time over which every packet was lost, if that establishes persistent congestion (RFC 9002, section 7.6).
    pub persistent_congestion: Option<Span>,
    /// Growth of the peer's ECN counts, once validated.
    pub ecn: Option<EcnCounts>,
    /// Time in the network without the hosts' shares (Swift, SIGCOMM'20, section 3.1), where hosts time-stamp.
    pub fabric_delay: Option<Span>,
    /// Switches on the forward path, where headers tell.
    pub hops: Option<u8>,
    /// Reflected CSIG samples, per route.
    pub csig: &'a [CsigSample],
    /// Telemetry of each hop, in path order.
    pub int: &'a [IntHop],
}

impl Feedback<'_> {
    /// An empty batch on the first path, to be filled in.
    pub const fn new(now: Timestamp, cause: Cause) -> Self {
        Self {
            now,
            cause,
            path: PathId(0),
            acked: &[],
            lost: &[],
            spurious: &[],
            newly_acked: Tally::ZERO,
            newly_marked: Tally::ZERO,
            newly_lost: Tally::ZERO,
            recovered: Tally::ZERO,
            recovered_packets: &[],
            prior_in_flight: 0,
            rtt: None,
            delivery: None,
            persistent_congestion: None,
            ecn: None,
            fabric_delay: None,
            hops: None,
            csig: &[],
            int: &[],
        }
    }
}

/// What held a sender back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Limit {
    /// The congestion window.
    #[default]
    Window,
    /// The application: nothing to send.
    Application,
    /// The pacer.
    Pacing,
    /// The receiver: flow control or credit.
    Receiver,
}

impl Limit {
    /// Whether a window may grow on what was sent under this limit. RFC 9002, section 7.8: a sender that would have filled
    /// its window but for its own pacing does not count as limited; one whose application or receiver held it back does.
    pub const fn allows_growth(self) -> bool {
        matches!(self, Self::Window | Self::Pacing)
    }
}

/// A read-only view of the sender.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Flight<'a> {
    /// Bytes in flight.
    pub bytes: u64,
    /// Packets in flight.
    pub packets: u64,
    /// What held the sender back in the round that the newest acknowledged packet belongs to. A window may grow only if
    /// [`Limit::allows_growth`].
    pub limit: Limit,
    /// Largest packet, bytes.
    pub mtu: u64,
    /// Smoothed RTT, from the first sample on (RFC 9002, section 5.3).
    pub smoothed_rtt: Option<Span>,
    /// Newest RTT sample, less the acknowledgement delay.
    pub latest_rtt: Option<Span>,
    /// Smallest RTT seen on this path.
    pub min_rtt: Option<Span>,
    /// RTT variation (`rttvar`).
    pub rtt_variation: Span,
    /// Bytes delivered since the flow began.
    pub delivered: u64,
    /// Bytes declared lost since the flow began.
    pub lost: u64,
    /// Number that the next packet will get.
    pub next_packet_number: u64,
    /// The connection's other paths, for coupled laws (RFC 6356; OLIA; BALIA).
    pub siblings: &'a [PathSnapshot],
}

impl Flight<'_> {
    /// A sender with nothing in flight and nothing learnt.
    pub const fn idle(mtu: u64) -> Self {
        Self {
            bytes: 0,
            packets: 0,
            limit: Limit::Window,
            mtu,
            smoothed_rtt: None,
            latest_rtt: None,
            min_rtt: None,
            rtt_variation: Span::ZERO,
            delivered: 0,
            lost: 0,
            next_packet_number: 0,
            siblings: &[],
        }
    }
}

/// What coupled laws need to know of a sibling path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathSnapshot {
    /// Which path.
    pub path: PathId,
    /// Its congestion window, bytes.
    pub window: u64,
    /// Its smoothed RTT.
    pub smoothed_rtt: Option<Span>,
    /// Bytes delivered between its last two losses (OLIA, CoNEXT'12).
    pub bytes_between_losses: u64,
    /// Bytes delivered since its last loss.
    pub bytes_since_loss: u64,
}

impl PathSnapshot {
    /// A path with the given window that has not lost or measured anything yet.
    pub const fn new(path: PathId, window: u64) -> Self {
        Self { path, window, smoothed_rtt: None, bytes_between_losses: 0, bytes_since_loss: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_send<T: Send + ?Sized>() {}

    #[test]
    fn controllers_cross_threads_and_stand_behind_a_pointer() {
        assert_send::<dyn Controller>();
        assert_send::<Box<dyn Controller>>();
    }
}
