use std::{
    fmt,
    path::{Path, PathBuf},
};

use evalsuite_schema::record::{CaseOutcome, CaseRecord, TrialRecord};

use crate::{EvalCase, EvalSuite, failure, redaction::Redactor};

/// What a run of a suite came to.
#[derive(Debug)]
pub struct Report {
    suite: &'static EvalSuite,
    run_id: String,
    cases: Vec<CaseReport>,
    problems: Vec<String>,
}

impl Report {
    pub(crate) fn new(
        suite: &'static EvalSuite,
        run_id: String,
        cases: Vec<CaseReport>,
        problems: Vec<String>,
    ) -> Self {
        Self { suite, run_id, cases, problems }
    }

    /// Id of the run.
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// The cases that were run or skipped, in the suite's order.
    pub fn cases(&self) -> &[CaseReport] {
        &self.cases
    }

    /// What kept cases from being recorded at all: they are missing in [`cases`](Self::cases).
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// Number of cases that ended like this.
    pub fn count(&self, outcome: CaseOutcome) -> usize {
        self.cases.iter().filter(|case| case.outcome() == outcome).count()
    }

    /// Whether every case passed or was skipped, and all were recorded.
    pub fn is_success(&self) -> bool {
        let good = |case: &CaseReport| matches!(case.outcome(), CaseOutcome::Passed | CaseOutcome::Skipped);
        self.problems.is_empty() && self.cases.iter().all(good)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |outcome| self.count(outcome);
        writeln!(
            f,
            "{}: {} passed, {} failed, {} error, {} skipped",
            self.suite.name,
            count(CaseOutcome::Passed),
            count(CaseOutcome::Failed),
            count(CaseOutcome::Error) + self.problems.len(),
            count(CaseOutcome::Skipped),
        )?;
        for case in &self.cases {
            match case.outcome() {
                CaseOutcome::Passed => {}
                CaseOutcome::Skipped => {
                    writeln!(f, "  skipped  {}: {}", case.record.case_id, case.skip_reason().unwrap_or_default())?;
                }
                CaseOutcome::Failed | CaseOutcome::Error => {
                    for line in case.to_string().lines() {
                        writeln!(f, "  {line}")?;
                    }
                }
            }
        }
        self.problems.iter().try_for_each(|problem| writeln!(f, "  evaluation error: {problem}"))
    }
}

/// What one case came to. It is shown as a failing test shows it.
#[derive(Debug)]
pub struct CaseReport {
    suite: &'static EvalSuite,
    case: &'static EvalCase,
    record: CaseRecord,
    trials: Vec<TrialRecord>,
    directory: PathBuf,
    redactor: Redactor,
}

impl CaseReport {
    pub(crate) fn new(
        suite: &'static EvalSuite,
        case: &'static EvalCase,
        record: CaseRecord,
        trials: Vec<TrialRecord>,
        directory: PathBuf,
        redactor: Redactor,
    ) -> Self {
        Self { suite, case, record, trials, directory, redactor }
    }

    /// The case.
    pub fn case(&self) -> &'static EvalCase {
        self.case
    }

    /// How it ended.
    pub fn outcome(&self) -> CaseOutcome {
        self.record.outcome
    }

    /// The case's record.
    pub fn record(&self) -> &CaseRecord {
        &self.record
    }

    /// The records of its trials, in order.
    pub fn trials(&self) -> &[TrialRecord] {
        &self.trials
    }

    /// Directory with the records and everything else the trials left.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    pub(crate) fn suite(&self) -> &'static EvalSuite {
        self.suite
    }

    /// Why it was skipped.
    pub(crate) fn skip_reason(&self) -> Option<&str> {
        let reason = self.record.reason.as_ref()?;
        (self.outcome() == CaseOutcome::Skipped).then_some(reason.message.as_str())
    }
}

impl fmt::Display for CaseReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.redactor.apply(&failure::describe(self)))
    }
}
