//! The end of a session: its recording is written from the traces of its proxies, a replay says what differed, and its files lose what is
//! secret.

use std::collections::{BTreeMap, BTreeSet};

use evalsuite_records::record::Note;
use evalsuite_schema::diagnostics::counted;
use evalsuite_schema::{McpFaultKind, Value};

use crate::agents::mcp::traced_calls::{TracedExchange, TracedServer};
use crate::agents::mcp::{McpSession, TRACE_LIMIT};
use crate::model::mcp_mode::McpMode;
use crate::platform::redaction::Redactor;
use crate::record::mcp::{
    CLAIMS, CONFIG, McpRecording, RECORDING, RecordedServer, SESSION, TRACES, TraceEvent, TraceLine,
};
use crate::workspace::remove_directory;

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
