//! Numbered cases are those of the draft's appendix "BBR Example Test Cases", by their titles; the ones that need a queue
//! stand in the tests across crates.

mod losses;
mod states;

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
