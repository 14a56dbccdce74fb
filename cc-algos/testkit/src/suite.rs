//! A property as a test: many histories, and the shortest one that breaks it.

use std::cell::RefCell;

use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};

use crate::failure::Failure;
use crate::property::Property;
use crate::regressions::Regressions;
use crate::script::Script;
use crate::shrink::shorten;
use crate::strategy;
use crate::subject::Subject;

/// Histories for each property, unless `TESTKIT_CASES` says otherwise.
pub const DEFAULT_CASES: u32 = 256;

/// Number of the environment variable `TESTKIT_CASES`: histories for each property.
///
/// # Panics
///
/// If it is set to anything but a number.
pub fn cases() -> u32 {
    from_environment("TESTKIT_CASES").unwrap_or(DEFAULT_CASES)
}

fn from_environment<T: std::str::FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}=`{text}`: expected a number")))
}

/// Looks for a history on which the property does not hold, and shrinks it.
///
/// # Errors
///
/// The shortest history found.
pub fn search(subject: &Subject, property: Property, cases: u32) -> Result<(), Box<Failure>> {
    let config = Config {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(seed(property)),
        max_shrink_iters: 4_096 / property.weight(),
        ..Config::default()
    };
    // The latest failure, kept: a controller that is not the same twice need not fail again.
    let latest = RefCell::new(None);
    let fails = |script: &Script| {
        let outcome = property.check(subject, script);
        outcome.is_err_and(|failure| {
            latest.replace(Some(failure));
            true
        })
    };
    let run = |script: Script| if fails(&script) { Err(TestCaseError::fail("see there")) } else { Ok(()) };
    match TestRunner::new(config).run(&strategy::script(), run) {
        Err(TestError::Fail(_, script)) => drop(shorten(script, fails)),
        Err(TestError::Abort(reason)) => panic!("no histories: {reason}"),
        Ok(()) => {}
    }
    latest.take().map_or(Ok(()), Err)
}

/// The same histories on every run, so that a test which passed passes again; others on request. Each property has its own:
/// what breaks several, such as a panic, is looked for in as many more.
fn seed(property: Property) -> u64 {
    let seed: u64 = from_environment("TESTKIT_SEED").unwrap_or(1);
    seed ^ ((property as u64) << 32)
}

/// What a test of [`controller_suite!`](crate::controller_suite) does: it plays the [regressions](Regressions) of the crate in
/// `crate_folder`, then looks for others, and keeps what it finds there.
///
/// # Panics
///
/// With the whole story, if the property does not hold.
pub fn test(subject: &Subject, property: Property, crate_folder: &str) {
    if let Ok(text) = std::env::var("TESTKIT_REPLAY") {
        return replay(property, &text, subject);
    }
    let regressions = Regressions::of(crate_folder, subject.name());
    let known = regressions.scripts(property).iter().try_for_each(|script| property.check(subject, script));
    if let Err(failure) = known.and_then(|()| search(subject, property, cases().div_ceil(property.weight()))) {
        match regressions.keep(&failure) {
            Ok(()) => panic!("{failure}\n  kept in:  {}", regressions.path().display()),
            Err(error) => panic!("{failure}\n  not kept in {}: {error}", regressions.path().display()),
        }
    }
}

/// Checks a property on one script, as failures print it.
///
/// # Panics
///
/// With the whole story, if the property does not hold, or if the text is no script.
pub fn replay(property: Property, script: &str, subject: &Subject) {
    let script = Script::parse(script).unwrap_or_else(|error| panic!("{error}"));
    if let Err(failure) = property.check(subject, &script) {
        panic!("{failure}");
    }
}

/// A module of tests, one for each [`Property`], of a controller.
///
/// ```
/// use cc_algos::{Declaration, Family, Registry};
/// use cc_algos::algo::{NewReno, NewRenoParams};
///
/// // A controller that needs to know its setup, and one that declares bounds.
/// testkit::controller_suite!(newreno, |setup| NewReno::new(NewRenoParams::default(), setup).unwrap());
/// testkit::controller_suite!(
///     declared,
///     |setup| NewReno::new(NewRenoParams::default(), setup).unwrap(),
///     Declaration::new(Family::WideArea).min_window(2.0)
/// );
/// // One from a registry, with the declaration and the receiver that stand there.
/// testkit::controller_suite!(steeper, registered: Registry::builtin(), "cubic?beta=0.5");
/// # fn main() {}
/// ```
///
/// `controller_suite!(name, MyController::default())` is enough for a controller that needs no setup. Each test tries
/// [`DEFAULT_CASES`] histories, or as many as the environment variable `TESTKIT_CASES` says; `TESTKIT_REPLAY='…'` has it try
/// one script alone.
#[macro_export]
macro_rules! controller_suite {
    ($name:ident, registered: $registry:expr, $spec:expr $(,)?) => {
        $crate::__suite_module!($name, $crate::Subject::registered(&$registry, $spec).expect("a registered algorithm"));
    };
    ($name:ident, |$setup:ident| $build:expr $(,)?) => {
        $crate::__suite_module!(
            $name,
            $crate::Subject::new(stringify!($name), |$setup: &$crate::cc_algos::Setup| $build)
        );
    };
    ($name:ident, |$setup:ident| $build:expr, $declaration:expr $(,)?) => {
        $crate::__suite_module!(
            $name,
            $crate::Subject::new(stringify!($name), |$setup: &$crate::cc_algos::Setup| $build).declaring($declaration)
        );
    };
    ($name:ident, $build:expr $(,)?) => {
        $crate::__suite_module!($name, $crate::Subject::new(stringify!($name), |_: &$crate::cc_algos::Setup| $build));
    };
    ($name:ident, $build:expr, $declaration:expr $(,)?) => {
        $crate::__suite_module!(
            $name,
            $crate::Subject::new(stringify!($name), |_: &$crate::cc_algos::Setup| $build).declaring($declaration)
        );
    };
}

/// The module that [`controller_suite!`](crate::controller_suite) makes.
#[doc(hidden)]
#[macro_export]
macro_rules! __suite_module {
    ($name:ident, $subject:expr) => {
        mod $name {
            #[allow(
                unused_imports,
                reason = "a path that starts with the crate needs nothing of its surroundings"
            )]
            use super::*;

            #[allow(dead_code, reason = "tests that fail name it")]
            fn subject() -> $crate::Subject {
                $subject
            }

            $crate::__properties!($crate::__suite_tests);
        }
    };
}

/// One test for each property.
#[doc(hidden)]
#[macro_export]
macro_rules! __suite_tests {
    ($($test:ident: $property:ident, $summary:literal;)*) => {
        $(
            #[test]
            fn $test() {
                $crate::suite::test(&subject(), $crate::Property::$property, env!("CARGO_MANIFEST_DIR"));
            }
        )*
    };
}
