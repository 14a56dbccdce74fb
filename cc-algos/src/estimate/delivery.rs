//! Delivery-rate samples after draft-ietf-ccwg-bbr, section 4.1.
//!
//! ```text
//! rate = bytes delivered between send and acknowledgement of a packet
//!        / max(send interval of its flight, ACK interval of its flight)
//! ```
//!
//! The send interval filters out compressed acknowledgements: nothing is delivered faster than it was sent. A sample
//! shorter than the smallest RTT is discarded. A sample is application-limited if the sender had run dry since the
//! flight before, until that bubble has been acknowledged.
//!
//! | | the draft | here |
//! |---|---|---|
//! | mark of a limited sample | `is_app_limited`, a flag | [`SendState::limit`], which also tells a receiver's limit |
//! | receiver-limited phases | like network-limited ones | the same for [`DeliverySample::is_app_limited`]; the limit is kept beside |
//! | a late packet alone in its batch | moves the beginning of the flight back | does not |
//! | "not set" | 0 | `Option` |

use crate::controller::{DeliverySample, Limit, PacketRecord, SendState};
use crate::units::{Rate, Span, Timestamp};

/// The sender's side of delivery-rate estimation: totals, and the newest acknowledged packet of the running batch.
#[derive(Clone, Debug)]
pub struct DeliveryEstimator {
    delivered: u64,
    lost: u64,
    delivered_at: Timestamp,
    first_sent_at: Timestamp,
    bubble: Option<Bubble>,
    newest: Option<Newest>,
}

/// The sender ran dry; what it sends is marked until more than `until` bytes have been delivered.
#[derive(Clone, Copy, Debug)]
struct Bubble {
    until: u64,
    limit: Limit,
}

#[derive(Clone, Copy, Debug)]
struct Newest {
    packet_number: u64,
    sent_at: Timestamp,
    at_send: SendState,
}

impl DeliveryEstimator {
    /// An estimator for a flow that begins at `now`.
    pub const fn new(now: Timestamp) -> Self {
        Self { delivered: 0, lost: 0, delivered_at: now, first_sent_at: now, bubble: None, newest: None }
    }

    /// A packet of `bytes` leaves while `prior_in_flight` bytes, itself not included, are in flight. What this returns is
    /// to be kept in the packet's record.
    pub fn on_sent(&mut self, now: Timestamp, bytes: u64, prior_in_flight: u64) -> SendState {
        if prior_in_flight == 0 {
            // Whatever is acknowledged from now on was delivered in a time that begins now.
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        SendState {
            in_flight: prior_in_flight.saturating_add(bytes),
            delivered: self.delivered,
            lost: self.lost,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            limit: self.bubble.map_or(Limit::Window, |bubble| bubble.limit),
        }
    }

    /// A packet was acknowledged, for the first time. Packets that had been declared lost count as well.
    pub fn on_acked(&mut self, packet: &PacketRecord) {
        self.delivered = self.delivered.saturating_add(u64::from(packet.bytes));
        let newer = self
            .newest
            .is_none_or(|newest| (packet.sent_at, packet.packet_number) > (newest.sent_at, newest.packet_number));
        if newer {
            self.newest =
                Some(Newest { packet_number: packet.packet_number, sent_at: packet.sent_at, at_send: packet.at_send });
        }
    }

    /// A packet of `bytes` was declared lost.
    pub const fn on_lost(&mut self, bytes: u64) {
        self.lost = self.lost.saturating_add(bytes);
    }

    /// The batch that came at `now` is complete: its sample, unless nothing was acknowledged or the interval is shorter
    /// than `min_rtt`, the smallest RTT known, this batch's included.
    pub fn sample(&mut self, now: Timestamp, min_rtt: Option<Span>) -> Option<DeliverySample> {
        if self.bubble.is_some_and(|bubble| self.delivered > bubble.until) {
            self.bubble = None;
        }
        let Newest { sent_at, at_send, .. } = self.newest.take()?;
        self.delivered_at = now;
        self.first_sent_at = self.first_sent_at.max(sent_at);
        let send_interval = sent_at.saturating_since(at_send.first_sent_at);
        let ack_interval = now.saturating_since(at_send.delivered_at);
        let interval = send_interval.max(ack_interval);
        if min_rtt.is_some_and(|min_rtt| interval < min_rtt) {
            return None;
        }
        let delivered = self.delivered.saturating_sub(at_send.delivered);
        let lost = self.lost.saturating_sub(at_send.lost);
        let rate = Rate::from_bytes_in(delivered, interval)?;
        Some(DeliverySample::new(rate, delivered, lost, interval, at_send))
    }

    /// The sender might have sent and had nothing to send, with `in_flight` bytes in flight.
    pub const fn set_app_limited(&mut self, in_flight: u64) {
        self.set_limited(Limit::Application, in_flight);
    }

    /// As [`DeliveryEstimator::set_app_limited`], for another `limit` than the window.
    pub const fn set_limited(&mut self, limit: Limit, in_flight: u64) {
        self.bubble = Some(Bubble { until: self.delivered.saturating_add(in_flight), limit });
    }

    /// Bytes acknowledged so far.
    pub const fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Bytes declared lost so far.
    pub const fn lost(&self) -> u64 {
        self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MTU: u32 = 1_000;

    fn ms(millis: u64) -> Timestamp {
        Timestamp::ZERO + Span::from_millis(millis)
    }

    /// A sender that keeps what the engine's ledger would keep.
    struct Sender {
        estimator: DeliveryEstimator,
        in_flight: u64,
        packets: Vec<PacketRecord>,
    }

    impl Sender {
        fn new() -> Self {
            Self { estimator: DeliveryEstimator::new(ms(0)), in_flight: 0, packets: Vec::new() }
        }

        fn send(&mut self, now: Timestamp) {
            let mut record = PacketRecord::new(self.packets.len() as u64, MTU, now);
            record.at_send = self.estimator.on_sent(now, u64::from(MTU), self.in_flight);
            self.in_flight += u64::from(MTU);
            self.packets.push(record);
        }

        fn ack(&mut self, now: Timestamp, packets: &[usize], min_rtt: u64) -> Option<DeliverySample> {
            for packet in packets {
                self.estimator.on_acked(&self.packets[*packet]);
                self.in_flight -= u64::from(MTU);
            }
            self.estimator.sample(now, Some(Span::from_millis(min_rtt)))
        }
    }

    #[test]
    fn a_steady_flow_measures_the_bottleneck() {
        // A packet a millisecond, acknowledged 10 ms later: 1 000 B/ms = 8 Mb/s.
        let mut sender = Sender::new();
        let mut rates = Vec::new();
        for now in 0..100 {
            if now >= 10 {
                rates.push(sender.ack(ms(now), &[now as usize - 10], 10).map(|sample| sample.rate));
            }
            sender.send(ms(now));
        }
        assert!(rates[20..].iter().all(|rate| *rate == Some(Rate::from_mbps(8))), "{rates:?}");
    }

    #[test]
    fn compressed_acknowledgements_are_capped_by_the_send_rate() {
        let mut sender = Sender::new();
        for now in 0..10 {
            sender.send(ms(now));
        }
        sender.ack(ms(10), &[0], 10);
        for now in 10..20 {
            sender.send(ms(now));
        }
        // Everything up to packet 19 comes at once, 10 ms after packet 19 left: 19 packets were delivered since packet 0
        // and were sent in 19 ms; the ACK interval is 19 ms too. Had they been acknowledged in an instant it would be
        // the send interval that counts.
        let all: Vec<usize> = (1..20).collect();
        let sample = sender.ack(ms(29), &all, 10).unwrap();
        assert_eq!((sample.delivered, sample.interval), (19_000, Span::from_millis(19)));
        assert_eq!(sample.rate, Rate::from_mbps(8));
    }

    #[test]
    fn a_sample_shorter_than_the_smallest_rtt_is_discarded() {
        let mut sender = Sender::new();
        sender.send(ms(0));
        assert_eq!(sender.ack(ms(9), &[0], 10), None);
    }

    #[test]
    fn a_flight_after_idleness_starts_its_own_interval() {
        let mut sender = Sender::new();
        sender.send(ms(0));
        sender.ack(ms(10), &[0], 10);
        sender.send(ms(1_000));
        sender.send(ms(1_001));
        let sample = sender.ack(ms(1_011), &[1, 2], 10).unwrap();
        // Without a new beginning the interval would be a second.
        assert_eq!((sample.delivered, sample.interval), (2_000, Span::from_millis(11)));
    }

    #[test]
    fn an_app_limited_bubble_marks_samples_until_it_is_acknowledged() {
        let mut sender = Sender::new();
        sender.send(ms(0));
        sender.send(ms(0));
        sender.estimator.set_app_limited(sender.in_flight);
        sender.send(ms(5));
        let before = sender.ack(ms(10), &[0, 1], 10).unwrap();
        assert!(!before.is_app_limited(), "sent before the sender ran dry");
        sender.send(ms(10));
        let after = sender.ack(ms(15), &[2], 10).unwrap();
        assert!(after.is_app_limited());
        // Delivered 3 000 > 2 000: the bubble is gone, and with it the mark on what is sent from now on.
        sender.send(ms(15));
        assert!(sender.ack(ms(20), &[3], 10).unwrap().is_app_limited(), "sent while the bubble was in flight");
        assert!(!sender.ack(ms(25), &[4], 10).unwrap().is_app_limited());
    }

    #[test]
    fn a_receiver_limit_is_told_apart_and_is_not_application_limited() {
        let mut sender = Sender::new();
        sender.estimator.set_limited(Limit::Receiver, 0);
        sender.send(ms(0));
        let sample = sender.ack(ms(10), &[0], 10).unwrap();
        assert_eq!(sample.at_send.limit, Limit::Receiver);
        assert!(!sample.is_app_limited());
    }

    #[test]
    fn losses_within_the_sample_are_counted() {
        let mut sender = Sender::new();
        sender.estimator.on_lost(7_000);
        for _ in 0..4 {
            sender.send(ms(0));
        }
        sender.estimator.on_lost(u64::from(MTU));
        sender.estimator.on_lost(u64::from(MTU));
        let sample = sender.ack(ms(10), &[2, 3], 10).unwrap();
        assert_eq!((sample.lost, sample.delivered, sample.at_send.in_flight), (2_000, 2_000, 4_000));
    }

    #[test]
    fn a_late_acknowledgement_of_an_old_packet_does_not_move_the_flight_back() {
        let mut sender = Sender::new();
        sender.send(ms(0));
        sender.send(ms(5));
        sender.ack(ms(15), &[1], 10);
        sender.send(ms(16));
        sender.ack(ms(17), &[0], 10);
        sender.send(ms(18));
        assert_eq!(sender.packets[3].at_send.first_sent_at, ms(5), "of packet 1, the newest delivered");
    }

    #[test]
    fn nothing_acknowledged_and_no_time_elapsed_give_no_sample() {
        let mut sender = Sender::new();
        assert_eq!(sender.estimator.sample(ms(1), None), None);
        sender.send(ms(1));
        sender.estimator.on_acked(&sender.packets[0]);
        assert_eq!(sender.estimator.sample(ms(1), None), None, "no interval, no rate");
    }
}
