//! A port: a queue, the link it feeds, and what happens to packets on the way.
//!
//! Packets on a link stand in a ring and only the first of them stands in the event queue. A drop-tail port needs no events
//! of its own besides: whoever asks replays the departures up to now, in order, which is exact for marking at dequeue
//! because the backlog rises only when packets are offered.

mod fifo;
mod scheduled;
mod wire;

use cc_algos::Ecn;

use fifo::FifoPort;
use scheduled::ScheduledPort;
use wire::Wire;

use crate::error::SpecError;
use crate::event::EventQueue;
use crate::packet::Arena;
use crate::queue::{DisciplineSpec, Phantom};
use crate::rng;
use crate::time::SimTime;
use crate::topology::PortPlan;

/// What a port may touch while it handles a packet.
pub(crate) struct Scene<'a> {
    pub(crate) now: SimTime,
    pub(crate) arena: &'a mut Arena,
    pub(crate) events: &'a mut EventQueue,
}

/// A port of either kind. Aligned: a hop touches two ports, and a fat-tree of 1 024 hosts has 6 144.
#[repr(align(64))]
pub(crate) enum Port {
    Fifo(FifoPort),
    Scheduled(Box<ScheduledPort>),
}

// Three cache lines.
const _: () = assert!(size_of::<Port>() <= 192);

impl Port {
    pub(crate) fn new(id: u32, plan: &PortPlan<'_>, seed: u64) -> Result<Self, SpecError> {
        Ok(match plan.link.discipline {
            DisciplineSpec::DropTail { capacity } => Self::Fifo(FifoPort::new(id, plan, capacity, seed)?),
            _ => Self::Scheduled(Box::new(ScheduledPort::new(id, plan, seed)?)),
        })
    }

    /// A packet is offered to the port.
    #[inline]
    pub(crate) fn offer(&mut self, packet: u32, scene: &mut Scene<'_>) {
        match self {
            Self::Fifo(port) => port.offer(packet, scene),
            Self::Scheduled(port) => port.offer(packet, scene),
        }
    }

    /// The first packet on the link reaches the far end; `None` if it was lost on the way.
    #[inline]
    pub(crate) fn arrive(&mut self, scene: &mut Scene<'_>) -> Option<u32> {
        match self {
            Self::Fifo(port) => port.arrive(scene),
            Self::Scheduled(port) => port.wire.arrive(scene.events),
        }
    }

    /// Reads a little of everything a hop needs of this port, so that it is near when it is needed. The value means nothing.
    #[inline]
    pub(crate) fn touch(&self) -> u64 {
        match self {
            Self::Fifo(port) => port.touch(),
            Self::Scheduled(_) => 0,
        }
    }

    /// As [`Port::touch`], for what stands behind a pointer of the port: it must be near itself by then.
    #[inline]
    pub(crate) fn touch_behind(&self) -> u64 {
        match self {
            Self::Fifo(port) => port.touch_behind(),
            Self::Scheduled(_) => 0,
        }
    }

    /// The link is free for the next packet of a scheduled queue.
    pub(crate) fn serve(&mut self, scene: &mut Scene<'_>) {
        if let Self::Scheduled(port) = self {
            port.on_service(scene);
        }
    }

    /// Counters, with departures up to `now` taken into account.
    pub(crate) fn counters(&mut self, now: SimTime, arena: &mut Arena) -> Counters {
        match self {
            Self::Fifo(port) => port.counters(now, arena),
            Self::Scheduled(port) => port.counters(now),
        }
    }

    /// Bytes that wait or are being sent at `now`.
    pub(crate) fn backlog(&mut self, now: SimTime, arena: &mut Arena) -> u64 {
        match self {
            Self::Fifo(port) => port.backlog(now, arena),
            Self::Scheduled(port) => port.backlog(),
        }
    }

    /// Bytes the link could have carried up to `now`.
    pub(crate) fn offered(&self, now: SimTime) -> u64 {
        let wire = match self {
            Self::Fifo(port) => &port.wire,
            Self::Scheduled(port) => &port.wire,
        };
        wire.server.offered(SimTime::ZERO, now)
    }
}

/// Packets that a link was given and whose last bit has not left.
#[derive(Clone, Copy, Debug, Default)]
struct Unsent {
    packets: u64,
    bytes: u64,
}

/// What a port has counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    pub(crate) bytes: u64,
    pub(crate) packets: u64,
    pub(crate) queue_drops: u64,
    pub(crate) policer_drops: u64,
    pub(crate) wire_losses: u64,
    pub(crate) marks: u64,
    /// `None` where the queue never trims.
    pub(crate) trims: Option<u64>,
    /// `None` where there is no phantom queue.
    pub(crate) phantom: Option<PhantomCounters>,
    pub(crate) backlog: u64,
    pub(crate) max_backlog: u64,
    pub(crate) backlog_byte_nanos: u128,
}

impl Counters {
    /// Counts of a port whose link has been given `unsent` packets that have not left yet.
    fn of(wire: &Wire, unsent: Unsent, backlog: &Gauge, now: SimTime) -> Self {
        Self {
            bytes: wire.bytes - unsent.bytes,
            packets: wire.packets - unsent.packets,
            wire_losses: wire.losses(unsent.packets),
            backlog: backlog.value,
            max_backlog: backlog.max,
            backlog_byte_nanos: backlog.byte_nanos(now),
            ..Self::default()
        }
    }
}

/// What a phantom queue holds, bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PhantomCounters {
    pub(crate) backlog: u64,
    pub(crate) max_backlog: u64,
}

impl PhantomCounters {
    fn of(phantom: &mut Phantom, now: SimTime) -> Self {
        Self { backlog: phantom.backlog(now), max_backlog: phantom.max_backlog() }
    }
}

/// The phantom queue that a port is to have.
fn phantom(id: u32, plan: &PortPlan<'_>, seed: u64) -> Result<Option<Phantom>, SpecError> {
    plan.link.phantom.map(|spec| Phantom::new(spec, rng::stream(seed, "phantom", u64::from(id)))).transpose()
}

/// A backlog with its integral over time.
#[derive(Clone, Copy, Debug, Default)]
struct Gauge {
    value: u64,
    max: u64,
    since: SimTime,
    /// Byte-picoseconds. A real number, since 64 bits would overflow and 128 are too many to keep in every port; sums
    /// of products below 2^53 are exact.
    integral: f64,
}

impl Gauge {
    #[inline]
    fn set(&mut self, now: SimTime, value: u64) {
        self.integral += self.value as f64 * now.picos_since(self.since) as f64;
        self.since = now;
        self.value = value;
        self.max = self.max.max(value);
    }

    /// The integral until `now`. Reading changes nothing, not even by the rounding of one more addition.
    fn byte_nanos(&self, now: SimTime) -> u128 {
        let integral = self.integral + self.value as f64 * now.picos_since(self.since) as f64;
        (integral / 1_000.0) as u128
    }
}

/// Sets CE on a packet.
#[inline]
fn mark(arena: &mut Arena, packet: u32) {
    arena.get_mut(packet).ecn = Ecn::Ce;
}
