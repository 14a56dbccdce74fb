//! `ecmp`: one route per flow, as routers choose it by hashing addresses and ports (RFC 2992).
//!
//! ```text
//! at the start   entropy = random
//! ```

use cc_algos::ids::Entropy;

use super::draw::{Draw, FLOW_LABELS};
use super::registry::Kind;
use super::{Balancer, PathView};

/// Every packet bears the same entropy.
#[derive(Clone, Copy, Debug)]
pub struct Ecmp {
    entropy: Entropy,
}

impl Ecmp {
    /// A flow with an entropy of twenty bits drawn from `seed`.
    pub fn new(seed: u64) -> Self {
        Self::with_entropy(Draw::new(seed, FLOW_LABELS).entropy())
    }

    /// A flow with this entropy.
    pub const fn with_entropy(entropy: Entropy) -> Self {
        Self { entropy }
    }
}

impl Balancer for Ecmp {
    fn next_entropy(&mut self, _path: &PathView) -> Entropy {
        self.entropy
    }

    fn clone_box(&self) -> Box<dyn Balancer> {
        Box::new(*self)
    }
}

pub(super) fn kind() -> Kind {
    Kind::new("ecmp", "one route per flow, by hash", "RFC 2992", |_, setup| Ok(Box::new(Ecmp::new(setup.seed))))
}
