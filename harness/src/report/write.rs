//! The files of a results folder beside its records.

use std::path::{Path, PathBuf};

use super::html::{Page, to_html};
use super::{FormatError, to_csv, to_hlog, to_parquet};
use crate::measure::{RunRecord, StoreError, Table, write_atomically};

/// Why a file of the report could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The system refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The results do not fit the format.
    #[error(transparent)]
    Format(#[from] FormatError),
}

/// Writes `results.csv`, `results.parquet`, `histograms.hlog` and `report.html` into `folder`, and `comparison.csv` where the table
/// has a baseline, each whole or not at all. Returns their paths, the page last.
///
/// # Errors
/// If a file cannot be written; those before it stay.
pub fn write_all(
    folder: &Path,
    page: &Page,
    table: &Table,
    records: &[RunRecord],
) -> Result<Vec<PathBuf>, ReportError> {
    let grid = table.grid();
    let mut files = vec![
        ("results.csv", to_csv(&grid)?),
        ("results.parquet", to_parquet(&grid)?),
        ("histograms.hlog", to_hlog(records)?),
    ];
    if let Some(versus) = &table.versus {
        files.push(("comparison.csv", to_csv(&versus.grid())?));
    }
    files.push(("report.html", to_html(page, table, records).into_bytes()));
    let mut written = Vec::new();
    for (name, contents) in files {
        let path = folder.join(name);
        write_atomically(&path, &contents)?;
        written.push(path);
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{TableOptions, testing};

    #[test]
    fn a_folder_gets_every_file_and_the_same_bytes_again() {
        let records: Vec<_> = (1..=6).map(|seed| testing::run("lte", "cubic", seed)).collect();
        let options = TableOptions { baseline: Some("cubic".into()), ..TableOptions::default() };
        let table = Table::build(&records, &options).unwrap();
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let paths = write_all(first.path(), &Page::default(), &table, &records).unwrap();
        write_all(second.path(), &Page::default(), &table, &records).unwrap();
        let names: Vec<_> = paths.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["results.csv", "results.parquet", "histograms.hlog", "comparison.csv", "report.html"]);
        for path in &paths {
            let other = second.path().join(path.file_name().unwrap());
            assert_eq!(std::fs::read(path).unwrap(), std::fs::read(other).unwrap(), "{}", path.display());
        }
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error = write_all(Path::new("/no/such/folder"), &Page::default(), &Table::default(), &[]).unwrap_err();
        assert!(error.to_string().starts_with("cannot write /no/such/folder/results.csv: "), "{error}");
    }
}
