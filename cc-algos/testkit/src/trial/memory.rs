//! Bounded memory.

use cc_algos::controller::Controller;

use super::{Found, Trial};
use crate::network::World;
use crate::observe::{Call, Invariant, Step, Violation};

/// Feedbacks by which a controller has all the memory that it needs, and until which it must not need more.
const SETTLED: u32 = 150;
const END: u32 = 600;

/// Bytes by which it may still grow: less than a tenth of a word for each feedback in between.
const SLACK_BYTES: i64 = 1_024;

/// What a controller holds, by what copying it allocates.
fn footprint(controller: &dyn Controller) -> i64 {
    let info = allocation_counter::measure(|| drop(controller.clone_box()));
    i64::try_from(info.bytes_max).unwrap_or(i64::MAX)
}

/// What copies of the controller weigh along the way.
#[derive(Debug, Default)]
struct Scales {
    feedbacks: u32,
    settled: Option<i64>,
}

impl Invariant for Scales {
    fn after(&mut self, step: &Step<'_>) -> Result<(), Violation> {
        if !matches!(step.call, Call::Feedback(..)) {
            return Ok(());
        }
        self.feedbacks += 1;
        match self.feedbacks {
            SETTLED => self.settled = Some(footprint(step.controller)),
            END => {
                let (settled, end) = (self.settled.unwrap_or(0), footprint(step.controller));
                return Violation::unless(end <= 2 * settled + SLACK_BYTES, "bounded memory", || {
                    format!("{settled} B after {SETTLED} feedbacks and {end} B after {END}")
                });
            }
            _ => {}
        }
        Ok(())
    }
}

/// What a controller holds does not grow with the packets that it saw.
pub(crate) fn stays_small(trial: &mut Trial<'_>) -> Result<(), Box<Found>> {
    let mut world = World::new(trial.subject, &trial.script.network, vec![Box::new(Scales::default())]);
    *trial.seen = Some(world.tap());
    // The history over and over, until there was enough feedback.
    for _ in 0..40 {
        world.allow(200);
        world.play(&trial.script.moves);
        world.run_rtts(2);
    }
    world.verdict()
}
