//! Persistent congestion (RFC 9002, section 7.6): everything sent over a long time got lost.

use core::ops::Range;

use cc_algos::controller::PacketRecord;
use cc_algos::units::{Span, Timestamp};

/// Losses in a row, with nothing acknowledged in between.
#[derive(Clone, Copy, Debug)]
struct Run {
    first_sent_at: Timestamp,
    newest: u64,
}

/// The current run of losses. It outlives a batch, since a long outage is revealed piece by piece.
#[derive(Clone, Debug, Default)]
pub(crate) struct PersistentCongestion {
    run: Option<Run>,
}

impl PersistentCongestion {
    /// Packets were `lost`, in order of packet number; `acked` tells whether something in a range was acknowledged. Only
    /// packets sent since the first RTT sample, at `measured_since`, count (section 7.6.2). Returns the time over which
    /// everything was lost if it is longer than `duration`; the next run then starts from nothing.
    pub(crate) fn on_lost(
        &mut self,
        lost: &[PacketRecord],
        measured_since: Timestamp,
        duration: Span,
        acked: impl Fn(Range<u64>) -> bool,
    ) -> Option<Span> {
        let mut longest = Span::ZERO;
        for packet in lost.iter().filter(|packet| packet.sent_at >= measured_since) {
            let number = packet.packet_number;
            match &mut self.run {
                Some(run) if number <= run.newest => {}
                Some(run) if !acked(run.newest + 1..number) => run.newest = number,
                run => *run = Some(Run { first_sent_at: packet.sent_at, newest: number }),
            }
            if let Some(run) = self.run {
                longest = longest.max(packet.sent_at.saturating_since(run.first_sent_at));
            }
        }
        if longest <= duration {
            return None;
        }
        self.run = None;
        Some(longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(packets: &[(u64, u64)]) -> Vec<PacketRecord> {
        let at = |millis| Timestamp::ZERO + Span::from_millis(millis);
        packets.iter().map(|&(number, millis)| PacketRecord::new(number, 1_200, at(millis))).collect()
    }

    const SIX_SECONDS: Span = Span::from_secs(6);

    #[test]
    fn a_run_spans_batches_and_is_reported_once() {
        let mut congestion = PersistentCongestion::default();
        let report = |congestion: &mut PersistentCongestion, packets: &[(u64, u64)]| {
            congestion.on_lost(&lost(packets), Timestamp::ZERO, SIX_SECONDS, |_| false)
        };
        assert_eq!(report(&mut congestion, &[(2, 1_000), (3, 2_000)]), None);
        assert_eq!(report(&mut congestion, &[(4, 6_000), (5, 8_000)]), Some(Span::from_secs(7)));
        assert_eq!(report(&mut congestion, &[(6, 8_500)]), None);
    }

    #[test]
    fn an_acknowledged_packet_in_between_ends_the_run() {
        let mut congestion = PersistentCongestion::default();
        let packets = lost(&[(2, 1_000), (3, 2_000), (5, 8_000)]);
        let acked = |range: Range<u64>| range.contains(&4);
        assert_eq!(congestion.on_lost(&packets, Timestamp::ZERO, SIX_SECONDS, acked), None);
    }

    #[test]
    fn packets_sent_before_the_first_rtt_sample_do_not_count() {
        let mut congestion = PersistentCongestion::default();
        let packets = lost(&[(0, 0), (1, 3_000), (2, 8_000)]);
        let since = Timestamp::ZERO + Span::from_secs(2);
        assert_eq!(congestion.on_lost(&packets, since, SIX_SECONDS, |_| false), None, "5 s remain");
    }

    #[test]
    fn exactly_the_duration_is_not_longer_than_it() {
        let mut congestion = PersistentCongestion::default();
        let packets = lost(&[(0, 0), (1, 6_000)]);
        assert_eq!(congestion.on_lost(&packets, Timestamp::ZERO, SIX_SECONDS, |_| false), None);
    }
}
