mod random;

use cc_algos::{Rate, Span};
use proptest::prelude::*;

use super::*;

const SMALL: &str = r#"
name = "small"
duration = "10s"

[topology]
kind = "dumbbell"
rtt = "40ms"
bottleneck = { rate = "10Mbps" }

[[workload]]
kind = "bulk"
"#;

fn parse(text: &str) -> Result<Scenario, ScenarioError> {
    Scenario::parse(text, "x.toml")
}

#[test]
fn four_keys_and_a_workload_make_a_scenario() {
    let scenario = parse(SMALL).unwrap();
    assert_eq!(scenario.duration, Span::from_secs(10));
    assert_eq!(scenario.topology.main_link(), &Link::fixed(Rate::from_mbps(10)));
    assert_eq!(scenario.endpoints, Endpoints::INTERNET);
    assert_eq!((scenario.seeds, scenario.workloads.len()), (10, 1));
}

/// A scenario in which `from` is replaced by `to`, and the message that this must give.
const FAULTS: &[(&str, &str, &str)] = &[
    ("name = \"small\"", "name = small", "x.toml:2: not valid TOML: "),
    ("name = \"small\"", "", "x.toml:1: missing key `name`"),
    ("name = \"small\"", "nam = \"small\"", "x.toml:2: `nam`: unknown key: did you mean `name`?"),
    (
        "\"small\"",
        "\"Small One\"",
        "x.toml:2: `name`: expected a name of at most 60 lower-case letters, digits and hyphens, found \"Small One\"",
    ),
    ("\"10s\"", "10", "x.toml:3: `duration`: expected a time such as 100us, 25ms or 1s, in quotes, found 10"),
    ("\"10s\"", "\"0s\"", "x.toml:3: `duration`: expected a time above zero, found \"0s\""),
    ("\"10s\"", "\"10 sec\"", "x.toml:3: `duration`: expected a time such as 100us, 25ms or 1s, found \"10 sec\""),
    ("\"10s\"", "\"2592001s\"", "x.toml:3: `duration`: expected at most 2592000s, found \"2592001s\""),
    (
        "\"10s\"",
        "\"10s\"\nsample_every = \"1ns\"",
        "x.toml:4: `sample_every`: expected at least 100us, for 100000 samples in the 10s of a run; found 1ns",
    ),
    ("\"10s\"", "\"10s\"\nseeds = 0", "x.toml:4: `seeds`: expected a whole number from 1 to 100000, found 0"),
    ("\"10s\"", "\"10s\"\nseed = 3", "x.toml:4: `seed`: unknown key: did you mean `seeds`?"),
    ("\"10s\"", "\"10s\"\nzzz = 3", "x.toml:4: `zzz`: unknown key: expected one of name, duration, topology, "),
    ("\"10s\"", "\"10s\"\nalgorithms = []", "x.toml:4: `algorithms`: expected at least one algorithm"),
    ("[[workload]]", "[[fault]]\nwhich = [0]\n[[workload]]", "x.toml:10: `fault[0]`: missing key `links`"),
    (
        "[[workload]]",
        "[[fault]]\nlinks = \"bottleneck\"\nwhich = []\n[[workload]]",
        "x.toml:12: `fault[0].which`: expected at least one number of a link",
    ),
    (
        "[[workload]]",
        "[[fault]]\nlinks = \"bottleneck\"\nwhich = [0]\nrandom = 1\n[[workload]]",
        "x.toml:13: `fault[0].random`: expected either `which` or `random`",
    ),
    (
        "[[workload]]",
        "[[fault]]\nlinks = \"bottleneck\"\nfrom = \"2s\"\nuntil = \"1s\"\n[[workload]]",
        "x.toml:10: `fault[0]`: expected `until` to come after `from`",
    ),
    (
        "{ rate = \"10Mbps\" }",
        "{ rate = \"10Mbps\", loss = { kind = \"blocks\", length = 10, probabilities = [0.9, 0.9] } }",
        "x.toml:8: `topology.bottleneck.loss.probabilities`: expected 1 to 10 probabilities, of one loss, of two and so on, whose \
         sum is at most 1",
    ),
    ("\"10s\"", "\"10s\"\nrivals = \"each\"", "x.toml:1: `rivals` are named: expected a workload with "),
    (
        "\"10Mbps\"",
        "\"10Mbps\", jitter_schedule = [{ at = \"1s\", delay = \"9ms\" }, { at = \"1s\", delay = \"0s\" }]",
        "x.toml:8: `topology.bottleneck.jitter_schedule`: jitter schedule, entry 1 (counted from 0): expected a later time than ",
    ),
    (
        "\"10Mbps\"",
        "\"10Mbps\", jitter_schedule = { repeat = \"1ms\", steps = [{ at = \"1ms\", delay = \"9ms\" }] }",
        "x.toml:8: `topology.bottleneck.jitter_schedule.repeat`: period of the jitter schedule is 1ms, expected more than ",
    ),
    (
        "\"10Mbps\"",
        "\"10Mbps\", jitter_schedule = { steps = [] }",
        "x.toml:8: `topology.bottleneck.jitter_schedule`: missing key `repeat`",
    ),
    ("dumbbell", "dumbell", "x.toml:6: `topology.kind`: unknown value `dumbell`: did you mean `dumbbell`?"),
    (
        "rtt = \"40ms\"",
        "rtt = \"40mz\"",
        "x.toml:7: `topology.rtt`: expected a time such as 100us, 25ms or 1s, found \"40mz\"",
    ),
    ("rtt = \"40ms\"", "", "x.toml:5: `topology`: missing key `rtt`"),
    ("10Mbps", "0Mbps", "x.toml:8: `topology.bottleneck.rate`: expected a rate above zero, found \"0Mbps\""),
    (
        "10Mbps",
        "10Mb",
        "x.toml:8: `topology.bottleneck.rate`: expected a rate such as 10Mbps or 400Gbps, found \"10Mb\"",
    ),
    (
        "10Mbps",
        "-1Mbps",
        "x.toml:8: `topology.bottleneck.rate`: expected a rate such as 10Mbps or 400Gbps, found \"-1Mbps\"",
    ),
    ("rate = \"10Mbps\"", "rte = \"10Mbps\"", "x.toml:8: `topology.bottleneck.rte`: unknown key: did you mean `rate`?"),
    (
        "10Mbps\"",
        "10Mbps\", trace = \"a.csv\"",
        "x.toml:8: `topology.bottleneck.trace`: a link has a `rate` or a `trace`, not both",
    ),
    (
        "10Mbps\"",
        "10Mbps\", loss = 1.5",
        "x.toml:8: `topology.bottleneck.loss`: expected a probability from 0 to 1, found 1.5",
    ),
    (
        "10Mbps\"",
        "10Mbps\", loss = nan",
        "x.toml:8: `topology.bottleneck.loss`: expected a probability from 0 to 1, found nan",
    ),
    (
        "10Mbps\"",
        "10Mbps\", loss = -0.1",
        "x.toml:8: `topology.bottleneck.loss`: expected a probability from 0 to 1, found -0.1",
    ),
    (
        "10Mbps\"",
        "10Mbps\", buffer = \"0packets\"",
        "x.toml:8: `topology.bottleneck.buffer`: expected an amount such as 1bdp, 100kB or 100packets, found \"0packets\"",
    ),
    (
        "duration = \"10s\"",
        "duration = \"10s\"\ncoding = { data = 0, parity = 2 }",
        "x.toml:4: `coding.data`: expected a whole number from 1 to 255, found 0",
    ),
    (
        "duration = \"10s\"",
        "duration = \"10s\"\ncoding = { data = 250, parity = { max = 6 } }",
        "x.toml:4: `coding`: a block of 250 data and 6 parity shards: expected at most 255 together",
    ),
    (
        "duration = \"10s\"",
        "duration = \"10s\"\ncoding = { data = 8, parity = { min = 3, max = 2 } }",
        "x.toml:4: `coding`: at least 3 and at most 2 parity shards: expected bounds in ascending order",
    ),
    (
        "duration = \"10s\"",
        "duration = \"10s\"\ncoding = { data = 8, parity = 2, timeout = \"0us\" }",
        "x.toml:4: `coding.timeout`: expected a time above zero, found \"0us\"",
    ),
    (
        "duration = \"10s\"",
        "duration = \"10s\"\ncoding = { data = 8, party = 2 }",
        "x.toml:4: `coding.party`: unknown key: did you mean `parity`?",
    ),
    (
        "10Mbps\"",
        "10Mbps\", queue = \"coddle\"",
        "x.toml:8: `topology.bottleneck.queue`: unknown value `coddle`: did you mean `codel`?",
    ),
    (
        "10Mbps\"",
        "10Mbps\", queue = { kind = \"codel\", targt = \"1ms\" }",
        "x.toml:8: `topology.bottleneck.queue.targt`: unknown key: did you mean `target`?",
    ),
    (
        "10Mbps\"",
        "10Mbps\", queue = \"pie\", marking = \"1bdp\"",
        "x.toml:8: `topology.bottleneck.marking`: only droptail and trimming queues mark by backlog",
    ),
    (
        "10Mbps\"",
        "10Mbps\", phantom = { size = \"1bdp\" }",
        "x.toml:8: `topology.bottleneck.phantom`: missing key `marking`",
    ),
    (
        "10Mbps\"",
        "10Mbps\", phantom = { size = \"1bdp\", marking = \"1kB\", drain = 1.5 }",
        "x.toml:8: `topology.bottleneck.phantom.drain`: expected a share above 0, at most 1, found 1.5",
    ),
    (
        "10Mbps\"",
        "10Mbps\", marking = \"1kB\", phantom = { size = \"1bdp\", marking = \"1kB\" }",
        "x.toml:8: `topology.bottleneck.phantom`: the link's own `marking` has no say beside role \"alone\"",
    ),
    (
        "10Mbps\"",
        "10Mbps\", phantom = { size = \"1bdp\", marking = \"1kB\", role = \"both\" }",
        "x.toml:8: `topology.bottleneck.phantom`: role \"both\" needs a `marking` of the link's own queue",
    ),
    (
        "10Mbps\"",
        "10Mbps\", queue = \"pie\", mark_at = \"dequeue\"",
        "x.toml:8: `topology.bottleneck.mark_at`: only droptail queues have a choice here",
    ),
    (
        "10Mbps\"",
        "10Mbps\", near_source = { every = \"150kB\" }",
        "x.toml:8: `topology.bottleneck.near_source`: missing key `set_point`",
    ),
    (
        "10Mbps\"",
        "10Mbps\", near_source = { set_point = \"30kB\", every = 0 }",
        "x.toml:8: `topology.bottleneck.near_source.every`: expected a size above zero, found 0",
    ),
    (
        "10Mbps\"",
        "10Mbps\", queue = { kind = \"trimming\", victim = \"newest\" }",
        "x.toml:8: `topology.bottleneck.queue.victim`: unknown value `newest`: expected one of arriving, arriving-or-newest",
    ),
    (
        "10Mbps\"",
        "10Mbps\", queue = { kind = \"trimming\", control_per_data = 0 }",
        "x.toml:8: `topology.bottleneck.queue.control_per_data`: expected a whole number from 1 to 1000000, found 0",
    ),
    (
        "10Mbps\"",
        "10Mbps\", changes = [{ at = \"5s\", link = \"up\" }, { at = \"1s\", link = \"down\" }]",
        "x.toml:8: `topology.bottleneck.changes[1]`: changes must stand in order of time: 1s does not come later",
    ),
    (
        "10Mbps\"",
        "10Mbps\", changes = [{ at = \"5s\" }]",
        "x.toml:8: `topology.bottleneck.changes[0]`: expected either `rate` or ",
    ),
    (
        "[[workload]]",
        "[endpoints]\nmtu = 0\n[[workload]]",
        "x.toml:11: `endpoints.mtu`: expected a size above zero, found 0",
    ),
    (
        "[[workload]]",
        "[endpoints]\nmtu = 100\n[[workload]]",
        "x.toml:11: `endpoints.mtu`: expected an MTU from 256 to 65535 bytes, found 100",
    ),
    (
        "[[workload]]",
        "[endpoints]\nloss_detection = \"rak\"\n[[workload]]",
        "x.toml:11: `endpoints.loss_detection`: unknown value `rak`: did you mean `rack`?",
    ),
    ("[[workload]]\nkind = \"bulk\"", "", "x.toml:1: missing key `workload`"),
    (
        "kind = \"bulk\"",
        "kind = \"bulky\"",
        "x.toml:11: `workload[0].kind`: unknown value `bulky`: did you mean `bulk`?",
    ),
    (
        "kind = \"bulk\"",
        "kind = \"bulk\"\nflow = 3",
        "x.toml:12: `workload[0].flow`: unknown key: did you mean `flows`?",
    ),
    ("kind = \"bulk\"", "kind = \"bulk\"\nmeasured = false", "x.toml:10: `workload`: no workload is measured"),
    (
        "kind = \"bulk\"",
        "kind = \"bulk\"\nalgorithm = \"cubic\"",
        "x.toml:1: no workload is played by the algorithm under test",
    ),
    (
        "kind = \"bulk\"",
        "kind = \"poisson\"\nsizes = \"web-serch\"",
        "x.toml:12: `workload[0].sizes`: `web-serch`: did you mean `web-search`?",
    ),
    (
        "kind = \"bulk\"",
        "kind = \"poisson\"\nsizes = \"rpc\"\nload = 0.0",
        "x.toml:13: `workload[0].load`: expected a load above 0, where 1 is the whole link, found 0",
    ),
    ("kind = \"bulk\"", "kind = \"poisson\"\nsizes = \"rpc\"", "x.toml:10: `workload[0]`: missing key `load`"),
];

#[test]
fn faults_name_line_and_key_and_say_what_was_expected() {
    for (from, to, expected) in FAULTS {
        assert!(SMALL.contains(from), "{from}");
        let text = SMALL.replacen(from, to, 1);
        let message = parse(&text).expect_err(to).to_string();
        assert!(message.starts_with(expected), "{to}\n  {message}\n  {expected}");
    }
}

#[test]
fn an_empty_list_of_workloads_is_refused() {
    let text = SMALL.replace("[[workload]]\nkind = \"bulk\"", "").replacen("name", "workload = []\nname", 1);
    assert_eq!(parse(&text).unwrap_err().to_string(), "x.toml:2: `workload`: expected at least one workload");
}

#[test]
fn a_missing_file_is_named() {
    let message = Scenario::load(std::path::Path::new("/no/such.toml")).unwrap_err().to_string();
    assert!(message.starts_with("/no/such.toml: cannot read the scenario: "), "{message}");
}

proptest! {
    #[test]
    fn what_is_printed_reads_back_the_same(scenario in random::scenario()) {
        let text = scenario.to_toml();
        match Scenario::parse(&text, "printed") {
            Ok(read) => prop_assert_eq!(read, scenario),
            Err(error) => prop_assert!(false, "{error}\n{text}"),
        }
    }
}

/// The documentation's code blocks of TOML, and all the rest.
fn documentation() -> (Vec<&'static str>, &'static str) {
    let text = include_str!("../../../docs/scenarios.md");
    let blocks = text.split("```toml\n").skip(1).filter_map(|after| after.split("```").next());
    (blocks.collect(), text)
}

#[test]
fn the_documented_example_is_a_scenario() {
    let (blocks, _) = documentation();
    assert_eq!(blocks.len(), 1);
    let scenario = parse(blocks[0]).unwrap();
    assert_eq!(scenario.workloads.len(), 3);
    Prepared::new(scenario, std::path::Path::new(".")).unwrap();
}

#[test]
fn every_key_that_the_documented_example_prints_is_documented() {
    let (blocks, text) = documentation();
    let printed = parse(blocks[0]).unwrap().to_toml();
    let keys = printed.lines().filter_map(|line| line.split_once(" = ")).map(|(key, _)| key);
    for key in keys {
        assert!(text.contains(&format!("`{key}`")) || text.contains(&format!("`{key} =")), "{key}");
    }
}
