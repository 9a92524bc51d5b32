//! The texts of prompts, one file each; the form of the reply that they request, and its JSON Schema for services that can enforce one.

use evalsuite_schema::grader::Criterion;
use evalsuite_schema::json::{Value, json};
use evalsuite_schema::placeholder::Syntax;

use crate::model::judge::fenced;

macro_rules! contract {
    ($file:literal) => {
        concat!(
            include_str!($file),
            include_str!("../model/judge/untrusted.txt"),
            include_str!("prompts/undecided.txt"),
            include_str!("prompts/one_object.txt")
        )
    };
}

impl ReplyShape {
    /// The system prompt, which says what the reply has to look like.
    pub(crate) fn system(self) -> &'static str {
        match self {
            Self::FreeForm => contract!("prompts/free_form.system.txt"),
            Self::Checklist => contract!("prompts/checklist.system.txt"),
            Self::Ranges => contract!("prompts/ranges.system.txt"),
        }
    }

    /// The beginning of the built-in user prompt.
    pub(crate) fn introduction(self) -> &'static str {
        match self {
            Self::FreeForm => include_str!("prompts/free_form.user.txt"),
            Self::Checklist => include_str!("prompts/checklist.user.txt"),
            Self::Ranges => include_str!("prompts/ranges.user.txt"),
        }
    }
}

/// Says what a reply to the question looks like which of two answers is better.
pub(crate) const PREFERENCE_SYSTEM: &str = contract!("prompts/preference.system.txt");

/// Asks which of two answers is better.
pub(crate) const PREFERENCE: &str = include_str!("prompts/preference.user.txt");

/// Says what a simulated user is, and what its reply looks like.
#[cfg(feature = "users")]
pub(crate) const USER_TURN_SYSTEM: &str =
    concat!(include_str!("prompts/user_turn.system.txt"), include_str!("prompts/one_object.txt"));

/// Asks for the next turn of a simulated user.
#[cfg(feature = "users")]
pub(crate) const USER_TURN: &str = include_str!("prompts/user_turn.user.txt");

/// Asks for one score of the results of several graders.
pub(crate) const AGGREGATE: &str = include_str!("prompts/aggregate.user.txt");

/// Asks to repair a reply that could not be read.
pub(crate) const REPAIR: &str = include_str!("prompts/repair.user.txt");

/// Asks again, because replies were cut off.
pub(crate) const SHORTER: &str = include_str!("prompts/shorter.user.txt");

/// Asks again, because a reply contradicts itself.
pub(crate) const CONTRADICTION: &str = include_str!("prompts/contradiction.user.txt");

/// Asks to repair JSON that could not be read.
pub(crate) const REPAIR_DATA: &str = include_str!("prompts/repair_data.user.txt");

/// The text of a prompt that asks to repair a reply to a question, or the question again because of the reply.
pub(crate) fn repair_prompt(prompt: &str, question: &str, reply: &str, problem: &str) -> String {
    Syntax::Template.fill(prompt, |name| match name {
        "problem" => Some(problem.into()),
        "question" => Some(question.into()),
        "reply" => Some(fenced(reply).into()),
        _ => None,
    })
}

/// Most assertions of a free-form reply.
pub(crate) const MOST_ASSERTIONS: usize = 8;

/// What a judge is asked to reply with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReplyShape {
    /// One score.
    FreeForm,
    /// Satisfied or not, criterion by criterion.
    Checklist,
    /// A score from 0 to 10, criterion by criterion.
    Ranges,
}

impl ReplyShape {
    /// The shape that fits a grader's criteria.
    pub(crate) fn of(criteria: &[Criterion]) -> Self {
        match criteria {
            [] => Self::FreeForm,
            criteria if criteria.iter().any(|criterion| !criterion.score_ranges.is_empty()) => Self::Ranges,
            _ => Self::Checklist,
        }
    }

    /// JSON Schema of a reply: a judgement of this shape, or the statement that the judge is undecided. Services demand that every
    /// property is required and no other is allowed, so optional values may be null. Lists have a maximum length and ids are
    /// enumerated, because small models write endless lists and invent ids.
    pub(crate) fn schema(self, criteria: &[Criterion]) -> Value {
        let decided = match self {
            Self::FreeForm => {
                let passed = json!({"type": "boolean"});
                let assertion = object(&[("text", text()), ("passed", passed), ("evidence", text())]);
                let score = json!({"type": ["number", "null"]});
                object(&[("score", score), ("assertions", list(&assertion, MOST_ASSERTIONS))])
            }
            Self::Checklist => checks(criteria, "satisfied", &json!({"type": "boolean"})),
            Self::Ranges => {
                checks(criteria, "score", &json!({"type": "integer", "enum": (0..=10).collect::<Vec<_>>()}))
            }
        };
        or_undecided(decided)
    }
}

/// The schema of a reply, or of the statement that the judge is undecided.
pub(crate) fn or_undecided(mut schema: Value) -> Value {
    schema["properties"]["undecided"] = json!({"type": "boolean"});
    schema["properties"]["reason"] = json!({"type": ["string", "null"]});
    if let Value::Array(required) = &mut schema["required"] {
        required.extend([json!("undecided"), json!("reason")]);
    }
    schema
}

fn checks(criteria: &[Criterion], judgement: &str, kind: &Value) -> Value {
    let ids: Vec<&str> = criteria.iter().map(|criterion| criterion.id.as_str()).collect();
    let id = json!({"type": "string", "enum": ids});
    let check = object(&[("id", id), (judgement, kind.clone()), ("reasoning", text())]);
    object(&[("checks", list(&check, criteria.len())), ("overall_reasoning", text())])
}

pub(crate) fn object(properties: &[(&str, Value)]) -> Value {
    let names: Vec<&str> = properties.iter().map(|(name, _)| *name).collect();
    let properties: evalsuite_schema::Object =
        properties.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false})
}

fn list(items: &Value, most: usize) -> Value {
    json!({"type": "array", "items": items, "maxItems": most})
}

pub(crate) fn text() -> Value {
    json!({"type": "string"})
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::grader::Operator;

    use super::*;

    #[test]
    fn lists_end_and_ids_are_those_asked_for() {
        let criterion = |id: &str| Criterion {
            id: id.into(),
            outcome: None,
            operator: Operator::Correctness,
            weight: 1.0,
            required: false,
            min_score: None,
            score_ranges: Vec::new(),
        };
        let criteria = [criterion("a"), criterion("b")];
        for (shape, key, judgement) in [
            (ReplyShape::Checklist, "satisfied", json!({"type": "boolean"})),
            (ReplyShape::Ranges, "score", json!({"type": "integer", "enum": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]})),
        ] {
            let checks = shape.schema(&criteria)["properties"]["checks"].clone();
            assert_eq!(checks["maxItems"], 2);
            assert_eq!(checks["items"]["properties"]["id"], json!({"type": "string", "enum": ["a", "b"]}));
            assert_eq!(checks["items"]["properties"][key], judgement);
        }
        assert_eq!(ReplyShape::FreeForm.schema(&[])["properties"]["assertions"]["maxItems"], 8);
    }
}
