//! The first flight is spaced out.

use cc_algos::{Rate, Span};
use cwndtunnel_tests::{bulk, drop_tail, dumbbell, experiment, run};
use sim::queue::{Capacity, Excess, PolicerSpec};
use sim::spec::LinkSpec;
use transport::flow::Pacing;

const MTU: u64 = 1_200;
const RTT: Span = Span::from_millis(100);

/// Drops at a policer within the first round trip.
fn policed(pacing: Pacing) -> u64 {
    let mut link = LinkSpec::fixed(Rate::from_gbps(1), RTT.mul_div(1, 2));
    // Twice what the first flight needs when spaced: ten packets in half a round trip are 1.92 Mb/s. Two of them may
    // leave together (a burst), and one more while these refill.
    let policer = PolicerSpec { rate: Rate::from_kbps(3_840), burst_bytes: 3 * MTU, excess: Excess::Drop };
    link.policer = Some(policer);
    let mut experiment = experiment("newreno", dumbbell(1, link), bulk(1), RTT);
    experiment.endpoints.sender.mtu = MTU;
    experiment.endpoints.sender.initial_rtt = RTT;
    experiment.endpoints.sender.pacing = pacing;
    let outcome = run(&experiment);
    assert_eq!(outcome.flows[0].packets_sent, 10);
    outcome.ports[0].policer_drops
}

/// Ten packets back to back overrun a shallow policer: seven of them are lost, three fit its bucket. Spaced over the
/// RTT that the handshake measured, all pass.
#[test]
fn the_initial_window_passes_a_shallow_policer_when_paced() {
    assert_eq!(policed(Pacing::Off), 7);
    assert_eq!(policed(Pacing::On), 0);
}

/// At 100 Mb/s a packet takes 96 us, so in the first flight no queue builds beyond a burst of two.
#[test]
fn the_initial_window_builds_no_queue_beyond_a_burst() {
    let link = drop_tail(Rate::from_mbps(100), RTT.mul_div(1, 2), Capacity::Unlimited);
    let mut experiment = experiment("newreno", dumbbell(1, link), bulk(1), RTT);
    experiment.endpoints.sender.mtu = MTU;
    experiment.endpoints.sender.initial_rtt = RTT;
    let backlog = run(&experiment).ports[0].max_backlog;
    assert!((MTU..=2 * MTU).contains(&backlog), "{backlog}");
}

/// A flow in steady state is spaced as well: with a window of twice what the path holds, the queue grows no longer than
/// the window's excess and a burst.
#[test]
fn a_paced_flow_fills_a_link_without_bursts_of_its_window() {
    let rate = Rate::from_mbps(20);
    let link = drop_tail(rate, RTT.mul_div(1, 2), Capacity::Unlimited);
    let bdp = rate.bytes_in(RTT);
    let window = bdp * 9 / 10;
    let backlog = |pacing| {
        let algorithm = format!("fixed-window?window={window}B");
        let mut experiment = experiment(&algorithm, dumbbell(1, link.clone()), bulk(1), Span::from_secs(2));
        experiment.endpoints.sender.initial_rtt = RTT;
        experiment.endpoints.sender.pacing = pacing;
        run(&experiment).ports[0].max_backlog
    };
    // Unpaced, the first window arrives at once.
    assert!(backlog(Pacing::Off) > window * 9 / 10);
    assert!(backlog(Pacing::On) < window / 3);
}
