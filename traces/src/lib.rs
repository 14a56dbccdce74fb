//! Link traces: how much a link could carry, when.
//!
//! A [`Trace`] is either a list of delivery opportunities (mahimahi's view of a link) or a piecewise-constant rate. It
//! is read from mahimahi, CSV and netem-trace files, plain or gzip.
//!
//! ```
//! use traces::{ReadOptions, Trace};
//!
//! let trace = Trace::read(&b"1\n1\n5\n6\n"[..], &ReadOptions::default())?;
//! // Four opportunities of 1504 bytes in 6 ms.
//! assert_eq!(trace.mean_bps(), 4 * 1504 * 8 * 1000 / 6);
//! assert_eq!(trace.offered_bytes(0, 2_000_000), 2 * 1504);
//! # Ok::<(), traces::TraceError>(())
//! ```
//!
//! All times are nanoseconds and all rates bits per second, as integers.

mod convert;
mod decimal;
mod error;
mod format;
mod fuzz;
mod generate;
mod opportunity;
mod plot;
mod random;
mod rate;
mod sample;
mod stats;
mod trace;

pub use convert::ConvertOptions;
pub use error::{TraceError, TraceErrorKind};
pub use format::{CsvOptions, Format, MissingValue, RateUnit, ReadOptions, TimeUnit, WriteOptions};
#[doc(hidden)]
pub use fuzz::fuzz_readers;
pub use generate::{
    Constant, Fit, FiveG, FiveGProfile, Generator, InterDc, Leo, Lte, LteProfile, OnOff, SawTooth, Statistic, Step,
    Target,
};
pub use opportunity::OpportunityTrace;
pub use plot::{PlotOptions, plot_svg};
pub use rate::{RateTrace, Segment};
pub use sample::{Sample, sample, samples};
pub use stats::{OUTAGE_NS, Stats, WindowStats, format_rate};
pub use trace::{
    MAHIMAHI_OPPORTUNITY_BYTES, MAX_DURATION_NS, MAX_OPPORTUNITIES, MAX_RATE_BPS, MAX_SEGMENTS, Playback, Trace,
};
