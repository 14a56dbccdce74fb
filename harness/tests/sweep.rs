//! Sweeps from outside: the same bytes whatever the number of threads, interruptions and shards.
#![cfg(unix)]

mod common;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use common::{Scratch, code, results, run, stderr, stdout};

fn sweep(scratch: &Scratch, scenario: &str, out: &str, more: &[&str]) -> std::process::Output {
    run(scratch, &[&["shootout", scenario, "--out", out][..], more].concat())
}

#[test]
fn a_sweep_ends_with_a_table_and_all_files() {
    let scratch = Scratch::new();
    let tiny = scratch.tiny_scenario();
    let output = sweep(&scratch, &tiny, "out", &[]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("tiny") && stdout(&output).contains("cubic"));
    assert!(stderr(&output).contains("[2/2] tiny  "), "{}", stderr(&output));
    for file in ["report.html", "results.csv", "results.parquet", "histograms.hlog", "comparison.csv", "manifest.json"]
    {
        assert!(scratch.path("out").join(file).is_file(), "{file}");
    }
    let json = sweep(&scratch, &tiny, "out2", &["--json"]);
    assert!(serde_json::from_str::<serde_json::Value>(&stdout(&json)).is_ok());
}

#[test]
fn threads_change_no_byte() {
    let scratch = Scratch::new();
    let tiny = scratch.tiny_scenario();
    for (out, jobs) in [("one", "1"), ("four", "4")] {
        assert_eq!(code(&sweep(&scratch, &tiny, out, &["--jobs", jobs])), 0);
    }
    let one = results(&scratch.path("one"));
    assert_eq!(one.len(), 16 + 5);
    assert!(one == results(&scratch.path("four")));
}

#[test]
fn a_folder_is_not_overwritten_and_a_finished_one_resumes_to_itself() {
    let scratch = Scratch::new();
    let tiny = scratch.tiny_scenario();
    assert_eq!(code(&sweep(&scratch, &tiny, "out", &[])), 0);
    let before = results(&scratch.path("out"));
    let refused = sweep(&scratch, &tiny, "out", &[]);
    assert_eq!(code(&refused), 2);
    assert!(stderr(&refused).contains("holds results already: give --resume"), "{}", stderr(&refused));
    let other = sweep(&scratch, &tiny, "out", &["--resume", "--seeds", "3"]);
    assert_eq!(code(&other), 2);
    assert!(
        stderr(&other).contains("belongs to another run: it has 8 seeds of tiny instead of 3"),
        "{}",
        stderr(&other)
    );
    assert_eq!(code(&sweep(&scratch, &tiny, "out", &["--resume"])), 0);
    assert!(before == results(&scratch.path("out")));
}

#[test]
fn an_interrupt_leaves_a_folder_that_resumes_to_the_same_bytes() {
    let scratch = Scratch::new();
    let text = std::fs::read_to_string(scratch.tiny_scenario()).unwrap();
    // Fifty cells: the interrupt comes long before the last.
    let algorithms: Vec<String> = (100..150).map(|window| format!("\"fixed-window?window={window}kB\"")).collect();
    let many = text.replace("\"newreno\", \"cubic\"", &algorithms.join(", ")).replace("seeds = 8", "seeds = 2");
    let many = scratch.file("many.toml", &many);
    let args = ["shootout", &many, "--out", "cut", "--jobs", "1"];
    let mut child = scratch.command(&args).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().starts_with("[ 1/50]")), "the first cell never ended");
    let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(signal.success());
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{rest:?}");
    assert!(rest.last().unwrap().contains("runs done; give the same command with --out cut --resume"), "{rest:?}");

    assert_eq!(code(&sweep(&scratch, &many, "cut", &["--resume"])), 0);
    assert_eq!(code(&sweep(&scratch, &many, "whole", &[])), 0);
    assert!(results(&scratch.path("cut")) == results(&scratch.path("whole")));
}

#[test]
fn shards_merge_in_any_order_to_the_bytes_of_the_whole() {
    let scratch = Scratch::new();
    let tiny = scratch.tiny_scenario();
    for (out, shard) in [("a", "1/3"), ("b", "2/3"), ("c", "3/3")] {
        let output = sweep(&scratch, &tiny, out, &["--shard", shard]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        assert_eq!(stdout(&output), "", "a part makes no table");
    }
    assert_eq!(code(&sweep(&scratch, &tiny, "whole", &[])), 0);
    for (out, parts) in [("abc", &["a", "b", "c"]), ("cab", &["c", "a", "b"])] {
        let output = run(&scratch, &[&["report", "--out", out][..], parts].concat());
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        assert!(results(&scratch.path(out)) == results(&scratch.path("whole")), "{out}");
    }
    let foreign = sweep(&scratch, &tiny, "foreign", &["--seeds", "2"]);
    assert_eq!(code(&foreign), 0);
    let mixed = run(&scratch, &["report", "a", "foreign", "--out", "mixed"]);
    assert_eq!(code(&mixed), 2);
    assert!(
        stderr(&mixed).contains("foreign belongs to another run: it has 2 seeds of tiny instead of 8"),
        "{}",
        stderr(&mixed)
    );
    scratch.file("c/runs/tiny/cubic/3.json", "{\"format\":");
    let damaged = run(&scratch, &["report", "a", "c", "--out", "mixed"]);
    assert_eq!(code(&damaged), 2);
    assert!(stderr(&damaged).contains("c/runs/tiny/cubic/3.json: damaged record"), "{}", stderr(&damaged));
    assert!(!scratch.path("mixed").exists(), "parts that do not fit leave nothing that looks whole");
}

#[test]
fn a_folder_of_an_older_version_is_refused_and_kept() {
    let scratch = Scratch::new();
    let tiny = scratch.tiny_scenario();
    scratch.file("old/manifest.json", "{\"version\": \"0.0.9\", \"format\": 0}");
    assert_eq!(code(&sweep(&scratch, &tiny, "new", &["--seeds", "1"])), 0);
    let uses = [&["shootout", &tiny, "--out", "old", "--resume"][..], &["report", "old"], &["compare", "new", "old"]];
    for args in uses {
        let output = run(&scratch, args);
        assert_eq!(code(&output), 2);
        assert!(stderr(&output).contains("written by version 0.0.9 in format 0"), "{}", stderr(&output));
    }
    assert_eq!(results(&scratch.path("old")).len(), 0);
}

#[test]
fn folders_compare_seed_by_seed() {
    let scratch = Scratch::new();
    let tiny = scratch.tiny_scenario();
    for out in ["a", "b"] {
        assert_eq!(code(&sweep(&scratch, &tiny, out, &[])), 0);
    }
    let output = run(&scratch, &["compare", "a", "b"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("tiny"), "{}", stdout(&output));
    assert_eq!(code(&sweep(&scratch, &tiny, "c", &["--algos", "dctcp"])), 0);
    let disjoint = run(&scratch, &["compare", "a", "c"]);
    assert_eq!(code(&disjoint), 2);
    assert!(stderr(&disjoint).contains("a and c have no scenario and algorithm in common"), "{}", stderr(&disjoint));
}

#[test]
fn samples_generators_and_files_replay() {
    let scratch = Scratch::new();
    let flat = scratch.file("flat.down", &(1..=1_000).map(|ms| format!("{ms}\n")).collect::<String>());
    for trace in ["sample:lte", "gen:leo", &flat] {
        let out = format!("out-{}", trace.len());
        let args = ["replay", trace, "--duration", "2s", "--seeds", "1", "--algos", "cubic", "--out", &out];
        let output = run(&scratch, &args);
        assert_eq!(code(&output), 0, "{trace}: {}", stderr(&output));
        assert!(stdout(&output).contains("replay-"), "{}", stdout(&output));
    }
}
