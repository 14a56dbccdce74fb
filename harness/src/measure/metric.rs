//! The metrics of a cell: one list that every table, file and plot takes its columns from.

use super::distribution::{Distribution, Percentile, Ranked, Reading};
use super::fairness::PPM;
use super::record::{ClassRecord, RunRecord};
use super::unit::Unit;

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Less.
    Lower,
    /// More.
    Higher,
    /// Neither: it describes.
    Neither,
}

/// One column of results.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Name in files, without the unit's suffix.
    pub name: &'static str,
    /// Heading for people.
    pub label: &'static str,
    /// Unit.
    pub unit: Unit,
    /// Which way is better.
    pub better: Better,
    /// Whether it stands in the short table.
    pub headline: bool,
    /// What it is, for the definitions beside the tables.
    pub what: &'static str,
    source: Source,
}

impl Metric {
    /// Name in files, with the unit.
    pub fn column(&self) -> String {
        format!("{}{}", self.name, self.unit.suffix())
    }

    /// Whether differences are given as a part of the other value: fractions and indices are compared as they are.
    pub fn is_relative(&self) -> bool {
        !matches!(self.unit, Unit::Fraction | Unit::Index)
    }

    /// Whether values are read from histograms, to three significant digits.
    pub fn is_from_histogram(&self) -> bool {
        matches!(self.source, Source::Percentile(..) | Source::Max(_))
    }

    /// Whether a value may be cut off at the end of a run, and then is only a lower bound.
    pub fn may_be_censored(&self) -> bool {
        matches!(
            self.source,
            Source::Percentile(Values::Fct | Values::Slowdown | Values::Convergence, _)
                | Source::Max(Values::Fct | Values::Slowdown | Values::Convergence)
        )
    }
}

#[derive(Clone, Copy, Debug)]
enum Source {
    /// Of all seeds' histograms merged.
    Percentile(Values, Percentile),
    /// Of all seeds.
    Max(Values),
    /// Sum over seeds of the first over the sum of the second.
    Ratio(fn(&SeedView<'_>) -> Option<(u128, u128)>),
    /// Mean over the seeds that have it.
    Mean(fn(&SeedView<'_>) -> Option<u64>),
    /// Largest of the seeds.
    Largest(fn(&SeedView<'_>) -> Option<u64>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Values {
    Fct,
    Slowdown,
    OneWay,
    Queueing,
    Convergence,
}

/// What one seed says of one row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeedView<'a> {
    pub(crate) run: &'a RunRecord,
    pub(crate) class: &'a ClassRecord,
}

impl Values {
    const ALL: [Self; 5] = [Self::Fct, Self::Slowdown, Self::OneWay, Self::Queueing, Self::Convergence];
}

impl<'a> SeedView<'a> {
    fn values(&self, which: Values) -> &'a Distribution {
        match which {
            Values::Fct => &self.class.fct_ns,
            Values::Slowdown => &self.class.slowdown_milli,
            Values::OneWay => &self.class.one_way_ns,
            Values::Queueing => &self.class.queueing_ns,
            Values::Convergence => &self.run.fairness.convergence_ns,
        }
    }
}

/// Why a metric has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Nothing of the kind was measured.
    NotApplicable,
    /// Too few samples behind the percentile.
    TooFewSamples {
        /// How many there are.
        have: u64,
        /// How many it takes.
        need: u64,
    },
}

/// The seeds of a row, prepared for evaluating metrics over many weightings of them.
#[derive(Clone, Debug)]
pub(crate) struct SeedSet<'a> {
    seeds: Vec<SeedView<'a>>,
    ranked: [Ranked; Values::ALL.len()],
}

impl<'a> SeedSet<'a> {
    pub(crate) fn new(seeds: Vec<SeedView<'a>>) -> Self {
        let ranked =
            Values::ALL.map(|which| Ranked::of(&seeds.iter().map(|seed| seed.values(which)).collect::<Vec<_>>()));
        Self { seeds, ranked }
    }

    pub(crate) fn seeds(&self) -> &[SeedView<'a>] {
        &self.seeds
    }

    /// Of these, the ones numbered `seeds`.
    pub(crate) fn restricted_to(&self, seeds: &[u64]) -> Self {
        let kept = self.seeds.iter().filter(|view| seeds.contains(&view.run.identity.seed));
        Self::new(kept.copied().collect())
    }

    pub(crate) fn numbers(&self) -> impl Iterator<Item = u64> {
        self.seeds.iter().map(|seed| seed.run.identity.seed)
    }

    /// The weighting that counts each seed once.
    pub(crate) fn once(&self) -> Vec<u32> {
        vec![1; self.seeds.len()]
    }

    fn ranked(&self, which: Values) -> &Ranked {
        &self.ranked[which as usize]
    }
}

impl Metric {
    /// The value over all seeds, or why there is none.
    pub(crate) fn value(&self, set: &SeedSet<'_>) -> Result<Reading, Missing> {
        let once = set.once();
        if let Source::Percentile(which, percentile) = self.source {
            let (have, need) = (set.ranked(which).count(&once), percentile.samples_needed());
            if have > 0 && have < need {
                return Err(Missing::TooFewSamples { have, need });
            }
        }
        self.evaluate(set, &once).ok_or(Missing::NotApplicable)
    }

    /// The value where each seed counts as often as `weights` says, however few samples there are.
    pub(crate) fn evaluate(&self, set: &SeedSet<'_>, weights: &[u32]) -> Option<Reading> {
        let drawn = || set.seeds.iter().zip(weights).filter(|&(_, &weight)| weight > 0);
        match self.source {
            Source::Percentile(which, percentile) => set.ranked(which).percentile(percentile, weights),
            Source::Max(which) => set.ranked(which).max(weights),
            Source::Ratio(parts) => ratio(drawn().map(|(seed, &weight)| (parts(seed), weight))),
            Source::Mean(value) => {
                ratio(drawn().map(|(seed, &weight)| (value(seed).map(|value| (value.into(), 1)), weight)))
            }
            Source::Largest(value) => drawn().filter_map(|(seed, _)| value(seed)).max().map(Reading::Exactly),
        }
    }
}

/// The sum of the first parts over the sum of the second, to the nearest integer.
fn ratio(parts: impl Iterator<Item = (Option<(u128, u128)>, u32)>) -> Option<Reading> {
    let (mut above, mut below) = (0_u128, 0_u128);
    for (part, weight) in parts {
        if let Some((numerator, denominator)) = part {
            above = above.saturating_add(numerator.saturating_mul(u128::from(weight)));
            below = below.saturating_add(denominator.saturating_mul(u128::from(weight)));
        }
    }
    let rounded = above.saturating_add(below / 2).checked_div(below)?;
    Some(Reading::Exactly(u64::try_from(rounded).unwrap_or(u64::MAX)))
}

/// `part / whole` in millionths; nothing where there is no whole.
fn fraction(part: u64, whole: u64) -> Option<(u128, u128)> {
    (whole > 0).then(|| (u128::from(part) * u128::from(PPM), u128::from(whole)))
}

const fn metric(name: &'static str, label: &'static str, unit: Unit, better: Better, source: Source) -> Metric {
    Metric { name, label, unit, better, headline: false, what: "", source }
}

const fn lower(name: &'static str, label: &'static str, unit: Unit, source: Source) -> Metric {
    metric(name, label, unit, Better::Lower, source)
}

const fn higher(name: &'static str, label: &'static str, unit: Unit, source: Source) -> Metric {
    metric(name, label, unit, Better::Higher, source)
}

impl Metric {
    const fn headline(mut self) -> Self {
        self.headline = true;
        self
    }

    const fn what(mut self, what: &'static str) -> Self {
        self.what = what;
        self
    }
}

const P50: Percentile = Percentile::P50;
const P90: Percentile = Percentile::P90;
const P99: Percentile = Percentile::P99;
const P999: Percentile = Percentile::P99_9;

const FCT: &str =
    "flow completion time, from a flow's start to the sender knowing that every byte arrived; no handshake";
const SLOWDOWN: &str = "completion time over that in an empty network: base RTT + wire time at the path's bottleneck (of a trace: at its mean rate), headers included";
const ONE_WAY: &str = "from sending a data packet to its arrival";
const QUEUEING: &str = "one-way delay less propagation and serialisation";
const CONVERGENCE: &str = "after an arrival or departure of a long flow, until Jain's index stays at or above 0.95";

/// Every metric, in the order of the columns.
pub const METRICS: &[Metric] = &[
    lower("slowdown_p50", "slowdown p50", Unit::Factor, Source::Percentile(Values::Slowdown, P50))
        .what(SLOWDOWN)
        .headline(),
    lower("slowdown_p90", "slowdown p90", Unit::Factor, Source::Percentile(Values::Slowdown, P90)).what(SLOWDOWN),
    lower("slowdown_p99", "slowdown p99", Unit::Factor, Source::Percentile(Values::Slowdown, P99))
        .what(SLOWDOWN)
        .headline(),
    lower("slowdown_p999", "slowdown p99.9", Unit::Factor, Source::Percentile(Values::Slowdown, P999))
        .what(SLOWDOWN)
        .headline(),
    lower("slowdown_max", "slowdown max", Unit::Factor, Source::Max(Values::Slowdown)).what(SLOWDOWN),
    lower("fct_p50", "FCT p50", Unit::Time, Source::Percentile(Values::Fct, P50)).what(FCT),
    lower("fct_p90", "FCT p90", Unit::Time, Source::Percentile(Values::Fct, P90)).what(FCT),
    lower("fct_p99", "FCT p99", Unit::Time, Source::Percentile(Values::Fct, P99)).what(FCT),
    lower("fct_p999", "FCT p99.9", Unit::Time, Source::Percentile(Values::Fct, P999)).what(FCT),
    lower("fct_max", "FCT max", Unit::Time, Source::Max(Values::Fct)).what(FCT),
    lower("one_way_p50", "one-way p50", Unit::Time, Source::Percentile(Values::OneWay, P50)).what(ONE_WAY),
    lower("one_way_p99", "one-way p99", Unit::Time, Source::Percentile(Values::OneWay, P99)).what(ONE_WAY),
    lower("one_way_p999", "one-way p99.9", Unit::Time, Source::Percentile(Values::OneWay, P999)).what(ONE_WAY),
    lower("queueing_p50", "queueing p50", Unit::Time, Source::Percentile(Values::Queueing, P50))
        .what(QUEUEING)
        .headline(),
    lower("queueing_p99", "queueing p99", Unit::Time, Source::Percentile(Values::Queueing, P99))
        .what(QUEUEING)
        .headline(),
    lower("queueing_p999", "queueing p99.9", Unit::Time, Source::Percentile(Values::Queueing, P999)).what(QUEUEING),
    lower("queueing_max", "queueing max", Unit::Time, Source::Max(Values::Queueing)).what(QUEUEING),
    higher("goodput", "goodput", Unit::Rate, Source::Ratio(goodput))
        .what("distinct application bytes that arrived, over the time the row's flows were active")
        .headline(),
    metric("share", "share", Unit::Fraction, Better::Neither, Source::Ratio(share))
        .what("the row's part of all application bytes that arrived in the run"),
    higher("utilisation", "utilisation", Unit::Fraction, Source::Ratio(utilisation))
        .what("bytes sent by the busiest port over what its link, or trace, offered while the run lasted; whole run")
        .headline(),
    lower("loss_rate", "loss", Unit::Fraction, Source::Ratio(loss))
        .what("packets declared lost and never seen to arrive, over data packets sent")
        .headline(),
    lower("retransmission_rate", "retransmitted", Unit::Fraction, Source::Ratio(retransmissions))
        .what("data packets that carried bytes sent before, over data packets sent"),
    lower("spurious_rate", "spurious", Unit::Fraction, Source::Ratio(spurious))
        .what("packets declared lost that arrived after all, over data packets sent"),
    metric("mark_rate", "marked", Unit::Fraction, Better::Neither, Source::Ratio(marks))
        .what("data packets whose arrival with a CE mark was reported, over data packets sent"),
    metric("trim_rate", "trimmed", Unit::Fraction, Better::Neither, Source::Ratio(trims))
        .what("packets cut to their headers at all ports, over data packets sent by all flows; whole run")
        .headline(),
    metric("parity_share", "parity", Unit::Fraction, Better::Neither, Source::Ratio(parity))
        .what("wire bytes of parity, over all bytes sent"),
    metric("decoded_rate", "decoded", Unit::Fraction, Better::Neither, Source::Ratio(decoded))
        .what("coded blocks of which data was decoded from parity, over blocks sent"),
    lower("repair_rate", "repaired", Unit::Fraction, Source::Ratio(repaired))
        .what("coded blocks that lost more than their parity, so that packets were sent again, over blocks sent"),
    lower("timeouts", "time-outs", Unit::Factor, Source::Mean(timeouts))
        .what("probe or retransmission time-outs per run"),
    higher("jain", "Jain", Unit::Index, Source::Mean(jain))
        .what("Jain's index of the long flows' mean rates while each was active; whole run, mean over seeds")
        .headline(),
    higher("jain_over_time", "Jain over time", Unit::Index, Source::Mean(jain_over_time))
        .what("Jain's index in windows, over the flows active all through each; mean over windows, then seeds"),
    lower("convergence_p50", "convergence p50", Unit::Time, Source::Percentile(Values::Convergence, P50))
        .what(CONVERGENCE),
    lower("convergence_max", "convergence max", Unit::Time, Source::Max(Values::Convergence)).what(CONVERGENCE),
    lower("queue_mean", "mean queue", Unit::Bytes, Source::Mean(queue_mean))
        .what("backlog of the busiest port averaged over time; whole run, mean over seeds"),
    lower("queue_max", "max queue", Unit::Bytes, Source::Largest(queue_max))
        .what("largest backlog of the busiest port; whole run, largest of the seeds"),
    lower("phantom_max", "max phantom queue", Unit::Bytes, Source::Largest(phantom_max))
        .what("the most that the phantom queue of the busiest port held; whole run, largest of the seeds"),
];

fn goodput(seed: &SeedView<'_>) -> Option<(u128, u128)> {
    let totals = &seed.class.totals;
    (totals.active_ns > 0)
        .then(|| (u128::from(totals.delivered_bytes) * 8 * 1_000_000_000, u128::from(totals.active_ns)))
}

fn share(seed: &SeedView<'_>) -> Option<(u128, u128)> {
    let all = seed.run.classes.iter().map(|class| class.totals.delivered_bytes).fold(0, u64::saturating_add);
    fraction(seed.class.totals.delivered_bytes, all)
}

fn utilisation(seed: &SeedView<'_>) -> Option<(u128, u128)> {
    let port = seed.run.busiest_port()?;
    fraction(port.bytes, port.offered)
}

fn loss(seed: &SeedView<'_>) -> Option<(u128, u128)> {
    let totals = &seed.class.totals;
    fraction(totals.lost.saturating_sub(totals.spurious), totals.packets_sent)
}

fn retransmissions(seed: &SeedView<'_>) -> Option<(u128, u128)> {
    fraction(seed.class.totals.retransmitted, seed.class.totals.packets_sent)
}

fn spurious(seed: &SeedView<'_>) -> Option<(u128, u128)> {
    fraction(seed.class.totals.spurious, seed.class.totals.packets_sent)
}

fn marks(seed: &SeedView<'_>) -> Option<(u128, u128)> {
    fraction(seed.class.totals.marked, seed.class.totals.packets_sent)
}

/// Only of coded flows, as the two that follow.
fn parity(seed: &SeedView<'_>) -> Option<(u128, u128)> {
    let totals = &seed.class.totals;
    fraction(totals.coding?.parity_bytes, totals.bytes_sent)
}

fn decoded(seed: &SeedView<'_>) -> Option<(u128, u128)> {
    let coding = seed.class.totals.coding?;
    fraction(coding.decoded, coding.blocks)
}

fn repaired(seed: &SeedView<'_>) -> Option<(u128, u128)> {
    let coding = seed.class.totals.coding?;
    fraction(coding.repaired, coding.blocks)
}

/// Only of networks that trim.
fn trims(seed: &SeedView<'_>) -> Option<(u128, u128)> {
    let trimmed = seed.run.ports.iter().filter_map(|port| port.trims).reduce(u64::saturating_add)?;
    let sent = seed.run.classes.iter().map(|class| class.totals.packets_sent).fold(0, u64::saturating_add);
    fraction(trimmed, sent)
}

fn timeouts(seed: &SeedView<'_>) -> Option<u64> {
    Some(seed.class.totals.timeouts.saturating_mul(Unit::Factor.scale()))
}

fn jain(seed: &SeedView<'_>) -> Option<u64> {
    seed.run.fairness.overall_ppm
}

fn jain_over_time(seed: &SeedView<'_>) -> Option<u64> {
    seed.run.fairness.mean_over_time_ppm()
}

fn queue_mean(seed: &SeedView<'_>) -> Option<u64> {
    seed.run.busiest_port().map(|port| port.mean_backlog)
}

fn queue_max(seed: &SeedView<'_>) -> Option<u64> {
    seed.run.busiest_port().map(|port| port.max_backlog)
}

/// Only of networks with phantom queues.
fn phantom_max(seed: &SeedView<'_>) -> Option<u64> {
    seed.run.busiest_port().and_then(|port| port.max_phantom)
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    fn value(name: &str, runs: &[RunRecord]) -> Option<Reading> {
        let seeds: Vec<_> = runs.iter().map(|run| SeedView { run, class: &run.classes[0] }).collect();
        let metric = METRICS.iter().find(|metric| metric.name == name).unwrap();
        metric.value(&SeedSet::new(seeds)).ok()
    }

    #[test]
    fn names_are_unique_and_every_metric_is_explained() {
        for (index, metric) in METRICS.iter().enumerate() {
            assert!(!metric.what.is_empty(), "{}", metric.name);
            assert!(METRICS[..index].iter().all(|other| other.name != metric.name), "{}", metric.name);
        }
    }

    #[test]
    fn ratios_are_of_sums_and_not_means_of_ratios() {
        let mut runs = [testing::run("s", "a", 1), testing::run("s", "a", 2)];
        for (run, (lost, sent)) in runs.iter_mut().zip([(1, 10), (0, 90)]) {
            run.classes[0].totals.lost = lost;
            run.classes[0].totals.spurious = 0;
            run.classes[0].totals.packets_sent = sent;
        }
        // 1 of 100, where the mean of 10 % and 0 % would be 5 %.
        assert_eq!(value("loss_rate", &runs), Some(Reading::Exactly(10_000)));
    }

    #[test]
    fn goodput_is_delivered_bits_over_active_time() {
        let mut run = testing::run("s", "a", 1);
        run.classes[0].totals.delivered_bytes = 1_250_000;
        run.classes[0].totals.active_ns = 2_000_000_000;
        assert_eq!(value("goodput", &[run]), Some(Reading::Exactly(5_000_000)));
    }

    #[test]
    fn a_loss_that_arrived_after_all_is_spurious_and_no_loss() {
        let mut run = testing::run("s", "a", 1);
        let totals = &mut run.classes[0].totals;
        (totals.packets_sent, totals.lost, totals.spurious) = (100, 5, 4);
        assert_eq!(value("loss_rate", std::slice::from_ref(&run)), Some(Reading::Exactly(10_000)));
        assert_eq!(value("spurious_rate", &[run]), Some(Reading::Exactly(40_000)));
    }

    #[test]
    fn coding_is_counted_in_shares_of_bytes_and_blocks() {
        let mut run = testing::run("s", "a", 1);
        assert_eq!(value("parity_share", std::slice::from_ref(&run)), None, "nothing is coded");
        run.classes[0].totals.bytes_sent = 1_000;
        run.classes[0].totals.coding =
            Some(crate::measure::CodingTotals { parity_bytes: 200, blocks: 50, decoded: 5, repaired: 1 });
        let values = ["parity_share", "decoded_rate", "repair_rate"].map(|key| value(key, std::slice::from_ref(&run)));
        assert_eq!(values, [200_000, 100_000, 20_000].map(|ppm| Some(Reading::Exactly(ppm))));
    }

    #[test]
    fn trims_are_counted_over_all_ports_that_can_trim() {
        let mut run = testing::run("s", "a", 1);
        assert_eq!(value("trim_rate", std::slice::from_ref(&run)), None, "nothing can");
        run.ports.push(run.ports[0].clone());
        run.classes.truncate(1);
        run.classes[0].totals.packets_sent = 400;
        (run.ports[0].trims, run.ports[1].trims) = (None, Some(3));
        assert_eq!(value("trim_rate", std::slice::from_ref(&run)), Some(Reading::Exactly(7_500)));
        run.ports[0].trims = Some(1);
        assert_eq!(value("trim_rate", &[run]), Some(Reading::Exactly(10_000)));
    }

    #[test]
    fn what_was_not_measured_is_absent_and_not_zero() {
        let mut run = testing::run("s", "a", 1);
        run.fairness.overall_ppm = None;
        run.classes[0].totals.packets_sent = 0;
        run.ports.clear();
        for name in ["jain", "loss_rate", "utilisation", "queue_max"] {
            assert_eq!(value(name, std::slice::from_ref(&run)), None, "{name}");
        }
    }
}
