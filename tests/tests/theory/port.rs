//! A port alone under open-loop Poisson arrivals: the queue M/D/1.

use cc_algos::{Rate, Span, Timestamp};
use cwndtunnel_tests::{assert_close, drop_tail, dumbbell, experiment, flow, run};
use sim::Outcome;
use sim::queue::Capacity;
use sim::rng;
use sim::spec::{FlowSpec, Load, Start};

const LINK: Rate = Rate::from_gbps(1);

/// Bytes of a flow: one packet.
const PAYLOAD: u64 = 1_400;

/// Flows before the system is taken to be stationary, and flows measured. The slowest load here, 0.9, forgets its empty
/// start within some hundred services.
const WARM_UP: usize = 4_000;
const MEASURED: usize = 30_000;

/// Arrival times at a load, given the time that a packet takes.
fn arrivals(seed: u64, load: f64, service: f64) -> Vec<Timestamp> {
    let mut random = rng::stream(seed, "arrivals", 0);
    let mut now = 0.0;
    (0..WARM_UP + MEASURED)
        .map(|_| {
            now -= libm::log(1.0 - rng::unit(&mut random)) * service / load;
            Timestamp::from_nanos((now * 1e9) as u64)
        })
        .collect()
}

/// Flows of one packet each, the measured ones in group 1.
fn packets(arrivals: &[Timestamp]) -> Vec<FlowSpec> {
    let one = |(index, at): (usize, &Timestamp)| FlowSpec {
        start: Start::At(*at),
        group: u16::from(index >= WARM_UP),
        ..flow(0, 1, Load::Bytes(PAYLOAD))
    };
    arrivals.iter().enumerate().map(one).collect()
}

fn simulate(flows: Vec<FlowSpec>) -> Outcome {
    let link = drop_tail(LINK, Span::from_micros(5), Capacity::Unlimited);
    run(&experiment("fixed-window", dumbbell(1, link), flows, Span::from_secs(10)))
}

/// Seconds that a packet takes on the link.
fn service_time() -> f64 {
    simulate(packets(&[Timestamp::ZERO])).flows[0].bytes_sent as f64 * 8.0 / LINK.as_bps() as f64
}

/// Mean wait of the measured packets, seconds.
fn mean_wait(arrivals: &[Timestamp]) -> f64 {
    let outcome = simulate(packets(arrivals));
    let size = outcome.flows[0].bytes_sent;
    assert!(outcome.flows.iter().all(|flow| flow.completed.is_some() && flow.bytes_sent == size));
    let delays = outcome.delays.iter().find(|delays| delays.group == 1).unwrap();
    assert_eq!(delays.queueing.len(), MEASURED as u64);
    delays.queueing.mean() / 1e9
}

/// Lindley's recursion: a packet waits for what the one before it left of its wait and its service when it came.
fn lindley(arrivals: &[Timestamp], service: f64) -> f64 {
    let mut wait = 0.0_f64;
    let mut waits = vec![0.0];
    for pair in arrivals.windows(2) {
        wait = (wait + service - pair[1].saturating_since(pair[0]).as_secs_f64()).max(0.0);
        waits.push(wait);
    }
    waits[WARM_UP..].iter().sum::<f64>() / MEASURED as f64
}

/// The mean wait of M/D/1 by Pollaczek and Khinchine, for a service time 1 / mu: rho / (2 mu (1 - rho)).
fn closed_form(load: f64, service: f64) -> f64 {
    load * service / (2.0 * (1.0 - load))
}

/// Runs independent replications. Each must agree with Lindley's recursion on the same arrivals, to the nanosecond to
/// which arrivals and waits are rounded and the 1/2000 to which the histogram keeps them; their mean must agree with
/// the closed form to four standard errors (Student's t with 15 degrees of freedom: beyond that once in a thousand),
/// which are at most 3.5 % of it, so that a defect of more than 14 % shows.
fn matches_the_closed_form(load: f64, replications: u64) {
    let service = service_time();
    let waits: Vec<f64> = (0..replications)
        .map(|seed| {
            let arrivals = arrivals(seed, load, service);
            let wait = mean_wait(&arrivals);
            assert_close(wait, lindley(&arrivals, service), 1e-3, &format!("wait at load {load}, seed {seed}"));
            wait
        })
        .collect();
    let count = replications as f64;
    let mean = waits.iter().sum::<f64>() / count;
    let variance = waits.iter().map(|wait| (wait - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let error = (variance / count).sqrt();
    let expected = closed_form(load, service);
    assert!(error < 0.035 * expected, "standard error {error:e} of {expected:e}");
    assert!((mean - expected).abs() < 4.0 * error, "{mean:e} s instead of {expected:e} s, standard error {error:e}");
}

#[test]
fn poisson_arrivals_at_half_load_wait_as_in_md1() {
    matches_the_closed_form(0.5, 16);
}

#[test]
fn poisson_arrivals_at_load_0_8_wait_as_in_md1() {
    matches_the_closed_form(0.8, 16);
}

#[test]
fn poisson_arrivals_at_load_0_9_wait_as_in_md1() {
    matches_the_closed_form(0.9, 24);
}
