//! Records in a results folder, one file a run: `runs/<scenario>/<algorithm>/<seed>.json`.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::format::RecordError;
use super::record::{Identity, RunRecord};

/// Folder of the records inside a results folder.
const RUNS: &str = "runs";

/// What went wrong with a file of results, and with which.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
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
    /// A file that is no record.
    #[error("{}: {source}", path.display())]
    Record {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        source: RecordError,
    },
    /// A record of another run than its place in the folder says.
    #[error("{}: this is the record of {found}", path.display())]
    Misplaced {
        /// Which file.
        path: PathBuf,
        /// Whose record it is.
        found: String,
    },
    /// A folder without results.
    #[error("{}: no results here, expected a folder with runs/<scenario>/<algorithm>/<seed>.json", path.display())]
    Empty {
        /// Which folder.
        path: PathBuf,
    },
}

/// Attaches what was done to which file to an error of the system.
pub(crate) fn io_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    move |source| StoreError::Io { action, path: path.to_owned(), source }
}

/// Writes a whole file or nothing: into a temporary file beside it, flushed to the disk, then renamed.
/// Whatever stood there before stays until the new file is complete.
///
/// # Errors
/// Names the path and what the system said: no such folder, no permission, no space left.
pub fn write_atomically(path: &Path, contents: &[u8]) -> Result<(), StoreError> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(name);
    let write = || -> io::Result<()> {
        let mut file = fs::File::create(&temporary)?;
        file.write_all(contents)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    write().map_err(|source| {
        // The first error is the one worth telling; what is left over has a name that nothing reads.
        let _ = fs::remove_file(&temporary);
        StoreError::Io { action: "write", path: path.to_owned(), source }
    })
}

/// A name as a path component: letters, digits and `.-_=,+` stay, everything else (and a leading dot) becomes `%XX`.
pub fn path_component(name: &str) -> String {
    let mut safe = String::with_capacity(name.len());
    for (index, byte) in name.bytes().enumerate() {
        match byte {
            b'.' if index == 0 => safe.push_str("%2E"),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' | b'=' | b',' | b'+' => safe.push(byte.into()),
            _ => safe.push_str(&format!("%{byte:02X}")),
        }
    }
    safe
}

impl Identity {
    /// Where the record of this run stands inside a results folder.
    pub fn relative_path(&self) -> PathBuf {
        let folder = Path::new(RUNS).join(path_component(&self.scenario)).join(path_component(&self.algorithm));
        folder.join(format!("{}.json", self.seed))
    }
}

impl RunRecord {
    /// Writes the record to its place in `folder`, whole or not at all; makes the folders on the way.
    ///
    /// # Errors
    /// If the system refuses; says where.
    pub fn save(&self, folder: &Path) -> Result<(), StoreError> {
        let path = folder.join(self.identity.relative_path());
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(io_error("make folder", parent))?;
        }
        write_atomically(&path, self.to_json().as_bytes())
    }

    /// Reads one record.
    ///
    /// # Errors
    /// If the file cannot be read or is not a record.
    pub fn load(path: &Path) -> Result<Self, StoreError> {
        let text = fs::read(path).map_err(io_error("read", path))?;
        let text = String::from_utf8_lossy(&text);
        Self::from_json(&text).map_err(|source| StoreError::Record { path: path.to_owned(), source })
    }
}

/// Reads every record of a results folder, sorted by identity. Files under `runs` that do not end in `.json` are passed over.
///
/// # Errors
/// If there are none, if one is damaged or of another version, or if one does not stand where its identity says.
pub fn load_folder(folder: &Path) -> Result<Vec<RunRecord>, StoreError> {
    let runs = folder.join(RUNS);
    let mut records = Vec::new();
    if runs.is_dir() {
        for scenario in sorted_entries(&runs)?.iter().filter(|path| path.is_dir()) {
            for algorithm in sorted_entries(scenario)?.iter().filter(|path| path.is_dir()) {
                for file in
                    sorted_entries(algorithm)?.iter().filter(|path| path.extension().is_some_and(|e| e == "json"))
                {
                    records.push(load_from_place(folder, file)?);
                }
            }
        }
    }
    if records.is_empty() {
        return Err(StoreError::Empty { path: folder.to_owned() });
    }
    records.sort_by(|a, b| a.identity.cmp(&b.identity));
    Ok(records)
}

fn load_from_place(folder: &Path, file: &Path) -> Result<RunRecord, StoreError> {
    let record = RunRecord::load(file)?;
    if folder.join(record.identity.relative_path()) == file {
        return Ok(record);
    }
    let Identity { scenario, algorithm, seed, .. } = &record.identity;
    Err(StoreError::Misplaced { path: file.to_owned(), found: format!("{scenario}, {algorithm}, seed {seed}") })
}

fn sorted_entries(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let entries = fs::read_dir(folder).map_err(io_error("read folder", folder))?;
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.map_err(io_error("read folder", folder))?.path());
    }
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    #[test]
    fn a_folder_gives_back_the_records_that_were_saved() {
        let folder = tempfile::tempdir().unwrap();
        let mut records: Vec<_> = [("lte", "cubic?beta=0.5", 2), ("lte", "cubic?beta=0.5", 10), ("a/b", "..", 1)]
            .map(|(scenario, algorithm, seed)| testing::run(scenario, algorithm, seed))
            .into();
        for record in &records {
            record.save(folder.path()).unwrap();
        }
        records.sort_by(|a, b| a.identity.cmp(&b.identity));
        assert_eq!(load_folder(folder.path()).unwrap(), records);
        assert!(folder.path().join("runs/lte/cubic%3Fbeta=0.5/10.json").is_file());
        assert!(folder.path().join("runs/a%2Fb/%2E./1.json").is_file(), "names cannot leave the folder");
    }

    #[test]
    fn unfinished_temporary_files_are_not_taken_for_results() {
        let folder = tempfile::tempdir().unwrap();
        let record = testing::run("lte", "cubic", 1);
        record.save(folder.path()).unwrap();
        fs::write(folder.path().join("runs/lte/cubic/2.json.17.tmp"), "{\"format\":").unwrap();
        assert_eq!(load_folder(folder.path()).unwrap(), [record]);
    }

    #[test]
    fn errors_name_the_file() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(load_folder(folder.path()), Err(StoreError::Empty { .. })));
        let record = testing::run("lte", "cubic", 1);
        record.save(folder.path()).unwrap();
        let path = folder.path().join(record.identity.relative_path());
        fs::copy(&path, path.with_file_name("2.json")).unwrap();
        let misplaced = load_folder(folder.path()).unwrap_err().to_string();
        assert!(misplaced.ends_with("2.json: this is the record of lte, cubic, seed 1"), "{misplaced}");
        fs::write(path.with_file_name("2.json"), "{\"format\":\"cwndtun").unwrap();
        let damaged = load_folder(folder.path()).unwrap_err().to_string();
        assert!(damaged.contains("2.json: damaged record: EOF"), "{damaged}");
    }

    #[test]
    fn a_folder_that_cannot_be_written_gives_an_error_and_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        // A file where a folder is needed: refused whoever runs the tests, unlike permissions.
        fs::write(folder.path().join("runs"), "in the way").unwrap();
        let error = testing::run("lte", "cubic", 1).save(folder.path()).unwrap_err().to_string();
        assert!(error.starts_with("cannot make folder ") && error.contains("runs"), "{error}");
        let path = folder.path().join("results.csv");
        fs::create_dir(&path).unwrap();
        assert!(write_atomically(&path, b"new").is_err());
        let left: Vec<_> = sorted_entries(folder.path()).unwrap();
        assert_eq!(left, [path, folder.path().join("runs")], "no temporary file stays behind");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_told_with_the_path() {
        // Renaming onto a device is never reached: writing to the link in its place fails first.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.csv");
        let temporary = folder.path().join(format!("results.csv.{}.tmp", std::process::id()));
        std::os::unix::fs::symlink("/dev/full", &temporary).unwrap();
        let error = write_atomically(&path, b"new").unwrap_err().to_string();
        assert!(error.contains("results.csv") && error.contains("No space left"), "{error}");
        assert!(!path.exists() && !temporary.exists());
    }
}
