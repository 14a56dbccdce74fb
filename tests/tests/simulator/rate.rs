//! Rate exactness: a source that always has something in the queue gets the link's rate, never more.

use cc_algos::{Rate, Span, Timestamp};
use cwndtunnel_tests::{MTU, bulk, dumbbell, experiment, payload, run, sample_at};
use sim::link::{Change, End, Opportunities, Opportunity, Segment, Segments, ServiceSpec};
use sim::outcome::{PortSample, Sample};
use sim::queue::{CodelSpec, DisciplineSpec, FqCodelSpec};
use sim::spec::LinkSpec;
use sim::{Experiment, Outcome};
use transport::flow::Pacing;

const DELAY: Span = Span::from_micros(10);

/// A fixed window over a link that serves for `packets` packet times. The window holds several products of rate and
/// delay and all bursts of traces here, so the queue never runs dry once it has filled.
fn saturated(service: ServiceSpec, mean: Rate, packets: u64) -> Experiment {
    let window = 8 * mean.bytes_in(DELAY) + 100 * MTU;
    let duration = mean.time_for(packets * MTU).unwrap();
    let link = LinkSpec { service, ..LinkSpec::fixed(mean, DELAY) };
    let mut experiment = experiment(&format!("fixed-window?window={window}B"), dumbbell(1, link), bulk(1), duration);
    experiment.endpoints.sender.pacing = Pacing::Off;
    // The queue may hold a packet longer than any timer waits.
    experiment.endpoints.sender.initial_rtt = Span::from_secs(10);
    experiment.sample_every = Some(duration.mul_div(1, 1_000));
    experiment
}

/// From a tenth of the run on, when the queue is full: the first and the last sample.
fn steady(outcome: &Outcome) -> (&Sample, &Sample) {
    let end = outcome.ended_at;
    (sample_at(outcome, Timestamp::from_nanos(end.as_nanos() / 10)), sample_at(outcome, end))
}

/// Wire rate at the port and wire rate of what reached the application, bit/s. A packet that carries the payload of a
/// full one weighs up to 10 bytes less than the MTU, by the lengths of its numbers; what was sent tells its mean.
fn rates(outcome: &Outcome) -> (f64, f64) {
    let (first, last) = steady(outcome);
    let seconds = last.at.saturating_since(first.at).as_secs_f64();
    let flow = &outcome.flows[0];
    let weight = flow.bytes_sent as f64 / (flow.packets_sent * payload(MTU)) as f64;
    let port = (last.ports[0].bytes - first.ports[0].bytes) as f64;
    let delivered = (last.flows[0].delivered - first.flows[0].delivered) as f64 * weight;
    (port * 8.0 / seconds, delivered * 8.0 / seconds)
}

fn assert_exact(experiment: &Experiment, rate: Rate) {
    let outcome = run(experiment);
    assert_eq!(outcome.flows[0].retransmitted, 0, "{:?}", outcome.flows[0]);
    let (port, delivered) = rates(&outcome);
    let expected = rate.as_bps() as f64;
    for (what, measured) in [("port", port), ("receiver", delivered)] {
        let off = (measured / expected - 1.0).abs();
        assert!(off < 1e-3, "{what}: {measured} bit/s over a link of {rate}, off by {:.4} %", off * 100.0);
    }
    assert_never_above(&outcome);
}

/// No more leaves than the link offers, from the start to any sample.
fn assert_never_above(outcome: &Outcome) {
    let over = |port: &PortSample| port.bytes > port.offered;
    let first = outcome.samples.iter().find(|sample| sample.ports.iter().any(over));
    assert!(first.is_none(), "{first:?}");
    assert!(outcome.ports.iter().all(|port| port.bytes <= port.offered), "{:?}", outcome.ports);
}

#[test]
fn fixed_links_carry_exactly_their_rate_from_1_mbps_to_400_gbps() {
    let rates = [
        Rate::from_mbps(1),
        Rate::from_bps(12_345_678),
        Rate::from_mbps(100),
        Rate::from_gbps(10),
        Rate::from_gbps(400),
    ];
    for rate in rates {
        assert_exact(&saturated(ServiceSpec::Fixed(rate), rate, 20_000), rate);
    }
}

#[test]
fn queue_disciplines_leave_the_rate_as_it_is() {
    let rate = Rate::from_bps(98_765_432);
    // Targets that are never reached: nothing is dropped.
    let patient =
        sim::queue::CodelParameters { target: Span::from_secs(9), interval: Span::from_secs(9), ..Default::default() };
    for discipline in [
        DisciplineSpec::Codel(CodelSpec { parameters: patient, ..Default::default() }),
        DisciplineSpec::FqCodel(FqCodelSpec { codel: patient, ..Default::default() }),
    ] {
        let mut experiment = saturated(ServiceSpec::Fixed(rate), rate, 20_000);
        let sim::spec::Topology::Dumbbell(dumbbell) = &mut experiment.topology else { unreachable!() };
        dumbbell.bottleneck.discipline = discipline;
        assert_exact(&experiment, rate);
    }
}

fn opportunities(step: Span, bytes: u64, count: u64) -> ServiceSpec {
    let list = (1..=count).map(|index| Opportunity { at: step.saturating_mul(index), bytes });
    ServiceSpec::Opportunities(Opportunities::new(list, step.saturating_mul(count), End::Repeat).unwrap())
}

#[test]
fn constant_traces_of_opportunities_carry_exactly_their_rate() {
    // 1 500 B each millisecond are 12 Mb/s, as mahimahi's constant traces have it; 1 504 B are 12.032 Mb/s; 125 B each
    // microsecond are 1 Gb/s, where a packet takes many opportunities; 60 000 B each 10 ms are 48 Mb/s in bursts of 40.
    let cases = [
        (Span::from_millis(1), 1_500, Rate::from_mbps(12)),
        (Span::from_millis(1), 1_504, Rate::from_bps(12_032_000)),
        (Span::from_micros(1), 125, Rate::from_gbps(1)),
        (Span::from_millis(10), 60_000, Rate::from_mbps(48)),
    ];
    for (step, bytes, rate) in cases {
        assert_exact(&saturated(opportunities(step, bytes, 7), rate, 20_000), rate);
    }
}

fn segments(rates: &[(Span, Rate)]) -> ServiceSpec {
    let list = rates.iter().map(|&(span, rate)| Segment { span, rate });
    ServiceSpec::Segments(Segments::new(list, End::Repeat).unwrap())
}

#[test]
fn series_of_rates_carry_exactly_their_mean() {
    let twelve = Rate::from_mbps(12);
    let constant = [(Span::from_millis(7), twelve), (Span::from_nanos(1), twelve), (Span::from_millis(100), twelve)];
    assert_exact(&saturated(segments(&constant), twelve, 20_000), twelve);
    // 6 and 18 Mb/s by turns, ten milliseconds each: 20 ms are 1/1000 of the run.
    let swinging = [(Span::from_millis(10), Rate::from_mbps(6)), (Span::from_millis(10), Rate::from_mbps(18))];
    assert_exact(&saturated(segments(&swinging), twelve, 20_000), twelve);
}

#[test]
fn a_changed_rate_holds_from_its_moment_on() {
    // 100 Mb/s; 50 from 1 s to 2 s; the old rate after that: 250 Mbit in 3 s.
    let changes = [(Span::from_secs(1), Change::Rate(Rate::from_mbps(50))), (Span::from_secs(2), Change::Restore)];
    let service = ServiceSpec::Fixed(Rate::from_mbps(100)).with_changes(changes).unwrap();
    let mut experiment = saturated(service, Rate::from_mbps(100), 20_000);
    experiment.duration = Span::from_secs(3);
    let outcome = run(&experiment);
    let bits = outcome.ports[0].bytes as f64 * 8.0;
    assert!((bits / 250e6 - 1.0).abs() < 1e-3, "{bits} bits");
    assert_never_above(&outcome);
}
