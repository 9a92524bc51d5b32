//! Errors of runs, and tests that fail because of one.

use std::error::Error;
use std::fmt;

use crate::model::outcome::BoxError;
use crate::platform::errors::{SettingError, chain};
use crate::platform::redaction::without_secrets;
use crate::run::case_report::CaseError;

/// Why a suite could not be run, measured or finished.
///
/// The message does not contain the [`source`](Error::source).
///
/// ```
/// use evalsuite::{Evals, RunError, RunErrorKind, RunOptions};
///
/// # async fn example(evals: Evals) -> Result<(), RunError> {
/// match evals.run(&RunOptions::new()).await {
///     Ok(report) => println!("{report}"),
///     Err(error) if error.kind() == RunErrorKind::InvalidSetting => eprintln!("check the EVALSUITE_* variables: {error}"),
///     Err(error) => return Err(error),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct RunError {
    kind: RunErrorKind,
    message: String,
    source: Option<BoxError>,
}

/// The kinds of a [`RunError`].
///
/// ```
/// use evalsuite::{RunError, RunErrorKind};
///
/// /// Whether the same run may succeed later without a change.
/// fn is_worth_a_retry(error: &RunError) -> bool {
///     matches!(error.kind(), RunErrorKind::Records | RunErrorKind::Thread)
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RunErrorKind {
    /// An option or environment variable has an invalid value.
    InvalidSetting,
    /// Records of the run cannot be read or written.
    Records,
    /// A case or calibration in the compiled suite cannot be decoded.
    Suite,
    /// The suite has no calibration, or there is no judge to measure.
    NothingToMeasure,
    /// A thread cannot be started, or has panicked.
    Thread,
}

impl RunError {
    pub(crate) fn new(kind: RunErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    pub(crate) fn setting(message: impl Into<String>) -> Self {
        Self::new(RunErrorKind::InvalidSetting, message)
    }

    pub(crate) fn records(message: impl Into<String>) -> Self {
        Self::new(RunErrorKind::Records, message)
    }

    pub(crate) fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// What kept the suite from running.
    pub fn kind(&self) -> RunErrorKind {
        self.kind
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for RunError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}

impl From<SettingError> for RunError {
    fn from(error: SettingError) -> Self {
        Self::setting(error.to_string())
    }
}

impl From<&SettingError> for RunError {
    fn from(error: &SettingError) -> Self {
        Self::setting(error.to_string())
    }
}

impl From<CaseError> for RunError {
    fn from(error: CaseError) -> Self {
        match error {
            CaseError::Unusable(problem) => Self::new(RunErrorKind::Suite, problem),
            CaseError::Records(problem) => Self::records(problem),
        }
    }
}

/// An error with its sources on one line.
pub(crate) fn with_sources(error: &RunError) -> String {
    chain(error).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

pub(crate) fn setup_error(error: &RunError) -> String {
    let place = match error.kind() {
        RunErrorKind::InvalidSetting => "setup/invalid_setting",
        _ => "setup",
    };
    evaluation_error(place, with_sources(error))
}

pub(crate) fn evaluation_error(place: &str, message: impl std::fmt::Display) -> String {
    format!("evaluation error ({place}): {message}")
}

/// Fails the test with a text. The note and backtrace of a panic are left out: they do not help with the case.
pub(crate) fn fail(text: String) -> ! {
    let text = without_secrets(&text).into_owned();
    eprintln!("{}", text.trim_end());
    std::panic::resume_unwind(Box::new(text))
}
