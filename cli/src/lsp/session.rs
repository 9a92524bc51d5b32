//! What the server knows between `initialize` and `shutdown`.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use evalsuite_schema::diagnostics::counted;
use gen_lsp_types::{
    ClientCapabilities, CodeActionKind, DidChangeTextDocumentParams, DidChangeWatchedFilesParams,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, DidSaveTextDocumentParams, FileChangeType, InitializeParams,
    LogTraceParams, TextDocumentContentChangeEvent, TextDocumentSyncKind, TraceValue, Uri, WorkspaceFolders,
};
use lsp_server::{Notification, Request};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::case_run::{CaseResult, Ended};
use super::diagnostics::Published;
use super::documents::Documents;
use super::lens::LastRuns;
use super::messages::{Event, log, notify, send};
use super::positions::{Encoding, Lines};
use super::workspace::{FileStamp, Workspace};
use super::{case_run, positions};

/// How often the server looks at files, unless the client says it.
const LOOKS_EVERY: Duration = Duration::from_secs(2);

/// What the next check has to do.
#[derive(Default)]
struct Pending {
    /// Suites and their includes have to be found again.
    everything: bool,
    /// Files whose texts have changed.
    changed: BTreeSet<PathBuf>,
    /// Files that are new or gone, or may have changed on the disk.
    stale: BTreeSet<PathBuf>,
    /// Files that were saved.
    saved: BTreeSet<PathBuf>,
}

/// What the server knows between `initialize` and `shutdown`.
pub(super) struct Session {
    pub(super) encoding: Encoding,
    pub(super) documents: Documents,
    pub(super) workspace: Workspace,
    pub(super) last_runs: LastRuns,
    pub(super) events: Sender<Event>,
    /// Whether a case is running for the client.
    pub(super) is_running: bool,
    published: Published,
    pending: Pending,
    /// Whether the client tells which files change on the disk.
    pub(super) watches: bool,
    /// How often the server looks at files, if the client does not.
    pub(super) looks_every: Duration,
    /// The files on the disk, if the client does not.
    stamps: BTreeMap<PathBuf, FileStamp>,
    refreshes_lenses: bool,
    traces: bool,
    /// Number of requests to the client.
    requests: i32,
}

impl Session {
    /// The session with a client.
    pub(super) fn initialize(params: Value, events: Sender<Event>) -> Result<Self, serde_json::Error> {
        let params: InitializeParams = serde_json::from_value(params)?;
        let ClientCapabilities { workspace, general, .. } = &params.capabilities;
        let options = params.initialization_options.as_ref();
        let workspace = workspace.as_ref();
        let offered = general.as_ref().and_then(|general| general.position_encodings.as_deref());
        let watches = workspace.and_then(|workspace| workspace.did_change_watched_files.as_ref()?.dynamic_registration);
        let refreshes = workspace.and_then(|workspace| workspace.code_lens.as_ref()?.refresh_support);
        Ok(Self {
            encoding: Encoding::negotiate(offered),
            documents: Documents::default(),
            workspace: Workspace { roots: roots(&params), ..Workspace::default() },
            last_runs: LastRuns::default(),
            events,
            is_running: false,
            published: Published::default(),
            pending: Pending { everything: true, ..Pending::default() },
            watches: watches == Some(true),
            looks_every: options
                .and_then(|options| options["lookMilliseconds"].as_u64())
                .map_or(LOOKS_EVERY, Duration::from_millis),
            stamps: BTreeMap::new(),
            refreshes_lenses: refreshes == Some(true),
            traces: params.trace.as_ref().is_some_and(|trace| *trace != TraceValue::Off),
            requests: 0,
        })
    }

    /// What the server can do.
    pub(super) fn capabilities(&self) -> Value {
        json!({
            "capabilities": {
                "positionEncoding": self.encoding,
                "textDocumentSync": {
                    "openClose": true,
                    "change": TextDocumentSyncKind::Full,
                    "save": { "includeText": false },
                },
                "completionProvider": { "triggerCharacters": [" ", "\"", "-"] },
                "hoverProvider": true,
                "definitionProvider": true,
                "codeActionProvider": { "codeActionKinds": [CodeActionKind::QuickFix, CodeActionKind::SourceFixAll] },
                "codeLensProvider": {},
                "renameProvider": { "prepareProvider": true },
                "executeCommandProvider": { "commands": [case_run::COMMAND] },
            },
            "serverInfo": { "name": "evalsuite", "version": env!("CARGO_PKG_VERSION") },
        })
    }

    pub(super) fn notification(&mut self, notification: Notification) -> io::Result<()> {
        let Notification { method, params } = notification;
        let handled = match method.as_str() {
            "initialized" => return self.register_watchers(),
            "textDocument/didOpen" => with(params, |params| self.opened(params)),
            "textDocument/didChange" => with(params, |params| self.changed(params)),
            "textDocument/didSave" => with(params, |params| self.saved(params)),
            "textDocument/didClose" => with(params, |params| self.closed(params)),
            "workspace/didChangeWatchedFiles" => with(params, |params| self.changed_on_disk(params)),
            "$/setTrace" => with(params, |params: gen_lsp_types::SetTraceParams| {
                self.traces = params.value != TraceValue::Off;
            }),
            // Others, such as `$/cancelRequest`, may be ignored.
            _ => Ok(()),
        };
        handled.or_else(|error| log(&format!("{method}: {error}")))
    }

    fn opened(&mut self, params: DidOpenTextDocumentParams) {
        let document = params.text_document;
        if let Some(path) = positions::to_path(&document.uri) {
            let is_saved = self.documents.text(&path).is_some_and(|saved| *saved == *document.text);
            self.documents.open(path.clone(), document.uri, document.version, document.text);
            self.pending.everything |= self.workspace.add_root_around(&path);
            if !is_saved {
                self.pending.changed.insert(path);
            }
        }
    }

    fn changed(&mut self, params: DidChangeTextDocumentParams) {
        let Some(path) = positions::to_path(&params.text_document.text_document_identifier.uri) else { return };
        let Some(text) = self.documents.text(&path).filter(|_| self.documents.is_open(&path)) else { return };
        let mut text = text.to_string();
        for change in params.content_changes {
            match change {
                TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(whole) => text = whole.text,
                // Not asked for.
                TextDocumentContentChangeEvent::TextDocumentContentChangePartial(partial) => {
                    let lines = Lines::new(&text, self.encoding);
                    let (start, end) = (lines.offset(partial.range.start), lines.offset(partial.range.end));
                    text.replace_range(start..end.max(start), &partial.text);
                }
            }
        }
        if self.documents.change(&path, params.text_document.version, text) {
            self.pending.changed.insert(path);
        }
    }

    fn saved(&mut self, params: DidSaveTextDocumentParams) {
        let Some(path) = positions::to_path(&params.text_document.uri) else { return };
        self.pending.saved.insert(path.clone());
        if !self.watches {
            let may_be_new = !self.workspace.suites.iter().any(|suite| suite.reads(&path));
            self.changed_file(path, may_be_new);
        }
    }

    fn closed(&mut self, params: DidCloseTextDocumentParams) {
        let Some(path) = positions::to_path(&params.text_document.uri) else { return };
        let text = self.documents.close(&path);
        match self.documents.text(&path) {
            None => self.changed_file(path, true),
            on_disk if on_disk != text => drop(self.pending.changed.insert(path)),
            _ => {}
        }
    }

    fn changed_on_disk(&mut self, params: DidChangeWatchedFilesParams) {
        for event in params.changes {
            let Some(path) = positions::to_path(&event.uri) else { continue };
            // The text in the editor counts.
            let is_new_or_gone = event.kind != FileChangeType::Changed;
            if is_new_or_gone || !self.documents.is_open(&path) {
                self.changed_file(path, is_new_or_gone);
            }
        }
    }

    /// Notices which files other programs have changed since they were read, for a client that does not tell.
    pub(super) fn look_at_files(&mut self) {
        let now = self.workspace.file_stamps();
        let before = std::mem::take(&mut self.stamps);
        for (path, stamp) in &now {
            let Some(before) = before.get(path).filter(|before| *before != stamp) else { continue };
            let is_new_or_gone = before.is_none() || stamp.is_none();
            if is_new_or_gone || !self.documents.is_open(path) {
                // A directory changes with the names in it.
                let may_be_new = path.is_dir() && self.workspace.has_suite_below(path);
                self.changed_file(path.clone(), is_new_or_gone || may_be_new);
            }
        }
        self.stamps = now;
    }

    /// A file has changed on the disk, or a file or directory has appeared or disappeared there.
    fn changed_file(&mut self, path: PathBuf, is_new_or_gone: bool) {
        if self.workspace.ignores(&path) {
            return;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let is_source = name.ends_with(".rs") || name == "cargo.toml";
        if is_source || is_new_or_gone && self.workspace.may_make_suites(&path) {
            self.pending.everything = true;
        } else {
            self.pending.stale.insert(path);
        }
    }

    /// Checks what has changed, and publishes the diagnostics.
    pub(super) fn check(&mut self) -> io::Result<()> {
        let Pending { everything, changed, stale, saved } = std::mem::take(&mut self.pending);
        if !everything && changed.is_empty() && stale.is_empty() && saved.is_empty() {
            return Ok(());
        }
        let start = Instant::now();
        let texts = self.documents.texts();
        if everything {
            self.workspace.open(&texts);
        } else {
            self.workspace.reload(&stale, &texts);
            self.workspace.change(&changed, &texts);
        }
        for path in &saved {
            self.workspace.suites.iter_mut().filter(|suite| suite.reads(path)).for_each(|suite| suite.probe(path));
        }
        if !self.watches {
            // Of files that are new here. The others are compared with what they were.
            let known = std::mem::take(&mut self.stamps);
            self.stamps = self.workspace.file_stamps();
            self.stamps
                .extend(known.into_iter().filter(|(path, _)| self.stamps.contains_key(path)).collect::<Vec<_>>());
        }
        for params in self.published.update(&self.workspace.suites, &self.documents, self.encoding) {
            notify("textDocument/publishDiagnostics", params)?;
        }
        if everything {
            for call in std::mem::take(&mut self.workspace.unread) {
                log(&format!("cannot read the arguments of a call: {call}"))?;
            }
        }
        if self.traces {
            let read: usize = self.workspace.suites.iter().map(|suite| suite.session.files_read()).sum();
            let suites = counted(self.workspace.suites.len(), "suite");
            let message = format!("checked {suites}, {} read", counted(read, "file"));
            let verbose = Some(format!("{:.1} ms", start.elapsed().as_secs_f64() * 1000.0));
            notify("$/logTrace", LogTraceParams { message, verbose })?;
        }
        Ok(())
    }

    /// Tells how a case ended.
    pub(super) fn case_ended(&mut self, ended: Ended) -> io::Result<()> {
        self.is_running = false;
        let (kind, message) = match &ended.result {
            CaseResult::Passed => (3, format!("{}: passed", ended.case)),
            CaseResult::Skipped => (2, format!("{}: skipped", ended.case)),
            CaseResult::NotPassed => (2, format!("{}: did not pass", ended.case)),
            CaseResult::NotRun(reason) => (1, format!("{}: {reason}", ended.case)),
        };
        if !ended.output.is_empty() {
            log(&ended.output)?;
        }
        notify("window/showMessage", json!({ "type": kind, "message": message }))?;
        if self.refreshes_lenses {
            self.ask("workspace/codeLens/refresh", Value::Null)?;
        }
        Ok(())
    }

    fn register_watchers(&mut self) -> io::Result<()> {
        if !self.watches {
            return Ok(());
        }
        // Of a removed directory, clients name the directory and not its files: the usual ones are watched whole.
        let watchers = [
            "**/*.{yaml,yml,json,jsonl,md,txt}",
            "**/{suites,evals,cases,tasks,skills}/**",
            "**/*.rs",
            "**/Cargo.toml",
        ];
        let watchers: Vec<Value> = watchers.into_iter().map(|glob| json!({ "globPattern": glob })).collect();
        let registration = json!({
            "id": "files",
            "method": "workspace/didChangeWatchedFiles",
            "registerOptions": { "watchers": watchers },
        });
        self.ask("client/registerCapability", json!({ "registrations": [registration] }))
    }

    fn ask(&mut self, method: &str, params: Value) -> io::Result<()> {
        self.requests += 1;
        send(Request::new(self.requests.into(), method.to_owned(), params))
    }
}

fn with<P: DeserializeOwned>(params: Value, handle: impl FnOnce(P)) -> Result<(), serde_json::Error> {
    serde_json::from_value(params).map(handle)
}

/// The directories that are open in the editor.
#[expect(deprecated, reason = "clients without folders name one root")]
fn roots(params: &InitializeParams) -> Vec<PathBuf> {
    let mut uris: Vec<&Uri> = match &params.workspace_folders_initialize_params.workspace_folders {
        Some(WorkspaceFolders::WorkspaceFolderList(folders)) => folders.iter().map(|folder| &folder.uri).collect(),
        _ => Vec::new(),
    };
    if uris.is_empty() {
        uris.extend(&params.root_uri);
    }
    uris.into_iter().filter_map(positions::to_path).collect()
}
