//! The program from outside: exit codes, messages, streams, and folders that survive.

mod common;

use common::{Scratch, code, run, stderr, stdout};

#[test]
fn bad_input_is_exit_2_and_one_message_that_says_what_was_expected() {
    let scratch = Scratch::new();
    let bad_scenario = scratch.file("bad.toml", "name = \"x\"\nduraton = \"1s\"\n");
    let text = scratch.file("text.csv", "time_s,rate_mbps\n0,fast\n1,2\n");
    let backwards = scratch.file("back.down", "5\n3\n");
    let empty = scratch.file("empty.down", "");
    let taken = scratch.file("taken/thesis.tex", "");
    let taken_folder = taken.rsplit_once('/').unwrap().0.to_owned();
    let cases: &[(&[&str], &str)] = &[
        (&["shootout", "quik"], "no scenario is called `quik`: did you mean `quick`?"),
        (&["shootout", "--algos", "cubik"], "unknown algorithm `cubik`: did you mean `cubic`?"),
        (&["shootout", "--algos", "cubic?bata=0.5"], "`cubic` has no parameter `bata`: did you mean `beta`?"),
        (&["shootout", "--algos", "cubic?beta=7"], "`cubic?beta=7`: expected "),
        (&["shootout", "--algos", "cubic,cubic"], "algorithm `cubic` is named twice"),
        (&["shootout", "--seeds", "0"], "'--seeds <N>'"),
        (&["shootout", "--jobs", "0"], "'--jobs <N>'"),
        (&["shootout", "--shard", "5/4"], "expected part i of n as `i/n`, such as 1/4"),
        (&["shootout", "--resume"], "--out <DIR>"),
        (
            &["shootout", "wan-bulk", "--baseline", "dctcp", "--algos", "cubic"],
            "baseline `dctcp` is not among the algorithms: cubic",
        ),
        (&["shootout", "wan-bulk", "--out", &taken_folder], "is not empty and holds no manifest.json"),
        (&["shootout", "wan-bulk", "--out", &taken], "cannot make folder "),
        (&["shootout", &bad_scenario], "bad.toml:2: `duraton`: unknown key: did you mean `duration`?"),
        (&["shootout", "no/such.toml"], "no/such.toml: cannot read the scenario: "),
        (&["shoot"], "shootout"),
        (&["run", "wan-bulk", "--algo", "bbr9"], "unknown algorithm `bbr9`"),
        (&["run", "wan-bulk", "--rival", "cubic"], "scenario `wan-bulk` has no rival: leave --rival out"),
        (&["run", "wan-bulk", "--seed", "-1"], "invalid value '-1' for '--seed <N>'"),
        (&["replay", &text], "text.csv:2: "),
        (&["replay", &backwards], "back.down:2: time goes backwards"),
        (&["replay", &empty], "empty.down: empty"),
        (&["replay", "sample:lti"], "unknown sample `lti`: did you mean `lte`?"),
        (&["replay", "no-such-file"], "no-such-file: "),
        (&["replay", "sample:lte", "--rtt", "40"], "expected a time above zero such as 100us, 25ms or 1s"),
        (&["replay", "sample:lte", "--rtt", "0ms"], "expected a time above zero"),
        (&["replay", "sample:lte", "--queue", "many"], "expected an amount such as 1bdp, 100kB or 100packets"),
        (&["list", "algorithms"], "algos"),
        (&["list", "algos", "cubik"], "nothing is called `cubik`: did you mean `cubic`?"),
        (&["trace", "info", &backwards], "back.down:2: time goes backwards"),
        (&["trace", "generate", "lti", "x.csv"], "lti"),
        (&["report", "no-such-folder"], "cannot read no-such-folder/manifest.json: "),
        (&["report", "a", "b"], "several folders need --out"),
        (&["compare", "no-such", "folder"], "no-such"),
    ];
    for (args, expected) in cases {
        let output = run(&scratch, args);
        let message = stderr(&output);
        assert_eq!(code(&output), 2, "{args:?}: {message}");
        assert!(message.contains(expected), "{args:?}: {message}");
        assert!(!message.contains("panicked"), "{args:?}: {message}");
        assert_eq!(stdout(&output), "", "{args:?}");
    }
    assert!(!scratch.path("results").exists(), "nothing is written before the input is known to be good");
}

#[test]
fn what_the_simulator_would_refuse_is_refused_before_a_folder_is_made() {
    let scratch = Scratch::new();
    let tiny = std::fs::read_to_string(scratch.tiny_scenario()).unwrap();
    for (from, to, expected) in [
        ("load = 0.5", "load = 1e-300", "scenario `tiny`: flows: none starts within the run: expected at least one"),
        (
            "rate = \"10Mbps\"",
            "rate = \"10Mbps\", marking = { min = \"9packets\", max = \"3packets\" }",
            "scenario `tiny`: link marking: ",
        ),
        (
            "rate = \"10Mbps\"",
            "rate = \"10Mbps\", queue = { kind = \"pie\", update = \"1ns\" }",
            "scenario `tiny`: link queue: pie update interval is 1ns, expected at least 1us",
        ),
    ] {
        let scenario = scratch.file("refused.toml", &tiny.replace(from, to));
        for args in [&["shootout", &scenario, "--out", "refused"][..], &["run", &scenario]] {
            let output = run(&scratch, args);
            assert_eq!(code(&output), 2, "{args:?}: {}", stderr(&output));
            assert!(stderr(&output).contains(expected), "{args:?}: {}", stderr(&output));
        }
    }
    assert!(!scratch.path("refused").exists());
}

#[test]
fn a_run_is_told_even_if_its_qlog_cannot_be_written() {
    let scratch = Scratch::new();
    let output = run(&scratch, &["run", &scratch.tiny_scenario(), "--qlog", "no/such/folder.qlog"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("cannot write no/such/folder.qlog: "), "{}", stderr(&output));
    assert!(stdout(&output).contains("newreno"), "{}", stdout(&output));
}

#[test]
fn help_and_version_are_good_and_go_to_stdout() {
    let scratch = Scratch::new();
    for args in [&["--help"][..], &["shootout", "--help"], &["trace", "convert", "--help"], &["--version"]] {
        let output = run(&scratch, args);
        assert_eq!(code(&output), 0, "{args:?}");
        assert!(stdout(&output).contains("cwndtunnel"), "{args:?}");
    }
}

#[test]
fn every_list_has_entries_and_is_also_json() {
    let scratch = Scratch::new();
    for what in ["algos", "suites", "scenarios", "topologies", "workloads", "balancers", "traces"] {
        // What is said below an entry is indented.
        let listed = stdout(&run(&scratch, &["list", what]));
        let lines = listed.lines().filter(|line| !line.starts_with(' ')).count();
        let json: serde_json::Value = serde_json::from_str(&stdout(&run(&scratch, &["list", what, "--json"]))).unwrap();
        assert!(lines >= 2, "{what}");
        assert_eq!(json.as_array().unwrap().len(), lines, "{what}");
    }
}

#[test]
fn a_balancer_is_the_scenarios_the_command_lines_or_an_algorithms_own() {
    let scratch = Scratch::new();
    let tiny = std::fs::read_to_string(scratch.tiny_scenario()).unwrap();
    let balanced = |balance: &str| {
        let file = format!("{}.toml", balance.replace(['?', '='], "-"));
        scratch.file(&file, &format!("balance = \"{balance}\"\n{tiny}"))
    };
    for args in [
        &["run", &balanced("plb?rounds=3")][..],
        &["run", &balanced("ecmp"), "--balance", "uno?subflows=4"],
        &["run", &balanced("ecmp"), "--algo", "cubic?beta=0.5@reps?buffer=4"],
        &[
            "shootout",
            &balanced("ecmp"),
            "--algos",
            "cubic,cubic@uno",
            "--seeds",
            "1",
            "--balance",
            "bitmap",
            "--out",
            "o",
        ],
    ] {
        let output = run(&scratch, args);
        assert_eq!(code(&output), 0, "{args:?}: {}", stderr(&output));
        let named = args.iter().find(|arg| arg.contains('@'));
        assert!(named.is_none_or(|spec| stdout(&output).contains(spec.rsplit(',').next().unwrap())), "{args:?}");
    }
    for (args, message) in [
        (&["run", &balanced("ecmpp")][..], "`balance`: unknown balancer `ecmpp`: did you mean `ecmp`?"),
        (&["run", &balanced("uno?subflows=0")], "`balance`: `uno?subflows=0`: expected 1 to 4096"),
        (&["run", &balanced("ecmp"), "--balance", "unno"], "unknown balancer `unno`: did you mean `uno`?"),
        (&["run", &balanced("ecmp"), "--algo", "cubic@blb"], "unknown balancer `blb`: did you mean `plb`?"),
        (&["shootout", &balanced("ecmp"), "--algos", "cubic@ecmp,cubic@ecmp"], "`cubic@ecmp` is named twice"),
    ] {
        let output = run(&scratch, args);
        assert_eq!(code(&output), 2, "{args:?}");
        assert!(stderr(&output).contains(message), "{args:?}: {}", stderr(&output));
    }
    assert!(stdout(&run(&scratch, &["list", "balancers", "uno"])).contains("subflows=10"));
}

#[test]
fn a_printed_scenario_is_one_to_start_from() {
    let scratch = Scratch::new();
    let toml = stdout(&run(&scratch, &["list", "scenarios", "wan-bulk"]));
    let mine = scratch.file("mine.toml", &toml.replace("\"20s\"", "\"1s\"").replace("wan-bulk", "mine"));
    let output = run(&scratch, &["run", &mine, "--algo", "cubic?beta=0.5", "--json"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let record: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert!(stdout(&output).contains("cubic?beta=0.5"), "{record}");
}

#[test]
fn one_run_prints_a_table_and_writes_qlog_and_repeats_to_the_byte() {
    let scratch = Scratch::new();
    let tiny = scratch.tiny_scenario();
    let qlog = scratch.path("run.qlog");
    let output = run(&scratch, &["run", &tiny, "--seed", "3", "--qlog", qlog.to_str().unwrap()]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("newreno"));
    assert!(std::fs::read_to_string(&qlog).unwrap().contains("qlog"));
    let json = || stdout(&run(&scratch, &["run", &tiny, "--seed", "3", "--json"]));
    assert!(json() == json());
}

#[test]
fn the_algorithm_meets_a_rival_where_the_scenario_has_one() {
    let scratch = Scratch::new();
    let toml = stdout(&run(&scratch, &["list", "scenarios", "coexist-deep"]));
    let mine = scratch.file("mine.toml", &toml.replace("\"60s\"", "\"2s\""));
    let output = run(&scratch, &["run", &mine, "--algo", "newreno", "--rival", "cubic"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("rival cubic"), "{}", stdout(&output));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let scratch = Scratch::new();
    let mut child =
        scratch.command(&["list", "scenarios", "--json"]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn traces_are_told_converted_generated_and_plotted() {
    let scratch = Scratch::new();
    let good = |args: &[&str]| {
        let output = run(&scratch, args);
        assert_eq!(code(&output), 0, "{args:?}: {}", stderr(&output));
        stdout(&output)
    };
    good(&["trace", "generate", "constant?rate_bps=12000000", "flat.csv", "--seed", "2"]);
    good(&["trace", "convert", "flat.csv", "flat.down.gz", "--to", "mahimahi"]);
    let (csv, gz) = (good(&["trace", "info", "flat.csv"]), good(&["trace", "info", "flat.down.gz"]));
    assert!(csv.contains("12") && gz.contains("12"), "{csv}{gz}");
    good(&["trace", "plot", "sample:lte", "lte.svg"]);
    assert!(std::fs::read_to_string(scratch.path("lte.svg")).unwrap().contains("<svg"));
}

#[test]
fn algorithms_are_listed_with_family_needs_source_and_promises() {
    let scratch = Scratch::new();
    let listed = stdout(&run(&scratch, &["list", "algos"]));
    for expected in ["datacentre; RFC 8257", "needs ECN", "promises utilisation at least", "control; ours"] {
        assert!(listed.contains(expected), "no {expected:?} in\n{listed}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&stdout(&run(&scratch, &["list", "algos", "dctcp", "--json"]))).unwrap();
    assert_eq!(json[0]["family"], "datacentre");
    assert_eq!(json[0]["needs"][0], "ECN");
    assert!(json[0]["promises"]["utilisation"].is_number(), "{json}");
}

#[test]
fn a_family_takes_part_as_a_whole() {
    let scratch = Scratch::new();
    let output =
        run(&scratch, &["shootout", "wan-shallow", "--algos", "control,cubic,control", "--seeds", "1", "--out", "out"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let report = std::fs::read_to_string(scratch.path("out/report.html")).unwrap();
    for name in ["fixed-rate", "fixed-window", "cubic"] {
        assert!(report.contains(&format!("<th>{name}</th>")), "{name} is missing");
    }
}
