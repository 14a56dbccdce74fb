//! `fixed-rate`: a rate that never moves. Ours; a control for comparisons.
//!
//! ```text
//! pacing rate = rate
//! cwnd        = max(rate x horizon, 10 packets)
//! ```
//!
//! Below the bottleneck's rate it shows the delay of an empty path, above it what overload does. The window only keeps a
//! dead path from collecting packets without end: it binds when nothing is acknowledged for `horizon`.
//!
//! | parameter | unit | default | origin |
//! |---|---|---|---|
//! | `rate` | bit/s | 10 Mb/s | ours |
//! | `horizon` | time | 1 s | ours: longer than any RTT but a few, and a bound on memory |

use super::InvalidParam;
use crate::controller::{Controller, ControllerState, Feedback, Flight, Handover, Setup};
use crate::declare::{Declaration, Family};
use crate::registry::{Algorithm, Param, Value};
use crate::signal::Signal;
use crate::units::{Rate, Span, Timestamp};

/// Packets that the window always allows (RFC 9002, section 7.2, starts with as many).
const MIN_PACKETS: u64 = 10;

/// Parameters of [`FixedRate`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct FixedRateParams {
    /// The rate to send at; not zero.
    pub rate: Rate,
    /// How long to send without an acknowledgement.
    pub horizon: Span,
}

impl Default for FixedRateParams {
    fn default() -> Self {
        Self { rate: Rate::from_mbps(10), horizon: Span::from_secs(1) }
    }
}

/// A rate that never moves.
#[derive(Clone, Debug)]
pub struct FixedRate {
    params: FixedRateParams,
    mtu: u64,
}

impl FixedRate {
    /// A controller with the given rate.
    ///
    /// # Errors
    ///
    /// If the rate is zero.
    pub fn new(params: FixedRateParams, setup: &Setup) -> Result<Self, InvalidParam> {
        InvalidParam::unless(params.rate > Rate::ZERO, "rate", "more than 0 bit/s")?;
        Ok(Self { params, mtu: setup.mtu.max(1) })
    }
}

impl Controller for FixedRate {
    fn on_feedback(&mut self, _feedback: &Feedback<'_>, _flight: &Flight<'_>) {}

    fn on_signal(&mut self, _now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
        if let Signal::MtuChange { mtu } = signal {
            self.mtu = (*mtu).max(1);
        }
    }

    fn window(&self) -> u64 {
        self.params.rate.bytes_in(self.params.horizon).max(self.mtu.saturating_mul(MIN_PACKETS))
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(self.params.rate)
    }

    fn state(&self) -> ControllerState {
        ControllerState::new(self.window(), "fixed").with_pacing_rate(self.pacing_rate())
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn handover(&self) -> Handover {
        Handover { bandwidth: Some(self.params.rate), ..Handover::default() }
    }
}

/// The registry's entry.
pub(super) fn algorithm() -> Algorithm {
    const NAME: &str = "fixed-rate";
    let default = FixedRateParams::default();
    Algorithm::new(NAME, "a rate that never moves: a control", "ours", |args, setup| {
        let params = FixedRateParams { rate: args.rate("rate"), horizon: args.span("horizon") };
        Ok(Box::new(FixedRate::new(params, setup).map_err(|error| error.of(NAME))?))
    })
    .declaring(Declaration::new(Family::Control))
    .with_param(Param::new("rate", Value::Rate(default.rate), "sending rate").within(1.0, f64::INFINITY))
    .with_param(Param::new(
        "horizon",
        Value::Span(default.horizon),
        "how long to send without an acknowledgement",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn controller(rate: Rate) -> Result<FixedRate, InvalidParam> {
        FixedRate::new(FixedRateParams { rate, ..FixedRateParams::default() }, &Setup::new(Timestamp::ZERO, 1_500, 0))
    }

    #[test]
    fn the_window_holds_one_second_of_the_rate_but_never_less_than_ten_packets() {
        // 8 Mb/s x 1 s = 1 MB; 8 kb/s x 1 s = 1 kB.
        assert_eq!(controller(Rate::from_mbps(8)).unwrap().window(), 1_000_000);
        let mut slow = controller(Rate::from_kbps(8)).unwrap();
        assert_eq!(slow.window(), 15_000);
        slow.on_signal(Timestamp::ZERO, &Signal::MtuChange { mtu: 4_096 }, &Flight::idle(4_096));
        assert_eq!(slow.window(), 40_960);
    }

    #[test]
    fn extreme_rates_saturate_and_none_is_refused() {
        let endless = FixedRateParams { rate: Rate::MAX, horizon: Span::MAX };
        let setup = Setup::new(Timestamp::ZERO, u64::MAX, 0);
        assert_eq!(FixedRate::new(endless, &setup).unwrap().window(), u64::MAX);
        assert!(controller(Rate::ZERO).is_err());
    }
}
