//! Erasure-coded flows: what coding saves, costs and counts.

use std::sync::Arc;

use cc_algos::{Rate, Span};
use cwndtunnel_tests::{MTU, at, drop_tail, dumbbell, experiment, flow, losing, periodic_loss, probability, run};
use sim::Experiment;
use sim::link::impair::LossSpec;
use sim::outcome::{CodingOutcome, FlowOutcome};
use sim::queue::{Capacity, DisciplineSpec};
use sim::spec::{BlockTimeout, FlowSpec, LinkSpec, Load};
use transport::flow::code::{Coding, Parity};
use transport::flow::{LossPolicy, Pacing, Rto};

const RATE: Rate = Rate::from_mbps(100);
const ONE_WAY: Span = Span::from_millis(10);

/// Flows of a fixed window in blocks of eight and two.
fn coded(link: LinkSpec, flows: Vec<FlowSpec>, timeout: Span) -> Experiment {
    let mut experiment = experiment("fixed-window?window=10MB", dumbbell(1, link), flows, Span::from_secs(20));
    experiment.endpoints.sender.coding = Some(Coding::new(8, Parity::Fixed(2), timeout).unwrap());
    experiment.endpoints.sender.pacing = Pacing::Off;
    experiment.check_wire = true;
    experiment
}

fn bottleneck(lost: impl IntoIterator<Item = u64>) -> LinkSpec {
    let packets: Arc<[u64]> = lost.into_iter().collect();
    let loss = if packets.is_empty() { LossSpec::None } else { LossSpec::Packets(packets) };
    losing(drop_tail(RATE, ONE_WAY, Capacity::Unlimited), loss)
}

fn lone(experiment: &Experiment) -> (FlowOutcome, CodingOutcome) {
    let flow = run(experiment).flows.remove(0);
    let coding = flow.coding.unwrap();
    (flow, coding)
}

/// All packets leave at once and queue at the bottleneck. Each block, and the short one at the end as well, loses a packet of
/// data and is complete by its first parity: base RTT, which has one full packet in it, and the wire time of all others but
/// the last.
#[test]
fn a_loss_in_each_block_costs_the_wire_time_of_parity_and_no_round_trip() {
    let blocks = 30;
    let lost = (0..blocks).map(|block| 10 * block + block % 3);
    let never = Span::from_secs(10);
    let flows = vec![flow(0, 1, Load::Bytes(8 * blocks * 1_400))];
    let (flow, coding) = lone(&coded(bottleneck(lost), flows, never));
    assert_eq!((flow.retransmitted, flow.timeouts), (0, 0), "{flow:?}");
    assert_eq!((coding.blocks, coding.repaired, coding.nacks), (blocks, 0, 0));
    assert_eq!((coding.decoded, coding.parity_packets), (blocks, 2 * blocks));
    let last = coding.parity_bytes / coding.parity_packets;
    let expected = flow.base_rtt + RATE.time_for(flow.bytes_sent - last - MTU).unwrap();
    let took = flow.completion_time().unwrap();
    // A few bytes by which headers differ, at 80 ns each.
    let apart = took.max(expected) - took.min(expected);
    assert!(apart < Span::from_micros(2), "{took}, expected {expected}");
}

#[test]
fn parity_is_sent_and_counted_and_goodput_is_data_alone() {
    let size = 1_000_000;
    let (flow, coding) = lone(&coded(bottleneck([]), vec![flow(0, 1, Load::Bytes(size))], Span::from_secs(10)));
    assert_eq!((flow.delivered, flow.size, flow.retransmitted), (size, Some(size), 0));
    let data = flow.packets_sent - coding.parity_packets;
    assert_eq!((coding.blocks, coding.parity_packets), (data.div_ceil(8), 2 * data.div_ceil(8)));
    assert!(coding.parity_bytes > size / 4 && coding.parity_bytes < size * 27 / 100, "{coding:?}");
    assert_eq!((coding.decoded, coding.repaired, coding.recovered), (0, 0, 0));
    // The ideal is that of a flow without coding.
    assert!(flow.wire_size.unwrap() < flow.bytes_sent - coding.parity_bytes);
}

#[test]
fn a_block_that_loses_more_than_its_parity_is_repaired_in_a_round_trip() {
    let flows = vec![flow(0, 1, Load::Bytes(8 * 10 * 1_400))];
    let (flow, coding) = lone(&coded(bottleneck([10, 12, 14]), flows, Span::from_secs(10)));
    assert_eq!((coding.repaired, flow.retransmitted, flow.timeouts), (1, 3, 0), "{flow:?}");
    assert_eq!(flow.delivered, 8 * 10 * 1_400);
}

#[test]
fn the_receivers_complaint_spares_the_wait_for_a_retransmission_timer() {
    // The end of the only block is lost, and nothing comes after it.
    let mut experiment = coded(bottleneck(5..10), vec![flow(0, 1, Load::Bytes(11_000))], Span::from_millis(5));
    experiment.endpoints.sender.loss = LossPolicy::PerPacketRto { rto: Rto::Fixed(Span::from_secs(1)) };
    // 125 kB take 10 ms at 100 Mb/s.
    let mut bounded = bottleneck(5..10);
    bounded.discipline = DisciplineSpec::DropTail { capacity: Capacity::Bytes(125_000) };
    let mut by_queues = Experiment { topology: dumbbell(1, bounded), ..experiment.clone() };
    by_queues.endpoints.block_timeout = BlockTimeout::FullQueues;
    for (experiment, patience) in [(experiment, 5), (by_queues, 10)] {
        let (flow, coding) = lone(&experiment);
        assert_eq!((coding.nacks, coding.repaired, flow.timeouts), (1, 1, 0), "{flow:?}");
        // There, the receiver's patience, back, and there and back once more.
        let took = flow.completion_time().unwrap();
        let least = ONE_WAY.saturating_mul(4) + Span::from_millis(patience);
        assert!(took > least && took < least + Span::from_millis(2), "{took}");
    }
}

#[test]
fn flows_that_stop_end_with_whole_blocks_and_every_byte_arrives() {
    let burst = Load::OnOff { burst: 5_000, period: Span::from_millis(3) };
    for load in [Load::Unlimited, burst] {
        let stopped = FlowSpec { stop: Some(at(Span::from_millis(203))), ..flow(0, 1, load) };
        let mut link = drop_tail(RATE, ONE_WAY, Capacity::Packets(100));
        link.impairments.loss = LossSpec::Bernoulli(probability(0.05));
        link.impairments.duplicate = probability(0.05);
        let mut experiment = coded(link, vec![stopped], Span::from_millis(7));
        experiment.contestants = vec![cwndtunnel_tests::contestant("newreno")];
        let (flow, coding) = lone(&experiment);
        assert!(flow.completed.is_some() && coding.decoded > 0, "{load:?}: {flow:?}");
        if load == burst {
            assert_eq!(flow.delivered, 68 * 5_000);
        }
    }
}

#[test]
fn losses_that_coding_makes_good_still_slow_a_sender_down() {
    // One packet in 50 over a link that could carry any window: Reno's law without coding and with it.
    let run_with = |coding: Option<Coding>| {
        let link = periodic_loss(ONE_WAY, 50, 7);
        let mut experiment = coded(link, vec![flow(0, 1, Load::Unlimited)], Span::from_secs(10));
        experiment.contestants = vec![cwndtunnel_tests::contestant("newreno")];
        experiment.endpoints.sender.coding = coding;
        run(&experiment).flows.remove(0)
    };
    let plain = run_with(None);
    let coded = run_with(Some(Coding::new(8, Parity::Fixed(2), Span::from_secs(10)).unwrap()));
    assert!(coded.coding.unwrap().recovered > 0 && coded.retransmitted == 0, "{coded:?}");
    let ratio = coded.packets_sent as f64 / plain.packets_sent as f64;
    assert!((0.9..1.1).contains(&ratio), "{} and {}", coded.packets_sent, plain.packets_sent);
}

#[test]
fn adaptive_parity_follows_the_losses() {
    let parity_share = |loss| {
        let link = losing(drop_tail(RATE, ONE_WAY, Capacity::Unlimited), LossSpec::Bernoulli(probability(loss)));
        let mut experiment = coded(link, vec![flow(0, 1, Load::Bytes(5_000_000))], Span::from_secs(10));
        experiment.endpoints.sender.coding =
            Some(Coding::new(8, Parity::Adaptive { min: 0, max: 6 }, Span::from_millis(30)).unwrap());
        // A window of a round trip, so that what was lost is known while there is more to send.
        experiment.contestants = vec![cwndtunnel_tests::contestant("fixed-window?window=250kB")];
        let (flow, coding) = lone(&experiment);
        assert_eq!(flow.delivered, 5_000_000);
        coding.parity_packets as f64 / flow.packets_sent as f64
    };
    let shares = [0.0, 0.01, 0.1].map(parity_share);
    assert!(shares[0] == 0.0 && shares[1] > 0.1 && shares[2] > shares[1] + 0.1, "{shares:?}");
}
