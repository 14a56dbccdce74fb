//! PowerTCP's equilibrium and its approach to it: Addanki, Michel, Schmid, NSDI'22, section 3 (the theorems by memory: only
//! the abstract was at hand; the equilibrium follows from the law as `cc-algos` states it, and is derived here).
//!
//! Still queue, full link: Gamma = (q + C T) / (C T). A window stands still at W = W eta / Gamma + beta. N windows fill queue
//! and link: sum W = q + C T, so that q = N beta + (eta - 1) C T.

use cc_algos::{Rate, Span, Timestamp};
use cwndtunnel_tests::{assert_close, at, bulk, contestant, drop_tail, run};
use sim::Outcome;
use sim::queue::Capacity;
use sim::spec::{FlowSpec, Start};

use super::fabric::{experiment, settled, utilisation};

const CAPACITY: Rate = Rate::from_gbps(25);

fn simulate(algorithm: &str, flows: Vec<FlowSpec>) -> Outcome {
    let bottleneck = drop_tail(CAPACITY, Span::from_micros(20), Capacity::Unlimited);
    run(&experiment(contestant(algorithm), bottleneck, flows, Span::from_millis(12)))
}

/// C T, bytes.
fn bdp(outcome: &Outcome) -> f64 {
    CAPACITY.bytes_in(outcome.flows[0].base_rtt) as f64
}

/// N beta is 5 to 12 % of C T. More would be above the bound of an eighth of the window that beta has here.
#[test]
fn the_queue_of_powertcp_is_beta_of_all_flows() {
    for (flows, beta) in [(2, 0.04), (4, 0.02), (8, 0.01), (8, 0.006), (8, 0.015)] {
        let outcome = simulate(&format!("powertcp?beta={beta}"), bulk(flows));
        let queue = settled(&outcome, |sample| sample.ports[0].backlog as f64);
        assert_close(queue, f64::from(flows) * beta * bdp(&outcome), 0.12, &format!("queue of {flows} flows"));
        assert!(utilisation(&outcome) > 0.999, "{}", utilisation(&outcome));
    }
}

/// The same queue where delay alone is measured; with eta above 1, as the authors' simulator has it, as much more. A delay
/// holds the packet itself, which telemetry does not: a packet or two are 3 % of these products.
#[test]
fn the_queue_of_theta_powertcp_is_beta_of_all_flows_and_what_eta_leaves() {
    for (flows, beta, eta) in [(4, 0.02, 1.0), (8, 0.015, 1.0), (8, 0.006, 1.05), (2, 0.02, 1.1)] {
        let outcome = simulate(&format!("theta-powertcp?beta={beta}&eta={eta}"), bulk(flows));
        let queue = settled(&outcome, |sample| sample.ports[0].backlog as f64);
        let expected = (f64::from(flows) * beta + eta - 1.0) * bdp(&outcome);
        assert_close(queue, expected, 0.17, &format!("queue of {flows} flows"));
        assert!(utilisation(&outcome) > 0.999, "{}", utilisation(&outcome));
    }
}

/// Theorem of convergence (by memory): windows approach their equilibrium with the time constant dt / gamma, so that five of
/// these leave 0.7 % of a disturbance. It knows no delay of the feedback; here the first answer takes a round trip, and what
/// the flow that joins sends in it, a bandwidth-delay product, takes another one to drain. Delay alone is heeded once a round
/// trip, which lets windows pass below their equilibrium for a while.
#[test]
fn five_time_constants_after_a_flow_joins_all_windows_are_near_equilibrium() {
    let beta = 0.02;
    for (algorithm, gamma, tolerance) in [("powertcp", 0.9, 0.1), ("theta-powertcp", 0.7, 0.2)] {
        let joins = at(Span::from_millis(4));
        let mut flows = bulk(2);
        flows[1].start = Start::At(joins);
        let outcome = simulate(&format!("{algorithm}?beta={beta}&gamma={gamma}&eta=1"), flows);
        let rtt = outcome.flows[0].base_rtt;
        let settled_at: Timestamp = joins + rtt.mul_f64(2.0 + 5.0 / gamma);
        let window = 0.5 * (1.0 + 2.0 * beta) * bdp(&outcome);
        for sample in outcome.samples.iter().filter(|sample| sample.at >= settled_at) {
            for flow in &sample.flows {
                assert_close(
                    flow.window as f64,
                    window,
                    tolerance,
                    &format!("window of {algorithm} at {:?}", sample.at),
                );
            }
        }
    }
}
