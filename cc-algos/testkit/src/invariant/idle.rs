//! No burst after idleness.

use cc_algos::estimate::RoundCounter;
use cc_algos::signal::Signal;

use crate::observe::{Invariant, Step, Violation};

/// The first round trip after idleness.
#[derive(Clone, Debug)]
struct Resumed {
    window: u64,
    acked: u64,
    until_packet: u64,
}

/// When sending resumes, the window is at most what it was; and in the round trip after that it grows by no more than twice
/// what is acknowledged. Time that passed idle is no reason to grow.
#[derive(Clone, Debug, Default)]
pub struct Idle {
    resumed: Option<Resumed>,
    rounds: RoundCounter,
    /// Largest window in the round before and in this one: a model may come out of a short dip.
    former_window: u64,
    window: u64,
}

impl Idle {
    fn note(&mut self, step: &Step<'_>) {
        self.window = self.window.max(step.before.window);
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
        let after = step.after.window;
        let flight = step.call.flight();
        match step.call.signal() {
            Some(Signal::Restart { .. }) => {
                let window = self.window.max(self.former_window);
                self.resumed = Some(Resumed { window, acked: 0, until_packet: flight.next_packet_number + 1 });
                return Violation::unless(after <= window, "no larger window after idleness than before", || {
                    format!("{after} B, up from {window} B")
                });
            }
            Some(_) => self.resumed = None,
            None => {}
        }
        let Some(resumed) = &mut self.resumed else { return Ok(()) };
        let Some(feedback) = step.call.feedback() else { return Ok(()) };
        resumed.acked = resumed.acked.saturating_add(feedback.newly_acked.bytes);
        let most = resumed.window.saturating_add(resumed.acked.saturating_mul(2)).saturating_add(flight.mtu);
        let (window, acked) = (resumed.window, resumed.acked);
        let is_over = feedback.acked.last().is_some_and(|newest| newest.packet_number >= resumed.until_packet);
        if is_over || !feedback.spurious.is_empty() {
            self.resumed = None;
            return Ok(());
        }
        Violation::unless(after <= most, "no growth for the time that passed idle", || {
            format!("{after} B, up from {window} B, with {acked} B acknowledged since")
        })
    }
}
