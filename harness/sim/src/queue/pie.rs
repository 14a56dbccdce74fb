//! PIE, proportional integral controller enhanced: RFC 8033.
//!
//! Packets are dropped on arrival with a probability that is updated every `update_interval`:
//!
//! > p += s (α (delay − target) + β (delay − previous delay))
//!
//! The scale s falls with p, so that small probabilities move in small steps (section 4.2):
//!
//! | p below | 10⁻⁶ | 10⁻⁵ | 10⁻⁴ | 10⁻³ | 0.01 | 0.1 | else |
//! |---|---|---|---|---|---|---|---|
//! | s | 1/2048 | 1/512 | 1/128 | 1/32 | 1/8 | 1/2 | 1 |
//!
//! At p ≥ 0.1 it rises by 0.02 at most (section 5.5); while there is no delay it decays by 2 % an interval (section
//! 4.2). After calm, nothing is dropped for `burst_allowance` (section 4.4). A queue that is short or whose delay is
//! below half the target is left alone (section 4.1). The delay is that of the last packet that left, by its time stamp;
//! it is zero once the queue is empty.
//!
//! | parameter | default | from |
//! |---|---|---|
//! | `target` | 15 ms | RFC 8033, appendix A: QDELAY_REF |
//! | `update_interval` | 15 ms | appendix A: T_UPDATE |
//! | `alpha`, `beta` | 0.125, 1.25 per second | appendix A |
//! | `burst_allowance` | 150 ms | appendix A: MAX_BURST |
//! | `mark_below` | 0.1 | section 5.1: capable packets are marked below this probability, dropped above |
//! | `mean_packet` | 1 500 bytes | section 4.1: MEAN_PKTSIZE, of which two are always let in |
//! | `spacing` | de-randomised | section 5.4: no drop before the probabilities add up to 0.85, one at 8.5 at the latest |
//! | `capacity` | 1 000 packets | Linux, `tc-pie(8)` |
//!
//! Differences from the reference:
//!
//! | what | RFC 8033 | Linux | here |
//! |---|---|---|---|
//! | delay | time stamps (appendix A) or departure rate (appendix B) | time stamps, or rate by option | time stamps |
//! | updates | a timer | a timer | the same grid of times, caught up with at the next packet |
//! | decay | no delay twice (A), below half the target twice (B) | no delay twice | as appendix A |
//! | burst allowance | falls by an interval an update | falls by the time between departures | as the RFC |
//! | p above 250 ms of delay | – | + 0.02 an update | – |
//! | turned off at low load | section 5.3, optional | – | – |

use cc_algos::{Ecn, Span};

use super::fifo::Fifo;
use super::{Capacity, Counts, Discipline, Queued};
use crate::error::{Probability, SpecError, ensure};
use crate::rng::{self, Random};
use crate::time::SimTime;

/// How drops follow from their probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Spacing {
    /// Each packet by its own luck: drops can come close together or stay away for long.
    Independent,
    /// Never too close and never too far (RFC 8033, section 5.4).
    #[default]
    Derandomised,
}

/// Parameters of PIE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PieSpec {
    /// Delay to hold.
    pub target: Span,
    /// Time between updates of the probability.
    pub update_interval: Span,
    /// Gain of the distance from the target, per second.
    pub alpha: f64,
    /// Gain of the change of delay, per second.
    pub beta: f64,
    /// How long bursts pass after calm.
    pub burst_allowance: Span,
    /// Capable packets are marked while the probability is below this, and dropped otherwise.
    pub mark_below: Probability,
    /// Mean size of a packet, bytes.
    pub mean_packet: u32,
    /// How drops follow from the probability.
    pub spacing: Spacing,
    /// How much the queue holds.
    pub capacity: Capacity,
}

impl Default for PieSpec {
    fn default() -> Self {
        Self {
            target: Span::from_millis(15),
            update_interval: Span::from_millis(15),
            alpha: 0.125,
            beta: 1.25,
            burst_allowance: Span::from_millis(150),
            mark_below: Probability::literal(0.1),
            mean_packet: 1_500,
            spacing: Spacing::Derandomised,
            capacity: Capacity::Packets(1_000),
        }
    }
}

impl PieSpec {
    /// Checks the parameters.
    ///
    /// # Errors
    /// If target or capacity is zero, updates come more often than each microsecond, or a gain is not positive.
    pub fn validate(&self) -> Result<(), SpecError> {
        ensure(!self.target.is_zero(), "pie target", self.target, "more than zero")?;
        let interval = self.update_interval;
        ensure(interval >= Span::from_micros(1), "pie update interval", interval, "at least 1us")?;
        ensure(self.alpha > 0.0 && self.alpha.is_finite(), "pie alpha", self.alpha, "a number above zero")?;
        ensure(self.beta >= 0.0 && self.beta.is_finite(), "pie beta", self.beta, "zero or a number above")?;
        self.capacity.validate()
    }
}

/// The part of the state that updates work on.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Control {
    probability: f64,
    /// Delay of the last packet that left and the one of the update before, seconds.
    delay: f64,
    previous_delay: f64,
    burst_left: Span,
}

/// A queue under PIE.
#[derive(Debug)]
pub struct Pie {
    spec: PieSpec,
    control: Control,
    next_update: SimTime,
    /// Probabilities added up since the last drop.
    accumulated: f64,
    random: Random,
    queue: Fifo,
    counts: Counts,
}

impl Pie {
    /// An empty queue.
    pub fn new(spec: PieSpec, random: Random) -> Self {
        let control = Control { probability: 0.0, delay: 0.0, previous_delay: 0.0, burst_left: spec.burst_allowance };
        Self {
            spec,
            control,
            next_update: SimTime::ZERO + spec.update_interval,
            accumulated: 0.0,
            random,
            queue: Fifo::default(),
            counts: Counts::default(),
        }
    }

    /// The present drop probability.
    pub fn probability(&self) -> f64 {
        self.control.probability
    }

    /// Makes the updates that were due by `now`. Between packets their input does not change: once an update changes
    /// nothing, the others would not either.
    fn catch_up(&mut self, now: SimTime) {
        while self.next_update <= now {
            let before = self.control;
            self.control.update(&self.spec);
            let interval = (SimTime::ZERO + self.spec.update_interval).as_picos();
            let steps = if self.control == before { now.picos_since(self.next_update) / interval } else { 0 };
            self.next_update = self.next_update.plus_picos(interval.saturating_mul(steps.saturating_add(1)));
            if self.next_update == SimTime::MAX {
                break;
            }
        }
    }

    /// Whether luck would have a packet dropped now.
    fn drops_early(&mut self) -> bool {
        let Control { probability, previous_delay, .. } = self.control;
        let calm = previous_delay < self.spec.target.as_secs_f64() / 2.0 && probability < 0.2;
        if calm || self.queue.bytes() <= 2 * u64::from(self.spec.mean_packet) {
            return false;
        }
        if self.spec.spacing == Spacing::Independent {
            return rng::chance(&mut self.random, probability);
        }
        self.accumulated = if probability > 0.0 { self.accumulated + probability } else { 0.0 };
        if self.accumulated < 0.85 {
            return false;
        }
        self.accumulated >= 8.5 || rng::chance(&mut self.random, probability)
    }
}

impl Control {
    fn is_calm(&self, target: f64) -> bool {
        self.probability <= 0.0 && self.delay < target / 2.0 && self.previous_delay < target / 2.0
    }

    fn update(&mut self, spec: &PieSpec) {
        let Self { probability, delay, previous_delay, .. } = *self;
        let error = spec.alpha * (delay - spec.target.as_secs_f64()) + spec.beta * (delay - previous_delay);
        let mut step = error * scale(probability);
        if probability >= 0.1 {
            step = step.min(0.02);
        }
        let mut updated = probability + step;
        if delay <= 0.0 && previous_delay <= 0.0 {
            updated *= 0.98;
        }
        self.probability = updated.clamp(0.0, 1.0);
        self.previous_delay = delay;
        self.burst_left = self.burst_left - spec.update_interval;
    }
}

/// How much of a step is taken at a probability: RFC 8033, section 4.2.
fn scale(probability: f64) -> f64 {
    let scales = [(1e-6, 2_048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (0.01, 8.0), (0.1, 2.0)];
    scales.iter().find(|(below, _)| probability < *below).map_or(1.0, |(_, divisor)| 1.0 / divisor)
}

impl Discipline for Pie {
    fn enqueue(&mut self, now: SimTime, mut packet: Queued, dropped: &mut Vec<Queued>) {
        self.catch_up(now);
        if !self.queue.fits(self.spec.capacity, &packet) {
            self.counts.overflowed += 1;
            self.accumulated = 0.0;
            dropped.push(packet);
            return;
        }
        if self.control.is_calm(self.spec.target.as_secs_f64()) {
            self.control.burst_left = self.spec.burst_allowance;
        }
        if self.control.burst_left.is_zero() && self.drops_early() {
            self.accumulated = 0.0;
            if !packet.ecn.is_capable() || self.control.probability >= self.spec.mark_below.get() {
                self.counts.dropped_early += 1;
                dropped.push(packet);
                return;
            }
            self.counts.marked += u64::from(packet.ecn != Ecn::Ce);
            packet.ecn = Ecn::Ce;
        }
        self.queue.push(packet);
    }

    fn dequeue(&mut self, now: SimTime, _dropped: &mut Vec<Queued>) -> Option<Queued> {
        self.catch_up(now);
        let packet = self.queue.pop();
        self.control.delay = match &packet {
            Some(packet) if self.queue.packets() > 0 => now.since(packet.arrived).as_secs_f64(),
            _ => 0.0,
        };
        packet
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
