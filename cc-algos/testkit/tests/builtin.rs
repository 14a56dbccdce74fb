//! Algorithms of `cc-algos` keep every property.

use cc_algos::Registry;

/// A suite for each algorithm, so that they run side by side.
macro_rules! keep_all_properties {
    ($($name:ident: $spec:literal),* $(,)?) => {
        const TESTED: &[&str] = &[$($spec),*];

        $(testkit::controller_suite!($name, registered: cc_algos::Registry::builtin(), $spec);)*
    };
}

keep_all_properties! {
    cubic: "cubic",
    dctcp: "dctcp",
    fixed_rate: "fixed-rate",
    fixed_window: "fixed-window",
    newreno: "newreno",
}

#[test]
fn the_suites_are_of_algorithms_that_exist() {
    let registry = Registry::builtin();
    let unknown: Vec<_> = TESTED.iter().filter(|spec| registry.resolve(spec).is_err()).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
