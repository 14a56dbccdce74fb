//! Every built-in algorithm keeps what it promises.

use cc_algos::Registry;
use testkit::closed_loop::{Contender, SEEDS, check};

/// One test each, so that they run side by side.
macro_rules! keep_promises {
    ($($test:ident: $name:literal),* $(,)?) => {
        const TESTED: &[&str] = &[$($name),*];

        $(
            #[test]
            fn $test() {
                let contender = Contender::registered(&Registry::builtin(), $name).unwrap();
                let findings = check(&contender, &SEEDS).unwrap();
                let broken: Vec<_> = findings.iter().filter(|finding| !finding.is_kept()).map(ToString::to_string).collect();
                assert!(broken.is_empty(), "{}: {}", $name, broken.join("; "));
            }
        )*
    };
}

keep_promises! {
    cubic: "cubic",
    dctcp: "dctcp",
    fixed_rate: "fixed-rate",
    fixed_window: "fixed-window",
    newreno: "newreno",
}

#[test]
fn no_algorithm_is_left_out() {
    let registry = Registry::builtin();
    let missing: Vec<_> =
        registry.iter().map(cc_algos::registry::Algorithm::name).filter(|name| !TESTED.contains(name)).collect();
    assert!(missing.is_empty(), "promises of {missing:?} are not tested: add them to `keep_promises!`");
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
