//! The eight public traces that the project is tried on. They are not part of it: these tests skip, saying so, where
//! the folder is absent (`CWNDTUNNEL_TRACES`, or a folder `shared/traces` beside one of the parent folders).
#![allow(clippy::unwrap_used, reason = "a test may unwrap")]

use std::env;
use std::path::{Path, PathBuf};

use traces::{ConvertOptions, CsvOptions, Generator, ReadOptions, Trace};

fn folder() -> Option<PathBuf> {
    let named = env::var_os("CWNDTUNNEL_TRACES").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|p| p.join("shared/traces"));
    let found = named.into_iter().chain(beside).find(|path| path.is_dir());
    if found.is_none() {
        eprintln!("skipped: no folder of real traces (set CWNDTUNNEL_TRACES)");
    }
    found
}

fn load(folder: &Path, name: &str) -> Trace {
    Trace::load(folder.join(name), &ReadOptions::default()).unwrap()
}

/// Name, seconds of a pass, mean rate in kb/s. The means of the mahimahi traces are lines times 12 032 bits over the
/// last timestamp; those of the CSV traces are time averages of their rates.
const EXPECTED: [(&str, u64, u64); 6] = [
    ("verizon-lte-short.up.gz", 140, 5961),
    ("verizon-lte-short.down.gz", 140, 5040),
    ("att-lte-driving-2016.down.gz", 120, 4572),
    ("att-lte-driving-2016.up.gz", 120, 1915),
    ("starlink-mobility-down.csv.gz", 600, 123_915),
    ("tmobile-5g-driving-down.csv.gz", 600, 155_204),
];

#[test]
fn length_and_mean_are_those_of_the_files() {
    let Some(folder) = folder() else { return };
    for (name, seconds, mean_kbps) in EXPECTED {
        let trace = load(&folder, name);
        assert_eq!(trace.period_ns() / 1_000_000_000, seconds, "{name}");
        let mean = trace.mean_bps() / 1000;
        assert!(mean.abs_diff(mean_kbps) <= 1, "{name}: {mean} kb/s");
    }
}

#[test]
fn drive_logs_with_repeated_seconds_keep_their_length() {
    let Some(folder) = folder() else { return };
    // First to last stamp, plus the median step of 1 s for the last row.
    for (name, seconds) in [("ireland-5g-driving.csv.gz", 887), ("ireland-5g-static.csv.gz", 990)] {
        let trace = load(&folder, name);
        assert_eq!(trace.period_ns(), seconds * 1_000_000_000, "{name}");
        let Trace::Rate(rate) = &trace else { panic!("{name} is a rate series") };
        assert_eq!(rate.segments().len(), 900, "{name}: one segment a row");
        let mut uplink = ReadOptions::default();
        let mut columns = CsvOptions::default();
        columns.rate_column = Some("UL_bitrate".to_owned());
        uplink.csv = columns;
        let up = Trace::load(folder.join(name), &uplink).unwrap();
        assert!(up.mean_bps() < trace.mean_bps(), "{name}");
    }
}

#[test]
fn conversion_keeps_the_mean_rate() {
    let Some(folder) = folder() else { return };
    let options = ConvertOptions::default();
    for (name, _, _) in EXPECTED {
        let trace = load(&folder, name);
        let rate = Trace::from(trace.to_rate(&options).unwrap());
        let cut = Trace::from(rate.to_opportunities(&options).unwrap());
        for converted in [&rate, &cut] {
            let error = converted.mean_bps().abs_diff(trace.mean_bps()) as f64 / trace.mean_bps() as f64;
            // The options ask for ten parts per million.
            assert!(error <= 11e-6, "{name}: {error}");
        }
    }
}

/// The targets of the generators are what these traces have.
#[test]
fn generators_aim_at_what_the_real_traces_have() {
    let Some(folder) = folder() else { return };
    for (generator, name) in [
        ("lte", "verizon-lte-short.down.gz"),
        ("lte?profile=att-driving", "att-lte-driving-2016.down.gz"),
        ("5g", "tmobile-5g-driving-down.csv.gz"),
        ("5g?profile=ireland-driving", "ireland-5g-driving.csv.gz"),
        ("5g?profile=ireland-static", "ireland-5g-static.csv.gz"),
        ("leo", "starlink-mobility-down.csv.gz"),
    ] {
        let generator: Generator = generator.parse().unwrap();
        for fit in generator.check(&load(&folder, name)) {
            // Quantiles are interpolated in one place and nearest ranks in the other.
            assert!(fit.error().unwrap().abs() < 0.04, "{name}: {fit}");
        }
    }
}
