//! Round trips of microseconds and less, and packets of all sizes.

use cc_algos::{Rate, Span};
use cwndtunnel_tests::{dumbbell, experiment, flow, run};
use sim::Experiment;
use sim::queue::{Capacity, DisciplineSpec};
use sim::spec::{LinkSpec, Load, Star, Topology};
use transport::flow::SenderConfig;

fn star(hosts: u32, rate: Rate, hop: Span, flows: Vec<sim::spec::FlowSpec>) -> Experiment {
    let up = LinkSpec::fixed(rate, hop);
    let mut experiment =
        experiment("newreno", Topology::Star(Star { hosts, down: up.clone(), up }), flows, Span::from_millis(200));
    experiment.endpoints.sender = SenderConfig::datacentre();
    experiment.sample_every = Some(Span::from_micros(50));
    experiment
}

/// 100 Gb/s and 350 ns a hop: an RTT of about 2 us with serialisation. Estimators and timers work at that scale: the
/// smoothed RTT is the real one, and no timer expires although nothing is lost.
#[test]
fn an_rtt_of_two_microseconds_is_measured_and_causes_no_timeout() {
    let flows = vec![flow(0, 1, Load::Bytes(50_000_000))];
    let outcome = run(&star(2, Rate::from_gbps(100), Span::from_nanos(350), flows));
    let flow = &outcome.flows[0];
    assert!((Span::from_nanos(2_000)..Span::from_nanos(2_200)).contains(&flow.base_rtt), "{flow:?}");
    let min = flow.min_rtt.unwrap();
    assert!(min.abs_diff(flow.base_rtt) < Span::from_nanos(50), "{flow:?}");
    assert_eq!((flow.timeouts, flow.lost, flow.retransmitted), (0, 0, 0), "{flow:?}");
    // 50 MB at 100 Gb/s take 4 ms, headers 2 % more.
    assert!(flow.completion_time().unwrap() < Span::from_micros(4_150), "{flow:?}");
    let smoothed = outcome.samples[1].flows[0].smoothed_rtt.unwrap();
    assert!(smoothed >= min && smoothed < Span::from_micros(100), "{smoothed}");
}

/// A loss is repaired within a few RTTs, not after a timer of milliseconds: the last packet of a transfer is lost, so
/// that only a probe timeout helps.
#[test]
fn a_lost_tail_is_repaired_within_microseconds() {
    let mut experiment = star(2, Rate::from_gbps(100), Span::from_nanos(350), vec![flow(0, 1, Load::Bytes(30_000))]);
    let lossless = run(&experiment).flows.remove(0);
    let last = lossless.packets_sent - 1;
    let Topology::Star(star) = &mut experiment.topology else { unreachable!() };
    star.down.impairments.loss = sim::link::impair::LossSpec::Packets(std::sync::Arc::new([last]));
    let flow = run(&experiment).flows.remove(0);
    assert!(flow.timeouts >= 1 && flow.retransmitted >= 1, "{flow:?}");
    let longer = flow.completion_time().unwrap().saturating_sub(lossless.completion_time().unwrap());
    assert!(longer < Span::from_micros(30), "{longer}");
}

/// RTTs below a microsecond, down to a few nanoseconds, neither divide by zero nor spin.
#[test]
fn round_trips_below_a_microsecond_work() {
    for hop in [Span::ZERO, Span::from_nanos(1), Span::from_nanos(100)] {
        let outcome = run(&star(2, Rate::from_gbps(800), hop, vec![flow(0, 1, Load::Bytes(20_000_000))]));
        let flow = &outcome.flows[0];
        assert!(flow.completed.is_some() && flow.min_rtt.is_some_and(|rtt| rtt > Span::ZERO), "{flow:?}");
        // 20 MB at 800 Gb/s take 200 us.
        assert!(flow.completion_time().unwrap() < Span::from_micros(220), "{flow:?}");
    }
}

/// Thirty-two to one with a buffer of 64 packets: all complete although most of the first burst is dropped, and within
/// tens of RTTs of what the link needs, not after timers of milliseconds.
#[test]
fn an_incast_that_overflows_recovers_in_microseconds() {
    let flows = (1..33).map(|source| flow(source, 0, Load::Bytes(200_000))).collect();
    let mut experiment = star(33, Rate::from_gbps(100), Span::from_nanos(500), flows);
    let Topology::Star(star) = &mut experiment.topology else { unreachable!() };
    star.down.discipline = DisciplineSpec::DropTail { capacity: Capacity::Packets(64) };
    let outcome = run(&experiment);
    assert!(outcome.ports[0].queue_drops > 100, "{:?}", outcome.ports[0]);
    assert!(outcome.flows.iter().all(|flow| flow.completed.is_some()));
    // 6.4 MB take 520 us.
    let last = outcome.flows.iter().filter_map(|flow| flow.completion_time()).max().unwrap();
    assert!(last < Span::from_micros(1_500), "{last}");
}

#[test]
fn packets_of_all_sizes_fill_a_link() {
    for mtu in [256, 576, 1_280, 9_000, 65_535] {
        let link = LinkSpec::fixed(Rate::from_gbps(10), Span::from_micros(10));
        let window = 40 * mtu.max(2_000);
        let size = 2_000 * mtu;
        let flows = vec![flow(0, 1, Load::Bytes(size))];
        let algorithm = format!("fixed-window?window={window}B");
        let mut experiment = experiment(&algorithm, dumbbell(1, link), flows, Span::from_secs(1));
        experiment.endpoints.sender = SenderConfig::datacentre();
        experiment.endpoints.sender.mtu = mtu;
        experiment.check_wire = true;
        let flow = &run(&experiment).flows[0];
        assert_eq!((flow.delivered, flow.lost), (size, 0), "{flow:?}");
        let slowdown =
            flow.completion_time().unwrap().as_secs_f64() / flow.ideal_completion_time(mtu).unwrap().as_secs_f64();
        assert!((0.9999..1.1).contains(&slowdown), "mtu {mtu}: slowdown {slowdown}");
    }
}
