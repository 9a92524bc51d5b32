//! The report of a run outside of tests.

use std::fmt;

use evalsuite_records::record::{Status, SuiteSummary};
use evalsuite_schema::Object;

use crate::model::suite::EvalSuite;
use crate::platform::accessors::getters;
use crate::record::summary::{self, SummaryText, SummedCase};
use crate::run::case_report::CaseReport;

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
    pub(crate) suite: &'static EvalSuite,
    pub(crate) run_id: String,
    pub(crate) cases: Vec<CaseReport>,
    pub(crate) problems: Vec<String>,
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
