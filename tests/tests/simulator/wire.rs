//! Every packet of a run, encoded as it would be on the wire, weighs what was charged for it and parses to what was
//! sent.

use std::sync::Arc;

use cc_algos::{Rate, Span};
use cwndtunnel_tests::{MTU, bulk, drop_tail, dumbbell, experiment, flow, losing, payload, probability, run};
use sim::link::impair::{LossSpec, Outage, Reorder};
use sim::queue::Capacity;
use sim::spec::{LinkSpec, Load, Topology};
use transport::flow::EchoConfig;

use crate::families::families;

#[test]
fn what_every_family_sends_parses_to_what_was_sent() {
    for (name, mut experiment) in families() {
        experiment.check_wire = true;
        for echo in [EchoConfig::default(), EchoConfig::ALL] {
            experiment.endpoints.receiver.echo = echo;
            let outcome = sim::run(&experiment);
            assert!(outcome.is_ok(), "{name}, {echo:?}: {outcome:?}");
        }
    }
}

#[test]
fn packets_of_all_sizes_and_acknowledgements_of_many_ranges_parse() {
    for mtu in [256, 1_200, 9_000, 65_535] {
        let mut link = losing(
            drop_tail(Rate::from_mbps(200), Span::from_millis(5), Capacity::Unlimited),
            LossSpec::Bernoulli(probability(0.2)),
        );
        link.impairments.reorder = Some(Reorder { probability: probability(0.3), extra: Span::from_millis(4) });
        let window = 200 * mtu;
        let mut experiment =
            experiment(&format!("fixed-window?window={window}B"), dumbbell(1, link), bulk(1), Span::from_secs(1));
        experiment.endpoints.sender.mtu = mtu;
        experiment.check_wire = true;
        let flow = &run(&experiment).flows[0];
        assert!(flow.retransmitted > flow.packets_sent / 10, "{flow:?}");
    }
}

/// Ten packets leave, and their acknowledgements fall into an outage. The probe timeout sends the oldest data twice; of
/// these two the later one is lost. Everything is acknowledged then but that packet, so the next probes carry nothing:
/// pings.
#[test]
fn a_probe_with_nothing_to_repeat_is_a_ping() {
    let rtt = Span::from_millis(20);
    let link = LinkSpec::fixed(Rate::from_gbps(1), rtt.mul_div(1, 2));
    let mut topology = dumbbell(1, losing(link, LossSpec::Packets(Arc::new([11]))));
    let Topology::Dumbbell(dumbbell) = &mut topology else { unreachable!() };
    let outage = Outage { from: Span::ZERO, until: rtt.mul_div(3, 2) };
    dumbbell.reverse = losing(dumbbell.reverse.clone(), LossSpec::Outages(Arc::new([outage])));
    let burst = 10 * payload(MTU);
    let load = Load::OnOff { burst, period: Span::from_secs(100) };
    let mut experiment = experiment("fixed-window", topology, vec![flow(0, 1, load)], Span::from_secs(50));
    experiment.endpoints.sender.initial_rtt = rtt;
    experiment.check_wire = true;
    let flow = &run(&experiment).flows[0];
    assert_eq!((flow.delivered, flow.retransmitted, flow.timeouts), (burst, 2, 2), "{flow:?}");
    // Ten, two probes with data, two pings.
    assert_eq!(flow.packets_sent, 14);
}
