//! After whatever happened the network turns kind, or narrow, and the controller must make something of it.

use cc_algos::declare::{Family, Need};
use cc_algos::units::Span;

use super::{Found, Trial};
use crate::network::{Clean, World};
use crate::observe::Violation;

/// Packets that a kind network holds in a round trip.
const KIND_PACKETS: u32 = 16;

/// Round trips after which a controller must be back at speed.
const PATIENCE_ROUNDS: u32 = 3_000;

/// And time: models forget their smallest RTT after ten seconds or more, however short the round trip.
const PATIENCE: Span = Span::from_secs(60);

/// Round trips over which throughput is taken.
const STRETCH: u32 = 8;

/// Packets that a narrow network holds in a round trip, and in its buffer.
const NARROW_PACKETS: u32 = 4;

/// Times what a narrow network holds that the window may be.
const MOST_OVERLOAD: u64 = 8;

/// From every reachable state, clean feedback brings the controller back to half of what a small network carries: no permanent
/// stall. Controls are exempt.
pub(crate) fn recovers(trial: &mut Trial<'_>) -> Result<(), Box<Found>> {
    if trial.subject.declaration().family == Family::Control {
        return Ok(());
    }
    let mut world = trial.played();
    world.clean(
        &Clean { packets: KIND_PACKETS, buffer: 2 * KIND_PACKETS, mark_above: None },
        trial.subject.declaration(),
    );
    let round = world.round();
    let wanted = world.capacity(round.saturating_mul(u64::from(STRETCH))) / 2;
    let begin = world.now();
    let mut best = 0;
    for _ in 0..PATIENCE_ROUNDS / STRETCH {
        let before = world.delivered();
        world.allow(u64::from(STRETCH * KIND_PACKETS * 4));
        world.run_rtts(STRETCH);
        best = best.max(world.delivered() - before);
        if best >= wanted {
            return Ok(());
        }
    }
    if world.now().saturating_since(begin) < PATIENCE {
        // Too short a time to tell a stall from a long memory.
        return Ok(());
    }
    let outputs = world.outputs();
    Violation::unless(false, "half of what a clean network carries, sooner or later", || {
        format!("at most {best} B in {STRETCH} round trips of {round}, of {} B; now: {outputs}", 2 * wanted)
    })?;
    Ok(())
}

/// On a narrow network the window does not grow far beyond what that holds: the controller answers losses or delay, and marks
/// if it asks for them.
pub(crate) fn yields(trial: &mut Trial<'_>) -> Result<(), Box<Found>> {
    let declaration = trial.subject.declaration();
    if declaration.family == Family::Control {
        return Ok(());
    }
    let by_losses = Clean { packets: NARROW_PACKETS, buffer: NARROW_PACKETS, mark_above: None };
    let by_marks = Clean { packets: NARROW_PACKETS, buffer: 100_000, mark_above: Some(1) };
    let needs_marks = [Need::Ecn, Need::L4s, Need::CongestionNotification].iter().any(|need| declaration.needs(*need));
    if !needs_marks {
        overload(trial, &by_losses, "losses")?;
    }
    overload(trial, &by_marks, "marks")
}

fn overload(trial: &mut Trial<'_>, narrow: &Clean, signal: &str) -> Result<(), Box<Found>> {
    let mut world = trial.played();
    world.clean(narrow, trial.subject.declaration());
    if signal == "marks" && !world.is_marking() {
        return Ok(());
    }
    world.allow(3_000);
    let holds = u64::from(2 * NARROW_PACKETS) * world.mtu();
    let most = holds.saturating_mul(MOST_OVERLOAD);
    let is_overloading = |world: &World| world.outputs().window > most;
    for _ in 0..40 {
        world.run_rtts(8);
        if !is_overloading(&world) {
            break;
        }
    }
    // It came down once, or never did; now it must stay down.
    world.run_rtts(100);
    let window = world.outputs().window;
    Violation::unless(!is_overloading(&world), format!("a window that answers {signal}"), || {
        format!("{window} B on a network that holds {holds} B, after hundreds of round trips")
    })?;
    Ok(())
}
