//! [`Evals::run`]: runs a suite outside of tests, with a report.

use std::fmt;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use evalsuite_records::record::{Status, SuiteSummary};
use evalsuite_schema::Object;
use tokio::sync::oneshot::{self, Sender};

use crate::entry::reload;
use crate::entry::run_error::{RunError, RunErrorKind};
use crate::entry::run_options::RunOptions;
use crate::model::evals::Evals;
use crate::model::suite::{EvalCase, EvalSuite};
use crate::platform::accessors::getters;
use crate::platform::isolated_call::panic_message;
use crate::platform::map_on_threads::map_on_threads;
use crate::platform::notice;
use crate::record::run_directory::RunDirectory;
use crate::record::summary::{self, SummaryText, SummedCase};
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
        let selects = |evals: &Evals, case: &EvalCase| options.selects(evals, case);
        let (evals, gone) = reload::whole_suite_of_run(self.clone(), &run.settings, &run.directory, selects)?;
        let cases: Vec<_> = evals.suite().cases.iter().filter(|case| options.selects(&evals, case)).collect();
        let mut report =
            on_thread("runs the cases", move |report| run.finish(&evals, &cases, &|| report.is_closed())).await?;
        report.problems.extend(gone);
        Ok(report)
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

    /// Runs these cases of the suite, until `is_stopped`, and then the hooks after all tests.
    pub(crate) fn finish(
        self,
        evals: &Evals,
        cases: &[&'static EvalCase],
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Report {
        let Self { settings, directory: run, concurrency } = self;
        let threads = concurrency.map(|threads| u32::try_from(threads.get()).unwrap_or(u32::MAX));
        let results = map_on_threads(cases, threads, |case| {
            let run = || run_case(evals, case, &settings, &run).map_err(|error| error.to_string());
            let run = || catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| Err(panicked(case, &*payload)));
            (!is_stopped()).then(run)
        });
        let problems_of_hooks = Session::end_of(evals.suite(), &settings, &run);
        problems_of_hooks.iter().for_each(|problem| notice::say(problem));
        let (mut reports, mut problems) = (Vec::new(), Vec::new());
        for result in results.into_iter().flatten() {
            match result {
                Ok(report) => reports.push(report),
                Err(problem) => problems.push(problem),
            }
        }
        Report { suite: evals.suite(), run_id: run.run_id, cases: reports, problems }
    }
}

fn panicked(case: &EvalCase, payload: &(dyn std::any::Any + Send)) -> String {
    format!("case `{}`: {}", case.id, panic_message(payload))
}

/// The result of work on a thread of its own. The thread is not waited for if the future is dropped; then the sender that the work
/// gets is closed.
pub(crate) async fn on_thread<T: Send + 'static>(
    what_it_does: &str,
    work: impl FnOnce(&Sender<T>) -> T + Send + 'static,
) -> Result<T, RunError> {
    let of_thread = |message: String| RunError::new(RunErrorKind::Thread, message);
    let (sender, receiver) = oneshot::channel();
    let started = thread::Builder::new().name("evalsuite".to_owned()).spawn(move || {
        let result = work(&sender);
        // The receiver may have been dropped.
        let _ = sender.send(result);
    });
    started.map_err(|error| of_thread("cannot start a thread".to_owned()).with_source(error))?;
    receiver.await.map_err(|_| of_thread(format!("the thread that {what_it_does} panicked")))
}

/// Result of [`Evals::run`](crate::Evals::run): the cases that were run or skipped. Its `Display` form is a summary
/// with the failures.
///
/// ```
/// use evalsuite::{Status, Report};
///
/// fn show(report: &Report) {
///     println!("run {}: {} passed", report.run_id(), report.count(Status::Passed));
///     for case in report.cases().iter().filter(|case| case.status() == Status::Failed) {
///         println!("{} scored {:?}, see {}", case.case().id(), case.record().score, case.directory().display());
///     }
///     for target in &report.summary().targets {
///         println!("{}: {:?} of the cases pass", target.target, target.case_pass_rate);
///     }
/// }
/// ```
#[derive(Debug)]
pub struct Report {
    suite: &'static EvalSuite,
    run_id: String,
    cases: Vec<CaseReport>,
    problems: Vec<String>,
}

impl Report {
    /// Number of cases with this outcome.
    pub fn count(&self, outcome: Status) -> usize {
        self.cases.iter().filter(|case| case.status() == outcome).count()
    }

    /// Whether every case passed, was skipped, or failed as the baseline of its suite expects, and all cases were recorded.
    pub fn is_success(&self) -> bool {
        self.problems.is_empty() && !self.cases.iter().any(CaseReport::fails_test)
    }
}

getters! {
    impl Report {
        /// Id of the run.
        pub fn run_id(self) -> &str { &self.run_id }

        /// The cases that were run or skipped, in the suite's order.
        pub fn cases(self) -> &[CaseReport] { &self.cases }

        /// Errors that kept cases from being recorded: these cases are missing in [`cases`](Self::cases).
        pub fn problems(self) -> &[String] { &self.problems }
    }
}

impl Report {
    /// The aggregates of the run per target: pass rates, mean score with its confidence interval, pass@k and pass^k,
    /// means of graders, groups of cases, usage, cost and durations. The `summary.json` of a run has the same for each of its
    /// suites.
    pub fn summary(&self) -> SuiteSummary {
        let mut summary = SuiteSummary::new();
        summary.run_id = self.run_id.clone();
        summary.suite = self.suite.name.to_owned();
        let metadata: Vec<Object> = self.cases.iter().map(CaseReport::metadata).collect();
        let cases = self.cases.iter().zip(&metadata);
        let cases = cases.map(|(case, metadata)| SummedCase { record: case.record(), trials: case.trials(), metadata });
        summary.targets = summary::by_target(&cases.collect::<Vec<_>>());
        summary.problems = self.problems.clone();
        summary.cases = self.cases.iter().map(|case| case.record().clone()).collect();
        summary
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", SummaryText::new(&self.summary()))?;
        for case in self.cases.iter().filter(|case| case.fails_test()) {
            for line in case.to_string().lines() {
                writeln!(f, "  {line}")?;
            }
        }
        self.problems.iter().try_for_each(|problem| writeln!(f, "  evaluation error: {problem}"))
    }
}
