//! A conversation so far: its messages, and what the agent reported in its turns.

use std::time::Duration;

use evalsuite_records::record::Usage;
use evalsuite_schema::{Case, Input, Message, Role, Turn};

use crate::model::captured_spans::Captured;
use crate::model::evidence::{Facts, UnknownWork};
use crate::model::messages::{messages_of, role_blocks};
use crate::model::outcome::Outcome;
use crate::model::recording::Recording;
use crate::run::trial::reported_transcript::known_spending;
use crate::run::trial::trial_attempt::whole_millis;

/// A conversation so far.
#[derive(Default)]
pub(crate) struct ConversationSoFar {
    /// The messages of the case before the first turn, then what the user said and what the agent answered.
    pub(crate) messages: Vec<Message>,
    /// What the agent reported and recorded in finished turns and an interrupted one. Its sums are of the turns that reported a summand.
    pub(crate) recording: Recording,
    /// Whether a turn did not report its tokens.
    lacks_usage: bool,
    /// Whether a turn did not report its cost.
    lacks_cost: bool,
    /// Whether a turn did not report its messages; then the transcript is incomplete.
    lacks_messages: bool,
    /// What is not known of the first turn of which something is not.
    unknown: UnknownWork,
    transcript: Vec<Message>,
    /// Index of the first message of each turn.
    starts: Vec<usize>,
    /// Index of the first turn that a simulated user wrote.
    pub(crate) first_simulated: Option<usize>,
    /// When the first turn began and the last one ended.
    pub(crate) span: Option<(String, String)>,
}

impl ConversationSoFar {
    /// A conversation before its first turn.
    pub(crate) fn of(case: &Case) -> Self {
        Self { messages: messages_of(&case.input).to_vec(), ..Self::default() }
    }

    /// What the agent gets: all system messages and the last `window` pairs of other messages, then `now`.
    pub(crate) fn window(&self, now: &Message, window: Option<u32>) -> Vec<Message> {
        let others = self.messages.iter().filter(|message| message.role != Role::System).count();
        let kept = window.map_or(usize::MAX, |pairs| 2 * pairs as usize);
        let mut left_out = others.saturating_sub(kept);
        let stays = |message: &&Message| {
            if message.role == Role::System || left_out == 0 {
                return true;
            }
            left_out -= 1;
            false
        };
        self.messages.iter().filter(stays).chain([now]).cloned().collect()
    }

    /// Adds what graders of a turn get of its request.
    pub(crate) fn describe_turn(&self, turn: &Turn, facts: &mut Facts) {
        facts.input = Some(Input::Messages(self.window(&turn.input, None)));
        facts.expected_output.clone_from(&turn.expected_output);
        facts.is_conversation = true;
    }

    /// Adds what graders of the whole get of its turns: all messages in order, if every turn reported its own.
    pub(crate) fn describe_whole(self, facts: &mut Facts) {
        facts.input = Some(Input::Messages(self.messages));
        facts.is_conversation = true;
        facts.unknown = self.unknown;
        facts.tools = self.recording.captured.tools;
        facts.first_simulated_turn = self.first_simulated;
        (facts.transcript, facts.turns) = match self.lacks_messages {
            true => (None, Vec::new()),
            false => (Some(self.transcript), self.starts),
        };
    }

    /// Adds the data that the agent reported in addition to its reply; a later report of the same key replaces an earlier one.
    pub(crate) fn add_report(&mut self, reported: &Outcome, captured: &Captured) {
        let outcome = &mut self.recording.outcome;
        outcome.state.extend(reported.state.clone());
        outcome.metadata.extend(reported.metadata.clone());
        outcome.model = reported.model.as_ref().or(captured.model.as_ref()).cloned().or(outcome.model.take());
        if !captured.tools.is_empty() {
            self.recording.captured.tools.clone_from(&captured.tools);
        }
    }

    /// Adds a turn to which the agent has replied.
    pub(crate) fn add(&mut self, input: &Message, facts: &Facts) {
        self.messages.extend([input.clone(), Message::text(Role::Assistant, &facts.answer)]);
        self.starts.push(self.transcript.len());
        self.transcript.push(input.clone());
        match &facts.transcript {
            Some(messages) => {
                self.transcript.extend(messages.iter().cloned());
                self.recording.messages.extend(messages.iter().cloned());
            }
            None => self.lacks_messages = true,
        }
        let UnknownWork { calls, model_calls, known_tools, spending } = &facts.unknown;
        self.unknown.calls = self.unknown.calls.take().or_else(|| calls.clone());
        self.unknown.model_calls = self.unknown.model_calls.take().or_else(|| model_calls.clone());
        // Turns may start different servers.
        if let Some(known) = known_tools {
            self.unknown.known_tools.get_or_insert_default().extend(known.iter().cloned());
        }
        self.unknown.spending = self.unknown.spending.take().or_else(|| spending.clone());
        self.add_spending(facts.usage, facts.cost_usd, facts.duration_ms);
        let started = self.span.take().map_or_else(|| facts.started_at.clone(), |(started, _)| started);
        self.span = Some((started, facts.ended_at.clone()));
    }

    /// Adds a turn in which the agent failed.
    pub(crate) fn add_unfinished(&mut self, recording: Recording, took: Duration) {
        let (usage, cost_usd) = known_spending(&recording);
        self.add_spending(usage, cost_usd, whole_millis(took) as f64);
        self.add_report(&recording.outcome, &recording.captured);
        let captured = recording.captured.messages.filter(|_| recording.messages.is_empty());
        self.recording.messages.extend(recording.messages.into_iter().chain(captured.unwrap_or_default()));
        self.recording.messages.extend(recording.outcome.text.map(|text| Message::text(Role::Assistant, text)));
    }

    pub(crate) fn add_spending(&mut self, usage: Option<Usage>, cost_usd: Option<f64>, duration_ms: f64) {
        match usage {
            Some(usage) => self.recording.usage(usage),
            None => self.lacks_usage = true,
        }
        match cost_usd {
            Some(cost) => self.recording.cost_usd(cost),
            None => self.lacks_cost = true,
        }
        *self.recording.outcome.duration_ms.get_or_insert_default() += duration_ms;
    }

    /// The conversation as one outcome. Its sums are known only if all their summands are.
    pub(crate) fn outcome(&self) -> Outcome {
        let outcome = self.recording.outcome.clone();
        Outcome {
            text: Some(role_blocks(&self.messages)),
            usage: outcome.usage.filter(|_| !self.lacks_usage),
            cost_usd: outcome.cost_usd.filter(|_| !self.lacks_cost),
            ..outcome
        }
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::Location;

    use super::*;

    #[test]
    fn the_window_has_the_system_messages_and_the_last_pairs() {
        let mut case = Case::new("c", Location::new("f", 1, 1));
        let user = |text: &str| Message::text(Role::User, text);
        case.input = Input::Messages(vec![Message::text(Role::System, "brief"), user("before")]);
        let mut so_far = ConversationSoFar::of(&case);
        let texts = |messages: Vec<Message>| role_blocks(&messages).replace("\n\n", " | ");
        let answered = |text: &str| Facts { answer: text.to_owned(), ..Facts::default() };
        assert_eq!(texts(so_far.window(&user("one"), Some(1))), "system: brief | user: before | user: one");
        so_far.add(&user("one"), &answered("first"));
        so_far.add(&user("two"), &answered("second"));
        assert_eq!(
            texts(so_far.window(&user("three"), Some(1))),
            "system: brief | user: two | assistant: second | user: three"
        );
        assert_eq!(
            texts(so_far.window(&user("three"), None)),
            "system: brief | user: before | user: one | assistant: first | user: two | assistant: second | user: three"
        );
        assert_eq!(
            texts(so_far.messages),
            "system: brief | user: before | user: one | assistant: first | user: two | assistant: second"
        );
    }
}
