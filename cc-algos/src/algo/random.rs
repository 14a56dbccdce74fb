//! A small stream of random numbers for laws that need few: SplitMix64 (Steele, Lea and Flood, OOPSLA'14, figure 15).

/// Numbers that depend on nothing but a seed.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The stream of a seed, as [`Setup::seed`](crate::Setup::seed) gives one.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// An even chance for each number below `end`; 0 if `end` is 0.
    pub const fn below(&mut self, end: u64) -> u64 {
        // Multiply and shift: the bias is below end / 2^64.
        ((self.next_u64() as u128 * end as u128) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_the_published_one() {
        // First outputs for seed 1234567, as in the reference implementation (prng.di.unimi.it/splitmix64.c).
        let mut stream = SplitMix64::new(1_234_567);
        let first = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(first.map(|_| stream.next_u64()), first);
    }

    #[test]
    fn every_number_below_the_end_turns_up_about_as_often() {
        let mut stream = SplitMix64::new(1);
        let mut counts = [0_u32; 7];
        (0..7_000).for_each(|_| counts[stream.below(7) as usize] += 1);
        // Binomial with 7 000 draws: standard deviation 29.
        assert!(counts.iter().all(|count| count.abs_diff(1_000) < 150), "{counts:?}");
        assert_eq!(stream.below(0), 0);
    }
}
