//! `replay`: a trace as the bottleneck.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cc_algos::{Rate, Registry, Span};

use super::error::CliError;
use super::sweep::{Lineup, SweepArgs, run_sweep};
use crate::scenario::value::{AMOUNT_EXPECTED, Amount, MAX_SPAN, parse_span};
use crate::scenario::{Dumbbell, Endpoints, Link, Prepared, Rivals, Scenario, Service, Side, Topology, TraceOffset};
use crate::workload::{Pattern, Player, Volume, Workload};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  cwndtunnel replay driving.csv.gz --algos cubic,newreno --rtt 40ms --queue 2bdp
  cwndtunnel replay sample:leo --flows 4 --duration 60s
  cwndtunnel replay 'gen:lte?seed=3' --seeds 20

Formats: mahimahi, CSV, netem-trace JSON; plain or gzip. `cwndtunnel trace convert` names columns and units that CSV files
leave open.")]
pub(super) struct Args {
    /// A trace's file, `sample:NAME` (see `list traces`) or `gen:NAME?key=value`.
    trace: String,
    /// Round-trip propagation.
    #[arg(long, value_name = "TIME", default_value = "40ms", value_parser = positive_span)]
    rtt: Span,
    /// Room of the queue: times the mean bandwidth-delay product, bytes or packets.
    #[arg(long, value_name = "AMOUNT", default_value = "1bdp", value_parser = amount)]
    queue: Amount,
    /// Simulated time.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = positive_span)]
    duration: Span,
    /// Long flows.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    flows: u32,
    /// Where in the trace a run begins: a time, or `random` for a place that the seed decides.
    #[arg(long, value_name = "TIME | random", default_value = "random", value_parser = offset)]
    offset: TraceOffset,
    #[command(flatten)]
    sweep: SweepArgs,
}

fn positive_span(text: &str) -> Result<Span, String> {
    parse_span(text)
        .filter(|span| !span.is_zero() && *span <= MAX_SPAN)
        .ok_or_else(|| format!("expected a time above zero such as 100us, 25ms or 1s, at most {MAX_SPAN}"))
}

fn amount(text: &str) -> Result<Amount, String> {
    Amount::parse(text).filter(|amount| !amount.is_zero()).ok_or_else(|| format!("expected {AMOUNT_EXPECTED}"))
}

fn offset(text: &str) -> Result<TraceOffset, String> {
    match text {
        "random" => Ok(TraceOffset::Random),
        _ => parse_span(text).map(TraceOffset::At).ok_or_else(|| "expected `random` or a time such as 10s".to_owned()),
    }
}

pub(super) fn replay(args: &Args, registry: &Registry) -> Result<(), CliError> {
    let scenario = scenario(args);
    let name = scenario.name.clone();
    let prepared = Prepared::new(scenario, Path::new("")).map_err(|error| {
        // The user named a trace, not a key of a scenario.
        CliError::usage(error.message().to_owned())
    })?;
    let lineup = Lineup { scenarios: vec![Arc::new(prepared)], default: Vec::new() };
    run_sweep(&name, lineup, &args.sweep, registry)
}

fn scenario(args: &Args) -> Scenario {
    let service = Service::Trace { name: args.trace.clone(), offset: args.offset };
    let pattern = Pattern::Bulk {
        flows: args.flows,
        volume: Volume::Unlimited,
        start: Span::ZERO,
        stagger: Span::ZERO,
        hold: None,
        jitter: Span::from_nanos(args.rtt.as_nanos().min(args.duration.as_nanos() / 10)),
    };
    Scenario {
        name: scenario_name(&args.trace),
        description: format!("{} long flow(s) over the trace {}.", args.flows, args.trace),
        duration: args.duration,
        seeds: 5,
        algorithms: ["newreno", "cubic", "dctcp"].map(str::to_owned).to_vec(),
        baseline: Some("cubic".to_owned()),
        rivals: Rivals::None,
        sample_every: None,
        balance: "ecmp".to_owned(),
        coding: None,
        oracle: false,
        topology: Topology::Dumbbell(Dumbbell {
            pairs: args.flows,
            rtt: args.rtt,
            extra_rtt: Vec::new(),
            pair_jitter: Vec::new(),
            extra_rtt_side: Side::Left,
            access_rate: Rate::from_gbps(100),
            bottleneck: Link { buffer: Some(args.queue), ..Link::of(service) },
            reverse: None,
        }),
        endpoints: Endpoints::INTERNET,
        faults: Vec::new(),
        workloads: vec![Workload { group: "bulk".to_owned(), player: Player::Subject, measured: true, pattern }],
    }
}

/// A scenario's name from a trace's: the file without its folder and extensions.
fn scenario_name(trace: &str) -> String {
    let file = PathBuf::from(trace).file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let stem = file.trim_end_matches(".gz");
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = stem.chars().map(plain).take(50).collect();
    format!("replay-{}", name.trim_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_the_file_and_suit_a_scenario() {
        for (trace, name) in [
            ("/data/Verizon-LTE-short.down.gz", "replay-verizon-lte-short-down"),
            ("sample:leo", "replay-sample-leo"),
            ("gen:lte?seed=3", "replay-gen-lte-seed-3"),
        ] {
            assert_eq!(scenario_name(trace), name);
        }
    }
}
