use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cc_algos::Registry;

use super::*;
use crate::measure::{KeepSeries, RunRecord, testing};
use crate::scenario::{Builtin, Prepared, Scenario};

fn prepared(name: &str) -> Arc<Prepared> {
    Arc::new(Prepared::new(Builtin::by_name(name).unwrap().scenario().unwrap(), Path::new(".")).unwrap())
}

fn request(seeds: u32) -> PlanRequest {
    PlanRequest {
        scenarios: vec![prepared("wan-bulk"), prepared("dc-incast")],
        algorithms: vec!["newreno".into(), "cubic?beta=0.5".into()],
        seeds: Some(seeds),
    }
}

fn sweep(seeds: u32, shard: &str) -> Sweep {
    Sweep::plan(&request(seeds), &Registry::builtin(), shard.parse().unwrap()).unwrap()
}

fn manifest(sweep: &Sweep) -> Manifest {
    let metadata =
        Metadata { command: vec!["shootout".into()], started_unix_s: 1, shard: "1/1".into(), declared: Vec::new() };
    Manifest::new(Recipe::of("test", sweep, Some("newreno".into())), metadata)
}

fn made_up(job: &Job) -> Result<RunRecord, String> {
    let mut record = testing::run(&job.identity.scenario, &job.identity.algorithm, job.seed);
    record.identity = job.identity.clone();
    Ok(record)
}

fn options(threads: usize) -> PoolOptions {
    PoolOptions { threads, interrupt: Interrupt::default() }
}

fn run_into(path: &Path, sweep: &Sweep, threads: usize) -> Summary {
    let folder = ResultsFolder::create(path, manifest(sweep), Existing::Resume).unwrap();
    run_all(sweep, &folder, &options(threads), &made_up, &Progress::silent())
}

/// Every file below `runs` with its bytes.
fn files(path: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(root: &Path, at: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(root, &path, found);
            } else {
                found.insert(path.strip_prefix(root).unwrap().display().to_string(), fs::read(&path).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(path, &path.join("runs"), &mut found);
    found
}

#[test]
fn a_sweep_has_a_run_for_each_scenario_algorithm_and_seed_in_order() {
    let sweep = sweep(3, "1/1");
    assert_eq!((sweep.cells.len(), sweep.jobs.len()), (4, 12));
    let names: Vec<_> = sweep.cells.iter().map(|cell| (&*cell.scenario, &*cell.algorithm)).collect();
    assert_eq!(names[..2], [("wan-bulk", "newreno"), ("wan-bulk", "cubic?beta=0.5")]);
    assert_eq!(sweep.jobs.iter().map(|job| job.seed).take(4).collect::<Vec<_>>(), [1, 2, 3, 1]);
}

#[test]
fn each_algorithm_meets_each_as_a_rival() {
    let request = PlanRequest { scenarios: vec![prepared("coexist-deep")], ..request(1) };
    let sweep = Sweep::plan(&request, &Registry::builtin(), Shard::WHOLE).unwrap();
    let names: Vec<_> = sweep.cells.iter().map(|cell| (&*cell.scenario, &*cell.algorithm)).collect();
    let expected = [
        ("coexist-deep+newreno", "newreno"),
        ("coexist-deep+newreno", "cubic?beta=0.5"),
        ("coexist-deep+cubic?beta=0.5", "newreno"),
        ("coexist-deep+cubic?beta=0.5", "cubic?beta=0.5"),
    ];
    assert_eq!(names, expected);
}

#[test]
fn unknown_and_repeated_names_are_refused() {
    let plan =
        |request: &PlanRequest| Sweep::plan(request, &Registry::builtin(), Shard::WHOLE).unwrap_err().to_string();
    let with = |algorithms: &[&str]| PlanRequest {
        algorithms: algorithms.iter().map(|name| (*name).to_owned()).collect(),
        ..request(1)
    };
    assert_eq!(plan(&with(&["cubik"])), "unknown algorithm `cubik`: did you mean `cubic`?");
    assert_eq!(plan(&with(&["cubic", "cubic"])), "algorithm `cubic` is named twice");
    let twice = PlanRequest { scenarios: vec![prepared("wan-bulk"), prepared("wan-bulk")], ..request(1) };
    assert!(plan(&twice).starts_with("two scenarios are called `wan-bulk`"));
    let text = Builtin::by_name("wan-bulk").unwrap().toml.replace("baseline", "algorithms = [\"bbr9\"]\nbaseline");
    let prepared = Prepared::new(Scenario::parse(&text, "x").unwrap(), Path::new(".")).unwrap();
    let of_scenario = PlanRequest { scenarios: vec![Arc::new(prepared)], ..PlanRequest::default() };
    assert!(plan(&of_scenario).starts_with("scenario `wan-bulk`: unknown algorithm `bbr9`"));
}

#[test]
fn shards_are_parts_of_the_whole() {
    for bad in ["0/2", "3/2", "1/0", "x", "1", "1/2/3", "-1/2"] {
        assert!(bad.parse::<Shard>().is_err(), "{bad}");
    }
    let mut seeds: Vec<_> = ["1/3", "2/3", "3/3"]
        .iter()
        .flat_map(|shard| sweep(3, shard).jobs.into_iter().map(|job| job.identity))
        .collect();
    seeds.sort();
    let mut whole: Vec<_> = sweep(3, "1/1").jobs.into_iter().map(|job| job.identity).collect();
    whole.sort();
    assert_eq!(seeds, whole);
}

#[test]
fn an_interrupted_sweep_resumes_to_the_bytes_of_one_that_was_not() {
    let (whole, parts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let sweep = sweep(3, "1/1");
    assert!(run_into(whole.path(), &sweep, 1).is_complete());

    let folder = ResultsFolder::create(parts.path(), manifest(&sweep), Existing::Refuse).unwrap();
    let options = options(2);
    let begun = AtomicUsize::new(0);
    let run = |job: &Job| {
        if begun.fetch_add(1, Ordering::SeqCst) == 4 {
            options.interrupt.raise();
        }
        made_up(job)
    };
    let first = run_all(&sweep, &folder, &options, &run, &Progress::silent());
    assert!(!first.is_complete() && first.left > 0 && first.done >= 5, "{first:?}");
    assert_eq!(first.done + first.left, 12);

    let second = run_into(parts.path(), &sweep, 2);
    assert_eq!((second.found, second.done, second.left), (first.done, 12 - first.done, 0));
    assert!(files(parts.path()) == files(whole.path()));
}

#[test]
fn shards_copied_together_are_the_bytes_of_the_whole() {
    let (whole, merged) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run_into(whole.path(), &sweep(3, "1/1"), 2);
    for shard in ["3/3", "1/3", "2/3"] {
        let part = sweep(3, shard);
        assert_eq!(manifest(&part).recipe_hash, manifest(&sweep(3, "1/1")).recipe_hash);
        assert!(run_into(merged.path(), &part, 2).is_complete());
    }
    assert!(files(merged.path()) == files(whole.path()));
}

#[test]
fn a_run_that_fails_or_panics_is_told_and_the_others_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = sweep(3, "1/1");
    let results = ResultsFolder::create(folder.path(), manifest(&sweep), Existing::Refuse).unwrap();
    let run = |job: &Job| match (job.cell, job.seed) {
        (0, 2) => Err("no such thing".into()),
        (3, 1) => std::panic::panic_any("window is 7".to_owned()),
        _ => made_up(job),
    };
    let summary = run_all(&sweep, &results, &options(2), &run, &Progress::silent());
    let failure = |job: &str, reason: &str| Failure { job: job.into(), reason: reason.into() };
    let expected = [
        failure("wan-bulk, newreno, seed 2", "no such thing"),
        failure("dc-incast, cubic?beta=0.5, seed 1", "panicked: window is 7"),
    ];
    assert_eq!(summary.failures, expected);
    assert_eq!((summary.done, summary.left), (10, 0));
    assert_eq!(files(folder.path()).len(), 10);
}

#[test]
fn a_damaged_record_is_run_again() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = sweep(1, "1/1");
    run_into(folder.path(), &sweep, 1);
    let before = files(folder.path());
    let victim = folder.path().join(sweep.jobs[1].identity.relative_path());
    let bytes = fs::read(&victim).unwrap();
    fs::write(&victim, &bytes[..bytes.len() / 2]).unwrap();
    assert_eq!(run_into(folder.path(), &sweep, 1).done, 1);
    assert!(files(folder.path()) == before);
}

#[test]
fn results_that_cannot_be_filed_stop_the_sweep() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = sweep(3, "1/1");
    let results = ResultsFolder::create(folder.path(), manifest(&sweep), Existing::Refuse).unwrap();
    fs::write(folder.path().join("runs"), "in the way").unwrap();
    let summary = run_all(&sweep, &results, &options(1), &made_up, &Progress::silent());
    assert_eq!(summary.done, 0);
    let message = summary.storage.unwrap().to_string();
    assert!(message.contains("runs"), "{message}");
}

#[test]
fn folders_that_do_not_fit_are_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let create = |path: &Path, seeds, existing| {
        ResultsFolder::create(path, manifest(&sweep(seeds, "1/1")), existing).unwrap_err().to_string()
    };
    let path = folder.path().join("a");
    run_into(&path, &sweep(1, "1/1"), 1);
    assert!(create(&path, 1, Existing::Refuse).ends_with("give --resume to complete them, or another --out"));
    assert!(
        create(&path, 2, Existing::Resume).ends_with("belongs to another run: it has 1 seeds of wan-bulk instead of 2")
    );

    let foreign = folder.path().join("b");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("thesis.tex"), "").unwrap();
    assert!(create(&foreign, 1, Existing::Resume).contains("is not empty and holds no manifest.json"));

    let blocked = foreign.join("thesis.tex").join("results");
    assert!(create(&blocked, 1, Existing::Refuse).starts_with("cannot make folder "));

    let text = fs::read_to_string(path.join("manifest.json")).unwrap();
    fs::write(path.join("manifest.json"), text.replace("\"format\": 1", "\"format\": 0")).unwrap();
    assert!(create(&path, 1, Existing::Resume).contains("in format 0: this version reads format 1"));
    fs::write(path.join("manifest.json"), "{").unwrap();
    assert!(create(&path, 1, Existing::Resume).contains("not a manifest of results"));
}

#[test]
fn a_manifest_reads_back_the_same() {
    let manifest = manifest(&sweep(2, "1/1"));
    assert_eq!(Manifest::from_json(&manifest.to_json()).unwrap(), manifest);
    assert_eq!(manifest.recipe.baseline.as_deref(), Some("newreno"));
}

#[test]
fn a_simulated_run_repeats_to_the_byte_and_leaves_requests_in_the_background() {
    let text = Builtin::by_name("wan-web").unwrap().toml.replace("60s", "3s").replace("27s", "2s");
    let prepared = Prepared::new(Scenario::parse(&text, "x").unwrap(), Path::new(".")).unwrap();
    let registry = Registry::builtin();
    let request = PlanRequest { scenarios: vec![Arc::new(prepared)], ..request(1) };
    let sweep = Sweep::plan(&request, &registry, Shard::WHOLE).unwrap();
    let job = &sweep.jobs[0];
    let run = || simulate(&registry, &sweep.cells[0], job, KeepSeries::Yes).unwrap();
    let record = run();
    assert_eq!(record.to_json(), run().to_json());
    let classes: Vec<_> = record.classes.iter().map(|class| (&*class.group, class.background)).collect();
    assert_eq!(classes, [("web requests", true), ("web", false)]);
    let web = &record.classes[1];
    assert!(web.totals.completed > 50);
    // 20 ms of propagation and then some: the delays are in nanoseconds and not cut off.
    let one_way = web.one_way_ns.max().unwrap().raw();
    assert!((20_000_000..1_000_000_000).contains(&one_way), "{one_way}");
    assert!(web.queueing_ns.max().unwrap().raw() > 1_000_000);
}
