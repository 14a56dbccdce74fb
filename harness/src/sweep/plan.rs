//! Which runs a sweep is made of.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use cc_algos::Registry;

use crate::measure::Identity;
use crate::scenario::{Cast, Entrant, EntrantError, Prepared, Rivals};

/// What to sweep over.
#[derive(Clone, Debug, Default)]
pub struct PlanRequest {
    /// The scenarios, in the order of the tables.
    pub scenarios: Vec<Arc<Prepared>>,
    /// The algorithms; none for those that each scenario names.
    pub algorithms: Vec<String>,
    /// Seeds of each cell, from 1 on; `None` for what each scenario says.
    pub seeds: Option<u32>,
}

/// Why there is nothing to sweep.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SweepError {
    /// An algorithm or its balancer is not known.
    #[error(transparent)]
    Algorithm(Box<EntrantError>),
    /// An algorithm of a scenario is not.
    #[error("scenario `{scenario}`: {source}")]
    ScenarioAlgorithm {
        /// Which scenario.
        scenario: String,
        /// Why.
        source: Box<EntrantError>,
    },
    /// Two scenarios have one name.
    #[error("two scenarios are called `{0}`: their results would overwrite each other")]
    RepeatedScenario(String),
    /// An algorithm is named twice.
    #[error("algorithm `{0}` is named twice")]
    RepeatedAlgorithm(String),
}

/// One scenario with one algorithm under test.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Name of the scenario in results: with its rival, where it has one.
    pub scenario: String,
    /// Canonical spelling of the algorithm under test.
    pub algorithm: String,
    /// The scenario.
    pub prepared: Arc<Prepared>,
    /// Who takes part.
    pub cast: Cast,
    /// How many seeds.
    pub seeds: u32,
}

/// One run.
#[derive(Clone, Debug)]
pub struct Job {
    /// Index into [`Sweep::cells`].
    pub cell: usize,
    /// Its seed.
    pub seed: u64,
    /// What its record is filed under.
    pub identity: Identity,
}

/// All cells and runs of a sweep, in a fixed order.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The cells, scenario by scenario.
    pub cells: Vec<Cell>,
    /// The runs, cell by cell, of this shard.
    pub jobs: Vec<Job>,
}

/// Part `index` of `count` equal parts, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: u32,
    count: u32,
}

impl Shard {
    /// Everything.
    pub const WHOLE: Self = Self { index: 1, count: 1 };

    fn holds(self, number: usize) -> bool {
        number as u64 % u64::from(self.count) == u64::from(self.index - 1)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.split_once('/')
            .and_then(|(index, count)| Some(Self { index: index.parse().ok()?, count: count.parse().ok()? }))
            .filter(|shard| shard.index >= 1 && shard.index <= shard.count)
            .ok_or_else(|| format!("`{text}`: expected part i of n as `i/n`, such as 1/4"))
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl Sweep {
    /// Lays out a sweep.
    ///
    /// # Errors
    ///
    /// If an algorithm is unknown, or a scenario or an algorithm is there twice.
    pub fn plan(request: &PlanRequest, registry: &Registry, shard: Shard) -> Result<Self, SweepError> {
        let mut cells = Vec::new();
        for (index, prepared) in request.scenarios.iter().enumerate() {
            let name = &prepared.scenario.name;
            if request.scenarios[..index].iter().any(|earlier| earlier.scenario.name == *name) {
                return Err(SweepError::RepeatedScenario(name.clone()));
            }
            cells.extend(cells_of(prepared, request, registry)?);
        }
        let jobs =
            cells.iter().enumerate().flat_map(|(cell, of)| (1..=u64::from(of.seeds)).map(move |seed| (cell, seed)));
        let jobs = jobs
            .enumerate()
            .filter(|(number, _)| shard.holds(*number))
            .map(|(_, (cell, seed))| Job { cell, seed, identity: cells[cell].identity(seed) })
            .collect();
        Ok(Self { cells, jobs })
    }
}

impl Cell {
    /// What the run of this seed is filed under.
    pub fn identity(&self, seed: u64) -> Identity {
        Identity {
            scenario: self.scenario.clone(),
            algorithm: self.algorithm.clone(),
            seed,
            config_hash: self.prepared.fingerprint().to_owned(),
        }
    }
}

fn cells_of(prepared: &Arc<Prepared>, request: &PlanRequest, registry: &Registry) -> Result<Vec<Cell>, SweepError> {
    let scenario = &prepared.scenario;
    let of_scenario =
        |source| SweepError::ScenarioAlgorithm { scenario: scenario.name.clone(), source: Box::new(source) };
    let subjects = if request.algorithms.is_empty() {
        resolve(&scenario.algorithms, prepared, registry)?.map_err(of_scenario)?
    } else {
        resolve(&request.algorithms, prepared, registry)?.map_err(|source| SweepError::Algorithm(Box::new(source)))?
    };
    let rivals = match &scenario.rivals {
        Rivals::None => vec![None],
        Rivals::Each => subjects.iter().cloned().map(Some).collect(),
        Rivals::Named(names) => {
            resolve(names, prepared, registry)?.map_err(of_scenario)?.into_iter().map(Some).collect()
        }
    };
    let mut cells = Vec::new();
    for rival in &rivals {
        for subject in &subjects {
            cells.push(Cell {
                scenario: match rival {
                    Some(rival) => format!("{}+{rival}", scenario.name),
                    None => scenario.name.clone(),
                },
                algorithm: subject.to_string(),
                prepared: Arc::clone(prepared),
                cast: Cast { subject: subject.clone(), rival: rival.clone() },
                seeds: request.seeds.unwrap_or(scenario.seeds),
            });
        }
    }
    Ok(cells)
}

/// Resolves names: the outer error is a repetition, the inner one an unknown algorithm.
fn resolve(
    names: &[String],
    prepared: &Prepared,
    registry: &Registry,
) -> Result<Result<Vec<Entrant>, EntrantError>, SweepError> {
    let resolved: Result<Vec<Entrant>, _> = names.iter().map(|name| prepared.resolve(name, registry)).collect();
    if let Ok(all) = &resolved {
        let names: Vec<_> = all.iter().map(Entrant::to_string).collect();
        for (index, name) in names.iter().enumerate() {
            if names[..index].contains(name) {
                return Err(SweepError::RepeatedAlgorithm(name.clone()));
            }
        }
    }
    Ok(resolved)
}
