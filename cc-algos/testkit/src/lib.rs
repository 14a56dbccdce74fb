//! Property tests for any congestion controller: generated histories that can really happen, invariants that every
//! controller keeps, and counter-examples that shrink to a few readable moves and replay.
//!
//! ```
//! # use cc_algos::algo::{NewReno as MyController, NewRenoParams};
//! testkit::controller_suite!(my_controller, |setup| MyController::new(NewRenoParams::default(), setup).unwrap());
//! # fn main() {}
//! ```
//!
//! makes a module of tests, one for each [`Property`]. The histories come from a small deterministic [`network`] that
//! drives the engine which ships, `transport::flow`: there is no second sender that could differ from it.
//!
//! * [`script`]: a history as one line of text;
//! * [`network`]: the world that plays it;
//! * [`invariant`]: what must hold at each call;
//! * [`property`]: the properties, and how to check one on one script;
//! * [`recorder`]: the calls of a controller in any world, kept to be replayed;
//! * [`regressions`]: scripts that broke a property once, to be played first;
//! * [`closed_loop`]: promises, on the simulator's networks;
//! * `parameters`: whether each parameter of an algorithm makes a difference;
//! * `strategy` and `suite`: histories at random and the tests; these three stand behind the feature `proptest`, which is on by default.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod closed_loop;
pub mod failure;
pub mod invariant;
pub mod network;
pub mod observe;
#[cfg(feature = "proptest")]
pub mod parameters;
pub mod property;
pub mod recorder;
pub mod regressions;
pub mod script;
#[cfg(feature = "proptest")]
mod shrink;
#[cfg(feature = "proptest")]
pub mod strategy;
pub mod subject;
#[cfg(feature = "proptest")]
pub mod suite;
mod tap;
mod trial;

#[doc(hidden)]
pub use cc_algos;
pub use failure::Failure;
pub use property::Property;
pub use recorder::{Recorder, Recording};
pub use script::{Move, Network, Script};
pub use subject::Subject;
#[cfg(feature = "proptest")]
pub use suite::replay;
