//! Requests of an agent to its client: files, and permissions.

use evalsuite_schema::json::json;
use evalsuite_schema::{PermissionDecision, Permissions, ToolKind, Value, matches_stars};

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
}
