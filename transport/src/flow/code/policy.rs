//! How long blocks are and how much parity they have.

use cc_algos::units::Span;

use crate::wire::MAX_SHARDS;

/// How a flow is coded. Both ends have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coding {
    data: u8,
    parity: Parity,
    timeout: Span,
}

/// How many parity shards a block has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parity {
    /// Always so many.
    Fixed(u8),
    /// As the measured loss asks for, decided when a block begins (ours): the smallest number within the bounds for which
    /// more losses than that come to a block in a thousand at most, were they independent. Loss is an average over shards,
    /// the newest of which weighs 1/256; it begins at zero.
    Adaptive {
        /// At least so many.
        min: u8,
        /// At most so many.
        max: u8,
    },
}

impl Parity {
    /// The most that a block may have.
    pub const fn max(self) -> u8 {
        match self {
            Self::Fixed(count) | Self::Adaptive { max: count, .. } => count,
        }
    }
}

/// Why a flow cannot be coded that way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodingError {
    /// A block without data.
    #[error("a block has no data shard: expected at least one")]
    NoData,
    /// More shards than the code has points.
    #[error("a block of {data} data and {parity} parity shards: expected at most {MAX_SHARDS} together")]
    TooManyShards {
        /// Data shards.
        data: u8,
        /// Parity shards at most.
        parity: u8,
    },
    /// Bounds that no number keeps.
    #[error("at least {min} and at most {max} parity shards: expected bounds in ascending order")]
    Bounds {
        /// The lower bound.
        min: u8,
        /// The upper bound.
        max: u8,
    },
    /// A timer that expires as it starts.
    #[error("a block may take no time: expected a time-out above zero")]
    NoTime,
}

impl Coding {
    /// Blocks of `data` data shards, about which the receiver complains `timeout` after their first shard.
    ///
    /// # Errors
    ///
    /// Names what is impossible about it.
    pub const fn new(data: u8, parity: Parity, timeout: Span) -> Result<Self, CodingError> {
        if data == 0 {
            return Err(CodingError::NoData);
        }
        if let Parity::Adaptive { min, max } = parity
            && min > max
        {
            return Err(CodingError::Bounds { min, max });
        }
        // All of MAX_SHARDS fit into a byte, and no more.
        if data.checked_add(parity.max()).is_none() {
            return Err(CodingError::TooManyShards { data, parity: parity.max() });
        }
        if timeout.is_zero() {
            return Err(CodingError::NoTime);
        }
        Ok(Self { data, parity, timeout })
    }

    /// The same with another time-out.
    ///
    /// # Errors
    ///
    /// As [`Coding::new`].
    pub const fn with_timeout(self, timeout: Span) -> Result<Self, CodingError> {
        Self::new(self.data, self.parity, timeout)
    }

    /// Data shards of a full block.
    pub const fn data(&self) -> u8 {
        self.data
    }

    /// Parity shards of a block.
    pub const fn parity(&self) -> Parity {
        self.parity
    }

    /// How long after a block's first shard, or the first after a complaint, the receiver complains. UnoRC's artifact (SC'25) waits
    /// for the time that five queues on the way take to drain: 640 us across its datacentres.
    pub const fn timeout(&self) -> Span {
        self.timeout
    }
}

/// Loss among shards, as an average over the latest.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LossEstimate {
    share: f64,
}

impl LossEstimate {
    /// Weight of one shard. Ours.
    const WEIGHT: f64 = 1.0 / 256.0;

    /// Share of blocks that may lose more than their parity. Ours.
    const RESIDUAL: f64 = 1e-3;

    pub(super) fn on_arrived(&mut self) {
        self.share -= self.share * Self::WEIGHT;
    }

    pub(super) fn on_lost(&mut self) {
        self.share += (1.0 - self.share) * Self::WEIGHT;
    }

    /// Parity shards for a block of `k` data shards.
    pub(super) fn parity(&self, k: u8, parity: Parity) -> u8 {
        match parity {
            Parity::Fixed(count) => count,
            Parity::Adaptive { min, max } => (min..max).find(|&m| self.residual(k, m) <= Self::RESIDUAL).unwrap_or(max),
        }
    }

    /// Probability that more than `m` of `k + m` shards are lost.
    fn residual(&self, k: u8, m: u8) -> f64 {
        let (lost, kept) = (self.share, 1.0 - self.share);
        let shards = u32::from(k) + u32::from(m);
        // Of no loss at all; then of one more each time.
        let mut exactly = (0..shards).fold(1.0, |product, _| product * kept);
        let mut at_most = exactly;
        for losses in 1..=u32::from(m) {
            exactly *= lost / kept * f64::from(shards - losses + 1) / f64::from(losses);
            at_most += exactly;
        }
        // The average never reaches one, but a product of many may come to nothing: all parity then.
        1.0 - at_most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Span = Span::from_micros(640);

    #[test]
    fn impossible_blocks_are_refused() {
        assert_eq!(Coding::new(0, Parity::Fixed(2), TIMEOUT), Err(CodingError::NoData));
        let many = CodingError::TooManyShards { data: 250, parity: 6 };
        assert_eq!(Coding::new(250, Parity::Adaptive { min: 0, max: 6 }, TIMEOUT), Err(many));
        assert_eq!(many.to_string(), "a block of 250 data and 6 parity shards: expected at most 255 together");
        let bounds = Parity::Adaptive { min: 3, max: 2 };
        assert_eq!(Coding::new(8, bounds, TIMEOUT), Err(CodingError::Bounds { min: 3, max: 2 }));
        assert_eq!(Coding::new(8, Parity::Fixed(2), Span::ZERO), Err(CodingError::NoTime));
        assert!(Coding::new(250, Parity::Fixed(5), TIMEOUT).is_ok());
        assert!(
            Coding::new(1, Parity::Fixed(0), TIMEOUT).is_ok(),
            "blocks without parity are still reported as blocks"
        );
    }

    /// Blocks of 8 and 2 at 1/8: what the script of UnoRC's artifact gives for one of eight links that is dead.
    #[test]
    fn the_residual_is_the_tail_of_a_binomial_distribution() {
        let eighth = LossEstimate { share: 0.125 };
        assert!((eighth.residual(8, 2) - 0.1195).abs() < 1e-4, "{}", eighth.residual(8, 2));
        assert!((eighth.residual(9, 1) - 0.3611).abs() < 1e-4, "{}", eighth.residual(9, 1));
        assert!(LossEstimate::default().residual(8, 0) < f64::EPSILON);
    }

    #[test]
    fn parity_follows_the_loss_within_its_bounds() {
        let bounds = Parity::Adaptive { min: 1, max: 6 };
        let mut loss = LossEstimate::default();
        assert_eq!(loss.parity(8, bounds), 1);
        // One of a hundred for long: with two of ten lost more often than once in a thousand blocks, with three not.
        (0..10_000).for_each(|shard| if shard % 100 == 0 { loss.on_lost() } else { loss.on_arrived() });
        assert!(loss.residual(8, 1) > 1e-3 && loss.residual(8, 2) <= 1e-3, "{loss:?}");
        assert_eq!(loss.parity(8, bounds), 2);
        (0..10_000).for_each(|_| loss.on_lost());
        assert_eq!(loss.parity(8, bounds), 6);
        (0..10_000).for_each(|_| loss.on_arrived());
        assert_eq!(loss.parity(8, bounds), 1);
    }
}
