//! One congestion response a round trip (RFC 9002, section 7.3.2), and the proof that one was spurious.
//!
//! A reduction at time t covers every packet sent before it: their losses and marks tell of the same congestion, and their
//! acknowledgements let nothing grow. The first loss or mark of a packet sent later is new, even if that packet was sent
//! while the recovery still ran.
//!
//! RFC 9002 compares send times. Where time is coarse or simulated, packets leave in the very nanosecond of the reduction
//! that made room for them; these are told apart by their number.
//!
//! A reduction proves spurious once every packet that was declared lost since it began has been acknowledged after all,
//! unless a mark or a loss restored by coding confirmed the congestion.

use crate::controller::{Cause, Feedback, Flight, PacketRecord};
use crate::signal::Ecn;
use crate::units::Timestamp;

/// What brought a reduction about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// A loss, also one that coding restored (RFC 9265, section 4: hiding it would hide congestion).
    Loss,
    /// A CE mark.
    Mark,
}

/// What a batch of feedback asks a window to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Reduce: congestion in a round trip that has not answered for any yet.
    Reduce(Congestion),
    /// The last reduction may be undone: all its losses were spurious. A law that does so calls [`Recovery::forget`]; for
    /// others the recovery goes on, or the next loss of the same window would reduce it once more.
    Undo,
}

/// A point in the order of sending.
#[derive(Clone, Copy, Debug)]
struct Point {
    at: Timestamp,
    next_packet: u64,
}

impl Point {
    const fn now(feedback: &Feedback<'_>, flight: &Flight<'_>) -> Self {
        Self { at: feedback.now, next_packet: flight.next_packet_number }
    }

    fn is_after(&self, packet: &PacketRecord) -> bool {
        (packet.sent_at, packet.packet_number) < (self.at, self.next_packet)
    }
}

/// The last congestion response of a path.
#[derive(Clone, Debug, Default)]
pub struct Recovery {
    began: Option<Point>,
    /// Packets sent before that let nothing grow.
    no_growth_until: Option<Point>,
    running: bool,
    suspects: Option<Suspects>,
}

/// Packets that were declared lost since the last reduction began and may prove not to be.
#[derive(Clone, Copy, Debug)]
struct Suspects {
    packets: u64,
    /// Smallest number among them: what was sent in the same instant may have been lost before.
    oldest: u64,
}

impl Recovery {
    /// Whether a packet was sent before the last reduction.
    pub fn covers(&self, packet: &PacketRecord) -> bool {
        self.began.is_some_and(|began| began.is_after(packet))
    }

    /// Whether no packet sent since the last reduction has been acknowledged yet.
    pub const fn is_running(&self) -> bool {
        self.running
    }

    /// Judges a batch. On [`Verdict::Reduce`] a new recovery has begun.
    pub fn judge(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) -> Option<Verdict> {
        let quiet = feedback.lost.is_empty()
            && feedback.newly_marked.is_zero()
            && feedback.spurious.is_empty()
            && feedback.recovered.is_zero();
        let verdict = if quiet { None } else { self.judge_congestion(feedback, flight) };
        if self.running && feedback.acked.last().is_some_and(|newest| !self.covers(newest)) {
            self.running = false;
        }
        verdict
    }

    fn judge_congestion(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) -> Option<Verdict> {
        let congestion = self.new_congestion(feedback);
        if congestion.is_some() {
            self.began = Some(Point::now(feedback, flight));
            self.no_growth_until = self.began;
            self.running = true;
            self.suspects = Some(Suspects { packets: 0, oldest: u64::MAX });
        }
        let confirmed = !feedback.newly_marked.is_zero() || !feedback.recovered.is_zero();
        if confirmed {
            self.suspects = None;
        }
        let Some(suspects) = self.suspects.as_mut() else { return congestion.map(Verdict::Reduce) };
        for packet in feedback.lost {
            suspects.packets += 1;
            suspects.oldest = suspects.oldest.min(packet.packet_number);
        }
        let cleared = feedback.spurious.iter().filter(|packet| packet.packet_number >= suspects.oldest).count() as u64;
        suspects.packets = suspects.packets.saturating_sub(cleared);
        if let Some(congestion) = congestion {
            return Some(Verdict::Reduce(congestion));
        }
        if cleared > 0 && suspects.packets == 0 {
            self.suspects = None;
            return Some(Verdict::Undo);
        }
        None
    }

    fn new_congestion(&self, feedback: &Feedback<'_>) -> Option<Congestion> {
        let is_new = |packet: &&PacketRecord| !self.covers(packet);
        if feedback.lost.last().filter(is_new).or(feedback.recovered_packets.last().filter(is_new)).is_some() {
            return Some(Congestion::Loss);
        }
        newest_marked(feedback).filter(is_new).map(|_| Congestion::Mark)
    }

    /// Whether the window may grow on a packet: the last reduction does not cover it.
    pub fn lets_grow(&self, packet: &PacketRecord) -> bool {
        !self.no_growth_until.is_some_and(|until| until.is_after(packet))
    }

    /// Bytes of a batch on which the window may grow: those of packets that the last reduction does not cover.
    pub fn acked_outside(&self, feedback: &Feedback<'_>) -> u64 {
        let acked = feedback.newly_acked.bytes;
        let Some(until) = self.no_growth_until else { return acked };
        match feedback.acked.first() {
            Some(first) if until.is_after(first) => {
                let covered = feedback.acked.iter().take_while(|packet| until.is_after(packet));
                acked.saturating_sub(covered.map(|packet| u64::from(packet.bytes)).sum())
            }
            _ => acked,
        }
    }

    /// The law reduced for a reason of its own, such as delay: what was sent before belongs to that reduction.
    pub const fn begin(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let now = Some(Point::now(feedback, flight));
        *self = Self { began: now, no_growth_until: now, running: true, suspects: None };
    }

    /// Persistent congestion collapsed the window: it may grow at once (RFC 9002, section 7.6.2). What was sent
    /// before and is declared lost later belongs to that congestion.
    pub const fn on_collapse(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        *self =
            Self { began: Some(Point::now(feedback, flight)), no_growth_until: None, running: false, suspects: None };
    }

    /// No reduction covers anything any more, as on a new path, or after one that was undone.
    pub fn forget(&mut self) {
        *self = Self::default();
    }
}

/// Whether a batch is what TCP calls a retransmission time-out: persistent congestion (RFC 9002, section 7.6), or a timer
/// that declared packets lost. A probe time-out declares nothing lost and is none.
pub fn is_retransmission_timeout(feedback: &Feedback<'_>) -> bool {
    feedback.persistent_congestion.is_some()
        || (matches!(feedback.cause, Cause::Timeout { .. }) && !feedback.newly_lost.is_zero())
}

/// The recovery after a retransmission time-out: it ends once as much has been delivered as was missing, which is when TCP
/// has repaired what it took for lost.
#[derive(Clone, Copy, Debug, Default)]
pub struct TimeoutRecovery {
    until: Option<u64>,
}

impl TimeoutRecovery {
    /// A time-out: the recovery lasts until as much has been delivered as was in flight.
    pub fn begin(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let missing = feedback.prior_in_flight.max(feedback.newly_lost.bytes);
        self.until = Some(flight.delivered.saturating_add(missing));
    }

    /// Whether it lasts.
    pub const fn is_running(&self) -> bool {
        self.until.is_some()
    }

    /// `delivered` bytes have been delivered in all.
    pub fn on_delivered(&mut self, delivered: u64) {
        self.until = self.until.filter(|until| delivered < *until);
    }
}

/// The newest packet that a batch reports as marked: by its own codepoint where the receiver echoes that per packet, else
/// the newest acknowledged (RFC 9002, appendix B.7).
fn newest_marked<'a>(feedback: &Feedback<'a>) -> Option<&'a PacketRecord> {
    if feedback.newly_marked.is_zero() {
        return None;
    }
    feedback.acked.iter().rfind(|packet| packet.arrived_as == Some(Ecn::Ce)).or(feedback.acked.last())
}
