//! The graders of one case, for any number of made-up results.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::sync::Arc;

use evalsuite_records::record::{Mode, Status, Usage};
use evalsuite_schema::{Case, Grader, GraderConfig};

use crate::grade;
use crate::grade::grading_context::GradingContext;
use crate::judge::judge_choice::JudgeChoice;
use crate::judge::judge_options::JudgeOptions;
use crate::model::answer_files::AnswerFiles;
use crate::model::command::{CommandEnvironment, Site};
use crate::model::evidence::{Evidence, Facts};
use crate::model::judge::Judges;
use crate::model::suite::EvalCase;
use crate::platform::clock::timestamp;
use crate::record::cassette::{CassetteOptions, RecordedTrial, TrialCassette};
use crate::run::case_error::CaseError;
use crate::run::made_up::bounded_grading::{AllowedGraders, Bounded, BoundedGrading, NotRun, score_bounds};
use crate::run::made_up::made_up_suite::MadeUpSuite;
use crate::run::made_up::made_up_workspace::needs_workspace;
use crate::run::made_up::{GradedResult, MadeUpReply, MadeUpResult};
use crate::run::plan::Plan;
use crate::run::trial::early_end::{EarlyEnd, guarded};
use crate::run::trial::prepared::resolve_case;
use crate::workspace::value_placeholders::Placeholders;
use crate::workspace::workspace_diff::WorkspaceDiff;

/// The graders of one case, for any number of made-up results.
pub(crate) struct MadeUpGrading<'a> {
    pub(super) suite: &'a MadeUpSuite,
    pub(super) plan: Plan<'a>,
    /// The case with the values of its variables, if it has any.
    resolved: Option<Case>,
    /// Replies of judges.
    pub(super) cassette: TrialCassette,
    /// Whether judges reply from a recording.
    is_recorded: bool,
    pub(super) needs_workspace: bool,
    /// Where results are graded that need no workspace.
    nowhere: Surroundings,
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

/// The worst and the best score of a result, and the results of its graders.
pub(super) struct ScoredResult {
    pub(super) graded: GradedResult,
    pub(super) outcome: crate::grade::scoring::TrialScore,
}

impl<'a> MadeUpGrading<'a> {
    pub(super) fn new(suite: &'a MadeUpSuite, entry: &'static EvalCase) -> Result<Self, CaseError> {
        let plan = Plan::new(&suite.evals, entry, &suite.settings, &suite.run)?;
        let resolved = match plan.variables.of_case {
            true => Some(resolve_case(&plan).map_err(|end| CaseError::Unusable(end.reason.message))?.into_owned()),
            false => None,
        };
        let directory = plan.records.directory.join("made-up");
        let workspace = directory.join("workspace");
        let case = resolved.as_ref().unwrap_or(&plan.source.case);
        let needs_workspace = needs_workspace(case, suite.allowed.commands);
        if !needs_workspace && has_user_grader(case) {
            std::fs::create_dir_all(&workspace).map_err(|error| plan.unwritable(error))?;
        }
        let environment = CommandEnvironment::of(&Site {
            places: &plan.source.places,
            run_id: &plan.run.run_id,
            case,
            target: &plan.tested.target,
            trial: 0,
            echo: plan.settings.echo,
            directory: &directory,
            workspace: &workspace,
        });
        let files = AnswerFiles { workspace, trial: directory.clone(), input: Vec::new() };
        let (cassette, is_recorded) = open_cassette(&plan, suite.allowed, &files)?;
        let nowhere = Surroundings { directory, environment, files, changes: WorkspaceDiff::default() };
        let attempts = Cell::new(0);
        Ok(Self { suite, plan, resolved, cassette, is_recorded, needs_workspace, nowhere, attempts })
    }

    /// The case with the values of its variables.
    pub(crate) fn case(&self) -> &Case {
        self.resolved.as_ref().unwrap_or(&self.plan.source.case)
    }

    /// Grades a result.
    pub(crate) fn grade(&self, result: &MadeUpResult) -> GradedResult {
        let graded = guarded(|| match self.needs_workspace || !result.files.is_empty() {
            true => self.grade_in_workspace(result),
            false => Ok(self.grade_at(result, &self.nowhere).graded),
        });
        graded.unwrap_or_else(|end| self.ungraded(end))
    }

    pub(super) fn grade_at(&self, result: &MadeUpResult, surroundings: &Surroundings) -> ScoredResult {
        if let Some(conversation) = &self.case().conversation {
            return self.grade_conversation(conversation, result, surroundings);
        }
        let empty = MadeUpReply::default();
        let facts = self.facts(result.replies.first().unwrap_or(&empty), surroundings);
        let mut not_run = Vec::new();
        let graders = self.run_graders(&self.graders(), None, facts, surroundings, &mut not_run);
        let plan = &self.plan;
        let [low, high] = score_bounds(plan.source.data.layout, &graders, plan.standard.threshold);
        let passes = (low.outcome == high.outcome).then_some(low.outcome == Status::Passed);
        let score = low.score.filter(|_| low.score == high.score);
        let graders = graders.into_iter().map(Bounded::shown).collect();
        ScoredResult { graded: GradedResult { passes, score, graders, turns: None, not_run }, outcome: low }
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
    fn ungraded(&self, end: EarlyEnd) -> GradedResult {
        let message = end.reason.message;
        let reason = format!("was not run: {message}");
        let of_turns = self.case().conversation.iter().flat_map(|conversation| &conversation.turns);
        let paths = of_turns.zip(0_u32..).flat_map(|(turn, index)| {
            turn.graders.iter().map(move |grader| format!("{}/{}", turn_folder(index), grader.name))
        });
        let paths = paths.chain(self.graders().into_iter().map(|grader| grader.name));
        let not_run = paths.map(|path| NotRun { path, asks_judge: false, reason: reason.clone() }).collect();
        GradedResult { passes: None, score: None, graders: Vec::new(), turns: None, not_run }
    }

    /// Runs graders on what they would see of a reply; `folder` is the name of a turn.
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
        let (no_judges, no_options) = (Judges::default(), JudgeOptions::default());
        let judges = match self.suite.allowed.judges {
            true => plan.judges(),
            false => {
                JudgeChoice { judges: &no_judges, options: &no_options, is_recorded: self.is_recorded, commands: None }
            }
        };
        let context = GradingContext {
            evidence: &evidence,
            suite: plan.source.suite.name,
            layout: plan.source.data.layout,
            threshold: plan.standard.threshold,
            registry: plan.evals.registry(),
            places: &plan.source.places,
            environment: &surroundings.environment,
            trial_dir: &surroundings.directory,
            cassette: &self.cassette,
            redactor: &plan.redactor,
            notes: &notes,
            judges,
            accepted_answer: &accepted_answer,
            preprocessors: &self.case().preprocessors,
        };
        let allowed = AllowedGraders { judges: self.suite.allowed.judges || self.is_recorded, ..self.suite.allowed };
        let mut grading = BoundedGrading { context: &context, allowed, not_run };
        let path = |name: &str| folder.map_or_else(|| name.to_owned(), |folder| format!("{folder}/{name}"));
        graders.iter().map(|grader| grading.grade(&path(&grader.name), grader)).collect()
    }

    /// What graders see of a reply. It used no time, no tokens and no money.
    pub(super) fn facts(&self, reply: &MadeUpReply, surroundings: &Surroundings) -> Facts {
        let (case, plan) = (self.case(), &self.plan);
        let now = timestamp();
        Facts {
            case_id: case.id.clone(),
            description: case.description.clone(),
            criteria: case.criteria.clone(),
            input: Some(case.input.clone()),
            metadata: case.metadata.clone(),
            tags: plan.source.tags(),
            target: plan.tested.target.clone(),
            expected_output: case.expected_output.clone(),
            reference_solution: case.reference_solution.clone(),
            answer: reply.answer.clone(),
            transcript: Some(reply.messages.clone()),
            usage: Some(Usage::default()),
            cost_usd: Some(0.0),
            started_at: now.clone(),
            ended_at: now,
            files: surroundings.files.clone(),
            changes: surroundings.changes.files.clone(),
            diff: surroundings.changes.diff.clone(),
            dependencies: Arc::clone(&plan.dependencies.results),
            ..Facts::default()
        }
    }
}

/// Name in paths of the graders of a turn.
pub(super) fn turn_folder(index: u32) -> String {
    format!("turn-{index:03}")
}

fn has_user_grader(case: &Case) -> bool {
    let turns = case.conversation.iter().flat_map(|conversation| &conversation.turns).flat_map(|turn| &turn.graders);
    let mut all = case.graders.iter().chain(turns).flat_map(Grader::with_members);
    all.any(|grader| matches!(grader.config, GraderConfig::User { .. }))
}

/// The replies of judges: those of the case's recording, unless judges are asked. Returns whether there is a recording.
fn open_cassette(
    plan: &Plan<'_>,
    allowed: AllowedGraders,
    files: &AnswerFiles,
) -> Result<(TrialCassette, bool), CaseError> {
    let recording = plan.recording(0).map_err(|reason| CaseError::Unusable(reason.message))?;
    if allowed.judges || !recording.is_file() {
        return Ok((TrialCassette::none(), false));
    }
    let secrets = plan.variables.secrets.iter().map(String::as_str);
    let placeholders =
        Placeholders::of_trial(secrets, &plan.redactor, &plan.source.places, &files.trial, &files.workspace);
    let about = RecordedTrial {
        suite: plan.source.suite.name.to_owned(),
        case_id: plan.source.entry.id.to_owned(),
        target: plan.tested.target.clone(),
        trial: 0,
        seen: plan.seen.clone(),
        input_digest: plan.records.digests.input.clone(),
    };
    let hint = plan.how_to_record();
    let options =
        CassetteOptions { mode: Mode::Live, path: Some(recording), placeholders, about, hint, has_agent: false };
    let cassette = TrialCassette::open(options).map_err(|error| CaseError::Unusable(error.message))?;
    Ok((cassette, true))
}
