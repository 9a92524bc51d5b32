//! The template variables of prompts: data of a case and of an agent's work.

use evalsuite_schema::{Input, Message, Role, ToolCall, Value};

use crate::model::evidence::Evidence;
use crate::model::messages::{self, reference_text};
use crate::model::suite_location::SuiteLocation;
use crate::platform::excerpt::{first_chars, trim};

/// Characters of the workspace's changes that are shown.
const CHANGES: usize = 200_000;
/// Characters of the argument that is shown of a tool call.
const DETAIL: usize = 120;

/// The values of all variables, without surrounding white space.
#[derive(Debug)]
pub(crate) struct PromptVariables {
    pub(crate) input: String,
    pub(crate) output: String,
    pub(crate) expected_output: String,
    pub(crate) criteria: String,
    pub(crate) file_changes: String,
    pub(crate) tool_calls: String,
}

impl PromptVariables {
    /// The variables of a trial. `output` is the answer as judges are shown it.
    pub(crate) fn new(output: &str, evidence: &Evidence<'_>, places: &SuiteLocation) -> Self {
        let facts = evidence.facts();
        let own = |text: &str| trim(text).to_owned();
        let input = match &facts.input {
            None => String::new(),
            Some(input @ Input::Data(_)) => messages::prompt(input, |file| places.resolve(file)),
            Some(Input::Messages(list)) if facts.is_conversation => conversation(list, places),
            Some(Input::Messages(list)) => {
                messages::judge_prompt(list, |file| messages::file_text(&places.resolve(file)))
            }
        };
        Self {
            input: own(&input),
            output: own(output),
            expected_output: own(&reference_text(&facts.reference()).unwrap_or_default()),
            criteria: own(facts.criteria.as_deref().or(facts.description.as_deref()).unwrap_or_default()),
            file_changes: own(&changes(&facts.diff)),
            tool_calls: own(&calls(evidence)),
        }
    }

    /// The value of a variable, by its current or its former name.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        Some(match name {
            "input" | "input_text" => &self.input,
            "output" | "output_text" => &self.output,
            "expected_output" | "expected_output_text" => &self.expected_output,
            "criteria" => &self.criteria,
            "file_changes" => &self.file_changes,
            "tool_calls" => &self.tool_calls,
            _ => return None,
        })
    }
}

/// The messages of a conversation with their roles, with an empty line between them.
fn conversation(list: &[Message], places: &SuiteLocation) -> String {
    let said = |message: &Message| {
        // A single user message is rendered without a mark of its role.
        let mut single = message.clone();
        single.role = Role::User;
        let text = messages::judge_prompt(&[single], |file| messages::file_text(&places.resolve(file)));
        (!text.trim().is_empty()).then(|| format!("{}: {text}", message.role.as_str()))
    };
    list.iter().filter_map(said).collect::<Vec<_>>().join("\n\n")
}

fn changes(diff: &str) -> String {
    match diff.char_indices().nth(CHANGES) {
        None => diff.to_owned(),
        Some((end, _)) => {
            let total = diff.chars().count();
            format!("{}\n[cut: {CHANGES} of {total} characters are shown]", &diff[..end])
        }
    }
}

fn calls(evidence: &Evidence<'_>) -> String {
    let calls = evidence.tool_calls().unwrap_or_default();
    let lines: Vec<String> = calls
        .into_iter()
        .map(|call| match detail(call) {
            Some(detail) => format!("- {}: {}", call.tool, first_chars(detail, DETAIL).replace('\n', " ")),
            None => format!("- {}", call.tool),
        })
        .collect();
    lines.join("\n")
}

/// The argument that says most about what a call did.
fn detail(call: &ToolCall) -> Option<&str> {
    let Some(Value::Object(input)) = &call.input else { return None };
    let text = |key: &str| input.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let known = match call.tool.as_str() {
        "Skill" => text("skill"),
        "Read" | "Write" | "Edit" => text("file_path"),
        "Bash" => text("command"),
        "Grep" | "Glob" => text("pattern"),
        _ => None,
    };
    let mut texts = input.values().filter_map(Value::as_str).filter(|text| !text.is_empty());
    known.or_else(|| texts.find(|text| first_chars(text, DETAIL) == *text))
}
