use std::{
    num::NonZeroUsize,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use tokio::sync::oneshot;

use crate::{
    EvalCase, Evals,
    engine::run_case,
    isolate::panic_message,
    place::Places,
    report::{CaseReport, Report},
    run_directory::{RunDirectory, new_run_id},
    settings::Settings,
};

/// How [`Evals::run`] runs a suite. What is not set here is as the `EVALSUITE_*` variables say.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct RunOptions {
    concurrency: Option<NonZeroUsize>,
    filter: Option<String>,
    tags: Vec<String>,
    trials: Option<NonZeroUsize>,
    threshold: Option<f64>,
    run_all: Option<bool>,
    output: Option<PathBuf>,
    run_id: Option<String>,
}

impl RunOptions {
    /// The options of a plain run.
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs at most this many cases at once; by default as many as there are processors.
    pub fn concurrency(mut self, cases: NonZeroUsize) -> Self {
        self.concurrency = Some(cases);
        self
    }

    /// Runs only cases whose id or test name contains a text.
    pub fn filter(mut self, text: impl Into<String>) -> Self {
        self.filter = Some(text.into());
        self
    }

    /// Runs only cases with this tag; with several calls, those that have one of them.
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.push(tag.into());
        self
    }

    /// Sets the number of trials of every case.
    pub fn trials(mut self, trials: NonZeroUsize) -> Self {
        self.trials = Some(trials);
        self
    }

    /// Sets the threshold of every trial, 0 to 1.
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.threshold = Some(threshold);
        self
    }

    /// Whether trials go on when the case is already decided.
    pub fn run_all(mut self, run_all: bool) -> Self {
        self.run_all = Some(run_all);
        self
    }

    /// Sets the directory below which records are written.
    pub fn output(mut self, directory: impl Into<PathBuf>) -> Self {
        self.output = Some(directory.into());
        self
    }

    /// Sets the id of the run; by default a new one.
    pub fn run_id(mut self, id: impl Into<String>) -> Self {
        self.run_id = Some(id.into());
        self
    }

    fn selects(&self, evals: &Evals, case: &EvalCase) -> bool {
        let named = self.filter.as_ref().is_none_or(|text| {
            case.id.contains(text.as_str()) || evals.suite().test_path(case).contains(text.as_str())
        });
        named && (self.tags.is_empty() || case.tags.iter().any(|tag| self.tags.iter().any(|wanted| wanted == tag)))
    }

    fn apply(&self, settings: &Settings) -> Result<Settings, String> {
        let mut settings = settings.clone();
        if let Some(trials) = self.trials {
            let count = u32::try_from(trials.get()).ok().filter(|count| *count <= 1000);
            settings.trials = Some(count.ok_or_else(|| format!("{trials} trials are more than 1000"))?);
        }
        if let Some(threshold) = self.threshold {
            if !(0.0..=1.0).contains(&threshold) {
                return Err(format!("the threshold {threshold} is not a number from 0 to 1"));
            }
            settings.threshold = Some(threshold);
        }
        settings.run_all = self.run_all.unwrap_or(settings.run_all);
        settings.output = self.output.clone().or(settings.output);
        settings.run_id = self.run_id.clone().or(settings.run_id);
        Ok(settings)
    }
}

/// Why a suite could not be run at all.
#[derive(Debug)]
pub struct RunError(String);

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
        let run_id = match &settings.run_id {
            Some(_) => crate::run_directory::run_id(&settings),
            None => new_run_id(),
        };
        let run = RunDirectory::new(&settings, &Places::of(self.suite()), run_id.clone()).map_err(RunError)?;
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
        });
        let _stop = StopOnDrop(Arc::clone(&work));
        let mut finished = Vec::new();
        for _ in 0..threads {
            let (sender, receiver) = oneshot::channel::<()>();
            let work = Arc::clone(&work);
            thread::Builder::new()
                .name("evalsuite".to_owned())
                .spawn(move || {
                    work.run();
                    drop(sender);
                })
                .map_err(|error| RunError(format!("cannot start a thread: {error}")))?;
            finished.push(receiver);
        }
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
        Ok(Report::new(self.suite(), run_id, reports, problems))
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
}

impl Work {
    fn run(&self) {
        while !self.stopped.load(Ordering::SeqCst) {
            let index = self.next.fetch_add(1, Ordering::SeqCst);
            let Some(case) = self.cases.get(index) else { return };
            let result = catch_unwind(AssertUnwindSafe(|| run_case(&self.evals, case, &self.settings, &self.run)))
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
