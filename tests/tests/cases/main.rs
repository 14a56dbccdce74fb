//! Situations that broke other transports and simulators, end to end: each test says in its name what must happen
//! instead.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test")]

mod application_limited;
mod datacentre;
mod distinct;
mod ideal;
mod idle;
mod impaired;
mod instants;
mod pacing;
mod recovery;
mod rounds;

use cc_algos::Span;
use cwndtunnel_tests::{FAST, at, sample_at};
use sim::Outcome;
use sim::spec::LinkSpec;

/// A path too fast to queue with so long a round trip.
fn path(rtt: Span) -> LinkSpec {
    LinkSpec::fixed(FAST, rtt.mul_div(1, 2))
}

/// Window of the first flow at a time, bytes.
fn window_at(outcome: &Outcome, time: Span) -> u64 {
    sample_at(outcome, at(time)).flows[0].window
}
