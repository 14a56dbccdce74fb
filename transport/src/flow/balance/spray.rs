//! A route per packet (Dixit et al., INFOCOM'13: random packet spraying).

use cc_algos::ids::{Entropy, PathId};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::Balancer;

/// In which order entropies are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// Each packet draws one.
    Random,
    /// One after the other; this one is next.
    RoundRobin(u32),
}

/// Spreads the packets of a flow over a number of entropies, and in turn over the open paths.
#[derive(Clone, Debug)]
pub struct Spray {
    entropies: u32,
    order: Order,
    rng: Xoshiro256PlusPlus,
    turn: usize,
}

impl Spray {
    /// Each packet draws one of the entropies from zero to below `entropies`; zero of them count as one.
    pub fn random(seed: u64, entropies: u32) -> Self {
        let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { entropies: entropies.max(1), order: Order::Random, rng, turn: 0 }
    }

    /// The entropies from zero to below `entropies` one after the other, from a start drawn from `seed`.
    pub fn round_robin(seed: u64, entropies: u32) -> Self {
        let mut spray = Self::random(seed, entropies);
        spray.order = Order::RoundRobin(spray.draw());
        spray
    }

    /// Maps 64 random bits to an entropy, with a bias of less than 2^-32.
    fn draw(&mut self) -> u32 {
        ((u128::from(self.entropies) * u128::from(self.rng.next_u64())) >> 64) as u32
    }
}

impl Balancer for Spray {
    fn next_entropy(&mut self, _path: PathId, _packet_number: u64) -> Entropy {
        match self.order {
            Order::Random => Entropy(self.draw()),
            Order::RoundRobin(next) => {
                self.order = Order::RoundRobin((next + 1) % self.entropies);
                Entropy(next)
            }
        }
    }

    fn next_path(&mut self, open: &[PathId]) -> Option<PathId> {
        self.turn = self.turn.wrapping_add(1);
        let turn = self.turn.checked_rem(open.len())?;
        open.get(turn).copied()
    }

    fn clone_box(&self) -> Box<dyn Balancer> {
        Box::new(self.clone())
    }
}
