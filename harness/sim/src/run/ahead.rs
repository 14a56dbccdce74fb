//! Reading ahead: what the events of a slot will need is read before they are handled.
//!
//! The reads of different events do not wait for each other as their handling does, so that a network too large for the
//! cache costs a few trips to memory per slot and not per event. Nothing is changed, and the values read mean nothing.

use super::{Simulation, Stage};
use crate::endpoint::{ReceivingEnd, SendingEnd};
use crate::event::Action;
use crate::packet::{Body, Packet};
use crate::topology::Node;

/// Ports from which on a network does not fit the nearer caches. On a smaller one, reading ahead costs more than it saves.
const LARGE_NETWORK: usize = 1_024;

/// A packet that is about to arrive.
pub(super) struct Upcoming {
    /// The port by whose link it comes.
    port: u32,
    packet: u32,
    /// The port by which it goes on from a switch.
    next: Option<u32>,
}

/// The end of a flow that a packet reaches.
enum End<'a> {
    Sending(&'a SendingEnd, u64),
    Receiving(&'a ReceivingEnd),
}

impl Simulation<'_> {
    /// Reads what the events of the slot just opened will need. Each round follows pointers that the round before has
    /// fetched.
    pub(super) fn read_ahead(&mut self) {
        if self.ports.len() < LARGE_NETWORK {
            return;
        }
        let mut upcoming = std::mem::take(&mut self.upcoming);
        upcoming.clear();
        upcoming.extend(self.events.upcoming().filter_map(|action| match action {
            Action::Head { port, packet } => Some(Upcoming { port, packet, next: None }),
            _ => None,
        }));
        let mut sum = 0;
        for head in &upcoming {
            sum ^= self.ports[head.port as usize].touch() ^ self.arena.touch(head.packet);
        }
        for head in &mut upcoming {
            sum ^= self.ports[head.port as usize].touch_behind();
            // A packet that was lost on the way has no place in the arena.
            let Some(packet) = self.arena.peek(head.packet) else { continue };
            if let Node::Switch(switch) = self.ends[head.port as usize] {
                // A guess, where switches do not go by the hash.
                let next = self.wiring.router.route(switch, packet);
                head.next = Some(next);
                sum ^= self.ports[next as usize].touch();
            } else {
                sum ^= self.touch_end(packet);
            }
        }
        for head in &upcoming {
            sum ^= match (head.next, self.arena.peek(head.packet)) {
                (Some(next), _) => self.ports[next as usize].touch_behind(),
                (None, Some(packet)) => self.touch_behind_end(packet),
                (None, None) => 0,
            };
        }
        std::hint::black_box(sum);
        self.upcoming = upcoming;
    }

    fn end_of(&self, packet: &Packet) -> Option<End<'_>> {
        match (&self.flows[packet.flow as usize], packet.body) {
            (Stage::Active(ends), Body::Ack { frame } | Body::CodedAck { frame, .. }) => {
                Some(End::Sending(&ends.0, self.arena.ack(frame).largest))
            }
            (Stage::Active(ends), Body::Data { .. } | Body::Shard { .. } | Body::Ping) => Some(End::Receiving(&ends.1)),
            // Notices and trimmed packets are few.
            (Stage::Active(_), Body::Notice { .. } | Body::Header) | (Stage::Waiting | Stage::Done, _) => None,
        }
    }

    fn touch_end(&self, packet: &Packet) -> u64 {
        let beside = match packet.body {
            Body::Ack { frame } | Body::CodedAck { frame, .. } => self.arena.touch_ack(frame),
            Body::Data { .. } | Body::Shard { .. } | Body::Ping => self.measures.touch(packet.flow),
            Body::Notice { .. } | Body::Header => 0,
        };
        beside
            ^ match self.end_of(packet) {
                Some(End::Sending(sending, _)) => sending.touch(),
                Some(End::Receiving(receiving)) => receiving.touch(),
                None => 0,
            }
    }

    /// What stands behind an end's pointers, and the port by which it answers.
    fn touch_behind_end(&self, packet: &Packet) -> u64 {
        match self.end_of(packet) {
            Some(End::Sending(sending, largest)) => {
                sending.touch_behind(largest) ^ self.ports[sending.port as usize].touch()
            }
            Some(End::Receiving(receiving)) => receiving.touch_behind() ^ self.ports[receiving.port as usize].touch(),
            None => 0,
        }
    }
}
