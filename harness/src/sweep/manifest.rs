//! `manifest.json`: what a results folder holds the runs of.

use serde::{Deserialize, Serialize};

use super::plan::Sweep;
use crate::scenario::Fingerprint;

/// Format of `manifest.json`; raised whenever an older program could misread it.
pub(super) const FORMAT: u32 = 1;

/// What a folder holds, and how it came about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Format of this file.
    pub format: u32,
    /// Version of the program that began the folder.
    pub version: String,
    /// What was asked for.
    pub recipe: Recipe,
    /// Fingerprint of the recipe.
    pub recipe_hash: String,
    /// How it came about: nothing that results depend on.
    pub metadata: Metadata,
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// Name of the suite, scenario or trace.
    pub name: String,
    /// The scenarios, in the order of the tables.
    pub scenarios: Vec<RecipeScenario>,
    /// The algorithms, in the order of the tables.
    pub algorithms: Vec<String>,
    /// The algorithm that others are compared with.
    pub baseline: Option<String>,
}

/// One scenario of a recipe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecipeScenario {
    /// Name in results.
    pub name: String,
    /// Fingerprint of its configuration.
    pub config_hash: String,
    /// Seeds of each cell, from 1 on.
    pub seeds: u32,
    /// How many algorithms run in it; none in folders that do not say.
    #[serde(default)]
    pub cells: u32,
    /// The scenario with every default filled in.
    pub toml: String,
}

/// How a folder came about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// The command line that began it.
    pub command: Vec<String>,
    /// When, in seconds since 1970.
    pub started_unix_s: u64,
    /// The part of the sweep that was asked for.
    pub shard: String,
    /// The algorithms with what they declare, in words.
    #[serde(default)]
    pub declared: Vec<(String, String)>,
}

/// Why a manifest could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// It is no manifest.
    #[error("not a manifest of results: {0}")]
    Malformed(#[from] serde_json::Error),
    /// It is of another format.
    #[error("written by version {version} in format {found}: this version reads format {FORMAT}; run the sweep again")]
    Format {
        /// The program's version, as far as it says.
        version: String,
        /// Its format.
        found: u64,
    },
}

impl Recipe {
    /// The recipe of a sweep.
    pub fn of(name: &str, sweep: &Sweep, baseline: Option<String>) -> Self {
        let mut scenarios: Vec<RecipeScenario> = Vec::new();
        let mut algorithms: Vec<String> = Vec::new();
        for cell in &sweep.cells {
            if scenarios.iter().all(|known| known.name != cell.scenario) {
                scenarios.push(RecipeScenario {
                    name: cell.scenario.clone(),
                    config_hash: cell.prepared.fingerprint().to_owned(),
                    seeds: cell.seeds,
                    cells: sweep.cells.iter().filter(|other| other.scenario == cell.scenario).count() as u32,
                    toml: cell.prepared.scenario.to_toml(),
                });
            }
            if !algorithms.contains(&cell.algorithm) {
                algorithms.push(cell.algorithm.clone());
            }
        }
        let baseline = baseline.filter(|baseline| algorithms.contains(baseline));
        Self { name: name.to_owned(), scenarios, algorithms, baseline }
    }

    /// Fingerprint of which runs belong to it.
    pub fn hash(&self) -> String {
        let mut fingerprint = Fingerprint::new();
        for scenario in &self.scenarios {
            fingerprint.add(scenario.name.as_bytes());
            fingerprint.add(scenario.config_hash.as_bytes());
            fingerprint.add(&scenario.seeds.to_le_bytes());
        }
        for algorithm in &self.algorithms {
            fingerprint.add(algorithm.as_bytes());
        }
        fingerprint.finish()
    }

    /// The first thing in which another recipe differs, in words.
    pub fn difference(&self, other: &Self) -> String {
        let names = |recipe: &Self| recipe.scenarios.iter().map(|scenario| scenario.name.clone()).collect::<Vec<_>>();
        if self.algorithms != other.algorithms {
            return format!("algorithms {} instead of {}", other.algorithms.join(","), self.algorithms.join(","));
        }
        if names(self) != names(other) {
            return format!("scenarios {} instead of {}", names(other).join(","), names(self).join(","));
        }
        for (ours, theirs) in self.scenarios.iter().zip(&other.scenarios) {
            if ours.seeds != theirs.seeds {
                return format!("{} seeds of {} instead of {}", theirs.seeds, ours.name, ours.seeds);
            }
            if ours.config_hash != theirs.config_hash {
                return format!("another configuration of {}, or another version of this program", ours.name);
            }
        }
        "the same".to_owned()
    }
}

impl Manifest {
    /// A manifest for a recipe.
    pub fn new(recipe: Recipe, metadata: Metadata) -> Self {
        Self {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            recipe_hash: recipe.hash(),
            recipe,
            metadata,
        }
    }

    /// As JSON.
    pub fn to_json(&self) -> String {
        // Strings and integers always serialise.
        serde_json::to_string_pretty(self).map_or_else(|error| format!("{{\"error\":\"{error}\"}}"), |text| text + "\n")
    }

    /// From JSON.
    ///
    /// # Errors
    ///
    /// If it is no manifest, or one of another format.
    pub fn from_json(text: &str) -> Result<Self, ManifestError> {
        let value: serde_json::Value = serde_json::from_str(text)?;
        // A file that says nothing of a format is from before there was one.
        let found = value.get("format").and_then(serde_json::Value::as_u64).unwrap_or(0);
        if found != u64::from(FORMAT) {
            let version = value.get("version").and_then(serde_json::Value::as_str).unwrap_or("unknown").to_owned();
            return Err(ManifestError::Format { version, found });
        }
        Ok(serde_json::from_value(value)?)
    }
}
