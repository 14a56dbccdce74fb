//! Flows that wait for others to end.

use crate::spec::{Experiment, FlowEnd, TriggerKind};

/// The triggers of a run and how often each has been set off.
pub(super) struct Triggers {
    states: Vec<State>,
    /// (flow, its end, trigger), sorted.
    causes: Vec<(u32, u8, u32)>,
}

struct State {
    kind: TriggerKind,
    flows: Vec<u32>,
    times: u32,
}

impl Triggers {
    pub(super) fn new(experiment: &Experiment) -> Self {
        let triggers = &experiment.triggers;
        let state = |trigger: &crate::spec::TriggerSpec| State {
            kind: trigger.kind,
            flows: trigger.flows.iter().map(|flow| flow.0).collect(),
            times: 0,
        };
        let causes = (0..)
            .zip(triggers)
            .flat_map(|(index, trigger)| trigger.causes.iter().map(move |(flow, end)| (flow.0, rank(*end), index)));
        let mut causes: Vec<_> = causes.collect();
        causes.sort_unstable();
        Self { states: triggers.iter().map(state).collect(), causes }
    }

    /// The flows that an end of a flow starts.
    pub(super) fn on_end(&mut self, flow: u32, end: FlowEnd) -> Vec<u32> {
        let key = (flow, rank(end));
        let first = self.causes.partition_point(|cause| (cause.0, cause.1) < key);
        let set_off = self.causes[first..].iter().take_while(|cause| (cause.0, cause.1) == key);
        let mut started = Vec::new();
        for (_, _, trigger) in set_off {
            let State { kind, flows, times } = &mut self.states[*trigger as usize];
            match kind {
                TriggerKind::All { after } if *times + 1 == *after => started.extend_from_slice(flows),
                TriggerKind::All { .. } => {}
                TriggerKind::Next => started.extend(flows.get(*times as usize)),
            }
            *times += 1;
        }
        started
    }
}

const fn rank(end: FlowEnd) -> u8 {
    match end {
        FlowEnd::Received => 0,
        FlowEnd::Completed => 1,
    }
}
