//! Pure functions that compute the outcome and score of a trial from grader records, of a conversation from its turns, and of a case from
//! its trials.

use evalsuite_records::record::{GraderRecord, GraderState, Note, Reason, ReasonCode, Rule, Stage, Status, Verdict};
use evalsuite_records::sums::{mean, sum};
use evalsuite_schema::decimal::{at_least, at_most, shown_against, without_noise};
use evalsuite_schema::{Aggregation, Layout, Scoring, Strategy, SuiteKind};

use crate::record::statistics::{Summary, guaranteed_interval};

/// What counts of a trial when its case is decided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TrialPoint {
    pub(crate) outcome: Status,
    pub(crate) score: Option<f64>,
}

impl TrialPoint {
    fn counted(&self) -> Option<CountedScore> {
        Some(CountedScore { weight: 1.0, score: self.score?, passed: self.outcome == Status::Passed })
    }
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

/// Outcome and score of a case. Skipped trials do not count; a case of nothing else is skipped. A trial that ended in
/// an error is missing evidence: with more of them than are tolerated, the case is not passed, regardless of the
/// others.
pub(crate) fn decide_case(standard: CaseStandard, trials: &[TrialPoint]) -> (Status, Option<f64>) {
    let CaseStandard { rule, threshold, tolerated_errors } = standard;
    let [passed, failed, errors] =
        [Status::Passed, Status::Failed, Status::Error].map(|outcome| count(trials, outcome));
    if passed + failed + errors == 0 {
        return (Status::Skipped, None);
    }
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
        Rule::Any => Status::Failed,
        Rule::Every => Status::Passed,
        Rule::Mean | Rule::ConfidenceInterval => {
            let counted: Vec<f64> = completed().filter_map(|trial| Some(trial.counted()?.counted(threshold))).collect();
            let measured = match rule {
                Rule::Mean => Summary::of(&counted).map(|summary| summary.mean),
                _ => lower_end(&counted),
            };
            if measured.is_some_and(|measured| at_least(measured, threshold)) { Status::Passed } else { Status::Failed }
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

/// Scores a conversation from its turns and the graders of the whole. A turn without graders (`None`) scores 1; a turn that is not
/// decided is left out.
pub(crate) fn score_conversation(
    aggregation: Aggregation,
    turns: &[Option<TrialScore>],
    whole: Option<TrialScore>,
    threshold: f64,
) -> TrialScore {
    let all = || turns.iter().flatten().chain(&whole);
    let notes = all().flat_map(|score| score.notes.iter().cloned()).collect();
    let ended = |outcome, score, reason| TrialScore { outcome, score, reason, notes };
    let because = |score: &TrialScore, code| score.reason.as_ref().is_some_and(|reason| reason.code == code);
    let is_error = |score: &&TrialScore| score.outcome == Status::Error && !because(score, ReasonCode::NothingDecided);
    if let Some(broken) = all().find(is_error) {
        return ended(Status::Error, None, broken.reason.clone());
    }
    let counted = |score: &TrialScore| {
        Some(CountedScore { weight: 1.0, score: score.score?, passed: score.outcome == Status::Passed })
    };
    let ungraded = CountedScore { weight: 1.0, score: 1.0, passed: true };
    let of_turn = |turn: &Option<TrialScore>| turn.as_ref().map_or(Some(ungraded), counted);
    let scores: Vec<CountedScore> = turns.iter().filter_map(of_turn).chain(whole.as_ref().and_then(counted)).collect();
    if scores.is_empty() {
        if let Some(advised) = all().find(|score| because(score, ReasonCode::JudgeBelowBar)) {
            return ended(Status::Skipped, None, advised.reason.clone());
        }
        let reason = Reason::new(Stage::Grading, ReasonCode::NothingDecided, "every grader of every turn is undecided");
        return ended(Status::Error, None, Some(reason));
    }
    let how = match aggregation {
        Aggregation::Mean => "mean",
        Aggregation::Min => "lowest",
        Aggregation::Max => "highest",
    };
    let aggregate = |value: fn(CountedScore, f64) -> f64| {
        let values: Vec<f64> = scores.iter().map(|score| value(*score, threshold)).collect();
        match aggregation {
            Aggregation::Mean => mean(&values).unwrap_or(0.0),
            Aggregation::Min => values.into_iter().fold(f64::INFINITY, f64::min),
            Aggregation::Max => values.into_iter().fold(f64::NEG_INFINITY, f64::max),
        }
    };
    let score = aggregate(|score, _| score.score);
    if let Some(guard) = all().find(|score| because(score, ReasonCode::RequiredGraderFailed)) {
        return ended(Status::Failed, Some(score), guard.reason.clone());
    }
    if at_least(aggregate(CountedScore::counted), threshold) {
        return ended(Status::Passed, Some(score), None);
    }
    let message = match at_least(score, threshold) {
        true => "the graders of a turn failed".to_owned(),
        false => {
            let score = shown_against(score, threshold);
            format!("the {how} of the scores of the turns and of the whole, {score}, is below {threshold}")
        }
    };
    ended(Status::Failed, Some(score), Some(Reason::new(Stage::Grading, ReasonCode::ThresholdNotMet, message)))
}

/// How far below the threshold a score counts that reaches the threshold although its verdict is `fail`: less than scores differ by, and
/// more than the rounding noise that comparisons forgive.
const JUST_BELOW: f64 = 1e-9;

/// A score with its verdict, and its weight in a mean.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CountedScore {
    pub(crate) weight: f64,
    pub(crate) score: f64,
    pub(crate) passed: bool,
}

impl CountedScore {
    /// The score as it counts towards passing: at least the threshold if its verdict is `pass`, less than the threshold if it is `fail`.
    pub(crate) fn counted(self, threshold: f64) -> f64 {
        if self.passed { self.score.max(threshold) } else { self.score.min(threshold - JUST_BELOW) }
    }
}

/// Whether the weighted mean of scores, as they count towards passing, reaches the threshold. If all of them passed, it does; if none of
/// them passed, it does not. A mean that is the threshold does not reach it if one of the scores counts as less, however small its weight.
pub(crate) fn mean_passes(scores: &[CountedScore], threshold: f64) -> bool {
    let limited = |score: &CountedScore| {
        if score.passed { score.score.max(threshold) } else { score.score.min(threshold) }
    };
    let counts_as_less = |score: &CountedScore| score.weight > 0.0 && !score.passed && at_least(score.score, threshold);
    let is_less = scores.iter().any(counts_as_less);
    let mean = weighted_mean(scores.iter().map(|score| (score.weight, limited(score))));
    mean.is_some_and(|mean| if is_less { !at_most(mean, threshold) } else { at_least(mean, threshold) })
}

/// `Σ weight·value / Σ weight`, the same for every order of the values; `None` where the weights are 0 or there are no values.
pub(crate) fn weighted_mean(values: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let values: Vec<(f64, f64)> = values.collect();
    // Weights that are finite one by one can have an infinite sum: they count as shares of the largest one.
    let largest = values.iter().fold(0.0, |largest: f64, (weight, _)| largest.max(*weight));
    let unit = if largest > 1e100 { largest } else { 1.0 };
    let weights = sum(values.iter().map(|(weight, _)| weight / unit));
    let total = sum(values.iter().map(|(weight, value)| weight / unit * value));
    (weights > 0.0).then(|| without_noise(total / weights))
}

/// The outcome and score of a trial.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TrialScore {
    pub(crate) outcome: Status,
    pub(crate) score: Option<f64>,
    pub(crate) reason: Option<Reason>,
    pub(crate) notes: Vec<Note>,
}

impl TrialScore {
    /// The score of a turn that was not run because an earlier one failed.
    pub(crate) fn not_run() -> Self {
        Self { outcome: Status::Skipped, score: Some(0.0), reason: None, notes: Vec::new() }
    }
}

/// Scores a trial whose agent returned an outcome.
pub(crate) fn score_trial(layout: Layout, graders: &[GraderRecord], threshold: f64) -> TrialScore {
    if let Some(advice) = graders.iter().find_map(|grader| grader.advisory.as_deref()) {
        return score_without_advice(layout, graders, advice, threshold);
    }
    if let Some(broken) = graders.iter().find(|grader| grader.state == GraderState::Error) {
        let message = format!("grader `{}`: {}", broken.name, broken.error.as_deref().unwrap_or_default());
        let code = code_of(broken).unwrap_or(ReasonCode::GraderError);
        let reason = Reason::new(Stage::Grading, code, message).with_location(broken.location.clone());
        return error(reason);
    }
    let is_mean = layout.rules().scoring == Scoring::WeightedMean;
    // With the default threshold of tasks, every verdict counts.
    let every_verdict_counts = !is_mean && threshold >= 1.0;
    let is_undecided = |grader: &&GraderRecord| grader.required && grader.state == GraderState::Undecided;
    if let Some(first) = graders.iter().find(is_undecided).filter(|_| !every_verdict_counts) {
        let why = first.rationale.as_deref().unwrap_or_default();
        let message = format!("required grader `{}` is undecided: {why}", first.name);
        let reason = Reason::new(Stage::Grading, ReasonCode::RequiredGraderUndecided, message);
        return error(reason.with_location(first.location.clone()));
    }
    let scores: Vec<CountedScore> = decided(graders)
        .filter_map(|grader| {
            let weight = if is_mean { grader.weight } else { 1.0 };
            Some(CountedScore { weight, score: grader.value?, passed: grader.verdict.is_some_and(Verdict::is_pass) })
        })
        .collect();
    let mean = weighted_mean(scores.iter().map(|score| (score.weight, score.score)));
    let broken = || graders.iter().filter(|grader| !every_verdict_counts && is_broken_guard(grader));
    if let Some(first) = broken().find(|grader| grader.required).or_else(|| broken().next()) {
        let averaged = mean.is_some_and(|mean| at_least(mean, threshold)).then_some(threshold);
        let reason = Reason::new(Stage::Grading, ReasonCode::RequiredGraderFailed, broken_guard(first, averaged));
        let score = if first.required { 0.0 } else { mean.unwrap_or(0.0) };
        return failed(Some(score), reason.with_location(first.location.clone()));
    }
    let Some(score) = mean else {
        return error(Reason::new(Stage::Grading, ReasonCode::NothingDecided, nothing_decided(graders)));
    };
    let first_failed = with_verdict(graders, Verdict::Fail).find(|grader| !is_mean || grader.weight > 0.0);
    let passes = if every_verdict_counts { first_failed.is_none() } else { mean_passes(&scores, threshold) };
    if passes {
        return passed(score, threshold, graders);
    }
    let reason = |message| Reason::new(Stage::Grading, ReasonCode::ThresholdNotMet, message);
    let reason = match first_failed {
        Some(first) if every_verdict_counts || at_least(score, threshold) => {
            reason(format!("grader `{}` failed", first.name)).with_location(first.location.clone())
        }
        _ => reason(format!("score {} is below {threshold}", shown_against(score, threshold))),
    };
    failed(Some(score), reason)
}

/// Why no grader with a weight decides.
fn nothing_decided(graders: &[GraderRecord]) -> String {
    let undecided = graders.iter().filter(|grader| grader.state == GraderState::Undecided);
    let whys = undecided.map(|grader| {
        let why = grader.rationale.as_deref().unwrap_or_default();
        format!("grader `{}` is undecided: {why}", grader.name)
    });
    let whys: Vec<String> = whys.collect();
    if whys.is_empty() { "no grader with a weight decides".to_owned() } else { whys.join("; ") }
}

/// Why a guard keeps its trial from passing. If the plain mean, of which other tools ask for no more, reaches the `averaged` threshold, the
/// text says how to have that back.
fn broken_guard(grader: &GraderRecord, averaged: Option<f64>) -> String {
    let GraderRecord { name, required, members, rationale, .. } = grader;
    match (rationale, averaged) {
        (Some(why), _) if !members.is_empty() => format!("grader `{name}` failed: {why}"),
        _ if *required => format!("required grader `{name}` failed"),
        (_, None) => format!("grader `{name}` failed, and the case with it"),
        // With this mark, the score counts as in the plain mean.
        (_, Some(threshold)) => {
            let mark = if threshold > 0.0 { threshold.min(1.0) } else { 1.0 };
            format!(
                "grader `{name}` failed, and no other grader makes up for it; to average its score instead, write \
                 `min_score: {mark}`"
            )
        }
    }
}

/// Scores a trial without its advisory graders; skips it if there are no others.
fn score_without_advice(layout: Layout, graders: &[GraderRecord], advice: &str, threshold: f64) -> TrialScore {
    let deciding: Vec<GraderRecord> = graders.iter().filter(|grader| grader.advisory.is_none()).cloned().collect();
    if !deciding.is_empty() {
        return score_trial(layout, &deciding, threshold);
    }
    let message = format!("every grader asks a judge that is below the suite's `minimum`: {advice}");
    let reason = Reason::new(Stage::Grading, ReasonCode::JudgeBelowBar, message);
    TrialScore { outcome: Status::Skipped, score: None, reason: Some(reason), notes: Vec::new() }
}

/// The reason code of a grader with an error, or of its member with one.
fn code_of(grader: &GraderRecord) -> Option<ReasonCode> {
    grader.code.or_else(|| grader.members.iter().find_map(code_of))
}

pub(crate) fn decided(graders: &[GraderRecord]) -> impl Iterator<Item = &GraderRecord> {
    graders.iter().filter(|grader| grader.state == GraderState::Decided)
}

/// The decided graders with this verdict.
pub(crate) fn with_verdict(graders: &[GraderRecord], verdict: Verdict) -> impl Iterator<Item = &GraderRecord> {
    decided(graders).filter(move |grader| grader.verdict == Some(verdict))
}

/// Whether a grader keeps its trial (or composite) from passing, whatever the others say.
pub(crate) fn is_broken_guard(grader: &GraderRecord) -> bool {
    grader.verdict == Some(Verdict::Fail) && (grader.required || grader.guard)
}

fn passed(score: f64, threshold: f64, graders: &[GraderRecord]) -> TrialScore {
    let note = |grader: &GraderRecord| {
        let message = format!("grader `{}` failed, but the trial's score is high enough", grader.name);
        Note::new("grader_failed", message)
    };
    let mut notes: Vec<Note> = with_verdict(graders, Verdict::Fail).map(note).collect();
    if !at_least(score, threshold) {
        let score = shown_against(score, threshold);
        let message = format!("score {score} is below {threshold}, but graders pass with less by their own pass marks");
        notes.push(Note::new("passed_by_own_marks", message));
    }
    TrialScore { outcome: Status::Passed, score: Some(score), reason: None, notes }
}

fn error(reason: Reason) -> TrialScore {
    TrialScore { outcome: Status::Error, score: None, reason: Some(reason), notes: Vec::new() }
}

fn failed(score: Option<f64>, reason: Reason) -> TrialScore {
    TrialScore { outcome: Status::Failed, score, reason: Some(reason), notes: Vec::new() }
}

#[cfg(test)]
mod case_score_tests {
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
        assert_eq!(decide_case(by(Rule::Every), &[passed(1.0), SKIPPED]).0, Status::Passed);
    }
}

#[cfg(test)]
mod conversation_score_tests {
    use Aggregation::{Max, Mean, Min};
    use Status::{Error, Failed, Passed};

    use super::*;

    fn turn(score: f64) -> Option<TrialScore> {
        let outcome = if score >= 0.8 { Status::Passed } else { Status::Failed };
        Some(TrialScore { outcome, score: Some(score), reason: None, notes: Vec::new() })
    }

    fn because(code: ReasonCode, outcome: Status) -> Option<TrialScore> {
        let reason = Some(Reason::new(Stage::Grading, code, "why"));
        let score = (outcome == Status::Failed).then_some(0.0);
        Some(TrialScore { outcome, score, reason, notes: Vec::new() })
    }

    fn decide(
        aggregation: Aggregation,
        turns: &[Option<TrialScore>],
        whole: Option<TrialScore>,
    ) -> (Status, Option<f64>) {
        let score = score_conversation(aggregation, turns, whole, 0.8);
        (score.outcome, score.score)
    }

    #[test]
    fn turns_and_the_whole_are_combined_as_the_case_says() {
        let turns = [turn(0.5), None];
        assert_eq!(decide(Mean, &turns, None), (Failed, Some(0.75)));
        assert_eq!(decide(Mean, &turns, turn(1.0)), (Passed, Some(2.5 / 3.0)));
        assert_eq!(decide(Min, &turns, turn(0.9)), (Failed, Some(0.5)));
        assert_eq!(decide(Max, &turns, None), (Passed, Some(1.0)));
        assert_eq!(decide(Mean, &[turn(0.5), Some(TrialScore::not_run())], None), (Failed, Some(0.25)));
    }

    #[test]
    fn an_undecided_turn_is_left_out() {
        let undecided = || because(ReasonCode::NothingDecided, Error);
        assert_eq!(decide(Mean, &[turn(0.9), undecided()], undecided()), (Passed, Some(0.9)));
        let nothing = score_conversation(Mean, &[undecided()], None, 0.0);
        assert_eq!((nothing.outcome, nothing.score), (Error, None));
        assert_eq!(nothing.reason.map(|reason| reason.code), Some(ReasonCode::NothingDecided));
    }

    #[test]
    fn turns_whose_judge_is_not_good_enough_are_left_out() {
        let advised = || {
            let score = because(ReasonCode::JudgeBelowBar, Status::Skipped);
            score.map(|score| TrialScore { score: None, ..score })
        };
        assert_eq!(decide(Mean, &[turn(0.9), advised()], advised()), (Passed, Some(0.9)));
        assert_eq!(decide(Mean, &[advised(), advised()], None), (Status::Skipped, None));
    }

    #[test]
    fn a_broken_guard_of_a_turn_or_of_the_whole_fails_the_trial() {
        let gate = || because(ReasonCode::RequiredGraderFailed, Failed);
        assert_eq!(decide(Max, &[turn(1.0)], gate()), (Failed, Some(1.0)));
        assert_eq!(decide(Max, &[turn(1.0), gate()], None), (Failed, Some(1.0)));
        let turns: Vec<_> = (0..6).map(|_| turn(1.0)).chain([gate()]).collect();
        assert_eq!(decide(Mean, &turns, None).0, Failed);
    }

    #[test]
    fn a_turn_counts_by_its_verdict() {
        let with = |outcome, score| Some(TrialScore { outcome, score: Some(score), reason: None, notes: Vec::new() });
        assert_eq!(decide(Mean, &[with(Passed, 0.7), with(Passed, 0.7)], None), (Passed, Some(0.7)));
        assert_eq!(decide(Mean, &[with(Failed, 0.9)], None), (Failed, Some(0.9)));
        assert_eq!(decide(Min, &[with(Failed, 0.9), turn(1.0)], None), (Failed, Some(0.9)));
        assert_eq!(decide(Mean, &[turn(0.95), turn(0.7), turn(0.75)], None), (Passed, Some(0.8)));
    }

    #[test]
    fn a_broken_grader_makes_the_trial_an_error() {
        let broken = || because(ReasonCode::GraderError, Error);
        assert_eq!(decide(Max, &[turn(1.0), broken()], None), (Error, None));
        assert_eq!(decide(Max, &[turn(1.0)], broken()), (Error, None));
    }
}

#[cfg(test)]
mod trial_score_tests {
    use Status::{Error, Failed, Passed};
    use evalsuite_schema::Location;

    use super::*;

    fn grader(value: f64) -> GraderRecord {
        let mut record = GraderRecord::default();
        record.name = "g".into();
        record.grader_type = "contains".into();
        record.state = GraderState::Decided;
        record.value = Some(value);
        record.verdict = Some(Verdict::from_passed(value >= 0.8));
        record.pass_mark = Some(0.8);
        record.weight = 1.0;
        record.location = Location::new("f", 1, 1);
        record
    }

    fn with(mut record: GraderRecord, set: impl FnOnce(&mut GraderRecord)) -> GraderRecord {
        set(&mut record);
        record
    }

    /// The grader ended without a value.
    fn without_value(record: GraderRecord, state: GraderState) -> GraderRecord {
        with(record, |record| (record.state, record.value, record.verdict) = (state, None, None))
    }

    fn required(record: GraderRecord) -> GraderRecord {
        with(record, |record| record.required = true)
    }

    fn undecided() -> GraderRecord {
        without_value(grader(0.0), GraderState::Undecided)
    }

    fn result(layout: Layout, graders: &[GraderRecord], threshold: f64) -> (Status, Option<f64>) {
        let score = score_trial(layout, graders, threshold);
        (score.outcome, score.score)
    }

    #[test]
    fn the_weighted_mean_decides_a_case() {
        let heavy = with(grader(1.0), |record| record.weight = 3.0);
        assert_eq!(result(Layout::Cases, &[heavy.clone(), grader(0.2)], 0.8), (Passed, Some(0.8)));
        let shown = with(grader(0.0), |record| record.weight = 0.0);
        assert_eq!(result(Layout::Cases, &[grader(1.0), shown.clone()], 0.8), (Passed, Some(1.0)));
        assert_eq!(result(Layout::Cases, &[shown], 0.0), (Error, None));
        let notes = score_trial(Layout::Cases, &[heavy, grader(0.2)], 0.8).notes;
        assert_eq!(notes.len(), 1, "a failed grader of a passed trial is noted");
    }

    #[test]
    fn what_a_judge_below_the_minimum_says_decides_nothing() {
        let advice = |value| with(grader(value), |record| record.advisory = Some("κ 0.10 < 0.60".into()));
        for layout in [Layout::Cases, Layout::Tasks] {
            assert_eq!(result(layout, &[grader(1.0), advice(0.0)], 0.8), (Passed, Some(1.0)));
            assert_eq!(result(layout, &[grader(0.0), advice(1.0)], 0.8), (Failed, Some(0.0)));
            let closed = required(advice(0.0));
            assert_eq!(result(layout, &[grader(1.0), closed], 0.8), (Passed, Some(1.0)));
            let broken = without_value(advice(0.0), GraderState::Error);
            assert_eq!(result(layout, &[grader(1.0), broken], 0.8), (Passed, Some(1.0)));
            let only_advisory = score_trial(layout, &[advice(1.0)], 0.8);
            assert_eq!((only_advisory.outcome, only_advisory.score), (Status::Skipped, None));
            assert_eq!(only_advisory.reason.map(|reason| reason.code), Some(ReasonCode::JudgeBelowBar));
        }
    }

    #[test]
    fn a_broken_guard_fails_the_case_and_a_required_one_with_0() {
        let gate = |value| with(required(grader(value)), |record| record.weight = 0.0);
        let guard = |value| with(grader(value), |record| record.guard = true);
        let failing = |record| with(record, |record| record.verdict = Some(Verdict::Fail));
        let closed = [gate(0.7), failing(gate(0.85))];
        for gate in [failing(guard(0.0)), failing(guard(1.0))] {
            for (layout, threshold) in [(Layout::Cases, 0.8), (Layout::Tasks, 0.8), (Layout::Cases, 1.0)] {
                let graders = [grader(1.0), grader(1.0), grader(1.0), grader(1.0), gate.clone()];
                let mean = if gate.value == Some(1.0) { 1.0 } else { 0.8 };
                assert_eq!(result(layout, &graders, threshold), (Failed, Some(mean)), "{gate:?}");
                assert_eq!(result(layout, &[gate.clone(), closed[0].clone()], threshold), (Failed, Some(0.0)));
            }
        }
        for gate in closed {
            for (layout, threshold) in [(Layout::Cases, 0.8), (Layout::Cases, 0.0), (Layout::Tasks, 0.7)] {
                let neighbours = [grader(1.0), grader(1.0), grader(1.0), grader(1.0), gate.clone()];
                assert_eq!(result(layout, &neighbours, threshold), (Failed, Some(0.0)), "{gate:?}");
            }
        }
        let passing = with(gate(0.5), |record| record.verdict = Some(Verdict::Pass));
        assert_eq!(result(Layout::Cases, &[grader(1.0), passing], 0.8), (Passed, Some(1.0)));
        let undecided = with(undecided(), |record| record.guard = true);
        assert_eq!(result(Layout::Cases, &[grader(1.0), undecided], 0.8), (Passed, Some(1.0)));
    }

    #[test]
    fn a_verdict_counts_towards_passing_and_its_score_is_averaged() {
        let verdict = |value, verdict| with(grader(value), |record| record.verdict = Some(verdict));
        let (pass, fail) = (verdict(0.7, Verdict::Pass), verdict(0.9, Verdict::Fail));
        assert_eq!(result(Layout::Cases, std::slice::from_ref(&pass), 0.8), (Passed, Some(0.7)));
        assert_eq!(result(Layout::Cases, std::slice::from_ref(&fail), 0.8), (Failed, Some(0.9)));
        let heavy = with(pass.clone(), |record| record.weight = 1000.0);
        assert_eq!(result(Layout::Cases, &[fail.clone(), heavy], 0.8).0, Failed, "nobody has more than the threshold");
        assert_eq!(result(Layout::Cases, &[fail.clone(), grader(1.0)], 0.8), (Passed, Some(0.95)));
        let reason = score_trial(Layout::Cases, &[fail], 0.8).reason.unwrap();
        assert_eq!(reason.message, "grader `g` failed");
    }

    #[test]
    fn neither_order_nor_rounding_decides() {
        let graders = |values: &[f64]| values.iter().map(|value| grader(*value)).collect::<Vec<_>>();
        assert_eq!(result(Layout::Cases, &graders(&[0.95, 0.95, 0.95]), 0.95), (Passed, Some(0.95)));
        for values in [[0.7, 0.6, 0.8], [0.8, 0.7, 0.6], [0.6, 0.8, 0.7]] {
            let all = values
                .map(|value| with(grader(value), |record| record.verdict = Some(Verdict::from_passed(value >= 0.7))));
            let ours = score_trial(Layout::Cases, &all, 0.7);
            assert_eq!(ours.score, Some(0.7), "{values:?}");
        }
        let almost = with(grader(0.949_999), |record| record.verdict = Some(Verdict::Fail));
        let below = score_trial(Layout::Cases, &[almost], 0.95).reason.unwrap();
        assert_eq!(below.message, "score 0.949999 is below 0.95");
    }

    #[test]
    fn a_task_needs_every_verdict_unless_its_threshold_is_lower() {
        assert_eq!(result(Layout::Tasks, &[grader(1.0), grader(0.9), undecided()], 1.0), (Passed, Some(0.95)));
        assert_eq!(result(Layout::Tasks, &[grader(1.0), grader(0.5)], 1.0), (Failed, Some(0.75)));
        assert_eq!(result(Layout::Tasks, &[grader(1.0), grader(0.5)], 0.75), (Passed, Some(0.75)));
        assert_eq!(result(Layout::Tasks, &[], 1.0), (Error, None));
    }

    #[test]
    fn what_is_not_decided_is_neither_a_fail_nor_a_pass() {
        let undecided = || with(undecided(), |record| record.rationale = Some("no file".into()));
        for (layout, threshold) in
            [(Layout::Cases, 0.8), (Layout::Cases, 0.0), (Layout::Tasks, 0.7), (Layout::Tasks, 1.0)]
        {
            let only = score_trial(layout, &[undecided()], threshold);
            assert_eq!((only.outcome, only.score), (Error, None), "{layout:?} {threshold}");
            let reason = only.reason.unwrap();
            assert_eq!(reason.code, ReasonCode::NothingDecided);
            assert_eq!(reason.message, "grader `g` is undecided: no file");
        }
        for other in [grader(1.0), required(grader(0.0))] {
            let score = score_trial(Layout::Cases, &[other, required(undecided())], 0.8);
            assert_eq!((score.outcome, score.score), (Error, None));
            let reason = score.reason.unwrap();
            assert_eq!(reason.code, ReasonCode::RequiredGraderUndecided);
            assert_eq!(reason.message, "required grader `g` is undecided: no file");
        }
    }

    #[test]
    fn a_broken_grader_makes_the_trial_an_error() {
        let broken = without_value(grader(0.0), GraderState::Error);
        let closed = required(grader(0.0));
        assert_eq!(result(Layout::Cases, &[closed, grader(1.0), broken.clone()], 0.8), (Error, None));
        assert_eq!(result(Layout::Tasks, &[grader(1.0), broken], 1.0), (Error, None));
    }
}
