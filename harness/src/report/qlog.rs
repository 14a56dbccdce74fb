//! qlog of a run's time series: the congestion state of its flows, sampled, small enough to open in a viewer.
//!
//! JSON text sequences (RFC 7464) of draft-ietf-quic-qlog-main-schema with the event `quic:recovery_metrics_updated` of
//! draft-ietf-quic-qlog-quic-events. Each flow is a `group_id`. Values that did not change since a flow's last event are
//! left out, as the draft asks.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::measure::{FlowSeries, RunRecord, decimal};

const NANOS_PER_MILLI: u64 = 1_000_000;

/// The run's series as qlog; `None` if none were kept.
pub fn to_qlog(run: &RunRecord) -> Option<String> {
    let series = run.series.as_ref()?;
    let mut out = String::new();
    push(&mut out, &header(run));
    let mut last: BTreeMap<u32, Map<String, Value>> = BTreeMap::new();
    for (index, &at_ns) in series.at_ns.iter().enumerate() {
        for flow in &series.flows {
            let Some(state) = state(flow, index) else { continue };
            let before = last.entry(flow.flow).or_default();
            let changed: Map<String, Value> = state
                .iter()
                .filter(|&(key, value)| before.get(key) != Some(value))
                .map(|(k, v)| (k.clone(), v.clone()))
                .collect();
            if !changed.is_empty() {
                push(&mut out, &event(at_ns, flow.flow, &changed));
                *before = state;
            }
        }
    }
    Some(out)
}

fn header(run: &RunRecord) -> Value {
    let identity = &run.identity;
    json!({
        "file_schema": "urn:ietf:params:qlog:file:sequential",
        "serialization_format": "application/qlog+json-seq",
        "title": format!("{}, {}, seed {}", identity.scenario, identity.algorithm, identity.seed),
        "trace": {
            "event_schemas": ["urn:ietf:params:qlog:events:quic-12"],
            "vantage_point": { "name": "cwndtunnel", "type": "unknown" },
            "common_fields": {
                "time_format": "relative_to_epoch",
                "reference_time": { "clock_type": "monotonic", "epoch": "unknown" },
            },
        },
    })
}

fn event(at_ns: u64, flow: u32, data: &Map<String, Value>) -> Value {
    json!({
        "time": millis(at_ns),
        "name": "quic:recovery_metrics_updated",
        "group_id": format!("flow {flow}"),
        "data": data,
    })
}

fn state(flow: &FlowSeries, index: usize) -> Option<Map<String, Value>> {
    let at = |column: &[Option<u64>]| column.get(index).copied().flatten();
    let window = at(&flow.window)?;
    let mut state = Map::new();
    state.insert("congestion_window".into(), window.into());
    if let Some(bytes) = at(&flow.in_flight) {
        state.insert("bytes_in_flight".into(), bytes.into());
    }
    if let Some(nanos) = at(&flow.smoothed_rtt_ns) {
        state.insert("smoothed_rtt".into(), millis(nanos));
    }
    if let Some(rate) = at(&flow.pacing_bps) {
        state.insert("pacing_rate".into(), rate.into());
    }
    Some(state)
}

fn millis(nanos: u64) -> Value {
    decimal(nanos, NANOS_PER_MILLI).parse::<f64>().map_or(Value::Null, Value::from)
}

/// A record of RFC 7464: a separator, the text, a line feed.
fn push(out: &mut String, record: &Value) {
    out.push('\u{1e}');
    out.push_str(&record.to_string());
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::testing;

    fn records(text: &str) -> Vec<Value> {
        text.split('\u{1e}').skip(1).map(|record| serde_json::from_str(record).unwrap()).collect()
    }

    #[test]
    fn every_record_is_json_after_a_separator_and_times_go_forward() {
        let records = records(&to_qlog(&testing::run("lte", "cubic", 1)).unwrap());
        assert_eq!(records[0]["file_schema"], "urn:ietf:params:qlog:file:sequential");
        let times: Vec<f64> = records[1..].iter().map(|event| event["time"].as_f64().unwrap()).collect();
        assert!(times.len() > 400 && times.is_sorted());
    }

    #[test]
    fn events_hold_what_changed_in_the_drafts_units() {
        let mut run = testing::run("lte", "cubic", 1);
        let series = run.series.as_mut().unwrap();
        series.at_ns = vec![0, 1_500_000, 3_000_000];
        series.flows.truncate(1);
        let flow = &mut series.flows[0];
        flow.window = vec![Some(10_000), Some(10_000), None];
        flow.in_flight = vec![Some(0), Some(9_000), None];
        flow.pacing_bps = vec![None; 3];
        flow.smoothed_rtt_ns = vec![None, Some(20_250_000), None];
        let records = records(&to_qlog(&run).unwrap());
        assert_eq!(records.len(), 3, "a header and two events; the flow is gone at the third sample");
        assert_eq!(records[1]["data"], json!({ "congestion_window": 10_000, "bytes_in_flight": 0 }));
        assert_eq!(records[2]["time"], json!(1.5));
        assert_eq!(records[2]["data"], json!({ "bytes_in_flight": 9_000, "smoothed_rtt": 20.25 }));
    }

    #[test]
    fn a_run_without_series_has_no_qlog() {
        assert_eq!(to_qlog(&testing::run("lte", "cubic", 2)), None);
    }
}
