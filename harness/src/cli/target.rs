//! What a name on the command line stands for.

use std::path::{Path, PathBuf};

use cc_algos::Family;
use cc_algos::registry::nearest;

use super::error::CliError;
use crate::scenario::{Builtin, SCENARIOS, SUITES, Scenario, Suite};

/// Scenarios that were asked for, and where their relative paths start.
#[derive(Debug)]
pub(super) struct Target {
    /// Name of the whole.
    pub(super) name: String,
    /// The scenarios.
    pub(super) scenarios: Vec<(Scenario, PathBuf)>,
    /// Families that take part as a whole.
    pub(super) families: &'static [Family],
}

impl Target {
    /// A suite, a built-in scenario, or a file.
    pub(super) fn find(name: &str) -> Result<Self, CliError> {
        if let Some(suite) = Suite::by_name(name) {
            let of_suite = suite.scenarios.iter().filter_map(|name| Builtin::by_name(name));
            let scenarios = of_suite.map(|builtin| Ok((builtin.scenario()?, PathBuf::from("."))));
            let scenarios = scenarios.collect::<Result<_, CliError>>()?;
            return Ok(Self { name: name.to_owned(), scenarios, families: suite.families });
        }
        let scenario = find_scenario(name, || SUITES.iter().map(|suite| suite.name))?;
        Ok(Self { name: scenario.0.name.clone(), scenarios: vec![scenario], families: &[] })
    }
}

/// A built-in scenario or a file. `others` are names that would also have been good.
pub(super) fn find_scenario<I: Iterator<Item = &'static str>>(
    name: &str,
    others: impl Fn() -> I,
) -> Result<(Scenario, PathBuf), CliError> {
    if let Some(builtin) = Builtin::by_name(name) {
        return Ok((builtin.scenario()?, PathBuf::from(".")));
    }
    let path = Path::new(name);
    if path.extension().is_some_and(|extension| extension == "toml") || path.exists() {
        let base = path.parent().unwrap_or(Path::new("")).to_owned();
        return Ok((Scenario::load(path)?, base));
    }
    let known = || others().chain(SCENARIOS.iter().map(|builtin| builtin.name));
    let hint = match nearest(name, known()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "see `cwndtunnel list scenarios` and `list suites`, or name a .toml file".to_owned(),
    };
    Err(CliError::usage(format!("no scenario is called `{name}`: {hint}")))
}
