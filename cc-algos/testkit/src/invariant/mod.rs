//! What must hold at each call, one small type each.

mod bounds;
mod sanity;

use cc_algos::declare::Declaration;

pub use bounds::Bounds;
pub use sanity::Sanity;

use crate::script::Network;

/// What an invariant has to know of the history that it watches.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// What the controller says of itself.
    pub declaration: &'a Declaration,
    /// The network.
    pub network: &'a Network,
}
