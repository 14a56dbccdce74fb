//! The same experiment gives the same outcome; another seed gives other luck; nobody is favoured by the order of
//! construction.

use cc_algos::{Rate, Span};
use cwndtunnel_tests::{MTU, bulk, drop_tail, dumbbell, experiment, flow, run};
use sim::Experiment;
use sim::queue::Capacity;
use sim::spec::Load;

use crate::families::families;

#[test]
fn every_family_run_twice_gives_equal_outcomes() {
    for (name, mut experiment) in families() {
        experiment.sample_every = Some(Span::from_millis(5));
        let (first, second) = (run(&experiment), run(&experiment));
        assert!(first == second, "{name}: {:?} and {:?}", first.flows, second.flows);
        assert!(first.work.data_packets > 100, "{name}: hardly anything happened, {:?}", first.work);
    }
}

#[test]
fn sampling_and_checking_the_wire_change_no_result() {
    for (name, plain) in families() {
        let mut watched = plain.clone();
        (watched.sample_every, watched.check_wire) = (Some(Span::from_millis(3)), true);
        let (plain, watched) = (run(&plain), run(&watched));
        assert_eq!(plain.flows, watched.flows, "{name}");
        assert_eq!(plain.ports, watched.ports, "{name}");
    }
}

#[test]
fn another_seed_gives_other_luck() {
    for (name, experiment) in families() {
        let other = Experiment { seed: experiment.seed + 1, ..experiment.clone() };
        assert!(run(&experiment).flows != run(&other).flows, "{name}");
    }
}

/// Ten hosts send a packet each in the same picosecond to a queue that holds five. Who loses is chance: over 200 seeds
/// each flow loses 100 times, with a standard deviation of sqrt(200 / 4) = 7; five of these are 35.
#[test]
fn senders_of_one_instant_share_the_drops() {
    let mut losses = [0_u32; 10];
    for seed in 0..200 {
        let link = drop_tail(Rate::from_mbps(100), Span::from_micros(10), Capacity::Packets(5));
        let flows = (0..10).map(|pair| flow(pair, 10 + pair, Load::Bytes(MTU / 2))).collect();
        let mut experiment = experiment("newreno", dumbbell(10, link), flows, Span::from_millis(5));
        experiment.seed = seed;
        let outcome = run(&experiment);
        assert_eq!(outcome.ports[0].queue_drops, 5);
        for (count, flow) in losses.iter_mut().zip(&outcome.flows) {
            *count += u32::from(flow.received.is_none());
        }
    }
    assert!(losses.iter().all(|count| count.abs_diff(100) <= 35), "{losses:?}");
}

/// Two bulk flows alike in everything: each run may favour one, all runs together neither. The difference of their
/// drops, over its spread between seeds, is a standard score.
#[test]
fn twins_that_start_together_share_a_tiny_queue_over_the_seeds() {
    let differences: Vec<f64> = (0..60)
        .map(|seed| {
            let link = drop_tail(Rate::from_mbps(10), Span::from_millis(5), Capacity::Packets(4));
            let mut experiment = experiment("newreno", dumbbell(2, link), bulk(2), Span::from_secs(4));
            experiment.seed = seed;
            let flows = run(&experiment).flows;
            assert!(flows.iter().all(|flow| flow.lost > 10), "{flows:?}");
            flows[0].lost as f64 - flows[1].lost as f64
        })
        .collect();
    let count = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / count;
    let variance = differences.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / (count - 1.0);
    assert!(mean.abs() < 4.0 * (variance / count).sqrt(), "mean {mean}, variance {variance}");
    // Neither wins every time.
    let won = differences.iter().filter(|one| **one > 0.0).count();
    assert!((10..=50).contains(&won), "{differences:?}");
}
