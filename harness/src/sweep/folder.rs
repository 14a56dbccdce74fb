//! The folder that results go to.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::manifest::{Manifest, ManifestError, Recipe};
use super::plan::Job;
use crate::measure::{RunRecord, StoreError, write_atomically};

const MANIFEST: &str = "manifest.json";

/// What to do with a folder that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Complete it if it belongs to the same sweep.
    Resume,
    /// Refuse it.
    Refuse,
}

/// Why a folder cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// It holds results already.
    #[error("{} holds results already: give --resume to complete them, or another --out", path.display())]
    Exists {
        /// Which folder.
        path: PathBuf,
    },
    /// It holds something else.
    #[error("{} is not empty and holds no {MANIFEST}: expected a new folder for --out", path.display())]
    Foreign {
        /// Which folder.
        path: PathBuf,
    },
    /// It belongs to another sweep.
    #[error("{} belongs to another run: it has {difference}", path.display())]
    OtherRun {
        /// Which folder.
        path: PathBuf,
        /// In what it differs.
        difference: String,
    },
    /// Its manifest cannot be used.
    #[error("{}: {source}", path.display())]
    Manifest {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: ManifestError,
    },
    /// The system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Its answer.
        source: io::Error,
    },
    /// A file could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// An open results folder.
#[derive(Clone, Debug)]
pub struct ResultsFolder {
    path: PathBuf,
    /// What it holds.
    pub manifest: Manifest,
}

impl ResultsFolder {
    /// Begins a folder, or takes one up again.
    ///
    /// # Errors
    ///
    /// If it holds something else, belongs to another sweep, or cannot be written.
    pub fn create(path: &Path, manifest: Manifest, existing: Existing) -> Result<Self, FolderError> {
        let io_error = |action, source| FolderError::Io { action, path: path.to_owned(), source };
        fs::create_dir_all(path).map_err(|source| io_error("make folder", source))?;
        let file = path.join(MANIFEST);
        if file.exists() {
            if existing == Existing::Refuse {
                return Err(FolderError::Exists { path: path.to_owned() });
            }
            let found = Self::open(path)?;
            found.expect(&manifest.recipe)?;
            return Ok(found);
        }
        if fs::read_dir(path).map_err(|source| io_error("read folder", source))?.next().is_some() {
            return Err(FolderError::Foreign { path: path.to_owned() });
        }
        write_atomically(&file, manifest.to_json().as_bytes())?;
        Ok(Self { path: path.to_owned(), manifest })
    }

    /// Opens a folder to read it.
    ///
    /// # Errors
    ///
    /// If it is none, or of another format.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        Ok(Self { path: path.to_owned(), manifest: read_manifest(&path.join(MANIFEST))? })
    }

    /// Checks that it holds the runs of this recipe.
    ///
    /// # Errors
    ///
    /// If it belongs to another sweep; says in what it differs.
    pub fn expect(&self, recipe: &Recipe) -> Result<(), FolderError> {
        if self.manifest.recipe_hash == recipe.hash() {
            return Ok(());
        }
        let difference = recipe.difference(&self.manifest.recipe);
        Err(FolderError::OtherRun { path: self.path.clone(), difference })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the record of this run is there, whole and of the same configuration.
    pub fn has(&self, job: &Job) -> bool {
        let path = self.path.join(job.identity.relative_path());
        path.exists() && RunRecord::load(&path).is_ok_and(|record| record.identity == job.identity)
    }

    /// Files a record.
    ///
    /// # Errors
    ///
    /// If the system refuses: no space, no permission.
    pub fn save(&self, record: &RunRecord) -> Result<(), StoreError> {
        record.save(&self.path)
    }
}

fn read_manifest(file: &Path) -> Result<Manifest, FolderError> {
    let text =
        fs::read_to_string(file).map_err(|source| FolderError::Io { action: "read", path: file.to_owned(), source })?;
    Manifest::from_json(&text).map_err(|source| FolderError::Manifest { path: file.to_owned(), source })
}

/// `results/NAME`, or the first of `results/NAME-2`, `results/NAME-3`, ... that is not there yet.
pub fn free_folder(name: &str) -> PathBuf {
    let base = Path::new("results");
    let numbered = (2_u32..).map(|number| base.join(format!("{name}-{number}")));
    std::iter::once(base.join(name)).chain(numbered).find(|path| !path.exists()).unwrap_or_else(|| base.join(name))
}
