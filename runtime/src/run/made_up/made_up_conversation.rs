//! Made-up replies to the turns of a conversation.

use evalsuite_records::record::{Status, TurnRecord};
use evalsuite_schema::{Conversation, OnTurnFailure, Turn};

use crate::grade::scoring::{TrialScore, score_conversation};
use crate::model::evidence::Facts;
use crate::model::messages::role_blocks;
use crate::run::made_up::bounded_grading::{Bounded, NotRun};
use crate::run::made_up::made_up_grading::{MadeUpGrading, Surroundings};
use crate::run::made_up::{GradedResult, MadeUpResult};
use crate::run::selection::case_graders::turn_graders;
use crate::run::trial::conversation::conversation_so_far::ConversationSoFar;
use crate::run::trial::conversation::{shown, turn_folder, turn_not_run};

/// The scores of the turns if all graders that were not run fail, or pass.
#[derive(Default)]
struct TurnScores {
    scores: Vec<Option<TrialScore>>,
    /// Whether no further turn is run.
    is_stopped: bool,
}

impl TurnScores {
    fn add(&mut self, score: Option<TrialScore>, on_failure: OnTurnFailure) {
        if self.is_stopped {
            return self.scores.push(Some(TrialScore::not_run()));
        }
        let failed = score.as_ref().is_some_and(|score| matches!(shown(score).1, Status::Failed | Status::Error));
        self.is_stopped = failed && on_failure == OnTurnFailure::Stop;
        self.scores.push(score);
    }
}

impl MadeUpGrading<'_> {
    pub(super) fn grade_conversation(
        &self,
        conversation: &Conversation,
        result: &MadeUpResult,
        surroundings: &Surroundings,
    ) -> GradedResult {
        let case = self.case();
        let mut so_far = ConversationSoFar::of(case);
        let (mut turns, mut not_run) = (Vec::new(), Vec::new());
        let [mut low, mut high] = [TurnScores::default(), TurnScores::default()];
        for (index, turn) in (0_u32..).zip(&conversation.turns) {
            let mut facts = self.facts(result.replies.get(index as usize), surroundings);
            so_far.describe_turn(turn, &mut facts);
            // The whole is graded as far as a trial gets.
            if !high.is_stopped {
                so_far.add(&turn.input, &facts);
            }
            let (record, scores) = self.grade_turn(index, turn, facts, surroundings, &mut not_run);
            let [of_low, of_high] = scores.map_or([None, None], |scores| scores.map(Some));
            low.add(of_low, conversation.on_turn_failure);
            high.add(of_high, conversation.on_turn_failure);
            turns.push(record);
        }
        let mut facts = self.facts(None, surroundings);
        facts.answer = role_blocks(&so_far.messages);
        so_far.describe_whole(&mut facts);
        let graders = self.run_graders(&case.graders, None, facts, surroundings, &mut not_run);
        let [of_low, of_high] = self.whole_scores(&graders, low.is_stopped != high.is_stopped);
        let score = |turns: &TurnScores, whole| {
            score_conversation(conversation.aggregation, &turns.scores, whole, self.plan.standard.threshold)
        };
        let (low, high) = (score(&low, of_low), score(&high, of_high));
        GradedResult::between([low, high], graders, Some(turns), not_run)
    }

    /// The scores of the whole. If a trial may have ended earlier, nothing is known of what the graders would have said.
    fn whole_scores(&self, graders: &[Bounded], may_end_earlier: bool) -> [Option<TrialScore>; 2] {
        if graders.is_empty() {
            return [None, None];
        }
        let [mut low, high] = self.scores(graders);
        if may_end_earlier && low.outcome == Status::Passed {
            (low.outcome, low.score) = (Status::Failed, Some(0.0));
        }
        [Some(low), Some(high)]
    }

    /// The record of a turn, and its worst and best score; `None` for a turn without graders.
    fn grade_turn(
        &self,
        index: u32,
        turn: &Turn,
        facts: Facts,
        surroundings: &Surroundings,
        not_run: &mut Vec<NotRun>,
    ) -> (TurnRecord, Option<[TrialScore; 2]>) {
        let mut record = turn_not_run(index, turn);
        record.answer = Some(facts.answer.clone());
        let graders = turn_graders(turn, self.case());
        if graders.is_empty() {
            (record.score, record.outcome) = (Some(1.0), Status::Passed);
            return (record, None);
        }
        let graded = self.run_graders(&graders, Some(&turn_folder(index)), facts, surroundings, not_run);
        let [low, high] = self.scores(&graded);
        record.graders = graded.into_iter().map(Bounded::shown).collect();
        (record.score, record.outcome) = match shown(&low) == shown(&high) {
            true => shown(&low),
            false => (None, Status::Skipped),
        };
        (record, Some([low, high]))
    }
}
