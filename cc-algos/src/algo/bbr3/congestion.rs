//! Losses and marks: section "Updating the Model Upon Packet Loss", and undoing what spurious ones did.
//!
//! A CE mark and a loss that coding restored count as losses here, though the engine's totals do not hold them. The law
//! keeps a total of its own, and each packet brings back in its tag what that was when it left.

use super::super::recovery::TimeoutRecovery;
use super::super::sample::AckSample;
use super::state::State;
use super::{Ack, Bbr3};
use crate::controller::{Feedback, Flight, PacketRecord, PacketTag, SendState};
use crate::estimate::FullPipe;
use crate::signal::Ecn;
use crate::units::{Rate, Timestamp, round_to_u64};

/// A round trip as losses delimit it, and the best that was delivered in it.
#[derive(Clone, Debug, Default)]
pub(super) struct LossRound {
    /// Bytes delivered when it ends.
    end: u64,
    pub(super) has_loss: bool,
    bw_latest: Rate,
    inflight_latest: u64,
    /// Bytes marked, or restored by coding, so far.
    signalled: u64,
    /// Stretches of packet numbers lost in it.
    ranges: u64,
    last_lost: Option<u64>,
}

impl LossRound {
    /// What a packet that leaves now has to bring back.
    pub(super) const fn tag(&self) -> PacketTag {
        PacketTag([self.signalled, 0])
    }

    /// Bytes lost, or as good as lost, between the send and the acknowledgement of the newest packet.
    pub(super) const fn lost_of(&self, ack: &Ack<'_>) -> u64 {
        self.lost_since(&ack.sample.at_send, ack.sample.tag, ack.flight.lost)
    }

    const fn lost_since(&self, at_send: &SendState, tag: PacketTag, lost: u64) -> u64 {
        lost.saturating_sub(at_send.lost).saturating_add(self.signalled.saturating_sub(tag.0[0]))
    }

    pub(super) const fn ranges(&self) -> u64 {
        self.ranges
    }

    pub(super) const fn forget_ranges(&mut self) {
        self.ranges = 0;
    }

    pub(super) const fn inflight_latest(&self) -> u64 {
        self.inflight_latest
    }

    /// The draft's `NoteLoss`, apart from saving the state.
    const fn note(&mut self, delivered: u64) {
        if !self.has_loss {
            self.end = delivered;
        }
        self.has_loss = true;
    }

    fn count_range(&mut self, packet: &PacketRecord) {
        let continues = self.last_lost.is_some_and(|last| last.checked_add(1) == Some(packet.packet_number));
        self.ranges += u64::from(!continues);
        self.last_lost = Some(packet.packet_number);
    }

    /// The draft's `ResetCongestionSignals`.
    pub(super) const fn reset(&mut self) {
        self.has_loss = false;
        self.bw_latest = Rate::ZERO;
        self.inflight_latest = 0;
    }

    /// The draft's `AdvanceLatestDeliverySignals`, at the end of a round.
    pub(super) fn advance(&mut self, sample: &AckSample) {
        self.bw_latest = sample.rate.unwrap_or_default();
        self.inflight_latest = sample.delivered;
    }
}

/// What spurious losses must not have changed.
#[derive(Clone, Debug, Default)]
pub(super) struct Undo {
    /// The state that losses ended.
    pub(super) state: Option<State>,
    bw_shortterm: Option<Rate>,
    inflight_shortterm: Option<u64>,
    inflight_longterm: Option<u64>,
}

/// The looser of two bounds.
fn looser<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    one.zip(other).map(|(one, other)| one.max(other))
}

impl Bbr3 {
    /// The draft's `InLossRecovery`.
    pub(super) const fn in_recovery(&self) -> bool {
        self.recovery.is_running() || self.timeout.is_running()
    }

    /// A recovery begins, while another runs or not: the draft's `SaveStateUponLoss`.
    pub(super) fn save_state(&mut self, was_recovering: bool) {
        self.save_window(was_recovering);
        self.undo = Undo {
            state: None,
            bw_shortterm: self.model.bw_shortterm,
            inflight_shortterm: self.model.inflight_shortterm,
            inflight_longterm: self.model.inflight_longterm,
        };
    }

    /// Answers the losses and marks of a batch, packet by packet.
    pub(super) fn on_congestion(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let (lost, recovered) = (feedback.lost, feedback.recovered_packets);
        if lost.is_empty() && recovered.is_empty() && feedback.newly_marked.is_zero() {
            return;
        }
        let mut lost_bytes = flight.lost.saturating_sub(feedback.newly_lost.bytes);
        for packet in lost {
            lost_bytes = lost_bytes.saturating_add(u64::from(packet.bytes));
            self.loss_round.count_range(packet);
            self.on_lost_packet(packet, u64::from(packet.bytes), (feedback.now, flight, lost_bytes));
        }
        for packet in recovered {
            self.loss_round.count_range(packet);
            self.on_signalled(packet, u64::from(packet.bytes), feedback.now, flight);
        }
        self.on_marks(feedback, flight);
    }

    /// Marked packets one by one where the receiver echoes each, else all together, as if the newest bore them.
    fn on_marks(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let mut unknown = feedback.newly_marked.bytes;
        for packet in feedback.acked.iter().filter(|packet| packet.arrived_as == Some(Ecn::Ce)) {
            let bytes = u64::from(packet.bytes).min(unknown);
            unknown -= bytes;
            self.loss_round.ranges += 1;
            self.on_signalled(packet, bytes, feedback.now, flight);
        }
        if let Some(newest) = feedback.acked.last().filter(|_| unknown > 0) {
            self.loss_round.ranges += 1;
            self.on_signalled(newest, unknown, feedback.now, flight);
        }
    }

    fn on_signalled(&mut self, packet: &PacketRecord, bytes: u64, now: Timestamp, flight: &Flight<'_>) {
        self.loss_round.signalled = self.loss_round.signalled.saturating_add(bytes);
        self.on_lost_packet(packet, bytes, (now, flight, flight.lost));
    }

    /// The draft's `HandleLostPacket`; `lost` counts up to this packet.
    fn on_lost_packet(
        &mut self,
        packet: &PacketRecord,
        bytes: u64,
        (now, flight, lost): (Timestamp, &Flight<'_>, u64),
    ) {
        self.loss_round.note(flight.delivered);
        if !self.probe.judges_losses {
            return;
        }
        let in_flight = packet.at_send.in_flight;
        let lost = self.loss_round.lost_since(&packet.at_send, packet.tag, lost);
        if !self.is_inflight_too_high(lost, in_flight) {
            return;
        }
        self.probe.on_too_high();
        if !self.own_limit.is_limited(&packet.at_send) {
            let kept = self.gains.beta.of_bytes(self.target_inflight());
            self.model.inflight_longterm = Some(self.inflight_at_loss(in_flight, lost, bytes).max(kept));
        }
        if self.state == State::Up {
            self.undo.state = Some(State::Up);
            self.start_down(now, flight);
        }
    }

    /// The draft's `IsInflightTooHigh`.
    pub(super) fn is_inflight_too_high(&self, lost: u64, in_flight: u64) -> bool {
        lost > 0 && lost as f64 > in_flight as f64 * self.params.loss_threshold
    }

    /// The draft's `InflightAtLoss`: what was in flight with the prefix of a packet of `bytes` at which losses crossed the
    /// threshold. Losses before it may have crossed it already; then nothing of the packet fitted.
    pub(super) fn inflight_at_loss(&self, in_flight: u64, lost: u64, bytes: u64) -> u64 {
        let before = in_flight.saturating_sub(bytes);
        let lost_before = lost.saturating_sub(bytes);
        let threshold = self.params.loss_threshold;
        let room = threshold * before as f64 - lost_before as f64;
        before.saturating_add(round_to_u64(room / (1.0 - threshold)))
    }

    /// The draft's `UpdateLatestDeliverySignals`. True if a round trip ends, as losses delimit them.
    pub(super) fn update_latest_delivery(&mut self, sample: &AckSample, flight: &Flight<'_>) -> bool {
        let round = &mut self.loss_round;
        round.bw_latest = round.bw_latest.max(sample.rate.unwrap_or_default());
        round.inflight_latest = round.inflight_latest.max(sample.delivered);
        let ends = sample.at_send.delivered >= round.end;
        if ends {
            round.end = flight.delivered;
        }
        ends
    }

    /// The draft's `AdaptLowerBoundsFromCongestion`, at the end of a round.
    pub(super) fn adapt_lower_bounds(&mut self) {
        let has_loss = core::mem::take(&mut self.loss_round.has_loss);
        let Some(max_bw) = self.model.max_bw().filter(|_| has_loss && !self.state.accelerates()) else { return };
        let (model, beta) = (&mut self.model, self.gains.beta);
        let (bw, inflight) = (model.bw_shortterm.unwrap_or(max_bw), model.inflight_shortterm.unwrap_or(self.window));
        model.bw_shortterm = Some(self.loss_round.bw_latest.max(beta.of_rate(bw)));
        model.inflight_shortterm = Some(self.loss_round.inflight_latest.max(beta.of_bytes(inflight)));
    }

    /// The draft's `HandleSpuriousLossDetection`.
    pub(super) fn undo_spurious(&mut self, flight: &Flight<'_>) {
        self.timeout = TimeoutRecovery::default();
        self.restore_window();
        self.loss_round.has_loss = false;
        self.full_pipe = FullPipe::default();
        let (model, undo) = (&mut self.model, core::mem::take(&mut self.undo));
        model.bw_shortterm = looser(model.bw_shortterm, undo.bw_shortterm);
        model.inflight_shortterm = looser(model.inflight_shortterm, undo.inflight_shortterm);
        model.inflight_longterm = looser(model.inflight_longterm, undo.inflight_longterm);
        match undo.state {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_bw_reached = false;
                if self.state != State::ProbeRtt {
                    self.enter_startup();
                }
            }
            Some(State::Up) if self.state != State::Up && self.state != State::ProbeRtt => self.start_refill(flight),
            _ => {}
        }
    }

    /// The draft's `OnEnterRTO`, once the rest of the batch was taken in: one packet may leave.
    pub(super) fn on_retransmission_timeout(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.timeout.begin(feedback, flight);
        self.window = self.window.min(flight.bytes.saturating_add(self.mtu));
    }
}
