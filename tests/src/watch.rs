//! A flow whose controller is watched from inside: its phases and variables over time.

use std::sync::{Arc, Mutex};

use cc_algos::controller::{Controller, ControllerState, Feedback, Flight, Handover, PacketTag, Sent};
use cc_algos::signal::{Ecn, Signal};
use cc_algos::{Rate, Registry, Span, Timestamp};
use sim::spec::Contestant;

use crate::build::contestant;

/// What a controller was doing, with the time: whenever its phase changed, and else once a millisecond.
#[derive(Clone, Debug, Default)]
pub struct Watch(Arc<Mutex<Vec<(Timestamp, ControllerState)>>>);

/// Time between two pictures of the same phase.
const EVERY: Span = Span::from_millis(1);

impl Watch {
    /// A controller of the built-in registry, for one flow, and the watch over it.
    pub fn over(spec: &str) -> (Contestant, Self) {
        let watch = Self::default();
        let args = Registry::builtin().resolve(spec).expect("a built-in algorithm");
        let log = watch.clone();
        let mut watched = contestant(spec);
        watched.build = Arc::new(move |setup| {
            let inner = Registry::builtin().build_args(&args, setup).expect("parameters that it accepts");
            Box::new(Watched { inner, log: log.clone() })
        });
        (watched, watch)
    }

    /// All pictures.
    pub fn states(&self) -> Vec<(Timestamp, ControllerState)> {
        self.0.lock().expect("no test thread failed").clone()
    }

    /// The phases one after the other, each with the time of its begin.
    pub fn phases(&self) -> Vec<(Timestamp, &'static str)> {
        let mut phases: Vec<(Timestamp, &'static str)> = Vec::new();
        for (at, state) in self.states() {
            if phases.last().is_none_or(|(_, phase)| *phase != state.phase) {
                phases.push((at, state.phase));
            }
        }
        phases
    }

    /// When a phase began, each time.
    pub fn begins(&self, phase: &str) -> Vec<Timestamp> {
        self.phases().into_iter().filter(|(_, name)| *name == phase).map(|(at, _)| at).collect()
    }

    /// The last picture taken no later than `at`.
    pub fn state_at(&self, at: Timestamp) -> ControllerState {
        let states = self.states();
        let after = states.partition_point(|(time, _)| *time <= at);
        states[after.checked_sub(1).expect("a picture before that time")].1
    }

    /// A variable of the controller as of `at`, if it had it.
    pub fn gauge_at(&self, name: &str, at: Timestamp) -> Option<f64> {
        self.state_at(at).gauges().find(|(gauge, _)| *gauge == name).map(|(_, value)| value)
    }

    fn record(&self, now: Timestamp, state: ControllerState) {
        let mut log = self.0.lock().expect("no test thread failed");
        let is_due = |(at, last): &(Timestamp, ControllerState)| last.phase != state.phase || now >= *at + EVERY;
        if log.last().is_none_or(is_due) {
            log.push((now, state));
        }
    }
}

#[derive(Debug)]
struct Watched {
    inner: Box<dyn Controller>,
    log: Watch,
}

impl Controller for Watched {
    fn on_sent(&mut self, sent: &Sent, flight: &Flight<'_>) -> PacketTag {
        let tag = self.inner.on_sent(sent, flight);
        self.log.record(sent.now, self.inner.state());
        tag
    }
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.inner.on_feedback(feedback, flight);
        self.log.record(feedback.now, self.inner.state());
    }
    fn on_signal(&mut self, now: Timestamp, signal: &Signal, flight: &Flight<'_>) {
        self.inner.on_signal(now, signal, flight);
        self.log.record(now, self.inner.state());
    }
    fn on_timer(&mut self, now: Timestamp, flight: &Flight<'_>) {
        self.inner.on_timer(now, flight);
        self.log.record(now, self.inner.state());
    }
    fn next_timer(&self) -> Option<Timestamp> {
        self.inner.next_timer()
    }
    fn window(&self) -> u64 {
        self.inner.window()
    }
    fn pacing_rate(&self) -> Option<Rate> {
        self.inner.pacing_rate()
    }
    fn in_slow_start(&self) -> bool {
        self.inner.in_slow_start()
    }
    fn send_quantum(&self) -> Option<u64> {
        self.inner.send_quantum()
    }
    fn ecn(&self) -> Ecn {
        self.inner.ecn()
    }
    fn state(&self) -> ControllerState {
        self.inner.state()
    }
    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self { inner: self.inner.clone_box(), log: self.log.clone() })
    }
    fn handover(&self) -> Handover {
        self.inner.handover()
    }
}
