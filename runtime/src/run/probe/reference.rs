//! The reference of a case as a result of an agent, and the texts and calls that its graders look for.

use evalsuite_schema::{Case, Grader, GraderConfig, Message, Object, ReferenceSolution, ToolCall, Turn, Value};

use crate::grade::to_probes::probed;
use crate::model::messages::{answer, pretty, reference_text};
use crate::run::made_up::{MadeUpReply, MadeUpResult};

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
        let messages = expected_output.to_vec();
        return Some(MadeUpReply { answer: answer(&messages), messages, reported: None });
    }
    let text = of_reference(expected_output)?;
    Some(MadeUpReply::new(text, expected_calls(graders.iter().copied())))
}

/// The expected outcome of a task as a reply in JSON.
fn of_solution(case: &Case, graders: &[&Grader]) -> Option<MadeUpReply> {
    let ReferenceSolution { expected_outcome, .. } = case.reference_solution.as_ref()?;
    let text = pretty(&Value::Object(expected_outcome.clone()?));
    Some(MadeUpReply::new(text, expected_calls(graders.iter().copied())))
}

/// Most texts of one grader in Rust.
const MOST_OF_CONFIG: usize = 32;

/// Texts in the order of the answer that lists them: what it has to start with, the others, what it has to end with.
#[derive(Debug, Default)]
pub(super) struct ExpectedTexts {
    starts: Vec<String>,
    middle: Vec<String>,
    ends: Vec<String>,
}

impl ExpectedTexts {
    pub(super) fn of<'g>(graders: impl IntoIterator<Item = &'g Grader>, reference: Option<&str>) -> Self {
        let mut texts = Self::default();
        for grader in graders.into_iter().flat_map(Grader::with_members) {
            match &grader.config {
                GraderConfig::StartsWith(config) => texts.starts.push(config.value.clone()),
                GraderConfig::EndsWith(config) => texts.ends.push(config.value.clone()),
                _ => texts.middle.extend(of_grader(grader)),
            }
        }
        texts.middle.extend(reference.map(str::to_owned));
        texts
    }

    /// Every text once, each followed by its opposite.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        let mut add = |line: String| {
            if !line.trim().is_empty() && !lines.contains(&line) {
                lines.push(line);
            }
        };
        self.starts.iter().for_each(|text| add(text.clone()));
        for text in self.starts.iter().chain(&self.middle).chain(&self.ends) {
            add(text.clone());
            add(opposite(text));
        }
        // Once more, since the answer has to end with it.
        lines.extend(self.ends.iter().cloned());
        lines
    }
}

/// The texts that a grader itself looks for, or forbids.
pub(super) fn of_grader(grader: &Grader) -> Vec<String> {
    match &grader.config {
        GraderConfig::User { config, .. } => leaves(config).take(MOST_OF_CONFIG).collect(),
        config => {
            let written = config.settings().texts().into_iter().map(str::to_owned);
            written.chain(probed(config).texts()).collect()
        }
    }
}

/// The text of a reference.
pub(super) fn of_reference(expected_output: &[Message]) -> Option<String> {
    reference_text(expected_output).filter(|text| !text.trim().is_empty())
}

/// Texts and numbers in an object, such as the settings of a grader.
pub(super) fn leaves(config: &Object) -> impl Iterator<Item = String> {
    let mut waiting: Vec<&Value> = config.values().rev().collect();
    std::iter::from_fn(move || {
        loop {
            match waiting.pop()? {
                Value::String(text) => return Some(text.clone()),
                Value::Number(number) => return Some(number.to_string()),
                Value::Array(items) => waiting.extend(items.iter().rev()),
                Value::Object(object) => waiting.extend(object.values().rev()),
                Value::Null | Value::Bool(_) => {}
            }
        }
    })
}

/// Words with an opposite of their own.
const OPPOSITES: &[(&str, &str)] = &[
    ("yes", "no"),
    ("true", "false"),
    ("pass", "fail"),
    ("passed", "failed"),
    ("positive", "negative"),
    ("approved", "rejected"),
    ("accept", "reject"),
    ("valid", "invalid"),
    ("success", "failure"),
];

fn opposite(text: &str) -> String {
    let folded = text.to_lowercase();
    let of_word = OPPOSITES.iter().find_map(|(one, other)| match folded.as_str() {
        word if word == *one => Some(*other),
        word if word == *other => Some(*one),
        _ => None,
    });
    of_word.map_or_else(|| format!("not {text}"), str::to_owned)
}

/// The calls that graders ask for, in order.
pub(super) fn expected_calls<'g>(graders: impl IntoIterator<Item = &'g Grader>) -> Vec<ToolCall> {
    let mut calls = Vec::new();
    // What a negated grader asks for has to be absent.
    for grader in graders.into_iter().filter(|grader| !grader.negate) {
        let expected = match grader.config.settings().members() {
            [] => probed(&grader.config).expected_calls(),
            members => expected_calls(members),
        };
        add_missing(&mut calls, expected);
    }
    calls
}

/// Adds the calls that are not among the others.
fn add_missing(calls: &mut Vec<ToolCall>, more: Vec<ToolCall>) {
    let mut unused: Vec<ToolCall> = calls.clone();
    for call in more {
        let same = unused.iter().position(|other| {
            other.tool == call.tool && (call.input.is_none() || other.input.is_none() || other.input == call.input)
        });
        match same {
            Some(index) => drop(unused.remove(index)),
            None => calls.push(call),
        }
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::grader::TextValue;
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

    #[test]
    fn the_lines_start_and_end_as_graders_expect() {
        let grader = |config| Grader::new("g", Location::new("f", 1, 1), config);
        let text = |value: &str| TextValue { value: value.to_owned() };
        let graders = [
            grader(GraderConfig::EndsWith(text("Your shop"))),
            grader(GraderConfig::StartsWith(text("Dear"))),
            grader(GraderConfig::Contains(text("yes"))),
        ];
        let lines = ExpectedTexts::of(&graders, Some("19.90")).lines();
        assert_eq!(
            lines,
            ["Dear", "not Dear", "yes", "no", "19.90", "not 19.90", "Your shop", "not Your shop", "Your shop"]
        );
    }

    #[test]
    fn the_settings_of_a_grader_in_rust_have_texts() {
        let Value::Object(config) = json!({ "substrings": ["14:30", { "room": 3 }], "strict": true }) else {
            panic!("an object")
        };
        let user = GraderConfig::User { grader: "must_contain".into(), config };
        let texts = of_grader(&Grader::new("g", Location::new("f", 1, 1), user));
        assert_eq!(texts, ["14:30", "3"]);
    }
}
