//! The result of a test's case.

use std::path::{Path, PathBuf};

use evalsuite_records::record::{CaseRecord, Status, TrialRecord};
use evalsuite_schema::Object;
use evalsuite_schema::json::FromJson;

use crate::model::suite::{EvalCase, EvalSuite};
use crate::platform::accessors::getters;
use crate::platform::redaction::Redactor;

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
