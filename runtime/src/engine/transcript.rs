//! From what an agent returned and recorded to the answer and transcript graders see.

use evalsuite_schema::{Message, Role};

use crate::{Outcome, messages::answer, recording::Recording};

/// The answer, and the messages if the agent reported them.
pub(crate) fn assemble(outcome: &Outcome, recording: &Recording) -> (String, Option<Vec<Message>>) {
    let reported = match &outcome.messages {
        Some(messages) => Some(messages.clone()),
        None if recording.complete || !recording.messages.is_empty() => Some(recording.messages.clone()),
        None => None,
    };
    let Some(mut transcript) = reported else {
        return (outcome.text.clone().unwrap_or_default(), None);
    };
    if let Some(text) = &outcome.text
        && (transcript.is_empty() || answer(&transcript) != *text)
    {
        transcript.push(Message::text(Role::Assistant, text.as_str()));
    }
    (answer(&transcript), Some(transcript))
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::ToolCall;

    use super::*;

    #[test]
    fn a_bare_answer_reports_no_transcript() {
        assert_eq!(assemble(&Outcome::from("x"), &Recording::default()), ("x".into(), None));
        let complete = Recording { complete: true, ..Recording::default() };
        let (answer, transcript) = assemble(&Outcome::from("x"), &complete);
        assert_eq!((answer.as_str(), transcript.unwrap().len()), ("x", 1));
    }

    #[test]
    fn a_returned_text_ends_a_recorded_transcript() {
        let mut recording = Recording::default();
        recording.tool_call(ToolCall::new("read"));
        let (answer, transcript) = assemble(&Outcome::from("done"), &recording);
        let transcript = transcript.unwrap();
        assert_eq!((answer.as_str(), transcript.len()), ("done", 2));
        assert_eq!(transcript[0].tool_calls.len(), 1);
        recording.messages.push(Message::text(Role::Assistant, "done"));
        assert_eq!(assemble(&Outcome::from("done"), &recording).1.unwrap().len(), 2);
    }

    #[test]
    fn returned_messages_replace_recorded_ones() {
        let mut recording = Recording::default();
        recording.tool_call(ToolCall::new("read"));
        let outcome = Outcome::new().messages(vec![Message::text(Role::Assistant, "other")]);
        let (answer, transcript) = assemble(&outcome, &recording);
        assert_eq!((answer.as_str(), transcript.unwrap().len()), ("other", 1));
    }
}
