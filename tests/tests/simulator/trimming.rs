//! Queues that cut packets to their headers, and what both ends make of it.

use cc_algos::{Rate, Span, Timestamp};
use cwndtunnel_tests::{assert_close, bulk, dumbbell, experiment, flow, payload, probability, run};
use sim::link::impair::LossSpec;
use sim::queue::{Capacity, ControlScheduler, DisciplineSpec, MarkAt, MarkingSpec, TrimmingSpec, Victim};
use sim::spec::{LinkSpec, Load, Star, Topology};
use sim::{Experiment, Outcome};
use transport::flow::Pacing;

const MTU: u64 = 1_500;

fn trimming(rate: Rate, propagation: Span, spec: TrimmingSpec) -> LinkSpec {
    LinkSpec { discipline: DisciplineSpec::Trimming(spec), ..LinkSpec::fixed(rate, propagation) }
}

/// Senders that put all they have onto the network at once.
fn incast(senders: u32, bytes: u64, spec: TrimmingSpec) -> Experiment {
    let up = LinkSpec::fixed(Rate::from_gbps(100), Span::from_micros(1));
    let down = trimming(Rate::from_gbps(10), Span::from_micros(1), spec);
    let flows = (1..=senders).map(|source| flow(source, 0, Load::Bytes(bytes))).collect();
    let topology = Topology::Star(Star { hosts: senders + 1, up, down });
    let mut experiment = experiment("fixed-window?window=1MB", topology, flows, Span::from_secs(2));
    experiment.endpoints.sender.pacing = Pacing::Off;
    experiment.check_wire = true;
    experiment
}

fn trims(outcome: &Outcome) -> u64 {
    outcome.ports.iter().filter_map(|port| port.trims).sum()
}

/// One packet is on the link, eight wait, the tenth is cut. Its header goes before those that wait, so that its bytes come
/// again long before the link would run dry: nine packets of 1 ms are on it from the start, and a round trip takes 2 ms.
#[test]
fn a_burst_of_one_packet_more_than_fits_is_repaired_while_the_link_stays_busy() {
    let spec = TrimmingSpec::new(Capacity::Packets(8));
    let link = trimming(Rate::from_mbps(12), Span::from_millis(1), spec);
    let size = 10 * payload(MTU);
    let flows = vec![flow(0, 1, Load::Bytes(size))];
    let mut experiment = experiment("fixed-window?window=100kB", dumbbell(1, link), flows, Span::from_secs(1));
    experiment.endpoints.sender.pacing = Pacing::Off;
    experiment.check_wire = true;
    let outcome = run(&experiment);
    let (port, flow) = (&outcome.ports[0], &outcome.flows[0]);
    assert_eq!((port.trims, port.queue_drops), (Some(1), 0), "{port:?}");
    assert_eq!((flow.lost, flow.retransmitted, flow.spurious, flow.timeouts), (1, 1, 0, 0), "{flow:?}");
    assert_eq!((flow.delivered, outcome.work.data_packets), (size, 10));
    // Ten of the eleven packets sent and a header of 38 B without a pause, and the way.
    let received = flow.received.unwrap().saturating_since(Timestamp::ZERO).as_secs_f64();
    let bits = (flow.bytes_sent as f64 / 11.0 * 10.0 + 38.0) * 8.0;
    assert_close(received, bits / 12e6 + 1e-3, 1e-4, "time until all has arrived");
    assert_eq!(outcome.ports[1].trims, None, "the way back never trims");
}

/// Every cut packet is named once and sent again once, whatever is cut and however control is served.
#[test]
fn each_cut_packet_is_reported_and_sent_again_exactly_once() {
    let plain = TrimmingSpec { control_capacity: Capacity::Unlimited, ..TrimmingSpec::new(Capacity::Packets(8)) };
    let newest = TrimmingSpec { victim: Victim::ArrivingOrNewest, ..plain };
    for spec in [plain, newest] {
        let outcome = run(&incast(8, 64_000, spec));
        let sum = |of: fn(&sim::outcome::FlowOutcome) -> u64| outcome.flows.iter().map(of).sum::<u64>();
        let cut = trims(&outcome);
        assert!(cut > 300, "of 8 bursts of 45 packets little more than 8 fit: {cut}");
        assert_eq!(sum(|flow| flow.lost), cut, "{spec:?}");
        assert_eq!(sum(|flow| flow.retransmitted), cut, "{spec:?}");
        assert_eq!(sum(|flow| flow.spurious + flow.timeouts), 0);
        assert_eq!(sum(|flow| flow.delivered), 8 * 64_000);
    }
}

/// Where control always goes first, data of senders that do not slow down starve behind their own headers; in turn they do
/// not. Eight windows of 45 packets come again and again: their headers take 12 us of the link, a round trip without queue 4 us.
#[test]
fn headers_of_senders_that_do_not_slow_down_starve_data_unless_served_in_turn() {
    let in_turn = TrimmingSpec { control_capacity: Capacity::Unlimited, ..TrimmingSpec::new(Capacity::Packets(8)) };
    let strict = TrimmingSpec { scheduler: ControlScheduler::Strict, ..in_turn };
    let [in_turn, strict] = [in_turn, strict].map(|spec| {
        let mut experiment = incast(8, 64_000, spec);
        experiment.duration = Span::from_millis(2);
        run(&experiment).flows.iter().map(|flow| flow.delivered).sum::<u64>()
    });
    // Ten headers and a data packet take 1 500 + 380 B: the 512 kB pass in 0.5 ms.
    assert_eq!(in_turn, 8 * 64_000);
    assert!(strict < 8 * 64_000 / 10, "{strict}");
}

/// What was sent arrived, was cut, or was dropped; the header queue here is so short that both happen.
#[test]
fn packets_are_conserved_where_headers_are_dropped_too() {
    let spec = TrimmingSpec { control_capacity: Capacity::Packets(4), ..TrimmingSpec::new(Capacity::Packets(8)) };
    let outcome = run(&incast(8, 64_000, spec));
    let port = &outcome.ports[0];
    assert!(port.queue_drops > 0 && trims(&outcome) > 0, "{port:?}");
    assert!(outcome.flows.iter().all(|flow| flow.completed.is_some() && flow.delivered == 64_000));
    let sent: u64 = outcome.flows.iter().map(|flow| flow.packets_sent).sum();
    assert_eq!(sent, outcome.work.data_packets + trims(&outcome) + port.queue_drops);
    assert_eq!(port.packets, outcome.work.data_packets + trims(&outcome), "headers cross the link");
}

/// Three in ten packets to the senders are lost, reports among them: the engine finds those losses as any others.
#[test]
fn a_lost_report_leaves_the_loss_to_be_found_otherwise() {
    let link = trimming(Rate::from_mbps(100), Span::from_millis(1), TrimmingSpec::new(Capacity::Packets(8)));
    let flows = (0..4).map(|pair| flow(pair, 4 + pair, Load::Bytes(200_000))).collect();
    let mut experiment = experiment("fixed-window?window=60kB", dumbbell(4, link), flows, Span::from_secs(60));
    experiment.check_wire = true;
    let Topology::Dumbbell(dumbbell) = &mut experiment.topology else { unreachable!("it is one") };
    dumbbell.reverse.impairments.loss = LossSpec::Bernoulli(probability(0.3));
    let outcome = run(&experiment);
    assert!(trims(&outcome) > 50, "{:?}", outcome.ports);
    assert!(outcome.flows.iter().all(|flow| flow.completed.is_some() && flow.delivered == 200_000));
}

/// The data of a trimming queue is marked like that of any other, before anything is cut.
#[test]
fn marks_keep_a_law_that_heeds_them_from_being_trimmed() {
    for mark_at in [MarkAt::Enqueue, MarkAt::Dequeue] {
        let marking = MarkingSpec::Threshold { bytes: 30_000 };
        let spec = TrimmingSpec { marking, mark_at, ..TrimmingSpec::new(Capacity::Bytes(300_000)) };
        let link = trimming(Rate::from_mbps(100), Span::from_millis(1), spec);
        let outcome = run(&experiment("dctcp", dumbbell(2, link), bulk(2), Span::from_secs(2)));
        let port = &outcome.ports[0];
        assert!(port.marks > 1_000 && port.bytes * 10 > port.offered * 9, "{mark_at:?}: {port:?}");
        assert_eq!(port.trims, Some(0), "{mark_at:?}");
        assert!(outcome.flows.iter().map(|flow| flow.marked).sum::<u64>() > 1_000);
    }
}
