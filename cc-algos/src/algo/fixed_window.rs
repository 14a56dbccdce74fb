//! `fixed-window`: a window that never moves. Ours; a control for comparisons.
//!
//! ```text
//! cwnd = window
//! ```
//!
//! With the window at the bandwidth-delay product it fills an empty link without a queue; with k times that, k - 1
//! products stand in the queue. Losses and marks change nothing, so it shows what a queue and a loss process do by
//! themselves.
//!
//! | parameter | unit | default | origin |
//! |---|---|---|---|
//! | `window` | bytes | 65 536 | the largest window of TCP without scaling (RFC 9293, section 3.1) |

use super::InvalidParam;
use crate::controller::{Controller, ControllerState, Feedback, Flight, Handover, Setup};
use crate::declare::{Declaration, Family};
use crate::registry::{Algorithm, Param, Value};

/// Parameters of [`FixedWindow`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct FixedWindowParams {
    /// The window, bytes; at least one.
    pub window: u64,
}

impl Default for FixedWindowParams {
    fn default() -> Self {
        Self { window: 65_536 }
    }
}

/// A window that never moves.
#[derive(Clone, Debug)]
pub struct FixedWindow {
    window: u64,
}

impl FixedWindow {
    /// A controller with the given window.
    ///
    /// # Errors
    ///
    /// If the window is zero.
    pub fn new(params: &FixedWindowParams, _setup: &Setup) -> Result<Self, InvalidParam> {
        InvalidParam::unless(params.window > 0, "window", "at least one byte")?;
        Ok(Self { window: params.window })
    }
}

impl Controller for FixedWindow {
    fn on_feedback(&mut self, _feedback: &Feedback<'_>, _flight: &Flight<'_>) {}

    fn window(&self) -> u64 {
        self.window
    }

    fn state(&self) -> ControllerState {
        ControllerState::new(self.window, "fixed")
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn handover(&self) -> Handover {
        Handover::of_window(self.window)
    }
}

/// The registry's entry.
pub(super) fn algorithm() -> Algorithm {
    const NAME: &str = "fixed-window";
    Algorithm::new(NAME, "a window that never moves: a control", "ours", |args, setup| {
        let params = FixedWindowParams { window: args.bytes("window") };
        Ok(Box::new(FixedWindow::new(&params, setup).map_err(|error| error.of(NAME))?))
    })
    .declaring(Declaration::new(Family::Control))
    .with_param(
        Param::new("window", Value::Bytes(FixedWindowParams::default().window), "bytes in flight")
            .within(1.0, f64::INFINITY),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::{Cause, Tally};
    use crate::units::{Span, Timestamp};

    fn controller(window: u64) -> Result<FixedWindow, InvalidParam> {
        FixedWindow::new(&FixedWindowParams { window }, &Setup::new(Timestamp::ZERO, 1_500, 0))
    }

    #[test]
    fn losses_marks_and_acknowledgements_change_nothing() {
        let mut fixed = controller(30_000).unwrap();
        let mut feedback = Feedback::new(Timestamp::ZERO, Cause::Ack);
        feedback.newly_lost = Tally { bytes: u64::MAX, packets: u64::MAX };
        feedback.newly_marked = feedback.newly_lost;
        feedback.persistent_congestion = Some(Span::MAX);
        fixed.on_feedback(&feedback, &Flight::idle(1_500));
        assert_eq!((fixed.window(), fixed.pacing_rate()), (30_000, None));
    }

    #[test]
    fn a_window_below_one_packet_is_kept_and_none_is_refused() {
        assert_eq!(controller(1).unwrap().window(), 1);
        assert_eq!(controller(0).unwrap_err().to_string(), "parameter `window`: expected at least one byte");
    }
}
