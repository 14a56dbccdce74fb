//! Random delay that keeps the order.
//!
//! Real links vary in delay but rarely reorder: a packet waits behind the one before. So an arrival is never earlier
//! than the arrival before it. (Delaying each packet by itself, as netem does without a rate, turns 30 ms of jitter into
//! a storm of reordering that no link shows.) At high packet rates arrivals therefore follow the upper envelope of the
//! delays drawn: an independent draw per packet then makes the delay nearly the maximum of the law. A delay that is
//! *held* for some time avoids that, and is closer to how radio links change.

use cc_algos::Span;

use crate::error::{SpecError, ensure};
use crate::rng::{self, Random};
use crate::time::SimTime;

/// Random extra delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JitterSpec {
    /// How the delay is distributed.
    pub law: JitterLaw,
    /// For how long a delay is kept before the next is drawn, on a grid of this width; zero draws for each packet.
    pub hold: Span,
}

/// A distribution of delay. No law gives less than zero or more than its `max`: larger draws are cut to it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum JitterLaw {
    /// Anything from zero to `max` alike.
    Uniform {
        /// Longest delay.
        max: Span,
    },
    /// Normal, cut at zero and `max`.
    Normal {
        /// Mean before cutting.
        mean: Span,
        /// Standard deviation before cutting.
        deviation: Span,
        /// Longest delay.
        max: Span,
    },
    /// Exponential.
    Exponential {
        /// Mean before cutting.
        mean: Span,
        /// Longest delay.
        max: Span,
    },
    /// Pareto, moved to begin at zero (Lomax): P(delay > x) = (1 + x / scale) ^ −shape.
    Pareto {
        /// The scale; the mean before cutting is scale / (shape − 1).
        scale: Span,
        /// The shape, above 1 for a mean to exist before cutting.
        shape: f64,
        /// Longest delay.
        max: Span,
    },
}

impl JitterSpec {
    /// A delay of this law, drawn for each packet.
    pub const fn per_packet(law: JitterLaw) -> Self {
        Self { law, hold: Span::ZERO }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// If the longest delay is zero, or a shape is not a positive number.
    pub fn validate(&self) -> Result<(), SpecError> {
        let max = self.law.max();
        ensure(!max.is_zero(), "longest jitter", max, "more than zero")?;
        match self.law {
            JitterLaw::Pareto { shape, .. } => {
                ensure(shape > 0.0 && shape.is_finite(), "pareto shape", shape, "a number above zero")
            }
            _ => Ok(()),
        }
    }
}

impl JitterLaw {
    /// The longest delay.
    pub const fn max(&self) -> Span {
        match self {
            Self::Uniform { max }
            | Self::Normal { max, .. }
            | Self::Exponential { max, .. }
            | Self::Pareto { max, .. } => *max,
        }
    }

    fn draw(&self, random: &mut Random) -> Span {
        // In (0, 1], so that its logarithm is finite.
        let unit = 1.0 - rng::unit(random);
        let delay = match *self {
            Self::Uniform { max } => max.mul_f64(unit),
            Self::Exponential { mean, .. } => mean.mul_f64(-libm::log(unit)),
            Self::Pareto { scale, shape, .. } => scale.mul_f64(libm::pow(unit, -1.0 / shape) - 1.0),
            Self::Normal { mean, deviation, .. } => {
                // Box and Muller 1958.
                let angle = 2.0 * core::f64::consts::PI * rng::unit(random);
                let normal = libm::sqrt(-2.0 * libm::log(unit)) * libm::cos(angle);
                Span::from_secs_f64(mean.as_secs_f64() + deviation.as_secs_f64() * normal)
            }
        };
        delay.min(self.max())
    }
}

/// Draws delays.
#[derive(Clone, Debug)]
pub(super) struct Jitter {
    spec: JitterSpec,
    random: Random,
    delay: Span,
    /// The cell of the holding grid in which `delay` was drawn.
    cell: Option<u64>,
}

impl Jitter {
    pub(super) fn new(spec: JitterSpec, random: Random) -> Self {
        Self { spec, random, delay: Span::ZERO, cell: None }
    }

    pub(super) fn draw(&mut self, now: SimTime) -> Span {
        let cell = now.to_timestamp().as_nanos().checked_div(self.spec.hold.as_nanos());
        if cell.is_none() || cell != self.cell {
            self.cell = cell;
            self.delay = self.spec.law.draw(&mut self.random);
        }
        self.delay
    }
}
