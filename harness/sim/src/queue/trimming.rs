//! Trimming: when the queue of data is full, a packet loses its payload and its header goes on, before all data.
//!
//! Two queues. *Control* holds what has no payload (acknowledgements, notices, headers that were left of packets); *data*
//! the rest. With `D` and `H` their capacities, an arriving packet
//!
//! > without payload: enters control, or is dropped if H is full
//! > with payload: enters data if D has room; else this packet, or the newest in data, is cut to its header, which enters
//! > control, or is dropped if H is full
//!
//! Control is served first, or ten packets of it for one of data: where senders do not slow down, their headers alone can fill
//! the link, and data would starve. Data may be marked by its own backlog, at enqueue or at dequeue, as a plain port does it.
//!
//! | parameter | origin |
//! |---|---|
//! | data capacity | the caller's: NDP (Handley et al., SIGCOMM 2017, section 3) is made for a few packets, laws of windows need a BDP |
//! | control capacity | csg-htsim, `compositequeue.cpp`: twice that of data |
//! | scheduler | NDP, as its authors' simulator has it: ten headers for each data packet; strict in csg-htsim today |
//! | victim | csg-htsim and NDP: arriving or newest, at even odds, which breaks up the phases of synchronised senders; switches: arriving |
//! | marking | uet-htsim: a ramp from 20 % to 80 % of a BDP, at dequeue, by data alone |
//!
//! Differences from NDP:
//!
//! | what | NDP | here |
//! |---|---|---|
//! | what is left | 64 bytes | what our headers take, without the AEAD's tag |
//! | control overflows | header returns to its sender | dropped |
//! | RED on what cannot be marked | no RED | cut instead of dropped |

use cc_algos::Ecn;

use super::fifo::Fifo;
use super::{Capacity, Counts, Discipline, MarkAt, Marker, MarkingSpec, Queued, Verdict};
use crate::error::{SpecError, ensure};
use crate::rng::{self, Random};
use crate::time::SimTime;

/// Parameters of a queue that trims.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrimmingSpec {
    /// How much data waits. The packet in transmission is not counted.
    pub capacity: Capacity,
    /// How many packets without payload wait.
    pub control_capacity: Capacity,
    /// When data is served although control waits.
    pub scheduler: ControlScheduler,
    /// Which packet is cut when one too many comes.
    pub victim: Victim,
    /// How data is marked.
    pub marking: MarkingSpec,
    /// When data is marked.
    pub mark_at: MarkAt,
}

/// When data is served although control waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlScheduler {
    /// Never.
    Strict,
    /// After each so many packets of control that went before waiting data.
    RoundRobin {
        /// Packets of control for one of data: 10 in NDP.
        control_per_data: u32,
    },
}

impl ControlScheduler {
    /// Ten for one, as NDP has it.
    pub const NDP: Self = Self::RoundRobin { control_per_data: 10 };
}

impl Default for ControlScheduler {
    fn default() -> Self {
        Self::NDP
    }
}

/// Which packet is cut when one too many comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Victim {
    /// The one that comes.
    #[default]
    Arriving,
    /// That or the newest one in the queue, at even odds.
    ArrivingOrNewest,
}

impl TrimmingSpec {
    /// A queue of this capacity with as much again for control, that marks nothing, serves control as NDP and cuts what arrives.
    pub const fn new(capacity: Capacity) -> Self {
        Self {
            capacity,
            control_capacity: capacity,
            scheduler: ControlScheduler::NDP,
            victim: Victim::Arriving,
            marking: MarkingSpec::None,
            mark_at: MarkAt::Enqueue,
        }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// If a capacity is zero, control is never served, or the marking makes no sense.
    pub fn validate(&self) -> Result<(), SpecError> {
        self.capacity.validate()?;
        self.control_capacity.validate()?;
        let served = !matches!(self.scheduler, ControlScheduler::RoundRobin { control_per_data: 0 });
        ensure(served, "control packets per data packet", 0, "at least one")?;
        self.marking.validate()
    }
}

/// A queue that trims.
#[derive(Debug)]
pub struct Trimming {
    spec: TrimmingSpec,
    control: Fifo,
    data: Fifo,
    marker: Marker,
    victims: Random,
    /// Packets of control served in a row while data waited.
    served_before_data: u32,
    trimmed: u64,
    counts: Counts,
}

impl Trimming {
    /// Empty queues with a random stream of their own.
    ///
    /// # Errors
    /// If the parameters make no sense.
    pub fn new(spec: TrimmingSpec, random: Random) -> Result<Self, SpecError> {
        spec.validate()?;
        let mut victims = random.clone();
        victims.jump();
        Ok(Self {
            spec,
            control: Fifo::default(),
            data: Fifo::default(),
            marker: Marker::new(spec.marking, random)?,
            victims,
            served_before_data: 0,
            trimmed: 0,
            counts: Counts::default(),
        })
    }

    fn enqueue_control(&mut self, packet: Queued, dropped: &mut Vec<Queued>) {
        if self.control.fits(self.spec.control_capacity, &packet) {
            self.control.push(packet);
        } else {
            self.counts.overflowed += 1;
            dropped.push(packet);
        }
    }

    /// Cuts a packet to its header; if control has no room for that either, all of it is lost.
    fn trim(&mut self, packet: Queued, dropped: &mut Vec<Queued>) {
        let header = Queued { bytes: packet.header_bytes, ..packet };
        if self.control.fits(self.spec.control_capacity, &header) {
            self.trimmed += 1;
            self.control.push(header);
        } else {
            self.counts.overflowed += 1;
            dropped.push(packet);
        }
    }

    /// Data has no room for `packet`: it is cut, or makes the newest one be cut in its place.
    fn overflow(&mut self, packet: Queued, dropped: &mut Vec<Queued>) {
        if self.spec.victim == Victim::ArrivingOrNewest
            && rng::chance(&mut self.victims, 0.5)
            && let Some(newest) = self.data.pop_newest()
        {
            if self.data.fits(self.spec.capacity, &packet) {
                self.data.push(packet);
                return self.trim(newest, dropped);
            }
            self.data.push(newest);
        }
        self.trim(packet, dropped);
    }

    fn mark(&mut self, packet: &mut Queued) {
        self.counts.marked += u64::from(packet.ecn != Ecn::Ce);
        packet.ecn = Ecn::Ce;
    }

    /// Whether control goes next, given that something waits.
    fn is_control_next(&self) -> bool {
        let due = match self.spec.scheduler {
            ControlScheduler::Strict => true,
            ControlScheduler::RoundRobin { control_per_data } => self.served_before_data < control_per_data,
        };
        self.data.packets() == 0 || (self.control.packets() > 0 && due)
    }
}

impl Discipline for Trimming {
    fn enqueue(&mut self, _now: SimTime, mut packet: Queued, dropped: &mut Vec<Queued>) {
        if packet.is_control() {
            return self.enqueue_control(packet, dropped);
        }
        if !self.data.fits(self.spec.capacity, &packet) {
            return self.overflow(packet, dropped);
        }
        if self.spec.mark_at == MarkAt::Enqueue {
            match self.marker.mark(self.data.bytes(), packet.ecn) {
                Verdict::Pass => {}
                Verdict::Mark => self.mark(&mut packet),
                Verdict::Drop => return self.trim(packet, dropped),
            }
        }
        self.data.push(packet);
    }

    fn dequeue(&mut self, _now: SimTime, _dropped: &mut Vec<Queued>) -> Option<Queued> {
        if self.is_control_next() {
            self.served_before_data = self.served_before_data.saturating_add(u32::from(self.data.packets() > 0));
            return self.control.pop();
        }
        self.served_before_data = 0;
        let mut packet = self.data.pop()?;
        if self.spec.mark_at == MarkAt::Dequeue && self.marker.mark(self.data.bytes(), packet.ecn) == Verdict::Mark {
            self.mark(&mut packet);
        }
        Some(packet)
    }

    fn bytes(&self) -> u64 {
        self.data.bytes() + self.control.bytes()
    }

    fn packets(&self) -> u64 {
        self.data.packets() + self.control.packets()
    }

    fn counts(&self) -> Counts {
        Counts { trimmed: Some(self.trimmed), ..self.counts }
    }
}

#[cfg(test)]
mod tests;
