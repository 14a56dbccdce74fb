//! The states: what begins and what ends them.

use super::*;

#[test]
fn exiting_startup_on_bandwidth_plateau() {
    let mut pipe = Pipe::queued();
    pipe.until("drain");
    assert!(pipe.bbr().full_bw_reached && pipe.bbr().full_pipe.is_full());
    assert_close(pipe.bbr().model.max_bw().unwrap().as_bps(), BANDWIDTH.as_bps(), 0.02);
    // 10 packets of the first flight double up to 180 in four or five rounds, a round later all of them have been measured,
    // and three rounds show no growth.
    assert!((8..=11).contains(&pipe.bbr().rounds.rounds()), "{}", pipe.bbr().rounds.rounds());
}

#[test]
fn exiting_drain_based_on_inflight() {
    let mut pipe = Pipe::queued();
    pipe.until("drain");
    let rate = pipe.bbr().pacing_rate().unwrap();
    assert_close(rate.as_bps(), BANDWIDTH.mul_div(99, 200).as_bps(), 0.02);
    assert!(pipe.flow.flight().bytes > BDP);
    pipe.flow.rtt = RTT;
    pipe.until("probe_bw_down");
    assert!(pipe.flow.flight().bytes <= BDP + 2 * MTU, "{:?}", pipe.flow.flight().bytes);
}

#[test]
fn exiting_drain_based_on_time() {
    let mut pipe = Pipe::queued();
    pipe.until("drain");
    // More than the product stays in flight. The fourth round that ends is the one too many.
    let since = pipe.bbr().rounds.rounds();
    pipe.until("probe_bw_down");
    assert_eq!(pipe.bbr().rounds.rounds(), since + 4);
    assert!(pipe.flow.flight().bytes > BDP + 4 * MTU);
}

#[test]
fn exiting_probe_up_on_bandwidth_plateau() {
    let mut pipe = Pipe::new();
    pipe.until("probe_bw_up");
    let since = pipe.bbr().rounds.rounds();
    pipe.until("probe_bw_down");
    assert_eq!(pipe.bbr().rounds.rounds(), since + 3, "three rounds without growth");
}

#[test]
fn never_exiting_startup_or_probe_up_when_application_limited_with_no_loss() {
    let mut pipe = Pipe::new();
    pipe.flow.limit = Limit::Application;
    pipe.steps(4_000);
    assert_eq!(pipe.phase(), "startup");
    let seldom = Bbr3Params { probe_rtt_interval: Span::from_secs(60), ..Bbr3Params::default() };
    let mut pipe = Pipe::with(seldom);
    pipe.until("probe_bw_up");
    pipe.flow.limit = Limit::Application;
    // Samples of packets sent before are not limited: that is the round which begins now.
    pipe.steps(1_500);
    assert_eq!(pipe.phase(), "probe_bw_up");
}

#[test]
fn exiting_probe_down_on_inflight() {
    let mut pipe = Pipe::queued();
    pipe.until("probe_bw_down");
    pipe.flow.controller.model.inflight_longterm = Some(120 * MTU);
    pipe.steps(1);
    let rate = pipe.bbr().pacing_rate().unwrap();
    assert_close(rate.as_bps(), BANDWIDTH.mul_div(99 * 9, 1_000).as_bps(), 0.02);
    assert_eq!(pipe.phase(), "probe_bw_down");
    // Headroom is 15 % of 120 packets: 102 may stay. The quantum and four packets are less than the product.
    pipe.flow.rtt = RTT;
    pipe.until("probe_bw_cruise");
    assert!(pipe.flow.flight().bytes <= 102 * MTU);
}

#[test]
fn exiting_probe_down_after_max_time() {
    let mut pipe = Pipe::queued();
    pipe.until("probe_bw_down");
    let wait = pipe.bbr().probe.wait;
    assert!((Span::from_secs(2)..Span::from_secs(3)).contains(&wait), "{wait}");
    let steps = pipe.until("probe_bw_refill");
    assert_eq!(steps as u64, wait.as_millis() + 1, "directly from DOWN, once the wait is over");
}

#[test]
fn entering_and_exiting_probe_rtt() {
    let mut pipe = Pipe::new();
    pipe.until("probe_bw_cruise");
    let measured = pipe.bbr().model.probe_rtt_min.seen_at();
    pipe.until("probe_rtt");
    let entered = pipe.flow.now;
    assert_eq!(entered, measured + Span::from_millis(5_001));
    assert_eq!(pipe.bbr().cwnd_gain(), Gain::from_f64(0.5));
    pipe.until("probe_bw_cruise");
    let lasted = pipe.flow.now.saturating_since(entered).as_millis();
    // Half of the product drains in half an RTT; then 200 ms and more than a round trip.
    assert!((250..=260).contains(&lasted), "{lasted} ms");
    assert!(pipe.flow.controller.window() > 150 * MTU, "the window is what it was");
}

#[test]
fn round_trips_of_seconds_leave_time_between_two_probe_rtts() {
    let mut flow = Driver::new(Bbr3::new(Bbr3Params::default(), &setup()).unwrap());
    flow.rtt = Span::from_secs(4);
    let mut between = Vec::new();
    let mut since = 0;
    for _ in 0..100 {
        flow.send(flow.packets().min(40));
        flow.now += flow.rtt;
        let packets = flow.in_flight.len();
        flow.report(&vec![Fate::Acked; packets]);
        since += 1;
        if flow.controller.state().phase == "probe_rtt" {
            between.push(core::mem::take(&mut since));
        }
    }
    // The round trips of one ProbeRTT follow upon each other.
    between.retain(|rounds| *rounds > 1);
    assert!(between.len() > 5 && between.iter().all(|rounds| *rounds > 5), "{between:?}");
}

#[test]
fn probe_rtt_gives_back_the_window_before_it_and_none_of_long_ago() {
    let mut pipe = Pipe::new();
    pipe.until("probe_bw_cruise");
    pipe.bbr().prior_window = 50 * BDP;
    pipe.until("probe_rtt");
    let saved = pipe.bbr().prior_window;
    assert!((150 * MTU..=3 * BDP).contains(&saved), "{saved}");
}

#[test]
fn skipping_probe_rtt_due_to_application_limited_sending() {
    let mut pipe = Pipe::new();
    pipe.until("probe_bw_cruise");
    while !pipe.flow.in_flight.is_empty() {
        pipe.flow.now += SPACING;
        pipe.flow.report(&[Fate::Acked]);
    }
    pipe.flow.limit = Limit::Application;
    pipe.flow.idle(Span::from_secs(6));
    assert!(pipe.bbr().idle_restart);
    assert_eq!(pipe.bbr().pacing_rate().unwrap(), pipe.bbr().model.bw().mul_div(99, 100), "exactly the bandwidth");
    pipe.flow.send(10);
    pipe.flow.now += RTT;
    pipe.flow.report(&[Fate::Acked; 10]);
    assert_ne!(pipe.phase(), "probe_rtt");
    assert!(!pipe.bbr().idle_restart, "over with the first acknowledgement");
}

#[test]
fn a_short_silence_counts_as_restart_though_nobody_announces_it() {
    let mut pipe = Pipe::new();
    pipe.until("probe_bw_cruise");
    let packets = pipe.flow.in_flight.len();
    pipe.flow.report(&vec![Fate::Acked; packets]);
    pipe.flow.send(1);
    assert!(!pipe.bbr().idle_restart, "the pacer may have emptied the flight");
    pipe.flow.now += RTT;
    pipe.flow.report(&[Fate::Acked]);
    pipe.flow.limit = Limit::Application;
    pipe.flow.send(1);
    assert!(pipe.bbr().idle_restart);
}

#[test]
fn the_long_term_bound_grows_by_1_2_4_packets_a_round() {
    let mut pipe = Pipe::new();
    pipe.until("probe_bw_up");
    let window = pipe.bbr().window;
    let mut increments = Vec::new();
    for _ in 0..5 {
        increments.push(window / pipe.bbr().probe.acked_per_increment.unwrap());
        pipe.bbr().raise_growth();
    }
    assert_eq!(increments, [1, 2, 4, 8, 16]);
    (0..100).for_each(|_| pipe.bbr().raise_growth());
    assert_eq!(pipe.bbr().probe.acked_per_increment, Some(MTU), "a packet for each packet at most");
}

#[test]
fn entering_and_exiting_probe_rtt_during_startup() {
    let mut pipe = Pipe::new();
    pipe.flow.limit = Limit::Application;
    pipe.until("probe_rtt");
    assert!(!pipe.bbr().full_bw_reached);
    assert!(pipe.flow.now > at(5_000));
    pipe.until("startup");
}

#[test]
fn handling_application_limited_sending_during_probe_refill() {
    let mut pipe = Pipe::new();
    pipe.until("probe_bw_refill");
    let max_bw = pipe.bbr().model.max_bw();
    pipe.flow.limit = Limit::Application;
    // Every third millisecond only: a third of the bandwidth.
    for _ in 0..200 {
        pipe.flow.now += SPACING + SPACING;
        pipe.step(Fate::Acked);
    }
    assert_eq!(pipe.bbr().model.max_bw(), max_bw);
    assert_eq!(pipe.phase(), "probe_bw_up");
}

#[test]
fn the_wait_for_a_probe_is_seeded_and_bounded_by_reno() {
    let waits: Vec<_> = (0..3)
        .map(|seed| {
            let mut setup = setup();
            setup.seed = seed;
            let mut pipe = Pipe { flow: Driver::new(Bbr3::new(Bbr3Params::default(), &setup).unwrap()) };
            pipe.until("probe_bw_down");
            pipe.bbr().probe.wait
        })
        .collect();
    assert!(waits[0] != waits[1] && waits[1] != waits[2], "{waits:?}");
    // At an RTT of 10 ms the product is 10 packets, so Reno would take ten rounds.
    let mut pipe = Pipe::new();
    pipe.flow.rtt = Span::from_millis(10);
    pipe.until("probe_bw_cruise");
    let steps = pipe.until("probe_bw_refill");
    assert!((80..=115).contains(&steps), "{steps} ms");
}

#[test]
fn the_bandwidth_is_forgotten_though_round_trips_are_longer_than_the_wait_for_a_probe() {
    let mut flow = Driver::new(Bbr3::new(Bbr3Params::default(), &setup()).unwrap());
    flow.rtt = Span::from_secs(4);
    let mut run = |packets: u64, rounds| {
        for _ in 0..rounds {
            flow.send(flow.packets().min(packets));
            flow.now += flow.rtt;
            let packets = flow.in_flight.len();
            flow.report(&vec![Fate::Acked; packets]);
        }
        flow.controller.model.max_bw().unwrap()
    };
    assert_eq!(run(100, 40), Rate::from_kbps(200), "100 packets in 4 s");
    assert_eq!(run(10, 40), Rate::from_kbps(20));
}
