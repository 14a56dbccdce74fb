//! What is random in balancers.

use cc_algos::ids::Entropy;
use cc_algos::units::Span;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// How many entropies an IPv6 flow label can tell apart (RFC 6437: twenty bits).
pub(super) const FLOW_LABELS: u32 = 1 << 20;

/// Draws entropies from zero to below a bound.
#[derive(Clone, Debug)]
pub(super) struct Draw {
    rng: Xoshiro256PlusPlus,
    entropies: u32,
}

impl Draw {
    /// No entropies at all count as one.
    pub(super) fn new(seed: u64, entropies: u32) -> Self {
        Self { rng: Xoshiro256PlusPlus::seed_from_u64(seed), entropies: entropies.max(1) }
    }

    /// How many there are to draw from.
    pub(super) const fn entropies(&self) -> u32 {
        self.entropies
    }

    pub(super) fn entropy(&mut self) -> Entropy {
        Entropy(self.below(u64::from(self.entropies)) as u32)
    }

    /// A span from zero to below `span`.
    pub(super) fn span(&mut self, span: Span) -> Span {
        Span::from_nanos(self.below(span.as_nanos()))
    }

    /// Maps 64 random bits to a number below `bound`: one in 2^64 / `bound` draws is biased.
    fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(bound) * u128::from(self.rng.next_u64())) >> 64) as u64
    }
}
