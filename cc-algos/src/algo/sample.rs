//! What an acknowledgement tells a model of the path: the rate sample `RS` of draft-ietf-ccwg-bbr, with the questions that
//! `bbr` and `bbr3` ask of it.

use crate::controller::{Feedback, Flight, Limit, PacketTag, SendState, Sent};
use crate::units::{Rate, Span, Timestamp};

/// What a batch that acknowledges something says of the path.
#[derive(Clone, Copy, Debug)]
pub struct AckSample {
    /// When it came.
    pub now: Timestamp,
    /// Bytes newly acknowledged, late ones included.
    pub newly_acked: u64,
    /// Bytes in flight before it came.
    pub prior_in_flight: u64,
    /// Delivery rate, where a reliable one could be measured.
    pub rate: Option<Rate>,
    /// Bytes delivered between the send and the acknowledgement of the newest packet.
    pub delivered: u64,
    /// The sender when the newest packet left.
    pub at_send: SendState,
    /// The law's own tag of the newest packet.
    pub tag: PacketTag,
    /// RTT of the newest packet, where it is the newest of all.
    pub rtt: Option<Span>,
}

impl AckSample {
    /// The sample of a batch; `None` if it acknowledges nothing.
    pub fn of(feedback: &Feedback<'_>, flight: &Flight<'_>) -> Option<Self> {
        let newest = feedback.acked.last().or(feedback.spurious.last());
        let at_send = feedback.delivery.map(|sample| sample.at_send).or(newest.map(|packet| packet.at_send))?;
        let late = feedback.spurious.iter().map(|packet| u64::from(packet.bytes)).sum::<u64>();
        Some(Self {
            now: feedback.now,
            newly_acked: feedback.newly_acked.bytes.saturating_add(late),
            prior_in_flight: feedback.prior_in_flight,
            rate: feedback.delivery.map(|sample| sample.rate).filter(|rate| *rate > Rate::ZERO),
            delivered: flight.delivered.saturating_sub(at_send.delivered),
            at_send,
            tag: newest.map_or(PacketTag::NONE, |packet| packet.tag),
            rtt: feedback.rtt.map(|sample| sample.latest),
        })
    }
}

/// Whether a packet ends a silence: nothing else is in flight, and what kept the sender from sending was the application
/// and not a pacer that spaces packets by more than an RTT.
pub fn ends_silence(sent: &Sent, flight: &Flight<'_>) -> bool {
    flight.delivered > 0 && flight.bytes <= u64::from(sent.bytes) && flight.limit == Limit::Application
}
