//! Time that passed idle never happened.

use cc_algos::controller::{Controller, Feedback, Flight, PacketRecord, Sent};
use cc_algos::declare::{Family, Law, Reductions};
use cc_algos::estimate::RoundCounter;
use cc_algos::signal::Signal;
use cc_algos::units::{Span, Timestamp};

use super::{Context, Earned};
use crate::observe::{Call, Invariant, Step, Violation};

/// Round trips after a silence in which it must not show.
const ROUNDS: u32 = 3;

/// Packets by which the window may be larger, and the part of the other one.
const SLACK_PACKETS: u64 = 3;
const SLACK_PART: u64 = 5;

/// Silences after which a law that answers delay may have forgotten the smallest RTT: those that do keep it for ten seconds
/// or more.
const FORGOTTEN: Span = Span::from_secs(5);

/// Most timers of the copy that are called at one call of the original.
const MOST_TIMERS: u32 = 64;

/// What the copy lives through instead.
#[derive(Debug)]
struct Seamless {
    copy: Box<dyn Controller>,
    /// When sending was resumed.
    resumed_at: Timestamp,
    idle: Span,
    /// The window then.
    window: u64,
    /// What a law that counts round trips by the clock may make of the acknowledgements before the silence.
    earned: u64,
    rounds_left: u32,
}

impl Seamless {
    /// The time at which something happened, had the silence not been.
    fn shift(&self, at: Timestamp) -> Timestamp {
        if at >= self.resumed_at { at.saturating_sub(self.idle) } else { at }
    }

    fn shift_packet(&self, packet: &PacketRecord) -> PacketRecord {
        let mut packet = *packet;
        packet.sent_at = self.shift(packet.sent_at);
        packet.received_at = packet.received_at.map(|at| self.shift(at));
        packet.at_send.delivered_at = self.shift(packet.at_send.delivered_at);
        packet.at_send.first_sent_at = self.shift(packet.at_send.first_sent_at);
        packet
    }

    fn tell(&mut self, call: &Call<'_>) {
        let now = self.shift(call.now());
        for _ in 0..MOST_TIMERS {
            let Some(due) = self.copy.next_timer().filter(|at| *at <= now) else { break };
            self.copy.on_timer(due.max(now.saturating_sub(self.idle)), call.flight());
        }
        match call {
            Call::Sent(sent, flight) => {
                let mut shifted: Sent = **sent;
                shifted.now = now;
                self.copy.on_sent(&shifted, flight);
            }
            Call::Feedback(feedback, flight) => self.tell_feedback(feedback, flight),
            Call::Signal(_, signal, flight) => self.copy.on_signal(now, signal, flight),
            Call::Timer(..) => {}
        }
    }

    fn tell_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let shift =
            |packets: &[PacketRecord]| packets.iter().map(|packet| self.shift_packet(packet)).collect::<Vec<_>>();
        let (acked, lost, spurious) = (shift(feedback.acked), shift(feedback.lost), shift(feedback.spurious));
        let mut shifted = *feedback;
        shifted.now = self.shift(feedback.now);
        (shifted.acked, shifted.lost, shifted.spurious) = (&acked, &lost, &spurious);
        if let Some(sample) = &mut shifted.rtt {
            sample.sent_at = self.shift(sample.sent_at);
        }
        if let Some(sample) = &mut shifted.delivery {
            sample.at_send.delivered_at = self.shift(sample.at_send.delivered_at);
            sample.at_send.first_sent_at = self.shift(sample.at_send.first_sent_at);
        }
        self.copy.on_feedback(&shifted, flight);
    }
}

/// After a silence the window is no larger than that of a copy for which the silence did not happen: to whom sending goes on
/// where it stopped. It holds beyond slow start, as long as the copy grows. Models may have learnt from the time that passed.
#[derive(Debug)]
pub struct Silence {
    applies: bool,
    /// Silences from which on it does not apply.
    longest: Span,
    other: Option<Seamless>,
    rounds: RoundCounter,
    earned: Earned,
}

impl Silence {
    /// For one history.
    pub fn new(context: &Context<'_>) -> Self {
        let declaration = context.declaration;
        let applies = declaration.bounds.law == Law::Steps && declaration.family != Family::Control;
        let may_answer_delay = declaration.bounds.reductions == Reductions::Unbounded;
        let longest = if may_answer_delay { FORGOTTEN } else { Span::MAX };
        Self { applies, longest, other: None, rounds: RoundCounter::default(), earned: Earned::default() }
    }
}

impl Invariant for Silence {
    fn before(&mut self, call: &Call<'_>, controller: &dyn Controller) {
        match call {
            Call::Signal(now, Signal::Restart { idle }, flight) if self.applies && *idle < self.longest => {
                let copy = controller.clone_box();
                self.other = Some(Seamless {
                    copy,
                    resumed_at: *now,
                    idle: *idle,
                    window: controller.window(),
                    earned: self.earned.0,
                    rounds_left: ROUNDS,
                });
                self.rounds = RoundCounter::new(flight.next_packet_number + 1);
            }
            // In recovery time has a meaning of its own, and what else is told is another history.
            Call::Signal(..) => self.other = None,
            Call::Feedback(feedback, _)
                if super::absence::tells_of_congestion(feedback) || !feedback.spurious.is_empty() =>
            {
                self.other = None;
            }
            _ => {
                if let Some(other) = &mut self.other {
                    other.tell(call);
                }
            }
        }
    }

    fn after(&mut self, step: &Step<'_>) -> Result<(), Violation> {
        self.earned.note(step);
        let Some(other) = &mut self.other else { return Ok(()) };
        let (with, without) = (step.after.window, other.copy.window());
        if without < other.window || step.controller.in_slow_start() {
            // The copy answers something, or each acknowledgement adds to the window: that is another story.
            self.other = None;
            return Ok(());
        }
        let flight = step.call.flight();
        let slack = (without / SLACK_PART).saturating_add(SLACK_PACKETS.saturating_mul(flight.mtu));
        let most = without.saturating_add(slack).saturating_add(other.earned);
        let idle = other.idle;
        let newest = step.call.feedback().and_then(|feedback| feedback.acked.last());
        if newest.is_some_and(|newest| self.rounds.on_acked(newest.packet_number, flight.next_packet_number)) {
            other.rounds_left -= 1;
            if other.rounds_left == 0 {
                self.other = None;
            }
        }
        Violation::unless(with <= most, "a window for which the silence did not happen", || {
            format!("{with} B after {idle} of silence, {without} B if sending had gone on")
        })
    }
}
