//! From what a run yields to what is kept of it.

use std::collections::BTreeMap;

use cc_algos::{Span, Timestamp};
use sim::outcome::{CodingOutcome, FlowOutcome, Outcome, PortOutcome};
use sim::{FlowId, outcome};

use super::distribution::Distribution;
use super::fairness::{self, LongFlow};
use super::record::{ClassRecord, CodingTotals, Identity, PortRecord, RunRecord, Totals, WorkRecord};
use super::series::Series;

/// What the simulator was told of one flow, as far as results need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowRole {
    /// Index of its contestant.
    pub contestant: usize,
    /// Its class in the results.
    pub group: u16,
    /// When its application stops producing, if it does.
    pub stop: Option<Timestamp>,
}

/// Whether to keep time series of a run; one seed of a cell is enough for plots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepSeries {
    /// Keep them.
    Yes,
    /// Use the samples for fairness, then drop them.
    No,
}

/// What was run, to read an [`Outcome`] by.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Labels of the contestants, by index.
    pub contestants: &'a [String],
    /// Names of the groups; a group without one goes by its number.
    pub groups: &'a BTreeMap<u16, String>,
    /// The flows, in the experiment's order.
    pub flows: &'a [FlowRole],
    /// Whole IP packet, bytes.
    pub mtu: u64,
    /// Whether to keep time series.
    pub keep_series: KeepSeries,
}

/// An outcome that does not belong to the context it is read by.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CollectError {
    /// Another number of flows.
    #[error("the run has {ran} flows, the experiment {expected}")]
    Flows {
        /// In the outcome.
        ran: usize,
        /// In the context.
        expected: usize,
    },
    /// A contestant that is not in the experiment.
    #[error("contestant {index} does not exist: the experiment has {contestants}")]
    Contestant {
        /// Its index.
        index: usize,
        /// How many there are.
        contestants: usize,
    },
}

impl RunRecord {
    /// Keeps of `outcome` what tables and plots need.
    ///
    /// # Errors
    /// If flows or contestants of the outcome are not those of the context.
    pub fn collect(identity: Identity, context: Context<'_>, outcome: &Outcome) -> Result<Self, CollectError> {
        let mut classes = Classes::new(&context, outcome)?;
        for (flow, &class) in outcome.flows.iter().zip(&classes.class_of) {
            classes.records[class].add_flow(flow, context.mtu, outcome.ended_at);
        }
        for delays in &outcome.delays {
            let class = classes.index_of(&context, delays.contestant, delays.group)?;
            let record = &mut classes.records[class];
            record.one_way_ns.merge(&Distribution::from_observed(&delays.one_way));
            record.queueing_ns.merge(&Distribution::from_observed(&delays.queueing));
        }
        classes.set_active_times(&context, outcome);
        let longest_rtt = outcome.flows.iter().map(|flow| flow.base_rtt).max().unwrap_or(Span::ZERO);
        let long = long_flows(&context, outcome);
        Ok(Self {
            identity,
            ended_at_ns: outcome.ended_at.as_nanos(),
            ports: outcome.ports.iter().map(|port| port_record(port, outcome.ended_at)).collect(),
            fairness: fairness::measure(&outcome.samples, &long, longest_rtt, outcome.ended_at),
            series: match context.keep_series {
                KeepSeries::Yes => Series::of(outcome, &classes.class_of),
                KeepSeries::No => None,
            },
            work: work_record(outcome.work),
            classes: classes.records,
        })
    }
}

/// Classes in the order of their first flow.
struct Classes {
    records: Vec<ClassRecord>,
    class_of: Vec<usize>,
    indices: BTreeMap<(usize, u16), usize>,
}

impl Classes {
    fn new(context: &Context<'_>, outcome: &Outcome) -> Result<Self, CollectError> {
        if outcome.flows.len() != context.flows.len() {
            return Err(CollectError::Flows { ran: outcome.flows.len(), expected: context.flows.len() });
        }
        let mut classes = Self { records: Vec::new(), class_of: Vec::new(), indices: BTreeMap::new() };
        for role in context.flows {
            let index = classes.index_of(context, role.contestant, role.group)?;
            classes.class_of.push(index);
        }
        Ok(classes)
    }

    fn index_of(&mut self, context: &Context<'_>, contestant: usize, group: u16) -> Result<usize, CollectError> {
        if let Some(&index) = self.indices.get(&(contestant, group)) {
            return Ok(index);
        }
        let contestants = context.contestants.len();
        let label = context.contestants.get(contestant);
        let label = label.ok_or(CollectError::Contestant { index: contestant, contestants })?;
        let index = self.records.len();
        self.indices.insert((contestant, group), index);
        self.records.push(ClassRecord {
            contestant: label.clone(),
            group: context.groups.get(&group).cloned().unwrap_or_else(|| format!("group {group}")),
            ..ClassRecord::default()
        });
        Ok(index)
    }

    fn set_active_times(&mut self, context: &Context<'_>, outcome: &Outcome) {
        for (class, record) in self.records.iter_mut().enumerate() {
            let flows = outcome.flows.iter().zip(context.flows).zip(&self.class_of);
            let lives: Vec<_> = flows
                .filter(|&(_, &of)| of == class)
                .filter_map(|((flow, role), _)| Some((flow.started?, active_until(flow, role, outcome.ended_at))))
                .collect();
            let first = lives.iter().map(|life| life.0).min();
            let last = lives.iter().map(|life| life.1).max();
            if let (Some(first), Some(last)) = (first, last) {
                record.totals.active_ns = last.saturating_since(first).as_nanos();
            }
        }
    }
}

impl ClassRecord {
    fn add_flow(&mut self, flow: &FlowOutcome, mtu: u64, end: Timestamp) {
        self.totals.add(flow);
        let (Some(started), Some(_)) = (flow.started, flow.size) else { return };
        let ideal = flow.ideal_completion_time(mtu).filter(|ideal| !ideal.is_zero());
        match flow.completion_time() {
            Some(time) => {
                self.totals.completed += 1;
                self.fct_ns.observe(time.as_nanos());
                if let Some(ideal) = ideal {
                    self.slowdown_milli.observe(milli_ratio(time, ideal));
                }
            }
            None => {
                let age = end.saturating_since(started);
                self.totals.unfinished += 1;
                self.fct_ns.censor(age.as_nanos());
                if let Some(ideal) = ideal {
                    self.slowdown_milli.censor(milli_ratio(age, ideal));
                }
            }
        }
    }
}

impl Totals {
    fn add(&mut self, flow: &FlowOutcome) {
        self.flows += 1;
        self.finite += u64::from(flow.size.is_some());
        self.not_started += u64::from(flow.started.is_none());
        let sums = [
            (&mut self.delivered_bytes, flow.delivered),
            (&mut self.packets_sent, flow.packets_sent),
            (&mut self.bytes_sent, flow.bytes_sent),
            (&mut self.retransmitted, flow.retransmitted),
            (&mut self.lost, flow.lost),
            (&mut self.spurious, flow.spurious),
            (&mut self.marked, flow.marked),
            (&mut self.timeouts, flow.timeouts),
        ];
        for (sum, value) in sums {
            *sum = sum.saturating_add(value);
        }
        if let Some(CodingOutcome { parity_bytes, blocks, decoded, repaired, .. }) = flow.coding {
            let coding = CodingTotals { parity_bytes, blocks, decoded, repaired };
            self.coding.get_or_insert_default().merge(&coding);
        }
    }
}

/// `time / ideal` in thousandths, to the nearest.
fn milli_ratio(time: Span, ideal: Span) -> u64 {
    let (time, ideal) = (u128::from(time.as_nanos()), u128::from(ideal.as_nanos()));
    u64::try_from((time * 1_000 + ideal / 2) / ideal).unwrap_or(u64::MAX)
}

fn active_until(flow: &FlowOutcome, role: &FlowRole, end: Timestamp) -> Timestamp {
    flow.received.or(role.stop).unwrap_or(end).min(end)
}

fn long_flows(context: &Context<'_>, outcome: &Outcome) -> Vec<LongFlow> {
    let flows = (0_u32..).zip(outcome.flows.iter().zip(context.flows));
    flows
        .filter(|(_, (flow, _))| flow.size.is_none())
        .filter_map(|(id, (flow, role))| {
            Some(LongFlow {
                id: FlowId(id),
                start: flow.started?,
                end: active_until(flow, role, outcome.ended_at),
                delivered: flow.delivered,
            })
        })
        .collect()
}

fn port_record(port: &PortOutcome, end: Timestamp) -> PortRecord {
    let nanos = u128::from(end.as_nanos().max(1));
    PortRecord {
        name: port.name.clone(),
        bytes: port.bytes,
        packets: port.packets,
        offered: port.offered,
        queue_drops: port.queue_drops,
        policer_drops: port.policer_drops,
        wire_losses: port.wire_losses,
        marks: port.marks,
        trims: port.trims,
        max_backlog: port.max_backlog,
        max_phantom: port.max_phantom,
        mean_backlog: u64::try_from(port.backlog_byte_nanos / nanos).unwrap_or(u64::MAX),
    }
}

fn work_record(work: outcome::Work) -> WorkRecord {
    WorkRecord { events: work.events, packet_hops: work.packet_hops, data_packets: work.data_packets }
}

#[cfg(test)]
mod tests {
    use cc_algos::Rate;

    use super::super::distribution::Reading;
    use super::*;

    const MS: fn(u64) -> Timestamp = |ms| Timestamp::ZERO + Span::from_millis(ms);

    fn flow(started_ms: u64, completed_ms: Option<u64>) -> FlowOutcome {
        FlowOutcome {
            started: Some(MS(started_ms)),
            received: completed_ms.map(MS),
            completed: completed_ms.map(MS),
            base_rtt: Span::from_millis(10),
            bottleneck: Rate::from_mbps(12),
            size: Some(16_000),
            wire_size: Some(16_500),
            delivered: 1_000,
            packets_sent: 11,
            lost: 1,
            ..FlowOutcome::default()
        }
    }

    fn outcome(flows: Vec<FlowOutcome>) -> Outcome {
        Outcome {
            flows,
            ports: Vec::new(),
            delays: Vec::new(),
            samples: Vec::new(),
            ended_at: MS(1_000),
            work: outcome::Work::default(),
        }
    }

    fn collect(flows: Vec<FlowOutcome>, roles: &[FlowRole]) -> Result<RunRecord, CollectError> {
        let identity = Identity { scenario: "s".into(), algorithm: "a".into(), seed: 1, config_hash: "0".into() };
        let context = Context {
            contestants: &["a".into(), "b".into()],
            groups: &BTreeMap::from([(0, "rpc".into())]),
            flows: roles,
            mtu: 1_500,
            keep_series: KeepSeries::No,
        };
        RunRecord::collect(identity, context, &outcome(flows))
    }

    const ROLE: FlowRole = FlowRole { contestant: 0, group: 0, stop: None };

    #[test]
    fn slowdown_is_completion_time_over_base_rtt_and_wire_time() {
        // Ideal: 10 ms and (16500 - 1500) * 8 b / 12 Mb/s = 10 ms, together 20 ms; took 50 ms: 2.5.
        let record = collect(vec![flow(100, Some(150))], &[ROLE]).unwrap();
        let class = &record.classes[0];
        assert_eq!((class.totals.completed, class.totals.unfinished), (1, 0));
        assert_eq!(class.slowdown_milli.max(), Some(Reading::Exactly(2_500 | 1)), "buckets of two from 2048 on");
        assert_eq!(class.totals.active_ns, 50_000_000);
    }

    #[test]
    fn unfinished_flows_are_censored_at_their_age_and_unstarted_ones_counted() {
        let unstarted = FlowOutcome { started: None, ..flow(0, None) };
        let record = collect(vec![flow(400, None), unstarted], &[ROLE, ROLE]).unwrap();
        let class = &record.classes[0];
        assert_eq!((class.totals.finite, class.totals.unfinished, class.totals.not_started), (2, 1, 1));
        let age = Reading::MoreThan(class.fct_ns.censored().highest_equivalent(600_000_000));
        assert_eq!(class.fct_ns.max(), Some(age));
        // 600 ms / 20 ms
        assert!(class.slowdown_milli.max().unwrap().is_bound());
        assert!(class.slowdown_milli.max().unwrap().raw().abs_diff(30_000) < 30);
        assert_eq!(class.totals.active_ns, 600_000_000);
    }

    #[test]
    fn flows_are_counted_in_the_class_of_their_contestant_and_group() {
        let roles = [ROLE, FlowRole { contestant: 1, group: 7, stop: None }, ROLE];
        let record = collect(vec![flow(0, Some(50)); 3], &roles).unwrap();
        let names: Vec<_> =
            record.classes.iter().map(|class| (&*class.contestant, &*class.group, class.totals.flows)).collect();
        assert_eq!(names, [("a", "rpc", 2), ("b", "group 7", 1)]);
        assert_eq!(record.classes[0].totals.lost, 2);
    }

    #[test]
    fn a_stopped_flow_is_active_until_it_stops() {
        let long = FlowOutcome { size: None, wire_size: None, delivered: 500, ..flow(0, None) };
        let stopped = FlowRole { stop: Some(MS(500)), ..ROLE };
        let record = collect(vec![long.clone(), long], &[ROLE, stopped]).unwrap();
        // The same bytes in half the time: (1 + 2)² / (2 * 5) = 0.9
        assert_eq!(record.fairness.overall_ppm, Some(900_000));
        assert_eq!(record.classes[0].fct_ns.count(), 0);
    }

    #[test]
    fn outcomes_of_another_experiment_are_refused() {
        assert_eq!(collect(vec![flow(0, None)], &[]), Err(CollectError::Flows { ran: 1, expected: 0 }));
        let stranger = FlowRole { contestant: 2, ..ROLE };
        let expected = CollectError::Contestant { index: 2, contestants: 2 };
        assert_eq!(collect(vec![flow(0, None)], &[stranger]), Err(expected));
    }
}
