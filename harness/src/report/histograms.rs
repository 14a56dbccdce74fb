//! Histograms of a whole results folder in the log format of HdrHistogram, for its tools and plotters.

use std::time::Duration;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};

use super::FormatError;
use crate::measure::{Distribution, RunRecord, path_component};

const COMMENTS: &str =
    "Histograms of cwndtunnel, merged over seeds. Tag: scenario/algorithm/contestant/group/metric, percent-encoded.
Units: fct, one-way and queueing in nanoseconds; slowdown in thousandths.
Metrics that end in -censored hold the lower bounds of flows that had not finished at the end of the run.
The duration of an interval is that of one run.";

/// All distributions, merged over seeds, one interval each.
///
/// # Errors
/// If a histogram cannot be encoded, which none of ours can cause.
pub fn to_hlog(records: &[RunRecord]) -> Result<Vec<u8>, FormatError> {
    let failed = FormatError::new("HdrHistogram log");
    let mut out = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let mut builder = IntervalLogWriterBuilder::new();
    builder.add_comment(COMMENTS);
    let mut log = builder.begin_log_with(&mut out, &mut serializer).map_err(|error| failed(&error))?;
    for (prefix, merged) in merge(records) {
        for (metric, histogram) in merged.histograms() {
            let tag = format!("{prefix}/{metric}");
            let tag = Tag::new(&tag).ok_or_else(|| failed(&format!("no tag: {tag}")))?;
            log.write_histogram(histogram, Duration::ZERO, merged.duration, Some(tag))
                .map_err(|error| failed(&error))?;
        }
    }
    drop(log);
    Ok(out)
}

#[derive(Default)]
struct Merged {
    duration: Duration,
    fct: Distribution,
    slowdown: Distribution,
    one_way: Distribution,
    queueing: Distribution,
}

impl Merged {
    /// The ones that hold anything, by name.
    fn histograms(&self) -> impl Iterator<Item = (&'static str, &Histogram<u64>)> {
        let all = [
            ("fct", self.fct.observed()),
            ("fct-censored", self.fct.censored()),
            ("slowdown", self.slowdown.observed()),
            ("slowdown-censored", self.slowdown.censored()),
            ("one-way", self.one_way.observed()),
            ("queueing", self.queueing.observed()),
        ];
        all.into_iter().filter(|(_, histogram)| !histogram.is_empty())
    }
}

/// By tag prefix, in the order of the names.
fn merge(records: &[RunRecord]) -> std::collections::BTreeMap<String, Merged> {
    let mut rows = std::collections::BTreeMap::<String, Merged>::new();
    for run in records {
        for class in &run.classes {
            let parts = [&run.identity.scenario, &run.identity.algorithm, &class.contestant, &class.group];
            // Commas separate the fields of the log.
            let prefix = parts.map(|part| path_component(part).replace(',', "%2C")).join("/");
            let row = rows.entry(prefix).or_default();
            row.duration = row.duration.max(Duration::from_nanos(run.ended_at_ns));
            row.fct.merge(&class.fct_ns);
            row.slowdown.merge(&class.slowdown_milli);
            row.one_way.merge(&class.one_way_ns);
            row.queueing.merge(&class.queueing_ns);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    use super::*;
    use crate::measure::testing;

    #[test]
    fn a_log_gives_back_the_merged_histograms() {
        let mut records = [testing::run("lte, down", "cubic?a=1", 1), testing::run("lte, down", "cubic?a=1", 2)];
        records[0].classes[0].fct_ns.censor(5_000_000_000);
        let bytes = to_hlog(&records).unwrap();
        let mut found = std::collections::BTreeMap::new();
        for entry in IntervalLogIterator::new(&bytes) {
            if let LogEntry::Interval(interval) = entry.unwrap() {
                let encoded = base64::engine::general_purpose::STANDARD.decode(interval.encoded_histogram()).unwrap();
                let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut encoded.as_slice()).unwrap();
                assert_eq!(interval.duration(), Duration::from_secs(10));
                found.insert(interval.tag().unwrap().as_str().to_owned(), histogram);
            }
        }
        let prefix = "lte%2C%20down/cubic%3Fa=1/cubic%3Fa=1/rpc";
        let metrics = ["fct", "fct-censored", "one-way", "queueing", "slowdown"];
        assert!(found.keys().eq(metrics.map(|metric| format!("{prefix}/{metric}")).iter()), "{:?}", found.keys());
        let slowdown = &found[&format!("{prefix}/slowdown")];
        assert_eq!(slowdown.len(), 2 * testing::COMPLETIONS);
        let mut expected = records[0].classes[0].slowdown_milli.clone();
        expected.merge(&records[1].classes[0].slowdown_milli);
        for percentile in [50.0, 99.0, 100.0] {
            assert_eq!(slowdown.value_at_percentile(percentile), expected.observed().value_at_percentile(percentile));
        }
        assert_eq!(found[&format!("{prefix}/fct-censored")].len(), 1);
    }
}
