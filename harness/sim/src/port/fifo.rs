//! A drop-tail port: no events of its own, departures are replayed when somebody asks.

use cc_algos::Ecn;

use super::{Counters, Gauge, PhantomCounters, Scene, Unsent, Wire, mark};
use crate::error::SpecError;
use crate::packet::Arena;
use crate::queue::{Admit, Capacity, MarkAt, Marker, MarkingSpec, Phantom, Policer, Verdict};
use crate::rng;
use crate::time::SimTime;
use crate::topology::PortPlan;

/// A drop-tail queue in front of a link. The packet in transmission counts towards the backlog until its last bit has left.
pub(crate) struct FifoPort {
    pub(super) wire: Wire,
    backlog: Gauge,
    /// How many packets at the front of the ring have left the queue and are propagating.
    departed: u32,
    queue_drops: u32,
    capacity: Capacity,
    marking: Marking,
    /// Packets marked by a threshold.
    threshold_marks: u64,
}

/// What happens to packets that fit.
enum Marking {
    None,
    /// Marked at enqueue if the backlog is above so many bytes: the common case, spared a trip to [`Guard`].
    Threshold(u64),
    Guard(Box<Guard>),
}

impl Marking {
    fn guard(id: u32, plan: &PortPlan<'_>, seed: u64) -> Result<Self, SpecError> {
        let link = plan.link;
        Ok(Self::Guard(Box::new(Guard {
            marker: Marker::new(link.marking, rng::stream(seed, "marker", u64::from(id)))?,
            mark_at: link.mark_at,
            marks: 0,
            phantom: super::phantom(id, plan, seed)?,
            policer: link.policer.map(Policer::new).transpose()?,
            policer_drops: 0,
            stamps: plan.stamps,
        })))
    }
}

/// What only some ports have.
struct Guard {
    marker: Marker,
    mark_at: MarkAt,
    marks: u64,
    phantom: Option<Phantom>,
    policer: Option<Policer>,
    policer_drops: u64,
    /// Whether packets that ask for telemetry get it.
    stamps: bool,
}

impl Guard {
    /// What becomes of a packet, by the queue and the phantom queue.
    fn judge(&mut self, now: SimTime, backlog: u64, ecn: Ecn) -> Verdict {
        match &mut self.phantom {
            None => self.marker.mark(backlog, ecn),
            Some(phantom) => {
                let physical = if phantom.asks_queue() { self.marker.mark(backlog, ecn) } else { Verdict::Pass };
                phantom.judge(now, ecn, physical)
            }
        }
    }
}

impl FifoPort {
    pub(super) fn new(id: u32, plan: &PortPlan<'_>, capacity: Capacity, seed: u64) -> Result<Self, SpecError> {
        let link = plan.link;
        let marking = match link.marking {
            _ if plan.stamps || link.phantom.is_some() => Marking::guard(id, plan, seed)?,
            MarkingSpec::None if link.policer.is_none() => Marking::None,
            MarkingSpec::Threshold { bytes } if link.policer.is_none() && link.mark_at == MarkAt::Enqueue => {
                Marking::Threshold(bytes)
            }
            _ => Marking::guard(id, plan, seed)?,
        };
        let wire = Wire::new(id, plan, seed)?;
        Ok(Self { wire, backlog: Gauge::default(), departed: 0, queue_drops: 0, capacity, marking, threshold_marks: 0 })
    }

    #[inline]
    pub(super) fn offer(&mut self, packet: u32, scene: &mut Scene<'_>) {
        // Departures before arrivals at equal times: a burst of capacity + 1 that meets a packet just leaving loses none.
        self.replay(scene.now, scene.arena);
        if let Marking::Guard(guard) = &self.marking
            && guard.stamps
        {
            scene.arena.make_room_for_record(packet);
        }
        let bytes = scene.arena.get(packet).bytes;
        let waiting = self.wire.ring.len() as u64 - u64::from(self.departed);
        if !self.capacity.fits(self.backlog.value, waiting, bytes) {
            self.queue_drops += 1;
            self.note_arrival(scene.now, bytes);
            scene.arena.discard(packet);
            return;
        }
        match self.marking {
            Marking::None => {}
            Marking::Threshold(bytes) => {
                let backlog = self.backlog.value;
                if backlog > bytes && scene.arena.get(packet).ecn.is_capable() {
                    self.threshold_marks += 1;
                    mark(scene.arena, packet);
                }
            }
            Marking::Guard(_) => {
                if !self.pass_guard(packet, bytes, scene) {
                    return;
                }
            }
        }
        if self.wire.send(scene.now, packet, bytes, scene).is_some() {
            self.backlog.set(scene.now, self.backlog.value + u64::from(bytes));
        }
    }

    /// One field of each of the port's cache lines.
    #[inline]
    pub(super) fn touch(&self) -> u64 {
        self.wire.packets ^ self.wire.ring.len() as u64 ^ self.backlog.value ^ u64::from(self.queue_drops)
    }

    /// What stands behind pointers.
    #[inline]
    pub(super) fn touch_behind(&self) -> u64 {
        let guard = match &self.marking {
            Marking::Guard(guard) => guard.marks,
            Marking::None | Marking::Threshold(_) => 0,
        };
        self.wire.touch_ring() ^ guard
    }

    #[inline]
    pub(super) fn arrive(&mut self, scene: &mut Scene<'_>) -> Option<u32> {
        // Only the packet that arrives must have departed: the others can wait for the next offer.
        if self.departed == 0 {
            self.replay(scene.now, scene.arena);
        }
        self.departed = self.departed.saturating_sub(1);
        self.wire.arrive(scene.events)
    }

    pub(super) fn backlog(&mut self, now: SimTime, arena: &mut Arena) -> u64 {
        self.replay(now, arena);
        self.backlog.value
    }

    pub(super) fn counters(&mut self, now: SimTime, arena: &mut Arena) -> Counters {
        self.replay(now, arena);
        let (policer_drops, marks) = match &self.marking {
            Marking::Guard(guard) => (guard.policer_drops, guard.marks),
            Marking::None | Marking::Threshold(_) => (0, self.threshold_marks),
        };
        let phantom = match &mut self.marking {
            Marking::Guard(guard) => guard.phantom.as_mut().map(|phantom| PhantomCounters::of(phantom, now)),
            Marking::None | Marking::Threshold(_) => None,
        };
        let waiting = self.wire.ring.len() as u64 - u64::from(self.departed);
        let unsent = Unsent { packets: waiting, bytes: self.backlog.value };
        Counters {
            queue_drops: u64::from(self.queue_drops),
            policer_drops,
            marks,
            phantom,
            ..Counters::of(&self.wire, unsent, &self.backlog, now)
        }
    }

    /// Lets every packet whose last bit has left by `now` leave the queue.
    #[inline]
    fn replay(&mut self, now: SimTime, arena: &mut Arena) {
        while let Some(entry) = self.wire.ring.get(self.departed as usize).filter(|entry| entry.departs <= now) {
            let (departs, packet, bytes) = (entry.departs, entry.in_turn(), entry.bytes);
            self.departed += 1;
            let left = self.backlog.value - u64::from(bytes);
            self.backlog.set(departs, left);
            if let Marking::Guard(guard) = &mut self.marking
                && let Some(packet) = packet
            {
                if guard.stamps {
                    // Nothing was offered since it departed, so that what the link was given and has not sent is what is left.
                    let sent = self.wire.bytes - left;
                    arena.stamp(packet, || self.wire.record(departs, sent, left));
                }
                if guard.mark_at == MarkAt::Dequeue
                    && guard.judge(departs, left, arena.get(packet).ecn) == Verdict::Mark
                {
                    guard.marks += 1;
                    mark(arena, packet);
                }
            }
            if let Marking::Guard(guard) = &mut self.marking
                && let Some(phantom) = &mut guard.phantom
            {
                phantom.on_departure(departs, bytes);
            }
        }
    }

    /// Tells the phantom queue of a packet, whatever becomes of it; only of those that the policer drops it hears nothing.
    #[inline]
    fn note_arrival(&mut self, now: SimTime, bytes: u32) {
        if let Marking::Guard(guard) = &mut self.marking
            && let Some(phantom) = &mut guard.phantom
        {
            phantom.on_arrival(now, bytes);
        }
    }

    /// Policer, then marker at enqueue; `false` if either dropped the packet.
    fn pass_guard(&mut self, packet: u32, bytes: u32, scene: &mut Scene<'_>) -> bool {
        let Marking::Guard(guard) = &mut self.marking else { return true };
        let admit = guard.policer.as_mut().map_or(Admit::Pass, |policer| policer.admit(scene.now, bytes));
        let ecn = scene.arena.get(packet).ecn;
        let verdict = match admit {
            Admit::Drop => {
                guard.policer_drops += 1;
                scene.arena.discard(packet);
                return false;
            }
            Admit::Mark if ecn.is_capable() => Verdict::Mark,
            _ if guard.mark_at == MarkAt::Enqueue => guard.judge(scene.now, self.backlog.value, ecn),
            _ => Verdict::Pass,
        };
        self.note_arrival(scene.now, bytes);
        let Marking::Guard(guard) = &mut self.marking else { return true };
        match verdict {
            Verdict::Pass => {}
            Verdict::Mark => {
                guard.marks += 1;
                mark(scene.arena, packet);
            }
            Verdict::Drop => {
                self.queue_drops += 1;
                scene.arena.discard(packet);
                return false;
            }
        }
        true
    }
}
