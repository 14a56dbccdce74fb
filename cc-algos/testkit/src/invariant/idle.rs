//! No burst after idleness.

use cc_algos::declare::Law;
use cc_algos::estimate::RoundCounter;
use cc_algos::signal::Signal;

use super::absence::tells_of_congestion;
use super::{Context, Earned, Reading, fills_at_former_rate};
use crate::observe::{Invariant, Step, Violation};

/// Round trips after idleness that are watched: a timer may only come to it in the second.
const ROUNDS: u64 = 3;

/// The first round trips after idleness.
#[derive(Clone, Debug)]
struct Resumed {
    window: u64,
    acked: u64,
    rounds: RoundCounter,
}

/// When sending resumes, the window is at most what it was; and in the round trips after that it grows by no more than twice
/// what is acknowledged. Time that passed idle is no reason to grow. A datacentre's model whose first flight comes only now may
/// start at the rate of the host's link, and what its window is beyond that which its rate can have in flight is not used. A
/// model that held little in flight for a while, as to measure the base RTT, may take the silence for the rest of that while,
/// and have the window back with which its phase began. What losses or marks had taken may come back with the end of the
/// recovery, and a path that has become longer takes more to fill.
#[derive(Clone, Debug)]
pub struct Idle {
    reading: Reading,
    resumed: Option<Resumed>,
    rounds: RoundCounter,
    /// Largest window in the round before and in this one: a model may come out of a short dip.
    former_window: u64,
    window: u64,
    earned: Earned,
    /// What a model may give back.
    held: Held,
}

/// Windows that a model had before it held less in flight for a while.
#[derive(Clone, Debug)]
struct Held {
    law: Law,
    /// The phase that it is in, and the window before that.
    phase: &'static str,
    before_phase: u64,
    /// The largest window before losses or marks, and the packet whose acknowledgement ends the recovery.
    before_congestion: Option<(u64, u64)>,
}

impl Held {
    /// What the model may have back with this step: the window before its phase, if that ends now, and the one before
    /// congestion, as long as the recovery lasts.
    fn note(&mut self, step: &Step<'_>) -> u64 {
        if self.law != Law::Model {
            return 0;
        }
        let congestion = self.before_congestion.map_or(0, |(window, _)| window);
        self.note_congestion(step);
        let phase = step.controller.state().phase;
        if phase == self.phase {
            return congestion;
        }
        self.phase = phase;
        let before = core::mem::replace(&mut self.before_phase, step.before.window.max(congestion));
        before.max(congestion)
    }

    fn note_congestion(&mut self, step: &Step<'_>) {
        let Some(feedback) = step.call.feedback() else { return };
        if tells_of_congestion(feedback) {
            let former = self.before_congestion.map_or(0, |(window, _)| window);
            self.before_congestion = Some((former.max(step.before.window), step.call.flight().next_packet_number));
        } else if let (Some((_, until)), Some(newest)) = (self.before_congestion, feedback.acked.last())
            && newest.packet_number >= until
        {
            self.before_congestion = None;
        }
    }
}

impl Idle {
    /// For one history.
    pub fn new(context: &Context<'_>) -> Self {
        let law = context.declaration.bounds.law;
        Self {
            reading: context.reading(),
            resumed: None,
            rounds: RoundCounter::default(),
            former_window: 0,
            window: 0,
            earned: Earned::default(),
            held: Held { law, phase: "", before_phase: 0, before_congestion: None },
        }
    }

    fn note(&mut self, step: &Step<'_>) {
        self.window = self.window.max(step.before.window);
        self.earned.note(step);
        let newest = step.call.feedback().and_then(|feedback| feedback.acked.last());
        if let Some(newest) = newest
            && self.rounds.on_acked(newest.packet_number, step.call.flight().next_packet_number)
        {
            self.former_window = self.window;
            self.window = step.before.window;
        }
    }
}

impl Invariant for Idle {
    fn after(&mut self, step: &Step<'_>) -> Result<(), Violation> {
        self.note(step);
        let held = self.held.note(step);
        let after = step.after.window;
        let flight = step.call.flight();
        match step.call.signal() {
            Some(Signal::Restart { .. }) => {
                let window = self.window.max(self.former_window).max(held);
                let rounds = RoundCounter::new(flight.next_packet_number + 1);
                self.resumed = Some(Resumed { window, acked: self.earned.0, rounds });
                return Violation::unless(after <= window, "no larger window after idleness than before", || {
                    format!("{after} B, up from {window} B")
                });
            }
            Some(_) => self.resumed = None,
            None => {}
        }
        let Some(resumed) = &mut self.resumed else { return Ok(()) };
        if let Some(feedback) = step.call.feedback() {
            resumed.acked = resumed.acked.saturating_add(feedback.newly_acked.bytes);
            if let Some(newest) = feedback.acked.last() {
                resumed.rounds.on_acked(newest.packet_number, flight.next_packet_number);
            }
            if resumed.rounds.rounds() >= ROUNDS || !feedback.spurious.is_empty() {
                self.resumed = None;
                return Ok(());
            }
        }
        let begin = resumed.window.max(held);
        let most = begin.saturating_add(resumed.acked.saturating_mul(2)).saturating_add(flight.mtu);
        let start = self.reading.start(flight.smoothed_rtt.max(flight.latest_rtt));
        let most = most.max(start).max(fills_at_former_rate(self.held.law, step));
        let (window, acked) = (begin, resumed.acked);
        let counts = self.reading.of(&step.after, flight);
        Violation::unless(counts <= most, "no growth for the time that passed idle", || {
            format!("{after} B, up from {window} B, with {acked} B acknowledged since")
        })
    }
}
