//! CoDel, controlled delay: RFC 8289.
//!
//! A packet's sojourn is its time in the queue. Once sojourns have stayed at or above the *target* for an *interval*, a
//! packet is dropped, and while they stay there the next ones follow ever faster:
//!
//! > next drop = last drop + interval / √count (the control law, section 5.6)
//!
//! `count` counts the drops since dropping began. If dropping begins again within 16 intervals of when the next drop
//! would have been due, it resumes at the rate that was needed before (section 5.5). The queue is left alone while it
//! holds no more than one MTU, for the link would starve (sections 4.1 and 5.6).
//!
//! | parameter | default | from |
//! |---|---|---|
//! | `target` | 5 ms | RFC 8289, section 4.3 |
//! | `interval` | 100 ms | section 4.2: about the longest common round trip |
//! | `mtu` | 1 514 bytes | section 5.3: the MTU of the interface; Ethernet's with its header |
//! | `capacity` | 1 000 packets | Linux, `tc-codel(8)` |
//!
//! Differences from the reference:
//!
//! | what | RFC 8289's code | Linux | here |
//! |---|---|---|---|
//! | ECN | not shown | marks capable packets, one per dequeue | as Linux |
//! | 1/√count | floating point | Newton steps in 16 bits | floating point, correctly rounded |
//! | resumed count | count − count at entry | the same | the same |
//! | MTU test | after taking the packet, ≤ `maxpacket` | the same, of the largest seen | as the RFC |
//! | time | any | 1.024 µs | picoseconds |

use cc_algos::{Ecn, Span};

use super::fifo::Fifo;
use super::{Capacity, Counts, Discipline, Queued};
use crate::error::{SpecError, ensure};
use crate::time::SimTime;

/// Parameters of the controller, apart from the queue it works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelParameters {
    /// Standing delay that is tolerated.
    pub target: Span,
    /// How long the delay must stand before the first drop.
    pub interval: Span,
    /// A queue of no more than this many bytes is left alone.
    pub mtu: u32,
    /// Whether ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
}

impl Default for CodelParameters {
    fn default() -> Self {
        Self { target: Span::from_millis(5), interval: Span::from_millis(100), mtu: 1_514, ecn: true }
    }
}

impl CodelParameters {
    pub(super) fn validate(&self) -> Result<(), SpecError> {
        ensure(!self.target.is_zero(), "codel target", self.target, "more than zero")?;
        ensure(self.interval >= self.target, "codel interval", self.interval, "at least the target")
    }
}

/// A CoDel queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelSpec {
    /// The controller.
    pub parameters: CodelParameters,
    /// How much the queue holds.
    pub capacity: Capacity,
}

impl Default for CodelSpec {
    fn default() -> Self {
        Self { parameters: CodelParameters::default(), capacity: Capacity::Packets(1_000) }
    }
}

impl CodelSpec {
    /// Checks the parameters.
    ///
    /// # Errors
    /// If the target is zero, the interval shorter than the target, or the capacity zero.
    pub fn validate(&self) -> Result<(), SpecError> {
        self.parameters.validate()?;
        self.capacity.validate()
    }
}

/// The controller's state for one queue.
#[derive(Clone, Debug, Default)]
pub(super) struct Controller {
    /// When sojourns will have been above target for an interval.
    above_until: Option<SimTime>,
    dropping: bool,
    next_drop: SimTime,
    count: u64,
    count_at_entry: u64,
}

/// What a call of the controller works with.
pub(super) struct Work<'a> {
    pub(super) now: SimTime,
    pub(super) parameters: &'a CodelParameters,
    pub(super) queue: &'a mut Fifo,
    /// Bytes that wait in other queues for the same link: they keep it busy too (RFC 8289, section 4.4).
    pub(super) bytes_elsewhere: u64,
    pub(super) counts: &'a mut Counts,
    pub(super) dropped: &'a mut Vec<Queued>,
}

impl Work<'_> {
    /// Marks the packet, or drops it if it cannot be marked; returns it if it lives.
    fn punish(&mut self, mut packet: Queued) -> Option<Queued> {
        if self.parameters.ecn && packet.ecn.is_capable() {
            self.counts.marked += u64::from(packet.ecn != Ecn::Ce);
            packet.ecn = Ecn::Ce;
            return Some(packet);
        }
        self.counts.dropped_early += 1;
        self.dropped.push(packet);
        None
    }
}

impl Controller {
    /// The next packet that survives.
    pub(super) fn dequeue(&mut self, mut work: Work<'_>) -> Option<Queued> {
        let (mut packet, mut too_late) = self.take(&mut work)?;
        if !self.dropping {
            if !too_late {
                return Some(packet);
            }
            self.enter(work.now, work.parameters.interval);
            return match work.punish(packet) {
                Some(marked) => Some(marked),
                // Whether this one is late too is for the next call to judge: one drop per control-law step.
                None => self.take(&mut work).map(|(next, _)| next),
            };
        }
        self.dropping = too_late;
        while self.dropping && work.now >= self.next_drop {
            self.count += 1;
            if let Some(marked) = work.punish(packet) {
                self.next_drop = self.law(self.next_drop, work.parameters.interval);
                return Some(marked);
            }
            (packet, too_late) = self.take(&mut work)?;
            self.dropping = too_late;
            if too_late {
                self.next_drop = self.law(self.next_drop, work.parameters.interval);
            }
        }
        Some(packet)
    }

    /// Takes the head and tells whether the queue has been above target for an interval.
    fn take(&mut self, work: &mut Work<'_>) -> Option<(Queued, bool)> {
        let Some(packet) = work.queue.pop() else {
            self.above_until = None;
            return None;
        };
        let sojourn = SimTime::ZERO.plus_picos(work.now.picos_since(packet.arrived));
        let backlog = work.queue.bytes() + work.bytes_elsewhere;
        if sojourn < SimTime::ZERO + work.parameters.target || backlog <= u64::from(work.parameters.mtu) {
            self.above_until = None;
            return Some((packet, false));
        }
        let until = *self.above_until.get_or_insert(work.now + work.parameters.interval);
        Some((packet, work.now >= until))
    }

    /// Begins to drop, at the rate that controlled the queue before if that is not long ago.
    fn enter(&mut self, now: SimTime, interval: Span) {
        self.dropping = true;
        let needed_before = self.count - self.count_at_entry;
        let recent = now.since(self.next_drop) < interval.saturating_mul(16);
        self.count = if needed_before > 1 && recent { needed_before } else { 1 };
        self.next_drop = self.law(now, interval);
        self.count_at_entry = self.count;
    }

    /// The control law: the drop after one at `last`.
    fn law(&self, last: SimTime, interval: Span) -> SimTime {
        let interval = (SimTime::ZERO + interval).as_picos() as f64;
        last.plus_picos(cc_algos::units::round_to_u64(interval / libm::sqrt(self.count as f64)))
    }
}

/// A FIFO controlled by CoDel.
#[derive(Debug)]
pub struct Codel {
    spec: CodelSpec,
    controller: Controller,
    queue: Fifo,
    counts: Counts,
}

impl Codel {
    /// An empty queue.
    pub fn new(spec: CodelSpec) -> Self {
        Self { spec, controller: Controller::default(), queue: Fifo::default(), counts: Counts::default() }
    }
}

impl Discipline for Codel {
    fn enqueue(&mut self, _now: SimTime, packet: Queued, dropped: &mut Vec<Queued>) {
        if self.queue.fits(self.spec.capacity, &packet) {
            self.queue.push(packet);
        } else {
            self.counts.overflowed += 1;
            dropped.push(packet);
        }
    }

    fn dequeue(&mut self, now: SimTime, dropped: &mut Vec<Queued>) -> Option<Queued> {
        let Self { spec, controller, queue, counts } = self;
        controller.dequeue(Work { now, parameters: &spec.parameters, queue, bytes_elsewhere: 0, counts, dropped })
    }

    fn bytes(&self) -> u64 {
        self.queue.bytes()
    }

    fn packets(&self) -> u64 {
        self.queue.packets()
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}

#[cfg(test)]
mod tests;
