//! What runs measured, from one record a run to a table with confidence intervals.
//!
//! - [`RunRecord`]: integers and histograms of one run, one JSON file each ([`store`](RunRecord::save)).
//! - [`Distribution`]: HDR histograms that remember what was cut off at the end of a run.
//! - [`METRICS`]: the columns; [`Table`]: the rows, with confidence intervals; [`ComparisonTable`]: paired differences.
//! - [`Grid`]: either of these as plain columns and fields, on the way into a file.

mod bootstrap;
mod collect;
mod comparison;
mod distribution;
mod fairness;
mod format;
mod grid;
mod metric;
mod record;
mod series;
mod store;
mod table;
#[cfg(test)]
pub(crate) mod testing;
mod unit;

pub use bootstrap::{Interval, MIN_SEEDS, RESAMPLES};
pub use collect::{CollectError, Context, FlowRole, KeepSeries};
pub use comparison::{CompareError, Comparison, ComparisonTable, Verdict, compare_folders};
pub use distribution::{Distribution, Percentile, Reading, SIGNIFICANT_DIGITS};
pub use fairness::{Fairness, FairnessWindow, PPM, jain_ppm};
pub use format::{RECORD_VERSION, RecordError};
pub use grid::{Column, Field, Grid, Kind};
pub use metric::{Better, METRICS, Metric, Missing};
pub use record::{ClassRecord, CodingTotals, Identity, PortRecord, RunRecord, Totals, WorkRecord};
pub use series::{FlowSeries, PortSeries, Series};
pub use store::{StoreError, load_folder, path_component, write_atomically};
pub(crate) use table::short_columns;
pub use table::{Estimate, Row, RowKey, Table, TableError, TableOptions};
pub use unit::{HumanScale, Unit, decimal};
