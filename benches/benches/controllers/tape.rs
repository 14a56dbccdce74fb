//! The calls of one flow's controller, taken from a run of the simulator and played again.
//!
//! What is timed is the controller and not the network: the same calls go to the algorithm and to `fixed-window`, and the
//! difference is what the algorithm costs. Because calls bring the outputs that they brought before, a tape may be played as
//! often as the clock needs, each time to a copy of the controller as it was when the tape begins.

use std::error::Error;
use std::hint::black_box;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use cc_algos::controller::{Controller, Setup};
use cc_algos::ids::{Entropy, PathId};
use cc_algos::registry::Algorithm;
use cc_algos::signal::{CsigSample, CsigValue, IntHop, Signal};
use cc_algos::{Need, Registry, Span};
use sim::spec::Contestant;
use testkit::Recorder;
use testkit::observe::{Call, Outputs};
use testkit::recorder::{Recorded, Recording};

use crate::scene::{MTU, Scene};

/// Feedbacks of a tape, if the run has so many.
const FEEDBACKS: usize = 4_000;
/// Packets that each flow of a run should get through: a thousand round trips on each scene, with two flows.
const PACKETS: u64 = 80_000;

/// The first flow of a run: its controller as it began, and what it is told.
#[derive(Debug)]
struct First {
    start: Box<dyn Controller>,
    recording: Arc<Mutex<Recording>>,
}

/// Calls of a flow.
#[derive(Debug)]
pub(crate) struct Tape {
    /// The controller before the first of them.
    pub(crate) start: Box<dyn Controller>,
    /// What came before, from the flow's beginning on.
    lead: Vec<Recorded>,
    calls: Vec<Recorded>,
    /// Tags for each feedback, where the algorithm asks for them: the engine does not carry any yet.
    csig: Vec<CsigSample>,
    /// Batches of feedback among the calls.
    pub(crate) feedbacks: usize,
    /// Packets that they acknowledge.
    pub(crate) acked: u64,
}

impl Tape {
    /// Of a flow of an algorithm, with an acknowledgement for so many packets.
    pub(crate) fn record(registry: &Registry, algorithm: &Algorithm, per_ack: u32) -> Result<Self, Box<dyn Error>> {
        let args = registry.resolve(algorithm.name())?;
        let mut contestant = Contestant::registered(registry, &args, MTU)?;
        let kept = Arc::new(Mutex::new(None));
        contestant.build = recording(&contestant, &kept);
        sim::run(&Scene::of(algorithm.declaration()).experiment(contestant, PACKETS, per_ack))?;
        let first = kept.lock().unwrap_or_else(PoisonError::into_inner).take();
        let First { mut start, recording } = first.ok_or("the run began no flow")?;
        let recording = recording.lock().unwrap_or_else(PoisonError::into_inner);
        let calls = recording.calls();
        let stretch = stretch(calls, algorithm)?;
        for recorded in &calls[..stretch.start] {
            recorded.apply(&mut *start);
        }
        let (lead, calls) = (calls[..stretch.start].to_vec(), calls[stretch].to_vec());
        let mut tape = Self { start, lead, calls, csig: vec![], feedbacks: 0, acked: 0 };
        tape.check(algorithm.name())?;
        tape.survey(algorithm.declaration().needs(Need::Csig));
        Ok(tape)
    }

    /// That the calls bring what they brought in the run.
    fn check(&self, name: &str) -> Result<(), Box<dyn Error>> {
        let mut copy = self.start.clone_box();
        for recorded in &self.calls {
            let tag = recorded.apply(&mut *copy);
            if (tag, Outputs::of(&*copy)) != (recorded.tag, recorded.outputs) {
                return Err(format!("{name} does not repeat itself").into());
            }
        }
        Ok(())
    }

    fn survey(&mut self, with_csig: bool) {
        for recorded in &self.calls {
            recorded.with(|call| {
                let Some(feedback) = call.feedback() else { return };
                self.feedbacks += 1;
                self.acked += feedback.newly_acked.packets;
                if with_csig {
                    self.csig.push(tag(feedback.int));
                }
            });
        }
    }

    /// Makes all calls, and asks after each feedback what an engine asks.
    pub(crate) fn play(&self, controller: &mut dyn Controller) {
        let mut tags = self.csig.chunks(1);
        self.visit(|call| match call {
            Call::Feedback(feedback, flight) => {
                let mut feedback = **feedback;
                feedback.csig = tags.next().unwrap_or_default();
                controller.on_feedback(&feedback, flight);
                black_box((controller.window(), controller.pacing_rate(), controller.next_timer()));
            }
            _ => {
                black_box(call.apply(controller));
            }
        });
    }

    /// Shows the calls before the tape.
    pub(crate) fn visit_lead(&self, mut look: impl FnMut(&Call<'_>)) {
        self.lead.iter().for_each(|recorded| recorded.with(&mut look));
    }

    /// Shows all calls, with the records of packets in cache, where the engine that has just written them leaves them.
    pub(crate) fn visit(&self, mut look: impl FnMut(&Call<'_>)) {
        for recorded in &self.calls {
            recorded.with(|call| {
                if let Some(feedback) = call.feedback() {
                    for packet in feedback.acked.iter().chain(feedback.lost) {
                        black_box((packet.packet_number, packet.tag.0[1], packet.at_send.delivered, packet.sent_at));
                    }
                }
                look(call);
            });
        }
    }
}

/// Builds as the contestant does, and keeps the calls of the first.
fn recording(contestant: &Contestant, kept: &Arc<Mutex<Option<First>>>) -> Arc<sim::spec::Build> {
    let (build, kept) = (Arc::clone(&contestant.build), Arc::clone(kept));
    Arc::new(move |setup: &Setup| {
        let controller = build(setup);
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.is_some() {
            return controller;
        }
        let start = controller.clone_box();
        let recorder = Recorder::new(controller);
        *kept = Some(First { start, recording: recorder.recording() });
        Box::new(recorder)
    })
}

/// So many feedbacks in which the algorithm hears most of what it declares to live by, as late as can be. The first tenth of
/// a run, where windows are still to be found, is left out.
fn stretch(calls: &[Recorded], algorithm: &Algorithm) -> Result<Range<usize>, Box<dyn Error>> {
    let is_feedback = |recorded: &Recorded| recorded.with(|call| call.feedback().is_some());
    let feedbacks: Vec<usize> = (0..calls.len()).filter(|index| is_feedback(&calls[*index])).collect();
    let length = FEEDBACKS.min(feedbacks.len() / 2).max(1);
    let needs = &algorithm.declaration().needs;
    let heard = |stretch: &Range<usize>| {
        let bears =
            |need: &&Need| calls[stretch.clone()].iter().any(|recorded| recorded.with(|call| bears(call, **need)));
        needs.iter().filter(bears).count()
    };
    let starts = (feedbacks.len() / 10..=feedbacks.len() - length).step_by(length / 4 + 1);
    let stretches = starts.map(|start| feedbacks[start]..feedbacks[start + length - 1] + 1);
    let best = stretches.map(|stretch| (heard(&stretch), stretch)).max_by_key(|(heard, _)| *heard);
    match best {
        Some((heard, stretch)) if heard > 0 || needs.is_empty() => Ok(stretch),
        _ => Err(format!("{} hears of none of {needs:?} within {length} feedbacks", algorithm.name()).into()),
    }
}

/// Whether a call bears a signal.
fn bears(call: &Call<'_>, need: Need) -> bool {
    match need {
        Need::Ecn | Need::L4s => call.feedback().is_some_and(|feedback| !feedback.newly_marked.is_zero()),
        Need::Int => call.feedback().is_some_and(|feedback| !feedback.int.is_empty()),
        Need::HopCount => call.feedback().is_some_and(|feedback| feedback.hops.is_some()),
        Need::CongestionNotification => matches!(call.signal(), Some(Signal::CongestionNotification)),
        Need::NearSource => matches!(call.signal(), Some(Signal::NearSource(_))),
        _ => false,
    }
}

/// What a tag would say where telemetry says this.
fn tag(hops: &[IntHop]) -> CsigSample {
    let depth = hops.iter().filter_map(|hop| hop.rate.time_for(hop.queue_bytes)).max().unwrap_or(Span::ZERO);
    CsigSample::new(CsigValue::QueueDepth(depth), 0, PathId(0), Entropy(0), Span::ZERO)
}
