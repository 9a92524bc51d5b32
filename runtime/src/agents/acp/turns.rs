//! Turns of an agent, one of a trial or those of a conversation in one session: the prompt, how the turn ended, and what is wrong with its
//! messages.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use evalsuite_records::record::{Note, Usage, milliseconds};
use evalsuite_schema::json::json;
use evalsuite_schema::media_type::of_extension;
use evalsuite_schema::{AcpTarget, ReportedTokens, Value};

use crate::agents::acp::agent_process::AgentProcess;
use crate::agents::acp::session::{Reported, Session, Turn, Unanswered};
use crate::agents::acp::session_files::SessionFiles;
use crate::agents::acp::transcript::Transcript;
use crate::agents::command::cli_agent::ResolvedCommand;
use crate::agents::command::command_call::{with_stderr_text, write_captured};
use crate::agents::mcp::McpSession;
use crate::agents::{CommandCall, CommandFailure};
use crate::model::agent_report::Recording;
use crate::model::outcome::Outcome;
use crate::platform::process::{Captured, TERMINATION_GRACE};
use crate::platform::untrusted::{read_to_limit, regular_file};

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
                session.begin_turn(end);
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
    /// Begins a further turn. Work that the agent has reported since the end of the turn before is part of neither: of an answer that was
    /// graded without it, and of the next one, it would be wrong.
    fn begin_turn(&mut self, end: Instant) {
        self.turn = Turn::until(end);
        self.handle_ready();
        if !self.turn.transcript.recording.messages.is_empty() {
            self.turn.transcript = Transcript::default();
            let problem = "it reported work between two turns, after it had answered `session/prompt`";
            self.turn.notes.problem(problem.to_owned());
        }
    }

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
            self.drain(EXIT_GRACE, true);
        }
        // An error means that it has ended already.
        let _ = self.process.end(TERMINATION_GRACE);
        self.drain(EXIT_GRACE, false);
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
        let tokens = asked.as_ref().map_or(Value::Null, |result| result["usage"].clone());
        let reported = Reported { tokens, cost_usd: outcome.cost_usd };
        let before = self.reported_before.as_ref();
        outcome.cost_usd = reported.cost_of_turn(before);
        match reported.tokens_of_turn(before, self.reported_tokens) {
            Ok(usage) => outcome.usage = usage,
            Err(Unclear) => recording.captured.has_unclear_tokens = true,
        }
        self.reported_before = Some(reported);
        if let Ok(result) = &asked {
            recording.complete = true;
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

/// Bytes of the largest image or sound that is part of a prompt. A larger one is linked.
const EMBEDDED: u64 = 8 << 20;

/// What an agent is asked in a turn.
#[derive(Debug, Clone, Default)]
pub(crate) struct AcpPrompt {
    pub(crate) text: String,
    /// Files, in order.
    pub(crate) files: Vec<PathBuf>,
    /// Images, sounds and documents with their media types.
    pub(crate) media: Vec<(PathBuf, String)>,
}

impl AcpPrompt {
    /// Every file that the prompt names.
    pub(crate) fn all_files(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.iter().chain(self.media.iter().map(|(path, _)| path))
    }

    /// The blocks for an agent with these capabilities of prompts. Every agent reads texts and links.
    pub(crate) fn blocks(&self, capabilities: &Value) -> Value {
        let mut blocks = vec![json!({"type": "text", "text": self.text})];
        blocks.extend(self.files.iter().map(|file| link(file, None)));
        for (path, media_type) in &self.media {
            let kind = media_type.split('/').next().unwrap_or_default();
            let is_understood = matches!(kind, "image" | "audio") && capabilities[kind].as_bool() == Some(true);
            let data = is_understood.then(|| read(path)).flatten();
            blocks.push(match data {
                Some(data) => json!({"type": kind, "mimeType": media_type, "data": data}),
                None => link(path, Some(media_type)),
            });
        }
        Value::Array(blocks)
    }
}

fn read(path: &Path) -> Option<String> {
    let bytes = read_to_limit(regular_file(path).ok()?, EMBEDDED).ok()?;
    Some(STANDARD.encode(bytes))
}

fn link(path: &Path, media_type: Option<&str>) -> Value {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let mut link = json!({"type": "resource_link", "name": name.into_owned(), "uri": file_uri(path)});
    if let Some(media_type) = media_type.or_else(|| of_extension(&extension)) {
        link["mimeType"] = media_type.into();
    }
    link
}

/// The path as a URI.
fn file_uri(path: &Path) -> String {
    let path = path.to_string_lossy().replace('\\', "/");
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "file:///" });
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' | b':' => uri.push(byte.into()),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// The result of a turn.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The answer is graded.
    Answered,
    /// The agent refused. The answer is graded: a case may want that.
    Refused,
    /// There is no complete answer; the text says why.
    Incomplete(String),
}

impl Ending {
    /// Of the result of `session/prompt`.
    pub(crate) fn of(result: &Value) -> Self {
        let reason = match result.get("stopReason") {
            Some(Value::String(reason)) => reason.as_str(),
            other => {
                let found = other.map_or_else(|| "nothing".to_owned(), Value::to_string);
                return Self::Incomplete(format!("the agent ended its turn with the stop reason {found}, not a text"));
            }
        };
        match reason {
            "end_turn" => Self::Answered,
            "refusal" => Self::Refused,
            "max_tokens" => Self::cut_off(reason, "the model reached its limit of tokens"),
            "max_turn_requests" => Self::cut_off(reason, "the agent reached its limit of model requests in a turn"),
            "cancelled" => Self::cut_off(reason, "the agent cancelled its turn, which nothing asked for"),
            other => Self::Incomplete(format!("the agent ended its turn with the unknown stop reason `{other}`")),
        }
    }

    fn cut_off(reason: &str, why: &str) -> Self {
        Self::Incomplete(format!("the agent was cut off: {why} (stop reason `{reason}`)"))
    }
}

/// Tokens of which it is not known whether they are those of a turn.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unclear;

impl Reported {
    /// The tokens of the turn. Unless the target says what they are, they are those of the turn where a number is smaller than in the turn
    /// before, and could be those of the session otherwise; in the first turn, both are the same.
    pub(crate) fn tokens_of_turn(
        &self,
        before: Option<&Self>,
        target: Option<ReportedTokens>,
    ) -> Result<Option<Usage>, Unclear> {
        let (Some(now), Some(before)) = (usage(&self.tokens), before) else { return Ok(usage(&self.tokens)) };
        match target {
            Some(ReportedTokens::Turn) => Ok(Some(now)),
            Some(ReportedTokens::Session) => {
                let spent = usage(&before.tokens).and_then(|before| difference(now, before));
                spent.map(Some).ok_or(Unclear)
            }
            None if self.has_smaller_number(before) => Ok(Some(now)),
            None => Err(Unclear),
        }
    }

    fn has_smaller_number(&self, before: &Self) -> bool {
        let keys =
            ["totalTokens", "inputTokens", "outputTokens", "thoughtTokens", "cachedReadTokens", "cachedWriteTokens"];
        let number = |reported: &Self, key: &str| reported.tokens.get(key).and_then(Value::as_u64);
        let mut numbers = keys.iter().filter_map(|key| number(self, key).zip(number(before, key)));
        numbers.any(|(now, before)| now < before)
    }

    /// The cost of the turn, if the cost of the session is known before it and after it.
    pub(crate) fn cost_of_turn(&self, before: Option<&Self>) -> Option<f64> {
        let cost = self.cost_usd? - before.map_or(Some(0.0), |before| before.cost_usd)?;
        before.is_none_or(|_| cost >= 0.0).then_some(cost)
    }
}

/// What was added to tokens; `None` if they became fewer.
fn difference(now: Usage, before: Usage) -> Option<Usage> {
    let input = now.input.checked_sub(before.input)?;
    let spent = Usage::new(input, now.output.checked_sub(before.output)?);
    let (cached, reasoning) = (now.cached.checked_sub(before.cached)?, now.reasoning.checked_sub(before.reasoning)?);
    Some(spent.with_cached(cached).with_reasoning(reasoning))
}

/// The tokens of a `usage`, if it has them.
pub(crate) fn usage(usage: &Value) -> Option<Usage> {
    let number = |key: &str| usage.get(key).and_then(Value::as_u64);
    let (input, output) = (number("inputTokens")?, number("outputTokens")?);
    let (cached, written) = (number("cachedReadTokens").unwrap_or(0), number("cachedWriteTokens").unwrap_or(0));
    // Agents differ in whether input includes what was read from a cache; the total tells.
    let separate = input.saturating_add(output).saturating_add(cached).saturating_add(written);
    let is_included = number("totalTokens").is_some_and(|total| total < separate);
    let input = if is_included { input.saturating_sub(cached) } else { input.saturating_add(written) };
    Some(Usage::new(input, output).with_cached(cached).with_reasoning(number("thoughtTokens").unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::json::json;

    use super::*;

    #[test]
    fn an_image_is_data_for_agents_that_read_it_and_a_link_for_others() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a b.png");
        std::fs::write(&path, "png").unwrap();
        let prompt = AcpPrompt { text: "look".into(), files: Vec::new(), media: vec![(path, "image/png".into())] };
        let image = &prompt.blocks(&json!({"image": true}))[1];
        assert_eq!(image, &json!({"type": "image", "mimeType": "image/png", "data": "cG5n"}));
        let link = &prompt.blocks(&json!({"image": false}))[1];
        assert_eq!((&link["type"], &link["name"]), (&json!("resource_link"), &json!("a b.png")));
        assert!(link["uri"].as_str().unwrap().ends_with("/a%20b.png"), "{link}");
        assert_eq!(prompt.blocks(&Value::Null)[0], json!({"type": "text", "text": "look"}));
    }

    #[test]
    fn only_an_agent_that_ended_its_turn_has_an_answer() {
        let of = |reason: Value| Ending::of(&json!({"stopReason": reason}));
        assert_eq!(of(json!("end_turn")), Ending::Answered);
        assert_eq!(of(json!("refusal")), Ending::Refused);
        for reason in
            [json!("max_tokens"), json!("max_turn_requests"), json!("cancelled"), json!("new"), json!(1), json!(null)]
        {
            assert!(matches!(of(reason.clone()), Ending::Incomplete(_)), "{reason}");
        }
        assert!(matches!(Ending::of(&json!({})), Ending::Incomplete(_)));
        assert!(matches!(Ending::of(&Value::Null), Ending::Incomplete(_)));
    }

    #[test]
    fn cached_tokens_are_counted_once() {
        let of = |total: u64| {
            usage(&json!({"inputTokens": 100, "outputTokens": 10, "cachedReadTokens": 60, "totalTokens": total}))
        };
        assert_eq!(of(170), Some(Usage::new(100, 10).with_cached(60)));
        assert_eq!(of(110), Some(Usage::new(40, 10).with_cached(60)));
        assert_eq!(usage(&json!(null)), None);
        assert_eq!(usage(&json!({})), None);
    }

    #[test]
    fn tokens_are_those_of_a_turn_where_they_cannot_be_those_of_the_session() {
        let reported = |input: Option<u64>, output: u64, cost_usd: Option<f64>| {
            let tokens = input.map_or(Value::Null, |input| json!({"inputTokens": input, "outputTokens": output}));
            Reported { tokens, cost_usd }
        };
        let tokens_of = |now: Option<u64>, before: Option<u64>, target| {
            reported(now, 10, None).tokens_of_turn(Some(&reported(before, 4, None)), target)
        };
        let tokens = |now, before| tokens_of(now, before, None);
        for target in [None, Some(ReportedTokens::Turn), Some(ReportedTokens::Session)] {
            assert_eq!(reported(Some(5), 1, None).tokens_of_turn(None, target), Ok(Some(Usage::new(5, 1))));
            assert_eq!(tokens_of(None, Some(100), target), Ok(None));
        }
        for (now, before) in [(Some(101), Some(100)), (Some(5), None)] {
            assert_eq!(tokens_of(now, before, Some(ReportedTokens::Turn)), Ok(Some(Usage::new(now.unwrap(), 10))));
        }
        assert_eq!(tokens_of(Some(101), Some(100), Some(ReportedTokens::Session)), Ok(Some(Usage::new(1, 6))));
        for before in [Some(102), None] {
            assert_eq!(tokens_of(Some(101), before, Some(ReportedTokens::Session)), Err(Unclear), "{before:?}");
        }
        assert_eq!(tokens(Some(99), Some(100)), Ok(Some(Usage::new(99, 10))));
        for (now, before) in [(Some(101), Some(100)), (Some(100), Some(100)), (Some(5), None)] {
            assert_eq!(tokens(now, before), Err(Unclear), "{now:?} {before:?}");
        }
        let cost = |now, before| reported(None, 0, now).cost_of_turn(Some(&reported(None, 0, before)));
        assert_eq!(cost(Some(0.75), Some(0.5)), Some(0.25));
        assert_eq!([cost(Some(0.25), Some(0.5)), cost(None, Some(0.5)), cost(Some(0.5), None)], [None; 3]);
        assert_eq!(reported(None, 0, Some(0.5)).cost_of_turn(None), Some(0.5));
    }
}
