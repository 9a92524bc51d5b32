//! The judgement in a reply: a score, a checklist, or scores of criteria.

use evalsuite_records::record::Assertion;
use evalsuite_schema::json::from_str_with_unique_keys;
use evalsuite_schema::{Object, Value};

use crate::judge::contradiction::{self, ReplyDefect, SATISFIED};
use crate::judge::prompt_texts::{MOST_ASSERTIONS, ReplyShape};
use crate::model::judge::InvalidReply;
use crate::model::judge::reply::answer_of;
use crate::model::messages::outer_object;
use crate::model::score::Score;

/// A reply that has the shape asked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Judgement {
    /// A score, or the reason why the judge is undecided.
    Score(Score),
    Criteria {
        checks: Vec<Check>,
        reasoning: Option<String>,
    },
}

/// What a judge says about one criterion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) id: String,
    /// 0 to 10; in a checklist 10 if the criterion is satisfied, else 0.
    pub(crate) score: u8,
    pub(crate) reasoning: Option<String>,
}

/// Reads a reply.
pub(crate) fn read(shape: ReplyShape, reply: &str) -> Result<Judgement, ReplyDefect> {
    let object = match shape {
        ReplyShape::FreeForm => decided(reply, "score", with_plain_passed)?,
        ReplyShape::Checklist | ReplyShape::Ranges => decided(reply, "checks", str::to_owned)?,
    };
    let mut object = match object {
        Ok(object) => object,
        Err(reason) => return Ok(Judgement::Score(Score::undecided(reason))),
    };
    if shape == ReplyShape::FreeForm {
        return free_form(object).map(Judgement::Score);
    }
    let is_checklist = shape == ReplyShape::Checklist;
    let list = object.remove("checks").ok_or("the reply has no `checks`")?;
    let checks = entries("checks", list, |mut entry| {
        let contradiction = contradiction::of_check(&entry);
        let id = text_of(&mut entry, "id")?.ok_or("has no `id`")?;
        let score = match is_checklist {
            true => u8::from(bool_of(&mut entry, "satisfied")?) * SATISFIED,
            false => score_of(&mut entry)?,
        };
        let reasoning = text_of(&mut entry, "reasoning")?;
        if is_checklist && reasoning.is_none() {
            return Err("has no `reasoning`".into());
        }
        match contradiction {
            None => Ok(Check { id, score, reasoning }),
            Some(what) => Err(ReplyDefect::Contradiction(what)),
        }
    })?;
    let reasoning = text_of(&mut object, "overall_reasoning")?;
    if is_checklist && reasoning.is_none() {
        return Err("the reply has no `overall_reasoning`".into());
    }
    Ok(Judgement::Criteria { checks, reasoning })
}

/// The last object of a reply that has the key `asked`, or the reason why the judge is undecided. `plain` makes JSON of what is almost
/// JSON. An object without the key is something else; after one that cannot be read, none of the objects before it counts.
pub(crate) fn decided(
    reply: &str,
    asked: &str,
    plain: impl Fn(&str) -> String,
) -> Result<Result<Object, String>, InvalidReply> {
    let is_asked_for = |object: &Object| Ok(is_undecided(object)? || object.contains_key(asked));
    let mut object = last_object(reply, is_asked_for, plain)?;
    if !is_undecided(&object)? {
        return Ok(Ok(object));
    }
    Ok(Err(match object.remove("reason") {
        Some(Value::String(reason)) if !reason.trim().is_empty() => reason,
        _ => "the judge could not decide".to_owned(),
    }))
}

/// The last object of a reply that is the one asked for, else its last object.
pub(crate) fn last_object(
    reply: &str,
    is_asked_for: impl Fn(&Object) -> Result<bool, InvalidReply>,
    plain: impl Fn(&str) -> String,
) -> Result<Object, InvalidReply> {
    let answer = answer_of(reply)?;
    let mut last = None;
    for text in answer.objects.iter().rev() {
        let object = object_in(&plain(text))?;
        if is_asked_for(&object)? {
            return Ok(object);
        }
        last.get_or_insert(object);
    }
    last.map_or_else(|| object_in(outer_object(answer.text)), Ok)
}

/// Whether the judge says that it does not decide. What it does not say clearly is neither: a judgement beside it could be a default.
fn is_undecided(object: &Object) -> Result<bool, InvalidReply> {
    match object.get("undecided") {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(undecided)) => Ok(*undecided),
        Some(Value::String(word)) if word.eq_ignore_ascii_case("true") => Ok(true),
        Some(Value::String(word)) if word.eq_ignore_ascii_case("false") => Ok(false),
        Some(other) => Err(format!("`undecided` is {other}, not true or false").into()),
    }
}

/// The object that a text is. A list of one object is this object.
fn object_in(text: &str) -> Result<Object, InvalidReply> {
    let value: Value = from_str_with_unique_keys(text).map_err(|error| format!("the reply is not JSON: {error}"))?;
    match value {
        Value::Object(object) => Ok(object),
        Value::Array(list) => match <[Value; 1]>::try_from(list) {
            Ok([Value::Object(object)]) => Ok(object),
            _ => Err("the reply is a list, not a JSON object".into()),
        },
        other => Err(format!("the reply is {}, not a JSON object", kind(&other)).into()),
    }
}

fn free_form(mut object: Object) -> Result<Score, ReplyDefect> {
    let value = object.remove("score").ok_or("the reply has no `score`")?;
    let score = value.as_f64().filter(|score| (0.0..=1.0).contains(score));
    let score = score.ok_or_else(|| format!("`score` is {value}, not a number from 0 to 1"))?;
    let assertions = object.remove("assertions").map(|list| entries("assertions", list, assertion)).transpose()?;
    let mut assertions = assertions.unwrap_or_default();
    let details = match object.remove("details") {
        None => Object::new(),
        Some(Value::Object(details)) => details,
        Some(other) => return Err(format!("`details` is {}, not an object", kind(&other)).into()),
    };
    if let Some(what) = contradiction::of_score(score, &assertions, &object) {
        return Err(ReplyDefect::Contradiction(what));
    }
    assertions.truncate(MOST_ASSERTIONS);
    Ok(Score { assertions, details, ..Score::new(score) })
}

fn assertion(mut entry: Object) -> Result<Assertion, ReplyDefect> {
    let text = text_of(&mut entry, "text")?.ok_or("has no `text`")?;
    let mut assertion = Assertion::new(text, bool_of(&mut entry, "passed")?);
    assertion.evidence = text_of(&mut entry, "evidence")?;
    Ok(assertion)
}

/// Reads the objects of a list; what is wrong begins with the index of its object.
fn entries<T>(key: &str, list: Value, read: impl Fn(Object) -> Result<T, ReplyDefect>) -> Result<Vec<T>, ReplyDefect> {
    let Value::Array(entries) = list else { return Err(format!("`{key}` is {}, not a list", kind(&list)).into()) };
    let read = |entry| match entry {
        Value::Object(entry) => read(entry),
        other => Err(format!("is {}, not an object", kind(&other)).into()),
    };
    let numbered = entries.into_iter().enumerate();
    let read = numbered.map(|(index, entry)| read(entry).map_err(|defect| (index, defect)));
    read.collect::<Result<_, _>>().map_err(|(index, defect)| match defect {
        ReplyDefect::Unreadable(problem) => format!("`{key}[{index}]` {problem}").into(),
        ReplyDefect::Contradiction(what) => ReplyDefect::Contradiction(format!("`{key}[{index}]` {what}")),
    })
}

fn score_of(check: &mut Object) -> Result<u8, InvalidReply> {
    let value = check.remove("score").ok_or("has no `score`")?;
    // Some models write 8.0.
    let number = value.as_f64().filter(|number| number.fract() == 0.0 && (0.0..=10.0).contains(number));
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an integer from 0 to 10")]
    let score = number.map(|number| number as u8);
    Ok(score.ok_or_else(|| format!("has the `score` {value}, not an integer from 0 to 10"))?)
}

pub(crate) fn bool_of(object: &mut Object, key: &str) -> Result<bool, InvalidReply> {
    match object.remove(key) {
        None => Err(format!("has no `{key}`").into()),
        Some(Value::Bool(value)) => Ok(value),
        Some(other) => Err(format!("has the `{key}` {other}, not true or false").into()),
    }
}

pub(crate) fn text_of(object: &mut Object, key: &str) -> Result<Option<String>, InvalidReply> {
    match object.remove(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(format!("has {} as `{key}`, not a text", kind(&other)).into()),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The document with the values of `passed` that are texts or one bare word as `true` or `false`: true if it reads `true`
/// in upper or lower case, else false. An empty text says neither.
pub(crate) fn with_plain_passed(document: &str) -> String {
    let mut result = String::with_capacity(document.len());
    let mut rest = document;
    while let Some(start) = rest.find('"') {
        let end = start + string_length(&rest[start..]);
        let (before, behind) = rest.split_at(end);
        result.push_str(before);
        rest = behind;
        if &before[start..] != "\"passed\"" {
            continue;
        }
        let Some(value) = behind.trim_start().strip_prefix(':').map(str::trim_start) else { continue };
        let length = match value.chars().next() {
            Some('"') if !value.starts_with("\"\"") => string_length(value),
            Some(first) if first.is_ascii_alphabetic() || first == '_' => {
                value.find(|c: char| !c.is_ascii_alphanumeric() && !"_-".contains(c)).unwrap_or(value.len())
            }
            _ => continue,
        };
        let word = value[..length].trim_matches(|c: char| c == '"' || c.is_whitespace());
        let separator = behind.len() - value.len();
        result.push_str(&behind[..separator]);
        result.push_str(if word.eq_ignore_ascii_case("true") { "true" } else { "false" });
        rest = &value[length..];
    }
    result.push_str(rest);
    result
}

/// Bytes of the JSON string that `text` starts with, quotes included; all of it where it does not end.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (index, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return index + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::messages::outer_object;
    use crate::model::score::ScoreState;
    use crate::platform::protocol_schema;

    #[test]
    fn the_examples_of_the_protocol_are_judgements() {
        let read: Vec<Judgement> = protocol_schema::examples("judge-reply")
            .iter()
            .zip([ReplyShape::FreeForm, ReplyShape::Checklist, ReplyShape::Ranges, ReplyShape::FreeForm])
            .map(|(example, shape)| read(shape, &example.to_string()).unwrap())
            .collect();
        assert!(
            matches!(
                read.as_slice(),
                [
                    Judgement::Score(Score { state: ScoreState::Decided(_), .. }),
                    Judgement::Criteria { .. },
                    Judgement::Criteria { .. },
                    Judgement::Score(Score { state: ScoreState::Undecided(_), .. })
                ]
            ),
            "{read:?}"
        );
    }

    fn problem(shape: ReplyShape, reply: &str) -> String {
        match read(shape, reply) {
            Err(ReplyDefect::Unreadable(problem)) => problem.to_string(),
            read => panic!("{reply} was read as {read:?}"),
        }
    }

    #[test]
    fn a_reply_of_the_shape_is_read() {
        let read = |shape, reply| read(shape, reply).unwrap();
        let many: Vec<String> = (0..10).map(|n| format!(r#"{{"text": "t{n}", "passed": true}}"#)).collect();
        let reply = format!(r#"{{"score": 0.85, "assertions": [{}], "extra": 1}}"#, many.join(","));
        let Judgement::Score(score) = read(ReplyShape::FreeForm, &reply) else { panic!() };
        assert_eq!((score.value(), score.assertions.len()), (Some(0.85), 8));
        let reply = r#"{"checks": [{"id": "a", "score": 8.0}], "undecided": false, "reason": null}"#;
        let check = Check { id: "a".into(), score: 8, reasoning: None };
        assert_eq!(read(ReplyShape::Ranges, reply), Judgement::Criteria { checks: vec![check], reasoning: None });
        let satisfied =
            r#"{"id": "a", "satisfied": true, "reasoning": ""}, {"id": "b", "satisfied": false, "reasoning": ""}"#;
        let reply = format!(r#"{{"checks": [{satisfied}], "overall_reasoning": ""}}"#);
        let Judgement::Criteria { checks, .. } = read(ReplyShape::Checklist, &reply) else { panic!() };
        assert_eq!(checks.iter().map(|check| check.score).collect::<Vec<_>>(), [SATISFIED, 0]);
        for shape in [ReplyShape::FreeForm, ReplyShape::Checklist, ReplyShape::Ranges] {
            for reply in [
                r#"{"undecided": true, "reason": "no file"}"#,
                r#"{"undecided": "True", "reason": "no file", "score": 1}"#,
            ] {
                assert_eq!(read(shape, reply), Judgement::Score(Score::undecided("no file")));
            }
        }
    }

    #[test]
    fn whatever_is_not_of_the_shape_is_named() {
        for (shape, reply, part) in [
            (ReplyShape::FreeForm, "", "empty"),
            (ReplyShape::FreeForm, "0.9", "a number"),
            (ReplyShape::FreeForm, "{}", "no `score`"),
            (ReplyShape::FreeForm, r#"{"score": 1.1}"#, "`score` is 1.1"),
            (ReplyShape::FreeForm, r#"{"score": 1e999}"#, "not JSON"),
            (ReplyShape::FreeForm, r#"{"score": 0, "score": 1}"#, "the key `score` twice"),
            (ReplyShape::FreeForm, r#"{"score": 0, "sc\u006fre": 1}"#, "the key `score` twice"),
            (ReplyShape::FreeForm, r#"{"undecided": true, "undecided": false, "score": 1}"#, "`undecided` twice"),
            (
                ReplyShape::FreeForm,
                r#"{"score": 1, "assertions": [{"text": "a", "passed": no, "passed": yes}]}"#,
                "the key `passed` twice",
            ),
            (ReplyShape::FreeForm, r#"{"score": 1, "details": {"a": 1, "a": 2}}"#, "the key `a` twice"),
            (
                ReplyShape::Checklist,
                r#"{"checks": [{"id": "a", "satisfied": false, "satisfied": true, "reasoning": ""}]}"#,
                "the key `satisfied` twice",
            ),
            (ReplyShape::Ranges, r#"{"checks": [], "checks": [{"id": "a", "score": 9}]}"#, "the key `checks` twice"),
            (ReplyShape::FreeForm, r#"{"score": 1, "assertions": [{"text": "a"}]}"#, "`assertions[0]` has no `passed`"),
            (ReplyShape::FreeForm, r#"{"score": 1, "details": []}"#, "`details` is a list"),
            (ReplyShape::FreeForm, r#"{"undecided": "yes", "score": 1}"#, "`undecided` is \"yes\", not true or false"),
            (ReplyShape::FreeForm, r#"{"undecided": 1, "score": 1}"#, "`undecided` is 1, not true or false"),
            (ReplyShape::Checklist, r#"{"checks": []}"#, "no `overall_reasoning`"),
            (
                ReplyShape::Checklist,
                r#"{"checks": [{"id": "a", "satisfied": "true", "reasoning": ""}]}"#,
                "`satisfied`",
            ),
            (ReplyShape::Checklist, r#"{"checks": [{"id": 1, "satisfied": true}]}"#, "a number as `id`"),
            (ReplyShape::Ranges, r#"{"checks": [{"id": "a", "score": 11}]}"#, "11"),
            (ReplyShape::Ranges, r#"{"checks": [{"id": "a", "score": 7.5}]}"#, "7.5"),
            (ReplyShape::Ranges, r#"{"checks": [{"id": "a", "score": "7"}]}"#, "\"7\""),
        ] {
            let problem = problem(shape, reply);
            assert!(problem.contains(part), "{reply}: {problem}");
        }
    }

    #[test]
    fn the_last_object_of_the_shape_after_the_thinking_is_the_judgement() {
        for reply in [
            "<think>{\"score\": 0} or {\"score\": 1}?</think>{\"score\": 0.5}",
            "<Thinking>\nan example: {\"score\": 1\n</Thinking>\n```json\n{\"score\": 0.5}\n```",
            "◁think▷{\"score\": 1}◁/think▷{\"score\": 0.5}",
            "it would be {\"score\": 1} then</think> {\"score\": 0.5}",
            "Let me think {a} of {\"score\": 1} … {\"score\": 0.5}",
            "As asked, {\"score\": a number, …}:\n{\"score\": 0.5}\nDone.",
            "{\"score\": 0.5} {\"tokens\": 12}",
            "{\"undecided\": true} no, {\"score\": 0.5}",
            "[{\"score\": 0.5}]",
            "{\"score\": 0.5, \"assertions\": [{\"text\": \"ends with </think>\", \"passed\": \"True\"}]}",
        ] {
            match read(ReplyShape::FreeForm, reply) {
                Ok(Judgement::Score(score)) => assert_eq!(score.value(), Some(0.5), "{reply}"),
                other => panic!("{reply}: {other:?}"),
            }
        }
        let reply = r#"<think>{"checks": []}</think>{"checks": [{"id": "a", "score": 3}]}"#;
        let check = Check { id: "a".into(), score: 3, reasoning: None };
        let expected = Judgement::Criteria { checks: vec![check], reasoning: None };
        assert_eq!(read(ReplyShape::Ranges, reply), Ok(expected));
    }

    #[test]
    fn nothing_is_read_from_thinking_or_from_within_an_object() {
        for (reply, part) in [
            ("<think>{\"score\": 1}", "ends within its thinking"),
            ("<think>{\"score\": 1}</think>", "ends with its thinking"),
            ("<think>{\"score\": 1}</think> fine", "not JSON"),
            ("{\"score\": 0, \"details\": {\"score\": 1}", "not JSON: EOF"),
            ("{\"score\": 0, \"details\": {\"score\": 1},}", "not JSON: trailing comma"),
            ("{score: 0, details: {\"score\": 1}}", "goes on after its last JSON object"),
            ("{\"score\": 1} {\"score\": 0", "not JSON: EOF"),
            ("{\"score\": 1} {\"score\": 2}", "`score` is 2"),
            ("{\"score\": 1} {\"a\": b}", "not JSON"),
            ("[{\"score\": 0}, {\"score\": 1}]", "a list"),
            ("{\"a\": {\"score\": 1}}", "no `score`"),
        ] {
            let problem = problem(ReplyShape::FreeForm, reply);
            assert!(problem.contains(part), "{reply}: {problem}");
        }
    }

    #[test]
    fn a_judgement_that_its_own_reply_denies_is_a_contradiction() {
        let assertion = |passed: &str| format!(r#"{{"text": "t", "passed": {passed}}}"#);
        let free_form = |score: &str, passed: &[&str]| {
            let assertions: Vec<String> = passed.iter().map(|passed| assertion(passed)).collect();
            format!(r#"{{"score": {score}, "assertions": [{}]}}"#, assertions.join(", "))
        };
        use ReplyShape::{Checklist, FreeForm, Ranges};
        let check = |members: &str| {
            format!(r#"{{"checks": [{{"id": "a", "reasoning": "", {members}}}], "overall_reasoning": ""}}"#)
        };
        let ninth = [["true"; 8].as_slice(), &["false"]].concat();
        for (shape, reply, expected) in [
            (
                FreeForm,
                free_form("1", &["true", "false"]),
                "`score` is 1, but these assertions have not passed: `assertions[1]` (\"t\")",
            ),
            (
                FreeForm,
                free_form("1.0", &ninth),
                "`score` is 1, but these assertions have not passed: `assertions[8]` (\"t\")",
            ),
            (FreeForm, free_form("1", &["\"no\""; 5]), "`assertions[2]` (\"t\") and 2 more"),
            (
                FreeForm,
                free_form("0", &["true", "\"True\""]),
                "`score` is 0, but all assertions have passed: `assertions[0]`",
            ),
            (FreeForm, r#"{"score": 1, "verdict": "FAIL"}"#.into(), "`score` is 1, but `verdict` is \"FAIL\""),
            (FreeForm, r#"{"score": 0, "passed": true}"#.into(), "`score` is 0, but `passed` is true"),
            (Checklist, check(r#""satisfied": true, "score": 0"#), "`checks[0]` has `satisfied` true, but `score` 0"),
            (Ranges, check(r#""satisfied": false, "score": 10"#), "`checks[0]` has `satisfied` false, but `score` 10"),
        ] {
            match read(shape, &reply) {
                Err(ReplyDefect::Contradiction(what)) => assert!(what.contains(expected), "{reply}: {what}"),
                other => panic!("{reply}: {other:?}"),
            }
        }
        for (shape, reply) in [
            (FreeForm, free_form("0.9", &["true", "false"])),
            (FreeForm, free_form("0.999", &["false"])),
            (FreeForm, free_form("0.1", &["true"])),
            (FreeForm, free_form("0", &["true", "false"])),
            (FreeForm, free_form("0", &[])),
            (FreeForm, free_form("1", &["true"])),
            (FreeForm, r#"{"score": 0.5, "verdict": "pass"}"#.into()),
            (FreeForm, r#"{"score": 1, "verdict": "good", "passed": true}"#.into()),
            (Checklist, check(r#""satisfied": true, "score": 7"#)),
            (Checklist, check(r#""satisfied": false, "score": 1"#)),
            (Ranges, check(r#""satisfied": true, "score": 6"#)),
        ] {
            assert!(read(shape, &reply).is_ok(), "{reply}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_reply_is_a_panic(reply in ".*") {
            for shape in [ReplyShape::FreeForm, ReplyShape::Checklist, ReplyShape::Ranges] {
                let _ = read(shape, &reply);
            }
        }
    }

    #[test]
    fn only_values_of_passed_are_forgiven() {
        for (written, read) in [
            (r#"{"passed": "True"}"#, r#"{"passed": true}"#),
            (r#"{"passed":yes, "a": yes}"#, r#"{"passed":false, "a": yes}"#),
            (r#"{"passed": n_a}"#, r#"{"passed": false}"#),
            (r#"{"passed": not-sure}"#, r#"{"passed": false}"#),
            (r#"{"passed": not sure}"#, r#"{"passed": false sure}"#),
            (r#"{"passed": ""}"#, r#"{"passed": ""}"#),
            (r#"{"passed": null}"#, r#"{"passed": false}"#),
            (r#"{"passed": 1}"#, r#"{"passed": 1}"#),
            (r#"{"passed": ["true"]}"#, r#"{"passed": ["true"]}"#),
            (r#"{"text": "\"passed\": maybe"}"#, r#"{"text": "\"passed\": maybe"}"#),
            (r#"{"a": "passed", "b": "ü"}"#, r#"{"a": "passed", "b": "ü"}"#),
            (r#"{"passed": "unfinished"#, r#"{"passed": false"#),
            (r#"{"passed"#, r#"{"passed"#),
            (r#"{"passed":"#, r#"{"passed":"#),
            (r#"{"passed": "say \"true\""}"#, r#"{"passed": false}"#),
        ] {
            assert_eq!(with_plain_passed(written), read, "{written}");
        }
    }

    #[test]
    fn the_document_is_between_the_outer_braces() {
        for (reply, found) in [
            ("Sure!\n```json\n{\"a\": {}}\n```\nbye", "{\"a\": {}}"),
            ("\u{feff}{\"a\":1}", "{\"a\":1}"),
            ("  PASS \n", "PASS"),
            ("} {", "} {"),
            ("", ""),
        ] {
            assert_eq!(outer_object(reply), found);
        }
    }

    proptest::proptest! {
        #[test]
        fn no_reply_breaks_it(reply in ".*") {
            with_plain_passed(outer_object(&reply));
        }

        #[test]
        fn json_without_such_a_key_stays_as_it_is(texts in proptest::collection::vec(".*", 0..4)) {
            let json = evalsuite_schema::json::json!({"a": texts}).to_string();
            assert_eq!(with_plain_passed(&json), json);
        }
    }
}
