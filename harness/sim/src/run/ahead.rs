//! Reading ahead: what the events of a slot will need is read before they are handled.
//!
//! The reads of different events do not wait for each other as their handling does, so that a network too large for the
//! cache costs a few trips to memory per slot and not per event. Nothing is changed, and the values read mean nothing.

use super::{Simulation, Stage};
use crate::endpoint::{ReceivingEnd, SendingEnd};
use crate::event::Action;
use crate::packet::{Body, Packet};
use crate::topology::Node;

/// Ports from which on a network does not fit the nearer caches.
const LARGE_NETWORK: usize = 1_024;

/// The end of a flow that a packet reaches.
enum End<'a> {
    Sending(&'a SendingEnd),
    Receiving(&'a ReceivingEnd),
}

impl Simulation<'_> {
    /// Reads what the events of the slot just opened will need. Each round follows pointers that the round before has
    /// fetched.
    pub(super) fn read_ahead(&self) {
        if self.ports.len() < LARGE_NETWORK {
            return;
        }
        let mut sum = 0;
        for (port, packet) in self.heads() {
            sum ^= self.ports[port].touch() ^ self.arena.touch(packet);
        }
        for (port, packet) in self.arrivals() {
            sum ^= self.ports[port].touch_behind();
            sum ^= match self.ends[port] {
                Node::Switch(switch) => self.ports[self.wiring.router.route(switch, packet) as usize].touch(),
                Node::Host(_) => self.touch_end(packet),
            };
        }
        for (port, packet) in self.arrivals() {
            sum ^= match self.ends[port] {
                Node::Switch(switch) => self.ports[self.wiring.router.route(switch, packet) as usize].touch_behind(),
                Node::Host(_) => self.touch_behind_end(packet),
            };
        }
        std::hint::black_box(sum);
    }

    /// Ports whose first packet arrives, and that packet.
    fn heads(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        self.events.upcoming().filter_map(|action| match action {
            Action::Head { port, packet } => Some((port as usize, packet)),
            _ => None,
        })
    }

    fn arrivals(&self) -> impl Iterator<Item = (usize, &Packet)> + '_ {
        self.heads().filter_map(|(port, packet)| Some((port, self.arena.peek(packet)?)))
    }

    fn end_of(&self, packet: &Packet) -> Option<End<'_>> {
        match (&self.flows[packet.flow as usize], packet.body) {
            (Stage::Active(ends), Body::Ack { .. }) => Some(End::Sending(&ends.0)),
            (Stage::Active(ends), _) => Some(End::Receiving(&ends.1)),
            _ => None,
        }
    }

    fn touch_end(&self, packet: &Packet) -> u64 {
        let frame = match packet.body {
            Body::Ack { frame } => self.arena.touch_ack(frame),
            Body::Data { .. } | Body::Ping => self.measures.touch(packet.flow),
        };
        frame
            ^ match self.end_of(packet) {
                Some(End::Sending(sending)) => sending.touch(),
                Some(End::Receiving(receiving)) => receiving.touch(),
                None => 0,
            }
    }

    /// What stands behind an end's pointers, and the port by which it answers.
    fn touch_behind_end(&self, packet: &Packet) -> u64 {
        match (self.end_of(packet), packet.body) {
            (Some(End::Sending(sending)), Body::Ack { frame }) => {
                sending.touch_behind(self.arena.ack(frame).largest) ^ self.ports[sending.port as usize].touch()
            }
            (Some(End::Receiving(receiving)), _) => {
                receiving.touch_behind() ^ self.ports[receiving.port as usize].touch()
            }
            _ => 0,
        }
    }
}
