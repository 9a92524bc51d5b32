//! Why a case has no record.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::{fmt, io};

use evalsuite_records::record::Reason;
use evalsuite_schema::{Case, Suite};

use crate::model::suite::{EvalCase, EvalSuite};

/// Why a case could not run, or its result could not be recorded.
#[derive(Debug)]
pub(crate) enum CaseError {
    /// The compiled suite or case, which is named, cannot be decoded.
    Undecodable { what: String, source: serde_json::Error },
    /// A setting does not fit the suite, or files of the suite are missing.
    Unusable(String),
    /// A dependency does not run in the target of the case that depends on it.
    UnknownDependency { case: &'static str, dependency: String, target: String },
    /// The records of the case, or of its suite, cannot be written or read.
    Records { problem: String, source: io::Error },
}

impl CaseError {
    /// `owner` is the case or suite whose records are in the directory.
    pub(crate) fn unwritable(owner: &str, directory: &Path, source: io::Error) -> Self {
        let problem = format!("the records of {owner} cannot be written to {}", directory.display());
        Self::Records { problem, source }
    }
}

/// The data of a suite.
pub(crate) fn decode_suite(suite: &EvalSuite) -> Result<Arc<Suite>, CaseError> {
    suite.data().map_err(|source| CaseError::Undecodable { what: format!("suite `{}`", suite.name), source })
}

/// The data of a case.
pub(crate) fn decode_case(case: &EvalCase) -> Result<Case, CaseError> {
    case.decode().map_err(|source| CaseError::Undecodable { what: format!("case `{}`", case.id), source })
}

impl From<Reason> for CaseError {
    fn from(reason: Reason) -> Self {
        Self::Unusable(reason.message)
    }
}

impl fmt::Display for CaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undecodable { what, source } => write!(f, "{what} cannot be decoded: {source}"),
            Self::Unusable(message) => f.write_str(message),
            Self::UnknownDependency { case, dependency, target } => {
                write!(f, "case `{case}` depends on `{dependency}`, which does not run in target `{target}`")
            }
            Self::Records { problem, source } => write!(f, "{problem}: {source}"),
        }
    }
}

impl Error for CaseError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Undecodable { source, .. } => Some(source),
            Self::Records { source, .. } => Some(source),
            Self::Unusable(_) | Self::UnknownDependency { .. } => None,
        }
    }
}
