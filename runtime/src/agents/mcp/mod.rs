//! The MCP servers of a target in one trial: the agent gets commands of a proxy in their place, and what the proxies saw becomes a part of
//! the transcript. At the end, its recording is written from the traces of the proxies, a replay says what differed, and its files lose what
//! is secret.

mod proxied_server;
mod traced_calls;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use evalsuite_records::record::{Note, Reason, ReasonCode, Stage};
use evalsuite_schema::diagnostics::counted;
use evalsuite_schema::json::ToJson;
use evalsuite_schema::{Mcp, McpFaultKind, Value};

use self::proxied_server::ProxiedServer;
use self::traced_calls::{McpCall, TracedExchange, TracedServer};
use crate::agents::McpMode;
use crate::model::agent_report::{Recording, ServerCalls};
use crate::model::outcome::Outcome;
use crate::platform::redaction::Redactor;
use crate::platform::untrusted::{OpenError, UntrustedDirectory};
use crate::record::mcp::{
    CLAIMS, CONFIG, McpRecording, McpSessionFile, RECORDING, RecordedServer, SESSION, TRACES, TraceEvent, TraceLine,
};
use crate::workspace::remove_directory;
use crate::workspace::value_placeholders::Placeholders;

/// Largest trace that is read, in bytes.
const TRACE_LIMIT: u64 = 512 << 20;

/// What a session of a trial needs.
pub(crate) struct McpTrial {
    /// The directory of the session.
    pub(crate) directory: PathBuf,
    pub(crate) mode: McpMode,
    /// The files of the recording: the first that exists is replayed, the first is written.
    pub(crate) files: Vec<PathBuf>,
    /// The trial, without its servers.
    pub(crate) about: McpRecording,
    pub(crate) placeholders: Placeholders,
    pub(crate) redactor: Redactor,
    /// How to record the trial, for messages.
    pub(crate) hint: String,
}

/// The servers of a trial. All calls of its agent share them.
pub(crate) struct McpSession {
    trial: McpTrial,
    mcp: Mcp,
    servers: Vec<ProxiedServer>,
    /// The recording that is replayed.
    replayed: Option<McpRecording>,
    /// Number of calls of tools that were taken from each trace.
    taken: Mutex<BTreeMap<String, usize>>,
}

impl McpSession {
    /// Makes the directory with what proxies need. The error is why the agent must not be called.
    pub(crate) fn begin(mcp: &Mcp, trial: McpTrial) -> Result<Self, Reason> {
        let replayed = match trial.mode {
            McpMode::Replay if mcp.record => Some(recording_of(&trial)?),
            McpMode::Replay => {
                let message = "the servers of `mcp` cannot be replayed with `record: false`";
                return Err(Reason::new(Stage::Setup, ReasonCode::TargetUnusable, message));
            }
            McpMode::Live | McpMode::Record => None,
        };
        let servers = match mcp.record {
            false => mcp.servers.iter().map(ProxiedServer::direct).collect(),
            true => {
                let program = proxied_server::proxy_program()
                    .map_err(|problem| Reason::new(Stage::Setup, ReasonCode::TargetUnusable, problem))?;
                let behind = |server| ProxiedServer::behind(&program, &trial.directory, server);
                mcp.servers.iter().map(behind).collect()
            }
        };
        let session = Self { trial, mcp: mcp.clone(), servers, replayed, taken: Mutex::default() };
        session.make_directory().map_err(|error| {
            let message = format!("{} cannot be written: {error}", session.trial.directory.display());
            Reason::new(Stage::Setup, ReasonCode::TargetUnusable, message)
        })?;
        Ok(session)
    }

    fn make_directory(&self) -> std::io::Result<()> {
        let directory = self.directory();
        for name in [TRACES, CLAIMS] {
            directory.join(name).make()?;
        }
        let session = McpSessionFile {
            schema: McpSessionFile::SCHEMA.to_owned(),
            replay: self.replayed.is_some(),
            faults: self.mcp.faults.clone(),
        };
        let write =
            |name: &str, data: &dyn ToJson| directory.write(name, evalsuite_schema::json::to_string(data)?.as_bytes());
        write(SESSION, &session)?;
        write(CONFIG, &proxied_server::config_file(&self.servers))?;
        self.replayed.as_ref().map_or(Ok(()), |recording| write(RECORDING, recording))
    }

    fn directory(&self) -> UntrustedDirectory {
        UntrustedDirectory::new(&self.trial.directory)
    }

    /// The servers as an agent that speaks the Agent Client Protocol gets them.
    #[cfg(feature = "acp")]
    pub(crate) fn session_servers(&self) -> Value {
        self.servers.iter().map(ProxiedServer::session_entry).collect()
    }

    /// The file with the servers.
    pub(crate) fn config(&self) -> PathBuf {
        self.trial.directory.join(CONFIG)
    }

    /// The directory that proxies write to.
    pub(crate) fn path(&self) -> &Path {
        &self.trial.directory
    }

    /// What proxies and the commands of servers need of a sealed agent: programs that it may run.
    pub(crate) fn programs(&self) -> impl Iterator<Item = PathBuf> {
        self.servers.iter().map(|server| PathBuf::from(&server.command)).filter(|program| program.is_absolute())
    }

    /// Adds the variables of the agent.
    pub(crate) fn add_to(&self, command: &mut Command) {
        command.env("EVALSUITE_MCP_CONFIG", self.config()).env("EVALSUITE_MCP_SESSION", &self.trial.directory);
    }

    /// The traces so far, with the names of their files.
    fn traces(&self) -> Result<Vec<(String, TracedServer)>, String> {
        let directory = self.directory().join(TRACES);
        let unreadable = |what: &dyn std::fmt::Display| format!("the traces of the MCP servers cannot be read: {what}");
        let entries = match directory.entries() {
            Ok(entries) => entries,
            Err(error) => return Err(unreadable(&error)),
        };
        let mut names: Vec<String> = entries.into_iter().filter_map(|(name, _)| name.into_string().ok()).collect();
        names.sort_unstable();
        let mut traces = Vec::new();
        for name in names {
            match directory.read(&name, TRACE_LIMIT) {
                Ok(bytes) => {
                    let traced = TracedServer::read(server_of_trace(&name), &bytes);
                    traces.push((name, traced));
                }
                Err(OpenError::Missing) => {}
                Err(error) => return Err(unreadable(&error)),
            }
        }
        Ok(traces)
    }

    /// Adds the calls that the servers got since the last time to what an agent reported.
    pub(crate) fn add_calls(&self, reported: &mut Outcome, recording: &mut Recording) -> Vec<Note> {
        if !self.mcp.record {
            return Vec::new();
        }
        let (traces, mut missing) = match self.traces() {
            Ok(traces) => (traces, None),
            Err(problem) => (Vec::new(), Some(problem)),
        };
        missing = missing.or_else(|| traces.iter().find_map(|(_, traced)| traced.incomplete.clone()));
        if missing.is_none() && traces.is_empty() {
            missing = Some(self.nothing_started());
        }
        let calls = self.new_calls(&traces);
        let mut tools: Vec<(String, Value)> = Vec::new();
        for (server, tool) in traces.iter().flat_map(|(_, traced)| traced.tools().map(|tool| (&traced.server, tool))) {
            if !tools.iter().any(|(other, known)| other == server && known.get("name") == tool.get("name")) {
                tools.push((server.clone(), tool.clone()));
            }
        }
        let named = |(server, tool): &(String, Value)| Some((server.clone(), tool.get("name")?.as_str()?.to_owned()));
        let names: Vec<(String, String)> = tools.iter().filter_map(named).collect();
        if recording.captured.tools.is_empty() {
            recording.captured.tools = tools.into_iter().map(|(_, tool)| tool).collect();
        }
        recording.captured.servers = Some(ServerCalls {
            tools: names.iter().map(|(_, tool)| tool.clone()).collect(),
            are_all: self.mcp.only_tools,
            missing,
        });
        let own = match &mut reported.messages {
            Some(messages) => Some(messages),
            None if recording.has_messages() => Some(&mut recording.messages),
            None => None,
        };
        let Some(own) = own else {
            let captured = recording.captured.messages.get_or_insert_default();
            captured.extend(traced_calls::messages(calls));
            return Vec::new();
        };
        let unseen = traced_calls::merge_into_transcript(own, calls, &names);
        let note =
            |name| Note::new("mcp_call_not_seen", format!("the agent reports a call of `{name}`, which no server got"));
        unseen.into_iter().map(note).collect()
    }

    fn nothing_started(&self) -> String {
        let names: Vec<String> = self.mcp.servers.iter().map(|server| format!("`{}`", server.name)).collect();
        format!(
            "the agent started none of its MCP servers ({}): does it read the file of `{{MCP_CONFIG}}` or EVALSUITE_MCP_CONFIG?",
            names.join(", ")
        )
    }

    /// The calls that were not taken yet, by time.
    fn new_calls(&self, traces: &[(String, TracedServer)]) -> Vec<McpCall> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let mut calls = Vec::new();
        for (file, traced) in traces {
            let all: Vec<McpCall> = traced.calls().collect();
            let before = taken.insert(file.clone(), all.len()).unwrap_or_default();
            calls.extend(all.into_iter().skip(before));
        }
        calls.sort_by_key(|call| call.at);
        calls
    }
}

/// The recording of a trial, with the values of this machine.
fn recording_of(trial: &McpTrial) -> Result<McpRecording, Reason> {
    let missing = |message: String| Reason::new(Stage::Setup, ReasonCode::RecordingMissing, message);
    for file in &trial.files {
        let read = McpRecording::read(file, &trial.placeholders);
        if let Some(recording) = read.map_err(|error| missing(format!("{error}; {}", trial.hint)))? {
            return Ok(recording);
        }
    }
    let file = trial.files.first().map(|file| file.display().to_string()).unwrap_or_default();
    Err(missing(format!("there is no recording of the MCP servers of this trial at {file}; {}", trial.hint)))
}

/// The server whose proxy has written a trace: `notes.000.jsonl`.
fn server_of_trace(file: &str) -> &str {
    let name = file.strip_suffix(".jsonl").unwrap_or(file);
    name.rsplit_once('.').map_or(name, |(server, _)| server)
}

/// What became of the servers of a trial.
#[derive(Debug, Default)]
pub(crate) struct McpEnd {
    /// In a replay, the first request that is not in the recording: the trial is an error.
    pub(crate) unknown: Option<String>,
    pub(crate) notes: Vec<Note>,
}

impl McpSession {
    /// Ends the session. `is_complete`: the agent was called and its answer graded.
    pub(crate) fn end(&self, is_complete: bool) -> McpEnd {
        let mut end = McpEnd::default();
        if self.mcp.record {
            match self.traces() {
                Ok(traces) => {
                    self.describe(&traces, &mut end);
                    self.conclude(&traces, is_complete, &mut end);
                }
                Err(problem) => end.note("mcp_trace", problem),
            }
        }
        if let Err(error) = self.clean_up() {
            end.note("output_not_kept", format!("{}: {error}", self.trial.directory.display()));
        }
        end
    }

    /// What was injected, and what no agent should see.
    fn describe(&self, traces: &[(String, TracedServer)], end: &mut McpEnd) {
        for (_, traced) in traces {
            let server = &traced.server;
            for fault in traced.exchanges.iter().filter_map(|exchange| exchange.fault.as_ref()) {
                let (kind, call, tool) = (fault.fault.word(), fault.call, &fault.tool);
                end.note("mcp_fault", format!("`{kind}` was injected into call {call} of `{tool}`, server `{server}`"));
            }
            if let Some(status) = &traced.ended {
                end.note("mcp_server_ended", format!("the server `{server}` ended before the agent left it: {status}"));
            }
            for (lines, sender) in traced.invalid.iter().zip(["agent sent to", "agent got from"]) {
                if *lines > 0 {
                    let lines = counted(*lines, "line");
                    end.note(
                        "mcp_invalid",
                        format!("the {sender} the server `{server}` {lines} that are not JSON-RPC"),
                    );
                }
            }
        }
    }

    fn conclude(&self, traces: &[(String, TracedServer)], is_complete: bool, end: &mut McpEnd) {
        if let Some(recording) = &self.replayed {
            let mut unknown = traces.iter().flat_map(|(_, traced)| &traced.unknown);
            end.unknown = unknown.next().map(|first| match unknown.count() {
                0 => format!("{first}; {}", self.trial.hint),
                more => format!(
                    "{first}; {} after it are not in the recording either; {}",
                    counted(more, "request"),
                    self.trial.hint
                ),
            });
            end.notes.extend(self.unmade_calls(recording));
        }
        if self.trial.mode == McpMode::Record {
            let incomplete = || traces.iter().find_map(|(_, traced)| traced.incomplete.clone());
            let problem = match is_complete {
                false => Some("the trial ended in an error".to_owned()),
                true => incomplete().or_else(|| self.write_recording(traces).err()),
            };
            if let Some(problem) = problem {
                end.note("mcp_not_recorded", format!("the MCP servers were not recorded: {problem}"));
            }
        }
    }

    fn write_recording(&self, traces: &[(String, TracedServer)]) -> Result<(), String> {
        let Some(file) = self.trial.files.first() else { return Ok(()) };
        let recording = McpRecording { servers: recorded_servers(traces), ..self.trial.about.clone() };
        let written = recording.write(file, &self.trial.placeholders);
        written.map_err(|error| format!("{} cannot be written: {error}", file.display()))
    }

    /// Recorded calls of tools that were not made.
    fn unmade_calls(&self, recording: &McpRecording) -> Option<Note> {
        let claimed = self.directory().join(CLAIMS).entries().ok()?;
        let claimed: BTreeSet<String> = claimed.into_iter().filter_map(|(name, _)| name.into_string().ok()).collect();
        let mut labels = Vec::new();
        for (server, recorded) in &recording.servers {
            for (index, exchange) in recorded.exchanges.iter().enumerate() {
                if exchange.method == "tools/call" && !claimed.contains(&format!("{server}.{index}")) {
                    let tool = exchange.params.as_ref().and_then(|params| params.get("name")).and_then(Value::as_str);
                    labels.push(format!("`{}` of `{server}`", tool.unwrap_or_default()));
                }
            }
        }
        let were = if labels.len() == 1 { "was" } else { "were" };
        let message = || format!("{} {were} not made: {}", counted(labels.len(), "recorded call"), labels.join(", "));
        (!labels.is_empty()).then(|| Note::new("mcp_calls_not_made", message()))
    }

    /// Removes what only the proxies needed, and the secrets in traces.
    fn clean_up(&self) -> std::io::Result<()> {
        let directory = self.directory();
        for file in [SESSION, CONFIG, RECORDING] {
            directory.remove(file)?;
        }
        remove_directory(&self.trial.directory.join(CLAIMS))?;
        let (redactor, traces) = (&self.trial.redactor, directory.join(TRACES));
        if redactor.is_empty() {
            return Ok(());
        }
        for (name, _) in traces.entries()? {
            let name = name.to_string_lossy();
            match traces.read(&*name, TRACE_LIMIT) {
                Ok(trace) => traces.write(&name, &without_secrets(&trace, redactor)?)?,
                Err(_) => traces.remove(&name)?,
            }
        }
        Ok(())
    }
}

/// A trace in which secrets are hidden. Escapes may stand in escapes, so messages are searched as data.
fn without_secrets(trace: &[u8], redactor: &Redactor) -> std::io::Result<Vec<u8>> {
    let mut hidden = Vec::with_capacity(trace.len());
    for line in trace.split_inclusive(|byte| *byte == b'\n') {
        let Ok(mut line) = evalsuite_schema::json::from_slice::<TraceLine>(line) else {
            hidden.extend_from_slice(redactor.apply(&String::from_utf8_lossy(line)).as_bytes());
            continue;
        };
        if let TraceEvent::Message(message) = &mut line.event {
            if let Some(text) = &mut message.text
                && let Ok(data) = evalsuite_schema::json::from_str::<Value>(text)
            {
                let shown = redactor.redacted(data.clone())?;
                if shown != data {
                    *text = shown.to_string();
                }
            }
            // What is not text cannot be searched.
            if !redactor.is_empty() && message.base64.is_some() {
                message.base64 = Some("***".to_owned());
            }
        }
        let line = evalsuite_schema::json::to_value(&line)?;
        hidden.extend_from_slice(redactor.redacted(line)?.to_string().as_bytes());
        hidden.push(b'\n');
    }
    Ok(hidden)
}

impl McpEnd {
    fn note(&mut self, code: &str, message: String) {
        self.notes.push(Note::new(code, message));
    }
}

/// What servers answered. Calls that a fault kept from their server are not in it.
fn recorded_servers(traces: &[(String, TracedServer)]) -> BTreeMap<String, RecordedServer> {
    let mut servers: BTreeMap<String, RecordedServer> = BTreeMap::new();
    for (_, traced) in traces {
        let made = traced.exchanges.iter().filter(|exchange| reached_server(exchange));
        let recorded = servers.entry(traced.server.clone()).or_default();
        recorded.exchanges.extend(made.map(|exchange| exchange.recorded.clone()));
    }
    servers
}

fn reached_server(exchange: &TracedExchange) -> bool {
    let fault = exchange.fault.as_ref().map(|fault| fault.fault);
    !matches!(fault, Some(McpFaultKind::Timeout | McpFaultKind::Error))
}
