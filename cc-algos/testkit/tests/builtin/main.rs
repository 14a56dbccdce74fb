//! Algorithms of `cc-algos` keep every property. `TESTKIT_ALGORITHMS=bbr,copa` tries those alone.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use cc_algos::Registry;
use cc_algos::registry::Algorithm;
use testkit::parameters;
use testkit::suite::{cases, search};
use testkit::{Failure, Property, Subject};

/// Histories on which a parameter must make a difference: most do on one of the first few.
const PARAMETER_CASES: u32 = 2_048;

/// Settings of switches get this part of the histories: most of the law is the same.
const SWITCHED_SHARE: u32 = 16;

/// From so many histories on, an exception that no longer shows must go.
const FULL_CASES: u32 = 4_096;

/// All built-in algorithms, or those that the environment names.
fn subjects() -> Vec<Subject> {
    let registry = Registry::builtin();
    let subject = |name: &str| Subject::registered(&registry, name).unwrap_or_else(|error| panic!("{error}"));
    match std::env::var("TESTKIT_ALGORITHMS") {
        Ok(names) => names.split(',').map(subject).collect(),
        Err(_) => registry.iter().map(Algorithm::name).map(subject).collect(),
    }
}

/// What they break, over all properties, on so many histories each.
fn failures(subjects: &[Subject], cases: u32) -> Vec<Failure> {
    let work: Vec<(&Subject, Property)> =
        Property::ALL.iter().flat_map(|property| subjects.iter().map(move |subject| (subject, *property))).collect();
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let failures = Mutex::new(Vec::new());
    let labour = || {
        while let Some((subject, property)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
            let outcome = search(subject, *property, cases.div_ceil(property.weight()));
            // Of hours one wants to see something, and what was found must not be lost with the end.
            if cases > FULL_CASES {
                let (done, verdict) = (1 + done.fetch_add(1, Ordering::Relaxed), outcome.as_ref().err());
                eprintln!("{done} of {}: {} {property:?}", work.len(), subject.name());
                verdict.into_iter().for_each(|failure| eprintln!("{failure}"));
            }
            if let Err(failure) = outcome {
                failures.lock().expect("no search panics").push(*failure);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, NonZeroUsize::get) {
            scope.spawn(labour);
        }
    });
    let mut failures = failures.into_inner().expect("no search panics");
    failures.sort_by(|a, b| (&a.subject, a.property).cmp(&(&b.subject, b.property)));
    failures
}

/// `annulus` declares steps, as its default inner law takes them; with a model inside it is judged by them all the same.
const INNER_MODEL: &str = "the window is DCQCN's rate times an RTT, and `annulus` declares steps";

/// What laws do on purpose, as their source says: an algorithm with any parameters, or one setting of it.
const BY_SOURCE: &[(&str, Property, &str)] = &[
    ("annulus?end_to_end=dcqcn", Property::Limited, INNER_MODEL),
    ("annulus?end_to_end=dcqcn", Property::Idle, INNER_MODEL),
    ("uno", Property::Batching, "half of the window is Quick Adapt's threshold: it is halved or it is not"),
    ("cubic?paced=off", Property::Batching, "RFC 9406, section 4.3: of one ACK, L = 8 packets count without pacing"),
];

fn assert_none_but_by_source(failures: &[Failure]) {
    let is_of = |subject: &str, known: &str| {
        subject == known || !known.contains('?') && subject.split('?').next() == Some(known)
    };
    let is_known = |failure: &&Failure| {
        BY_SOURCE.iter().any(|known| is_of(&failure.subject, known.0) && known.1 == failure.property)
    };
    let new: Vec<String> = failures.iter().filter(|failure| !is_known(failure)).map(ToString::to_string).collect();
    assert!(new.is_empty(), "{}", new.join("\n\n"));
}

/// What a switch turns on is a law of its own, and hardly anybody runs it.
#[test]
fn every_built_in_algorithm_keeps_every_property_with_each_switch_the_other_way() {
    let registry = Registry::builtin();
    let switched = |subject: &Subject| {
        let specs = parameters::switched(&registry, subject.name()).unwrap_or_default();
        specs.into_iter().map(|spec| Subject::registered(&registry, &spec).expect("a value that is allowed"))
    };
    let variants: Vec<Subject> = subjects().iter().flat_map(switched).collect();
    let failures = failures(&variants, cases().div_ceil(SWITCHED_SHARE));
    assert_none_but_by_source(&failures);
    if cases() >= FULL_CASES {
        let shows = |known: &(&str, Property, &str)| {
            failures.iter().any(|failure| (failure.subject.as_str(), failure.property) == (known.0, known.1))
        };
        let tried = |known: &(&str, Property, &str)| variants.iter().any(|subject| subject.name() == known.0);
        let stale: Vec<_> = BY_SOURCE.iter().filter(|known| tried(known) && !shows(known)).collect();
        assert!(stale.is_empty(), "no longer so: {stale:#?}");
    }
}

#[test]
fn every_built_in_algorithm_keeps_every_property() {
    assert_none_but_by_source(&failures(&subjects(), cases()));
}

/// Parameters that need others to be set, as a specification under which they must make a difference, or that the receiver's
/// half alone reads.
const DEPENDENT: &[(&str, &str, Option<&str>)] = &[
    ("annulus", "hyper_increase", Some("annulus?threshold=1&timer=1us&byte_counter=1kB")),
    ("dcqcn", "cnp_interval", None),
    ("dcqcn", "hyper_increase", Some("dcqcn?threshold=1&timer=1us&byte_counter=1kB")),
    ("prague", "rtt_ref", Some("prague?transition=0")),
    ("swift", "hops", Some("swift?per_hop=1us")),
];

/// Whoever sets a parameter expects to see it.
#[test]
fn every_parameter_of_a_built_in_algorithm_makes_a_difference() {
    let registry = Registry::builtin();
    let mut idle = Vec::new();
    for subject in subjects() {
        let name = subject.name();
        for param in parameters::without_effect(&registry, name, PARAMETER_CASES).expect("a registered algorithm") {
            let makes_none = match DEPENDENT.iter().find(|dependent| (dependent.0, dependent.1) == (name, param)) {
                Some((.., None)) => false,
                Some((.., Some(spec))) => parameters::without_effect(&registry, spec, PARAMETER_CASES)
                    .expect("a registered algorithm")
                    .contains(&param),
                None => true,
            };
            if makes_none {
                idle.push(format!("{name}?{param}"));
            }
        }
    }
    assert!(idle.is_empty(), "no output depends on {idle:#?}");
}
