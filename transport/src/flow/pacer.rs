//! Spacing of packets: a token bucket in exact integers.
//!
//! Credit is counted in bit-nanoseconds per second, so that `rate x elapsed` is a product of integers and nothing is
//! rounded: the long-run rate is exact from 10 kb/s to 800 Gb/s, however often the pacer is asked. Only the time to wait
//! is rounded, up to the next nanosecond, and what accrues meanwhile is kept.

use cc_algos::units::{Rate, Span, Timestamp};

/// Credit of one byte: bits per byte times nanoseconds per second.
const BYTE: u64 = 8 * 1_000_000_000;

/// Largest burst that the arithmetic holds, 1 GiB.
const MAX_BURST_BYTES: u64 = 1 << 30;

/// Time that a burst may amount to, so that timers of that grain can keep up (ours; quinn and Linux's `sk_pacing_shift`
/// allow 1 to 2 ms).
const BURST_TIME: Span = Span::from_millis(1);

/// A token bucket. Bursts are bounded by the controller's quantum, or else by what the rate sends in 1 ms, but at least
/// two packets (an acknowledgement covers two) and at most ten (RFC 9002, section 7.7: the initial window).
#[derive(Clone, Debug)]
pub(crate) struct Pacer {
    /// Credit; negative after packets that had to leave regardless.
    credit: i64,
    rate: Rate,
    burst_bytes: u64,
    updated_at: Timestamp,
}

impl Pacer {
    /// A full bucket: the first burst may leave at once.
    pub(crate) fn new(now: Timestamp, rate: Rate, quantum: Option<u64>, mtu: u64) -> Self {
        let burst_bytes = burst(rate, quantum, mtu);
        Self { credit: cost(burst_bytes), rate, burst_bytes, updated_at: now }
    }

    /// A new rate and burst from `now` on; what accrued until then did so at the old one.
    #[inline]
    pub(crate) fn set_rate(&mut self, now: Timestamp, rate: Rate, quantum: Option<u64>, mtu: u64) {
        self.refill(now);
        self.rate = rate;
        self.burst_bytes = burst(rate, quantum, mtu);
        self.credit = self.credit.min(self.capacity());
    }

    /// When a packet of `bytes` may leave: `Ok` for now, else the time, or `None` if the rate is zero.
    #[inline]
    pub(crate) fn check(&mut self, now: Timestamp, bytes: u64) -> Result<(), Option<Timestamp>> {
        self.refill(now);
        let needed = cost(bytes.min(self.burst_bytes));
        if self.credit >= needed {
            return Ok(());
        }
        let missing = needed.abs_diff(self.credit);
        match missing.checked_add(self.rate.as_bps().saturating_sub(1)) {
            _ if self.rate == Rate::ZERO => Err(None),
            Some(rounded) => Err(Some(now + Span::from_nanos(rounded / self.rate.as_bps()))),
            None => Err(Some(now + Span::from_nanos(missing / self.rate.as_bps()))),
        }
    }

    /// A packet of `bytes` leaves, whether or not it was let.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Timestamp, bytes: u64) {
        self.refill(now);
        self.credit = self.credit.saturating_sub(cost(bytes));
    }

    /// Bytes that may leave back to back.
    pub(crate) const fn burst_bytes(&self) -> u64 {
        self.burst_bytes
    }

    pub(crate) const fn rate(&self) -> Rate {
        self.rate
    }

    fn capacity(&self) -> i64 {
        cost(self.burst_bytes)
    }

    #[inline]
    fn refill(&mut self, now: Timestamp) {
        let elapsed = now.saturating_since(self.updated_at);
        self.updated_at = self.updated_at.max(now);
        let accrued = self.rate.as_bps().saturating_mul(elapsed.as_nanos());
        self.credit = self.credit.saturating_add_unsigned(accrued).min(self.capacity());
    }
}

#[inline]
fn burst(rate: Rate, quantum: Option<u64>, mtu: u64) -> u64 {
    let mtu = mtu.clamp(1, MAX_BURST_BYTES / 10);
    quantum.unwrap_or_else(|| rate.bytes_in(BURST_TIME).clamp(2 * mtu, 10 * mtu)).clamp(mtu, MAX_BURST_BYTES)
}

#[inline]
fn cost(bytes: u64) -> i64 {
    i64::try_from(bytes.saturating_mul(BYTE)).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MTU: u64 = 1_500;

    fn at(nanos: u64) -> Timestamp {
        Timestamp::from_nanos(nanos)
    }

    /// Sends as early as the pacer allows; returns when the last of `packets` left.
    fn saturate(pacer: &mut Pacer, packets: u64) -> Timestamp {
        let mut now = Timestamp::ZERO;
        let mut sent = 0;
        while sent < packets {
            match pacer.check(now, MTU) {
                Ok(()) => {
                    pacer.on_sent(now, MTU);
                    sent += 1;
                }
                Err(until) => now = until.unwrap(),
            }
        }
        now
    }

    #[test]
    fn the_long_run_rate_is_exact_from_10_kbps_to_800_gbps() {
        let rates = [
            Rate::from_kbps(10),
            Rate::from_bps(1_234_567),
            Rate::from_mbps(100),
            Rate::from_gbps(7),
            Rate::from_gbps(400),
            Rate::from_gbps(800),
        ];
        for rate in rates {
            let mut pacer = Pacer::new(Timestamp::ZERO, rate, None, MTU);
            // The first burst takes no time, the rest exactly as long as the rate says.
            let exact = rate.time_for(10_000 * MTU - pacer.burst_bytes()).unwrap().as_nanos();
            let end = saturate(&mut pacer, 10_000);
            // Both round up to whole nanoseconds once; waiting times do not add up their rounding.
            assert_eq!(end.as_nanos(), exact, "{rate}");
        }
    }

    #[test]
    fn asking_often_does_not_change_the_rate() {
        let mut pacer = Pacer::new(Timestamp::ZERO, Rate::from_bps(999_999_937), None, MTU);
        let mut sent = 0;
        for nanos in 0..2_000_000 {
            while pacer.check(at(nanos), MTU).is_ok() {
                pacer.on_sent(at(nanos), MTU);
                sent += MTU;
            }
        }
        // 0.999999937 Gb/s for 2 ms = 249 999.98 B, on top of a first burst of ten packets.
        assert_eq!(sent, 10 * MTU + 249_999 / MTU * MTU);
    }

    #[test]
    fn a_burst_after_idleness_is_bounded() {
        // (rate, packets back to back): 1 ms of 10 Mb/s is 1 250 B, less than two packets; of 100 Mb/s 12 500 B; of 1 Gb/s
        // 125 000 B, more than ten packets.
        let cases = [(10, 2), (100, 8), (1_000, 10)];
        for (mbps, packets) in cases {
            let mut pacer = Pacer::new(Timestamp::ZERO, Rate::from_mbps(mbps), None, MTU);
            let now = at(60_000_000_000);
            let mut burst = 0;
            while pacer.check(now, MTU).is_ok() {
                pacer.on_sent(now, MTU);
                burst += 1;
            }
            assert_eq!(burst, packets, "{mbps} Mb/s");
        }
    }

    #[test]
    fn the_controllers_quantum_replaces_the_default_burst() {
        let mut pacer = Pacer::new(Timestamp::ZERO, Rate::from_gbps(1), Some(3 * MTU), MTU);
        let burst = (0..100).take_while(|_| {
            let open = pacer.check(at(0), MTU).is_ok();
            pacer.on_sent(at(0), MTU);
            open
        });
        assert_eq!(burst.count(), 3);
    }

    #[test]
    fn a_packet_larger_than_the_burst_is_paced_and_not_stuck() {
        let mut pacer = Pacer::new(Timestamp::ZERO, Rate::from_mbps(8), Some(1_000), 1_000);
        assert_eq!(pacer.check(at(0), 5_000), Ok(()));
        pacer.on_sent(at(0), 5_000);
        // 4 000 B of debt and 1 000 B for the next packet, at 1 B/us.
        assert_eq!(pacer.check(at(0), 1_000), Err(Some(at(5_000_000))));
    }

    #[test]
    fn packets_that_had_to_leave_are_paid_back() {
        let mut pacer = Pacer::new(Timestamp::ZERO, Rate::from_mbps(8), Some(MTU), MTU);
        for _ in 0..4 {
            pacer.on_sent(at(0), MTU);
        }
        assert_eq!(pacer.check(at(0), MTU), Err(Some(at(4 * 1_500_000))));
    }

    #[test]
    fn rate_zero_and_the_end_of_time_neither_divide_nor_wrap() {
        let mut pacer = Pacer::new(Timestamp::ZERO, Rate::ZERO, Some(MTU), MTU);
        pacer.on_sent(at(0), MTU);
        assert_eq!(pacer.check(at(u64::MAX), MTU), Err(None));
        pacer.set_rate(at(u64::MAX), Rate::MAX, Some(u64::MAX), MTU);
        assert!(pacer.check(at(u64::MAX), u64::MAX).is_err(), "credit starts to accrue now");
        pacer.on_sent(at(u64::MAX), u64::MAX);
        assert!(matches!(pacer.check(at(u64::MAX), MTU), Err(Some(_))));
    }

    #[test]
    fn a_timestamp_of_the_past_gives_no_credit_twice() {
        let mut pacer = Pacer::new(Timestamp::ZERO, Rate::from_mbps(12), Some(MTU), MTU);
        pacer.on_sent(at(0), MTU);
        assert!(pacer.check(at(1_000_000), MTU).is_ok());
        pacer.on_sent(at(1_000_000), MTU);
        assert!(pacer.check(at(0), MTU).is_err());
        assert!(pacer.check(at(1_000_000), MTU).is_err(), "the millisecond was used up");
    }
}
