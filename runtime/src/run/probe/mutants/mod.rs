//! Mutants: the reference of a case with one thing broken: its answer, the fields of its JSON, or its calls.

mod answer_text;
mod calls;
mod json_fields;

use evalsuite_schema::{Content, Message, Role};

use crate::platform::excerpt::middle_out;
use crate::run::made_up::{MadeUpReply, MadeUpResult};

/// Characters of a value in the description of a mutant.
const SHOWN: usize = 40;

/// A broken reference.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mutant {
    /// What is broken.
    pub(super) detail: String,
    pub(super) result: MadeUpResult,
}

/// A broken reply, and what is broken.
struct Broken {
    detail: String,
    reply: MadeUpReply,
}

type Breakage = fn(&MadeUpReply) -> Vec<Broken>;

/// The kinds of breakage.
const KINDS: &[Breakage] =
    &[answer_text::with_other_numbers, answer_text::negated, json_fields::broken, calls::broken, cut];

/// The mutants of a reference, several per kind of breakage. Each breaks all turns of a conversation that it can: one wrong turn of many
/// may be good enough for the case.
pub(super) fn mutants(reference: &MadeUpResult) -> Vec<Mutant> {
    let mut mutants: Vec<Mutant> = Vec::new();
    for kind in KINDS {
        let mut of_replies: Vec<_> = reference.replies.iter().map(|reply| kind(reply).into_iter()).collect();
        loop {
            let broken: Vec<Option<Broken>> = of_replies.iter_mut().map(Iterator::next).collect();
            let Some(detail) = broken.iter().flatten().next().map(|broken| broken.detail.clone()) else { break };
            let of_turn = |(broken, reply): (Option<Broken>, &MadeUpReply)| {
                broken.map_or_else(|| reply.clone(), |broken| broken.reply)
            };
            let replies = broken.into_iter().zip(&reference.replies).map(of_turn).collect();
            let mutant = Mutant { detail, result: MadeUpResult::new(replies) };
            let is_new = mutant.result != *reference && mutants.iter().all(|other| other.result != mutant.result);
            mutants.extend(is_new.then_some(mutant));
        }
    }
    mutants
}

/// The reply with another answer.
fn with_answer(reply: &MadeUpReply, answer: String, detail: String) -> Broken {
    let mut reply = reply.clone();
    let has_content = |message: &&mut Message| message.role == Role::Assistant && message.content.is_some();
    match reply.messages.iter_mut().rev().find(has_content) {
        Some(message) => message.content = Some(Content::Text(answer.clone())),
        None => reply.messages.push(Message::text(Role::Assistant, answer.clone())),
    }
    reply.answer = answer;
    Broken { detail, reply }
}

/// A value as the description of a mutant shows it.
fn shown(text: &str) -> String {
    format!("`{}`", middle_out(text, SHOWN).replace(['\n', '\r', '`'], " "))
}

/// Fewest characters of an answer that has a half.
const FEWEST: usize = 4;

/// The reply without the second half of its answer.
fn cut(reply: &MadeUpReply) -> Vec<Broken> {
    let count = reply.answer.chars().count();
    if count < FEWEST {
        return Vec::new();
    }
    let half: String = reply.answer.chars().take(count / 2).collect();
    vec![with_answer(reply, half, "the second half was cut".to_owned())]
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::ToolCall;
    use evalsuite_schema::json::json;

    use super::*;

    fn details(replies: Vec<MadeUpReply>) -> Vec<String> {
        mutants(&MadeUpResult::new(replies)).into_iter().map(|mutant| mutant.detail).collect()
    }

    #[test]
    fn what_is_broken_depends_on_the_reference() {
        let text = MadeUpReply::new("The refund of 19.90 is on its way, by 3 May.", Vec::new());
        assert_eq!(
            details(vec![text]),
            ["`19.90` became `28.90`", "`3` became `4`", "`not` was added", "the second half was cut"]
        );
        let json = MadeUpReply::new(r#"{"paid": true, "to": "Ana"}"#, Vec::new());
        assert_eq!(
            details(vec![json]),
            [
                "the field `paid` was dropped",
                "the field `to` was dropped",
                "the field `paid` was renamed",
                "the field `paid` became false",
                "the second half was cut"
            ]
        );
        let calls = ["find", "refund"].map(|tool| ToolCall::new(tool).with_input(json!({ "id": 1182 }))).to_vec();
        assert_eq!(
            details(vec![MadeUpReply::new("", calls)]),
            [
                "the call of `find` is missing",
                "the call of `refund` is missing",
                "the call of `find` was made twice",
                "the argument `id` of `find` was changed"
            ]
        );
        assert_eq!(details(vec![MadeUpReply::default()]), [""; 0]);
    }

    #[test]
    fn all_turns_of_a_conversation_are_broken() {
        let replies = ["1 apple", "Hello", "2 pears"].map(|text| MadeUpReply::new(text, Vec::new())).to_vec();
        let reference = MadeUpResult::new(replies);
        let first = &mutants(&reference)[0].result;
        let answers: Vec<&str> = first.replies.iter().map(|reply| reply.answer.as_str()).collect();
        assert_eq!(answers, ["2 apple", "Hello", "3 pears"]);
        assert_eq!(first.replies[0].messages[0].content, Some(Content::Text("2 apple".into())));
    }
}
