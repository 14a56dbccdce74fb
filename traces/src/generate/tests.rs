use super::*;

/// All profiles, with the parameters that matter most.
fn every_kind() -> Vec<Generator> {
    let profiles = ["lte?profile=att-driving", "5g?profile=ireland-driving", "5g?profile=ireland-static"];
    Generator::all().into_iter().chain(profiles.map(|text| text.parse().unwrap())).collect()
}

#[test]
fn every_generator_meets_its_targets_for_several_seeds() {
    for generator in every_kind() {
        assert!(!generator.targets().is_empty(), "{generator}");
        for seed in 0..20 {
            let trace = generator.generate(seed).unwrap();
            for fit in generator.check(&trace) {
                assert!(fit.is_within(), "{generator} seed {seed}: {fit}");
            }
        }
    }
}

#[test]
fn targets_follow_the_parameters() {
    for text in [
        "lte?mean_bps=20000000&duration_s=300&step_ms=20",
        "5g?mean_bps=50000000&step_ms=50",
        "leo?mean_bps=10000000&gap_ms=0",
        "on-off?on_bps=8000000&off_bps=1000000&mean_on_ms=500&mean_off_ms=700",
        "step?hold_ms=700&duration_s=10",
        "saw-tooth?rise=1&interval_ms=5000",
    ] {
        let generator: Generator = text.parse().unwrap();
        for fit in generator.check(&generator.generate(3).unwrap()) {
            assert!(fit.is_within(), "{generator}: {fit}");
        }
    }
}

#[test]
fn targets_of_impossible_parameters_do_not_panic() {
    let most = u64::MAX;
    for text in [
        format!("constant?rate_bps={most}&duration_s={most}"),
        format!("step?hold_ms={most}&duration_s={most}"),
        "step?hold_ms=0&duration_s=0".to_owned(),
        format!("saw-tooth?interval_ms=0&duration_s={most}"),
        format!("on-off?mean_on_ms={most}&mean_off_ms={most}&duration_s={most}"),
        format!("inter-dc?mean_between_ms={most}&mean_fade_ms={most}"),
        format!("lte?step_ms=0&mean_bps={most}&duration_s={most}"),
        format!("leo?step_ms={most}&gap_ms={most}"),
    ] {
        let generator: Generator = text.parse().unwrap();
        assert!(generator.generate(0).is_err() && generator.targets().len() < 20, "{text}");
    }
}

#[test]
fn a_check_tells_a_wrong_trace() {
    let other = "constant?rate_bps=5040978&duration_s=140".parse::<Generator>().unwrap().generate(0).unwrap();
    let fits = Generator::Lte(Lte::default()).check(&other);
    let failed: Vec<Statistic> = fits.iter().filter(|f| !f.is_within()).map(|f| f.target.statistic).collect();
    assert!(failed.contains(&Statistic::Variation) && failed.contains(&Statistic::Autocorrelation), "{failed:?}");
    assert!(!failed.contains(&Statistic::Mean));
}

#[test]
fn the_seed_decides() {
    for generator in every_kind() {
        let [a, again, b] = [1, 1, 2].map(|seed| generator.generate(seed).unwrap());
        assert_eq!(a, again, "{generator}");
        let by_chance = !matches!(generator, Generator::Constant(_) | Generator::Step(_) | Generator::SawTooth(_));
        assert_eq!(a != b, by_chance, "{generator}");
    }
}

#[test]
fn the_length_is_the_one_asked_for() {
    for name in ["constant", "step", "saw-tooth", "on-off", "lte", "5g", "leo", "inter-dc"] {
        let generator: Generator = format!("{name}?duration_s=47").parse().unwrap();
        assert_eq!(generator.generate(5).unwrap().period_ns(), 47_000_000_000, "{name}");
        assert_eq!(generator.name(), name);
    }
}

#[test]
fn text_round_trips() {
    for generator in every_kind() {
        assert_eq!(generator.to_string().parse::<Generator>().unwrap(), generator);
    }
    assert_eq!(
        "step?hold_ms=7".parse::<Generator>().unwrap().to_string(),
        "step?duration_s=60&high_bps=20000000&hold_ms=7&low_bps=5000000"
    );
}

#[test]
fn bad_text_and_impossible_parameters_are_named() {
    let error = |text: &str| text.parse::<Generator>().and_then(|g| g.generate(0)).unwrap_err().to_string();
    for (text, expected) in [
        ("wifi", "unknown generator `wifi`: expected one of constant, step"),
        ("lte?speed=3", "generator `lte`: unknown field `speed`"),
        ("lte?profile=verizon2", "generator `lte`: unknown variant `verizon2`"),
        ("lte?mean_bps", "generator `lte`: `mean_bps` is not of the form"),
        ("lte?step_ms=100&step_ms=50", "generator `lte`: parameter `step_ms` is given twice"),
        ("lte?step_ms=30", "generator `lte`: step_ms is 30"),
        ("lte?mean_bps=0", "generator `lte`: mean_bps is 0"),
        ("lte?duration_s=0", "generator `lte`: duration_s is 0"),
        ("lte?duration_s=604800", "generator `lte`: number of steps is 6652800"),
        ("leo?gap_ms=100", "generator `leo`: gap_ms is 100"),
        ("constant?rate_bps=0", "the rate is zero throughout"),
        ("constant?rate_bps=-1", "generator `constant`: invalid value"),
        ("step?low_bps=30000000", "generator `step`: low_bps is 30000000: expected 0 to 20000000"),
        ("step?hold_ms=0", "generator `step`: hold_ms is 0"),
        ("saw-tooth?rise=1.5", "generator `saw-tooth`: rise is 1.5"),
        ("on-off?mean_on_ms=0", "generator `on-off`: mean time of the first state is 0"),
        ("inter-dc?duration_s=99999999", "generator `inter-dc`: duration_s is 99999999"),
    ] {
        assert!(error(text).starts_with(expected), "{text}: {}", error(text));
    }
}
