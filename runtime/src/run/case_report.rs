//! The result of a test's case, or why it has none.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, io};

use evalsuite_records::record::{CaseRecord, Reason, Status, TrialRecord};
use evalsuite_schema::json::{FromJson, ToJson};
use evalsuite_schema::{Case, Object, Suite};

use crate::model::suite::{EvalCase, EvalSuite};
use crate::platform::accessors::getters;
use crate::platform::redaction::Redactor;

/// Codes of notes about what follows a decided trial: its hooks, and resets of the workspace for them.
pub(crate) const HOOK_FAILED: &str = "hook_failed";
pub(crate) const RESET_FAILED: &str = "reset_failed";

/// Precedes the path of the log in the message of a hook.
pub(crate) const LOG: &str = " (log: ";

/// The result of one case. It is displayed as the text of a failed test.
///
/// ```
/// use evalsuite::{Status, Report};
///
/// /// One line per case that did not pass.
/// fn failures(report: &Report) -> Vec<String> {
///     let failed = report.cases().iter().filter(|case| case.status() != Status::Passed);
///     failed.map(|case| format!("{}: {}", case.case().id(), case.directory().display())).collect()
/// }
/// ```
#[derive(Debug, Clone)]
pub struct CaseReport {
    pub(crate) suite: &'static EvalSuite,
    pub(crate) case: &'static EvalCase,
    pub(crate) record: CaseRecord,
    pub(crate) trials: Vec<TrialRecord>,
    pub(crate) directory: PathBuf,
    pub(crate) redactor: Redactor,
}

impl CaseReport {
    /// Whether its test fails: see [`CaseRecord::fails_test`].
    pub fn fails_test(&self) -> bool {
        self.record.fails_test()
    }

    /// The case's metadata, as it is written.
    pub(crate) fn metadata(&self) -> Object {
        #[derive(FromJson)]
        struct Written {
            #[json(default)]
            metadata: Object,
        }
        // A case that cannot be decoded has no report.
        evalsuite_schema::json::from_str::<Written>(self.case.json.text())
            .map(|written| written.metadata)
            .unwrap_or_default()
    }

    /// The text without secrets.
    pub(crate) fn redacted(&self, text: &str) -> String {
        self.redactor.apply(text).into_owned()
    }
}

getters! {
    impl CaseReport {
        /// The case.
        pub fn case(self) -> &'static EvalCase { self.case }

        /// How it ended.
        pub fn status(self) -> Status { self.record.outcome }

        /// The case's record.
        pub fn record(self) -> &CaseRecord { &self.record }

        /// The records of its trials, in order.
        pub fn trials(self) -> &[TrialRecord] { &self.trials }

        /// Directory with the records and other files of the trials.
        pub fn directory(self) -> &Path { &self.directory }
    }
}

/// Why a case could not run or the judges of a suite could not be measured, or why the result could not be recorded.
#[derive(Debug)]
pub(crate) enum CaseError {
    /// The compiled suite, its files or a setting cannot be used.
    Unusable(String),
    /// Records cannot be written or read.
    Records(String),
}

impl CaseError {
    /// `owner` is the case or suite whose records are in the directory.
    pub(crate) fn unwritable(owner: &str, directory: &Path, error: io::Error) -> Self {
        Self::Records(format!("the records of {owner} cannot be written to {}: {error}", directory.display()))
    }

    pub(crate) fn unusable(error: impl fmt::Display) -> Self {
        Self::Unusable(error.to_string())
    }
}

/// The data of a suite.
pub(crate) fn decode_suite(suite: &EvalSuite) -> Result<Arc<Suite>, CaseError> {
    suite.data().map_err(|error| CaseError::Unusable(format!("suite `{}` cannot be decoded: {error}", suite.name)))
}

/// The data of a case.
pub(crate) fn decode_case(case: &EvalCase) -> Result<Case, CaseError> {
    case.decode().map_err(|error| CaseError::Unusable(format!("case `{}` cannot be decoded: {error}", case.id)))
}

impl From<Reason> for CaseError {
    fn from(reason: Reason) -> Self {
        Self::Unusable(reason.message)
    }
}

impl fmt::Display for CaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Unusable(problem) | Self::Records(problem)) = self;
        f.write_str(problem)
    }
}

impl Error for CaseError {}

/// How a trial ended.
#[derive(Debug, Clone, ToJson, FromJson)]
pub(crate) struct TrialResult {
    pub(crate) outcome: Status,
    pub(crate) score: Option<f64>,
    /// The answer, as far as the record has it; `None` where the agent gave none.
    pub(crate) answer: Option<String>,
}
