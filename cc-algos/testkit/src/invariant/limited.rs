//! A window that is not in use neither grows nor shrinks for that (RFC 9002, section 7.8; RFC 9438, section 5.8).

use cc_algos::controller::{Cause, Controller};
use cc_algos::declare::Law;
use cc_algos::estimate::RoundCounter;
use cc_algos::signal::{PathChange, Signal};

use super::absence::{tells_of_congestion, without_limit};
use super::{Context, MODEL_GAIN, Reading, fills_at_former_rate};
use crate::observe::{Call, Invariant, Outputs, Step, Violation};

/// RTT samples of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Samples {
    None,
    /// This call brings the first.
    First,
    Some,
}

/// While application or receiver limit the sender, the window grows no further than what is in use explains, and it does not
/// shrink where it would not if the window were the limit. A model may give back what it had before, and fill a path that has
/// become longer at the rate that it had; a datacentre's may start at the rate of the host's link once a path's first RTT
/// sample tells what that makes.
#[derive(Clone, Debug)]
pub struct Limited {
    law: Law,
    reading: Reading,
    /// What the path has told of its RTT.
    samples: Samples,
    /// Largest window on this path.
    held: u64,
    rounds: RoundCounter,
    /// Most bytes in flight in the round before and in this one.
    former_in_flight: u64,
    in_flight: u64,
    unlimited: Option<Outputs>,
    /// What the law was doing before the call.
    phase: &'static str,
    /// Its window when it began to.
    lent_from: u64,
}

/// Part of its window, at most, that a model may have lent to a phase in which it asks for more (BBRv3: gains of 2.25 and 2), and
/// takes back once nobody makes use of it: down to what it had before that phase.
const LENT_PART: u64 = 8;

impl Limited {
    /// For one history.
    pub fn new(context: &Context<'_>) -> Self {
        Self {
            law: context.declaration.bounds.law,
            reading: context.reading(),
            samples: Samples::None,
            held: 0,
            rounds: RoundCounter::default(),
            former_in_flight: 0,
            in_flight: 0,
            unlimited: None,
            phase: "",
            lent_from: 0,
        }
    }

    fn note(&mut self, call: &Call<'_>) {
        // The loss of ECN leaves the path what it was.
        if let Some(Signal::PathChange { change: PathChange::Migrated | PathChange::Revived, .. }) = call.signal() {
            (self.held, self.samples) = (0, Samples::None);
        }
        let Some(feedback) = call.feedback() else { return };
        self.samples = match (self.samples, feedback.rtt) {
            (Samples::None, None) => Samples::None,
            (Samples::None, Some(_)) => Samples::First,
            _ => Samples::Some,
        };
        let at_send = feedback.acked.iter().map(|packet| packet.at_send.in_flight).max().unwrap_or(0);
        self.in_flight = self.in_flight.max(feedback.prior_in_flight).max(at_send);
        if let Some(newest) = feedback.acked.last()
            && self.rounds.on_acked(newest.packet_number, call.flight().next_packet_number)
        {
            self.former_in_flight = self.in_flight;
            self.in_flight = 0;
        }
    }
}

impl Invariant for Limited {
    fn before(&mut self, call: &Call<'_>, controller: &dyn Controller) {
        self.note(call);
        self.phase = controller.state().phase;
        if self.law == Law::Model {
            self.held = self.held.max(controller.window());
        }
        let limited = call.feedback().filter(|feedback| {
            let calm = !tells_of_congestion(feedback) && feedback.spurious.is_empty();
            calm && feedback.cause == Cause::Ack && !call.flight().limit.allows_growth()
        });
        self.unlimited = limited.map(|feedback| without_limit(controller, feedback, call.flight()));
    }

    fn after(&mut self, step: &Step<'_>) -> Result<(), Violation> {
        let (before, after) = (step.before.window, step.after.window);
        let lent_from = self.lent_from;
        let enters_phase = step.controller.state().phase != self.phase;
        if enters_phase {
            self.lent_from = before;
        }
        let Some(unlimited) = self.unlimited else { return Ok(()) };
        let in_flight = self.in_flight.max(self.former_in_flight);
        let most = in_flight.saturating_mul(MODEL_GAIN).saturating_add(step.call.flight().mtu);
        let flight = step.call.flight();
        let [used_before, used, used_if_free] =
            [step.before, step.after, unlimited].map(|outputs| self.reading.of(&outputs, flight));
        let start = if self.samples == Samples::First { self.reading.start(flight.smoothed_rtt) } else { 0 };
        let modelled = fills_at_former_rate(self.law, step);
        Violation::unless(
            used <= before.max(most).max(self.held).max(start).max(modelled),
            "no growth while the window is not in use",
            || format!("{before} B before and {after} B after, with at most {in_flight} B in flight of late"),
        )?;
        // With the estimate of the smallest RTT a model's window may move and not its rate, but for what rounds, or its rate
        // and not its window.
        let shrinks = (after < before && unlimited.window >= before)
            && (self.reading.is_less(used, used_before) && used_if_free >= used_before);
        let takes_back = self.law == Law::Model && enters_phase && after >= lent_from.max(before - before / LENT_PART);
        let shrinks = shrinks && !takes_back;
        Violation::unless(!shrinks, "a window that does not shrink for not being in use", || {
            format!("{before} B before and {after} B after; {} B if the window were the limit", unlimited.window)
        })
    }
}
