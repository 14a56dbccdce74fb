//! Marking at plain first-in-first-out ports, decided by the backlog alone.
//!
//! * **Threshold**: a packet is marked when the backlog exceeds `K` bytes (DCTCP, Alizadeh et al., SIGCOMM 2010, section
//!   3.1; RFC 8257, section 3.1). Packets that cannot be marked pass.
//! * **RED**, random early detection (Floyd and Jacobson 1993): with `b` the backlog,
//!
//!   > p = 0 for b ≤ min; p_max (b − min) / (max − min) up to max; 1 above
//!
//!   *gentle* (Floyd 2000) puts p_max + (1 − p_max) (b − max) / max between max and twice max. Packets that cannot be
//!   marked are dropped with the same probability.
//!
//! | parameter | origin |
//! |---|---|
//! | `K` | C × RTT / 7 at least (DCTCP, equation 13); 65 packets at 10 Gb/s there |
//! | min, max, p_max | data-centre switches: DCQCN (Zhu et al., SIGCOMM 2015) 5 kB, 200 kB, 1 % at 40 Gb/s |
//! | weight | 0.002 (Floyd and Jacobson, section 6); switches use the backlog itself |
//!
//! Differences from Floyd and Jacobson:
//!
//! | what | paper | here |
//! |---|---|---|
//! | backlog | average of weight w_q | the backlog itself, or an average of a given weight per packet |
//! | idle time | ages the average | the average sees arrivals only: no clock comes in |
//! | spacing of marks | uniform, by a count since the last | independent, hence geometric, as switches do it |
//! | probability by size | optional | none |

use cc_algos::Ecn;

use crate::error::{Probability, SpecError, ensure};
use crate::rng::{self, Random};

/// When a port asks its marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum MarkAt {
    /// When a packet comes, by the backlog that it finds, itself not counted. What fills up behind it is not seen.
    #[default]
    Enqueue,
    /// When a packet leaves, by the backlog that it leaves behind: the signal is younger by the queueing delay.
    Dequeue,
}

/// How a plain port marks.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum MarkingSpec {
    /// Not at all.
    #[default]
    None,
    /// Every capable packet while the backlog exceeds so many bytes.
    Threshold {
        /// DCTCP's K, bytes.
        bytes: u64,
    },
    /// With a probability that grows with the backlog.
    Red(Red),
}

/// Parameters of random early detection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Red {
    /// Backlog up to which nothing is marked, bytes.
    pub min_bytes: u64,
    /// Backlog above which everything is, bytes.
    pub max_bytes: u64,
    /// Probability just below `max_bytes`.
    pub max_probability: Probability,
    /// What stands for the backlog.
    pub average: RedAverage,
    /// Whether the probability rises on to 1 at twice `max_bytes` instead of jumping there.
    pub gentle: bool,
}

/// What stands for the backlog in random early detection.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum RedAverage {
    /// The backlog itself.
    #[default]
    Instantaneous,
    /// An exponential average; each packet's backlog enters with this weight.
    Weighted(Probability),
}

impl MarkingSpec {
    /// Checks the parameters.
    ///
    /// # Errors
    /// If the thresholds of RED are not in order, or an average never moves.
    pub fn validate(&self) -> Result<(), SpecError> {
        let Self::Red(red) = self else { return Ok(()) };
        ensure(red.max_bytes > red.min_bytes, "red upper threshold", red.max_bytes, "more than the lower threshold")?;
        match red.average {
            RedAverage::Weighted(weight) => ensure(weight.get() > 0.0, "red weight", weight.get(), "more than zero"),
            RedAverage::Instantaneous => Ok(()),
        }
    }
}

/// What happens to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing.
    Pass,
    /// Its codepoint becomes CE.
    Mark,
    /// It is dropped, since it cannot be marked.
    Drop,
}

/// Decides about the packets of one port.
#[derive(Clone, Debug)]
pub struct Marker {
    spec: MarkingSpec,
    random: Random,
    average: f64,
}

impl Marker {
    /// A marker with a random stream of its own.
    ///
    /// # Errors
    /// If the specification is invalid.
    pub fn new(spec: MarkingSpec, random: Random) -> Result<Self, SpecError> {
        spec.validate()?;
        Ok(Self { spec, random, average: 0.0 })
    }

    /// The verdict on a packet at the given backlog; see [`MarkAt`] for what the backlog counts.
    pub fn mark(&mut self, backlog_bytes: u64, ecn: Ecn) -> Verdict {
        match self.spec {
            MarkingSpec::None => Verdict::Pass,
            MarkingSpec::Threshold { bytes } if backlog_bytes > bytes && ecn.is_capable() => Verdict::Mark,
            MarkingSpec::Threshold { .. } => Verdict::Pass,
            MarkingSpec::Red(red) => {
                let backlog = match red.average {
                    RedAverage::Instantaneous => backlog_bytes as f64,
                    RedAverage::Weighted(weight) => {
                        self.average += weight.get() * (backlog_bytes as f64 - self.average);
                        self.average
                    }
                };
                match rng::chance(&mut self.random, red.probability(backlog)) {
                    true if ecn.is_capable() => Verdict::Mark,
                    true => Verdict::Drop,
                    false => Verdict::Pass,
                }
            }
        }
    }
}

impl Red {
    /// The marking probability at a backlog in bytes.
    pub fn probability(&self, backlog: f64) -> f64 {
        let (min, max, peak) = (self.min_bytes as f64, self.max_bytes as f64, self.max_probability.get());
        if backlog <= min {
            0.0
        } else if backlog <= max {
            peak * (backlog - min) / (max - min)
        } else if self.gentle && backlog < 2.0 * max {
            peak + (1.0 - peak) * (backlog - max) / max
        } else {
            1.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marker(spec: MarkingSpec) -> Marker {
        Marker::new(spec, rng::stream(1, "marker", 0)).unwrap()
    }

    fn red() -> Red {
        Red {
            min_bytes: 5_000,
            max_bytes: 200_000,
            max_probability: Probability::new(0.01).unwrap(),
            average: RedAverage::Instantaneous,
            gentle: false,
        }
    }

    #[test]
    fn a_threshold_marks_above_it_and_leaves_what_cannot_be_marked() {
        let mut marker = marker(MarkingSpec::Threshold { bytes: 97_500 });
        assert_eq!(marker.mark(97_500, Ecn::Ect0), Verdict::Pass);
        assert_eq!(marker.mark(97_501, Ecn::Ect0), Verdict::Mark);
        assert_eq!(marker.mark(97_501, Ecn::Ect1), Verdict::Mark);
        assert_eq!(marker.mark(1_000_000, Ecn::NotEct), Verdict::Pass);
    }

    #[test]
    fn red_marks_in_proportion_to_the_backlog() {
        // Half-way: p = 0.005. Of 200 000 packets 1 000 are marked, standard deviation 31.5; five of them.
        let mut marker = marker(MarkingSpec::Red(red()));
        let marked = (0..200_000).filter(|_| marker.mark(102_500, Ecn::Ect0) == Verdict::Mark).count();
        assert!((843..=1_157).contains(&marked), "{marked}");
        assert!((0..1_000).all(|_| marker.mark(5_000, Ecn::Ect0) == Verdict::Pass));
        assert!((0..1_000).all(|_| marker.mark(200_001, Ecn::Ect0) == Verdict::Mark));
        assert!((0..1_000).all(|_| marker.mark(200_001, Ecn::NotEct) == Verdict::Drop));
    }

    #[test]
    fn gentle_red_rises_from_its_peak_to_one_at_twice_the_upper_threshold() {
        let gentle = Red { gentle: true, ..red() };
        // Probability at 200 kB: 0.01; half-way to 400 kB: 0.01 + 0.99 / 2.
        for (backlog, probability) in [(200_000.0, 0.01), (300_000.0, 0.505), (400_000.0, 1.0), (1e12, 1.0)] {
            assert!((gentle.probability(backlog) - probability).abs() < 1e-12, "{backlog}");
        }
    }

    #[test]
    fn an_average_follows_the_backlog_by_its_weight() {
        let average = RedAverage::Weighted(Probability::new(0.5).unwrap());
        let mut marker = marker(MarkingSpec::Red(Red { average, max_bytes: 60_000, ..red() }));
        // 40, 60 and 70 kB on average: only the third exceeds 60 kB, whatever the luck at p ≤ 0.01 of the first two.
        marker.mark(80_000, Ecn::Ect0);
        marker.mark(80_000, Ecn::Ect0);
        assert_eq!(marker.mark(80_000, Ecn::Ect0), Verdict::Mark);
    }

    #[test]
    fn thresholds_out_of_order_are_refused() {
        let wrong = MarkingSpec::Red(Red { max_bytes: 5_000, ..red() });
        let message = Marker::new(wrong, rng::stream(1, "marker", 0)).unwrap_err().to_string();
        assert_eq!(message, "red upper threshold is 5000, expected more than the lower threshold");
        let frozen = Red { average: RedAverage::Weighted(Probability::ZERO), ..red() };
        assert!(MarkingSpec::Red(frozen).validate().is_err());
    }
}
