//! The receiving half of congestion control: when to acknowledge, and what else to tell the sender.

mod notification_point;

use core::fmt::Debug;

pub use notification_point::NotificationPoint;

use crate::ids::{Entropy, PathId};
use crate::signal::Ecn;
use crate::units::{Span, Timestamp};

/// One packet as the receiver saw it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Received {
    /// When it arrived.
    pub now: Timestamp,
    /// Its number on its path.
    pub packet_number: u64,
    /// Its size on the wire, bytes.
    pub bytes: u32,
    /// The path it came on.
    pub path: PathId,
    /// Its entropy.
    pub entropy: Entropy,
    /// The codepoint it arrived with.
    pub ecn: Ecn,
    /// Whether its number follows the largest received before.
    pub order: Order,
    /// Packets that ask for an acknowledgement and have not got one, this one included.
    pub unacknowledged: u32,
    /// Bytes that the sender said it has left to send, where it says so: what receiver-driven laws share credit by.
    pub backlog: Option<u64>,
}

impl Received {
    /// A packet in order on the first path, unmarked; set the other fields as they are.
    pub const fn new(now: Timestamp, packet_number: u64, bytes: u32) -> Self {
        Self {
            now,
            packet_number,
            bytes,
            path: PathId(0),
            entropy: Entropy(0),
            ecn: Ecn::NotEct,
            order: Order::InOrder,
            unacknowledged: 1,
            backlog: None,
        }
    }
}

/// How a packet number relates to those received before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The successor of the largest number so far.
    InOrder,
    /// Larger, with a gap: something is missing or late.
    Gap,
    /// Smaller than the largest: late.
    Late,
}

/// When the next acknowledgement goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckWhen {
    /// At once.
    Now,
    /// At this time at the latest, earlier if another packet asks for it.
    By(Timestamp),
}

/// Something the receiver tells the sender besides acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// A congestion notification packet (DCQCN).
    CongestionNotification,
    /// Credit for more bytes (receiver-driven laws).
    Credit {
        /// Bytes granted on top of earlier grants.
        bytes: u64,
    },
}

/// What a receiver policy wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// When to acknowledge.
    pub ack: AckWhen,
    /// What else to say.
    pub notice: Option<Notice>,
}

/// The receiver's part of a congestion-control scheme. Object-safe and open, like [`Controller`](crate::Controller).
pub trait ReceiverPolicy: Debug + Send {
    /// A packet that asks for an acknowledgement arrived.
    fn on_received(&mut self, packet: &Received) -> Reply;

    /// The time of [`ReceiverPolicy::next_timer`] has come: a notice that is due, if any.
    fn on_timer(&mut self, _now: Timestamp) -> Option<Notice> {
        None
    }

    /// When the policy wants to be woken next, for paced credits and the like.
    fn next_timer(&self) -> Option<Timestamp> {
        None
    }

    /// A copy with the same state, for a new connection or a forked experiment.
    fn clone_box(&self) -> Box<dyn ReceiverPolicy>;
}

/// Acknowledges every `every`-th packet, and at once what is out of order or newly marked (RFC 9000, sections 13.2.1 and
/// 13.2.2). With `every` = 1 each packet is acknowledged, as datacentre transports do.
#[derive(Clone, Debug)]
pub struct AckEvery {
    every: u32,
    max_delay: Span,
    last_ecn: Ecn,
}

impl AckEvery {
    /// One acknowledgement per `every` packets, and at most `max_delay` after the first of them. Zero counts as one.
    pub const fn new(every: u32, max_delay: Span) -> Self {
        Self { every: if every == 0 { 1 } else { every }, max_delay, last_ecn: Ecn::NotEct }
    }

    /// The largest delay this policy adds to an acknowledgement.
    pub const fn max_delay(&self) -> Span {
        self.max_delay
    }
}

impl ReceiverPolicy for AckEvery {
    fn on_received(&mut self, packet: &Received) -> Reply {
        // DCTCP needs a change of the CE state acknowledged at once (RFC 8257, section 3.2), else marks blur.
        let mark_changed = (packet.ecn == Ecn::Ce) != (self.last_ecn == Ecn::Ce);
        self.last_ecn = packet.ecn;
        let now = packet.unacknowledged >= self.every || packet.order != Order::InOrder || mark_changed;
        let ack = if now { AckWhen::Now } else { AckWhen::By(packet.now + self.max_delay) };
        Reply { ack, notice: None }
    }

    fn clone_box(&self) -> Box<dyn ReceiverPolicy> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(number: u64) -> Received {
        Received::new(Timestamp::from_nanos(1_000), number, 1_500)
    }

    #[test]
    fn every_second_packet_is_acknowledged_at_once_and_the_first_within_the_delay() {
        let mut policy = AckEvery::new(2, Span::from_millis(25));
        let first = policy.on_received(&packet(0));
        assert_eq!(first.ack, AckWhen::By(Timestamp::from_nanos(25_001_000)));
        let mut second = packet(1);
        second.unacknowledged = 2;
        assert_eq!(policy.on_received(&second).ack, AckWhen::Now);
    }

    #[test]
    fn reordering_and_a_changed_mark_are_acknowledged_at_once() {
        let mut policy = AckEvery::new(10, Span::from_millis(25));
        let mut late = packet(0);
        late.order = Order::Late;
        assert_eq!(policy.on_received(&late).ack, AckWhen::Now);
        let mut marked = packet(2);
        marked.ecn = Ecn::Ce;
        assert_eq!(policy.on_received(&marked).ack, AckWhen::Now);
        assert!(matches!(policy.on_received(&marked).ack, AckWhen::By(_)), "still CE: nothing new to say");
        assert_eq!(policy.on_received(&packet(4)).ack, AckWhen::Now, "CE ended");
    }
}
