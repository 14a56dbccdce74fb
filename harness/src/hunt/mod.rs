//! The adversary: a seeded evolutionary search for a network on which an algorithm does badly.
//!
//! Two ideas meet here. CCAC (Arun et al., SIGCOMM'21) and "Starvation in End-to-End Congestion Control" (SIGCOMM'22) say what
//! a network may plausibly do: serve at its rate, and delay packets by up to a bound D without reordering. CC-Fuzz (Ray and
//! Seshan, HotNets'22) says how to look for the worst of it: evolve traces of link and cross traffic against the algorithm.
//!
//! * [`Genome`]: a network as plain integers, within [`Bounds`];
//! * [`Breeder`]: new networks from chance, and from others;
//! * [`Goal`]: what is bad, as a score;
//! * [`Trial`]: what a network does to the algorithm and to a baseline;
//! * [`Search`]: islands of networks that evolve, the same for a seed whatever the number of threads;
//! * [`minimise`]: the smallest network that still shows it;
//! * [`Finding`]: that network as a scenario, with figures and a plot;
//! * [`Store`]: the folder that a hunt is taken up again from.

mod bounds;
mod breed;
mod finding;
mod genome;
mod goal;
mod minimise;
mod network;
mod plot;
mod search;
mod store;
mod trial;

pub use bounds::{Bounds, BoundsError, Dimension};
pub use breed::Breeder;
pub use finding::{Finding, Robustness};
pub use genome::{Burst, Genome, Jitter, JitterPoint, OwnPath, RatePoint, SecondFlow};
pub use goal::{Goal, Measured, Score};
pub use minimise::{Minimised, minimise};
pub use network::MAX_CROSS_SHARE_PPM;
pub use plot::to_svg;
pub use search::{Member, Search, SearchState};
pub use store::{HuntStoreError, Settings, Store};
pub use trial::{Evaluation, HuntError, Trial};

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
