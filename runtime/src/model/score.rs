//! The result of a grader.

use std::collections::BTreeMap;
use std::fmt::Display;

use evalsuite_records::record::{Assertion, Verdict};
use evalsuite_records::trial_statistics::ratio;
use evalsuite_schema::{Object, Value};

use crate::platform::accessors::{getters, setters};

/// The result of a grader: a value from 0 to 1, no decision, or an error.
///
/// A grader need not build one: `bool`, `f64`, `Vec<Assertion>`, an `Option` of these (`None`: undecided) and a
/// `Result` of these (`Err`: the grader failed) convert into a score.
///
/// ```
/// use evalsuite::{Assertion, Evidence, Score};
///
/// fn short_and_polite(evidence: &Evidence<'_>) -> Score {
///     let length = evidence.answer().chars().count();
///     Score::from_assertions([
///         Assertion::new("says please", evidence.answer().contains("please")),
///         Assertion::new("is short", length <= 80).with_expected("at most 80 characters").with_actual(length.to_string()),
///     ])
///     .with_detail("length", length)
/// }
///
/// assert_eq!(Score::from(true).value(), Some(1.0));
/// assert_eq!(Score::undecided("no cards to compare").value(), None);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Score {
    pub(crate) state: ScoreState,
    pub(crate) verdict: Option<Verdict>,
    pub(crate) assertions: Vec<Assertion>,
    pub(crate) metrics: BTreeMap<String, f64>,
    pub(crate) rationale: Option<String>,
    pub(crate) details: Object,
    /// Nothing was checked: the result is a fail, also if it is inverted.
    pub(crate) has_no_checks: bool,
}

/// How a grader ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ScoreState {
    /// With a value; whether it is from 0 to 1 is checked when it is used.
    Decided(f64),
    Undecided(String),
    Error(String),
}

impl Score {
    /// A value from 0 to 1. Another number is an error of the grader.
    pub fn new(value: f64) -> Self {
        Self::with_state(ScoreState::Decided(value))
    }

    /// The value 1.
    pub fn pass() -> Self {
        Self::new(1.0)
    }

    /// The value 0, with the reason for it.
    pub fn fail(reason: impl Into<String>) -> Self {
        Self::new(0.0).with_rationale(reason)
    }

    /// No value: the check does not apply, or cannot be decided. It does not count in the score of the trial.
    pub fn undecided(reason: impl Into<String>) -> Self {
        Self::with_state(ScoreState::Undecided(reason.into()))
    }

    /// The grader failed. The trial is then an error, which is neither a pass nor a fail.
    pub fn error(message: impl Into<String>) -> Self {
        Self::with_state(ScoreState::Error(message.into()))
    }

    /// The share of the assertions that passed. Without assertions it is 0, and a fail also with `negate`.
    pub fn from_assertions(assertions: impl IntoIterator<Item = Assertion>) -> Self {
        let assertions: Vec<_> = assertions.into_iter().collect();
        if assertions.is_empty() {
            return Self { has_no_checks: true, ..Self::fail("no assertions were made") };
        }
        let passed = assertions.iter().filter(|assertion| assertion.passed).count();
        let mut score = Self::new(ratio(passed, assertions.len()));
        score.assertions = assertions;
        score
    }

    /// Sets a value of the free-form data in the record.
    pub fn with_detail(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.details.insert(key.into(), value.into());
        self
    }

    /// Sets a named measurement in addition to the value, such as precision and recall of an F1 score. It is recorded
    /// and shown, but does not count. The grader chooses its scale; a number that is not finite is an error of the
    /// grader.
    ///
    /// ```
    /// use evalsuite::Score;
    ///
    /// let (precision, recall) = (0.5_f64, 1.0);
    /// let f1 = 2.0 * precision * recall / (precision + recall);
    /// let score = Score::new(f1).with_metric("precision", precision).with_metric("recall", recall);
    /// assert_eq!(score.metrics()["recall"], 1.0);
    /// ```
    pub fn with_metric(mut self, name: impl Into<String>, value: f64) -> Self {
        self.metrics.insert(name.into(), value);
        self
    }

    /// Adds an assertion. The value does not change.
    pub fn with_assertion(mut self, assertion: Assertion) -> Self {
        self.assertions.push(assertion);
        self
    }

    /// The value; `None` if the grader did not decide or failed.
    pub fn value(&self) -> Option<f64> {
        if let ScoreState::Decided(value) = self.state { Some(value) } else { None }
    }

    fn with_state(state: ScoreState) -> Self {
        Self {
            state,
            verdict: None,
            assertions: Vec::new(),
            metrics: BTreeMap::new(),
            rationale: None,
            details: Object::new(),
            has_no_checks: false,
        }
    }
}

setters! {
    impl Score {
        /// Sets the verdict, which otherwise depends on whether the value reaches the pass mark.
        pub fn with_verdict(verdict: Verdict) { verdict = Some(verdict) }

        /// Sets the explanation of the value.
        pub fn with_rationale(rationale: impl Into<String>) { rationale = Some(rationale.into()) }
    }
}

getters! {
    impl Score {
        /// The verdict, if the grader sets it itself.
        pub fn verdict(self) -> Option<Verdict> { self.verdict }

        /// The assertions, in order.
        pub fn assertions(self) -> &[Assertion] { &self.assertions }

        /// Named measurements in addition to the value.
        pub fn metrics(self) -> &BTreeMap<String, f64> { &self.metrics }

        /// The explanation of the value.
        pub fn rationale(self) -> Option<&str> { self.rationale.as_deref() }

        /// Free-form data for the record.
        pub fn details(self) -> &Object { &self.details }
    }
}

impl From<bool> for Score {
    fn from(passed: bool) -> Self {
        if passed { Self::pass() } else { Self::new(0.0) }
    }
}

impl From<f64> for Score {
    fn from(value: f64) -> Self {
        Self::new(value)
    }
}

impl From<Vec<Assertion>> for Score {
    fn from(assertions: Vec<Assertion>) -> Self {
        Self::from_assertions(assertions)
    }
}

impl<T: Into<Score>> From<Option<T>> for Score {
    fn from(value: Option<T>) -> Self {
        value.map_or_else(|| Self::undecided("the grader returned `None`"), Into::into)
    }
}

/// The error is shown in its alternate form, in which `anyhow` and similar crates list all causes.
impl<T: Into<Score>, E: Display> From<Result<T, E>> for Score {
    fn from(result: Result<T, E>) -> Self {
        match result {
            Ok(value) => value.into(),
            Err(error) => Self::error(format!("{error:#}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assertions_give_the_share_that_passed() {
        let score = Score::from_assertions([Assertion::new("a", true), Assertion::new("b", false)]);
        assert_eq!(score.state, ScoreState::Decided(0.5));
        let empty = Score::from_assertions([]);
        assert_eq!(
            (empty.state, empty.rationale.as_deref()),
            (ScoreState::Decided(0.0), Some("no assertions were made"))
        );
    }

    #[test]
    fn every_accepted_type_becomes_a_score() {
        assert_eq!(Score::from(true).state, ScoreState::Decided(1.0));
        assert_eq!(Score::from(0.25).state, ScoreState::Decided(0.25));
        assert_eq!(Score::from(Some(false)).state, ScoreState::Decided(0.0));
        assert!(matches!(Score::from(None::<f64>).state, ScoreState::Undecided(_)));
        assert_eq!(Score::from(Err::<bool, _>("broken")).state, ScoreState::Error("broken".to_owned()));
        assert_eq!(Score::from(Ok::<_, std::fmt::Error>(Some(1.0))).state, ScoreState::Decided(1.0));
    }
}
