//! Additive increase, multiplicative decrease: one packet more each round trip, `decrease` times the window at congestion, at most
//! once for all packets of a window.

use cc_algos::signal::PathChange;
use cc_algos::{Controller, ControllerState, Ecn, Feedback, Flight, Handover, PacketRecord, Setup, Signal, Timestamp};

/// The controller: a window, and which packets it has answered for.
#[derive(Clone, Debug)]
pub(crate) struct Aimd {
    window: f64,
    decrease: f64,
    /// Packets with smaller numbers met the congestion that the window has already answered.
    answered_below: u64,
}

impl Aimd {
    pub(crate) fn new(decrease: f64, setup: &Setup) -> Self {
        Self { window: 10.0 * setup.mtu as f64, decrease, answered_below: 0 }
    }
}

impl Controller for Aimd {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let mtu = flight.mtu as f64;
        let is_new = |packet: &PacketRecord| packet.packet_number >= self.answered_below;
        // Losses are known packet by packet; marks may only be counted, and are then taken for the newest packet's.
        let echoed = feedback.acked.iter().rfind(|packet| packet.arrived_as == Some(Ecn::Ce)).or(feedback.acked.last());
        let lost = feedback.lost.iter().chain(feedback.recovered_packets).any(is_new);
        let marked = !feedback.newly_marked.is_zero() && echoed.is_some_and(is_new);
        if lost || marked {
            self.window = (self.window * self.decrease).max(2.0 * mtu);
            self.answered_below = flight.next_packet_number;
        } else if flight.limit.allows_growth() {
            let acked: u64 =
                feedback.acked.iter().filter(|packet| is_new(packet)).map(|packet| u64::from(packet.bytes)).sum();
            self.window += mtu * acked as f64 / self.window;
        }
        if feedback.persistent_congestion.is_some() {
            self.window = 2.0 * mtu;
        }
    }

    fn on_signal(&mut self, _now: Timestamp, signal: &Signal, flight: &Flight<'_>) {
        match signal {
            Signal::MtuChange { mtu } => self.window = self.window.max(2.0 * *mtu as f64),
            // What was learnt of one path says nothing of another, nor do losses of what was sent before.
            Signal::PathChange { change: PathChange::Migrated | PathChange::Revived, .. } => {
                self.window = 10.0 * flight.mtu as f64;
                self.answered_below = flight.next_packet_number;
            }
            _ => {}
        }
    }

    fn window(&self) -> u64 {
        self.window as u64
    }

    fn state(&self) -> ControllerState {
        ControllerState::new(self.window(), "aimd")
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn handover(&self) -> Handover {
        Handover::of_window(self.window())
    }
}
