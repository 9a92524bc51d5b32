//! Why a case has no record.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::{fmt, io};

use evalsuite_records::record::Reason;
use evalsuite_schema::{Case, Suite};

use crate::model::suite::{EvalCase, EvalSuite};

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
