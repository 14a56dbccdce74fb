//! What must hold at each call, one small type each.

mod absence;
mod batching;
mod bounds;
mod copy;
mod idle;
mod limited;
mod monotone;
mod once;
mod pace;
mod sanity;
mod timers;

use cc_algos::declare::Declaration;

pub use batching::Batching;
pub use bounds::Bounds;
pub use copy::Copy;
pub use idle::Idle;
pub use limited::Limited;
pub use monotone::Monotone;
pub use once::OncePerWindow;
pub use pace::Pace;
pub use sanity::Sanity;
pub use timers::Timers;

use crate::script::Network;

/// What an invariant has to know of the history that it watches.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// What the controller says of itself.
    pub declaration: &'a Declaration,
    /// The network.
    pub network: &'a Network,
}
