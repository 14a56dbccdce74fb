//! The pacing rate and the window belong together.

use cc_algos::declare::Family;

use super::Context;
use super::absence::tells_of_congestion;
use crate::observe::{Invariant, Step, Violation};

/// Windows that a pacing rate may send in the smallest round trip: start-ups of models reckon with 2.89, a quantity that was
/// taken for bits or for bytes by mistake is off by eight.
const MOST_WINDOWS: u64 = 8;

/// Smoothed round trips that a window may take at the pacing rate: a start-up's drain takes eight.
const MOST_ROUNDS: u64 = 32;

/// Until anything speaks of congestion, the pacing rate sends no more than a few windows in the smallest round trip, and a window
/// in a few. The largest
/// window so far counts: a probe of the round trip, as BBR's, cuts the window for a moment and leaves the rate. Laws of
/// datacentres may start at the rate of the host's link.
#[derive(Clone, Debug)]
pub struct Pace {
    applies: bool,
    takes_over: bool,
    largest_window: u64,
}

impl Pace {
    /// For one history.
    pub fn new(context: &Context<'_>) -> Self {
        Self {
            applies: context.declaration.family == Family::WideArea,
            takes_over: context.network.resume.is_some(),
            largest_window: 0,
        }
    }
}

impl Invariant for Pace {
    fn after(&mut self, step: &Step<'_>) -> Result<(), Violation> {
        self.largest_window = self.largest_window.max(step.after.window);
        let feedback = step.call.feedback();
        let is_plain = feedback.is_none_or(|feedback| !tells_of_congestion(feedback) && feedback.rtt.is_some());
        self.applies &= is_plain && step.call.signal().is_none();
        let flight = step.call.flight();
        let (true, Some(_), Some(rtt), Some(rate)) = (self.applies, feedback, flight.min_rtt, step.after.pacing_rate)
        else {
            return Ok(());
        };
        let sends = rate.bytes_in(rtt);
        let most = self.largest_window.saturating_add(flight.mtu).saturating_mul(MOST_WINDOWS);
        Violation::unless(sends <= most, "a pacing rate that goes with the window", || {
            format!("{rate} sends {sends} B in {rtt}, with a window of {} B at most", self.largest_window)
        })?;
        let window = step.after.window;
        let smoothed = flight.smoothed_rtt.unwrap_or(rtt).max(rtt);
        let sends = rate.bytes_in(smoothed.saturating_mul(MOST_ROUNDS)).saturating_add(flight.mtu);
        // Where nothing takes any time no rate is too low, and a window may be taken over before any rate is measured.
        let excused = smoothed.is_zero() || self.takes_over;
        Violation::unless(sends >= window || excused, "a pacing rate that sends the window in some round trips", || {
            format!("{rate} sends {sends} B in {MOST_ROUNDS} times {smoothed}, with a window of {window} B")
        })
    }
}
