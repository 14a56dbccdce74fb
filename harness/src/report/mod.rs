//! Results for people and for other programs: a terminal table, CSV, Parquet, JSON, HdrHistogram logs, qlog and one page of HTML.
//!
//! Everything takes its columns from [`crate::measure::METRICS`] by way of [`crate::measure::Table`], and is written whole
//! or not at all.

mod export;
mod flows;
mod histograms;
pub mod html;
mod parquet;
mod qlog;
mod terminal;
mod write;

pub use export::{to_csv, to_json};
pub use flows::flows_to_csv;
pub use histograms::to_hlog;
pub use parquet::to_parquet;
pub use qlog::to_qlog;
pub use terminal::{comparison, table};
pub use write::{ReportError, write_all};

/// What could not be written in a format.
#[derive(Debug, thiserror::Error)]
#[error("cannot write results as {format}: {reason}")]
pub struct FormatError {
    format: &'static str,
    reason: String,
}

impl FormatError {
    fn new(format: &'static str) -> impl Fn(&dyn std::fmt::Display) -> Self {
        move |reason| Self { format, reason: reason.to_string() }
    }
}
