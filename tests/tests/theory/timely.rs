//! TIMELY's limit cycle, as Zhu et al., *ECN or Delay*, CoNEXT'16, section 4 find it by fluid model and NS-3. Read in the
//! paper's own sources (`jitupadhye-zz/rdma`, `conext2016/timely-*.tex`).

use cc_algos::{Rate, Span};
use cwndtunnel_tests::{assert_close, bulk, contestant, drop_tail, run};
use sim::Outcome;
use sim::queue::Capacity;

use super::fabric::{experiment, late};

/// Their setting: 10 Gb/s, `t_low` 50 us and `t_high` 500 us of queue, a minimum RTT of 20 us, beta 0.8, alpha 0.875, growth by
/// 10 Mb/s. The thresholds here are of the RTT in units of the smallest.
const CAPACITY: Rate = Rate::from_gbps(10);
const LAW: &str = "timely?t_low=3.5&t_high=26&alpha=0.875&beta=0.8&delta=0.001";

/// Without the 1.6 us that a packet spends on both links.
const PROPAGATION: Span = Span::from_nanos(9_200);

/// What 50 us of queue hold, bytes.
const LOW: u64 = 62_500;

fn simulate(flows: u32) -> Outcome {
    let bottleneck = drop_tail(CAPACITY, PROPAGATION, Capacity::Unlimited);
    run(&experiment(contestant(LAW), bottleneck, bulk(flows), Span::from_millis(200)))
}

/// The longest queue of each cycle of the second half: each time that it passes `t_low` and then falls to a third of that.
fn peaks(outcome: &Outcome) -> Vec<u64> {
    let (mut peaks, mut top) = (Vec::new(), 0);
    for sample in late(outcome) {
        let backlog = sample.ports[0].backlog;
        if backlog > LOW {
            top = backlog.max(top);
        } else if backlog < LOW / 3 && top > 0 {
            peaks.push(top);
            top = 0;
        }
    }
    peaks
}

/// "The queue peaks are at roughly 70KB, which corresponds to 56 us at 10Gbps" (`timely-validation.tex`, two flows). The paper
/// updates a rate for each 16 kB, 26 us at that rate; here it is a round trip, 70 us with such a queue.
#[test]
fn the_queue_of_two_flows_peaks_a_little_above_t_low() {
    let peaks = peaks(&simulate(2));
    let mean = peaks.iter().sum::<u64>() as f64 / peaks.len() as f64;
    assert_close(mean, 70_000.0, 0.12, "mean peak of the queue");
}

/// Theorem "No fixed point for TIMELY": at a still queue every rate grows, so that rates and queue go on swinging.
#[test]
fn rates_and_queue_never_come_to_rest() {
    for flows in [2, 10, 20] {
        let outcome = simulate(flows);
        // A cycle takes some milliseconds.
        assert!(peaks(&outcome).len() > 12, "{flows} flows: {:?}", peaks(&outcome));
        let shortest = late(&outcome).iter().map(|sample| sample.ports[0].backlog).min();
        assert!(shortest < Some(LOW / 10), "{flows} flows: {shortest:?}");
    }
}
