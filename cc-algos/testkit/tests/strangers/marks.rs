//! Laws that answer marks in proportion, after DCTCP (RFC 8257).

use cc_algos::algo::recovery::{Congestion, Recovery, Verdict};
use cc_algos::signal::PathChange;
use cc_algos::units::mul_div;
use cc_algos::{Controller, Declaration, Family, Feedback, Flight, Need, Signal, Tally, Timestamp};

use super::{Core, Reductions, Round, Stranger, rest_from_core};

pub(super) fn all() -> Vec<Stranger> {
    vec![
        Stranger {
            name: "dctcp-alpha-above-one",
            bug: "believes in more marked than acknowledged bytes: alpha passes two and the reduction underflows",
            build: |setup| Box::new(AlphaAboveOne { core: Core::new(setup), share: Share::default() }),
            declaration: datacentre,
        },
        Stranger {
            name: "dctcp-losses-are-corruption",
            bug: "takes losses for corruption once marks have been seen, also after ECN validation failed: then nothing but \
                  persistent congestion ever reduces",
            build: |setup| {
                Box::new(LossesAreCorruption { core: Core::new(setup), share: Share::default(), seen: false })
            },
            declaration: datacentre,
        },
        Stranger {
            name: "dctcp-two-epochs",
            bug: "keeps one recovery for losses and another for marks: a window that has both reduces twice",
            build: |setup| {
                let marks = Recovery::default();
                Box::new(TwoEpochs { core: Core::new(setup), share: Share::default(), marks })
            },
            declaration: datacentre,
        },
    ]
}

pub(super) fn datacentre() -> Declaration {
    Declaration::new(Family::Datacentre).needing(Need::Ecn).min_window(2.0).reductions(Reductions::OncePerWindow)
}

/// Alpha in 1024ths, from the marked share of each round with weight 1/16.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    round: Round,
    acked: u64,
    marked: u64,
    alpha: u64,
}

impl Default for Share {
    fn default() -> Self {
        Self { round: Round::default(), acked: 0, marked: 0, alpha: 1_024 }
    }
}

impl Share {
    fn observe(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>, marked: u64) {
        self.acked = self.acked.saturating_add(feedback.newly_acked.bytes);
        self.marked = self.marked.saturating_add(marked);
        if self.round.ends(feedback, flight) {
            let share = if self.acked == 0 { 0 } else { mul_div(self.marked, 1_024, self.acked) };
            // Rounds up, so that alpha reaches zero.
            self.alpha = self.alpha.saturating_sub(self.alpha.div_ceil(16)).saturating_add(share.div_ceil(16));
            (self.acked, self.marked) = (0, 0);
        }
    }

    /// As the law says: no more can be marked than was acknowledged.
    pub(super) fn observe_capped(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.observe(feedback, flight, feedback.newly_marked.bytes.min(feedback.newly_acked.bytes));
        self.alpha = self.alpha.min(1_024);
    }

    pub(super) fn kept(&self) -> f64 {
        1.0 - self.alpha as f64 / 2_048.0
    }
}

/// Wrong: the counts are the peer's, who may forge them.
#[derive(Clone, Debug)]
struct AlphaAboveOne {
    core: Core,
    share: Share,
}

impl Controller for AlphaAboveOne {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.share.observe(feedback, flight, feedback.newly_marked.bytes);
        match self.core.recovery.judge(feedback, flight) {
            Some(Verdict::Reduce(Congestion::Loss)) => self.core.reduce(0.5),
            Some(Verdict::Reduce(Congestion::Mark)) => {
                let window = self.core.window.bytes();
                let target = window - mul_div(window, self.share.alpha, 2_048);
                self.core.window.reduce_to(target, self.core.window.min());
            }
            _ => {}
        }
        self.core.collapse_if_persistent(feedback, flight);
        self.core.grow(feedback, flight);
    }
    rest_from_core!(signals);
}

/// Wrong: a path without marks has nothing but losses to tell.
#[derive(Clone, Debug)]
struct LossesAreCorruption {
    core: Core,
    share: Share,
    seen: bool,
}

impl Controller for LossesAreCorruption {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.share.observe_capped(feedback, flight);
        self.seen |= !feedback.newly_marked.is_zero();
        let mut judged = *feedback;
        if self.seen {
            (judged.lost, judged.newly_lost) = (&[], Tally::ZERO);
            (judged.recovered_packets, judged.recovered) = (&[], Tally::ZERO);
        }
        match self.core.recovery.judge(&judged, flight) {
            Some(Verdict::Reduce(Congestion::Loss)) => self.core.reduce(0.5),
            Some(Verdict::Reduce(Congestion::Mark)) => self.core.reduce(self.share.kept()),
            _ => {}
        }
        self.core.collapse_if_persistent(feedback, flight);
        self.core.grow(feedback, flight);
    }
    fn on_signal(&mut self, _now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
        if matches!(signal, Signal::PathChange { change: PathChange::Migrated | PathChange::Revived, .. }) {
            self.seen = false;
        }
        self.core.on_signal(signal);
    }
    rest_from_core!();
}

/// Wrong: losses and marks of one window are one congestion.
#[derive(Clone, Debug)]
struct TwoEpochs {
    core: Core,
    share: Share,
    marks: Recovery,
}

impl Controller for TwoEpochs {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.share.observe_capped(feedback, flight);
        let (mut losses, mut marks) = (*feedback, *feedback);
        losses.newly_marked = Tally::ZERO;
        (marks.lost, marks.newly_lost, marks.spurious) = (&[], Tally::ZERO, &[]);
        (marks.recovered_packets, marks.recovered) = (&[], Tally::ZERO);
        if self.core.is_congested(&losses, flight) {
            self.core.reduce(0.5);
        }
        if matches!(self.marks.judge(&marks, flight), Some(Verdict::Reduce(_))) {
            self.core.reduce(self.share.kept());
        }
        self.core.collapse_if_persistent(feedback, flight);
        let acked = self.core.growth(feedback, flight).min(self.marks.acked_outside(feedback));
        self.core.window.grow(acked);
    }
    rest_from_core!(signals);
}
