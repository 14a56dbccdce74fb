//! Fingerprints of configurations, so that results of different ones are never mixed.

use traces::Trace;

use super::model::Scenario;

/// FNV-1a with 128 bits: not against malice, but no two configurations meet by accident.
#[derive(Clone, Debug)]
pub struct Fingerprint(u128);

impl Fingerprint {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

    /// Of nothing but this program's version.
    pub fn new() -> Self {
        let mut fingerprint = Self(Self::OFFSET);
        fingerprint.add(env!("CARGO_PKG_VERSION").as_bytes());
        fingerprint
    }

    /// Of what a scenario says about its runs; not of how many seeds and which algorithms a sweep takes.
    pub(super) fn of_scenario(scenario: &Scenario) -> Self {
        let plain = Scenario {
            description: String::new(),
            seeds: 1,
            algorithms: Vec::new(),
            baseline: None,
            ..scenario.clone()
        };
        let mut fingerprint = Self::new();
        fingerprint.add(plain.to_toml().as_bytes());
        fingerprint
    }

    /// Adds a piece of data; its length separates it from the next.
    pub fn add(&mut self, data: &[u8]) {
        let length = (data.len() as u64).to_le_bytes();
        self.0 =
            length.iter().chain(data).fold(self.0, |hash, &byte| (hash ^ u128::from(byte)).wrapping_mul(Self::PRIME));
    }

    /// Adds what a trace holds, whatever file it came from.
    pub(super) fn add_trace(&mut self, trace: &Trace) {
        let mut words: Vec<u64> = vec![trace.period_ns()];
        match trace {
            Trace::Rate(rate) => words.extend(rate.segments().iter().flat_map(|s| [s.duration_ns, s.bps])),
            Trace::Opportunities(list) => {
                words.push(list.bytes());
                words.extend_from_slice(list.times_ns());
            }
        }
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.add(&bytes);
    }

    /// The fingerprint as 32 hexadecimal digits.
    pub fn finish(&self) -> String {
        format!("{:032x}", self.0)
    }
}

impl Default for Fingerprint {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Builtin, SCENARIOS};
    use super::*;

    #[test]
    fn all_built_ins_differ_and_seeds_and_prose_do_not_matter() {
        let of = |scenario: &Scenario| Fingerprint::of_scenario(scenario).finish();
        let mut seen = std::collections::BTreeSet::new();
        for builtin in SCENARIOS {
            assert!(seen.insert(of(&builtin.scenario().unwrap())), "{}", builtin.name);
        }
        let scenario = Builtin::by_name("wan-bulk").unwrap().scenario().unwrap();
        let other = Scenario { seeds: 3, description: "x".into(), baseline: None, ..scenario.clone() };
        assert_eq!(of(&other), of(&scenario));
        let longer = Scenario { duration: scenario.duration.saturating_mul(2), ..scenario.clone() };
        assert_ne!(of(&longer), of(&scenario));
    }

    #[test]
    fn pieces_are_kept_apart() {
        let of = |pieces: &[&str]| {
            let mut fingerprint = Fingerprint::new();
            pieces.iter().for_each(|piece| fingerprint.add(piece.as_bytes()));
            fingerprint.finish()
        };
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
    }
}
