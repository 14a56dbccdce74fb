use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::*;
use crate::opportunity::OpportunityTrace;
use crate::rate::{RateTrace, Segment};

const MS: u64 = 1_000_000;

fn read(bytes: &[u8]) -> Result<Trace, TraceError> {
    Trace::read(bytes, &ReadOptions::default())
}

fn error(bytes: &[u8]) -> String {
    read(bytes).unwrap_err().to_string()
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn times_ms(trace: &Trace) -> Vec<u64> {
    match trace {
        Trace::Opportunities(trace) => trace.times_ns().iter().map(|t| t / MS).collect(),
        Trace::Rate(_) => panic!("expected opportunities"),
    }
}

#[test]
fn the_format_is_known_by_its_content() {
    assert_eq!(times_ms(&read(b"0\n1\n1\n5\n").unwrap()), [0, 1, 1, 5]);
    assert_eq!(times_ms(&read(b"3\r\n5").unwrap()), [3, 5]);
    assert!(matches!(read(b"time_s,rate_bps\n0,1\n1,2\n").unwrap(), Trace::Rate(_)));
    assert!(matches!(read(b"\xef\xbb\xbf {\"StaticBwConfig\":{}}").unwrap(), Trace::Rate(_)));
    let forced = ReadOptions { format: Some(Format::Csv), ..ReadOptions::default() };
    assert!(Trace::read(&b"1\n2\n"[..], &forced).is_err());
}

#[test]
fn mahimahi_errors_say_line_and_reason() {
    for (text, expected) in [
        ("", "empty: expected at least one line"),
        ("1\n\n2\n", "line 2: empty line"),
        ("5\n4\n", "line 2: time goes backwards: 4 ms after 5 ms"),
        ("0\n0\n", "the trace lasts no time"),
        ("1\nabc\n", "line 2: timestamp is `abc`: expected a whole number of milliseconds"),
        ("1\n2.5\n", "line 2: timestamp is `2.5`: expected a whole number"),
        ("1\n 2\n", "line 2: timestamp is ` 2`: expected a whole number"),
        ("NaN\n", "line 1: timestamp is `NaN`: expected a finite number"),
        ("-1\n", "line 1: timestamp is negative: `-1`"),
        ("99999999999999999999999\n", "line 1: timestamp is out of range"),
        ("604800001\n", "line 1: timestamp is out of range: `604800001`, at most 604800000 ms"),
        ("1\n2 garbage\n", "line 2: timestamp is `2 garbage`"),
    ] {
        let message = error(text.as_bytes());
        assert!(message.starts_with(expected), "{text:?}: {message}");
    }
    assert!(error(b"1\n\xff\n").starts_with("not UTF-8 text"));
    assert!(error(b"1\n\0\n").starts_with("line 2: timestamp is `\u{fffd}`"));
}

#[test]
fn gzip_is_known_by_its_magic_and_may_have_several_members() {
    let both = [gz(b"1\n2\n"), gz(b"3\n")].concat();
    assert_eq!(times_ms(&read(&both).unwrap()), [1, 2, 3]);
}

#[test]
fn damaged_gzip_is_told_from_a_cut_one() {
    let whole = gz(b"1\n2\n3\n");
    for length in 2..whole.len() {
        assert!(error(&whole[..length]).contains("incomplete"), "{length}: {}", error(&whole[..length]));
    }
    let mut damaged = whole.clone();
    let checksum = damaged.len() - 8;
    damaged[checksum] ^= 1;
    assert!(error(&damaged).contains("damaged"));
    assert!(error(&[whole, b"trailing garbage".to_vec()].concat()).contains("damaged"));
}

#[test]
fn a_gzip_bomb_stops_at_the_limit() {
    let bomb = gz(&vec![b'1'; 1 << 20]);
    assert!(bomb.len() < 8192);
    let options = ReadOptions { max_bytes: 1 << 16, ..ReadOptions::default() };
    let message = Trace::read(&bomb[..], &options).unwrap_err().to_string();
    assert_eq!(message, "more than 65536 bytes of (decompressed) text");
}

#[test]
fn files_are_named_in_errors_and_never_left_half_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.up");
    fs::write(&path, "3\n2\n").unwrap();
    let error = Trace::load(&path, &ReadOptions::default()).unwrap_err();
    assert_eq!(error.line(), Some(2));
    assert_eq!(error.path(), Some(path.as_path()));
    assert!(error.to_string().ends_with("bad.up:2: time goes backwards: 2 ms after 3 ms"), "{error}");
    assert!(Trace::load(folder.path().join("absent"), &ReadOptions::default()).is_err());

    let fast = Trace::from(RateTrace::constant(400_000_000_000, 60_000 * MS).unwrap());
    let out = folder.path().join("out.down");
    assert!(fast.save(&out, &WriteOptions::for_path(&out)).is_err());
    assert!(!out.exists());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn the_name_of_a_file_to_write_gives_format_and_compression() {
    let of = |name: &str| {
        let options = WriteOptions::for_path(Path::new(name));
        (options.format, options.gzip)
    };
    assert_eq!(of("a.csv"), (Format::Csv, false));
    assert_eq!(of("a.JSON.gz"), (Format::NetemJson, true));
    assert_eq!(of("a.up.gz"), (Format::Mahimahi, true));
    assert_eq!("netem-json".parse::<Format>().unwrap(), Format::NetemJson);
    assert!("pcap".parse::<Format>().unwrap_err().to_string().contains("mahimahi, csv, netem-json"));
}

#[test]
fn opportunities_between_milliseconds_are_written_without_changing_the_rate() {
    // 1504 bytes every 0.25 ms: four lines a millisecond.
    let times = (1..=40).map(|k| k * MS / 4).collect();
    let trace = Trace::from(OpportunityTrace::new(times, 1504, Playback::Loop).unwrap());
    let mut bytes = Vec::new();
    trace.write(&mut bytes, &WriteOptions::new(Format::Mahimahi)).unwrap();
    let back = read(&bytes).unwrap();
    assert_eq!(times_ms(&back), (1..=10).flat_map(|ms| [ms; 4]).collect::<Vec<_>>());
    assert_eq!(back.mean_bps(), trace.mean_bps());
}

fn round_trip(trace: &Trace, options: &WriteOptions) -> Trace {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace");
    trace.save(&path, options).unwrap();
    Trace::load(&path, &ReadOptions { playback: Some(trace.playback()), ..ReadOptions::default() }).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn rate_series_come_back_as_written(
        steps in prop::collection::vec((1_u64..u64::from(u32::MAX), 0..=crate::MAX_RATE_BPS), 1..40),
        once: bool,
        json: bool,
        gzip: bool,
    ) {
        prop_assume!(steps.iter().any(|(_, bps)| *bps > 0));
        let playback = if once { Playback::Once } else { Playback::Loop };
        let segments = steps.into_iter().map(|(d, bps)| Segment::new(d, bps)).collect();
        let trace = Trace::from(RateTrace::new(segments, playback).unwrap());
        let format = if json { Format::NetemJson } else { Format::Csv };
        prop_assert_eq!(round_trip(&trace, &WriteOptions { gzip, ..WriteOptions::new(format) }), trace);
    }

    #[test]
    fn opportunities_come_back_as_written(gaps in prop::collection::vec(0_u64..50, 1..200), gzip: bool) {
        let mut now = 0;
        let times: Vec<u64> = gaps.iter().map(|gap| { now += gap * MS; now }).collect();
        prop_assume!(now > 0);
        let trace = Trace::from(OpportunityTrace::new(times, 1504, Playback::Loop).unwrap());
        prop_assert_eq!(round_trip(&trace, &WriteOptions { gzip, ..WriteOptions::new(Format::Mahimahi) }), trace);
    }
}
