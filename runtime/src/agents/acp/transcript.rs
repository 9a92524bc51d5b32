//! The transcript of a turn, from the updates of its session as they arrive.

use std::collections::BTreeMap;

use evalsuite_records::record::milliseconds;
use evalsuite_schema::json::json;
use evalsuite_schema::{Content, Message, Object, Role, ToolCall, ToolKind, Value};

use crate::model::agent_report::{CallPosition, Recording};
use crate::platform::clock::Stopwatch;

/// What an agent has reported in a turn.
#[derive(Default)]
pub(crate) struct Transcript {
    pub(crate) recording: Recording,
    calls: BTreeMap<String, KnownCall>,
    /// The protocol's id of the message whose text arrives.
    message_id: Option<String>,
}

/// A tool call that the agent has reported.
struct KnownCall {
    position: CallPosition,
    /// When the agent reported it.
    began: Stopwatch,
    has_ended: bool,
    kind: ToolKind,
    title: String,
    has_name: bool,
    raw_output: Option<Value>,
    content: Option<Value>,
}

/// What became of an update.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Update {
    Recorded,
    /// It says nothing about the work of the agent.
    Other,
    /// Its kind is not known.
    Unknown(String),
    /// It cannot be read.
    Broken(String),
}

impl Transcript {
    /// Adds an update of the session.
    pub(crate) fn add(&mut self, update: &Value) -> Update {
        let Some(kind) = update.get("sessionUpdate").and_then(Value::as_str) else {
            return Update::Broken("it has no `sessionUpdate`".to_owned());
        };
        let added = match kind {
            "agent_message_chunk" => chunk(update).map(|text| self.say(&text, message_id(update))),
            "agent_thought_chunk" => chunk(update).map(|text| self.think(&text)),
            "tool_call" => {
                self.forget_other_call(update);
                self.tool_call(update).map(drop)
            }
            "tool_call_update" => self.tool_call(update).map(drop),
            "plan" => match update.get("entries") {
                Some(entries @ Value::Array(_)) => {
                    self.plan(entries.clone());
                    Ok(())
                }
                _ => Err("its `entries` are not a list".to_owned()),
            },
            "usage_update" => {
                self.spend(update);
                Ok(())
            }
            "user_message_chunk"
            | "available_commands_update"
            | "current_mode_update"
            | "config_option_update"
            | "session_info_update" => return Update::Other,
            other => return Update::Unknown(other.to_owned()),
        };
        added.map_or_else(|problem| Update::Broken(format!("`{kind}`: {problem}")), |()| Update::Recorded)
    }

    fn say(&mut self, text: &str, id: Option<String>) {
        let same = self.message_id == id;
        match self.recording.messages.last_mut() {
            Some(message) if message.role == Role::Assistant && message.tool_calls.is_empty() => {
                match &mut message.content {
                    content @ None => *content = Some(Content::Text(text.to_owned())),
                    Some(Content::Text(said)) if same => said.push_str(text),
                    Some(_) => self.recording.messages.push(Message::text(Role::Assistant, text)),
                }
            }
            _ => self.recording.messages.push(Message::text(Role::Assistant, text)),
        }
        self.message_id = id;
    }

    fn think(&mut self, text: &str) {
        match self.recording.messages.last_mut() {
            Some(message)
                if message.role == Role::Assistant && message.tool_calls.is_empty() && message.content.is_none() =>
            {
                message.reasoning.get_or_insert_default().push_str(text);
            }
            _ => {
                let mut message = Message::empty(Role::Assistant);
                message.reasoning = Some(text.to_owned());
                self.recording.messages.push(message);
            }
        }
    }

    /// Forgets a call that has ended, if its id is used again for another one. Some agents report a call twice.
    fn forget_other_call(&mut self, update: &Value) {
        let text = |key: &str| update.get(key).and_then(Value::as_str);
        let Some(id) = text("toolCallId") else { return };
        let Some(KnownCall { position, kind, .. }) = self.calls.get(id).filter(|call| call.has_ended) else { return };
        let is_other_kind = text("kind").is_some_and(|named| ToolKind::named(Some(named)) != *kind);
        let input = update.get("rawInput").filter(|input| !input.is_null());
        let known = self.recording.call_at(*position).and_then(|call| call.input.as_ref());
        if is_other_kind || known.is_some() && input.is_some() && input != known {
            self.calls.remove(id);
        }
    }

    /// Adds a tool call, or what is new about it. Returns its id.
    pub(crate) fn tool_call(&mut self, update: &Value) -> Result<String, String> {
        let text = |key: &str| update.get(key).and_then(Value::as_str);
        let id = text("toolCallId").ok_or("it has no `toolCallId`")?.to_owned();
        let is_known = self.calls.contains_key(&id);
        let call = self.calls.entry(id.clone()).or_insert_with(|| {
            let began = Stopwatch::start();
            let mut call = ToolCall::new(ToolKind::Other.as_str()).with_id(&*id);
            call.start_time = Some(began.started_at());
            let position = self.recording.tool_call(call);
            let kind = ToolKind::Other;
            KnownCall {
                position,
                began,
                has_ended: false,
                kind,
                title: String::new(),
                has_name: false,
                raw_output: None,
                content: None,
            }
        });
        if let Some(title) = text("title") {
            title.clone_into(&mut call.title);
        }
        if let Some(kind) = text("kind") {
            call.kind = ToolKind::named(Some(kind));
        }
        let Some(recorded) = self.recording.call_at(call.position) else { return Ok(id) };
        // Programs are told apart by the name of the tool. Where the agent has none, its kind is known, or its title.
        if let Some(name) = text("name") {
            (recorded.tool, call.has_name) = (name.to_owned(), true);
        } else if !call.has_name {
            let is_named = call.kind != ToolKind::Other || call.title.trim().is_empty();
            recorded.tool = if is_named { call.kind.as_str().to_owned() } else { call.title.clone() };
        }
        let given = |key: &str| update.get(key).filter(|value| !value.is_null()).cloned();
        if let Some(input) = given("rawInput") {
            recorded.input = Some(input);
        }
        call.raw_output = given("rawOutput").or(call.raw_output.take());
        call.content = given("content").or(call.content.take());
        recorded.output = call.raw_output.clone().or_else(|| call.content.as_ref().and_then(output));
        let status = text("status");
        if matches!(status, Some("completed" | "failed")) {
            recorded.is_error = status == Some("failed");
            if !std::mem::replace(&mut call.has_ended, true) {
                let took = call.began.elapsed();
                recorded.end_time = Some(call.began.after(took));
                match is_known {
                    true => recorded.duration_ms = Some(milliseconds(took)),
                    // Nobody saw it begin.
                    false => recorded.start_time = None,
                }
            }
        }
        let mut facts = Object::from([("kind", call.kind.as_str())]);
        for key in ["title", "status", "locations"] {
            if let Some(value) = given(key) {
                facts.insert(key.to_owned(), value);
            }
        }
        let position = call.position;
        self.note_of_call(position, &id, facts);
        Ok(id)
    }

    /// Kind and title of a call.
    pub(crate) fn kind_and_title(&self, id: &str) -> (ToolKind, String) {
        self.calls.get(id).map_or((ToolKind::Other, String::new()), |call| (call.kind, call.title.clone()))
    }

    /// Adds what was answered to a request for permission.
    pub(crate) fn permission(&mut self, id: &str, answer: Value) {
        if let Some(position) = self.calls.get(id).map(|call| call.position) {
            self.note_of_call(position, id, Object::from([("permission", answer)]));
        }
    }

    /// Adds facts about a call to the metadata of its message.
    fn note_of_call(&mut self, position: CallPosition, id: &str, facts: Object) {
        let Some(message) = self.recording.message_at(position) else { return };
        let metadata = message.metadata.get_or_insert_with(|| json!({}));
        if metadata["tool_calls"][id].is_null() {
            metadata["tool_calls"][id] = json!({});
        }
        for (key, value) in &facts {
            metadata["tool_calls"][id][key.as_str()] = value.clone();
        }
    }

    fn plan(&mut self, entries: Value) {
        if self.recording.messages.last().is_none_or(|message| message.role != Role::Assistant) {
            self.recording.messages.push(Message::empty(Role::Assistant));
        }
        let Some(message) = self.recording.messages.last_mut() else { return };
        let metadata = message.metadata.get_or_insert_with(|| json!({}));
        match metadata.get_mut("plans").and_then(Value::as_array_mut) {
            Some(plans) => plans.push(entries),
            None => metadata["plans"] = json!([entries]),
        }
    }

    /// The cost of the session so far.
    fn spend(&mut self, update: &Value) {
        let cost = update.get("cost");
        let currency = cost.and_then(|cost| cost.get("currency")).and_then(Value::as_str);
        if let (Some("USD"), Some(amount)) =
            (currency, cost.and_then(|cost| cost.get("amount")).and_then(Value::as_f64))
        {
            self.recording.outcome.cost_usd = Some(amount);
        } else if let Some(cost) = cost.filter(|cost| !cost.is_null()) {
            self.recording.outcome.metadata.insert("cost".to_owned(), cost.clone());
        }
        let used = update.get("used").and_then(Value::as_u64);
        if let Some(used) = used {
            self.recording.outcome.metadata.insert("context_tokens".to_owned(), used.into());
        }
    }
}

fn message_id(update: &Value) -> Option<String> {
    update.get("messageId").and_then(Value::as_str).map(str::to_owned)
}

/// The text of a chunk.
fn chunk(update: &Value) -> Result<String, String> {
    let content = update.get("content").ok_or("it has no `content`")?;
    block_text(content).ok_or_else(|| "its `content` is not a content block".to_owned())
}

/// A block of content as text. Data is named, and is in the messages next to the record.
fn block_text(block: &Value) -> Option<String> {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    match block.get("type").and_then(Value::as_str)? {
        "text" => text(block, "text"),
        "resource_link" => text(block, "uri"),
        "resource" => {
            let resource = block.get("resource")?;
            text(resource, "text").or_else(|| text(resource, "uri"))
        }
        kind => {
            let data = block.get("data").and_then(Value::as_str).unwrap_or_default();
            let media_type = text(block, "mimeType").unwrap_or_else(|| kind.to_owned());
            Some(format!("[{media_type}, {} characters of base64]", data.len()))
        }
    }
}

/// The output of a tool whose content is all it says: its text if there is nothing else.
fn output(content: &Value) -> Option<Value> {
    let items = content.as_array().filter(|items| !items.is_empty())?;
    let text = |item: &Value| {
        let block = item.get("content").filter(|_| item.get("type").and_then(Value::as_str) == Some("content"))?;
        block.get("text").and_then(Value::as_str).map(str::to_owned)
    };
    let texts: Option<Vec<String>> = items.iter().map(text).collect();
    Some(texts.map_or_else(|| content.clone(), |texts| Value::String(texts.join("\n"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(updates: &[Value]) -> Vec<(Option<String>, Option<String>, usize)> {
        let mut transcript = Transcript::default();
        for update in updates {
            assert_eq!(transcript.add(update), Update::Recorded, "{update}");
        }
        let messages = transcript.recording.messages.into_iter();
        let text = |message: &Message| message.content.as_ref().map(|content| content.plain_text().into_owned());
        messages.map(|message| (message.reasoning.clone(), text(&message), message.tool_calls.len())).collect()
    }

    fn chunk(kind: &str, text: &str, id: Option<&str>) -> Value {
        json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}, "messageId": id})
    }

    #[test]
    fn chunks_are_one_message_until_another_one_or_a_tool_call_begins() {
        let call = |id: &str| json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": "t"});
        let text = |text: &str, id| chunk("agent_message_chunk", text, id);
        let updates = [
            chunk("agent_thought_chunk", "hm", None),
            text("a", None),
            text("b", None),
            text("c", Some("1")),
            call("x"),
            call("y"),
            text("d", Some("1")),
            chunk("agent_thought_chunk", "so", None),
        ];
        let some = |text: &str| Some(text.to_owned());
        let expected = [(some("hm"), some("ab"), 0), (None, some("c"), 2), (None, some("d"), 0), (some("so"), None, 0)];
        assert_eq!(said(&updates), expected);
    }

    #[test]
    fn a_tool_is_called_by_its_name_its_kind_or_its_title() {
        for (call, expected) in [
            (json!({"title": "Run it", "kind": "execute", "name": "bash"}), "bash"),
            (json!({"title": "Run it", "kind": "execute"}), "execute"),
            (json!({"title": "lookup", "kind": "other"}), "lookup"),
            (json!({"title": "lookup", "kind": "of a later version"}), "lookup"),
            (json!({}), "other"),
        ] {
            let mut update = call.clone();
            (update["sessionUpdate"], update["toolCallId"]) = ("tool_call".into(), "c".into());
            let mut transcript = Transcript::default();
            assert_eq!(transcript.add(&update), Update::Recorded);
            // What an update leaves out stays as it is.
            let ended = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"});
            assert_eq!(transcript.add(&ended), Update::Recorded);
            let recorded = &transcript.recording.messages[0].tool_calls[0];
            assert_eq!((recorded.tool.as_str(), recorded.is_error), (expected, false), "{call}");
            assert!(recorded.duration_ms.is_some());
        }
    }

    #[test]
    fn a_call_that_is_reported_when_it_has_ended_has_no_duration() {
        let update = |kind: &str, status: &str| json!({"sessionUpdate": kind, "toolCallId": "c", "status": status});
        for (updates, is_timed) in [
            (vec![update("tool_call", "completed")], false),
            (vec![update("tool_call", "failed"), update("tool_call_update", "failed")], false),
            (vec![update("tool_call", "pending"), update("tool_call_update", "completed")], true),
        ] {
            let mut transcript = Transcript::default();
            for update in &updates {
                assert_eq!(transcript.add(update), Update::Recorded);
            }
            let call = &transcript.recording.messages[0].tool_calls[0];
            assert_eq!((call.duration_ms.is_some(), call.start_time.is_some()), (is_timed, is_timed), "{updates:?}");
            assert!(call.end_time.is_some());
        }
    }

    #[test]
    fn an_id_that_is_used_again_is_another_call() {
        let call = |kind: &str, path: &str| {
            let mut update = json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "kind": kind});
            (update["rawInput"], update["status"]) = (json!({"path": path}), "completed".into());
            update
        };
        let done = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "rawOutput": "done"});
        for (updates, expected) in [
            (vec![call("read", "a"), call("edit", "a")], &["read", "edit"][..]),
            (vec![call("read", "a"), call("read", "b")], &["read", "read"]),
            (vec![call("read", "a"), call("read", "a"), done], &["read"]),
        ] {
            let mut transcript = Transcript::default();
            for update in &updates {
                assert_eq!(transcript.add(update), Update::Recorded);
            }
            let calls = transcript.recording.messages.iter().flat_map(|message| &message.tool_calls);
            let calls: Vec<&str> = calls.map(|call| call.tool.as_str()).collect();
            assert_eq!(calls, expected, "{updates:?}");
        }
    }

    #[test]
    fn content_that_is_not_text_is_named_or_kept_as_data() {
        let image = json!({"type": "image", "mimeType": "image/png", "data": "AAAA"});
        assert_eq!(block_text(&image).as_deref(), Some("[image/png, 4 characters of base64]"));
        let link = json!({"type": "resource_link", "uri": "file:///a", "name": "a"});
        assert_eq!(block_text(&link).as_deref(), Some("file:///a"));
        assert_eq!(block_text(&json!({"type": "resource", "resource": {"text": "t"}})).as_deref(), Some("t"));
        assert_eq!(block_text(&json!({})), None);
        let diff = json!([{"type": "diff", "path": "/a", "newText": "b"}]);
        assert_eq!(output(&diff), Some(diff.clone()));
        assert_eq!(output(&json!([])), None);
    }
}
