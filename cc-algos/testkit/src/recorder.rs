//! Every call of a controller, kept, to be made again.
//!
//! A [`Recorder`] is a controller around another one and works in any world: the kit's network, the simulator, a real
//! transport. What it kept, fed to a fresh controller, must bring the same outputs: same history, same state.

use std::sync::{Arc, Mutex, PoisonError};

use cc_algos::controller::{
    Controller, ControllerState, Feedback, Flight, Handover, PacketRecord, PacketTag, PathSnapshot, Sent,
};
use cc_algos::signal::{CsigSample, Ecn, IntHop, Signal};
use cc_algos::units::{Rate, Timestamp};

use crate::observe::{Call, Outputs, Violation};

/// The slices of a [`Feedback`].
#[derive(Clone, Debug)]
struct Slices {
    acked: Vec<PacketRecord>,
    lost: Vec<PacketRecord>,
    spurious: Vec<PacketRecord>,
    recovered: Vec<PacketRecord>,
    csig: Vec<CsigSample>,
    int: Vec<IntHop>,
}

/// A call with all that it borrowed.
#[derive(Clone, Debug)]
enum OwnedCall {
    Sent(Sent),
    Feedback(Box<(Feedback<'static>, Slices)>),
    Signal(Timestamp, Signal),
    Timer(Timestamp),
}

/// A call, and what the controller made of it.
#[derive(Clone, Debug)]
pub struct Recorded {
    call: OwnedCall,
    flight: Flight<'static>,
    siblings: Vec<PathSnapshot>,
    /// What `on_sent` returned.
    pub tag: PacketTag,
    /// Outputs after the call.
    pub outputs: Outputs,
}

impl Recorded {
    fn of(call: &Call<'_>) -> Self {
        let flight = call.flight();
        let owned = match call {
            Call::Sent(sent, _) => OwnedCall::Sent(**sent),
            Call::Feedback(feedback, _) => OwnedCall::Feedback(Box::new(own(feedback))),
            Call::Signal(now, signal, _) => OwnedCall::Signal(*now, **signal),
            Call::Timer(now, _) => OwnedCall::Timer(*now),
        };
        let siblings = flight.siblings.to_vec();
        Self { call: owned, flight: bare_flight(flight), siblings, tag: PacketTag::NONE, outputs: Outputs::default() }
    }

    /// Makes the call again.
    pub fn apply(&self, controller: &mut dyn Controller) -> PacketTag {
        self.with(|call| call.apply(controller))
    }

    /// Shows the call, for those who make something else of it.
    pub fn with<R>(&self, look: impl FnOnce(&Call<'_>) -> R) -> R {
        let mut flight: Flight<'_> = self.flight;
        flight.siblings = &self.siblings;
        match &self.call {
            OwnedCall::Sent(sent) => look(&Call::Sent(sent, &flight)),
            OwnedCall::Feedback(owned) => {
                let (feedback, slices) = &**owned;
                look(&Call::Feedback(&lend(feedback, slices), &flight))
            }
            OwnedCall::Signal(now, signal) => look(&Call::Signal(*now, signal, &flight)),
            OwnedCall::Timer(now) => look(&Call::Timer(*now, &flight)),
        }
    }
}

fn own(feedback: &Feedback<'_>) -> (Feedback<'static>, Slices) {
    let slices = Slices {
        acked: feedback.acked.to_vec(),
        lost: feedback.lost.to_vec(),
        spurious: feedback.spurious.to_vec(),
        recovered: feedback.recovered_packets.to_vec(),
        csig: feedback.csig.to_vec(),
        int: feedback.int.to_vec(),
    };
    (bare_feedback(feedback), slices)
}

/// Field by field: a struct update would keep the borrows of the slices that it replaces.
fn bare_feedback(feedback: &Feedback<'_>) -> Feedback<'static> {
    let mut bare = Feedback::new(feedback.now, feedback.cause);
    bare.path = feedback.path;
    bare.newly_acked = feedback.newly_acked;
    bare.newly_marked = feedback.newly_marked;
    bare.newly_lost = feedback.newly_lost;
    bare.recovered = feedback.recovered;
    bare.prior_in_flight = feedback.prior_in_flight;
    bare.rtt = feedback.rtt;
    bare.delivery = feedback.delivery;
    bare.persistent_congestion = feedback.persistent_congestion;
    bare.ecn = feedback.ecn;
    bare.fabric_delay = feedback.fabric_delay;
    bare.hops = feedback.hops;
    bare
}

fn bare_flight(flight: &Flight<'_>) -> Flight<'static> {
    let mut bare = Flight::idle(flight.mtu);
    bare.bytes = flight.bytes;
    bare.packets = flight.packets;
    bare.limit = flight.limit;
    bare.smoothed_rtt = flight.smoothed_rtt;
    bare.latest_rtt = flight.latest_rtt;
    bare.min_rtt = flight.min_rtt;
    bare.rtt_variation = flight.rtt_variation;
    bare.delivered = flight.delivered;
    bare.lost = flight.lost;
    bare.next_packet_number = flight.next_packet_number;
    bare
}

fn lend<'a>(feedback: &Feedback<'static>, slices: &'a Slices) -> Feedback<'a> {
    let mut lent: Feedback<'a> = *feedback;
    lent.acked = &slices.acked;
    lent.lost = &slices.lost;
    lent.spurious = &slices.spurious;
    lent.recovered_packets = &slices.recovered;
    lent.csig = &slices.csig;
    lent.int = &slices.int;
    lent
}

/// What a [`Recorder`] kept.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    calls: Vec<Recorded>,
}

impl Recording {
    /// The calls, in order.
    pub fn calls(&self) -> &[Recorded] {
        &self.calls
    }

    /// Makes the same calls to a fresh controller and compares the outputs after each.
    ///
    /// # Errors
    ///
    /// The first call that brought something else.
    pub fn replay(&self, controller: &mut dyn Controller) -> Result<(), Violation> {
        for (index, recorded) in self.calls.iter().enumerate() {
            let tag = recorded.apply(controller);
            let outputs = Outputs::of(controller);
            Violation::unless(
                (tag, outputs) == (recorded.tag, recorded.outputs),
                "the same outputs after the same calls",
                || {
                    format!(
                        "after call {index}: {outputs}, {tag:?}; before it was {}, {:?}",
                        recorded.outputs, recorded.tag
                    )
                },
            )?;
        }
        Ok(())
    }
}

/// A controller whose calls are kept. What [`Controller::clone_box`] makes of it is a copy of the controller alone.
#[derive(Debug)]
pub struct Recorder<C> {
    controller: C,
    recording: Arc<Mutex<Recording>>,
}

impl<C: Controller> Recorder<C> {
    /// Around a fresh controller.
    pub fn new(controller: C) -> Self {
        Self { controller, recording: Arc::default() }
    }

    /// Where the calls are kept, to be asked for them once the recorder is in somebody else's hands.
    pub fn recording(&self) -> Arc<Mutex<Recording>> {
        Arc::clone(&self.recording)
    }

    fn call(&mut self, call: &Call<'_>) -> PacketTag {
        let mut recorded = Recorded::of(call);
        recorded.tag = call.apply(&mut self.controller);
        recorded.outputs = Outputs::of(&self.controller);
        let tag = recorded.tag;
        self.recording.lock().unwrap_or_else(PoisonError::into_inner).calls.push(recorded);
        tag
    }
}

impl<C: Controller> Controller for Recorder<C> {
    fn on_sent(&mut self, sent: &Sent, flight: &Flight<'_>) -> PacketTag {
        self.call(&Call::Sent(sent, flight))
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.call(&Call::Feedback(feedback, flight));
    }

    fn on_signal(&mut self, now: Timestamp, signal: &Signal, flight: &Flight<'_>) {
        self.call(&Call::Signal(now, signal, flight));
    }

    fn on_timer(&mut self, now: Timestamp, flight: &Flight<'_>) {
        self.call(&Call::Timer(now, flight));
    }

    fn next_timer(&self) -> Option<Timestamp> {
        self.controller.next_timer()
    }

    fn window(&self) -> u64 {
        self.controller.window()
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.controller.pacing_rate()
    }

    fn in_slow_start(&self) -> bool {
        self.controller.in_slow_start()
    }

    fn send_quantum(&self) -> Option<u64> {
        self.controller.send_quantum()
    }

    fn ecn(&self) -> Ecn {
        self.controller.ecn()
    }

    fn state(&self) -> ControllerState {
        self.controller.state()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        self.controller.clone_box()
    }

    fn handover(&self) -> Handover {
        self.controller.handover()
    }
}
