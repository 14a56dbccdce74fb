//! Reno's window with exact byte counting: what `newreno` and `dctcp` share, and `cubic` in slow start.
//!
//! ```text
//! slow start             cwnd += acked                            while cwnd < ssthresh
//! congestion avoidance   cwnd += mtu per cwnd bytes acked         remainders carried over
//! initial window         min(n mtu, max(n 1472 B, 2 mtu))         RFC 9002, section 7.2, for n = 10
//! ```
//!
//! Laws that move in fractions of a byte per acknowledgement use [`RenoWindow::shift`], which carries the rest over.
//!
//! Both kinds of growth depend on the bytes acknowledged and not on how they are spread over acknowledgements: an ACK of
//! ten packets means the same as ten ACKs of one.

use crate::controller::{Flight, Handover, Setup};
use crate::units::Span;

/// Bytes of a packet by which RFC 9002, section 7.2, caps the initial window: 14 720 B / 10.
const INITIAL_WINDOW_PACKET: u64 = 1_472;

/// The window that a flow of `packets` packets of at most `mtu` bytes starts with: as many packets, capped as RFC 9002,
/// section 7.2, caps ten of them.
pub const fn initial_window(packets: u64, mtu: u64) -> u64 {
    let (least, most) = (mtu.saturating_mul(2), packets.saturating_mul(INITIAL_WINDOW_PACKET));
    let cap = if most > least { most } else { least };
    let window = packets.saturating_mul(mtu);
    if window < cap { window } else { cap }
}

/// Growth steps taken on one batch. A batch acknowledges what was in flight, a few windows at most; the bound only keeps
/// absurd byte counts from costing time.
const MAX_STEPS: u32 = 1_024;

/// Sizes of a window, in packets.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Packets to start with.
    pub initial: u64,
    /// Packets never to go below.
    pub min: u64,
}

/// Congestion window and slow-start threshold, bytes.
#[derive(Clone, Debug)]
pub struct RenoWindow {
    window: u64,
    ssthresh: Option<u64>,
    /// Bytes acknowledged in congestion avoidance towards the next packet of growth.
    credit: u64,
    /// What [`RenoWindow::shift`] could not turn into a whole byte yet; 0 to 1.
    fraction: f64,
    mtu: u64,
    sizes: Sizes,
}

impl RenoWindow {
    /// The window of a flow that begins, or resumes from what [`Setup::handover`] says.
    pub fn new(setup: &Setup, sizes: Sizes) -> Self {
        let mut new = Self { window: 0, ssthresh: None, credit: 0, fraction: 0.0, mtu: setup.mtu.max(1), sizes };
        let resumed = setup.handover.and_then(|from| {
            new.ssthresh = from.ssthresh;
            from.window.or(from.bandwidth.zip(from.min_rtt).map(|(rate, rtt)| rate.bytes_in(rtt)))
        });
        new.window = resumed.unwrap_or(new.initial()).max(new.min());
        new
    }

    /// Bytes allowed in flight.
    pub const fn bytes(&self) -> u64 {
        self.window
    }

    /// The window at which slow start ends; `None` while nothing is known.
    pub const fn ssthresh(&self) -> Option<u64> {
        self.ssthresh
    }

    /// Largest packet, bytes.
    pub const fn mtu(&self) -> u64 {
        self.mtu
    }

    /// The window to start with.
    pub fn initial(&self) -> u64 {
        initial_window(self.sizes.initial, self.mtu).max(self.min())
    }

    /// The window never to go below.
    pub const fn min(&self) -> u64 {
        self.sizes.min.saturating_mul(self.mtu)
    }

    /// Whether the window grows by what is acknowledged.
    pub fn in_slow_start(&self) -> bool {
        self.ssthresh.is_none_or(|ssthresh| self.window < ssthresh)
    }

    /// Grows on `acked` bytes.
    pub fn grow(&mut self, acked: u64) {
        let rest = self.slow_start(acked);
        if rest > 0 {
            self.avoid_congestion(rest);
        }
    }

    /// Grows on `acked` bytes as far as slow start goes, and returns the bytes left over for congestion avoidance.
    pub fn slow_start(&mut self, acked: u64) -> u64 {
        let room = self.ssthresh.map_or(u64::MAX, |ssthresh| ssthresh.saturating_sub(self.window));
        let used = acked.min(room);
        self.window = self.window.saturating_add(used);
        acked - used
    }

    /// One packet a window (RFC 9002, section 7.3.3).
    fn avoid_congestion(&mut self, acked: u64) {
        self.credit = self.credit.saturating_add(acked);
        for _ in 0..MAX_STEPS {
            if self.credit < self.window {
                return;
            }
            self.credit -= self.window;
            self.window = self.window.saturating_add(self.mtu);
        }
        self.credit = 0;
    }

    /// Moves by a real number of bytes, up or down but not below the minimum; what makes no whole byte is kept for the next
    /// time. A number that is none moves nothing.
    pub fn shift(&mut self, bytes: f64) {
        let sum = self.fraction + bytes;
        // Truncates towards zero, saturates where the window would, and maps NaN to zero.
        let whole = sum as i64;
        let rest = sum - whole as f64;
        let (whole, rest) = if rest < 0.0 { (whole.saturating_sub(1), rest + 1.0) } else { (whole, rest) };
        self.fraction = if rest < 1.0 { rest } else { 0.0 };
        self.window = self.window.saturating_add_signed(whole).max(self.min().min(self.window));
    }

    /// Congestion: the window becomes `target`, but is not reduced below `floor` nor raised; the threshold follows, but not
    /// below the minimum.
    pub fn reduce_to(&mut self, target: u64, floor: u64) {
        self.window = target.max(floor).min(self.window);
        self.ssthresh = Some(self.window.max(self.min()));
        self.credit = 0;
    }

    /// Persistent congestion: the smallest window; the threshold stays (RFC 9002, section 7.6.2).
    pub fn collapse(&mut self) {
        self.window = self.min().min(self.window);
        self.credit = 0;
    }

    /// Slow start ends here.
    pub const fn leave_slow_start(&mut self) {
        self.ssthresh = Some(self.window);
    }

    /// The window becomes `window`; the threshold stays.
    pub const fn set(&mut self, window: u64) {
        self.window = window;
    }

    /// A reduction was wrong: threshold and window are what they were, unless the window has outgrown that already.
    pub fn restore(&mut self, window: u64, ssthresh: Option<u64>) {
        self.window = self.window.max(window);
        self.ssthresh = ssthresh;
    }

    /// The path is another one now: start as at the beginning (RFC 9000, section 9.4).
    pub fn restart(&mut self) {
        self.window = self.initial();
        self.ssthresh = None;
        self.credit = 0;
    }

    /// Packets may be of another size from now on. A window that has not moved yet follows (RFC 9002, section 7.2).
    pub fn set_mtu(&mut self, mtu: u64) {
        let untouched = self.ssthresh.is_none() && self.window == self.initial();
        self.mtu = mtu.max(1);
        self.window = if untouched { self.initial() } else { self.window.max(self.min()) };
    }

    /// What another controller may start from: this window, and the smallest RTT that the law knows.
    pub const fn handover(&self, min_rtt: Option<Span>) -> Handover {
        Handover { window: Some(self.window), ssthresh: self.ssthresh(), min_rtt, bandwidth: None }
    }

    /// Sending resumes after `idle`: past a retransmission timeout the window is at most the initial one (RFC 5681, section
    /// 4.1). True if that took something away.
    pub fn restart_after(&mut self, idle: Span, flight: &Flight<'_>) -> bool {
        let timeout = flight.smoothed_rtt.map(|smoothed| smoothed + flight.rtt_variation.saturating_mul(4));
        let shrinks = timeout.is_some_and(|timeout| idle > timeout) && self.window > self.initial();
        if shrinks {
            self.window = self.initial();
            self.credit = 0;
        }
        shrinks
    }
}
