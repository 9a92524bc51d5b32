//! `case.json`: the result of a case.

use std::borrow::Cow;
use std::collections::BTreeMap;

use evalsuite_schema::Strategy;
use evalsuite_schema::json::{FromJson, FromJsonOverDefault, ToJson, skip_empty};

use super::{Reason, Status, TrialRecord, UnknownParts, Usage};
use crate::exact_sums::{mean, sum_of_known};
use crate::record::identity::{CaseIdentity, fields_of_identity};

/// Most trials that repeat a case, if no setting says otherwise. A case takes as many as tell a change from chance; most take fewer than ten.
#[doc(hidden)]
pub const DEFAULT_CONFIRMING: u32 = 30;

/// `case.json`: the result of a case.
#[skip_empty(criteria, surplus, confirming, retried, correlated, tolerated_errors, failed_graders, baseline)]
#[skip_empty(conditions, reference_arm, reused_run)]
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct CaseRecord {
    /// [`CaseRecord::SCHEMA`].
    #[json(read_with = "CaseRecord::read_schema")]
    pub schema: String,
    /// What names the case.
    #[json(flatten)]
    pub identity: CaseIdentity,
    /// Criteria of the case, else its description.
    pub criteria: Option<String>,
    /// File name of the test program.
    #[json(default)]
    pub program: String,
    /// Rust path of the module that includes the suite, such as `evals::shop`; empty in records of older versions.
    #[json(default)]
    pub module: String,
    /// Outcome of the case.
    pub outcome: Status,
    /// Why the case did not pass.
    pub reason: Option<Reason>,
    /// 0 to 1; `None` when no trial was completed.
    pub score: Option<f64>,
    /// Effective threshold, 0 to 1.
    pub threshold: f64,
    /// The rule by which the trials decide the case.
    pub rule: Rule,
    /// Strategy in the suite's files.
    pub strategy: Option<Strategy>,
    /// The trials, in order.
    pub trials: Vec<TrialSummary>,
    /// Trials that ran at the same time as the last one in `trials`, which decided the case or reached a limit. They do
    /// not count in other fields; their cost counts in budgets and in summaries of the run.
    pub surplus: Vec<TrialSummary>,
    /// Trials that repeat the case because its planned trials differ from its baseline. Their indices start at
    /// `planned`. They count only in `baseline`; their cost counts in budgets and in summaries of the run.
    pub confirming: Vec<TrialSummary>,
    /// Attempts at trials that ended in an infrastructure error and were followed by another attempt; in summaries, the trials of earlier
    /// attempts of the test runner, too. They count in nothing but cost and tokens: in budgets, and in summaries of the run.
    pub retried: Vec<TrialSummary>,
    /// Whether trials end as soon as they decide the case. Then later trials depend on earlier ones, and only the first
    /// is an unbiased sample.
    #[json(default)]
    pub stops_early: bool,
    /// Whether trials within one run resemble each other, so that a run counts as one trial.
    pub correlated: bool,
    /// Number of trials planned.
    pub planned: u32,
    /// Trials that passed or failed.
    pub completed: u32,
    /// Trials that passed.
    pub passed: u32,
    /// Trials with an error.
    pub errors: u32,
    /// Number of trials that may end in an error without making the case an error.
    pub tolerated_errors: u32,
    /// For a passed case: names of graders that count and failed in a passed trial.
    pub failed_graders: Vec<String>,
    /// Whether planned trials did not run, because the case was decided or a cost limit was reached.
    pub truncated: bool,
    /// Whether the cost of the trials reached its limit. All planned trials may have run nevertheless, see `truncated`.
    pub cost_limited: bool,
    /// Probability that one of k trials passes, by k; `None` when truncated.
    pub pass_at_k: BTreeMap<u32, Option<f64>>,
    /// Probability that all of k trials pass, by k; `None` when truncated.
    pub pass_hat_k: BTreeMap<u32, Option<f64>>,
    /// Mean of the scores.
    pub mean: Option<f64>,
    /// Lowest score.
    pub min: Option<f64>,
    /// Highest score.
    pub max: Option<f64>,
    /// Standard deviation of the scores (n − 1).
    pub stddev: Option<f64>,
    /// Lower end of the 95 % confidence interval of the mean; wrong in at most 2.5 % of cases.
    pub ci95_lower: Option<f64>,
    /// Upper end of the 95 % confidence interval of the mean; wrong in at most 2.5 % of cases.
    pub ci95_upper: Option<f64>,
    /// Whether trials agree; `None` with fewer than two, or if planned trials did not run and all others agree.
    pub stability: Option<Stability>,
    /// The case in the baseline of its suite, if it is included; only in suites of kind `capability`.
    pub baseline: Option<BaselineResult>,
    /// Conditions of the result besides the case itself; `None` unless the digest of the agent is known, and if they changed while the case ran.
    pub conditions: Option<Conditions>,
    /// Whether the case is there to be compared with: its target is the arm of a suite without a skill, or with an older copy. Its test does
    /// not fail if the agent does.
    pub reference_arm: bool,
    /// Id of the run whose result this is: the case did not run again, because nothing that its result depends on has changed.
    pub reused_run: Option<String>,
}

/// Digests of the conditions of a result besides its input and its graders.
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct Conditions {
    /// SHA-256 over the files in the case's own directory and those that commands of its graders name, hexadecimal; empty without any.
    pub files: String,
    /// The digest of the agent, as given (`EVALSUITE_AGENT_DIGEST`).
    pub agent: String,
    /// SHA-256 of the settings of judges, and of the commands that judge, hexadecimal; empty if the case asks none.
    pub judge: String,
    /// SHA-256 of threshold, number of trials, rule and time limit, hexadecimal.
    pub settings: String,
    /// SHA-256 of a key, which is not in the run, and the values of the variables, `${{ NAME }}`, of case and target, hexadecimal; empty
    /// without any. Runs in different output directories have different keys.
    #[json(default, skip_if = "String::is_empty")]
    pub variables: String,
}

impl CaseRecord {
    /// The record of the case of this trial before anything is known about its result: the reverse of [`TrialRecord::of_case`].
    pub fn of_trial(trial: &TrialRecord) -> Self {
        let (identity, threshold, planned) = (trial.identity.clone(), trial.threshold, trial.trials_planned);
        Self { identity, threshold, planned, ..Self::new() }
    }

    /// Whether trials ended, or may have ended, because the case was decided: records say so, or planned trials did not run. Older records
    /// only have the latter.
    pub fn ends_early(&self) -> bool {
        self.stops_early || self.was_cut_off()
    }

    /// Whether planned trials did not run because others had decided the case. Those of a skipped case, and those after a trial that was
    /// skipped, did not run, whatever they would have decided.
    pub(crate) fn was_cut_off(&self) -> bool {
        let is_skipped = || self.trials.iter().any(|trial| trial.outcome == Status::Skipped);
        self.truncated && !self.cost_limited && self.outcome != Status::Skipped && !is_skipped()
    }

    /// The record with trials that are independent of each other: correlated ones are one, with the outcome of the case and their mean score.
    pub fn with_independent_trials(&self) -> Cow<'_, Self> {
        if !self.correlated {
            return Cow::Borrowed(self);
        }
        let completed = self.trials.iter().filter(|trial| matches!(trial.outcome, Status::Passed | Status::Failed));
        let scores: Vec<f64> = completed.filter_map(|trial| trial.score).collect();
        let has_passed = self.outcome == Status::Passed;
        let outcome = if has_passed { Status::Passed } else { Status::Failed };
        let trial = TrialSummary { outcome, score: mean(&scores), ..TrialSummary::default() };
        let trials = if self.completed > 0 { vec![trial] } else { self.trials.clone() };
        let (passed, completed, planned) = (u32::from(has_passed), self.completed.min(1), 1);
        let (confirming, stops_early, truncated) = (Vec::new(), false, false);
        Cow::Owned(Self { trials, confirming, planned, completed, passed, stops_early, truncated, ..self.clone() })
    }

    /// Whether a run of the case is one observation of whether it passes: its trials resemble each other, or the mean of their scores decides
    /// the case, whatever each of them says.
    pub fn is_one_observation(&self) -> bool {
        self.correlated || matches!(self.rule, Rule::Mean | Rule::ConfidenceInterval)
    }

    /// Number of first trials that are an unbiased sample. It is 1 if trials end as soon as they decide the case,
    /// because a second trial then depends on the first.
    pub fn sampled_trials(&self) -> usize {
        if self.ends_early() { self.trials.len().min(1) } else { self.trials.len() }
    }

    /// Mean score of these trials, of those that passed or failed; `None` without any.
    pub fn sampled_score(&self) -> Option<f64> {
        let sampled = &self.trials[..self.sampled_trials()];
        let completed = sampled.iter().filter(|trial| matches!(trial.outcome, Status::Passed | Status::Failed));
        let scores: Vec<f64> = completed.filter_map(|trial| trial.score).collect();
        mean(&scores)
    }

    /// The trials that ran, also those that count only with their cost, without attempts that were repeated.
    pub fn all_trials(&self) -> impl Iterator<Item = &TrialSummary> {
        self.trials.iter().chain(&self.surplus).chain(&self.confirming)
    }

    /// Id of the run whose trials these are: this one, unless it has [taken over](Self::reused_run) the result of another one.
    pub fn run_of_result(&self) -> &str {
        self.reused_run.as_ref().unwrap_or(&self.run_id)
    }

    /// Whose cost is not known, for each trial and each attempt that was repeated. An attempt often ends before its agent is called.
    pub fn unknown_costs(&self) -> Vec<UnknownParts> {
        let of_trial = |trial: &TrialSummary| {
            let UnknownParts { agent, judges, user } = trial.unknown_costs;
            UnknownParts { agent: agent || trial.cost_usd.is_none(), judges, user }
        };
        self.all_trials().map(of_trial).chain(self.retried.iter().map(|attempt| attempt.unknown_costs)).collect()
    }

    /// Whose tokens are not known, likewise.
    pub fn unknown_tokens(&self) -> Vec<UnknownParts> {
        let of_trial = |trial: &TrialSummary| {
            let UnknownParts { agent, judges, user } = trial.unknown_tokens;
            UnknownParts { agent: agent || trial.usage.is_none(), judges, user }
        };
        self.all_trials().map(of_trial).chain(self.retried.iter().map(|attempt| attempt.unknown_tokens)).collect()
    }

    /// Cost of the agent, of judges and of the simulated user in US dollars, of all trials and repeated attempts; `None` where none is known.
    pub fn costs(&self) -> [Option<f64>; 3] {
        let of: [fn(&TrialSummary) -> Option<f64>; 3] =
            [|trial| trial.cost_usd, |trial| trial.judge_cost_usd, |trial| trial.user_cost_usd];
        of.map(|of| sum_of_known(self.trials.iter().chain(self.uncounted_trials()).filter_map(of)))
    }

    /// Number of trials and repeated attempts whose cost of the agent is not known.
    pub fn trials_of_unknown_cost(&self) -> usize {
        UnknownParts::counts(&self.unknown_costs())[0]
    }

    /// The trials and attempts that ran but count only with their cost.
    pub fn uncounted_trials(&self) -> impl Iterator<Item = &TrialSummary> {
        self.surplus.iter().chain(&self.confirming).chain(&self.retried)
    }

    /// Whether the test of the case fails: it ended in an error, or failed although the baseline of its suite does not
    /// expect it, and is not of a [reference arm](Self::reference_arm).
    pub fn fails_test(&self) -> bool {
        let is_expected = |baseline: &BaselineResult| {
            matches!(
                baseline.expectation,
                Expectation::ExpectedFailure | Expectation::Quarantined | Expectation::Unconfirmed
            )
        };
        match self.outcome {
            Status::Passed | Status::Skipped => false,
            Status::Failed => !self.reference_arm && !self.baseline.as_ref().is_some_and(is_expected),
            Status::Error => true,
        }
    }
}

/// A case in the baseline of its suite.
#[derive(Debug, Clone, Copy, PartialEq, ToJson, FromJson)]
#[non_exhaustive]
pub struct BaselineResult {
    /// The case compared with it.
    pub expectation: Expectation,
    /// Trials that passed, of the accepted runs.
    pub passed: u32,
    /// Trials that passed or failed in them.
    pub trials: u32,
    /// Of a case that fails and has passed: how many cases of the suite come out as badly in a run in which nothing has changed, on average.
    #[json(default, skip_if = "Option::is_none")]
    pub chance: Option<f64>,
}

impl BaselineResult {
    /// A result with the trials of the accepted baseline.
    pub fn new(expectation: Expectation, passed: u32, trials: u32) -> Self {
        Self { expectation, passed, trials, chance: None }
    }
}

/// The result of a case compared with the baseline of its suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ToJson, FromJson)]
#[non_exhaustive]
pub enum Expectation {
    /// It passes, as in the baseline, or the baseline is flaky.
    ExpectedPass,
    /// It fails, as in the baseline. Its test does not.
    ExpectedFailure,
    /// It fails, which may be chance, and only some trials of the baseline passed. Its test does not fail.
    Quarantined,
    /// It fails, which may be chance, and all trials of the baseline passed. Its test does not fail.
    Unconfirmed,
    /// It fails more often than chance explains.
    Regression,
    /// It passes, and no trial of the baseline did.
    NewPass,
    /// Its input or graders differ from the baseline, which does not apply.
    Redefined,
}

/// Rule by which the trials of a case decide it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, ToJson, FromJson)]
pub enum Rule {
    /// One has to pass.
    #[default]
    Any,
    /// All have to pass.
    Every,
    /// The mean of their scores has to reach the threshold.
    Mean,
    /// The lower end of the confidence interval of that mean has to reach the threshold.
    ConfidenceInterval,
}

/// One trial of a case.
#[skip_empty(user_cost_usd, user_usage, unknown_costs, unknown_tokens)]
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct TrialSummary {
    /// Index of the trial, from 0.
    pub index: u32,
    /// Outcome of the trial.
    pub outcome: Status,
    /// Score, 0 to 1.
    pub score: Option<f64>,
    /// Duration of the agent's work in milliseconds.
    pub duration_ms: Option<u64>,
    /// Cost of the agent in US dollars.
    pub cost_usd: Option<f64>,
    /// Cost of judges in US dollars.
    pub judge_cost_usd: Option<f64>,
    /// Tokens of the agent.
    pub usage: Option<Usage>,
    /// Tokens of judges.
    pub judge_usage: Option<Usage>,
    /// Cost of the simulated user in US dollars.
    pub user_cost_usd: Option<f64>,
    /// Tokens of the simulated user.
    pub user_usage: Option<Usage>,
    /// Whose cost is not known of all calls: it is a lower bound, or missing.
    pub unknown_costs: UnknownParts,
    /// The same for tokens.
    pub unknown_tokens: UnknownParts,
    /// Path of its record, relative to the case's directory.
    pub path: String,
}

impl TrialSummary {
    /// The summary of a trial whose record is at a path relative to the case's directory.
    pub fn new(trial: &TrialRecord, path: impl Into<String>) -> Self {
        Self {
            index: trial.trial,
            outcome: trial.outcome,
            score: trial.score,
            duration_ms: trial.duration_ms,
            cost_usd: trial.cost_usd,
            judge_cost_usd: trial.judge_cost_usd,
            usage: trial.usage,
            judge_usage: trial.judge_usage,
            user_cost_usd: trial.user_cost_usd,
            user_usage: trial.user_usage,
            unknown_costs: trial.unknown_costs(),
            unknown_tokens: trial.unknown_tokens(),
            path: path.into(),
        }
    }
}

/// Whether the trials of a case agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ToJson, FromJson)]
pub enum Stability {
    /// All passed.
    StablePass,
    /// All failed.
    StableFail,
    /// Some passed, some failed.
    Flaky,
}

fields_of_identity!(CaseRecord);

impl TrialRecord {
    /// The record of a trial of this case that ended in an error before anything was known about it.
    pub fn of_case(case: &CaseRecord) -> Self {
        let (identity, threshold, trials_planned) = (case.identity.clone(), case.threshold, case.planned);
        Self { identity, threshold, trials_planned, ..Self::new() }
    }
}
