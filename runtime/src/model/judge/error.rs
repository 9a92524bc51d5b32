//! The error of a judge.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use evalsuite_records::record::ReasonCode;

use crate::platform::accessors::getters;
use crate::platform::error_chain::{chain, chain_text};

/// Why a judge gave no reply.
///
/// Judges may return errors of any type. This one can also say that a retry is useless, or how long to wait before it; both are
/// recognised through the conversions and contexts of error crates such as `anyhow`.
///
/// ```
/// use std::time::Duration;
///
/// use evalsuite::JudgeError;
///
/// fn error_of(status: u16) -> JudgeError {
///     match status {
///         401 => JudgeError::permanent("the key is not valid"),
///         429 => JudgeError::new("too many requests").with_retry_after(Duration::from_secs(20)),
///         _ => JudgeError::new(format!("status {status}")),
///     }
/// }
///
/// assert!(error_of(401).is_permanent() && !error_of(500).is_permanent());
/// assert_eq!(error_of(429).retry_after(), Some(Duration::from_secs(20)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeError {
    message: String,
    retry: Retry,
    /// Reason code for the record, if it is not [`ReasonCode::JudgeError`].
    code: Option<ReasonCode>,
}

/// Whether and when to retry. It is a source of its own, so that it is found below types that cannot be downcast.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Retry {
    permanent: bool,
    after: Option<Duration>,
}

impl JudgeError {
    /// The judge cannot be reached or is busy; the call is retried.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), retry: Retry::default(), code: None }
    }

    /// The judge will never answer this request; the call is not retried.
    pub fn permanent(message: impl Into<String>) -> Self {
        Self { retry: Retry { permanent: true, after: None }, ..Self::new(message) }
    }

    /// Sets how long to wait before the call is retried.
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        self.retry.after = Some(wait);
        self
    }

    pub(crate) fn with_code(mut self, code: ReasonCode) -> Self {
        self.code = Some(code);
        self
    }

    /// The texts of an error and its sources, each once, and the retry of a `JudgeError` among them.
    pub(crate) fn from_source(error: &(dyn Error + 'static)) -> Self {
        let retry = chain(error).filter_map(|error| error.downcast_ref::<Retry>()).last();
        Self { retry: retry.copied().unwrap_or_default(), ..Self::new(chain_text(error)) }
    }
}

getters! {
    impl JudgeError {
        /// Whether a retry is useless.
        pub fn is_permanent(self) -> bool { self.retry.permanent }

        pub(crate) fn code(self) -> Option<ReasonCode> { self.code }

        /// How long the judge asks to wait before the call is retried.
        pub fn retry_after(self) -> Option<Duration> { self.retry.after }
    }
}

impl fmt::Display for JudgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for JudgeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.retry)
    }
}

impl fmt::Display for Retry {
    /// Empty: the error itself has the message.
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl Error for Retry {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_retry_of_an_error_is_found_through_contexts() {
        let wait = Duration::from_secs(7);
        let error = anyhow::Error::new(JudgeError::new("busy").with_retry_after(wait)).context("judging");
        let boxed: crate::model::outcome::BoxError = error.into();
        let found = JudgeError::from_source(&*boxed);
        assert_eq!(
            (found.to_string().as_str(), found.retry_after(), found.is_permanent()),
            ("judging: busy", Some(wait), false)
        );
        let boxed: crate::model::outcome::BoxError = anyhow::Error::new(JudgeError::permanent("no such model")).into();
        assert!(JudgeError::from_source(&*boxed).is_permanent());
    }
}
