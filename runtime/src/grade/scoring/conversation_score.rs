//! The outcome and score of a conversation, from its turns and from the graders of the whole conversation.

use evalsuite_records::exact_sums::mean;
use evalsuite_records::record::{Reason, ReasonCode, Stage, Status};
use evalsuite_schema::Aggregation;
use evalsuite_schema::decimal::{at_least, shown_against};

use crate::grade::scoring::CountedScore;
use crate::grade::scoring::trial_score::TrialScore;
use crate::record::trial_statistics::counted_score;

/// Scores a conversation from the turns that are graded and the graders of the whole. A turn that is not decided is left out.
pub(crate) fn score_conversation(
    aggregation: Aggregation,
    turns: &[TrialScore],
    whole: Option<TrialScore>,
    threshold: f64,
) -> TrialScore {
    let all = || turns.iter().chain(&whole);
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
    let scores: Vec<CountedScore> = all().filter_map(counted).collect();
    if scores.is_empty() {
        if let Some(advised) = all().find(|score| because(score, ReasonCode::JudgeBelowBar)) {
            return ended(Status::Skipped, None, advised.reason.clone());
        }
        let why = match all().next() {
            Some(_) => "every grader of the turns and of the whole is undecided",
            None => "nothing grades the turns or the whole",
        };
        return ended(Status::Error, None, Some(Reason::new(Stage::Grading, ReasonCode::NothingDecided, why)));
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
    if at_least(aggregate(|it, threshold| counted_score(it.score, it.passed, threshold)), threshold) {
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

#[cfg(test)]
mod tests {
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

    /// `None`: nothing grades the turn, or the whole.
    fn score(aggregation: Aggregation, turns: &[Option<TrialScore>], whole: Option<TrialScore>) -> TrialScore {
        let turns: Vec<TrialScore> = turns.iter().flatten().cloned().collect();
        score_conversation(aggregation, &turns, whole, 0.8)
    }

    fn decide(
        aggregation: Aggregation,
        turns: &[Option<TrialScore>],
        whole: Option<TrialScore>,
    ) -> (Status, Option<f64>) {
        let score = score(aggregation, turns, whole);
        (score.outcome, score.score)
    }

    use Aggregation::{Max, Mean, Min};
    use Status::{Error, Failed, Passed};

    #[test]
    fn turns_and_the_whole_are_combined_as_the_case_says() {
        let turns = [turn(0.5), turn(1.0)];
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
        let nothing = score(Mean, &[undecided()], None);
        assert_eq!((nothing.outcome, nothing.score), (Error, None));
        assert_eq!(nothing.reason.map(|reason| reason.code), Some(ReasonCode::NothingDecided));
    }

    #[test]
    fn a_turn_that_nothing_grades_does_not_count() {
        assert_eq!(decide(Mean, &[None, None, None, None, None], turn(0.0)), (Failed, Some(0.0)));
        assert_eq!(decide(Max, &[turn(0.5), None], None), (Failed, Some(0.5)));
        let undecided = || because(ReasonCode::NothingDecided, Error).map(|score| TrialScore { score: None, ..score });
        assert_eq!(decide(Mean, &[None, None], None), (Error, None));
        assert_eq!(decide(Mean, &[None, undecided()], undecided()), (Error, None));
        let advised = because(ReasonCode::JudgeBelowBar, Status::Skipped);
        let advised = advised.map(|score| TrialScore { score: None, ..score });
        assert_eq!(decide(Mean, &[None], advised), (Status::Skipped, None));
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
