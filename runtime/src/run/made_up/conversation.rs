//! The graders of a conversation on made-up replies to its turns.

use evalsuite_records::record::{Status, TurnRecord};
use evalsuite_schema::{Case, Conversation, Grader, Turn};

use crate::grade::scoring::{TrialScore, score_conversation};
use crate::model::evidence::Facts;
use crate::model::messages::role_blocks;
use crate::run::made_up::bounded_grading::Bounded;
use crate::run::made_up::grading::ResultGrading;
use crate::run::made_up::{GradedResult, MadeUpResult};
use crate::run::selection::{case_graders, turn_folder, turn_graders};
use crate::run::trial::conversation::{ConversationSoFar, TurnScores, describe_user, shown_score, turn_not_run};

/// Adds what a grader of a turn, or of a simulated user, sees of the case.
pub(super) fn describe(case: &Case, grader: &Grader, turn: Option<&Turn>, facts: &mut Facts) {
    if let Some(turn) = turn {
        ConversationSoFar::of(case).describe_turn(turn, facts);
    }
    let of_user = || case.user().into_iter().flat_map(|user| &user.graders).flat_map(Grader::with_members);
    if let Some(user) = case.user().filter(|_| of_user().any(|other| std::ptr::eq(other, grader))) {
        describe_user(user, facts);
    }
}

impl ResultGrading<'_> {
    /// Grades the replies to all turns, also to those that a trial would not reach, and the whole.
    pub(super) fn grade_conversation(mut self, conversation: &Conversation, result: &MadeUpResult) -> GradedResult {
        let case = self.of_case.case();
        let mut so_far = ConversationSoFar::of(case);
        let mut turns = Vec::new();
        // If all graders that were not run fail, or pass.
        let [mut low, mut high] = [TurnScores::of(conversation), TurnScores::of(conversation)];
        for (index, turn) in (0_u32..).zip(&conversation.turns) {
            let mut facts = self.facts(result.replies.get(index as usize));
            so_far.describe_turn(turn, &mut facts);
            // The whole is graded as far as a trial gets.
            if !high.is_stopped {
                so_far.add(&turn.input, &facts);
            }
            let (mut record, scores) = self.grade_turn(index, turn, facts);
            // The made-up turn of a simulated user.
            record.simulated = conversation.user.is_some() && index as usize + 1 == conversation.turns.len();
            // How many turns a user writes is not known.
            if scores.is_some() || !record.simulated {
                let [of_low, of_high] = scores.map_or([None, None], |scores| scores.map(Some));
                low.add(of_low);
                high.add(of_high);
            }
            turns.push(record);
        }
        let mut facts = self.facts(None);
        facts.answer = role_blocks(&so_far.messages);
        so_far.describe_whole(&mut facts);
        let graders = self.run_graders(&case_graders(case), None, facts);
        let [of_low, of_high] = self.whole_scores(&graders, low.is_stopped != high.is_stopped);
        let threshold = self.of_case.plan.standard.threshold;
        let score =
            |turns: &TurnScores, whole| score_conversation(conversation.aggregation, &turns.of_turns, whole, threshold);
        GradedResult::between([score(&low, of_low), score(&high, of_high)], graders, Some(turns), self.not_run)
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
    fn grade_turn(&mut self, index: u32, turn: &Turn, facts: Facts) -> (TurnRecord, Option<[TrialScore; 2]>) {
        let mut record = turn_not_run(index, turn);
        record.answer = Some(facts.answer.clone());
        let graders = turn_graders(turn, self.of_case.case());
        if graders.is_empty() {
            record.score = None;
            return (record, None);
        }
        let graded = self.run_graders(&graders, Some(&turn_folder(index)), facts);
        let [low, high] = self.scores(&graded);
        record.graders = graded.into_iter().map(Bounded::shown).collect();
        (record.score, record.outcome) = match shown_score(&low) == shown_score(&high) {
            true => shown_score(&low),
            false => (None, Status::Skipped),
        };
        (record, Some([low, high]))
    }
}
