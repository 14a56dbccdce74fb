//! `bitmap`: spraying that skips entropies with penalties, as the reference simulator of Ultra Ethernet has it
//! (`ultraethernet/uet-htsim`, commit 40ccb05: `UecMpBitmap` in `uec_mp.cpp`).
//!
//! ```text
//! told of an entropy   penalty = min(penalty + by, max_penalty), by: marked 1, lost 4, timed out 15, good 0
//! a packet leaves      at = index xor scramble
//!                      penalty[at] > 0: penalty[at] -= 1, then on to the first entropy without one (or, after a full
//!                      circle, the next)
//!                      on = index + 1; each time it has been all around, a new random scramble
//! ```
//!
//! | parameter | unit | default | origin |
//! |---|---|---|---|
//! | `entropies` | entropies, a power of two | 64 | htsim (`path_entropy_size`) |
//! | `ecn_penalty`, `nack_penalty`, `timeout_penalty` | turns | 1, 4, 15 | the law |
//! | `max_penalty` | turns | 15 | the law |
//!
//! ## Differences from the reference
//!
//! | | reference | here |
//! |---|---|---|
//! | timeout | counts against entropy 0, whatever the packet bore | against the entropy of the packet. A probe timeout names no packet and counts against none |
//! | upper bits of the entropy | random for each flow | none: networks hash flows apart |
//! | path of notices that name no entropy | counts against entropy 0 | they are not told |

use cc_algos::ids::Entropy;
use cc_algos::registry::{Args, Param, RegistryError, Value};

use super::draw::Draw;
use super::registry::Kind;
use super::{Balancer, Fate, PathView, Setup, Verdict, entropies};

/// Parameters of [`Bitmap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitmapParams {
    /// How many entropies there are: a power of two, or else the next one counts.
    pub entropies: u32,
    /// Turns to sit out for a mark.
    pub ecn_penalty: u8,
    /// Turns to sit out for a loss.
    pub nack_penalty: u8,
    /// Turns to sit out for a timeout.
    pub timeout_penalty: u8,
    /// Most turns to sit out.
    pub max_penalty: u8,
}

impl Default for BitmapParams {
    fn default() -> Self {
        Self { entropies: 64, ecn_penalty: 1, nack_penalty: 4, timeout_penalty: 15, max_penalty: 15 }
    }
}

/// Goes around all entropies and leaves out those of which bad things were heard.
#[derive(Clone, Debug)]
pub struct Bitmap {
    params: BitmapParams,
    draw: Draw,
    /// Turns that each entropy still has to sit out.
    penalties: Box<[u8]>,
    index: usize,
    scramble: usize,
}

impl Bitmap {
    /// A flow with these parameters.
    pub fn new(setup: &Setup, params: BitmapParams) -> Self {
        let entropies = params.entropies.clamp(1, 1 << 31).next_power_of_two();
        let mut draw = Draw::new(setup.seed, entropies);
        let scramble = draw.entropy().0 as usize;
        Self { params, draw, penalties: vec![0; entropies as usize].into(), index: 0, scramble }
    }

    fn at(&self) -> usize {
        self.index ^ self.scramble
    }

    fn advance(&mut self) {
        self.index += 1;
        if self.index == self.penalties.len() {
            self.index = 0;
            self.scramble = self.draw.entropy().0 as usize;
        }
    }
}

impl Balancer for Bitmap {
    fn next_entropy(&mut self, _path: &PathView) -> Entropy {
        let first = self.at();
        if self.penalties[first] > 0 {
            self.penalties[first] -= 1;
            self.advance();
            let mut looked_at = 1;
            while self.penalties[self.at()] > 0 && looked_at < self.penalties.len() {
                self.advance();
                looked_at += 1;
            }
        }
        let entropy = self.at();
        self.advance();
        Entropy(entropy as u32)
    }

    fn on_verdict(&mut self, fate: &Fate, _path: &PathView) {
        let by = match fate.verdict {
            Verdict::Good => return,
            Verdict::Ecn => self.params.ecn_penalty,
            Verdict::Nack => self.params.nack_penalty,
            Verdict::Timeout => self.params.timeout_penalty,
        };
        if let Some(penalty) = self.penalties.get_mut(fate.entropy.0 as usize) {
            *penalty = penalty.saturating_add(by).min(self.params.max_penalty);
        }
    }

    fn listens(&self) -> bool {
        true
    }

    fn clone_box(&self) -> Box<dyn Balancer> {
        Box::new(self.clone())
    }
}

fn params(args: &Args) -> Result<BitmapParams, RegistryError> {
    let entropies = entropies(args);
    if !entropies.is_power_of_two() {
        return Err(RegistryError::Unsuitable {
            algorithm: args.algorithm().to_owned(),
            reason: format!("`entropies={entropies}`: expected a power of two, such as 32 or 64"),
        });
    }
    let turns = |name| args.integer(name) as u8;
    Ok(BitmapParams {
        entropies,
        ecn_penalty: turns("ecn_penalty"),
        nack_penalty: turns("nack_penalty"),
        timeout_penalty: turns("timeout_penalty"),
        max_penalty: turns("max_penalty"),
    })
}

pub(super) fn kind() -> Kind {
    let defaults = BitmapParams::default();
    let turns = |name, turns: u8, help| Param::new(name, Value::Integer(u64::from(turns)), help).within(0.0, 255.0);
    let source = "Ultra Ethernet, uet-htsim";
    Kind::new("bitmap", "every route in turn but those with penalties for marks and losses", source, |args, setup| {
        Ok(Box::new(Bitmap::new(setup, params(args)?)))
    })
    .with_param(
        Param::new("entropies", Value::Integer(u64::from(defaults.entropies)), "entropies in use: a power of two")
            .within(1.0, 65_536.0),
    )
    .with_param(turns("ecn_penalty", defaults.ecn_penalty, "turns to sit out for a mark"))
    .with_param(turns("nack_penalty", defaults.nack_penalty, "turns to sit out for a loss"))
    .with_param(turns("timeout_penalty", defaults.timeout_penalty, "turns to sit out for a timeout"))
    .with_param(turns("max_penalty", defaults.max_penalty, "most turns to sit out"))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::super::testing::{entropies, fate, view};
    use super::*;

    fn bitmap(entropies: u32) -> Bitmap {
        Bitmap::new(
            &Setup::new(cc_algos::units::Timestamp::ZERO, 5),
            BitmapParams { entropies, ..BitmapParams::default() },
        )
    }

    fn tell(bitmap: &mut Bitmap, entropy: u32, verdict: Verdict) {
        bitmap.on_verdict(&fate(Entropy(entropy), verdict), &view(0));
    }

    #[test]
    fn each_circle_visits_each_entropy_once_and_circles_differ() {
        let seen = entropies(&mut bitmap(16), 16 * 50);
        let circles: BTreeSet<&[u32]> = seen.chunks(16).collect();
        for circle in &circles {
            assert_eq!(circle.iter().collect::<BTreeSet<_>>().len(), 16, "{circle:?}");
        }
        assert!(circles.len() > 10, "of 16 orders, 50 circles show {}", circles.len());
    }

    #[test]
    fn an_entropy_sits_out_as_many_turns_as_its_penalty() {
        for (verdict, turns) in [(Verdict::Good, 0), (Verdict::Ecn, 1), (Verdict::Nack, 4), (Verdict::Timeout, 15)] {
            let mut bitmap = bitmap(8);
            tell(&mut bitmap, 3, verdict);
            // While it sits out, a circle has seven packets. One that ends with it may lead to one that begins with it.
            let before = entropies(&mut bitmap, 7 * turns);
            assert!(!before.contains(&3), "{verdict:?}: {before:?}");
            assert!(entropies(&mut bitmap, 8 * (turns + 1)).contains(&3), "{verdict:?}");
        }
    }

    #[test]
    fn penalties_add_up_to_their_bound() {
        let mut bitmap = bitmap(4);
        tell(&mut bitmap, 1, Verdict::Nack);
        tell(&mut bitmap, 1, Verdict::Ecn);
        assert_eq!(bitmap.penalties[1], 5);
        (0..100).for_each(|_| tell(&mut bitmap, 1, Verdict::Nack));
        assert_eq!(bitmap.penalties[1], 15);
        tell(&mut bitmap, 4_000, Verdict::Timeout);
    }

    #[test]
    fn only_the_entropy_whose_turn_it_is_pays_and_all_may_be_bad() {
        let mut bitmap = bitmap(4);
        (0..4).for_each(|entropy| tell(&mut bitmap, entropy, Verdict::Ecn));
        bitmap.next_entropy(&view(0));
        assert_eq!(bitmap.penalties.iter().map(|penalty| u32::from(*penalty)).sum::<u32>(), 3);
        let mut counts = BTreeMap::new();
        entropies(&mut bitmap, 400).into_iter().for_each(|entropy| *counts.entry(entropy).or_insert(0) += 1);
        assert_eq!(counts.len(), 4, "{counts:?}");
    }
}
