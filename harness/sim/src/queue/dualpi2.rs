//! DualPI2, the dual-queue coupled AQM for L4S: RFC 9332, appendix A.
//!
//! Packets with ECT(1) or CE go to the low-latency queue L, all others to the classic queue C. A proportional integral
//! controller on the longer of the two head delays keeps a base probability p′:
//!
//! > p′ += α (delay − target) + β (delay − previous delay), every T = min(target, RTTmax / 3)
//! >
//! > α = 0.1 T / RTTmax², β = 0.3 / RTTmax
//!
//! Classic packets are dropped or marked with p_C = p′², low-latency ones marked with at least p_CL = k p′: since
//! classic senders answer to the root of their losses and scalable ones to the marks themselves, both get about the same
//! rate. The L queue has a ramp of its own, from 0 at `ramp.min` to 1 at `ramp.min + ramp.range` of a packet's delay;
//! the larger probability counts. Marks are spread evenly, not drawn: a counter adds up the probabilities.
//!
//! Overload begins where p_CL reaches 1 or p_C reaches min(1/k², 1): then L packets are dropped with p_C too and those
//! left all marked, and C packets are dropped whether or not they could be marked.
//!
//! | parameter | default | from |
//! |---|---|---|
//! | `target` | 15 ms | RFC 9332, figure 2 |
//! | `rtt_max` | 100 ms | figure 2 |
//! | `coupling`, k | 2 | figure 2 |
//! | `ramp.min`, `ramp.range` | 800 µs, 400 µs | figure 2: minTh, range; range zero is a step |
//! | `ramp.spared_packets` | 1 | figure 2: Th_len |
//! | `scheduler` | C gets 1 / 16 when both wait | appendix A.2: weighted round robin, for example 1/16 |
//! | `capacity` | 10 000 packets for both | Linux, `tc-dualpi2(8)`; the RFC: 250 ms of the link's rate |
//!
//! Differences from the reference:
//!
//! | what | RFC 9332 | Linux | here |
//! |---|---|---|---|
//! | T, α, β | 15 ms, 0.15, 3 | 16 ms, 0.16, 3.2 | as the RFC, from `target` and `rtt_max` |
//! | updates | a timer | a timer | the same grid of times, caught up with at the next packet |
//! | L queue's own AQM | ramp | step at 1 ms | ramp |
//! | spared when short | at dequeue | at enqueue | at dequeue, the packet itself counted |
//! | signals | counter | random | counter |
//! | p_CL and p_C below two MTU | applied | not applied | applied |
//! | capacity test | with one MTU to spare | by packets | with the packet itself |
//! | credit of the scheduler | not shown | changes only while both wait; reset when idle | as Linux |

use cc_algos::{Ecn, Span};

use super::fifo::Fifo;
use super::{Capacity, Counts, Discipline, Queued};
use crate::error::{SpecError, ensure};
use crate::time::SimTime;

/// Marking in the low-latency queue by the delay of each packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LowLatencyRamp {
    /// Delay up to which nothing is marked.
    pub min: Span,
    /// From `min` on, over how much more delay the probability rises to 1; zero makes a step.
    pub range: Span,
    /// A queue of no more than this many packets is spared, for on slow links one alone takes longer than the ramp.
    pub spared_packets: u64,
}

/// Which queue sends when both wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scheduler {
    /// The classic queue gets one byte in so many, the low-latency queue the others.
    WeightedRoundRobin {
        /// The classic share is 1 / this.
        classic_one_in: u32,
    },
    /// The head that has waited longer, with a head start for the low-latency queue.
    TimeShiftedFifo {
        /// The head start; 50 ms for the public Internet, about four targets elsewhere (appendix A.2).
        shift: Span,
    },
}

/// Parameters of DualPI2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualPi2Spec {
    /// Delay to hold in the classic queue.
    pub target: Span,
    /// Longest round trip for which the controller is stable.
    pub rtt_max: Span,
    /// How much stronger the signal is in the low-latency queue.
    pub coupling: f64,
    /// Marking in the low-latency queue by its own delay.
    pub ramp: LowLatencyRamp,
    /// Which queue sends when both wait.
    pub scheduler: Scheduler,
    /// How much both queues hold together.
    pub capacity: Capacity,
}

impl Default for DualPi2Spec {
    fn default() -> Self {
        Self {
            target: Span::from_millis(15),
            rtt_max: Span::from_millis(100),
            coupling: 2.0,
            ramp: LowLatencyRamp { min: Span::from_micros(800), range: Span::from_micros(400), spared_packets: 1 },
            scheduler: Scheduler::WeightedRoundRobin { classic_one_in: 16 },
            capacity: Capacity::Packets(10_000),
        }
    }
}

impl DualPi2Spec {
    /// Checks the parameters.
    ///
    /// # Errors
    /// If target or longest round trip is too short for updates a microsecond apart, the coupling is not positive, or
    /// the classic queue would get nothing.
    pub fn validate(&self) -> Result<(), SpecError> {
        let (target, rtt) = (self.target, self.rtt_max);
        ensure(target >= Span::from_micros(1), "dualpi2 target", target, "at least 1us")?;
        ensure(rtt >= Span::from_micros(3), "dualpi2 longest round trip", rtt, "at least 3us")?;
        ensure(self.coupling > 0.0 && self.coupling.is_finite(), "dualpi2 coupling", self.coupling, "more than zero")?;
        if let Scheduler::WeightedRoundRobin { classic_one_in } = self.scheduler {
            ensure(classic_one_in >= 2, "dualpi2 classic share, one in", classic_one_in, "2 or more")?;
        }
        self.capacity.validate()
    }

    /// Time between updates: RFC 9332, figure 2.
    fn update_interval(&self) -> Span {
        self.target.min(self.rtt_max.mul_div(1, 3))
    }

    /// Gains of the distance from the target and of the change of delay, per second: figure 2.
    fn gains(&self) -> (f64, f64) {
        let rtt = self.rtt_max.as_secs_f64();
        (0.1 * self.update_interval().as_secs_f64() / (rtt * rtt), 0.3 / rtt)
    }

    /// Above this classic probability capable packets are dropped too.
    fn classic_limit(&self) -> f64 {
        (1.0 / (self.coupling * self.coupling)).min(1.0)
    }
}

/// The core controller.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
struct Base {
    probability: f64,
    previous_delay: f64,
}

/// Adds up probabilities and signals whenever they exceed one: `recur` of RFC 9332, figure 4.
#[derive(Clone, Copy, Debug, Default)]
struct Signaller(f64);

impl Signaller {
    fn signals(&mut self, probability: f64) -> bool {
        self.0 += probability;
        let due = self.0 > 1.0;
        self.0 -= f64::from(u8::from(due));
        due
    }
}

/// The two coupled queues.
#[derive(Debug)]
pub struct DualPi2 {
    spec: DualPi2Spec,
    low_latency: Fifo,
    classic: Fifo,
    base: Base,
    next_update: SimTime,
    low_latency_signals: Signaller,
    classic_signals: Signaller,
    /// Bytes that L has sent while both waited, less what C has sent times its weight; C's turn when positive.
    credit: i64,
    counts: Counts,
}

/// One of the two queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    LowLatency,
    Classic,
}

impl DualPi2 {
    /// Empty queues.
    pub fn new(spec: DualPi2Spec) -> Self {
        Self {
            spec,
            low_latency: Fifo::default(),
            classic: Fifo::default(),
            base: Base::default(),
            next_update: SimTime::ZERO + spec.update_interval(),
            low_latency_signals: Signaller::default(),
            classic_signals: Signaller::default(),
            credit: 0,
            counts: Counts::default(),
        }
    }

    /// The base probability p′.
    pub fn base_probability(&self) -> f64 {
        self.base.probability
    }

    /// Makes the updates that were due by `now`. Nothing came or went since, so the heads are those of each due time.
    fn catch_up(&mut self, now: SimTime) {
        let interval = (SimTime::ZERO + self.spec.update_interval()).as_picos();
        while self.next_update <= now && self.next_update < SimTime::MAX {
            let before = self.base;
            self.update(self.next_update);
            // Idle queues stay idle, and a queue that stands still at probability one grows older and stays there.
            let settled = self.bytes() == 0 && self.base == before
                || before.probability >= 1.0 && self.base.previous_delay > before.previous_delay;
            let steps = if settled { now.picos_since(self.next_update) / interval } else { 0 };
            let last = self.next_update.plus_picos(interval.saturating_mul(steps));
            if steps > 0 {
                self.base.previous_delay = self.longest_delay(last);
            }
            self.next_update = last.plus_picos(interval);
        }
    }

    fn update(&mut self, at: SimTime) {
        let delay = self.longest_delay(at);
        let (alpha, beta) = self.spec.gains();
        let change = alpha * (delay - self.spec.target.as_secs_f64()) + beta * (delay - self.base.previous_delay);
        self.base = Base { probability: (self.base.probability + change).clamp(0.0, 1.0), previous_delay: delay };
    }

    /// The longer delay of both heads, seconds.
    fn longest_delay(&self, at: SimTime) -> f64 {
        let delay = |queue: &Fifo| queue.head().map_or(Span::ZERO, |head| at.since(head.arrived));
        delay(&self.low_latency).max(delay(&self.classic)).as_secs_f64()
    }

    /// Which queue sends next; `None` if both are empty.
    fn schedule(&self, now: SimTime) -> Option<Side> {
        match (self.low_latency.head(), self.classic.head()) {
            (None, None) => None,
            (Some(_), None) => Some(Side::LowLatency),
            (None, Some(_)) => Some(Side::Classic),
            (Some(low_latency), Some(classic)) => {
                let classic_is_due = match self.spec.scheduler {
                    Scheduler::WeightedRoundRobin { .. } => self.credit > 0,
                    Scheduler::TimeShiftedFifo { shift } => {
                        now.since(classic.arrived) > now.since(low_latency.arrived) + shift
                    }
                };
                Some(if classic_is_due { Side::Classic } else { Side::LowLatency })
            }
        }
    }

    /// Books a packet sent from one side while the other waited.
    fn charge(&mut self, side: Side, bytes: u32) {
        let Scheduler::WeightedRoundRobin { classic_one_in } = self.spec.scheduler else { return };
        match side {
            Side::LowLatency if self.classic.packets() > 0 => self.credit += i64::from(bytes),
            Side::Classic if self.low_latency.packets() > 0 => {
                self.credit -= i64::from(bytes) * i64::from(classic_one_in - 1);
            }
            _ if self.bytes() == 0 => self.credit = 0,
            _ => {}
        }
    }

    fn mark(&mut self, packet: &mut Queued) {
        self.counts.marked += u64::from(packet.ecn != Ecn::Ce);
        packet.ecn = Ecn::Ce;
    }

    /// Takes the head of L: `Ok` to be sent, perhaps marked, `Err` to be dropped.
    fn judge_low_latency(&mut self, now: SimTime, mut packet: Queued) -> Result<Queued, Queued> {
        let coupled = (self.spec.coupling * self.base.probability).min(1.0);
        let classic = self.base.probability * self.base.probability;
        let probability = if coupled < 1.0 {
            coupled.max(self.ramp(now.since(packet.arrived)))
        } else if self.low_latency_signals.signals(classic) {
            return Err(packet);
        } else {
            coupled
        };
        if self.low_latency_signals.signals(probability) {
            self.mark(&mut packet);
        }
        Ok(packet)
    }

    /// Takes the head of C, likewise.
    fn judge_classic(&mut self, mut packet: Queued) -> Result<Queued, Queued> {
        let probability = self.base.probability * self.base.probability;
        if self.classic_signals.signals(probability) {
            if !packet.ecn.is_capable() || probability >= self.spec.classic_limit() {
                return Err(packet);
            }
            self.mark(&mut packet);
        }
        Ok(packet)
    }

    /// The L queue's own marking probability for a packet just taken from it: RFC 9332, figures 5 and 7.
    fn ramp(&self, delay: Span) -> f64 {
        let LowLatencyRamp { min, range, spared_packets } = self.spec.ramp;
        // Less, not at most: the packet itself has left the queue already.
        if self.low_latency.packets() < spared_packets {
            0.0
        } else if delay >= min + range {
            1.0
        } else {
            (delay - min).as_secs_f64() / range.as_secs_f64().max(f64::MIN_POSITIVE)
        }
    }
}

impl Discipline for DualPi2 {
    fn enqueue(&mut self, now: SimTime, packet: Queued, dropped: &mut Vec<Queued>) {
        self.catch_up(now);
        if !self.spec.capacity.fits(self.bytes(), self.packets(), packet.bytes) {
            self.counts.overflowed += 1;
            dropped.push(packet);
        } else if matches!(packet.ecn, Ecn::Ect1 | Ecn::Ce) {
            self.low_latency.push(packet);
        } else {
            self.classic.push(packet);
        }
    }

    fn dequeue(&mut self, now: SimTime, dropped: &mut Vec<Queued>) -> Option<Queued> {
        self.catch_up(now);
        loop {
            let side = self.schedule(now)?;
            let verdict = match side {
                Side::LowLatency => {
                    let packet = self.low_latency.pop()?;
                    self.judge_low_latency(now, packet)
                }
                Side::Classic => {
                    let packet = self.classic.pop()?;
                    self.judge_classic(packet)
                }
            };
            match verdict {
                Ok(packet) => {
                    self.charge(side, packet.bytes);
                    return Some(packet);
                }
                Err(packet) => {
                    self.counts.dropped_early += 1;
                    dropped.push(packet);
                }
            }
        }
    }

    fn bytes(&self) -> u64 {
        self.low_latency.bytes() + self.classic.bytes()
    }

    fn packets(&self) -> u64 {
        self.low_latency.packets() + self.classic.packets()
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}

#[cfg(test)]
mod tests;
