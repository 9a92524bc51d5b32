//! The outcome and score of a trial from its graders.

use evalsuite_records::record::{GraderRecord, GraderState, Note, Reason, ReasonCode, Stage, Status, Verdict};
use evalsuite_schema::{Layout, Scoring};

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
        return TrialScore { outcome: Status::Error, score: None, reason: Some(reason), notes: Vec::new() };
    }
    let is_mean = layout.rules().scoring == Scoring::WeightedMean;
    if let Some(closed) = graders.iter().find(|grader| is_mean && gate_is_closed(grader, threshold)) {
        let message = format!("required grader `{}` failed", closed.name);
        let reason = Reason::new(Stage::Grading, ReasonCode::RequiredGraderFailed, message)
            .with_location(closed.location.clone());
        return failed(Some(0.0), reason);
    }
    let weight = |grader: &GraderRecord| if is_mean { grader.weight } else { 1.0 };
    let Some(score) = weighted_mean(decided(graders).filter_map(|grader| Some((weight(grader), grader.value?)))) else {
        let message = "every grader with a weight is undecided";
        return failed(is_mean.then_some(0.0), Reason::new(Stage::Grading, ReasonCode::NothingDecided, message));
    };
    // With the default threshold of tasks, every verdict counts.
    if !is_mean && threshold >= 1.0 {
        let Some(first) = with_verdict(graders, Verdict::Fail).next() else { return passed(score, graders) };
        let message = format!("grader `{}` failed", first.name);
        let reason = Reason::new(Stage::Grading, ReasonCode::ThresholdNotMet, message);
        return failed(Some(score), reason.with_location(first.location.clone()));
    }
    if score >= threshold {
        return passed(score, graders);
    }
    let message = format!("score {score} is below {threshold}");
    failed(Some(score), Reason::new(Stage::Grading, ReasonCode::ThresholdNotMet, message))
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

/// Whether a required grader keeps its trial (or composite) from passing.
pub(crate) fn gate_is_closed(grader: &GraderRecord, threshold: f64) -> bool {
    grader.required
        && (grader.forced_fail || grader.value.is_none_or(|value| value < grader.min_score.unwrap_or(threshold)))
}

/// `Σ weight·value / Σ weight`, summed in order; `None` where the weights are 0 or there are no values.
pub(crate) fn weighted_mean(values: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let values: Vec<(f64, f64)> = values.collect();
    let (mut sum, mut weights) = sums(&values, 1.0);
    if weights.is_infinite() {
        // Every weight is finite; together they are only so in a smaller unit.
        (sum, weights) = sums(&values, f64::EPSILON);
    }
    (weights > 0.0).then(|| sum / weights)
}

/// `Σ weight·value` and `Σ weight`, with weights in another unit.
fn sums(values: &[(f64, f64)], unit: f64) -> (f64, f64) {
    values.iter().fold((0.0, 0.0), |(sum, weights), (weight, value)| {
        let weight = weight * unit;
        (sum + weight * value, weights + weight)
    })
}

fn passed(score: f64, graders: &[GraderRecord]) -> TrialScore {
    let note = |grader: &GraderRecord| {
        let message = format!("grader `{}` failed, but the trial's score is high enough", grader.name);
        Note::new("grader_failed", message)
    };
    let notes = with_verdict(graders, Verdict::Fail).map(note).collect();
    TrialScore { outcome: Status::Passed, score: Some(score), reason: None, notes }
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
        assert_eq!(result(Layout::Cases, &[shown], 0.0), (Failed, Some(0.0)));
        assert_eq!(result(Layout::Cases, &[undecided()], 0.0), (Failed, Some(0.0)));
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
    fn a_closed_gate_fails_the_case_with_0() {
        let gate = |value, min_score| {
            with(required(grader(value)), |record| (record.weight, record.min_score) = (0.0, min_score))
        };
        let closed = [
            gate(0.7, None),
            gate(0.85, Some(0.9)),
            with(gate(1.0, None), |record| record.forced_fail = true),
            required(undecided()),
        ];
        for gate in closed {
            assert_eq!(result(Layout::Cases, &[grader(1.0), gate], 0.8), (Failed, Some(0.0)));
        }
        assert_eq!(result(Layout::Cases, &[grader(1.0), gate(0.5, Some(0.5))], 0.8), (Passed, Some(1.0)));
    }

    #[test]
    fn a_task_needs_every_verdict_unless_its_threshold_is_lower() {
        assert_eq!(result(Layout::Tasks, &[grader(1.0), grader(0.9), undecided()], 1.0), (Passed, Some(0.95)));
        assert_eq!(result(Layout::Tasks, &[grader(1.0), grader(0.5)], 1.0), (Failed, Some(0.75)));
        assert_eq!(result(Layout::Tasks, &[grader(1.0), grader(0.5)], 0.75), (Passed, Some(0.75)));
        assert_eq!(result(Layout::Tasks, &[undecided()], 0.0), (Failed, None));
        assert_eq!(result(Layout::Tasks, &[], 1.0), (Failed, None));
    }

    #[test]
    fn a_broken_grader_makes_the_trial_an_error() {
        let broken = without_value(grader(0.0), GraderState::Error);
        let closed = required(grader(0.0));
        assert_eq!(result(Layout::Cases, &[closed, grader(1.0), broken.clone()], 0.8), (Error, None));
        assert_eq!(result(Layout::Tasks, &[grader(1.0), broken], 1.0), (Error, None));
    }

    #[test]
    fn sums_run_in_the_order_of_the_list() {
        let values = [0.8, 0.8, 0.8];
        let mean = weighted_mean(values.iter().map(|value| (1.0, *value)));
        assert_eq!(mean, Some((0.8 + 0.8 + 0.8) / 3.0));
    }
}
