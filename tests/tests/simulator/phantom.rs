//! Phantom queues in the network: they fill before packets wait, mark for them, and cost no events.

use cc_algos::{Rate, Span};
use cwndtunnel_tests::{bulk, dumbbell, experiment, run};
use sim::Outcome;
use sim::queue::{
    CodelParameters, CodelSpec, DisciplineSpec, MarkAt, MarkingSpec, PhantomFeed, PhantomRole, PhantomSpec,
};
use sim::spec::LinkSpec;

const RATE: Rate = Rate::from_gbps(1);

/// Drains at 95 % of the link and marks above 100 kB.
const PHANTOM: PhantomSpec = PhantomSpec {
    drain: Rate::from_mbps(950),
    size: 10_000_000,
    marking: MarkingSpec::Threshold { bytes: 100_000 },
    feed: PhantomFeed::Arrivals,
    role: PhantomRole::Alone,
};

/// An endless flow for half a second over one link of 20 us.
fn play(algorithm: &str, change: impl Fn(&mut LinkSpec)) -> Outcome {
    let mut link = LinkSpec::fixed(RATE, Span::from_micros(20));
    change(&mut link);
    let mut experiment = experiment(algorithm, dumbbell(1, link), bulk(1), Span::from_millis(500));
    experiment.sample_every = Some(Span::from_millis(1));
    run(&experiment)
}

#[test]
fn it_fills_by_what_exceeds_its_drain_while_the_queue_stays_empty() {
    for feed in [PhantomFeed::Arrivals, PhantomFeed::Departures] {
        let outcome = play("fixed-rate?rate=990Mbps", |link| link.phantom = Some(PhantomSpec { feed, ..PHANTOM }));
        let port = &outcome.ports[0];
        assert!(port.max_backlog < 20_000, "nothing but the first burst queues: {port:?}");
        // 40 Mb/s for half a second are 2.5 MB; what its initial window and its last packets make of it is a few packets.
        let held = port.max_phantom.unwrap();
        assert!(held.abs_diff(2_500_000) < 20_000, "{feed:?}: {held}");
        // It is above 100 kB after 20 ms, or 17 with the first burst, and every packet from then on is marked.
        let share = port.marks as f64 / port.packets as f64;
        assert!((0.958..0.968).contains(&share), "{feed:?}: {share}");
    }
}

#[test]
fn below_its_drain_it_stays_empty() {
    let outcome = play("fixed-rate?rate=940Mbps", |link| link.phantom = Some(PHANTOM));
    let port = &outcome.ports[0];
    assert!(port.max_phantom.unwrap() <= 20_000 && port.marks == 0, "{port:?}");
}

#[test]
fn one_that_is_only_watched_costs_no_event_and_changes_nothing() {
    let plain = play("dctcp", |link| link.marking = MarkingSpec::Threshold { bytes: 30_000 });
    let watched = play("dctcp", |link| {
        link.marking = MarkingSpec::Threshold { bytes: 30_000 };
        link.phantom = Some(PhantomSpec { role: PhantomRole::Observed, ..PHANTOM });
    });
    assert_eq!(plain.work, watched.work);
    assert_eq!(plain.flows, watched.flows);
    assert!(plain.ports[0].max_phantom.is_none() && watched.ports[0].max_phantom.unwrap() > 0);
    assert!(watched.samples.iter().all(|sample| sample.ports[0].phantom.is_some()));
}

#[test]
fn dctcp_pays_for_an_empty_queue_with_what_the_phantom_queue_withholds() {
    for at in [MarkAt::Enqueue, MarkAt::Dequeue] {
        let outcome = play("dctcp", |link| (link.phantom, link.mark_at) = (Some(PHANTOM), at));
        let port = &outcome.ports[0];
        let utilisation = port.bytes as f64 / port.offered as f64;
        assert!((0.92..=0.96).contains(&utilisation), "{at:?}: {utilisation}");
        let mean = port.backlog_byte_nanos / 500_000_000;
        assert!(mean < 6_000, "{at:?}: four packets on average, slow start included: {mean} B");
    }
}

#[test]
fn a_discipline_s_marks_join_the_phantom_queue_s() {
    let codel = |role: Option<PhantomRole>, marking: MarkingSpec| {
        play("cubic", |link| {
            let (target, interval) = (Span::from_micros(200), Span::from_millis(4));
            let parameters = CodelParameters { target, interval, ..CodelParameters::default() };
            link.discipline = DisciplineSpec::Codel(CodelSpec { parameters, ..CodelSpec::default() });
            link.phantom = role.map(|role| PhantomSpec { role, marking, ..PHANTOM });
        })
    };
    let marks = |outcome: Outcome| outcome.ports[0].marks;
    let plain = marks(codel(None, FULL));
    assert!(plain > 5, "{plain}: CoDel marks while more than 200 us wait");
    // One that is never congested takes no part, and one that always is says what the other may say.
    assert_eq!(marks(codel(Some(PhantomRole::Either), NEVER)), plain);
    assert_eq!(marks(codel(Some(PhantomRole::Both), NEVER)), 0);
    assert_eq!(marks(codel(Some(PhantomRole::Alone), NEVER)), 0);
    assert_eq!(marks(codel(Some(PhantomRole::Both), FULL)), plain);
    let all = codel(Some(PhantomRole::Either), FULL);
    assert_eq!(all.ports[0].marks, all.ports[0].packets, "every packet finds itself in the phantom queue");
}

/// Thresholds that any packet exceeds, and none.
const FULL: MarkingSpec = MarkingSpec::Threshold { bytes: 0 };
const NEVER: MarkingSpec = MarkingSpec::Threshold { bytes: u64::MAX };
