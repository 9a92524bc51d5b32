//! Results of the cases that a case depends on.

use std::collections::BTreeMap;

use evalsuite_records::record::{CaseRecord, Status, TrialRecord};

use crate::platform::accessors::getters;

/// Result of a case that another case depends on.
///
/// ```
/// use evalsuite::{AgentError, Trial};
///
/// /// Answers a case with `depends_on: [plan]`.
/// fn agent(trial: &mut Trial<'_>) -> Result<String, AgentError> {
///     let plan = trial.dependency("plan").and_then(|plan| plan.answer());
///     let plan = plan.ok_or_else(|| AgentError::skip("the case `plan` has no answer"))?;
///     Ok(format!("done: {plan}"))
/// }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Dependency {
    outcome: Status,
    score: Option<f64>,
    answer: Option<String>,
}

impl Dependency {
    /// The answer is that of the first trial with the outcome of the case.
    pub(crate) fn of(case: &CaseRecord, trials: &[TrialRecord]) -> Self {
        let decisive = trials.iter().find(|trial| trial.outcome == case.outcome).or(trials.last());
        Self { outcome: case.outcome, score: case.score, answer: decisive.and_then(|trial| trial.answer.clone()) }
    }
}

getters! {
    impl Dependency {
        /// Outcome of the case.
        pub fn status(self) -> Status { self.outcome }

        /// Score of the case, 0 to 1; `None` if no trial was graded.
        pub fn score(self) -> Option<f64> { self.score }

        /// Answer of the agent, at most its first 64 KiB; `None` without one. With several trials, it is the answer of the first one
        /// with the outcome of the case.
        pub fn answer(self) -> Option<&str> { self.answer.as_deref() }
    }
}

/// The dependencies of a case by their ids.
pub(crate) type Dependencies = BTreeMap<String, Dependency>;
