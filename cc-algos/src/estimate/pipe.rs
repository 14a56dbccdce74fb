//! Base RTT and bandwidth-delay product of a path, for laws that are scaled by them.
//!
//! ```text
//! base RTT   the oracle's, or the smallest RTT seen
//! rate       the oracle's, or the local link's, or the largest delivery rate seen
//! BDP        rate x base RTT
//! ```
//!
//! Published simulators hand these to their senders. Here only [`Setup::oracle`] does; otherwise they are estimates: the
//! smallest RTT is too large until the queue has been empty once, and the local link's rate is too large where the path is
//! slower than it.

use crate::controller::{Feedback, Flight, Setup};
use crate::units::{Rate, Span};

/// Where the rate comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Knowledge {
    /// Rate and base RTT were given.
    Oracle,
    /// The host knows the rate of its link.
    LocalLink,
    /// Nothing is known in advance.
    Measured,
}

/// Base RTT and bandwidth-delay product of a path.
#[derive(Clone, Debug)]
pub struct Pipe {
    knowledge: Knowledge,
    base_rtt: Option<Span>,
    rate: Option<Rate>,
    /// Kept, since the product takes a division of 128 bits.
    bdp: Option<f64>,
}

impl Pipe {
    /// The path of a flow that begins.
    pub fn new(setup: &Setup) -> Self {
        let handed = setup.handover.unwrap_or_default();
        let (knowledge, base_rtt, rate) = match (setup.oracle, setup.local_line_rate) {
            (Some(oracle), _) => (Knowledge::Oracle, Some(oracle.base_rtt), Some(oracle.bottleneck)),
            (None, Some(rate)) => (Knowledge::LocalLink, handed.min_rtt, Some(rate)),
            (None, None) => (Knowledge::Measured, handed.min_rtt, handed.bandwidth),
        };
        let mut new = Self { knowledge, base_rtt, rate, bdp: None };
        new.multiply();
        new
    }

    /// Takes what a batch of feedback tells. True if the product is another one now.
    pub fn observe(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) -> bool {
        if self.knowledge == Knowledge::Oracle {
            return false;
        }
        let base_rtt = flight.min_rtt.or(self.base_rtt);
        let delivered = match (self.knowledge, feedback.delivery) {
            (Knowledge::Measured, Some(sample)) => Some(sample.rate),
            _ => None,
        };
        let rate = self.rate.max(delivered);
        if (base_rtt, rate) == (self.base_rtt, self.rate) {
            return false;
        }
        (self.base_rtt, self.rate) = (base_rtt, rate);
        self.multiply();
        true
    }

    /// The path is another one now: what was measured is void.
    pub fn forget(&mut self) {
        if self.knowledge != Knowledge::Oracle {
            self.base_rtt = None;
        }
        if self.knowledge == Knowledge::Measured {
            self.rate = None;
        }
        self.multiply();
    }

    /// RTT of a packet over empty queues; `None` before the first sample.
    pub const fn base_rtt(&self) -> Option<Span> {
        self.base_rtt
    }

    /// Rate of the path as far as known.
    pub const fn rate(&self) -> Option<Rate> {
        self.rate
    }

    /// Bandwidth-delay product, bytes, at least one; `None` before the first sample.
    pub const fn bdp(&self) -> Option<f64> {
        self.bdp
    }

    /// Whether a window may start with the product at once: base RTT and rate were given, not guessed.
    pub fn is_given(&self) -> bool {
        self.knowledge == Knowledge::Oracle
    }

    /// Whether the rate is at least the path's: it is the oracle's or the local link's, and no measurement.
    pub fn is_upper_bound(&self) -> bool {
        self.knowledge != Knowledge::Measured
    }

    /// Time that a newest RTT sample spent in queues, nanoseconds; `None` without a sample.
    pub fn queueing(&self, feedback: &Feedback<'_>) -> Option<f64> {
        let sample = feedback.rtt?;
        let rtt = sample.latest.saturating_sub(sample.ack_delay);
        Some(rtt.saturating_sub(self.base_rtt?).as_nanos() as f64)
    }

    fn multiply(&mut self) {
        self.bdp = self.rate.zip(self.base_rtt).map(|(rate, rtt)| rate.bytes_in(rtt).max(1) as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::{Cause, DeliverySample, Oracle, SendState};
    use crate::testing::setup;
    use crate::units::Timestamp;

    const RTT: Span = Span::from_micros(100);

    fn observe(pipe: &mut Pipe, rtt: Span, rate: Rate) {
        let mut feedback = Feedback::new(Timestamp::ZERO, Cause::Ack);
        feedback.delivery = Some(DeliverySample::new(rate, 1, 0, rtt, SendState::default()));
        let mut flight = Flight::idle(1_000);
        flight.min_rtt = Some(rtt);
        pipe.observe(&feedback, &flight);
    }

    #[test]
    fn an_oracle_overrides_what_is_measured() {
        let mut told = setup();
        told.oracle = Some(Oracle { base_rtt: RTT, bottleneck: Rate::from_gbps(10) });
        let mut pipe = Pipe::new(&told);
        observe(&mut pipe, Span::from_micros(1), Rate::from_gbps(400));
        // 10 Gb/s x 100 us = 125 kB.
        assert_eq!((pipe.base_rtt(), pipe.bdp(), pipe.is_given()), (Some(RTT), Some(125_000.0), true));
    }

    #[test]
    fn without_an_oracle_the_local_link_counts_and_else_the_delivery_rate() {
        let mut local = setup();
        local.local_line_rate = Some(Rate::from_gbps(10));
        for (setup, bdp) in [(local, 125_000.0), (setup(), 12_500.0)] {
            let mut pipe = Pipe::new(&setup);
            assert_eq!(pipe.bdp(), None, "no RTT is known");
            observe(&mut pipe, RTT, Rate::from_gbps(1));
            observe(&mut pipe, RTT, Rate::from_mbps(1));
            assert_eq!(pipe.bdp(), Some(bdp));
            pipe.forget();
            assert_eq!(pipe.bdp(), None);
        }
    }
}
