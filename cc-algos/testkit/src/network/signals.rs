//! Signals that the engine does not carry yet, CSIG tags and in-band telemetry, and lies about those that it does.
//!
//! The link leaves a record of each packet here; feedback is dressed with those of the packets it acknowledges.

use cc_algos::controller::Feedback;
use cc_algos::ids::Entropy;
use cc_algos::signal::{CsigSample, CsigValue, IntHop};
use cc_algos::units::{Rate, Span, Timestamp};

use super::PATH;
use crate::script::{Csig, Honesty};

/// Packets whose records are kept.
const KEPT: usize = 256;

/// The link's identity in telemetry.
const PORT: u32 = 7;

/// What the link saw of one packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Telemetry {
    pub(crate) packet_number: u64,
    pub(crate) sent_at: Timestamp,
    pub(crate) left_at: Timestamp,
    pub(crate) queue_bytes: u64,
    pub(crate) sent_bytes: u64,
    pub(crate) rate: Rate,
}

/// What feedback is dressed with.
#[derive(Debug)]
pub(crate) struct Decor {
    pub(crate) csig: Csig,
    pub(crate) int: Honesty,
    pub(crate) fabric: Honesty,
    records: Vec<Telemetry>,
    tags: Vec<CsigSample>,
    hops: Vec<IntHop>,
    /// Feedbacks dressed, for what changes from one to the next.
    turn: u64,
}

/// As the engine tells it: no tags, no telemetry, and honest delays.
impl Default for Decor {
    fn default() -> Self {
        Self {
            csig: Csig::Absent,
            int: Honesty::Absent,
            fabric: Honesty::Honest,
            records: Vec::new(),
            tags: Vec::new(),
            hops: Vec::new(),
            turn: 0,
        }
    }
}

impl Decor {
    fn is_plain(&self) -> bool {
        self.csig == Csig::Absent && self.int == Honesty::Absent
    }

    /// The link saw a packet.
    pub(crate) fn note(&mut self, record: Telemetry) {
        if self.is_plain() {
            return;
        }
        match self.records.get_mut(record.packet_number as usize % KEPT) {
            Some(place) => *place = record,
            None => {
                let missing = record.packet_number as usize % KEPT + 1;
                self.records.resize(missing, record);
            }
        }
    }

    fn find(&self, packet_number: u64) -> Option<Telemetry> {
        self.records.get(packet_number as usize % KEPT).copied().filter(|record| record.packet_number == packet_number)
    }

    /// The feedback with all that signals have to say about it.
    pub(crate) fn dress<'a>(&'a mut self, feedback: &Feedback<'a>) -> Feedback<'a> {
        self.tags.clear();
        self.hops.clear();
        self.turn += 1;
        let mut dressed = *feedback;
        (dressed.fabric_delay, dressed.hops) = self.time_stamps(feedback);
        if self.is_plain() {
            return dressed;
        }
        let newest = feedback.acked.last().and_then(|packet| self.find(packet.packet_number));
        let Some(record) = newest else { return dressed };
        let age = feedback.now.saturating_since(record.sent_at);
        if let Some(value) = self.csig_value(&record) {
            self.tags.push(CsigSample::new(value, PORT as u16, PATH, Entropy(0), age));
        }
        self.hops.extend(self.int_hop(&record));
        dressed.csig = &self.tags;
        dressed.int = &self.hops;
        dressed
    }

    fn csig_value(&self, record: &Telemetry) -> Option<CsigValue> {
        let waiting = record.rate.time_for(record.queue_bytes).unwrap_or(Span::MAX);
        let free = if record.queue_bytes == 0 { record.rate } else { Rate::ZERO };
        let honest = |kind| match kind {
            0 => CsigValue::AvailableBandwidth(free),
            1 => CsigValue::AvailableRatioPpm(if record.queue_bytes == 0 { 500_000 } else { 0 }),
            2 => CsigValue::HopDelay(waiting),
            _ => CsigValue::QueueDepth(waiting),
        };
        let forged = [
            CsigValue::AvailableBandwidth(Rate::MAX),
            CsigValue::AvailableRatioPpm(u32::MAX),
            CsigValue::HopDelay(Span::MAX),
            CsigValue::QueueDepth(Span::MAX),
            CsigValue::AvailableBandwidth(Rate::ZERO),
            CsigValue::HopDelay(Span::ZERO),
        ];
        match self.csig {
            Csig::Absent => None,
            Csig::Bandwidth => Some(honest(0)),
            Csig::Ratio => Some(honest(1)),
            Csig::HopDelay => Some(honest(2)),
            Csig::QueueDepth => Some(honest(3)),
            Csig::Changing => Some(honest(self.turn % 4)),
            Csig::Forged => Some(forged[self.turn as usize % forged.len()]),
        }
    }

    fn int_hop(&self, record: &Telemetry) -> Option<IntHop> {
        let honest = IntHop {
            port: PORT,
            at: record.left_at,
            tx_bytes: record.sent_bytes,
            queue_bytes: record.queue_bytes,
            rate: record.rate,
        };
        let endless = Timestamp::from_nanos(u64::MAX);
        match (self.int, self.turn % 4) {
            (Honesty::Absent, _) => None,
            (Honesty::Honest, _) => Some(honest),
            (Honesty::Forged, 0) => Some(IntHop { at: endless, tx_bytes: u64::MAX, queue_bytes: u64::MAX, ..honest }),
            (Honesty::Forged, 1) => {
                Some(IntHop { at: Timestamp::ZERO, tx_bytes: 0, queue_bytes: 0, rate: Rate::ZERO, port: 0 })
            }
            (Honesty::Forged, 2) => Some(IntHop { rate: Rate::MAX, port: u32::MAX, ..honest }),
            (Honesty::Forged, _) => Some(IntHop { tx_bytes: 0, ..honest }),
        }
    }

    /// What hosts' clocks make of the delay that the engine reckoned, and of the switches that it counted.
    fn time_stamps(&self, feedback: &Feedback<'_>) -> (Option<Span>, Option<u8>) {
        match (self.fabric, self.turn % 3) {
            (Honesty::Honest, _) => (feedback.fabric_delay, feedback.hops),
            (Honesty::Absent, _) => (None, None),
            (Honesty::Forged, 0) => (Some(Span::ZERO), Some(0)),
            (Honesty::Forged, 1) => (Some(Span::MAX), Some(u8::MAX)),
            (Honesty::Forged, _) => (None, Some(1)),
        }
    }
}
