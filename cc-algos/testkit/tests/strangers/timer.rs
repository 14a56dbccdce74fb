//! Timer-driven laws: beyond slow start the window grows by a packet at each tick, which is an RTT.

use cc_algos::controller::PacketTag;
use cc_algos::{Controller, Feedback, Flight, Sent, Span, Timestamp};

use super::{Core, Stranger, rest_from_core, wide_area};

/// The tick before an RTT is known.
const FIRST_TICK: Span = Span::from_millis(100);
/// The shortest tick.
const LEAST_TICK: Span = Span::from_micros(1);

pub(super) fn all() -> Vec<Stranger> {
    vec![
        Stranger {
            name: "timer-without-least-period",
            bug: "takes the RTT for its period without a floor: at an RTT of zero the timer is due again at once, for ever",
            build: |setup| Box::new(NoLeastPeriod { core: Core::new(setup), timer: None, used: false }),
            declaration: wide_area,
        },
        Stranger {
            name: "timer-catches-up",
            bug: "makes up for ticks that it missed while nothing was in flight: after a silence the window leaps",
            build: |setup| Box::new(CatchesUp { core: Core::new(setup), timer: None, ticked: setup.now, used: false }),
            declaration: wide_area,
        },
    ]
}

/// The tick of a law that is right.
pub(super) fn period(flight: &Flight<'_>) -> Span {
    flight.smoothed_rtt.unwrap_or(FIRST_TICK).max(LEAST_TICK)
}

/// Reno but for congestion avoidance. Returns whether the window may grow at the next tick.
pub(super) fn on_feedback(core: &mut Core, feedback: &Feedback<'_>, flight: &Flight<'_>) -> bool {
    if core.is_congested(feedback, flight) {
        core.reduce(0.5);
    }
    core.collapse_if_persistent(feedback, flight);
    let acked = core.growth(feedback, flight);
    core.window.slow_start(acked) > 0
}

/// Wrong: an RTT can be zero by a coarse clock.
#[derive(Clone, Debug)]
struct NoLeastPeriod {
    core: Core,
    timer: Option<Timestamp>,
    /// Whether something was acknowledged since the last tick that may grow the window.
    used: bool,
}

impl Controller for NoLeastPeriod {
    fn on_sent(&mut self, sent: &Sent, flight: &Flight<'_>) -> PacketTag {
        self.timer.get_or_insert(sent.now + flight.smoothed_rtt.unwrap_or(FIRST_TICK));
        PacketTag::NONE
    }
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.used |= on_feedback(&mut self.core, feedback, flight);
    }
    fn on_timer(&mut self, now: Timestamp, flight: &Flight<'_>) {
        let grows = core::mem::take(&mut self.used);
        self.core.window.shift(if grows { self.core.window.mtu() as f64 } else { 0.0 });
        let idle = flight.bytes == 0;
        self.timer = (!idle).then(|| now + flight.smoothed_rtt.unwrap_or(FIRST_TICK));
    }
    fn next_timer(&self) -> Option<Timestamp> {
        self.timer
    }
    rest_from_core!(signals);
}

/// Wrong: no tick was due in a silence.
#[derive(Clone, Debug)]
struct CatchesUp {
    core: Core,
    timer: Option<Timestamp>,
    ticked: Timestamp,
    used: bool,
}

impl Controller for CatchesUp {
    fn on_sent(&mut self, sent: &Sent, flight: &Flight<'_>) -> PacketTag {
        self.timer.get_or_insert(sent.now + period(flight));
        PacketTag::NONE
    }
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.used |= on_feedback(&mut self.core, feedback, flight);
    }
    fn on_timer(&mut self, now: Timestamp, flight: &Flight<'_>) {
        let period = period(flight);
        let ticks = now.saturating_since(self.ticked).as_nanos() / period.as_nanos();
        if core::mem::take(&mut self.used) {
            self.core.window.shift(self.core.window.mtu().saturating_mul(ticks.max(1)) as f64);
        }
        // A timer armed before the silence fires in it and finds nothing in flight: it does not count as a tick.
        let idle = flight.bytes == 0;
        self.ticked = if idle { self.ticked } else { now };
        self.timer = (!idle).then(|| now + period);
    }
    fn next_timer(&self) -> Option<Timestamp> {
        self.timer
    }
    rest_from_core!(signals);
}
