//! The outcome and score of a case from its trials (grading.md, section 14).

use evalsuite_schema::record::{Rule, Status};
use evalsuite_schema::{Kind, Strategy};

use crate::record::statistics::Summary;

/// What counts of a trial when its case is decided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TrialPoint {
    pub(crate) outcome: Status,
    pub(crate) score: Option<f64>,
}

/// How the trials of a case decide it.
pub(crate) fn case_rule(kind: Kind, strategy: Option<Strategy>) -> Rule {
    match (strategy, kind) {
        (Some(Strategy::Mean), _) => Rule::Mean,
        (Some(Strategy::ConfidenceInterval), _) => Rule::ConfidenceInterval,
        (_, Kind::Capability) => Rule::Any,
        (_, Kind::Regression | Kind::Mixed) => Rule::Every,
    }
}

/// Whether further trials cannot change the case.
pub(crate) fn is_settled(rule: Rule, trials: &[TrialPoint]) -> bool {
    trials.iter().any(|trial| match rule {
        Rule::Any => trial.outcome == Status::Passed,
        Rule::Every => matches!(trial.outcome, Status::Failed | Status::Error),
        Rule::Mean | Rule::ConfidenceInterval => false,
    })
}

/// Outcome and score of a case. Skipped trials do not count; a case of nothing else is skipped.
pub(crate) fn decide_case(rule: Rule, threshold: f64, trials: &[TrialPoint]) -> (Status, Option<f64>) {
    let count = |outcome| trials.iter().filter(|trial| trial.outcome == outcome).count();
    let (passed, failed, errors) = (count(Status::Passed), count(Status::Failed), count(Status::Error));
    if passed + failed + errors == 0 {
        return (Status::Skipped, None);
    }
    let scores: Vec<f64> = trials.iter().filter(|trial| is_completed(trial.outcome)).filter_map(|t| t.score).collect();
    let summary = Summary::of(&scores);
    let score = summary.map(|summary| match rule {
        Rule::Any => summary.max,
        Rule::Every => summary.min,
        Rule::Mean => summary.mean,
        Rule::ConfidenceInterval => summary.lower,
    });
    let outcome = match rule {
        Rule::Any if passed > 0 => Status::Passed,
        Rule::Every if failed > 0 => Status::Failed,
        _ if errors > 0 => Status::Error,
        Rule::Any => Status::Failed,
        Rule::Every => Status::Passed,
        Rule::Mean | Rule::ConfidenceInterval if score.is_some_and(|score| score >= threshold) => Status::Passed,
        Rule::Mean | Rule::ConfidenceInterval => Status::Failed,
    };
    (outcome, score)
}

pub(crate) fn is_completed(outcome: Status) -> bool {
    matches!(outcome, Status::Passed | Status::Failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(score: f64) -> TrialPoint {
        TrialPoint { outcome: Status::Passed, score: Some(score) }
    }

    fn failed(score: f64) -> TrialPoint {
        TrialPoint { outcome: Status::Failed, score: Some(score) }
    }

    const ERROR: TrialPoint = TrialPoint { outcome: Status::Error, score: None };
    const SKIPPED: TrialPoint = TrialPoint { outcome: Status::Skipped, score: None };

    #[test]
    fn an_explicit_mean_goes_before_the_kind() {
        assert_eq!(case_rule(Kind::Regression, Some(Strategy::Mean)), Rule::Mean);
        assert_eq!(case_rule(Kind::Capability, Some(Strategy::PassAtK)), Rule::Any);
        assert_eq!(case_rule(Kind::Mixed, Some(Strategy::PassAtK)), Rule::Every);
    }

    #[test]
    fn one_pass_decides_a_capability() {
        let decide = |trials: &[TrialPoint]| decide_case(Rule::Any, 0.8, trials);
        assert_eq!(decide(&[failed(0.2), ERROR, passed(0.9)]), (Status::Passed, Some(0.9)));
        assert_eq!(decide(&[failed(0.2), failed(0.5)]), (Status::Failed, Some(0.5)));
        assert_eq!(decide(&[failed(0.2), ERROR]), (Status::Error, Some(0.2)));
        assert!(is_settled(Rule::Any, &[failed(0.2), passed(1.0)]));
        assert!(!is_settled(Rule::Any, &[failed(0.2), ERROR]));
    }

    #[test]
    fn one_failure_decides_a_regression() {
        let decide = |trials: &[TrialPoint]| decide_case(Rule::Every, 0.8, trials);
        assert_eq!(decide(&[passed(1.0), passed(0.9)]), (Status::Passed, Some(0.9)));
        assert_eq!(decide(&[ERROR, failed(0.1)]), (Status::Failed, Some(0.1)));
        assert_eq!(decide(&[passed(1.0), ERROR]), (Status::Error, Some(1.0)));
        assert!(is_settled(Rule::Every, &[passed(1.0), ERROR]));
        assert!(!is_settled(Rule::Every, &[passed(1.0)]));
    }

    #[test]
    fn a_mean_or_its_lower_bound_is_compared_with_the_threshold() {
        let trials = [failed(0.6), passed(0.8), passed(1.0)];
        let mean = (0.6 + 0.8 + 1.0) / 3.0;
        assert_eq!(decide_case(Rule::Mean, 0.7, &trials), (Status::Passed, Some(mean)));
        assert_eq!(decide_case(Rule::ConfidenceInterval, 0.7, &trials).0, Status::Failed);
        assert_eq!(decide_case(Rule::Mean, 0.1, &[passed(1.0), ERROR]).0, Status::Error);
        assert!(!is_settled(Rule::Mean, &trials));
    }

    #[test]
    fn nothing_but_skips_is_a_skip() {
        assert_eq!(decide_case(Rule::Every, 0.8, &[SKIPPED]), (Status::Skipped, None));
        assert_eq!(decide_case(Rule::Every, 0.8, &[passed(1.0), SKIPPED]).0, Status::Passed);
    }
}
