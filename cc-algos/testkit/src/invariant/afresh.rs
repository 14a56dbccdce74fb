//! A new path starts afresh (RFC 9000, section 9.4).

use cc_algos::declare::Family;
use cc_algos::signal::{PathChange, Signal};

use super::{Context, Reading};
use crate::network::setup;
use crate::observe::{Invariant, Step, Violation};
use crate::subject::Subject;

/// What was learnt of one path says nothing of another: after a migration, or once a dead path is back, the window is at most
/// the one that the flow began with, in packets or in bytes. Controls keep theirs, whatever happens.
#[derive(Clone, Debug)]
pub struct Afresh {
    applies: bool,
    reading: Reading,
    /// Largest packet at the beginning.
    mtu: u64,
    /// Window of a flow that begins there and has taken over nothing.
    start: u64,
}

impl Afresh {
    /// For one history.
    pub fn new(context: &Context<'_>, subject: &Subject) -> Self {
        let mut setup = setup(context.network);
        setup.handover = None;
        Self {
            applies: context.declaration.family != Family::Control,
            reading: context.reading(),
            mtu: setup.mtu.max(1),
            start: subject.build(&setup).window(),
        }
    }
}

impl Invariant for Afresh {
    fn after(&mut self, step: &Step<'_>) -> Result<(), Violation> {
        let is_new = matches!(
            step.call.signal(),
            Some(Signal::PathChange { change: PathChange::Migrated | PathChange::Revived, .. })
        );
        if !self.applies || !is_new {
            return Ok(());
        }
        let flight = step.call.flight();
        let rescaled = self.start.div_ceil(self.mtu).saturating_mul(flight.mtu);
        let most = self.start.max(rescaled).max(self.reading.start(flight.smoothed_rtt)).saturating_add(flight.mtu);
        let after = self.reading.of(&step.after, flight);
        Violation::unless(after <= most, "a new path to start with the initial window", || {
            format!("{after} B, {most} B at most at the beginning")
        })
    }
}
