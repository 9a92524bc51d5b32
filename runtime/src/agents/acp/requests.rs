//! A line of an agent's output, read as a message of JSON-RPC, and requests of an agent to its client: files, and permissions.

use evalsuite_schema::json::json;
use evalsuite_schema::{Object, PermissionDecision, Permissions, ToolKind, Value, matches_stars};

use crate::agents::acp::session::{Session, Unanswered};
use crate::agents::acp::session_files::FileRefusal;
use crate::platform::excerpt::first_chars;

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
            return self.respond(id, &answer(None));
        }
        let (kind, title) = self.turn.transcript.kind_and_title(&call);
        let decision = decide_permission(&self.permissions, kind, &title);
        let options = params["options"].as_array().map(Vec::as_slice).unwrap_or_default();
        let option = option_for(decision, options);
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
        self.respond(id, &answer(option))
    }
}

/// What the target says about a tool call.
fn decide_permission(permissions: &Permissions, kind: ToolKind, title: &str) -> PermissionDecision {
    match permissions {
        Permissions::Allow => PermissionDecision::Allow,
        Permissions::Deny => PermissionDecision::Deny,
        Permissions::Rules(rules) => {
            let matching = rules.iter().find(|rule| {
                rule.kind.is_none_or(|of| of == kind) && rule.title.as_ref().is_none_or(|of| matches_stars(title, of))
            });
            matching.map_or(PermissionDecision::Deny, |rule| rule.decision)
        }
    }
}

/// The option of a request that says this. One that holds for a single time comes first: every request is decided by the rules.
fn option_for(decision: PermissionDecision, options: &[Value]) -> Option<&str> {
    let kinds = match decision {
        PermissionDecision::Allow => ["allow_once", "allow_always"],
        PermissionDecision::Deny => ["reject_once", "reject_always"],
    };
    let of_kind = |kind: &&str| {
        let option = options.iter().find(|option| option.get("kind").and_then(Value::as_str) == Some(*kind))?;
        option.get("optionId")?.as_str()
    };
    kinds.iter().find_map(of_kind)
}

/// The result of a request. Without an option, the request is cancelled.
pub(crate) fn answer(option: Option<&str>) -> Value {
    match option {
        Some(option) => json!({"outcome": {"outcome": "selected", "optionId": option}}),
        None => json!({"outcome": {"outcome": "cancelled"}}),
    }
}

/// Characters of a line that a problem shows.
const SHOWN: usize = 200;

/// A message of an agent.
#[derive(Debug, PartialEq)]
pub(crate) enum Incoming {
    Request { id: Value, method: String, params: Value },
    Notification { method: String, params: Value },
    Response { id: Value, result: Result<Value, RpcError> },
}

/// The error of a response.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RpcError {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Value,
}

/// A line that is not a message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// It was meant as one: what it said is lost.
    Broken(String),
    /// A line for people, as of a program that logs to its standard output.
    Text(String),
}

impl Incoming {
    /// Reads a line without its line break.
    pub(crate) fn read(line: &[u8]) -> Result<Self, Unreadable> {
        let text = String::from_utf8_lossy(line);
        let text = text.trim();
        let unreadable = |problem: &str| {
            let message = format!("{problem}: {}", first_chars(text, SHOWN));
            match text.starts_with(['{', '[']) || text.contains("\"jsonrpc\"") {
                true => Unreadable::Broken(message),
                false => Unreadable::Text(message),
            }
        };
        let strict = std::str::from_utf8(line).map_err(|_| unreadable("it is not UTF-8"))?;
        let value: Value = evalsuite_schema::json::from_str(strict.trim())
            .map_err(|error| unreadable(&format!("it is not JSON ({error})")))?;
        let Value::Object(mut object) = value else { return Err(unreadable("it is JSON, but not an object")) };
        Self::of(&mut object).map_err(unreadable)
    }

    fn of(object: &mut Object) -> Result<Self, &'static str> {
        let mut take = |key: &str| object.get_mut(key).map(Value::take);
        let id = take("id");
        if let Some(method) = take("method") {
            let Value::String(method) = method else { return Err("its `method` is not a text") };
            let params = take("params").unwrap_or_default();
            return match id {
                Some(id) if matches!(id, Value::Number(_) | Value::String(_) | Value::Null) => {
                    Ok(Self::Request { id, method, params })
                }
                Some(_) => Err("its `id` is neither a number nor a text"),
                None => Ok(Self::Notification { method, params }),
            };
        }
        let id = id.ok_or("it has neither `method` nor `id`")?;
        match (take("result"), take("error")) {
            (_, Some(error)) if !error.is_null() => {
                let message = error.get("message").and_then(Value::as_str).unwrap_or("an error without a message");
                Ok(Self::Response {
                    id,
                    result: Err(RpcError {
                        code: error.get("code").and_then(Value::as_i64).unwrap_or_default(),
                        message: message.to_owned(),
                        data: error.get("data").cloned().unwrap_or_default(),
                    }),
                })
            }
            (Some(result), _) => Ok(Self::Response { id, result: Ok(result) }),
            (None, _) => Err("it is a response with neither `result` nor `error`"),
        }
    }
}

impl std::fmt::Display for RpcError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "error {}: {}", self.code, self.message)?;
        let details = self.data.get("details").unwrap_or(&self.data);
        match details {
            Value::Null => Ok(()),
            Value::String(text) => write!(f, " ({})", first_chars(text, SHOWN)),
            other => write!(f, " ({})", first_chars(&other.to_string(), SHOWN)),
        }
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::PermissionRule;
    use evalsuite_schema::json::json;

    use super::*;

    #[test]
    fn the_first_matching_rule_decides_and_what_none_matches_is_denied() {
        let rule =
            |kind, title: Option<&str>, decision| PermissionRule { kind, title: title.map(str::to_owned), decision };
        let (allow, deny) = (PermissionDecision::Allow, PermissionDecision::Deny);
        let rules = Permissions::Rules(vec![
            rule(Some(ToolKind::Execute), Some("git push*"), deny),
            rule(Some(ToolKind::Execute), Some("git *"), allow),
            rule(Some(ToolKind::Read), None, allow),
        ]);
        assert_eq!(decide_permission(&rules, ToolKind::Execute, "git push origin"), deny);
        assert_eq!(decide_permission(&rules, ToolKind::Execute, "git log"), allow);
        assert_eq!(decide_permission(&rules, ToolKind::Read, "é"), allow);
        assert_eq!(decide_permission(&rules, ToolKind::Edit, "git log"), deny);
        assert_eq!(decide_permission(&Permissions::Allow, ToolKind::Edit, "x"), allow);
        assert_eq!(decide_permission(&Permissions::Deny, ToolKind::Read, "x"), deny);
    }

    #[test]
    fn a_star_is_any_text() {
        for (pattern, title, expected) in [
            ("a*c", "abc", true),
            ("a*c", "ac", true),
            ("a*c", "abcd", false),
            ("*", "", true),
            ("*é*", "aéb", true),
            ("a", "ab", false),
            ("*a*b*", "xaxbx", true),
        ] {
            assert_eq!(matches_stars(title, pattern), expected, "{pattern} {title}");
        }
    }

    #[test]
    fn an_option_for_once_is_preferred_and_an_unknown_one_is_not_taken() {
        let options = [
            json!({"optionId": "always", "kind": "allow_always"}),
            json!({"optionId": "once", "kind": "allow_once"}),
            json!({"optionId": "maybe", "kind": "allow_perhaps"}),
        ];
        assert_eq!(option_for(PermissionDecision::Allow, &options), Some("once"));
        assert_eq!(option_for(PermissionDecision::Allow, &options[..1]), Some("always"));
        assert_eq!(option_for(PermissionDecision::Deny, &options), None);
        assert_eq!(option_for(PermissionDecision::Allow, &options[2..]), None);
    }

    #[test]
    fn a_message_is_a_request_a_notification_or_a_response() {
        let read = |line: &str| Incoming::read(line.as_bytes()).unwrap();
        assert_eq!(
            read(r#"{"jsonrpc":"2.0","id":"a","method":"m","params":{"x":1}}"#),
            Incoming::Request { id: "a".into(), method: "m".into(), params: json!({"x": 1}) }
        );
        assert_eq!(read(" {\"method\":\"m\"}\r"), Incoming::Notification { method: "m".into(), params: Value::Null });
        assert_eq!(read(r#"{"id":1,"result":null}"#), Incoming::Response { id: json!(1), result: Ok(Value::Null) });
        let Incoming::Response { result: Err(error), .. } =
            read(r#"{"id":1,"error":{"code":-32000,"message":"no","data":{"details":"log in"}}}"#)
        else {
            panic!("expected an error")
        };
        assert_eq!(error.to_string(), "error -32000: no (log in)");
    }

    #[test]
    fn a_broken_message_is_told_from_a_line_for_people() {
        for line in
            [&b"{"[..], b"{\"id\":1", b"[]", b"{}", b"{\"id\":1}", b"{\"id\":{},\"method\":\"m\"}", b"{\"a\":\"\xff\"}"]
        {
            assert!(matches!(Incoming::read(line), Err(Unreadable::Broken(_))), "{line:?}");
        }
        assert!(matches!(Incoming::read(b"log {\"jsonrpc\":\"2.0\"}"), Err(Unreadable::Broken(_))));
        for line in [&b"starting"[..], b"42", b"\"x\"", b"null", b"\xff\xfe"] {
            assert!(matches!(Incoming::read(line), Err(Unreadable::Text(_))), "{line:?}");
        }
    }
}
