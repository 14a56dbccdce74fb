//! A window that moves by fractions of a byte: what laws share that add or take a little for each acknowledgement.
//!
//! The value is real and the window that the sender sees is its nearest whole byte, so that steps of a hundredth of a
//! packet at a window of ten thousand add up instead of vanishing. It stays between the minimum and the largest `u64`
//! whatever is added, and nothing turns it into NaN.

use crate::controller::{Handover, Setup};
use crate::units::Span;

/// A congestion window of a real number of bytes.
#[derive(Clone, Debug)]
pub struct FractionalWindow {
    bytes: f64,
    mtu: u64,
    initial_packets: u64,
    min_packets: u64,
}

impl FractionalWindow {
    /// The window of a flow that begins with `initial_packets`, or resumes from what [`Setup::handover`] says, and never
    /// goes below `min_packets`.
    pub fn new(setup: &Setup, initial_packets: u64, min_packets: u64) -> Self {
        let mut new = Self { bytes: 0.0, mtu: setup.mtu.max(1), initial_packets, min_packets: min_packets.max(1) };
        let resumed = setup
            .handover
            .and_then(|from| from.window.or(from.bandwidth.zip(from.min_rtt).map(|(rate, rtt)| rate.bytes_in(rtt))));
        new.set(resumed.map_or_else(|| new.initial(), |bytes| bytes as f64));
        new
    }

    /// Bytes allowed in flight, to the nearest whole one.
    pub const fn bytes(&self) -> u64 {
        // Asked for on every packet: a sum costs less than a call of `round`, and the value is never negative.
        (self.bytes + 0.5) as u64
    }

    /// The same, with its fraction.
    pub const fn exact(&self) -> f64 {
        self.bytes
    }

    /// Largest packet, bytes.
    pub const fn mtu(&self) -> f64 {
        self.mtu as f64
    }

    /// The window to start with, bytes.
    pub const fn initial(&self) -> f64 {
        self.initial_packets as f64 * self.mtu as f64
    }

    /// The window never to go below, bytes.
    pub const fn min(&self) -> f64 {
        self.min_packets as f64 * self.mtu as f64
    }

    /// The window becomes `bytes`, or the nearest to it that is allowed. NaN gives the minimum.
    pub const fn set(&mut self, bytes: f64) {
        // `f64::max` prefers the number to NaN.
        self.bytes = bytes.max(self.min()).min(u64::MAX as f64);
    }

    /// The window grows by `bytes`, or shrinks if that is negative.
    pub const fn add(&mut self, bytes: f64) {
        self.set(self.bytes + bytes);
    }

    /// What `bytes` add of which a window's worth adds `gain` bytes, and none more than itself.
    ///
    /// A batch of more than a window counts as if it came bit by bit: a window that was just cut does not grow by a share
    /// that only a small one has.
    pub fn growth(&self, bytes: f64, gain: f64) -> f64 {
        let doubling = (gain - self.bytes).max(0.0).min(bytes);
        let (window, rest) = (self.bytes + doubling, bytes - doubling);
        let more = if rest <= window {
            rest * (gain / window).min(1.0)
        } else {
            libm::sqrt(window * window + 2.0 * gain * rest) - window
        };
        doubling + more.min(rest)
    }

    /// The window keeps the share `kept`, and loses a byte at least: whatever is sent before a reduction belongs to it, which
    /// must be one.
    pub const fn cut(&mut self, kept: f64) {
        self.set((self.bytes * kept).min(self.bytes() as f64 - 1.0));
    }

    /// The window is cut down to `most` bytes if it is larger, but not below the minimum.
    pub const fn cap(&mut self, most: f64) {
        if self.bytes > most {
            self.set(most);
        }
    }

    /// The smallest window.
    pub const fn collapse(&mut self) {
        self.bytes = self.min();
    }

    /// The path is another one now: the initial window.
    pub const fn restart(&mut self) {
        self.set(self.initial());
    }

    /// Packets may be of another size from now on. A window that has not moved yet follows.
    pub fn set_mtu(&mut self, mtu: u64) {
        let untouched = self.bytes.to_bits() == self.initial().to_bits();
        self.mtu = mtu.max(1);
        self.set(if untouched { self.initial() } else { self.bytes });
    }

    /// What another controller may start from.
    pub fn handover(&self, min_rtt: Option<Span>) -> Handover {
        Handover { min_rtt, ..Handover::of_window(self.bytes()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MTU, setup};

    #[test]
    fn small_steps_add_up() {
        let mut window = FractionalWindow::new(&setup(), 10, 1);
        (0..1_000).for_each(|_| window.add(0.01));
        assert_eq!(window.bytes(), 10 * MTU + 10);
    }

    #[test]
    fn a_cut_takes_a_byte_at_least_and_stops_at_the_minimum() {
        let mut window = FractionalWindow::new(&setup(), 10, 2);
        window.cut(0.999_999_9);
        assert_eq!(window.bytes(), 10 * MTU - 1);
        window.cut(0.5);
        assert_eq!(window.bytes(), 5 * MTU, "half of a byte less than ten packets, to the nearest");
        (0..3).for_each(|_| window.cut(0.5));
        assert_eq!(window.bytes(), 2 * MTU);
    }

    #[test]
    fn a_window_of_bytes_adds_the_gain_and_a_larger_batch_is_no_better_for_a_smaller_window() {
        let grown = |packets: u64, batch: f64| {
            let mut window = FractionalWindow::new(&setup(), packets, 1);
            window.add(window.growth(batch * MTU as f64, 2.0 * MTU as f64));
            window.exact() / MTU as f64
        };
        assert_eq!((grown(20, 20.0), grown(20, 5.0), grown(1, 1.0)), (22.0, 20.5, 2.0));
        // From two packets on bit by bit: sqrt(2 x 2 + 2 x 2 x 30).
        assert!((grown(2, 30.0) - 124.0_f64.sqrt()).abs() < 1e-9);
        for packets in 1..40 {
            assert!(grown(packets, 30.0) < grown(packets + 1, 30.0), "{packets}");
        }
    }

    #[test]
    fn nothing_leads_out_of_its_bounds() {
        for step in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1e300, 1e300] {
            let mut window = FractionalWindow::new(&setup(), 10, 2);
            window.add(step);
            assert!(window.bytes() >= 2 * MTU && window.exact().is_finite(), "{step}: {window:?}");
            window.cap(step);
            assert!(window.bytes() >= 2 * MTU && window.exact().is_finite(), "{step}: {window:?}");
        }
    }

    #[test]
    fn an_untouched_window_follows_the_packet_size() {
        let mut window = FractionalWindow::new(&setup(), 10, 1);
        window.set_mtu(500);
        assert_eq!(window.bytes(), 5_000);
        window.add(1.0);
        window.set_mtu(9_000);
        assert_eq!(window.bytes(), 9_000, "the minimum is a packet");
    }
}
