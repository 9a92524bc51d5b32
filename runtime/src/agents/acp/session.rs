//! The session of an agent: requests and their responses, and what arrives meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use evalsuite_records::record::Note;
use evalsuite_schema::json::json;
use evalsuite_schema::{AcpTarget, Permissions, ReportedTokens, Value};

use crate::agents::acp::agent_process::{AgentProcess, LINE_LIMIT, Output, WireLog};
use crate::agents::acp::json_rpc::{Incoming, RpcError, Unreadable};
use crate::agents::acp::session_files::SessionFiles;
use crate::agents::acp::transcript::{Transcript, Update};

/// The version of the protocol.
const VERSION: u64 = 1;
/// Bytes of the messages of one turn, at most.
const TURN_LIMIT: usize = 32 << 20;
/// The error of an agent that wants to be authenticated first.
const AUTH_REQUIRED: i64 = -32000;

/// A session with an agent.
pub(crate) struct Session {
    pub(crate) process: AgentProcess,
    pub(crate) files: SessionFiles,
    pub(crate) permissions: Permissions,
    /// Whether the agent may use the files through the client.
    pub(crate) offers_files: bool,
    /// The id that the agent gave it.
    pub(crate) id: Option<String>,
    pub(crate) prompt_capabilities: Value,
    /// Name and version of the agent, if it says so.
    pub(crate) agent_info: Value,
    pub(crate) model: Option<String>,
    /// What the target says about the tokens that the agent reports.
    pub(crate) reported_tokens: Option<ReportedTokens>,
    /// What the agent reported in the turn before; `None` in the first turn.
    pub(crate) reported_before: Option<Reported>,
    /// Whether the turn was cancelled.
    pub(crate) is_cancelled: bool,
    /// The responses to requests, by id; `None` if there is none yet.
    responses: BTreeMap<u64, Option<Result<Value, RpcError>>>,
    /// Updates that came before the id of the session.
    early: Vec<Value>,
    pub(crate) turn: Turn,
}

/// Tokens and cost as the agent reports them.
#[derive(Debug, Default)]
pub(crate) struct Reported {
    /// The `usage` of the response.
    pub(crate) tokens: Value,
    /// That of the session so far.
    pub(crate) cost_usd: Option<f64>,
}

/// What has arrived in a turn.
pub(crate) struct Turn {
    pub(crate) transcript: Transcript,
    pub(crate) notes: TurnNotes,
    pub(crate) wire: WireLog,
    /// When it has to have ended.
    pub(crate) end: Instant,
    received: usize,
}

/// Why a request has no result.
#[derive(Debug)]
pub(crate) enum Unanswered {
    TimedOut(&'static str),
    /// The agent closed its standard output.
    Closed(&'static str),
    /// The agent answered with an error.
    Refused(&'static str, RpcError),
    /// The agent cannot be talked to.
    Broken(String),
}

impl Turn {
    pub(crate) fn until(end: Instant) -> Self {
        Self { transcript: Transcript::default(), notes: TurnNotes::default(), wire: WireLog::new(), end, received: 0 }
    }
}

impl Session {
    pub(crate) fn new(process: AgentProcess, files: SessionFiles, target: &AcpTarget, end: Instant) -> Self {
        Self {
            process,
            files,
            permissions: target.permissions.clone(),
            offers_files: target.client_files,
            id: None,
            prompt_capabilities: Value::Null,
            agent_info: Value::Null,
            model: None,
            reported_tokens: target.tokens,
            reported_before: None,
            is_cancelled: false,
            responses: BTreeMap::new(),
            early: Vec::new(),
            turn: Turn::until(end),
        }
    }

    /// Makes the session in a directory. `authenticate` is the method that the target names, `servers` are the MCP servers of the session.
    pub(crate) fn open(&mut self, cwd: &str, authenticate: Option<&str>, servers: Value) -> Result<(), Unanswered> {
        let files = self.offers_files;
        let client = json!({
            "protocolVersion": VERSION,
            "clientCapabilities": {"fs": {"readTextFile": files, "writeTextFile": files}, "terminal": false},
            "clientInfo": {"name": "evalsuite", "title": "evalsuite", "version": env!("CARGO_PKG_VERSION")},
        });
        let agent = self.request("initialize", client)?;
        if agent["protocolVersion"].as_u64() != Some(VERSION) {
            let version = &agent["protocolVersion"];
            let problem = format!("the agent speaks version {version} of the protocol, not version {VERSION}");
            return Err(Unanswered::Broken(problem));
        }
        self.prompt_capabilities = agent["agentCapabilities"]["promptCapabilities"].clone();
        self.agent_info = agent["agentInfo"].clone();
        let methods = method_ids(&agent["authMethods"]);
        if let Some(method) = authenticate {
            if !methods.iter().any(|known| known == method) {
                let problem = format!("the agent has no authentication method `{method}`; {}", shown_methods(&methods));
                return Err(Unanswered::Broken(problem));
            }
            self.request("authenticate", json!({"methodId": method}))?;
        }
        let made = self.request("session/new", json!({"cwd": cwd, "mcpServers": servers}));
        let session = made.map_err(|error| match error {
            Unanswered::Refused(_, error) if error.code == AUTH_REQUIRED && authenticate.is_none() => {
                let help = "help: name one as `authenticate` of the target, or log in with the agent's own command";
                let methods = shown_methods(&methods);
                Unanswered::Broken(format!("the agent asks for authentication ({error}); {methods}\n{help}"))
            }
            other => other,
        })?;
        let Some(id) = session["sessionId"].as_str() else {
            return Err(Unanswered::Broken("the agent made a session without a `sessionId`".to_owned()));
        };
        self.id = Some(id.to_owned());
        self.model = model_of(&session);
        for params in std::mem::take(&mut self.early) {
            self.update(&params);
        }
        Ok(())
    }

    /// Sends a request and waits for its response. Whatever arrives before is handled.
    pub(crate) fn request(&mut self, method: &'static str, params: Value) -> Result<Value, Unanswered> {
        let id = self.send_request(method, params)?;
        loop {
            let line = match self.process.receive(self.turn.end) {
                Output::Line(line) => line,
                Output::Closed => return Err(Unanswered::Closed(method)),
                Output::Nothing => return Err(Unanswered::TimedOut(method)),
                Output::TooLong => return Err(Unanswered::Broken(too_long())),
            };
            self.handle(&line)?;
            if let Some(Some(response)) = self.responses.get(&id) {
                return response.clone().map_err(|error| Unanswered::Refused(method, error));
            }
            // An agent that never stops to write does not get more time.
            if Instant::now() >= self.turn.end {
                return Err(Unanswered::TimedOut(method));
            }
        }
    }

    fn send_request(&mut self, method: &'static str, params: Value) -> Result<u64, Unanswered> {
        let id = self.responses.len() as u64 + 1;
        self.responses.insert(id, None);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        Ok(id)
    }

    pub(crate) fn send(&mut self, message: &Value) -> Result<(), Unanswered> {
        let line = message.to_string();
        self.turn.wire.sent(&line);
        match self.process.send(line) {
            true => Ok(()),
            false => Err(Unanswered::Broken("the agent does not read its standard input".to_owned())),
        }
    }

    /// Cancels the turn and waits for its response; `None`: there was none in time.
    pub(crate) fn cancel(&mut self, grace: Duration) -> Option<Result<Value, RpcError>> {
        let (Some(session), Some((id, None))) =
            (self.id.clone(), self.responses.last_key_value().map(|(id, response)| (*id, response)))
        else {
            return None;
        };
        self.is_cancelled = true;
        self.send(&json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}})).ok()?;
        let end = Instant::now() + grace;
        while let Output::Line(line) = self.process.receive(end) {
            self.handle(&line).ok()?;
            if let Some(Some(response)) = self.responses.get(&id) {
                return Some(response.clone());
            }
            if Instant::now() >= end {
                break;
            }
        }
        None
    }

    /// Handles what the agent still writes, until it closes its standard output, or writes nothing for `limit`. One that runs has ten times that
    /// in all; of one that does not, everything that it has written is handled.
    pub(crate) fn drain(&mut self, limit: Duration, is_running: bool) {
        let end = Instant::now() + limit * 10;
        while self.handle_unasked(self.process.receive(Instant::now() + limit)) && (!is_running || Instant::now() < end)
        {
        }
    }

    /// Handles what the agent has written already.
    pub(crate) fn handle_ready(&mut self) {
        while self.handle_unasked(self.process.receive_ready()) && Instant::now() < self.turn.end {}
    }

    /// Handles what no request waits for; whether there may be more. What cannot be handled is a problem of the turn: its transcript would be
    /// taken for a complete one.
    fn handle_unasked(&mut self, output: Output) -> bool {
        let handled = match output {
            Output::Line(line) => self.handle(&line),
            Output::TooLong => Err(Unanswered::Broken(too_long())),
            Output::Closed | Output::Nothing => return false,
        };
        match handled {
            Err(Unanswered::Broken(problem)) => self.turn.notes.problem(problem),
            handled => return handled.is_ok(),
        }
        false
    }

    fn handle(&mut self, line: &[u8]) -> Result<(), Unanswered> {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        self.turn.wire.received(line);
        self.turn.received += line.len();
        if self.turn.received > TURN_LIMIT {
            let problem = format!("the agent wrote more than {} MiB of messages in one turn", TURN_LIMIT >> 20);
            return Err(Unanswered::Broken(problem));
        }
        match Incoming::read(line) {
            Ok(Incoming::Request { id, method, params }) => return self.answer(&id, &method, &params),
            Ok(Incoming::Notification { method, params }) => self.notified(&method, params),
            Ok(Incoming::Response { id, result }) => self.responded(&id, result),
            Err(Unreadable::Broken(problem)) => {
                self.turn.notes.problem(format!("a line is not a message: {problem}"));
            }
            Err(Unreadable::Text(line)) => self.turn.notes.text_line(line),
        }
        Ok(())
    }

    fn responded(&mut self, id: &Value, result: Result<Value, RpcError>) {
        let request = id.as_u64().and_then(|id| self.responses.get_mut(&id));
        let problem = match request {
            Some(response @ None) => {
                *response = Some(result);
                return;
            }
            Some(Some(before)) if *before == result => {
                return self.turn.notes.note("answered_twice", format!("the agent answered request {id} twice"));
            }
            Some(Some(_)) => format!("it answered request {id} twice, and not the same"),
            None => format!("it answered request {id}, which was not sent"),
        };
        self.turn.notes.problem(problem);
    }

    fn notified(&mut self, method: &str, params: Value) {
        match method {
            "session/update" if self.id.is_none() => self.early.push(params),
            "session/update" => self.update(&params),
            "auth/status_update" | "elicitation/complete" => {}
            method if method.starts_with(['_', '$']) => {}
            method => {
                self.turn.notes.note("unknown_method", format!("the agent sent the unknown notification `{method}`"));
            }
        }
    }

    fn update(&mut self, params: &Value) {
        if params["sessionId"].as_str() != self.id.as_deref() {
            let message = format!(
                "the agent reported work of another session, {}; it is not in the transcript",
                params["sessionId"]
            );
            return self.turn.notes.note("other_session", message);
        }
        match self.turn.transcript.add(&params["update"]) {
            Update::Recorded | Update::Other => {}
            Update::Unknown(kind) => {
                let message = format!("an update of the unknown kind `{kind}` is not in the transcript");
                self.turn.notes.note("unknown_update", message);
            }
            Update::Broken(problem) => self.turn.notes.problem(format!("an update cannot be read: {problem}")),
        }
    }
}

fn too_long() -> String {
    format!("the agent wrote a line of more than {} MiB", LINE_LIMIT >> 20)
}

fn method_ids(methods: &Value) -> Vec<String> {
    let methods = methods.as_array().map(Vec::as_slice).unwrap_or_default();
    methods.iter().filter_map(|method| method["id"].as_str().map(str::to_owned)).collect()
}

fn shown_methods(methods: &[String]) -> String {
    match methods {
        [] => "it offers no method".to_owned(),
        some => format!(
            "it offers {}",
            evalsuite_schema::diagnostics::suggest::quoted(&some.iter().map(String::as_str).collect::<Vec<_>>(), "and")
        ),
    }
}

/// The model of a session, where the agent lets its user choose one.
fn model_of(session: &Value) -> Option<String> {
    let options = session["configOptions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let chosen = options.iter().find(|option| option["category"].as_str() == Some("model"));
    let chosen = chosen.and_then(|option| option["currentValue"].as_str());
    chosen.or_else(|| session["models"]["currentModelId"].as_str()).map(str::to_owned)
}

/// Notes of one turn, at most.
const MOST_NOTES: usize = 20;

/// Problems and notes of a turn.
#[derive(Debug, Default)]
pub(crate) struct TurnNotes {
    /// What the agent said in a way that cannot be read: the turn is an error.
    problems: Vec<String>,
    notes: Vec<Note>,
    known: BTreeSet<(&'static str, String)>,
    /// Lines that are not messages: the first, and how many.
    text_lines: Option<(String, usize)>,
}

impl TurnNotes {
    /// Adds what makes the turn an error.
    pub(crate) fn problem(&mut self, problem: String) {
        self.problems.push(problem);
    }

    /// Adds a note, once.
    pub(crate) fn note(&mut self, code: &'static str, message: String) {
        if self.notes.len() < MOST_NOTES && self.known.insert((code, message.clone())) {
            self.notes.push(Note::new(code, message));
        }
    }

    /// Adds a line that is not a message.
    pub(crate) fn text_line(&mut self, line: String) {
        self.text_lines.get_or_insert((line, 0)).1 += 1;
    }

    /// The problems as one text.
    pub(crate) fn problems(&self) -> Option<String> {
        let first = self.problems.first()?;
        let more = match self.problems.len() {
            1 => String::new(),
            all => format!(" (and {} more)", all - 1),
        };
        Some(format!("the agent broke the protocol: {first}{more}"))
    }

    /// The notes. Problems of a turn that fails for another reason are among them.
    pub(crate) fn into_notes(mut self, with_problems: bool) -> Vec<Note> {
        if let Some(problems) = self.problems().filter(|_| with_problems) {
            self.notes.push(Note::new("protocol_broken", problems));
        }
        if let Some((first, count)) = self.text_lines {
            let lines = if count == 1 { "a line".to_owned() } else { format!("{count} lines") };
            let message =
                format!("the agent wrote {lines} to its standard output that are not messages; the first: {first}");
            self.notes.push(Note::new("output_not_messages", message));
        }
        self.notes
    }
}
