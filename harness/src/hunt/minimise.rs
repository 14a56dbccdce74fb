//! The smallest network that still shows it.
//!
//! Delta debugging (Zeller and Hildebrandt 2002): leave out whole lists, then halves of them, then single entries; then write
//! every number more roundly. What still scores nearly as high is kept, and it begins again until nothing more can go. The
//! candidates of a round are tried several at a time and the first good one is taken, so that the result is the same for any
//! number of threads.

use cc_algos::{Rate, Span};

use super::genome::{Genome, Jitter};
use super::goal::{Goal, Score};
use super::search::Member;
use super::trial::{Evaluation, HuntError, Trial};
use crate::measure::PPM;

/// Candidates tried at a time. Not the number of threads: the result must not depend on that, nor the work of two machines.
const BATCH: usize = 8;

/// Part of the score, over the threshold, that a simpler network may give up, millionths. Ours.
const TOLERANCE_PPM: u64 = 100_000;

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minimised {
    /// The smallest network found.
    pub genome: Genome,
    /// What became of it.
    pub evaluation: Evaluation,
    /// Networks tried on the way.
    pub evaluations: u64,
}

impl Minimised {
    /// A network as it was found.
    pub fn untouched(found: &Member, evaluation: Evaluation) -> Self {
        Self { genome: found.genome.clone(), evaluation, evaluations: 1 }
    }
}

/// Simplifies a network as long as its score stays within a tenth of what it is, and above the goal's threshold if it is.
///
/// # Errors
///
/// If interrupted.
pub fn minimise(trial: &Trial, found: &Member) -> Result<Minimised, HuntError> {
    let least = least_score(trial.goal, found.score);
    let evaluation = trial.evaluate(&found.genome)?;
    let mut best = Minimised::untouched(found, evaluation);
    loop {
        let before = best.genome.clone();
        for stage in [lists, halves, entries, numbers] {
            while improve(trial, &mut best, stage, least)? {}
        }
        if best.genome == before {
            return Ok(best);
        }
    }
}

/// What a simpler network must still score.
fn least_score(goal: Goal, found: Score) -> Score {
    if found == Score::BROKEN {
        return found;
    }
    let tolerance = found.0.unsigned_abs() / (PPM / TOLERANCE_PPM);
    let least = Score(found.0.saturating_sub(i64::try_from(tolerance).unwrap_or(i64::MAX)));
    if found >= goal.threshold() { least.max(goal.threshold()) } else { least }
}

/// Takes the first candidate of a stage that scores enough; whether there was one.
fn improve(
    trial: &Trial,
    best: &mut Minimised,
    stage: fn(&Genome) -> Vec<Genome>,
    least: Score,
) -> Result<bool, HuntError> {
    let mut candidates = stage(&best.genome);
    for candidate in &mut candidates {
        trial.bounds.repair(candidate);
    }
    candidates.retain(|candidate| *candidate != best.genome && cost(candidate) < cost(&best.genome));
    for batch in candidates.chunks(BATCH) {
        let evaluations = trial.evaluate_all(batch)?;
        best.evaluations += batch.len() as u64;
        if let Some((genome, evaluation)) =
            batch.iter().zip(evaluations).find(|(_, evaluation)| evaluation.score >= least)
        {
            (best.genome, best.evaluation) = (genome.clone(), evaluation);
            return Ok(true);
        }
    }
    Ok(false)
}

/// What a network costs its reader: entries first, then digits. Every step makes it less, so that there is an end.
fn cost(genome: &Genome) -> (usize, u32) {
    (genome.size(), spans(genome).into_iter().map(|span| digits(span.as_nanos())).sum::<u32>() + other_digits(genome))
}

fn spans(genome: &Genome) -> Vec<Span> {
    let mut all = Vec::new();
    genome.clone().visit_spans(&mut |span| all.push(*span));
    all
}

fn other_digits(genome: &Genome) -> u32 {
    let rates = genome.capacity.iter().map(|point| point.rate).chain(genome.cross.iter().map(|burst| burst.rate));
    let rates = rates.chain([genome.rate]).map(|rate| digits(rate.as_bps())).sum::<u32>();
    rates + digits(genome.buffer_milli_bdp) + genome.cross.iter().map(|burst| digits(burst.bytes)).sum::<u32>()
}

/// Digits before the trailing zeros; one fewer for a first digit that is easy to remember.
fn digits(mut value: u64) -> u32 {
    while value > 0 && value.is_multiple_of(10) {
        value /= 10;
    }
    match value {
        0 => 0,
        1 | 2 | 5 => 1,
        _ => 2 + value.ilog10(),
    }
}

/// Without one of the lists.
fn lists(genome: &Genome) -> Vec<Genome> {
    let without = |clear: fn(&mut Genome)| {
        let mut simpler = genome.clone();
        clear(&mut simpler);
        simpler
    };
    vec![
        without(|genome| genome.cross.clear()),
        without(|genome| genome.capacity.clear()),
        without(|genome| genome.jitter = Jitter::default()),
        without(|genome| own_jitter(genome, &mut |jitter| *jitter = Jitter::default())),
        without(|genome| {
            if let Some(second) = &mut genome.second {
                second.start = Span::ZERO;
            }
        }),
        without(|genome| {
            if let Some(path) = genome.second.as_mut().and_then(|second| second.path.as_mut()) {
                path.extra_rtt = Span::ZERO;
            }
        }),
    ]
}

fn own_jitter(genome: &mut Genome, change: &mut dyn FnMut(&mut Jitter)) {
    if let Some(path) = genome.second.as_mut().and_then(|second| second.path.as_mut()) {
        change(&mut path.jitter);
    }
}

/// Without a half of one of the lists.
fn halves(genome: &Genome) -> Vec<Genome> {
    let half = |length: usize| [(0, length / 2), (length / 2, length)];
    cut(genome, half)
}

/// Without a single entry.
fn entries(genome: &Genome) -> Vec<Genome> {
    let mut all = cut(genome, |length| (0..length).map(|index| (index, index + 1)));
    let mut once = genome.clone();
    once.jitter.repeat = None;
    all.push(once);
    let mut once = genome.clone();
    own_jitter(&mut once, &mut |jitter| jitter.repeat = None);
    all.push(once);
    all
}

/// Without the ranges that `ranges` gives for the length of each list.
fn cut<I: IntoIterator<Item = (usize, usize)>>(genome: &Genome, ranges: impl Fn(usize) -> I) -> Vec<Genome> {
    let own = genome.second.as_ref().and_then(|second| second.path.as_ref());
    let mut all = Vec::new();
    let mut add = |length: usize, drop: &dyn Fn(&mut Genome, usize, usize)| {
        for (from, to) in ranges(length).into_iter().filter(|(from, to)| from < to) {
            let mut simpler = genome.clone();
            drop(&mut simpler, from, to);
            all.push(simpler);
        }
    };
    add(genome.cross.len(), &|genome, from, to| drop(genome.cross.drain(from..to)));
    add(genome.capacity.len(), &|genome, from, to| drop(genome.capacity.drain(from..to)));
    add(genome.jitter.points.len(), &|genome, from, to| drop(genome.jitter.points.drain(from..to)));
    add(own.map_or(0, |path| path.jitter.points.len()), &|genome, from, to| {
        own_jitter(genome, &mut |jitter| drop(jitter.points.drain(from..to)));
    });
    all
}

/// With one number rounder, the roundest first.
fn numbers(genome: &Genome) -> Vec<Genome> {
    let mut all = Vec::new();
    let mut add = |change: &dyn Fn(&mut Genome)| {
        let mut simpler = genome.clone();
        change(&mut simpler);
        all.push(simpler);
    };
    for step in [Rate::from_mbps(10), Rate::from_mbps(5), Rate::from_mbps(1)] {
        add(&|genome| genome.rate = round_rate(genome.rate, step));
        for index in 0..genome.capacity.len() {
            add(&|genome| genome.capacity[index].rate = round_rate(genome.capacity[index].rate, step));
        }
        for index in 0..genome.cross.len() {
            add(&|genome| genome.cross[index].rate = round_rate(genome.cross[index].rate, step));
        }
    }
    for step in [1_000, 500, 100] {
        add(&|genome| genome.buffer_milli_bdp = round(genome.buffer_milli_bdp, step));
    }
    for step in [100_000, 10_000, 1_000] {
        for index in 0..genome.cross.len() {
            add(&|genome| genome.cross[index].bytes = round(genome.cross[index].bytes, step));
        }
    }
    for millis in [1_000, 100, 50, 10, 5, 1] {
        let step = Span::from_millis(millis);
        for index in 0..spans(genome).len() {
            add(&|genome| change_span(genome, index, step));
        }
    }
    all
}

/// Rounds the span that stands at `index` in [`spans`].
fn change_span(genome: &mut Genome, index: usize, step: Span) {
    let mut place = 0;
    genome.visit_spans(&mut |span| {
        if place == index {
            *span = Span::from_nanos(round(span.as_nanos(), step.as_nanos()));
        }
        place += 1;
    });
}

fn round_rate(rate: Rate, step: Rate) -> Rate {
    Rate::from_bps(round(rate.as_bps(), step.as_bps()))
}

/// The nearest multiple.
fn round(value: u64, step: u64) -> u64 {
    (value + step / 2) / step * step
}
