//! Every built-in algorithm keeps what it promises.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use cc_algos::Registry;
use cc_algos::registry::Algorithm;
use testkit::closed_loop::{Contender, SEEDS, check};

#[test]
fn every_built_in_algorithm_keeps_its_promises() {
    let registry = Registry::builtin();
    let names: Vec<&str> = registry.iter().map(Algorithm::name).collect();
    let next = AtomicUsize::new(0);
    let broken = Mutex::new(Vec::new());
    let work = || {
        while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
            let contender = Contender::registered(&registry, name).unwrap();
            let findings = check(&contender, &SEEDS).unwrap();
            let not_kept = findings.iter().filter(|finding| !finding.is_kept());
            broken.lock().unwrap().extend(not_kept.map(|finding| format!("{name}: {finding}")));
        }
    };
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let mut broken = broken.into_inner().unwrap();
    broken.sort();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn a_broken_promise_is_found() {
    let registry = Registry::builtin();
    // One packet a round trip on a network of 160 a round trip.
    let mut contender = Contender::registered(&registry, "fixed-window?window=1500B").unwrap();
    contender.declaration = contender.declaration.utilisation(0.9).queueing_delay(0.5).reaction_to_rise_rtts(100);
    let kept: Vec<_> = check(&contender, &SEEDS).unwrap().iter().map(|finding| finding.is_kept()).collect();
    assert_eq!(kept, [false, true, false]);
    // A window of three BDP fills any buffer, and never learns.
    let mut contender = Contender::registered(&registry, "fixed-window?window=720kB").unwrap();
    contender.declaration = contender.declaration.utilisation(0.9).queueing_delay(0.5).reaction_to_drop_rtts(100);
    let kept: Vec<_> = check(&contender, &SEEDS).unwrap().iter().map(|finding| finding.is_kept()).collect();
    assert_eq!(kept, [true, false, false]);
}
