//! Seeded random numbers that are the same on every platform.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;

/// Uniform in `(0, 1]`, with 53 random bits.
pub(crate) fn uniform(rng: &mut Xoshiro256PlusPlus) -> f64 {
    ((rng.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

/// Standard normal, by Box and Muller (1958) with `libm`, whose results do not depend on the platform.
pub(crate) fn normal(rng: &mut Xoshiro256PlusPlus) -> f64 {
    let (radius, angle) = (uniform(rng), uniform(rng));
    libm::sqrt(-2.0 * libm::log(radius)) * libm::cos(core::f64::consts::TAU * angle)
}

/// Shuffles in place (Fisher and Yates).
pub(crate) fn shuffle<T>(items: &mut [T], rng: &mut Xoshiro256PlusPlus) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(last + 1, rng));
    }
}

/// Uniform below `bound`, by multiplication of a 64-bit fraction; the bias of at most `bound / 2^64` is nothing here.
pub(crate) fn below(bound: usize, rng: &mut Xoshiro256PlusPlus) -> usize {
    let scaled = (u128::from(rng.next_u64()) * bound as u128) >> 64;
    usize::try_from(scaled).unwrap_or(0)
}
