//! Whole runs on small networks.

mod near_source;
mod signals;
mod triggers;

use cc_algos::{Rate, Registry, Span, Timestamp};
use transport::flow::{Pacing, ReceiverConfig, SenderConfig};

use super::run;
use crate::ids::HostId;
use crate::link::impair::{JitterSchedule, JitterStep};
use crate::outcome::Outcome;
use crate::queue::{Capacity, DisciplineSpec};
use crate::spec::{
    Balancing, BlockTimeout, Contestant, Dumbbell, EndpointSpec, Experiment, FlowSpec, LinkSpec, Load, PathRto, Side,
    Start, Switching, Topology,
};

fn contestant(spec: &'static str) -> Contestant {
    let registry = Registry::builtin();
    Contestant::registered(&registry, &registry.resolve(spec).unwrap(), 1_500).unwrap()
}

fn flow(source: u32, destination: u32, load: Load) -> FlowSpec {
    FlowSpec {
        source: HostId(source),
        destination: HostId(destination),
        start: Start::At(Timestamp::ZERO),
        stop: None,
        load,
        contestant: 0,
        group: 0,
    }
}

fn endpoints() -> EndpointSpec {
    EndpointSpec {
        sender: SenderConfig::default(),
        receiver: ReceiverConfig::default(),
        ack_every: 2,
        ack_delay: Span::from_millis(25),
        rto: PathRto::Configured,
        block_timeout: BlockTimeout::Configured,
    }
}

/// One bottleneck of `mbps` and `millis` one-way delay with a drop-tail queue of `capacity`.
fn dumbbell(pairs: u32, mbps: u64, millis: u64, capacity: Capacity) -> Topology {
    let mut bottleneck = LinkSpec::fixed(Rate::from_mbps(mbps), Span::from_millis(millis));
    bottleneck.discipline = DisciplineSpec::DropTail { capacity };
    Topology::Dumbbell(Dumbbell {
        pairs,
        access: LinkSpec::fixed(Rate::from_gbps(10), Span::from_micros(10)),
        extra_delay: vec![],
        delivery: vec![],
        extra_side: Side::Left,
        reverse: LinkSpec::fixed(Rate::from_mbps(mbps), Span::from_millis(millis)),
        bottleneck,
    })
}

fn experiment(topology: Topology, flows: Vec<FlowSpec>, algorithm: &'static str, seconds: u64) -> Experiment {
    Experiment {
        seed: 1,
        duration: Span::from_secs(seconds),
        topology,
        contestants: vec![contestant(algorithm)],
        flows,
        endpoints: endpoints(),
        sample_every: None,
        balance: Balancing::ecmp(),
        switching: Switching::Ecmp,
        faults: Vec::new(),
        triggers: Vec::new(),
        check_wire: true,
    }
}

fn utilisation(outcome: &Outcome) -> f64 {
    outcome.ports[0].bytes as f64 / outcome.ports[0].offered as f64
}

/// Bursts of exactly the initial window use it, although no packet is ever held back by it.
#[test]
fn a_window_that_each_burst_fills_exactly_grows() {
    let payload = u64::from(crate::framing::payload(SenderConfig::default().mtu));
    let largest = |packets| {
        let load = Load::OnOff { burst: packets * payload, period: Span::from_millis(100) };
        let topology = dumbbell(1, 100, 10, Capacity::Bytes(1_000_000));
        let mut bursts = experiment(topology, vec![flow(0, 1, load)], "newreno", 1);
        bursts.endpoints.sender.pacing = Pacing::Off;
        bursts.sample_every = Some(Span::from_millis(100));
        let outcome = run(&bursts).unwrap();
        outcome.samples.iter().flat_map(|sample| &sample.flows).map(|flow| flow.window).max()
    };
    assert_eq!(largest(5), Some(12_000), "half of it is not all of it");
    assert!(largest(10) > Some(20_000), "{:?}", largest(10));
}

#[test]
fn a_lone_bulk_flow_fills_the_bottleneck() {
    let flows = vec![flow(0, 1, Load::Unlimited)];
    let outcome = run(&experiment(dumbbell(1, 20, 20, Capacity::Bytes(100_000)), flows, "newreno", 20)).unwrap();
    let used = utilisation(&outcome);
    assert!(used > 0.9 && used <= 1.0, "{used} {outcome:?}");
}

#[test]
fn a_flow_that_ends_on_an_odd_packet_waits_for_no_delayed_acknowledgement() {
    // One packet, and three; every second one is acknowledged at once, and the last one of a stream.
    for bytes in [100, 3_000] {
        let topology = dumbbell(1, 20, 20, Capacity::Unlimited);
        let outcome = run(&experiment(topology, vec![flow(0, 1, Load::Bytes(bytes))], "newreno", 5)).unwrap();
        let waited = outcome.flows[0].completion_time().unwrap() - outcome.flows[0].base_rtt;
        // The packets after the first and their pacing, far below the 25 ms of a delayed acknowledgement.
        assert!(waited < Span::from_millis(15), "{bytes} B: {waited:?}");
    }
}

#[test]
fn no_flow_is_faster_than_over_an_empty_network_and_one_of_a_single_packet_is_as_fast() {
    for bytes in [1, 100, 900, 1_100, 5_000, 100_000] {
        let topology = dumbbell(1, 2, 1, Capacity::Unlimited);
        let mtu = endpoints().sender.mtu;
        let outcome = run(&experiment(topology, vec![flow(0, 1, Load::Bytes(bytes))], "newreno", 5)).unwrap();
        let took = outcome.flows[0].completion_time().unwrap();
        let ideal = outcome.flows[0].ideal_completion_time(mtu).unwrap();
        // The last packet may be smaller than the one that the access link behind the bottleneck is reckoned with:
        // 1 200 B take 1 us at 10 Gb/s.
        assert!(took + Span::from_micros(1) > ideal, "{bytes} B: {took:?}, ideal {ideal:?}");
        // One packet, and an acknowledgement that tells of no ECN counts, of 3 B or 12 us at 2 Mb/s.
        if bytes < 1_100 {
            assert!(took < ideal + Span::from_micros(13), "{bytes} B: {took:?}, ideal {ideal:?}");
        }
    }
}

#[test]
fn a_flow_that_is_stopped_has_no_size_and_so_no_completion_time_in_an_empty_network() {
    let stopped = FlowSpec { stop: Some(Timestamp::ZERO + Span::from_secs(1)), ..flow(0, 1, Load::Unlimited) };
    let outcome = run(&experiment(dumbbell(1, 20, 20, Capacity::Bytes(50_000)), vec![stopped], "newreno", 5)).unwrap();
    let flow = &outcome.flows[0];
    assert!(flow.completed.is_some() && flow.delivered > 1_000_000, "{flow:?}");
    assert_eq!((flow.size, flow.wire_size), (None, None));
}

#[test]
fn a_long_flow_is_sampled_however_many_short_ones_come_before_it() {
    let mut flows: Vec<_> = (0..100).map(|_| flow(0, 1, Load::Bytes(1_000_000))).collect();
    flows.extend((0..100).map(|_| flow(0, 1, Load::Unlimited)));
    let mut experiment = experiment(dumbbell(1, 20, 20, Capacity::Unlimited), flows, "newreno", 1);
    experiment.sample_every = Some(Span::from_millis(500));
    let outcome = run(&experiment).unwrap();
    let sampled: Vec<u32> = outcome.samples[1].flows.iter().map(|flow| flow.flow.0).collect();
    assert_eq!(sampled, (0..64).chain(100..200).collect::<Vec<u32>>());
}

#[test]
fn jitter_of_the_link_to_one_host_delays_its_flow_alone() {
    let Topology::Dumbbell(mut network) = dumbbell(2, 20, 20, Capacity::Bytes(100_000)) else { unreachable!() };
    let plain = network.access.clone();
    let mut late = plain.clone();
    let held = JitterStep { at: Span::ZERO, delay: Span::from_millis(7) };
    late.impairments.jitter_schedule = JitterSchedule::new([held]).unwrap();
    network.delivery = vec![plain, late];
    let flows = vec![flow(0, 2, Load::Bytes(1_000)), flow(1, 3, Load::Bytes(1_000))];
    let outcome = run(&experiment(Topology::Dumbbell(network), flows, "newreno", 5)).unwrap();
    let [first, second] = [0, 1].map(|index| outcome.flows[index].min_rtt.unwrap());
    // Both leave at once; the one behind waits for the other's 1 kB at 20 Mb/s, less than half a millisecond.
    let apart = second - first;
    assert!(apart > Span::from_micros(6_500) && apart < Span::from_micros(7_500), "{apart}");
}
