//! Time series of one run, thinned out for plots.

use std::collections::BTreeMap;

use cc_algos::{Rate, Span};
use serde::{Deserialize, Serialize};
use sim::outcome::{FlowSample, Outcome, Sample};

/// Most points kept of a series: about what a plot a hand wide can show.
const MAX_POINTS: usize = 400;

/// Most flows kept.
const MAX_FLOWS: usize = 8;

/// The state of a run over time, in columns: entry `i` of each belongs to `at_ns[i]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// When, nanoseconds.
    pub at_ns: Vec<u64>,
    /// Some of the flows, at most eight: the ones there longest, of every class in turn.
    pub flows: Vec<FlowSeries>,
    /// The port that carried the most bytes, if it stands for one link.
    pub port: Option<PortSeries>,
}

/// One flow over time; `None` where it was not active.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowSeries {
    /// Its number in the experiment.
    pub flow: u32,
    /// Index into [`super::RunRecord::classes`].
    pub class: usize,
    /// Congestion window, bytes.
    pub window: Vec<Option<u64>>,
    /// Pacing rate, bits per second.
    pub pacing_bps: Vec<Option<u64>>,
    /// Smoothed RTT, nanoseconds.
    pub smoothed_rtt_ns: Vec<Option<u64>>,
    /// Bytes in flight.
    pub in_flight: Vec<Option<u64>>,
    /// Distinct application bytes that had arrived.
    pub delivered: Vec<Option<u64>>,
}

/// One port over time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortSeries {
    /// Its name.
    pub name: String,
    /// Bytes queued.
    pub backlog: Vec<u64>,
    /// Bytes in its phantom queue; empty where there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phantom: Vec<u64>,
    /// Bytes sent so far.
    pub bytes: Vec<u64>,
    /// Bytes the link could have carried so far.
    pub offered: Vec<u64>,
}

impl Series {
    /// Thins out the samples of `outcome`; `class_of[flow]` says where each flow belongs. `None` without samples.
    pub(crate) fn of(outcome: &Outcome, class_of: &[usize]) -> Option<Self> {
        let stride = outcome.samples.len().div_ceil(MAX_POINTS).max(1);
        let kept: Vec<&Sample> = outcome.samples.iter().step_by(stride).collect();
        if kept.is_empty() {
            return None;
        }
        let flows = choose(&kept, class_of).into_iter().map(|(class, flow)| flow_series(&kept, class, flow)).collect();
        let at_ns = kept.iter().map(|sample| sample.at.as_nanos()).collect();
        Some(Self { at_ns, flows, port: port_series(&kept, outcome) })
    }
}

/// (class, flow) of the flows to keep: of each class in turn the one with the most samples left.
fn choose(kept: &[&Sample], class_of: &[usize]) -> Vec<(usize, u32)> {
    let mut presence: BTreeMap<u32, usize> = BTreeMap::new();
    for flow in kept.iter().flat_map(|sample| &sample.flows) {
        *presence.entry(flow.flow.0).or_default() += 1;
    }
    let mut queues: BTreeMap<usize, Vec<(usize, u32)>> = BTreeMap::new();
    for (flow, samples) in presence {
        if let Some(&class) = class_of.get(flow as usize) {
            queues.entry(class).or_default().push((samples, flow));
        }
    }
    for queue in queues.values_mut() {
        // Most samples last, so that `pop` takes it; of equals the lowest number.
        queue.sort_unstable_by_key(|&(samples, flow)| (samples, std::cmp::Reverse(flow)));
    }
    let mut chosen = Vec::new();
    while chosen.len() < MAX_FLOWS && queues.values().any(|queue| !queue.is_empty()) {
        for (&class, queue) in &mut queues {
            if chosen.len() < MAX_FLOWS
                && let Some((_, flow)) = queue.pop()
            {
                chosen.push((class, flow));
            }
        }
    }
    chosen.sort_unstable();
    chosen
}

fn flow_series(kept: &[&Sample], class: usize, flow: u32) -> FlowSeries {
    let samples: Vec<Option<&FlowSample>> =
        kept.iter().map(|sample| sample.flows.iter().find(|at| at.flow.0 == flow)).collect();
    let column = |pick: fn(&FlowSample) -> Option<u64>| samples.iter().map(|at| at.and_then(pick)).collect();
    FlowSeries {
        flow,
        class,
        window: column(|at| Some(at.window)),
        pacing_bps: column(|at| at.pacing_rate.map(Rate::as_bps)),
        smoothed_rtt_ns: column(|at| at.smoothed_rtt.map(Span::as_nanos)),
        in_flight: column(|at| Some(at.in_flight)),
        delivered: column(|at| Some(at.delivered)),
    }
}

fn port_series(kept: &[&Sample], outcome: &Outcome) -> Option<PortSeries> {
    let (index, port) = outcome.ports.iter().enumerate().rev().max_by_key(|(_, port)| port.bytes)?;
    let samples: Vec<_> = kept.iter().map(|sample| sample.ports.get(index)).collect::<Option<_>>()?;
    Some(PortSeries {
        name: port.name.clone(),
        backlog: samples.iter().map(|at| at.backlog).collect(),
        phantom: samples.iter().filter_map(|at| at.phantom).collect(),
        bytes: samples.iter().map(|at| at.bytes).collect(),
        offered: samples.iter().map(|at| at.offered).collect(),
    })
}
