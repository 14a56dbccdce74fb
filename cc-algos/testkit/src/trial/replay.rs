//! Same history, same state.

use std::sync::PoisonError;

use super::{Found, Trial};
use crate::network::{World, setup};
use crate::recorder::Recorder;

/// Fresh controllers that hear the history again: hidden randomness of few outcomes may agree once.
const REPLAYS: u32 = 4;

/// What a recorder kept of the history brings the same outputs from fresh controllers.
pub(crate) fn repeats_itself(trial: &mut Trial<'_>) -> Result<(), Box<Found>> {
    let Trial { subject, script, seen } = trial;
    let recorder = Recorder::new(subject.build(&setup(&script.network)));
    let recording = recorder.recording();
    let mut world = World::with_controller(subject, &script.network, Box::new(recorder));
    **seen = Some(world.tap());
    world.play(&script.moves);
    let recording = recording.lock().unwrap_or_else(PoisonError::into_inner);
    for _ in 0..REPLAYS {
        recording.replay(&mut *subject.build(&setup(&script.network)))?;
    }
    Ok(())
}
