//! One run on a habitat, and its readings in the habitat's own measures: base RTTs and shares of the bottleneck.

use cc_algos::{Rate, Span, Timestamp};
use sim::link::impair::LossSpec;
use sim::link::{End, Segment, Segments, ServiceSpec};
use sim::outcome::Sample;
use sim::spec::{
    Balancing, Contestant, Dumbbell, Experiment, FlowSpec, LinkSpec, Load, Side, Start, Switching, Topology,
};
use sim::{HostId, Outcome, Probability};

use super::TrialError;
use super::habitat::Habitat;

/// A run in the making. Each flow has a pair of hosts of its own.
#[derive(Clone, Debug)]
pub(super) struct Trial<'a> {
    habitat: &'a Habitat,
    contestants: Vec<Contestant>,
    flows: Vec<(usize, f64, f64)>,
    steps: Vec<(f64, Rate)>,
    buffer_bdp: f64,
    loss: f64,
    rtts: f64,
    seed: u64,
}

impl<'a> Trial<'a> {
    /// An empty network that runs for so many base RTTs, with a buffer of one BDP.
    pub(super) fn new(habitat: &'a Habitat, rtts: f64, seed: u64) -> Self {
        Self {
            habitat,
            contestants: Vec::new(),
            flows: Vec::new(),
            steps: vec![(0.0, habitat.rate)],
            buffer_bdp: 1.0,
            loss: 0.0,
            rtts,
            seed,
        }
    }

    /// With an endless flow that starts after so many base RTTs and whose own base RTT is `stretch` times the habitat's.
    pub(super) fn flow(mut self, contestant: &Contestant, start_rtts: f64, stretch: f64) -> Self {
        self.contestants.push(contestant.clone());
        self.flows.push((self.contestants.len() - 1, start_rtts, stretch));
        self
    }

    /// With a bottleneck whose rate is another from a time on.
    pub(super) fn rate_from(mut self, rtts: f64, rate: Rate) -> Self {
        self.steps.retain(|(from, _)| *from < rtts);
        self.steps.push((rtts, rate));
        self
    }

    /// With a buffer of so many BDP of the habitat.
    pub(super) const fn buffer(mut self, bdp: f64) -> Self {
        self.buffer_bdp = bdp;
        self
    }

    /// With independent losses of data packets behind the bottleneck.
    pub(super) const fn losing(mut self, probability: f64) -> Self {
        self.loss = probability;
        self
    }

    pub(super) fn run(self) -> Result<Run<'a>, TrialError> {
        let habitat = self.habitat;
        let mut bottleneck = habitat.bottleneck(self.service()?, self.buffer_bdp);
        if self.loss > 0.0 {
            bottleneck.impairments.loss = LossSpec::Bernoulli(Probability::new(self.loss)?);
        }
        let pairs = self.flows.len() as u32;
        let extra = |stretch: f64| Span::from_nanos(habitat.rtts(stretch - 1.0).as_nanos() / 2);
        let flows = self.flows.iter().zip(0..).map(|(&(contestant, start, _), pair)| FlowSpec {
            source: HostId(pair),
            destination: HostId(pairs + pair),
            start: Start::At(Timestamp::ZERO + habitat.rtts(start)),
            stop: None,
            load: Load::Unlimited,
            contestant,
            group: 0,
        });
        let experiment = Experiment {
            seed: self.seed,
            duration: habitat.rtts(self.rtts),
            topology: Topology::Dumbbell(Dumbbell {
                pairs,
                access: LinkSpec::fixed(habitat.host_rate, Span::ZERO),
                extra_delay: self.flows.iter().map(|(_, _, stretch)| extra(*stretch)).collect(),
                extra_side: Side::Left,
                delivery: Vec::new(),
                bottleneck,
                reverse: habitat.reverse(),
            }),
            flows: flows.collect(),
            contestants: self.contestants,
            endpoints: habitat.endpoints(),
            sample_every: Some(Span::from_nanos(habitat.base_rtt.as_nanos() / SAMPLES_PER_RTT)),
            balance: Balancing::ecmp(),
            switching: Switching::Ecmp,
            faults: Vec::new(),
            triggers: Vec::new(),
            check_wire: false,
        };
        Ok(Run { habitat, outcome: sim::run(&experiment)? })
    }

    fn service(&self) -> Result<ServiceSpec, TrialError> {
        let [(_, rate)] = self.steps[..] else {
            let segments = self.steps.iter().enumerate().map(|(index, (from, rate))| {
                let to = self.steps.get(index + 1).map_or(self.rtts, |(next, _)| *next);
                Segment { span: self.habitat.rtts(to - from), rate: *rate }
            });
            return Ok(ServiceSpec::Segments(Segments::new(segments, End::Hold)?));
        };
        Ok(ServiceSpec::Fixed(rate))
    }
}

/// Time series points per base RTT.
const SAMPLES_PER_RTT: u64 = 4;

/// What a run gave.
#[derive(Debug)]
pub(super) struct Run<'a> {
    habitat: &'a Habitat,
    outcome: Outcome,
}

impl Run<'_> {
    /// The first sample at or after so many base RTTs, or the last of all.
    fn at(&self, rtts: f64) -> &Sample {
        let at = Timestamp::ZERO + self.habitat.rtts(rtts);
        let samples = &self.outcome.samples;
        let index = samples.partition_point(|sample| sample.at < at).min(samples.len() - 1);
        &samples[index]
    }

    /// Share of what the bottleneck could carry that it carried.
    pub(super) fn utilisation(&self, from: f64, to: f64) -> f64 {
        let (first, last) = (self.at(from).ports[BOTTLENECK], self.at(to).ports[BOTTLENECK]);
        let offered = last.offered - first.offered;
        (last.bytes - first.bytes) as f64 / offered.max(1) as f64
    }

    /// Mean backlog in base RTTs of the bottleneck's full rate.
    pub(super) fn queueing_delay(&self, from: f64, to: f64) -> f64 {
        let (from, to) = (self.at(from).at, self.at(to).at);
        let backlogs = self.outcome.samples.iter().filter(|sample| sample.at >= from && sample.at <= to);
        let (count, sum) =
            backlogs.fold((0_u64, 0.0), |(n, sum), sample| (n + 1, sum + sample.ports[BOTTLENECK].backlog as f64));
        sum / count.max(1) as f64 / self.habitat.bdp_bytes() as f64
    }

    /// Application bytes that a flow delivered.
    pub(super) fn delivered(&self, flow: u32, from: f64, to: f64) -> u64 {
        let delivered =
            |sample: &Sample| sample.flows.iter().find(|point| point.flow.0 == flow).map_or(0, |point| point.delivered);
        delivered(self.at(to)).saturating_sub(delivered(self.at(from)))
    }

    /// Base RTTs from `from` until the backlog has fallen below three quarters of its peak after `from`.
    pub(super) fn drained_after(&self, from: f64) -> f64 {
        let start = self.at(from).at;
        let after: Vec<_> = self.outcome.samples.iter().filter(|sample| sample.at >= start).collect();
        let backlog = |sample: &&Sample| sample.ports[BOTTLENECK].backlog;
        let peak = after.iter().map(backlog).max().unwrap_or(0);
        let mut past_peak = after.iter().skip_while(|sample| backlog(sample) < peak);
        let drained = past_peak.find(|sample| 4 * backlog(sample) <= 3 * peak);
        drained.map_or(f64::INFINITY, |sample| self.rtts_between(start, sample.at))
    }

    /// Base RTTs from `from` until the first window of `window` base RTTs over which `holds`.
    pub(super) fn first_window(&self, from: f64, window: f64, holds: impl Fn(f64, f64) -> bool) -> f64 {
        let start = self.at(from).at;
        let end = self.outcome.ended_at.saturating_since(Timestamp::ZERO).as_secs_f64();
        let rtt = self.habitat.base_rtt.as_secs_f64();
        let mut at = from;
        while (at + window) * rtt <= end {
            if holds(at, at + window) {
                return self.rtts_between(start, self.at(at + window).at);
            }
            at += 1.0;
        }
        f64::INFINITY
    }

    fn rtts_between(&self, from: Timestamp, to: Timestamp) -> f64 {
        to.saturating_since(from).as_secs_f64() / self.habitat.base_rtt.as_secs_f64()
    }
}

/// The dumbbell's watched ports begin with its bottleneck.
const BOTTLENECK: usize = 0;
