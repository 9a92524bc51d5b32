//! The state of a conversation, reconstructed from its messages.

use std::collections::BTreeMap;

use jiff::civil::Date;
use serde_json::Value;

use crate::tools::ERROR_PREFIX;
use crate::{ChatMessage, ModelError, agent};

/// The state of a conversation so far.
#[derive(Debug)]
pub(super) struct ConversationState<'a> {
    pub(super) today: Date,
    pub(super) note: &'a str,
    /// The existing files, or why they cannot be listed; `None` before the listing.
    pub(super) listing: Option<Result<Vec<&'a str>, &'a str>>,
    /// Contents of the files that were read; `Err` for unreadable files.
    pub(super) files: BTreeMap<String, Result<&'a str, &'a str>>,
    /// Results of writing and appending, in order.
    pub(super) writes: Vec<Write<'a>>,
    /// Contents of the files that were written, by path.
    pub(super) written: BTreeMap<String, String>,
}

/// A file that was written or appended to.
#[derive(Debug)]
pub(super) struct Write<'a> {
    pub(super) path: String,
    pub(super) result: Result<(), &'a str>,
}

impl<'a> ConversationState<'a> {
    pub(super) fn of(conversation: &'a [ChatMessage]) -> Result<Self, ModelError> {
        let [ChatMessage::System(instructions), ChatMessage::User(note), rest @ ..] = conversation else {
            return Err(ModelError::new("a conversation must begin with instructions and a note"));
        };
        let today = instructions
            .lines()
            .find_map(|line| line.strip_prefix(agent::TODAY)?.parse().ok())
            .ok_or_else(|| ModelError::new("the instructions do not contain the date"))?;
        let mut state = Self {
            today,
            note: agent::unwrap(note),
            listing: None,
            files: BTreeMap::new(),
            writes: Vec::new(),
            written: BTreeMap::new(),
        };
        let results: BTreeMap<&str, &str> = rest
            .iter()
            .filter_map(|message| match message {
                ChatMessage::Tool { call_id, content } => Some((call_id.as_str(), content.as_str())),
                _ => None,
            })
            .collect();
        for message in rest {
            let ChatMessage::Assistant { tool_calls, .. } = message else { continue };
            for call in tool_calls {
                if let Some(result) = results.get(call.id.as_str()) {
                    let result = result.strip_prefix(ERROR_PREFIX).map_or(Ok(*result), Err);
                    state.add_call(&call.name, &call.arguments, result);
                }
            }
        }
        Ok(state)
    }

    fn add_call(&mut self, tool: &str, arguments: &str, result: Result<&'a str, &'a str>) {
        // The calls are this model's own, so they are well-formed.
        let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
        let text = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
        match tool {
            "list_files" => self.listing = Some(result.map(|text| text.lines().collect())),
            "read_file" => {
                self.files.insert(text("path"), result);
            }
            _ => {
                self.writes.push(Write { path: text("path"), result: result.map(|_| ()) });
                if tool == "write_file" {
                    self.written.insert(text("path"), text("content"));
                }
            }
        }
    }
}
