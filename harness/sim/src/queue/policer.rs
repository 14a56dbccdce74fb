//! A token-bucket policer: what exceeds a rate and a burst is dropped or marked, nothing waits.
//!
//! The bucket holds `burst` bytes and fills at `rate`. A packet that finds its bytes there takes them and conforms; any
//! other exceeds and takes nothing (a single-rate, two-colour meter: RFC 2697 without its excess bucket). Tokens are
//! exact: 8 × 10¹² units a byte, of which a rate of `R` bits per second fills `R` each picosecond.

use cc_algos::Rate;

use crate::error::{SpecError, ensure};
use crate::time::SimTime;

/// What happens to packets that exceed the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Excess {
    /// They are dropped.
    #[default]
    Drop,
    /// They are marked CE where they can be; the caller drops the others.
    Mark,
}

/// A contract of rate and burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicerSpec {
    /// Rate at which the bucket fills.
    pub rate: Rate,
    /// Size of the bucket, bytes; it begins full.
    pub burst_bytes: u64,
    /// What happens beyond it.
    pub excess: Excess,
}

impl PolicerSpec {
    /// Checks the parameters.
    ///
    /// # Errors
    /// If rate or burst is zero: nothing would ever pass.
    pub fn validate(&self) -> Result<(), SpecError> {
        ensure(self.rate > Rate::ZERO, "policer rate", self.rate, "more than zero")?;
        ensure(self.burst_bytes > 0, "policer burst", self.burst_bytes, "at least one packet, in bytes")
    }
}

/// The verdict on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admit {
    /// It conforms.
    Pass,
    /// It exceeds and is to be marked.
    Mark,
    /// It exceeds and is to be dropped.
    Drop,
}

/// A token bucket.
#[derive(Clone, Debug)]
pub struct Policer {
    spec: PolicerSpec,
    tokens: u128,
    filled: SimTime,
}

const TOKENS_PER_BYTE: u128 = 8_000_000_000_000;

impl Policer {
    /// A full bucket.
    ///
    /// # Errors
    /// If the specification is invalid.
    pub fn new(spec: PolicerSpec) -> Result<Self, SpecError> {
        spec.validate()?;
        Ok(Self { spec, tokens: u128::from(spec.burst_bytes) * TOKENS_PER_BYTE, filled: SimTime::ZERO })
    }

    /// The verdict on a packet of `bytes` at `now`.
    pub fn admit(&mut self, now: SimTime, bytes: u32) -> Admit {
        let fresh = u128::from(self.spec.rate.as_bps()) * u128::from(now.picos_since(self.filled));
        let full = u128::from(self.spec.burst_bytes) * TOKENS_PER_BYTE;
        self.tokens = self.tokens.saturating_add(fresh).min(full);
        self.filled = self.filled.max(now);
        match (self.tokens.checked_sub(u128::from(bytes) * TOKENS_PER_BYTE), self.spec.excess) {
            (Some(left), _) => {
                self.tokens = left;
                Admit::Pass
            }
            (None, Excess::Drop) => Admit::Drop,
            (None, Excess::Mark) => Admit::Mark,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policer(bps: u64, burst_bytes: u64, excess: Excess) -> Policer {
        Policer::new(PolicerSpec { rate: Rate::from_bps(bps), burst_bytes, excess }).unwrap()
    }

    #[test]
    fn the_long_run_rate_is_the_rate_plus_one_burst() {
        // An awkward rate, offered 1 000 B each 0.1 ms (80 Mb/s) for 10 s: 15 000 B + 12 345 679 b/s x 10 s / 8, in
        // whole packets, and the last packet may still be filling.
        let mut policer = policer(12_345_679, 15_000, Excess::Drop);
        let passed = (0..=100_000_u64)
            .filter(|i| policer.admit(SimTime::from_picos(i * 100_000_000), 1_000) == Admit::Pass)
            .count();
        assert_eq!(passed, (15_000 + 15_432_098) / 1_000);
    }

    #[test]
    fn a_burst_passes_and_what_follows_exceeds() {
        let mut policer = policer(8_000, 3_000, Excess::Mark);
        let verdicts: Vec<_> = (0..4).map(|_| policer.admit(SimTime::ZERO, 1_000)).collect();
        assert_eq!(verdicts, [Admit::Pass, Admit::Pass, Admit::Pass, Admit::Mark]);
        // 1 000 B at 8 kb/s fill in one second, not a picosecond earlier; exceeding packets take nothing.
        let second = 1_000_000_000_000;
        assert_eq!(policer.admit(SimTime::from_picos(second - 1), 1_000), Admit::Mark);
        assert_eq!(policer.admit(SimTime::from_picos(second), 1_000), Admit::Pass);
    }

    #[test]
    fn a_packet_larger_than_the_bucket_never_conforms_and_extremes_do_not_overflow() {
        let mut small = policer(u64::MAX, 1_499, Excess::Drop);
        assert_eq!(small.admit(SimTime::MAX, 1_500), Admit::Drop);
        let mut huge = policer(u64::MAX, u64::MAX, Excess::Drop);
        assert_eq!(huge.admit(SimTime::MAX, u32::MAX), Admit::Pass);
        // Time that goes back fills nothing.
        assert_eq!(small.admit(SimTime::ZERO, 1_499), Admit::Pass);
        assert_eq!(small.admit(SimTime::ZERO, 1), Admit::Drop);
    }

    #[test]
    fn contracts_under_which_nothing_passes_are_refused() {
        let spec = PolicerSpec { rate: Rate::ZERO, burst_bytes: 1, excess: Excess::Drop };
        assert_eq!(Policer::new(spec).unwrap_err().to_string(), "policer rate is 0bps, expected more than zero");
        assert!(PolicerSpec { rate: Rate::from_bps(1), burst_bytes: 0, ..spec }.validate().is_err());
    }
}
