//! What is known of a run while it runs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use evalsuite::{ProgressEvent, ProgressStep, Status};
use evalsuite_records::record::{OutcomeCounts, SuiteId};

/// Largest number of running cases that are shown.
const SHOWN: usize = 8;

/// What identifies a test: packages and test programs may have tests with the same paths.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TestKey {
    /// Path of the test, which the keys are sorted by.
    pub(crate) test: String,
    pub(crate) package: String,
    module: String,
}

impl TestKey {
    /// A test of a suite.
    pub(crate) fn new(suite: &SuiteId, test: &str) -> Self {
        Self { test: test.to_owned(), package: suite.package.clone(), module: suite.module.clone() }
    }

    /// Name of the crate of its test program.
    pub(crate) fn program(&self) -> &str {
        self.module.split("::").next().unwrap_or_default()
    }
}

/// The cases of a run: those that have ended, and those that are running. It is displayed in several lines.
pub(super) struct RunState {
    /// Tests of cases that were chosen or have run.
    tests: BTreeSet<TestKey>,
    /// By test.
    ended: BTreeMap<TestKey, Status>,
    /// The last step of each case that is running, by test.
    running: BTreeMap<TestKey, ProgressEvent>,
    /// Cost in US dollars of each case so far, by test.
    cost: BTreeMap<TestKey, f64>,
}

impl RunState {
    pub(super) fn new(tests: BTreeSet<TestKey>) -> Self {
        Self { tests, ended: BTreeMap::new(), running: BTreeMap::new(), cost: BTreeMap::new() }
    }

    /// Adds a step; returns the line about a case that has ended.
    pub(super) fn add(&mut self, event: &ProgressEvent) -> Option<String> {
        let ProgressEvent { test_name, package, module, .. } = event;
        let test = &TestKey { test: test_name.clone(), package: package.clone(), module: module.clone() };
        // Dependencies of chosen cases run, too.
        self.tests.insert(test.clone());
        if let ProgressStep::TrialFinished { cost_usd: Some(cost), .. }
        | ProgressStep::CaseFinished { cost_usd: Some(cost), .. } = event.step
        {
            self.cost.insert(test.clone(), cost);
        }
        match &event.step {
            ProgressStep::CaseFinished { outcome, .. } => {
                self.running.remove(test);
                self.ended.insert(test.clone(), *outcome);
                Some(format!("[{}/{}] {event}", self.ended.len(), self.tests.len()))
            }
            // What is going on is more interesting than what has just begun.
            ProgressStep::TrialStarted { .. } if self.running.contains_key(test) && event.trials > 1 => None,
            _ => {
                self.running.insert(test.clone(), event.clone());
                None
            }
        }
    }
}

impl fmt::Display for RunState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut counts = OutcomeCounts::default();
        self.ended.values().for_each(|outcome| counts.add(*outcome));
        let OutcomeCounts { passed, failed, error, skipped } = counts;
        write!(f, "{}/{} cases: ", self.ended.len(), self.tests.len())?;
        write!(f, "{passed} passed, {failed} failed, {error} error, {skipped} skipped")?;
        if !self.cost.is_empty() {
            write!(f, ", {:.4} USD", self.cost.values().sum::<f64>())?;
        }
        for event in self.running.values().take(SHOWN) {
            write!(f, "\n  {event}")?;
        }
        match self.running.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::json::{Value, json};

    use super::*;

    fn event(test: &str, trials: u32, step: Value) -> ProgressEvent {
        let event = json!({
            "suite": "s", "test_name": test, "case_id": test, "target": "default", "trials": trials, "step": step,
        });
        evalsuite_schema::json::from_value(event).unwrap()
    }

    #[test]
    fn running_cases_are_shown_below_what_has_ended() {
        let mut state =
            RunState::new(["s::a", "s::b", "s::c"].map(|test| TestKey::new(&SuiteId::default(), test)).into());
        assert_eq!(state.to_string(), "0/3 cases: 0 passed, 0 failed, 0 error, 0 skipped");
        let started = || json!({"case_started": {}});
        assert_eq!(state.add(&event("s::a", 3, started())), None);
        assert_eq!(state.add(&event("s::a", 3, json!({"trial_started": {"trial": 0, "attempt": 0}}))), None);
        assert!(state.to_string().ends_with("\n  s::a: started, 3 trials"), "{state}");
        let trial = json!({"trial_finished": {
            "trial": 0, "outcome": "failed", "score": 0.5, "finished": 1, "mean_score": 0.5, "cost_usd": 0.25,
        }});
        assert_eq!(state.add(&event("s::a", 3, trial)), None);
        assert_eq!(
            state.to_string(),
            "0/3 cases: 0 passed, 0 failed, 0 error, 0 skipped, 0.2500 USD\n  \
             s::a: trial 1 of 3 failed, score 0.50, mean so far 0.50, 0.2500 USD"
        );
        let skipped = json!({"case_finished": {"outcome": "skipped", "score": null, "cost_usd": null, "reason": "needs a judge"}});
        assert_eq!(state.add(&event("s::b", 1, skipped)).as_deref(), Some("[1/3] s::b: skipped: needs a judge"));
        let passed = json!({"case_finished": {"outcome": "passed", "score": 1.0, "cost_usd": 0.5, "reason": null}});
        assert_eq!(
            state.add(&event("s::other", 1, passed)).as_deref(),
            Some("[2/4] s::other: passed, score 1.00, 0.5000 USD"),
            "a dependency that was not chosen"
        );
        assert!(state.to_string().starts_with("2/4 cases: 1 passed, 0 failed, 0 error, 1 skipped, 0.7500 USD\n"));
        for number in 0..9 {
            state.add(&event(&format!("s::r{number}"), 1, started()));
        }
        assert!(state.to_string().ends_with("\n  s::r6: started\n  and 2 more"), "{state}");
    }
}
