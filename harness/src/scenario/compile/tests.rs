use std::path::Path;

use sim::queue::{Capacity, DisciplineSpec, MarkingSpec};
use sim::spec::{Load, Start};
use transport::flow::balance::Balancers;

use super::super::{Builtin, Rivals, SCENARIOS, Scenario};
use super::*;

fn prepared(name: &str) -> Prepared {
    Prepared::new(Builtin::by_name(name).unwrap().scenario().unwrap(), Path::new(".")).unwrap()
}

fn cast(registry: &Registry, subject: &str, rival: Option<&str>) -> Cast {
    let entrant = |spec| Entrant::resolve(spec, registry, &Balancers::builtin()).unwrap();
    Cast { subject: entrant(subject), rival: rival.map(entrant) }
}

fn compile(name: &str, subject: &str, seed: u64) -> Compiled {
    let registry = Registry::builtin();
    let prepared = prepared(name);
    let rival = (prepared.scenario.rivals != Rivals::None).then_some("cubic");
    prepared.compile(&registry, &cast(&registry, subject, rival), seed).unwrap()
}

#[test]
fn every_built_in_compiles_to_a_valid_experiment_for_its_algorithms_and_some_seeds() {
    for builtin in SCENARIOS {
        for (algorithm, seed) in [("newreno", 1), ("cubic", 2), ("dctcp", 99)] {
            let compiled = compile(builtin.name, algorithm, seed);
            compiled.experiment.validate().unwrap_or_else(|error| panic!("{}: {error}", builtin.name));
            let measured = |group| !compiled.unmeasured.contains(group);
            assert!(compiled.groups.keys().any(measured), "{} measures nothing", builtin.name);
        }
    }
}

#[test]
fn scenarios_of_the_default_suite_with_finite_flows_have_a_thousand_of_them_a_seed() {
    // Ten seeds then have the 10 000 completions that a p99.9 needs; wan-codel shows lower percentiles only.
    for name in super::super::SUITES[0].scenarios.iter().filter(|name| **name != "wan-codel") {
        let compiled = compile(name, "newreno", 1);
        let measured = |flow: &&spec::FlowSpec| !compiled.unmeasured.contains(&flow.group);
        let flows: Vec<_> = compiled.experiment.flows.iter().filter(measured).collect();
        let finite = flows.iter().filter(|flow| matches!(flow.load, Load::Bytes(_))).count();
        assert!(finite == 0 || finite > 1_100, "{name}: {finite}");
    }
}

#[test]
fn amounts_follow_from_rate_round_trip_and_mtu() {
    let bottleneck = |name| match compile(name, "newreno", 1).experiment.topology {
        spec::Topology::Dumbbell(dumbbell) => dumbbell.bottleneck,
        spec::Topology::Star(star) => star.down,
        spec::Topology::FatTree(tree) => tree.link,
        spec::Topology::Datacentres(datacentres) => datacentres.tree.links.edge_down,
    };
    // 100 Mb/s x 40 ms = 500 kB.
    let capacity = |bytes| DisciplineSpec::DropTail { capacity: Capacity::Bytes(bytes) };
    assert_eq!(bottleneck("wan-bulk").discipline, capacity(500_000));
    assert_eq!(bottleneck("wan-shallow").discipline, capacity(50_000));
    // 20 packets of 1 500 B.
    assert_eq!(bottleneck("dc-incast").marking, MarkingSpec::Threshold { bytes: 30_000 });
    assert_eq!(bottleneck("dc-incast").propagation, Span::from_micros(5));
    assert_eq!(bottleneck("wan-bulk").propagation, Span::from_millis(20));
}

#[test]
fn the_rival_and_named_algorithms_are_told_apart_from_the_subject() {
    let labels = |compiled: Compiled| {
        compiled.experiment.contestants.iter().map(|contestant| contestant.label.clone()).collect::<Vec<_>>()
    };
    assert_eq!(labels(compile("coexist-deep", "cubic", 1)), ["cubic", "rival cubic"]);
    assert_eq!(labels(compile("wan-bulk", "cubic?beta=0.5", 1)), ["cubic?beta=0.5"]);
    let registry = Registry::builtin();
    let missing = prepared("coexist-deep").compile(&registry, &cast(&registry, "cubic", None), 1).unwrap_err();
    assert_eq!(missing.to_string(), "scenario `coexist-deep` needs a rival");
}

#[test]
fn flows_are_the_same_whatever_the_algorithm_and_differ_between_seeds() {
    let key = |compiled: Compiled| {
        let key = |flow: &spec::FlowSpec| (flow.source, flow.destination, flow.start, flow.load);
        compiled.experiment.flows.iter().map(key).collect::<Vec<_>>()
    };
    assert!(key(compile("wan-web", "cubic", 3)) == key(compile("wan-web", "newreno", 3)));
    assert!(key(compile("wan-web", "cubic", 3)) != key(compile("wan-web", "cubic", 4)));
}

#[test]
fn requests_are_background_and_responses_wait_for_them() {
    let compiled = compile("wan-web", "cubic", 1);
    assert_eq!(compiled.groups.values().collect::<Vec<_>>(), ["web", "web requests"]);
    assert_eq!(compiled.unmeasured, [1]);
    let waiting = |flow: &&spec::FlowSpec| matches!(flow.start, Start::After { .. });
    let flows = &compiled.experiment.flows;
    assert_eq!(flows.iter().filter(waiting).count() * 2, flows.len());
}

#[test]
fn what_a_scenario_names_must_exist() {
    let broken = |from: &str, to: &str| {
        let text = Builtin::by_name("lte-web").unwrap().toml.replace(from, to);
        Prepared::new(Scenario::parse(&text, "x").unwrap(), Path::new("/nowhere")).unwrap_err().to_string()
    };
    assert_eq!(
        broken("sample:lte", "sample:lti"),
        "lte-web: `topology.bottleneck.trace`: unknown sample `lti`: did you mean `lte`?"
    );
    let missing = broken("sample:lte", "no.csv");
    assert!(missing.starts_with("lte-web: `topology.bottleneck.trace`: /nowhere/no.csv: "), "{missing}");
    let sizes = broken("uniform:1kB-100kB", "file:sizes.txt");
    assert!(sizes.starts_with("lte-web: `workload[0]`: cannot read the sizes /nowhere/sizes.txt: "), "{sizes}");
    for generator in ["gen:lti", "gen:lte?seed=x", "gen:lte?nonsense=1", "gen:constant?rate_bps=0"] {
        let message = broken("sample:lte", generator);
        assert!(message.starts_with("lte-web: `topology.bottleneck.trace`: "), "{message}");
    }
}

#[test]
fn generated_traces_follow_the_seed_unless_theirs_is_fixed() {
    let service = |name: &str, seed| {
        let text = Builtin::by_name("lte-fresh-bulk").unwrap().toml.replace("gen:lte", name);
        let prepared = Prepared::new(Scenario::parse(&text, "x").unwrap(), Path::new(".")).unwrap();
        let registry = Registry::builtin();
        let compiled = prepared.compile(&registry, &cast(&registry, "newreno", None), seed).unwrap();
        match compiled.experiment.topology {
            spec::Topology::Dumbbell(dumbbell) => dumbbell.bottleneck.service,
            other => panic!("{other:?}"),
        }
    };
    assert!(service("gen:lte", 1) != service("gen:lte", 2));
    assert!(service("gen:lte", 1) == service("gen:lte", 1));
    let fixed = "gen:lte?seed=5\"\ntrace_offset = \"0s";
    assert!(service(fixed, 1) == service(fixed, 2));
}

#[test]
fn jitter_schedules_stand_on_the_bottleneck_and_on_the_links_to_the_hosts_of_their_pairs() {
    let scenario = Scenario::parse(
        r#"
name = "jitter"
duration = "1s"
[topology]
kind = "dumbbell"
pairs = 2
rtt = "20ms"
pair_jitter = [[], { repeat = "9ms", steps = [{ at = "1ms", delay = "5ms" }] }]
bottleneck = { rate = "10Mbps", jitter_schedule = [{ at = "2ms", delay = "3ms" }] }
[[workload]]
kind = "bulk"
"#,
        "jitter.toml",
    )
    .unwrap();
    let registry = Registry::builtin();
    let prepared = Prepared::new(scenario, Path::new(".")).unwrap();
    let compiled = prepared.compile(&registry, &cast(&registry, "cubic", None), 1).unwrap();
    let spec::Topology::Dumbbell(dumbbell) = compiled.experiment.topology else { panic!("not a dumbbell") };
    assert_eq!(dumbbell.bottleneck.impairments.jitter_schedule.bound(), Span::from_millis(3));
    let delivery: Vec<_> = dumbbell.delivery.iter().map(|link| &link.impairments.jitter_schedule).collect();
    assert!(delivery.len() == 2 && delivery[0].is_empty());
    assert_eq!((delivery[1].bound(), delivery[1].period()), (Span::from_millis(5), Some(Span::from_millis(9))));
    assert!(dumbbell.access.impairments.is_none());
}

#[test]
fn blocks_time_out_as_the_scenario_says_or_after_the_rtt_assumed_at_first() {
    let compiled = |coding: &str| {
        let text = format!(
            "name = \"x\"\nduration = \"1s\"\n{coding}\n[topology]\nkind = \"dumbbell\"\nrtt = \"40ms\"\n\
             bottleneck = {{ rate = \"10Mbps\" }}\n[[workload]]\nkind = \"bulk\""
        );
        let registry = Registry::builtin();
        let prepared = Prepared::new(Scenario::parse(&text, "x").unwrap(), Path::new(".")).unwrap();
        let experiment = prepared.compile(&registry, &cast(&registry, "newreno", None), 1).unwrap().experiment;
        let coding = experiment.endpoints.sender.coding;
        let shape = coding.map(|coding| (coding.data(), coding.parity(), coding.timeout()));
        (shape, experiment.endpoints.block_timeout)
    };
    let blocks = |timeout| Some((8, code::Parity::Fixed(2), timeout));
    let (configured, full_queues) = (spec::BlockTimeout::Configured, spec::BlockTimeout::FullQueues);
    assert_eq!(compiled(""), (None, configured));
    let rtt = Span::from_millis(40);
    assert_eq!(compiled("coding = { data = 8, parity = 2 }"), (blocks(rtt), configured));
    let timeout = Span::from_micros(640);
    assert_eq!(compiled("coding = { data = 8, parity = 2, timeout = \"640us\" }"), (blocks(timeout), configured));
    assert_eq!(compiled("coding = { data = 8, parity = 2, timeout = \"full-queues\" }"), (blocks(rtt), full_queues));
}
