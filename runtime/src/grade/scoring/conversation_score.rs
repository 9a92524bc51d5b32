//! The outcome and score of a conversation, from its turns and from the graders of the whole conversation.

use evalsuite_records::record::{Reason, ReasonCode, Stage, Status};
use evalsuite_schema::Aggregation;

use crate::grade::scoring::trial_score::TrialScore;
use crate::record::statistics::Summary;

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
    if let Some(broken) = all().find(|score| score.outcome == Status::Error) {
        return ended(Status::Error, None, broken.reason.clone());
    }
    let ended_with = |score: &TrialScore, code| score.reason.as_ref().is_some_and(|reason| reason.code == code);
    let decided = |score: &TrialScore| {
        if ended_with(score, ReasonCode::NothingDecided) { None } else { score.score }
    };
    let of_turn = |turn: &Option<TrialScore>| turn.as_ref().map_or(Some(1.0), decided);
    let scores: Vec<f64> = turns.iter().filter_map(of_turn).chain(whole.as_ref().and_then(decided)).collect();
    let Some(summary) = Summary::of(&scores) else {
        if let Some(advised) = all().find(|score| ended_with(score, ReasonCode::JudgeBelowBar)) {
            return ended(Status::Skipped, None, advised.reason.clone());
        }
        let reason = Reason::new(Stage::Grading, ReasonCode::NothingDecided, "every grader of every turn is undecided");
        return ended(Status::Failed, Some(0.0), Some(reason));
    };
    let (how, score) = match aggregation {
        Aggregation::Mean => ("mean", summary.mean),
        Aggregation::Min => ("lowest", summary.min),
        Aggregation::Max => ("highest", summary.max),
    };
    let gate = whole.as_ref().and_then(|whole| whole.reason.as_ref());
    if let Some(gate) = gate.filter(|reason| reason.code == ReasonCode::RequiredGraderFailed) {
        return ended(Status::Failed, Some(score), Some(gate.clone()));
    }
    if score >= threshold {
        return ended(Status::Passed, Some(score), None);
    }
    let message = format!("the {how} of the scores of the turns and of the whole, {score}, is below {threshold}");
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

    fn decide(
        aggregation: Aggregation,
        turns: &[Option<TrialScore>],
        whole: Option<TrialScore>,
    ) -> (Status, Option<f64>) {
        let score = score_conversation(aggregation, turns, whole, 0.8);
        (score.outcome, score.score)
    }

    use Aggregation::{Max, Mean, Min};
    use Status::{Error, Failed, Passed};

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
        let undecided = || because(ReasonCode::NothingDecided, Failed);
        assert_eq!(decide(Mean, &[turn(0.9), undecided()], undecided()), (Passed, Some(0.9)));
        let nothing = score_conversation(Mean, &[undecided()], None, 0.0);
        assert_eq!((nothing.outcome, nothing.score), (Failed, Some(0.0)));
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
    fn a_gate_of_the_whole_fails_the_trial_and_one_of_a_turn_only_its_turn() {
        let gate = || because(ReasonCode::RequiredGraderFailed, Failed);
        assert_eq!(decide(Max, &[turn(1.0)], gate()), (Failed, Some(1.0)));
        assert_eq!(decide(Max, &[turn(1.0), gate()], None), (Passed, Some(1.0)));
    }

    #[test]
    fn a_broken_grader_makes_the_trial_an_error() {
        let broken = || because(ReasonCode::GraderError, Error);
        assert_eq!(decide(Max, &[turn(1.0), broken()], None), (Error, None));
        assert_eq!(decide(Max, &[turn(1.0)], broken()), (Error, None));
    }
}
