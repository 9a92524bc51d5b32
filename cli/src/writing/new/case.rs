//! `cargo evalsuite new case`.

use evalsuite_schema::json::{Value, json};

use super::changes::Changes;
use super::package_here::{PackageHere, check_name};
use super::questions::Question;
use crate::command_line::NewCase;
use crate::platform::cli_error::Result;

pub(super) fn write(arguments: &NewCase) -> Result<()> {
    let package = PackageHere::find()?;
    let suite = package.suite(arguments.suite.as_deref())?;
    let question = |text, argument| Question { text, argument, default: None };
    let id = question("Id of the case", "ID").answer(arguments.id.as_deref())?;
    check_name(&id)?;
    let input = question("Prompt for the agent", "--input").answer(arguments.input.as_deref())?;
    let check = match &arguments.criteria {
        Some(criteria) => Check::Criteria(criteria.clone()),
        None => {
            let question = question("Text that the answer must contain", "--contains");
            Check::Contains(question.answer(arguments.contains.as_deref())?)
        }
    };
    let mut changes = Changes::new(&package.root);
    if suite.has_tasks {
        changes.create(suite.path.join(format!("tasks/{id}.json")), task(&id, &input, &check));
    } else {
        changes.create(suite.path.join(format!("cases/{id}/case.yaml")), case(&input, &check));
    }
    changes.write(arguments.force)
}

/// How the answer is checked.
enum Check {
    Contains(String),
    /// By a judge.
    Criteria(String),
}

/// A text of JSON is one of YAML, too.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn case(input: &str, check: &Check) -> String {
    let input = quoted(input);
    match check {
        Check::Contains(text) => {
            format!("input: {input}\nassertions:\n  - {{ type: contains, value: {} }}\n", quoted(text))
        }
        Check::Criteria(criteria) => format!("input: {input}\ncriteria: {}\n", quoted(criteria)),
    }
}

fn task(id: &str, input: &str, check: &Check) -> String {
    let (description, grader) = match check {
        Check::Contains(text) => {
            (format!("The answer contains `{text}`."), json!({ "name": "contains", "config": { "value": text } }))
        }
        Check::Criteria(criteria) => (criteria.clone(), json!({ "name": "llm-grader" })),
    };
    let (id, description, input) = (quoted(id), quoted(&description), quoted(input));
    format!(
        "{{\n  \"id\": {id},\n  \"description\": {description},\n  \"input\": {{ \"prompt\": {input} }},\n  \"graders\": [{grader}]\n}}\n"
    )
}
