//! Reno's response to periodic loss.

use cc_algos::Span;
use cwndtunnel_tests::{
    MTU, assert_close, at, bulk, dumbbell, experiment, payload, periodic_loss, run, seconds, throughput_in_packets,
};

/// Base RTT of the tests.
const RTT: Span = Span::from_millis(20);

/// Mean number of packets delivered per RTT when every `every`-th is lost, over `cycles` losses in steady state.
///
/// The first loss comes early, in slow start. A cycle that begins at half of W ends at W' = sqrt(W^2 / 4 + 2 / p), so
/// the distance of W^2 from its fixed point shrinks to a quarter in each cycle: after four cycles W is within 0.2 %.
fn simulated(every: u64, cycles: u64) -> f64 {
    let cycle = RTT.as_secs_f64() * (every as f64 / recurrence(every));
    let (from, to) = (seconds(4.0 * cycle), seconds((4 + cycles) as f64 * cycle));
    let topology = dumbbell(1, periodic_loss(RTT.mul_div(1, 2), every, 200.min(every / 2)));
    let mut experiment = experiment("newreno", topology, bulk(1), to);
    experiment.sample_every = Some(seconds(cycle / 100.0));
    let outcome = run(&experiment);
    let flow = &outcome.flows[0];
    // As many losses as the periods that were sent tell, none of them imagined.
    assert!(flow.lost.abs_diff(flow.packets_sent / every) <= 1 && flow.spurious == 0, "{flow:?}");
    throughput_in_packets(&outcome, payload(MTU), at(from), at(to))
}

/// Packets delivered per RTT by the recurrence of RFC 9002, section 7.3, under periodic loss; windows w in packets.
///
/// From the detection of one loss to the next, `every` packets are sent: losses are that far apart, and each is
/// detected a round trip later. A cycle that begins with w = W / 2 consists of
///
/// * the recovery round, in which the half of W still in flight drains and then w packets leave. All acknowledgements
///   are of packets sent before, so nothing grows;
/// * rounds of as many whole packets as w holds. When w packets have been acknowledged, w grows by one (section 7.3.3);
///   what is acknowledged beyond that counts for the next one, and is forfeited at the loss.
///
/// The cycle ends where the sum reaches `every`; the last round counts in part. One packet of the cycle is lost.
///
/// Without rounding and recovery round this is 3/8 W^2 = 1 / p in W / 2 rounds, the response of Mathis et al.
fn recurrence(every: u64) -> f64 {
    let (mut window, mut rounds, mut sent) = (10.0_f64, 0.0, 0.0);
    const SKIPPED: u32 = 20;
    const CYCLES: u32 = 100;
    for cycle in 0..SKIPPED + CYCLES {
        window = (window / 2.0).max(2.0);
        let mut left = every as f64 - window.floor();
        let (mut length, mut acked) = (1.0, 0.0);
        while left >= window.floor() {
            left -= window.floor();
            acked += window.floor();
            length += 1.0;
            if acked >= window {
                acked -= window;
                window += 1.0;
            }
        }
        length += left / window.floor();
        if cycle >= SKIPPED {
            rounds += length;
            sent += every as f64 - 1.0;
        }
    }
    sent / rounds
}

/// Mathis, Semke, Mahdavi, Ott: The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm, CCR 27(3), 1997,
/// equation 3 with an acknowledgement for each packet: BW = MSS / RTT x sqrt(3 / 2p).
#[test]
fn rare_periodic_loss_gives_the_response_of_mathis() {
    for (every, cycles) in [(100_000_u64, 3), (10_000, 8), (1_000, 40)] {
        let mathis = (1.5 * every as f64).sqrt();
        assert_close(simulated(every, cycles), mathis, 0.1, &format!("packets per RTT at one loss in {every}"));
    }
}

#[test]
fn frequent_periodic_loss_gives_the_recurrence_with_a_recovery_round_without_growth() {
    // p = 1e-3, 3e-3, 1e-2, 3e-2. At the last one the window is between 4 and 8 packets.
    for every in [1_000_u64, 333, 100, 33] {
        let what = format!("packets per RTT at one loss in {every}");
        assert_close(simulated(every, 200), recurrence(every), 0.05, &what);
    }
}

#[test]
fn the_recurrence_approaches_mathis_as_loss_becomes_rare() {
    // The recovery round is one of W / 2 + 1, with W = sqrt(8 / 3p): 0.4 % at p = 1e-5.
    let ratio = recurrence(100_000) / 150_000_f64.sqrt();
    assert!((0.99..1.0).contains(&ratio), "{ratio}");
}
