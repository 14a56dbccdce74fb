//! What tests of balancers have in common.

use cc_algos::ids::{Entropy, PathId};
use cc_algos::units::Timestamp;

use super::{Balancer, Fate, PathView, Verdict};

/// A path at so many nanoseconds, on which nothing was sent.
pub(super) fn view(now: u64) -> PathView {
    PathView::idle(PathId(0), Timestamp::from_nanos(now))
}

/// What became of packet 0.
pub(super) fn fate(entropy: Entropy, verdict: Verdict) -> Fate {
    Fate { path: PathId(0), entropy, packet_number: 0, sent_at: Timestamp::ZERO, verdict }
}

/// The entropies of so many packets from number 0 on, all at time zero.
pub(super) fn entropies(balancer: &mut dyn Balancer, packets: usize) -> Vec<u32> {
    let next = |number| PathView { next_packet_number: number, ..view(0) };
    (0..packets as u64).map(|number| balancer.next_entropy(&next(number)).0).collect()
}
