//! The outcome and score of a trial from its graders.

use evalsuite_records::record::{GraderRecord, GraderState, Note, Reason, ReasonCode, Stage, Status, Verdict};
use evalsuite_schema::decimal::{at_least, shown_against};
use evalsuite_schema::{Layout, Scoring};

use crate::grade::scoring::{CountedScore, mean_passes, weighted_mean};

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
    if let Some(first) = graders.iter().find(is_undecided) {
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

/// Scores a trial without its advisory graders; skips it if none of the others counts.
fn score_without_advice(layout: Layout, graders: &[GraderRecord], advice: &str, threshold: f64) -> TrialScore {
    let others: Vec<GraderRecord> = graders.iter().filter(|grader| grader.advisory.is_none()).cloned().collect();
    let is_weighted = layout.rules().scoring == Scoring::WeightedMean;
    let counts = |grader: &GraderRecord| {
        !is_weighted || grader.weight > 0.0 || grader.required || grader.state == GraderState::Error
    };
    if others.iter().any(counts) {
        return score_trial(layout, &others, threshold);
    }
    let message = format!("every grader that counts asks a judge that is below the suite's `minimum`: {advice}");
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
fn with_verdict(graders: &[GraderRecord], verdict: Verdict) -> impl Iterator<Item = &GraderRecord> {
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
mod tests {
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

    use Status::{Error, Failed, Passed};

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
        let shown = |value| with(grader(value), |record| record.weight = 0.0);
        assert_eq!(result(Layout::Cases, &[advice(1.0), shown(1.0)], 0.8), (Status::Skipped, None));
        assert_eq!(result(Layout::Cases, &[advice(1.0), required(shown(0.0))], 0.8), (Failed, Some(0.0)));
        let broken = without_value(shown(0.0), GraderState::Error);
        assert_eq!(result(Layout::Cases, &[advice(1.0), broken], 0.8), (Error, None));
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
    fn a_heavy_grader_at_the_threshold_rounds_no_other_away() {
        let heavy = |value: f64| with(grader(value), |record| record.weight = 2e13);
        for threshold in [0.5, 1.0] {
            assert_eq!(result(Layout::Cases, &[heavy(threshold), grader(0.0)], threshold).0, Failed, "{threshold}");
            assert_eq!(result(Layout::Cases, &[heavy(threshold), grader(1.0)], threshold).0, Passed, "{threshold}");
        }
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
