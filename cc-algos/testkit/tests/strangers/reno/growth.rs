//! Wrong in how the window grows.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cc_algos::units::mul_div;
use cc_algos::{Controller, ControllerState, Feedback, Flight, Handover, Signal, Timestamp};

use super::{Core, Stranger, rest_from_core, wide_area};

pub(super) fn all() -> Vec<Stranger> {
    vec![
        Stranger {
            name: "reno-counts-acks",
            bug: "grows by one packet's worth per acknowledgement, however many packets that acknowledges",
            build: |setup| Box::new(CountsAcks { core: Core::new(setup) }),
            declaration: wide_area,
        },
        Stranger {
            name: "reno-slow-start-ungated",
            bug: "only congestion avoidance asks whether the sender was limited; slow start grows on unused windows",
            build: |setup| Box::new(UngatedSlowStart { core: Core::new(setup) }),
            declaration: wide_area,
        },
        Stranger {
            name: "reno-aggregate-looks-limited",
            bug: "compares the flight after the batch with the window: acknowledgements of many packets look app-limited",
            build: |setup| Box::new(AggregateLooksLimited { core: Core::new(setup) }),
            declaration: wide_area,
        },
        Stranger {
            name: "reno-mtu-squared",
            bug: "adds mtu * mtu / window in integers per packet: above mtu squared bytes the window never grows again",
            build: |setup| Box::new(MtuSquared { core: Core::new(setup) }),
            declaration: wide_area,
        },
        Stranger {
            name: "reno-shared-clone",
            bug: "keeps its state behind an `Arc` for a logger's sake: a clone moves the original's window",
            build: |setup| Box::new(SharedClone { core: Arc::new(Mutex::new(Core::new(setup))) }),
            declaration: wide_area,
        },
    ]
}

/// Wrong: counts acknowledgements instead of bytes.
#[derive(Clone, Debug)]
struct CountsAcks {
    core: Core,
}

impl Controller for CountsAcks {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        if self.core.is_congested(feedback, flight) {
            self.core.reduce(0.5);
        }
        self.core.collapse_if_persistent(feedback, flight);
        if self.core.growth(feedback, flight) > 0 {
            self.core.window.grow(self.core.window.mtu());
        }
    }
    rest_from_core!(signals);
}

/// Wrong: slow start does not ask whether the window was used.
#[derive(Clone, Debug)]
struct UngatedSlowStart {
    core: Core,
}

impl Controller for UngatedSlowStart {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        if self.core.is_congested(feedback, flight) {
            self.core.reduce(0.5);
        }
        self.core.collapse_if_persistent(feedback, flight);
        if self.core.window.in_slow_start() {
            let acked = self.core.recovery.acked_outside(feedback);
            self.core.window.slow_start(acked);
        } else {
            self.core.grow(feedback, flight);
        }
    }
    rest_from_core!(signals);
}

/// Wrong: takes an acknowledgement of more than three packets for an idle application.
#[derive(Clone, Debug)]
struct AggregateLooksLimited {
    core: Core,
}

impl Controller for AggregateLooksLimited {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        if self.core.is_congested(feedback, flight) {
            self.core.reduce(0.5);
        }
        self.core.collapse_if_persistent(feedback, flight);
        let slack = self.core.window.mtu().saturating_mul(3);
        if flight.bytes.saturating_add(slack) >= self.core.window.bytes() {
            self.core.grow(feedback, flight);
        }
    }
    rest_from_core!(signals);
}

/// Wrong: the increase rounds to zero on large windows.
#[derive(Clone, Debug)]
struct MtuSquared {
    core: Core,
}

impl Controller for MtuSquared {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        if self.core.is_congested(feedback, flight) {
            self.core.reduce(0.5);
        }
        self.core.collapse_if_persistent(feedback, flight);
        let acked = self.core.growth(feedback, flight);
        let rest = self.core.window.slow_start(acked);
        let mtu = self.core.window.mtu();
        // A batch holds a few windows at most; more is not worth the time.
        for _ in 0..(rest / mtu).min(1_000) {
            let window = self.core.window.bytes();
            self.core.window.set(window.saturating_add(mul_div(mtu, mtu, window)));
        }
    }
    rest_from_core!(signals);
}

/// Wrong: clones are one controller.
#[derive(Clone, Debug)]
struct SharedClone {
    core: Arc<Mutex<Core>>,
}

impl SharedClone {
    fn lock(&self) -> MutexGuard<'_, Core> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Controller for SharedClone {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let mut core = self.lock();
        if core.is_congested(feedback, flight) {
            core.reduce(0.5);
        }
        core.collapse_if_persistent(feedback, flight);
        core.grow(feedback, flight);
    }
    fn on_signal(&mut self, _now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
        self.lock().on_signal(signal);
    }
    fn window(&self) -> u64 {
        self.lock().window.bytes()
    }
    fn state(&self) -> ControllerState {
        self.lock().state()
    }
    fn handover(&self) -> Handover {
        self.lock().handover()
    }
    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}
