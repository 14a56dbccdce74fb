//! RFC 9002, section 6.1: a packet is lost if a later one was acknowledged, and it was sent three packets or 9/8 RTT ago.

use cc_algos::units::Timestamp;

use super::View;
use crate::flow::ledger::{Entry, Ledger};

/// Packet and time threshold.
#[derive(Clone, Debug)]
pub(crate) struct Rfc9002 {
    packet_threshold: u32,
    time_threshold_eighths: u32,
    loss_at: Option<Timestamp>,
}

impl Rfc9002 {
    pub(crate) const fn new(packet_threshold: u32, time_threshold_eighths: u32) -> Self {
        // A threshold of zero would lose a packet that nothing overtook.
        let packet_threshold = if packet_threshold == 0 { 1 } else { packet_threshold };
        Self { packet_threshold, time_threshold_eighths, loss_at: None }
    }

    pub(crate) const fn deadline(&self) -> Option<Timestamp> {
        self.loss_at
    }

    pub(crate) fn detect<C: Copy>(
        &mut self,
        view: &View<'_>,
        ledger: &mut Ledger<C>,
        mut lost: impl FnMut(u64, &Entry<C>),
    ) {
        lose_overtaken(ledger, self.packet_threshold, &mut lost);
        self.loss_at = None;
        while let Some(oldest) = ledger.oldest() {
            if !view.overtook(&oldest) {
                return;
            }
            let same_lane = view.rtt.loss_delay(u64::from(self.time_threshold_eighths), 8);
            let due = oldest.sent_at + view.patience(&oldest, same_lane);
            if due > view.now {
                self.loss_at = Some(due);
                return;
            }
            ledger.lose(oldest.packet_number, &mut lost);
        }
    }
}

/// Loses every packet that `threshold` later packets of its lane have overtaken.
pub(super) fn lose_overtaken<C: Copy>(ledger: &mut Ledger<C>, threshold: u32, mut lost: impl FnMut(u64, &Entry<C>)) {
    while let Some(lane) = ledger.take_advanced_lane() {
        while let Some(number) = ledger.overtaken(lane, threshold) {
            ledger.lose(number, &mut lost);
        }
    }
}
