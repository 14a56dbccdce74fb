//! Controllers for the Internet's links: Copa, Vegas, Prague, LEDBAT++.

use cc_algos::{Rate, Span, Timestamp};
use cwndtunnel_tests::{at, contestant, delivery_rate, drop_tail, dumbbell, experiment_of, flow, run, seconds};
use sim::Outcome;
use sim::queue::{Capacity, DisciplineSpec, DualPi2Spec};
use sim::spec::{LinkSpec, Load, Start};

/// Flows of several algorithms over one bottleneck, one flow each, with what happened in the second half of the run.
struct Shared {
    algorithms: Vec<&'static str>,
    starts: Vec<f64>,
    link: LinkSpec,
    seconds: f64,
}

impl Shared {
    fn new(algorithms: &[&'static str], link: LinkSpec, seconds: f64) -> Self {
        Self { algorithms: algorithms.to_vec(), starts: vec![0.0; algorithms.len()], link, seconds }
    }

    /// Flow i starts `gap` seconds after flow i - 1.
    fn one_after_another(mut self, gap: f64) -> Self {
        self.starts = (0..self.algorithms.len()).map(|index| index as f64 * gap).collect();
        self
    }

    fn run(&self) -> Measured {
        let pairs = self.algorithms.len() as u32;
        let flows = (0..pairs).map(|pair| {
            let mut flow = flow(pair, pairs + pair, Load::Unlimited);
            flow.contestant = pair as usize;
            flow.start = Start::At(at(seconds(self.starts[pair as usize])));
            flow
        });
        let contestants = self.algorithms.iter().map(|algorithm| contestant(algorithm)).collect();
        let topology = dumbbell(pairs, self.link.clone());
        let mut experiment = experiment_of(contestants, topology, flows.collect(), seconds(self.seconds));
        experiment.sample_every = Some(Span::from_millis(10));
        let outcome = run(&experiment);
        Measured { from: at(seconds(self.seconds / 2.0)), to: at(seconds(self.seconds)), outcome }
    }
}

struct Measured {
    from: Timestamp,
    to: Timestamp,
    outcome: Outcome,
}

impl Measured {
    /// Shares of the flows in what they delivered together.
    fn shares(&self) -> Vec<f64> {
        let rates = self.rates();
        let sum: f64 = rates.iter().sum();
        rates.iter().map(|rate| rate / sum).collect()
    }

    fn rates(&self) -> Vec<f64> {
        (0..self.outcome.flows.len()).map(|flow| delivery_rate(&self.outcome, flow, self.from, self.to)).collect()
    }

    fn samples(&self) -> impl Iterator<Item = &sim::outcome::Sample> {
        self.outcome.samples.iter().filter(|sample| sample.at >= self.from)
    }

    /// Share of the bottleneck's capacity that was used.
    fn utilisation(&self) -> f64 {
        let (first, last) = (self.samples().next().unwrap(), self.samples().last().unwrap());
        (last.ports[0].bytes - first.ports[0].bytes) as f64 / (last.ports[0].offered - first.ports[0].offered) as f64
    }

    /// Mean time that the bottleneck's backlog takes to drain, ms.
    fn mean_queue(&self, rate: Rate) -> f64 {
        let backlogs: Vec<_> = self.samples().map(|sample| sample.ports[0].backlog as f64 * 8e3).collect();
        backlogs.iter().sum::<f64>() / backlogs.len() as f64 / rate.as_bps() as f64
    }

    /// Time of one contestant's packets in queues that a share of them stays below, ms. Of the whole run.
    fn queueing(&self, contestant: usize, quantile: f64) -> f64 {
        let delays = self.outcome.delays.iter().find(|delays| delays.contestant == contestant).unwrap();
        delays.queueing.value_at_quantile(quantile) as f64 / 1e6
    }
}

fn jain(shares: &[f64]) -> f64 {
    1.0 / (shares.len() as f64 * shares.iter().map(|share| share * share).sum::<f64>())
}

/// A drop-tail link with a base RTT of 40 ms and a buffer of so many bandwidth-delay products.
fn link(mbps: u64, products: f64) -> LinkSpec {
    let bytes = Rate::from_mbps(mbps).bytes_in(Span::from_millis(40)) as f64 * products;
    drop_tail(Rate::from_mbps(mbps), Span::from_millis(20), Capacity::Bytes(bytes as u64))
}

fn dual_queue(mbps: u64, propagation: Span) -> LinkSpec {
    LinkSpec {
        discipline: DisciplineSpec::DualPi2(DualPi2Spec::default()),
        ..LinkSpec::fixed(Rate::from_mbps(mbps), propagation)
    }
}

/// Copa, section 2.2 and figure 1 (by memory): the queue swings between empty and 2.5 / delta packets a flow, 5 packets each.
#[test]
fn copa_flows_share_a_link_evenly_with_a_few_packets_of_queue() {
    let measured = Shared::new(&["copa"; 4], link(48, 4.0), 40.0).one_after_another(2.0).run();
    // A packet takes 0.25 ms.
    let queue = measured.mean_queue(Rate::from_mbps(48));
    assert!(queue < 4.0 * 5.0 * 0.25, "{queue} ms");
    assert!(measured.utilisation() > 0.95, "{}", measured.utilisation());
    assert!(jain(&measured.shares()) > 0.95, "{:?}", measured.shares());
}

/// Flows that start together, or a little apart, overshoot together: they come out of competing with each other again. With
/// the paper's three round trips until the velocity doubles they do not: eight hold 110 ms of queue.
#[test]
fn copa_flows_that_start_together_do_not_go_on_competing_with_each_other() {
    for (flows, gap, products) in [(4, 0.0, 4.0), (4, 0.5, 8.0), (8, 0.0, 4.0), (8, 0.5, 8.0)] {
        let measured = Shared::new(&vec!["copa"; flows], link(48, products), 40.0).one_after_another(gap).run();
        let queue = measured.mean_queue(Rate::from_mbps(48));
        assert!(queue < 12.0, "{flows} flows {gap} s apart: {queue} ms");
        assert!(measured.utilisation() > 0.95, "{flows} flows {gap} s apart: {}", measured.utilisation());
        assert!(jain(&measured.shares()) > 0.95, "{flows} flows {gap} s apart: {:?}", measured.shares());
    }
}

/// Copa, section 3: beside a flow that fills the buffer, default mode starves and competitive mode does not.
#[test]
fn copa_notices_cubic_and_competes_with_it() {
    let share = |algorithm| Shared::new(&[algorithm, "cubic"], link(24, 2.0), 60.0).run().shares()[0];
    let (starved, competing) = (share("copa?mode_switching=off"), share("copa"));
    assert!(starved < 0.15, "{starved}");
    assert!((0.3..0.7).contains(&competing), "{competing}");
}

/// Brakmo and Peterson: two to four packets of queue and the one in service, and no losses.
#[test]
fn vegas_alone_fills_the_link_and_keeps_two_to_four_packets_in_the_queue() {
    let measured = Shared::new(&["vegas"], link(24, 2.0), 20.0).run();
    let packets = measured.mean_queue(Rate::from_mbps(24)) / 0.5;
    assert!((2.0..=5.0).contains(&packets), "{packets}");
    assert!(measured.utilisation() > 0.97, "{}", measured.utilisation());
    assert_eq!(measured.outcome.ports[0].queue_drops, 0);
}

/// Mo et al., INFOCOM'99: Reno takes the buffer, and Vegas gives way to the delay.
#[test]
fn vegas_starves_beside_reno() {
    let shares = Shared::new(&["vegas", "newreno"], link(24, 2.0), 60.0).run().shares();
    assert!(shares[0] < 0.2, "{shares:?}");
}

/// RFC 9332, section 2: the low-latency queue stays about a millisecond long with the link in full use.
#[test]
fn prague_keeps_an_l4s_queue_below_a_millisecond_in_full_use() {
    let measured = Shared::new(&["prague", "prague"], dual_queue(40, Span::from_millis(5)), 20.0).run();
    let median = measured.queueing(0, 0.5);
    assert!(median < 1.0, "{median} ms");
    assert!(measured.utilisation() > 0.95, "{}", measured.utilisation());
    assert!(jain(&measured.shares()) > 0.95, "{:?}", measured.shares());
}

/// RFC 9332, sections 2.1 and 3: the coupling gives a scalable and a classic flow about equal rates. Prague's reference RTT
/// of 25 ms is that of the classic flow here: 10 ms and a target queue of 15 ms.
#[test]
fn prague_and_cubic_get_about_the_same_rate_from_coupled_queues() {
    let measured = Shared::new(&["prague", "cubic"], dual_queue(40, Span::from_millis(5)), 60.0).run();
    let shares = measured.shares();
    assert!((0.35..0.65).contains(&shares[0]), "{shares:?}");
    assert!(measured.queueing(0, 0.5) < 1.0 && measured.queueing(1, 0.5) > 5.0);
    assert!(measured.utilisation() > 0.95, "{}", measured.utilisation());
}

/// The draft's section 4.5: alone, the queue stays at the target of 60 ms, with slowdowns that cost a tenth at most.
#[test]
fn ledbat_plus_plus_alone_holds_its_target_and_uses_nine_tenths() {
    let measured = Shared::new(&["ledbat++"], link(24, 4.0), 120.0).run();
    let queue = measured.mean_queue(Rate::from_mbps(24));
    assert!((48.0..60.0).contains(&queue), "{queue} ms");
    assert!(measured.queueing(0, 0.99) < 66.0, "{}", measured.queueing(0, 0.99));
    assert!(measured.utilisation() > 0.9, "{}", measured.utilisation());
}

/// The draft's section 1: it gets out of the way of standard TCP.
#[test]
fn ledbat_plus_plus_gets_out_of_the_way_of_cubic_and_reno() {
    for other in ["cubic", "newreno"] {
        // With 4 BDP the queue passes the target; with half a BDP it never does, and only the gain and losses hold it back.
        for (products, most) in [(4.0, 0.05), (0.5, 0.4)] {
            let shares = Shared::new(&["ledbat++", other], link(24, products), 80.0).run().shares();
            assert!(shares[0] < most, "{other}, {products} BDP: {shares:?}");
        }
    }
}

/// The draft's sections 3.1 and 4.4: a flow that finds a queue takes it for the path, until a slowdown shows the path.
#[test]
fn slowdowns_take_the_advantage_from_the_flow_that_came_last() {
    let late = |algorithm| {
        Shared::new(&[algorithm, algorithm], link(24, 8.0), 300.0).one_after_another(40.0).run().shares()[1]
    };
    let (without, with) = (late("ledbat++?slowdowns=off"), late("ledbat++"));
    assert!(without > 0.9, "{without}");
    assert!((0.3..0.7).contains(&with), "{with}");
}
