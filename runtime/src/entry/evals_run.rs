use std::{
    num::NonZeroUsize,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use tokio::sync::oneshot;

use crate::{
    entry::{report::Report, run_options::RunOptions},
    model::{evals::Evals, suite::EvalCase, suite_location::SuiteLocation},
    platform::{isolated_call::panic_message, notice},
    record::run_directory::{RunDirectory, new_run_id, run_id},
    run::{Session, case_report::CaseReport, run_case, settings::Settings},
};

/// Why a suite could not be run at all.
#[derive(Debug)]
pub struct RunError(String);

impl RunError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RunError {}

impl Evals {
    /// Runs the suite, or the part of it the options choose, and writes its records.
    ///
    /// Cases run on threads of their own, so neither the agent's futures need to be `Send`, nor does an agent that
    /// blocks hold up the others. The future needs no particular runtime; dropping it starts no further case.
    ///
    /// # Errors
    ///
    /// If an option or variable has a value that makes no sense. Whatever happens to a case is in the report.
    pub async fn run(&self, options: &RunOptions) -> Result<Report, RunError> {
        let environment = Settings::from_environment().map_err(|error| RunError(error.to_owned()))?;
        let settings = options.apply(environment).map_err(RunError)?;
        let id = match &settings.run_id {
            Some(_) => run_id(settings.run_id()),
            None => new_run_id(),
        };
        let run = RunDirectory::new(settings.output.as_deref(), &SuiteLocation::of(self.suite()), id.clone())
            .map_err(RunError)?;
        let cases: Vec<&'static EvalCase> =
            self.suite().cases.iter().filter(|case| options.selects(self, case)).collect();
        let threads = options
            .concurrency
            .or_else(|| thread::available_parallelism().ok())
            .map_or(1, NonZeroUsize::get)
            .min(cases.len());
        let work = Arc::new(Work {
            evals: self.clone(),
            settings,
            run,
            results: Mutex::new(cases.iter().map(|_| None).collect()),
            cases,
            next: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            // This function is one of them until all threads are started.
            running: AtomicUsize::new(1),
        });
        let _stop = StopOnDrop(Arc::clone(&work));
        let starting = Worker(Arc::clone(&work));
        let mut finished = Vec::new();
        for _ in 0..threads {
            let (sender, receiver) = oneshot::channel::<()>();
            let worker = Worker::new(&work);
            thread::Builder::new()
                .name("evalsuite".to_owned())
                .spawn(move || {
                    worker.0.run();
                    drop(worker);
                    drop(sender);
                })
                .map_err(|error| RunError(format!("cannot start a thread: {error}")))?;
            finished.push(receiver);
        }
        drop(starting);
        for receiver in finished {
            // A thread says that it is done by dropping its sender.
            let _ = receiver.await;
        }
        let results = std::mem::take(&mut *work.results.lock().unwrap_or_else(PoisonError::into_inner));
        let mut reports = Vec::new();
        let mut problems = Vec::new();
        for result in results {
            match result {
                Some(Ok(report)) => reports.push(report),
                Some(Err(problem)) => problems.push(problem),
                None => problems.push("a case was not run".to_owned()),
            }
        }
        Ok(Report::new(self.suite(), id, reports, problems))
    }
}

struct Work {
    evals: Evals,
    settings: Settings,
    run: RunDirectory,
    cases: Vec<&'static EvalCase>,
    results: Mutex<Vec<Option<Result<CaseReport, String>>>>,
    next: AtomicUsize,
    stopped: AtomicBool,
    /// Threads that have not ended.
    running: AtomicUsize,
}

/// One of the threads that run cases. The last one to end runs what the suite wants to be run after all of them, also
/// where nobody waits for the report any more.
struct Worker(Arc<Work>);

impl Worker {
    fn new(work: &Arc<Work>) -> Self {
        work.running.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(work))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let work = &self.0;
        if work.running.fetch_sub(1, Ordering::SeqCst) == 1 {
            for problem in Session::end_of(work.evals.suite(), &work.settings, &work.run) {
                notice::say(&problem);
            }
        }
    }
}

impl Work {
    fn run(&self) {
        while !self.stopped.load(Ordering::SeqCst) {
            let index = self.next.fetch_add(1, Ordering::SeqCst);
            let Some(case) = self.cases.get(index) else { return };
            let run = || run_case(&self.evals, case, &self.settings, &self.run).map_err(|error| error.to_string());
            let result = catch_unwind(AssertUnwindSafe(run))
                .unwrap_or_else(|payload| Err(format!("case `{}`: {}", case.id, panic_message(&*payload))));
            let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(place) = results.get_mut(index) {
                *place = Some(result);
            }
        }
    }
}

struct StopOnDrop(Arc<Work>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stopped.store(true, Ordering::SeqCst);
    }
}
