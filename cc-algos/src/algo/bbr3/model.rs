//! The model of the path: section "Updating Network Path Model Parameters".

use super::super::sample::AckSample;
use super::{Ack, Bbr3};
use crate::controller::{ControllerState, Flight};
use crate::estimate::{AckAggregation, AgedMin, WindowedMax};
use crate::units::{Rate, Span, Timestamp};

/// Rounds over which aggregation is remembered once the pipe was full, and before (the draft's `ExtraAckedFilterLen`).
const AGGREGATION_ROUNDS: u64 = 10;
const AGGREGATION_ROUNDS_IN_STARTUP: u64 = 1;

/// What the path is taken to be. A bound that is `None` binds nothing, the draft's Infinity.
#[derive(Clone, Debug)]
pub(super) struct Model {
    /// Over the running ProbeBW cycle and the one before.
    max_bw: WindowedMax<u64, Rate>,
    cycle: u64,
    bw: Rate,
    bdp: u64,
    pub(super) bw_shortterm: Option<Rate>,
    pub(super) inflight_shortterm: Option<u64>,
    pub(super) inflight_longterm: Option<u64>,
    pub(super) min_rtt: AgedMin,
    /// The smallest RTT since ProbeRTT was due last.
    pub(super) probe_rtt_min: AgedMin,
    pub(super) aggregation: AckAggregation,
}

impl Model {
    pub(super) fn new(now: Timestamp, rtt: Option<Span>) -> Self {
        Self {
            max_bw: WindowedMax::new(1),
            cycle: 0,
            bw: Rate::ZERO,
            bdp: 0,
            bw_shortterm: None,
            inflight_shortterm: None,
            inflight_longterm: None,
            min_rtt: AgedMin::new(now, rtt),
            probe_rtt_min: AgedMin::new(now, rtt),
            aggregation: AckAggregation::new(now, AGGREGATION_ROUNDS_IN_STARTUP),
        }
    }

    pub(super) fn max_bw(&self) -> Option<Rate> {
        self.max_bw.get()
    }

    pub(super) const fn min_rtt(&self) -> Option<Span> {
        self.min_rtt.get()
    }

    pub(super) const fn bw(&self) -> Rate {
        self.bw
    }

    /// `bw x min_rtt`, bytes; 0 as long as either is unknown.
    pub(super) const fn bdp(&self) -> u64 {
        self.bdp
    }

    /// The same for `max_bw`, whatever losses have said since.
    pub(super) fn max_bdp(&self) -> u64 {
        self.max_bw().zip(self.min_rtt()).map_or(0, |(bw, rtt)| bw.bytes_in(rtt))
    }

    /// The draft's `BoundBWForModel`.
    pub(super) fn bound_bw(&mut self) {
        let max_bw = self.max_bw().unwrap_or_default();
        self.bw = self.bw_shortterm.map_or(max_bw, |bound| bound.min(max_bw));
        self.refresh_bdp();
    }

    pub(super) fn refresh_bdp(&mut self) {
        self.bdp = self.min_rtt().map_or(0, |rtt| self.bw.bytes_in(rtt));
    }

    /// The draft's `AdvanceMaxBwFilter`.
    pub(super) const fn advance_cycle(&mut self) {
        self.cycle = self.cycle.saturating_add(1);
    }

    /// The draft's `ResetShortTermModel`.
    pub(super) const fn reset_shortterm(&mut self) {
        self.bw_shortterm = None;
        self.inflight_shortterm = None;
    }

    /// The model for plots.
    pub(super) fn gauges(&self, state: ControllerState) -> ControllerState {
        let gauge = |state: ControllerState, name, value: Option<f64>| match value {
            Some(value) => state.with_gauge(name, value),
            None => state,
        };
        let state = gauge(state, "max_bw_bps", self.max_bw().map(|bw| bw.as_bps() as f64));
        let state = gauge(state, "bw_bps", Some(self.bw.as_bps() as f64));
        let state = gauge(state, "min_rtt_seconds", self.min_rtt().map(Span::as_secs_f64));
        let state = gauge(state, "inflight_longterm", self.inflight_longterm.map(|bytes| bytes as f64));
        let state = gauge(state, "inflight_shortterm", self.inflight_shortterm.map(|bytes| bytes as f64));
        gauge(state, "extra_acked", Some(self.aggregation.extra_acked() as f64))
    }
}

impl Bbr3 {
    /// The draft's `UpdateRound`.
    pub(super) const fn update_round(&mut self, sample: &AckSample, flight: &Flight<'_>) -> bool {
        let starts = self.rounds.on_acked(sample.at_send.delivered, flight.delivered);
        if starts {
            self.probe.count_round();
        }
        starts
    }

    /// The draft's `UpdateMaxBw`: an application-limited rate counts only if it is larger than all.
    pub(super) fn update_max_bw(&mut self, ack: &Ack<'_>) {
        let model = &mut self.model;
        let counts = |rate: &Rate| !ack.limited || model.max_bw().is_none_or(|max| *rate >= max);
        if let Some(rate) = ack.sample.rate.filter(counts) {
            model.max_bw.update(model.cycle, rate);
        }
    }

    /// The draft's `UpdateACKAggregation`.
    pub(super) fn update_aggregation(&mut self, ack: &Ack<'_>) {
        let rounds = if self.full_bw_reached { AGGREGATION_ROUNDS } else { AGGREGATION_ROUNDS_IN_STARTUP };
        let aggregation = &mut self.model.aggregation;
        let excess = aggregation.on_acked(ack.sample.now, ack.sample.newly_acked, self.model.bw);
        aggregation.set_memory(rounds);
        aggregation.remember(self.rounds.rounds(), excess.min(self.window));
    }

    /// The volume to aim for: what the path holds, unless congestion cut the window (the draft's `TargetInflight`).
    pub(super) fn target_inflight(&self) -> u64 {
        self.model.bdp.min(self.window)
    }
}
