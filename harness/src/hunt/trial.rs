//! What a network does to the algorithm, and to the baseline alone in its place.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use cc_algos::Registry;
use cc_algos::registry::{Args, RegistryError};
use rayon::prelude::*;
use sim::Outcome;

use super::bounds::{Bounds, BoundsError, Dimension};
use super::genome::Genome;
use super::goal::{Goal, Measured, Score};
use super::network::GROUP;
use super::store::Settings;
use crate::scenario::{Cast, CompileError, Compiled, Prepared, Scenario, ScenarioError, Service};
use crate::sweep::Interrupt;

/// Who sends the cross traffic: at a rate of its own, whatever the network does.
pub(super) const CROSS_ALGORITHM: &str = "fixed-rate";

/// Why a hunt cannot begin, or ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HuntError {
    /// An algorithm is not what the registry knows.
    #[error(transparent)]
    Algorithm(#[from] RegistryError),
    /// No network is within the bounds.
    #[error(transparent)]
    Bounds(#[from] BoundsError),
    /// The goal holds the algorithm against itself.
    #[error("goal {goal} holds `{algorithm}` against a baseline: expected another one than `{algorithm}` itself")]
    OwnBaseline {
        /// The goal.
        goal: Goal,
        /// The algorithm.
        algorithm: String,
    },
    /// Only cross traffic may change, and there can be none.
    #[error("vary: {reason}")]
    NothingVaries {
        /// Why, and what was expected.
        reason: String,
    },
    /// A network could not be compiled: a defect of this program, never of an input.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The same.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The threads could not be started.
    #[error("cannot start {jobs} threads: {reason}")]
    Threads {
        /// How many.
        jobs: usize,
        /// What the system said.
        reason: String,
    },
    /// It was asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// What became of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// How bad it is.
    pub score: Score,
    /// What the algorithm did, or how it broke.
    pub subject: Result<Measured, String>,
    /// What the baseline did in its place, where the goal asks for it.
    pub baseline: Option<Measured>,
}

/// Tries networks, several at a time.
pub struct Trial {
    registry: Registry,
    /// The algorithm under test.
    pub subject: Args,
    /// The baseline.
    pub baseline: Args,
    /// What is bad.
    pub goal: Goal,
    /// What a network may be.
    pub bounds: Bounds,
    /// Seed of every run.
    pub seed: u64,
    pool: rayon::ThreadPool,
    interrupt: Interrupt,
}

impl Trial {
    /// Trials of what `settings` name, on `jobs` threads, until the interrupt is raised.
    ///
    /// # Errors
    ///
    /// If an algorithm is unknown, the bounds hold no network, or threads cannot be started.
    pub fn new(registry: &Registry, settings: &Settings, jobs: usize, interrupt: Interrupt) -> Result<Self, HuntError> {
        let (subject, baseline) = (registry.resolve(&settings.algorithm)?, registry.resolve(&settings.baseline)?);
        let mut bounds = settings.bounds.clone();
        let goal = settings.goal;
        let cross = if goal.excludes_cross_traffic() {
            Err(format!("goal {goal} admits no cross traffic, whose queue and losses would count as the algorithm's"))
        } else if registry.find(CROSS_ALGORITHM).is_err() {
            Err(format!("cross traffic takes the algorithm `{CROSS_ALGORITHM}`, which this registry does not have"))
        } else {
            Ok(())
        };
        bounds.validate()?;
        if goal.needs_baseline() && subject == baseline {
            return Err(HuntError::OwnBaseline { goal, algorithm: subject.to_string() });
        }
        if let Err(reason) = cross {
            bounds.vary.retain(|dimension| *dimension != Dimension::CrossTraffic);
            if bounds.vary.is_empty() {
                return Err(HuntError::NothingVaries { reason: format!("{reason}: expected jitter or capacity") });
            }
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
        let pool = pool.map_err(|error| HuntError::Threads { jobs, reason: error.to_string() })?;
        let (registry, seed) = (registry.clone(), settings.seed);
        Ok(Self { registry, subject, baseline, goal, bounds, seed, pool, interrupt })
    }

    /// Tries all of them; the answers stand in the order of the networks, whatever the number of threads.
    ///
    /// # Errors
    ///
    /// If interrupted: then nothing is known of any.
    pub fn evaluate_all(&self, genomes: &[Genome]) -> Result<Vec<Evaluation>, HuntError> {
        self.pool.install(|| genomes.par_iter().map(|genome| self.evaluate(genome)).collect())
    }

    /// Tries one.
    ///
    /// # Errors
    ///
    /// If interrupted.
    pub fn evaluate(&self, genome: &Genome) -> Result<Evaluation, HuntError> {
        self.evaluate_under(genome, self.seed)
    }

    /// The scores under the seeds from 1 to `seeds`.
    ///
    /// # Errors
    ///
    /// If interrupted.
    pub fn scores(&self, genome: &Genome, seeds: u64) -> Result<Vec<Score>, HuntError> {
        let score = |seed| self.evaluate_under(genome, seed).map(|evaluation| evaluation.score);
        self.pool.install(|| (1..=seeds).into_par_iter().map(score).collect())
    }

    fn evaluate_under(&self, genome: &Genome, seed: u64) -> Result<Evaluation, HuntError> {
        if self.interrupt.is_raised() {
            return Err(HuntError::Interrupted);
        }
        let prepared = self.prepare(genome)?;
        let baseline = match self.goal.needs_baseline() {
            true => Some(self.fly(&prepared, &self.baseline, seed)?),
            false => None,
        };
        let subject = self.fly(&prepared, &self.subject, seed)?;
        let (score, baseline) = match (&subject, baseline) {
            (_, Some(Err(_))) => (Score::USELESS, None),
            (Err(_), baseline) => (Score::BROKEN, baseline.and_then(Result::ok)),
            (Ok(subject), baseline) => {
                let baseline = baseline.and_then(Result::ok);
                (self.goal.score(subject, baseline.as_ref()), baseline)
            }
        };
        Ok(Evaluation { score, subject, baseline })
    }

    /// What an algorithm does on a network under a seed, or how it breaks.
    ///
    /// # Errors
    ///
    /// If the network cannot be compiled, which one within bounds can.
    pub fn measure(&self, genome: &Genome, algorithm: &Args, seed: u64) -> Result<Result<Measured, String>, HuntError> {
        self.fly(&self.prepare(genome)?, algorithm, seed)
    }

    /// The scenario that plays a network.
    pub fn scenario(&self, genome: &Genome, description: String) -> Scenario {
        let scenario = genome.scenario(&self.bounds, scenario_name(&self.subject, self.goal), description);
        let mut algorithms = vec![self.subject.to_string()];
        if self.baseline != self.subject {
            algorithms.push(self.baseline.to_string());
        }
        Scenario { algorithms, baseline: Some(self.baseline.to_string()), ..scenario }
    }

    /// The registry that its algorithms are from.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    fn prepare(&self, genome: &Genome) -> Result<Prepared, HuntError> {
        Ok(Prepared::new(self.scenario(genome, String::new()), Path::new(""))?)
    }

    fn fly(&self, prepared: &Prepared, algorithm: &Args, seed: u64) -> Result<Result<Measured, String>, HuntError> {
        let cast = Cast { subject: algorithm.clone().into(), rival: None };
        let mut compiled = prepared.compile(&self.registry, &cast, seed)?;
        // Samples change no other result, and nobody reads these.
        compiled.experiment.sample_every = None;
        let outcome = catch_unwind(AssertUnwindSafe(|| sim::run(&compiled.experiment)));
        Ok(match outcome {
            Ok(Ok(outcome)) => Ok(measured(prepared, &compiled, &outcome)),
            Ok(Err(error)) => Err(error.to_string()),
            Err(panic) => Err(crate::sweep::panic_text(&*panic)),
        })
    }
}

fn measured(prepared: &Prepared, compiled: &Compiled, outcome: &Outcome) -> Measured {
    let of_group = |group: u16| compiled.groups.get(&group).is_some_and(|name| name == GROUP);
    let flows = outcome.flows.iter().zip(&compiled.experiment.flows);
    let tested: Vec<_> = flows.filter(|(_, spec)| of_group(spec.group)).map(|(flow, _)| flow).collect();
    let bottleneck = outcome.ports.first();
    let nanos = u128::from(outcome.ended_at.as_nanos().max(1));
    let backlog = bottleneck.map_or(0, |port| port.backlog_byte_nanos / nanos);
    let topology = &prepared.scenario.topology;
    let bdp = match topology.main_link().service {
        Service::Rate(rate) => rate.bytes_in(prepared.rtt()),
        Service::Trace { .. } => 0,
    };
    Measured {
        delivered: tested.iter().map(|flow| flow.delivered).collect(),
        offered: bottleneck.map_or(0, |port| port.offered),
        backlog: u64::try_from(backlog).unwrap_or(u64::MAX),
        bdp,
        sent: tested.iter().map(|flow| flow.packets_sent).sum(),
        lost: tested.iter().map(|flow| flow.lost.saturating_sub(flow.spurious)).sum(),
    }
}

/// A scenario's name: letters, digits and hyphens.
fn scenario_name(subject: &Args, goal: Goal) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = subject.algorithm().chars().map(plain).take(30).collect();
    format!("hunt-{}-{goal}", name.trim_matches('-'))
}
