//! The graders of one case, for any number of made-up results.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::sync::Arc;

use evalsuite_records::record::{GraderRecord, GraderState, Status, Usage, Verdict};
use evalsuite_schema::{Case, Grader, GraderConfig, Turn};

use crate::grade;
use crate::grade::grading_context::GradingContext;
use crate::grade::scoring::{TrialScore, score_trial};
use crate::judge::judge_choice::JudgeChoice;
use crate::model::answer_files::AnswerFiles;
use crate::model::command::CommandEnvironment;
use crate::model::evidence::{Evidence, Facts};
use crate::model::suite::EvalCase;
use crate::platform::clock::timestamp;
use crate::run::case_error::CaseError;
use crate::run::made_up::bounded_grading::{AllowedGraders, Bounded, BoundedGrading, NotRun};
use crate::run::made_up::judge_replies::JudgeReplies;
use crate::run::made_up::made_up_suite::MadeUpSuite;
use crate::run::made_up::made_up_workspace::needs_workspace;
use crate::run::made_up::{GradedResult, MadeUpReply, MadeUpResult};
use crate::run::plan::Plan;
use crate::run::trial::conversation::conversation_so_far::ConversationSoFar;
use crate::run::trial::conversation::turn_folder;
use crate::run::trial::prepared::resolve_case;
use crate::run::trial::trial_attempt::{EarlyEnd, guarded};
use crate::workspace::workspace_diff::WorkspaceDiff;

/// The graders of one case, for any number of made-up results.
pub(crate) struct MadeUpGrading<'a> {
    pub(super) suite: &'a MadeUpSuite,
    pub(super) plan: Plan<'a>,
    /// The case with the values of its variables, if it has any.
    resolved: Option<Case>,
    pub(super) replies: JudgeReplies,
    needs_workspace: bool,
    /// Where results are graded that need no workspace.
    pub(super) nowhere: Surroundings,
    /// Number of results that were graded in a workspace.
    pub(super) attempts: Cell<u32>,
}

/// Where a result is graded.
pub(super) struct Surroundings {
    pub(super) directory: PathBuf,
    pub(super) environment: CommandEnvironment,
    pub(super) files: AnswerFiles,
    /// What the result changed in the workspace.
    pub(super) changes: WorkspaceDiff,
}

/// What grades a result.
#[derive(Clone, Copy)]
pub(super) enum Graders<'g> {
    /// All graders of the case.
    All,
    /// One of them, with its path; of a turn, if it belongs to one.
    One { path: &'g str, grader: &'g Grader, turn: Option<&'g Turn> },
}

impl<'a> MadeUpGrading<'a> {
    pub(super) fn new(suite: &'a MadeUpSuite, entry: &'static EvalCase) -> Result<Self, CaseError> {
        let plan = Plan::new(&suite.evals, entry, &suite.settings, &suite.run)?;
        let resolved = match plan.entry.may_have_variables() {
            true => Some(resolve_case(&plan).map_err(|end| end.reason)?.into_owned()),
            false => None,
        };
        let directory = plan.directory.join("made-up");
        let workspace = directory.join("workspace");
        let case = resolved.as_ref().unwrap_or(&plan.case);
        let needs_workspace = case.all_graders().any(|grader| needs_workspace(grader, case, suite.allowed.commands));
        if !needs_workspace && has_user_grader(case) {
            std::fs::create_dir_all(&workspace).map_err(|error| plan.unwritable(error))?;
        }
        let environment = plan.command_environment(case, 0, &directory, &workspace);
        let files = AnswerFiles { workspace, trial: directory.clone(), input: Vec::new() };
        let replies = JudgeReplies::of_trials(suite, &plan, &files)?;
        let nowhere = Surroundings { directory, environment, files, changes: WorkspaceDiff::default() };
        Ok(Self { suite, plan, resolved, replies, needs_workspace, nowhere, attempts: Cell::new(0) })
    }

    /// The case with the values of its variables.
    pub(crate) fn case(&self) -> &Case {
        self.resolved.as_ref().unwrap_or(&self.plan.case)
    }

    /// Grades a result.
    #[cfg(feature = "probe")]
    pub(crate) fn grade(&self, result: &MadeUpResult) -> GradedResult {
        self.grade_by(Graders::All, result)
    }

    pub(super) fn grade_by(&self, graders: Graders<'_>, result: &MadeUpResult) -> GradedResult {
        let in_workspace = match graders {
            Graders::All => self.needs_workspace,
            Graders::One { grader, .. } => needs_workspace(grader, self.case(), self.suite.allowed.commands),
        };
        let graded = guarded(|| match in_workspace || result.changes_files() {
            true => self.grade_in_workspace(graders, result),
            false => Ok(self.grade_at(graders, result, &self.nowhere)),
        });
        graded.unwrap_or_else(|end| self.ungraded(graders, end))
    }

    pub(super) fn grade_at(
        &self,
        graders: Graders<'_>,
        result: &MadeUpResult,
        surroundings: &Surroundings,
    ) -> GradedResult {
        let case = self.case();
        let mut facts = self.facts(result.replies.first(), surroundings);
        match (graders, &case.conversation) {
            (Graders::One { path, grader, turn }, _) => {
                if let Some(turn) = turn {
                    ConversationSoFar::of(case).describe_turn(turn, &mut facts);
                }
                self.grade_by_one(path, grader, facts, surroundings)
            }
            (Graders::All, Some(conversation)) => self.grade_conversation(conversation, result, surroundings),
            (Graders::All, None) => {
                let mut not_run = Vec::new();
                let graders = self.run_graders(&self.graders(), None, facts, surroundings, &mut not_run);
                GradedResult::between(self.scores(&graders), graders, None, not_run)
            }
        }
    }

    /// The verdict of one grader.
    fn grade_by_one(&self, path: &str, grader: &Grader, facts: Facts, surroundings: &Surroundings) -> GradedResult {
        let mut not_run = Vec::new();
        let folder = path.strip_suffix(grader.name.as_str()).and_then(|folder| folder.strip_suffix('/'));
        let bounded = self.run_graders(std::slice::from_ref(grader), folder, facts, surroundings, &mut not_run);
        let verdict = |end: fn(&Bounded) -> _| bounded.first().map(end);
        let (low, high) = (verdict(|grader| grader.low().verdict), verdict(|grader| grader.high().verdict));
        let passes = low.flatten().filter(|_| low == high).map(Verdict::is_pass);
        let graders: Vec<_> = bounded.into_iter().map(Bounded::shown).collect();
        let is_decided = graders.iter().all(|grader| grader.state == GraderState::Decided);
        let score = graders.first().and_then(|grader| grader.value).filter(|_| is_decided);
        let worst = score_trial(self.plan.data.layout, &graders, self.plan.standard.threshold);
        GradedResult { passes, score, graders, turns: None, not_run, worst: (worst.outcome, worst.score) }
    }

    /// The worst and the best score that are possible.
    pub(super) fn scores(&self, graders: &[Bounded]) -> [TrialScore; 2] {
        [Bounded::low, Bounded::high].map(|end| {
            let records: Vec<GraderRecord> = graders.iter().map(|grader| end(grader).clone()).collect();
            score_trial(self.plan.data.layout, &records, self.plan.standard.threshold)
        })
    }

    /// The graders of the case, or the judge of a case without any.
    fn graders(&self) -> Vec<Grader> {
        let case = self.case();
        match case.graders.is_empty() && case.conversation.is_none() {
            true => vec![grade::llm_grader::implicit(case.location.clone())],
            false => case.graders.clone(),
        }
    }

    /// A result that could not be graded.
    fn ungraded(&self, graders: Graders<'_>, end: EarlyEnd) -> GradedResult {
        let message = end.reason.message;
        let paths = match graders {
            Graders::One { path, .. } => vec![path.to_owned()],
            Graders::All => {
                let of_turns = self.case().conversation.iter().flat_map(|conversation| &conversation.turns);
                let of_turns = of_turns.zip(0_u32..).flat_map(|(turn, index)| {
                    turn.graders.iter().map(move |grader| format!("{}/{}", turn_folder(index), grader.name))
                });
                of_turns.chain(self.graders().into_iter().map(|grader| grader.name)).collect()
            }
        };
        let not_run = |path| NotRun { path, asks_judge: false, reason: format!("was not run: {message}") };
        let not_run = paths.into_iter().map(not_run).collect();
        let worst = (Status::Error, None);
        GradedResult { passes: None, score: None, graders: Vec::new(), turns: None, not_run, worst }
    }

    /// Runs graders on what they would see of a reply; `folder` is what their paths begin with.
    pub(super) fn run_graders(
        &self,
        graders: &[Grader],
        folder: Option<&str>,
        facts: Facts,
        surroundings: &Surroundings,
        not_run: &mut Vec<NotRun>,
    ) -> Vec<Bounded> {
        let (plan, evidence, notes) = (&self.plan, Evidence::new(facts), RefCell::default());
        let accepted_answer = || if folder.is_none() { plan.accepted_answer() } else { Ok(None) };
        let JudgeReplies { cassette, are_asked, is_recorded } = &self.replies;
        let judges = match are_asked {
            true => plan.judges(),
            false => JudgeChoice { is_recorded: *is_recorded, ..JudgeChoice::default() },
        };
        let context = GradingContext {
            evidence: &evidence,
            suite: plan.suite.name,
            layout: plan.data.layout,
            threshold: plan.standard.threshold,
            registry: plan.evals.registry(),
            places: &plan.places,
            environment: &surroundings.environment,
            trial_dir: &surroundings.directory,
            cassette,
            redactor: &plan.redactor,
            notes: &notes,
            judges: &judges,
            accepted_answer: &accepted_answer,
            preprocessors: &self.case().preprocessors,
        };
        let allowed = AllowedGraders { judges: *are_asked || *is_recorded, ..self.suite.allowed };
        let has_default_judge = *is_recorded || plan.settings.has_judge(plan.evals.judges());
        let mut grading = BoundedGrading { context: &context, allowed, has_default_judge, not_run };
        let path = |name: &str| folder.map_or_else(|| name.to_owned(), |folder| format!("{folder}/{name}"));
        graders.iter().map(|grader| grading.grade(&path(&grader.name), grader)).collect()
    }

    /// What graders see of a reply. It used no time, no tokens and no money.
    pub(super) fn facts(&self, reply: Option<&MadeUpReply>, surroundings: &Surroundings) -> Facts {
        let (case, plan) = (self.case(), &self.plan);
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
            files: surroundings.files.clone(),
            changes: surroundings.changes.files.clone(),
            diff: surroundings.changes.diff.clone(),
            dependencies: Arc::clone(&plan.dependencies),
            ..Facts::of_case(case, &plan.target)
        }
    }
}

fn has_user_grader(case: &Case) -> bool {
    let mut all = case.all_graders().flat_map(Grader::with_members);
    all.any(|grader| matches!(grader.config, GraderConfig::User { .. }))
}
