use evalsuite_schema::{Case, Input, Message, Role};

use crate::model::messages::role_blocks;

/// What was said so far.
pub(crate) struct History(Vec<Message>);

impl History {
    /// What the case puts before the first turn.
    pub(crate) fn of(case: &Case) -> Self {
        match &case.input {
            Input::Messages(messages) => Self(messages.clone()),
            Input::Data(_) => Self(Vec::new()),
        }
    }

    /// What the agent gets: of the history all system messages and the last `window` pairs of others, then what is said now.
    pub(crate) fn asked(&self, now: &Message, window: Option<u32>) -> Vec<Message> {
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

    /// Everything that was said, and what is said now.
    pub(crate) fn with(&self, now: &Message) -> Vec<Message> {
        self.asked(now, None)
    }

    /// Everything that was said.
    pub(crate) fn messages(&self) -> Vec<Message> {
        self.0.clone()
    }

    /// Everything that was said as one text.
    pub(crate) fn text(&self) -> String {
        role_blocks(&self.0)
    }

    /// Adds what was said and what was replied.
    pub(crate) fn add(&mut self, said: &Message, answer: &str) {
        self.0.extend([said.clone(), Message::text(Role::Assistant, answer)]);
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::Location;

    use super::*;

    #[test]
    fn the_window_keeps_instructions_and_the_last_pairs() {
        let mut case = Case::new("c", Location::new("f", 1, 1));
        let user = |text: &str| Message::text(Role::User, text);
        case.input = Input::Messages(vec![Message::text(Role::System, "brief"), user("before")]);
        let mut history = History::of(&case);
        let texts = |messages: Vec<Message>| role_blocks(&messages).replace("\n\n", " | ");
        assert_eq!(texts(history.asked(&user("one"), Some(1))), "system: brief | user: before | user: one");
        history.add(&user("one"), "first");
        history.add(&user("two"), "second");
        assert_eq!(
            texts(history.asked(&user("three"), Some(1))),
            "system: brief | user: two | assistant: second | user: three"
        );
        assert_eq!(
            texts(history.with(&user("three"))),
            "system: brief | user: before | user: one | assistant: first | user: two | assistant: second | user: three"
        );
        assert_eq!(history.text(), texts(history.messages()).replace(" | ", "\n\n"));
    }
}
