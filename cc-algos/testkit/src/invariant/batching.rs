//! One acknowledgement of many packets means the same as many of one.

use cc_algos::controller::{Cause, Controller, Feedback, Flight, Tally};
use cc_algos::declare::{Family, Law, Need};

use super::Context;
use super::absence::tells_of_congestion;
use crate::observe::{Call, Invariant, Step, Violation};

/// Packets by which the two may differ, whatever they grew by: what rounds, and what one round trip decides.
const SLACK_PACKETS: u64 = 3;

/// A copy that is told of the packets of each acknowledgement one by one grows as the controller does that is told of them
/// together: within four tenths of the growth, three packets, and what two batches are, but no more than three tenths for these;
/// as long as nothing but acknowledgements happens. What a batch measured is one sample. Whether the packets before the newest
/// are judged by it or by what was known before is the law's own choice, and with a delay that turns the window's direction it
/// matters: there are two copies, one for either, and one of them has to agree. Laws that need in-band telemetry follow that,
/// packet by packet; models take what a batch measured, and not its packets ([`Law::Model`]).
#[derive(Debug)]
pub struct Batching {
    applies: bool,
    copies: Option<Copies>,
    from: u64,
    largest_batch: u64,
}

/// Controllers that are told of packets one by one.
#[derive(Debug)]
struct Copies {
    informed_first: Box<dyn Controller>,
    informed_last: Box<dyn Controller>,
}

/// With which packet of a batch a controller is told what the batch measured.
#[derive(Clone, Copy, Debug)]
enum Measured {
    First,
    Last,
}

impl Batching {
    /// For one history.
    pub fn new(context: &Context<'_>) -> Self {
        let Context { declaration, network } = context;
        let is_moved_by_acks = declaration.family != Family::Control
            && declaration.bounds.law == Law::Steps
            && !declaration.needs(Need::Int);
        let applies = network.ack_every > 1 && is_moved_by_acks;
        Self { applies, copies: None, from: 0, largest_batch: 0 }
    }
}

impl Invariant for Batching {
    fn before(&mut self, call: &Call<'_>, controller: &dyn Controller) {
        if !self.applies {
            return;
        }
        match call {
            // More than a window at once tells of several round trips, which no law can take apart again.
            Call::Feedback(feedback, flight)
                if is_calm(feedback) && feedback.newly_acked.bytes <= controller.window() =>
            {
                if self.copies.is_none() {
                    self.from = controller.window();
                }
                let copies = self.copies.get_or_insert_with(|| Copies {
                    informed_first: controller.clone_box(),
                    informed_last: controller.clone_box(),
                });
                one_by_one(&mut *copies.informed_first, Measured::First, feedback, flight);
                one_by_one(&mut *copies.informed_last, Measured::Last, feedback, flight);
            }
            Call::Feedback(..) | Call::Signal(..) => self.copies = None,
            Call::Sent(..) | Call::Timer(..) => {
                if let Some(Copies { informed_first, informed_last }) = &mut self.copies {
                    call.apply(&mut **informed_first);
                    call.apply(&mut **informed_last);
                }
            }
        }
    }

    fn after(&mut self, step: &Step<'_>) -> Result<(), Violation> {
        let Some(copies) = &self.copies else { return Ok(()) };
        let together = step.after.window;
        let [first, last] = [copies.informed_first.window(), copies.informed_last.window()];
        let apart = if together.abs_diff(first) < together.abs_diff(last) { first } else { last };
        let moved = together.abs_diff(self.from).max(apart.abs_diff(self.from));
        let batch = step.call.feedback().map_or(0, |feedback| feedback.newly_acked.bytes);
        self.largest_batch = self.largest_batch.max(batch);
        let tenths = |count: u64| (moved / 10).saturating_mul(count);
        let slack = tenths(4)
            .saturating_add(self.largest_batch.saturating_mul(2).min(tenths(3)))
            .saturating_add(SLACK_PACKETS.saturating_mul(step.call.flight().mtu));
        Violation::unless(together.abs_diff(apart) <= slack, "a batch to mean what its packets mean one by one", || {
            format!("from {} B to {together} B by batches, to {first} B or {last} B by single packets", self.from)
        })
    }
}

fn is_calm(feedback: &Feedback<'_>) -> bool {
    feedback.cause == Cause::Ack && !tells_of_congestion(feedback) && feedback.spurious.is_empty()
}

/// The packets of a batch, each in a feedback of its own. What one acknowledgement measured is told once.
fn one_by_one(controller: &mut dyn Controller, measured: Measured, feedback: &Feedback<'_>, flight: &Flight<'_>) {
    let mut left = feedback.newly_acked;
    let total = left.packets;
    for packet in feedback.acked.chunks(1) {
        let bytes = packet.iter().map(|packet| u64::from(packet.bytes)).sum();
        let mut single = *feedback;
        single.acked = packet;
        single.newly_acked = Tally { bytes, packets: 1 };
        single.prior_in_flight = flight.bytes.saturating_add(left.bytes);
        left.bytes = left.bytes.saturating_sub(bytes);
        let is_first = left.packets == total;
        left.packets = left.packets.saturating_sub(1);
        let is_told = match measured {
            Measured::First => is_first,
            Measured::Last => left.packets == 0,
        };
        if !is_told {
            (single.ecn, single.rtt, single.delivery) = (None, None, None);
        }
        let mut meanwhile = *flight;
        meanwhile.bytes = flight.bytes.saturating_add(left.bytes);
        meanwhile.packets = flight.packets.saturating_add(left.packets);
        meanwhile.delivered = flight.delivered.saturating_sub(left.bytes);
        controller.on_feedback(&single, &meanwhile);
    }
}
