//! Reno-like laws: a packet a round trip, half on congestion.

mod bookkeeping;
mod growth;

use super::{Core, Stranger, rest_from_core, wide_area};

pub(super) fn all() -> Vec<Stranger> {
    [growth::all(), bookkeeping::all()].into_iter().flatten().collect()
}
