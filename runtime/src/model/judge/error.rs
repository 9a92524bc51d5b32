use std::{error::Error, fmt, time::Duration};

use evalsuite_schema::record::ReasonCode;

/// Why a judge gave no reply.
///
/// Judges may return errors of any type. This one can also say that asking again is useless, or when to ask again; it is
/// recognised through conversions and contexts of error crates such as `anyhow`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeError {
    message: String,
    hint: Hint,
    /// What a record says happened, if not that the judge broke.
    code: Option<ReasonCode>,
}

/// What to do about an error. A source of its own, so that it is found below types that cannot be downcast.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Hint {
    permanent: bool,
    retry_after: Option<Duration>,
}

impl JudgeError {
    /// The judge cannot be reached, or is busy: it is asked again.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: Hint::default(), code: None }
    }

    /// The judge will not answer this request however often it is asked.
    pub fn permanent(message: impl Into<String>) -> Self {
        Self { hint: Hint { permanent: true, retry_after: None }, ..Self::new(message) }
    }

    /// How long the judge asks to be left alone.
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.hint.retry_after = Some(wait);
        self
    }

    /// Whether asking again is useless.
    pub fn is_permanent(&self) -> bool {
        self.hint.permanent
    }

    pub(crate) fn with_code(mut self, code: ReasonCode) -> Self {
        self.code = Some(code);
        self
    }

    pub(crate) fn code(&self) -> Option<ReasonCode> {
        self.code
    }

    pub(crate) fn wait(&self) -> Option<Duration> {
        self.hint.retry_after
    }

    /// The text of an error with those of its sources, each once; and what a `JudgeError` among them says.
    pub(crate) fn from_source(error: &(dyn Error + 'static)) -> Self {
        let mut result = Self::new("");
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(hint) = error.downcast_ref::<Hint>() {
                result.hint = *hint;
            }
            let message = error.to_string();
            if !result.message.contains(&message) {
                if !result.message.is_empty() {
                    result.message.push_str(": ");
                }
                result.message.push_str(&message);
            }
            next = error.source();
        }
        result
    }
}

impl fmt::Display for JudgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for JudgeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.hint)
    }
}

impl fmt::Display for Hint {
    /// Nothing that the error itself does not say.
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl Error for Hint {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_error_says_is_found_through_contexts() {
        let wait = Duration::from_secs(7);
        let error = anyhow::Error::new(JudgeError::new("busy").retry_after(wait)).context("judging");
        let boxed: crate::model::outcome::BoxError = error.into();
        let found = JudgeError::from_source(&*boxed);
        assert_eq!(
            (found.to_string().as_str(), found.wait(), found.is_permanent()),
            ("judging: busy", Some(wait), false)
        );
        let boxed: crate::model::outcome::BoxError = anyhow::Error::new(JudgeError::permanent("no such model")).into();
        assert!(JudgeError::from_source(&*boxed).is_permanent());
    }
}
