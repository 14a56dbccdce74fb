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
