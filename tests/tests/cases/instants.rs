//! Events of one instant.

use cc_algos::{Rate, Span};
use cwndtunnel_tests::{at, drop_tail, dumbbell, experiment, flow, run};
use sim::Experiment;
use sim::queue::{Capacity, CodelSpec, DisciplineSpec, PieSpec};
use sim::spec::{FlowSpec, LinkSpec, Load, Start};

/// So many packets arrive together in a queue that holds as many; one more comes `after` later. All packets are alike.
fn burst(link: LinkSpec, capacity: u32, after: Span) -> Experiment {
    let one = |pair: u32| flow(pair, capacity + 1 + pair, Load::Bytes(1_000));
    let mut flows: Vec<_> = (0..capacity).map(one).collect();
    flows.push(FlowSpec { start: Start::At(at(after)), ..one(capacity) });
    experiment("fixed-window", dumbbell(capacity + 1, link), flows, Span::from_millis(10))
}

/// Time that one of the packets takes at 100 Mb/s. Its size times 8 ns is a whole number of 80 ns.
fn service_time(capacity: u32) -> Span {
    let link = drop_tail(Rate::from_mbps(100), Span::from_micros(10), Capacity::Unlimited);
    Span::from_nanos(run(&burst(link, capacity, Span::ZERO)).flows[0].bytes_sent * 80)
}

/// A packet that comes in the very instant in which another leaves finds its place free; a nanosecond earlier it does
/// not.
#[test]
fn departures_come_before_arrivals_of_the_same_instant() {
    let capacity = 4;
    let service = service_time(capacity);
    let link = || drop_tail(Rate::from_mbps(100), Span::from_micros(10), Capacity::Packets(capacity.into()));
    for seed in 0..20 {
        let drops = |after| {
            let mut experiment = burst(link(), capacity, after);
            experiment.seed = seed;
            run(&experiment).ports[0].queue_drops
        };
        assert_eq!(drops(service), 0, "seed {seed}");
        assert_eq!(drops(service - Span::from_nanos(1)), 1, "seed {seed}");
    }
}

/// The same for disciplines that choose at dequeue. Their capacity does not count the packet on the link, so one more
/// fits.
#[test]
fn departures_come_before_arrivals_at_queues_that_choose_at_dequeue() {
    let waiting = Capacity::Packets(3);
    let capacity = 4;
    let service = service_time(capacity);
    let codel = DisciplineSpec::Codel(CodelSpec { capacity: waiting, ..Default::default() });
    let pie = DisciplineSpec::Pie(PieSpec { capacity: waiting, ..Default::default() });
    for discipline in [codel, pie] {
        for seed in 0..20 {
            let drops = |after| {
                let link = LinkSpec::fixed(Rate::from_mbps(100), Span::from_micros(10));
                let link = LinkSpec { discipline: discipline.clone(), ..link };
                let mut experiment = burst(link, capacity, after);
                experiment.seed = seed;
                run(&experiment).ports[0].queue_drops
            };
            assert_eq!(drops(service), 0, "{discipline:?}, seed {seed}");
            assert_eq!(drops(service - Span::from_nanos(1)), 1, "{discipline:?}, seed {seed}");
        }
    }
}

/// A burst of one packet more than the queue holds loses exactly that one, whoever sends it.
#[test]
fn a_burst_of_capacity_and_one_loses_one() {
    let link = drop_tail(Rate::from_mbps(100), Span::from_micros(10), Capacity::Packets(4));
    let experiment = burst(link, 4, Span::ZERO);
    assert_eq!(run(&experiment).ports[0].queue_drops, 1);
}
