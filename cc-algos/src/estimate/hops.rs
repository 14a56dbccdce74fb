//! In-band telemetry from one acknowledgement to the next: what HPCC and PowerTCP compute of each hop (HPCC, SIGCOMM'19,
//! section 4.1; PowerTCP, NSDI'22, section 3.3).
//!
//! A hop is compared with the same port's former report only. A changed list of ports is another route: its first report
//! is kept and measures nothing. A clock or a counter that runs backwards, a clock that stands still and a port without a
//! rate measure nothing either.

use crate::signal::IntHop;
use crate::units::{Rate, Span, Timestamp};

/// Hops that are looked at; further ones are ignored. A fat-tree's longest path has six with the host's own port.
pub const MAX_HOPS: usize = 8;

const NOTHING: IntHop = IntHop { port: 0, at: Timestamp::ZERO, tx_bytes: 0, queue_bytes: 0, rate: Rate::ZERO };

/// One hop between two reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HopChange {
    /// The port's rate, bytes per second.
    pub rate: f64,
    /// Time between the reports, by the hop's clock; not zero.
    pub elapsed: Span,
    /// Bytes per second that the port sent in between.
    pub tx_rate: f64,
    /// Bytes queued in the newer report.
    pub queue: u64,
    /// Bytes queued in the former report.
    pub former_queue: u64,
}

/// The last report of each hop.
#[derive(Clone, Debug)]
pub struct HopMeter {
    hops: [IntHop; MAX_HOPS],
    count: usize,
}

impl Default for HopMeter {
    fn default() -> Self {
        Self { hops: [NOTHING; MAX_HOPS], count: 0 }
    }
}

impl HopMeter {
    /// Compares `reports`, in path order, with the former ones, gives `each` every hop that can be compared, and keeps them
    /// for the next time. True if there was any.
    pub fn measure(&mut self, reports: &[IntHop], mut each: impl FnMut(&HopChange)) -> bool {
        let reports = &reports[..reports.len().min(MAX_HOPS)];
        let former = &mut self.hops[..reports.len()];
        let same_route = self.count == reports.len()
            && former.iter().zip(reports).all(|(former, report)| former.port == report.port);
        if !same_route {
            former.copy_from_slice(reports);
            self.count = reports.len();
            return false;
        }
        let mut any = false;
        for (former, report) in former.iter_mut().zip(reports) {
            if let Some(change) = change(former, report) {
                each(&change);
                any = true;
            }
            // Two reports of one instant count from the older: what was sent in between is not lost.
            if report.at != former.at {
                *former = *report;
            }
        }
        any
    }

    /// What was reported is void: it is from another path, or too old to be compared with.
    pub const fn forget(&mut self) {
        self.count = 0;
    }

    /// Rate of the slowest port on the path, bytes per second, if any report gave one.
    pub fn slowest(&self) -> Option<f64> {
        let rates = self.hops[..self.count].iter().map(|hop| hop.rate).filter(|rate| *rate > Rate::ZERO);
        rates.min().map(bytes_per_second)
    }
}

fn bytes_per_second(rate: Rate) -> f64 {
    rate.as_bps() as f64 / 8.0
}

fn change(former: &IntHop, report: &IntHop) -> Option<HopChange> {
    let elapsed = report.at.checked_since(former.at).filter(|elapsed| !elapsed.is_zero())?;
    let sent = report.tx_bytes.checked_sub(former.tx_bytes)?;
    if report.rate == Rate::ZERO {
        return None;
    }
    Some(HopChange {
        rate: bytes_per_second(report.rate),
        elapsed,
        tx_rate: sent as f64 * 1e9 / elapsed.as_nanos() as f64,
        queue: report.queue_bytes,
        former_queue: former.queue_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(port: u32, micros: u64, tx_bytes: u64, queue_bytes: u64) -> IntHop {
        let at = Timestamp::ZERO + Span::from_micros(micros);
        IntHop { port, at, tx_bytes, queue_bytes, rate: Rate::from_gbps(8) }
    }

    fn measured(meter: &mut HopMeter, reports: &[IntHop]) -> Vec<HopChange> {
        let mut changes = Vec::new();
        assert_eq!(meter.measure(reports, |change| changes.push(*change)), !changes.is_empty());
        changes
    }

    #[test]
    fn each_hop_is_compared_with_its_own_former_report() {
        let mut meter = HopMeter::default();
        assert_eq!(meter.slowest(), None);
        assert!(measured(&mut meter, &[report(1, 10, 1_000, 5), report(2, 11, 0, 0)]).is_empty());
        let changes = measured(&mut meter, &[report(1, 12, 3_000, 7), report(2, 21, 5_000, 9)]);
        // 2 000 B in 2 us and 5 000 B in 10 us; 8 Gb/s are 1e9 B/s.
        let expected = |micros, tx_rate, queue, former_queue| HopChange {
            rate: 1e9,
            elapsed: Span::from_micros(micros),
            tx_rate,
            queue,
            former_queue,
        };
        assert_eq!(changes, [expected(2, 1e9, 7, 5), expected(10, 5e8, 9, 0)]);
        assert_eq!(meter.slowest(), Some(1e9));
    }

    #[test]
    fn another_route_measures_nothing_at_first() {
        let mut meter = HopMeter::default();
        measured(&mut meter, &[report(1, 10, 1_000, 0), report(2, 10, 1_000, 0)]);
        assert!(measured(&mut meter, &[report(1, 11, 2_000, 0), report(3, 11, 2_000, 0)]).is_empty());
        assert!(measured(&mut meter, &[report(1, 12, 3_000, 0)]).is_empty(), "fewer hops");
        assert_eq!(measured(&mut meter, &[report(1, 13, 4_000, 0)]).len(), 1);
        meter.forget();
        assert!(measured(&mut meter, &[report(1, 14, 5_000, 0)]).is_empty());
    }

    #[test]
    fn what_cannot_be_compared_measures_nothing() {
        let former = report(1, 10, 1_000, 0);
        let absurd = [
            report(1, 9, 2_000, 0),
            report(1, 10, 2_000, 0),
            report(1, 11, 999, 0),
            IntHop { rate: Rate::ZERO, ..report(1, 11, 2_000, 0) },
        ];
        for next in absurd {
            let mut meter = HopMeter::default();
            measured(&mut meter, &[former]);
            assert!(measured(&mut meter, &[next]).is_empty(), "{next:?}");
        }
    }

    #[test]
    fn reports_of_one_instant_count_from_the_older() {
        let mut meter = HopMeter::default();
        measured(&mut meter, &[report(1, 10, 1_000, 0)]);
        measured(&mut meter, &[report(1, 10, 2_000, 0)]);
        let changes = measured(&mut meter, &[report(1, 11, 3_000, 0)]);
        assert!((changes[0].tx_rate - 2e9).abs() < 1.0, "{changes:?}");
    }

    #[test]
    fn hops_beyond_the_most_are_ignored() {
        let mut meter = HopMeter::default();
        let at = |micros| -> Vec<_> { (0..20).map(|port| report(port, micros, micros, 0)).collect() };
        measured(&mut meter, &at(1));
        assert_eq!(measured(&mut meter, &at(2)).len(), MAX_HOPS);
        assert!(measured(&mut meter, &[]).is_empty());
    }
}
