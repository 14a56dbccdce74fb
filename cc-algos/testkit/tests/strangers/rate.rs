//! Rate-based laws after BBR: a window and a pacing rate from the largest delivery rate and the smallest RTT.

mod model;

use std::hash::{BuildHasher, Hasher, RandomState};

use cc_algos::signal::{Ecn, PathChange};
use cc_algos::{
    Controller, ControllerState, Declaration, Family, Feedback, Flight, Handover, Law, Rate, Reductions, Setup, Signal,
    Span, Timestamp,
};

use super::{Round, Stranger};
pub(super) use model::{Model, Samples};

pub(super) fn bbr_like() -> Declaration {
    Declaration::new(Family::WideArea).law(Law::Model).min_window(4.0).reductions(Reductions::Unbounded)
}

pub(super) fn all() -> Vec<Stranger> {
    vec![
        Stranger {
            name: "rate-in-32-bits",
            bug: "keeps bytes per second in 32 bits: from 34 Gb/s on the pacing rate wraps",
            build: |setup| Box::new(In32Bits { model: Model::new(setup) }),
            declaration: bbr_like,
        },
        Stranger {
            name: "rate-quantum-without-floor",
            bug: "lets a millisecond's worth of bytes leave back to back: on slow paths less than a packet, so none leaves",
            build: |setup| Box::new(QuantumWithoutFloor { model: Model::new(setup) }),
            declaration: bbr_like,
        },
        Stranger {
            name: "rate-sentinel-rtt",
            bug: "stands for an unknown RTT with the longest one: after a migration it paces at zero, so no sample comes",
            build: |setup| Box::new(SentinelRtt { model: Model::new(setup), rtt: Span::from_millis(1) }),
            declaration: bbr_like,
        },
        Stranger {
            name: "rate-min-rtt-never-expires",
            bug: "never measures the smallest RTT again: when the route grows to more than twice as long, window and \
                  measured rate pull each other down to the floor",
            build: |setup| Box::new(MinRttNeverExpires { model: Model::new(setup) }),
            declaration: bbr_like,
        },
        Stranger {
            name: "rate-believes-app-limited-samples",
            bug: "takes what the application sent for what the path carries: after a quiet phase the bandwidth is forgotten",
            build: |setup| Box::new(BelievesAppLimited { model: Model::new(setup) }),
            declaration: bbr_like,
        },
        Stranger {
            name: "rate-window-without-floor",
            bug: "has no smallest window: an RTT or a rate that rounds to zero makes it zero, and nothing is measured again",
            build: |setup| Box::new(WindowWithoutFloor { model: Model::new(setup) }),
            declaration: bbr_like,
        },
        Stranger {
            name: "rate-phase-from-the-process",
            bug: "draws the phase of its gain cycle from the process's randomness instead of the seed: runs differ",
            build: |setup| Box::new(PhaseFromProcess::new(setup)),
            declaration: bbr_like,
        },
    ]
}

/// What a controller around a [`Model`] in its field `model` takes from it unchanged.
macro_rules! rest_from_model {
    () => {
        fn state(&self) -> ControllerState {
            ControllerState::new(self.window(), self.model.phase()).with_pacing_rate(self.pacing_rate())
        }
        fn handover(&self) -> Handover {
            self.model.handover()
        }
        // A model that has no answer to marks must not ask for them (RFC 3168, section 6.1).
        fn ecn(&self) -> Ecn {
            Ecn::NotEct
        }
        fn clone_box(&self) -> Box<dyn Controller> {
            Box::new(self.clone())
        }
    };
    (feedback) => {
        fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
            self.model.observe(feedback, flight, Samples::OfTheNetwork);
        }
    };
    (signals) => {
        fn on_signal(&mut self, now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
            self.model.on_signal(now, signal);
        }
    };
    (window) => {
        fn window(&self) -> u64 {
            self.model.window()
        }
    };
    (pacing) => {
        fn pacing_rate(&self) -> Option<Rate> {
            self.model.pacing_rate()
        }
    };
}

/// Wrong: bytes per second in 32 bits.
#[derive(Clone, Debug)]
struct In32Bits {
    model: Model,
}

impl Controller for In32Bits {
    fn pacing_rate(&self) -> Option<Rate> {
        let bytes_per_second = (self.model.pacing_rate()?.as_bps() / 8) as u32;
        Some(Rate::from_bps(u64::from(bytes_per_second) * 8))
    }
    rest_from_model!(feedback);
    rest_from_model!(signals);
    rest_from_model!(window);
    rest_from_model!();
}

/// Wrong: a quantum must hold a packet.
#[derive(Clone, Debug)]
struct QuantumWithoutFloor {
    model: Model,
}

impl Controller for QuantumWithoutFloor {
    fn send_quantum(&self) -> Option<u64> {
        self.model.pacing_rate().map(|rate| rate.bytes_in(Span::from_millis(1)).min(65_536))
    }
    rest_from_model!(feedback);
    rest_from_model!(signals);
    rest_from_model!(window);
    rest_from_model!(pacing);
    rest_from_model!();
}

/// Wrong: the longest time is not "unknown".
#[derive(Clone, Debug)]
struct SentinelRtt {
    model: Model,
    rtt: Span,
}

impl Controller for SentinelRtt {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.model.observe(feedback, flight, Samples::OfTheNetwork);
        self.rtt = self.model.min_rtt().unwrap_or(self.rtt);
    }
    fn on_signal(&mut self, now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
        self.model.on_signal(now, signal);
        if matches!(signal, Signal::PathChange { change: PathChange::Migrated, .. }) {
            self.rtt = Span::MAX;
        }
    }
    fn pacing_rate(&self) -> Option<Rate> {
        self.model.pacing_rate().or_else(|| Rate::from_bytes_in(self.model.window(), self.rtt))
    }
    rest_from_model!(window);
    rest_from_model!();
}

/// Wrong: routes grow longer without notice.
#[derive(Clone, Debug)]
struct MinRttNeverExpires {
    model: Model,
}

impl Controller for MinRttNeverExpires {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.model.postpone_probe(feedback.now);
        self.model.observe(feedback, flight, Samples::OfTheNetwork);
    }
    rest_from_model!(signals);
    rest_from_model!(window);
    rest_from_model!(pacing);
    rest_from_model!();
}

/// Wrong: an app-limited sample is a lower bound.
#[derive(Clone, Debug)]
struct BelievesAppLimited {
    model: Model,
}

impl Controller for BelievesAppLimited {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.model.observe(feedback, flight, Samples::All);
    }
    rest_from_model!(signals);
    rest_from_model!(window);
    rest_from_model!(pacing);
    rest_from_model!();
}

/// Wrong: zero times any gain is zero.
#[derive(Clone, Debug)]
struct WindowWithoutFloor {
    model: Model,
}

impl Controller for WindowWithoutFloor {
    fn window(&self) -> u64 {
        self.model.two_bdp().map_or(self.model.window(), |bdp| bdp.min(self.model.window()))
    }
    rest_from_model!(feedback);
    rest_from_model!(signals);
    rest_from_model!(pacing);
    rest_from_model!();
}

/// Wrong: a hasher's keys differ in every process.
#[derive(Clone, Debug)]
struct PhaseFromProcess {
    model: Model,
}

impl PhaseFromProcess {
    fn new(setup: &Setup) -> Self {
        let drawn = RandomState::new().build_hasher().finish();
        let mut setup = setup.clone();
        setup.seed = drawn;
        Self { model: Model::new(&setup) }
    }
}

impl Controller for PhaseFromProcess {
    rest_from_model!(feedback);
    rest_from_model!(signals);
    rest_from_model!(window);
    rest_from_model!(pacing);
    rest_from_model!();
}
