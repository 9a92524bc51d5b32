//! Errors of reading a trajectory.

use std::fmt;

/// An invalid trajectory.
///
/// The message names the invalid value and what was expected.
///
/// ```
/// use evalsuite::Outcome;
///
/// let error = Outcome::from_trajectory(r#"{"schema_version": "ATIF-v1.8", "steps": 3}"#).unwrap_err();
/// assert!(error.to_string().contains("steps"), "{error}");
/// ```
#[derive(Debug)]
pub struct TrajectoryError {
    message: String,
    source: Option<serde_json::Error>,
}

impl TrajectoryError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), source: None }
    }

    pub(crate) fn json(error: serde_json::Error) -> Self {
        Self { message: "the trajectory is not valid JSON".to_owned(), source: Some(error) }
    }
}

impl fmt::Display for TrajectoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for TrajectoryError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|error| error as _)
    }
}
