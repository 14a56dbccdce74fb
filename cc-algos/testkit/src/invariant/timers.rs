//! Timers lie ahead, and rest.

use cc_algos::units::{Span, Timestamp};

use crate::observe::{Call, Invariant, Step, Violation};

/// Timer calls in a row, with hardly any time between them, that are a storm.
const STORM: u32 = 256;

/// Hardly any time: no host's timer is finer.
const HARDLY_ANY: Span = Span::from_nanos(100);

/// No timer lies in the past; a timer that fired is not due at once again; and timers do not fire over and over without time
/// passing.
#[derive(Clone, Debug, Default)]
pub struct Timers {
    in_a_row: u32,
    since: Timestamp,
}

impl Invariant for Timers {
    fn after(&mut self, step: &Step<'_>) -> Result<(), Violation> {
        let now = step.call.now();
        let fired = matches!(step.call, Call::Timer(..));
        if fired && self.in_a_row > 0 {
            self.in_a_row += 1;
        } else {
            (self.in_a_row, self.since) = (u32::from(fired), now);
        }
        if let Some(at) = step.after.next_timer {
            // Time may have passed a timer that has not been called yet: it is late, and not set into the past.
            let is_new = step.before.next_timer != Some(at);
            Violation::unless(at >= now || !is_new, "a timer in the future", || {
                format!("one at {at:?}, set at {now:?}")
            })?;
            let is_end_of_time = now == Timestamp::from_nanos(u64::MAX);
            Violation::unless(!fired || at > now || is_end_of_time, "a timer that rests after it fired", || {
                format!("one at {at:?}, just after it was called at {now:?}")
            })?;
        }
        let passed = now.saturating_since(self.since);
        let is_storm = self.in_a_row >= STORM && passed < HARDLY_ANY.saturating_mul(u64::from(STORM));
        Violation::unless(!is_storm, "timers that let time pass", || {
            format!("{} timer calls in a row within {passed}", self.in_a_row)
        })
    }
}
