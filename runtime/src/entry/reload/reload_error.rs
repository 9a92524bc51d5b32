//! Why a suite cannot be loaded again.

use std::fmt;

use crate::entry::run_error::{RunError, RunErrorKind};

/// Why a suite cannot be loaded again.
#[derive(Debug)]
pub(crate) enum ReloadError {
    /// `evalsuite` was built without its feature `reload`.
    #[cfg(not(feature = "reload"))]
    FeatureMissing,
    /// The suite was put together by hand.
    #[cfg(feature = "reload")]
    NotGenerated { suite: &'static str },
    /// The case of the test is not in the suite any more.
    #[cfg(feature = "reload")]
    CaseMissing { root: &'static str, test: String },
    /// The files of the suite have problems, which are shown as a build shows them.
    #[cfg(feature = "reload")]
    Problems { entry: &'static str, report: String },
    /// What was loaded cannot be written as JSON.
    #[cfg(feature = "reload")]
    Json(serde_json::Error),
}

impl fmt::Display for ReloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            #[cfg(not(feature = "reload"))]
            Self::FeatureMissing => f.write_str(
                "EVALSUITE_RELOAD is set, but `evalsuite` was built without its feature `reload`\n\
                 help: add `features = [\"reload\"]` to the dependency in Cargo.toml",
            ),
            #[cfg(feature = "reload")]
            Self::NotGenerated { suite } => write!(
                f,
                "the suite `{suite}` was not built by `include_eval_suite!` or `generate`, so EVALSUITE_RELOAD cannot read it again"
            ),
            #[cfg(feature = "reload")]
            Self::CaseMissing { root, test } => {
                write!(f, "`{root}` has no case for the test `{test}` any more\nhelp: build again")
            }
            #[cfg(feature = "reload")]
            Self::Problems { entry, report } => write!(f, "`{entry}` changed since the build\n\n{report}"),
            #[cfg(feature = "reload")]
            Self::Json(error) => write!(f, "the suite cannot be written as JSON: {error}"),
        }
    }
}

impl From<ReloadError> for RunError {
    fn from(error: ReloadError) -> Self {
        let kind = match error {
            #[cfg(not(feature = "reload"))]
            ReloadError::FeatureMissing => RunErrorKind::InvalidSetting,
            #[cfg(feature = "reload")]
            _ => RunErrorKind::Suite,
        };
        Self::new(kind, error.to_string())
    }
}
