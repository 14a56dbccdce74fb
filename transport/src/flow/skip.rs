//! Packet numbers left out on purpose.

use cc_algos::ids::PathId;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::config::Skip;

/// Decides after each packet whether the next number is left out.
#[derive(Clone, Debug)]
pub(super) struct Skipper {
    rng: Xoshiro256PlusPlus,
    mean_distance: u64,
    packets_left: u64,
}

impl Skipper {
    pub(super) fn new(skip: Skip, path: PathId) -> Self {
        let rng = Xoshiro256PlusPlus::seed_from_u64(skip.seed ^ u64::from(path.0));
        let mut skipper = Self { rng, mean_distance: u64::from(skip.mean_distance.max(1)), packets_left: 0 };
        skipper.packets_left = skipper.draw();
        skipper
    }

    /// A packet left; whether the number after it is to be skipped.
    pub(super) fn skips_next(&mut self) -> bool {
        self.packets_left -= 1;
        if self.packets_left > 0 {
            return false;
        }
        self.packets_left = self.draw();
        true
    }

    /// Between half and one and a half of the mean distance, evenly.
    fn draw(&mut self) -> u64 {
        let span = u128::from(self.mean_distance) + 1;
        let offset = (u128::from(self.rng.next_u64()) * span) >> 64;
        (self.mean_distance / 2 + offset as u64).max(1)
    }
}
