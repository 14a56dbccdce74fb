//! Links that lose, fail and come back.

use std::sync::Arc;

use cc_algos::{Rate, Span};
use cwndtunnel_tests::{
    at, bulk, delivery_rate, drop_tail, dumbbell, experiment, flow, losing, probability, run, sample_at,
};
use sim::Experiment;
use sim::link::Change;
use sim::link::impair::{GilbertElliott, LossSpec, Outage};
use sim::outcome::FlowOutcome;
use sim::queue::Capacity;
use sim::spec::{FlowSpec, LinkSpec, Load, Topology};
use transport::flow::{LossPolicy, Rto};

const RTT: Span = Span::from_millis(40);

/// 12 Mb/s, 3 Mb/s back, a buffer of 1.2 products of rate and delay, and losses in bursts: one in a hundred packets
/// begins a burst of six on average, in which all are lost. In the long run 0.01 / 0.177 = 5.6 % are.
fn satellite(flows: u32, size: u64) -> Experiment {
    let rate = Rate::from_mbps(12);
    let chain = GilbertElliott {
        to_bad: probability(0.01),
        to_good: probability(0.167),
        loss_good: probability(0.0),
        loss_bad: probability(1.0),
    };
    let capacity = Capacity::Bytes(rate.bytes_in(RTT) * 6 / 5);
    let link = losing(drop_tail(rate, RTT.mul_div(1, 2), capacity), LossSpec::GilbertElliott(chain));
    let mut topology = dumbbell(flows, link);
    if let Topology::Dumbbell(dumbbell) = &mut topology {
        dumbbell.reverse = drop_tail(Rate::from_mbps(3), RTT.mul_div(1, 2), Capacity::Bytes(60_000));
    }
    let flows = (0..flows).map(|pair| flow(pair, flows + pair, Load::Bytes(size))).collect();
    let mut experiment = experiment("cubic", topology, flows, Span::from_secs(600));
    experiment.endpoints.ack_every = 2;
    experiment
}

fn assert_all_complete(flows: &[FlowOutcome], what: &str) {
    for (index, flow) in flows.iter().enumerate() {
        assert!(flow.completed.is_some() && Some(flow.delivered) == flow.size, "{what}, flow {index}: {flow:?}");
    }
}

#[test]
fn twenty_megabytes_complete_over_bursts_of_loss_alone_and_among_five() {
    for policy in [LossPolicy::RFC_9002, LossPolicy::RACK] {
        for (flows, size) in [(1, 20_000_000), (5, 4_000_000)] {
            let mut experiment = satellite(flows, size);
            experiment.endpoints.sender.loss = policy;
            let outcome = run(&experiment);
            assert_all_complete(&outcome.flows, &format!("{policy:?}, {flows} flows"));
            let (lost, sent) = outcome
                .flows
                .iter()
                .fold((0, 0), |(lost, sent), flow| (lost + flow.lost - flow.spurious, sent + flow.packets_sent));
            // Some 900 packets in 16 000 go in 150 bursts, whose lengths vary as much as they are long: five standard
            // deviations of the share are 5.6 % x 5 x sqrt(2 / 150) = 3 %, and the queue drops some more.
            let share = lost as f64 / sent as f64;
            assert!((0.03..0.11).contains(&share), "{share}");
        }
    }
}

/// Three packets of ten are lost either way. Probes are lost too, so timeouts back off and everything comes through in
/// the end.
#[test]
fn thirty_per_cent_loss_both_ways_delays_completion_and_does_not_prevent_it() {
    let rto = LossPolicy::PerPacketRto { rto: Rto::Estimated { min: Span::from_millis(100) } };
    for policy in [LossPolicy::RFC_9002, LossPolicy::RACK, rto] {
        let loss = || LossSpec::Bernoulli(probability(0.3));
        let link = losing(LinkSpec::fixed(Rate::from_mbps(100), RTT.mul_div(1, 2)), loss());
        let mut topology = dumbbell(1, link);
        let Topology::Dumbbell(dumbbell) = &mut topology else { unreachable!() };
        dumbbell.reverse = losing(dumbbell.reverse.clone(), loss());
        for seed in 0..10 {
            let flows = vec![flow(0, 1, Load::Bytes(200_000))];
            let mut experiment = experiment("newreno", topology.clone(), flows, Span::from_secs(3_000));
            experiment.endpoints.sender.loss = policy;
            experiment.seed = seed;
            let outcome = run(&experiment);
            assert_all_complete(&outcome.flows, &format!("{policy:?}, seed {seed}"));
            assert!(outcome.flows[0].timeouts > 0 || policy == rto);
        }
    }
}

/// A link that is down keeps its packets and sends them when it is back, so traffic is back without waiting for a
/// timer.
#[test]
fn a_link_that_comes_back_after_two_seconds_is_full_again_at_once() {
    for algorithm in ["newreno", "cubic"] {
        let rate = Rate::from_mbps(20);
        let (down, up) = (Span::from_secs(3), Span::from_secs(5));
        let mut link = drop_tail(rate, RTT.mul_div(1, 2), Capacity::Bytes(200_000));
        link.service = link.service.with_changes([(down, Change::Down), (up, Change::Restore)]).unwrap();
        let mut experiment = experiment(algorithm, dumbbell(1, link), bulk(1), Span::from_secs(8));
        experiment.sample_every = Some(Span::from_millis(10));
        let outcome = run(&experiment);
        let quiet = delivery_rate(&outcome, 0, at(down + RTT), at(up)) * 8.0;
        assert!(quiet < 1.0, "{algorithm}: {quiet} bit/s over a link that is down");
        // The smoothed RTT has seen samples of two seconds, and the pacer needs some round trips to forget them.
        let again = delivery_rate(&outcome, 0, at(up + RTT.saturating_mul(10)), at(up + Span::from_secs(2))) * 8.0;
        assert!(again > 0.9 * rate.as_bps() as f64, "{algorithm}: {again} bit/s");
    }
}

/// A black hole takes everything for two seconds, both ways. Probes double their distance, so the next one leaves at
/// most as long after the end as the silence lasted; from then on the flow grows again.
#[test]
fn a_black_hole_is_left_within_as_long_as_it_lasted() {
    for policy in [LossPolicy::RFC_9002, LossPolicy::RACK] {
        let hole = Outage { from: Span::from_secs(3), until: Span::from_secs(5) };
        let loss = || LossSpec::Outages(Arc::new([hole]));
        let link = losing(drop_tail(Rate::from_mbps(20), RTT.mul_div(1, 2), Capacity::Bytes(200_000)), loss());
        let mut topology = dumbbell(1, link);
        let Topology::Dumbbell(dumbbell) = &mut topology else { unreachable!() };
        dumbbell.reverse = losing(dumbbell.reverse.clone(), loss());
        let mut experiment = experiment("newreno", topology, bulk(1), Span::from_secs(12));
        experiment.endpoints.sender.loss = policy;
        experiment.sample_every = Some(Span::from_millis(10));
        let outcome = run(&experiment);
        let delivered = |seconds| sample_at(&outcome, at(Span::from_secs(seconds))).flows[0].delivered;
        assert_eq!(delivered(4), delivered(5), "{policy:?}");
        assert!(delivered(7) > delivered(5), "{policy:?}: still silent after 2 s");
        let rate = delivery_rate(&outcome, 0, at(Span::from_secs(10)), at(Span::from_secs(12))) * 8.0;
        assert!(rate > 10e6, "{policy:?}: {rate} bit/s");
        assert!((3..12).contains(&outcome.flows[0].timeouts), "{policy:?}: {} timeouts", outcome.flows[0].timeouts);
    }
}

/// Several flows with a timer for each packet and nothing else, as simulators of the htsim family have it, over a queue
/// that overflows.
#[test]
fn timers_per_packet_complete_over_a_queue_that_overflows() {
    let link = drop_tail(Rate::from_gbps(1), Span::from_micros(100), Capacity::Packets(8));
    let flows: Vec<FlowSpec> = (0..8).map(|pair| flow(pair, 8 + pair, Load::Bytes(500_000))).collect();
    let mut experiment = experiment("dctcp", dumbbell(8, link), flows, Span::from_secs(5));
    experiment.endpoints.sender.loss = LossPolicy::PerPacketRto { rto: Rto::Fixed(Span::from_millis(2)) };
    let outcome = run(&experiment);
    assert!(outcome.ports[0].queue_drops > 50, "{:?}", outcome.ports[0]);
    assert_all_complete(&outcome.flows, "a timer per packet");
}
