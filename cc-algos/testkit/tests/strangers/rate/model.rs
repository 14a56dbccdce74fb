//! The sound parts of a BBR-like law.

use cc_algos::signal::PathChange;
use cc_algos::{DeliverySample, Feedback, Flight, Handover, Rate, Setup, Signal, Span, Timestamp};

use super::Round;

/// Startup's gain, 2 / ln 2.
const STARTUP: f64 = 2.885;
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// How long a smallest RTT holds.
const FRESH: Span = Span::from_secs(10);
/// How long the flight is drained to measure it again.
const DRAIN: Span = Span::from_millis(200);

/// Which delivery samples count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Samples {
    /// Those that the network and not the application held down, and larger ones.
    OfTheNetwork,
    /// All.
    All,
}

/// Bandwidth, RTT, and the gains on them.
#[derive(Clone, Debug)]
pub(in super::super) struct Model {
    mtu: u64,
    initial: u64,
    offset: u64,
    round: Round,
    rounds: u64,
    /// Largest rate of this stretch of five rounds, and of the one before.
    rates: [Rate; 2],
    /// Rounds of this stretch in which a sample counted, and whether one did in this round.
    stretch: u32,
    counted: bool,
    /// Rate that startup last grew to, and rounds since; `None` once the pipe was full.
    startup: Option<(Rate, u32)>,
    min_rtt: Option<Span>,
    min_rtt_at: Timestamp,
    /// End of the drain, and the smallest RTT in it.
    drain: Option<(Timestamp, Option<Span>)>,
    collapsed: bool,
}

impl Model {
    pub(in super::super) fn new(setup: &Setup) -> Self {
        let mtu = setup.mtu.max(1);
        let resumed = setup.handover.and_then(|from| from.window);
        Self {
            mtu,
            initial: resumed.unwrap_or(mtu.saturating_mul(10)),
            offset: setup.seed % 8,
            round: Round::default(),
            rounds: 0,
            rates: [Rate::ZERO; 2],
            stretch: 0,
            counted: false,
            startup: Some((Rate::ZERO, 0)),
            min_rtt: None,
            min_rtt_at: setup.now,
            drain: None,
            collapsed: false,
        }
    }

    pub(in super::super) fn observe(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>, samples: Samples) {
        if !feedback.acked.is_empty() {
            self.collapsed = false;
        }
        self.collapsed |= feedback.persistent_congestion.is_some();
        if self.round.ends(feedback, flight) {
            self.end_round();
        }
        if let Some(delivery) = feedback.delivery {
            self.observe_rate(&delivery, samples);
        }
        self.observe_rtt(feedback);
    }

    fn observe_rate(&mut self, delivery: &DeliverySample, samples: Samples) {
        let counts = samples == Samples::All || !delivery.is_app_limited() || delivery.rate > self.bandwidth();
        if counts {
            self.rates[0] = self.rates[0].max(delivery.rate);
            self.counted = true;
        }
    }

    fn end_round(&mut self) {
        self.rounds += 1;
        let bandwidth = self.bandwidth();
        // Rounds without a sample that counts leave the older ones in force.
        self.stretch += u32::from(core::mem::take(&mut self.counted));
        if self.stretch == 5 {
            self.rates = [Rate::ZERO, self.rates[0]];
            self.stretch = 0;
        }
        self.startup = self.startup.and_then(|(best, stalled)| match bandwidth {
            more if more > best.mul_f64(1.25) => Some((more, 0)),
            _ if stalled >= 2 => None,
            _ => Some((best, stalled + 1)),
        });
    }

    fn observe_rtt(&mut self, feedback: &Feedback<'_>) {
        let sample = feedback.rtt.map(|rtt| rtt.latest);
        if let Some((until, smallest)) = &mut self.drain {
            *smallest = [*smallest, sample].into_iter().flatten().min();
            if feedback.now >= *until {
                self.min_rtt = smallest.or(self.min_rtt);
                self.min_rtt_at = feedback.now;
                self.drain = None;
            }
        } else if feedback.now.saturating_since(self.min_rtt_at) > FRESH && self.min_rtt.is_some() {
            self.drain = Some((feedback.now + DRAIN + sample.unwrap_or_default(), None));
        } else if let Some(rtt) = sample.filter(|rtt| self.min_rtt.is_none_or(|min| *rtt <= min)) {
            self.min_rtt = Some(rtt);
            self.min_rtt_at = feedback.now;
        }
    }

    /// The smallest RTT counts as new at `now`.
    pub(in super::super) fn postpone_probe(&mut self, now: Timestamp) {
        self.min_rtt_at = now;
    }

    pub(in super::super) fn on_signal(&mut self, now: Timestamp, signal: &Signal) {
        match signal {
            Signal::MtuChange { mtu } => self.mtu = (*mtu).max(1),
            Signal::PathChange { change: PathChange::Migrated | PathChange::Revived, .. } => {
                self.initial = self.mtu.saturating_mul(10);
                self.rates = [Rate::ZERO; 2];
                self.startup = Some((Rate::ZERO, 0));
                self.min_rtt = None;
                self.min_rtt_at = now;
                self.drain = None;
            }
            _ => {}
        }
    }

    pub(in super::super) fn bandwidth(&self) -> Rate {
        self.rates[0].max(self.rates[1])
    }

    pub(in super::super) const fn min_rtt(&self) -> Option<Span> {
        self.min_rtt
    }

    fn gain(&self) -> f64 {
        match (self.startup, self.drain) {
            (Some(_), _) => STARTUP,
            (None, Some(_)) => 1.0,
            (None, None) => CYCLE[((self.rounds % 8 + self.offset) % 8) as usize],
        }
    }

    /// Twice the bandwidth-delay product, once both factors are known.
    pub(in super::super) fn two_bdp(&self) -> Option<u64> {
        let known = self.min_rtt.filter(|_| self.rounds > 0)?;
        let gain = if self.startup.is_some() { STARTUP } else { 2.0 };
        Some(self.bandwidth().mul_f64(gain).bytes_in(known))
    }

    pub(in super::super) fn window(&self) -> u64 {
        let least = self.mtu.saturating_mul(4);
        if self.collapsed || self.drain.is_some() {
            return least;
        }
        let unknown = self.bandwidth() == Rate::ZERO;
        self.two_bdp().filter(|_| !unknown).unwrap_or(self.initial).max(least)
    }

    pub(in super::super) fn pacing_rate(&self) -> Option<Rate> {
        let bandwidth = self.bandwidth();
        (bandwidth > Rate::ZERO).then(|| bandwidth.mul_f64(self.gain()))
    }

    pub(in super::super) const fn phase(&self) -> &'static str {
        match (self.startup, self.drain) {
            (Some(_), _) => "startup",
            (None, Some(_)) => "probe_rtt",
            (None, None) => "probe_bw",
        }
    }

    pub(in super::super) fn handover(&self) -> Handover {
        let mut handover = Handover::of_window(self.window());
        handover.min_rtt = self.min_rtt;
        handover.bandwidth = Some(self.bandwidth()).filter(|rate| *rate > Rate::ZERO);
        handover
    }
}
