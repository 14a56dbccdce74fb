//! Exact time within a picosecond, and service at a constant rate.

use cc_algos::Rate;

use super::MAX_PIECE;

/// Work of one byte, in units of which a link of `R` bits per second does `R` in a picosecond.
pub(super) const WORK_PER_BYTE: u64 = 8_000_000_000_000;

/// Rates above one exabit per second are served at that rate: more would overflow the units, and no link has it.
const MAX_BPS: u64 = 1_000_000_000_000_000_000;

// The work of one piece plus what is used of a picosecond must fit 64 bits.
const _: () = assert!((MAX_PIECE as u64).checked_mul(WORK_PER_BYTE).unwrap().checked_add(MAX_BPS).is_some());

/// The rate in units of work per picosecond.
pub(super) fn work_per_pico(rate: Rate) -> u64 {
    rate.as_bps().min(MAX_BPS)
}

/// Work done at `rate` in `picos`.
pub(super) fn capacity(rate: Rate, picos: u64) -> u128 {
    u128::from(work_per_pico(rate)) * u128::from(picos)
}

/// Whole bytes in an amount of work, saturating.
pub(super) fn bytes_of(work: u128) -> u64 {
    u64::try_from(work / u128::from(WORK_PER_BYTE)).unwrap_or(u64::MAX)
}

/// When everything served so far has finished: `used` units of work into the picosecond `at`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Clock {
    pub(super) at: u64,
    pub(super) used: u64,
}

impl Clock {
    /// The picosecond by whose start all is finished.
    pub(super) fn finish(self) -> u64 {
        self.at.saturating_add(u64::from(self.used > 0))
    }

    /// Starts afresh at `ready` if that is later. Equality continues exactly, so that a caller who waits for each
    /// (rounded) departure before it offers the next packet loses nothing.
    pub(super) fn start(&mut self, ready: u64) {
        if ready > self.finish() {
            *self = Self { at: ready, used: 0 };
        }
    }

    /// Does up to `work` at the rate `per_pico` until `end`; returns what is left.
    pub(super) fn run(&mut self, per_pico: u64, end: u64, work: u64) -> u64 {
        if self.at >= end {
            return work;
        }
        if per_pico == 0 {
            *self = Self { at: end, used: 0 };
            return work;
        }
        let total = self.used + work;
        let (whole, rest) = (total / per_pico, total % per_pico);
        let room = end - self.at;
        if whole < room {
            *self = Self { at: self.at + whole, used: rest };
            return 0;
        }
        // `room` picoseconds do `total` at most, so the product fits.
        let left = total - room * per_pico;
        *self = Self { at: end, used: 0 };
        left
    }
}

/// A link of one rate for ever, the case that must cost next to nothing: the work of a byte and the rate are divided by
/// their common divisor, which leaves a whole number of picoseconds per byte for all rates in use.
#[derive(Clone, Debug)]
pub(super) struct Fixed {
    clock: Clock,
    per_byte: u64,
    per_pico: u64,
}

impl Fixed {
    pub(super) fn new(rate: Rate) -> Self {
        let per_pico = work_per_pico(rate);
        let divisor = gcd(WORK_PER_BYTE, per_pico);
        Self { clock: Clock::default(), per_byte: WORK_PER_BYTE / divisor, per_pico: per_pico / divisor }
    }

    /// The rate, of at most an exabit per second.
    pub(super) fn rate(&self) -> Rate {
        Rate::from_bps(self.per_pico * (WORK_PER_BYTE / self.per_byte))
    }

    pub(super) fn serve(&mut self, ready: u64, bytes: u32) -> Option<u64> {
        if self.clock.at == u64::MAX {
            return None;
        }
        self.clock.start(ready);
        let work = self.per_byte * u64::from(bytes);
        let Clock { at, used } = self.clock;
        let (whole, used) = match self.per_pico {
            0 => return None,
            1 => (work, 0),
            per_pico => ((used + work) / per_pico, (used + work) % per_pico),
        };
        let Some(at) = at.checked_add(whole).filter(|at| *at < u64::MAX) else {
            self.clock.at = u64::MAX; // Beyond the end of time for this packet and all that follow.
            return None;
        };
        self.clock = Clock { at, used };
        Some(self.clock.finish())
    }
}

const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}
