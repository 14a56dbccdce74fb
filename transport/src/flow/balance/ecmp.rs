//! One route per flow, as routers choose it by hashing addresses and ports (RFC 2992).

use cc_algos::ids::{Entropy, PathId};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::Balancer;

/// Every packet bears the same entropy.
#[derive(Clone, Copy, Debug)]
pub struct Ecmp {
    entropy: Entropy,
}

impl Ecmp {
    /// A flow with an entropy of twenty bits drawn from `seed`.
    pub fn new(seed: u64) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed).next_u64();
        Self { entropy: Entropy((random >> 44) as u32) }
    }

    /// A flow with this entropy.
    pub const fn with_entropy(entropy: Entropy) -> Self {
        Self { entropy }
    }
}

impl Balancer for Ecmp {
    fn next_entropy(&mut self, _path: PathId, _packet_number: u64) -> Entropy {
        self.entropy
    }

    fn clone_box(&self) -> Box<dyn Balancer> {
        Box::new(*self)
    }
}
