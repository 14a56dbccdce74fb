use cc_algos::Rate;

use super::super::testing::{Port, millis, packet};
use super::*;

fn pie(spec: PieSpec) -> Pie {
    Pie::new(spec, rng::stream(1, "pie", 0))
}

fn unlimited() -> PieSpec {
    PieSpec { capacity: Capacity::Unlimited, ..PieSpec::default() }
}

/// 12 Mb/s: a packet of 1 500 bytes takes 1 ms.
const RATE: Rate = Rate::from_mbps(12);

/// Offers `per_second` packets a second, evenly, from `from` until `until`, in seconds.
fn load(port: &mut Port, per_second: u64, seconds: core::ops::Range<u64>, ecn: Ecn) {
    for n in seconds.start * per_second..seconds.end * per_second {
        let at = SimTime::from_picos((u128::from(n) * 1_000_000_000_000 / u128::from(per_second)) as u64);
        port.offer(at, Queued { ecn, ..packet(n as u32) });
    }
}

#[test]
fn small_probabilities_move_in_small_steps() {
    let rows = [(0.0, 2_048.0), (9e-7, 2_048.0), (1e-6, 512.0), (1e-5, 128.0), (1e-4, 32.0), (1e-3, 8.0), (0.01, 2.0)];
    for (probability, divisor) in rows {
        assert_eq!(scale(probability).to_bits(), (1.0_f64 / divisor).to_bits(), "{probability}");
    }
    assert_eq!(scale(0.1).to_bits(), 1.0_f64.to_bits());
    // 20 ms, 10 ms before: alpha 5 ms + beta 10 ms = 0.013125, halved below 0.1.
    let mut control = Control { probability: 0.05, delay: 0.020, previous_delay: 0.010, burst_left: Span::ZERO };
    control.update(&PieSpec::default());
    assert!((control.probability - (0.05 + 0.013_125 / 2.0)).abs() < 1e-12);
}

#[test]
fn a_large_probability_rises_by_two_hundredths_at_most() {
    let mut control = Control { probability: 0.3, delay: 1.0, previous_delay: 0.0, burst_left: Span::ZERO };
    control.update(&PieSpec::default());
    assert!((control.probability - 0.32).abs() < 1e-12);
}

#[test]
fn an_unresponsive_overload_converges_to_its_excess_at_the_target_delay() {
    // 1 250 packets a second into 1 000: in equilibrium 1 - 1/1.25 = 0.2 are dropped, and an integral controller
    // leaves no error, so the delay is the target.
    for spacing in [Spacing::Independent, Spacing::Derandomised] {
        let mut port = Port::new(Box::new(pie(PieSpec { spacing, ..unlimited() })), RATE);
        load(&mut port, 1_250, 0..60, Ecn::NotEct);
        let late: Vec<_> = port.sent().filter(|sent| sent.0 > millis(20_000)).collect();
        let delay =
            late.iter().map(|(end, packet)| end.since(packet.arrived).as_secs_f64()).sum::<f64>() / late.len() as f64;
        let drops = port.drops().filter(|at| *at > millis(20_000)).count() as f64 / (40.0 * 1_250.0);
        assert!((drops - 0.2).abs() < 0.005, "{spacing:?}: {drops}");
        // The delay at departure counts the packet's own millisecond in service too.
        assert!((delay - 0.016).abs() < 0.002, "{spacing:?}: {delay}");
    }
}

#[test]
fn without_delay_the_probability_decays_by_a_fiftieth() {
    let mut control = Control { probability: 0.5, delay: 0.0, previous_delay: 0.0, burst_left: Span::ZERO };
    control.update(&PieSpec::default());
    // First the step of the law, 0.125 x -15 ms, then the decay.
    assert!((control.probability - (0.5 - 0.001_875) * 0.98).abs() < 1e-12);
}

#[test]
fn a_queue_of_two_packets_is_left_alone_and_calm_renews_the_burst_allowance() {
    let (mut queue, mut dropped) = (pie(PieSpec { spacing: Spacing::Independent, ..unlimited() }), Vec::new());
    queue.control = Control { probability: 1.0, delay: 0.05, previous_delay: 0.05, burst_left: Span::ZERO };
    for handle in 0..4 {
        queue.enqueue(SimTime::ZERO, packet(handle), &mut dropped);
    }
    // The third finds two packets, 3 000 bytes, and passes; the fourth finds three.
    assert_eq!(dropped.iter().map(|packet| packet.handle).collect::<Vec<_>>(), [3]);
    queue.control = Control { probability: 0.0, delay: 0.007, previous_delay: 0.007, burst_left: Span::ZERO };
    queue.enqueue(SimTime::ZERO, packet(4), &mut dropped);
    assert_eq!(queue.control.burst_left, Span::from_millis(150));
}

#[test]
fn a_burst_after_calm_passes_whole() {
    let mut port = Port::new(Box::new(pie(unlimited())), RATE);
    // 100 packets at once: 100 ms of delay, far above the target, within the allowance of 150 ms.
    for handle in 0..100 {
        port.offer(SimTime::ZERO, packet(handle));
    }
    port.advance(millis(200));
    assert_eq!((port.sent().count(), port.drops().count()), (100, 0));
}

#[test]
fn capable_packets_are_marked_below_the_limit_and_dropped_above() {
    // 5 % too much: p settles at 0.0476, below 0.1. All signals are marks, so that marks do not relieve the queue and p
    // goes on to rise: then capable packets are dropped too.
    let mut port = Port::new(Box::new(pie(unlimited())), RATE);
    load(&mut port, 1_050, 0..20, Ecn::Ect0);
    let first_drop = port.drops().next().unwrap();
    let marks = port.sent().filter(|sent| sent.1.ecn == Ecn::Ce && sent.0 < first_drop).count();
    assert!(marks >= 5, "{marks}");
    let port_without = {
        let mut port = Port::new(Box::new(pie(PieSpec { mark_below: Probability::ZERO, ..unlimited() })), RATE);
        load(&mut port, 1_050, 0..20, Ecn::Ect0);
        port
    };
    assert_eq!(port_without.discipline.counts().marked, 0);
    assert!(port_without.discipline.counts().dropped_early > 0);
}

#[test]
fn derandomised_drops_are_never_close_together() {
    let mut queue = pie(PieSpec { update_interval: Span::from_secs(3_600), ..unlimited() });
    queue.control = Control { probability: 0.125, delay: 0.02, previous_delay: 0.02, burst_left: Span::ZERO };
    let mut dropped = Vec::new();
    for handle in 0..10_000 {
        queue.enqueue(SimTime::ZERO, packet(handle), &mut dropped);
    }
    // 0.85 / 0.125: at least 7 packets from drop to drop; 8.5 / 0.125: at most 68.
    let gaps: Vec<_> = dropped.windows(2).map(|pair| pair[1].handle - pair[0].handle).collect();
    assert!(gaps.iter().all(|gap| (7..=68).contains(gap)), "{gaps:?}");
    // Geometric after 6 sure passes: mean 14, standard deviation 7.5. So 10 000 packets see 714 drops with a deviation
    // of 7.5 / 14 x sqrt(714) = 14.3; five of them.
    assert!((dropped.len() as f64 - 714.0).abs() < 72.0, "{}", dropped.len());
}

#[test]
fn long_idle_times_are_caught_up_with_exactly() {
    // Once with a poll each 15 ms, once with a single call after an hour: the same state.
    let start = Control { probability: 0.7, delay: 0.0, previous_delay: 0.05, burst_left: Span::from_millis(40) };
    let (mut polled, mut idle) = (pie(unlimited()), pie(unlimited()));
    (polled.control, idle.control) = (start, start);
    for step in 1..=240_000 {
        polled.catch_up(millis(step * 15));
    }
    idle.catch_up(millis(3_600_000));
    assert_eq!(polled.control, idle.control);
    assert_eq!(polled.next_update, idle.next_update);
    assert_eq!(idle.probability().to_bits(), 0.0_f64.to_bits());
    // To the end of time without a hang.
    idle.catch_up(SimTime::MAX);
    assert!(idle.next_update > millis(3_600_000));
}

#[test]
fn impossible_parameters_are_refused() {
    let message = |spec: PieSpec| spec.validate().unwrap_err().to_string();
    let spec = PieSpec::default();
    assert_eq!(message(PieSpec { alpha: f64::NAN, ..spec }), "pie alpha is NaN, expected a number above zero");
    assert_eq!(message(PieSpec { target: Span::ZERO, ..spec }), "pie target is 0ns, expected more than zero");
    assert!(message(PieSpec { update_interval: Span::from_nanos(999), ..spec }).contains("at least 1us"));
    assert!(message(PieSpec { beta: -1.0, ..spec }).contains("beta"));
}
