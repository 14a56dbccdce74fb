//! What holds a sender back, and how it says so.

use cc_algos::controller::Limit;
use cc_algos::signal::Signal;
use cc_algos::units::{Rate, Span, Timestamp};

use super::channel::{Channel, MTU, PATH, Probe, ms, plain};
use crate::flow::{Gate, Pacing, SenderConfig};

const ONE_WAY: Span = Span::from_millis(50);
const PACKET: u64 = MTU as u64;

fn paced(initial_rtt: Span) -> SenderConfig {
    let mut config = plain();
    config.pacing = Pacing::On;
    config.initial_rtt = initial_rtt;
    config
}

#[test]
fn the_window_stops_the_sender() {
    let probe = Probe::with_window(4);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    assert_eq!(channel.fill(10), 4);
    let gate = channel.sender.gate(ms(0), PATH, PACKET);
    assert_eq!(gate, Gate::Blocked { limit: Limit::Window, until: None });
}

#[test]
fn three_of_ten_packets_per_round_are_never_limited_by_the_window() {
    let probe = Probe::with_window(10);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    for round in 0..100 {
        assert_eq!(channel.fill(3), 3);
        channel.sender.on_app_limited(channel.now, PATH);
        channel.run_until(ms(100 * (round + 1)));
    }
    assert!(probe.told().iter().all(|told| told.limit == Limit::Application));
    // The very next round fills the window.
    assert_eq!(channel.fill(20), 10);
    channel.run_until(channel.now + Span::from_millis(100));
    assert_eq!(probe.told().pop().unwrap().limit, Limit::Window);
}

/// A burst of two leaves the third packet to the pacer, which is no reason to take the window for used.
#[test]
fn three_of_ten_paced_packets_are_limited_by_the_application() {
    let probe = Probe::with_window(10);
    let mut channel = Channel::new(paced(Span::from_millis(100)), &probe, ONE_WAY);
    for _ in 0..100 {
        let (mut left, end) = (3, channel.now + Span::from_millis(150));
        while channel.now < end {
            left -= channel.fill(left);
            if left == 0 {
                channel.sender.on_app_limited(channel.now, PATH);
            }
            channel.run_until(channel.now + Span::from_millis(1));
        }
        assert_eq!(left, 0);
    }
    let told = probe.told();
    assert_eq!(told.len(), 300);
    // 5/4 of 12 000 B per 100 ms is a packet each 8 ms.
    assert_eq!(channel.departures[2].1, ms(8), "held back by the pacer");
    assert!(told.iter().all(|told| told.limit == Limit::Application));
}

#[test]
fn running_dry_with_a_full_window_is_limited_by_the_window() {
    let probe = Probe::with_window(3);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    channel.fill(3);
    channel.sender.on_app_limited(channel.now, PATH);
    channel.run_until(ms(100));
    assert!(probe.told().iter().all(|told| told.limit == Limit::Window));
}

#[test]
fn a_batch_that_acknowledges_the_whole_window_is_limited_by_the_window() {
    let probe = Probe::with_window(10);
    let mut channel = Channel::with_ack_every(plain(), &probe, ONE_WAY, 10);
    for round in 0..10 {
        assert_eq!(channel.fill(20), 10);
        channel.run_until(ms(100 * (round + 1)));
    }
    let told = probe.told();
    assert_eq!(told.len(), 10);
    assert!(told.iter().all(|told| told.acked.len() == 10 && told.limit == Limit::Window));
}

#[test]
fn a_receiver_that_grants_too_little_is_told_apart() {
    let probe = Probe::with_window(10);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    channel.fill(3);
    channel.sender.on_receiver_limited(channel.now, PATH);
    channel.run_until(ms(100));
    assert!(probe.told().iter().all(|told| told.limit == Limit::Receiver));
}

#[test]
fn a_paced_sender_that_uses_its_window_is_limited_by_the_window() {
    let probe = Probe::with_window(10);
    let mut channel = Channel::new(paced(Span::from_millis(100)), &probe, ONE_WAY);
    for _ in 0..1_000 {
        channel.fill(10);
        channel.run_until(channel.now + Span::from_millis(1));
    }
    let told = probe.told();
    assert!(told.len() > 90);
    assert!(told[10..].iter().all(|told| told.limit == Limit::Window));
}

/// Eight packets per RTT and a burst of two make up the window of ten, although the window itself never stops the sender.
#[test]
fn a_window_used_up_to_a_burst_is_in_use() {
    let mut probe = Probe::with_window(10);
    probe.rate = Some(Rate::from_bps(8 * PACKET * 8 * 10));
    let mut channel = Channel::new(paced(Span::from_millis(100)), &probe, ONE_WAY);
    for _ in 0..1_000 {
        channel.fill(10);
        // The first burst comes on top of the rate in the first round trip only.
        assert!(channel.sender.stats(PATH).in_flight_packets < 10 || channel.now < ms(110));
        channel.run_until(channel.now + Span::from_millis(1));
    }
    let told = probe.told();
    assert!(told.len() > 60);
    assert!(told[20..].iter().all(|told| told.limit == Limit::Window));
}

/// Whether the law is in slow start is asked at the end of a round, and at once if something got lost.
#[test]
fn leaving_slow_start_lowers_the_derived_rate() {
    let mut probe = Probe::with_window(10);
    probe.in_slow_start = true;
    let mut channel = Channel::new(paced(Span::from_millis(100)), &probe, ONE_WAY);
    channel.burst(10, &[2]);
    let rate = |channel: &Channel| channel.sender.stats(PATH).pacing_rate.unwrap();
    channel.acknowledge_only(0);
    probe.set_slow_start(false);
    channel.acknowledge_only(1);
    assert_eq!(rate(&channel), Rate::from_kbps(1_920), "in the middle of a round");
    channel.acknowledge_only(3);
    channel.acknowledge_only(4);
    assert_eq!(rate(&channel), Rate::from_kbps(1_920));
    channel.acknowledge_only(5);
    assert_eq!(channel.lost(), [2]);
    assert_eq!(rate(&channel), Rate::from_kbps(1_200));
    probe.set_slow_start(true);
    channel.burst(1, &[]);
    (6..=9).for_each(|number| channel.acknowledge_only(number));
    assert!(rate(&channel) < Rate::from_kbps(1_920));
    channel.acknowledge_only(10);
    // Packet 10 was sent after the first acknowledgement, so a round ends. It was acknowledged at once, which takes the
    // smoothed RTT to 7/8 of 100 ms.
    assert_eq!(rate(&channel), Rate::from_bytes_in(2 * 12_000, Span::from_micros(87_500)).unwrap());
}

#[test]
fn a_sender_slower_than_its_window_is_limited_by_the_pacer() {
    let mut probe = Probe::with_window(100);
    // 8 packets per RTT of 100 ms, against a window of 100.
    probe.rate = Some(Rate::from_bps(8 * PACKET * 8 * 10));
    let mut channel = Channel::new(paced(Span::from_millis(100)), &probe, ONE_WAY);
    for _ in 0..500 {
        channel.fill(10);
        channel.run_until(channel.now + Span::from_millis(1));
    }
    assert!(probe.told()[10..].iter().all(|told| told.limit == Limit::Pacing));
}

/// Ten packets within 0.3 ms overflow the queue of a 100 Mb/s access link; over the assumed RTT they do not.
#[test]
fn the_initial_flight_is_spaced_over_the_initial_rtt() {
    let mut probe = Probe::with_window(10);
    probe.in_slow_start = true;
    let mut channel = Channel::new(paced(Span::from_millis(40)), &probe, Span::from_millis(500));
    while channel.departures.len() < 10 {
        channel.fill(10);
        let Gate::Blocked { until: Some(until), .. } = channel.sender.gate(channel.now, PATH, PACKET) else { break };
        channel.run_until(until);
    }
    // Twice the window per 40 ms is a packet every 2 ms, after a burst of two.
    let expected: Vec<Timestamp> = [0, 0, 2, 4, 6, 8, 10, 12, 14, 16].map(ms).into();
    assert_eq!(channel.departures.iter().map(|&(_, at)| at).collect::<Vec<_>>(), expected);
}

#[test]
fn the_derived_rate_is_five_quarters_of_window_per_rtt_and_twice_it_in_slow_start() {
    // 10 x 1 200 B per 100 ms = 960 kb/s.
    for (in_slow_start, kbps) in [(false, 1_200), (true, 1_920)] {
        let mut probe = Probe::with_window(10);
        probe.in_slow_start = in_slow_start;
        let channel = Channel::new(paced(Span::from_millis(100)), &probe, ONE_WAY);
        assert_eq!(channel.sender.stats(PATH).pacing_rate, Some(Rate::from_kbps(kbps)), "{in_slow_start}");
    }
}

#[test]
fn pacing_by_the_controller_leaves_laws_without_a_rate_alone() {
    let mut config = plain();
    config.pacing = Pacing::ByController;
    let mut probe = Probe::with_window(10);
    let channel = Channel::new(config.clone(), &probe, ONE_WAY);
    assert_eq!(channel.sender.stats(PATH).pacing_rate, None);
    probe.rate = Some(Rate::from_mbps(1));
    let channel = Channel::new(config, &probe, ONE_WAY);
    assert_eq!(channel.sender.stats(PATH).pacing_rate, Some(Rate::from_mbps(1)));
}

/// A window of a quarter packet: one packet every four round trips.
#[test]
fn a_window_below_one_packet_lets_one_leave_each_rtt_times_packet_over_window() {
    let probe = Probe::with_window_bytes(PACKET / 4);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    for _ in 0..1_700 {
        channel.fill(10);
        channel.run_until(channel.now + Span::from_millis(1));
    }
    let departures: Vec<_> = channel.departures.iter().map(|&(_, at)| at).collect();
    assert_eq!(departures, [0, 400, 800, 1_200, 1_600].map(ms));
    let Gate::Blocked { limit, until } = channel.sender.gate(channel.now, PATH, PACKET) else {
        panic!("the next packet leaves at 2 000 ms")
    };
    assert_eq!((limit, until), (Limit::Window, Some(ms(2_000))));
}

#[test]
fn a_window_of_zero_never_opens_by_itself() {
    let probe = Probe::with_window(0);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    let gate = channel.sender.gate(ms(0), PATH, PACKET);
    assert_eq!(gate, Gate::Blocked { limit: Limit::Window, until: None });
}

/// RFC 3042: each of the first two acknowledgements after a gap takes a packet out of flight and so lets a new one leave.
#[test]
fn limited_transmit_follows_from_counting_bytes_in_flight() {
    let probe = Probe::with_window(4);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    channel.burst(4, &[0]);
    channel.run_until(Timestamp::from_nanos(100_000_000));
    assert_eq!(channel.lost(), [0], "packet 3 was the third");
    let probe = Probe::with_window(3);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    channel.burst(3, &[0]);
    channel.run_until(ms(100));
    assert_eq!((channel.lost().len(), channel.fill(10)), (0, 2));
}

/// In-flight data reaches zero in every round, yet the sender is not idle: nothing is restarted.
#[test]
fn bursts_with_an_empty_pipe_between_them_are_not_idleness() {
    let probe = Probe::with_window(10);
    let mut channel = Channel::with_ack_every(plain(), &probe, ONE_WAY, 10);
    for round in 0..20 {
        assert_eq!(channel.fill(20), 10);
        channel.run_until(ms(100 * (round + 1)));
        assert_eq!(channel.sender.stats(PATH).in_flight_packets, 0);
    }
    assert_eq!(probe.signals(), []);
}

#[test]
fn sending_after_idleness_restarts_once_and_tells_for_how_long() {
    let probe = Probe::with_window(10);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    channel.fill(10);
    channel.run_until(ms(5_100));
    channel.fill(10);
    channel.run_until(ms(5_200));
    channel.fill(10);
    assert_eq!(probe.signals(), [Signal::Restart { idle: Span::from_secs(5) }]);
}

/// A packet leaves each 20 round trips, far more than a probe timeout: it is the window that is in use all the time.
#[test]
fn packets_spaced_by_more_than_a_probe_timeout_are_not_idleness() {
    let mut paced_by_controller = Probe::with_window(10);
    paced_by_controller.rate = Some(Rate::from_bps(u64::from(MTU) * 8 / 2));
    let fraction = Probe::with_window_bytes(u64::from(MTU) / 20);
    for (config, probe) in [(paced(ONE_WAY.saturating_mul(2)), paced_by_controller), (plain(), fraction)] {
        let mut channel = Channel::new(config, &probe, ONE_WAY);
        for _ in 0..2_000 {
            channel.fill(1);
            channel.run_until(channel.now + Span::from_millis(10));
        }
        assert!((5..20).contains(&channel.departures.len()), "{}", channel.departures.len());
        assert_eq!(probe.signals(), []);
    }
}

#[test]
fn every_packet_costs_its_size_in_long_run_pacing() {
    for rate in [Rate::from_kbps(10), Rate::from_mbps(12), Rate::from_gbps(800)] {
        let mut probe = Probe::with_window(1_000_000);
        probe.rate = Some(rate);
        let mut channel = Channel::new(paced(Span::from_millis(100)), &probe, Span::from_secs(1_000_000));
        while channel.departures.len() < 5_000 {
            channel.fill(1);
            if let Gate::Blocked { until: Some(until), .. } = channel.sender.gate(channel.now, PATH, PACKET) {
                channel.now = until;
            }
        }
        let elapsed = channel.departures[4_999].1.saturating_since(Timestamp::ZERO);
        let expected = rate.time_for(5_000 * PACKET).unwrap();
        // The first burst of at most ten packets takes no time: 0.2 % of 5 000.
        assert!(elapsed <= expected && elapsed >= expected.mul_div(998, 1_000), "{rate}: {elapsed}, {expected}");
    }
}
