//! From a link of the schema to a link of the simulator.

use cc_algos::{Rate, Span};
use rand_core::Rng;
use std::sync::Arc;

use sim::link::impair::{AckThinning, BlockLoss, GilbertElliott, JitterLaw, JitterSpec, LossSpec, Reorder};
use sim::link::{Change, End, ImpairmentSpec, Opportunities, Opportunity, Segment, Segments, ServiceSpec};
use sim::queue::{
    Capacity, CodelParameters, CodelSpec, CongestionPointSpec, ControlScheduler, DisciplineSpec, DualPi2Spec, Excess,
    FqCodelSpec, LowLatencyRamp, MarkAt, MarkingSpec, PhantomFeed, PhantomRole, PhantomSpec, PieSpec, PolicerSpec, Red,
    RedAverage, TrimmingSpec,
};
use sim::rng;
use sim::spec::LinkSpec;
use sim::{Probability, SpecError};
use traces::{Playback, Trace};

use super::compile::CompileError;
use super::model::{
    self, ChangeTo, CoDel, Impairments, Link, Loss, Marking, Phantom, Queue, Service, TraceOffset, Trimming, Victim,
};
use super::resources::{Prepared, TraceSource};
use super::value::Amount;

/// A link with what turns its relative amounts into absolute ones.
pub(super) struct Wire<'a> {
    scenario: &'a str,
    link: &'a Link,
    service: ServiceSpec,
    /// The rate that a load and a bandwidth-delay product are reckoned with: for a trace its mean, changes apart.
    pub(super) rate: Rate,
    bdp: u64,
    mtu: u64,
}

impl<'a> Wire<'a> {
    /// Makes the service of `link`; `stream` names its random stream.
    pub(super) fn new(
        prepared: &'a Prepared,
        link: &'a Link,
        trace: Option<&TraceSource>,
        seed: u64,
        stream: &str,
    ) -> Result<Self, CompileError> {
        let scenario = &*prepared.scenario.name;
        let fault = |reason: String| CompileError::Link { scenario: scenario.to_owned(), reason };
        let (service, rate) = match (&link.service, trace) {
            (Service::Rate(rate), _) => (ServiceSpec::Fixed(*rate), *rate),
            (Service::Trace { offset, .. }, Some(source)) => {
                let trace = source.trace(rng::derive(seed, stream, 0)).map_err(fault)?;
                let period = trace.period_ns();
                let start = match offset {
                    TraceOffset::At(at) => at.as_nanos() % period,
                    TraceOffset::Random => rng::stream(seed, stream, 1).next_u64() % period,
                };
                let service = play(&trace, start).map_err(|error| fault(error.to_string()))?;
                (service, Rate::from_bps(trace.mean_bps()))
            }
            (Service::Trace { name, .. }, None) => return Err(fault(format!("trace `{name}` was not loaded"))),
        };
        let changes: Vec<_> = link.changes.iter().map(|change| (change.at, change_to(change.to))).collect();
        let service = if changes.is_empty() {
            service
        } else {
            service.with_changes(changes).map_err(|error| fault(error.to_string()))?
        };
        let bdp = rate.bytes_in(prepared.rtt());
        Ok(Self { scenario, link, service, rate, bdp, mtu: prepared.scenario.endpoints.mtu })
    }

    /// The simulator's link of this propagation delay.
    pub(super) fn spec(&self, propagation: Span) -> Result<LinkSpec, CompileError> {
        let fault =
            |error: SpecError| CompileError::Link { scenario: self.scenario.to_owned(), reason: error.to_string() };
        let mut spec = LinkSpec::fixed(self.rate, propagation);
        spec.service = self.service.clone();
        spec.discipline = self.discipline().map_err(&fault)?;
        spec.mark_at = mark_at(self.link.mark_at);
        spec.phantom = self.link.phantom.map(|phantom| self.phantom(phantom)).transpose().map_err(&fault)?;
        spec.policer = self.link.policer.map(|policer| PolicerSpec {
            rate: policer.rate,
            burst_bytes: policer.burst,
            excess: Excess::Drop,
        });
        spec.near_source = self.link.near_source.map(|point| CongestionPointSpec {
            set_point_bytes: point.set_point.in_bytes(self.bdp, self.mtu),
            sample_bytes: point.every,
            weight: point.weight,
        });
        // A queue that trims marks by its data alone, and so by itself.
        if !matches!(self.link.queue, Queue::Trimming(_)) {
            spec.marking = self.marking(self.link.marking).map_err(&fault)?;
        }
        spec.impairments = impairments(&self.link.impairments).map_err(fault)?;
        Ok(spec)
    }

    /// A host's own link: as fast, marked like the ports of switches, and without drops or impairments. Without marks a
    /// host that is its own bottleneck would fill its memory, where a real one pushes back on its transport. Where switches
    /// trim, hosts send first what has no payload, too.
    pub(super) fn host_spec(&self, propagation: Span) -> Result<LinkSpec, CompileError> {
        let mut spec = LinkSpec::fixed(self.rate, propagation);
        let switch = self.spec(propagation)?;
        (spec.marking, spec.mark_at, spec.phantom) = (switch.marking, switch.mark_at, switch.phantom);
        if let DisciplineSpec::Trimming(trimming) = switch.discipline {
            let (capacity, control_capacity) = (Capacity::Unlimited, Capacity::Unlimited);
            spec.discipline = DisciplineSpec::Trimming(TrimmingSpec { capacity, control_capacity, ..trimming });
        }
        Ok(spec)
    }

    /// An amount in bytes, of at least one packet: a queue that holds none passes none.
    fn bytes(&self, amount: Amount) -> u64 {
        amount.in_bytes(self.bdp, self.mtu).max(self.mtu)
    }

    fn capacity(&self, buffer: Option<Amount>) -> Capacity {
        match buffer {
            None => Capacity::Unlimited,
            Some(Amount::Packets(packets)) => Capacity::Packets(packets),
            Some(amount) => Capacity::Bytes(self.bytes(amount)),
        }
    }

    fn discipline(&self) -> Result<DisciplineSpec, SpecError> {
        let capacity = self.capacity(self.link.buffer);
        Ok(match self.link.queue {
            Queue::DropTail => DisciplineSpec::DropTail { capacity },
            Queue::CoDel(params) => DisciplineSpec::Codel(CodelSpec { parameters: self.codel(params), capacity }),
            Queue::FqCoDel(params) => {
                DisciplineSpec::FqCodel(FqCodelSpec { codel: self.codel(params), capacity, ..FqCodelSpec::default() })
            }
            Queue::Pie(pie) => {
                let base = PieSpec::default();
                DisciplineSpec::Pie(PieSpec {
                    target: pie.target,
                    update_interval: pie.update,
                    mark_below: if pie.ecn { base.mark_below } else { Probability::ZERO },
                    capacity,
                    ..base
                })
            }
            Queue::DualPi2(dual) => {
                let base = DualPi2Spec::default();
                let ramp = LowLatencyRamp { min: dual.mark_from, range: dual.mark_range, ..base.ramp };
                DisciplineSpec::DualPi2(DualPi2Spec { target: dual.target, ramp, capacity, ..base })
            }
            Queue::Trimming(trimming) => DisciplineSpec::Trimming(self.trimming(capacity, trimming)?),
        })
    }

    fn trimming(&self, capacity: Capacity, trimming: Trimming) -> Result<TrimmingSpec, SpecError> {
        let scheduler = |control_per_data| ControlScheduler::RoundRobin { control_per_data };
        Ok(TrimmingSpec {
            capacity,
            control_capacity: trimming.control_buffer.map_or(capacity, |amount| self.capacity(Some(amount))),
            scheduler: trimming.control_per_data.map_or(ControlScheduler::Strict, scheduler),
            victim: match trimming.victim {
                Victim::Arriving => sim::queue::Victim::Arriving,
                Victim::ArrivingOrNewest => sim::queue::Victim::ArrivingOrNewest,
            },
            marking: self.marking(self.link.marking)?,
            mark_at: mark_at(trimming.mark_at),
        })
    }

    fn codel(&self, CoDel { target, interval, ecn }: CoDel) -> CodelParameters {
        // An MTU is at most 65 535.
        let mtu = u32::try_from(self.mtu).unwrap_or(u32::MAX);
        CodelParameters { target, interval, mtu, ecn }
    }

    fn phantom(&self, phantom: Phantom) -> Result<PhantomSpec, SpecError> {
        Ok(PhantomSpec {
            drain: self.rate.mul_f64(phantom.drain),
            size: self.bytes(phantom.size),
            marking: self.marking(Some(phantom.marking))?,
            feed: match phantom.feed {
                model::PhantomFeed::Arrivals => PhantomFeed::Arrivals,
                model::PhantomFeed::Departures => PhantomFeed::Departures,
            },
            role: match phantom.role {
                model::PhantomRole::Alone => PhantomRole::Alone,
                model::PhantomRole::Either => PhantomRole::Either,
                model::PhantomRole::Both => PhantomRole::Both,
                model::PhantomRole::Observed => PhantomRole::Observed,
            },
        })
    }

    fn marking(&self, marking: Option<Marking>) -> Result<MarkingSpec, SpecError> {
        Ok(match marking {
            None => MarkingSpec::None,
            Some(Marking::Step(at)) => MarkingSpec::Threshold { bytes: at.in_bytes(self.bdp, self.mtu) },
            Some(Marking::Ramp { min, max, probability }) => MarkingSpec::Red(Red {
                min_bytes: min.in_bytes(self.bdp, self.mtu),
                max_bytes: max.in_bytes(self.bdp, self.mtu),
                max_probability: Probability::new(probability)?,
                average: RedAverage::Instantaneous,
                gentle: false,
            }),
        })
    }
}

const fn mark_at(at: model::MarkAt) -> MarkAt {
    match at {
        model::MarkAt::Enqueue => MarkAt::Enqueue,
        model::MarkAt::Dequeue => MarkAt::Dequeue,
    }
}

fn change_to(to: ChangeTo) -> Change {
    match to {
        ChangeTo::Rate(rate) => Change::Rate(rate),
        ChangeTo::Down => Change::Down,
        ChangeTo::Up => Change::Restore,
    }
}

/// A trace from `start` on, as a service. What was skipped comes at the end of the pass.
fn play(trace: &Trace, start: u64) -> Result<ServiceSpec, SpecError> {
    let (end, start) = match trace.playback() {
        Playback::Loop => (End::Repeat, start),
        Playback::Once => (End::Stop, 0),
    };
    match trace {
        Trace::Rate(rate) => {
            let (mut head, mut tail) = (Vec::new(), Vec::new());
            for (from, segment) in rate.starts() {
                let to = from + segment.duration_ns;
                let bps = Rate::from_bps(segment.bps);
                let push = |list: &mut Vec<Segment>, nanos: u64| {
                    if nanos > 0 {
                        list.push(Segment { span: Span::from_nanos(nanos), rate: bps });
                    }
                };
                push(&mut head, to.min(start).saturating_sub(from));
                push(&mut tail, to.saturating_sub(from.max(start)));
            }
            Segments::new(tail.into_iter().chain(head), end).map(ServiceSpec::Segments)
        }
        Trace::Opportunities(list) => {
            let period = list.period_ns();
            let shift = |&at: &u64| Opportunity {
                at: Span::from_nanos(if at > start { at - start } else { at + period - start }),
                bytes: list.bytes(),
            };
            let (head, tail) = list.times_ns().split_at(list.times_ns().partition_point(|&at| at <= start));
            Opportunities::new(tail.iter().chain(head).map(shift), Span::from_nanos(period), end)
                .map(ServiceSpec::Opportunities)
        }
    }
}

fn impairments(model: &Impairments) -> Result<ImpairmentSpec, SpecError> {
    let jitter = JitterSpec::per_packet(JitterLaw::Uniform { max: model.jitter });
    Ok(ImpairmentSpec {
        loss: loss(&model.loss)?,
        corrupt: Probability::new(model.corrupt)?,
        duplicate: Probability::new(model.duplicate)?,
        jitter_schedule: model.jitter_schedule.clone(),
        jitter: (!model.jitter.is_zero()).then_some(jitter),
        reorder: match model.reorder {
            None => None,
            Some(reorder) => {
                Some(Reorder { probability: Probability::new(reorder.probability)?, extra: reorder.delay })
            }
        },
        ack_thinning: model.ack_thinning.map(|every| AckThinning { every, hold: THINNING_HOLD }),
        outages: Arc::default(),
    })
}

/// Longest silence that a thinning middlebox makes. Ours.
const THINNING_HOLD: Span = Span::from_millis(20);

fn loss(model: &Loss) -> Result<LossSpec, SpecError> {
    Ok(match model {
        Loss::None => LossSpec::None,
        Loss::Bernoulli(probability) => LossSpec::Bernoulli(Probability::new(*probability)?),
        Loss::GilbertElliott { to_bad, to_good, loss_good, loss_bad } => LossSpec::GilbertElliott(GilbertElliott {
            to_bad: Probability::new(*to_bad)?,
            to_good: Probability::new(*to_good)?,
            loss_good: Probability::new(*loss_good)?,
            loss_bad: Probability::new(*loss_bad)?,
        }),
        Loss::Periodic(every) => LossSpec::Periodic { every: *every, offset: every - 1 },
        Loss::Scripted(packets) => LossSpec::Packets(packets.clone().into()),
        Loss::Blocks { length, probabilities } => LossSpec::Blocks(BlockLoss {
            length: *length,
            probabilities: probabilities.iter().map(|value| Probability::new(*value)).collect::<Result<_, _>>()?,
        }),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sim::SimTime;
    use traces::{OpportunityTrace, RateTrace};

    use super::*;

    fn at(nanos: u64) -> SimTime {
        SimTime::ZERO + Span::from_nanos(nanos)
    }

    proptest! {
        #[test]
        fn a_rate_trace_from_an_offset_on_offers_what_it_offers_there(
            segments in proptest::collection::vec((1_u64..1_000_000, 0_u64..1_000_000_000), 1..6),
            start in 0_u64..5_000_000,
            length in 0_u64..20_000_000,
        ) {
            let segments = segments.into_iter().map(|(nanos, bps)| traces::Segment::new(nanos, bps + 1_000)).collect();
            let trace = Trace::Rate(RateTrace::new(segments, Playback::Loop).unwrap());
            let start = start % trace.period_ns();
            let offered = play(&trace, start).unwrap().offered(SimTime::ZERO, at(length));
            // Both are rounded down.
            prop_assert!(offered.abs_diff(trace.offered_bytes(start, start + length)) <= 1);
        }

        #[test]
        fn opportunities_from_an_offset_on_are_those_after_it(
            gaps in proptest::collection::vec(0_u64..1_000_000, 1..20),
            start in 0_u64..20_000_000,
            length in 0_u64..40_000_000,
        ) {
            let times: Vec<u64> = gaps.iter().scan(1, |time, gap| { *time += gap; Some(*time) }).collect();
            let trace = Trace::Opportunities(OpportunityTrace::new(times, 1_504, Playback::Loop).unwrap());
            let start = start % trace.period_ns();
            let offered = play(&trace, start).unwrap().offered(SimTime::ZERO, at(length));
            // The service counts (0, length], the trace [from, to).
            prop_assert_eq!(offered, trace.offered_bytes(start + 1, start + length + 1));
        }
    }
}
