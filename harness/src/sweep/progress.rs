//! Progress for people, on stderr.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::plan::{Job, Sweep};
use super::pool::Failure;
use crate::measure::RunRecord;

/// A bar where stderr is a terminal, and a line for each cell that is complete.
#[derive(Debug)]
pub struct Progress {
    output: Output,
    state: Mutex<State>,
}

#[derive(Debug)]
enum Output {
    Bar(ProgressBar),
    Lines,
    Silent,
}

#[derive(Debug, Default)]
struct State {
    cells: BTreeMap<usize, CellProgress>,
    width: usize,
    complete: usize,
}

#[derive(Debug, Default)]
struct CellProgress {
    name: String,
    runs: u64,
    left: u64,
    packet_hops: u64,
    failed: u64,
}

impl Progress {
    /// On stderr.
    pub fn stderr() -> Self {
        let output = if std::io::stderr().is_terminal() {
            Output::Bar(ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr()))
        } else {
            Output::Lines
        };
        Self { output, state: Mutex::default() }
    }

    /// Nothing at all.
    pub fn silent() -> Self {
        Self { output: Output::Silent, state: Mutex::default() }
    }

    pub(super) fn begin(&self, sweep: &Sweep, missing: &[&Job]) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        for job in missing {
            let cell = &sweep.cells[job.cell];
            let entry = state.cells.entry(job.cell).or_default();
            entry.name = format!("{}  {}", cell.scenario, cell.algorithm);
            entry.left += 1;
        }
        state.width = state.cells.values().map(|cell| cell.name.len()).max().unwrap_or(0);
        if let Output::Bar(bar) = &self.output {
            bar.set_length(missing.len() as u64);
            let template = "{bar:30} {pos}/{len} runs, {per_sec}, {eta} left  {msg}";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar.enable_steady_tick(std::time::Duration::from_millis(200));
        }
    }

    pub(super) fn run_done(&self, job: &Job, record: Option<&RunRecord>) {
        if let Output::Bar(bar) = &self.output {
            bar.inc(1);
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (total, width) = (state.cells.len(), state.width);
        let Some(cell) = state.cells.get_mut(&job.cell) else { return };
        cell.left -= 1;
        cell.runs += 1;
        match record {
            Some(record) => cell.packet_hops += record.work.packet_hops,
            None => cell.failed += 1,
        }
        if cell.left > 0 {
            return;
        }
        let failed = if cell.failed > 0 { format!(", {} failed", cell.failed) } else { String::new() };
        let (name, runs, millions) = (cell.name.clone(), cell.runs, cell.packet_hops as f64 / 1e6);
        state.complete += 1;
        let digits = total.to_string().len();
        self.line(&format!(
            "[{:digits$}/{total}] {name:width$}  {runs} runs, {millions:.1} M packet-hops{failed}",
            state.complete
        ));
    }

    pub(super) fn failed(&self, failure: &Failure) {
        self.line(&format!("failed: {}: {}", failure.job, failure.reason));
    }

    pub(super) fn end(&self) {
        if let Output::Bar(bar) = &self.output {
            bar.finish_and_clear();
        }
    }

    /// A line above the bar. A closed stderr is no reason to stop.
    fn line(&self, text: &str) {
        match &self.output {
            Output::Bar(bar) => bar.println(text),
            Output::Lines => drop(writeln!(std::io::stderr(), "{text}")),
            Output::Silent => {}
        }
    }
}
