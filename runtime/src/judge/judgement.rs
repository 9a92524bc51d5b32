//! The judgement in a reply: a score, a checklist, or scores of criteria.

use evalsuite_records::record::Assertion;
use evalsuite_schema::{Object, Value};

use crate::judge::lenient_json::with_plain_passed;
use crate::judge::reply_shape::{MOST_ASSERTIONS, ReplyShape};
use crate::model::judge::InvalidReply;
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

/// The score of a criterion that is satisfied.
pub(crate) const SATISFIED: u8 = 10;

/// Reads a reply.
pub(crate) fn read(shape: ReplyShape, reply: &str) -> Result<Judgement, InvalidReply> {
    let document = outer_object(reply);
    let text = match shape {
        ReplyShape::FreeForm => with_plain_passed(document),
        ReplyShape::Checklist | ReplyShape::Ranges => document.to_owned(),
    };
    let mut object = match decided(&text)? {
        Ok(object) => object,
        Err(reason) => return Ok(Judgement::Score(Score::undecided(reason))),
    };
    if shape == ReplyShape::FreeForm {
        return free_form(object).map(Judgement::Score);
    }
    let is_checklist = shape == ReplyShape::Checklist;
    let list = object.remove("checks").ok_or("the reply has no `checks`")?;
    let checks = entries("checks", list, |mut entry| {
        let id = text_of(&mut entry, "id")?.ok_or("has no `id`")?;
        let score = match is_checklist {
            true => u8::from(bool_of(&mut entry, "satisfied")?) * SATISFIED,
            false => score_of(&mut entry)?,
        };
        let reasoning = text_of(&mut entry, "reasoning")?;
        if is_checklist && reasoning.is_none() {
            return Err("has no `reasoning`".into());
        }
        Ok(Check { id, score, reasoning })
    })?;
    let reasoning = text_of(&mut object, "overall_reasoning")?;
    if is_checklist && reasoning.is_none() {
        return Err("the reply has no `overall_reasoning`".into());
    }
    Ok(Judgement::Criteria { checks, reasoning })
}

/// The object that a reply is, or the reason why the judge is undecided.
pub(crate) fn decided(document: &str) -> Result<Result<Object, String>, InvalidReply> {
    if document.is_empty() {
        return Err("the reply is empty".into());
    }
    let value: Value =
        evalsuite_schema::json::from_str(document).map_err(|error| format!("the reply is not JSON: {error}"))?;
    let Value::Object(mut object) = value else {
        return Err(format!("the reply is {}, not a JSON object", kind(&value)).into());
    };
    if object.get("undecided") != Some(&Value::Bool(true)) {
        return Ok(Ok(object));
    }
    Ok(Err(match object.remove("reason") {
        Some(Value::String(reason)) if !reason.trim().is_empty() => reason,
        _ => "the judge could not decide".to_owned(),
    }))
}

fn free_form(mut object: Object) -> Result<Score, InvalidReply> {
    let value = object.remove("score").ok_or("the reply has no `score`")?;
    let score = value.as_f64().filter(|score| (0.0..=1.0).contains(score));
    let score = score.ok_or_else(|| format!("`score` is {value}, not a number from 0 to 1"))?;
    let assertions = object.remove("assertions").map(|list| entries("assertions", list, assertion)).transpose()?;
    let mut assertions = assertions.unwrap_or_default();
    assertions.truncate(MOST_ASSERTIONS);
    let details = match object.remove("details") {
        None => Object::new(),
        Some(Value::Object(details)) => details,
        Some(other) => return Err(format!("`details` is {}, not an object", kind(&other)).into()),
    };
    Ok(Score { assertions, details, ..Score::new(score) })
}

fn assertion(mut entry: Object) -> Result<Assertion, InvalidReply> {
    let text = text_of(&mut entry, "text")?.ok_or("has no `text`")?;
    let mut assertion = Assertion::new(text, bool_of(&mut entry, "passed")?);
    assertion.evidence = text_of(&mut entry, "evidence")?;
    Ok(assertion)
}

/// Reads the objects of a list; an error begins with the index of its object.
fn entries<T>(
    key: &str,
    list: Value,
    read: impl Fn(Object) -> Result<T, InvalidReply>,
) -> Result<Vec<T>, InvalidReply> {
    let Value::Array(entries) = list else { return Err(format!("`{key}` is {}, not a list", kind(&list)).into()) };
    let read = |entry| match entry {
        Value::Object(entry) => read(entry),
        other => Err(format!("is {}, not an object", kind(&other)).into()),
    };
    let numbered = entries.into_iter().enumerate();
    numbered.map(|(index, entry)| read(entry).map_err(|problem| format!("`{key}[{index}]` {problem}").into())).collect()
}

fn score_of(check: &mut Object) -> Result<u8, InvalidReply> {
    let value = check.remove("score").ok_or("has no `score`")?;
    // Some models write 8.0.
    let number = value.as_f64().filter(|number| number.fract() == 0.0 && (0.0..=10.0).contains(number));
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an integer from 0 to 10")]
    let score = number.map(|number| number as u8);
    Ok(score.ok_or_else(|| format!("has the `score` {value}, not an integer from 0 to 10"))?)
}

fn bool_of(object: &mut Object, key: &str) -> Result<bool, InvalidReply> {
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

#[cfg(test)]
mod tests {
    use super::*;
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
            Err(problem) => problem.to_string(),
            Ok(read) => panic!("{reply} was read as {read:?}"),
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
            let reply = r#"{"undecided": true, "reason": "no file"}"#;
            assert_eq!(read(shape, reply), Judgement::Score(Score::undecided("no file")));
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
            (ReplyShape::FreeForm, r#"{"score": 1, "assertions": [{"text": "a"}]}"#, "`assertions[0]` has no `passed`"),
            (ReplyShape::FreeForm, r#"{"score": 1, "details": []}"#, "`details` is a list"),
            (ReplyShape::FreeForm, r#"{"undecided": "true"}"#, "no `score`"),
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

    proptest::proptest! {
        #[test]
        fn no_reply_is_a_panic(reply in ".*") {
            for shape in [ReplyShape::FreeForm, ReplyShape::Checklist, ReplyShape::Ranges] {
                let _ = read(shape, &reply);
            }
        }
    }
}
