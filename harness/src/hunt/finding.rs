//! What a hunt ends in: a scenario that anybody can run, and what it shows in plain numbers.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use cc_algos::registry::Args;
use cc_algos::{Rate, Span};

use super::goal::{Goal, Measured, Score};
use super::minimise::Minimised;
use super::trial::{Evaluation, HuntError, Trial};
use crate::measure::{KeepSeries, PPM, RunRecord};
use crate::scenario::{Cast, Prepared, Scenario};
use crate::sweep::{Cell, Job, RunError, simulate};

/// Seeds under which a finding is tried again: from 1 on.
const SEEDS: u64 = 10;

/// How a finding fares under other seeds than the one it was found with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Robustness {
    /// Seeds tried.
    pub seeds: u64,
    /// Of these, the ones under which it is a finding.
    pub found: u64,
    /// The lowest score.
    pub lowest: Score,
    /// The highest score.
    pub highest: Score,
}

/// A network, and what it does.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The network as a scenario.
    pub scenario: Scenario,
    /// What became of it.
    pub evaluation: Evaluation,
    /// What the baseline does in the algorithm's place; `None` if it breaks or is the same.
    pub baseline: Option<Measured>,
    /// Under other seeds.
    pub robustness: Robustness,
    /// The run of the algorithm, or how it broke.
    pub subject_run: Result<RunRecord, String>,
    /// The run of the baseline, or how it broke.
    pub baseline_run: Result<RunRecord, String>,
    subject: String,
    baseline_name: String,
    goal: Goal,
    seed: u64,
}

impl Finding {
    /// Flies both algorithms over the network once more, as `run` does, and under other seeds.
    ///
    /// # Errors
    ///
    /// If interrupted.
    pub fn new(trial: &Trial, minimised: &Minimised) -> Result<Self, HuntError> {
        let genome = &minimised.genome;
        let baseline = match &minimised.evaluation.baseline {
            Some(baseline) => Some(baseline.clone()),
            None if trial.baseline == trial.subject => None,
            None => trial.measure(genome, &trial.baseline, trial.seed)?.ok(),
        };
        let scores = trial.scores(genome, SEEDS)?;
        let threshold = trial.goal.threshold();
        let robustness = Robustness {
            seeds: SEEDS,
            found: scores.iter().filter(|score| **score >= threshold).count() as u64,
            lowest: scores.iter().copied().min().unwrap_or(Score::USELESS),
            highest: scores.iter().copied().max().unwrap_or(Score::USELESS),
        };
        let mut finding = Self {
            scenario: trial.scenario(genome, String::new()),
            evaluation: minimised.evaluation.clone(),
            baseline,
            robustness,
            subject_run: Err(String::new()),
            baseline_run: Err(String::new()),
            subject: trial.subject.to_string(),
            baseline_name: trial.baseline.to_string(),
            goal: trial.goal,
            seed: trial.seed,
        };
        finding.scenario.description = finding.headline();
        finding.subject_run = fly(trial, &finding.scenario, &trial.subject)?;
        finding.baseline_run = fly(trial, &finding.scenario, &trial.baseline)?;
        Ok(finding)
    }

    /// Whether it is bad enough to be called one.
    pub fn is_found(&self) -> bool {
        self.evaluation.score >= self.goal.threshold()
    }

    /// How bad it is.
    pub const fn score(&self) -> Score {
        self.evaluation.score
    }

    /// What it shows, in a sentence.
    pub fn headline(&self) -> String {
        let (subject, baseline) = (&self.subject, &self.baseline_name);
        let duration = self.scenario.duration;
        let measured = match &self.evaluation.subject {
            Ok(measured) => measured,
            Err(reason) => return format!("{subject} breaks: {reason}."),
        };
        let does = |measured: &Measured| describe(self.goal, measured, duration);
        let mut text = format!("{subject} {}", does(measured));
        if let Some(other) = &self.baseline {
            let _ = write!(text, "; {baseline} in its place {}", does(other));
            if self.goal == Goal::LowUtilisation && other.total() > 0 {
                let share = measured.total() as f64 / other.total() as f64;
                let _ = write!(text, ". {subject} gets {share:.3} of that");
            }
        }
        text.push('.');
        text
    }

    /// How it fares under other seeds, in a sentence.
    pub fn robustness_text(&self) -> String {
        let Robustness { seeds, found, lowest, highest } = self.robustness;
        let found = if self.is_found() {
            format!("a finding under {found} of the seeds 1 to {seeds}")
        } else {
            format!("under the seeds 1 to {seeds}")
        };
        format!("{found}, with scores from {lowest} to {highest}")
    }

    /// The scenario's file: what it shows as a comment, then the scenario.
    pub fn to_toml(&self, command: &str) -> String {
        let mut text = String::new();
        let sentences = [
            format!("Found by `hunt --algo {} --goal {} --seed {}`.", self.subject, self.goal, self.seed),
            self.headline(),
            format!(
                "Score {} (a finding from {} on), {}.",
                self.evaluation.score,
                self.goal.threshold(),
                self.robustness_text()
            ),
            format!("Replay: {command}"),
        ];
        for sentence in sentences {
            // What an algorithm says when it breaks may have several lines.
            for line in sentence.lines() {
                text.push_str(&format!("# {line}\n"));
            }
        }
        text.push('\n');
        text + &self.scenario.to_toml()
    }

    /// The command that replays it from this file.
    pub fn command(&self, program: &str, file: &Path) -> String {
        let file = file.display().to_string();
        format!("{program} run {} --algo {} --seed {}", shell(&file), shell(&self.subject), self.seed)
    }
}

fn describe(goal: Goal, measured: &Measured, duration: Span) -> String {
    let rate = |bytes| {
        crate::measure::Unit::Rate.human(Rate::from_bytes_in(bytes, duration).unwrap_or_default().as_bps() as f64)
    };
    let percent = |ppm: u64| format!("{:.1} %", ppm as f64 * 100.0 / PPM as f64);
    let pair = || measured.delivered.iter().map(|&bytes| rate(bytes)).collect::<Vec<_>>().join(" and ");
    match goal {
        Goal::LowUtilisation => {
            format!(
                "delivers {}, {} of what the link offers",
                rate(measured.total()),
                percent(measured.utilisation_ppm())
            )
        }
        Goal::HighDelay => format!("keeps {:.2} BDP queued on average", measured.queue_ppm() as f64 / PPM as f64),
        Goal::Loss => format!("loses {} of its packets", percent(measured.loss_ppm())),
        Goal::Starvation => format!("shares the link as {}", pair()),
        Goal::Unfairness => {
            format!("shares the link as {} (Jain's index {:.3})", pair(), measured.jain_ppm() as f64 / PPM as f64)
        }
    }
}

/// One run, exactly as the command `run` does it.
fn fly(trial: &Trial, scenario: &Scenario, algorithm: &Args) -> Result<Result<RunRecord, String>, HuntError> {
    let prepared = Arc::new(Prepared::new(scenario.clone(), Path::new(""))?);
    let cell = Cell {
        scenario: scenario.name.clone(),
        algorithm: algorithm.to_string(),
        cast: Cast { subject: algorithm.clone().into(), rival: None },
        seeds: 1,
        prepared,
    };
    let job = Job { cell: 0, seed: trial.seed, identity: cell.identity(trial.seed) };
    let run = || simulate(trial.registry(), &cell, &job, KeepSeries::Yes);
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)) {
        Ok(Ok(record)) => Ok(Ok(record)),
        Ok(Err(RunError::Compile(error))) => Err(error.into()),
        Ok(Err(error)) => Ok(Err(error.to_string())),
        Err(panic) => Ok(Err(crate::sweep::panic_text(&*panic))),
    }
}

/// A word for a shell: in quotes if it has anything that shells read.
fn shell(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+".contains(c);
    if word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}
