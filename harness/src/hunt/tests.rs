use cc_algos::{Rate, Span};
use proptest::prelude::*;
use sim::rng;

use super::testing::{bounds, evolve, registry, settings, trial};
use super::*;
use crate::sweep::Interrupt;

#[test]
fn a_search_is_the_same_for_any_number_of_threads() {
    let search = |jobs| evolve(&trial("timid", Goal::LowUtilisation, jobs), SearchState::default(), 2);
    let alone = search(1);
    assert_eq!(alone.evaluations, 2 * Search::GENERATION);
    assert_eq!(alone, search(3));
}

#[test]
fn a_search_that_is_taken_up_again_ends_where_an_uninterrupted_one_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hunt");
    let settings = settings("timid", Goal::Unfairness);
    let trial = trial("timid", Goal::Unfairness, 2);
    // Generation 5 migrates.
    let whole = evolve(&trial, SearchState::default(), 6);
    let store = Store::create(&path, settings.clone()).unwrap();
    store.save(&evolve(&trial, SearchState::default(), 4)).unwrap();
    let (_, state) = Store::resume(&path, settings).unwrap();
    assert_eq!(evolve(&trial, state, 2), whole);
}

#[test]
fn a_planted_weakness_is_found_and_its_minimal_network_still_shows_it() {
    let trial = trial("timid", Goal::LowUtilisation, 2);
    let state = evolve(&trial, SearchState::default(), 4);
    let best = state.best().unwrap();
    assert!(best.score >= Goal::LowUtilisation.threshold(), "{best:?}");
    let minimal = minimise(&trial, best).unwrap();
    assert!(minimal.evaluation.score >= Goal::LowUtilisation.threshold(), "{minimal:?}");
    assert!(minimal.evaluation.score.0 * 10 >= best.score.0 * 9, "{minimal:?} of {best:?}");
    assert!(minimal.genome.size() <= best.genome.size(), "{minimal:?} of {best:?}");
    assert_eq!(trial.evaluate(&minimal.genome).unwrap(), minimal.evaluation);
    // Nothing that it holds can be left out: the planted weakness is about jitter, and needs a step or two of it.
    assert!(minimal.genome.cross.is_empty() && minimal.genome.size() <= 4, "{minimal:?}");
}

#[test]
fn a_network_is_a_finding_only_where_the_baseline_does_well() {
    let run = |delivered: &[u64]| Measured {
        delivered: delivered.to_vec(),
        offered: 1_000,
        backlog: 300,
        bdp: 200,
        sent: 400,
        lost: 10,
    };
    let cases = [
        (Goal::LowUtilisation, &[300][..], &[900][..], 666_667),
        (Goal::LowUtilisation, &[900], &[900], 0),
        // 0.7 of the link is 0.1 too little.
        (Goal::LowUtilisation, &[1], &[700], -100_000),
        (Goal::HighDelay, &[1], &[1], 1_500_000),
        (Goal::Loss, &[1], &[1], 25_000),
        (Goal::Starvation, &[50, 500], &[400, 500], 900_000),
        (Goal::Starvation, &[50, 500], &[100, 500], 200_000 - 333_333),
        // (100 + 300)² / (2 * (100² + 300²)) = 0.8
        (Goal::Unfairness, &[100, 300], &[300, 300], 200_000),
        (Goal::Unfairness, &[100, 300], &[100, 300], -100_000),
    ];
    for (goal, subject, baseline, score) in cases {
        assert_eq!(goal.score(&run(subject), Some(&run(baseline))), Score(score), "{goal} {subject:?} {baseline:?}");
    }
}

#[test]
fn an_algorithm_that_panics_is_the_worst_there_is_and_the_finding_says_so() {
    let trial = trial("brittle", Goal::HighDelay, 1);
    let state = evolve(&trial, SearchState::default(), 1);
    let best = state.best().unwrap();
    assert_eq!(best.score, Score::BROKEN);
    let minimal = minimise(&trial, best).unwrap();
    let finding = Finding::new(&trial, &minimal).unwrap();
    assert!(finding.is_found());
    assert!(
        finding.headline().starts_with("brittle breaks: panicked: a loss, of all things"),
        "{}",
        finding.headline()
    );
    assert!(finding.to_toml("replay it").contains("\n# Replay: replay it\n"));
}

#[test]
fn the_file_of_a_finding_is_the_scenario_it_was_measured_on() {
    let trial = trial("timid", Goal::Starvation, 2);
    let state = evolve(&trial, SearchState::default(), 1);
    let best = state.best().unwrap();
    let evaluation = trial.evaluate(&best.genome).unwrap();
    let finding = Finding::new(&trial, &Minimised::untouched(best, evaluation)).unwrap();
    let read = crate::scenario::Scenario::parse(&finding.to_toml("x"), "found.toml").unwrap();
    assert_eq!(read, finding.scenario);
    // The record that `run` makes agrees with what the search measured.
    let delivered = finding.subject_run.as_ref().unwrap().classes[0].totals.delivered_bytes;
    assert_eq!(delivered, finding.evaluation.subject.as_ref().unwrap().total());
    let svg = to_svg(&finding.scenario, finding.subject_run.as_ref().unwrap(), finding.baseline_run.as_ref().ok());
    assert!(svg.contains("timid 1") && svg.contains("cubic 2") && svg.contains("class=\"line net\""), "{svg}");
}

#[test]
fn settings_that_hold_no_hunt_are_refused_with_what_was_expected() {
    type Change = dyn Fn(&mut Settings);
    let refused = |change: &Change| {
        let mut settings = settings("timid", Goal::LowUtilisation);
        change(&mut settings);
        Trial::new(&registry(), &settings, 1, Interrupt::default()).err().unwrap().to_string()
    };
    let cases: [(&Change, &str); 5] = [
        (&|settings| settings.algorithm = "timit".into(), "unknown algorithm `timit`: did you mean `timid`?"),
        (&|settings| settings.baseline = "timid".into(), "goal low-utilisation holds `timid` against a baseline: "),
        (
            &|settings| settings.bounds.duration = Span::from_millis(500),
            "duration: expected at least ten of the longest",
        ),
        (&|settings| settings.bounds.rate.1 = Rate::from_gbps(40), "rate: expected at most 10Gbps"),
        (
            &|settings| {
                settings.goal = Goal::Loss;
                settings.bounds.vary = vec![Dimension::CrossTraffic];
            },
            "vary: goal loss admits no cross traffic, whose queue and losses would count as the algorithm's: expected jitter",
        ),
    ];
    for (change, expected) in cases {
        let message = refused(change);
        assert!(message.starts_with(expected), "{message}");
    }
}

#[test]
fn a_folder_of_another_hunt_or_of_something_else_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("hunt"), folder.path().join("other"));
    let own = settings("timid", Goal::Loss);
    assert!(
        Store::resume(&path, own.clone())
            .unwrap_err()
            .to_string()
            .ends_with("leave --resume out to begin a hunt there")
    );
    Store::create(&path, own.clone()).unwrap();
    let message = Store::create(&path, own.clone()).unwrap_err().to_string();
    assert!(message.ends_with("holds a hunt already: give --resume to go on with it, or another --out"), "{message}");
    let message = Store::resume(&path, Settings { seed: 8, ..own.clone() }).unwrap_err().to_string();
    assert!(message.ends_with("belongs to another hunt: it has seed 7 (not 8)"), "{message}");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("thesis.tex"), "").unwrap();
    assert!(
        Store::create(&other, own.clone()).unwrap_err().to_string().contains("is not empty and holds no hunt.json")
    );
    std::fs::write(path.join("hunt.json"), "{}").unwrap();
    assert!(Store::resume(&path, own).unwrap_err().to_string().contains("expected what a hunt wrote"));
}

fn assert_within(genome: &Genome, bounds: &Bounds) {
    let rates: Vec<Rate> = genome.capacity.iter().map(|point| point.rate).chain([genome.rate]).collect();
    for rate in rates {
        assert!(rate >= bounds.rate.0 && rate <= bounds.rate.1, "{genome:?}");
        // The buffer in products of the rate of the moment.
        let milli = genome.buffer_milli_bdp as f64 * genome.rate.as_bps() as f64 / rate.as_bps() as f64;
        let (small, large) = bounds.buffer_milli_bdp;
        assert!(milli >= small as f64 - 1.0 && milli <= large as f64 + 1.0, "{milli} {genome:?}");
    }
    assert!(genome.rtt >= bounds.rtt.0 && genome.rtt <= bounds.rtt.1, "{genome:?}");
    let own = genome.second.as_ref().and_then(|second| second.path.as_ref()).map(|path| &path.jitter);
    for jitter in own.into_iter().chain([&genome.jitter]) {
        assert!(jitter.points.iter().all(|point| point.delay <= bounds.jitter.min(genome.rtt)), "{genome:?}");
        assert!(jitter.points.windows(2).all(|pair| pair[0].at < pair[1].at), "{genome:?}");
    }
    let cross: u64 = genome.cross.iter().map(|burst| burst.bytes).sum();
    let share = cross as f64 / genome.lowest_rate().bytes_in(bounds.duration) as f64;
    assert!(share * 1e6 <= MAX_CROSS_SHARE_PPM as f64 + 1.0, "{share} {genome:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_is_bred_is_within_the_bounds_and_makes_a_scenario_that_reads_back(seed in any::<u64>(), goal in 0..5_usize) {
        let (bounds, goal) = (bounds(), Goal::ALL[goal]);
        let mut breeder = Breeder::new(&bounds, goal, rng::stream(seed, "test", 0));
        let mut genomes = vec![breeder.random(), breeder.random()];
        for _ in 0..20 {
            let [mother, father] = [0, 1].map(|_| breeder.below(genomes.len()));
            let child = breeder.cross(&genomes[mother], &genomes[father]);
            genomes.push(breeder.mutate(&child));
        }
        for genome in genomes {
            assert_within(&genome, &bounds);
            prop_assert_eq!(genome.second.is_some(), goal.has_two_flows());
            let scenario = genome.scenario(&bounds, "x".into(), String::new());
            let scenario = crate::scenario::Scenario { algorithms: vec!["cubic".into()], ..scenario };
            prop_assert_eq!(crate::scenario::Scenario::parse(&scenario.to_toml(), "x").unwrap(), scenario);
            let text = serde_json::to_string(&genome).unwrap();
            prop_assert_eq!(serde_json::from_str::<Genome>(&text).unwrap(), genome);
        }
    }
}
