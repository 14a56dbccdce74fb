//! CUBIC-like laws: a plateau where the last congestion was, and a cubic curve around it.

use cc_algos::units::round_to_u64;
use cc_algos::{Controller, ControllerState, Feedback, Flight, Handover, PacketRecord, Setup, Signal, Timestamp};

use super::{Core, Stranger, rest_from_core, wide_area};

const BETA: f64 = 0.7;

pub(super) fn all() -> Vec<Stranger> {
    vec![
        Stranger {
            name: "cubic-cube-overflows",
            bug: "takes the cube of milliseconds times bytes in 64 bits, which overflows two minutes away from the plateau",
            build: |setup| Box::new(CubeOverflows { core: Core::new(setup), plateau: 0, epoch: None }),
            declaration: wide_area,
        },
        Stranger {
            name: "cubic-clock-runs-on",
            bug: "lets the curve's clock run while the application is silent: afterwards the window leaps along the curve",
            build: |setup| Box::new(ClockRunsOn { core: Core::new(setup), curve: Curve::default() }),
            declaration: wide_area,
        },
        Stranger {
            name: "cubic-hands-over-packets",
            bug: "keeps its window in packets and hands that number over as bytes",
            build: |setup| Box::new(HandsOverPackets { core: Core::new(setup), curve: Curve::default() }),
            declaration: wide_area,
        },
        Stranger {
            name: "cubic-epoch-by-clock",
            bug: "reduces at most once per smallest RTT by the clock, not once per window: with a queue, twice a window",
            build: |setup| Box::new(EpochByClock::new(setup)),
            declaration: wide_area,
        },
    ]
}

/// Integer cube root, rounded down.
fn cube_root(value: u128) -> u64 {
    let (mut low, mut high) = (0_u128, 1 << 42);
    while low + 1 < high {
        let middle = u128::midpoint(low, high);
        if middle.pow(3) <= value { low = middle } else { high = middle }
    }
    low as u64
}

/// `W_cubic` in packets and seconds (RFC 9438, section 4.2).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Curve {
    plateau: f64,
    epoch: Option<(Timestamp, f64)>,
    stalled_since: Option<Timestamp>,
}

impl Curve {
    pub(super) fn on_reduction(&mut self, packets: f64) {
        *self = Self { plateau: packets, ..Self::default() };
    }

    /// The clock stands still from the first batch that may not grow the window.
    pub(super) fn stall(&mut self, now: Timestamp) {
        self.stalled_since.get_or_insert(now);
    }

    /// The clock runs again, if it stood still.
    pub(super) fn resume(&mut self, now: Timestamp) {
        if let Some((since, (began, _))) = self.stalled_since.take().zip(self.epoch.as_mut()) {
            *began += now.saturating_since(since);
        }
    }

    /// The clock stands still in a silence.
    pub(super) fn on_signal(&mut self, signal: &Signal) {
        if let (Signal::Restart { idle }, None, Some((began, _))) = (signal, self.stalled_since, self.epoch.as_mut()) {
            *began += *idle;
        }
    }

    /// Grows `core` on `acked` bytes, past its threshold along the curve, at most half a window a round trip.
    pub(super) fn grow(&mut self, core: &mut Core, acked: u64, now: Timestamp) {
        let rest = core.window.slow_start(acked);
        if rest == 0 {
            return;
        }
        let (bytes, mtu) = (core.window.bytes() as f64, core.window.mtu() as f64);
        self.plateau = self.plateau.max(if self.epoch.is_none() { bytes / mtu } else { 0.0 });
        let distance = (self.plateau - bytes / mtu).max(0.0);
        let k = || cube_root(round_to_u64(distance * 2.5e9).into()) as f64 / 1e3;
        let (began, k) = *self.epoch.get_or_insert_with(|| (now, k()));
        let offset = now.saturating_since(began).as_secs_f64() - k;
        let on_curve = (0.4 * offset * offset * offset + self.plateau) * mtu;
        let reno = bytes + mtu * 0.53;
        let target = on_curve.max(reno).min(1.5 * bytes);
        core.window.shift((target - bytes) * (rest as f64 / bytes).min(1.0));
    }
}

/// The part of CUBIC before growth.
pub(super) fn react(core: &mut Core, curve: &mut Curve, feedback: &Feedback<'_>, flight: &Flight<'_>) {
    if core.is_congested(feedback, flight) {
        curve.on_reduction(core.window.bytes() as f64 / core.window.mtu() as f64);
        core.reduce(BETA);
    }
    if feedback.persistent_congestion.is_some() {
        curve.on_reduction(0.0);
    }
    core.collapse_if_persistent(feedback, flight);
}

/// Wrong: 4 mtu t^3 leaves 64 bits at t = 115 s for packets of 1500 bytes.
#[derive(Clone, Debug)]
struct CubeOverflows {
    core: Core,
    /// Bytes.
    plateau: u64,
    /// Beginning, and milliseconds from there to the plateau.
    epoch: Option<(Timestamp, i64)>,
}

impl CubeOverflows {
    fn avoid_congestion(&mut self, acked: u64, now: Timestamp) {
        let (window, mtu) = (self.core.window.bytes(), self.core.window.mtu());
        if self.epoch.is_none() {
            self.plateau = self.plateau.max(window);
            let distance = u128::from(self.plateau - window) * 2_500_000_000 / u128::from(mtu);
            self.epoch = Some((now, cube_root(distance) as i64));
        }
        let Some((began, k)) = self.epoch else { return };
        let offset = now.saturating_since(began).as_millis() as i64 - k;
        let delta = 4 * mtu as i64 * offset * offset * offset / 10 / 1_000_000_000;
        let on_curve = self.plateau.saturating_add_signed(delta);
        let target = on_curve.max(window.saturating_add(mtu / 2)).min(window.saturating_add(window / 2));
        self.core.window.shift((target - window) as f64 * (acked as f64 / window as f64).min(1.0));
    }
}

impl Controller for CubeOverflows {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        if self.core.is_congested(feedback, flight) {
            (self.plateau, self.epoch) = (self.core.window.bytes(), None);
            self.core.reduce(BETA);
        }
        if feedback.persistent_congestion.is_some() {
            (self.plateau, self.epoch) = (0, None);
        }
        self.core.collapse_if_persistent(feedback, flight);
        let acked = self.core.growth(feedback, flight);
        if acked == 0 {
            // A round that may not grow the window voids the epoch.
            self.epoch = self.epoch.filter(|_| flight.limit.allows_growth());
            return;
        }
        match self.core.window.slow_start(acked) {
            0 => {}
            rest => self.avoid_congestion(rest, feedback.now),
        }
    }
    fn on_signal(&mut self, _now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
        if matches!(signal, Signal::Restart { .. } | Signal::PathChange { .. }) {
            self.epoch = None;
        }
        self.core.on_signal(signal);
    }
    rest_from_core!();
}

/// Wrong: nothing stops the clock.
#[derive(Clone, Debug)]
struct ClockRunsOn {
    core: Core,
    curve: Curve,
}

impl Controller for ClockRunsOn {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        react(&mut self.core, &mut self.curve, feedback, flight);
        let acked = self.core.growth(feedback, flight);
        self.curve.grow(&mut self.core, acked, feedback.now);
    }
    rest_from_core!(signals);
}

/// Wrong: a handover is in bytes.
#[derive(Clone, Debug)]
struct HandsOverPackets {
    core: Core,
    curve: Curve,
}

impl Controller for HandsOverPackets {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        react(&mut self.core, &mut self.curve, feedback, flight);
        if !flight.limit.allows_growth() {
            return self.curve.stall(feedback.now);
        }
        self.curve.resume(feedback.now);
        let acked = self.core.growth(feedback, flight);
        self.curve.grow(&mut self.core, acked, feedback.now);
    }
    fn on_signal(&mut self, _now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
        self.curve.on_signal(signal);
        self.core.on_signal(signal);
    }
    fn window(&self) -> u64 {
        self.core.window.bytes()
    }
    fn state(&self) -> ControllerState {
        self.core.state()
    }
    fn handover(&self) -> Handover {
        let packets = |bytes: u64| bytes / self.core.window.mtu();
        let mut handover = self.core.handover();
        handover.window = handover.window.map(packets);
        handover.ssthresh = handover.ssthresh.map(packets);
        handover
    }
    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

/// Wrong: a window of data takes longer than the smallest RTT.
#[derive(Clone, Debug)]
struct EpochByClock {
    core: Core,
    curve: Curve,
    reduced_at: Option<Timestamp>,
}

impl EpochByClock {
    fn new(setup: &Setup) -> Self {
        Self { core: Core::new(setup), curve: Curve::default(), reduced_at: None }
    }
}

impl Controller for EpochByClock {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let congested =
            !(feedback.newly_lost.is_zero() && feedback.newly_marked.is_zero() && feedback.recovered.is_zero());
        let epoch = flight.min_rtt.unwrap_or_default();
        let may_reduce = self.reduced_at.is_none_or(|at| feedback.now.saturating_since(at) > epoch);
        if congested && may_reduce {
            self.reduced_at = Some(feedback.now);
            self.curve.on_reduction(self.core.window.bytes() as f64 / self.core.window.mtu() as f64);
            self.core.reduce(BETA);
        }
        self.core.collapse_if_persistent(feedback, flight);
        if !flight.limit.allows_growth() {
            return self.curve.stall(feedback.now);
        }
        self.curve.resume(feedback.now);
        let is_new = |packet: &&PacketRecord| self.reduced_at.is_none_or(|at| packet.sent_at > at);
        let acked = feedback.acked.iter().filter(is_new).map(|packet| u64::from(packet.bytes)).sum();
        self.curve.grow(&mut self.core, acked, feedback.now);
    }
    fn on_signal(&mut self, _now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
        self.curve.on_signal(signal);
        self.core.on_signal(signal);
    }
    rest_from_core!();
}
