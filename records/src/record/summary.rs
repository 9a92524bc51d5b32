//! `summary.json`: the aggregates of a run.

use std::collections::BTreeMap;

use evalsuite_schema::json::{FromJsonOverDefault, ToJson, skip_empty};

use super::{CaseRecord, ProbeRates, Status, SuiteId, Usage};

/// `summary.json`: the aggregates of a run.
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct RunSummary {
    /// [`RunSummary::SCHEMA`].
    pub schema: String,
    /// Id of the run.
    pub run_id: String,
    /// Its suites, by name.
    pub suites: Vec<SuiteSummary>,
}

/// The aggregates of one suite.
#[skip_empty(probe, not_started)]
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct SuiteSummary {
    /// [`SuiteSummary::SCHEMA`].
    pub schema: String,
    /// Id of the run.
    pub run_id: String,
    /// Displayed name of the suite, unique in the run, see [`SuiteId::labels`].
    pub suite: String,
    /// Identity of the suite.
    #[json(default)]
    pub id: SuiteId,
    /// The aggregates, one per target, in the order in which the targets first occur.
    pub targets: Vec<TargetSummary>,
    /// Between which pass rates the suite says something; `None` if it was not probed before the run.
    pub probe: Option<ProbeRates>,
    /// Missing and unreadable records, with the reason. A case without a record is an error; a case whose test is still
    /// running is not counted.
    pub problems: Vec<String>,
    /// Paths of tests without a record that did not die in a trial: another machine runs them, the run ended before them, or they were not
    /// chosen, unless `cargo evalsuite run` recorded which tests it chose.
    pub not_started: Vec<String>,
    /// The records of all cases, in the suite's order.
    pub cases: Vec<CaseRecord>,
}

/// The aggregates of one target.
///
/// Rates are shares from 0 to 1; `None` if the divisor is 0. A trial is *completed* if it passed or failed.
#[skip_empty(reused, sealing, users, tag, user_usage, user_cost_usd, unknown_costs, unknown_tokens)]
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct TargetSummary {
    /// Name of the target.
    pub target: String,
    /// Number of cases by outcome.
    pub cases: OutcomeCounts,
    /// Number of cases whose results are those of earlier runs, see [`CaseRecord::reused_run`]; they count in everything else, too.
    pub reused: u32,
    /// Number of trials by outcome.
    pub trials: OutcomeCounts,
    /// Number of trials by what became of their seals, see [`TrialRecord::seals`](super::TrialRecord::seals). Trials that started no command
    /// are left out.
    pub sealing: BTreeMap<String, u32>,
    /// Simulated users of the trials.
    pub users: UserCounts,
    /// Number of cases that passed although a grader failed in one of their passed trials, see [`CaseRecord::failed_graders`].
    #[json(default)]
    pub passed_with_failed_grader: u32,
    /// passed / (passed + failed + error) over cases: the share of the suite that the agent passes. A case with an
    /// error counts as not passed.
    pub case_pass_rate: Option<f64>,
    /// passed / (passed + failed) over cases: the same, without cases with an error.
    pub completed_pass_rate: Option<f64>,
    /// passed / (passed + failed + error) over all trials.
    pub trial_pass_rate: Option<f64>,
    /// Mean over cases of the mean score of a case's completed trials, 0 to 1. Every case has the same weight, for any
    /// number of trials. If trials stop as soon as they decide the case, only the first trial counts.
    pub mean_score: Option<f64>,
    /// Number M of cases in `mean_score`.
    pub scored_cases: u32,
    /// Standard error of `mean_score`: the standard deviation (M − 1) of the case means, divided by √M. Cases are the
    /// clusters, because trials of one case are not independent. `None` for fewer than two cases.
    pub stderr: Option<f64>,
    /// Lower end of the 95 % confidence interval of `mean_score`: Student's t for the scores of the cases and four
    /// more, two of 0 and two of 1 (as Agresti and Coull add to rates), cut to 0 to 1. It has a width even if all cases
    /// have the same score.
    pub ci95_lower: Option<f64>,
    /// Upper end of that interval.
    pub ci95_upper: Option<f64>,
    /// By k, the mean probability that at least one of k trials of a case passes (unbiased, `1 − C(n−c,k)/C(n,k)`, as
    /// in the HumanEval paper by Chen et al., 2021). Cases with fewer than k completed trials, or that reached their cost
    /// limit, are left out. Empty if trials of a case did not run because it was decided.
    pub pass_at_k: BTreeMap<u32, Estimate>,
    /// By k, the mean probability that all of k trials of a case pass (unbiased, `C(c,k)/C(n,k)`, as in τ-bench), over
    /// the same cases.
    pub pass_hat_k: BTreeMap<u32, Estimate>,
    /// Results of each grader, by name. If trials stop as soon as they decide the case, only the first trial counts,
    /// because the number of further trials depends on their results.
    pub grader_mean: BTreeMap<String, GraderMean>,
    /// Pass rates of cases, by `metadata.failure_bucket`.
    pub bucket: BTreeMap<String, PassRate>,
    /// Pass rates of cases, by tag.
    pub tag: BTreeMap<String, PassRate>,
    /// Pass rates of cases, by key of `metadata` and value. Values are texts, numbers and booleans, and the elements of lists.
    pub metadata: BTreeMap<String, BTreeMap<String, PassRate>>,
    /// Tokens of the agent, summed over all trials; `None` if none was reported.
    pub usage: Option<Usage>,
    /// Tokens of judges, likewise.
    pub judge_usage: Option<Usage>,
    /// Cost of the agent in US dollars, likewise.
    pub cost_usd: Option<f64>,
    /// Cost of judges in US dollars, likewise.
    pub judge_cost_usd: Option<f64>,
    /// Tokens of simulated users, likewise.
    pub user_usage: Option<Usage>,
    /// Cost of simulated users in US dollars, likewise.
    pub user_cost_usd: Option<f64>,
    /// Trials whose cost is not known although that of others is: what is summed up is then a lower bound.
    pub unknown_costs: UnknownCosts,
    /// The same for their tokens.
    pub unknown_tokens: UnknownCosts,
    /// Durations of the agent.
    pub duration_ms: Durations,
}

/// Numbers of trials whose cost or tokens are not known, because they were not reported or the trial ended before. 0 where those of no trial are
/// known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct UnknownCosts {
    /// All trials and attempts, also those that count only with their cost.
    pub trials: u32,
    /// Trials without those of the agent.
    pub agent: u32,
    /// Trials that asked a judge, without those of the judge.
    pub judges: u32,
    /// Trials with a simulated user, without those of the user.
    pub users: u32,
}

/// Numbers of cases or trials by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
pub struct OutcomeCounts {
    /// Graded, and passed.
    pub passed: u32,
    /// Graded, and not passed.
    pub failed: u32,
    /// Not decided.
    pub error: u32,
    /// Not run.
    pub skipped: u32,
}

impl OutcomeCounts {
    /// Counts one more.
    pub fn add(&mut self, outcome: Status) {
        let count = match outcome {
            Status::Passed => &mut self.passed,
            Status::Failed => &mut self.failed,
            Status::Error => &mut self.error,
            Status::Skipped => &mut self.skipped,
        };
        *count = count.saturating_add(1);
    }

    /// All except skipped ones.
    pub fn run(&self) -> u32 {
        self.passed.saturating_add(self.failed).saturating_add(self.error)
    }
}

/// Numbers of trials with a simulated user.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct UserCounts {
    /// All that ran.
    pub trials: u32,
    /// Those whose user was graded.
    pub graded: u32,
    /// Those whose user left its role.
    pub left_role: u32,
    /// Those that ended in an error because the user could not say anything.
    pub failed: u32,
}

/// A mean over a number of cases.
#[derive(Debug, Clone, Copy, Default, PartialEq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct Estimate {
    /// The mean, 0 to 1.
    pub value: f64,
    /// Number of cases in it.
    pub cases: u32,
}

impl Estimate {
    /// A mean from 0 to 1 over a number of cases.
    pub fn new(value: f64, cases: u32) -> Self {
        Self { value, cases }
    }
}

/// Results of one grader.
#[derive(Debug, Clone, Copy, Default, PartialEq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct GraderMean {
    /// Mean of its values, 0 to 1; `None` if it never decided.
    pub mean: Option<f64>,
    /// Number of trials in which it decided; of a grader of a turn of a conversation, number of turns.
    pub decided: u32,
    /// Number of trials, or turns, in which it did not decide.
    pub undecided: u32,
    /// Number of trials, or turns, in which it failed.
    pub errors: u32,
}

/// Pass rate of a group of cases.
#[derive(Debug, Clone, Copy, Default, PartialEq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct PassRate {
    /// passed / cases, 0 to 1; `None` without cases.
    pub rate: Option<f64>,
    /// Number of cases that passed.
    pub passed: u32,
    /// Number of cases that passed, failed or ended in an error; skipped cases do not count.
    pub cases: u32,
}

/// Known durations of trials in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct Durations {
    /// Their sum.
    pub total: u64,
    /// The duration that half of the trials do not exceed (nearest rank).
    pub p50: Option<u64>,
    /// The duration that 95 % of the trials do not exceed (nearest rank).
    pub p95: Option<u64>,
}
