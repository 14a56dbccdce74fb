//! In the long run, more loss is no better.

use cc_algos::units::{Rate, Span};

use super::{Found, Trial};
use crate::network::World;
use crate::observe::Violation;
use crate::script::Network;

/// Packets dropped of a hundred thousand.
const RATES: [u32; 4] = [0, 100, 1_000, 5_000];

/// Packets that the network holds in a round trip.
const PACKETS: u64 = 24;

/// Packets that one acknowledgement covers, at most.
const MOST_AN_ACK: u32 = 4;

const ROUNDS: u32 = 200;

/// Longer round trips are few where laws go by the clock, such as for slowdowns, and one more or less of these decides.
const LONGEST_ROUND: Span = Span::from_secs(1);

/// On one network, the mean window does not grow with the rate of independent losses, by more than a fifth and two packets:
/// where losses fall is luck.
pub(crate) fn more_loss_is_no_better(trial: &mut Trial<'_>) -> Result<(), Box<Found>> {
    let shape = &trial.script.network;
    if shape.rtt > LONGEST_ROUND {
        return Ok(());
    }
    let rate = Rate::from_bytes_in(PACKETS * shape.mtu.min(9_000), shape.rtt).unwrap_or(Rate::MAX);
    let network = Network {
        rate: rate.min(Rate::from_gbps(800)),
        mtu: shape.mtu.min(9_000),
        buffer: PACKETS as u32,
        // Marks where nobody needs them would be a congestion of their own.
        mark_above: None,
        // A loss brings an acknowledgement at once that would be held back otherwise, and with it growth: not for long.
        ack_every: shape.ack_every.min(MOST_AN_ACK),
        ack_delay: shape.ack_delay.min(shape.rtt.mul_div(1, 8)),
        resume: None,
        retransmit_after: None,
        ..shape.clone()
    };
    let mut former: Option<(u32, u64)> = None;
    for per_100_000 in RATES {
        let mut world = World::new(trial.subject, &network, Vec::new());
        *trial.seen = Some(world.tap());
        world.provide(trial.subject.declaration());
        world.lose_at_random(per_100_000);
        let mut sum = 0_u64;
        for _ in 0..ROUNDS {
            world.allow(4 * PACKETS);
            world.run_rtts(1);
            sum = sum.saturating_add(world.outputs().window);
        }
        let mean = sum / u64::from(ROUNDS);
        if let Some((fewer, less)) = former {
            let most = less.saturating_add(less / 5).saturating_add(2 * network.mtu);
            Violation::unless(mean <= most, "a mean window that does not grow with the rate of losses", || {
                format!("{mean} B at {per_100_000} losses in 100 000, {less} B at {fewer}")
            })?;
        }
        former = Some((per_100_000, mean));
    }
    Ok(())
}
