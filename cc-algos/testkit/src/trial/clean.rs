//! After whatever happened the network turns kind, or narrow, and the controller must make something of it.

use cc_algos::declare::{Family, Law, Need, Reductions};
use cc_algos::units::{Span, mul_div, round_to_u64};

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

/// Round trips that are longer, such as those of packets that take days, outlast what clocks can tell.
const LONGEST_ROUND: Span = Span::from_secs(3_600);

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
    if takes_delayed_acks_for_a_queue(trial) {
        return Ok(());
    }
    let kind = Clean { packets: KIND_PACKETS, buffer: 2 * KIND_PACKETS, mark_above: None };
    let Some(mut world) = cleaned(trial, &kind) else { return Ok(()) };
    if may_answer_delay(trial) && world.has_grown_longer(4) {
        // A law that takes the longer path for a queue may do so until it forgets the shorter one.
        return Ok(());
    }
    comes_up_to_speed(trial, &mut world, &kind, PATIENCE_ROUNDS)
}

/// Whether the law may answer delay: it takes steps, and as many as it likes.
fn may_answer_delay(trial: &Trial<'_>) -> bool {
    let bounds = trial.subject.declaration().bounds;
    bounds.law == Law::Steps && bounds.reductions == Reductions::Unbounded
}

/// Whether acknowledgements are held back so long that a law that may answer delay takes it for a queue, as those of datacentres
/// may, where nobody holds them back; or that a model's window for the smallest round trip does not last until they come.
pub(super) fn takes_delayed_acks_for_a_queue(trial: &Trial<'_>) -> bool {
    let network = &trial.script.network;
    let declaration = trial.declaration();
    let is_model = declaration.bounds.law == Law::Model;
    let is_near = matches!(declaration.family, Family::Datacentre | Family::AcrossDatacentres);
    let held_back = |part| network.ack_every > 1 && network.ack_delay > network.rtt.mul_div(1, part);
    is_model && held_back(2) || (is_near || may_answer_delay(trial)) && held_back(8)
}

/// How long a law may take: a minute, or as long as it remembers the smallest RTT.
fn patience(trial: &Trial<'_>) -> Span {
    trial.subject.declaration().bounds.rtt_memory.map_or(PATIENCE, |memory| PATIENCE.max(memory))
}

/// The world in which the script was played, as `clean` says from then on; `None` where that network is no judge.
pub(super) fn cleaned(trial: &mut Trial<'_>, clean: &Clean) -> Option<World> {
    let mut world = trial.played();
    world.clean(clean, trial.subject.declaration());
    let began_with = trial.script.network.mtu;
    let has_shrunk = began_with > LARGEST_MTU && world.mtu() != began_with;
    // A timer that is hardly longer than the round trip declares everything lost.
    let is_hasty = trial.script.network.retransmit_after.is_some_and(|time| time < world.round().saturating_mul(4));
    let is_told_by_clocks = world.round() > Span::ZERO && world.round() < LONGEST_ROUND;
    (is_told_by_clocks && !has_shrunk && !is_hasty).then_some(world)
}

/// What must be used of a clean network in a stretch: a sixth of its capacity, less for acknowledgements that come later than a
/// packet takes, and no more than half of what the declared largest window sends.
fn wanted(trial: &Trial<'_>, world: &World) -> u64 {
    let (round, network) = (world.round(), &trial.script.network);
    let held_back = if network.ack_every > 1 { network.ack_delay } else { Span::ZERO };
    let capacity = world.capacity(round.saturating_mul(u64::from(STRETCH))) / SHARE;
    let at_its_pace = mul_div(capacity, round.as_nanos(), (round + held_back).as_nanos());
    let largest = trial.declaration().bounds.max_window.map(|packets| packets * world.mtu() as f64);
    largest.map_or(at_its_pace, |window| at_its_pace.min(round_to_u64(window * f64::from(STRETCH) / 2.0)))
}

/// How long a clean network is in use at least, however short its round trips: laws that gain rate by the clock come up to
/// tens of gigabits only in so many milliseconds.
const IN_USE: Span = Span::from_millis(20);

/// Packets that must have arrived before a law is given up whose windows may be below one, and times the patience until then, at
/// most: each tells it one thing, and it may send one in a hundred round trips.
const ANSWERS: u64 = 64;
const MOST_TIMES: u32 = 1_000;

/// Stretches that a law has for its answer at least, and at most if it has got too few answers itself.
fn stretches(trial: &Trial<'_>, round: Span, rounds: u32) -> (u32, u32) {
    let in_use = u32::try_from(IN_USE.as_nanos() / round.as_nanos().max(1)).unwrap_or(u32::MAX);
    let least = rounds.max(in_use) / STRETCH;
    let is_fractional = trial.declaration().bounds.min_window < 1.0;
    (least, if is_fractional { least.saturating_mul(MOST_TIMES) } else { least })
}

/// On a `clean` network what is [wanted] of it is used after at most so many `rounds` and all [patience]. Where round trips are
/// short silences make up for it; the second ends what the first began, such as a probe of the smallest RTT.
pub(super) fn comes_up_to_speed(
    trial: &Trial<'_>,
    world: &mut World,
    clean: &Clean,
    rounds: u32,
) -> Result<(), Box<Found>> {
    world.allow(u64::from(clean.packets));
    if !world.await_delivery() {
        return Ok(());
    }
    let (round, patience) = (world.round(), patience(trial));
    let wanted = wanted(trial, world);
    let (begin, (least, most)) = (world.now(), stretches(trial, round, rounds));
    let mut best = 0;
    let is_long = round.saturating_mul(u64::from(rounds)) >= patience;
    let silences: &[Span] = if is_long { &[Span::ZERO] } else { &[patience, Span::from_secs(1), Span::ZERO] };
    for silence in silences {
        let begun = world.delivered();
        for turn in 0..most {
            let before = world.delivered();
            if turn >= least && before - begun >= ANSWERS * world.mtu() {
                break;
            }
            world.allow(u64::from(STRETCH * clean.packets * 4));
            let is_over = world.run_rtts(STRETCH);
            best = best.max(world.delivered() - before);
            // Who sent several times what the network carries does not stall, whatever became of it.
            if best >= wanted || world.is_exhausted() || !is_over {
                return Ok(());
            }
        }
        world.rest(*silence);
    }
    if world.now().saturating_since(begin) < patience {
        // Timers that fire without rest hold up time, and too little of it passed to tell a stall from a long memory.
        return Ok(());
    }
    let outputs = world.outputs();
    Violation::unless(false, "a sixth of what a clean network carries, sooner or later", || {
        format!("at most {best} B in {STRETCH} round trips of {round}, where {wanted} B do; now: {outputs}")
    })?;
    Ok(())
}

/// Round trips that a law gets to come down in at most, beyond the first sixty: as many as the largest window needs that is
/// tried.
const MOST_PATIENCE: u32 = 20_000;

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
    if trial.script.network.retransmit_after.is_some() {
        // Losses show so late that the window outgrows any network meanwhile.
        return Ok(());
    }
    // Where nothing takes any time, nothing is narrow.
    let Some(mut world) = cleaned(trial, narrow) else { return Ok(()) };
    if signal == "marks" && !world.is_marking() {
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
    // What is under way may be packets of another size, many times the window.
    let load = begin.max(world.in_flight()).saturating_mul(8) / world.mtu() / carried;
    let patience = u32::try_from(load).unwrap_or(u32::MAX).min(MOST_PATIENCE) + 60;
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

/// Further stretches of patience, as long as each takes a tenth: gentle laws reduce little at a time, and a queue makes
/// round trips as much longer as the window is too large.
const STRETCHES_ON_THE_WAY: u32 = 8;

/// Whether no more than `most` bytes are in use after one of so many stretches of so many round trips, or timers keep
/// anything from arriving.
fn comes_down(world: &mut World, most: u64, rounds: u32, stretches: u32) -> bool {
    let packets = 8 * u64::from(rounds * NARROW_PACKETS);
    world.allow(packets);
    if !world.await_delivery() {
        return true;
    }
    let mut former = in_use(world);
    for stretch in 0..stretches + STRETCHES_ON_THE_WAY {
        if stretch > 0 {
            world.allow(packets);
        }
        for _ in 0..rounds {
            // One by one, for each is cut short if too much happens in it.
            world.run_rtts(1);
        }
        let now = in_use(world);
        if now <= most {
            return true;
        }
        if stretch + 1 >= stretches && now > former - former / 10 {
            return false;
        }
        former = now;
    }
    false
}

/// The window, or what the rate makes of it in a round trip: laws that set a rate may leave the window wide open.
fn in_use(world: &World) -> u64 {
    let outputs = world.outputs();
    outputs.pacing_rate.map_or(outputs.window, |rate| outputs.window.min(rate.bytes_in(world.round())))
}
