//! The messages of a conversation so far.

use evalsuite_schema::{Case, Input, Message, Role, Turn};

use crate::model::evidence::Facts;
use crate::model::messages::messages_of;

/// The messages of a conversation so far.
pub(crate) struct ConversationHistory(pub(crate) Vec<Message>);

impl ConversationHistory {
    /// The messages of the case before the first turn.
    pub(crate) fn of(case: &Case) -> Self {
        Self(messages_of(&case.input).to_vec())
    }

    /// What the agent gets: all system messages and the last `window` pairs of other messages, then `now`.
    pub(crate) fn window(&self, now: &Message, window: Option<u32>) -> Vec<Message> {
        let others = self.0.iter().filter(|message| message.role != Role::System).count();
        let kept = window.map_or(usize::MAX, |pairs| 2 * pairs as usize);
        let mut left_out = others.saturating_sub(kept);
        let stays = |message: &&Message| {
            if message.role == Role::System || left_out == 0 {
                return true;
            }
            left_out -= 1;
            false
        };
        self.0.iter().filter(stays).chain([now]).cloned().collect()
    }

    /// All messages, then `now`.
    pub(crate) fn with(&self, now: &Message) -> Vec<Message> {
        self.window(now, None)
    }

    /// Adds what graders of a turn get of its request.
    pub(crate) fn describe(&self, turn: &Turn, facts: &mut Facts) {
        facts.input = Some(Input::Messages(self.with(&turn.input)));
        facts.expected_output.clone_from(&turn.expected_output);
        facts.is_conversation = true;
    }

    /// Adds what the user said and what the agent answered.
    pub(crate) fn add(&mut self, input: &Message, answer: &str) {
        self.0.extend([input.clone(), Message::text(Role::Assistant, answer)]);
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::{Input, Location};

    use super::*;
    use crate::model::messages::role_blocks;

    #[test]
    fn the_window_has_the_system_messages_and_the_last_pairs() {
        let mut case = Case::new("c", Location::new("f", 1, 1));
        let user = |text: &str| Message::text(Role::User, text);
        case.input = Input::Messages(vec![Message::text(Role::System, "brief"), user("before")]);
        let mut history = ConversationHistory::of(&case);
        let texts = |messages: Vec<Message>| role_blocks(&messages).replace("\n\n", " | ");
        assert_eq!(texts(history.window(&user("one"), Some(1))), "system: brief | user: before | user: one");
        history.add(&user("one"), "first");
        history.add(&user("two"), "second");
        assert_eq!(
            texts(history.window(&user("three"), Some(1))),
            "system: brief | user: two | assistant: second | user: three"
        );
        assert_eq!(
            texts(history.with(&user("three"))),
            "system: brief | user: before | user: one | assistant: first | user: two | assistant: second | user: three"
        );
        assert_eq!(
            texts(history.0),
            "system: brief | user: before | user: one | assistant: first | user: two | assistant: second"
        );
    }
}
