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
//!
//! | wanted | look at |
//! |---|---|
//! | a file | [`Trace::load`], [`Trace::save`], [`ReadOptions`], [`WriteOptions`] |
//! | a trace that comes with the crate | [`sample()`], [`samples`] |
//! | a made-up trace with the statistics of a real link | [`Generator`] |
//! | to play it | [`RateTrace::segments`], [`OpportunityTrace::times_ns`], [`Playback`] |
//! | what it offers in a stretch of time | [`Trace::offered_bytes`] |
//! | the other shape of the same trace | [`Trace::to_rate`], [`Trace::to_opportunities`] |
//! | its statistics | [`Trace::stats`] |
//! | a picture | [`plot_svg`] |
//!
//! A hostile file cannot exhaust memory: input is read up to [`ReadOptions::max_bytes`] after decompression, and the
//! constructors bound the number of entries, the length and the rate ([`MAX_SEGMENTS`], [`MAX_OPPORTUNITIES`],
//! [`MAX_DURATION_NS`], [`MAX_RATE_BPS`]).
//!
//! ```
//! use traces::{ConvertOptions, Trace};
//!
//! let lte: Trace = traces::sample("lte")?;
//! println!("{}", lte.stats());
//! // As mahimahi would replay it: opportunities on whole milliseconds, at the same rate.
//! let opportunities = Trace::from(lte.to_opportunities(&ConvertOptions::default())?);
//! let error = opportunities.mean_bps().abs_diff(lte.mean_bps()) as f64 / lte.mean_bps() as f64;
//! assert!(error < 20e-6);
//! # Ok::<(), traces::TraceError>(())
//! ```

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
