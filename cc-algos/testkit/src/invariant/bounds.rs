//! Window, rate and quantum stay within bounds.

use cc_algos::controller::Controller;
use cc_algos::declare::{Family, Law};
use cc_algos::signal::Signal;
use cc_algos::units::Span;

use super::Context;
use crate::observe::{Call, Invariant, Step, Violation};

/// Windows that no declaration bounds may reach this many times what was ever delivered, or taken over: a doubling each round
/// trip explains two, models with a gain a little more.
const MOST_PER_DELIVERED: u64 = 16;

/// What any window may reach at the start, packets: generous for initial windows of one bandwidth-delay product.
const MOST_AT_START: u64 = 1 << 20;

/// Bytes that may leave back to back, whatever the window: what a host hands to its network card at a time, several times over.
const MOST_QUANTUM: u64 = 1 << 20;

/// Time that a pacing rate may take for them: twice what BBR takes at most.
const QUANTUM_TIME: Span = Span::from_millis(2);

/// Packets that may.
const MOST_QUANTUM_PACKETS: u64 = 64;

/// The window is at least the declared minimum and at most the declared maximum, or else no more than what was delivered
/// could explain; a pacing rate is positive; and what may leave back to back holds a packet, and is no more than the window,
/// what the rate sends in two milliseconds, or what a host hands over at a time.
#[derive(Clone, Debug)]
pub struct Bounds {
    min_packets: f64,
    max_packets: Option<f64>,
    /// Largest MTU so far: a bound in packets moves with it, but a window need not shrink at once.
    largest_mtu: u64,
    explained: u64,
    law: Law,
}

impl Bounds {
    /// For one history.
    pub fn new(context: &Context<'_>) -> Self {
        let bounds = context.declaration.bounds;
        // A control has its window in bytes, whatever packets there are.
        let is_control = context.declaration.family == Family::Control;
        let mtu = context.network.mtu;
        let resumed = u64::from(context.network.resume.unwrap_or(0)).saturating_mul(mtu);
        let line = context.network.rate.bytes_in(context.network.rtt);
        Self {
            min_packets: if is_control { 0.0 } else { bounds.min_window },
            max_packets: bounds.max_window,
            largest_mtu: mtu,
            law: bounds.law,
            explained: mtu.saturating_mul(MOST_AT_START).max(resumed).max(line),
        }
    }

    /// Windows of so many bytes have a reason that is older than the history.
    pub fn explain(&mut self, bytes: u64) {
        self.explained = self.explained.max(bytes);
    }
}

impl Invariant for Bounds {
    fn before(&mut self, call: &Call<'_>, _controller: &dyn Controller) {
        self.largest_mtu = self.largest_mtu.max(call.flight().mtu);
        if let Some(Signal::MtuChange { mtu }) = call.signal() {
            self.largest_mtu = self.largest_mtu.max(*mtu);
        }
    }

    fn after(&mut self, step: &Step<'_>) -> Result<(), Violation> {
        let flight = step.call.flight();
        let window = step.after.window;
        let least = ((self.min_packets * flight.mtu as f64) as u64).max(1);
        Violation::unless(window >= least, format!("a window of at least {} packets", self.min_packets), || {
            format!("{window} B, which is less than {least} B")
        })?;
        let most = match self.max_packets {
            Some(packets) => (packets * self.largest_mtu as f64) as u64,
            None => self.explained.max(flight.delivered).saturating_mul(MOST_PER_DELIVERED),
        };
        // A model's window is what its rate can have in flight, and no more than a bound where delays are long.
        let in_use = match (self.law, step.after.pacing_rate) {
            (Law::Model, Some(rate)) => window.min(flight.smoothed_rtt.map_or(0, |rtt| rate.bytes_in(rtt))),
            _ => window,
        };
        Violation::unless(in_use <= most, "a window that the network could explain", || {
            format!("{window} B, with {} B delivered so far", flight.delivered)
        })?;
        let stuck = step.after.pacing_rate.is_some_and(|rate| rate.as_bps() == 0);
        Violation::unless(!stuck, "a positive pacing rate", || "0 bit/s: nothing would ever leave".to_owned())?;
        let Some(quantum) = step.after.send_quantum else { return Ok(()) };
        Violation::unless(quantum >= flight.mtu, "a quantum that holds a packet", || {
            format!("{quantum} B, with packets of {} B", flight.mtu)
        })?;
        let sent = step.after.pacing_rate.map_or(0, |rate| rate.bytes_in(QUANTUM_TIME));
        let most = window.max(sent).max(MOST_QUANTUM).max(self.largest_mtu.saturating_mul(MOST_QUANTUM_PACKETS));
        Violation::unless(quantum <= most, "a quantum of a burst", || format!("{quantum} B may leave back to back"))
    }
}
