//! Lines about cases that take long.

use std::collections::HashMap;
use std::time::Duration;

use crate::model::progress::{ProgressEvent, ProgressStep};

/// Time after which a case is long, and time between two lines about it.
const LONG: Duration = Duration::from_secs(5);

/// Chooses the steps of long cases that are shown as a line: at most one in five seconds per case.
#[derive(Debug, Default)]
pub struct LongCases {
    /// By test: when the case started, or when the last line about it was shown.
    since: HashMap<String, Duration>,
}

impl LongCases {
    /// The line about this step, if it is time for one. `now` is any clock, such as the time since the run started.
    pub fn line(&mut self, event: &ProgressEvent, now: Duration) -> Option<String> {
        let is_of_interest = match event.step {
            ProgressStep::CaseStarted {} => {
                self.since.insert(event.test_name.clone(), now);
                return None;
            }
            ProgressStep::CaseFinished { .. } => {
                self.since.remove(&event.test_name);
                return None;
            }
            ProgressStep::TrialFinished { finished, .. } => finished < event.trials,
            ProgressStep::GraderFinished { .. } => event.trials == 1,
            ProgressStep::TrialStarted { .. } => false,
        };
        let since = self.since.get_mut(&event.test_name).filter(|_| is_of_interest)?;
        if now.saturating_sub(*since) < LONG {
            return None;
        }
        *since = now;
        Some(event.to_string())
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_records::record::Status;

    use super::*;

    fn event(trials: u32, step: ProgressStep) -> ProgressEvent {
        let [suite, package, module, test_name, case_id, target] =
            ["s", "p", "evals::s", "s::a", "a", "default"].map(str::to_owned);
        ProgressEvent { suite, package, module, test_name, case_id, target, trials, step }
    }

    fn trial(trial: u32) -> ProgressStep {
        let outcome = Status::Passed;
        ProgressStep::TrialFinished {
            trial,
            outcome,
            score: None,
            finished: trial + 1,
            mean_score: None,
            cost_usd: None,
        }
    }

    #[test]
    fn a_long_case_has_a_line_every_few_seconds() {
        let mut cases = LongCases::default();
        let mut at = |seconds, step| cases.line(&event(9, step), Duration::from_secs(seconds));
        assert_eq!(at(10, trial(0)), None, "a case that is not known to have started");
        assert_eq!(at(10, ProgressStep::CaseStarted {}), None);
        assert_eq!(at(14, trial(0)), None, "not long yet");
        assert_eq!(at(15, trial(1)).as_deref(), Some("s::a: trial 2 of 9 passed"));
        assert_eq!(at(19, trial(2)), None, "there was one four seconds ago");
        assert_eq!(at(20, ProgressStep::TrialStarted { trial: 3, attempt: 0 }), None);
        assert_eq!(at(21, trial(3)).as_deref(), Some("s::a: trial 4 of 9 passed"));
        assert_eq!(at(50, trial(8)), None, "the result of the case follows");
    }

    #[test]
    fn graders_are_shown_where_there_is_only_one_trial() {
        let grader = || ProgressStep::GraderFinished { trial: 0, grader: "g".into(), verdict: None, value: Some(1.0) };
        for (trials, expected) in [(1, Some("s::a: trial 1 of 1, grader g: 1.00")), (2, None)] {
            let mut cases = LongCases::default();
            cases.line(&event(trials, ProgressStep::CaseStarted {}), Duration::ZERO);
            assert_eq!(cases.line(&event(trials, grader()), LONG).as_deref(), expected);
        }
    }
}
