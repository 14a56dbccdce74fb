//! `list`: what there is.

use cc_algos::registry::{Algorithm, Param, nearest};
use cc_algos::{Declaration, Promise, Registry};
use clap::ValueEnum;
use serde_json::{Value, json};
use transport::flow::balance::{Balancers, Kind};

use super::about::about;
use super::error::CliError;
use super::output::{columns, print};
use crate::scenario::{Builtin, SCENARIOS, SUITES};
use crate::workload::{Pattern, Published};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  cwndtunnel list algos
  cwndtunnel list algos cubic                            its parameters
  cwndtunnel list balancers
  cwndtunnel list suites
  cwndtunnel list scenarios wan-bulk > mine.toml         a scenario to start from")]
pub(super) struct Args {
    /// What to list.
    #[arg(value_enum)]
    what: What,
    /// Show only this one, in full. A scenario is printed as TOML.
    name: Option<String>,
    /// Print as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    /// Algorithms and their parameters.
    Algos,
    /// Suites of scenarios.
    Suites,
    /// Built-in scenarios.
    Scenarios,
    /// Topologies that scenarios can have.
    Topologies,
    /// Workloads, and distributions of flow sizes.
    Workloads,
    /// Ways to balance packets over routes.
    Balancers,
    /// Embedded traces and generators.
    Traces,
}

/// One thing in a list.
struct Item {
    name: String,
    summary: String,
    /// More to say of it, in lines below the summary.
    about: String,
    /// What is shown when it is asked for by name.
    detail: String,
    /// All of it but the detail.
    json: Value,
}

impl Item {
    fn new(name: impl Into<String>, summary: impl Into<String>) -> Self {
        let (name, summary) = (name.into(), summary.into());
        Self {
            about: String::new(),
            detail: format!("{name}: {summary}\n"),
            json: json!({ "name": name, "summary": summary }),
            name,
            summary,
        }
    }
}

pub(super) fn list(args: &Args, registry: &Registry, balancers: &Balancers) -> Result<(), CliError> {
    let items = match args.what {
        What::Algos => algorithms(registry),
        What::Suites => suites(),
        What::Scenarios => scenarios()?,
        What::Topologies => topologies(),
        What::Workloads => workloads(),
        What::Balancers => balancers.iter().map(balancer).collect(),
        What::Traces => link_traces(),
    };
    let items = match &args.name {
        None => items,
        Some(name) => vec![find(items, name)?],
    };
    if args.json {
        let values: Vec<Value> = items.into_iter().map(|item| item.json).collect();
        return print(&format!("{:#}\n", Value::Array(values)));
    }
    match (&args.name, items.as_slice()) {
        (Some(_), [item]) => print(&item.detail),
        _ => print(&columns(&items.into_iter().flat_map(rows).collect::<Vec<_>>())),
    }
}

/// An item's lines in a list.
fn rows(item: Item) -> Vec<Vec<String>> {
    let below = item.about.lines().map(|line| vec![String::new(), format!("  {line}")]);
    core::iter::once(vec![item.name, item.summary]).chain(below).collect()
}

fn find(items: Vec<Item>, name: &str) -> Result<Item, CliError> {
    let names: Vec<String> = items.iter().map(|item| item.name.clone()).collect();
    items.into_iter().find(|item| item.name == name).ok_or_else(|| {
        let known = names.iter().map(String::as_str);
        CliError::usage(match nearest(name, known.clone()) {
            Some(near) => format!("nothing is called `{name}`: did you mean `{near}`?"),
            None => format!("nothing is called `{name}`: expected one of {}", known.collect::<Vec<_>>().join(", ")),
        })
    })
}

fn algorithms(registry: &Registry) -> Vec<Item> {
    let item = |algorithm: &Algorithm| {
        let mut detail = format!("{}: {}\n{}\n", algorithm.name(), algorithm.summary(), about(algorithm));
        detail.push_str(&parameters(algorithm.params()));
        Item {
            about: about(algorithm),
            detail,
            json: described(algorithm),
            ..Item::new(algorithm.name(), algorithm.summary())
        }
    };
    let mut algorithms: Vec<_> = registry.iter().collect();
    algorithms.sort_by_key(|algorithm| algorithm.declaration().family);
    algorithms.into_iter().map(item).collect()
}

/// What is said of an algorithm, for programs.
fn described(algorithm: &Algorithm) -> Value {
    let Declaration { family, needs, promises, .. } = algorithm.declaration();
    let promised = Promise::ALL.iter().filter_map(|promise| {
        let threshold = promise.promised(promises)?;
        Some((promise.name().replace(' ', "_"), json!(threshold)))
    });
    json!({
        "name": algorithm.name(),
        "summary": algorithm.summary(),
        "source": algorithm.source(),
        "family": family.name(),
        "needs": needs.iter().map(|need| need.name()).collect::<Vec<_>>(),
        "promises": promised.collect::<serde_json::Map<_, _>>(),
    })
}

fn suites() -> Vec<Item> {
    let item = |suite: &crate::scenario::Suite| {
        let rows: Vec<_> = suite
            .scenarios
            .iter()
            .filter_map(|name| Builtin::by_name(name)?.scenario().ok())
            .map(|scenario| vec![format!("  {}", scenario.name), scenario.description])
            .collect();
        Item {
            detail: format!("{}: {}\n{}", suite.name, suite.description, columns(&rows)),
            ..Item::new(suite.name, suite.description)
        }
    };
    SUITES.iter().map(item).collect()
}

fn scenarios() -> Result<Vec<Item>, CliError> {
    let item = |builtin: &Builtin| {
        let scenario = builtin.scenario()?;
        Ok(Item { detail: builtin.toml.to_owned(), ..Item::new(builtin.name, scenario.description) })
    };
    SCENARIOS.iter().map(item).collect()
}

fn topologies() -> Vec<Item> {
    vec![
        Item::new("dumbbell", "pairs of hosts on both sides of one bottleneck, with round-trip times of their own"),
        Item::new("star", "hosts around one switch"),
        Item::new("fat-tree", "k-port switches in three tiers with k^3/4 hosts (Al-Fares et al., SIGCOMM'08)"),
        Item::new("datacentres", "trees of any shape, also from htsim's .topo files, joined by border switches"),
    ]
}

fn workloads() -> Vec<Item> {
    let kinds = Pattern::KINDS.iter().map(|(name, summary)| Item::new(*name, *summary));
    let sizes = Published::ALL.iter().map(|published| {
        let mean = published.distribution().mean();
        Item::new(published.name(), format!("flow sizes: {}, mean {:.1} kB", published.source(), mean / 1e3))
    });
    kinds.chain(sizes).collect()
}

fn balancer(kind: &Kind) -> Item {
    let parameters = parameters(kind.params());
    Item {
        about: parameters.clone(),
        detail: format!("{}: {}\n{}\n{parameters}", kind.name(), kind.summary(), kind.source()),
        json: json!({
            "name": kind.name(),
            "summary": kind.summary(),
            "source": kind.source(),
            "parameters": kind.params().iter().map(described_parameter).collect::<Vec<_>>(),
        }),
        ..Item::new(kind.name(), kind.summary())
    }
}

/// A line for each parameter: its default and what it means.
fn parameters(params: &[Param]) -> String {
    let row = |param: &Param| vec![format!("  {}={}", param.name(), param.default()), param.help().to_owned()];
    columns(&params.iter().map(row).collect::<Vec<_>>())
}

fn described_parameter(param: &Param) -> Value {
    json!({ "name": param.name(), "default": param.default().to_string(), "help": param.help() })
}

fn link_traces() -> Vec<Item> {
    let samples =
        traces::samples().iter().map(|sample| Item::new(format!("sample:{}", sample.name), sample.description));
    let generators = traces::Generator::all().into_iter().map(|generator| Item {
        detail: format!("gen:{}: {}\n{}\n{generator}\n", generator.name(), generator.description(), generator.source()),
        ..Item::new(format!("gen:{}", generator.name()), generator.description())
    });
    samples.chain(generators).collect()
}
