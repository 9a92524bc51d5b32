//! `trials.jsonl`: the outcome and score of a case from the results of its trials.
//!
//! If the outcome differs from the recorded one, it has to be the one that `decide` computes from the recorded trials: a
//! second implementation of the rules for trials, written from their description alone.

use evalsuite::record::Status;
use evalsuite::{AgentError, Outcome, RunOptions};
use evalsuite_conformance::record::Record;
use evalsuite_schema::json::{Value, json};

use crate::graders::{self, RecordCheck};
use crate::replay;

/// Names of the rules about trials.
pub const RULES: &[&str] = &[
    "trial-passes-at-its-threshold",
    "trial-error-is-an-error",
    "mean-or-bound-decides",
    "bounds-have-a-width",
    "decided-at-load-time",
];

/// Runs a record and explains every difference.
///
/// # Errors
///
/// What keeps the record from being tested.
pub fn check(record: &Record) -> Result<RecordCheck, String> {
    let json = &record.json;
    let attempts = json["per_trial"].as_array().cloned().unwrap_or_default();
    let later = attempts.clone();
    let suite = suite(record);
    let replay = replay::run(&suite, RunOptions::new(), move |trial| {
        let attempt = usize::try_from(trial.index()).ok().and_then(|index| later.get(index));
        let attempt = attempt.ok_or_else(|| AgentError::new("the record does not contain this trial"))?;
        if attempt["provider_error"] == true {
            return Err(AgentError::new("the provider failed"));
        }
        // Not a number if the grader has to return an error.
        let answer = if is_broken(attempt) { "broken".to_owned() } else { attempt["score"].to_string() };
        let outcome = Outcome::new().with_text(answer);
        Ok(match attempt["cost_usd"].as_f64() {
            Some(cost) => outcome.with_cost_usd(cost),
            None => outcome,
        })
    })?;
    let mut checked = RecordCheck::default();
    if !replay.refused.is_empty() {
        return graders::refused(&suite, &Value::Null);
    }
    let Some(ran) = replay.cases.first() else { return Err("the case did not run".to_owned()) };
    let case = &ran.case;
    let ours = CaseResult {
        trials: ran.trials.len(),
        cost_limited: case.cost_limited,
        outcome: case.outcome,
        score: case.score,
    };
    let theirs = CaseResult {
        trials: json["expected"]["trials_run"].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(0),
        cost_limited: json["expected"]["cost_limited"] == true,
        outcome: match json["expected"]["execution_status"].as_str() {
            Some("ok") => Status::Passed,
            Some("quality_failure") => Status::Failed,
            _ => Status::Error,
        },
        score: json["expected"]["score"].as_f64(),
    };
    let broken = attempts.iter().take(ours.trials).any(is_broken);
    let possible = reference(json, &attempts);
    if !theirs.equals(&possible) {
        checked.unexplained.push(format!("recorded {theirs:?}, but these trials make {possible:?}"));
    }
    if !ours.equals(&theirs) {
        let own = decide(json, &attempts);
        match rule(json, broken, &ours, &theirs).filter(|_| ours.is_near(&own)) {
            Some(rule) => {
                checked.rules.insert(rule);
            }
            None => {
                checked.unexplained.push(format!("expected {theirs:?}, computed {own:?}, ours {ours:?}\n{}", ran.shown))
            }
        }
    }
    if broken || ran.trials.len() < 2 {
        return Ok(checked);
    }
    let statistics = [("mean", case.mean), ("min", case.min), ("max", case.max), ("stddev", case.stddev)];
    for (name, ours) in statistics {
        let theirs = json["expected"]["aggregation"][name].as_f64();
        if theirs.is_some() && !close(ours, theirs) && !case.truncated {
            checked.unexplained.push(format!("{name}: expected {theirs:?}, ours {ours:?}"));
        }
    }
    let scores: Vec<f64> = attempts.iter().take(ran.trials.len()).filter_map(|trial| trial["score"].as_f64()).collect();
    let aggregation = &json["expected"]["aggregation"];
    let theirs = [&aggregation["ci95_lower"], &aggregation["ci95_upper"]].map(Value::as_f64);
    if let ([Some(lower), Some(upper)], Some(ours), false) =
        (theirs, case.ci95_lower.zip(case.ci95_upper), case.truncated)
    {
        let own = (bound(&scores), 1.0 - bound(&inverted(&scores)));
        let students = (students_bound(&scores), 1.0 - students_bound(&inverted(&scores)));
        let are_near = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).abs() < NEAR && (a.1 - b.1).abs() < NEAR;
        if are_near(ours, own) && are_near((lower, upper), students) {
            checked.rules.insert("bounds-have-a-width");
        } else {
            checked.unexplained.push(format!("interval: expected {students:?} for {own:?}, ours {ours:?}"));
        }
    }
    Ok(checked)
}

fn suite(record: &Record) -> Record {
    let json = &record.json;
    let grader = json!({ "type": replay::RECORDED_SCORE });
    let mut case = json!({ "id": "t", "input": "q", "criteria": "c", "assertions": [grader] });
    if !json["test_threshold"].is_null() {
        case["execution"] = json!({ "threshold": json["test_threshold"] });
    }
    let suite = json!({ "execution": { "trials": json["trials"] }, "tests": [case] });
    let json = json!({ "files": { "EVAL.yaml": suite.to_string() } });
    Record { eval: Some("EVAL.yaml".to_owned()), json, ..record.clone() }
}

/// The compared results of a case with trials.
#[derive(Debug)]
struct CaseResult {
    trials: usize,
    cost_limited: bool,
    outcome: Status,
    score: Option<f64>,
}

impl CaseResult {
    /// Whether two results are equal. An error has no score here, and 0 in the reference.
    fn equals(&self, other: &Self) -> bool {
        self.equals_within(other, 1e-12)
    }

    /// The same, with a score from an integral.
    fn is_near(&self, other: &Self) -> bool {
        self.equals_within(other, NEAR)
    }

    fn equals_within(&self, other: &Self, tolerance: f64) -> bool {
        let near = |(a, b): (f64, f64)| (a - b).abs() < tolerance;
        let scores = self.outcome == Status::Error
            || self.score.zip(other.score).map_or(self.score.is_none() && other.score.is_none(), near);
        (self.trials, self.cost_limited, self.outcome) == (other.trials, other.cost_limited, other.outcome) && scores
    }
}

fn close(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() < 1e-12,
        (a, b) => a.is_none() && b.is_none(),
    }
}

fn is_broken(attempt: &Value) -> bool {
    attempt["provider_error"] == true || attempt["grader_skip"] == true
}

/// The strategy of the trials. The reference has none for a single trial.
fn strategy(json: &Value) -> Option<&str> {
    json["strategy"].as_str().or(json["trials"]["strategy"].as_str())
}

/// The rule that explains what differs.
fn rule(json: &Value, broken: bool, ours: &CaseResult, theirs: &CaseResult) -> Option<&'static str> {
    let by_mean = matches!(strategy(json), Some("mean" | "confidence_interval"));
    let only_outcome = ours.equals(&CaseResult { outcome: ours.outcome, ..*theirs });
    match () {
        // An error does not count as 0, and does not affect the other trials.
        () if broken && (ours.trials, ours.cost_limited) == (theirs.trials, theirs.cost_limited) => {
            Some("trial-error-is-an-error")
        }
        () if by_mean && only_outcome => Some("mean-or-bound-decides"),
        () if strategy(json) == Some("confidence_interval")
            && (ours.trials, ours.cost_limited) == (theirs.trials, theirs.cost_limited) =>
        {
            Some("bounds-have-a-width")
        }
        // After a trial passed, the remaining ones are not run.
        () => (!by_mean && json["test_threshold"].is_number()).then_some("trial-passes-at-its-threshold"),
    }
}

/// Two-sided 95 % quantiles of Student's t distribution for 1 to 29 degrees of freedom.
const T: [f64; 29] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045,
];
/// The two-sided 95 % quantile of the normal distribution.
const Z: f64 = 1.960;

/// How far integrals may be from the truth.
const NEAR: f64 = 1e-6;

fn inverted(scores: &[f64]) -> Vec<f64> {
    scores.iter().map(|score| 1.0 - score).collect()
}

/// The lower end of the interval of the reference: Student's.
#[allow(clippy::cast_precision_loss, reason = "a handful of trials")]
fn students_bound(scores: &[f64]) -> f64 {
    let n = scores.len() as f64;
    let mean = scores.iter().sum::<f64>() / n;
    let spread = (scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    let t = scores.len().checked_sub(2).map_or(0.0, |place| T.get(place).copied().unwrap_or(Z));
    if t == 0.0 { mean } else { (mean - t * spread / n.sqrt()).clamp(0.0, 1.0) }
}

/// Our lower end: the 2.5 % quantile of the mean of the scores and a 0, with weights that are exponential variables.
///
/// That mean is above a limit if the weighted sum of the distances from it is positive. The characteristic function of the sum is a
/// product, and Gil-Pelaez's integral of it the probability.
fn bound(scores: &[f64]) -> f64 {
    let share_above = |limit: f64| {
        let distances: Vec<f64> = scores.iter().chain([&0.0]).map(|score| score - limit).collect();
        let integrand = |s: f64| {
            let u = s / (1.0 - s);
            // The argument and the size of the product of 1 / (1 − i·u·distance).
            let (angle, size) = distances.iter().fold((0.0, 1.0), |(angle, size), distance| {
                (angle + (u * distance).atan(), size / (u * distance).hypot(1.0))
            });
            size * f64::sin(angle) / u / (1.0 - s).powi(2)
        };
        let steps = 4_000_u32;
        let width = 1.0 / f64::from(steps);
        let midpoints = (0..steps).map(|step| integrand((f64::from(step) + 0.5) * width));
        0.5 + midpoints.sum::<f64>() * width / std::f64::consts::PI
    };
    let (mut least, mut most) = (0.0, scores.iter().copied().fold(0.0, f64::max));
    for _ in 0..30 {
        let middle = f64::midpoint(least, most);
        if share_above(middle) >= 0.975 { least = middle } else { most = middle }
    }
    least
}

/// The result of a record's trials in the reference: a trial passes with 0.8, one that breaks counts as 0, and one that reaches the threshold is
/// enough for the case.
#[allow(clippy::cast_precision_loss, reason = "a handful of trials")]
fn reference(json: &Value, attempts: &[Value]) -> CaseResult {
    let planned = json["trials"]["count"].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(1);
    let (strategy, limit) = (strategy(json), cost_limits(&json["trials"]).into_iter().find_map(Value::as_f64));
    let by_mean = matches!(strategy, Some("mean" | "confidence_interval"));
    let threshold = json["test_threshold"].as_f64().unwrap_or(0.8);
    let (mut scores, mut completed, mut cost, mut cost_limited) = (Vec::new(), Vec::new(), 0.0, false);
    for attempt in attempts.iter().take(planned) {
        if attempt["provider_error"] != true {
            cost += attempt["cost_usd"].as_f64().unwrap_or(0.0);
        }
        let score = attempt["score"].as_f64().filter(|_| !is_broken(attempt));
        completed.extend(score);
        scores.push(score.unwrap_or(0.0));
        cost_limited = planned > 1 && limit.is_some_and(|limit| cost >= limit);
        if cost_limited || !by_mean && score >= Some(0.8) {
            break;
        }
    }
    let score = match strategy {
        Some("mean") => scores.iter().sum::<f64>() / scores.len() as f64,
        Some("confidence_interval") => students_bound(&scores),
        _ => scores.iter().copied().fold(0.0, f64::max),
    };
    let outcome = match () {
        () if completed.is_empty() => Status::Error,
        () if completed.iter().any(|score| *score >= threshold) => Status::Passed,
        () => Status::Failed,
    };
    CaseResult { trials: scores.len(), cost_limited, outcome, score: Some(score) }
}

/// The result of a record's trials.
fn decide(json: &Value, attempts: &[Value]) -> CaseResult {
    let strategy = strategy(json);
    let planned = json["trials"]["count"].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(1);
    let threshold = json["test_threshold"].as_f64().unwrap_or(0.8);
    let limit = cost_limits(&json["trials"]).into_iter().find_map(Value::as_f64);
    let by_mean = matches!(strategy, Some("mean" | "confidence_interval"));
    let (mut scores, mut errors, mut cost, mut passed, mut cost_limited) = (Vec::new(), 0, 0.0, false, false);
    for attempt in attempts.iter().take(planned) {
        // The cost of a failed provider is unknown.
        if attempt["provider_error"] != true {
            cost += attempt["cost_usd"].as_f64().unwrap_or(0.0);
        }
        match attempt["score"].as_f64().filter(|_| !is_broken(attempt)) {
            Some(score) => {
                passed |= score >= threshold;
                scores.push(score);
            }
            None => errors += 1,
        }
        cost_limited = planned > 1 && limit.is_some_and(|limit| cost >= limit);
        if cost_limited || !by_mean && passed {
            break;
        }
    }
    #[allow(clippy::cast_precision_loss, reason = "a handful of trials")]
    let mean = scores.iter().sum::<f64>() / scores.len() as f64;
    let score = match (strategy, scores.len()) {
        (_, 0) => None,
        (Some("mean"), _) => Some(mean),
        (Some("confidence_interval"), _) => Some(bound(&scores)),
        _ => scores.iter().copied().reduce(f64::max),
    };
    let outcome = match () {
        () if errors > 0 => Status::Error,
        () if !by_mean && passed => Status::Passed,
        () if by_mean && score.is_some_and(|score| score >= threshold) => Status::Passed,
        () => Status::Failed,
    };
    CaseResult { trials: scores.len() + errors, cost_limited, outcome, score }
}

/// The limit by its current and its former name.
fn cost_limits(trials: &Value) -> [&Value; 2] {
    [&trials["cost_limit_usd"], &trials["costLimitUsd"]]
}
