//! The calls of tools that made-up results have.

use std::collections::BTreeSet;

use evalsuite_schema::grader::{Args, SkillTrigger, ToolTrajectory, TrajectoryMode};
use evalsuite_schema::json::json;
use evalsuite_schema::{Case, Grader, GraderConfig, Object, ToolCall, Value};

/// Most calls of one tool in a reference.
const MOST_CALLS: u64 = 64;

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
            match &grader.config {
                GraderConfig::ToolTrajectory(config) => {
                    let counted = config.minimums.iter().chain(&config.maximums).map(|(tool, _)| tool);
                    let expected = config.expected.iter().map(|call| &call.tool);
                    self.tools.extend(counted.chain(expected).map(|tool| a_tool(tool)));
                }
                GraderConfig::SkillTrigger(config) => drop(self.skills.insert(config.skill.clone())),
                _ => {}
            }
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

/// A tool that a name with `*` and `?` means.
fn a_tool(name: &str) -> String {
    let tool = name.replace('*', "").replace('?', "x");
    if tool.is_empty() { "tool".to_owned() } else { tool }
}

fn skill_call(skill: &str) -> ToolCall {
    ToolCall::new("Skill").with_input(json!({ "skill": skill }))
}

/// The calls that graders ask for, in order.
pub(super) fn expected_calls<'g>(graders: impl IntoIterator<Item = &'g Grader>) -> Vec<ToolCall> {
    let mut calls = Vec::new();
    // What a negated grader asks for has to be absent.
    for grader in graders.into_iter().filter(|grader| !grader.negate) {
        let expected = match &grader.config {
            GraderConfig::ToolTrajectory(config) => of_trajectory(config),
            GraderConfig::SkillTrigger(SkillTrigger { skill, should_trigger: true }) => vec![skill_call(skill)],
            GraderConfig::Composite(config) => expected_calls(&config.members),
            _ => continue,
        };
        add_missing(&mut calls, expected);
    }
    calls
}

fn of_trajectory(config: &ToolTrajectory) -> Vec<ToolCall> {
    if config.mode == TrajectoryMode::AnyOrder {
        let times = |(tool, least): &(String, u64)| {
            (0..(*least).min(MOST_CALLS)).map(|_| ToolCall::new(a_tool(tool))).collect::<Vec<_>>()
        };
        return config.minimums.iter().flat_map(times).collect();
    }
    let call = |expected: &evalsuite_schema::grader::ExpectedCall| {
        let input = match &expected.args {
            Some(Args::Object(object)) => object.clone(),
            Some(Args::Any) | None => Object::new(),
        };
        let mut call = ToolCall::new(a_tool(&expected.tool)).with_input(Value::Object(input));
        call.duration_ms = expected.max_duration_ms.map(|_| 0.0);
        call
    };
    config.expected.iter().map(call).collect()
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
    use evalsuite_schema::Location;
    use evalsuite_schema::json::from_value;

    use super::*;

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
}
