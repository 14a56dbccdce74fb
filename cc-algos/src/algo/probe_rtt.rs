//! ProbeRTT: holding little in flight for a while, to measure the RTT without a queue of one's own. What `bbr` and `bbr3`
//! share (draft-ietf-ccwg-bbr, section "ProbeRTT Logic"; Linux `tcp_bbr.c`, `bbr_update_min_rtt`).

use crate::controller::{Flight, SendState};
use crate::units::{Span, Timestamp};

/// A span after which the RTT is measured anew, and no less than so many round trips (ours). The sources give seconds alone.
/// On paths whose round trips are as long as that, they would probe without pause, and take the queue of the round before for
/// the path's own delay before a probe could show what it is.
pub fn patience(span: Span, round_trips: u64, flight: &Flight<'_>) -> Span {
    span.max(flight.smoothed_rtt.map_or(Span::ZERO, |rtt| rtt.saturating_mul(round_trips)))
}

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
/// The engine marks what the application did. A law cannot tell it of its own doing, so it keeps this beside. The stretch ends
/// with the packets in flight, be they delivered or lost (ours): the sources wait until as much has been delivered, which takes
/// for ever where most is lost.
#[derive(Clone, Copy, Debug, Default)]
pub struct OwnLimit {
    /// Bytes delivered or lost when it began, and when it ends.
    stretch: Option<(u64, u64)>,
}

impl OwnLimit {
    /// The sender is kept short now.
    pub fn mark(&mut self, flight: &Flight<'_>) {
        let settled = flight.delivered.saturating_add(flight.lost);
        let from = self.stretch.filter(|(_, until)| settled <= *until).map_or(settled, |(from, _)| from);
        self.stretch = Some((from, settled.saturating_add(flight.bytes)));
    }

    /// Whether a packet says nothing of the network, because application, receiver or the law kept the sender short when it
    /// left.
    pub fn is_limited(&self, at_send: &SendState) -> bool {
        let settled = at_send.delivered.saturating_add(at_send.lost);
        !at_send.limit.allows_growth() || self.stretch.is_some_and(|(from, until)| (from..=until).contains(&settled))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::Limit;
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
    fn seconds_count_until_round_trips_are_longer() {
        let mut flight = Flight::idle(1_000);
        let patience_at = |rtt, flight: &mut Flight<'_>| {
            flight.smoothed_rtt = rtt;
            patience(Span::from_secs(10), 10, flight)
        };
        assert_eq!(patience_at(None, &mut flight), Span::from_secs(10));
        assert_eq!(patience_at(Some(Span::from_millis(999)), &mut flight), Span::from_secs(10));
        assert_eq!(patience_at(Some(Span::from_secs(4)), &mut flight), Span::from_secs(40));
        assert_eq!(patience_at(Some(Span::MAX), &mut flight), Span::MAX);
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
        let after_losses = SendState { lost: 4_001, ..sent_at(12_000) };
        assert!(!own.is_limited(&after_losses), "what was in flight is lost");
        flight.delivered = 50_000;
        own.mark(&flight);
        assert!(!own.is_limited(&sent_at(16_000)), "a new stretch");
        for (limit, limited) in [(Limit::Application, true), (Limit::Receiver, true), (Limit::Pacing, false)] {
            assert_eq!(own.is_limited(&SendState { limit, ..SendState::default() }), limited, "{limit:?}");
        }
    }
}
