//! Tables of times and rates.
//!
//! The first line that is no comment (`#`) is the header; the delimiter is whichever of comma, semicolon and tab it
//! holds most of. A file whose first line holds only numbers has no header: its columns are then called `1`, `2`, … and
//! the units must be named. A row's rate holds from its time to the next row's. In detail, and decided here:
//!
//! - Times may be numbers (units from the column's name, else by size when they count from 1970, else seconds) or
//!   calendar times (`2019.12.16_12.27.05`, `2019-12-16 12:27:05.5`). The first row's time becomes zero.
//! - Several rows with the same time share the stretch up to the next other time in equal parts, in their order. This
//!   suits logs with whole-second stamps, where a repeated second is one that the logger hit twice.
//! - Missing times are no gap: the row before holds on.
//! - A missing rate (empty, `-`, `NA`) holds the rate before it, or is an outage, as [`MissingValue`] says; rows before
//!   the first known rate are left out when holding.
//! - Zero is an outage, not a missing value.
//! - A last row without a rate only says where the trace ends. Otherwise the last row lasts for the median step.
//! - Every row must have as many columns as the header, and text may not end with an empty cell unless a line ends
//!   there. This is how a file cut in the middle of a row shows; one that is cut inside its very last number cannot be
//!   told from a complete one.

mod calendar;

use std::fmt::Write;

use ::csv::{ReaderBuilder, StringRecord, Trim};

use super::units::{RateUnit, TimeUnit, tokens};
use crate::decimal;
use crate::error::{TraceError, TraceErrorKind, clip};
use crate::rate::{RateTrace, Segment, check_duration, check_rate};
use crate::trace::{MAX_SEGMENTS, Playback};

/// Columns and units of a CSV file; what is `None` is found out from the header.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CsvOptions {
    /// The name of the time column (or its number from 1 in a file without header).
    pub time_column: Option<String>,
    /// The name of the rate column (or its number from 1 in a file without header).
    pub rate_column: Option<String>,
    /// The unit of the times.
    pub time_unit: Option<TimeUnit>,
    /// The unit of the rates.
    pub rate_unit: Option<RateUnit>,
    /// What a missing rate means.
    pub missing: MissingValue,
}

/// What a row without a rate means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum MissingValue {
    /// The rate before it goes on: the logger missed a sample.
    #[default]
    Hold,
    /// Nothing was delivered.
    Outage,
}

/// Where time and rate stand, and in which units.
#[derive(Debug)]
struct Columns {
    time: usize,
    rate: usize,
    time_unit: Option<TimeUnit>,
    rate_unit: RateUnit,
    count: usize,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    t_ns: u64,
    bps: Option<u64>,
}

pub(super) fn parse(text: &str, options: &CsvOptions) -> Result<RateTrace, TraceError> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .trim(Trim::All)
        .delimiter(delimiter(text))
        .from_reader(text.as_bytes());
    let mut record = StringRecord::new();
    if !read_record(&mut reader, &mut record)? {
        return Err(TraceErrorKind::Empty("row").into());
    }
    let line = line_of(&record);
    let headerless = record.iter().all(|cell| cell.parse::<f64>().is_ok());
    let names: Vec<String> = match headerless {
        true => (1..=record.len()).map(|n| n.to_string()).collect(),
        false => record.iter().map(str::to_owned).collect(),
    };
    let mut columns = Columns::find(&names, options).map_err(|kind| TraceError::at_line(line, kind))?;
    let mut rows: Vec<Row> = Vec::new();
    let mut previous = String::new();
    let mut pending = headerless;
    while pending || read_record(&mut reader, &mut record)? {
        pending = false;
        let located = |kind| TraceError::at_line(line_of(&record), kind);
        let row = columns.row(&record).map_err(located)?;
        let time = &record[columns.time];
        if rows.last().is_some_and(|last| row.t_ns < last.t_ns) {
            return Err(located(TraceErrorKind::Backwards { previous: clip(&previous), found: clip(time) }));
        }
        if rows.len() >= MAX_SEGMENTS {
            return Err(located(TraceErrorKind::TooLarge { what: "rows", limit: MAX_SEGMENTS as u64 }));
        }
        time.clone_into(&mut previous);
        rows.push(row);
    }
    if text.ends_with(char::from(delimiter(text))) {
        return Err(TraceError::at_line(text.lines().count() as u64, TraceErrorKind::CutOff));
    }
    series(&rows, options.missing)
}

fn read_record(reader: &mut ::csv::Reader<&[u8]>, record: &mut StringRecord) -> Result<bool, TraceError> {
    // The text is valid UTF-8 and rows may be of any length, so nothing but the parser's own limits can fail here.
    reader.read_record(record).map_err(|error| TraceErrorKind::Io(error.into()).into())
}

fn line_of(record: &StringRecord) -> u64 {
    record.position().map_or(1, ::csv::Position::line)
}

fn delimiter(text: &str) -> u8 {
    let header = text.lines().find(|line| !line.starts_with('#') && !line.is_empty()).unwrap_or("");
    let count = |byte: &u8| header.bytes().filter(|b| b == byte).count();
    // The last of equal maxima wins, so the comma stands last.
    [b'\t', b';', b','].into_iter().max_by_key(count).unwrap_or(b',')
}

impl Columns {
    fn find(names: &[String], options: &CsvOptions) -> Result<Self, TraceErrorKind> {
        let time = locate(names, options.time_column.as_deref(), "time", |words| {
            let is_time = |w: &String| {
                w.starts_with("time") || ["t", "ts", "elapsed", "seconds", "date", "datetime"].contains(&w.as_str())
            };
            u32::from(words.iter().any(is_time))
        })?;
        let rate = locate(names, options.rate_column.as_deref(), "rate", rate_likeness)?;
        let rate_unit = options.rate_unit.or_else(|| RateUnit::in_name(&names[rate]));
        let rate_unit =
            rate_unit.ok_or_else(|| TraceErrorKind::UnknownUnit { column: clip(&names[rate]), option: "rate_unit" })?;
        let time_unit = options.time_unit.or_else(|| TimeUnit::in_name(&names[time]));
        Ok(Self { time, rate, time_unit, rate_unit, count: names.len() })
    }

    fn row(&mut self, record: &StringRecord) -> Result<Row, TraceErrorKind> {
        if record.len() != self.count {
            return Err(TraceErrorKind::ColumnCount { found: record.len(), expected: self.count });
        }
        let (time, rate) = (&record[self.time], &record[self.rate]);
        let t_ns = match calendar::parse(time) {
            Some(ns) => ns,
            None => {
                // The first row decides for the whole file.
                let unit = *self.time_unit.get_or_insert_with(|| TimeUnit::by_magnitude(time));
                decimal::parse_scaled(time, unit.to_ns(), "time")?
            }
        };
        let bps = match rate {
            "" | "-" | "NA" | "N/A" => None,
            text => Some(self.parse_rate(text)?),
        };
        Ok(Row { t_ns, bps })
    }

    fn parse_rate(&self, text: &str) -> Result<u64, TraceErrorKind> {
        let (scale, factor) = self.rate_unit.to_bps();
        let bps = decimal::parse_scaled(text, scale, "rate")?.saturating_mul(factor);
        check_rate(bps)?;
        Ok(bps)
    }
}

/// The column with this name, or else the first of those that look most like it.
fn locate(
    names: &[String],
    wanted: Option<&str>,
    what: &'static str,
    likeness: impl Fn(&[String]) -> u32,
) -> Result<usize, TraceErrorKind> {
    let found = match wanted {
        Some(wanted) => names.iter().position(|name| name.eq_ignore_ascii_case(wanted)),
        None => {
            let scores = names.iter().map(|name| likeness(&tokens(name))).enumerate();
            scores.rev().max_by_key(|(_, score)| *score).filter(|(_, score)| *score > 0).map(|(index, _)| index)
        }
    };
    found.ok_or_else(|| TraceErrorKind::NoColumn {
        what,
        columns: clip(&names.join(", ")),
        option: if what == "time" { "time_column" } else { "rate_column" },
    })
}

/// How much a column's name speaks of the rate of a link: a word for it or a unit, and the downlink before the uplink.
fn rate_likeness(words: &[String]) -> u32 {
    const WORDS: [&str; 7] = ["rate", "bitrate", "throughput", "bandwidth", "bw", "capacity", "goodput"];
    let says = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let is_rate = says(&WORDS) || says(&["bps", "kbps", "mbps", "gbps"]);
    u32::from(is_rate) * (2 + u32::from(says(&["dl", "down", "downlink", "download"])))
}

/// Turns rows into segments, as the module's text says.
fn series(rows: &[Row], missing: MissingValue) -> Result<RateTrace, TraceError> {
    let first = match missing {
        MissingValue::Hold => rows.iter().position(|row| row.bps.is_some()),
        MissingValue::Outage => Some(0),
    };
    let Some(rows) = first.and_then(|first| rows.get(first..)).filter(|rows| !rows.is_empty()) else {
        return Err(TraceErrorKind::Empty("row with a rate").into());
    };
    let mut segments = Vec::with_capacity(rows.len());
    let mut held = 0;
    let mut groups = rows.chunk_by(|a, b| a.t_ns == b.t_ns).peekable();
    while let Some(group) = groups.next() {
        let span = match groups.peek() {
            Some(next) => next[0].t_ns - group[0].t_ns,
            None if matches!(group, [Row { bps: None, .. }]) => break,
            None => median_step(rows)?,
        };
        check_duration(span)?;
        let count = group.len() as u64;
        let mut start = 0;
        for (index, row) in group.iter().zip(1_u64..).map(|(row, index)| (index, row)) {
            held = row.bps.unwrap_or(if missing == MissingValue::Hold { held } else { 0 });
            // The span is at most seven days and the count at most 2^22, so the product fits 128 bits.
            let end = u64::try_from(u128::from(span) * u128::from(index) / u128::from(count)).unwrap_or(span);
            if end > start {
                segments.push(Segment::new(end - start, held));
            }
            start = end;
        }
    }
    if segments.is_empty() {
        return Err(TraceErrorKind::OneTime.into());
    }
    RateTrace::new(segments, Playback::Loop)
}

fn median_step(rows: &[Row]) -> Result<u64, TraceErrorKind> {
    let mut steps: Vec<u64> = rows.windows(2).map(|w| w[1].t_ns - w[0].t_ns).filter(|step| *step > 0).collect();
    steps.sort_unstable();
    steps.get(steps.len() / 2).copied().ok_or(TraceErrorKind::OneTime)
}

/// One row for each segment, and a last one without a rate that says where the trace ends.
pub(super) fn format(trace: &RateTrace) -> String {
    let mut text = String::from("time_s,rate_bps\n");
    for (start, segment) in trace.starts() {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "{},{}", decimal::seconds(start), segment.bps);
    }
    let _ = writeln!(text, "{},", decimal::seconds(trace.period_ns()));
    text
}

#[cfg(test)]
mod tests;
