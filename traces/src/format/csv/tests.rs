use super::*;
use crate::decimal::seconds;

fn read(text: &str) -> Result<RateTrace, TraceError> {
    parse(text, &CsvOptions::default())
}

/// `start s:rate` of each segment, and the end.
fn show(trace: &RateTrace) -> String {
    let mut text: Vec<String> = trace.starts().map(|(t, s)| format!("{}:{}", seconds(t), s.bps)).collect();
    text.push(seconds(trace.period_ns()));
    text.join(" ")
}

fn error(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

#[test]
fn units_come_from_the_header() {
    assert_eq!(show(&read("time_s,throughput_mbps\n0,58.4\n1,0\n2,3\n").unwrap()), "0:58400000 1:0 2:3000000 3");
    assert_eq!(show(&read("t_ms;bandwidth (kbit/s)\n0;5\n500;7\n").unwrap()), "0:5000 0.5:7000 1");
    assert_eq!(show(&read("# made by x\nts_us\trate_bps\n10\t5\n20\t7\n").unwrap()), "0:5 0.00001:7 0.00002");
}

#[test]
fn the_downlink_of_a_drive_log_is_read_in_kilobits() {
    let text = "Timestamp,DL_bitrate,UL_bitrate\n2019.12.16_23.59.59,30,8\n2019.12.17_00.00.00,31,9\n";
    assert_eq!(show(&read(text).unwrap()), "0:30000 1:31000 2");
    let uplink = CsvOptions { rate_column: Some("ul_bitrate".into()), ..CsvOptions::default() };
    assert_eq!(show(&parse(text, &uplink).unwrap()), "0:8000 1:9000 2");
}

#[test]
fn repeated_times_share_their_stretch() {
    let text = "time_s,rate_bps\n0,1\n1,2\n1,3\n3,4\n";
    assert_eq!(show(&read(text).unwrap()), "0:1 1:2 2:3 3:4 5");
    assert_eq!(show(&read("time_s,rate_bps\n0,1\n0,2\n0,3\n1,4\n").unwrap()), "0:1 0.333333333:2 0.666666666:3 1:4 2");
}

#[test]
fn missing_rates_hold_or_are_outages() {
    let text = "time_s,rate_bps\n0,-\n1,5\n2,\n3,NA\n4,7\n";
    assert_eq!(show(&read(text).unwrap()), "0:5 1:5 2:5 3:7 4");
    let outage = CsvOptions { missing: MissingValue::Outage, ..CsvOptions::default() };
    assert_eq!(show(&parse(text, &outage).unwrap()), "0:0 1:5 2:0 3:0 4:7 5");
}

#[test]
fn a_last_row_without_a_rate_is_the_end() {
    assert_eq!(show(&read("time_s,rate_bps\n0,5\n0.25,\n").unwrap()), "0:5 0.25");
}

#[test]
fn missing_times_hold_the_rate_before() {
    assert_eq!(show(&read("time_s,rate_bps\n0,5\n1,6\n9,7\n10,8\n").unwrap()), "0:5 1:6 9:7 10:8 11");
}

#[test]
fn a_file_without_header_needs_named_columns() {
    let text = "0,5\n10,6\n";
    assert!(error(text).contains("no time column: the columns are 1, 2"), "{}", error(text));
    let options = CsvOptions {
        time_column: Some("1".into()),
        rate_column: Some("2".into()),
        time_unit: Some(TimeUnit::Milliseconds),
        rate_unit: Some(RateUnit::Megabytes),
        ..CsvOptions::default()
    };
    assert_eq!(show(&parse(text, &options).unwrap()), "0:40000000 0.01:48000000 0.02");
}

#[test]
fn errors_say_line_and_reason() {
    let header = "time_s,rate_mbps\n0,5\n";
    for (rows, expected) in [
        ("-1,5\n", "line 3: time is negative: `-1`"),
        ("1,-5\n", "line 3: rate is negative: `-5`"),
        ("1,NaN\n", "line 3: rate is `NaN`: expected a finite number"),
        ("1,fast\n", "line 3: rate is `fast`: expected a number"),
        ("1,1e300\n", "line 3: rate is out of range"),
        ("1,1e10\n", "line 3: rate is out of range"),
        ("5,1\n3,1\n", "line 4: time goes backwards: 3 after 5"),
        ("1,2\n2\n", "line 4: row has 1 column(s) where 2 were expected"),
        ("1,2,3\n", "line 3: row has 3 column(s)"),
        ("1,", "line 3: row ends before its last value and without a line end: is the file cut off?"),
        ("700000,2\n", "duration is out of range: `700000000000000 ns`"),
        ("99999999999,2\n", "line 3: time is out of range"),
    ] {
        let message = error(&format!("{header}{rows}"));
        assert!(message.starts_with(expected), "{rows}: {message}");
    }
    assert!(error("time_s,rate\n0,1\n").contains("line 1: the unit of column `rate` is not in its name"));
    assert!(error("a,b\n0,1\n").contains("no time column"));
    assert!(error("time_s,b\n0,1\n").contains("no rate column"));
    assert!(error("time_s,rate_bps\n").contains("at least one row with a rate"));
    assert!(error("time_s,rate_bps\n0,-\n1,-\n").contains("at least one row with a rate"));
    assert!(error("time_s,rate_bps\n4,1\n4,1\n").contains("same time"));
    assert!(error("time_s,rate_bps\n0,0\n1,0\n").contains("zero throughout"));
}
