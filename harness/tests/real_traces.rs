//! Real link traces replay, and no law gets more out of them than they hold. Skipped where their folder is absent
//! (`CWNDTUNNEL_TRACES`, or a folder `shared/traces` beside one of the parent folders).

mod common;

use std::env;
use std::path::{Path, PathBuf};

use common::{Scratch, code, run, stderr, stdout};

fn folder() -> Option<PathBuf> {
    let named = env::var_os("CWNDTUNNEL_TRACES").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|parent| parent.join("shared/traces"));
    named.into_iter().chain(beside).find(|path| path.is_dir())
}

#[test]
fn all_real_traces_replay_within_what_they_offer() {
    let Some(folder) = folder() else {
        eprintln!("skipped: no folder of real traces (set CWNDTUNNEL_TRACES)");
        return;
    };
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut traces: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "gz")).collect();
    traces.sort();
    assert!(!traces.is_empty());
    let scratch = Scratch::new();
    for (number, trace) in traces.iter().enumerate() {
        let out = format!("out-{number}");
        let name = trace.to_str().unwrap();
        let output = run(&scratch, &["replay", name, "--duration", "10s", "--seeds", "2", "--out", &out, "--json"]);
        assert_eq!(code(&output), 0, "{name}: {}", stderr(&output));
        let rows: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
        let rows = rows.as_array().unwrap_or_else(|| panic!("{rows}"));
        assert_eq!(rows.len(), 3, "newreno, cubic and dctcp");
        for row in rows {
            let utilisation = row["utilisation"].as_f64().unwrap_or_else(|| panic!("{row}"));
            assert!(utilisation <= 1.0, "{name}: {utilisation}");
            assert!(utilisation > 0.0, "{name}: {utilisation}");
        }
    }
}
