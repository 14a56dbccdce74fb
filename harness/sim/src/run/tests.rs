//! Whole runs on small networks.

use std::sync::Arc;

use cc_algos::{Rate, Registry, Span, Timestamp};
use transport::flow::{Pacing, ReceiverConfig, SenderConfig};

use super::run;
use crate::ids::HostId;
use crate::outcome::Outcome;
use crate::queue::{Capacity, DisciplineSpec};
use crate::spec::{
    Balance, Contestant, Dumbbell, EndpointSpec, Experiment, FlowSpec, Knowledge, LinkSpec, Load, Start, Topology,
};

fn contestant(spec: &'static str) -> Contestant {
    let registry = Registry::builtin();
    let args = registry.resolve(spec).unwrap();
    Contestant {
        label: spec.into(),
        build: Arc::new(move |setup| registry.build_args(&args, setup).unwrap()),
        knowledge: Knowledge::Estimated,
    }
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
        balance: Balance::Ecmp,
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
