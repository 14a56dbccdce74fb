//! A network as plain integers, so that it is stored, compared and bred exactly.

use cc_algos::{Rate, Span};
use serde::{Deserialize, Serialize};

/// A network that a hunt tries: a dumbbell whose bottleneck has one drop-tail queue and loses nothing by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Genome {
    /// Rate of the bottleneck at the start, and the highest it has.
    pub rate: Rate,
    /// Round-trip propagation.
    pub rtt: Span,
    /// Room of the queue, in thousandths of `rate x rtt`.
    pub buffer_milli_bdp: u64,
    /// Jitter behind the bottleneck; of the first flow alone where the second has a path of its own.
    pub jitter: Jitter,
    /// Changes of the bottleneck's rate, in order of time.
    pub capacity: Vec<RatePoint>,
    /// Cross traffic, in order of time.
    pub cross: Vec<Burst>,
    /// The second flow, where the goal is about two.
    pub second: Option<SecondFlow>,
}

/// Extra delay that is constant between points, and zero before the first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jitter {
    /// Where the delay changes, in order of time.
    pub points: Vec<JitterPoint>,
    /// After what time it begins again, if it does.
    pub repeat: Option<Span>,
}

/// A change of the extra delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JitterPoint {
    /// When.
    pub at: Span,
    /// The delay from then on.
    pub delay: Span,
}

/// A change of the bottleneck's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RatePoint {
    /// When.
    pub at: Span,
    /// The rate from then on.
    pub rate: Rate,
}

/// Cross traffic that asks nobody: so many bytes at a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Burst {
    /// When it begins.
    pub at: Span,
    /// How much.
    pub bytes: u64,
    /// How fast.
    pub rate: Rate,
}

/// Where the second flow differs from the first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecondFlow {
    /// How much later it starts.
    pub start: Span,
    /// How its path differs, if it does.
    pub path: Option<OwnPath>,
}

/// What two flows through one bottleneck do not share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnPath {
    /// How much longer the second flow's round-trip propagation is.
    pub extra_rtt: Span,
    /// The jitter that the second flow alone meets.
    pub jitter: Jitter,
}

impl Jitter {
    fn visit_spans(&mut self, visit: &mut dyn FnMut(&mut Span)) {
        for point in &mut self.points {
            visit(&mut point.at);
            visit(&mut point.delay);
        }
        self.repeat.iter_mut().for_each(visit);
    }

    /// Whether it never delays anything.
    pub fn is_none(&self) -> bool {
        self.points.iter().all(|point| point.delay.is_zero())
    }
}

impl Genome {
    /// How many things a reader has to take in: of two networks as bad as each other, the one with fewer is the better
    /// finding.
    pub fn size(&self) -> usize {
        let jitter = |jitter: &Jitter| jitter.points.len() + usize::from(jitter.repeat.is_some());
        let second = self.second.as_ref().map_or(0, |second| {
            let path = second.path.as_ref();
            usize::from(!second.start.is_zero())
                + path.map_or(0, |path| usize::from(!path.extra_rtt.is_zero()) + jitter(&path.jitter))
        });
        jitter(&self.jitter) + self.capacity.len() + self.cross.len() + second
    }

    /// Shows every time in it, always in the same order.
    pub(super) fn visit_spans(&mut self, visit: &mut dyn FnMut(&mut Span)) {
        visit(&mut self.rtt);
        self.jitter.visit_spans(visit);
        self.capacity.iter_mut().for_each(|point| visit(&mut point.at));
        self.cross.iter_mut().for_each(|burst| visit(&mut burst.at));
        if let Some(second) = &mut self.second {
            visit(&mut second.start);
            if let Some(path) = &mut second.path {
                visit(&mut path.extra_rtt);
                path.jitter.visit_spans(visit);
            }
        }
    }

    /// The lowest rate that the bottleneck has.
    pub fn lowest_rate(&self) -> Rate {
        self.capacity.iter().map(|point| point.rate).fold(self.rate, Rate::min)
    }
}
