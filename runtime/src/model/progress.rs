//! The steps of a run, reported while it runs.

use std::fmt;
use std::sync::Arc;

use evalsuite_records::record::{Status, Verdict};
use evalsuite_records::summary::lower_bound;
use evalsuite_schema::json::{FromJson, ToJson};

/// A step of a case that runs, as [`RunOptions::with_progress`](crate::RunOptions::with_progress) reports it, and as one line of
/// JSON of the file that `EVALSUITE_PROGRESS` names. It is displayed as one line of text.
///
/// ```
/// use evalsuite::{ProgressEvent, ProgressStep, RunOptions};
///
/// let options = RunOptions::new().with_progress(|event: &ProgressEvent| {
///     if let ProgressStep::CaseFinished { outcome, .. } = &event.step {
///         println!("{}: {}", event.case_id, outcome.as_str());
///     }
/// });
/// ```
#[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
#[non_exhaustive]
pub struct ProgressEvent {
    /// Name of the suite.
    pub suite: String,
    /// Package that includes the suite.
    #[json(default)]
    pub package: String,
    /// Rust path of the module that includes the suite, such as `evals::shop`.
    #[json(default)]
    pub module: String,
    /// Path of the case's test, without the crate.
    pub test_name: String,
    /// Id of the case.
    pub case_id: String,
    /// Name of the target.
    pub target: String,
    /// Number of trials planned.
    pub trials: u32,
    /// What happened.
    pub step: ProgressStep,
}

/// What happened in a [`ProgressEvent`]. Trials and attempts are numbered from 0.
///
/// ```
/// use evalsuite::ProgressStep;
///
/// fn is_last(step: &ProgressStep) -> bool {
///     matches!(step, ProgressStep::CaseFinished { .. })
/// }
/// ```
#[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
#[non_exhaustive]
pub enum ProgressStep {
    /// The case starts. A case that is skipped ends without having started.
    #[non_exhaustive]
    CaseStarted {},
    /// An attempt at a trial starts.
    #[non_exhaustive]
    TrialStarted {
        /// Index of the trial.
        trial: u32,
        /// Number of the attempt; above 0 after an infrastructure error.
        attempt: u32,
    },
    /// A grader has ended.
    #[non_exhaustive]
    GraderFinished {
        /// Index of the trial.
        trial: u32,
        /// Name of the grader.
        grader: String,
        /// Its verdict; `None` if it failed or did not decide.
        verdict: Option<Verdict>,
        /// Its value, 0 to 1; `None` if it failed or did not decide.
        value: Option<f64>,
    },
    /// A trial has ended, with its last attempt.
    #[non_exhaustive]
    TrialFinished {
        /// Index of the trial.
        trial: u32,
        /// Its outcome.
        outcome: Status,
        /// Its score, 0 to 1; `None` when nothing was decided.
        score: Option<f64>,
        /// Number of trials of the case that have ended.
        finished: u32,
        /// Mean score of the case's trials that passed or failed so far, 0 to 1.
        mean_score: Option<f64>,
        /// Cost of the case so far in US dollars, of the agent and of judges; `None` if none was reported.
        cost_usd: Option<f64>,
        /// Whether the cost of the agent or of a judge is not known of some trials, so that `cost_usd` is a lower bound.
        #[json(default)]
        is_cost_partial: bool,
    },
    /// The case has ended.
    #[non_exhaustive]
    CaseFinished {
        /// Its outcome.
        outcome: Status,
        /// Its score, 0 to 1; `None` when no trial was completed.
        score: Option<f64>,
        /// Cost of the case in US dollars, of the agent and of judges; `None` if none was reported.
        cost_usd: Option<f64>,
        /// Whether the cost of the agent or of a judge is not known of some trials, so that `cost_usd` is a lower bound.
        #[json(default)]
        is_cost_partial: bool,
        /// Why it did not pass.
        reason: Option<String>,
    },
}

impl fmt::Display for ProgressEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.test_name)?;
        let trials = self.trials;
        match &self.step {
            ProgressStep::CaseStarted {} if trials == 1 => write!(f, "started"),
            ProgressStep::CaseStarted {} => write!(f, "started, {trials} trials"),
            ProgressStep::TrialStarted { trial, attempt } => {
                write!(f, "trial {} of {trials} started", trial + 1)?;
                if *attempt > 0 { write!(f, ", attempt {}", attempt + 1) } else { Ok(()) }
            }
            ProgressStep::GraderFinished { trial, grader, value, .. } => {
                write!(f, "trial {} of {trials}, grader {grader}: ", trial + 1)?;
                match value {
                    Some(value) => write!(f, "{value:.2}"),
                    None => write!(f, "undecided"),
                }
            }
            ProgressStep::TrialFinished { trial, outcome, score, mean_score, cost_usd, is_cost_partial, .. } => {
                write!(f, "trial {} of {trials} {}", trial + 1, outcome.as_str())?;
                write_score(f, "score", *score)?;
                write_score(f, "mean so far", mean_score.filter(|_| trials > 1))?;
                write_cost(f, *cost_usd, *is_cost_partial)
            }
            ProgressStep::CaseFinished { outcome, score, cost_usd, is_cost_partial, reason } => {
                write!(f, "{}", outcome.as_str())?;
                write_score(f, "score", *score)?;
                write_cost(f, *cost_usd, *is_cost_partial)?;
                match reason.as_deref().and_then(|reason| reason.lines().next()) {
                    Some(reason) => write!(f, ": {reason}"),
                    None => Ok(()),
                }
            }
        }
    }
}

fn write_score(f: &mut fmt::Formatter<'_>, name: &str, score: Option<f64>) -> fmt::Result {
    score.map_or(Ok(()), |score| write!(f, ", {name} {score:.2}"))
}

fn write_cost(f: &mut fmt::Formatter<'_>, cost: Option<f64>, is_partial: bool) -> fmt::Result {
    cost.map_or(Ok(()), |cost| write!(f, ", {}", lower_bound(is_partial, &format!("{cost:.4} USD"))))
}

/// Those who are told the steps of a run.
#[derive(Clone, Default)]
pub(crate) struct ProgressListeners(Vec<Listener>);

type Listener = Arc<dyn Fn(&ProgressEvent) + Send + Sync>;

impl ProgressListeners {
    pub(crate) fn add(&mut self, listener: impl Fn(&ProgressEvent) + Send + Sync + 'static) {
        self.0.push(Arc::new(listener));
    }

    pub(crate) fn extend(&mut self, others: &Self) {
        self.0.extend(others.0.iter().cloned());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn report(&self, event: &ProgressEvent) {
        self.0.iter().for_each(|listener| listener(event));
    }
}

impl fmt::Debug for ProgressListeners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ProgressListeners").field(&self.0.len()).finish()
    }
}

impl PartialEq for ProgressListeners {
    /// The same functions, not functions that do the same.
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(|(left, right)| Arc::ptr_eq(left, right))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(trials: u32, step: ProgressStep) -> String {
        let text = |text: &str| text.to_owned();
        let event = ProgressEvent {
            suite: text("shop"),
            package: text("agent"),
            module: text("evals::shop"),
            test_name: text("shop::late"),
            case_id: text("late"),
            target: text("default"),
            trials,
            step,
        };
        let json = serde_json::to_string(&event).unwrap();
        assert_eq!(evalsuite_schema::json::from_str::<ProgressEvent>(&json).unwrap(), event, "{json}");
        event.to_string()
    }

    #[test]
    fn every_step_is_one_line() {
        assert_eq!(text(1, ProgressStep::CaseStarted {}), "shop::late: started");
        assert_eq!(text(30, ProgressStep::CaseStarted {}), "shop::late: started, 30 trials");
        let started = |attempt| ProgressStep::TrialStarted { trial: 1, attempt };
        assert_eq!(text(30, started(0)), "shop::late: trial 2 of 30 started");
        assert_eq!(text(30, started(1)), "shop::late: trial 2 of 30 started, attempt 2");
        let grader = |value| ProgressStep::GraderFinished { trial: 1, grader: "contains".into(), verdict: None, value };
        assert_eq!(text(3, grader(Some(0.5))), "shop::late: trial 2 of 3, grader contains: 0.50");
        assert_eq!(text(3, grader(None)), "shop::late: trial 2 of 3, grader contains: undecided");
        let trial = ProgressStep::TrialFinished {
            trial: 1,
            outcome: Status::Passed,
            score: Some(1.0),
            finished: 2,
            mean_score: Some(0.75),
            cost_usd: Some(0.5),
            is_cost_partial: false,
        };
        let mut in_part = trial.clone();
        if let ProgressStep::TrialFinished { is_cost_partial, .. } = &mut in_part {
            *is_cost_partial = true;
        }
        assert_eq!(text(1, in_part), "shop::late: trial 2 of 1 passed, score 1.00, ≥ 0.5000 USD");
        assert_eq!(text(3, trial.clone()), "shop::late: trial 2 of 3 passed, score 1.00, mean so far 0.75, 0.5000 USD");
        assert_eq!(text(1, trial), "shop::late: trial 2 of 1 passed, score 1.00, 0.5000 USD");
        let case = ProgressStep::CaseFinished {
            outcome: Status::Skipped,
            score: None,
            cost_usd: None,
            is_cost_partial: true,
            reason: Some("needs a judge\nhelp: more".into()),
        };
        assert_eq!(text(1, case), "shop::late: skipped: needs a judge");
    }

    #[test]
    fn listeners_are_the_same_if_they_are_the_same_functions() {
        let mut one = ProgressListeners::default();
        assert_eq!(one, ProgressListeners::default());
        one.add(|_| ());
        let mut other = ProgressListeners::default();
        other.add(|_| ());
        assert_ne!(one, other);
        assert_eq!(one, one.clone());
    }
}
