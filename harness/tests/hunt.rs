//! The adversary from outside: what it writes, what it prints, and that both can be replayed.

mod common;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use common::{Scratch, code, run, stderr, stdout};

/// Bounds that make a run take milliseconds, and a finding near.
const SMALL: [&str; 8] = ["--duration", "2s", "--rate", "4Mbps..8Mbps", "--rtt", "20ms..40ms", "--seed", "7"];

fn hunt<'a>(args: &[&'a str]) -> Vec<&'a str> {
    ["hunt"].into_iter().chain(args.iter().copied()).chain(SMALL).collect()
}

#[test]
fn bad_input_is_exit_2_and_one_message_that_says_what_was_expected() {
    let scratch = Scratch::new();
    let thesis = scratch.file("taken/thesis.tex", "");
    let taken = thesis.rsplit_once('/').unwrap().0.to_owned();
    let cases: &[(&[&str], &str)] = &[
        (&["hunt", "--algo", "newreno", "--goal", "low-utilization"], "low-utilisation"),
        (&["hunt", "--algo", "cubik", "--goal", "loss"], "unknown algorithm `cubik`: did you mean `cubic`?"),
        (&["hunt", "--goal", "loss"], "--algo"),
        (&["hunt", "--algo", "cubic", "--goal", "low-utilisation"], "expected another one than `cubic` itself"),
        (
            &["hunt", "--algo", "newreno", "--goal", "loss", "--buffer", "1MB"],
            "expected an amount or a range of amounts such as 0.5bdp",
        ),
        (
            &["hunt", "--algo", "newreno", "--goal", "loss", "--rtt", "40ms..20ms"],
            "expected a time or a range of times such as",
        ),
        (
            &["hunt", "--algo", "newreno", "--goal", "loss", "--duration", "1ms"],
            "duration: expected at least ten of the longest",
        ),
        (&["hunt", "--algo", "newreno", "--goal", "loss", "--out", &taken], "is not empty and holds no hunt.json"),
        (&["hunt", "--algo", "newreno", "--goal", "loss", "--resume"], "--out <DIR>"),
        (&["hunt", "--algo", "newreno", "--goal", "loss", "--out", "none", "--resume"], "none holds no hunt.json"),
    ];
    for (args, expected) in cases {
        let output = run(&scratch, args);
        let message = stderr(&output);
        assert_eq!(code(&output), 2, "{args:?}: {message}");
        assert!(message.contains(expected), "{args:?}: {message}");
        assert_eq!(stdout(&output), "", "{args:?}");
    }
    assert!(!scratch.path("results").exists(), "nothing is written before the input is known to be good");
}

#[test]
fn a_hunt_ends_in_a_scenario_a_plot_and_a_command_that_gives_the_very_same_numbers() {
    let scratch = Scratch::new();
    let output = run(&scratch, &hunt(&["--algo", "newreno", "--goal", "loss", "--generations", "1", "--out", "found"]));
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let told = stdout(&output);
    let command = told.lines().find_map(|line| line.strip_prefix("replay: cwndtunnel ")).unwrap();
    assert_eq!(command, "run found/found.toml --algo newreno --seed 7");
    let replayed = run(&scratch, &command.split(' ').collect::<Vec<_>>());
    assert_eq!(code(&replayed), 0, "{}", stderr(&replayed));
    assert!(told.contains(&stdout(&replayed)), "{told}\nreplayed:\n{}", stdout(&replayed));
    let toml = std::fs::read_to_string(scratch.path("found/found.toml")).unwrap();
    assert!(toml.starts_with("# Found by `hunt --algo newreno --goal loss --seed 7`.\n"), "{toml}");
    assert!(std::fs::read_to_string(scratch.path("found/found.svg")).unwrap().ends_with("</svg>\n"));
}

#[test]
fn a_hunt_in_two_parts_finds_what_one_of_both_lengths_finds() {
    let scratch = Scratch::new();
    let good = |args: &[&str]| {
        let output = run(&scratch, &hunt(args));
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        stdout(&output)
    };
    let common = ["--algo", "newreno", "--goal", "high-delay", "--json"];
    let with = |args: &[&'static str]| [&common[..], args].concat();
    good(&with(&["--generations", "1", "--jobs", "2", "--out", "parts"]));
    let parts = good(&with(&["--generations", "2", "--jobs", "1", "--out", "parts", "--resume"]));
    let whole = good(&with(&["--evaluations", "60", "--jobs", "2", "--out", "whole"]));
    assert_eq!(parts.replace("parts/", "whole/"), whole);
    let found = |folder: &str| std::fs::read_to_string(scratch.path(&format!("{folder}/found.toml"))).unwrap();
    assert_eq!(found("parts").replace("parts/", "whole/"), found("whole"));
}

#[test]
fn an_interrupt_ends_with_the_best_so_far_and_leaves_a_hunt_to_go_on_with() {
    let scratch = Scratch::new();
    let args = hunt(&["--algo", "newreno", "--goal", "loss", "--generations", "100000", "--out", "found"]);
    let mut child = scratch.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().starts_with("generation 1,")), "no generation ended");
    let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(signal.success());
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 0, "{rest:?}");
    assert!(rest.iter().any(|line| line.contains("the network is not minimal")), "{rest:?}");
    assert!(stdout(&output).contains("replay: cwndtunnel run found/found.toml"), "{}", stdout(&output));
    let state = std::fs::read_to_string(scratch.path("found/hunt.json")).unwrap();
    assert!(state.contains("\"generation\": "), "{state}");
}
