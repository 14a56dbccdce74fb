//! Numbered cases are those of the draft's appendix "BBR Example Test Cases", by their titles; the ones that need a queue
//! stand in the tests across crates.

use super::super::pacing::Gain;
use super::*;
use crate::controller::{Limit, PacketRecord};
use crate::estimate::AgedMin;
use crate::testing::{Batch, Driver, Fate, MTU, at, setup};

/// Base RTT, and the time between two packets on the bottleneck: 100 packets make a bandwidth-delay product.
const RTT: Span = Span::from_millis(100);
const SPACING: Span = Span::from_millis(1);
const BDP: u64 = 100 * MTU;
/// 1 000 bytes a millisecond.
const BANDWIDTH: Rate = Rate::from_mbps(8);

/// A bottleneck that takes a packet each millisecond. What is in flight beyond 100 packets is the test's to arrange, by the
/// RTT.
struct Pipe {
    flow: Driver<Bbr3>,
}

impl Pipe {
    fn new() -> Self {
        Self::with(Bbr3Params::default())
    }

    fn with(params: Bbr3Params) -> Self {
        Self { flow: Driver::new(Bbr3::new(params, &setup()).unwrap()) }
    }

    /// A standing queue of 80 packets: the path's own RTT is known, and longer than it is what is measured.
    fn queued() -> Self {
        let params = Bbr3Params { probe_rtt_interval: Span::from_secs(60), ..Bbr3Params::default() };
        let mut pipe = Self::with(params);
        pipe.flow.rtt = Span::from_millis(180);
        pipe.flow.controller.model.min_rtt = AgedMin::new(at(0), Some(RTT));
        pipe
    }

    fn bbr(&mut self) -> &mut Bbr3 {
        &mut self.flow.controller
    }

    fn phase(&self) -> &'static str {
        self.flow.controller.state().phase
    }

    /// A millisecond: what is as old as the RTT is acknowledged, or fares as `fate` says, and a packet leaves if it may.
    fn step(&mut self, fate: Fate) {
        self.flow.now += SPACING;
        let due = |pipe: &Self| {
            pipe.flow.in_flight.front().is_some_and(|packet| packet.sent_at + pipe.flow.rtt <= pipe.flow.now)
        };
        let mut fates = Vec::new();
        while fates.len() < 2 && due(self) {
            fates.push(fate);
            self.flow.report(&[fate]);
        }
        if self.flow.flight().bytes + MTU <= self.flow.controller.window() {
            self.flow.send(1);
        }
    }

    fn steps(&mut self, steps: usize) {
        (0..steps).for_each(|_| self.step(Fate::Acked));
    }

    /// Steps until a phase begins; their number.
    fn until(&mut self, phase: &str) -> usize {
        for steps in 1..20_000 {
            self.step(Fate::Acked);
            if self.phase() == phase {
                return steps;
            }
        }
        panic!("never reaches {phase}, but stays in {}", self.phase());
    }

    /// As [`Pipe::until`], in a round trip of which so many packets of each hundred are lost.
    fn lossy_until(&mut self, phase: &str, lost: usize) -> usize {
        for steps in 1..2_000 {
            let hit = steps % 100 % (100 / lost) == 0;
            self.step(if hit { Fate::Lost } else { Fate::Acked });
            if self.phase() == phase {
                return steps;
            }
        }
        panic!("never reaches {phase}, but stays in {}", self.phase());
    }
}

fn assert_close(value: u64, expected: u64, share: f64) {
    assert!((value as f64 / expected as f64 - 1.0).abs() <= share, "{value} is not within {share} of {expected}");
}

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
fn exiting_startup_on_loss_when_application_limited() {
    let mut pipe = Pipe::new();
    pipe.flow.limit = Limit::Application;
    pipe.flow.controller.window = 80 * MTU;
    pipe.steps(400);
    assert_eq!(pipe.phase(), "startup", "application-limited rounds are no plateau");
    // So little is in flight that Drain is over at once.
    pipe.lossy_until("probe_bw_cruise", 10);
    assert!(pipe.bbr().full_bw_reached);
    let longterm = pipe.bbr().model.inflight_longterm.unwrap();
    assert!(longterm >= pipe.bbr().model.bdp(), "{longterm}");
}

#[test]
fn startup_bears_two_percent_of_loss_and_a_single_burst() {
    let mut pipe = Pipe::new();
    pipe.flow.limit = Limit::Application;
    pipe.flow.controller.window = 80 * MTU;
    pipe.steps(400);
    for step in 0..1_000 {
        pipe.step(if step % 100 == 0 { Fate::Lost } else { Fate::Acked });
    }
    assert_eq!(pipe.phase(), "startup", "1 % is below the threshold");
    (0..10).for_each(|_| pipe.step(Fate::Lost));
    pipe.steps(300);
    assert_eq!(pipe.phase(), "startup", "ten packets in a row are one range");
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
fn exiting_probe_up_on_loss_when_application_limited() {
    let mut pipe = Pipe::new();
    pipe.until("probe_bw_up");
    pipe.flow.limit = Limit::Application;
    pipe.steps(105);
    pipe.lossy_until("probe_bw_down", 10);
    assert!(pipe.bbr().probe.previous.too_high);
    assert_eq!(pipe.bbr().model.inflight_longterm, None, "what an application leaves in flight bounds nothing");
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
fn handling_loss_during_probe_up_after_inflight_longterm_is_set() {
    let mut pipe = Pipe::new();
    pipe.until("probe_bw_up");
    pipe.flow.controller.model.inflight_longterm = Some(200 * MTU);
    pipe.steps(105);
    let steps = pipe.lossy_until("probe_bw_down", 10);
    assert!(steps <= 30, "the third loss of a hundred packets is more than 2 %: {steps}");
    // Three packets of 100 in flight are lost before 2 % are crossed; 0.7 of the product is the least.
    let longterm = pipe.bbr().model.inflight_longterm.unwrap();
    assert!((70 * MTU..=101 * MTU).contains(&longterm), "{longterm}");
    assert_eq!(pipe.bbr().undo.state, Some(State::Up));
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
fn spurious_fast_recovery_restores_bounds_and_resumes_the_probe() {
    let mut pipe = Pipe::new();
    pipe.until("probe_bw_up");
    pipe.flow.controller.model.inflight_longterm = Some(200 * MTU);
    pipe.steps(105);
    let longterm = pipe.bbr().model.inflight_longterm;
    let lost = pipe.flow.take(5);
    pipe.flow.feed(&Batch { lost: lost.clone(), ..Batch::default() });
    assert_eq!(pipe.phase(), "probe_bw_down");
    assert!(pipe.bbr().model.inflight_longterm < longterm);
    pipe.flow.feed(&Batch { spurious: lost, ..Batch::default() });
    assert_eq!(pipe.phase(), "probe_bw_refill", "back to the probe");
    assert_eq!(pipe.bbr().model.inflight_longterm, longterm);
    assert!(!pipe.bbr().loss_round.has_loss);
}

#[test]
fn a_spurious_time_out_restores_the_window() {
    let mut pipe = Pipe::new();
    pipe.until("probe_bw_cruise");
    let window = pipe.bbr().window;
    let packets = pipe.flow.in_flight.len();
    let lost = pipe.flow.take(packets);
    pipe.flow.feed(&Batch { lost: lost.clone(), timeout: Some(1), ..Batch::default() });
    assert_eq!(pipe.bbr().window, MTU, "one packet may leave");
    pipe.flow.feed(&Batch { spurious: lost, ..Batch::default() });
    assert!(pipe.bbr().window >= window, "{} of {window}", pipe.bbr().window);
    assert_eq!(pipe.bbr().model.inflight_shortterm, None);
}

#[test]
fn after_a_time_out_the_window_grows_by_what_arrives_until_as_much_as_was_missing() {
    let mut pipe = Pipe::new();
    pipe.until("probe_bw_cruise");
    let window = pipe.bbr().window;
    let packets = pipe.flow.in_flight.len();
    let lost = pipe.flow.take(packets);
    pipe.flow.feed(&Batch { lost, persistent_congestion: Some(Span::from_secs(1)), ..Batch::default() });
    assert_eq!(pipe.bbr().window, MTU);
    let mut windows = Vec::new();
    for _ in 0..7 {
        pipe.flow.round(|_| Fate::Acked);
        windows.push(pipe.flow.packets());
    }
    assert_eq!(windows[..5], [4, 8, 16, 32, 64]);
    assert!(windows[6] >= window / MTU, "{windows:?}");
}

#[test]
fn a_probe_timeout_alone_changes_nothing() {
    let mut pipe = Pipe::new();
    pipe.until("probe_bw_cruise");
    let before = pipe.bbr().state();
    pipe.flow.feed(&Batch { timeout: Some(1), ..Batch::default() });
    assert_eq!(pipe.bbr().state(), before);
}

#[test]
fn a_round_with_losses_bounds_the_short_term_model_once() {
    let mut pipe = Pipe::new();
    pipe.until("probe_bw_cruise");
    pipe.steps(300);
    let window = pipe.bbr().window;
    pipe.step(Fate::Lost);
    assert_eq!(pipe.bbr().model.bw_shortterm, None, "not before the round is over");
    pipe.steps(102);
    let (bw, inflight) = (pipe.bbr().model.bw_shortterm.unwrap(), pipe.bbr().model.inflight_shortterm.unwrap());
    // What was delivered in the round is more than 0.7 of the model: 100 packets in 100 ms.
    assert_close(bw.as_bps(), BANDWIDTH.as_bps(), 0.02);
    assert_close(inflight, (window * 7 / 10).max(100 * MTU), 0.02);
    pipe.steps(300);
    assert_eq!(pipe.bbr().model.inflight_shortterm, Some(inflight), "rounds without losses change nothing");
    pipe.until("probe_bw_refill");
    assert_eq!((pipe.bbr().model.bw_shortterm, pipe.bbr().model.inflight_shortterm), (None, None));
}

#[test]
fn a_mark_is_as_good_as_a_loss() {
    let run = |fate| {
        let mut pipe = Pipe::new();
        pipe.until("probe_bw_up");
        pipe.steps(105);
        for step in 0..40 {
            pipe.step(if step % 10 == 0 { fate } else { Fate::Acked });
        }
        (pipe.phase(), pipe.bbr().model.inflight_longterm.is_some())
    };
    assert_eq!(run(Fate::Marked), ("probe_bw_down", true));
    assert_eq!(run(Fate::Lost), ("probe_bw_down", true));
    assert_eq!(run(Fate::Acked), ("probe_bw_up", false));
    let silent = Bbr3Params { ecn: false, ..Bbr3Params::default() };
    assert_eq!(Bbr3::new(silent, &setup()).unwrap().ecn(), Ecn::NotEct);
}

#[test]
fn marks_that_only_counts_tell_of_weigh_as_much() {
    let mut pipe = Pipe::new();
    pipe.until("probe_bw_up");
    pipe.steps(105);
    let acked = pipe.flow.take(20);
    let mut feedback = Feedback::new(pipe.flow.now, crate::Cause::Ack);
    feedback.acked = &acked;
    feedback.newly_acked = crate::Tally { bytes: 20 * MTU, packets: 20 };
    feedback.newly_marked = crate::Tally { bytes: 5 * MTU, packets: 5 };
    let flight = pipe.flow.flight();
    pipe.bbr().on_feedback(&feedback, &flight);
    assert!(pipe.bbr().probe.previous.too_high);
    assert_ne!(pipe.phase(), "probe_bw_up");
}

#[test]
fn losses_that_coding_restored_count() {
    let mut pipe = Pipe::new();
    pipe.until("probe_bw_up");
    pipe.steps(105);
    let recovered = pipe.flow.take(5);
    pipe.flow.feed(&Batch { recovered, ..Batch::default() });
    assert_eq!(pipe.phase(), "probe_bw_down");
}

#[test]
fn the_inflight_at_a_loss_is_where_losses_crossed_the_threshold() {
    let bbr = Bbr3::new(Bbr3Params::default(), &setup()).unwrap();
    // Nothing lost before: (lost_prefix) / (99 000 + lost_prefix) = 2 %, so lost_prefix = 1 980 / 0.98 = 2 020.
    assert_eq!(bbr.inflight_at_loss(100_000, 1_000, 1_000), 99_000 + 2_020);
    // 1 500 lost before: (1 980 - 1 500) / 0.98 = 490.
    assert_eq!(bbr.inflight_at_loss(100_000, 2_500, 1_000), 99_000 + 490);
    // More than the threshold lost before the packet: nothing of it fitted, and nothing underflows.
    for (in_flight, lost, bytes) in
        [(100_000, 50_000, 1_000), (1_000, 1_000, 1_000), (0, u64::MAX, 1_500), (500, 0, 1_500)]
    {
        assert_eq!(bbr.inflight_at_loss(in_flight, lost, bytes), in_flight.saturating_sub(bytes));
    }
    assert_eq!(bbr.inflight_at_loss(u64::MAX, 0, 0), u64::MAX);
}

#[test]
fn headroom_is_fifteen_percent_and_at_least_a_packet() {
    let mut bbr = Bbr3::new(Bbr3Params::default(), &setup()).unwrap();
    for (bound, free) in [(100_000, 85_000), (10_000, 8_500), (6_000, 5_000), (4_000, 4_000), (0, 4_000)] {
        bbr.model.inflight_longterm = Some(bound);
        assert_eq!(bbr.inflight_with_headroom(), Some(free), "of {bound}");
    }
}

#[test]
fn an_application_limited_flow_takes_its_rate_from_the_first_rtt_sample() {
    // 12 000 B / 1 ms x 2.77 = 266 Mb/s until an RTT is known; 12 000 B / 40 ms x 2.77 = 6.648 Mb/s then.
    let mut setup = setup();
    setup.mtu = 1_200;
    let mut flow = Driver::new(Bbr3::new(Bbr3Params::default(), &setup).unwrap());
    assert_eq!(flow.controller.pacing_rate(), Some(Rate::from_kbps(265_920)));
    flow.set_mtu(1_200);
    flow.limit = Limit::Application;
    flow.rtt = Span::from_millis(40);
    flow.send(1);
    flow.now += flow.rtt;
    flow.report(&[Fate::Acked]);
    assert_eq!(flow.controller.pacing_rate(), Some(Rate::from_kbps(6_648)));
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
fn the_quantum_is_a_millisecond_of_the_rate_within_bounds() {
    let mut bbr = Bbr3::new(Bbr3Params::default(), &setup()).unwrap();
    for (mbps, quantum) in [(1, 2 * MTU), (80, 9_900), (10_000, 65_536)] {
        bbr.pacing.follow(Rate::from_mbps(mbps), Gain::ONE, MTU);
        assert_eq!(bbr.quantum_at_rate(), quantum, "{mbps} Mb/s");
    }
}

#[test]
fn a_new_path_is_learnt_from_the_beginning() {
    let mut pipe = Pipe::new();
    pipe.until("probe_bw_cruise");
    pipe.flow.signal(&Signal::PathChange { path: crate::PathId(0), change: PathChange::Migrated });
    assert_eq!((pipe.phase(), pipe.flow.packets()), ("startup", 10));
    assert_eq!(pipe.bbr().handover().bandwidth, None);
}

#[test]
fn a_handover_is_where_the_next_flow_begins() {
    let mut resumed = setup();
    resumed.handover = Some(Handover { bandwidth: Some(BANDWIDTH), min_rtt: Some(RTT), ..Handover::default() });
    let bbr = Bbr3::new(Bbr3Params::default(), &resumed).unwrap();
    assert_eq!((bbr.window(), bbr.pacing_rate()), (BDP, Some(BANDWIDTH.mul_div(277, 100))));
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    let default = Bbr3Params::default;
    let cases = [
        (Bbr3Params { startup_gain: 1.0, ..default() }, "startup_gain"),
        (Bbr3Params { drain_gain: f64::NAN, ..default() }, "drain_gain"),
        (Bbr3Params { down_gain: 1.0, ..default() }, "down_gain"),
        (Bbr3Params { up_gain: f64::INFINITY, ..default() }, "up_gain"),
        (Bbr3Params { loss_threshold: 0.0, ..default() }, "loss_threshold"),
        (Bbr3Params { beta: 1.0, ..default() }, "beta"),
        (Bbr3Params { headroom: -0.1, ..default() }, "headroom"),
        (Bbr3Params { probe_rtt_interval: Span::ZERO, ..default() }, "probe_rtt_interval"),
        (Bbr3Params { initial_window: 0, ..default() }, "initial_window"),
    ];
    for (params, name) in cases {
        assert_eq!(Bbr3::new(params, &setup()).unwrap_err().name, name);
    }
}

#[test]
fn a_packet_lost_without_a_tag_of_its_own_is_no_worse_than_one_with() {
    // The engine clears tags when a controller is replaced: marks before that are not this controller's.
    let mut pipe = Pipe::new();
    pipe.until("probe_bw_up");
    let mut lost = pipe.flow.take(1);
    lost[0] = PacketRecord { tag: PacketTag::NONE, ..lost[0] };
    pipe.flow.feed(&Batch { lost, ..Batch::default() });
    assert_eq!(pipe.phase(), "probe_bw_up", "one packet of a hundred");
}
