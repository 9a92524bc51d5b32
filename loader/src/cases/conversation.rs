//! Conversations: `mode`, `turns`, their settings, and `conversation` with its simulated user and the graders of the replies to it.

use evalsuite_schema::keys::{FromWritten, Keys as _};
use evalsuite_schema::{
    Aggregation, Content, Conversation, ConversationKeys, Grader, Message, OnTurnFailure, Role, SimulatedUser, Turn,
};

use super::input;
use crate::diagnostic::{Code, Diagnostics};
use crate::fields::paths::Scope;
use crate::fields::{self, Fields};
use crate::graders::assertions;
use crate::read::node::{Data, Entry, Node};
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
    let simulated = conversation.map(|entry| read_user(entry, scope, users, d));
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
        fields.get("expected_output").map(|entry| input::read_expected_output(entry, scope, d)).unwrap_or_default();
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

/// Settings of a model, which a function does not get.
const OF_MODELS: [&str; 3] = ["judge", "model", "temperature"];

/// What `conversation` says.
#[derive(Default)]
struct ReadConversation {
    /// `None`: a problem was reported.
    user: Option<SimulatedUser>,
    turn_graders: Vec<Grader>,
}

/// Reads `conversation`. `users` gets the uses of graders that are not built in.
fn read_user(
    entry: &Entry,
    scope: Scope<'_>,
    users: &mut Vec<(String, Span)>,
    d: &mut Diagnostics,
) -> ReadConversation {
    let Some(mut fields) = Fields::new(&entry.value, ConversationKeys::TABLE, d) else {
        return ReadConversation::default();
    };
    let user = fields.require("user", d).and_then(|entry| user(entry, scope, users, d));
    let turn_graders = fields.get("turn_assertions").map(|entry| {
        let (graders, named) = assertions::turn(&entry.value, "`turn_assertions`", &[], scope, d);
        users.extend(named);
        graders
    });
    fields.finish(d);
    ReadConversation { user, turn_graders: turn_graders.unwrap_or_default() }
}

fn user(
    entry: &Entry,
    scope: Scope<'_>,
    users: &mut Vec<(String, Span)>,
    d: &mut Diagnostics,
) -> Option<SimulatedUser> {
    let node = &entry.value;
    let mut user = SimulatedUser::new(scope.files.location(node.span));
    match &node.data {
        Data::String(_) => {
            user.name = Some(fields::literal_text(node, "`user`", d)?);
            return Some(user);
        }
        Data::Mapping(_) => {}
        _ => return fields::wrong_type(node, "`user`", "the name of a function or a mapping", d),
    }
    let mut fields = Fields::new(node, SimulatedUser::TABLE, d)?;
    let mut parts = fields.parts(scope, d);
    let assertions = fields.get_renamed("assertions", d);
    if let Some(entry) = assertions {
        let (graders, named) = assertions::of_user(&entry.value, scope, d);
        user.graders = graders;
        users.extend(named);
    }
    let written = |name: &str| fields.written(fields.key(name));
    match written("name") {
        None if written("goal").is_none() => fields.missing(Code::MissingKey, "goal", d),
        None => {}
        Some(_) => {
            for entry in OF_MODELS.into_iter().filter_map(written) {
                let message = format!("`{}` has no meaning for a user that is a function", entry.key);
                let help = "delete it, or delete `name` so that a model writes the turns";
                d.report(Code::SettingConflict, entry.key_span, message, help);
            }
        }
    }
    fields.finish(d);
    user.fill(&mut parts);
    Some(user)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Package;

    fn problems(yaml: &str) -> (ReadConversation, Vec<String>) {
        let package = Package::new(&[]);
        let mut d = Diagnostics::new();
        let node = package.node(&format!("conversation: {yaml}"));
        let entry = &node.as_mapping().expect("a mapping")[0];
        let found = read_user(entry, package.scope(), &mut Vec::new(), &mut d);
        (found, package.lines(&d))
    }

    #[test]
    fn a_user_is_the_name_of_a_function_or_what_a_model_plays() {
        let (found, lines) = problems("{user: angry_customer}");
        assert_eq!((found.user.unwrap().name.as_deref(), lines.len()), (Some("angry_customer"), 0));
        let (found, lines) =
            problems("{user: {goal: A refund., persona: Mira., max_turns: 3, assertions: [Stays polite]}}");
        let user = found.user.unwrap();
        assert_eq!(lines, Vec::<String>::new());
        assert_eq!((user.goal.as_deref(), user.max_turns, user.graders.len()), (Some("A refund."), 3, 1));
    }

    #[test]
    fn what_is_missing_or_contradicts_itself_is_reported() {
        for (yaml, line) in [
            ("{}", "1:15 E021 missing key `user` in `conversation`"),
            ("{user: {persona: Mira.}}", "1:22 E021 missing key `goal` in `user`"),
            (
                "{user: {goal: x, max_turns: 0}}",
                "1:43 E024 `max_turns` is 0, which is not a whole number from 1 to 100",
            ),
            ("{user: {goal: x, max_turn: 3}}", "1:32 E019 unknown key `max_turn` in `user`"),
            ("{user: {name: f, model: m}}", "1:32 E028 `model` has no meaning for a user that is a function"),
            ("{user: [f]}", "1:22 E020 `user` must be the name of a function or a mapping, found a list"),
            ("{user: f, turn_assertions: x}", "1:42 E020 `turn_assertions` must be a list, found text"),
        ] {
            assert_eq!(problems(yaml).1, [line], "{yaml}");
        }
    }
}
