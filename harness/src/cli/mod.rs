//! The command line, for the program of this crate and for those of others.
//!
//! A crate with a controller of its own calls [`main`] with a registry that holds it, and has every command with that
//! controller in it: `examples/own-controller` shows how. One with a balancer of its own calls [`main_with`].
//!
//! Tables and `--json` go to stdout, everything else to stderr. Exit codes: 0 good, 1 a run failed, 2 usage or bad input.

mod about;
mod balance;
mod error;
mod hunt;
mod list;
mod output;
mod replay;
mod report;
mod run;
mod shootout;
mod sweep;
mod target;
mod trace;

use std::process::ExitCode;
use std::sync::Arc;

use cc_algos::Registry;
use clap::{Parser, Subcommand};
use transport::flow::balance::Balancers;

/// A wind tunnel for congestion control.
///
/// Flies congestion controllers through a deterministic packet-level simulation of networks and tells how they fare, tail
/// latencies above all. The same version, scenario, algorithm and seed give the same bytes.
#[derive(Debug, Parser)]
#[command(name = "cwndtunnel", version, arg_required_else_help = true, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  cwndtunnel shootout                                    the default suite, about a minute
  cwndtunnel shootout datacentre --algos dctcp,cubic     another suite, two algorithms
  cwndtunnel replay my-link.csv.gz --rtt 40ms            a recorded link as the bottleneck
  cwndtunnel hunt --algo vegas --goal low-utilisation    a network on which it gets under half of what cubic gets
  cwndtunnel list scenarios wan-bulk > mine.toml         a scenario to start from
  cwndtunnel run mine.toml --algo 'cubic?beta=0.5'       one run of it

Times have units (40ms, 100us), and so have rates (10Mbps) and sizes (64kB).
Exit codes: 0 good, 1 a run failed, 2 usage or bad input.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Run algorithms x scenarios x seeds, and print a table with confidence intervals.
    Shootout(shootout::Args),
    /// Run one scenario once.
    Run(run::Args),
    /// Run algorithms over a recorded or generated link.
    Replay(replay::Args),
    /// Search for a network on which an algorithm does badly.
    Hunt(hunt::Args),
    /// Show what there is: algorithms, suites, scenarios, ...
    List(list::Args),
    /// Look at, convert, generate and plot link traces.
    Trace(trace::Args),
    /// Rebuild table, files and page from stored results, or merge shards.
    Report(report::ReportArgs),
    /// Compare two results folders: paired differences with confidence intervals.
    Compare(report::CompareArgs),
}

/// Runs the command line of this process with the algorithms of `registry` and the built-in balancers.
pub fn main(registry: Registry) -> ExitCode {
    main_with(registry, Balancers::builtin())
}

/// Runs the command line of this process with the algorithms of `registry` and these balancers.
#[expect(clippy::needless_pass_by_value, reason = "a program makes its registry for this call alone")]
pub fn main_with(registry: Registry, balancers: Balancers) -> ExitCode {
    let balancers = Arc::new(balancers);
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are asked for; everything else is a usage error. A closed pipe changes neither.
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    let outcome = match &cli.command {
        Command::Shootout(args) => shootout::shootout(args, &registry, &balancers),
        Command::Run(args) => run::run(args, &registry, &balancers),
        Command::Replay(args) => replay::replay(args, &registry),
        Command::Hunt(args) => hunt::hunt(args, &registry),
        Command::List(args) => list::list(args, &registry, &balancers),
        Command::Trace(args) => trace::trace(args),
        Command::Report(args) => report::report(args),
        Command::Compare(args) => report::compare(args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::note(&format!("cwndtunnel: {error}"));
            error.exit_code()
        }
    }
}
