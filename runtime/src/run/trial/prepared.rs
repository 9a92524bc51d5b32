//! A trial that is prepared: its case and agent have their values, its recording is open, its workspace can be made, and whether its commands
//! are sealed is decided before the first of them starts.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::io;
use std::path::PathBuf;

use evalsuite_records::record::{Reason, ReasonCode, SealRecord, Stage};
use evalsuite_schema::diagnostics::{Code, Position};
use evalsuite_schema::{Case, Grader, Hook, Input, Location, SealMode, Sealing};

use crate::agents::acp::AcpSession;
use crate::agents::command::cli_agent::ResolvedCommand;
use crate::agents::mcp::McpSession;
use crate::model::agent::RustAgent;
use crate::model::answer_files::AnswerFiles;
use crate::model::command::{CommandEnvironment, CommandSeal, EndWithTrial, SealDefaults};
use crate::model::interpolation;
use crate::model::messages::{file_parts, given_messages, messages_of};
use crate::model::recorder::Recorder;
use crate::platform::environment;
use crate::platform::seal_terms::{SealRefusal, SealedFiles};
use crate::record::cassette::TrialCassette;
use crate::record::run_directory::layout::{EVIDENCE, INPUT};
use crate::run::plan::Plan;
use crate::run::selection::{ChosenAgent, case_graders, grader_problems};
use crate::run::trial::mcp_servers;
use crate::run::trial::trial_attempt::{EarlyEnd, TrialAttempt};
use crate::workspace::snapshot::Snapshot;
use crate::workspace::{self, WorkspaceBase, workspace_error};

/// An agent with the values of its variables.
pub(crate) enum Agent<'a> {
    Rust(&'a RustAgent),
    Command(Box<ResolvedCommand<'a>>),
    /// Its recorded calls are replayed, or graded again; it is not called.
    Recorded,
}

/// A trial with everything that its agent and its graders need.
pub(crate) struct Prepared<'a> {
    pub(crate) trial: &'a TrialAttempt<'a>,
    /// The case with the values of its variables.
    pub(crate) case: Cow<'a, Case>,
    pub(crate) agent: Agent<'a>,
    /// How the agent starts if it is sealed. Its home directory stays until the trial ends.
    pub(crate) seal: CommandSeal,
    /// The MCP servers of the agent.
    pub(crate) mcp: Option<McpSession>,
    /// Variables of every program that is run for the trial.
    pub(crate) environment: CommandEnvironment,
    /// The session of an agent that speaks the Agent Client Protocol.
    pub(crate) acp: AcpSession,
    pub(crate) cassette: TrialCassette,
    /// What the agent records, in all its calls.
    pub(crate) recorder: Recorder,
    /// Programs that the agent left running, which graders may still ask.
    pub(crate) programs: RefCell<Vec<EndWithTrial>>,
    /// Whether there is evidence: a file of its name may be from the agent.
    has_evidence: Cell<bool>,
}

impl<'a> Prepared<'a> {
    /// Fills in variables. The recording of the trial is open.
    pub(crate) fn with_cassette(trial: &'a TrialAttempt<'a>, cassette: TrialCassette) -> Result<Self, EarlyEnd> {
        let plan = trial.plan;
        let case = resolve_case(plan)?;
        check_graders(&case, plan)?;
        let environment = plan.command_environment(&case, trial.index, &trial.directory, &trial.workspace);
        let agent = resolve_agent(plan)?;
        let started = match &agent {
            Agent::Rust(_) => StartedAgent::Function,
            Agent::Command(command) => StartedAgent::Command(command),
            Agent::Recorded => StartedAgent::Nothing,
        };
        let seal = seal_trial(trial, &case, started, &environment.seals)?;
        let recorder = Recorder::new(&case.id, trial.index);
        let mcp = match &agent {
            Agent::Command(command) => mcp_servers::begin(trial, command)?,
            Agent::Rust(_) | Agent::Recorded => None,
        };
        let (acp, programs, has_evidence) = (AcpSession::default(), RefCell::default(), Cell::default());
        Ok(Self { trial, case, agent, seal, mcp, environment, acp, cassette, recorder, programs, has_evidence })
    }

    /// Makes the workspace, then checks the health of the target, once per run.
    pub(crate) fn make_workspace(&self) -> Result<(), EarlyEnd> {
        let Self { trial, case, .. } = self;
        let made = match trial.base {
            WorkspaceBase::Template => {
                workspace::materialise(case.workspace.as_ref(), &trial.workspace, &trial.plan.places)
            }
            WorkspaceBase::Copied { directory, .. } => workspace::copy_to_trial(directory, &trial.workspace),
            WorkspaceBase::Shared { .. } => Ok(()),
        };
        made.and_then(|()| self.put_skill()).map_err(|error| workspace_error(&error))?;
        self.check_health()
    }

    /// Puts the skill of the target into the workspace, and removes those of other targets. A shared workspace has none.
    fn put_skill(&self) -> io::Result<()> {
        let TrialAttempt { plan, base, workspace, .. } = self.trial;
        if matches!(base, WorkspaceBase::Shared { .. }) {
            return Ok(());
        }
        let skill = plan.data.target(&plan.identity.target).map(|target| target.skill.as_slice()).unwrap_or_default();
        workspace::replace_skills(&plan.data.skill_places(), skill, workspace, &plan.places)
    }

    fn check_health(&self) -> Result<(), EarlyEnd> {
        let (plan, Agent::Command(command)) = (self.trial.plan, &self.agent) else { return Ok(()) };
        let variables = vec![
            ("EVALSUITE_SUITE_DIR", plan.places.suite_dir.clone().into()),
            ("EVALSUITE_RUN_ID", plan.run.run_id.as_str().into()),
            ("EVALSUITE_TARGET", plan.identity.target.as_str().into()),
        ];
        let environment = CommandEnvironment::new(variables, plan.settings.echo);
        command
            .check_health(&plan.run.locks(), &plan.places, &environment, &plan.redactor)
            .map_err(|error| EarlyEnd::error(Stage::Setup, ReasonCode::HealthcheckFailed, error))
    }

    /// The workspace before the agent is called.
    pub(crate) fn snapshot(&self) -> Result<Snapshot, EarlyEnd> {
        // Nothing but the agent writes to an empty workspace that was made for this trial.
        let has_hook = self.trial.plan.target_hooks().is_some_and(|hooks| hooks.before_each.is_some());
        if matches!(self.trial.base, WorkspaceBase::Template) && self.case.workspace.is_none() && !has_hook {
            return Ok(Snapshot::default());
        }
        Snapshot::take(&self.trial.workspace).map_err(|error| {
            let message = format!("the workspace cannot be read: {error}");
            EarlyEnd::error(Stage::Workspace, ReasonCode::WorkspaceError, message)
        })
    }

    /// Where the files of an answer may be.
    pub(crate) fn answer_files(&self) -> AnswerFiles {
        let TrialAttempt { plan, workspace, directory, .. } = self.trial;
        let input = file_parts(given_messages(&self.case));
        let input = input.into_iter().map(|file| plan.places.resolve(file)).collect();
        AnswerFiles { workspace: workspace.clone(), trial: directory.clone(), input }
    }

    /// Absolute paths of the files in an input, in order.
    pub(crate) fn files(&self, input: &Input) -> Vec<PathBuf> {
        let files = file_parts(messages_of(input)).into_iter();
        files.map(|file| self.trial.plan.places.resolve(file)).collect()
    }

    /// Writes the data to grade the trial again next to the record. This happens before the graders run: they may break or never end.
    /// Once judges have replied, it is written again.
    pub(crate) fn write_evidence(&self) {
        self.has_evidence.set(true);
        self.write_recorded(EVIDENCE);
    }

    /// Leaves the evidence as this trial wrote it, after everything of the agent has ended. If the trial ended before there was any, what the
    /// agent was asked takes its place.
    pub(crate) fn settle_evidence(&self, is_decided: bool) {
        let adds_lost = self.cassette.add_lost(self.recorder.all_lost()).unwrap_or_else(|error| {
            self.trial.note("output_not_kept", error.to_string());
            true
        });
        match self.has_evidence.get() {
            true if is_decided && !adds_lost => {}
            // The agent was called again since it was written, or has recorded something too late.
            true => self.write_evidence(),
            false => {
                if let Err(error) = self.trial.files().remove(EVIDENCE) {
                    self.trial
                        .note("output_not_kept", format!("{}: {error}", self.trial.directory.join(EVIDENCE).display()));
                }
                self.write_recorded(INPUT);
            }
        }
    }

    fn write_recorded(&self, file: &str) {
        let evidence = self.cassette.evidence().transpose();
        let written = evidence.map_or(Ok(()), |bytes| self.trial.files().write(file, &bytes?));
        if let Err(error) = written {
            let path = self.trial.directory.join(file);
            self.trial.note("output_not_kept", format!("{}: {error}", path.display()));
        }
    }

    /// Writes the evidence again with the replies of judges, where there are any.
    pub(crate) fn add_judge_replies(&self) {
        if self.cassette.has_replies() {
            self.write_evidence();
        }
    }
}

/// The case with the values of its variables.
pub(crate) fn resolve_case<'a>(plan: &'a Plan<'_>) -> Result<Cow<'a, Case>, EarlyEnd> {
    // Where no agent is called, the recording says what it got. A variable that is not set stays as it is written.
    let is_live = plan.calls_agent();
    let lookup = |name: &str| environment::var(name).or_else(|| (!is_live).then(|| format!("${{{{ {name} }}}}")));
    let case = match plan.entry.may_have_variables() {
        true => Cow::Owned(interpolation::resolve(plan.case.clone(), plan.data.layout, lookup)?),
        false => Cow::Borrowed(&plan.case),
    };
    for file in file_parts(given_messages(&case)) {
        let path = plan.places.resolve(file);
        if !path.is_file() {
            let message = format!("the file `{}` does not exist ({})", file.written, path.display());
            return Err(EarlyEnd::error(Stage::Setup, ReasonCode::FileMissing, message));
        }
    }
    Ok(case)
}

/// Graders that reject their config would do so after the agent was paid for.
fn check_graders(case: &Case, plan: &Plan<'_>) -> Result<(), EarlyEnd> {
    if !plan.calls_agent() {
        return Ok(());
    }
    let mut problems = grader_problems(case, plan.evals.registry()).into_iter();
    // A grader that is not registered fails by itself, and the other graders still say what they think.
    let Some(problem) = problems.find(|problem| problem.code == Code::GraderConfigRejected) else { return Ok(()) };
    let mut reason = Reason::new(Stage::Setup, ReasonCode::GraderError, problem.message);
    reason.location = problem.place.map(|place| {
        let start = place.start().unwrap_or(Position::START);
        Location::new(place.file, start.line, start.column)
    });
    Err(reason.into())
}

/// The agent, with the values of its variables.
fn resolve_agent<'a>(plan: &'a Plan<'_>) -> Result<Agent<'a>, EarlyEnd> {
    match &plan.agent {
        _ if !plan.calls_agent() => Ok(Agent::Recorded),
        ChosenAgent::Rust(agent) => Ok(Agent::Rust(agent)),
        ChosenAgent::Command(command) => {
            Ok(Agent::Command(Box::new(command.resolve(&|name: &str| environment::var(name))?)))
        }
        ChosenAgent::Unusable(problem) => {
            Err(EarlyEnd::error(Stage::Setup, ReasonCode::TargetUnusable, problem.as_str()))
        }
    }
}

/// Why an agent in Rust is not sealed.
const IN_PROCESS: &str = "the agent runs in the test program; make it a command to seal it";

/// What a trial starts to get an answer.
#[derive(Debug, Clone, Copy)]
enum StartedAgent<'a> {
    /// Nothing: its answer is recorded.
    Nothing,
    /// A function of the test program.
    Function,
    Command(&'a ResolvedCommand<'a>),
}

/// Decides whether the agent is sealed, and records it. A command of the trial that must not run without a seal ends the trial.
fn seal_trial(
    trial: &TrialAttempt<'_>,
    case: &Case,
    agent: StartedAgent<'_>,
    seals: &SealDefaults,
) -> Result<CommandSeal, EarlyEnd> {
    let agent = match agent {
        StartedAgent::Nothing => Ok(CommandSeal::default()),
        StartedAgent::Function => seal_function(seals.mode(&Sealing::default())),
        StartedAgent::Command(command) => {
            let elsewhere = command.own_directory(&trial.plan.places).filter(|_| case.workspace.is_none());
            let own = vec![trial.workspace.clone()];
            let files = SealedFiles { own, working: elsewhere, ..SealedFiles::default() };
            seals.seal(&command.target.sealing, &trial.plan.places, files)
        }
    };
    let record = |seal: Option<SealRecord>| trial.journal.borrow_mut().sealed = seal;
    let seal = agent.map_err(|refusal| {
        record(Some(refusal.record.clone()));
        refused("the agent", &refusal)
    })?;
    record(seal.record.clone());
    check_others(trial, case, seals)?;
    Ok(seal)
}

fn seal_function(mode: SealMode) -> Result<CommandSeal, Box<SealRefusal>> {
    let record = SealRecord::unsealed(IN_PROCESS);
    match mode {
        SealMode::Off => Ok(CommandSeal::default()),
        SealMode::Auto => Ok(CommandSeal { record: Some(record), start: None }),
        SealMode::Required => {
            let message = "`sealed: required`, but it runs in the test program, where the kernel cannot confine it\nhelp: make it a command \
                           of a targets file: docs/sealed.md";
            Err(Box::new(SealRefusal { record, message: message.to_owned() }))
        }
    }
}

/// Graders and hooks that must be sealed and cannot be would end the trial after the agent was paid for.
fn check_others(trial: &TrialAttempt<'_>, case: &Case, seals: &SealDefaults) -> Result<(), EarlyEnd> {
    let graders = case_graders(case);
    let with_members = graders.iter().flat_map(Grader::with_members);
    for grader in with_members {
        if let Some(sealing) = grader.config.settings().sealing() {
            let who = format!("grader `{}`", grader.name);
            seals.decide(sealing).map_err(|refusal| refused(&who, &refusal))?;
        }
    }
    let of_case = case.workspace.as_ref().map(|workspace| &workspace.hooks);
    for hooks in of_case.into_iter().chain(trial.plan.target_hooks()) {
        let around: [(&str, &Option<Hook>); 2] =
            [("before_each", &hooks.before_each), ("after_each", &hooks.after_each)];
        for (name, hook) in around {
            if let Some(hook) = hook {
                let who = format!("hook `{name}`");
                seals.decide(&hook.sealing).map_err(|refusal| refused(&who, &refusal))?;
            }
        }
    }
    Ok(())
}

fn refused(who: &str, refusal: &SealRefusal) -> EarlyEnd {
    EarlyEnd::error(Stage::Setup, ReasonCode::NotSealed, format!("{who} cannot run: {}", refusal.message))
}
