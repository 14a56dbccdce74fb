//! ProbeRTT: holding little in flight for a while, to measure the RTT without a queue of one's own. What `bbr` and `bbr3`
//! share (draft-ietf-ccwg-bbr, section "ProbeRTT Logic"; Linux `tcp_bbr.c`, `bbr_update_min_rtt`).

use crate::controller::{Flight, Limit, SendState};
use crate::units::{Span, Timestamp};

/// How far a dip has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dip {
    /// More is in flight than should be.
    #[default]
    Draining,
    /// Little enough is in flight, and has to be until a time and for a round trip.
    Holding {
        /// The time.
        until: Timestamp,
    },
    /// The round trip is over.
    Held {
        /// The time.
        until: Timestamp,
    },
}

/// What an acknowledgement means for a dip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DipStep {
    /// Nothing new.
    Goes,
    /// Little enough is in flight: a round trip begins.
    Began,
    /// It lasted long enough.
    Over,
}

impl Dip {
    /// Little enough is in flight at `now`, for the first time: hold it for `duration`.
    pub fn begin(&mut self, now: Timestamp, duration: Span) -> DipStep {
        *self = Self::Holding { until: now + duration };
        DipStep::Began
    }

    /// An acknowledgement came that may have started a round.
    pub fn on_ack(&mut self, now: Timestamp, starts_round: bool) -> DipStep {
        if let Self::Holding { until } = *self
            && starts_round
        {
            *self = Self::Held { until };
        }
        match self {
            Self::Held { .. } if self.is_past(now) => DipStep::Over,
            _ => DipStep::Goes,
        }
    }

    /// Whether the time is over, be it that no round trip is, as after silence.
    pub fn is_past(&self, now: Timestamp) -> bool {
        match *self {
            Self::Draining => false,
            Self::Holding { until } | Self::Held { until } => now > until,
        }
    }
}

/// A stretch of the flow in which the law itself kept the sender short of packets, as ProbeRTT does: rates measured on
/// packets sent meanwhile say nothing of the network (the draft's `MarkConnectionAppLimited`).
///
/// The engine marks what the application did. A law cannot tell it of its own doing, so it keeps this beside.
#[derive(Clone, Copy, Debug, Default)]
pub struct OwnLimit {
    stretch: Option<(u64, u64)>,
}

impl OwnLimit {
    /// The sender is kept short now.
    pub fn mark(&mut self, flight: &Flight<'_>) {
        let from =
            self.stretch.filter(|(_, until)| flight.delivered <= *until).map_or(flight.delivered, |(from, _)| from);
        self.stretch = Some((from, flight.delivered.saturating_add(flight.bytes)));
    }

    /// Whether a packet says nothing of the network, because the application or the law kept the sender short when it left.
    pub fn is_limited(&self, at_send: &SendState) -> bool {
        at_send.limit == Limit::Application
            || self.stretch.is_some_and(|(from, until)| (from..=until).contains(&at_send.delivered))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at;

    #[test]
    fn a_dip_lasts_for_its_time_and_a_round_trip_whichever_is_longer() {
        let duration = Span::from_millis(200);
        let mut dip = Dip::default();
        assert_eq!(dip.on_ack(at(1_000), true), DipStep::Goes, "still draining");
        assert_eq!(dip.begin(at(1_010), duration), DipStep::Began);
        assert_eq!(dip.on_ack(at(1_300), false), DipStep::Goes, "no round trip yet");
        assert_eq!(dip.on_ack(at(1_300), true), DipStep::Over);
        let mut dip = Dip::default();
        dip.begin(at(1_010), duration);
        assert_eq!(dip.on_ack(at(1_050), true), DipStep::Goes, "40 ms");
        assert_eq!(dip.on_ack(at(1_210), false), DipStep::Goes, "not longer than 200 ms");
        assert_eq!(dip.on_ack(at(1_211), false), DipStep::Over);
    }

    #[test]
    fn packets_of_a_stretch_with_few_in_flight_say_nothing_of_the_network() {
        let sent_at = |delivered| SendState { delivered, ..SendState::default() };
        let mut flight = Flight::idle(1_000);
        let mut own = OwnLimit::default();
        assert!(!own.is_limited(&sent_at(0)));
        (flight.delivered, flight.bytes) = (10_000, 4_000);
        own.mark(&flight);
        (flight.delivered, flight.bytes) = (12_000, 4_000);
        own.mark(&flight);
        for (delivered, limited) in [(9_999, false), (10_000, true), (16_000, true), (16_001, false)] {
            assert_eq!(own.is_limited(&sent_at(delivered)), limited, "{delivered}");
        }
        flight.delivered = 50_000;
        own.mark(&flight);
        assert!(!own.is_limited(&sent_at(16_000)), "a new stretch");
        assert!(own.is_limited(&SendState { limit: Limit::Application, ..SendState::default() }));
    }
}
