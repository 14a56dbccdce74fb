//! Properties of whole histories: what becomes of a controller after whatever happened to it.

mod clean;
mod handover;
mod memory;
mod rates;
mod replay;
mod room;

pub(crate) use clean::{recovers, yields};
pub(crate) use handover::hands_over;
pub(crate) use memory::stays_small;
pub(crate) use rates::more_loss_is_no_better;
pub(crate) use replay::repeats_itself;
pub(crate) use room::{outlasts_a_lull, takes_its_room};

use cc_algos::Declaration;

use crate::network::World;
use crate::observe::{Moment, Violation};
use crate::script::Script;
use crate::subject::Subject;
use crate::tap::Tap;

/// What does not hold, and where.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) violation: Violation,
    pub(crate) moment: Option<Moment>,
}

impl From<Violation> for Box<Found> {
    fn from(violation: Violation) -> Self {
        Self::new(Found { violation, moment: None })
    }
}

/// One history of one subject, under way.
#[derive(Debug)]
pub(crate) struct Trial<'a> {
    pub(crate) subject: &'a Subject,
    pub(crate) script: &'a Script,
    /// What the latest world shares with its owner, to be asked after a panic.
    pub(crate) seen: &'a mut Option<Tap>,
}

impl Trial<'_> {
    /// What the subject says of itself.
    pub(crate) const fn declaration(&self) -> &Declaration {
        self.subject.declaration()
    }

    /// A world in which the script was played, with nothing watched.
    pub(crate) fn played(&mut self) -> World {
        let mut world = World::new(self.subject, &self.script.network, Vec::new());
        *self.seen = Some(world.tap());
        world.play(&self.script.moves);
        world
    }
}
