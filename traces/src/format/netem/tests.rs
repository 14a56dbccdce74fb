use super::*;
use crate::rate::Segment;

const MS: u64 = 1_000_000;

fn segments(trace: &RateTrace) -> Vec<(u64, u64)> {
    trace.segments().iter().map(|s| (s.duration_ns / MS, s.bps)).collect()
}

fn error(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

#[test]
fn a_pattern_in_both_notations() {
    let plain = r#"{"RepeatedBwPatternConfig":{"pattern":[
        {"StaticBwConfig":{"bw":{"gbps":0,"bps":12000000},"duration":{"secs":1,"nanos":0}}},
        {"StaticBwConfig":{"bw":{"gbps":0,"bps":24000000},"duration":{"secs":1,"nanos":0}}}],"count":2}}"#;
    let human = r#"{"RepeatedBwPatternConfig":{"pattern":[{"StaticBwConfig":{"bw":"12Mbps","duration":"1s"}},
        {"StaticBwConfig":{"bw":"24Mbps","duration":"1s"}}],"count":2}}"#;
    let trace = parse(plain).unwrap();
    assert_eq!(trace, parse(human).unwrap());
    let once = [(1000, 12_000_000), (1000, 24_000_000)];
    assert_eq!(segments(&trace), [once, once].concat());
    assert_eq!(trace.playback(), Playback::Once);
}

#[test]
fn count_zero_loops() {
    let text = r#"{"RepeatedBwPatternConfig":{"pattern":[{"TraceBwConfig":{"pattern":[
        ["1ms",["2Mbps","4Mbps"]],["2ms",["1Mbps"]]]}}],"count":0}}"#;
    let trace = parse(text).unwrap();
    assert_eq!(segments(&trace), [(1, 2_000_000), (1, 4_000_000), (2, 1_000_000)]);
    assert_eq!(trace.playback(), Playback::Loop);
}

#[test]
fn a_sawtooth_rises_and_falls() {
    let text = r#"{"SawtoothBwConfig":{"bottom":"12Mbps","top":"16Mbps","duration":"1s","step":"100ms",
        "interval":"500ms","duty_ratio":0.8}}"#;
    let tooth = [12, 13, 14, 15, 16].map(|mbps| (100, mbps * 1_000_000));
    assert_eq!(segments(&parse(text).unwrap()), [tooth, tooth].concat());
}

#[test]
fn normal_rates_have_the_asked_moments_and_bounds() {
    let text = r#"{"NormalizedBwConfig":{"mean":"12Mbps","std_dev":"1Mbps","duration":"10s","step":"1ms","seed":7,
        "upper_bound":"14Mbps","lower_bound":"10Mbps"}}"#;
    let rates: Vec<f64> = parse(text).unwrap().segments().iter().map(|s| s.bps as f64 / 1e6).collect();
    assert_eq!(rates.len(), 10_000);
    assert!(rates.iter().all(|r| (10.0..=14.0).contains(r)));
    // Standard error of the mean: 1 Mb/s / sqrt(10^4) = 0.01; the bounds at two deviations are symmetric. Clipping
    // there leaves a variance of 0.921 (integral of the normal density with point masses at the bounds).
    let mean = rates.iter().sum::<f64>() / 1e4;
    let variance = rates.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / 1e4;
    assert!((mean - 12.0).abs() < 0.04, "{mean}");
    assert!((variance - 0.921).abs() < 0.05, "{variance}");
    assert_eq!(parse(text).unwrap(), parse(text).unwrap());
    assert_ne!(parse(text).unwrap(), parse(&text.replace("\"seed\":7", "\"seed\":8")).unwrap());
}

#[test]
fn defaults_are_those_of_the_crate() {
    assert_eq!(segments(&parse(r#"{"StaticBwConfig":{}}"#).unwrap()), [(1000, 12_000_000)]);
    assert_eq!(segments(&parse(r#"{"NormalizedBwConfig":{}}"#).unwrap()), vec![(1, 12_000_000); 1000]);
}

#[test]
fn bad_models_are_named() {
    let message = error("{\n\"StaticBwConfig\":{\"bandwidth\":\"1Mbps\"}}");
    assert!(message.starts_with("line 2: ") && message.contains("`bandwidth`"), "{message}");
    assert!(error(r#"{"NoSuchConfig":{}}"#).contains("NoSuchConfig"));
    assert!(error(r#"{"StaticBwConfig":{"bw":"12"}}"#).contains("unknown unit"));
    assert!(error(r#"{"StaticBwConfig":{"#).contains("EOF"));
    assert!(error(r#"{"RepeatedBwPatternConfig":{}}"#).contains("at least one segment"));
    assert!(error(r#"{"SawtoothBwConfig":{"bottom":"13Mbps"}}"#).contains("bottom above its top"));
    assert!(error(r#"{"SawtoothBwConfig":{"step":"0s"}}"#).contains("step above zero"));
    let bomb = r#"{"RepeatedBwPatternConfig":{"pattern":[{"StaticBwConfig":{}}],"count":1000000000000}}"#;
    assert!(error(bomb).contains("more than 4194304 segments"));
    let nested = r#"{"RepeatedBwPatternConfig":{"pattern":[{"StaticBwConfig":{}},
        {"RepeatedBwPatternConfig":{"pattern":[{"StaticBwConfig":{}}],"count":0}}],"count":1}}"#;
    assert!(error(nested).contains("cannot begin to loop half-way"));
}

#[test]
fn what_is_written_is_read_back() {
    let segments = [(1, 5), (1, 0), (2, 7), (1, 9)].map(|(ns, bps)| Segment::new(ns, bps)).to_vec();
    for playback in [Playback::Loop, Playback::Once] {
        let trace = RateTrace::new(segments.clone(), playback).unwrap();
        assert_eq!(parse(&format(&trace)).unwrap(), trace);
    }
}
