//! From a genome to an ordinary scenario.

use cc_algos::{Rate, Span};
use sim::link::impair::{JitterSchedule, JitterStep};

use super::bounds::Bounds;
use super::genome::{Genome, Jitter};
use crate::scenario::value::Amount;
use crate::scenario::{
    Change, ChangeTo, Dumbbell, Endpoints, Impairments, Link, Rivals, Scenario, Service, Side, Topology,
};
use crate::workload::{Pattern, Player, Sizes, Volume, Workload};

/// Cross traffic as a share of what the lowest rate carries, at most, millionths.
pub const MAX_CROSS_SHARE_PPM: u64 = 150_000;

/// Group of the flows under test.
pub(super) const GROUP: &str = "flow";

/// Group of the cross traffic.
const CROSS: &str = "cross";

impl Genome {
    /// The scenario that plays this network; `name` and `description` are put into it.
    pub fn scenario(&self, bounds: &Bounds, name: String, description: String) -> Scenario {
        Scenario {
            name,
            description,
            duration: bounds.duration,
            seeds: 10,
            algorithms: Vec::new(),
            baseline: None,
            rivals: Rivals::None,
            sample_every: None,
            balance: "ecmp".to_owned(),
            coding: None,
            oracle: false,
            topology: Topology::Dumbbell(self.dumbbell()),
            endpoints: Endpoints::INTERNET,
            faults: Vec::new(),
            workloads: self.workloads(),
        }
    }

    fn dumbbell(&self) -> Dumbbell {
        let own = self.second.as_ref().and_then(|second| second.path.as_ref());
        let shared = if own.is_none() { schedule(&self.jitter) } else { JitterSchedule::default() };
        let change = |at, rate| Change { at, to: ChangeTo::Rate(rate) };
        let bottleneck = Link {
            buffer: Some(Amount::Bdp(self.buffer_milli_bdp as f64 / 1_000.0)),
            impairments: Impairments { jitter_schedule: shared, ..Impairments::default() },
            changes: self.capacity.iter().map(|point| change(point.at, point.rate)).collect(),
            ..Link::of(Service::Rate(self.rate))
        };
        let plain = Dumbbell {
            pairs: 1 + u32::from(self.second.is_some()),
            rtt: self.rtt,
            extra_rtt: Vec::new(),
            extra_rtt_side: Side::Left,
            pair_jitter: Vec::new(),
            access_rate: Rate::from_gbps(10),
            bottleneck,
            reverse: None,
        };
        match own {
            None => plain,
            Some(path) => Dumbbell {
                extra_rtt: if path.extra_rtt.is_zero() { Vec::new() } else { vec![Span::ZERO, path.extra_rtt] },
                pair_jitter: match (self.jitter.points.is_empty(), path.jitter.points.is_empty()) {
                    (true, true) => Vec::new(),
                    _ => vec![schedule(&self.jitter), schedule(&path.jitter)],
                },
                ..plain
            },
        }
    }

    fn workloads(&self) -> Vec<Workload> {
        let bulk = |flows, volume, start, stagger| Pattern::Bulk {
            flows,
            volume,
            start,
            stagger,
            hold: None,
            jitter: Span::ZERO,
        };
        let flows = match &self.second {
            None => bulk(1, Volume::Unlimited, Span::ZERO, Span::ZERO),
            Some(second) => bulk(2, Volume::Unlimited, Span::ZERO, second.start),
        };
        let subject = Workload { group: GROUP.to_owned(), player: Player::Subject, measured: true, pattern: flows };
        let cross = self.cross.iter().map(|burst| Workload {
            group: CROSS.to_owned(),
            player: Player::Named(format!("{}?rate={}", super::trial::CROSS_ALGORITHM, burst.rate)),
            measured: false,
            pattern: bulk(1, Volume::Sized(Sizes::Fixed(burst.bytes)), burst.at, Span::ZERO),
        });
        std::iter::once(subject).chain(cross).collect()
    }
}

fn schedule(jitter: &Jitter) -> JitterSchedule {
    let steps = jitter.points.iter().map(|point| JitterStep { at: point.at, delay: point.delay });
    let once = JitterSchedule::new(steps).expect("points of a genome within bounds stand in order");
    match jitter.repeat {
        None => once,
        Some(period) => once.repeating(period).expect("points of a genome within bounds lie in its period"),
    }
}
