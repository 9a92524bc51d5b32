//! The outcome and score of a case from its trials.

use evalsuite_records::record::{Rule, Status};
use evalsuite_schema::{Strategy, SuiteKind};

use crate::record::trial_statistics::{Summary, guaranteed_interval, mean_reaches};

/// What counts of a trial when its case is decided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TrialPoint {
    pub(crate) outcome: Status,
    pub(crate) score: Option<f64>,
}

/// What the trials of a case are measured by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CaseStandard {
    pub(crate) rule: Rule,
    pub(crate) threshold: f64,
    /// How many trials may end in an error without the case ending in one.
    pub(crate) tolerated_errors: u32,
}

/// How the trials of a case decide it.
pub(crate) fn case_rule(kind: SuiteKind, strategy: Option<Strategy>) -> Rule {
    match (strategy, kind) {
        (Some(Strategy::Mean), _) => Rule::Mean,
        (Some(Strategy::ConfidenceInterval), _) => Rule::ConfidenceInterval,
        (_, SuiteKind::Capability) => Rule::Any,
        (_, SuiteKind::Regression | SuiteKind::Mixed) => Rule::Every,
    }
}

/// Whether the case is decided, so that no further trial counts in its outcome.
pub(crate) fn is_settled(CaseStandard { rule, tolerated_errors, .. }: CaseStandard, trials: &[TrialPoint]) -> bool {
    match rule {
        Rule::Any => count(trials, Status::Passed) > 0,
        Rule::Every => count(trials, Status::Failed) > 0 || count(trials, Status::Error) > tolerated_errors as usize,
        Rule::Mean | Rule::ConfidenceInterval => false,
    }
}

/// The trials that decide the case: those after the first ones that settle it ran for its statistics.
pub(crate) fn deciding(standard: CaseStandard, trials: &[TrialPoint]) -> &[TrialPoint] {
    let settled = (1..=trials.len()).find(|count| is_settled(standard, &trials[..*count]));
    &trials[..settled.unwrap_or(trials.len())]
}

fn count(trials: &[TrialPoint], outcome: Status) -> usize {
    trials.iter().filter(|trial| trial.outcome == outcome).count()
}

/// Outcome and score of a case. One whose trials were all skipped is skipped. A trial that ended in an error is missing evidence: with more
/// of them than are tolerated, the case is not passed, regardless of the others. So is a trial that was skipped, and those after it, which
/// did not run: unless the others settle the case, it ends in an error.
pub(crate) fn decide_case(standard: CaseStandard, trials: &[TrialPoint]) -> (Status, Option<f64>) {
    let CaseStandard { rule, threshold, tolerated_errors } = standard;
    let [passed, failed, errors] =
        [Status::Passed, Status::Failed, Status::Error].map(|outcome| count(trials, outcome));
    if passed + failed + errors == 0 {
        return (Status::Skipped, None);
    }
    let is_cut_short = passed + failed + errors < trials.len();
    let completed = || trials.iter().filter(|trial| is_completed(trial.outcome));
    let scores: Vec<f64> = completed().filter_map(|trial| trial.score).collect();
    let summary = Summary::of(&scores);
    let score = summary.map(|summary| match rule {
        Rule::Any => summary.max,
        Rule::Every => summary.min,
        Rule::Mean => summary.mean,
        Rule::ConfidenceInterval => lower_end(&scores).unwrap_or_default(),
    });
    let outcome = match rule {
        Rule::Every if failed > 0 => Status::Failed,
        _ if errors > tolerated_errors as usize || passed + failed == 0 => Status::Error,
        Rule::Any if passed > 0 => Status::Passed,
        _ if is_cut_short => Status::Error,
        Rule::Any => Status::Failed,
        Rule::Every => Status::Passed,
        Rule::Mean | Rule::ConfidenceInterval => {
            let counted = completed().filter_map(|trial| Some((trial.score?, trial.outcome == Status::Passed)));
            if mean_reaches(rule, counted, threshold) { Status::Passed } else { Status::Failed }
        }
    };
    (outcome, score)
}

fn lower_end(scores: &[f64]) -> Option<f64> {
    guaranteed_interval(scores).map(|(lower, _)| lower)
}

pub(crate) fn is_completed(outcome: Status) -> bool {
    matches!(outcome, Status::Passed | Status::Failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rule with threshold 0.8, without tolerance for errors.
    fn by(rule: Rule) -> CaseStandard {
        CaseStandard { rule, threshold: 0.8, tolerated_errors: 0 }
    }

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
        assert_eq!(case_rule(SuiteKind::Regression, Some(Strategy::Mean)), Rule::Mean);
        assert_eq!(case_rule(SuiteKind::Capability, Some(Strategy::PassAtK)), Rule::Any);
        assert_eq!(case_rule(SuiteKind::Mixed, Some(Strategy::PassAtK)), Rule::Every);
    }

    #[test]
    fn one_pass_decides_a_capability() {
        let decide = |trials: &[TrialPoint]| decide_case(by(Rule::Any), trials);
        assert_eq!(decide(&[failed(0.2), passed(0.9)]), (Status::Passed, Some(0.9)));
        assert_eq!(decide(&[failed(0.2), failed(0.5)]), (Status::Failed, Some(0.5)));
        assert_eq!(decide(&[failed(0.2), ERROR]), (Status::Error, Some(0.2)));
        assert!(is_settled(by(Rule::Any), &[failed(0.2), passed(1.0)]));
        assert!(!is_settled(by(Rule::Any), &[failed(0.2), ERROR]));
    }

    #[test]
    fn one_failure_decides_a_regression() {
        let decide = |trials: &[TrialPoint]| decide_case(by(Rule::Every), trials);
        assert_eq!(decide(&[passed(1.0), passed(0.9)]), (Status::Passed, Some(0.9)));
        assert_eq!(decide(&[ERROR, failed(0.1)]), (Status::Failed, Some(0.1)));
        assert_eq!(decide(&[passed(1.0), ERROR]), (Status::Error, Some(1.0)));
        assert!(is_settled(by(Rule::Every), &[passed(1.0), ERROR]));
        assert!(!is_settled(by(Rule::Every), &[passed(1.0)]));
    }

    #[test]
    fn a_mean_or_its_lower_bound_is_compared_with_the_threshold() {
        let trials = [failed(0.6), passed(0.8), passed(1.0)];
        let mean = 0.8;
        assert_eq!(
            decide_case(CaseStandard { threshold: 0.7, ..by(Rule::Mean) }, &trials),
            (Status::Passed, Some(mean))
        );
        assert_eq!(
            decide_case(CaseStandard { threshold: 0.7, ..by(Rule::ConfidenceInterval) }, &trials).0,
            Status::Failed
        );
        assert_eq!(
            decide_case(CaseStandard { threshold: 0.1, ..by(Rule::Mean) }, &[passed(1.0), ERROR]).0,
            Status::Error
        );
        assert!(!is_settled(by(Rule::Mean), &trials));
    }

    #[test]
    fn the_interval_of_trials_that_agree_has_a_width() {
        let of = |count: usize| {
            let (outcome, score) = decide_case(by(Rule::ConfidenceInterval), &vec![passed(1.0); count]);
            (outcome, (score.unwrap() * 1e3).round() / 1e3)
        };
        assert_eq!(
            [1, 3, 16, 17].map(of),
            [(Status::Failed, 0.025), (Status::Failed, 0.292), (Status::Failed, 0.794), (Status::Passed, 0.805),]
        );
    }

    #[test]
    fn a_mean_of_trials_is_compared_as_a_decimal_and_counts_their_verdicts() {
        let mean =
            |threshold, trials: &[TrialPoint]| decide_case(CaseStandard { threshold, ..by(Rule::Mean) }, trials).0;
        assert_eq!(mean(0.95, &[passed(0.95), passed(0.95), passed(0.95)]), Status::Passed);
        for scores in [[0.7, 0.6, 0.8], [0.8, 0.7, 0.6]] {
            let trials = scores.map(|score| if score < 0.7 { failed(score) } else { passed(score) });
            assert_eq!(mean(0.7, &trials), Status::Passed, "{scores:?}");
        }
        assert_eq!(mean(0.8, &[passed(0.7), passed(0.7)]), Status::Passed);
        assert_eq!(mean(0.8, &[failed(0.9)]), Status::Failed);
    }

    #[test]
    fn more_errors_than_are_tolerated_are_no_pass() {
        for rule in [Rule::Any, Rule::Every, Rule::Mean, Rule::ConfidenceInterval] {
            let decide = |tolerated_errors, trials: &[TrialPoint]| {
                decide_case(CaseStandard { tolerated_errors, ..by(rule) }, trials).0
            };
            // The lower end of the interval of twenty is 0.83.
            let trials = [vec![ERROR], vec![passed(1.0); 20]].concat();
            assert_eq!((decide(0, &trials), decide(1, &trials)), (Status::Error, Status::Passed), "{rule:?}");
            assert_eq!(decide(5, &[ERROR, ERROR]), Status::Error, "nothing was measured");
        }
        let one = CaseStandard { tolerated_errors: 1, ..by(Rule::Every) };
        assert!(!is_settled(one, &[ERROR, passed(1.0)]) && is_settled(one, &[ERROR, ERROR]));
    }

    #[test]
    fn nothing_but_skips_is_a_skip() {
        assert_eq!(decide_case(by(Rule::Every), &[SKIPPED]), (Status::Skipped, None));
    }

    #[test]
    fn a_skip_after_other_trials_leaves_the_case_undecided_unless_they_decide_it() {
        for rule in [Rule::Every, Rule::Mean, Rule::ConfidenceInterval] {
            let tolerant = CaseStandard { tolerated_errors: 1, ..by(rule) };
            let trials = [vec![passed(1.0); 20], vec![SKIPPED]].concat();
            assert_eq!(decide_case(by(rule), &trials), (Status::Error, decide_case(by(rule), &trials[..20]).1));
            assert_eq!(decide_case(tolerant, &trials).0, Status::Error, "a skip is not an error that is tolerated");
        }
        assert_eq!(decide_case(by(Rule::Every), &[failed(0.1), SKIPPED]).0, Status::Failed);
        assert_eq!(decide_case(by(Rule::Mean), &[failed(0.1), SKIPPED]).0, Status::Error);
        assert_eq!(decide_case(by(Rule::Any), &[failed(0.1), SKIPPED]).0, Status::Error, "the next one might pass");
        assert_eq!(decide_case(by(Rule::Any), &[passed(1.0), SKIPPED]).0, Status::Passed);
    }
}
