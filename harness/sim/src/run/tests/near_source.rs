//! Notices of a switch near the source.

use cc_algos::signal::{NearSource, Signal};
use cc_algos::{Need, Rate, Span, Timestamp};

use super::signals::listener;
use super::{dumbbell, experiment, flow, run};
use crate::outcome::Outcome;
use crate::queue::{Capacity, CongestionPointSpec};
use crate::spec::{Experiment, Load, Side, Topology};

const SET_POINT: u64 = 100_000;

/// 100 Mb/s, of whose RTT of 102 ms all but 40 us lie behind the bottleneck: 1.3 MB in flight fill it, of the window of 2 MB
/// the rest stands in the queue.
fn far(near_source: Option<CongestionPointSpec>) -> Experiment {
    let mut topology = dumbbell(1, 100, 1, Capacity::Unlimited);
    let Topology::Dumbbell(links) = &mut topology else { unreachable!("it is one") };
    (links.extra_delay, links.extra_side) = (vec![Span::from_millis(50)], Side::Right);
    links.bottleneck.near_source = near_source;
    let mut experiment = experiment(topology, vec![flow(0, 1, Load::Unlimited)], "newreno", 3);
    experiment.sample_every = Some(Span::from_millis(10));
    experiment.check_wire = true;
    experiment
}

/// What happened, and the notices that the one flow got.
fn notices(mut experiment: Experiment, need: Option<Need>) -> (Outcome, Vec<(Timestamp, NearSource)>) {
    let (contestant, heard) = listener(2_000_000);
    experiment.contestants = vec![need.into_iter().fold(contestant, |contestant, need| contestant.needing(need))];
    let outcome = run(&experiment).unwrap();
    let heard = heard.lock().unwrap();
    let notices = heard.signals.iter().filter_map(|(at, signal)| match signal {
        Signal::NearSource(notice) => Some((*at, *notice)),
        _ => None,
    });
    (outcome, notices.collect())
}

#[test]
fn a_notice_is_there_long_before_the_acknowledgement_and_says_what_the_port_holds() {
    let (outcome, notices) = notices(far(Some(CongestionPointSpec::new(SET_POINT))), Some(Need::NearSource));
    let base_rtt = outcome.flows[0].base_rtt;
    assert!(base_rtt > Span::from_millis(102), "{base_rtt}");
    let settled: Vec<_> = notices.iter().filter(|(at, _)| *at > Timestamp::ZERO + Span::from_secs(1)).collect();
    // Two seconds of 100 Mb/s are 25 MB: a sample for each 150 kB.
    assert!((150..=180).contains(&settled.len()), "{}", settled.len());
    for (at, notice) in &settled {
        // Two links of 10 us each way; the host's own queue at 10 Gb/s is short.
        let age = at.saturating_since(notice.triggered_by_sent_at.unwrap());
        assert!(age >= Span::from_micros(20) && age < Span::from_micros(100), "{age}");
        assert_eq!((notice.set_point_bytes, notice.port_rate), (SET_POINT, Rate::from_mbps(100)));
        let sample = outcome.samples.iter().rev().find(|sample| sample.at <= *at).unwrap();
        // Between two samples of the run the queue moves by no more than a burst of the pacer.
        assert!(notice.queue_bytes.abs_diff(sample.ports[0].backlog) < 30_000, "{notice:?}, {:?}", sample.ports[0]);
    }
    assert!(settled.windows(2).all(|pair| pair[1].1.former_queue_bytes == pair[0].1.queue_bytes), "each was sampled");
}

#[test]
fn who_does_not_ask_is_not_told_and_pays_nothing() {
    let (without, _) = notices(far(None), None);
    let (with, told) = notices(far(Some(CongestionPointSpec::new(SET_POINT))), Some(Need::Ecn));
    assert_eq!(told, []);
    assert_eq!(without, with);
}

#[test]
fn no_notice_leaves_a_port_whose_queue_stays_below_the_set_point() {
    let point = CongestionPointSpec { weight: 0, ..CongestionPointSpec::new(10_000_000) };
    let (outcome, told) = notices(far(Some(point)), Some(Need::NearSource));
    assert!(outcome.ports[0].max_backlog > 500_000);
    assert_eq!(told, []);
}

#[test]
fn notices_repeat_with_their_seed() {
    let point = CongestionPointSpec::new(SET_POINT);
    let told = |seed| notices(Experiment { seed, ..far(Some(point)) }, Some(Need::NearSource)).1;
    assert_eq!(told(1), told(1));
    assert_ne!(told(1), told(2));
}
