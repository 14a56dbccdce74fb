//! `spray`: a route per packet (Dixit et al., INFOCOM'13: random packet spraying).
//!
//! ```text
//! order = random        each packet: entropy = random
//! order = round-robin   each packet: entropy = (entropy + 1) mod entropies
//! ```
//!
//! | parameter | unit | default | origin |
//! |---|---|---|---|
//! | `entropies` | entropies | 256 | ours: enough to hit every route of the largest fat-tree |
//! | `order` | | `random` | the paper |
//!
//! ## Differences from the reference
//!
//! | | reference | here |
//! |---|---|---|
//! | who sprays | each switch, among its ports | the sender, by entropies that switches hash: ports get unequal shares if there are few entropies. Switches can do it too, see the simulator |

use cc_algos::ids::{Entropy, PathId};
use cc_algos::registry::{Choice, Param, Value};

use super::draw::Draw;
use super::registry::Kind;
use super::{Balancer, PathView, entropies};

const ORDERS: &[&str] = &["random", "round-robin"];

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
    order: Order,
    draw: Draw,
    turn: usize,
}

impl Spray {
    /// Each packet draws one of the entropies from zero to below `entropies`; zero of them count as one.
    pub fn random(seed: u64, entropies: u32) -> Self {
        Self { order: Order::Random, draw: Draw::new(seed, entropies), turn: 0 }
    }

    /// The entropies from zero to below `entropies` one after the other, from a start drawn from `seed`.
    pub fn round_robin(seed: u64, entropies: u32) -> Self {
        let mut spray = Self::random(seed, entropies);
        spray.order = Order::RoundRobin(spray.draw.entropy().0);
        spray
    }
}

impl Balancer for Spray {
    fn next_entropy(&mut self, _path: &PathView) -> Entropy {
        match self.order {
            Order::Random => self.draw.entropy(),
            Order::RoundRobin(next) => {
                self.order = Order::RoundRobin((next + 1) % self.draw.entropies());
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

pub(super) fn kind() -> Kind {
    let source = "Dixit et al., INFOCOM'13";
    Kind::new("spray", "a random route per packet", source, |args, setup| {
        let entropies = entropies(args);
        Ok(match args.choice("order").name() {
            "round-robin" => Box::new(Spray::round_robin(setup.seed, entropies)),
            _ => Box::new(Spray::random(setup.seed, entropies)),
        })
    })
    .with_param(super::entropies_param(256))
    .with_param(Param::new("order", Value::Choice(Choice::first_of(ORDERS)), "random, or one after the other"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::testing::entropies;
    use super::*;

    #[test]
    fn round_robin_visits_every_entropy_in_turn_from_a_seeded_start() {
        let seen = entropies(&mut Spray::round_robin(9, 4), 8);
        assert!(seen.windows(2).all(|pair| pair[1] == (pair[0] + 1) % 4), "{seen:?}");
    }

    #[test]
    fn random_spraying_is_even_and_repeats_with_its_seed() {
        let seen = entropies(&mut Spray::random(1, 8), 8_000);
        assert_eq!(seen, entropies(&mut Spray::random(1, 8), 8_000));
        assert_ne!(seen, entropies(&mut Spray::random(2, 8), 8_000));
        let mut counts = BTreeMap::new();
        seen.iter().for_each(|entropy| *counts.entry(*entropy).or_insert(0) += 1);
        // 1 000 each; the standard deviation is sqrt(8 000 x 1/8 x 7/8) = 29.6, five of them 148.
        assert_eq!(counts.len(), 8);
        assert!(counts.values().all(|count| (852..=1_148).contains(count)), "{counts:?}");
    }

    #[test]
    fn paths_take_turns() {
        let mut spray = Spray::random(1, 8);
        let open = [PathId(3), PathId(5)];
        let taken: Vec<_> = (0..4).filter_map(|_| spray.next_path(&open)).map(|path| path.0).collect();
        assert_eq!(taken, [5, 3, 5, 3]);
        assert_eq!(spray.next_path(&[]), None);
    }
}
