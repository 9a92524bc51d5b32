//! Why a case has no record.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{fmt, io};

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
    Records { owner: String, directory: PathBuf, source: io::Error },
}

impl CaseError {
    pub(crate) fn undecodable_suite(suite: &EvalSuite, source: serde_json::Error) -> Self {
        Self::Undecodable { what: format!("suite `{}`", suite.name), source }
    }

    pub(crate) fn undecodable_case(case: &EvalCase, source: serde_json::Error) -> Self {
        Self::Undecodable { what: format!("case `{}`", case.id), source }
    }

    pub(crate) fn unwritable_case(case: &EvalCase, directory: &Path, source: io::Error) -> Self {
        Self::Records { owner: format!("case `{}`", case.id), directory: directory.to_owned(), source }
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
            Self::Records { owner, directory, source } => {
                write!(f, "the records of {owner} cannot be written to {}: {source}", directory.display())
            }
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
