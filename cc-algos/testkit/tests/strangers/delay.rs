//! Delay-based laws, after Vegas (packets queued = window (RTT - base) / RTT) and Swift (a target delay).

use std::collections::BTreeMap;

use cc_algos::controller::PacketTag;
use cc_algos::units::round_to_u64;
use cc_algos::{Controller, Declaration, Family, Feedback, Flight, Sent, Setup, Signal, Span, Timestamp};

use super::{Core, Reductions, Round, Stranger, rest_from_core, wide_area};

pub(super) fn all() -> Vec<Stranger> {
    vec![
        Stranger {
            name: "vegas-milliseconds",
            bug: "reckons in whole milliseconds and divides by zero on RTTs below one",
            build: |setup| Box::new(Milliseconds { core: Core::new(setup), round: Round::default(), base: None }),
            declaration: delay_based,
        },
        Stranger {
            name: "vegas-absent-rtt-is-zero",
            bug: "reads a batch without an RTT sample as an RTT of zero, which stays its base RTT for good",
            build: |setup| Box::new(AbsentIsZero { core: Core::new(setup), round: Round::default(), base: Span::MAX }),
            declaration: delay_based,
        },
        Stranger {
            name: "vegas-keeps-base-on-migration",
            bug: "keeps the old path's base RTT after a migration: on a longer path it takes distance for a queue and starves",
            build: |setup| Box::new(KeepsBase { core: Core::new(setup), round: Round::default(), base: None }),
            declaration: delay_based,
        },
        Stranger {
            name: "vegas-forgets-no-lost-packet",
            bug: "keeps a map of packets in flight from which only acknowledgements remove: it grows with every loss",
            build: |setup| {
                Box::new(LeaksLost { core: Core::new(setup), round: Round::default(), sent: BTreeMap::new(), found: 0 })
            },
            declaration: delay_based,
        },
        Stranger {
            name: "gradient-of-zero-rtt",
            bug: "divides the RTT's change by the smallest RTT: zero by zero makes the window NaN, then zero for good",
            build: |setup| Box::new(ZeroRttGradient::new(setup)),
            declaration: delay_based,
        },
        Stranger {
            name: "target-delay-eighth-of-packets",
            bug: "adds an eighth of the window in whole packets: at seven packets or fewer it never grows again",
            build: |setup| Box::new(EighthOfPackets::new(setup)),
            declaration: || Declaration::new(Family::Datacentre).min_window(2.0).reductions(Reductions::Unbounded),
        },
    ]
}

/// Delays shrink the window besides losses and marks, also in batches that report those.
pub(super) fn delay_based() -> Declaration {
    wide_area().reductions(Reductions::Unbounded)
}

/// Losses halve and collapse a delay-based law as they do Reno, and slow start grows as Reno's. A reduction begins a round.
/// Returns whether this batch reduced.
pub(super) fn react(core: &mut Core, round: &mut Round, feedback: &Feedback<'_>, flight: &Flight<'_>) -> bool {
    let congested = core.is_congested(feedback, flight);
    if congested {
        core.reduce(0.5);
        round.end = flight.next_packet_number;
    }
    core.collapse_if_persistent(feedback, flight);
    let acked = core.growth(feedback, flight);
    core.window.slow_start(acked);
    congested
}

/// Vegas once a round, with `queued` packets of its own in the queue: 2 to 4 are right.
pub(super) fn adjust(core: &mut Core, queued: u64, flight: &Flight<'_>) {
    let (window, mtu) = (core.window.bytes(), core.window.mtu());
    if core.window.in_slow_start() {
        if queued > 2 {
            core.window.leave_slow_start();
        }
        return;
    }
    match queued {
        0..2 if flight.limit.allows_growth() => core.window.set(window.saturating_add(mtu)),
        0..=4 => {}
        _ => core.window.set(window.saturating_sub(mtu).max(core.window.min())),
    }
}

/// Packets of `window` that wait in the queue.
pub(super) fn queued(core: &Core, rtt: Span, base: Span) -> u64 {
    let share = rtt.saturating_sub(base).as_nanos() as f64 / rtt.as_nanos().max(1) as f64;
    round_to_u64(core.window.bytes() as f64 / core.window.mtu() as f64 * share)
}

/// Wrong: a datacentre's RTT is zero milliseconds.
#[derive(Clone, Debug)]
struct Milliseconds {
    core: Core,
    round: Round,
    base: Option<Span>,
}

impl Controller for Milliseconds {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        react(&mut self.core, &mut self.round, feedback, flight);
        let Some(rtt) = feedback.rtt.map(|sample| sample.latest) else { return };
        let base = self.base.map_or(rtt, |base| base.min(rtt));
        self.base = Some(base);
        if self.round.ends(feedback, flight) {
            let packets = u128::from(self.core.window.bytes() / self.core.window.mtu());
            let (rtt, base) = (u128::from(rtt.as_millis()), u128::from(base.as_millis()));
            adjust(&mut self.core, (packets * (rtt - base) / rtt) as u64, flight);
        }
    }
    fn on_signal(&mut self, _now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
        if matches!(signal, Signal::PathChange { .. }) {
            self.base = None;
        }
        self.core.on_signal(signal);
    }
    rest_from_core!();
}

/// Wrong: most batches have a sample, but not all.
#[derive(Clone, Debug)]
struct AbsentIsZero {
    core: Core,
    round: Round,
    base: Span,
}

impl Controller for AbsentIsZero {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        react(&mut self.core, &mut self.round, feedback, flight);
        if feedback.acked.is_empty() {
            return;
        }
        let rtt = feedback.rtt.map_or(Span::ZERO, |sample| sample.latest);
        self.base = self.base.min(rtt);
        if self.round.ends(feedback, flight) {
            let queued = queued(&self.core, rtt, self.base);
            adjust(&mut self.core, queued, flight);
        }
    }
    fn on_signal(&mut self, _now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
        if matches!(signal, Signal::PathChange { .. }) {
            self.base = Span::MAX;
        }
        self.core.on_signal(signal);
    }
    rest_from_core!();
}

/// Wrong: the base RTT is the first path's.
#[derive(Clone, Debug)]
struct KeepsBase {
    core: Core,
    round: Round,
    base: Option<Span>,
}

impl Controller for KeepsBase {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        react(&mut self.core, &mut self.round, feedback, flight);
        let Some(rtt) = feedback.rtt.map(|sample| sample.latest) else { return };
        let base = self.base.map_or(rtt, |base| base.min(rtt));
        self.base = Some(base);
        if self.round.ends(feedback, flight) {
            let queued = queued(&self.core, rtt, base);
            adjust(&mut self.core, queued, flight);
        }
    }
    rest_from_core!(signals);
}

/// Wrong: what is lost stays in the map.
#[derive(Clone, Debug)]
struct LeaksLost {
    core: Core,
    round: Round,
    /// Packets in flight and the flight each found when it left, bytes.
    sent: BTreeMap<u64, u64>,
    /// The largest of those acknowledged in this round.
    found: u64,
}

impl Controller for LeaksLost {
    fn on_sent(&mut self, sent: &Sent, flight: &Flight<'_>) -> PacketTag {
        self.sent.insert(sent.packet_number, flight.bytes);
        PacketTag::NONE
    }
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let found = feedback.acked.iter().filter_map(|packet| self.sent.remove(&packet.packet_number)).max();
        self.found = self.found.max(found.unwrap_or(0));
        react(&mut self.core, &mut self.round, feedback, flight);
        let Some((sample, base)) = feedback.rtt.zip(flight.min_rtt) else { return };
        if self.round.ends(feedback, flight) {
            let share = sample.latest.saturating_sub(base).as_nanos() as f64 / sample.latest.as_nanos().max(1) as f64;
            let packets = core::mem::take(&mut self.found) as f64 / self.core.window.mtu() as f64;
            adjust(&mut self.core, round_to_u64(packets * share), flight);
        }
    }
    rest_from_core!(signals);
}

/// Wrong: `clamp` lets NaN pass.
#[derive(Clone, Debug)]
struct ZeroRttGradient {
    core: Core,
    round: Round,
    former: Option<Span>,
    /// Packets.
    packets: f64,
}

impl ZeroRttGradient {
    fn new(setup: &Setup) -> Self {
        let core = Core::new(setup);
        let packets = core.window.bytes() as f64 / core.window.mtu() as f64;
        Self { core, round: Round::default(), former: None, packets }
    }

    fn apply(&mut self) {
        let mtu = self.core.window.mtu() as f64;
        self.core.window.set(round_to_u64(self.packets.clamp(2.0, 1e9) * mtu));
    }
}

impl Controller for ZeroRttGradient {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let mtu = self.core.window.mtu() as f64;
        let reduced = react(&mut self.core, &mut self.round, feedback, flight);
        if reduced || feedback.persistent_congestion.is_some() {
            self.packets = self.core.window.bytes() as f64 / mtu;
        }
        let Some((sample, base)) = feedback.rtt.zip(flight.min_rtt) else { return };
        if !self.round.ends(feedback, flight) {
            return;
        }
        let former = self.former.replace(sample.latest).unwrap_or(sample.latest);
        let change = sample.latest.as_secs_f64() - former.as_secs_f64();
        let gradient = (change / base.as_secs_f64()).clamp(-1.0, 1.0);
        if gradient <= 0.0 {
            self.packets += if flight.limit.allows_growth() { 1.0 } else { 0.0 };
        } else {
            self.packets *= 1.0 - 0.4 * gradient;
        }
        self.packets = self.packets.clamp(2.0, 1e9);
        self.apply();
    }
    fn on_signal(&mut self, _now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
        self.core.on_signal(signal);
        match signal {
            Signal::MtuChange { .. } => self.apply(),
            Signal::PathChange { .. } => {
                self.former = None;
                self.packets = self.core.window.bytes() as f64 / self.core.window.mtu() as f64;
            }
            _ => {}
        }
    }
    rest_from_core!();
}

/// Wrong: the increase rounds to zero on small windows.
#[derive(Clone, Debug)]
struct EighthOfPackets {
    core: Core,
    round: Round,
}

impl EighthOfPackets {
    fn new(setup: &Setup) -> Self {
        let mut core = Core::new(setup);
        core.window.leave_slow_start();
        Self { core, round: Round::default() }
    }
}

impl Controller for EighthOfPackets {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        react(&mut self.core, &mut self.round, feedback, flight);
        let Some((sample, base)) = feedback.rtt.zip(flight.min_rtt) else { return };
        if !self.round.ends(feedback, flight) {
            return;
        }
        let (window, mtu) = (self.core.window.bytes(), self.core.window.mtu());
        let packets = window / mtu;
        if sample.latest > base.mul_f64(1.25) {
            let target = packets - packets / 4;
            self.core.window.set(target.saturating_mul(mtu).max(self.core.window.min()));
        } else if flight.limit.allows_growth() {
            self.core.window.set(window.saturating_add((packets / 8).saturating_mul(mtu)));
        }
    }
    rest_from_core!(signals);
}
