//! A trial whose agent was called, as a function or a command within its time limit, in a turn of one that speaks the Agent Client
//! Protocol, or whose agent's call was replayed.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use evalsuite_records::record::{Note, Reason, ReasonCode, Stage, Status};
use evalsuite_schema::{Input, Role};

use crate::agents::command::cli_agent::ResolvedCommand;
use crate::agents::spans::Trace;
use crate::agents::{CommandCall, CommandFailure, Writer};
use crate::model::agent::RustAgent;
use crate::model::agent_report::Recording;
use crate::model::command::EndWithTrial;
use crate::model::depth::MOST_LEVELS;
use crate::model::messages::{media_parts, messages_of, named_files, prompt};
use crate::model::outcome::{AgentError, Outcome};
use crate::model::trial as api;
use crate::platform::async_runtime::TaskCount;
use crate::platform::clock::Stopwatch;
use crate::platform::process::TERMINATION_GRACE;
use crate::platform::time_limit::{Ended, call_within};
use crate::platform::untrusted::UntrustedDirectory;
use crate::record::cassette::AgentCall;
use crate::run::trial::prepared::{Agent, Prepared};
use crate::run::trial::size_limits;
use crate::run::trial::trial_attempt::{EarlyEnd, TrialAttempt};
use crate::workspace::replayable_changes::ReplayableChanges;
use crate::workspace::snapshot::Snapshot;

/// An agent's call, however it ended.
pub(crate) struct Called {
    pub(crate) result: Result<Outcome, EarlyEnd>,
    /// What the agent recorded until then.
    pub(crate) recording: Recording,
    /// Warnings about what it reported.
    pub(crate) notes: Vec<Note>,
    pub(crate) took: Duration,
    /// When it began and when it ended.
    pub(crate) span: (String, String),
    /// The workspace after the call.
    pub(crate) after: io::Result<Snapshot>,
}

/// Calls the agent and records what it did, or replays a recorded call. `before` is the workspace before the call.
pub(crate) fn call_agent(
    prepared: &Prepared<'_>,
    input: &Input,
    turn: Option<u32>,
    before: Result<&Snapshot, &io::Error>,
) -> Result<Called, EarlyEnd> {
    let (Prepared { cassette, .. }, TrialAttempt { plan, index, workspace, .. }) = (prepared, prepared.trial);
    if let Some(call) = crate::run::replay::next_call(plan, *index, turn, cassette, workspace)? {
        prepared.recorder.add_lost(call.lost());
        return Ok(Called::replayed(prepared, call, before));
    }
    let clock = Stopwatch::start();
    let (result, recording, notes) = call(prepared, input, turn);
    let took = clock.elapsed();
    let span = (clock.started_at(), clock.after(took));
    let mut called = Called { result, recording, notes, took, span, after: snapshot_after(prepared, before) };
    called.check_files(prepared);
    if let Ok(outcome) = &called.result {
        let changes = match (before, &called.after) {
            (Ok(before), Ok(after)) => ReplayableChanges::between(before, after, workspace, cassette.placeholders())
                .unwrap_or_else(|error| ReplayableChanges::unrecorded(&error)),
            (Err(error), _) | (_, Err(error)) => ReplayableChanges::unrecorded(error),
        };
        let call = AgentCall::new(outcome, &called.recording, called.took, called.span.clone(), changes);
        if let Err(error) = cassette.keep_call(call) {
            called.fail(EarlyEnd::error(Stage::Capture, ReasonCode::RecordingFailed, error.to_string()));
        }
    }
    Ok(called)
}

fn snapshot_after(prepared: &Prepared<'_>, before: Result<&Snapshot, &io::Error>) -> io::Result<Snapshot> {
    let workspace = &prepared.trial.workspace;
    before.map_or_else(|_| Snapshot::take(workspace), |before| before.take_later(workspace))
}

impl Called {
    /// A call that was recorded before, whose changes are in the workspace.
    fn replayed(prepared: &Prepared<'_>, call: AgentCall, before: Result<&Snapshot, &io::Error>) -> Self {
        let after = match before {
            Ok(before) if call.workspace.are_none() => Ok(before.clone()),
            before => snapshot_after(prepared, before),
        };
        let mut called = Self {
            result: Ok(call.outcome()),
            recording: call.recording(),
            notes: Vec::new(),
            took: Duration::from_millis(call.took_ms),
            span: (call.started_at, call.ended_at),
            after,
        };
        called.check_files(prepared);
        called
    }

    /// Turns a call that succeeded into an error. What the agent returned stays in the record.
    pub(crate) fn fail(&mut self, end: EarlyEnd) {
        if self.result.is_ok()
            && let Ok(outcome) = std::mem::replace(&mut self.result, Err(end))
        {
            self.recording.keep(outcome);
        }
    }

    /// Fails if a file of an answer may not be opened for graders and judges.
    fn check_files(&mut self, prepared: &Prepared<'_>) {
        let Ok(outcome) = &self.result else { return };
        let files = prepared.answer_files();
        let messages = outcome.messages.as_deref().or_else(|| self.recording.transcript()).unwrap_or_default();
        let answers = named_files(messages.iter().filter(|message| message.role == Role::Assistant)).into_iter();
        let refused = answers
            .chain(&self.recording.files)
            .find_map(|file| Some((file.written.clone(), files.check(file).err()?)));
        if let Some((written, error)) = refused {
            let message = format!(
                "the file `{written}` of the answer {error}; the files of an answer are in the workspace or the trial's directory"
            );
            self.fail(failed(message));
        }
    }
}

/// Calls the agent within its limit. `turn` is the index of the turn in a conversation.
fn call(prepared: &Prepared<'_>, input: &Input, turn: Option<u32>) -> CallResult {
    let (result, mut recording, mut notes) = match &prepared.agent {
        Agent::Rust(agent) => call_function(prepared, input, turn, agent),
        Agent::Command(command) => call_command(prepared, input, turn, command),
        Agent::Recorded => {
            (Err(failed("no agent is called in this mode".to_owned())), Recording::default(), Vec::new())
        }
    };
    let is_too_deep = recording.replace_too_deep();
    let (directory, redactor) = (agent_directory(prepared, turn), &prepared.trial.plan.redactor);
    let has_failed = result.is_err();
    let mut too_large = size_limits::cut(&directory, redactor, &mut recording);
    let result = result.and_then(|mut outcome| {
        let is_too_deep = outcome.replace_too_deep() || is_too_deep;
        too_large.extend(size_limits::cut_outcome(&directory, redactor, &mut outcome));
        let outcome = outcome.or_reported(recording.outcome.clone());
        let defect = match too_large.first() {
            _ if is_too_deep => {
                Some(format!("the agent reported a value with more than {MOST_LEVELS} levels of lists and objects"))
            }
            Some(_) => Some(too_large_text(&too_large)),
            None => outcome.defect(&recording.messages),
        };
        let Some(defect) = defect else { return Ok(outcome) };
        recording.keep(outcome);
        Err(failed(defect))
    });
    if has_failed && !too_large.is_empty() {
        notes.push(Note::new("agent_data_cut", too_large_text(&too_large)));
    }
    (result, recording, notes)
}

fn too_large_text(problems: &[String]) -> String {
    format!("the agent handed over {}", problems.join("; "))
}

fn call_function(prepared: &Prepared<'_>, input: &Input, turn: Option<u32>, agent: &RustAgent) -> CallResult {
    let Prepared { trial, case, environment, cassette, .. } = prepared;
    let (plan, index) = (trial.plan, trial.index);
    let now = Instant::now();
    let facts = api::Facts {
        case_id: case.id.clone(),
        agent_name: plan.suite.agent_name.map(str::to_owned),
        target: plan.identity.target.clone(),
        index,
        turn,
        prompt: prompt(input, |file| plan.places.resolve(file)),
        input: input.clone(),
        files: prepared.files(input),
        metadata: case.metadata.clone(),
        workspace: trial.workspace.clone(),
        suite_dir: plan.places.suite_dir.clone(),
        case_dir: plan.places.join(&case.dir),
        // A limit beyond what the clock can hold is no limit.
        deadline: now.checked_add(plan.limit).unwrap_or_else(|| now + Duration::from_secs(u32::MAX.into())),
        environment: environment.clone(),
        cassette: cassette.replies(),
        dependencies: Arc::clone(&plan.dependencies),
    };
    let recorder = &prepared.recorder;
    recorder.open();
    let trace = Trace::new(&case.id, index).on_unknown_threads(agent.is_on_other_runtime());
    let tasks = agent.count_tasks();
    let polled = trace.clone();
    let cancel = agent.new_cancel().before_each_poll(move || polled.before_poll());
    let inner = cancel.clone();
    let (mut own, shared) = api::Trial::new(facts, recorder.clone(), cancel.clone());
    prepared.programs.borrow_mut().push(EndWithTrial(shared.groups.clone()));
    let function = agent.clone();
    let inner_trace = trace.clone();
    let ended = call_within(
        plan.limit,
        &cancel,
        agent.is_cooperative,
        || shared.groups.end_all(TERMINATION_GRACE),
        // The `Display` of an agent's error is code of the agent, too.
        move || inner_trace.within(|| function.run(&mut own, &inner).map_err(|error| agent_error(&error))),
    );
    let mut recording = recorder.close();
    recording.captured = trace.take();
    let result = match ended {
        Ok(Ended::Returned(result)) => result,
        Ok(Ended::Panicked(message)) => {
            shared.groups.end_all(TERMINATION_GRACE);
            let cause = Trace::panic_cause(&message).unwrap_or_default();
            Err(EarlyEnd::error(Stage::Agent, ReasonCode::AgentPanic, format!("the agent panicked: {message}{cause}")))
        }
        Ok(Ended::TimedOut) => {
            let message = format!("the agent did not end within {} s", plan.limit.as_secs_f64());
            Err(EarlyEnd::error(Stage::Agent, ReasonCode::Timeout, message))
        }
        Err(error) => Err(failed(format!("the agent's thread cannot be started: {error}"))),
    };
    (result, recording, tasks.and_then(|tasks| tasks_left_behind(&tasks)).into_iter().collect())
}

/// Tasks cannot be ended from outside, and ending those of a shared client would break it.
fn tasks_left_behind(tasks: &TaskCount) -> Option<Note> {
    let (tasks, they) = match tasks.left_behind() {
        0 => return None,
        1 => ("1 task that the agent spawned was".to_owned(), "it goes"),
        left => (format!("{left} tasks that the agent spawned were"), "they go"),
    };
    let message = format!(
        "{tasks} still running after its call: connections that a client keeps, or work that nobody waits for; {they} on until the \
         process ends"
    );
    Some(Note::new("tasks_left_running", message))
}

fn agent_error(error: &AgentError) -> EarlyEnd {
    match error.skip_reason() {
        Some(reason) => {
            EarlyEnd { outcome: Status::Skipped, reason: Reason::new(Stage::Agent, ReasonCode::SkipRequested, reason) }
        }
        None => failed(error.chain()),
    }
}

/// How a call of an agent ended, what the agent recorded until then, and warnings about what it reported.
pub(crate) type CallResult = (Result<Outcome, EarlyEnd>, Recording, Vec<Note>);

/// Where the files of a call of the agent are.
pub(crate) fn agent_directory(prepared: &Prepared<'_>, turn: Option<u32>) -> UntrustedDirectory {
    let directory = UntrustedDirectory::new(&prepared.trial.directory).join("agent");
    turn.map_or_else(|| directory.clone(), |turn| directory.join(format!("turn-{turn:03}")))
}

/// Runs the command of the agent, or asks it in its session. `turn` is the index of the turn in a conversation.
fn call_command(
    prepared: &Prepared<'_>,
    input: &Input,
    turn: Option<u32>,
    command: &ResolvedCommand<'_>,
) -> CallResult {
    let Prepared { trial, case, environment, .. } = prepared;
    let plan = trial.plan;
    // For a case without a workspace, the target may say where the command runs.
    let elsewhere = command.own_directory(&plan.places).filter(|_| case.workspace.is_none());
    let now = input_of_turn(command, input, turn);
    let input = now.as_ref().unwrap_or(input);
    let ask = CommandCall {
        prompt: &prompt(input, |file| plan.places.resolve(file)),
        files: &prepared.files(input),
        case_id: &case.id,
        trial: trial.index,
        directory: &agent_directory(prepared, turn),
        cwd: elsewhere.as_deref().unwrap_or(&trial.workspace),
        environment,
        limit: plan.limit,
        writer: Writer::Agent,
        keep: plan.settings.keep_workspaces,
        redactor: &plan.redactor,
        mcp: prepared.mcp.as_ref(),
        seal: prepared.seal.start.as_ref(),
    };
    if let Some(target) = &command.agent.acp {
        let media = media_parts(messages_of(input)).into_iter();
        let media = media.map(|(file, kind)| (plan.places.resolve(file), kind.to_owned())).collect();
        let turns = case.conversation.as_ref().map_or(0, |conversation| conversation.turns.len());
        // Whether a simulated user says more is only known after the answer; the session then ends with the trial.
        let is_last = turn.is_none_or(|turn| turn as usize + 1 == turns && case.user().is_none());
        let mut answer = prepared.acp.turn(command, target, &ask, media, is_last);
        if let Some(mcp) = &prepared.mcp {
            let mut unreported = Outcome::new();
            let reported = answer.result.as_mut().unwrap_or(&mut unreported);
            answer.notes.extend(mcp.add_calls(reported, &mut answer.recording));
        }
        return (answer.result.map_err(end_of_command), answer.recording, answer.notes);
    }
    let mut answer = command.call(&ask);
    let mut recording = Recording::default();
    if let Some(line) = &answer.log {
        recording.log(line);
    }
    if let Some(mcp) = &prepared.mcp {
        answer.notes.extend(mcp.add_calls(&mut answer.reported, &mut recording));
    }
    let result = match answer.result {
        Ok(()) => Ok(answer.reported),
        Err(failure) => {
            recording.keep(answer.reported);
            Err(end_of_command(failure))
        }
    };
    (result, recording, answer.notes)
}

/// What a session with the agent does not know yet, if the turns of a conversation are turns of one session: the last message.
fn input_of_turn(command: &ResolvedCommand<'_>, input: &Input, turn: Option<u32>) -> Option<Input> {
    let has_session = command.agent.acp.is_some() && turn.is_some_and(|turn| turn > 0);
    let message = messages_of(input).last().filter(|_| has_session)?;
    Some(Input::Messages(vec![message.clone()]))
}

fn end_of_command(failure: CommandFailure) -> EarlyEnd {
    match failure {
        CommandFailure::Failed(message) => failed(message),
        CommandFailure::TimedOut(message) => EarlyEnd::error(Stage::Agent, ReasonCode::Timeout, message),
    }
}

/// An error of the agent.
pub(crate) fn failed(message: String) -> EarlyEnd {
    EarlyEnd::error(Stage::Agent, ReasonCode::AgentError, message)
}
