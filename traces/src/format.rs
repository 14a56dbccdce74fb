//! Files: which format they are in, how they are read and written.

mod csv;
mod gzip;
mod mahimahi;
mod netem;
mod units;

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::convert::ConvertOptions;
use crate::error::{TraceError, TraceErrorKind};
use crate::trace::{MAHIMAHI_OPPORTUNITY_BYTES, Playback, Trace};

pub use csv::{CsvOptions, MissingValue};
pub use units::{RateUnit, TimeUnit};

/// A file format for traces. Each may be gzip-compressed as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// One whole number of milliseconds a line, each worth one MTU; the format of mahimahi's `mm-link`.
    Mahimahi,
    /// A table of times and rates with a header.
    Csv,
    /// The JSON of the bandwidth models of the `netem-trace` crate.
    NetemJson,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 3] = [Self::Mahimahi, Self::Csv, Self::NetemJson];

    /// Its name: `mahimahi`, `csv` or `netem-json`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mahimahi => "mahimahi",
            Self::Csv => "csv",
            Self::NetemJson => "netem-json",
        }
    }

    /// The format that a file's name stands for when writing: `.csv`, `.json`, anything else is mahimahi; a final
    /// `.gz` is left out of account.
    pub fn from_path(path: &Path) -> Self {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("").to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        match name.rsplit_once('.').map(|(_, extension)| extension) {
            Some("csv") => Self::Csv,
            Some("json") => Self::NetemJson,
            _ => Self::Mahimahi,
        }
    }

    /// The format of a text, judged by its beginning: `{` is JSON, a first line with a comma, semicolon or tab is CSV
    /// (comments with `#` aside), everything else is mahimahi.
    pub fn detect(text: &str) -> Self {
        let first = text.lines().find(|line| !line.starts_with('#')).unwrap_or("");
        if text.trim_start().starts_with('{') {
            Self::NetemJson
        } else if first.contains([',', ';', '\t']) || text.starts_with('#') {
            Self::Csv
        } else {
            Self::Mahimahi
        }
    }
}

impl FromStr for Format {
    type Err = TraceError;

    fn from_str(name: &str) -> Result<Self, TraceError> {
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join(", ");
            TraceErrorKind::UnknownName { what: "format", name: name.to_owned(), known }.into()
        })
    }
}

/// How to read a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The format; found out from the content when `None`, the default.
    pub format: Option<Format>,
    /// What happens at the end. When `None`, the default, mahimahi and CSV traces loop and a JSON model decides itself.
    pub playback: Option<Playback>,
    /// What a mahimahi opportunity is worth, in bytes. Default [`MAHIMAHI_OPPORTUNITY_BYTES`].
    pub opportunity_bytes: u64,
    /// Columns and units of a CSV file.
    pub csv: CsvOptions,
    /// The most bytes read after decompression. Default 256 MiB.
    pub max_bytes: u64,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            format: None,
            playback: None,
            opportunity_bytes: MAHIMAHI_OPPORTUNITY_BYTES,
            csv: CsvOptions::default(),
            max_bytes: 256 << 20,
        }
    }
}

/// How to write a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteOptions {
    /// The format. Default [`Format::Csv`].
    pub format: Format,
    /// Whether to compress with gzip. Default no.
    pub gzip: bool,
    /// How to convert where the format has another shape than the trace. Mahimahi files keep to whole milliseconds
    /// whatever the resolution here.
    pub convert: ConvertOptions,
}

impl WriteOptions {
    /// Plain text in this format.
    pub fn new(format: Format) -> Self {
        Self { format, gzip: false, convert: ConvertOptions::default() }
    }

    /// The format and compression that a file's name stands for, see [`Format::from_path`].
    pub fn for_path(path: &Path) -> Self {
        let gzip = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
        Self { gzip, ..Self::new(Format::from_path(path)) }
    }
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self::new(Format::Csv)
    }
}

impl Trace {
    /// Reads a trace from a file, plain or gzip (told apart by content, not by name).
    ///
    /// # Errors
    /// If the file cannot be read or is no valid trace; the error names the file and, where there is one, the line.
    pub fn load(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, TraceError> {
        let path = path.as_ref();
        let open = || File::open(path).map_err(|error| TraceError::from(TraceErrorKind::Io(error)));
        open().and_then(|file| Self::read(file, options)).map_err(|error| error.in_file(path))
    }

    /// Reads a trace, plain or gzip.
    ///
    /// # Errors
    /// If reading fails or the content is no valid trace.
    pub fn read(reader: impl Read, options: &ReadOptions) -> Result<Self, TraceError> {
        let text = gzip::read_text(reader, options.max_bytes)?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let trace = match options.format.unwrap_or_else(|| Format::detect(text)) {
            Format::Mahimahi => Self::Opportunities(mahimahi::parse(text, options.opportunity_bytes)?),
            Format::Csv => Self::Rate(csv::parse(text, &options.csv)?),
            Format::NetemJson => Self::Rate(netem::parse(text)?),
        };
        Ok(match options.playback {
            Some(playback) => trace.with_playback(playback),
            None => trace,
        })
    }

    /// Writes the trace, converting its shape where the format needs it.
    ///
    /// # Errors
    /// If writing or the conversion fails.
    pub fn write(&self, writer: impl Write, options: &WriteOptions) -> Result<(), TraceError> {
        let text = match options.format {
            Format::Mahimahi => mahimahi::format(self, &options.convert)?,
            Format::Csv => csv::format(&self.to_rate(&options.convert)?),
            Format::NetemJson => netem::format(&self.to_rate(&options.convert)?),
        };
        let written = if options.gzip { gzip::compress(writer, &text) } else { write_plain(writer, &text) };
        written.map_err(|error| TraceErrorKind::Io(error).into())
    }

    /// Writes the trace to a file. The file appears under its name only when it is complete.
    ///
    /// # Errors
    /// If writing or the conversion fails; the error names the file.
    pub fn save(&self, path: impl AsRef<Path>, options: &WriteOptions) -> Result<(), TraceError> {
        let path = path.as_ref();
        let partial = partial_path(path);
        let saved = File::create(&partial)
            .map_err(|error| TraceErrorKind::Io(error).into())
            .and_then(|file| self.write(BufWriter::new(file), options))
            .and_then(|()| fs::rename(&partial, path).map_err(|error| TraceErrorKind::Io(error).into()));
        saved.map_err(|error: TraceError| {
            // What is left of a failed attempt is of no use; that it may not exist is no second error.
            let _ = fs::remove_file(&partial);
            error.in_file(path)
        })
    }
}

fn write_plain(mut writer: impl Write, text: &str) -> io::Result<()> {
    writer.write_all(text.as_bytes())?;
    writer.flush()
}

fn partial_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".partial");
    path.with_file_name(name)
}

#[cfg(test)]
mod tests;
