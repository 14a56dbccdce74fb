//! What must hold at each call, one small type each.

mod absence;
mod afresh;
mod answers;
mod batching;
mod bounds;
mod collapse;
mod copy;
mod idle;
mod limited;
mod monotone;
mod once;
mod pace;
mod sanity;
mod silence;
mod timers;
mod undo;

use cc_algos::controller::Flight;
use cc_algos::declare::{Declaration, Family, Law};
use cc_algos::units::{Rate, Span};

pub use afresh::Afresh;
pub use answers::Answers;
pub use batching::Batching;
pub use bounds::Bounds;
pub use collapse::Collapse;
pub use copy::Copy;
pub use idle::Idle;
pub use limited::Limited;
pub use monotone::Monotone;
pub use once::OncePerWindow;
pub use pace::Pace;
pub use sanity::Sanity;
pub use silence::Silence;
pub use timers::Timers;
pub use undo::Undo;

use crate::observe::{Outputs, Step};
use crate::script::Network;

/// Windows of so many packets are small: more than the two of RFC 9002, for laws of other minima.
const FEW_PACKETS: u64 = 4;

/// Bytes acknowledged since the window moved: a law that grows once a round trip has yet to make use of them.
#[derive(Clone, Copy, Debug, Default)]
struct Earned(u64);

impl Earned {
    fn note(&mut self, step: &Step<'_>) {
        let acked = step.call.feedback().map_or(0, |feedback| feedback.newly_acked.bytes);
        self.0 = if step.after.window == step.before.window { self.0.saturating_add(acked) } else { 0 };
    }
}

/// Times what is in flight, or what a rate sends in a round trip, that a model's window may be: they reckon with a gain of up to
/// 2.89.
const MODEL_GAIN: u64 = 3;

/// What a model may want at the rate that it had, once it finds that the path has become longer; nothing for other laws.
fn fills_at_former_rate(law: Law, step: &Step<'_>) -> u64 {
    let rate = step.before.pacing_rate.filter(|_| law == Law::Model);
    let flight = step.call.flight();
    let rtt = flight.smoothed_rtt.max(flight.latest_rtt);
    rate.zip(rtt).map_or(0, |(rate, rtt)| rate.bytes_in(rtt).saturating_mul(MODEL_GAIN))
}

/// What an invariant has to know of the history that it watches.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// What the controller says of itself.
    pub declaration: &'a Declaration,
    /// The network.
    pub network: &'a Network,
}

impl Context<'_> {
    /// What to make of windows of such a law.
    fn reading(&self) -> Reading {
        let Self { declaration, network } = self;
        match (declaration.bounds.law, declaration.family) {
            (Law::Model, Family::Datacentre) => Reading::Paced { line_rate: network.rate },
            _ => Reading::Plain,
        }
    }
}

/// What a window says of the load that a law puts on the network.
#[derive(Clone, Copy, Debug)]
enum Reading {
    /// All of it counts.
    Plain,
    /// The law of a datacentre's model sets a rate, and its window may be no more than a bound, which nothing ever reaches.
    Paced {
        /// Rate at which a flow may start as soon as it knows a round trip: that of the host's link.
        line_rate: Rate,
    },
}

impl Reading {
    /// What counts of a window.
    fn of(self, outputs: &Outputs, flight: &Flight<'_>) -> u64 {
        match self {
            Self::Plain => outputs.window,
            Self::Paced { .. } => outputs.in_use(flight),
        }
    }

    /// Whether what counts is less than it was, and not only for the rounding of rates.
    const fn is_less(self, counts: u64, than: u64) -> bool {
        match self {
            Self::Plain => counts < than,
            Self::Paced { .. } => counts.saturating_add(1 + counts / 1_000) < than,
        }
    }

    /// The window that a flow may start with.
    fn start(self, rtt: Option<Span>) -> u64 {
        match (self, rtt) {
            (Self::Paced { line_rate }, Some(rtt)) => line_rate.bytes_in(rtt),
            _ => 0,
        }
    }
}
