//! Conversations: `mode`, `turns` and their settings.

use evalsuite_schema::keys::Keys;
use evalsuite_schema::{Aggregation, Content, Conversation, Message, OnTurnFailure, Role, Turn};

use super::{expected_output, input};
use crate::diagnostic::{Code, Diagnostics};
use crate::fields;
use crate::fields::Fields;
use crate::fields::paths::Scope;
use crate::graders::assertions;
use crate::read::node::{Data, Node};
use crate::source::Span;

/// The keys of a case that is a conversation.
#[derive(Debug, Default)]
pub(crate) struct WrittenConversation {
    /// Whether the case is one, right or wrong: then it needs no `input` of its own.
    pub(crate) is_conversation: bool,
    pub(crate) conversation: Option<Conversation>,
    /// Uses of graders that are not built in, in turns.
    pub(crate) user_graders: Vec<(String, Span)>,
}

pub(crate) fn read(fields: &mut Fields<'_>, scope: Scope<'_>, d: &mut Diagnostics) -> WrittenConversation {
    let mode = fields.get("mode");
    let turns = fields.get("turns");
    let settings = ["aggregation", "on_turn_failure", "window_size"];
    let (aggregation, on_turn_failure, window_size) =
        (fields.get(settings[0]), fields.get(settings[1]), fields.get(settings[2]));
    if let Some(entry) = mode {
        fields::word(&entry.value, "`mode`", &["conversation"], d);
    }
    match (mode, turns) {
        (None, None) => {
            for entry in [aggregation, on_turn_failure, window_size].into_iter().flatten() {
                d.report(
                    Code::ConversationMismatch,
                    entry.key_span,
                    format!("`{}` needs `mode: conversation`", entry.key),
                    "add `mode: conversation` and `turns`, or delete it",
                );
            }
            return WrittenConversation::default();
        }
        (Some(entry), None) => d.report(
            Code::ConversationMismatch,
            entry.key_span,
            "`mode: conversation` needs `turns`",
            "add `turns`, a list of the user's messages",
        ),
        (None, Some(entry)) => d.report(
            Code::ConversationMismatch,
            entry.key_span,
            "`turns` needs `mode: conversation`",
            "add `mode: conversation`",
        ),
        (Some(_), Some(_)) => {}
    }
    let mut user_graders = Vec::new();
    let turns = turns.map(|entry| read_turns(&entry.value, scope, &mut user_graders, d)).unwrap_or_default();
    let mut conversation = Conversation::new(turns);
    conversation.aggregation = aggregation
        .and_then(|entry| fields::word(&entry.value, "`aggregation`", Aggregation::WORDS, d))
        .and_then(Aggregation::of_word)
        .unwrap_or_default();
    conversation.on_turn_failure = on_turn_failure
        .and_then(|entry| fields::word(&entry.value, "`on_turn_failure`", OnTurnFailure::WORDS, d))
        .and_then(OnTurnFailure::of_word)
        .unwrap_or_default();
    conversation.window_size = window_size.and_then(|entry| fields::count(&entry.value, "`window_size`", 1, d));
    WrittenConversation { is_conversation: true, conversation: Some(conversation), user_graders }
}

fn read_turns(node: &Node, scope: Scope<'_>, users: &mut Vec<(String, Span)>, d: &mut Diagnostics) -> Vec<Turn> {
    let Some(items) = fields::list(node, "`turns`", d) else { return Vec::new() };
    if items.is_empty() {
        return mismatch(node, "`turns` is empty", "add a turn with `input`", d).unwrap_or_default();
    }
    items.iter().filter_map(|item| turn(item, scope, users, d)).collect()
}

fn mismatch<T>(node: &Node, message: &str, help: &str, d: &mut Diagnostics) -> Option<T> {
    fields::reject(Code::ConversationMismatch, node.span, message, help, d)
}

fn turn(node: &Node, scope: Scope<'_>, users: &mut Vec<(String, Span)>, d: &mut Diagnostics) -> Option<Turn> {
    let mut fields = Fields::new(node, Turn::TABLE, d)?;
    let input = fields.get("input");
    let expected_output =
        fields.get("expected_output").map(|entry| expected_output::read(entry, scope, d)).unwrap_or_default();
    let (graders, named) = fields
        .get_renamed("assertions", d)
        .map(|entry| assertions::turn(&entry.value, &expected_output, scope, d))
        .unwrap_or_default();
    users.extend(named);
    fields.finish(d);
    let Some(entry) = input else {
        return mismatch(node, "a turn has no `input`", "add `input`, the user's message", d);
    };
    let empty = match &entry.value.data {
        Data::String(text) => text.is_empty(),
        Data::Sequence(parts) => parts.is_empty(),
        _ => {
            return fields::wrong_type(&entry.value, "`input` of a turn", "text or a list of parts", d);
        }
    };
    if empty {
        return mismatch(&entry.value, "`input` of a turn is empty", "write the user's message", d);
    }
    let content: Content = input::content(&entry.value, scope, d)?;
    Some(Turn::new(Message::new(Role::User, content), expected_output, graders))
}
