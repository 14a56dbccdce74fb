//! What a controller hands over, another one can start from.

use cc_algos::controller::Setup;

use super::{Found, Trial};
use crate::invariant::{Bounds, Context, Sanity, Timers};
use crate::network::setup;
use crate::observe::{Outputs, Violation};

/// How far a window that is handed over may be from the one in use: a model in a short dip hands over what it was before.
const FACTOR: u64 = 4;

/// The handover's window is near the one in use, the rest is not nonsense, and a controller that is built from it starts near
/// it and works: it keeps its bounds through the same moves again.
pub(crate) fn hands_over(trial: &mut Trial<'_>) -> Result<(), Box<Found>> {
    let mut world = trial.played();
    let (handover, outputs) = (world.handover(), world.outputs());
    let largest = world.largest_window();
    Violation::unless(
        handover.window.is_some() || handover.bandwidth.is_some(),
        "a window or a bandwidth to be handed over",
        || "neither".to_owned(),
    )?;
    // A law that paces may hand over what its rate has in flight in a smallest RTT.
    let in_use = |outputs: &Outputs| {
        let paced = outputs.pacing_rate.zip(handover.min_rtt).map_or(u64::MAX, |(rate, rtt)| rate.bytes_in(rtt));
        outputs.window.min(paced)
    };
    let near = in_use(&outputs) / FACTOR..=largest.saturating_mul(FACTOR);
    let window = handover.window.unwrap_or(outputs.window);
    Violation::unless(near.contains(&window), "a handover near the window", || {
        format!("{window} B, while the window is {} B and was {largest} B at most", outputs.window)
    })?;
    Violation::unless(handover.ssthresh != Some(0), "a threshold that is not zero", || "0 B".to_owned())?;
    let idle = handover.bandwidth.is_some_and(|rate| rate.as_bps() == 0);
    Violation::unless(!idle, "a bandwidth that is not zero", || "0 bit/s".to_owned())?;

    let fresh = setup(&trial.script.network);
    let mut resumed: Setup = fresh.clone();
    resumed.now = world.now();
    resumed.mtu = world.mtu();
    resumed.handover = Some(handover);
    let next = trial.subject.build(&resumed);
    let start = Outputs::of(&*next);
    let product = handover.bandwidth.zip(handover.min_rtt).map_or(0, |(rate, rtt)| rate.bytes_in(rtt));
    let initial = trial.subject.build(&fresh).window().max(initial_window(trial, world.mtu()));
    let most = window.max(product).max(initial).saturating_mul(FACTOR);
    Violation::unless(in_use(&start) <= most, "a start near what was handed over", || {
        format!("{} B from a handover of {window} B", start.window)
    })?;

    let context = Context { declaration: trial.subject.declaration(), network: &trial.script.network };
    let mut bounds = Bounds::new(&context);
    bounds.explain(most);
    world.replace(next, vec![Box::new(bounds), Box::new(Sanity), Box::new(Timers::default())]);
    *trial.seen = Some(world.tap());
    world.allow(500);
    world.play(&trial.script.moves);
    world.run_rtts(4);
    world.verdict()
}

/// What a fresh flow with packets of `mtu` would start with.
fn initial_window(trial: &Trial<'_>, mtu: u64) -> u64 {
    let mut setup = setup(&trial.script.network);
    setup.mtu = mtu;
    trial.subject.build(&setup).window()
}
