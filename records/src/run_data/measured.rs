//! Which attempt of the test runner measures the agent.
//!
//! The result of a run is that of the last attempt, as the runner shows it. But a runner repeats only tests that fail, and stops with the first
//! success: an agent that passes in half of its trials passes in 15 of 16 last attempts out of up to four. The first attempt with a result is the
//! only one that was not chosen by its outcome.

use std::borrow::Cow;

use super::{CaseData, RunData, SuiteData};
use crate::record::{Status, TrialSummary};

impl RunData {
    /// The run as comparisons, gates and rates count it: of a case that the test runner repeated, the first attempt that passed or failed, with
    /// its trials. Runs that are counted together are counted so before.
    pub fn measured(&self) -> Cow<'_, Self> {
        let is_as_measured = !self.counted_runs.is_empty() || self.suites.iter().all(SuiteData::is_as_measured);
        if is_as_measured { Cow::Borrowed(self) } else { Cow::Owned(self.clone().into_measured()) }
    }

    /// The same without a copy.
    #[must_use]
    pub fn into_measured(mut self) -> Self {
        if self.counted_runs.is_empty() {
            self.suites = self.suites.into_iter().map(SuiteData::into_measured).collect();
        }
        self
    }

    /// Number of cases that the test runner repeated.
    pub fn repeated_cases(&self) -> usize {
        self.suites.iter().map(SuiteData::repeated_cases).sum()
    }
}

impl SuiteData {
    /// The suite as comparisons, gates and rates count it, see [`RunData::measured`].
    pub fn measured(&self) -> Cow<'_, Self> {
        if self.is_as_measured() { Cow::Borrowed(self) } else { Cow::Owned(self.clone().into_measured()) }
    }

    /// Number of cases that the test runner repeated.
    pub fn repeated_cases(&self) -> usize {
        self.cases.iter().filter(|case| !case.other_attempts.is_empty()).count()
    }

    fn is_as_measured(&self) -> bool {
        self.cases.iter().all(|case| case.first_result().is_none())
    }

    fn into_measured(mut self) -> Self {
        self.cases = self.cases.into_iter().map(CaseData::into_measured).collect();
        self
    }
}

impl CaseData {
    /// The case with these other attempts, whose cost is counted: trials and attempts that count only with their cost are in `retried`.
    pub(super) fn with_other_attempts(mut self, others: Vec<Self>) -> Self {
        for CaseData { directory, record, .. } in &others {
            let all = record.trials.iter().chain(record.uncounted_trials());
            let name = directory.file_name().unwrap_or_default().to_string_lossy();
            let of_other =
                |trial: &TrialSummary| TrialSummary { path: format!("../{name}/{}", trial.path), ..trial.clone() };
            self.record.retried.extend(all.map(of_other));
        }
        self.other_attempts = others;
        self
    }

    /// Index of the other attempt that measures the agent; `None` if this one does.
    fn first_result(&self) -> Option<usize> {
        let has_result = |case: &Self| matches!(case.record.outcome, Status::Passed | Status::Failed);
        let others = self.other_attempts.iter().enumerate().filter(|(_, attempt)| has_result(attempt));
        let (index, first) = others.min_by_key(|(_, attempt)| attempt.name.attempt)?;
        (!has_result(self) || first.name.attempt < self.name.attempt).then_some(index)
    }

    fn into_measured(mut self) -> Self {
        let Some(index) = self.first_result() else { return self };
        let mut others = std::mem::take(&mut self.other_attempts);
        // Without the cost of the others, as it was read.
        let added: usize = others.iter().map(|it| it.record.trials.len() + it.record.uncounted_trials().count()).sum();
        self.record.retried.truncate(self.record.retried.len().saturating_sub(added));
        let first = others.remove(index);
        others.push(self);
        others.sort_by_key(|attempt| attempt.name.attempt);
        first.with_other_attempts(others)
    }
}
