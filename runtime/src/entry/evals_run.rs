//! [`Evals::run`]: runs a suite outside of tests.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use tokio::sync::oneshot;

use crate::entry::reload;
use crate::entry::report::Report;
use crate::entry::run_error::{RunError, RunErrorKind};
use crate::entry::run_options::RunOptions;
use crate::model::evals::Evals;
use crate::model::suite::EvalCase;
use crate::platform::isolated_call::panic_message;
use crate::platform::notice;
use crate::record::run_directory::RunDirectory;
use crate::run::case::run_case;
use crate::run::case_report::CaseReport;
use crate::run::session::Session;
use crate::run::settings::Settings;

impl Evals {
    /// Runs the cases that the options select, and writes their records.
    ///
    /// Each case runs on its own thread: futures of agents need not be `Send`, and an agent that blocks does not block
    /// other cases. The returned future works on any runtime. After it is dropped, no further case starts.
    ///
    /// ```no_run
    /// # async fn example(evals: evalsuite::Evals) -> Result<(), evalsuite::RunError> {
    /// use evalsuite::{Status, RunOptions};
    ///
    /// let report = evals.run(&RunOptions::new().with_tag("smoke").with_budget_usd(2.0)).await?;
    /// println!("{report}");
    /// assert!(report.is_success(), "{} cases failed", report.count(Status::Failed));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If an option or variable is invalid. Errors of a case are in the report.
    pub async fn run(&self, options: &RunOptions) -> Result<Report, RunError> {
        let run = RunCases::new(self, options)?;
        let evals = reload::whole_suite(self.clone(), &run.settings)?;
        let cases = evals.suite().cases.iter().filter(|case| options.selects(&evals, case)).collect();
        run.finish(evals, cases).await
    }
}

/// A run of cases of a suite.
pub(crate) struct RunCases {
    settings: Settings,
    directory: RunDirectory,
    concurrency: Option<NonZeroUsize>,
}

impl RunCases {
    /// Begins a run.
    pub(crate) fn new(evals: &Evals, options: &RunOptions) -> Result<Self, RunError> {
        let settings = options.apply(Settings::from_environment()?)?;
        let directory = settings.own_run(evals.suite())?;
        Ok(Self { settings, directory, concurrency: options.concurrency })
    }

    /// Runs these cases of the suite to their end.
    pub(crate) async fn finish(self, evals: Evals, cases: Vec<&'static EvalCase>) -> Result<Report, RunError> {
        let Self { settings, directory: run, concurrency } = self;
        let threads =
            concurrency.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get).min(cases.len());
        let queue = Arc::new(CaseQueue {
            evals,
            settings,
            run,
            results: Mutex::new(cases.iter().map(|_| None).collect()),
            cases,
            next: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            // This function counts as one of them until all threads are started.
            running: AtomicUsize::new(1),
        });
        let _stop = StopOnDrop(Arc::clone(&queue));
        let starting = Worker(Arc::clone(&queue));
        let mut finished = Vec::new();
        for _ in 0..threads {
            let (sender, receiver) = oneshot::channel::<()>();
            let worker = Worker::new(&queue);
            start_thread(move || {
                worker.0.run();
                drop(worker);
                drop(sender);
            })?;
            finished.push(receiver);
        }
        drop(starting);
        for receiver in finished {
            // A thread drops its sender when it has ended.
            let _ = receiver.await;
        }
        let results = std::mem::take(&mut *queue.results.lock().unwrap_or_else(PoisonError::into_inner));
        let mut reports = Vec::new();
        let mut problems = Vec::new();
        for result in results {
            match result {
                Some(Ok(report)) => reports.push(report),
                Some(Err(problem)) => problems.push(problem),
                None => problems.push("a case was not run".to_owned()),
            }
        }
        let (suite, run_id) = (queue.evals.suite(), queue.run.run_id.clone());
        Ok(Report { suite, run_id, cases: reports, problems })
    }
}

/// Starts a thread that is not waited for.
pub(crate) fn start_thread(work: impl FnOnce() + Send + 'static) -> Result<(), RunError> {
    let started = thread::Builder::new().name("evalsuite".to_owned()).spawn(work);
    started.map(drop).map_err(|error| RunError::new(RunErrorKind::Thread, "cannot start a thread").with_source(error))
}

/// The cases of a run, and their results.
struct CaseQueue {
    evals: Evals,
    settings: Settings,
    run: RunDirectory,
    cases: Vec<&'static EvalCase>,
    results: Mutex<Vec<Option<Result<CaseReport, String>>>>,
    next: AtomicUsize,
    stopped: AtomicBool,
    /// Number of threads that have not ended.
    running: AtomicUsize,
}

/// One of the threads that run cases. The last one to end runs the hooks after all tests, even if the future of the report was
/// dropped.
struct Worker(Arc<CaseQueue>);

impl Worker {
    fn new(queue: &Arc<CaseQueue>) -> Self {
        queue.running.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(queue))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let queue = &self.0;
        if queue.running.fetch_sub(1, Ordering::SeqCst) == 1 {
            let problems = Session::end_of(queue.evals.suite(), &queue.settings, &queue.run);
            problems.iter().for_each(|problem| notice::say(problem));
        }
    }
}

impl CaseQueue {
    fn run(&self) {
        while !self.stopped.load(Ordering::SeqCst) {
            let index = self.next.fetch_add(1, Ordering::SeqCst);
            let Some(case) = self.cases.get(index) else { return };
            let run = || run_case(&self.evals, case, &self.settings, &self.run).map_err(|error| error.to_string());
            let result = catch_unwind(AssertUnwindSafe(run))
                .unwrap_or_else(|payload| Err(format!("case `{}`: {}", case.id, panic_message(&*payload))));
            let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(slot) = results.get_mut(index) {
                *slot = Some(result);
            }
        }
    }
}

struct StopOnDrop(Arc<CaseQueue>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stopped.store(true, Ordering::SeqCst);
    }
}
