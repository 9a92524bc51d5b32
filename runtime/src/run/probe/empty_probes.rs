//! The empty probes: results of an agent that did no work, with or without calls of tools; with structured
//! output, a document that conforms to a JSON Schema and says nothing.

use std::collections::BTreeSet;

use evalsuite_schema::json::{Object, Value, json};
use evalsuite_schema::{Case, EmptyProbe, Grader, Input, Message, Role, ToolCall, Turn};

use crate::grade::probed::{a_tool, skill_call};
use crate::grade::to_probes::probed;
use crate::model::messages::content_text;
use crate::run::made_up::{MadeUpReply, MadeUpResult};
use crate::run::probe::reference::{ExpectedTexts, leaves, of_reference};

/// The answer of an agent that refuses.
pub(super) const REFUSAL: &str = "I'm sorry, but I can't help with that request.";

/// The forms of a probe, each a result. A probe passes a case if one of its forms does.
pub(super) fn forms(probe: EmptyProbe, case: &Case, tools: &SuiteTools) -> Vec<MadeUpResult> {
    match probe {
        EmptyProbe::Silent => vec![in_each_turn(case, |_| MadeUpReply::default())],
        EmptyProbe::Echo => vec![in_each_turn(case, |turn| MadeUpReply::new(prompt(case, turn), Vec::new()))],
        EmptyProbe::Refusal => vec![in_each_turn(case, |_| MadeUpReply::new(REFUSAL, Vec::new()))],
        EmptyProbe::Busy => vec![in_each_turn(case, |_| MadeUpReply::new("", tools.calls()))],
        EmptyProbe::Hedge => {
            let text = in_each_turn(case, |turn| MadeUpReply::new(texts(case, turn).join("\n"), Vec::new()));
            let mut forms = vec![text];
            let documents: Option<Vec<MadeUpReply>> = turns(case)
                .map(|turn| documents(case, turn).map(|document| MadeUpReply::new(document.to_string(), Vec::new())))
                .collect();
            forms.extend(documents.map(MadeUpResult::new));
            forms
        }
    }
}

/// Characters of an answer that is too long.
const FLOOD: usize = 20_000;

/// How often an agent that does too much calls each tool.
const FLOOD_OF_CALLS: usize = 20;

/// Words that graders forbid.
const FORBIDDEN: &str = "error exception failed TODO undefined null NaN";

/// The result of an agent that does far too much: what graders that only limit or forbid are there for. It is no probe, and says nothing
/// about a case.
pub(super) fn flood(case: &Case, tools: &SuiteTools) -> MadeUpResult {
    in_each_turn(case, |turn| {
        let lines = texts(case, turn).join("\n");
        let text = format!("{lines}\n{}\n{REFUSAL}\n{FORBIDDEN}\n", prompt(case, turn));
        let times = FLOOD / text.len().max(1) + 1;
        let calls: Vec<ToolCall> = tools.calls();
        let many = std::iter::repeat_n(calls, FLOOD_OF_CALLS).flatten().collect();
        MadeUpReply::new(text.repeat(times), many)
    })
}

/// The calls of the agent: `None` for that of a case without turns.
pub(super) fn turns(case: &Case) -> impl Iterator<Item = Option<&Turn>> {
    let turns = case.conversation.iter().flat_map(|conversation| &conversation.turns);
    turns.map(Some).chain(case.conversation.is_none().then_some(None))
}

fn in_each_turn(case: &Case, reply: impl Fn(Option<&Turn>) -> MadeUpReply) -> MadeUpResult {
    MadeUpResult::new(turns(case).map(reply).collect())
}

/// What the user says, without the texts of the suite.
pub(super) fn prompt(case: &Case, turn: Option<&Turn>) -> String {
    match (turn, &case.input) {
        (Some(turn), _) => turn.input.content.as_ref().map(content_text).unwrap_or_default(),
        (None, Input::Messages(messages)) => {
            let of_user = |message: &&Message| message.role == Role::User;
            let texts = messages.iter().filter(of_user).filter_map(|message| message.content.as_ref());
            texts.map(content_text).collect::<Vec<_>>().join("\n")
        }
        (None, Input::Data(data)) => leaves(data).collect::<Vec<_>>().join("\n"),
    }
}

/// The graders of a reply: those of the case, and of the turn.
fn graders<'c>(case: &'c Case, turn: Option<&'c Turn>) -> impl Iterator<Item = &'c Grader> {
    turn.into_iter().flat_map(|turn| &turn.graders).chain(&case.graders)
}

fn texts(case: &Case, turn: Option<&Turn>) -> Vec<String> {
    let expected = turn.map_or(&case.expected_output, |turn| &turn.expected_output);
    ExpectedTexts::of(graders(case, turn), of_reference(expected).as_deref()).lines()
}

/// A document that says nothing, with the expected texts where there is room for them; `None` if no grader wants a document.
fn documents(case: &Case, turn: Option<&Turn>) -> Option<Value> {
    let mut wants_document = false;
    let mut document = None;
    for grader in graders(case, turn).flat_map(Grader::with_members).filter(|grader| !grader.negate) {
        if !probed(&grader.config).wants_document() {
            continue;
        }
        wants_document = true;
        if let Some(schema) = grader.config.settings().json_schema() {
            let empty = empty_document(schema)?;
            let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
            document.get_or_insert((empty, is_closed));
        }
    }
    let (mut document, is_closed) = document.or_else(|| wants_document.then(|| (json!({}), false)))?;
    let texts: Vec<Value> = texts(case, turn).into_iter().map(Value::String).collect();
    if let (Value::Object(object), false, false) = (&mut document, is_closed, texts.is_empty()) {
        object.get_or_insert("notes", Value::Array(texts));
    }
    Some(document)
}

/// The tools and skills that the graders of a suite name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SuiteTools {
    tools: BTreeSet<String>,
    skills: BTreeSet<String>,
}

impl SuiteTools {
    /// Adds those of a case.
    pub(crate) fn add(&mut self, case: &Case) {
        for grader in case.all_graders().flat_map(Grader::with_members) {
            self.tools.extend(grader.config.settings().tools().into_iter().map(|(tool, _)| a_tool(tool)));
            self.skills.extend(probed(&grader.config).skill().map(str::to_owned));
        }
    }

    /// Their names.
    pub(super) fn names(&self) -> [&BTreeSet<String>; 2] {
        [&self.tools, &self.skills]
    }

    /// Each of them called once, without arguments.
    pub(super) fn calls(&self) -> Vec<ToolCall> {
        let tools = self.tools.iter().map(|tool| ToolCall::new(tool).with_input(Value::Object(Object::new())));
        tools.chain(self.skills.iter().map(|skill| skill_call(skill))).collect()
    }
}

/// Most levels of a document.
const DEEPEST: usize = 16;

/// A document with nothing but what the schema demands; `None` if the schema demands a certain value, or none is found.
fn empty_document(schema: &Value) -> Option<Value> {
    document(schema, schema, 0)
}

fn document(schema: &Value, root: &Value, depth: usize) -> Option<Value> {
    let Value::Object(keys) = schema else { return (*schema == Value::Bool(true)).then(|| json!({})) };
    if depth > DEEPEST {
        return None;
    }
    if let Some(reference) = keys.get("$ref").and_then(Value::as_str) {
        return document(root.pointer(reference.strip_prefix('#')?)?, root, depth + 1);
    }
    for choice in ["anyOf", "oneOf"] {
        if let Some(branches) = keys.get(choice).and_then(Value::as_array) {
            let of_branch = |branch| document(&Value::Object(merged(keys, branch)), root, depth + 1);
            return branches.iter().find_map(of_branch);
        }
    }
    if let Some(parts) = keys.get("allOf").and_then(Value::as_array) {
        let mut whole = parts.iter().fold(keys.clone(), |whole, part| merged(&whole, part));
        whole.remove("allOf");
        return document(&Value::Object(whole), root, depth + 1);
    }
    if keys.contains_key("const") {
        return None;
    }
    if let Some(choices) = keys.get("enum").and_then(Value::as_array) {
        return choices.first().filter(|_| choices.len() > 1).cloned();
    }
    let of_type = match keys.get("type") {
        Some(Value::Array(types)) => types.first().and_then(Value::as_str),
        other => other.and_then(Value::as_str),
    };
    let number = |key: &str| keys.get(key).and_then(Value::as_f64);
    match of_type {
        Some("string") => text(keys),
        Some("integer" | "number") => {
            let least = number("minimum").or_else(|| number("exclusiveMinimum").map(|least| least + 1.0));
            let most = number("maximum").or_else(|| number("exclusiveMaximum").map(|most| most - 1.0));
            let value = least.unwrap_or(0.0).max(0.0).min(most.unwrap_or(f64::MAX));
            Some(if value.fract() == 0.0 && value.abs() < 1e15 { json!(value as i64) } else { json!(value) })
        }
        Some("boolean") => Some(Value::Bool(false)),
        Some("null") => Some(Value::Null),
        Some("array") => {
            let least = keys.get("minItems").and_then(Value::as_u64).unwrap_or(0);
            let no_rule = Value::Bool(true);
            let item = keys.get("items").unwrap_or(&no_rule);
            let items = (0..least.min(16)).map(|_| document(item, root, depth + 1));
            items.collect::<Option<Vec<_>>>().map(Value::Array)
        }
        _ => object(keys, root, depth),
    }
}

fn object(keys: &Object, root: &Value, depth: usize) -> Option<Value> {
    let mut object = Object::new();
    let no_rule = Value::Bool(true);
    for name in keys.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        let rule = keys.get("properties").and_then(|properties| properties.get(name)).unwrap_or(&no_rule);
        object.insert(name.to_owned(), document(rule, root, depth + 1)?);
    }
    Some(Value::Object(object))
}

/// The shortest text without a meaning.
fn text(keys: &Object) -> Option<Value> {
    if keys.contains_key("pattern") || keys.contains_key("format") {
        return None;
    }
    let least = keys.get("minLength").and_then(Value::as_u64).and_then(|least| usize::try_from(least).ok());
    Some(Value::String("x".repeat(least.unwrap_or(0).min(1024))))
}

/// A schema with the keys of another one; lists of required keys and properties are joined.
fn merged(keys: &Object, other: &Value) -> Object {
    let mut whole = keys.clone();
    whole.retain(|key, _| !matches!(key.as_str(), "anyOf" | "oneOf"));
    for (key, value) in other.as_object().into_iter().flat_map(Object::iter) {
        match (whole.get_mut(key), value) {
            (Some(Value::Array(items)), Value::Array(more)) if key == "required" => items.extend(more.iter().cloned()),
            (Some(Value::Object(properties)), Value::Object(more)) if key == "properties" => {
                properties.extend(more.clone());
            }
            _ => drop(whole.insert(key.clone(), value.clone())),
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::grader::{JsonSchema, SkillTrigger, TextValue, ToolTrajectory};
    use evalsuite_schema::json::from_value;
    use evalsuite_schema::{Conversation, GraderConfig, Location, Turn};

    use super::*;
    use crate::run::probe::reference::expected_calls;

    fn case(configs: impl IntoIterator<Item = GraderConfig>) -> Case {
        let mut case = Case::new("c", Location::new("f", 1, 1));
        let system = Message::text(Role::System, "Be brief.");
        case.input = Input::Messages(vec![system, Message::text(Role::User, "What is 2 + 2?")]);
        case.expected_output = vec![Message::text(Role::Assistant, "4")];
        let grader = |config| Grader::new("g", Location::new("f", 2, 1), config);
        case.graders = configs.into_iter().map(grader).collect();
        case
    }

    fn answers(probe: EmptyProbe, case: &Case) -> Vec<String> {
        let forms = forms(probe, case, &SuiteTools::default());
        forms
            .into_iter()
            .map(|form| form.replies.into_iter().map(|reply| reply.answer).collect::<Vec<_>>().join("|"))
            .collect()
    }

    #[test]
    fn the_answers_of_an_agent_that_does_nothing() {
        let case = case([GraderConfig::Contains(TextValue { value: "four".into() })]);
        assert_eq!(answers(EmptyProbe::Silent, &case), [""]);
        assert_eq!(answers(EmptyProbe::Echo, &case), ["What is 2 + 2?"]);
        assert_eq!(answers(EmptyProbe::Refusal, &case), [REFUSAL]);
        assert_eq!(answers(EmptyProbe::Hedge, &case), ["four\nnot four\n4\nnot 4"]);
        assert_eq!(answers(EmptyProbe::Busy, &case), [""]);
    }

    #[test]
    fn a_hedge_is_also_a_document_where_a_grader_wants_one() {
        let of_schema = |schema| GraderConfig::JsonSchema(JsonSchema { file: None, schema });
        let texts = r#"["4","not 4"]"#;
        let closed =
            json!({ "required": ["n"], "properties": { "n": { "type": "integer" } }, "additionalProperties": false });
        for (config, document) in [
            (GraderConfig::IsJson, format!("{{\"notes\":{texts}}}")),
            (of_schema(json!({ "type": "object" })), format!("{{\"notes\":{texts}}}")),
            (of_schema(closed), "{\"n\":0}".to_owned()),
        ] {
            assert_eq!(answers(EmptyProbe::Hedge, &case([config]))[1..], [document]);
        }
        let pinned = json!({ "required": ["n"], "properties": { "n": { "const": 4 } } });
        assert_eq!(answers(EmptyProbe::Hedge, &case([of_schema(pinned)])).len(), 1);
    }

    #[test]
    fn a_conversation_has_a_reply_for_each_turn() {
        let mut case = case([]);
        let turn = |text: &str, expected: &str| {
            let expected = vec![Message::text(Role::Assistant, expected)];
            Turn::new(Message::text(Role::User, text), expected, Vec::new())
        };
        case.conversation = Some(Conversation::new(vec![turn("Hello", "Hi"), turn("And now?", "Bye")]));
        assert_eq!(answers(EmptyProbe::Echo, &case), ["Hello|And now?"]);
        assert_eq!(answers(EmptyProbe::Hedge, &case), ["Hi\nnot Hi|Bye\nnot Bye"]);
    }

    #[test]
    fn the_prompt_of_a_task_is_all_its_texts() {
        let mut case = case([]);
        let Value::Object(data) = json!({ "content": "Lunch", "who": [{ "name": "Ana" }], "amount": 14.2 }) else {
            panic!("an object")
        };
        case.input = Input::Data(data);
        assert_eq!(answers(EmptyProbe::Echo, &case), ["Lunch\nAna\n14.2"]);
    }

    fn trajectory(config: Value) -> Grader {
        let config: ToolTrajectory = from_value(config).unwrap();
        Grader::new("t", Location::new("f", 1, 1), GraderConfig::ToolTrajectory(config))
    }

    fn names(calls: &[ToolCall]) -> Vec<&str> {
        calls.iter().map(|call| call.tool.as_str()).collect()
    }

    #[test]
    fn every_tool_of_a_suite_is_called_once() {
        let mut case = Case::new("c", Location::new("f", 1, 1));
        case.graders.push(trajectory(json!({ "mode": "any_order", "maximums": [["delete_*", 0]] })));
        case.graders
            .push(trajectory(json!({ "mode": "exact", "expected": [{ "tool": "refund" }, { "tool": "refund" }] })));
        let skill = SkillTrigger { skill: "csv".into(), should_trigger: false };
        case.graders.push(Grader::new("s", Location::new("f", 1, 1), GraderConfig::SkillTrigger(skill)));
        let mut tools = SuiteTools::default();
        tools.add(&case);
        assert_eq!(names(&tools.calls()), ["delete_", "refund", "Skill"]);
    }

    #[test]
    fn a_reference_has_the_calls_that_graders_ask_for() {
        let ordered = trajectory(json!({
            "mode": "in_order", "expected": [{ "tool": "find", "args": { "object": { "id": 1 } } }, { "tool": "refund" }],
        }));
        let counted = trajectory(json!({ "mode": "any_order", "minimums": [["refund", 2]] }));
        let mut forbidden = trajectory(json!({ "mode": "any_order", "minimums": [["delete", 1]] }));
        forbidden.negate = true;
        let calls = expected_calls([&ordered, &counted, &forbidden]);
        assert_eq!(names(&calls), ["find", "refund", "refund"]);
        assert_eq!(calls[0].input, Some(json!({ "id": 1 })));
    }

    #[test]
    fn a_document_has_what_is_required_and_no_more() {
        let schema = json!({
            "type": "object",
            "required": ["status", "total", "items", "nested"],
            "properties": {
                "status": { "enum": ["approved", "rejected"] },
                "total": { "type": "number", "minimum": 1 },
                "items": { "type": "array", "minItems": 1, "items": { "$ref": "#/definitions/item" } },
                "nested": { "anyOf": [{ "const": 1 }, { "type": "object", "required": ["a"] }] },
                "more": { "type": "string" },
            },
            "definitions": { "item": { "type": "string", "minLength": 2 } },
        });
        let expected = json!({ "status": "approved", "total": 1, "items": ["xx"], "nested": { "a": {} } });
        assert_eq!(empty_document(&schema), Some(expected));
        assert_eq!(empty_document(&json!({})), Some(json!({})));
        assert_eq!(empty_document(&Value::Bool(true)), Some(json!({})));
        let both = json!({ "allOf": [{ "required": ["a"] }, { "required": ["b"], "properties": { "b": { "type": "null" } } }] });
        assert_eq!(empty_document(&both), Some(json!({ "a": {}, "b": null })));
    }

    #[test]
    fn a_schema_that_demands_a_certain_value_has_none() {
        for rule in
            [json!({ "const": 14.2 }), json!({ "enum": ["approved"] }), json!({ "type": "string", "pattern": "^14" })]
        {
            assert_eq!(empty_document(&json!({ "required": ["v"], "properties": { "v": rule } })), None);
        }
        assert_eq!(empty_document(&json!({ "$ref": "#" })), None);
        assert_eq!(empty_document(&Value::Bool(false)), None);
    }
}
