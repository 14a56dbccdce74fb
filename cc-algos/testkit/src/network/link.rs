//! The link: a rate, a drop-tail queue, and what is to befall the next packets.

use std::collections::VecDeque;

use cc_algos::signal::Ecn;
use cc_algos::units::{Rate, Span, Timestamp};

use crate::script::Network;

/// What is to befall the next packets, in numbers of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Fates {
    pub(super) lose: u32,
    pub(super) mark: u32,
    pub(super) late: u32,
    pub(super) overtaken_by: u32,
    pub(super) duplicate: u32,
    pub(super) trim: u32,
    pub(super) lose_acks: u32,
    pub(super) forge_marks: u64,
    pub(super) bleach: bool,
    /// Everything is dropped.
    pub(super) blackout: bool,
    /// So many of a hundred thousand are dropped, by luck.
    pub(super) lose_per_100_000: u32,
    pub(super) luck: u64,
}

impl Fates {
    /// Whether bad luck drops this packet. A linear congruential generator (Knuth's MMIX constants) is luck enough for single
    /// drops, and the same each time.
    pub(super) const fn is_unlucky(&mut self) -> bool {
        self.luck = self.luck.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.luck >> 33) % 100_000) < self.lose_per_100_000 as u64
    }
}

/// Takes one from a count; false if there is none.
pub(super) const fn take_one(count: &mut u32) -> bool {
    let some = *count > 0;
    *count = count.saturating_sub(1);
    some
}

/// What the link did with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passage {
    /// It did not fit into the buffer.
    Dropped,
    /// It leaves the link.
    Through {
        /// When its last bit does.
        at: Timestamp,
        /// The codepoint it bears then.
        ecn: Ecn,
        /// Bytes that were queued before it.
        queue_bytes: u64,
    },
}

/// Rates from which on a packet takes no time.
const INSTANT: Rate = Rate::from_gbps(1_000_000);

/// A rate with a queue before it.
#[derive(Clone, Debug)]
pub(super) struct Link {
    rate: Rate,
    /// When each queued packet will have left, with its size.
    departures: VecDeque<(Timestamp, u64)>,
    queue_bytes: u64,
    sent_bytes: u64,
    busy_until: Timestamp,
}

impl Link {
    pub(super) fn new(rate: Rate, now: Timestamp) -> Self {
        Self { rate, departures: VecDeque::new(), queue_bytes: 0, sent_bytes: 0, busy_until: now }
    }

    pub(super) const fn rate(&self) -> Rate {
        self.rate
    }

    /// Another rate, for packets that come from now on.
    pub(super) const fn set_rate(&mut self, rate: Rate) {
        self.rate = rate;
    }

    /// How long a packet takes. From a petabit per second on it takes no time: what a coarse clock makes of any fast link.
    pub(super) fn time_for(&self, bytes: u64) -> Span {
        if self.rate >= INSTANT { Span::ZERO } else { self.rate.time_for(bytes).unwrap_or(Span::MAX) }
    }

    /// Bytes sent so far.
    pub(super) const fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    /// A packet of `bytes` comes with `ecn`.
    pub(super) fn offer(&mut self, now: Timestamp, bytes: u64, ecn: Ecn, network: &Network) -> Passage {
        while let Some((_, left)) = self.departures.front().copied().filter(|(at, _)| *at <= now) {
            self.departures.pop_front();
            self.queue_bytes -= left;
            self.sent_bytes = self.sent_bytes.saturating_add(left);
        }
        let queued = self.departures.len();
        // One is on the link, the others wait.
        if queued > network.buffer as usize {
            return Passage::Dropped;
        }
        let marks = network.mark_above.is_some_and(|above| queued > above as usize) && ecn.is_capable();
        let queue_bytes = self.queue_bytes;
        let at = self.busy_until.max(now) + self.time_for(bytes);
        self.busy_until = at;
        self.departures.push_back((at, bytes));
        self.queue_bytes += bytes;
        Passage::Through { at, ecn: if marks { Ecn::Ce } else { ecn }, queue_bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buffer_holds_so_many_and_the_rest_is_dropped_or_marked() {
        // 1 000 B at 8 Mb/s take a millisecond. One packet is on the link, two wait.
        let network = Network { buffer: 2, mark_above: Some(1), ..Network::default() };
        let mut link = Link::new(Rate::from_mbps(8), Timestamp::ZERO);
        let mut offer = |millis| link.offer(Timestamp::ZERO + Span::from_millis(millis), 1_000, Ecn::Ect0, &network);
        let through = |millis, ecn, queue_bytes| Passage::Through {
            at: Timestamp::ZERO + Span::from_millis(millis),
            ecn,
            queue_bytes,
        };
        assert_eq!(offer(0), through(1, Ecn::Ect0, 0));
        assert_eq!(offer(0), through(2, Ecn::Ect0, 1_000));
        assert_eq!(offer(0), through(3, Ecn::Ce, 2_000));
        assert_eq!(offer(0), Passage::Dropped);
        assert_eq!(offer(1), through(4, Ecn::Ce, 2_000));
        assert_eq!(offer(10), through(11, Ecn::Ect0, 0));
    }
}
