//! `skill-trigger`: the three ways in which a call shows that a skill is used.

use evalsuite::__private::AgentWork;
use evalsuite::{Message, Role, ToolCall};
use evalsuite_schema::json::{Value, json};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::compared::{Expected, compare, for_each, graded, grader};

/// A tool, its input and its output.
type Call = (&'static str, Option<Value>, Option<Value>);

fn text() -> impl Strategy<Value = &'static str> {
    select(vec!["pdf", "pdf-2", "a/skills/pdf/SKILL.md", "skills/pdf", "skills/pdf/", "", "PDF", "skills/pd/f"])
}

fn call() -> impl Strategy<Value = Call> {
    let tool = select(vec!["Skill", "Read", "Bash", "skill"]);
    let input = prop_oneof![
        (select(vec!["skill", "file_path", "name"]), text()).prop_map(|(key, text)| Some(json!({key: text}))),
        (select(vec!["skill", "file_path"]), text()).prop_map(|(key, text)| Some(json!({key: [text]}))),
        Just(Some(json!("skills/pdf/"))),
        Just(None),
    ];
    let output = prop_oneof![
        2 => Just(None),
        1 => text().prop_map(|text| Some(json!(text))),
        1 => text().prop_map(|text| Some(json!({"files": [text]}))),
    ];
    (tool, input, output)
}

fn shows(skill: &str, (tool, input, output): &Call) -> bool {
    let given = |key: &str| input.as_ref().and_then(|input| input[key].as_str()).unwrap_or("").to_owned();
    let folder = format!("skills/{skill}/");
    let has = |text: &str, part: &str| {
        (0..text.len()).any(|start| text.is_char_boundary(start) && text[start..].starts_with(part))
    };
    let printed = match output {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    *tool == "Skill" && has(&given("skill"), skill)
        || *tool == "Read" && has(&given("file_path"), &folder)
        || has(&printed, &folder)
}

#[test]
fn a_skill_is_used_if_a_call_shows_it() {
    let inputs =
        (select(vec!["pdf", "d", "pd"]), any::<bool>(), option::weighted(0.95, vec(call(), 0..4)), any::<bool>());
    for_each("skill-trigger", inputs, |(skill, should_trigger, calls, negate)| {
        let transcript = calls.as_ref().map(|calls| {
            let mut message = Message::text(Role::Assistant, "done");
            let made = |(tool, input, output): &Call| {
                let mut made = ToolCall::new(*tool);
                (made.input, made.output) = (input.clone(), output.clone());
                made
            };
            message.tool_calls = calls.iter().map(made).collect();
            vec![message]
        });
        let mut grader = grader(json!({"skill-trigger": {"skill": skill, "should_trigger": should_trigger}}));
        grader.negate = *negate;
        let shows = |calls: &Vec<Call>| calls.iter().any(|call| shows(skill, call));
        let is_unreadable = |(tool, input, _): &Call| {
            let key = match *tool {
                "Skill" => "skill",
                "Read" => "file_path",
                _ => return false,
            };
            match input {
                Some(Value::String(_)) => true,
                Some(input) => input[key].is_array() && input[key].to_string().contains(skill),
                None => false,
            }
        };
        // A call that cannot be read passes in neither direction, unless another one shows the skill.
        let is_known = |calls: &Vec<Call>| shows(calls) || !calls.iter().any(is_unreadable);
        let passes = |calls| is_known(calls) && (shows(calls) == *should_trigger) != *negate;
        let expected = calls.as_ref().map_or(Expected::Error, |calls| Expected::passed(passes(calls)));
        compare(&graded(&grader, AgentWork { transcript, ..AgentWork::default() }), &expected)
    });
}
