//! The same feedback with something taken out of it: what a law would have done had it not been told.

use cc_algos::controller::{Controller, Feedback, Flight, Limit, PacketRecord, Tally};
use cc_algos::signal::{Ecn, EcnCounts};

use crate::observe::{Call, Outputs};

/// Whether a batch tells of losses or marks.
pub(super) fn tells_of_congestion(feedback: &Feedback<'_>) -> bool {
    !feedback.newly_lost.is_zero() || !feedback.newly_marked.is_zero() || !feedback.recovered.is_zero()
}

/// Outputs of a copy that is told the same batch without its losses and marks. All else, the sender included, is as it was:
/// only what speaks of congestion is gone.
pub(super) fn without_congestion(controller: &dyn Controller, feedback: &Feedback<'_>, flight: &Flight<'_>) -> Outputs {
    let unmarked: Vec<PacketRecord> = feedback.acked.iter().map(unmark).collect();
    let mut calm = *feedback;
    calm.acked = &unmarked;
    calm.lost = &[];
    calm.recovered_packets = &[];
    (calm.newly_lost, calm.newly_marked, calm.recovered) = (Tally::ZERO, Tally::ZERO, Tally::ZERO);
    calm.persistent_congestion = None;
    calm.ecn = feedback.ecn.map(|counts| EcnCounts { ect0: counts.ect0.saturating_add(counts.ce), ce: 0, ..counts });
    if let Some(sample) = &mut calm.delivery {
        sample.lost = sample.lost.saturating_sub(feedback.newly_lost.bytes);
    }
    let mut before = *flight;
    before.lost = flight.lost.saturating_sub(feedback.newly_lost.bytes);
    told(controller, &calm, &before)
}

fn unmark(packet: &PacketRecord) -> PacketRecord {
    let mut packet = *packet;
    if packet.arrived_as == Some(Ecn::Ce) {
        packet.arrived_as = Some(Ecn::Ect0);
    }
    packet
}

/// Outputs of a copy that is told of the newest of several losses alone.
pub(super) fn with_one_loss(controller: &dyn Controller, feedback: &Feedback<'_>, flight: &Flight<'_>) -> Outputs {
    let mut single = *feedback;
    single.lost = &feedback.lost[feedback.lost.len().saturating_sub(1)..];
    single.newly_lost = Tally::ZERO;
    single.lost.iter().for_each(|packet| single.newly_lost.add(u64::from(packet.bytes)));
    told(controller, &single, flight)
}

/// Outputs of a copy that is told the same batch of a sender which its window limits.
pub(super) fn without_limit(controller: &dyn Controller, feedback: &Feedback<'_>, flight: &Flight<'_>) -> Outputs {
    let unlimited = |packet: &PacketRecord| {
        let mut packet = *packet;
        packet.at_send.limit = Limit::Window;
        packet
    };
    let acked: Vec<PacketRecord> = feedback.acked.iter().map(unlimited).collect();
    let mut free = *feedback;
    free.acked = &acked;
    if let Some(sample) = &mut free.delivery {
        sample.at_send.limit = Limit::Window;
    }
    let mut open = *flight;
    open.limit = Limit::Window;
    told(controller, &free, &open)
}

/// Outputs of a copy that is told the same batch without what arrived although it was declared lost.
pub(super) fn without_spurious(controller: &dyn Controller, feedback: &Feedback<'_>, flight: &Flight<'_>) -> Outputs {
    let mut plain = *feedback;
    plain.spurious = &[];
    told(controller, &plain, flight)
}

fn told(controller: &dyn Controller, feedback: &Feedback<'_>, flight: &Flight<'_>) -> Outputs {
    let mut copy = controller.clone_box();
    Call::Feedback(feedback, flight).apply(&mut *copy);
    Outputs::of(&*copy)
}
