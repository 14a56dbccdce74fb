//! Whether the parameters that an algorithm declares mean anything: one that nothing reads misleads whoever sets it.

use std::sync::PoisonError;

use cc_algos::controller::Setup;
use cc_algos::registry::{Args, Param, Registry, RegistryError, Value};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngSeed, TestRunner};

use crate::network::{World, setup};
use crate::recorder::{Recorder, Recording};
use crate::script::Script;
use crate::strategy;
use crate::subject::Subject;

/// Parameters that made no difference to any output on `cases` histories. The calls that a controller as `spec` says (such as
/// `cubic`, or `swift?per_hop=1us`) got are made to one with another value of a parameter, until an output differs; several
/// values are tried. Parameters that `spec` gives are left out, and one none of whose other values could be built is listed.
/// Every other history is of a host that does not know the rate of its link. What a receiver does is not compared.
///
/// # Errors
///
/// If the registry knows no such algorithm or parameter.
///
/// # Panics
///
/// If the algorithm cannot be built as `spec` says.
pub fn without_effect(registry: &Registry, spec: &str, cases: u32) -> Result<Vec<&'static str>, RegistryError> {
    let subject = Subject::registered(registry, spec)?;
    let args = registry.resolve(spec)?;
    let declared = registry.find(args.algorithm())?.params();
    let mut pending: Vec<Pending> = declared.iter().filter_map(|param| Pending::new(registry, spec, param)).collect();
    for (index, script) in scripts(cases).enumerate() {
        if pending.is_empty() {
            break;
        }
        let mut setup = setup(&script.network);
        setup.local_line_rate = setup.local_line_rate.filter(|_| index % 2 == 0);
        let recording = record(&subject, &setup, &script);
        pending.retain(|pending| !pending.matters(registry, &recording, &setup));
    }
    Ok(pending.into_iter().map(|pending| pending.name).collect())
}

/// Specifications of an algorithm with one switch or choice each set to something else than its default, such as
/// `newreno?undo=on`: each is a law of its own.
///
/// # Errors
///
/// If the registry knows no such algorithm.
pub fn switched(registry: &Registry, algorithm: &str) -> Result<Vec<String>, RegistryError> {
    let declared = registry.find(algorithm)?.params();
    let is_discrete = |param: &&Param| matches!(param.default(), Value::Switch(_) | Value::Choice(_));
    let specs = |param: &Param| {
        let name = param.name();
        others(param).into_iter().map(move |value| format!("{algorithm}?{name}={value}")).collect::<Vec<_>>()
    };
    Ok(declared.iter().filter(is_discrete).flat_map(specs).collect())
}

/// A parameter that has made no difference so far.
#[derive(Debug)]
struct Pending {
    name: &'static str,
    variants: Vec<Args>,
}

impl Pending {
    /// `None` if `spec` gives the parameter a value.
    fn new(registry: &Registry, spec: &str, param: &Param) -> Option<Self> {
        let (algorithm, given) = spec.split_once('?').unwrap_or((spec, ""));
        let mut settings = given.split('&').filter(|setting| !setting.is_empty());
        if settings.any(|setting| setting.split('=').next() == Some(param.name())) {
            return None;
        }
        let given = if given.is_empty() { String::new() } else { format!("&{given}") };
        let variant = |value| registry.resolve(&format!("{algorithm}?{}={value}{given}", param.name())).ok();
        Some(Self { name: param.name(), variants: others(param).into_iter().filter_map(variant).collect() })
    }

    fn matters(&self, registry: &Registry, recording: &Recording, setup: &Setup) -> bool {
        self.variants.iter().any(|args| {
            // A value that does not go with those of other parameters is refused: there is nothing to compare then.
            registry.build_args(args, setup).is_ok_and(|mut controller| recording.replay(&mut *controller).is_err())
        })
    }
}

/// Other values than the default: some within reach of it and the bounds. The registry refuses what it does not allow.
fn others(param: &Param) -> Vec<Value> {
    match param.default() {
        Value::Switch(on) => vec![Value::Switch(!on)],
        Value::Choice(choice) => choice.others().map(Value::Choice).collect(),
        default => {
            let scaled = [0.1, 0.5, 0.9, 1.1, 2.0, 10.0].into_iter().filter_map(|factor| default.scaled(factor));
            // Where the default is nothing.
            let plain = ["1", "0.5", "10", "1ms", "1Mbps"].into_iter().filter_map(|text| default.parse_as(text));
            scaled.chain(plain).filter(|value| *value != default).collect()
        }
    }
}

fn scripts(cases: u32) -> impl Iterator<Item = Script> {
    let config = Config { failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..Config::default() };
    let mut runner = TestRunner::new(config);
    let scripts = strategy::script();
    (0..cases).map_while(move |_| scripts.new_tree(&mut runner).ok().map(|tree| tree.current()))
}

fn record(subject: &Subject, setup: &Setup, script: &Script) -> Recording {
    let recorder = Recorder::new(subject.build(setup));
    let recording = recorder.recording();
    World::with_controller(subject, &script.network, Box::new(recorder)).play(&script.moves);
    let recording = recording.lock().unwrap_or_else(PoisonError::into_inner);
    recording.clone()
}

#[cfg(test)]
mod tests {
    use cc_algos::algo::{NewReno, NewRenoParams};
    use cc_algos::registry::Algorithm;

    use super::*;

    #[test]
    fn a_parameter_that_nothing_reads_is_named() {
        let build = |args: &Args, setup: &Setup| {
            let params = NewRenoParams { beta: args.number("beta"), ..NewRenoParams::default() };
            Ok(Box::new(NewReno::new(params, setup).expect("parameters within their bounds")) as _)
        };
        let param = |name, value| Param::new(name, value, "").within(0.01, 0.99);
        let mut registry = Registry::empty();
        registry.register(
            Algorithm::new("reno", "", "", build)
                .with_param(param("beta", Value::Number(0.5)))
                .with_param(param("gamma", Value::Number(0.5))),
        );
        assert_eq!(without_effect(&registry, "reno", 64).unwrap(), ["gamma"]);
        assert!(without_effect(&registry, "reno?gamma=0.1", 64).unwrap().is_empty());
    }
}
