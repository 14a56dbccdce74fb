//! The folder of a hunt: `hunt.json` holds what it needs to go on, written whole after every generation.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::bounds::Bounds;
use super::goal::Goal;
use super::search::SearchState;
use crate::measure::{StoreError, write_atomically};

/// The file that makes a folder one of a hunt.
const FILE: &str = "hunt.json";

/// What a hunt is: together with the version of this program, these decide all that it finds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The algorithm under test, in canonical spelling.
    pub algorithm: String,
    /// The algorithm that it is held against.
    pub baseline: String,
    /// What is bad.
    pub goal: Goal,
    /// Seed of the search and of every run.
    pub seed: u64,
    /// What a network may be.
    pub bounds: Bounds,
}

impl Settings {
    /// The first thing in which these differ from `other`, as `key value (not other's value)`.
    fn difference(&self, other: &Self) -> Option<String> {
        let differs =
            |key: &str, own: String, other: String| (own != other).then(|| format!("{key} {own} (not {other})"));
        let range = |(low, high): (String, String)| format!("{low}..{high}");
        let bounds = |of: fn(&Bounds) -> (String, String)| (range(of(&self.bounds)), range(of(&other.bounds)));
        let rates = bounds(|bounds| (bounds.rate.0.to_string(), bounds.rate.1.to_string()));
        let rtts = bounds(|bounds| (bounds.rtt.0.to_string(), bounds.rtt.1.to_string()));
        let buffers = bounds(|bounds| (bounds.buffer_milli_bdp.0.to_string(), bounds.buffer_milli_bdp.1.to_string()));
        differs("algorithm", self.algorithm.clone(), other.algorithm.clone())
            .or_else(|| differs("goal", self.goal.to_string(), other.goal.to_string()))
            .or_else(|| differs("baseline", self.baseline.clone(), other.baseline.clone()))
            .or_else(|| differs("seed", self.seed.to_string(), other.seed.to_string()))
            .or_else(|| differs("duration", self.bounds.duration.to_string(), other.bounds.duration.to_string()))
            .or_else(|| differs("rate", rates.0, rates.1))
            .or_else(|| differs("rtt", rtts.0, rtts.1))
            .or_else(|| differs("buffer in thousandths of a BDP", buffers.0, buffers.1))
            .or_else(|| differs("jitter", self.bounds.jitter.to_string(), other.bounds.jitter.to_string()))
            .or_else(|| differs("vary", format!("{:?}", self.bounds.vary), format!("{:?}", other.bounds.vary)))
    }
}

/// What the file holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    /// The program that wrote it: another one's runs may have other results.
    version: String,
    settings: Settings,
    state: SearchState,
}

/// Why a folder cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HuntStoreError {
    /// It holds a hunt already.
    #[error("{} holds a hunt already: give --resume to go on with it, or another --out", path.display())]
    Exists {
        /// Which folder.
        path: PathBuf,
    },
    /// It holds something else.
    #[error("{} is not empty and holds no {FILE}: expected a new folder for --out", path.display())]
    Foreign {
        /// Which folder.
        path: PathBuf,
    },
    /// There is nothing to go on with.
    #[error("{} holds no {FILE}: leave --resume out to begin a hunt there", path.display())]
    Nothing {
        /// Which folder.
        path: PathBuf,
    },
    /// It belongs to another hunt.
    #[error("{} belongs to another hunt: it has {difference}", path.display())]
    Other {
        /// Which folder.
        path: PathBuf,
        /// In what it differs.
        difference: String,
    },
    /// The file is no state of a hunt.
    #[error("{}: {reason}: expected what a hunt wrote", path.display())]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Its answer.
        source: std::io::Error,
    },
    /// A file could not be written.
    #[error(transparent)]
    Write(#[from] StoreError),
}

/// An open folder.
#[derive(Clone, Debug)]
pub struct Store {
    path: PathBuf,
    settings: Settings,
}

impl Store {
    /// Begins a folder.
    ///
    /// # Errors
    ///
    /// If it holds a hunt or anything else already, or cannot be written.
    pub fn create(path: &Path, settings: Settings) -> Result<Self, HuntStoreError> {
        let io = |action, source| HuntStoreError::Io { action, path: path.to_owned(), source };
        if path.join(FILE).exists() {
            return Err(HuntStoreError::Exists { path: path.to_owned() });
        }
        fs::create_dir_all(path).map_err(|source| io("make folder", source))?;
        if fs::read_dir(path).map_err(|source| io("read folder", source))?.next().is_some() {
            return Err(HuntStoreError::Foreign { path: path.to_owned() });
        }
        let store = Self { path: path.to_owned(), settings };
        store.save(&SearchState::default())?;
        Ok(store)
    }

    /// Takes a folder up again.
    ///
    /// # Errors
    ///
    /// If there is no hunt in it, or another one.
    pub fn resume(path: &Path, settings: Settings) -> Result<(Self, SearchState), HuntStoreError> {
        let file = path.join(FILE);
        if !file.exists() {
            return Err(HuntStoreError::Nothing { path: path.to_owned() });
        }
        let text = fs::read_to_string(&file).map_err(|source| HuntStoreError::Io {
            action: "read",
            path: file.clone(),
            source,
        })?;
        let contents: Contents = serde_json::from_str(&text)
            .map_err(|error| HuntStoreError::Malformed { path: file, reason: error.to_string() })?;
        let other = |difference| HuntStoreError::Other { path: path.to_owned(), difference };
        if contents.version != env!("CARGO_PKG_VERSION") {
            return Err(other(format!("version {} (not {})", contents.version, env!("CARGO_PKG_VERSION"))));
        }
        match contents.settings.difference(&settings) {
            Some(difference) => Err(other(difference)),
            None => Ok((Self { path: path.to_owned(), settings }, contents.state)),
        }
    }

    /// Writes what the hunt needs to go on.
    ///
    /// # Errors
    ///
    /// If the system refuses: no space, no permission.
    pub fn save(&self, state: &SearchState) -> Result<(), HuntStoreError> {
        let contents = Contents {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            settings: self.settings.clone(),
            state: state.clone(),
        };
        let mut text = serde_json::to_string_pretty(&contents)
            .map_err(|error| HuntStoreError::Malformed { path: self.path.join(FILE), reason: error.to_string() })?;
        text.push('\n');
        Ok(write_atomically(&self.path.join(FILE), text.as_bytes())?)
    }

    /// What the hunt is.
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// A file of this folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}
