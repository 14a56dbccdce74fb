//! `reps`: Recycled Entropy Packet Spraying (Bonato et al., arXiv 2407.21625).
//!
//! ```text
//! packet arrived unmarked   cache[head] = its entropy, head = head + 1 mod buffer, fresh = min(fresh + 1, buffer)
//!                           frozen and now > thaw: not frozen, explore again
//! a packet leaves           exploring (so many packets), nothing cached, or nothing fresh and not frozen: random
//!                           something fresh: the oldest fresh entropy, which then is fresh no longer
//!                           else, frozen: the oldest cached entropy, and again in turn
//! timeout                   not frozen and not exploring: frozen, thaw = now + freezing
//! ```
//!
//! An entropy that came back unmarked is used once more; one that came back marked, or not at all, is forgotten. Freezing
//! stops random draws, which might hit a route that failed, while old entropies are known to have worked.
//!
//! The law was read in htsim (`ultraethernet/uet-htsim`, commit 40ccb05: `uec_mp.cpp`, `buffer_reps.cpp`) and in a port of
//! the paper's pseudo-code to ns-3; of the paper only the abstract could be had.
//!
//! | parameter | unit | default | origin |
//! |---|---|---|---|
//! | `buffer` | entropies | 8 | htsim and the port |
//! | `entropies` | entropies | 65 536 | the port: sixteen bits; htsim has 64 |
//! | `explore` | packets | 16 | htsim; the port takes those of a bandwidth-delay product |
//! | `freezing` | time | 10 ms | htsim; the port has 100 us |
//! | `freeze` | | `timeout` | both. `loss` takes lost packets for failures as well, `never` does not freeze (ours) |
//!
//! ## Differences from the reference
//!
//! | | reference | here |
//! |---|---|---|
//! | after thawing | htsim empties the buffer; the port does not | not emptied: entropies that came back lately are fresh |
//! | at the start | htsim does not explore, but draws while nothing is cached; the port explores | explores |
//! | thawing | htsim looks at any answer, the port at unmarked ones | at unmarked ones |
//! | frozen and the buffer not full | the port may send with entropies never cached | only with cached ones |
//! | one answer to many packets | htsim may use an entropy several times | once for each packet: answers name every packet |
//! | timeout | of a retransmission timer | the same, or a probe timeout (RFC 9002, section 6.2) |

use cc_algos::ids::Entropy;
use cc_algos::registry::{Choice, Param, Value};
use cc_algos::units::{Span, Timestamp};

use super::draw::Draw;
use super::registry::Kind;
use super::{Balancer, Fate, PathView, Setup, Verdict, entropies};

const TRIGGERS: &[&str] = &["timeout", "loss", "never"];

/// What is taken for a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FreezeOn {
    /// Nothing.
    Never,
    /// A timeout.
    Timeout,
    /// A timeout or a lost packet.
    Loss,
}

/// Parameters of [`Reps`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepsParams {
    /// Entropies remembered; none count as one.
    pub buffer: usize,
    /// How many entropies there are.
    pub entropies: u32,
    /// Packets that draw their entropy at the start and after thawing.
    pub explore: u64,
    /// How long it stays frozen.
    pub freezing: Span,
    /// What freezes it.
    pub freeze: FreezeOn,
}

impl Default for RepsParams {
    fn default() -> Self {
        Self { buffer: 8, entropies: 1 << 16, explore: 16, freezing: Span::from_millis(10), freeze: FreezeOn::Timeout }
    }
}

/// The newest entropies that came back unmarked, in a ring.
#[derive(Clone, Debug)]
struct Cache {
    ring: Box<[Entropy]>,
    /// Where the next one is written. The fresh ones stand before it.
    head: usize,
    /// How many of the ring were ever written.
    filled: usize,
    /// How many were not yet used again.
    fresh: usize,
}

impl Cache {
    fn new(size: usize) -> Self {
        Self { ring: vec![Entropy(0); size.max(1)].into(), head: 0, filled: 0, fresh: 0 }
    }

    fn add(&mut self, entropy: Entropy) {
        self.ring[self.head] = entropy;
        self.filled = self.filled.max(self.head + 1);
        self.head = (self.head + 1) % self.ring.len();
        self.fresh = (self.fresh + 1).min(self.ring.len());
    }

    fn take_fresh(&mut self) -> Option<Entropy> {
        let fresh = self.fresh;
        self.fresh = fresh.checked_sub(1)?;
        Some(self.ring[(self.head + self.ring.len() - fresh) % self.ring.len()])
    }

    /// The next in turn, fresh or not. Only while none is fresh: it moves the place where the next one is written.
    fn take_stale(&mut self) -> Option<Entropy> {
        let at = self.head.checked_rem(self.filled)?;
        self.head = (at + 1) % self.ring.len();
        Some(self.ring[at])
    }
}

/// Uses entropies again that came back unmarked.
#[derive(Clone, Debug)]
pub struct Reps {
    params: RepsParams,
    draw: Draw,
    cache: Cache,
    /// Packets still to draw their entropy.
    explore: u64,
    /// When it may thaw, while it is frozen.
    thaws_at: Option<Timestamp>,
}

impl Reps {
    /// A flow with these parameters.
    pub fn new(setup: &Setup, params: RepsParams) -> Self {
        Self {
            draw: Draw::new(setup.seed, params.entropies),
            cache: Cache::new(params.buffer),
            explore: params.explore,
            thaws_at: None,
            params,
        }
    }

    fn on_good(&mut self, entropy: Entropy, now: Timestamp) {
        self.cache.add(entropy);
        if self.thaws_at.is_some_and(|at| now > at) {
            self.thaws_at = None;
            self.explore = self.params.explore;
        }
    }

    fn on_failure(&mut self, now: Timestamp) {
        if self.thaws_at.is_none() && self.explore == 0 {
            self.thaws_at = Some(now + self.params.freezing);
        }
    }

    fn recycled(&mut self) -> Option<Entropy> {
        let stale = |cache: &mut Cache| self.thaws_at.and_then(|_| cache.take_stale());
        self.cache.take_fresh().or_else(|| stale(&mut self.cache))
    }
}

impl Balancer for Reps {
    fn next_entropy(&mut self, _path: &PathView) -> Entropy {
        if self.explore > 0 {
            self.explore -= 1;
            return self.draw.entropy();
        }
        self.recycled().unwrap_or_else(|| self.draw.entropy())
    }

    fn on_verdict(&mut self, fate: &Fate, path: &PathView) {
        match fate.verdict {
            Verdict::Good => self.on_good(fate.entropy, path.now),
            Verdict::Ecn => {}
            Verdict::Nack if self.params.freeze < FreezeOn::Loss => {}
            Verdict::Nack => self.on_failure(path.now),
            Verdict::Timeout => self.on_probe_timeout(path),
        }
    }

    fn on_probe_timeout(&mut self, path: &PathView) {
        if self.params.freeze >= FreezeOn::Timeout {
            self.on_failure(path.now);
        }
    }

    fn listens(&self) -> bool {
        true
    }

    fn clone_box(&self) -> Box<dyn Balancer> {
        Box::new(self.clone())
    }
}

pub(super) fn kind() -> Kind {
    let RepsParams { buffer, entropies: count, explore, freezing, .. } = RepsParams::default();
    let source = "Bonato et al., arXiv 2407.21625";
    Kind::new("reps", "a route per packet, again those from which packets came back unmarked", source, |args, setup| {
        let params = RepsParams {
            buffer: args.integer("buffer") as usize,
            entropies: entropies(args),
            explore: args.integer("explore"),
            freezing: args.span("freezing"),
            freeze: match args.choice("freeze").name() {
                "loss" => FreezeOn::Loss,
                "never" => FreezeOn::Never,
                _ => FreezeOn::Timeout,
            },
        };
        Ok(Box::new(Reps::new(setup, params)))
    })
    .with_param(Param::new("buffer", Value::Integer(buffer as u64), "entropies remembered").within(1.0, 4_096.0))
    .with_param(super::entropies_param(count))
    .with_param(
        Param::new(
            "explore",
            Value::Integer(explore),
            "packets that draw their entropy at the start and after thawing",
        )
        .within(0.0, 1e6),
    )
    .with_param(Param::new("freezing", Value::Span(freezing), "how long nothing is drawn after a failure"))
    .with_param(Param::new("freeze", Value::Choice(Choice::first_of(TRIGGERS)), "what is taken for a failure"))
}

#[cfg(test)]
mod tests;
