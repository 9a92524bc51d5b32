//! Requests of an agent to its client: files, and permissions.

use evalsuite_schema::json::json;
use evalsuite_schema::{PermissionDecision, Value};

use crate::agents::acp::permissions;
use crate::agents::acp::session::{Session, Unanswered};
use crate::agents::acp::session_files::FileRefusal;

const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const RESOURCE_NOT_FOUND: i64 = -32002;
/// Most requests for files that the metadata of a record lists.
const MOST_FILES: usize = 1000;

impl Session {
    /// Answers a request.
    pub(crate) fn answer(&mut self, id: &Value, method: &str, params: &Value) -> Result<(), Unanswered> {
        let is_known = matches!(method, "fs/read_text_file" | "fs/write_text_file" | "session/request_permission");
        if is_known && params["sessionId"].as_str() != self.id.as_deref() {
            let message = format!("the agent asked `{method}` for another session, {}", params["sessionId"]);
            self.turn.notes.note("other_session", message);
            return self.refuse(id, INVALID_PARAMS, "there is no such session");
        }
        match method {
            "fs/read_text_file" if self.offers_files => {
                let read = self.files.read(params);
                self.file(id, "read", params, read.map(|text| json!({"content": text})))
            }
            "fs/write_text_file" if self.offers_files => {
                let written = self.files.write(params);
                self.file(id, "write", params, written.map(|()| Value::Null))
            }
            "session/request_permission" => self.permission(id, params),
            _ => {
                if !method.starts_with('_') {
                    let message = format!("the agent asked for the method `{method}`, which evalsuite does not offer");
                    self.turn.notes.note("unknown_method", message);
                }
                self.refuse(id, METHOD_NOT_FOUND, &format!("the client does not offer `{method}`"))
            }
        }
    }

    fn respond(&mut self, id: &Value, result: &Value) -> Result<(), Unanswered> {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
    }

    fn refuse(&mut self, id: &Value, code: i64, message: &str) -> Result<(), Unanswered> {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}))
    }

    fn file(
        &mut self,
        id: &Value,
        what: &str,
        params: &Value,
        result: Result<Value, FileRefusal>,
    ) -> Result<(), Unanswered> {
        let mut entry = json!({"method": what, "path": params["path"]});
        let refused = result
            .as_ref()
            .err()
            .map(|(FileRefusal::Outside(why) | FileRefusal::Missing(why) | FileRefusal::Other(why))| why.clone());
        if let Some(why) = &refused {
            entry["refused"] = why.as_str().into();
            self.turn.transcript.recording.log(&format!("{what} refused: {why}"));
        }
        if let Err(FileRefusal::Outside(why)) = &result {
            self.turn.notes.note("file_refused", format!("the agent was refused to {what} a file: {why}"));
        }
        let metadata = &mut self.turn.transcript.recording.outcome.metadata;
        match metadata.get_or_insert("files", json!([])).as_array_mut() {
            Some(files) if files.len() < MOST_FILES => files.push(entry),
            _ => {}
        }
        match result {
            Ok(result) => self.respond(id, &result),
            Err(FileRefusal::Missing(why)) => self.refuse(id, RESOURCE_NOT_FOUND, &why),
            Err(FileRefusal::Outside(why) | FileRefusal::Other(why)) => self.refuse(id, INVALID_PARAMS, &why),
        }
    }

    fn permission(&mut self, id: &Value, params: &Value) -> Result<(), Unanswered> {
        let call = match self.turn.transcript.tool_call(&params["toolCall"]) {
            Ok(call) => call,
            Err(problem) => {
                self.turn.notes.problem(format!("a request for permission cannot be read: {problem}"));
                return self.refuse(id, INVALID_PARAMS, &problem);
            }
        };
        if self.is_cancelled {
            return self.respond(id, &permissions::answer(None));
        }
        let (kind, title) = self.turn.transcript.kind_and_title(&call);
        let decision = permissions::decide(&self.permissions, kind, &title);
        let options = params["options"].as_array().map(Vec::as_slice).unwrap_or_default();
        let option = permissions::option_for(decision, options);
        let word = if decision == PermissionDecision::Allow { "allow" } else { "deny" };
        if option.is_none() {
            let message = format!(
                "the agent asked for permission (`{title}`) without an option that the client knows to {word}; it was told that the \
                 request is cancelled"
            );
            self.turn.notes.note("permission_unanswered", message);
        }
        let shown = if option.is_some() { word } else { "cancelled" };
        self.turn.transcript.recording.log(&format!("permission: {shown}: {} {title}", kind.as_str()));
        self.turn.transcript.permission(&call, shown.into());
        self.respond(id, &permissions::answer(option))
    }
}
