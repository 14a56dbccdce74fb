//! Named random streams: every entity that needs chance draws from a stream of its own, so that adding one link or flow
//! does not shift the luck of another, and runs that share a seed can be compared in pairs.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The generator used everywhere: named, so that results outlive changes of a library's default.
pub type Random = Xoshiro256PlusPlus;

/// The stream of entity number `index` of the kind `name` under the experiment's `seed`.
pub fn stream(seed: u64, name: &str, index: u64) -> Random {
    Random::seed_from_u64(derive(seed, name, index))
}

/// A seed for entity number `index` of the kind `name`, for what keeps a generator of its own.
pub fn derive(seed: u64, name: &str, index: u64) -> u64 {
    // FNV-1a over the name, then two rounds of SplitMix64's finaliser to spread seed and index over all bits.
    let name = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    mix(mix(seed ^ name).wrapping_add(index.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}

/// SplitMix64's finaliser: spreads every bit over all.
pub(crate) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A real number in [0, 1) with 53 random bits.
pub fn unit(random: &mut Random) -> f64 {
    (random.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

/// A number below `count`, all alike likely; 0 if there is none.
pub fn below(random: &mut Random, count: u64) -> u64 {
    ((unit(random) * count as f64) as u64).min(count.saturating_sub(1))
}

/// Whether an event of the given probability happens; draws nothing for impossible and certain ones.
pub fn chance(random: &mut Random, probability: f64) -> bool {
    probability > 0.0 && (probability >= 1.0 || unit(random) < probability)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_seed_name_and_index_and_repeat() {
        let seeds = [derive(1, "link", 0), derive(2, "link", 0), derive(1, "flow", 0), derive(1, "link", 1)];
        for (i, a) in seeds.iter().enumerate() {
            assert!(seeds[..i].iter().all(|b| a != b));
        }
        assert_eq!(stream(7, "link", 3).next_u64(), stream(7, "link", 3).next_u64());
    }

    #[test]
    fn chance_matches_its_probability() {
        let mut random = stream(1, "test", 0);
        let hits = (0..100_000).filter(|_| chance(&mut random, 0.3)).count();
        // Binomial: mean 30 000, standard deviation 145; five of them.
        assert!((29_275..=30_725).contains(&hits), "{hits}");
        assert!(!chance(&mut random, 0.0) && chance(&mut random, 1.0));
    }
}
