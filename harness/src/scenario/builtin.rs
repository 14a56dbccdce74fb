//! The built-in scenarios and suites.

use cc_algos::Family;

use super::error::ScenarioError;
use super::model::Scenario;

/// A built-in scenario: its name and TOML.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// Its name.
    pub name: &'static str,
    /// Its text, with comments.
    pub toml: &'static str,
}

impl Builtin {
    /// The scenario of this name.
    pub fn by_name(name: &str) -> Option<Self> {
        SCENARIOS.iter().copied().find(|builtin| builtin.name == name)
    }

    /// The scenario itself.
    ///
    /// # Errors
    ///
    /// If the text is at fault, which a test rules out.
    pub fn scenario(&self) -> Result<Scenario, ScenarioError> {
        Scenario::parse(self.toml, self.name)
    }
}

/// Scenarios that belong together.
#[derive(Clone, Copy, Debug)]
pub struct Suite {
    /// Its name.
    pub name: &'static str,
    /// What it covers.
    pub description: &'static str,
    /// Names of its scenarios.
    pub scenarios: &'static [&'static str],
    /// Families that take part as a whole, besides the algorithms that the scenarios name.
    pub families: &'static [Family],
}

impl Suite {
    /// The suite of this name.
    pub fn by_name(name: &str) -> Option<Self> {
        SUITES.iter().copied().find(|suite| suite.name == name)
    }
}

/// All built-in suites; the first is the default.
pub const SUITES: &[Suite] = &[
    Suite {
        name: "quick",
        description: "the default: wide-area, cellular, satellite, lossy and datacentre links, about a minute on two cores",
        scenarios: &[
            "wan-bulk",
            "wan-web",
            "wan-shallow",
            "wan-codel",
            "wifi-burst-loss",
            "lte-bulk",
            "lte-web",
            "leo-bulk",
            "dc-incast",
            "dc-rpc",
            "dc-storage",
        ],
        families: &[],
    },
    Suite {
        name: "cellular",
        description: "links driven by traces: LTE, 5G, satellite, on-off radio",
        scenarios: &[
            "lte-bulk",
            "lte-driving-bulk",
            "lte-fresh-bulk",
            "lte-codel-bulk",
            "lte-web",
            "5g-bulk",
            "5g-web",
            "leo-bulk",
            "radio-on-off",
        ],
        families: &[Family::WideArea],
    },
    Suite {
        name: "datacentre",
        description: "incast, remote procedure calls, storage, web search and a permutation over a star and a fat-tree",
        scenarios: &[
            "dc-incast",
            "dc-incast-droptail",
            "dc-trim-incast",
            "dc-rpc",
            "dc-storage",
            "dc-web-search",
            "dc-permutation",
            "dc-fat-tree-rpc",
            "dc-inter",
            "xdc-near-source",
        ],
        families: &[Family::Datacentre, Family::AcrossDatacentres],
    },
    Suite {
        name: "uno",
        description: "two datacentres of 128 hosts as in Uno's artifact: an incast from both, and a dead link between them",
        scenarios: &["xdc-incast", "xdc-dead-link"],
        families: &[],
    },
    Suite {
        name: "wan",
        description: "long flows and web traffic over buffers of all sizes, active queues, a policer, rate changes",
        scenarios: &[
            "wan-bulk",
            "wan-shallow",
            "wan-deep",
            "wan-long-fat",
            "wan-web",
            "wan-codel",
            "wan-pie",
            "wan-l4s",
            "wan-policed",
            "wan-rate-steps",
        ],
        families: &[],
    },
    Suite {
        name: "lossy",
        description: "random and bursty loss, reordering, thinned acknowledgements",
        scenarios: &[
            "loss-0-01",
            "loss-0-1",
            "loss-1",
            "wifi-burst-loss",
            "loss-reorder",
            "loss-thin-acks",
            "loss-web",
        ],
        families: &[],
    },
    Suite {
        name: "fairness",
        description: "unequal round-trip times, flows that join and leave, many flows",
        scenarios: &["fair-rtt", "fair-staggered", "fair-late", "fair-many"],
        families: &[],
    },
    Suite {
        name: "coexist",
        description: "every algorithm against every other",
        scenarios: &["coexist-shallow", "coexist-deep", "coexist-web"],
        families: &[],
    },
];

macro_rules! builtins {
    ($($name:literal),* $(,)?) => {
        &[$(Builtin { name: $name, toml: include_str!(concat!("../../scenarios/", $name, ".toml")) }),*]
    };
}

/// All built-in scenarios by name.
pub const SCENARIOS: &[Builtin] = builtins![
    "5g-bulk",
    "5g-web",
    "coexist-deep",
    "coexist-shallow",
    "coexist-web",
    "dc-fat-tree-rpc",
    "dc-incast",
    "dc-incast-droptail",
    "dc-inter",
    "dc-permutation",
    "dc-rpc",
    "dc-storage",
    "dc-trim-incast",
    "dc-web-search",
    "fair-late",
    "fair-many",
    "fair-rtt",
    "fair-staggered",
    "leo-bulk",
    "loss-0-01",
    "loss-0-1",
    "loss-1",
    "loss-reorder",
    "loss-thin-acks",
    "loss-web",
    "lte-bulk",
    "lte-codel-bulk",
    "lte-driving-bulk",
    "lte-fresh-bulk",
    "lte-web",
    "radio-on-off",
    "wan-bulk",
    "wan-codel",
    "wan-deep",
    "wan-l4s",
    "wan-long-fat",
    "wan-pie",
    "wan-policed",
    "wan-rate-steps",
    "wan-shallow",
    "wan-web",
    "wifi-burst-loss",
    "xdc-dead-link",
    "xdc-incast",
    "xdc-near-source",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_reads_under_its_own_name_and_prints_back_the_same() {
        for builtin in SCENARIOS {
            let scenario = builtin.scenario().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(scenario.name, builtin.name);
            assert!(!scenario.description.is_empty());
            assert_eq!(Scenario::parse(&scenario.to_toml(), "printed").unwrap(), scenario);
        }
    }

    #[test]
    fn suites_hold_known_scenarios_once_and_leave_none_out() {
        for suite in SUITES {
            for (index, name) in suite.scenarios.iter().enumerate() {
                assert!(Builtin::by_name(name).is_some(), "{name}");
                assert!(!suite.scenarios[..index].contains(name), "{name} twice in {}", suite.name);
            }
        }
        for builtin in SCENARIOS {
            assert!(
                SUITES.iter().any(|suite| suite.scenarios.contains(&builtin.name)),
                "{} is in no suite",
                builtin.name
            );
        }
    }

    #[test]
    fn the_default_suite_has_eight_scenarios_or_more_of_ten_seeds() {
        let quick = SUITES[0];
        assert_eq!(quick.name, "quick");
        assert!(quick.scenarios.len() >= 8);
        for name in quick.scenarios {
            assert_eq!(Builtin::by_name(name).unwrap().scenario().unwrap().seeds, 10);
        }
    }
}
