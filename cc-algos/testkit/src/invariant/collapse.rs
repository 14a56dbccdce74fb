//! Persistent congestion leaves a small window (RFC 9002, section 7.6.2).

use cc_algos::declare::{Family, Law};

use super::{Context, FEW_PACKETS};
use crate::observe::{Invariant, Step, Violation};

/// A window that is at most this part of what it was counts as small as well.
const SHARE: u64 = 4;

/// When everything sent over a long time got lost, the window becomes a few packets, or the law's smallest, or a quarter of
/// what it was; what the same batch acknowledges may be added. Controls react to nothing, and models keep what they know of
/// the path.
#[derive(Clone, Debug)]
pub struct Collapse {
    applies: bool,
    min_packets: f64,
}

impl Collapse {
    /// For one history.
    pub fn new(context: &Context<'_>) -> Self {
        let bounds = context.declaration.bounds;
        let applies = bounds.law == Law::Steps && context.declaration.family != Family::Control;
        Self { applies, min_packets: bounds.min_window }
    }
}

impl Invariant for Collapse {
    fn after(&mut self, step: &Step<'_>) -> Result<(), Violation> {
        let Some(feedback) = step.call.feedback().filter(|_| self.applies) else { return Ok(()) };
        let Some(span) = feedback.persistent_congestion else { return Ok(()) };
        let mtu = step.call.flight().mtu;
        let least = (self.min_packets * mtu as f64) as u64;
        let few = mtu.saturating_mul(FEW_PACKETS).max(least).max(step.before.window / SHARE);
        let most = few.saturating_add(feedback.newly_acked.bytes);
        let after = step.after.window;
        Violation::unless(after <= most, "a small window after persistent congestion", || {
            format!("{after} B, after all that was sent over {span} got lost")
        })
    }
}
