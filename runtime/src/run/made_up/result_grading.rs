//! The graders of a case on one made-up result: on the only reply, or on the replies to the turns of a conversation and on the whole.

use std::cell::RefCell;
use std::sync::Arc;

use evalsuite_records::record::{GraderRecord, GraderState, Usage, Verdict};
use evalsuite_schema::Grader;

use crate::grade::grading_context::GradingContext;
use crate::grade::scoring::TrialScore;
use crate::judge::judge_choice::JudgeChoice;
use crate::model::evidence::{Evidence, Facts};
use crate::model::outcome::Outcome;
use crate::model::recording::Recording;
use crate::platform::clock::timestamp;
use crate::run::made_up::bounded_grading::{AllowedGraders, Bounded, BoundedGrading, NotRun};
use crate::run::made_up::made_up_grading::{Graders, JudgeReplies, MadeUpGrading, Surroundings};
use crate::run::made_up::{GradedResult, MadeUpReply, MadeUpResult};
use crate::run::selection::case_graders;
use crate::run::trial::captured::{cost, usage};

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
                super::made_up_conversation::describe(case, grader, turn, &mut facts);
                self.grade_by_one(path, grader, facts)
            }
            (Graders::All, Some(conversation)) => self.grade_conversation(conversation, result),
            (Graders::All, _) => {
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

    /// The worst and the best score that are possible.
    pub(super) fn scores(&self, graders: &[Bounded]) -> [TrialScore; 2] {
        [Bounded::low, Bounded::high].map(|end| {
            let records: Vec<GraderRecord> = graders.iter().map(|grader| end(grader).clone()).collect();
            self.of_case.plan.score(&records)
        })
    }

    /// Runs graders on what they would see of a reply; `folder` is what their paths begin with.
    pub(super) fn run_graders(&mut self, graders: &[Grader], folder: Option<&str>, facts: Facts) -> Vec<Bounded> {
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
        // Recorded replies cost nothing.
        let asked = judges.as_ref().filter(|judges| !judges.is_recorded);
        let suite = self.of_case.suite;
        let spending = asked.map(|_| (&suite.judge_spending, plan));
        let mut problems = Vec::new();
        let not_run = &mut self.not_run;
        let mut grading = BoundedGrading { context: &context, allowed, spending, not_run, problems: &mut problems };
        let path = |name: &str| folder.map_or_else(|| name.to_owned(), |folder| format!("{folder}/{name}"));
        let graded = graders.iter().map(|grader| grading.grade(&path(&grader.name), grader)).collect();
        suite.add_problems(problems);
        graded
    }

    /// What graders see of a reply.
    pub(super) fn facts(&self, reply: Option<&MadeUpReply>) -> Facts {
        let (plan, Surroundings { files, changes, .. }) = (&self.of_case.plan, self.surroundings);
        let MadeUpReply { answer, messages, reported } = reply.cloned().unwrap_or_default();
        let now = timestamp();
        let facts = Facts {
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
        };
        match reported {
            None => facts,
            Some(outcome) => with_reported(outcome, facts),
        }
    }
}

/// What graders see of an outcome: what it does not report is not known.
fn with_reported(outcome: Outcome, facts: Facts) -> Facts {
    let (transcript, nothing_else) = (outcome.messages.as_deref(), Recording::default());
    Facts {
        usage: usage(&outcome, &nothing_else, transcript),
        cost_usd: cost(&outcome, &nothing_else, transcript),
        duration_ms: outcome.duration_ms.unwrap_or(f64::NAN),
        transcript: outcome.messages,
        state: outcome.state,
        model: outcome.model,
        agent_metadata: outcome.metadata,
        ..facts
    }
}
