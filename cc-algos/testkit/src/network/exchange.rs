//! Packets and acknowledgements on their way, and the time that passes.

use cc_algos::controller::Cause;
use cc_algos::ids::Entropy;
use cc_algos::receiver::Notice as FromReceiver;
use cc_algos::signal::{Ecn, EcnCounts, Signal};
use cc_algos::units::{Span, Timestamp};
use transport::flow::{Arrival, Arrived, Gate, Outgoing};
use transport::wire::{AckFrame, PacketNumberRange};

use super::link::{Passage, take_one};
use super::signals::Telemetry;
use super::{Notice, PATH, World};

/// Most events of one move, so that a controller whose timer never rests cannot hold up time.
const MOST_EVENTS: u32 = 10_000;

/// What the application has to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Demand {
    Nothing,
    /// So many packets.
    Packets(u64),
    /// So many packets, until the receiver allows more.
    Granted(u64),
    Endless,
}

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub(super) enum Until {
    /// At this time.
    Time(Timestamp),
    /// When the next packet bears this number.
    Sent(u64),
    /// When nothing is to be sent nor in flight.
    Settled,
    /// When more than so many bytes have arrived.
    Delivered(u64),
    /// When so many timeouts in a row have fired, but not later than at the end.
    Timeouts { times: u32, end: Timestamp },
}

impl World {
    /// Lets time pass with everything that happens meanwhile. False if that is too much.
    pub(super) fn run(&mut self, until: Until) -> bool {
        for _ in 0..MOST_EVENTS {
            self.pump();
            if self.is_reached(until) || self.is_over() {
                return true;
            }
            match (self.next_event(), until) {
                (Some(at), Until::Time(end) | Until::Timeouts { end, .. }) if at > end => {
                    self.now = end;
                    return true;
                }
                (None, Until::Time(end)) => {
                    self.now = end;
                    return true;
                }
                (None, _) => return true,
                (Some(at), _) => self.now = self.now.max(at),
            }
            self.step();
        }
        false
    }

    fn is_reached(&self, until: Until) -> bool {
        match until {
            Until::Time(end) => self.now > end,
            Until::Sent(number) => self.allowance == 0 || self.sender.next_packet_number(PATH) >= number,
            Until::Settled => {
                let nothing_left = matches!(self.demand, Demand::Nothing | Demand::Packets(0)) || self.allowance == 0;
                nothing_left && (self.sender.stats(PATH).in_flight_packets == 0 || self.is_silent())
            }
            Until::Delivered(bytes) => self.allowance == 0 || self.delivered > bytes,
            Until::Timeouts { times, end } => {
                self.allowance == 0 || self.now > end || self.tap.lock().timeouts >= times
            }
        }
    }

    /// Whether nothing is under way to the sender and nothing may be sent: its timers would run until the end of time.
    fn is_silent(&self) -> bool {
        let under_way = !self.data.is_empty() || !self.acks.is_empty() || self.receiver.next_timeout().is_some();
        self.allowance == 0 && !under_way
    }

    fn next_event(&self) -> Option<Timestamp> {
        let events = [
            self.data.front().map(|packet| packet.now),
            self.acks.front().map(|(at, _)| *at),
            self.notices.front().map(|(at, _)| *at),
            self.receiver.next_timeout(),
            self.sender.next_timeout(),
            self.wake,
        ];
        events.into_iter().flatten().min()
    }

    /// Sends what application, receiver and gate allow.
    fn pump(&mut self) {
        self.wake = None;
        loop {
            let probing = self.sender.probes(PATH) > 0;
            if self.allowance == 0 {
                return;
            }
            if !probing && !self.has_data() {
                return self.say_what_holds_back();
            }
            match self.sender.gate(self.now, PATH, self.mtu) {
                Gate::Open => self.send(),
                Gate::Blocked { until, .. } => {
                    self.wake = until;
                    return;
                }
            }
        }
    }

    const fn has_data(&self) -> bool {
        !matches!(self.demand, Demand::Nothing | Demand::Packets(0) | Demand::Granted(0))
    }

    fn say_what_holds_back(&mut self) {
        match self.demand {
            Demand::Granted(_) => self.sender.on_receiver_limited(self.now, PATH),
            _ => self.sender.on_app_limited(self.now, PATH),
        }
    }

    /// A packet leaves for the link.
    fn send(&mut self) {
        self.allowance -= 1;
        if let Demand::Packets(left) | Demand::Granted(left) = &mut self.demand {
            *left = left.saturating_sub(1);
        }
        let bytes = u32::try_from(self.mtu).unwrap_or(u32::MAX);
        let content = self.sender.next_packet_number(PATH);
        let codepoint = self.sender.ecn(PATH);
        let packet = Outgoing { path: PATH, entropy: Entropy(0), bytes, content, block: None };
        let packet_number = self.sender.on_sent(self.now, packet);
        let fates = &mut self.fates;
        if fates.blackout || take_one(&mut fates.lose) || (fates.lose_per_100_000 > 0 && fates.is_unlucky()) {
            return;
        }
        let ecn = match codepoint {
            _ if fates.bleach => Ecn::NotEct,
            ecn if ecn.is_capable() && take_one(&mut fates.mark) => Ecn::Ce,
            ecn => ecn,
        };
        let passage = self.link.offer(self.now, u64::from(bytes), ecn, &self.network);
        let Passage::Through { at, ecn, queue_bytes } = passage else { return };
        self.tap.lock().decor.note(Telemetry {
            packet_number,
            sent_at: self.now,
            left_at: at,
            queue_bytes,
            sent_bytes: self.link.sent_bytes(),
            rate: self.link.rate(),
        });
        if take_one(&mut self.fates.trim) {
            let heard_at = at + self.one_way() + self.one_way();
            return self.post(heard_at, Notice::Trimmed(packet_number));
        }
        let arrived = Arrived {
            now: at + self.one_way() + self.lateness(),
            packet_number,
            bytes,
            path: PATH,
            entropy: Entropy(0),
            ecn,
            hops: Some(3),
            ack_eliciting: true,
        };
        self.carry(arrived);
    }

    /// Half of the round trip.
    pub(super) fn one_way(&self) -> Span {
        (self.network.rtt + self.extra_delay).mul_div(1, 2)
    }

    /// What the next packet comes later than others.
    fn lateness(&mut self) -> Span {
        if take_one(&mut self.fates.late) {
            return self.round().mul_div(3, 2);
        }
        // So many packets on the link pass it, as long as there are so many.
        let passed = u64::from(core::mem::take(&mut self.fates.overtaken_by));
        let packet = self.link.time_for(self.mtu);
        if passed == 0 { Span::ZERO } else { packet.saturating_mul(passed) + Span::from_nanos(1) }
    }

    fn carry(&mut self, packet: Arrived) {
        let copies = if take_one(&mut self.fates.duplicate) { 2 } else { 1 };
        for _ in 0..copies {
            let place = self.data.partition_point(|other| other.now <= packet.now);
            self.data.insert(place, packet);
        }
    }

    pub(super) fn post(&mut self, at: Timestamp, notice: Notice) {
        let place = self.notices.partition_point(|(other, _)| *other <= at);
        self.notices.insert(place, (at, notice));
    }

    /// Everything that is due now.
    fn step(&mut self) {
        while let Some(packet) = self.data.pop_front_if(|packet| packet.now <= self.now) {
            if self.receiver.on_packet(packet) == Arrival::New {
                self.delivered = self.delivered.saturating_add(u64::from(packet.bytes));
            }
            self.answer();
        }
        self.receiver.on_timeout(self.now);
        self.answer();
        while let Some((_, frame)) = self.acks.pop_front_if(|(at, _)| *at <= self.now) {
            // The engine refuses what no honest receiver sends; the controller then hears nothing of it.
            let _ = self.sender.on_ack(self.now, &frame, &mut self.work);
        }
        while let Some((_, notice)) = self.notices.pop_front_if(|(at, _)| *at <= self.now) {
            self.hear(notice);
        }
        if self.sender.next_timeout().is_some_and(|at| at <= self.now) {
            self.sender.on_timeout(self.now, &mut self.work);
        }
        if let Some(floor) = self.sender.ack_floor(self.now, PATH) {
            self.receiver.on_ack_floor(floor);
        }
    }

    /// The receiver acknowledges what is due.
    fn answer(&mut self) {
        let at = self.now + self.one_way();
        while let Some(notice) = self.receiver.take_notice() {
            let signal = match notice {
                FromReceiver::CongestionNotification => Signal::CongestionNotification,
                FromReceiver::Credit { bytes } => Signal::Credit { bytes },
                _ => continue,
            };
            self.post(at, Notice::Signal(signal));
        }
        if !self.receiver.ack_due(self.now) {
            return;
        }
        let mut frame = AckFrame::default();
        if !self.receiver.write_ack(self.now, &mut frame) || take_one(&mut self.fates.lose_acks) {
            return;
        }
        if self.fates.forge_marks > 0 {
            let counts = frame.ecn.unwrap_or_default();
            frame.ecn = Some(EcnCounts { ce: counts.ce.saturating_add(self.fates.forge_marks), ..counts });
        }
        let place = self.acks.partition_point(|(other, _)| *other <= at);
        self.acks.insert(place, (at, frame));
    }

    fn hear(&mut self, notice: Notice) {
        match notice {
            Notice::Signal(signal) => self.sender.on_notice(self.now, PATH, signal),
            Notice::Trimmed(number) => {
                let missing = [PacketNumberRange { first: number, last: number }];
                self.sender.on_missing(self.now, PATH, Cause::Trim, &missing, &mut self.work);
            }
        }
    }
}
