//! What can be wrong with a trace, and where.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a trace could not be read, built, converted or written: the file and line, where known, and the reason.
#[derive(Debug)]
pub struct TraceError {
    path: Option<PathBuf>,
    line: Option<u64>,
    kind: TraceErrorKind,
}

/// The reason inside a [`TraceError`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceErrorKind {
    /// The operating system refused.
    #[error("{0}")]
    Io(#[source] io::Error),
    /// The gzip data stop before their end mark.
    #[error("gzip data end too early: the file is incomplete")]
    TruncatedGzip,
    /// The gzip data are damaged.
    #[error("gzip data are damaged: {0}")]
    BadGzip(#[source] io::Error),
    /// A size limit was passed.
    #[error("more than {limit} {what}")]
    TooLarge {
        /// What was counted.
        what: &'static str,
        /// The largest count accepted.
        limit: u64,
    },
    /// The data are not UTF-8.
    #[error("not UTF-8 text: expected a mahimahi, CSV or JSON trace, plain or gzip")]
    NotText,
    /// There is nothing in it.
    #[error("empty: expected at least one {0}")]
    Empty(&'static str),
    /// A line without content where each line must hold a value.
    #[error("empty line: expected a whole number of milliseconds")]
    EmptyLine,
    /// Text where a number must stand.
    #[error("{what} is `{text}`: expected {expected}")]
    NotANumber {
        /// The quantity.
        what: &'static str,
        /// What stands there.
        text: String,
        /// What should.
        expected: &'static str,
    },
    /// NaN or an infinity.
    #[error("{what} is `{text}`: expected a finite number")]
    NotFinite {
        /// The quantity.
        what: &'static str,
        /// What stands there.
        text: String,
    },
    /// A number below zero.
    #[error("{what} is negative: `{text}`")]
    Negative {
        /// The quantity.
        what: &'static str,
        /// What stands there.
        text: String,
    },
    /// A number beyond what is accepted.
    #[error("{what} is out of range: `{text}`, at most {limit} is accepted")]
    OutOfRange {
        /// The quantity.
        what: &'static str,
        /// What stands there.
        text: String,
        /// The largest value, with its unit.
        limit: String,
    },
    /// A time smaller than the one before it.
    #[error("time goes backwards: {found} after {previous}")]
    Backwards {
        /// The earlier entry's time, as written.
        previous: String,
        /// The offending time, as written.
        found: String,
    },
    /// The last timestamp is zero, so a pass over the trace takes no time.
    #[error("the trace lasts no time: its last timestamp is 0")]
    ZeroPeriod,
    /// A segment lasts no time.
    #[error("segment {index} lasts no time")]
    ZeroDuration {
        /// Its index from 0.
        index: usize,
    },
    /// Nothing is ever delivered.
    #[error("the rate is zero throughout: nothing would ever be delivered")]
    AllZero,
    /// An opportunity of zero bytes.
    #[error("an opportunity must deliver at least one byte")]
    ZeroOpportunity,
    /// A conversion step of zero nanoseconds.
    #[error("the time resolution of a conversion must be at least 1 ns")]
    ZeroResolution,
    /// A row with another number of columns than the header: also what a file cut in the middle of a row shows.
    #[error("row has {found} column(s) where {expected} were expected: is the file cut off?")]
    ColumnCount {
        /// Columns of the row.
        found: usize,
        /// Columns of the header.
        expected: usize,
    },
    /// The last row ends before its last cell.
    #[error("row ends before its last value and without a line end: is the file cut off?")]
    CutOff,
    /// The wanted column is not in the header.
    #[error("no {what} column: the columns are {columns}; name it with the option `{option}`")]
    NoColumn {
        /// `time` or `rate`.
        what: &'static str,
        /// The header.
        columns: String,
        /// The option that names it.
        option: &'static str,
    },
    /// The header does not tell a unit.
    #[error("the unit of column `{column}` is not in its name: give the option `{option}`")]
    UnknownUnit {
        /// The column.
        column: String,
        /// The option that names the unit.
        option: &'static str,
    },
    /// A time series needs two different times to have a duration.
    #[error("all rows have the same time: expected at least two different times")]
    OneTime,
    /// Not JSON, or not the JSON of a model.
    #[error("not a netem-trace model: {0}")]
    Json(#[source] serde_json::Error),
    /// A model that cannot be turned into a rate series.
    #[error("{model} {reason}")]
    BadModel {
        /// The model's name.
        model: &'static str,
        /// What is wrong.
        reason: &'static str,
    },
    /// A name that is not in the list.
    #[error("unknown {what} `{name}`: expected one of {known}")]
    UnknownName {
        /// `generator`, `format`, `unit`, …
        what: &'static str,
        /// What was asked for.
        name: String,
        /// What exists.
        known: String,
    },
    /// A generator's parameter is missing, unknown or impossible.
    #[error("generator `{generator}`: {reason}")]
    BadParameter {
        /// The generator's name.
        generator: &'static str,
        /// What is wrong.
        reason: String,
    },
}

impl TraceError {
    pub(crate) fn at_line(line: u64, kind: TraceErrorKind) -> Self {
        Self { path: None, line: Some(line), kind }
    }

    pub(crate) fn in_file(mut self, path: &Path) -> Self {
        self.path = Some(path.to_path_buf());
        self
    }

    /// The reason.
    pub fn kind(&self) -> &TraceErrorKind {
        &self.kind
    }

    /// The line, counted from 1, where the reason is tied to one.
    pub fn line(&self) -> Option<u64> {
        self.line
    }

    /// The file, where one was read or written.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }
}

impl From<TraceErrorKind> for TraceError {
    fn from(kind: TraceErrorKind) -> Self {
        Self { path: None, line: None, kind }
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.path, self.line) {
            (Some(path), Some(line)) => write!(f, "{}:{line}: ", path.display())?,
            (Some(path), None) => write!(f, "{}: ", path.display())?,
            (None, Some(line)) => write!(f, "line {line}: ")?,
            (None, None) => {}
        }
        self.kind.fmt(f)
    }
}

impl Error for TraceError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        // The message already holds the kind's own text, so the chain goes on below it.
        self.kind.source()
    }
}

/// The start of a piece of input, short enough for a message.
pub(crate) fn clip(text: &str) -> String {
    clip_to(text, 40)
}

/// The start of a text, at most `longest` characters, without control characters.
pub(crate) fn clip_to(text: &str, longest: usize) -> String {
    let clean = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let more = text.chars().nth(longest).map(|_| '…');
    text.chars().take(longest).map(clean).chain(more).collect()
}
