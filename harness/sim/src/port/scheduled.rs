//! A port whose queue decides at dequeue what leaves next: CoDel, FQ-CoDel, PIE, DualPI2, trimming. It has service events
//! only while packets wait.

use cc_algos::Ecn;

use super::wire::OnWire;
use super::{Counters, Gauge, PhantomCounters, Scene, Unsent, Wire, mark};
use crate::error::SpecError;
use crate::event::Action;
use crate::framing;
use crate::queue::{Admit, Discipline, Phantom, Policer, Queued, Verdict};
use crate::rng;
use crate::time::SimTime;
use crate::topology::PortPlan;

pub(crate) struct ScheduledPort {
    pub(super) wire: Wire,
    queue: Box<dyn Discipline>,
    policer: Option<Policer>,
    phantom: Option<Phantom>,
    /// When the link is done with the packet it carries.
    busy_until: SimTime,
    /// Size of that packet.
    in_service: u32,
    /// Whether a service event is pending.
    awaited: bool,
    backlog: Gauge,
    dropped: Vec<Queued>,
    queue_drops: u64,
    policer_drops: u64,
    marks: u64,
    /// Whether packets that ask for telemetry get it.
    stamps: bool,
}

impl ScheduledPort {
    pub(super) fn new(id: u32, plan: &PortPlan<'_>, seed: u64) -> Result<Self, SpecError> {
        Ok(Self {
            wire: Wire::new(id, plan, seed)?,
            queue: plan.link.discipline.build(rng::stream(seed, "queue", u64::from(id)))?,
            policer: plan.link.policer.map(Policer::new).transpose()?,
            phantom: super::phantom(id, plan, seed)?,
            busy_until: SimTime::ZERO,
            in_service: 0,
            awaited: false,
            backlog: Gauge::default(),
            dropped: Vec::new(),
            queue_drops: 0,
            policer_drops: 0,
            marks: 0,
            stamps: plan.stamps,
        })
    }

    pub(super) fn offer(&mut self, packet: u32, scene: &mut Scene<'_>) {
        if self.stamps {
            scene.arena.make_room_for_record(packet);
        }
        let content = scene.arena.get_mut(packet);
        match self.policer.as_mut().map_or(Admit::Pass, |policer| policer.admit(scene.now, content.bytes)) {
            Admit::Drop => {
                self.policer_drops += 1;
                scene.arena.discard(packet);
                return;
            }
            Admit::Mark if content.ecn.is_capable() => {
                self.marks += 1;
                content.ecn = Ecn::Ce;
            }
            Admit::Mark | Admit::Pass => {}
        }
        let queued = Queued {
            handle: packet,
            bytes: content.bytes,
            header_bytes: framing::header_bytes(content),
            flow: flow_hash(content.flow, content.destination),
            ecn: content.ecn,
            arrived: scene.now,
        };
        // Departures before arrivals at equal times, whichever event came first.
        if self.awaited {
            self.on_service(scene);
        }
        if let Some(phantom) = &mut self.phantom {
            phantom.on_arrival(scene.now, queued.bytes);
        }
        self.queue.enqueue(scene.now, queued, &mut self.dropped);
        self.account(scene);
        if !self.awaited {
            self.serve(scene);
        }
    }

    /// A service event. The link may have been served in the same instant already; then it is busy again, with an event of its
    /// own to come.
    pub(super) fn on_service(&mut self, scene: &mut Scene<'_>) {
        if self.busy_until <= scene.now {
            self.serve(scene);
        }
    }

    /// Sends what may leave now and, if more waits, asks to be called when the link is free again.
    fn serve(&mut self, scene: &mut Scene<'_>) {
        self.awaited = false;
        while self.queue.packets() > 0 {
            if self.busy_until > scene.now {
                self.awaited = true;
                scene.events.push(self.busy_until, Action::Service { port: self.wire.id });
                return;
            }
            let next = self.queue.dequeue(scene.now, &mut self.dropped);
            self.account(scene);
            let Some(packet) = next else { return };
            if packet.is_control() {
                scene.arena.cut(packet.handle, packet.bytes);
            }
            self.mark(&packet, scene);
            if let Some(departs) = self.wire.send(packet.arrived, packet.handle, packet.bytes, scene) {
                self.busy_until = departs;
                self.in_service = packet.bytes;
                self.stamp(packet.handle, departs, scene);
            }
        }
    }

    /// Marks a packet that leaves, if the discipline has and what the phantom queue makes of it is a mark.
    fn mark(&mut self, packet: &Queued, scene: &mut Scene<'_>) {
        let before = scene.arena.get(packet.handle).ecn;
        let physical = if packet.ecn == Ecn::Ce && before != Ecn::Ce { Verdict::Mark } else { Verdict::Pass };
        let verdict = match &mut self.phantom {
            None => physical,
            Some(phantom) => {
                let verdict = phantom.judge(scene.now, before, physical);
                phantom.on_departure(scene.now, packet.bytes);
                verdict
            }
        };
        if verdict == Verdict::Mark && before != Ecn::Ce {
            self.marks += 1;
            mark(scene.arena, packet.handle);
        }
    }

    /// Writes telemetry into a packet in service: what waits behind it as it is served, and all sent when it has left.
    fn stamp(&self, packet: u32, departs: SimTime, scene: &mut Scene<'_>) {
        // One that the link has lost is not in the arena any more.
        let in_turn = || self.wire.ring.back().and_then(OnWire::in_turn) == Some(packet);
        if self.stamps && in_turn() {
            scene.arena.stamp(packet, || self.wire.record(departs, self.wire.bytes, self.queue.bytes()));
        }
    }

    fn account(&mut self, scene: &mut Scene<'_>) {
        for victim in self.dropped.drain(..) {
            self.queue_drops += 1;
            scene.arena.discard(victim.handle);
        }
        self.backlog.set(scene.now, self.queue.bytes());
    }

    pub(super) const fn backlog(&self) -> u64 {
        self.backlog.value
    }

    pub(super) fn counters(&mut self, now: SimTime) -> Counters {
        let carries = self.busy_until > now;
        let unsent = if carries { Unsent { packets: 1, bytes: u64::from(self.in_service) } } else { Unsent::default() };
        Counters {
            queue_drops: self.queue_drops,
            policer_drops: self.policer_drops,
            marks: self.marks,
            trims: self.queue.counts().trimmed,
            phantom: self.phantom.as_mut().map(|phantom| PhantomCounters::of(phantom, now)),
            ..Counters::of(&self.wire, unsent, &self.backlog, now)
        }
    }
}

/// Data and ACKs of one flow go opposite ways and are flows of their own to a queue.
const fn flow_hash(flow: u32, destination: u32) -> u32 {
    let mixed = (flow as u64) << 32 | destination as u64;
    (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}
