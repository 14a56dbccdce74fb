//! What runs measured, from one record a run to a table with confidence intervals.
//!
//! - [`RunRecord`]: integers and histograms of one run, one JSON file each ([`store`](RunRecord::save)).
//! - [`Distribution`]: HDR histograms that remember what was cut off at the end of a run.

mod collect;
mod distribution;
mod fairness;
mod format;
mod record;
mod series;
mod store;
#[cfg(test)]
pub(crate) mod testing;

pub use collect::{CollectError, Context, FlowRole, KeepSeries};
pub use distribution::{Distribution, Percentile, Reading, SIGNIFICANT_DIGITS};
pub use fairness::{Fairness, FairnessWindow, PPM, jain_ppm};
pub use format::{RECORD_VERSION, RecordError};
pub use record::{ClassRecord, Identity, PortRecord, RunRecord, Totals, WorkRecord};
pub use series::{FlowSeries, PortSeries, Series};
pub use store::{StoreError, load_folder, path_component, write_atomically};
