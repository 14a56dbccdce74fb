//! The body of the fuzz target for the readers, callable from a plain test.

use crate::format::{Format, ReadOptions, WriteOptions};
use crate::plot::{PlotOptions, plot_svg};
use crate::trace::{MAX_OPPORTUNITIES, MAX_SEGMENTS, Trace};

/// Reads arbitrary bytes as every format. Nothing may panic, what is accepted must keep to the limits, and what is
/// written of it must be read back as the same trace.
///
/// # Panics
/// If one of these does not hold.
pub fn fuzz_readers(bytes: &[u8]) {
    let forced = Format::ALL.into_iter().map(Some).chain([None]);
    for format in forced {
        let options = ReadOptions { format, max_bytes: 1 << 20, ..ReadOptions::default() };
        match Trace::read(bytes, &options) {
            Ok(trace) => check(&trace),
            // The message must be one line, whatever the bytes are.
            Err(error) => assert!(!error.to_string().contains(['\n', '\r']), "{error}"),
        }
    }
}

fn check(trace: &Trace) {
    let (format, entries) = match trace {
        Trace::Opportunities(trace) => (Format::Mahimahi, trace.count()),
        Trace::Rate(trace) => (Format::NetemJson, trace.segments().len()),
    };
    assert!(entries > 0 && entries <= MAX_OPPORTUNITIES.max(MAX_SEGMENTS));
    assert!(trace.period_ns() > 0 && trace.period_ns() <= crate::MAX_DURATION_NS);
    assert!(trace.mean_bps() <= crate::MAX_RATE_BPS);
    // A longer one is measured as well, but takes its time.
    if trace.period_ns() <= 3_600_000_000_000 {
        let stats = trace.stats();
        assert!(stats.outage_ns <= stats.duration_ns && stats.per_second.min_bps <= stats.per_second.max_bps);
        assert!(!plot_svg(trace, &PlotOptions::default()).contains("NaN"));
    }
    let mut written = Vec::new();
    let done = trace.write(&mut written, &WriteOptions::new(format));
    assert!(done.is_ok(), "{done:?}");
    let back = Trace::read(&written[..], &ReadOptions { playback: Some(trace.playback()), ..ReadOptions::default() });
    assert!(back.is_ok_and(|back| back == *trace), "a written trace reads back as another");
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    use super::*;

    /// Texts that are nearly traces: pieces of valid and invalid ones in any order.
    fn nearly_a_trace() -> impl Strategy<Value = Vec<u8>> {
        let pieces = prop::sample::select(vec![
            "time_s,rate_mbps\n",
            "0,1\n",
            "1,\n",
            "2,-\n",
            "1e9,1e9\n",
            ",",
            ";",
            "\t",
            "\n",
            "\r\n",
            "#",
            "\"",
            "0\n",
            "5\n",
            "604800000\n",
            "18446744073709551615\n",
            "-1",
            "NaN",
            "1e400",
            ".",
            "2019.12.16_12.27.05",
            ",30,8\n",
            "Timestamp,DL_bitrate,UL_bitrate\n",
            "{\"StaticBwConfig\":{\"bw\":\"12Mbps\",\"duration\":\"1s\"}}",
            "{",
            "}",
            "{\"RepeatedBwPatternConfig\":{\"pattern\":[",
            "],\"count\":3}}",
            "],\"count\":0}}",
            "\"",
            "[",
            "]",
            "µ",
            "\u{feff}",
            "{\"SawtoothBwConfig\":{\"interval\":\"1ns\",\"duration\":\"1ms\",\"step\":\"1us\",\"duty_ratio\":1e308}}",
            "{\"NormalizedBwConfig\":{\"std_dev\":\"100Tbps\",\"duration\":\"7day\",\"step\":\"1h\"}}",
            "{\"TraceBwConfig\":{\"pattern\":[[\"1ns\",[\"1bps\",\"0bps\"]]]}}",
        ]);
        prop::collection::vec(pieces, 0..12).prop_map(|pieces| pieces.concat().into_bytes())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]

        #[test]
        fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            fuzz_readers(&bytes);
        }

        #[test]
        fn pieces_of_traces(bytes in nearly_a_trace(), gzip: bool, cut in 0_usize..100) {
            if gzip {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
                encoder.write_all(&bytes).unwrap();
                let mut bytes = encoder.finish().unwrap();
                bytes.truncate(bytes.len() - cut.min(bytes.len()) / 8);
                fuzz_readers(&bytes);
            } else {
                fuzz_readers(&bytes);
            }
        }
    }

    #[test]
    fn a_deeply_nested_pattern_is_refused() {
        let open = "{\"RepeatedBwPatternConfig\":{\"pattern\":[".repeat(10_000);
        fuzz_readers(open.as_bytes());
    }

    #[test]
    fn nested_repetition_shares_one_limit() {
        // Each level would on its own stay below the limit.
        let level = "{\"RepeatedBwPatternConfig\":{\"count\":1,\"pattern\":[{\"NormalizedBwConfig\":{\"duration\":\"4s\",\
                     \"step\":\"1us\"}},";
        let text = format!("{}{{\"StaticBwConfig\":{{}}}}{}", level.repeat(20), "]}}".repeat(20));
        let error = Trace::read(text.as_bytes(), &ReadOptions::default()).unwrap_err();
        assert!(error.to_string().contains("segments"), "{error}");
    }
}
