use proptest::prelude::*;

use super::*;
use crate::algo::{FixedWindow, FixedWindowParams};
use crate::units::Timestamp;

fn setup() -> Setup {
    Setup::new(Timestamp::ZERO, 1_500, 1)
}

/// An algorithm of another crate with a parameter of each type.
fn foreign() -> Algorithm {
    Algorithm::new("foreign", "for tests", "ours", |args, setup| {
        let params = FixedWindowParams { window: args.bytes("size") };
        match FixedWindow::new(&params, setup) {
            Ok(controller) => Ok(Box::new(controller)),
            Err(error) => Err(RegistryError::Unsuitable { algorithm: "foreign".to_owned(), reason: error.to_string() }),
        }
    })
    .with_param(Param::new("share", Value::Number(0.5), "a number").within(0.0, 1.0))
    .with_param(Param::new("count", Value::Integer(3), "a whole number").within(1.0, f64::INFINITY))
    .with_param(Param::new("size", Value::Bytes(1_500), "a size").within(f64::NEG_INFINITY, 1e9))
    .with_param(Param::new("delay", Value::Span(Span::from_millis(25)), "a time"))
    .with_param(Param::new("speed", Value::Rate(Rate::from_mbps(10)), "a rate").within(1e3, 1e12))
    .with_param(Param::new("quick", Value::Switch(false), "a switch"))
    .with_param(Param::new("inner", Value::Choice(Choice::first_of(&["cubic", "dctcp"])), "a choice"))
}

fn registry() -> Registry {
    let mut registry = Registry::builtin();
    registry.register(foreign());
    registry
}

fn error(spec: &str) -> String {
    registry().resolve(spec).unwrap_err().to_string()
}

#[test]
fn an_unknown_algorithm_gets_the_near_spelling_or_all_names() {
    assert_eq!(error("cubik?beta=0.5"), "unknown algorithm `cubik`: did you mean `cubic`?");
    assert_eq!(error("new-reno"), "unknown algorithm `new-reno`: did you mean `newreno`?");
    let far = error("westwood");
    assert!(far.starts_with("unknown algorithm `westwood`: expected one of ") && far.contains(", dctcp,"), "{far}");
    assert!(error("").starts_with("unknown algorithm ``"));
}

#[test]
fn an_unknown_parameter_gets_the_near_spelling_or_all_names() {
    assert_eq!(error("dctcp?alpa=1"), "`dctcp` has no parameter `alpa`: did you mean `alpha`?");
    assert_eq!(error("fixed-window?colour=1"), "`fixed-window` has no parameter `colour`: expected one of window");
    let mut registry = Registry::empty();
    registry.register(Algorithm::new("bare", "", "ours", |_, _| unreachable!("never built")));
    assert_eq!(registry.resolve("bare?a=1").unwrap_err().to_string(), "`bare` has no parameter `a`: it has none");
}

#[test]
fn a_value_of_the_wrong_kind_is_refused_with_what_was_expected() {
    let cases = [
        ("share=half", "expected a number"),
        ("inner=vegas", "expected one of cubic, dctcp"),
        ("share=NaN", "expected a number"),
        ("share=inf", "expected a number"),
        ("share=", "expected a number"),
        ("count=2.5", "expected a whole number"),
        ("count=-1", "expected a whole number"),
        ("count=99999999999999999999", "expected a whole number"),
        ("size=10Mbps", "expected a size such as 1500, 64kB or 1MB"),
        ("size=-1kB", "expected a size such as 1500, 64kB or 1MB"),
        ("delay=25", "expected a time such as 100us, 25ms or 1s"),
        ("delay=infs", "expected a time such as 100us, 25ms or 1s"),
        ("delay=99999999999999s", "expected a time such as 100us, 25ms or 1s"),
        ("speed=10", "expected a rate such as 10Mbps or 400Gbps"),
        ("speed=10mbps", "expected a rate such as 10Mbps or 400Gbps"),
        ("quick=maybe", "expected on or off"),
    ];
    for (pair, expected) in cases {
        assert_eq!(error(&format!("foreign?{pair}")), format!("`foreign?{pair}`: {expected}"));
    }
}

#[test]
fn a_value_out_of_bounds_is_refused_with_the_bounds() {
    let cases = [
        ("share=1.5", "expected 0 to 1"),
        ("count=0", "expected at least 1"),
        ("size=2GB", "expected at most 1000000000 bytes"),
        ("speed=1bps", "expected 1000 bit/s to 1000000000000 bit/s"),
    ];
    for (pair, expected) in cases {
        assert_eq!(error(&format!("foreign?{pair}")), format!("`foreign?{pair}`: {expected}"));
    }
    for pair in ["share=0", "share=1", "count=1", "size=1GB", "speed=1kbps", "speed=1000Gbps"] {
        assert!(registry().resolve(&format!("foreign?{pair}")).is_ok(), "bounds are allowed: {pair}");
    }
}

#[test]
fn a_parameter_given_twice_is_refused_even_with_its_default() {
    let expected = "`foreign`: parameter `share` is given twice";
    assert_eq!(error("foreign?share=0.1&share=0.2"), expected);
    assert_eq!(error("foreign?share=0.5&share=0.5"), expected);
}

#[test]
fn anything_but_pairs_is_malformed() {
    for spec in ["cubic?", "cubic?beta", "cubic?beta=0.5&", "cubic?&beta=0.5"] {
        assert_eq!(error(spec), format!("`{spec}`: expected `name` or `name?key=value&key=value`"));
    }
}

#[test]
fn every_unit_scales() {
    let args = registry().resolve("foreign?size=64kB&delay=1.5ms&speed=2.5Gbps&quick=on&count=7&share=1e-1").unwrap();
    assert_eq!((args.bytes("size"), args.span("delay")), (64_000, Span::from_micros(1_500)));
    assert_eq!((args.rate("speed"), args.switch("quick")), (Rate::from_mbps(2_500), true));
    assert_eq!((args.integer("count"), args.number("share")), (7, 0.1));
    let size = |text| registry().resolve(&format!("foreign?size={text}")).unwrap().bytes("size");
    let sizes = ["3", "3B", "3kB", "3KiB", "3MB", "3MiB", "0.5GB", "0.5GiB"].map(size);
    assert_eq!(sizes, [3, 3, 3_000, 3_072, 3_000_000, 3_145_728, 500_000_000, 536_870_912]);
    let delay = |text| registry().resolve(&format!("foreign?delay={text}")).unwrap().span("delay");
    assert_eq!(["3ns", "3us", "3ms", "3s"].map(delay).map(Span::as_nanos), [3, 3_000, 3_000_000, 3_000_000_000]);
}

#[test]
fn the_canonical_spelling_is_sorted_and_leaves_defaults_out() {
    let canonical = |spec: &str| registry().resolve(spec).unwrap().to_string();
    assert_eq!(canonical("foreign"), "foreign");
    assert_eq!(canonical("foreign?speed=10000kbps&quick=off"), "foreign", "defaults, spelt out");
    assert_eq!(canonical("foreign?speed=1000kbps&count=4&quick=1"), "foreign?count=4&quick=on&speed=1Mbps");
    assert_eq!(registry().resolve("foreign?share=0.5").unwrap(), registry().resolve("foreign").unwrap());
}

#[test]
fn an_algorithm_of_another_crate_builds_and_can_replace_one_of_ours() {
    let mut registry = registry();
    assert_eq!(registry.build("foreign?size=9kB", &setup()).unwrap().window(), 9_000);
    let theirs = Algorithm::new("cubic", "another", "theirs", |_, setup| {
        Ok(Box::new(FixedWindow::new(&FixedWindowParams::default(), setup).expect("the default is valid")))
    });
    assert_eq!(registry.register(theirs).unwrap().source(), "RFC 9438, RFC 9406");
    assert_eq!(registry.build("cubic", &setup()).unwrap().state().phase, "fixed");
}

#[test]
fn what_an_algorithm_cannot_work_with_is_its_own_error() {
    let error = registry().build("foreign?size=0", &setup()).unwrap_err();
    assert_eq!(error.to_string(), "`foreign`: parameter `window`: expected at least one byte");
}

#[test]
fn arguments_of_another_registry_are_refused() {
    let args = registry().resolve("foreign").unwrap();
    assert!(matches!(
        Registry::builtin().build_args(&args, &setup()),
        Err(RegistryError::UnknownAlgorithm { name, .. }) if name == "foreign"
    ));
}

#[test]
#[should_panic(expected = "`foreign` declares no Number parameter `size`")]
fn asking_for_a_parameter_of_another_type_is_a_mistake_of_the_registration() {
    registry().resolve("foreign").unwrap().number("size");
}

#[test]
fn every_builtin_algorithm_builds_from_its_defaults_spelt_out_and_says_where_it_comes_from() {
    let registry = Registry::builtin();
    for algorithm in registry.iter() {
        let pairs: Vec<_> =
            algorithm.params().iter().map(|param| format!("{}={}", param.name(), param.default())).collect();
        let spec = format!("{}?{}", algorithm.name(), pairs.join("&"));
        let args = registry.resolve(&spec).unwrap();
        assert_eq!(args.to_string(), algorithm.name());
        assert_eq!(args.values().count(), algorithm.params().len());
        assert!(registry.build_args(&args, &setup()).is_ok());
        assert!(!algorithm.summary().is_empty() && !algorithm.source().is_empty());
        assert!(algorithm.params().iter().all(|param| !param.help().is_empty()), "{algorithm:?}");
    }
}

#[test]
fn only_similar_names_are_suggested() {
    let known = ["newreno", "cubic", "dctcp"];
    let near = |name| nearest(name, known.into_iter());
    assert_eq!(near("newrno").as_deref(), Some("newreno"));
    assert_eq!(near("dtccp"), None, "two of five letters differ");
    assert_eq!(near("bbr"), None);
    assert_eq!(near("cübic").as_deref(), Some("cubic"), "letters count, not bytes");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn the_canonical_spelling_means_the_same(
        share in 0.0..=1.0_f64,
        count in 1_u64..,
        size in 0_u64..1_000_000_000,
        delay in 0_u64..1_000_000_000_000_000,
        speed in 1_000_u64..1_000_000_000_000,
        quick: bool,
    ) {
        let spec = format!(
            "foreign?share={share}&count={count}&size={size}&delay={delay}ns&speed={speed}bps&quick={quick}"
        );
        let args = registry().resolve(&spec).unwrap();
        prop_assert_eq!(args.span("delay").as_nanos(), delay);
        prop_assert_eq!(args.rate("speed").as_bps(), speed);
        prop_assert_eq!(&registry().resolve(&args.to_string()).unwrap(), &args);
    }

    #[test]
    fn no_text_panics(spec in "(cubic|foreign|dctcp)?[?a-z_=&.0-9BMkbpsµ-]{0,30}") {
        if let Ok(args) = registry().resolve(&spec) {
            prop_assert_eq!(&registry().resolve(&args.to_string()).unwrap(), &args);
        }
    }
}

#[test]
fn a_name_may_end_in_plus_signs() {
    let args = registry().resolve("ledbat++?target=30ms").unwrap();
    assert_eq!((args.algorithm(), args.to_string().as_str()), ("ledbat++", "ledbat++?target=30ms"));
    assert_eq!(error("ledbat+"), "unknown algorithm `ledbat+`: did you mean `ledbat++`?");
}
