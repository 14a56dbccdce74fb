//! After whatever happened the network turns kind, or narrow, and the controller must make something of it.

use cc_algos::declare::{Family, Law, Need};
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

/// Part of a kind network's capacity that is speed enough: more than a smallest window of two packets makes of it, and less than
/// what delay-based laws make of a round trip that has become longer.
const SHARE: u64 = 6;

/// Packets larger than that leave debts with the pacer, and windows, that outlast any patience if packets become small.
const LARGEST_MTU: u64 = 65_536;

/// Round trips over which throughput is taken.
const STRETCH: u32 = 8;

/// Packets that a narrow network holds in a round trip, and in its buffer.
const NARROW_PACKETS: u32 = 4;

/// Times what a narrow network holds that the window may be: slow start doubles, and round trips with a queue are long.
const MOST_OVERLOAD: u64 = 8;

/// From every reachable state, clean feedback brings the controller back to a sixth of what a small network carries: no permanent
/// stall. Controls are exempt.
pub(crate) fn recovers(trial: &mut Trial<'_>) -> Result<(), Box<Found>> {
    if trial.subject.declaration().family == Family::Control {
        return Ok(());
    }
    let mut world = trial.played();
    if has_shrunk(trial, &world) {
        return Ok(());
    }
    world.clean(
        &Clean { packets: KIND_PACKETS, buffer: 2 * KIND_PACKETS, mark_above: None },
        trial.subject.declaration(),
    );
    if world.round() == Span::ZERO {
        return Ok(());
    }
    world.allow(u64::from(KIND_PACKETS));
    world.await_delivery();
    let round = world.round();
    let wanted = world.capacity(round.saturating_mul(u64::from(STRETCH))) / SHARE;
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
    let patience = trial.subject.declaration().bounds.rtt_memory.map_or(PATIENCE, |memory| PATIENCE.max(memory));
    if world.now().saturating_since(begin) < patience {
        // Too short a time to tell a stall from a long memory.
        return Ok(());
    }
    let outputs = world.outputs();
    Violation::unless(false, "a sixth of what a clean network carries, sooner or later", || {
        format!("at most {best} B in {STRETCH} round trips of {round}, of {} B; now: {outputs}", SHARE * wanted)
    })?;
    Ok(())
}

/// Whether packets were huge and are not any more.
fn has_shrunk(trial: &Trial<'_>, world: &World) -> bool {
    let began_with = trial.script.network.mtu;
    began_with > LARGEST_MTU && world.mtu() != began_with
}

/// Times that patience for models, at most: what they hold for the bandwidth of a path they forget with the second probe
/// after, and probes are seconds apart, however short the round trip.
const MODEL_PATIENCE: u32 = 16;

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
    // Where nothing takes any time, nothing is narrow.
    let cannot_mark = signal == "marks" && !world.is_marking();
    if cannot_mark || world.round() == Span::ZERO || has_shrunk(trial, &world) {
        return Ok(());
    }
    let holds = u64::from(2 * NARROW_PACKETS) * world.mtu();
    let most = holds.saturating_mul(MOST_OVERLOAD);
    let begin = world.outputs().window;
    if begin > most.saturating_mul(5) {
        // It would take too long to come down from there, with all that stands in the queue.
        return Ok(());
    }
    // A queue makes round trips longer: a window that shrinks by three tenths in each needs three times the time that the
    // link takes for all of it to come down, and one that grows some more.
    // A link that was slower before carries less than the narrow one in a round trip.
    let carried = (world.capacity(world.round()) / world.mtu()).clamp(1, u64::from(NARROW_PACKETS));
    let patience = 60 + u32::try_from(8 * begin / world.mtu() / carried).unwrap_or(u32::MAX);
    let stretches = if trial.subject.declaration().bounds.law == Law::Model { MODEL_PATIENCE } else { 1 };
    if comes_down(&mut world, most, patience, stretches) {
        return Ok(());
    }
    if world.now().as_nanos() == u64::MAX {
        // The clock stands still at the end of its range: nothing takes any time any more.
        return Ok(());
    }
    if signal == "marks" && !world.is_marking() {
        // The path failed validation meanwhile: nothing is left that could speak of congestion.
        return Ok(());
    }
    let window = in_use(&world);
    let line = trial.script.network.rate.bytes_in(world.round());
    if world.is_exhausted() && window <= line.saturating_mul(2) {
        // It began at the rate of the host's own link, and too much is out to see it come down.
        return Ok(());
    }
    Violation::unless(false, format!("a window that answers {signal}"), || {
        let rounds = stretches * patience;
        format!("{window} B on a network that holds {holds} B, {rounds} round trips after it was {begin} B")
    })?;
    Ok(())
}

/// Whether no more than `most` bytes are in use after one of so many stretches of so many round trips.
fn comes_down(world: &mut World, most: u64, rounds: u32, stretches: u32) -> bool {
    let packets = 8 * u64::from(rounds * NARROW_PACKETS);
    world.allow(packets);
    world.await_delivery();
    for stretch in 0..stretches {
        if stretch > 0 {
            world.allow(packets);
        }
        // One by one, for each is cut short if too much happens in it.
        (0..rounds).for_each(|_| world.run_rtts(1));
        if in_use(world) <= most {
            return true;
        }
    }
    false
}

/// The window, or what the rate makes of it in a round trip: laws that set a rate may leave the window wide open.
fn in_use(world: &World) -> u64 {
    let outputs = world.outputs();
    outputs.pacing_rate.map_or(outputs.window, |rate| outputs.window.min(rate.bytes_in(world.round())))
}
