//! A law with a planted weakness, and small hunts for it.
#![allow(clippy::unwrap_used, reason = "a helper of tests fails as tests do")]

use cc_algos::registry::Algorithm;
use cc_algos::{Controller, ControllerState, Feedback, Flight, Handover, Rate, Registry, Setup, Span};

use super::*;
use crate::sweep::Interrupt;

/// Grows by a packet for each acknowledgement, and collapses while the RTT is a fixed time above the least ever seen: one
/// packet that meets less delay than all others misleads it for ever.
#[derive(Clone, Debug)]
struct Timid {
    window: u64,
    mtu: u64,
    least: Span,
}

impl Controller for Timid {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, _flight: &Flight<'_>) {
        let Some(sample) = feedback.rtt else { return };
        let rtt = sample.latest.saturating_sub(sample.ack_delay);
        self.least = self.least.min(rtt);
        let timid = rtt > self.least + Span::from_millis(8);
        self.window = if timid { (self.window / 2).max(2 * self.mtu) } else { self.window + self.mtu };
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn state(&self) -> ControllerState {
        ControllerState::new(self.window, "timid")
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn handover(&self) -> Handover {
        Handover::of_window(self.window)
    }
}

/// Panics once anything is lost.
#[derive(Clone, Debug)]
struct Brittle(Timid);

impl Controller for Brittle {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, _flight: &Flight<'_>) {
        assert!(feedback.newly_lost.packets == 0, "a loss, of all things");
        self.0.window += self.0.mtu;
    }

    fn window(&self) -> u64 {
        self.0.window
    }

    fn state(&self) -> ControllerState {
        self.0.state()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn handover(&self) -> Handover {
        self.0.handover()
    }
}

/// The built-in algorithms, `timid` and `brittle`: a registry of somebody's own.
pub(super) fn registry() -> Registry {
    let timid = |setup: &Setup| Timid { window: 10 * setup.mtu, mtu: setup.mtu, least: Span::MAX };
    let mut registry = Registry::builtin();
    registry.register(Algorithm::new("timid", "fears delay", "a test", move |_, setup| Ok(Box::new(timid(setup)))));
    let brittle = move |setup: &Setup| Brittle(timid(setup));
    registry.register(Algorithm::new("brittle", "breaks", "a test", move |_, setup| Ok(Box::new(brittle(setup)))));
    registry
}

/// Runs of a few milliseconds.
pub(super) fn bounds() -> Bounds {
    Bounds {
        duration: Span::from_secs(3),
        rate: (Rate::from_mbps(4), Rate::from_mbps(12)),
        rtt: (Span::from_millis(20), Span::from_millis(60)),
        ..Bounds::default()
    }
}

pub(super) fn settings(algorithm: &str, goal: Goal) -> Settings {
    Settings { algorithm: algorithm.into(), baseline: "cubic".into(), goal, seed: 7, bounds: bounds() }
}

pub(super) fn trial(algorithm: &str, goal: Goal, jobs: usize) -> Trial {
    Trial::new(&registry(), &settings(algorithm, goal), jobs, Interrupt::default()).unwrap()
}

/// The state after so many more generations.
pub(super) fn evolve(trial: &Trial, state: SearchState, generations: u64) -> SearchState {
    let mut search = Search::new(trial, state);
    (0..generations).for_each(|_| search.step().unwrap());
    search.state().clone()
}
