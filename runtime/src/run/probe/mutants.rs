//! Mutants: the reference of a case with one thing broken: numbers or the meaning of its answer, the fields of its JSON, or its calls.

use std::ops::Range;

use evalsuite_schema::json::{Number, from_str, to_string_pretty};
use evalsuite_schema::{Content, Message, Object, Role, ToolCall, Value};

use crate::platform::excerpt::{middle_out, trim};
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
const KINDS: &[Breakage] = &[with_other_numbers, negated, broken_fields, broken_calls, cut];

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

/// The reply with its first number changed, and with its last one.
fn with_other_numbers(reply: &MadeUpReply) -> Vec<Broken> {
    let answer = &reply.answer;
    let numbers = numbers(answer);
    let first = numbers.first();
    let last = numbers.last().filter(|last| Some(*last) != first);
    let change = |range: &Range<usize>| {
        let (old, new) = (&answer[range.clone()], changed(&answer[range.clone()]));
        let text = format!("{}{new}{}", &answer[..range.start], &answer[range.end..]);
        with_answer(reply, text, format!("{} became {}", shown(old), shown(&new)))
    };
    first.into_iter().chain(last).map(change).collect()
}

/// Where numbers are: digits, with a dot or comma between them.
fn numbers(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut numbers = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let start = at;
        let digit = |index: usize| bytes.get(index).is_some_and(u8::is_ascii_digit);
        while digit(at) || matches!(bytes.get(at), Some(b'.' | b',')) && digit(at + 1) {
            at += 1;
        }
        numbers.push(start..at);
    }
    numbers
}

/// Another number of the same form, so far away that no tolerance covers it: half as much again.
fn changed(number: &str) -> String {
    let end = number.find(['.', ',']).unwrap_or(number.len());
    let (whole, rest) = number.split_at(end);
    let width = whole.len();
    match whole.parse::<u64>() {
        Ok(value) if width < 16 => format!("{:0width$}{rest}", value + (value / 2).max(1)),
        _ => {
            // An identifier: its last digit.
            let (start, last) = whole.split_at(width - 1);
            format!("{start}{}{rest}", if last == "9" { "1" } else { "9" })
        }
    }
}

/// Negations, and what is in their place without them.
const NEGATIONS: &[(&str, &str)] = &[
    (" cannot ", " can "),
    (" can't ", " can "),
    (" won't ", " will "),
    ("n't ", " "),
    (" not ", " "),
    (" never ", " always "),
    (" no ", " a "),
    (" without ", " with "),
];

/// Words after which a negation fits.
const VERBS: &[&str] = &["is", "are", "was", "were", "will", "can", "has", "have", "does", "do", "should", "must"];

/// The text with the opposite meaning. JSON has fields instead.
fn negated(reply: &MadeUpReply) -> Vec<Broken> {
    let answer = &reply.answer;
    let start = trim(answer);
    if start.starts_with(['{', '[']) || !start.contains(|character: char| character.is_alphabetic()) {
        return Vec::new();
    }
    for (negation, without) in NEGATIONS {
        if answer.contains(negation) {
            let text = answer.replacen(negation, without, 1);
            return vec![with_answer(reply, text, format!("{} was taken out", shown(negation.trim())))];
        }
    }
    let after_verb = VERBS.iter().filter_map(|verb| {
        let verb = format!(" {verb} ");
        answer.find(&verb).map(|at| at + verb.len())
    });
    let text = match after_verb.min() {
        Some(at) => format!("{}not {}", &answer[..at], &answer[at..]),
        None => format!("not {answer}"),
    };
    vec![with_answer(reply, text, format!("{} was added", shown("not")))]
}

/// The reply without its first call, without its last one, with the first one twice, and with another argument.
fn broken_calls(reply: &MadeUpReply) -> Vec<Broken> {
    let calls_of = |(index, said): (usize, &Message)| (0..said.tool_calls.len()).map(move |call| (index, call));
    let places: Vec<(usize, usize)> = reply.messages.iter().enumerate().flat_map(calls_of).collect();
    let call = |(message, call): (usize, usize)| &reply.messages[message].tool_calls[call];
    let change = |(message, call): (usize, usize), change: &dyn Fn(&mut Vec<ToolCall>, usize), detail: String| {
        let mut reply = reply.clone();
        change(&mut reply.messages[message].tool_calls, call);
        Broken { detail, reply }
    };
    let mut found = Vec::new();
    let first = places.first().copied();
    let last = places.last().copied().filter(|last| Some(*last) != first);
    for place in first.into_iter().chain(last) {
        let detail = format!("the call of {} is missing", shown(&call(place).tool));
        found.push(change(place, &|calls, index| drop(calls.remove(index)), detail));
    }
    if let Some(place) = first {
        let detail = format!("the call of {} was made twice", shown(&call(place).tool));
        found.push(change(place, &|calls, index| calls.insert(index, calls[index].clone()), detail));
    }
    let with_argument = places.iter().find_map(|place| Some((*place, first_argument(call(*place))?)));
    if let Some((place, name)) = with_argument {
        let detail = format!("the argument {} of {} was changed", shown(&name), shown(&call(place).tool));
        found.push(change(place, &|calls, index| change_argument(&mut calls[index], &name), detail));
    }
    found
}

fn first_argument(call: &ToolCall) -> Option<String> {
    call.input.as_ref()?.as_object()?.keys().next().cloned()
}

fn change_argument(call: &mut ToolCall, name: &str) {
    let Some(value) = call.input.as_mut().and_then(|input| input.get_mut(name)) else { return };
    *value = match value {
        Value::Number(number) => {
            Value::Number(Number::from(number.as_i64().map_or(0, |number| number.wrapping_add(1))))
        }
        Value::Bool(value) => Value::Bool(!*value),
        Value::String(text) => Value::String(format!("not {text}")),
        Value::Null | Value::Array(_) | Value::Object(_) => Value::String("something else".to_owned()),
    };
}

/// The document without its first and without its last field, with another name for the first one, and with a value that is turned.
fn broken_fields(reply: &MadeUpReply) -> Vec<Broken> {
    let Ok(Value::Object(document)) = from_str::<Value>(&reply.answer) else { return Vec::new() };
    let mut found = Vec::new();
    let mut add = |document: Object, detail: String| {
        // A document of this program is JSON.
        let text = to_string_pretty(&Value::Object(document)).unwrap_or_default();
        found.push(with_answer(reply, text, detail));
    };
    let (first, last) = (document.keys().next(), document.keys().next_back());
    for name in first.into_iter().chain(last.filter(|last| Some(*last) != first)) {
        let mut rest = document.clone();
        rest.remove(name);
        add(rest, format!("the field {} was dropped", shown(name)));
    }
    if let Some(name) = first {
        let renamed = document.iter().map(|(key, value)| {
            let key = if key == name { format!("{key}_") } else { key.clone() };
            (key, value.clone())
        });
        add(renamed.collect(), format!("the field {} was renamed", shown(name)));
    }
    let mut turned = document.clone();
    let found_boolean = turned.iter_mut().find_map(|(name, value)| Some((name.clone(), turn(value)?)));
    if let Some((name, became)) = found_boolean {
        add(turned, format!("the field {} became {became}", shown(&name)));
    }
    found
}

/// Turns the first boolean in a value; returns what it became.
fn turn(value: &mut Value) -> Option<bool> {
    match value {
        Value::Bool(value) => {
            *value = !*value;
            Some(*value)
        }
        Value::Array(items) => items.iter_mut().find_map(turn),
        Value::Object(object) => object.values_mut().find_map(turn),
        _ => None,
    }
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

    #[test]
    fn numbers_keep_their_form() {
        for (old, new) in [
            ("0", "1"),
            ("07", "10"),
            ("19.90", "28.90"),
            ("1,000", "2,000"),
            ("2026", "3039"),
            ("123456789012345678", "123456789012345679"),
        ] {
            assert_eq!(changed(old), new);
        }
        let text = "a1b 19,90. 3";
        let found: Vec<&str> = numbers(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, ["1", "19,90", "3"]);
    }

    fn text(answer: &str) -> Option<String> {
        negated(&MadeUpReply::new(answer, Vec::new())).pop().map(|broken| broken.reply.answer)
    }

    #[test]
    fn the_meaning_is_turned() {
        assert_eq!(text("The order is late.").as_deref(), Some("The order is not late."));
        assert_eq!(text("It has not arrived.").as_deref(), Some("It has arrived."));
        assert_eq!(text("We don't ship there.").as_deref(), Some("We do ship there."));
        assert_eq!(text("approved").as_deref(), Some("not approved"));
        assert_eq!(text("42"), None);
        assert_eq!(text("{\"a\": \"is b\"}"), None);
    }

    #[test]
    fn one_call_differs() {
        let calls = vec![ToolCall::new("a").with_input(json!({ "path": "x" })), ToolCall::new("b")];
        let shown: Vec<String> = broken_calls(&MadeUpReply::new("", calls))
            .into_iter()
            .map(|broken| {
                let calls = broken.reply.messages.iter().flat_map(|message| &message.tool_calls);
                calls
                    .map(|call| call.tool.clone() + &call.input.as_ref().map(Value::to_string).unwrap_or_default())
                    .collect::<Vec<_>>()
                    .join(" ")
            })
            .collect();
        assert_eq!(shown, ["b", r#"a{"path":"x"}"#, r#"a{"path":"x"} a{"path":"x"} b"#, r#"a{"path":"not x"} b"#]);
    }

    #[test]
    fn fields_are_dropped_renamed_and_turned() {
        let reply = MadeUpReply::new(r#"{"a": 1, "b": [{"c": false}]}"#, Vec::new());
        let documents: Vec<String> = broken_fields(&reply)
            .into_iter()
            .map(|broken| from_str::<Value>(&broken.reply.answer).unwrap().to_string())
            .collect();
        assert_eq!(
            documents,
            [r#"{"b":[{"c":false}]}"#, r#"{"a":1}"#, r#"{"a_":1,"b":[{"c":false}]}"#, r#"{"a":1,"b":[{"c":true}]}"#]
        );
        assert!(broken_fields(&MadeUpReply::new("[1]", Vec::new())).is_empty());
    }
}
