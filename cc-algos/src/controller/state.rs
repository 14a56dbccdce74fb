//! What a controller shows of itself.

use crate::units::Rate;

/// A picture of a controller for plots, logs and assertions.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ControllerState {
    /// Congestion window, bytes.
    pub window: u64,
    /// Slow-start threshold, bytes, where the law has one and it is set.
    pub ssthresh: Option<u64>,
    /// Pacing rate, where the law sets one.
    pub pacing_rate: Option<Rate>,
    /// The law's own name for what it is doing: `slow_start`, `probe_bw_up`, ... For readers: the engine decides nothing by it.
    pub phase: &'static str,
    gauges: [Option<(&'static str, f64)>; Self::MAX_GAUGES],
}

impl ControllerState {
    /// Most gauges a state can carry.
    pub const MAX_GAUGES: usize = 6;

    /// A state with nothing but a window and a phase.
    pub const fn new(window: u64, phase: &'static str) -> Self {
        Self { window, ssthresh: None, pacing_rate: None, phase, gauges: [None; Self::MAX_GAUGES] }
    }

    /// With a slow-start threshold.
    #[must_use]
    pub const fn with_ssthresh(mut self, ssthresh: Option<u64>) -> Self {
        self.ssthresh = ssthresh;
        self
    }

    /// With a pacing rate.
    #[must_use]
    pub const fn with_pacing_rate(mut self, rate: Option<Rate>) -> Self {
        self.pacing_rate = rate;
        self
    }

    /// With a variable of the law's own, such as DCTCP's alpha. More than [`Self::MAX_GAUGES`] are dropped.
    #[must_use]
    pub fn with_gauge(mut self, name: &'static str, value: f64) -> Self {
        if let Some(free) = self.gauges.iter_mut().find(|gauge| gauge.is_none()) {
            *free = Some((name, value));
        }
        self
    }

    /// The law's own variables.
    pub fn gauges(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        self.gauges.iter().flatten().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surplus_gauges_are_dropped_not_overwritten() {
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        let state = names.iter().fold(ControllerState::new(1, "x"), |state, name| state.with_gauge(name, 1.0));
        let kept: Vec<_> = state.gauges().map(|(name, _)| name).collect();
        assert_eq!(kept, names[..ControllerState::MAX_GAUGES]);
    }
}
