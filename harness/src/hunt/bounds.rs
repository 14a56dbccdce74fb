//! What a hunt may make of a network: everything within is meant to be what a real path could do.
//!
//! | bound | default | origin |
//! |---|---|---|
//! | rate of the bottleneck at any time | 12 Mb/s to 48 Mb/s | ours; cheap to simulate, and laws are free of scale |
//! | round-trip propagation | 20 ms to 100 ms | ours: wide-area paths |
//! | buffer, reckoned with the rate of any time | 0.5 BDP to 4 BDP | ours: neither so small nor so large that all laws fail |
//! | jitter D | 40 ms, and never above the round-trip propagation | ours: as much again as the path itself |
//! | cross traffic, of what the lowest rate carries | 15 % | ours: leaves a baseline room for 80 % |
//! | random loss | none | a law that backs off at random loss is no finding |

use cc_algos::{Rate, Span};
use serde::{Deserialize, Serialize};

use super::genome::{Burst, Genome, Jitter, RatePoint};
use super::network::MAX_CROSS_SHARE_PPM;

/// Most points of one list. Ours: more make no finding that anybody reads.
const MAX_POINTS: usize = 16;

/// Smallest burst of cross traffic, bytes: one packet.
const MIN_BURST: u64 = 1_500;

/// What may change while a run lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Dimension {
    /// Extra delay behind the bottleneck.
    Jitter,
    /// The bottleneck's rate.
    Capacity,
    /// Bursts that share the bottleneck.
    CrossTraffic,
}

/// The limits of a hunt. Each pair is lowest and highest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// Simulated time of one run.
    pub duration: Span,
    /// Rate of the bottleneck at any time.
    pub rate: (Rate, Rate),
    /// Round-trip propagation.
    pub rtt: (Span, Span),
    /// Room of the queue in thousandths of the bandwidth-delay product, whatever the rate is at the moment.
    pub buffer_milli_bdp: (u64, u64),
    /// Longest extra delay.
    pub jitter: Span,
    /// What may change while a run lasts.
    pub vary: Vec<Dimension>,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            duration: Span::from_secs(10),
            rate: (Rate::from_mbps(12), Rate::from_mbps(48)),
            rtt: (Span::from_millis(20), Span::from_millis(100)),
            buffer_milli_bdp: (500, 4_000),
            jitter: Span::from_millis(40),
            vary: vec![Dimension::Jitter, Dimension::Capacity, Dimension::CrossTraffic],
        }
    }
}

/// Bounds that hold no network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{bound}: expected {expected}")]
pub struct BoundsError {
    /// Which bound.
    pub bound: &'static str,
    /// What would have been good.
    pub expected: &'static str,
}

impl Bounds {
    /// Checks that there are networks within.
    ///
    /// # Errors
    ///
    /// If a range is empty, or a bound is none that a run can have.
    pub fn validate(&self) -> Result<(), BoundsError> {
        let check = |good: bool, bound, expected| if good { Ok(()) } else { Err(BoundsError { bound, expected }) };
        let ((slow, fast), (near, far), (small, large)) = (self.rate, self.rtt, self.buffer_milli_bdp);
        check(slow <= fast && slow >= Rate::from_kbps(100), "rate", "a range from 100kbps on")?;
        check(fast <= Rate::from_gbps(10), "rate", "at most 10Gbps, the rate of the hosts' own links")?;
        check(near <= far && near >= Span::from_millis(1), "rtt", "a range from 1ms on")?;
        check(small <= large && small > 0, "buffer", "a range above 0bdp")?;
        check(self.duration >= far.saturating_mul(10), "duration", "at least ten of the longest round-trip times")?;
        check(self.duration <= Span::from_secs(3_600), "duration", "at most an hour")?;
        check(!self.vary.is_empty(), "vary", "at least one of jitter, capacity and cross-traffic")
    }

    /// Whether something may change.
    pub fn varies(&self, dimension: Dimension) -> bool {
        self.vary.contains(&dimension)
    }

    /// Longest extra delay on a path of this round-trip propagation.
    pub fn longest_jitter(&self, rtt: Span) -> Span {
        if self.varies(Dimension::Jitter) { self.jitter.min(rtt) } else { Span::ZERO }
    }

    /// Moves a genome into the bounds: values to the nearest limit, lists into order.
    pub fn repair(&self, genome: &mut Genome) {
        genome.rate = genome.rate.clamp(self.rate.0, self.rate.1);
        genome.rtt = genome.rtt.clamp(self.rtt.0, self.rtt.1);
        self.repair_capacity(genome);
        self.repair_buffer(genome);
        let longest = self.longest_jitter(genome.rtt);
        self.repair_jitter(&mut genome.jitter, longest);
        self.repair_cross(genome);
        if let Some(second) = &mut genome.second {
            second.start = second.start.min(self.latest_start());
            if let Some(path) = &mut second.path {
                path.extra_rtt = path.extra_rtt.min(genome.rtt);
                self.repair_jitter(&mut path.jitter, longest);
            }
        }
    }

    /// A second flow starts within the first tenth, so that a share over the whole run is its doing.
    pub(super) fn latest_start(&self) -> Span {
        self.duration.mul_div(1, 10)
    }

    fn repair_capacity(&self, genome: &mut Genome) {
        if !self.varies(Dimension::Capacity) {
            genome.capacity.clear();
        }
        // A queue of `large` products at the lowest rate must still be one of `small` at the highest.
        let (small, large) = self.buffer_milli_bdp;
        let lowest = genome.rate.mul_div(small, large).max(self.rate.0);
        // Rounded down: a rate one bit a second higher is on the safe side.
        let lowest = Rate::from_bps(lowest.as_bps() + 1).min(genome.rate);
        for point in &mut genome.capacity {
            point.rate = point.rate.clamp(lowest, genome.rate);
        }
        put_in_order(&mut genome.capacity, self.duration, |point: &RatePoint| point.at);
        let mut before = genome.rate;
        genome.capacity.retain(|point| std::mem::replace(&mut before, point.rate) != point.rate);
    }

    fn repair_buffer(&self, genome: &mut Genome) {
        let (small, large) = self.buffer_milli_bdp;
        let largest = cc_algos::units::mul_div(large, genome.lowest_rate().as_bps(), genome.rate.as_bps());
        genome.buffer_milli_bdp = genome.buffer_milli_bdp.clamp(small, largest.max(small));
    }

    fn repair_jitter(&self, jitter: &mut Jitter, longest: Span) {
        for point in &mut jitter.points {
            point.delay = point.delay.min(longest);
        }
        let end = jitter.repeat.map_or(self.duration, |period| period.min(self.duration));
        put_in_order(&mut jitter.points, end, |point| point.at);
        let mut before = Span::ZERO;
        jitter.points.retain(|point| std::mem::replace(&mut before, point.delay) != point.delay);
        if jitter.points.is_empty() {
            jitter.repeat = None;
        }
    }

    fn repair_cross(&self, genome: &mut Genome) {
        if !self.varies(Dimension::CrossTraffic) {
            genome.cross.clear();
        }
        let lowest = genome.lowest_rate();
        for burst in &mut genome.cross {
            burst.rate = burst.rate.clamp(Rate::from_kbps(100), genome.rate);
            burst.bytes = burst.bytes.max(MIN_BURST);
        }
        genome.cross.sort_by_key(|burst: &Burst| burst.at);
        genome.cross.retain(|burst| burst.at < self.duration);
        genome.cross.truncate(MAX_POINTS);
        let mut left = cc_algos::units::mul_div(lowest.bytes_in(self.duration), MAX_CROSS_SHARE_PPM, 1_000_000);
        genome.cross.retain_mut(|burst| {
            burst.bytes = burst.bytes.min(left);
            left -= burst.bytes;
            burst.bytes >= MIN_BURST
        });
    }
}

/// Sorts by time, keeps the first of equals, drops what begins at `end` or later, and what is too much.
fn put_in_order<T>(points: &mut Vec<T>, end: Span, at: impl Fn(&T) -> Span) {
    points.sort_by_key(&at);
    points.dedup_by_key(|point| at(point));
    points.retain(|point| at(point) < end);
    points.truncate(MAX_POINTS);
}
