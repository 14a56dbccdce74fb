//! A retransmission timer for each packet, as simulators of the htsim family have it: no thresholds, no probes.

use cc_algos::estimate::rtt::RttEstimator;
use cc_algos::units::{Span, Timestamp};

use super::View;
use crate::flow::ledger::{Entry, Ledger};

/// How long a packet's timer runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rto {
    /// Always the same time.
    Fixed(Span),
    /// Smoothed RTT and four times its variation, doubled with each timeout in a row (RFC 6298, sections 2 and 5.5).
    Estimated {
        /// Lower bound; RFC 6298 says a second, datacentres far less.
        min: Span,
    },
}

/// The timer. Packets leave in the order of their numbers, so the oldest one's deadline is the next.
#[derive(Clone, Debug)]
pub(crate) struct PerPacketRto {
    rto: Rto,
    expired: u32,
}

impl PerPacketRto {
    pub(crate) const fn new(rto: Rto) -> Self {
        Self { rto, expired: 0 }
    }

    fn duration(&self, rtt: &RttEstimator) -> Span {
        match self.rto {
            Rto::Fixed(span) => span,
            Rto::Estimated { min } => {
                let plain = (rtt.smoothed() + rtt.variation().saturating_mul(4)).max(min);
                plain.saturating_mul(1_u64.checked_shl(self.expired).unwrap_or(u64::MAX))
            }
        }
    }

    pub(crate) fn deadline<C: Copy>(&self, ledger: &Ledger<C>, rtt: &RttEstimator) -> Option<Timestamp> {
        ledger.oldest().map(|oldest| oldest.sent_at + self.duration(rtt))
    }

    pub(crate) fn on_deadline(&mut self) -> u32 {
        self.expired = self.expired.saturating_add(1);
        self.expired
    }

    pub(crate) fn on_acked(&mut self) {
        self.expired = 0;
    }

    pub(crate) fn detect<C: Copy>(
        &mut self,
        view: &View<'_>,
        ledger: &mut Ledger<C>,
        mut lost: impl FnMut(u64, &Entry<C>),
    ) {
        while ledger.take_advanced_lane().is_some() {}
        while let Some(oldest) = ledger.oldest() {
            if oldest.sent_at + self.duration(view.rtt) > view.now {
                return;
            }
            ledger.lose(oldest.packet_number, &mut lost);
        }
    }
}
