//! Flows that other flows' ends start.

use cc_algos::Timestamp;

use super::{Capacity, dumbbell, experiment, flow};
use crate::outcome::Outcome;
use crate::run::run;
use crate::spec::{FlowEnd, FlowSpec, Load, Start, TriggerKind, TriggerSpec};
use crate::{Experiment, FlowId};

/// Flows of 10 kB and more, of which all but the first two wait.
fn waiting(triggers: Vec<TriggerSpec>) -> Experiment {
    let flows = (0..6).map(|index| {
        let start = if index < 2 { Start::At(Timestamp::ZERO) } else { Start::Triggered };
        FlowSpec { start, ..flow(0, 1, Load::Bytes(10_000 * (index + 1))) }
    });
    let topology = dumbbell(1, 100, 5, Capacity::Unlimited);
    Experiment { triggers, ..experiment(topology, flows.collect(), "newreno", 10) }
}

fn started(outcome: &Outcome, flow: usize) -> Timestamp {
    outcome.flows[flow].started.unwrap()
}

fn trigger(kind: TriggerKind, causes: &[(u32, FlowEnd)], flows: &[u32]) -> TriggerSpec {
    TriggerSpec {
        causes: causes.iter().map(|(flow, end)| (FlowId(*flow), *end)).collect(),
        kind,
        flows: flows.iter().map(|flow| FlowId(*flow)).collect(),
    }
}

#[test]
fn a_barrier_waits_for_all_and_starts_all() {
    use FlowEnd::{Completed, Received};
    let once = TriggerKind::All { after: 1 };
    let outcome = run(&waiting(vec![
        trigger(TriggerKind::All { after: 2 }, &[(0, Completed), (1, Received)], &[2, 3]),
        trigger(once, &[(3, Received)], &[4]),
        trigger(once, &[(3, Completed)], &[5]),
    ]))
    .unwrap();
    let (first, second) = (&outcome.flows[0], &outcome.flows[1]);
    let barrier = first.completed.max(second.received);
    assert_eq!((Some(started(&outcome, 2)), Some(started(&outcome, 3))), (barrier, barrier));
    assert_eq!(Some(started(&outcome, 4)), outcome.flows[3].received);
    assert_eq!(Some(started(&outcome, 5)), outcome.flows[3].completed);
    assert!(outcome.flows.iter().all(|flow| flow.completed.is_some()));
}

#[test]
fn a_chain_starts_the_next_flow_at_each_end() {
    let causes: Vec<_> = (0..6).map(|flow| (flow, FlowEnd::Completed)).collect();
    let outcome = run(&waiting(vec![trigger(TriggerKind::Next, &causes, &[2, 3, 4, 5])])).unwrap();
    let mut ends: Vec<_> = outcome.flows.iter().map(|flow| flow.completed.unwrap()).collect();
    ends.sort_unstable();
    let starts: Vec<_> = (2..6).map(|flow| started(&outcome, flow)).collect();
    assert_eq!(starts, ends[..4], "two at a time, from the first end on");
}

#[test]
fn triggers_that_contradict_the_flows_are_refused() {
    let message = |triggers| run(&waiting(triggers)).unwrap_err().to_string();
    let once = TriggerKind::All { after: 1 };
    let causes = [(0, FlowEnd::Received)];
    assert_eq!(message(vec![trigger(once, &causes, &[2, 3, 4])]), "flow 5: stands in 0 triggers: expected 1");
    assert_eq!(message(vec![trigger(once, &causes, &[1, 2, 3, 4, 5])]), "flow 1: stands in 1 triggers: expected 0");
    assert_eq!(
        message(vec![trigger(once, &[(9, FlowEnd::Received)], &[2, 3, 4, 5])]),
        "trigger 0: flow 9 does not exist: there are 6"
    );
    assert_eq!(
        message(vec![trigger(TriggerKind::All { after: 2 }, &causes, &[2, 3, 4, 5])]),
        "trigger 0: waits for 2 ends of 1: expected no more than there are"
    );
    assert_eq!(
        message(vec![trigger(once, &[causes[0], causes[0]], &[2, 3, 4, 5])]),
        "trigger 0: the same end of a flow sets it off twice"
    );
    assert_eq!(
        message(vec![trigger(TriggerKind::All { after: 0 }, &causes, &[2, 3, 4, 5])]),
        "trigger 0: starts after 0 times: expected at least 1"
    );
}
