//! The file format of a run's record: one JSON object with the name and version of the format first.

use serde::{Deserialize, Serialize};

use super::record::RunRecord;

/// Name of the format, the first thing in each file.
const FORMAT: &str = "cwndtunnel-run";

/// Version of the format that is written, and the only one that is read.
pub const RECORD_VERSION: u32 = 1;

/// Why a text is no record of a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// JSON, but of something else.
    #[error("not a record of a run: expected an object with \"format\": \"{FORMAT}\"")]
    NotARecord,
    /// Written by an older version.
    #[error(
        "record of format version {found}, from an older cwndtunnel; this one reads version {RECORD_VERSION}: run the sweep again"
    )]
    Older {
        /// Its version.
        found: u32,
    },
    /// Written by a newer version.
    #[error("record of format version {found}, from a newer cwndtunnel; this one reads version {RECORD_VERSION}")]
    Newer {
        /// Its version.
        found: u32,
    },
    /// Cut off or altered.
    #[error("damaged record: {0}")]
    Damaged(serde_json::Error),
    /// Whole as JSON, but its parts contradict each other.
    #[error("damaged record: {what} of {contestant}/{group} do not match its histograms")]
    Inconsistent {
        /// Which counts.
        what: &'static str,
        /// The class's contestant.
        contestant: String,
        /// The class's group.
        group: String,
    },
}

#[derive(Deserialize)]
struct Header {
    format: Option<String>,
    version: Option<u32>,
}

#[derive(Serialize)]
struct Written<'a> {
    format: &'static str,
    version: u32,
    run: &'a RunRecord,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    #[serde(rename = "format")]
    _format: String,
    #[serde(rename = "version")]
    _version: u32,
    run: RunRecord,
}

impl RunRecord {
    /// The record as a file's contents. The same record always gives the same bytes.
    pub fn to_json(&self) -> String {
        let written = Written { format: FORMAT, version: RECORD_VERSION, run: self };
        // Integers, strings and histograms within V2's limits: nothing in a record can fail to serialise.
        let mut text = serde_json::to_string(&written).expect("a record holds only what JSON can express");
        text.push('\n');
        text
    }

    /// Reads a file's contents.
    ///
    /// # Errors
    /// If the text is something else, of another version, cut off or altered.
    pub fn from_json(text: &str) -> Result<Self, RecordError> {
        let header: Header = serde_json::from_str(text).map_err(|error| match error.classify() {
            serde_json::error::Category::Data => RecordError::NotARecord,
            _ => RecordError::Damaged(error),
        })?;
        match header {
            Header { format: Some(format), version: Some(version) } if format == FORMAT => match version {
                RECORD_VERSION => {}
                older if older < RECORD_VERSION => return Err(RecordError::Older { found: older }),
                newer => return Err(RecordError::Newer { found: newer }),
            },
            _ => return Err(RecordError::NotARecord),
        }
        let read: Read = serde_json::from_str(text).map_err(RecordError::Damaged)?;
        read.run.check()?;
        Ok(read.run)
    }

    /// Counts and histograms say the same twice, so that most damage shows.
    fn check(&self) -> Result<(), RecordError> {
        for class in &self.classes {
            let checks = [
                ("completed flows", class.totals.completed == class.fct_ns.observed().len()),
                ("unfinished flows", class.totals.unfinished == class.fct_ns.censored().len()),
            ];
            if let Some((what, _)) = checks.into_iter().find(|&(_, holds)| !holds) {
                let (contestant, group) = (class.contestant.clone(), class.group.clone());
                return Err(RecordError::Inconsistent { what, contestant, group });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    #[test]
    fn a_record_survives_being_written_and_read() {
        let record = testing::run("lte", "cubic?beta=0.5", 3);
        let text = record.to_json();
        let back = RunRecord::from_json(&text).unwrap();
        assert_eq!(back, record);
        assert_eq!(back.to_json(), text);
    }

    #[test]
    fn the_bytes_of_a_record_are_integers_and_text_only() {
        let value: serde_json::Value = serde_json::from_str(&testing::run("lte", "cubic", 3).to_json()).unwrap();
        fn has_float(value: &serde_json::Value) -> bool {
            match value {
                serde_json::Value::Number(number) => number.is_f64(),
                serde_json::Value::Array(items) => items.iter().any(has_float),
                serde_json::Value::Object(fields) => fields.values().any(has_float),
                _ => false,
            }
        }
        assert!(!has_float(&value));
    }

    #[test]
    fn a_record_cut_off_anywhere_is_damaged() {
        let text = testing::run("lte", "cubic", 3).to_json();
        for end in (0..text.len() - 2).step_by(97) {
            assert!(matches!(RunRecord::from_json(&text[..end]), Err(RecordError::Damaged(_))), "cut at {end}");
        }
    }

    #[test]
    fn other_versions_and_other_files_are_told_apart() {
        let text = testing::run("lte", "cubic", 3).to_json();
        let with = |version: u32| text.replacen("\"version\":1", &format!("\"version\":{version}"), 1);
        assert!(matches!(RunRecord::from_json(&with(0)), Err(RecordError::Older { found: 0 })));
        assert!(matches!(RunRecord::from_json(&with(2)), Err(RecordError::Newer { found: 2 })));
        for other in ["{}", "[1,2]", "{\"format\":\"something\",\"version\":1}", "{\"version\":1}"] {
            assert!(matches!(RunRecord::from_json(other), Err(RecordError::NotARecord)), "{other}");
        }
        for damaged in ["", "\u{0}", "no json", "{\"format\":"] {
            assert!(matches!(RunRecord::from_json(damaged), Err(RecordError::Damaged(_))), "{damaged}");
        }
    }

    #[test]
    fn counts_that_contradict_the_histograms_are_noticed() {
        let mut record = testing::run("lte", "cubic", 3);
        record.classes[0].totals.completed += 1;
        let error = RunRecord::from_json(&record.to_json()).unwrap_err();
        assert!(matches!(error, RecordError::Inconsistent { what: "completed flows", .. }), "{error}");
    }

    #[test]
    fn unknown_and_missing_fields_are_damage() {
        let text = testing::run("lte", "cubic", 3).to_json();
        let extra = text.replacen("\"ended_at_ns\"", "\"surprise\":1,\"ended_at_ns\"", 1);
        assert!(matches!(RunRecord::from_json(&extra), Err(RecordError::Damaged(_))));
        let missing = text.replacen("\"ended_at_ns\"", "\"ended_at\"", 1);
        assert!(matches!(RunRecord::from_json(&missing), Err(RecordError::Damaged(_))));
    }
}
