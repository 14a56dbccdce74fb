//! Which path and which entropy the next packet takes.
//!
//! A balancer sees identifiers and what became of packets that bore them, and nothing of any controller. It is open: a
//! driver holds a `Box<dyn Balancer>`, asks it before each packet and [reports](report) after each call to the sender.
//!
//! | name | route | leaves it |
//! |---|---|---|
//! | [`ecmp`](Ecmp) | one per flow | never |
//! | [`flowlet`](Flowlet) | one at a time | after a pause in sending |
//! | [`plb`](Plb) | one at a time | after congested round trips, after a timeout |
//! | [`uno`](Uno) | a few in turn | those that fall silent, once packets get lost |
//! | [`spray`](Spray) | one per packet | |
//! | [`reps`](Reps) | one per packet | unless it came back unmarked |
//! | [`bitmap`](Bitmap) | all in turn | those with penalties for marks and losses, for a while |
//!
//! [`Balancers`] holds them by name, with typed parameters: `uno?subflows=8`.

mod bitmap;
mod draw;
mod ecmp;
mod flowlet;
mod plb;
mod registry;
mod reps;
mod spray;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod uno;

use core::fmt::Debug;

use cc_algos::controller::{Cause, PacketRecord};
use cc_algos::ids::{Entropy, PathId};
use cc_algos::registry::{Args, Param, Value};
use cc_algos::signal::Ecn;
use cc_algos::units::{Span, Timestamp};

pub use self::bitmap::{Bitmap, BitmapParams};
pub use self::ecmp::Ecmp;
pub use self::flowlet::Flowlet;
pub use self::plb::{Plb, PlbParams};
pub use self::registry::{BalancerError, Balancers, Balancing, Build, Kind};
pub use self::reps::{FreezeOn, Reps, RepsParams};
pub use self::spray::Spray;
pub use self::uno::{Uno, UnoParams};
use super::Content;
use super::sender::Sender;
use super::workspace::Workspace;

/// What a balancer is built from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Setup {
    /// When the flow begins.
    pub now: Timestamp,
    /// Seed of everything random in it.
    pub seed: u64,
    /// RTT of the path without queues, if somebody knows it in advance, as published simulators do.
    pub base_rtt: Option<Span>,
}

impl Setup {
    /// A flow that begins at `now` and knows nothing of its path.
    pub const fn new(now: Timestamp, seed: u64) -> Self {
        Self { now, seed, base_rtt: None }
    }
}

/// A path of the sender, as a balancer sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathView {
    /// Which.
    pub id: PathId,
    /// What time it is.
    pub now: Timestamp,
    /// The number that the next packet will bear.
    pub next_packet_number: u64,
    /// Packets in flight.
    pub in_flight: u64,
    /// The smallest RTT sample.
    pub min_rtt: Option<Span>,
    /// The smoothed RTT, once there was a sample.
    pub smoothed_rtt: Option<Span>,
}

impl PathView {
    /// A path on which nothing was sent.
    pub const fn idle(id: PathId, now: Timestamp) -> Self {
        Self { id, now, next_packet_number: 0, in_flight: 0, min_rtt: None, smoothed_rtt: None }
    }
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It arrived unmarked.
    Good,
    /// It arrived marked. Told only where the receiver echoes marks per packet.
    Ecn,
    /// It got lost, as later acknowledgements, the receiver or a switch that trimmed it revealed.
    Nack,
    /// Nothing was heard of it until a retransmission timeout expired or its path was declared dead.
    Timeout,
}

/// A packet, and what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fate {
    /// The path it took.
    pub path: PathId,
    /// The entropy it carried.
    pub entropy: Entropy,
    /// Its number on its path.
    pub packet_number: u64,
    /// When it was sent.
    pub sent_at: Timestamp,
    /// What became of it.
    pub verdict: Verdict,
}

impl Fate {
    const fn of(packet: &PacketRecord, verdict: Verdict) -> Self {
        let PacketRecord { path, entropy, packet_number, sent_at, .. } = *packet;
        Self { path, entropy, packet_number, sent_at, verdict }
    }
}

/// Chooses routes. Deterministic: what is random in it comes from its seed.
pub trait Balancer: Debug + Send {
    /// The entropy of the next packet on a path.
    fn next_entropy(&mut self, path: &PathView) -> Entropy;

    /// The path of the next packet, one of `open` (those that may send now). The first by default.
    fn next_path(&mut self, open: &[PathId]) -> Option<PathId> {
        open.first().copied()
    }

    /// What became of a packet. The path is seen as it is after all that was found out at once.
    fn on_verdict(&mut self, _fate: &Fate, _path: &PathView) {}

    /// A probe timeout expired (RFC 9002, section 6.2): nothing was heard for so long, yet no packet is held for lost.
    fn on_probe_timeout(&mut self, _path: &PathView) {}

    /// Whether [`Balancer::on_verdict`] and [`Balancer::on_probe_timeout`] do anything; if not, they need not be called.
    fn listens(&self) -> bool {
        false
    }

    /// A copy with the same state.
    fn clone_box(&self) -> Box<dyn Balancer>;
}

/// Tells a balancer what the last call to a sender found out: probe timeouts, then what arrived, then what got lost. So who
/// asks how long a route has been silent knows the latest of it.
pub fn report<C: Content>(now: Timestamp, sender: &Sender<C>, work: &Workspace<C>, balancer: &mut dyn Balancer) {
    if !balancer.listens() {
        return;
    }
    for path in &work.probed {
        balancer.on_probe_timeout(&sender.view(now, *path));
    }
    for packet in work.acked().iter().chain(work.spurious()) {
        let verdict = if packet.arrived_as == Some(Ecn::Ce) { Verdict::Ecn } else { Verdict::Good };
        balancer.on_verdict(&Fate::of(packet, verdict), &sender.view(now, packet.path));
    }
    let silent = matches!(work.lost_by, Some(Cause::Timeout { .. } | Cause::PathDead));
    let verdict = if silent { Verdict::Timeout } else { Verdict::Nack };
    for packet in work.lost().iter().chain(work.recovered()) {
        balancer.on_verdict(&Fate::of(packet, verdict), &sender.view(now, packet.path));
    }
}

/// The parameter `entropies`.
fn entropies_param(default: u32) -> Param {
    Param::new("entropies", Value::Integer(u64::from(default)), "entropies to draw from")
        .within(1.0, f64::from(draw::FLOW_LABELS))
}

fn entropies(args: &Args) -> u32 {
    args.integer("entropies") as u32
}
