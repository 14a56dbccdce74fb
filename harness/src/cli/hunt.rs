//! `hunt`: a network on which an algorithm does badly.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cc_algos::{Rate, Registry, Span};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use super::error::CliError;
use super::output::{note, print};
use super::sweep::{cores, watch_for_interrupt};
use crate::hunt::{
    Bounds, Dimension, Finding, Goal, HuntError, Member, Minimised, Search, SearchState, Settings, Store, Trial,
    minimise, to_svg,
};
use crate::measure::{RunRecord, Table, TableOptions, write_atomically};
use crate::report;
use crate::scenario::value::{Amount, parse_rate, parse_span};
use crate::sweep::{Interrupt, free_folder};

/// Generations without a budget of one's own: under a minute of one core with the default bounds.
const DEFAULT_GENERATIONS: u64 = 50;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  cwndtunnel hunt --algo vegas --goal low-utilisation
  cwndtunnel hunt --algo 'cubic?beta=0.5' --goal loss --buffer 0.5bdp..1bdp --generations 20
  cwndtunnel hunt --algo vegas --goal starvation --minutes 10 --jobs 2 --out hunts/vegas
  cwndtunnel hunt --algo vegas --goal starvation --minutes 10 --out hunts/vegas --resume
  cwndtunnel hunt --algo vegas --goal low-utilisation --vary jitter --jitter 20ms

The folder then holds found.toml (the network as a scenario), found.svg (what happens on it) and hunt.json (to go on from).
Same algorithm, goal, bounds, seed and generations: same network, whatever --jobs. docs/hunt.md tells more.")]
pub(super) struct Args {
    /// The algorithm to break.
    #[arg(long, value_name = "ALGO?KEY=VALUE")]
    algo: String,
    /// What to look for.
    #[arg(long, value_enum)]
    goal: Goal,
    /// The algorithm that must do well on the same network, where the goal asks for one.
    #[arg(long, value_name = "ALGO?KEY=VALUE", default_value = "cubic")]
    baseline: String,
    /// Seed of the search and of every run.
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    seed: u64,
    /// Stop after so many generations of 48 networks each, those of a resumed hunt counted [default: 50, unless another
    /// limit is given].
    #[arg(long, value_name = "N")]
    generations: Option<u64>,
    /// Stop with the generation in which so many networks have been tried.
    #[arg(long, value_name = "N")]
    evaluations: Option<u64>,
    /// Stop with the generation in which so many minutes have passed; how many that takes depends on the machine.
    #[arg(long, value_name = "N")]
    minutes: Option<u64>,
    /// Networks tried at a time [default: one for each core].
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    jobs: Option<NonZeroUsize>,
    /// Simulated time of one run.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = span)]
    duration: Span,
    /// Rate of the bottleneck, at any time.
    #[arg(long, value_name = "RATE[..RATE]", default_value = "12Mbps..48Mbps", value_parser = rates)]
    rate: Pair<Rate>,
    /// Round-trip propagation.
    #[arg(long, value_name = "TIME[..TIME]", default_value = "20ms..100ms", value_parser = spans)]
    rtt: Pair<Span>,
    /// Room of the queue, whatever the rate is at the moment.
    #[arg(long, value_name = "N[..N]bdp", default_value = "0.5bdp..4bdp", value_parser = buffers)]
    buffer: Pair<u64>,
    /// Longest extra delay; never more than the round-trip propagation.
    #[arg(long, value_name = "TIME", default_value = "40ms", value_parser = span)]
    jitter: Span,
    /// What may change while a run lasts.
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',', default_values_t = Bounds::default().vary)]
    vary: Vec<Dimension>,
    /// Folder to write to [default: results/hunt-ALGO-GOAL, or results/hunt-ALGO-GOAL-2, ... if that is taken].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on with the hunt in the folder named by --out: give the same command, with a larger limit.
    #[arg(long, requires = "out")]
    resume: bool,
    /// Print what was found as JSON.
    #[arg(long)]
    json: bool,
}

/// Lowest and highest.
type Pair<T> = (T, T);

pub(super) fn hunt(args: &Args, registry: &Registry) -> Result<(), CliError> {
    let settings = settings(args, registry)?;
    let interrupt = Interrupt::default();
    let jobs = args.jobs.map_or_else(cores, NonZeroUsize::get);
    let trial = Trial::new(registry, &settings, jobs, interrupt.clone())?;
    let name = settings.algorithm.split('?').next().unwrap_or_default();
    let out = args.out.clone().unwrap_or_else(|| free_folder(&format!("hunt-{name}-{}", settings.goal)));
    let (store, state) = if args.resume {
        Store::resume(&out, settings)?
    } else {
        (Store::create(&out, settings)?, SearchState::default())
    };
    watch_for_interrupt(&interrupt);
    note(&format!("{} on {}, into {}", args.goal, trial.subject, out.display()));
    let (state, interrupted) = search(args, &trial, &store, state)?;
    let best = state.best().ok_or_else(|| CliError::failed("interrupted before the first generation was done"))?;
    let minimal = if interrupted { None } else { reduce(&trial, best)? };
    // What follows is a few runs: an interrupt must not take the best so far away.
    let trial = Trial::new(registry, store.settings(), jobs, Interrupt::default())?;
    let minimised = match minimal {
        Some(minimal) => minimal,
        None => {
            note("the network is not minimal: give the same command with --resume for that");
            Minimised::untouched(best, trial.evaluate(&best.genome)?)
        }
    };
    conclude(args, &Finding::new(&trial, &minimised)?, &store, &state)
}

fn settings(args: &Args, registry: &Registry) -> Result<Settings, CliError> {
    let mut vary = args.vary.clone();
    vary.sort_unstable();
    vary.dedup();
    let bounds = Bounds {
        duration: args.duration,
        rate: args.rate,
        rtt: args.rtt,
        buffer_milli_bdp: args.buffer,
        jitter: args.jitter,
        vary,
    };
    Ok(Settings {
        algorithm: registry.resolve(&args.algo)?.to_string(),
        baseline: registry.resolve(&args.baseline)?.to_string(),
        goal: args.goal,
        seed: args.seed,
        bounds,
    })
}

/// Generation after generation, until a limit; whether it was interrupted before.
fn search(args: &Args, trial: &Trial, store: &Store, state: SearchState) -> Result<(SearchState, bool), CliError> {
    let limits = Limits::new(args);
    let mut search = Search::new(trial, state);
    let progress = Progress::new();
    while !limits.reached(search.state()) {
        match search.step() {
            Ok(()) => {
                store.save(search.state())?;
                progress.show(search.state());
            }
            Err(HuntError::Interrupted) => {
                progress.end();
                return Ok((search.state().clone(), true));
            }
            Err(error) => return Err(error.into()),
        }
        if search.state().best().is_some_and(|best| best.score == crate::hunt::Score::BROKEN) {
            break;
        }
    }
    progress.end();
    Ok((search.state().clone(), false))
}

/// The smallest network that still shows it, unless interrupted.
fn reduce(trial: &Trial, best: &Member) -> Result<Option<Minimised>, CliError> {
    note(&format!("highest score {}; leaving out what the network does not need", best.score));
    match minimise(trial, best) {
        Ok(minimised) => Ok(Some(minimised)),
        Err(HuntError::Interrupted) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn conclude(args: &Args, finding: &Finding, store: &Store, state: &SearchState) -> Result<(), CliError> {
    let file = store.file("found.toml");
    let command = finding.command(&program(), &file);
    write_atomically(&file, finding.to_toml(&command).as_bytes())?;
    if let Ok(run) = &finding.subject_run {
        let svg = to_svg(&finding.scenario, run, finding.baseline_run.as_ref().ok());
        write_atomically(&store.file("found.svg"), svg.as_bytes())?;
    }
    if args.json {
        let value = json!({
            "found": finding.is_found(),
            "score_ppm": finding.score().0,
            "headline": finding.headline(),
            "other_seeds": finding.robustness_text(),
            "scenario": file.display().to_string(),
            "replay": command,
            "evaluations": state.evaluations,
        });
        return print(&format!("{value:#}\n"));
    }
    let verdict = if finding.is_found() { "found" } else { "nothing found; the worst so far" };
    let mut text = format!("{verdict}: {}\n", finding.headline());
    text.push_str(&format!("score {}, {}\n", finding.score(), finding.robustness_text()));
    if let Ok(run) = &finding.subject_run {
        text.push_str(&table(run)?);
    }
    text.push_str(&format!("\nreplay: {command}\n"));
    print(&text)
}

/// The table of one run, as the command `run` prints it.
fn table(run: &RunRecord) -> Result<String, CliError> {
    Ok(report::table(&Table::build(std::slice::from_ref(run), &TableOptions::default())?))
}

/// How this program was called, to be called so again.
fn program() -> String {
    let name = std::env::args_os().next().and_then(|path| Path::new(&path).file_name().map(|name| name.to_owned()));
    name.map_or_else(|| "cwndtunnel".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// When a search is over.
struct Limits {
    generations: Option<u64>,
    evaluations: Option<u64>,
    end: Option<Instant>,
}

impl Limits {
    #[expect(clippy::disallowed_methods, reason = "a person's patience; a search has the same generations without it")]
    fn new(args: &Args) -> Self {
        let unlimited = args.generations.is_none() && args.evaluations.is_none() && args.minutes.is_none();
        let minutes = |minutes: u64| Instant::now() + Duration::from_secs(minutes.saturating_mul(60).min(1 << 32));
        Self {
            generations: args.generations.or(unlimited.then_some(DEFAULT_GENERATIONS)),
            evaluations: args.evaluations,
            end: args.minutes.map(minutes),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "a person's patience; a search has the same generations without it")]
    fn reached(&self, state: &SearchState) -> bool {
        self.generations.is_some_and(|most| state.generation >= most)
            || self.evaluations.is_some_and(|most| state.evaluations >= most)
            || self.end.is_some_and(|end| Instant::now() >= end)
    }
}

/// A line that changes where stderr is a terminal; elsewhere a line whenever there is something new.
struct Progress {
    bar: Option<ProgressBar>,
    shown: std::cell::Cell<Option<crate::hunt::Score>>,
}

impl Progress {
    fn new() -> Self {
        let bar = std::io::IsTerminal::is_terminal(&std::io::stderr()).then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}, {elapsed}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Self { bar, shown: std::cell::Cell::new(None) }
    }

    fn show(&self, state: &SearchState) {
        let Some(best) = state.best() else { return };
        let line = format!(
            "generation {}, {} networks tried, highest score {}",
            state.generation, state.evaluations, best.score
        );
        match &self.bar {
            Some(bar) => bar.set_message(line),
            None if self.shown.get() != Some(best.score) || state.generation.is_multiple_of(10) => note(&line),
            None => {}
        }
        self.shown.set(Some(best.score));
    }

    fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn span(text: &str) -> Result<Span, String> {
    parse_span(text).filter(|span| !span.is_zero()).ok_or_else(|| "expected a time above zero such as 25ms".to_owned())
}

fn spans(text: &str) -> Result<Pair<Span>, String> {
    pair(text, parse_span, "a time or a range of times such as 20ms..100ms")
}

fn rates(text: &str) -> Result<Pair<Rate>, String> {
    pair(text, parse_rate, "a rate or a range of rates such as 12Mbps..48Mbps")
}

/// Thousandths of a bandwidth-delay product.
fn buffers(text: &str) -> Result<Pair<u64>, String> {
    let parse = |text: &str| match Amount::parse(text) {
        Some(Amount::Bdp(factor)) if factor <= 1_000.0 => Some(cc_algos::units::round_to_u64(factor * 1_000.0)),
        _ => None,
    };
    pair(text, parse, "an amount or a range of amounts such as 0.5bdp..4bdp")
}

fn pair<T: Copy + Ord>(text: &str, parse: impl Fn(&str) -> Option<T>, expected: &str) -> Result<Pair<T>, String> {
    let (low, high) = text.split_once("..").unwrap_or((text, text));
    match (parse(low), parse(high)) {
        (Some(low), Some(high)) if low <= high => Ok((low, high)),
        _ => Err(format!("expected {expected}")),
    }
}
