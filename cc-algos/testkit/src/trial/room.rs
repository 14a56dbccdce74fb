//! Where there is room the window grows, and what it has come to outlasts a phase in which little of it is in use.

use cc_algos::declare::{Family, Law, Reductions};
use cc_algos::units::Span;

use super::clean::{cleaned, comes_up_to_speed, takes_delayed_acks_for_a_queue};
use super::{Found, Trial};
use crate::network::Clean;
use crate::observe::Violation;
use crate::script::Move;

/// Packets that a roomy network holds in a round trip.
const ROOM_PACKETS: u32 = 400;

/// Round trips until a sixth of them are in use: one packet a round trip makes 67 of them.
const ROOM_ROUNDS: u32 = 1_000;

/// Packets that the network holds on which there is a lull.
const LULL_PACKETS: u32 = 32;

/// Round trips before the lull, at its beginning, while the queue is answered for, in it, and at its end, in one of which the
/// window must be what it was.
const BUSY_ROUNDS: u32 = 16;
const FIRST_ROUNDS: u32 = 4;
const LULL_ROUNDS: u32 = 24;
const LAST_ROUNDS: u32 = 8;

/// Round trips that are longer let the smallest RTT expire every few of them, and models measure it with the least in flight.
const LONGEST_ROUND: Span = Span::from_secs(1);

/// Part by which a path has become longer that delay-based laws take for a queue: a few packets, on a path of hundreds.
const LONGER_PART: u64 = 16;

/// Part of the window in use before that must be left.
const SHARE: u64 = 4;

/// On a clean network that holds hundreds of packets, a sixth of what that carries is used sooner or later: with windows of
/// dozens of packets, whatever their size and however many one acknowledgement covers. Laws that take steps may take a path
/// that has become longer for a queue; models measure it again, as they do a path after a migration. Where round trips take
/// longer than a second, laws that go by the clock slow down or measure in each. Controls are exempt.
pub(crate) fn takes_its_room(trial: &mut Trial<'_>) -> Result<(), Box<Found>> {
    let declaration = trial.subject.declaration();
    if declaration.family == Family::Control {
        return Ok(());
    }
    let law = declaration.bounds.law;
    let clean = Clean { packets: ROOM_PACKETS, buffer: ROOM_PACKETS, mark_above: None };
    let Some(mut world) = cleaned(trial, &clean) else { return Ok(()) };
    let goes_by_clock = law == Law::Model || declaration.bounds.reductions == Reductions::Unbounded;
    let measures_each_round = goes_by_clock && world.round() > LONGEST_ROUND;
    let longer = if declaration.bounds.reductions == Reductions::Unbounded { LONGER_PART } else { 4 };
    let takes_path_for_queue = law == Law::Steps && world.has_grown_longer(longer);
    if measures_each_round || takes_path_for_queue || takes_delayed_acks_for_a_queue(trial) {
        return Ok(());
    }
    comes_up_to_speed(trial, &mut world, &clean, ROOM_ROUNDS)
}

/// After some round trips in which the application has two packets to send, a quarter of the window is left that was in use on
/// the same clean network before, once the queue of that time is answered for: nobody can see in a lull that the path carries
/// less (RFC 9002, section 7.8; draft-ietf-ccwg-bbr, section 4.1.2.4). Controls are exempt.
pub(crate) fn outlasts_a_lull(trial: &mut Trial<'_>) -> Result<(), Box<Found>> {
    if trial.subject.declaration().family == Family::Control {
        return Ok(());
    }
    let clean = Clean { packets: LULL_PACKETS, buffer: LULL_PACKETS, mark_above: None };
    let Some(mut world) = cleaned(trial, &clean) else { return Ok(()) };
    // A timer tells of losses before the lull in the midst of it.
    if world.round() > LONGEST_ROUND || trial.script.network.retransmit_after.is_some() {
        return Ok(());
    }
    // Who may answer delay takes a path that has become longer for a queue, and comes down in the lull as before it.
    let declaration = trial.declaration();
    let is_near = matches!(declaration.family, Family::Datacentre | Family::AcrossDatacentres);
    if (is_near || declaration.bounds.reductions == Reductions::Unbounded) && world.has_grown_longer(4) {
        return Ok(());
    }
    world.allow(u64::from(LULL_PACKETS));
    world.await_delivery();
    world.allow(u64::from(4 * LULL_PACKETS * BUSY_ROUNDS));
    world.run_rtts(BUSY_ROUNDS);
    world.allow(u64::from(4 * (FIRST_ROUNDS + LULL_ROUNDS)));
    let quiet = |rtts| [Move::Trickle { packets: 2, rtts }];
    world.play(&quiet(FIRST_ROUNDS));
    let before = world.outputs().window.min(world.capacity(world.round()));
    world.play(&quiet(LULL_ROUNDS - LAST_ROUNDS));
    let mut after = world.outputs().window;
    for _ in 0..LAST_ROUNDS {
        world.play(&quiet(1));
        after = after.max(world.outputs().window);
    }
    Violation::unless(after >= before / SHARE, "a window that outlasts a lull", || {
        format!("{before} B before {LULL_ROUNDS} round trips with two packets each, at most {after} B at their end")
    })?;
    Ok(())
}
