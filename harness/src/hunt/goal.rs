//! What is bad, as a score.
//!
//! | goal | flows | score | found from |
//! |---|---|---|---|
//! | `low-utilisation` | 1 | 1 - delivered / what the baseline delivers on the very same network | 1/2 |
//! | `high-delay` | 1 | mean backlog of the bottleneck / bandwidth-delay product | 1 |
//! | `loss` | 1 | packets lost / packets sent | 5 % |
//! | `starvation` | 2, on paths of their own | 1 - share of the worse flow / share of the better | 9/10 |
//! | `unfairness` | 2, on one path | 1 - Jain's index | 1/5 |
//!
//! Scores are in millionths, and higher is worse for the algorithm. A network on which everybody would do badly is no
//! finding: `low-utilisation` needs the baseline to deliver 80 % of what the link offers, `starvation` needs it to give its
//! own worse flow a third of the better one's share, `unfairness` needs a Jain's index of 0.9 from it. Where the baseline
//! fails, the score is below zero by as much as is missing, so that a search is led back. The queue that `high-delay` counts
//! is that of the bottleneck alone: jitter, which no law can help, is not in it. All thresholds are ours.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::measure::PPM;

/// What a hunt is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Goal {
    /// The algorithm delivers less than the baseline would.
    LowUtilisation,
    /// The algorithm keeps a standing queue.
    HighDelay,
    /// The algorithm loses packets.
    Loss,
    /// One flow of the algorithm gets next to nothing beside another on a path of its own.
    Starvation,
    /// Two flows of the algorithm on one path share unevenly.
    Unfairness,
}

/// How bad it is, millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Score(pub i64);

impl Score {
    /// The algorithm panics, or the run fails: nothing is worse.
    pub const BROKEN: Self = Self(i64::MAX);
    /// The baseline itself breaks here.
    pub const USELESS: Self = Self(i64::MIN);
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::BROKEN => f.write_str("broken"),
            Self::USELESS => f.write_str("useless"),
            Self(ppm) => write!(f, "{:.3}", ppm as f64 / PPM as f64),
        }
    }
}

/// What one run yields, as far as goals care.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Application bytes that arrived, by flow under test.
    pub delivered: Vec<u64>,
    /// Bytes that the bottleneck could have carried.
    pub offered: u64,
    /// Mean backlog of the bottleneck, bytes.
    pub backlog: u64,
    /// Rate of the bottleneck times round-trip propagation, bytes.
    pub bdp: u64,
    /// Data packets that the flows under test sent.
    pub sent: u64,
    /// Of these, the ones that never arrived.
    pub lost: u64,
}

impl Measured {
    /// Application bytes that arrived, all flows together.
    pub fn total(&self) -> u64 {
        self.delivered.iter().sum()
    }

    /// What the flows under test delivered of what the bottleneck could have carried, millionths. Headers are not counted.
    pub fn utilisation_ppm(&self) -> u64 {
        ratio_ppm(self.total(), self.offered)
    }

    /// The mean queue in bandwidth-delay products, millionths.
    pub fn queue_ppm(&self) -> u64 {
        ratio_ppm(self.backlog, self.bdp)
    }

    /// Packets lost of packets sent, millionths.
    pub fn loss_ppm(&self) -> u64 {
        ratio_ppm(self.lost, self.sent)
    }

    /// The worse flow's share of the better one's, millionths.
    pub fn balance_ppm(&self) -> u64 {
        let least = self.delivered.iter().copied().min().unwrap_or(0);
        let most = self.delivered.iter().copied().max().unwrap_or(0);
        ratio_ppm(least, most)
    }

    /// Jain's index, millionths; 1 for flows that all got nothing.
    pub fn jain_ppm(&self) -> u64 {
        crate::measure::jain_ppm(&self.delivered).unwrap_or(PPM)
    }
}

/// `part / whole` in millionths; of nothing, nothing.
fn ratio_ppm(part: u64, whole: u64) -> u64 {
    if whole == 0 { 0 } else { cc_algos::units::mul_div(part, PPM, whole) }
}

fn signed(ppm: u64) -> i64 {
    i64::try_from(ppm).unwrap_or(i64::MAX - 1)
}

impl Goal {
    /// All goals.
    pub const ALL: [Self; 5] = [Self::LowUtilisation, Self::HighDelay, Self::Loss, Self::Starvation, Self::Unfairness];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LowUtilisation => "low-utilisation",
            Self::HighDelay => "high-delay",
            Self::Loss => "loss",
            Self::Starvation => "starvation",
            Self::Unfairness => "unfairness",
        }
    }

    /// Whether it is about two flows.
    pub const fn has_two_flows(self) -> bool {
        matches!(self, Self::Starvation | Self::Unfairness)
    }

    /// Whether each of the two flows has a path of its own.
    pub const fn has_own_paths(self) -> bool {
        matches!(self, Self::Starvation)
    }

    /// Whether the score depends on what a baseline does on the same network.
    pub const fn needs_baseline(self) -> bool {
        !matches!(self, Self::HighDelay | Self::Loss)
    }

    /// Whether cross traffic would count as the algorithm's doing.
    pub const fn excludes_cross_traffic(self) -> bool {
        matches!(self, Self::HighDelay | Self::Loss)
    }

    /// The score from which on a network is a finding.
    pub const fn threshold(self) -> Score {
        Score(match self {
            Self::LowUtilisation => 500_000,
            Self::HighDelay => 1_000_000,
            Self::Loss => 50_000,
            Self::Starvation => 900_000,
            Self::Unfairness => 200_000,
        })
    }

    /// How bad a run of the algorithm is beside one of the baseline; goals that need none ignore it.
    pub fn score(self, subject: &Measured, baseline: Option<&Measured>) -> Score {
        // What the baseline must reach to make the network a fair one, and what it does.
        let fair = baseline.and_then(|baseline| {
            let (reached, needed) = match self {
                Self::LowUtilisation => (baseline.utilisation_ppm(), 800_000),
                Self::Starvation => (baseline.balance_ppm(), 333_333),
                Self::Unfairness => (baseline.jain_ppm(), 900_000),
                Self::HighDelay | Self::Loss => return None,
            };
            (reached < needed).then(|| Score(signed(reached) - needed as i64))
        });
        if let Some(unfair) = fair {
            return unfair;
        }
        let missing = |ppm: u64| signed(PPM) - signed(ppm);
        Score(match self {
            Self::LowUtilisation => missing(ratio_ppm(subject.total(), baseline.map_or(0, Measured::total))),
            Self::HighDelay => signed(subject.queue_ppm()),
            Self::Loss => signed(subject.loss_ppm()),
            Self::Starvation => missing(subject.balance_ppm()),
            Self::Unfairness => missing(subject.jain_ppm()),
        })
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
