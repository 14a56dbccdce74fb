//! `shootout`: a suite, a scenario or a file.

use std::sync::Arc;

use cc_algos::Registry;

use super::error::CliError;
use super::sweep::{SweepArgs, run_sweep};
use super::target::Target;
use crate::scenario::Prepared;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  cwndtunnel shootout
  cwndtunnel shootout cellular --algos newreno,cubic,'cubic?beta=0.5' --seeds 20
  cwndtunnel shootout mine.toml --out results/mine
  cwndtunnel shootout --out results/quick --resume
  cwndtunnel shootout wan --shard 1/4 --out part1        then: cwndtunnel report part1 part2 part3 part4 --out whole")]
pub(super) struct Args {
    /// A suite or scenario (see `list`), or a scenario's file.
    #[arg(default_value = "quick", value_name = "SUITE | SCENARIO | FILE.toml")]
    target: String,
    #[command(flatten)]
    sweep: SweepArgs,
}

pub(super) fn shootout(args: &Args, registry: &Registry) -> Result<(), CliError> {
    let target = Target::find(&args.target)?;
    let mut prepared = Vec::new();
    for (scenario, base) in target.scenarios {
        prepared.push(Arc::new(Prepared::new(scenario, &base)?));
    }
    run_sweep(&target.name, prepared, &args.sweep, registry)
}
