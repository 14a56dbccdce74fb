//! The link behind a queue: a server, a propagation delay, and packets in order of arrival.

use std::collections::VecDeque;

use cc_algos::signal::IntHop;

use super::Scene;
use crate::error::SpecError;
use crate::event::{Action, EventQueue};
use crate::link::impair::ImpairmentSpec;
use crate::link::{Condition, Delivery, Fate, Impairments, Order, PacketClass, PacketInfo, Server};
use crate::packet::Body;
use crate::rng;
use crate::time::SimTime;
use crate::topology::PortPlan;

/// A packet on the link, or waiting for it in a drop-tail queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct OnWire {
    /// When its last bit has left the queue.
    pub(super) departs: SimTime,
    pub(super) packet: u32,
    pub(super) bytes: u32,
}

/// Stands for a packet that occupies the link but does not reach its end.
const LOST: u32 = u32::MAX;
/// Stands for a packet that reaches the end on its own, held back beyond others.
const HELD_BACK: u32 = u32::MAX - 1;

impl OnWire {
    /// The packet, unless it is one that does not arrive in its turn.
    pub(super) const fn in_turn(&self) -> Option<u32> {
        if self.packet < HELD_BACK { Some(self.packet) } else { None }
    }
}

pub(crate) struct Wire {
    pub(super) server: Server,
    propagation_picos: u64,
    pub(super) ring: VecDeque<OnWire>,
    pub(super) id: u32,
    /// Packets offered to a link that is down for ever.
    stranded: u32,
    pub(super) bytes: u64,
    pub(super) packets: u64,
    impaired: Option<Box<Impaired>>,
}

/// What only some links have.
struct Impaired {
    impairments: Impairments,
    /// When the packets of the ring arrive: no longer a constant after they depart.
    arrivals: VecDeque<SimTime>,
    losses: u64,
}

impl Wire {
    pub(super) fn new(id: u32, plan: &PortPlan<'_>, seed: u64) -> Result<Self, SpecError> {
        let spec = ImpairmentSpec { outages: plan.outages.clone().into(), ..plan.link.impairments.clone() };
        let impaired = if spec.is_none() {
            None
        } else {
            let impairments = Impairments::new(spec, rng::stream(seed, "impairments", u64::from(id)))?;
            Some(Box::new(Impaired { impairments, arrivals: VecDeque::new(), losses: 0 }))
        };
        Ok(Self {
            server: Server::new(&plan.link.service),
            propagation_picos: (SimTime::ZERO + plan.link.propagation + plan.extra_delay).as_picos(),
            ring: VecDeque::new(),
            id,
            stranded: 0,
            bytes: 0,
            packets: 0,
            impaired,
        })
    }

    /// The record of a packet that left at `departs`, with all that had left by then and what stayed behind.
    pub(super) fn record(&self, departs: SimTime, tx_bytes: u64, queue_bytes: u64) -> IntHop {
        let rate = self.server.rate_at(departs);
        IntHop { port: self.id, at: departs.to_timestamp(), tx_bytes, queue_bytes, rate }
    }

    /// Packets that did not reach the far end, less those of which the last bit has not left the queue: the newest `unsent`.
    pub(super) fn losses(&self, unsent: u64) -> u64 {
        let Some(impaired) = &self.impaired else { return u64::from(self.stranded) };
        // A packet's fate is known when the link is given it.
        let newest = self.ring.iter().rev().take(unsent as usize);
        let to_come = newest.filter(|entry| entry.packet == LOST).count();
        u64::from(self.stranded) + impaired.losses - to_come as u64
    }

    /// Puts a packet onto the link no earlier than `ready`; says when it will have left the queue. A link that stays
    /// down for ever takes the packet away.
    #[inline]
    pub(super) fn send(&mut self, ready: SimTime, packet: u32, bytes: u32, scene: &mut Scene<'_>) -> Option<SimTime> {
        let Some(departs) = self.server.serve(ready, bytes) else {
            self.stranded += 1;
            scene.arena.discard(packet);
            return None;
        };
        self.bytes += u64::from(bytes);
        self.packets += 1;
        let entry = OnWire { departs, packet, bytes };
        if self.impaired.is_some() {
            self.impair(entry, scene);
        } else {
            if self.ring.is_empty() {
                let arrives = departs.plus_picos(self.propagation_picos);
                scene.events.push(arrives, Action::Head { port: self.id, packet });
            }
            self.ring.push_back(entry);
        }
        Some(departs)
    }

    /// Takes the first packet off the link and schedules the next one; `None` if it was lost on the way.
    #[inline]
    pub(super) fn arrive(&mut self, events: &mut EventQueue) -> Option<u32> {
        let entry = self.ring.pop_front()?;
        if let Some(impaired) = &mut self.impaired {
            impaired.arrivals.pop_front();
        }
        if let Some(next) = self.ring.front() {
            let arrives = match &self.impaired {
                None => next.departs.plus_picos(self.propagation_picos),
                Some(impaired) => impaired.arrivals.front().copied().unwrap_or(next.departs),
            };
            events.push(arrives, Action::Head { port: self.id, packet: next.packet });
        }
        entry.in_turn()
    }

    /// Reads the ends of the ring, so that they are near when they are needed.
    #[inline]
    pub(super) fn touch_ring(&self) -> u64 {
        let departs = |entry: Option<&OnWire>| entry.map_or(0, |entry| entry.departs.as_picos());
        departs(self.ring.front()) ^ departs(self.ring.back())
    }

    /// Lets the link do to a packet what it does. It has used its share of the link whatever becomes of it.
    fn impair(&mut self, entry: OnWire, scene: &mut Scene<'_>) {
        let Some(impaired) = self.impaired.as_mut() else { return };
        let packet = scene.arena.get(entry.packet);
        let class = match packet.body {
            Body::Data { .. } | Body::Shard { .. } | Body::Ping | Body::Header => PacketClass::Data,
            Body::Ack { .. } | Body::CodedAck { .. } => PacketClass::PureAck,
            Body::Notice { .. } => PacketClass::Notice,
        };
        let fate = impaired.impairments.judge(entry.departs, &PacketInfo { flow: packet.flow, class });
        match fate {
            Fate::Delivered(Delivery { at, order, condition: Condition::Intact, copies }) => {
                let arrives = at.plus_picos(self.propagation_picos);
                for _ in 1..copies {
                    let twin = scene.arena.duplicate(entry.packet);
                    scene.events.push(arrives, Action::Stray { port: self.id, packet: twin });
                }
                if order == Order::HeldBack {
                    // It may arrive before the port comes to write its record.
                    scene.arena.stop_telemetry(entry.packet);
                    scene.events.push(arrives, Action::Stray { port: self.id, packet: entry.packet });
                    self.enqueue(OnWire { packet: HELD_BACK, ..entry }, entry.departs, scene.events);
                } else {
                    self.enqueue(entry, arrives, scene.events);
                }
            }
            Fate::Delivered(Delivery { condition: Condition::Corrupt, .. }) | Fate::Lost(_) => {
                impaired.losses += 1;
                scene.arena.discard(entry.packet);
                self.enqueue(OnWire { packet: LOST, ..entry }, entry.departs, scene.events);
            }
        }
    }

    /// Appends to the ring of an impaired link. What is gone leaves the ring as soon as its turn comes.
    fn enqueue(&mut self, entry: OnWire, arrives: SimTime, events: &mut EventQueue) {
        let Some(impaired) = self.impaired.as_mut() else { return };
        let arrives = impaired.arrivals.back().map_or(arrives, |last| arrives.max(*last));
        if self.ring.is_empty() {
            events.push(arrives, Action::Head { port: self.id, packet: entry.packet });
        }
        impaired.arrivals.push_back(arrives);
        self.ring.push_back(entry);
    }
}
