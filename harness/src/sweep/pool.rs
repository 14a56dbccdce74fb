//! Runs jobs on a few threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::folder::ResultsFolder;
use super::plan::{Job, Sweep};
use super::progress::Progress;
use crate::measure::{RunRecord, StoreError};

/// Says that no more runs should begin; those under way are finished and filed.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Asks for the end. Returns whether it had been asked for before.
    pub fn raise(&self) -> bool {
        self.0.swap(true, Ordering::SeqCst)
    }

    /// Whether the end was asked for.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// How to run a sweep.
#[derive(Clone, Debug)]
pub struct PoolOptions {
    /// Threads.
    pub threads: usize,
    /// Stops it early.
    pub interrupt: Interrupt,
}

/// A run that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Which run.
    pub job: String,
    /// Why.
    pub reason: String,
}

/// What became of a sweep.
#[derive(Debug, Default)]
pub struct Summary {
    /// Runs that were done now.
    pub done: usize,
    /// Runs that were there already.
    pub found: usize,
    /// Runs that failed, in the order of the sweep.
    pub failures: Vec<Failure>,
    /// Runs that were not begun.
    pub left: usize,
    /// Why results could no longer be filed, if so.
    pub storage: Option<StoreError>,
}

impl Summary {
    /// Whether every run is there.
    pub fn is_complete(&self) -> bool {
        self.failures.is_empty() && self.left == 0 && self.storage.is_none()
    }
}

/// Runs what the folder does not hold yet. A run that fails or panics is noted, and the others go on.
pub fn run_all(
    sweep: &Sweep,
    folder: &ResultsFolder,
    options: &PoolOptions,
    run: &(dyn Fn(&Job) -> Result<RunRecord, String> + Sync),
    progress: &Progress,
) -> Summary {
    let missing: Vec<&Job> = sweep.jobs.iter().filter(|job| !folder.has(job)).collect();
    let found = sweep.jobs.len() - missing.len();
    progress.begin(sweep, &missing);
    let pool = Pool {
        jobs: &missing,
        next: AtomicUsize::new(0),
        halted: AtomicBool::new(false),
        results: Mutex::new(Summary { found, ..Summary::default() }),
        failed: Mutex::new(Vec::new()),
    };
    std::thread::scope(|scope| {
        for _ in 0..options.threads.clamp(1, missing.len().max(1)) {
            scope.spawn(|| pool.work(folder, options, run, progress));
        }
    });
    progress.end();
    let mut summary = pool.results.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut failed = pool.failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    failed.sort_by_key(|(number, _)| *number);
    summary.failures = failed.into_iter().map(|(_, failure)| failure).collect();
    summary.left = missing.len() - summary.done - summary.failures.len();
    summary
}

struct Pool<'a> {
    jobs: &'a [&'a Job],
    next: AtomicUsize,
    halted: AtomicBool,
    results: Mutex<Summary>,
    failed: Mutex<Vec<(usize, Failure)>>,
}

impl Pool<'_> {
    fn work(
        &self,
        folder: &ResultsFolder,
        options: &PoolOptions,
        run: &(dyn Fn(&Job) -> Result<RunRecord, String> + Sync),
        progress: &Progress,
    ) {
        while !options.interrupt.is_raised() && !self.halted.load(Ordering::SeqCst) {
            let number = self.next.fetch_add(1, Ordering::SeqCst);
            let Some(job) = self.jobs.get(number) else { return };
            let outcome = catch_unwind(AssertUnwindSafe(|| run(job))).unwrap_or_else(|panic| Err(panic_text(&*panic)));
            match outcome {
                Ok(record) => match folder.save(&record) {
                    Ok(()) => {
                        self.results.lock().unwrap_or_else(PoisonError::into_inner).done += 1;
                        progress.run_done(job, Some(&record));
                    }
                    Err(error) => {
                        // A disk that is full or gone stays so: nothing more can be filed.
                        self.halted.store(true, Ordering::SeqCst);
                        self.results.lock().unwrap_or_else(PoisonError::into_inner).storage = Some(error);
                    }
                },
                Err(reason) => {
                    let failure = Failure { job: job_name(job), reason };
                    progress.failed(&failure);
                    progress.run_done(job, None);
                    self.failed.lock().unwrap_or_else(PoisonError::into_inner).push((number, failure));
                }
            }
        }
    }
}

fn job_name(job: &Job) -> String {
    format!("{}, {}, seed {}", job.identity.scenario, job.identity.algorithm, job.seed)
}

/// What a panic said.
pub(crate) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    format!("panicked: {}", text.unwrap_or("no message"))
}
