//! Conversations: `mode`, `turns`, a simulated user, and their settings.

mod simulated_user;

use evalsuite_schema::keys::{FromWritten, Keys};
use evalsuite_schema::{Aggregation, Content, Conversation, Message, OnTurnFailure, Role, Turn};

use self::simulated_user::ReadConversation;
use super::{expected_output, input};
use crate::diagnostic::{Code, Diagnostics};
use crate::fields::paths::Scope;
use crate::fields::{self, Fields};
use crate::graders::assertions;
use crate::read::node::{Data, Node};
use crate::source::Span;

/// Reads the conversation that a case is, right or wrong: then it needs no `input` of its own. `users` gets the uses of graders that are
/// not built in.
pub(super) fn read(
    found: &mut Option<Conversation>,
    users: &mut Vec<(String, Span)>,
    fields: &mut Fields<'_>,
    scope: Scope<'_>,
    d: &mut Diagnostics,
) {
    *found = written(fields, scope, users, d);
}

fn written(
    fields: &mut Fields<'_>,
    scope: Scope<'_>,
    users: &mut Vec<(String, Span)>,
    d: &mut Diagnostics,
) -> Option<Conversation> {
    let [mode, turns, conversation] = ["mode", "turns", "conversation"].map(|key| fields.get(key));
    let settings = ["aggregation", "on_turn_failure", "window_size"].map(|key| fields.get(key));
    let is_known = mode.is_some_and(|entry| fields::word(&entry.value, "`mode`", &["conversation"], d).is_some());
    match (mode, turns) {
        _ if conversation.is_some() => {}
        (None, None) => {
            for entry in settings.into_iter().flatten() {
                let message = format!("`{}` needs `mode: conversation`", entry.key);
                let help = "add `mode: conversation` and `turns`, or delete it";
                d.report(Code::ConversationMismatch, entry.key_span, message, help);
            }
            return None;
        }
        (Some(entry), None) if is_known => {
            let help = "add `turns`, a list of the user's messages, or a simulated user in `conversation`";
            d.report(Code::ConversationMismatch, entry.key_span, "`mode: conversation` needs `turns`", help);
        }
        (None, Some(entry)) => {
            let help = "add `mode: conversation`";
            d.report(Code::ConversationMismatch, entry.key_span, "`turns` needs `mode: conversation`", help);
        }
        (Some(_), _) => {}
    }
    let turns = turns.map(|entry| read_turns(&entry.value, scope, users, d)).unwrap_or_default();
    let simulated = conversation.map(|entry| simulated_user::read(entry, scope, users, d));
    let mut conversation = Conversation::new(turns);
    let ReadConversation { user, turn_graders } = simulated.unwrap_or_default();
    (conversation.user, conversation.turn_graders) = (user, turn_graders);
    let aggregation = fields.value_of("aggregation", scope, d).and_then(Aggregation::from_written);
    conversation.aggregation = aggregation.unwrap_or_default();
    let on_turn_failure = fields.value_of("on_turn_failure", scope, d).and_then(OnTurnFailure::from_written);
    conversation.on_turn_failure = on_turn_failure.unwrap_or_default();
    conversation.window_size = fields.value_of("window_size", scope, d).and_then(u32::from_written);
    Some(conversation)
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
        .map(|entry| assertions::turn(&entry.value, "`assertions`", &expected_output, scope, d))
        .unwrap_or_default();
    users.extend(named);
    fields.finish(d);
    let Some(entry) = input else {
        return mismatch(node, "a turn has no `input`", "add `input`, the user's message", d);
    };
    let empty = match &entry.value.data {
        Data::String(text) => text.is_empty(),
        Data::Sequence(parts) => parts.is_empty(),
        _ => return fields::wrong_type(&entry.value, "`input` of a turn", "text or a list of parts", d),
    };
    if empty {
        return mismatch(&entry.value, "`input` of a turn is empty", "write the user's message", d);
    }
    let content: Content = input::content(&entry.value, scope, d)?;
    Some(Turn::new(Message::new(Role::User, content), expected_output, graders))
}
