//! Between engine and controller: adds signals that the engine does not carry, and shows every call to the invariants.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cc_algos::controller::{Cause, Controller, ControllerState, Feedback, Flight, Handover, PacketTag, Sent};
use cc_algos::signal::{Ecn, Signal};
use cc_algos::units::{Rate, Timestamp};

use crate::network::Decor;
use crate::observe::{Call, Invariant, Moment, Outputs, Step, Violation};

/// What a [`Tap`] in the engine and its owner outside share.
pub(crate) struct Inner {
    pub(crate) controller: Box<dyn Controller>,
    pub(crate) decor: Decor,
    invariants: Vec<Box<dyn Invariant>>,
    outputs: Outputs,
    calls: u64,
    pub(crate) largest_window: u64,
    /// Timeouts in a row, until something is acknowledged.
    pub(crate) timeouts: u32,
    /// The latest call, or the one that brought a violation.
    pub(crate) moment: Option<Moment>,
    pub(crate) violation: Option<Violation>,
}

impl Inner {
    fn call(&mut self, call: &Call<'_>) -> PacketTag {
        if self.violation.is_some() {
            return call.apply(&mut *self.controller);
        }
        let before = self.outputs;
        self.moment = Some(Moment::of(call, self.calls, before));
        self.calls += 1;
        for invariant in &mut self.invariants {
            invariant.before(call, &*self.controller);
        }
        let tag = call.apply(&mut *self.controller);
        let after = Outputs::of(&*self.controller);
        self.outputs = after;
        self.largest_window = self.largest_window.max(after.window);
        if let Some(moment) = &mut self.moment {
            moment.after = Some(after);
        }
        let step = Step { call, tag, before, after, controller: &*self.controller };
        self.violation = self.invariants.iter_mut().find_map(|invariant| invariant.after(&step).err());
        tag
    }
}

/// A controller in an engine that can be looked at from outside. Copies share it.
#[derive(Clone)]
pub(crate) struct Tap(Arc<Mutex<Inner>>);

impl Tap {
    pub(crate) fn new(controller: Box<dyn Controller>, invariants: Vec<Box<dyn Invariant>>) -> Self {
        let outputs = Outputs::of(&*controller);
        Self(Arc::new(Mutex::new(Inner {
            controller,
            decor: Decor::default(),
            invariants,
            outputs,
            calls: 0,
            largest_window: outputs.window,
            timeouts: 0,
            moment: None,
            violation: None,
        })))
    }

    /// A panic of the controller leaves the state as it was then, which is what a report wants to see.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl core::fmt::Debug for Tap {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.lock().controller.fmt(f)
    }
}

impl Controller for Tap {
    fn on_sent(&mut self, sent: &Sent, flight: &Flight<'_>) -> PacketTag {
        self.lock().call(&Call::Sent(sent, flight))
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let mut inner = self.lock();
        match feedback.cause {
            Cause::Timeout { consecutive } => inner.timeouts = consecutive,
            _ if !feedback.acked.is_empty() => inner.timeouts = 0,
            _ => {}
        }
        // Taken out while the controller looks at it.
        let mut decor = core::mem::take(&mut inner.decor);
        inner.call(&Call::Feedback(&decor.dress(feedback), flight));
        inner.decor = decor;
    }

    fn on_signal(&mut self, now: Timestamp, signal: &Signal, flight: &Flight<'_>) {
        self.lock().call(&Call::Signal(now, signal, flight));
    }

    fn on_timer(&mut self, now: Timestamp, flight: &Flight<'_>) {
        self.lock().call(&Call::Timer(now, flight));
    }

    fn next_timer(&self) -> Option<Timestamp> {
        self.lock().outputs.next_timer
    }

    fn window(&self) -> u64 {
        self.lock().outputs.window
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.lock().outputs.pacing_rate
    }

    fn in_slow_start(&self) -> bool {
        self.lock().controller.in_slow_start()
    }

    fn send_quantum(&self) -> Option<u64> {
        self.lock().outputs.send_quantum
    }

    fn ecn(&self) -> Ecn {
        self.lock().outputs.ecn
    }

    fn state(&self) -> ControllerState {
        self.lock().controller.state()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn handover(&self) -> Handover {
        self.lock().controller.handover()
    }
}
