//! The reference of a case as a result of an agent.

use evalsuite_schema::{Case, Grader, Message, ReferenceSolution, Turn, Value};

use crate::model::messages::{answer, pretty};
use crate::run::made_up::{MadeUpReply, MadeUpResult};
use crate::run::probe::expected_texts;
use crate::run::probe::tools::expected_calls;

/// The reference of a case.
#[derive(Debug, PartialEq)]
pub(super) struct Reference {
    pub(super) result: MadeUpResult,
    /// Whether it is what an agent answers. The expected outcome of a task is data about what has to happen, which may be the answer.
    pub(super) is_answer: bool,
}

/// The reference; `None` if the case has none, or a conversation has none for a turn that is graded. A reference without calls has those
/// that the graders ask for: it is an answer, and says nothing about them.
pub(super) fn reference(case: &Case) -> Option<Reference> {
    let mut is_answer = true;
    let replies = match &case.conversation {
        // What a simulated user says is not known, and so is what to reply.
        Some(conversation) if conversation.user.is_some() => return None,
        Some(conversation) => {
            let of_turn = |(index, turn): (usize, &Turn)| {
                let of_whole = case.graders.iter().filter(|_| index == 0);
                let graders: Vec<&Grader> = of_whole.chain(&turn.graders).collect();
                let is_graded = !turn.graders.is_empty();
                reply(&turn.expected_output, &graders).or_else(|| (!is_graded).then(MadeUpReply::default))
            };
            let replies: Vec<MadeUpReply> =
                conversation.turns.iter().enumerate().map(of_turn).collect::<Option<_>>()?;
            Some(replies).filter(|replies| replies.iter().any(|reply| !reply.answer.is_empty()))?
        }
        None => {
            let graders: Vec<&Grader> = case.graders.iter().collect();
            let reply = reply(&case.expected_output, &graders);
            is_answer = reply.is_some();
            vec![reply.or_else(|| of_solution(case, &graders))?]
        }
    };
    Some(Reference { result: MadeUpResult::new(replies), is_answer })
}

fn reply(expected_output: &[Message], graders: &[&Grader]) -> Option<MadeUpReply> {
    if expected_output.iter().any(|message| !message.tool_calls.is_empty()) {
        return Some(MadeUpReply { answer: answer(expected_output), messages: expected_output.to_vec() });
    }
    let text = expected_texts::of_reference(expected_output)?;
    Some(MadeUpReply::new(text, expected_calls(graders.iter().copied())))
}

/// The expected outcome of a task as a reply in JSON.
fn of_solution(case: &Case, graders: &[&Grader]) -> Option<MadeUpReply> {
    let ReferenceSolution { expected_outcome, .. } = case.reference_solution.as_ref()?;
    let text = pretty(&Value::Object(expected_outcome.clone()?));
    Some(MadeUpReply::new(text, expected_calls(graders.iter().copied())))
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::json::json;
    use evalsuite_schema::{Content, Conversation, Location, Role, ToolCall, Turn};

    use super::*;

    fn case() -> Case {
        Case::new("c", Location::new("f", 1, 1))
    }

    #[test]
    fn a_reference_with_calls_is_taken_as_it_is() {
        let mut case = case();
        assert_eq!(reference(&case), None);
        case.expected_output.push(Message::empty(Role::Assistant).with_tool_call(ToolCall::new("refund")));
        case.expected_output.push(Message::text(Role::Assistant, "19.90"));
        let reply = &reference(&case).unwrap().result.replies[0];
        assert_eq!((reply.answer.as_str(), &reply.messages), ("19.90", &case.expected_output));
    }

    #[test]
    fn data_is_json() {
        let mut case = case();
        case.expected_output.push(Message::new(Role::Assistant, Content::Data(json!({ "total": 14.2 }))));
        assert_eq!(reference(&case).unwrap().result.replies[0].answer, "{\n  \"total\": 14.2\n}");
    }

    #[test]
    fn a_conversation_needs_a_reference_for_each_turn_that_is_graded() {
        let turn = |expected: Option<&str>| {
            let expected = expected.map(|text| Message::text(Role::Assistant, text));
            Turn::new(Message::text(Role::User, "Hi"), expected.into_iter().collect(), Vec::new())
        };
        let mut case = case();
        case.conversation = Some(Conversation::new(vec![turn(Some("Hello")), turn(None)]));
        let answers: Vec<String> =
            reference(&case).unwrap().result.replies.into_iter().map(|reply| reply.answer).collect();
        assert_eq!(answers, ["Hello", ""]);
        case.conversation = Some(Conversation::new(vec![turn(None)]));
        assert_eq!(reference(&case), None);
    }
}
