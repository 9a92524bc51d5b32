//! The MCP servers of a target in one trial: the agent gets commands of a proxy in their place, and what the proxies saw becomes a part of
//! the transcript.

mod proxied_server;
mod session_end;
mod traced_calls;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use evalsuite_records::record::{Note, Reason, ReasonCode, Stage};
use evalsuite_schema::json::ToJson;
use evalsuite_schema::{Mcp, Value};

use self::traced_calls::{McpCall, TracedServer};
use crate::model::mcp_mode::McpMode;
use crate::model::outcome::Outcome;
use crate::model::recording::{Recording, ServerCalls};
use crate::platform::redaction::Redactor;
use crate::platform::untrusted::{OpenError, UntrustedDirectory};
use crate::record::mcp::{CLAIMS, CONFIG, McpRecording, McpSessionFile, RECORDING, SESSION, TRACES};
use crate::workspace::value_placeholders::Placeholders;

use self::proxied_server::ProxiedServer;

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
