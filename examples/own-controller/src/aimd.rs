//! Additive increase, multiplicative decrease: one packet more each round trip, `decrease` times the window at congestion, at most
//! once a round trip.

use cc_algos::{Controller, ControllerState, Feedback, Flight, Handover, Limit, Setup, Timestamp};

/// The controller: a window and when it last fell.
#[derive(Clone, Debug)]
pub(crate) struct Aimd {
    window: f64,
    decrease: f64,
    /// Packets sent before this time met the congestion that the window has already answered.
    answered: Timestamp,
}

impl Aimd {
    pub(crate) fn new(decrease: f64, setup: &Setup) -> Self {
        Self { window: 10.0 * setup.mtu as f64, decrease, answered: setup.now }
    }
}

impl Controller for Aimd {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let mtu = flight.mtu as f64;
        let newest = feedback.lost.iter().chain(feedback.acked).map(|packet| packet.sent_at).max();
        let congested = !feedback.newly_lost.is_zero() || !feedback.newly_marked.is_zero();
        if congested && newest.is_some_and(|sent_at| sent_at >= self.answered) {
            self.window = (self.window * self.decrease).max(2.0 * mtu);
            self.answered = feedback.now;
        } else if !congested && flight.limit == Limit::Window {
            self.window += mtu * feedback.newly_acked.bytes as f64 / self.window;
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
