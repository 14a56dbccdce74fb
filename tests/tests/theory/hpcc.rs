//! HPCC's equilibrium: where W = W eta / U + W_AI (Li et al., SIGCOMM'19, algorithm 1) stands still.
//!
//! N flows of window W have U BDP = N W in flight, so that U = eta + N W_AI / BDP; with W_AI = BDP (1 - eta) / n,
//! U = eta + (1 - eta) N / n. This is the paper's rule for W_AI (by memory): up to n flows leave the link some room, and hardly
//! a queue.

use cc_algos::{Rate, Span};
use cwndtunnel_tests::{assert_close, bulk, contestant, drop_tail, run};
use sim::queue::Capacity;

use super::fabric::{experiment, settled, utilisation};

const CAPACITY: Rate = Rate::from_gbps(25);
const ETA: f64 = 0.95;
/// Flows that W_AI is made for: n.
const EXPECTED: f64 = 16.0;

/// Share of the link that is used, and the queue in bandwidth-delay products.
fn simulate(flows: u32) -> (f64, f64) {
    let bottleneck = drop_tail(CAPACITY, Span::from_micros(20), Capacity::Unlimited);
    let law = contestant(&format!("hpcc?eta={ETA}&flows={EXPECTED}"));
    let outcome = run(&experiment(law, bottleneck, bulk(flows), Span::from_millis(20)));
    let bdp = CAPACITY.bytes_in(outcome.flows[0].base_rtt) as f64;
    (utilisation(&outcome), settled(&outcome, |sample| sample.ports[0].backlog as f64) / bdp)
}

#[test]
fn flows_fill_a_link_to_eta_and_their_share_of_the_rest() {
    for flows in [4, 8, 16, 32] {
        let (used, queue) = simulate(flows);
        let expected = ETA + (1.0 - ETA) * f64::from(flows) / EXPECTED;
        assert_close(used + queue, expected, 0.015, &format!("U of {flows} flows"));
        if f64::from(flows) <= EXPECTED {
            assert!(used < 0.985 && queue < 0.035, "{flows} flows use {used}, with {queue} BDP of queue");
        } else {
            assert!(used > 0.999, "{used}");
            assert_close(queue, expected - 1.0, 0.25, &format!("queue of {flows} flows"));
        }
    }
}
