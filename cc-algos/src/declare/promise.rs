//! The promises one by one.

use core::fmt;

use super::Promises;

/// One of the [`Promises`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Promise {
    /// [`Promises::utilisation`].
    Utilisation,
    /// [`Promises::queueing_delay`].
    QueueingDelay,
    /// [`Promises::fairness`].
    Fairness,
    /// [`Promises::rtt_fairness`].
    RttFairness,
    /// [`Promises::convergence_rtts`].
    Convergence,
    /// [`Promises::least_share_against_cubic`].
    LeastShareAgainstCubic,
    /// [`Promises::most_share_against_cubic`].
    MostShareAgainstCubic,
    /// [`Promises::loss_tolerance`].
    LossTolerance,
    /// [`Promises::window_at_losses`].
    WindowAtLosses,
    /// [`Promises::window_at_rare_losses`].
    WindowAtRareLosses,
    /// [`Promises::reaction_to_drop_rtts`].
    ReactionToDrop,
    /// [`Promises::reaction_to_rise_rtts`].
    ReactionToRise,
}

/// Where, seen from a bound, what keeps it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The bound or more.
    AtLeast,
    /// The bound or less.
    AtMost,
    /// Four fifths to five quarters of it.
    About,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AtLeast => "at least",
            Self::AtMost => "at most",
            Self::About => "about",
        })
    }
}

impl Promise {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Utilisation,
        Self::QueueingDelay,
        Self::Fairness,
        Self::RttFairness,
        Self::Convergence,
        Self::LeastShareAgainstCubic,
        Self::MostShareAgainstCubic,
        Self::LossTolerance,
        Self::WindowAtLosses,
        Self::WindowAtRareLosses,
        Self::ReactionToDrop,
        Self::ReactionToRise,
    ];

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Utilisation => "utilisation",
            Self::QueueingDelay => "queueing delay",
            Self::Fairness => "fairness",
            Self::RttFairness => "RTT fairness",
            Self::Convergence => "convergence",
            Self::LeastShareAgainstCubic => "least share against cubic",
            Self::MostShareAgainstCubic => "most share against cubic",
            Self::LossTolerance => "loss tolerance",
            Self::WindowAtLosses => "window at losses",
            Self::WindowAtRareLosses => "window at rare losses",
            Self::ReactionToDrop => "reaction to a drop",
            Self::ReactionToRise => "reaction to a rise",
        }
    }

    /// What its number counts; empty for shares.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::QueueingDelay | Self::Convergence | Self::ReactionToDrop | Self::ReactionToRise => "base RTTs",
            Self::WindowAtLosses | Self::WindowAtRareLosses => "packets",
            _ => "",
        }
    }

    /// The number that was promised, if one was.
    pub fn promised(self, promises: &Promises) -> Option<f64> {
        match self {
            Self::Utilisation => promises.utilisation,
            Self::QueueingDelay => promises.queueing_delay,
            Self::Fairness => promises.fairness,
            Self::RttFairness => promises.rtt_fairness,
            Self::Convergence => promises.convergence_rtts.map(f64::from),
            Self::LeastShareAgainstCubic => promises.least_share_against_cubic,
            Self::MostShareAgainstCubic => promises.most_share_against_cubic,
            Self::LossTolerance => promises.loss_tolerance,
            Self::WindowAtLosses => promises.window_at_losses,
            Self::WindowAtRareLosses => promises.window_at_rare_losses,
            Self::ReactionToDrop => promises.reaction_to_drop_rtts.map(f64::from),
            Self::ReactionToRise => promises.reaction_to_rise_rtts.map(f64::from),
        }
    }

    /// What a measurement is held against: the number that was promised, except that at the promised loss rate half of the
    /// link must be used.
    pub fn threshold(self, promises: &Promises) -> Option<f64> {
        let promised = self.promised(promises)?;
        Some(if self == Self::LossTolerance { 0.5 } else { promised })
    }

    /// Where, seen from its threshold, what keeps it lies.
    pub const fn side(self) -> Side {
        match self {
            Self::Utilisation
            | Self::Fairness
            | Self::RttFairness
            | Self::LeastShareAgainstCubic
            | Self::LossTolerance => Side::AtLeast,
            Self::QueueingDelay
            | Self::Convergence
            | Self::MostShareAgainstCubic
            | Self::ReactionToDrop
            | Self::ReactionToRise => Side::AtMost,
            Self::WindowAtLosses | Self::WindowAtRareLosses => Side::About,
        }
    }

    /// Whether `measured` keeps `threshold`.
    pub fn keeps(self, measured: f64, threshold: f64) -> bool {
        match self.side() {
            Side::AtLeast => measured >= threshold,
            Side::AtMost => measured <= threshold,
            Side::About => (0.8 * threshold..=1.25 * threshold).contains(&measured),
        }
    }

    /// The less flattering of two measurements, held against `threshold`.
    pub fn worse(self, threshold: f64, a: f64, b: f64) -> f64 {
        let distance =
            |measured: f64| if measured > 0.0 { libm::log(measured / threshold).abs() } else { f64::INFINITY };
        match self.side() {
            Side::AtLeast => a.min(b),
            Side::AtMost => a.max(b),
            Side::About => {
                if distance(a) > distance(b) {
                    a
                } else {
                    b
                }
            }
        }
    }
}

/// As lists show them: `utilisation at least 0.95, queueing delay at most 0.6 base RTTs`. Nothing if nothing is promised.
impl fmt::Display for Promises {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for promise in Promise::ALL {
            let Some(promised) = promise.promised(self) else { continue };
            write!(f, "{separator}{} ", promise.name())?;
            match promise {
                Promise::LossTolerance => write!(f, "{promised}")?,
                _ => write!(f, "{} {promised}", promise.side())?,
            }
            if !promise.unit().is_empty() {
                write!(f, " {}", promise.unit())?;
            }
            separator = ", ";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declare::{Declaration, Family};

    #[test]
    fn promises_read_as_a_sentence() {
        let declared = Declaration::new(Family::WideArea).utilisation(0.95).queueing_delay(0.5).loss_tolerance(0.02);
        let expected = "utilisation at least 0.95, queueing delay at most 0.5 base RTTs, loss tolerance 0.02";
        assert_eq!(declared.promises.to_string(), expected);
        assert_eq!(Promises::default().to_string(), "");
    }

    #[test]
    fn what_is_further_off_is_worse() {
        let promise = Promise::WindowAtLosses;
        assert_eq!([7.9, 8.0, 12.5, 12.6].map(|measured| promise.keeps(measured, 10.0)), [false, true, true, false]);
        let cases = [
            (promise, [10.0, 8.0, 11.0], 8.0),
            (promise, [10.0, 9.0, 20.0], 20.0),
            (promise, [10.0, 0.0, 1_000.0], 0.0),
            (Promise::Utilisation, [0.9, 0.5, 0.7], 0.5),
            (Promise::QueueingDelay, [0.9, 0.5, 0.7], 0.7),
        ];
        for (promise, [threshold, a, b], worse) in cases {
            assert!((promise.worse(threshold, a, b) - worse).abs() < f64::EPSILON, "{promise:?} {threshold} {a} {b}");
        }
    }

    #[test]
    fn every_promise_has_a_builder_of_its_own() {
        let all = Declaration::new(Family::WideArea)
            .utilisation(1.0)
            .queueing_delay(2.0)
            .fairness(3.0)
            .rtt_fairness(4.0)
            .convergence_rtts(5)
            .least_share_against_cubic(6.0)
            .most_share_against_cubic(7.0)
            .loss_tolerance(8.0)
            .window_at_losses(9.0)
            .window_at_rare_losses(10.0)
            .reaction_to_drop_rtts(11)
            .reaction_to_rise_rtts(12);
        let promised: Vec<_> = Promise::ALL.iter().filter_map(|promise| promise.promised(&all.promises)).collect();
        assert_eq!(promised, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0]);
    }
}
