//! `shootout`: a suite, a scenario or a file.

use std::sync::Arc;

use cc_algos::{Family, Registry};
use transport::flow::balance::Balancers;

use super::balance::BalanceArgs;
use super::error::CliError;
use super::sweep::{Lineup, SweepArgs, run_sweep};
use super::target::Target;
use crate::scenario::Prepared;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  cwndtunnel shootout
  cwndtunnel shootout datacentre --seeds 3               the whole field of datacentre algorithms
  cwndtunnel shootout wan --algos wide-area              every algorithm of a family
  cwndtunnel shootout dc-permutation --balance reps      another way to balance packets over routes
  cwndtunnel shootout dc-permutation --algos dctcp@ecmp,dctcp@uno
  cwndtunnel shootout cellular --algos newreno,cubic,'cubic?beta=0.5' --seeds 20
  cwndtunnel shootout mine.toml --out results/mine
  cwndtunnel shootout --out results/quick --resume
  cwndtunnel shootout wan --shard 1/4 --out part1        then: cwndtunnel report part1 part2 part3 part4 --out whole")]
pub(super) struct Args {
    /// A suite or scenario (see `list`), or a scenario's file.
    #[arg(default_value = "quick", value_name = "SUITE | SCENARIO | FILE.toml")]
    target: String,
    #[command(flatten)]
    balance: BalanceArgs,
    #[command(flatten)]
    sweep: SweepArgs,
}

pub(super) fn shootout(args: &Args, registry: &Registry, balancers: &Arc<Balancers>) -> Result<(), CliError> {
    let target = Target::find(&args.target)?;
    let mut prepared = Vec::new();
    for (scenario, base) in target.scenarios {
        prepared.push(Arc::new(args.balance.prepare(scenario, &base, balancers)?));
    }
    let of_families = field(target.families, &prepared, registry);
    run_sweep(&target.name, Lineup { scenarios: prepared, default: of_families }, &args.sweep, registry)
}

/// What the scenarios name, and the families as a whole; nothing if there are none, so that each scenario decides.
fn field(families: &[Family], scenarios: &[Arc<Prepared>], registry: &Registry) -> Vec<String> {
    if families.is_empty() {
        return Vec::new();
    }
    let named = scenarios.iter().flat_map(|prepared| prepared.scenario.algorithms.iter().cloned());
    let of_families = registry
        .iter()
        .filter(|algorithm| families.contains(&algorithm.declaration().family))
        .map(|algorithm| algorithm.name().to_owned());
    let mut field: Vec<String> = Vec::new();
    for name in named.chain(of_families) {
        if !field.contains(&name) {
            field.push(name);
        }
    }
    field
}
