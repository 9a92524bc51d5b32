//! The graders of a case on one made-up result: on the only reply, or on the replies to the turns of a conversation and on the whole.

use std::cell::RefCell;
use std::sync::Arc;

use evalsuite_records::record::{GraderRecord, GraderState, Status, TurnRecord, Usage, Verdict};
use evalsuite_schema::{Conversation, Grader, Turn};

use crate::grade::grading_context::GradingContext;
use crate::grade::scoring::{TrialScore, score_conversation};
use crate::judge::judge_choice::JudgeChoice;
use crate::model::evidence::{Evidence, Facts};
use crate::model::messages::role_blocks;
use crate::platform::clock::timestamp;
use crate::run::made_up::bounded_grading::{AllowedGraders, Bounded, BoundedGrading, NotRun};
use crate::run::made_up::made_up_grading::{Graders, JudgeReplies, MadeUpGrading, Surroundings};
use crate::run::made_up::{GradedResult, MadeUpReply, MadeUpResult};
use crate::run::selection::case_graders::{case_graders, turn_graders};
use crate::run::trial::conversation::conversation_so_far::ConversationSoFar;
use crate::run::trial::conversation::user_role::describe_user;
use crate::run::trial::conversation::{TurnScores, shown, turn_folder, turn_not_run};

/// A result while it is graded.
pub(super) struct ResultGrading<'g> {
    pub(super) of_case: &'g MadeUpGrading<'g>,
    pub(super) surroundings: &'g Surroundings,
    pub(super) not_run: Vec<NotRun>,
}

impl ResultGrading<'_> {
    pub(super) fn grade(mut self, graders: Graders<'_>, result: &MadeUpResult) -> GradedResult {
        let case = self.of_case.case();
        let mut facts = self.facts(result.replies.first());
        match (graders, &case.conversation) {
            (Graders::One { path, grader, turn }, _) => {
                if let Some(turn) = turn {
                    ConversationSoFar::of(case).describe_turn(turn, &mut facts);
                }
                let of_user = || case.user().into_iter().flat_map(|user| &user.graders).flat_map(Grader::with_members);
                if let Some(user) = case.user().filter(|_| of_user().any(|other| std::ptr::eq(other, grader))) {
                    describe_user(user, &mut facts);
                }
                self.grade_by_one(path, grader, facts)
            }
            (Graders::All, Some(conversation)) => self.grade_conversation(conversation, result),
            (Graders::All, None) => {
                let graders = self.run_graders(&case_graders(case), None, facts);
                GradedResult::between(self.scores(&graders), graders, None, self.not_run)
            }
        }
    }

    /// The verdict of one grader.
    fn grade_by_one(mut self, path: &str, grader: &Grader, facts: Facts) -> GradedResult {
        let folder = path.strip_suffix(grader.name.as_str()).and_then(|folder| folder.strip_suffix('/'));
        let bounded = self.run_graders(std::slice::from_ref(grader), folder, facts);
        let verdict = |end: fn(&Bounded) -> _| bounded.first().map(end);
        let (low, high) = (verdict(|grader| grader.low().verdict), verdict(|grader| grader.high().verdict));
        let passes = low.flatten().filter(|_| low == high).map(Verdict::is_pass);
        let graders: Vec<_> = bounded.into_iter().map(Bounded::shown).collect();
        let is_decided = graders.iter().all(|grader| grader.state == GraderState::Decided);
        let score = graders.first().and_then(|grader| grader.value).filter(|_| is_decided);
        let worst = self.of_case.plan.score(&graders);
        let (not_run, worst) = (self.not_run, (worst.outcome, worst.score));
        GradedResult { passes, score, graders, turns: None, not_run, worst }
    }

    fn grade_conversation(mut self, conversation: &Conversation, result: &MadeUpResult) -> GradedResult {
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
            if record.simulated && scores.is_none() {
                (record.score, record.outcome) = (None, Status::Skipped);
                turns.push(record);
                continue;
            }
            let [of_low, of_high] = scores.map_or([None, None], |scores| scores.map(Some));
            low.add(of_low);
            high.add(of_high);
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
            (record.score, record.outcome) = (Some(1.0), Status::Passed);
            return (record, None);
        }
        let graded = self.run_graders(&graders, Some(&turn_folder(index)), facts);
        let [low, high] = self.scores(&graded);
        record.graders = graded.into_iter().map(Bounded::shown).collect();
        (record.score, record.outcome) = match shown(&low) == shown(&high) {
            true => shown(&low),
            false => (None, Status::Skipped),
        };
        (record, Some([low, high]))
    }

    /// The worst and the best score that are possible.
    fn scores(&self, graders: &[Bounded]) -> [TrialScore; 2] {
        [Bounded::low, Bounded::high].map(|end| {
            let records: Vec<GraderRecord> = graders.iter().map(|grader| end(grader).clone()).collect();
            self.of_case.plan.score(&records)
        })
    }

    /// Runs graders on what they would see of a reply; `folder` is what their paths begin with.
    fn run_graders(&mut self, graders: &[Grader], folder: Option<&str>, facts: Facts) -> Vec<Bounded> {
        let (plan, evidence, notes) = (&self.of_case.plan, Evidence::new(facts), RefCell::default());
        let accepted_answer = plan.accepted_answer.as_ref().filter(|_| folder.is_none());
        let JudgeReplies { cassette, judges } = &self.of_case.replies;
        let no_judges = JudgeChoice::default();
        let context = GradingContext {
            evidence: &evidence,
            suite: plan.suite.name,
            threshold: plan.standard.threshold,
            registry: plan.evals.registry(),
            places: &plan.places,
            environment: &self.surroundings.environment,
            trial_dir: &self.surroundings.directory,
            cassette,
            redactor: &plan.redactor,
            notes: &notes,
            judges: judges.as_ref().unwrap_or(&no_judges),
            accepted_answer,
            preprocessors: &self.of_case.case().preprocessors,
        };
        let allowed = AllowedGraders { judges: judges.is_some(), ..self.of_case.suite.allowed };
        let mut grading = BoundedGrading { context: &context, allowed, not_run: &mut self.not_run };
        let path = |name: &str| folder.map_or_else(|| name.to_owned(), |folder| format!("{folder}/{name}"));
        graders.iter().map(|grader| grading.grade(&path(&grader.name), grader)).collect()
    }

    /// What graders see of a reply. It used no time, no tokens and no money.
    fn facts(&self, reply: Option<&MadeUpReply>) -> Facts {
        let (plan, Surroundings { files, changes, .. }) = (&self.of_case.plan, self.surroundings);
        let MadeUpReply { answer, messages } = reply.cloned().unwrap_or_default();
        let now = timestamp();
        Facts {
            tags: plan.tags(),
            answer,
            transcript: Some(messages),
            usage: Some(Usage::default()),
            cost_usd: Some(0.0),
            started_at: now.clone(),
            ended_at: now,
            files: files.clone(),
            changes: changes.files.clone(),
            diff: changes.diff.clone(),
            dependencies: Arc::clone(&plan.dependencies),
            ..Facts::of_case(self.of_case.case(), &plan.identity.target)
        }
    }
}
