//! Turns of an agent: one of a trial, or those of a conversation in one session.

use std::cell::RefCell;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use evalsuite_records::record::{Note, milliseconds};
use evalsuite_schema::json::json;
use evalsuite_schema::{AcpTarget, Value};

use crate::agents::acp::agent_process::AgentProcess;
use crate::agents::acp::prompt_content::AcpPrompt;
use crate::agents::acp::session::{Session, Turn, Unanswered};
use crate::agents::acp::session_files::SessionFiles;
use crate::agents::acp::stop_reason::{Ending, usage};
use crate::agents::command::command_call::{with_stderr_text, write_captured};
use crate::agents::command::resolved_command::ResolvedCommand;
use crate::agents::command_exchange::{CommandCall, CommandFailure};
use crate::agents::mcp::McpSession;
use crate::model::outcome::Outcome;
use crate::model::recording::Recording;
use crate::platform::process::{Captured, TERMINATION_GRACE};

/// Time for the answer to `session/cancel`.
const CANCEL_GRACE: Duration = Duration::from_secs(2);
/// Time for an agent to end by itself, after its standard input is closed.
const EXIT_GRACE: Duration = Duration::from_millis(500);

/// The session of a trial, from its first turn to its last one. It ends with the trial.
#[derive(Default)]
pub(crate) struct AcpSession(RefCell<Option<Session>>);

/// The result of a turn.
pub(crate) struct AcpAnswer {
    pub(crate) result: Result<Outcome, CommandFailure>,
    pub(crate) recording: Recording,
    pub(crate) notes: Vec<Note>,
}

/// How a turn ended before there was an answer.
struct Failed {
    fact: String,
    timed_out: bool,
}

impl AcpSession {
    /// Asks the agent. Images, sounds and documents are in `media`. After the last turn of its trial, the agent is ended.
    pub(crate) fn turn(
        &self,
        command: &ResolvedCommand<'_>,
        target: &AcpTarget,
        ask: &CommandCall<'_>,
        media: Vec<(PathBuf, String)>,
        is_last: bool,
    ) -> AcpAnswer {
        let began = Instant::now();
        let end = began.checked_add(ask.limit).unwrap_or_else(|| began + Duration::from_secs(u32::MAX.into()));
        let prompt = AcpPrompt { text: ask.prompt.to_owned(), files: ask.files.to_vec(), media };
        let mut running = self.0.borrow_mut();
        let session = match running.as_mut() {
            Some(session) => {
                session.turn = Turn::until(end);
                session.files.give(&prompt.all_files().cloned().collect::<Vec<_>>());
                session
            }
            None => match start(command, target, ask, &prompt, end) {
                Ok(session) => running.insert(session),
                Err(message) => {
                    let result = Err(CommandFailure::Failed(message));
                    return AcpAnswer { result, recording: Recording::default(), notes: Vec::new() };
                }
            },
        };
        let asked = session.ask(ask, target, &prompt);
        let took = began.elapsed();
        let is_over = is_last || asked.is_err();
        let failed = asked.map_err(|unanswered| session.explain(unanswered, ask.limit));
        if is_over {
            session.finish(failed.as_ref().err().is_none());
        } else {
            session.handle_ready();
        }
        let stderr = session.process.take_errors(is_over);
        let answer = session.conclude(failed, took, ask, &stderr);
        if is_over {
            *running = None;
        }
        answer
    }
}

fn start(
    command: &ResolvedCommand<'_>,
    target: &AcpTarget,
    ask: &CommandCall<'_>,
    prompt: &AcpPrompt,
    end: Instant,
) -> Result<Session, String> {
    if !ask.cwd.is_dir() {
        return Err(format!("the working directory {} does not exist", ask.cwd.display()));
    }
    // A seal opens only directories that exist.
    let directory = ask.directory.path();
    ask.directory.make().map_err(|error| format!("{} cannot be made: {error}", directory.display()))?;
    let files = SessionFiles::new(ask.cwd, prompt.all_files().cloned().collect());
    let (program, seal) = command.start(&command.command.without_placeholders(), ask);
    let process = AgentProcess::start(program, ask.environment.echo, seal.as_ref())
        .map_err(|error| format!("the agent cannot be started: {error}"))?;
    Ok(Session::new(process, files, target, end))
}

impl Session {
    /// Sends the prompt, after the session is made. Returns the result of the prompt.
    fn ask(&mut self, ask: &CommandCall<'_>, target: &AcpTarget, prompt: &AcpPrompt) -> Result<Value, Unanswered> {
        if self.id.is_none() {
            let servers = ask.mcp.map_or_else(|| json!([]), McpSession::session_servers);
            self.open(&ask.cwd.to_string_lossy(), target.authenticate.as_deref(), servers)?;
        }
        let blocks = prompt.blocks(&self.prompt_capabilities);
        self.request("session/prompt", json!({"sessionId": self.id, "prompt": blocks}))
    }

    /// Why there is no answer. A turn that takes too long is cancelled.
    fn explain(&mut self, unanswered: Unanswered, limit: Duration) -> Failed {
        let failed = |fact: String| Failed { fact, timed_out: false };
        match unanswered {
            Unanswered::TimedOut(method) => {
                let mut fact = format!("the agent did not answer `{method}` within {} s", limit.as_secs_f64());
                if method == "session/prompt" {
                    fact += &match self.cancel(CANCEL_GRACE) {
                        Some(Ok(result)) => match result["stopReason"].as_str() {
                            Some(reason) => format!("; after `session/cancel` it ended its turn with `{reason}`"),
                            None => "; after `session/cancel` it ended its turn without a stop reason".to_owned(),
                        },
                        Some(Err(error)) => format!("; it answered `session/cancel` with {error}"),
                        None => {
                            format!("; it did not end its turn within {} s of `session/cancel`", CANCEL_GRACE.as_secs())
                        }
                    };
                }
                let unfinished = self.process.unfinished();
                if unfinished > 0 {
                    fact += &format!("; the last {unfinished} bytes that it wrote have no line break");
                }
                Failed { fact, timed_out: true }
            }
            Unanswered::Closed(method) => {
                let did = match self.process.ends_within(EXIT_GRACE) {
                    true => match self.process.end(Duration::ZERO) {
                        Ok(status) => format!("the agent ended ({status})"),
                        Err(error) => format!("the agent ended ({error})"),
                    },
                    false => "the agent closed its standard output, but did not end,".to_owned(),
                };
                failed(format!("{did} before it answered `{method}`"))
            }
            Unanswered::Refused(method, error) => failed(format!("the agent answered `{method}` with {error}")),
            Unanswered::Broken(problem) => failed(problem),
        }
    }

    /// Ends the agent. What it still writes is recorded, where it has answered.
    fn finish(&mut self, has_answered: bool) {
        self.process.close_input();
        if has_answered {
            self.drain(EXIT_GRACE);
        }
        // An error means that it has ended already.
        let _ = self.process.end(TERMINATION_GRACE);
        self.drain(EXIT_GRACE);
    }

    fn conclude(
        &mut self,
        asked: Result<Value, Failed>,
        took: Duration,
        ask: &CommandCall<'_>,
        stderr: &Captured,
    ) -> AcpAnswer {
        let Turn { transcript, mut notes, wire, .. } = std::mem::replace(&mut self.turn, Turn::until(Instant::now()));
        let mut recording = transcript.recording;
        let outcome = &mut recording.outcome;
        outcome.model.clone_from(&self.model);
        if self.agent_info.is_object() {
            outcome.metadata.insert("agent".to_owned(), self.agent_info.clone());
        }
        if let Some(cost) = outcome.cost_usd.as_mut() {
            // The agent reports the cost of the session.
            let session = *cost;
            *cost = session - self.cost_before;
            self.cost_before = session;
        }
        if let Ok(result) = &asked {
            recording.complete = true;
            outcome.usage = usage(result);
            outcome.duration_ms = Some(milliseconds(took));
            outcome.metadata.insert("stop_reason".to_owned(), result["stopReason"].clone());
        }
        let failure = match asked {
            Err(failed) => Some(failed),
            Ok(result) => match (Ending::of(&result), notes.problems()) {
                (Ending::Incomplete(fact), _) => Some(Failed { fact, timed_out: false }),
                (_, Some(problems)) => Some(Failed { fact: problems, timed_out: false }),
                (Ending::Refused, None) => {
                    notes.note("refused", "the agent refused to go on (stop reason `refusal`)".to_owned());
                    None
                }
                (Ending::Answered, None) => None,
            },
        };
        let is_broken = failure.as_ref().is_some_and(|failure| Some(&failure.fact) == notes.problems().as_ref());
        let mut notes = notes.into_notes(failure.is_some() && !is_broken);
        write_captured(ask, "stderr.txt", stderr, &mut notes);
        let messages = Captured { bytes: wire.text().as_bytes().to_vec(), truncated: wire.is_cut };
        write_captured(ask, "protocol.jsonl", &messages, &mut notes);
        let result = match failure {
            None => Ok(Outcome::new()),
            Some(Failed { fact, timed_out }) => {
                let message = with_stderr_text(&fact, &stderr.text());
                Err(if timed_out { CommandFailure::TimedOut(message) } else { CommandFailure::Failed(message) })
            }
        };
        AcpAnswer { result, recording, notes }
    }
}
