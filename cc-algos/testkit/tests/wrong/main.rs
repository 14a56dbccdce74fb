//! The kit finds what is wrong: controllers with one mistake each, from what broke in published transports.

mod reno;

use cc_algos::declare::{Declaration, Family};
use reno::{MISTAKES, Mistake, WrongReno};
use testkit::suite::{DEFAULT_CASES, search};
use testkit::{Failure, Property, Subject};

fn subject(mistake: Mistake) -> Subject {
    Subject::new(format!("{mistake:?}"), move |setup| WrongReno::new(mistake, setup))
        .declaring(Declaration::new(Family::WideArea).min_window(2.0))
}

/// The first property that breaks, with its shortest history.
fn find(mistake: Mistake) -> Option<Box<Failure>> {
    let subject = subject(mistake);
    Property::ALL
        .iter()
        .find_map(|property| search(&subject, *property, DEFAULT_CASES.div_ceil(property.weight())).err())
}

#[test]
fn a_reno_without_mistakes_keeps_every_property() {
    if let Some(failure) = find(Mistake::None) {
        panic!("{failure}");
    }
}

#[test]
fn every_mistake_is_found_with_a_short_history() {
    let mut lengths = Vec::new();
    let mut missed = Vec::new();
    for mistake in MISTAKES {
        match find(*mistake) {
            Some(failure) => {
                println!("{mistake:?}: {} by `{}`", failure.property.name(), failure.script);
                lengths.push(failure.script.len());
            }
            None => missed.push(*mistake),
        }
    }
    assert!(missed.is_empty(), "not found: {missed:?}");
    lengths.sort_unstable();
    assert!(lengths[lengths.len() / 2] <= 12, "moves: {lengths:?}");
}
