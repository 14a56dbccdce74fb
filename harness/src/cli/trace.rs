//! `trace`: link traces without a simulation.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use traces::{
    CsvOptions, Format, MissingValue, PlotOptions, RateUnit, ReadOptions, TimeUnit, Trace, WriteOptions, plot_svg,
};

use super::error::CliError;
use super::output::{note, print};
use crate::measure::write_atomically;
use crate::scenario::TraceSource;
use crate::scenario::value::parse_span;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print statistics.
    Info {
        #[command(flatten)]
        input: Input,
    },
    /// Write a trace in another format; the rate stays the same over any window longer than one opportunity.
    #[command(after_help = "Examples:
  cwndtunnel trace convert driving.csv driving.down.gz --to mahimahi
  cwndtunnel trace convert log.csv link.csv --rate-column DL_bitrate --rate-unit kbps")]
    Convert {
        #[command(flatten)]
        input: Input,
        /// File to write; `.gz` at its end compresses it.
        output: PathBuf,
        /// Its format: mahimahi, csv or netem-json [default: by its name].
        #[arg(long, value_name = "FORMAT")]
        to: Option<Format>,
    },
    /// Make a trace from a generator (see `list traces`), and print how well it meets the statistics it aims at.
    #[command(after_help = "Examples:
  cwndtunnel trace generate lte link.csv --seed 3
  cwndtunnel trace generate 'leo?duration_s=60' link.down.gz --to mahimahi")]
    Generate {
        /// `NAME` or `NAME?key=value&...`.
        generator: String,
        /// File to write; `.gz` at its end compresses it.
        output: PathBuf,
        /// Seed of everything random.
        #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
        seed: u64,
        /// Its format: mahimahi, csv or netem-json [default: by its name].
        #[arg(long, value_name = "FORMAT")]
        to: Option<Format>,
    },
    /// Draw the rate over time as SVG.
    Plot {
        #[command(flatten)]
        input: Input,
        /// File to write.
        output: PathBuf,
        /// Window that each point is the mean of [default: fits the width].
        #[arg(long, value_name = "TIME", value_parser = window)]
        window: Option<u64>,
    },
}

#[derive(Debug, clap::Args)]
struct Input {
    /// A file (mahimahi, CSV, netem-trace JSON; plain or gzip), `sample:NAME`, `gen:NAME?key=value`, or `-` for stdin.
    trace: String,
    /// Format of the file [default: by its content].
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Bytes of one opportunity in mahimahi files.
    #[arg(long, value_name = "BYTES", default_value_t = traces::MAHIMAHI_OPPORTUNITY_BYTES)]
    opportunity_bytes: u64,
    /// Column of the time in CSV files, by name or number [default: by the header].
    #[arg(long, value_name = "COLUMN")]
    time_column: Option<String>,
    /// Column of the rate in CSV files, by name or number [default: by the header].
    #[arg(long, value_name = "COLUMN")]
    rate_column: Option<String>,
    /// Unit of the time in CSV files [default: by the header].
    #[arg(long, value_name = "UNIT")]
    time_unit: Option<TimeUnit>,
    /// Unit of the rate in CSV files [default: by the header].
    #[arg(long, value_name = "UNIT")]
    rate_unit: Option<RateUnit>,
    /// Take a missing rate in CSV files for an outage instead of the rate before.
    #[arg(long)]
    missing_is_outage: bool,
}

impl Input {
    fn load(&self) -> Result<Trace, CliError> {
        let mut csv = CsvOptions::default();
        csv.time_column.clone_from(&self.time_column);
        csv.rate_column.clone_from(&self.rate_column);
        csv.time_unit = self.time_unit;
        csv.rate_unit = self.rate_unit;
        csv.missing = if self.missing_is_outage { MissingValue::Outage } else { MissingValue::Hold };
        let mut options = ReadOptions::default();
        options.format = self.format;
        options.opportunity_bytes = self.opportunity_bytes;
        options.csv = csv;
        if self.trace == "-" {
            return Trace::read(std::io::stdin().lock(), &options)
                .map_err(|error| CliError::usage(format!("stdin: {error}")));
        }
        TraceSource::open(&self.trace, Path::new(""), &options)
            .and_then(|source| source.trace(1))
            .map_err(CliError::usage)
    }
}

fn window(text: &str) -> Result<u64, String> {
    parse_span(text)
        .map(|span| span.as_nanos())
        .filter(|&nanos| nanos > 0)
        .ok_or_else(|| "expected a time above zero such as 100ms".to_owned())
}

pub(super) fn trace(args: &Args) -> Result<(), CliError> {
    match &args.command {
        Command::Info { input } => print(&format!("{}\n", input.load()?.stats().to_string().trim_end())),
        Command::Convert { input, output, to } => save(&input.load()?, output, *to),
        Command::Generate { generator, output, seed, to } => {
            let generator: traces::Generator = generator.parse()?;
            let trace = generator.generate(*seed)?;
            save(&trace, output, *to)?;
            generator.check(&trace).iter().for_each(|fit| note(&fit.to_string()));
            Ok(())
        }
        Command::Plot { input, output, window } => {
            let mut options = PlotOptions::default();
            options.title.clone_from(&input.trace);
            options.window_ns = *window;
            Ok(write_atomically(output, plot_svg(&input.load()?, &options).as_bytes())?)
        }
    }
}

fn save(trace: &Trace, output: &Path, to: Option<Format>) -> Result<(), CliError> {
    let mut options = WriteOptions::for_path(output);
    if let Some(format) = to {
        options.format = format;
    }
    Ok(trace.save(output, &options)?)
}
