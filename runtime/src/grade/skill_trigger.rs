//! The `skill-trigger` grader: the agent used a skill, or did not.

use evalsuite_records::record::Assertion;
use evalsuite_schema::grader::SkillTrigger;
use evalsuite_schema::{ToolCall, Value};

use crate::grade::assertion_text::{in_text, shorten};
use crate::grade::grader_record::GraderResult;
use crate::grade::reported_work::{NotReported, tool_calls};
use crate::model::evidence::Evidence;
use crate::model::score::Score;

/// Tools whose arguments show that a skill is used, each with the argument that does.
const SHOWING: [(&str, &str); 2] = [("Skill", "skill"), ("Read", "file_path")];

pub(crate) fn grade(config: &SkillTrigger, evidence: &Evidence<'_>) -> Result<GraderResult, NotReported> {
    let skill = &config.skill;
    let calls = tool_calls(evidence)?;
    let trigger = calls.iter().find_map(|call| trigger(call, skill));
    // A call that cannot be read could be the one that shows the skill.
    let unreadable = calls.iter().find(|call| is_unreadable(call, skill));
    if let (None, Some(call)) = (&trigger, unreadable) {
        let text = format!("A call of \"{}\" has arguments that cannot be read", call.tool);
        let input = call.input.as_ref().map(Value::to_string).unwrap_or_default();
        return Ok(GraderResult::without_evidence([Assertion::new(text, false).with_actual(shorten(&input))]));
    }
    let held = trigger.is_some() == config.should_trigger;
    let text = match trigger {
        Some(trigger) => trigger,
        None if !config.should_trigger => format!("Skill \"{skill}\" correctly did not trigger"),
        None if calls.is_empty() => "No tool calls recorded".to_owned(),
        None => format!("Skill \"{skill}\" not found in {} tool call(s)", calls.len()),
    };
    let names: Vec<&str> = calls.iter().map(|call| call.tool.as_str()).collect();
    let wanted = if config.should_trigger { "used" } else { "not used" };
    let assertion = Assertion::new(text, held)
        .with_expected(format!("skill \"{skill}\" {wanted}"))
        .with_actual(format!("calls: {}", shorten(&names.join(", "))));
    Ok(Score::from_assertions([assertion]).into())
}

/// Whether a call could show the skill, if its arguments could be read.
fn is_unreadable(call: &ToolCall, skill: &str) -> bool {
    let Some((_, key)) = SHOWING.iter().find(|(tool, _)| *tool == call.tool) else { return false };
    match (call.arguments(), &call.input) {
        (Some(arguments), _) => match arguments.get(key) {
            Some(value @ (Value::Array(_) | Value::Object(_))) => value.to_string().contains(skill),
            _ => false,
        },
        (None, Some(Value::String(text))) => text.trim_start().starts_with(['{', '[']) || text.contains(skill),
        (None, _) => true,
    }
}

/// How a call shows that the skill is used: by its input, or else by its output.
fn trigger(call: &ToolCall, skill: &str) -> Option<String> {
    let arguments = call.arguments();
    let text = |key: &str| match arguments.as_ref()?.get(key)? {
        Value::String(text) => Some(text.clone()),
        number @ Value::Number(_) => Some(number.to_string()),
        _ => None,
    };
    let files = format!("skills/{skill}/");
    let by_input = match call.tool.as_str() {
        "Skill" => {
            let name = text("skill").filter(|name| name.contains(skill));
            name.map(|name| format!("Skill tool invoked with skill=\"{}\"", in_text(&name)))
        }
        "Read" => {
            let path = text("file_path").filter(|path| path.contains(&files));
            path.map(|path| format!("Read tool loaded skill file: {}", in_text(&path)))
        }
        _ => None,
    };
    by_input.or_else(|| {
        let output = match call.output.as_ref()? {
            Value::String(text) => text.contains(&files),
            other => other.to_string().contains(&files),
        };
        output.then(|| format!("Tool \"{}\" output referenced skill file for \"{skill}\"", in_text(&call.tool)))
    })
}

/// What the graders of this file are to probes.
#[cfg(feature = "probe")]
pub(crate) mod to_probes {
    use evalsuite_schema::{Grader, GraderConfig};

    use super::*;
    use crate::grade::probed::{Passing, Probed, skill_call};

    pub(crate) fn probed(config: &GraderConfig) -> Option<&dyn Probed> {
        match config {
            GraderConfig::ToolTrajectory(config) => Some(config),
            GraderConfig::SkillTrigger(config) => Some(config),
            _ => None,
        }
    }

    impl Probed for SkillTrigger {
        fn skill(&self) -> Option<&str> {
            Some(&self.skill)
        }

        fn expected_calls(&self) -> Vec<ToolCall> {
            self.should_trigger.then(|| skill_call(&self.skill)).into_iter().collect()
        }

        fn advice(&self, _grader: &Grader, _passing: &Passing<'_>) -> Option<String> {
            let text = match self.should_trigger {
                true => "only the use of the skill is asked for: add a grader of the answer",
                false => "the grader only forbids a skill: add what has to be done instead",
            };
            Some(text.to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::json::json;
    use evalsuite_schema::{Message, Role};

    use super::*;
    use crate::model::evidence::Facts;
    use crate::model::score::ScoreState;

    fn graded(calls: Value, should_trigger: bool) -> GraderResult {
        let mut message = Message::text(Role::Assistant, "done");
        message.tool_calls = evalsuite_schema::json::from_value(calls).unwrap();
        let evidence = Evidence::new(Facts { transcript: Some(vec![message]), ..Facts::default() });
        grade(&SkillTrigger { skill: "csv".into(), should_trigger }, &evidence).unwrap()
    }

    fn state(calls: Value, should_trigger: bool) -> ScoreState {
        graded(calls, should_trigger).score.state
    }

    #[test]
    fn the_skill_tool_and_the_skills_files_count() {
        let used = [
            json!([{"tool": "Bash"}, {"tool": "Skill", "input": {"skill": "my-csv"}}]),
            json!([{"tool": "Read", "input": {"file_path": "/x/skills/csv/SKILL.md"}}]),
            json!([{"tool": "Read", "input": {}, "output": ["skills/csv/a"]}]),
            json!([{"tool": "Bash", "input": {"command": "ls"}, "output": "skills/csv/SKILL.md"}]),
            json!([{"tool": "Skill", "input": {"skill": "other"}, "output": {"path": "skills/csv/x"}}]),
        ];
        for calls in used {
            assert_eq!(state(calls.clone(), true), ScoreState::Decided(1.0), "{calls}");
            assert_eq!(state(calls.clone(), false), ScoreState::Decided(0.0), "{calls}");
        }
        assert_eq!(
            state(json!([{"tool": "Read", "input": {"file_path": "skills/csv2/x"}}]), true),
            ScoreState::Decided(0.0)
        );
        assert_eq!(state(json!([]), false), ScoreState::Decided(1.0));
    }

    #[test]
    fn a_call_that_cannot_be_read_passes_in_neither_direction() {
        let other = json!([{"tool": "Read", "input": "notes.txt"}]);
        assert_eq!(
            state(other, false),
            ScoreState::Decided(1.0),
            "plain text without the skill's name does not show it"
        );
        for cut in [json!("{\"skill\": \"csv\""), json!(["csv"]), json!("skills/csv/SKILL.md")] {
            for should_trigger in [true, false] {
                for (tool, _) in SHOWING {
                    let result = graded(json!([{"tool": tool, "input": cut}]), should_trigger);
                    assert_eq!((result.score.state, result.lacks_evidence), (ScoreState::Decided(0.0), true), "{tool}");
                }
                assert!(!graded(json!([{"tool": "Bash", "input": cut}]), should_trigger).lacks_evidence);
                let used = json!([{"tool": "Skill", "input": cut}, {"tool": "Skill", "input": {"skill": "csv"}}]);
                assert_eq!(state(used, should_trigger), ScoreState::Decided(f64::from(u8::from(should_trigger))));
            }
        }
    }

    #[test]
    fn an_argument_that_is_not_text_cannot_be_read() {
        for should_trigger in [true, false] {
            for (tool, key) in SHOWING {
                for value in [json!(["skills/csv/"]), json!({"name": "skills/csv/"})] {
                    let result = graded(json!([{"tool": tool, "input": {key: value}}]), should_trigger);
                    assert_eq!((result.score.state, result.lacks_evidence), (ScoreState::Decided(0.0), true), "{tool}");
                }
                for value in [json!(["other"]), json!(null), json!(true)] {
                    let other = json!([{"tool": tool, "input": {key: value}}]);
                    assert_eq!(state(other, should_trigger), ScoreState::Decided(f64::from(u8::from(!should_trigger))));
                }
            }
        }
    }

    #[test]
    fn without_a_transcript_both_directions_are_an_error() {
        for should_trigger in [true, false] {
            let config = SkillTrigger { skill: "csv".into(), should_trigger };
            assert!(grade(&config, &Evidence::new(Facts::default())).is_err());
        }
    }
}
