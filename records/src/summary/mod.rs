//! Aggregates of the cases of a run.

#[cfg(feature = "reports")]
mod summary_of_run;
mod summary_text;
#[cfg(test)]
mod tests;
mod text_table;

use std::collections::{BTreeMap, BTreeSet};

use evalsuite_schema::sorting::{map, set, sort};
use evalsuite_schema::{Object, Value};

use crate::record::{
    CaseRecord, Durations, Estimate, GraderMean, GraderState, OutcomeCounts, PassRate, ReasonCode, Status,
    TargetSummary, TrialRecord, TrialSummary, UnknownCosts, UnknownParts, Usage, UserCounts,
};
use crate::trial_statistics::{self, pass_at_k, pass_hat_k};

#[cfg(feature = "reports")]
pub use self::summary_of_run::summarize_run;
pub use self::summary_text::{SummaryText, lower_bound};
pub use self::text_table::TextTable;

/// What aggregates need of a case.
#[derive(Debug, Clone, Copy)]
pub struct SummedCase<'a> {
    /// Its record.
    pub record: &'a CaseRecord,
    /// The records of its trials.
    pub trials: &'a [TrialRecord],
    /// The metadata of the case.
    pub metadata: &'a Object,
}

/// The aggregates of every target, in the order in which targets first occur.
pub fn by_target(cases: &[SummedCase<'_>]) -> Vec<TargetSummary> {
    let mut targets: Vec<&str> = Vec::new();
    for case in cases {
        if !targets.contains(&case.record.target.as_str()) {
            targets.push(&case.record.target);
        }
    }
    let of = |target: &str| cases.iter().copied().filter(|case| case.record.target == target).collect::<Vec<_>>();
    targets.into_iter().map(|target| summarise(target, &of(target))).collect()
}

fn summarise(target: &str, cases: &[SummedCase<'_>]) -> TargetSummary {
    let trials: Vec<&TrialRecord> = cases.iter().flat_map(|case| case.trials).collect();
    let case_counts = counts(cases.iter().map(|case| case.record.outcome));
    let trial_counts = counts(trials.iter().map(|trial| trial.outcome));
    let means: Vec<f64> = cases.iter().filter_map(|case| case.record.sampled_score()).collect();
    let spread = trial_statistics::Summary::of(&means);
    let durations: Vec<u64> = trials.iter().filter_map(|trial| trial.duration_ms).collect();
    let interval = trial_statistics::bounded_interval(&means, None, [0.0, 1.0]);
    // Trials that count in nothing else have cost something.
    let uncounted = || cases.iter().flat_map(|case| case.record.uncounted_trials());
    let cost = |of_trial: fn(&TrialRecord) -> Option<f64>, of_other: fn(&TrialSummary) -> Option<f64>| {
        total(trials.iter().copied().filter_map(of_trial).chain(uncounted().filter_map(of_other)))
    };
    let tokens = |of_trial: fn(&TrialRecord) -> Option<Usage>, of_other: fn(&TrialSummary) -> Option<Usage>| {
        total_usage(trials.iter().copied().filter_map(of_trial).chain(uncounted().filter_map(of_other)))
    };
    let cost_usd = cost(|trial| trial.cost_usd, |trial| trial.cost_usd);
    let judge_cost_usd = cost(|trial| trial.judge_cost_usd, |trial| trial.judge_cost_usd);
    let user_cost_usd = cost(|trial| trial.user_cost_usd, |trial| trial.user_cost_usd);
    let usage = tokens(|trial| trial.usage, |trial| trial.usage);
    let judge_usage = tokens(|trial| trial.judge_usage, |trial| trial.judge_usage);
    let user_usage = tokens(|trial| trial.user_usage, |trial| trial.user_usage);
    let unknown_costs: Vec<_> = cases.iter().flat_map(|case| case.record.unknown_costs()).collect();
    let unknown_tokens: Vec<_> = cases.iter().flat_map(|case| case.record.unknown_tokens()).collect();
    TargetSummary {
        target: target.to_owned(),
        cases: case_counts,
        reused: number(cases.iter().filter(|case| case.record.reused_run.is_some()).count()),
        trials: trial_counts,
        sealing: sealing(&trials),
        users: users(&trials),
        passed_with_failed_grader: number(cases.iter().filter(|case| !case.record.failed_graders.is_empty()).count()),
        case_pass_rate: share(case_counts.passed, case_counts.run()),
        completed_pass_rate: share(case_counts.passed, case_counts.run() - case_counts.error),
        trial_pass_rate: share(trial_counts.passed, trial_counts.run()),
        mean_score: spread.map(|spread| spread.mean),
        scored_cases: number(means.len()),
        stderr: spread.filter(|_| means.len() > 1).map(|spread| spread.stddev / (means.len() as f64).sqrt()),
        ci95_lower: interval.map(|(lower, _)| lower),
        ci95_upper: interval.map(|(_, upper)| upper),
        pass_at_k: over_cases(cases, pass_at_k),
        pass_hat_k: over_cases(cases, pass_hat_k),
        grader_mean: grader_means(cases),
        bucket: rates(cases, |case| case.metadata.get("failure_bucket").and_then(Value::as_str).into_iter().collect()),
        tag: rates(cases, |case| {
            case.trials.first().iter().flat_map(|trial| &trial.tags).map(String::as_str).collect()
        }),
        metadata: by_metadata(cases),
        usage,
        judge_usage,
        cost_usd,
        judge_cost_usd,
        user_usage,
        user_cost_usd,
        unknown_costs: unknown(&unknown_costs, [cost_usd, judge_cost_usd, user_cost_usd].map(|cost| cost.is_some())),
        unknown_tokens: unknown(&unknown_tokens, [usage, judge_usage, user_usage].map(|usage| usage.is_some())),
        duration_ms: spans(durations),
    }
}

/// The numbers of trials whose cost or tokens are not known; `known` is the sum of the agent, of judges and of users, in this order.
fn unknown(trials: &[UnknownParts], known: [bool; 3]) -> UnknownCosts {
    let counts = UnknownParts::counts(trials).map(number);
    // Where nothing is known, nothing is shown.
    let [agent, judges, users] = [0, 1, 2].map(|who| if known[who] { counts[who] } else { 0 });
    let trials = if agent + judges + users > 0 { number(trials.len()) } else { 0 };
    UnknownCosts { trials, agent, judges, users }
}

/// What became of seals, with the number of trials.
fn sealing(trials: &[&TrialRecord]) -> BTreeMap<String, u32> {
    let mut sealing = BTreeMap::new();
    for seal in trials.iter().flat_map(|trial| trial.seals()) {
        *sealing.entry(seal).or_insert(0) += 1;
    }
    sealing
}

/// Simulated users, and how many of them left their role.
fn users(trials: &[&TrialRecord]) -> UserCounts {
    let mut counts = UserCounts::default();
    for (trial, user) in trials.iter().filter_map(|trial| Some((trial, trial.user.as_ref()?))) {
        let has_failed = trial.reason.as_ref().is_some_and(|reason| reason.code == ReasonCode::UserError);
        counts.trials += 1;
        counts.graded += u32::from(user.in_role.is_some());
        counts.left_role += u32::from(user.in_role == Some(false));
        counts.failed += u32::from(has_failed);
    }
    counts
}

fn counts(outcomes: impl Iterator<Item = Status>) -> OutcomeCounts {
    let mut counts = OutcomeCounts::default();
    outcomes.for_each(|outcome| counts.add(outcome));
    counts
}

fn share(part: u32, whole: u32) -> Option<f64> {
    (whole > 0).then(|| f64::from(part) / f64::from(whole))
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// For every k that some case reports, the mean over the cases with at least k completed trials. Nothing if trials of a
/// case did not run because it was decided: the cases whose trials all ran are then those that came out one way.
fn over_cases(cases: &[SummedCase<'_>], value: impl Fn(usize, usize, usize) -> Option<f64>) -> BTreeMap<u32, Estimate> {
    if cases.iter().any(|case| case.record.was_cut_off()) {
        return BTreeMap::new();
    }
    let whole: Vec<&CaseRecord> = cases.iter().map(|case| case.record).filter(|record| !record.truncated).collect();
    let ks = set(whole.iter().flat_map(|record| record.pass_at_k.keys().copied()));
    let estimate = |k: u32| {
        let of = |record: &&CaseRecord| value(record.completed as usize, record.passed as usize, k as usize);
        let values: Vec<f64> = whole.iter().filter_map(of).collect();
        let mean = trial_statistics::Summary::of(&values)?.mean;
        Some((k, Estimate::new(mean, number(values.len()))))
    };
    map(ks.into_iter().filter_map(estimate))
}

/// The trials of a case that are a fair sample of what the agent does.
fn sampled<'a>(case: &SummedCase<'a>) -> &'a [TrialRecord] {
    &case.trials[..case.record.sampled_trials().min(case.trials.len())]
}

fn grader_means(cases: &[SummedCase<'_>]) -> BTreeMap<String, GraderMean> {
    let mut values: BTreeMap<&str, (GraderMean, Vec<f64>)> = BTreeMap::new();
    for grader in cases.iter().flat_map(sampled).flat_map(TrialRecord::all_graders) {
        let (mean, decided) = values.entry(&grader.name).or_default();
        match grader.state {
            GraderState::Decided => decided.extend(grader.value),
            GraderState::Undecided => mean.undecided += 1,
            GraderState::Error => mean.errors += 1,
        }
    }
    let finish = |(name, (mut mean, values)): (&str, (GraderMean, Vec<f64>))| {
        let summary = trial_statistics::Summary::of(&values);
        (mean.mean, mean.decided) = (summary.map(|summary| summary.mean), number(values.len()));
        (name.to_owned(), mean)
    };
    map(values.into_iter().map(finish))
}

fn count_in(rate: &mut PassRate, outcome: Status) {
    if outcome == Status::Skipped {
        return;
    }
    rate.cases += 1;
    rate.passed += u32::from(outcome == Status::Passed);
    rate.rate = share(rate.passed, rate.cases);
}

/// The pass rates of cases by the names that each of them has.
fn rates<'c>(cases: &[SummedCase<'c>], names: impl Fn(&SummedCase<'c>) -> Vec<&'c str>) -> BTreeMap<String, PassRate> {
    let mut rates: BTreeMap<String, PassRate> = BTreeMap::new();
    for case in cases {
        for name in names(case) {
            count_in(rates.entry(name.to_owned()).or_default(), case.record.outcome);
        }
    }
    rates
}

fn by_metadata(cases: &[SummedCase<'_>]) -> BTreeMap<String, BTreeMap<String, PassRate>> {
    let mut keys: BTreeMap<String, BTreeMap<String, PassRate>> = BTreeMap::new();
    for case in cases {
        for (key, value) in case.metadata {
            let values: BTreeSet<String> = match value {
                Value::Array(list) => list.iter().filter_map(group).collect(),
                value => group(value).into_iter().collect(),
            };
            for value in values {
                let rate = keys.entry(key.clone()).or_default().entry(value).or_default();
                count_in(rate, case.record.outcome);
            }
        }
    }
    keys
}

/// Name of the group of cases with this metadata value.
fn group(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn total(values: impl Iterator<Item = f64>) -> Option<f64> {
    values.reduce(|sum, value| sum + value)
}

fn total_usage(usages: impl Iterator<Item = Usage>) -> Option<Usage> {
    usages.reduce(|mut sum, usage| {
        sum += usage;
        sum
    })
}

fn spans(mut durations: Vec<u64>) -> Durations {
    sort(&mut durations);
    let rank = |percent: usize| {
        let position = (durations.len() * percent).div_ceil(100);
        durations.get(position.checked_sub(1)?).copied()
    };
    Durations {
        total: durations.iter().fold(0, |sum, duration| sum.saturating_add(*duration)),
        p50: rank(50),
        p95: rank(95),
    }
}
