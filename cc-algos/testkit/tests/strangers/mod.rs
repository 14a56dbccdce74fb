//! Congestion controllers that are wrong, each in one way of its own, as controllers of other people are.
//!
//! All of them carry a bulk flow with a loss now and then as their law says; [`Stranger::bug`] says when they do not. The
//! parts of a law that its bug leaves alone are the ones below, so that nothing else is wrong with it. What
//! [`Stranger::declaration`] declares is what an honest author would declare of the law that was meant.

mod cubic;
mod delay;
mod marks;
mod rate;
mod reno;
pub(crate) mod sound;
mod timer;

use cc_algos::algo::recovery::{Recovery, Verdict};
use cc_algos::algo::window::{RenoWindow, Sizes};
use cc_algos::signal::PathChange;
use cc_algos::units::round_to_u64;
use cc_algos::{
    Controller, ControllerState, Declaration, Family, Feedback, Flight, Handover, Reductions, Setup, Signal, Span,
};

/// A controller with one bug.
pub(crate) struct Stranger {
    /// Its name in messages.
    pub(crate) name: &'static str,
    /// What is wrong with it, and when.
    pub(crate) bug: &'static str,
    /// Builds one for a flow.
    pub(crate) build: fn(&Setup) -> Box<dyn Controller>,
    /// What its author says of it in good faith.
    pub(crate) declaration: fn() -> Declaration,
}

/// Every one of them.
pub(crate) fn all() -> Vec<Stranger> {
    [reno::all(), cubic::all(), delay::all(), rate::all(), marks::all(), timer::all()].into_iter().flatten().collect()
}

/// What a wide-area law with Reno's floor and one reduction a window declares.
fn wide_area() -> Declaration {
    Declaration::new(Family::WideArea).min_window(2.0).reductions(Reductions::OncePerWindow)
}

/// The sound parts of Reno (RFC 9002, section 7), one method a step.
#[derive(Clone, Debug)]
struct Core {
    window: RenoWindow,
    recovery: Recovery,
    min_rtt: Option<Span>,
}

impl Core {
    fn new(setup: &Setup) -> Self {
        let window = RenoWindow::new(setup, Sizes { initial: 10, min: 2 });
        Self { window, recovery: Recovery::default(), min_rtt: None }
    }

    /// Whether a batch asks for a reduction.
    fn is_congested(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) -> bool {
        matches!(self.recovery.judge(feedback, flight), Some(Verdict::Reduce(_)))
    }

    fn reduce(&mut self, kept: f64) {
        self.window.reduce_to(round_to_u64(self.window.bytes() as f64 * kept), self.window.min());
    }

    fn collapse_if_persistent(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        if feedback.persistent_congestion.is_some() {
            self.window.collapse();
            self.recovery.on_collapse(feedback, flight);
        }
    }

    /// Bytes of a batch on which the window may grow.
    fn growth(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) -> u64 {
        self.min_rtt = flight.min_rtt.or(self.min_rtt);
        if flight.limit.allows_growth() { self.recovery.acked_outside(feedback) } else { 0 }
    }

    fn grow(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let acked = self.growth(feedback, flight);
        self.window.grow(acked);
    }

    fn on_signal(&mut self, signal: &Signal) {
        match signal {
            Signal::MtuChange { mtu } => self.window.set_mtu(*mtu),
            Signal::PathChange { change: PathChange::Migrated | PathChange::Revived, .. } => {
                self.window.restart();
                self.recovery.forget();
                self.min_rtt = None;
            }
            _ => {}
        }
    }

    fn state(&self) -> ControllerState {
        let phase = if self.window.in_slow_start() { "slow_start" } else { "congestion_avoidance" };
        ControllerState::new(self.window.bytes(), phase).with_ssthresh(self.window.ssthresh())
    }

    fn handover(&self) -> Handover {
        let mut handover = Handover::of_window(self.window.bytes());
        handover.ssthresh = self.window.ssthresh();
        handover.min_rtt = self.min_rtt;
        handover
    }
}

/// Rounds by packet number: one ends when a packet sent after its beginning is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    end: u64,
}

impl Round {
    fn ends(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) -> bool {
        let over = feedback.acked.last().is_some_and(|newest| newest.packet_number >= self.end);
        if over {
            self.end = flight.next_packet_number;
        }
        over
    }
}

/// What a controller around a [`Core`] in its field `core` takes from it unchanged.
macro_rules! rest_from_core {
    (signals) => {
        fn on_signal(&mut self, _now: cc_algos::Timestamp, signal: &cc_algos::Signal, _flight: &cc_algos::Flight<'_>) {
            self.core.on_signal(signal);
        }
        rest_from_core!();
    };
    () => {
        fn window(&self) -> u64 {
            self.core.window.bytes()
        }
        fn in_slow_start(&self) -> bool {
            self.core.window.in_slow_start()
        }
        fn state(&self) -> cc_algos::ControllerState {
            self.core.state()
        }
        fn handover(&self) -> cc_algos::Handover {
            self.core.handover()
        }
        fn clone_box(&self) -> Box<dyn cc_algos::Controller> {
            Box::new(self.clone())
        }
    };
}
use rest_from_core;
