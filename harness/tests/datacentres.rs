//! Datacentres from files of htsim: a topology, a connection matrix, and what is said of bad ones.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test")]

mod common;

use common::{Scratch, code, run, stderr, stdout};
use serde_json::Value;

/// Sixteen hosts on two edge switches to a pod, oversubscribed two to one.
const TREE: &str = "\
Nodes 16
Tiers 3
Podsize 8
Tier 0
Oversubscribed 2
Downlink_speed_Gbps 10
Radix_Down 4
Radix_Up 2
Downlink_Latency_ns 1000
Tier 1
Downlink_speed_Gbps 10
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 1000
Queue_Down 60000
Tier 2
Downlink_speed_Gbps 10
Radix_Down 2
Downlink_Latency_ns 2000
Switch_Latency_ns 500
";

const MATRIX: &str = "\
Nodes 32
Connections 4
Triggers 1
0->9 id 1 start 0 size 100000 send_done_trigger 7
3->20 id 2 start 12.5 size 200000 recv_done_trigger 7
9->0 id 3 trigger 7 size 30000
20->3 id 4 trigger 7 size 40000
trigger id 7 barrier count 2
";

const SCENARIO: &str = r#"
name = "joined"
duration = "200ms"

[topology]
kind = "datacentres"
tree = "tree.topo"
borders = 2
between_links = 1
between_delay = ["1ms", "2ms"]
link = { rate = "1Gbps", buffer = "100packets", phantom = { size = "1MB", marking = "50kB" } }

[endpoints]
profile = "datacentre"

[[workload]]
kind = "matrix"
file = "flows.cm"
group = "job"
"#;

fn files(change: (&str, &str)) -> Scratch {
    let scratch = Scratch::new();
    for (name, text) in [("tree.topo", TREE), ("flows.cm", MATRIX), ("joined.toml", SCENARIO)] {
        scratch.file(name, &text.replacen(change.0, change.1, 1));
    }
    scratch
}

fn class<'a>(run: &'a Value, group: &str) -> &'a Value {
    run["run"]["classes"].as_array().unwrap().iter().find(|class| class["group"] == group).unwrap()
}

#[test]
fn flows_of_a_matrix_run_within_and_between_datacentres() {
    let scratch = files(("", ""));
    let output = run(&scratch, &["run", "joined.toml", "--algo", "dctcp", "--json"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let run: Value = serde_json::from_str(&stdout(&output)).unwrap();
    for group in ["job", "job between datacentres"] {
        let totals = &class(&run, group)["totals"];
        assert_eq!((&totals["flows"], &totals["completed"]), (&2.into(), &2.into()), "{group}: {totals}");
    }
    let names: Vec<&str> =
        run["run"]["ports"].as_array().unwrap().iter().map(|port| port["name"].as_str().unwrap()).collect();
    assert!(names.ends_with(&["core-up", "border-down", "dc0-to-dc1", "dc1-to-dc0"]), "{names:?}");
    // Nothing of 230 kB and more crosses twice a millisecond in less; the barrier lets the second pair wait for the first.
    assert!(run["run"]["ended_at_ns"].as_u64().unwrap() > 4_000_000, "{}", run["run"]["ended_at_ns"]);
}

#[test]
fn bad_files_are_named_with_line_and_reason() {
    let cases = [
        ("Radix_Up 2", "Radix_Up two", "tree.topo: line 8: `Radix_Up`: expected a whole number, found two"),
        ("Podsize 8", "Podsize 7", "tree.topo: line 4: Nodes is 16: expected a multiple of Podsize, which is 7"),
        ("3->20", "3->40", "flows.cm: line 5: host 40 does not exist: there are 32, from 0"),
        ("size 200000", "size -3", "flows.cm: line 5: `size`: expected a whole number, found -3"),
        ("id 2", "id 1", "flows.cm: line 5: id 1 is that of line 4 already"),
        ("Triggers 1\n", "", "flows.cm: `Triggers` says 0, but there are 1"),
        ("barrier count 2", "oneshot", "flows.cm: line 8: trigger 7 is set off by 2 connections: expected 1"),
        ("\"tree.topo\"", "\"tre.topo\"", "cannot read the topology"),
        ("\"flows.cm\"", "\"flow.cm\"", "cannot read the connection matrix"),
        ("borders = 2", "borders = 0", "joined.toml:8: `topology.borders`: expected a whole number from 1 to 4096"),
        ("between_delay = [\"1ms\", \"2ms\"]", "", "joined.toml:5: `topology`: missing key `between_delay`"),
        (
            "rate = \"1Gbps\", buffer = \"100packets\", phantom = { size = \"1MB\", marking = \"50kB\" }",
            "trace = \"sample:lte-driving\"",
            "joined.toml:11: `topology.link`: links of datacentres have a `rate`: a trace has no tiers",
        ),
    ];
    for (from, to, expected) in cases {
        let output = run(&files((from, to)), &["run", "joined.toml", "--algo", "dctcp"]);
        let message = stderr(&output);
        assert_eq!(code(&output), 2, "{from} -> {to}: {message}");
        assert!(message.contains(expected), "{from} -> {to}: {message}");
    }
}

#[test]
fn two_tiers_are_enough_for_one_datacentre_but_not_for_several() {
    let tree = "Nodes 32\nTiers 2\nPodsize 32\nTier 0\nDownlink_speed_Gbps 10\nRadix_Down 8\nRadix_Up 2\n\
                Downlink_Latency_ns 1000\nTier 1\nDownlink_speed_Gbps 10\nRadix_Down 4\nDownlink_Latency_ns 1000\n";
    let output = run(&files((TREE, tree)), &["run", "joined.toml", "--algo", "dctcp"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("tree.topo has two tiers: several datacentres need cores"), "{}", stderr(&output));
    let scratch = files((TREE, tree));
    scratch.file("one.toml", &SCENARIO.replace("kind = \"datacentres\"", "kind = \"datacentres\"\ncount = 1"));
    let output = run(&scratch, &["run", "one.toml", "--algo", "dctcp", "--json"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let run: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(class(&run, "job")["totals"]["completed"], 4, "one datacentre has one class");
}

#[test]
fn failures_in_a_matrix_are_refused_by_line() {
    let failing = "Triggers 1\nFailures 1\nfailure switch_type AGG switch_id 0 link_id 0\n";
    let output = run(&files(("Triggers 1\n", failing)), &["run", "joined.toml", "--algo", "dctcp"]);
    let message = stderr(&output);
    assert_eq!(code(&output), 2, "{message}");
    assert!(message.contains("flows.cm: line 5: failures of links are no part of a matrix here"), "{message}");
}
