//! The notification point of DCQCN (Zhu et al., SIGCOMM'15, section 3.1).

use super::{AckEvery, Notice, Received, ReceiverPolicy, Reply};
use crate::signal::Ecn;
use crate::units::{Span, Timestamp};

/// Sends a congestion notification packet when a marked packet arrives, but at most one each `interval`: if marked packets
/// arrived within the interval, the next notification goes out at its end. Acknowledges by an inner rule.
#[derive(Clone, Debug)]
pub struct NotificationPoint {
    rule: AckEvery,
    interval: Span,
    /// When the next notification may go out; `None` if at once.
    quiet_until: Option<Timestamp>,
    /// Whether marked packets arrived since the last one.
    marked: bool,
}

impl NotificationPoint {
    /// Interval between notifications (SIGCOMM'15, section 3.1: "N = 50 us").
    pub const INTERVAL: Span = Span::from_micros(50);

    /// At most one notification each `interval`, around an acknowledgement rule.
    pub const fn new(rule: AckEvery, interval: Span) -> Self {
        Self { rule, interval, quiet_until: None, marked: false }
    }

    fn notify(&mut self, now: Timestamp) -> Option<Notice> {
        let due = self.marked && self.quiet_until.is_none_or(|until| now >= until);
        due.then(|| {
            self.marked = false;
            self.quiet_until = Some(now + self.interval);
            Notice::CongestionNotification
        })
    }
}

impl ReceiverPolicy for NotificationPoint {
    fn on_received(&mut self, packet: &Received) -> Reply {
        self.marked |= packet.ecn == Ecn::Ce;
        let notice = self.notify(packet.now);
        Reply { notice, ..self.rule.on_received(packet) }
    }

    fn on_timer(&mut self, now: Timestamp) -> Option<Notice> {
        self.notify(now)
    }

    fn next_timer(&self) -> Option<Timestamp> {
        self.quiet_until.filter(|_| self.marked)
    }

    fn clone_box(&self) -> Box<dyn ReceiverPolicy> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::receiver::AckWhen;

    fn at(micros: u64) -> Timestamp {
        Timestamp::ZERO + Span::from_micros(micros)
    }

    fn point() -> NotificationPoint {
        NotificationPoint::new(AckEvery::new(1, Span::ZERO), NotificationPoint::INTERVAL)
    }

    fn receive(point: &mut NotificationPoint, micros: u64, ecn: Ecn) -> Option<Notice> {
        let mut packet = Received::new(at(micros), micros, 1_000);
        packet.ecn = ecn;
        let reply = point.on_received(&packet);
        assert_eq!(reply.ack, AckWhen::Now, "the inner rule acknowledges each packet");
        reply.notice
    }

    const NOTICE: Option<Notice> = Some(Notice::CongestionNotification);

    #[test]
    fn the_first_mark_notifies_at_once_and_unmarked_packets_never() {
        let mut point = point();
        assert_eq!(receive(&mut point, 1, Ecn::Ect0), None);
        assert_eq!(receive(&mut point, 2, Ecn::Ce), NOTICE);
        assert_eq!((receive(&mut point, 60, Ecn::Ect0), point.next_timer()), (None, None));
    }

    #[test]
    fn marks_within_the_interval_notify_once_at_its_end() {
        let mut point = point();
        assert_eq!(receive(&mut point, 10, Ecn::Ce), NOTICE);
        assert_eq!(receive(&mut point, 11, Ecn::Ce), None);
        assert_eq!(receive(&mut point, 40, Ecn::Ce), None);
        assert_eq!(point.next_timer(), Some(at(60)));
        assert_eq!(point.on_timer(at(59)), None, "woken too early");
        assert_eq!(point.on_timer(at(60)), NOTICE);
        assert_eq!(point.next_timer(), None);
    }

    #[test]
    fn a_stream_of_marks_gives_a_notification_each_interval() {
        let mut point = point();
        let mut notices = 0;
        for micros in 0..1_000 {
            if point.next_timer() == Some(at(micros)) {
                notices += u32::from(point.on_timer(at(micros)).is_some());
            }
            notices += u32::from(receive(&mut point, micros, Ecn::Ce).is_some());
        }
        assert_eq!(notices, 20);
    }
}
