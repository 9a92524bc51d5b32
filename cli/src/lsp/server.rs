//! The loop of the server, from `initialize` to `exit`, and the requests of the client, each answered by the file of its feature.

use std::collections::HashMap;
use std::io::{self, BufReader};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Instant;

use gen_lsp_types::{
    CodeActionParams, CodeLensParams, CompletionParams, DefinitionParams, ExecuteCommandParams, Hover, HoverParams,
    Location, MarkupContent, MarkupKind, PrepareRenameParams, RenameParams, TextDocumentPositionParams, TextEdit,
    WorkspaceEdit,
};
use lsp_server::{ErrorCode, Message, Request, RequestId, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::case_run::{self, CaseRun};
use super::documents::FileTree;
use super::messages::{Event, error, invalid_params, log, read, send, send_text};
use super::positions::{self, Lines};
use super::session::Session;
use super::workspace::OpenSuite;
use super::{actions, definition, key_help, lens};
use crate::platform::exit_status::{CliError, CommandStatus, Result};

/// Serves the client at standard input and output.
pub(crate) fn run() -> Result<CommandStatus> {
    let (sender, receiver) = channel();
    let of_input = sender.clone();
    thread::spawn(move || read_input(&of_input));
    Server { state: ServerState::New, sender, last_look: Instant::now() }.serve(&receiver)
}

fn read_input(events: &Sender<Event>) {
    let mut input = BufReader::new(io::stdin());
    loop {
        let event = match read(&mut input) {
            Ok(Some(received)) => Event::Received(received),
            Ok(None) => Event::InputEnded(None),
            Err(error) => Event::InputEnded(Some(error)),
        };
        let is_end = matches!(event, Event::InputEnded(_));
        if events.send(event).is_err() || is_end {
            return;
        }
    }
}

enum ServerState {
    New,
    Open(Box<Session>),
    /// After `shutdown`.
    Closed,
}

struct Server {
    state: ServerState,
    sender: Sender<Event>,
    /// When it looked at files, for a client that does not tell which ones change.
    last_look: Instant,
}

impl Server {
    fn serve(mut self, events: &Receiver<Event>) -> Result<CommandStatus> {
        loop {
            match self.next(events)? {
                Event::Received(Ok(Message::Request(request))) => self.request(request)?,
                Event::Received(Ok(Message::Notification(notification))) if notification.method == "exit" => {
                    return Ok(CommandStatus::good_if(matches!(self.state, ServerState::Closed)));
                }
                Event::Received(Ok(Message::Notification(notification))) => {
                    if let ServerState::Open(session) = &mut self.state {
                        session.notification(notification)?;
                    }
                }
                // To the registration of watchers, and to requests to ask for lenses again.
                Event::Received(Ok(Message::Response(_))) => {}
                Event::Received(Err(reason)) => {
                    let error = serde_json::json!({ "code": ErrorCode::ParseError as i32, "message": reason });
                    let reply = serde_json::json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string();
                    send_text(&reply)?;
                }
                Event::InputEnded(error) => {
                    let reason = error.map_or_else(|| "it ended without `exit`".to_owned(), |error| error.to_string());
                    return Err(CliError::new(format!("the input of the language server: {reason}")));
                }
                Event::CaseEnded(ended) => {
                    if let ServerState::Open(session) = &mut self.state {
                        session.case_ended(ended)?;
                    }
                }
            }
        }
    }

    /// The next event. What was typed is checked once there is no other.
    fn next(&mut self, events: &Receiver<Event>) -> io::Result<Event> {
        loop {
            let mut wait = None;
            if let ServerState::Open(session) = &mut self.state
                && !session.watches
            {
                // Also while the client sends messages all the time.
                if self.last_look.elapsed() >= session.looks_every {
                    session.look_at_files();
                    self.last_look = Instant::now();
                }
                wait = Some(session.looks_every.saturating_sub(self.last_look.elapsed()));
            }
            if let Ok(event) = events.try_recv() {
                return Ok(event);
            }
            if let ServerState::Open(session) = &mut self.state {
                session.check()?;
            }
            let event = match wait {
                Some(wait) => events.recv_timeout(wait),
                None => events.recv().map_err(RecvTimeoutError::from),
            };
            if !matches!(event, Err(RecvTimeoutError::Timeout)) {
                return Ok(event.unwrap_or(Event::InputEnded(None)));
            }
        }
    }

    fn request(&mut self, request: Request) -> io::Result<()> {
        let id = request.id.clone();
        let response = match &mut self.state {
            ServerState::New if request.method == "initialize" => {
                match Session::initialize(request.params, self.sender.clone()) {
                    Ok(session) => {
                        let response = Response::new_ok(id, session.capabilities());
                        self.state = ServerState::Open(Box::new(session));
                        response
                    }
                    Err(error) => invalid_params(id, &error),
                }
            }
            ServerState::New => error(id, ErrorCode::ServerNotInitialized, "`initialize` comes first"),
            ServerState::Open(_) if request.method == "initialize" => {
                error(id, ErrorCode::InvalidRequest, "the server is initialized")
            }
            ServerState::Open(_) if request.method == "shutdown" => {
                self.state = ServerState::Closed;
                Response::new_ok(id, ())
            }
            ServerState::Open(session) => session.answer(request)?,
            ServerState::Closed => error(id, ErrorCode::InvalidRequest, "the server is shut down"),
        };
        send(response)
    }
}

/// Why a request has no answer.
type Failed = (ErrorCode, String);

/// A position in a document of the client.
struct DocumentPosition {
    path: PathBuf,
    text: Arc<str>,
    offset: usize,
}

impl Session {
    pub(super) fn answer(&mut self, request: Request) -> io::Result<Response> {
        // What is asked is about the text that the client shows.
        self.check()?;
        let Request { id, method, params } = request;
        Ok(match method.as_str() {
            "textDocument/completion" => reply(id, params, |params| Ok(self.completion(&params))),
            "textDocument/hover" => reply(id, params, |params| Ok(self.hover(&params))),
            "textDocument/definition" => reply(id, params, |params| Ok(self.definition(&params))),
            "textDocument/codeAction" => reply(id, params, |params| Ok(self.code_actions(&params))),
            "textDocument/codeLens" => reply(id, params, |params| Ok(self.lenses(&params))),
            "textDocument/prepareRename" => reply(id, params, |params| Ok(self.prepare_rename(&params))),
            "textDocument/rename" => reply(id, params, |params| self.rename(&params)),
            "workspace/executeCommand" => {
                let mut started = None;
                let response = reply(id, params, |params| self.execute(params).map(|command| started = Some(command)));
                if let Some(command) = started {
                    log(&command)?;
                }
                response
            }
            other => error(id, ErrorCode::MethodNotFound, format!("unknown method `{other}`")),
        })
    }

    /// `None` for what is not a readable file.
    fn position(&self, params: &TextDocumentPositionParams) -> Option<DocumentPosition> {
        let path = positions::to_path(&params.text_document.uri)?;
        let text = self.documents.text(&path)?;
        let offset = Lines::new(&text, self.encoding).offset(params.position);
        Some(DocumentPosition { path, text, offset })
    }

    fn completion(&self, params: &CompletionParams) -> Option<Value> {
        let DocumentPosition { path, text, offset } = self.position(&params.text_document_position_params)?;
        let items = key_help::completions_at(&path, &text, offset, self.encoding, &self.workspace.of_file(&path));
        serde_json::to_value(items).ok()
    }

    fn hover(&self, params: &HoverParams) -> Option<Hover> {
        let DocumentPosition { path, text, offset } = self.position(&params.text_document_position_params)?;
        let (value, range) = key_help::hover_at(&FileTree::read(&path, &text)?, offset)?;
        let contents = MarkupContent { kind: MarkupKind::Markdown, value };
        Some(Hover { contents: contents.into(), range: Some(Lines::new(&text, self.encoding).range(range)) })
    }

    fn definition(&self, params: &DefinitionParams) -> Option<Vec<Location>> {
        let DocumentPosition { path, text, offset } = self.position(&params.text_document_position_params)?;
        let tree = FileTree::read(&path, &text)?;
        let suites = self.workspace.of_file(&path);
        let mut targets = definition::at(&tree, &path, offset, &suites, &self.documents);
        targets.dedup();
        let location = |(path, range): (PathBuf, Range<usize>)| {
            let text = self.documents.text(&path).unwrap_or_default();
            Location { range: Lines::new(&text, self.encoding).range(range), uri: self.documents.uri(&path) }
        };
        Some(targets.into_iter().map(location).collect())
    }

    fn code_actions(&self, params: &CodeActionParams) -> Option<Value> {
        let uri = &params.text_document.uri;
        let path = positions::to_path(uri)?;
        let text = self.documents.text(&path)?;
        let lines = Lines::new(&text, self.encoding);
        let (start, end) = (lines.offset(params.range.start), lines.offset(params.range.end));
        let found = self.workspace.suites.iter().flat_map(|suite| &suite.found).filter(|found| found.file == path);
        let mut actions = actions::of_file(uri, &text, &lines, start..end.max(start), found);
        if let Some(only) = &params.context.only {
            let kind = |kind: &gen_lsp_types::CodeActionKind| String::from(kind.clone());
            // `source` asks for `source.fixAll`, too.
            actions.retain(|action| {
                let own = action.kind.as_ref().map(kind).unwrap_or_default();
                only.iter().map(kind).any(|wanted| own == wanted || own.starts_with(&format!("{wanted}.")))
            });
        }
        serde_json::to_value(actions).ok()
    }

    fn lenses(&mut self, params: &CodeLensParams) -> Option<Value> {
        let path = positions::to_path(&params.text_document.uri)?;
        let text = self.documents.text(&path)?;
        let lines = Lines::new(&text, self.encoding);
        let suites = self.workspace.of_file(&path);
        serde_json::to_value(lens::of_file(&path, &lines, &suites, &mut self.last_runs)).ok()
    }

    fn prepare_rename(&self, params: &PrepareRenameParams) -> Option<Value> {
        let DocumentPosition { path, text, offset } = self.position(&params.text_document_position_params)?;
        let (id, range) = definition::id_at(&FileTree::read(&path, &text)?, &text, offset)?;
        let range = Lines::new(&text, self.encoding).range(range);
        Some(serde_json::json!({ "range": range, "placeholder": id }))
    }

    fn rename(&self, params: &RenameParams) -> Result<Option<WorkspaceEdit>, Failed> {
        let Some(DocumentPosition { path, text, offset }) = self.position(&params.text_document_position_params) else {
            return Ok(None);
        };
        let id = FileTree::read(&path, &text).and_then(|tree| definition::id_at(&tree, &text, offset));
        let Some((id, _)) = id else {
            return Err((ErrorCode::RequestFailed, "only ids of cases can be renamed".to_owned()));
        };
        let suites: Vec<&OpenSuite> = self.workspace.of_file(&path);
        let edits = definition::edits(&id, &params.new_name, &suites, &self.documents)
            .map_err(|reason| (ErrorCode::RequestFailed, reason))?;
        let mut changes = HashMap::new();
        for (path, edits) in edits {
            let text = self.documents.text(&path).unwrap_or_default();
            let lines = Lines::new(&text, self.encoding);
            let edit = |(range, new_text): (Range<usize>, String)| TextEdit { range: lines.range(range), new_text };
            changes.insert(self.documents.uri(&path), edits.into_iter().map(edit).collect());
        }
        Ok(Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }))
    }

    /// Runs a case that a lens of this server names; returns the command line.
    fn execute(&mut self, params: ExecuteCommandParams) -> Result<String, Failed> {
        let argument = params.arguments.and_then(|arguments| arguments.into_iter().next()).unwrap_or_default();
        let wanted = match serde_json::from_value::<CaseRun>(argument) {
            Ok(wanted) if params.command == case_run::COMMAND => wanted,
            _ => return Err((ErrorCode::InvalidParams, format!("not a command: `{}`", params.command))),
        };
        let is_wanted = |suite: &OpenSuite| {
            suite.session.cases().iter().any(|case| case_run::of_case(suite, case).as_ref() == Some(&wanted))
        };
        if !self.workspace.suites.iter().any(is_wanted) {
            return Err((ErrorCode::RequestFailed, "there is no such case".to_owned()));
        }
        if self.is_running {
            return Err((ErrorCode::RequestFailed, "another case is running".to_owned()));
        }
        self.is_running = true;
        let command = format!("cargo {}", wanted.arguments.join(" "));
        let events = self.events.clone();
        // The server may have ended.
        case_run::start(wanted, move |ended| drop(events.send(Event::CaseEnded(ended))));
        Ok(command)
    }
}

fn reply<P: DeserializeOwned, R: Serialize>(
    id: RequestId,
    params: Value,
    answer: impl FnOnce(P) -> Result<R, Failed>,
) -> Response {
    match serde_json::from_value(params).map(answer) {
        Ok(Ok(result)) => Response::new_ok(id, result),
        Ok(Err((code, message))) => error(id, code, message),
        Err(reason) => invalid_params(id, &reason),
    }
}
