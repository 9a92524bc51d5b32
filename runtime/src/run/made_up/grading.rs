//! The graders of one case with their paths, for any number of made-up results, where the replies of their judges come from, and what the
//! graders see of a result: of the only reply, or of the replies to the turns of a conversation.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::sync::Arc;

use evalsuite_records::record::{GraderRecord, GraderState, Mode, Reason, Status, Usage, Verdict};
use evalsuite_schema::{Case, Conversation, Grader, GraderConfig, Turn};

use crate::grade::grading_context::GradingContext;
use crate::grade::scoring::TrialScore;
use crate::judge::judge_choice::JudgeChoice;
use crate::model::answer_files::AnswerFiles;
use crate::model::command::CommandEnvironment;
use crate::model::evidence::{Evidence, Facts};
use crate::model::outcome::Outcome;
use crate::model::suite::EvalCase;
use crate::platform::clock::timestamp;
use crate::platform::digest::file_key;
use crate::record::cassette::{TrialCassette, cassette_path};
use crate::run::case_report::CaseError;
use crate::run::made_up::bounded_grading::{AllowedGraders, Bounded, BoundedGrading, NotRun};
use crate::run::made_up::suite::{MadeUpSuite, needs_workspace};
use crate::run::made_up::{GradedResult, MadeUpReply, MadeUpResult};
use crate::run::plan::Plan;
use crate::run::selection::{case_graders, turn_folder};
use crate::run::trial::prepared::resolve_case;
use crate::run::trial::trial_attempt::{EarlyEnd, guarded};
use crate::workspace::snapshot::WorkspaceDiff;

/// Name of the directory with the recordings of examples, which no case has.
const EXAMPLES: &str = "examples";

/// The graders of one case, for any number of made-up results.
pub(crate) struct MadeUpGrading<'a> {
    pub(super) suite: &'a MadeUpSuite,
    pub(super) plan: Plan<'a>,
    /// The case with the values of its variables and a made-up turn of its simulated user, if it has any.
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
        let resolved = match plan.entry.may_have_variables() || plan.case.user().is_some() {
            true => {
                let mut case = resolve_case(&plan).map_err(|end| end.reason)?.into_owned();
                case.conversation = case.conversation.map(Conversation::with_made_up_turn);
                Some(case)
            }
            false => None,
        };
        let directory = plan.directory.join("made-up");
        let workspace = directory.join("workspace");
        let case = resolved.as_ref().unwrap_or(&plan.case);
        let needs_workspace = case.all_graders().any(|grader| needs_workspace(grader, case, suite.allowed.commands));
        let is_user = |grader: &Grader| matches!(grader.config, GraderConfig::User { .. });
        if !needs_workspace && case.all_graders().flat_map(Grader::with_members).any(is_user) {
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
            false => Ok(self.grade_at(&self.nowhere, graders, result)),
        });
        graded.unwrap_or_else(|end| self.ungraded(graders, end))
    }

    pub(super) fn grade_at(&self, place: &Surroundings, graders: Graders<'_>, result: &MadeUpResult) -> GradedResult {
        ResultGrading { of_case: self, surroundings: place, not_run: Vec::new() }.grade(graders, result)
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
                of_turns.chain(case_graders(self.case()).iter().map(|grader| grader.name.clone())).collect()
            }
        };
        let not_run = |path| NotRun { path, asks_judge: false, reason: format!("was not run: {message}") };
        let not_run = paths.into_iter().map(not_run).collect();
        let worst = (Status::Error, None);
        GradedResult { passes: None, score: None, graders: Vec::new(), turns: None, not_run, worst }
    }
}

/// Where the replies of judges come from.
pub(crate) struct JudgeReplies {
    pub(crate) cassette: TrialCassette,
    /// The judges that are asked or reply from the recording, if any do.
    pub(crate) judges: Option<JudgeChoice>,
}

impl JudgeReplies {
    /// Judges are asked if the suite allows it; otherwise they reply from the recording of the case's first trial, if there is one.
    pub(super) fn of_trials(suite: &MadeUpSuite, plan: &Plan<'_>, files: &AnswerFiles) -> Result<Self, CaseError> {
        if suite.allowed.judges {
            return Ok(Self { cassette: TrialCassette::none(), judges: Some(plan.judges()) });
        }
        Self::recorded(plan.recording(0)?, Mode::Live, plan, files)
    }

    /// As [`of_trials`](Self::of_trials), with the recording of the case's examples: that is made or replayed if the settings say so, and
    /// replayed where there is no judge.
    pub(super) fn of_examples(suite: &MadeUpSuite, plan: &Plan<'_>, files: &AnswerFiles) -> Result<Self, CaseError> {
        let recording = recording_of_examples(plan)?;
        let is_asked = suite.allowed.judges && (suite.settings.has_judge(suite.evals.judges()) || !recording.is_file());
        let cassette = match suite.mode_of_examples {
            Mode::Record => open(recording, Mode::Record, plan, files)?,
            Mode::Live if is_asked => TrialCassette::none(),
            mode => return Self::recorded(recording, mode, plan, files),
        };
        Ok(Self { cassette, judges: Some(plan.judges()) })
    }

    fn recorded(recording: PathBuf, mode: Mode, plan: &Plan<'_>, files: &AnswerFiles) -> Result<Self, CaseError> {
        if !recording.is_file() {
            return Ok(Self { cassette: TrialCassette::none(), judges: None });
        }
        let judges = Some(JudgeChoice { is_recorded: true, ..JudgeChoice::default() });
        Ok(Self { cassette: open(recording, mode, plan, files)?, judges })
    }
}

fn recording_of_examples(plan: &Plan<'_>) -> Result<PathBuf, Reason> {
    let key = format!("{EXAMPLES}/{}", file_key(&plan.identity.case_key));
    let settings = plan.settings.cassettes.as_deref();
    cassette_path(plan.suite, &key, 0, settings, &plan.places)
}

fn open(path: PathBuf, mode: Mode, plan: &Plan<'_>, files: &AnswerFiles) -> Result<TrialCassette, CaseError> {
    let cassette = plan.cassette(0, &files.trial, &files.workspace);
    crate::run::replay::earlier_recording::open_replies(&cassette, mode, Some(path), plan.how_to_record())?;
    Ok(cassette)
}

/// All graders of a case, those of its turns and the members of composites after them, with their paths and turns.
pub(crate) fn graders_with_paths(case: &Case) -> Vec<(String, &Grader, Option<&Turn>)> {
    let mut found = Vec::new();
    case.graders.iter().for_each(|grader| add_with_members(grader.name.clone(), grader, None, &mut found));
    let turns = case.conversation.iter().flat_map(|conversation| &conversation.turns);
    for (index, turn) in (0_u32..).zip(turns) {
        for grader in &turn.graders {
            add_with_members(format!("{}/{}", turn_folder(index), grader.name), grader, Some(turn), &mut found);
        }
    }
    found
}

/// The graders of the simulated user, with their paths. No result of an agent is graded by them.
pub(crate) fn user_graders_with_paths(case: &Case) -> Vec<(String, &Grader, Option<&Turn>)> {
    let mut found = Vec::new();
    for grader in case.user().into_iter().flat_map(|user| &user.graders) {
        add_with_members(format!("user/{}", grader.name), grader, None, &mut found);
    }
    found
}

fn add_with_members<'c>(
    path: String,
    grader: &'c Grader,
    turn: Option<&'c Turn>,
    found: &mut Vec<(String, &'c Grader, Option<&'c Turn>)>,
) {
    found.push((path.clone(), grader, turn));
    for member in grader.config.settings().members() {
        add_with_members(format!("{path}/{}", member.name), member, turn, found);
    }
}

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
                super::conversation::describe(case, grader, turn, &mut facts);
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
    Facts {
        usage: outcome.usage,
        cost_usd: outcome.cost_usd,
        duration_ms: outcome.duration_ms.unwrap_or(f64::NAN),
        transcript: outcome.messages,
        state: outcome.state,
        model: outcome.model,
        agent_metadata: outcome.metadata,
        ..facts
    }
}
