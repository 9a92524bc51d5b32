//! `cargo evalsuite new case` and `new calibration`.

use std::io::Write;

use evalsuite_discovery::{SKILL_EVALS, suite_files};
use evalsuite_schema::json::{Value, json};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstRootNode};

use super::arguments::Question;
use super::package::{Changes, PackageHere, check_name, read_if_there};
use super::suite;
use crate::new::arguments::{NewCalibration, NewCase};
use crate::platform::cli_error::{CliError, Result};
use crate::platform::output::stdout;

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
    let texts = suite_files(&suite.path)?.into_iter().map(|(file, _)| read_if_there(&file));
    let texts = texts.collect::<Result<Vec<_>>>()?;
    let canary = texts.iter().flatten().find_map(|text| suite::canary_in(text));
    if suite.is_skill {
        let path = suite.path.join(SKILL_EVALS);
        let text = with_eval(&read_if_there(&path)?.unwrap_or_default(), &id, &input, &check).ok_or_else(|| {
            CliError::with_help(format!("{} has no list `evals`", path.display()), "see `cargo evalsuite check`")
        })?;
        changes.edit(path, text, format!("eval {id}"));
    } else if suite.has_tasks {
        changes.create(suite.path.join(format!("tasks/{id}.json")), task(&id, &input, &check, canary));
    } else {
        changes.create(suite.cases.join(format!("{id}/case.yaml")), case(&input, &check, canary));
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

fn case(input: &str, check: &Check, canary: Option<&str>) -> String {
    let input = quoted(input);
    let comment = canary.map(|canary| format!("# canary: {canary}\n")).unwrap_or_default();
    comment
        + &match check {
            Check::Contains(text) => {
                format!("input: {input}\nassertions:\n  - {{ type: contains, value: {} }}\n", quoted(text))
            }
            Check::Criteria(criteria) => format!("input: {input}\ncriteria: {}\n", quoted(criteria)),
        }
}

/// `evals.json` with another eval.
fn with_eval(text: &str, id: &str, input: &str, check: &Check) -> Option<String> {
    let file = CstRootNode::parse(text, &ParseOptions::default()).ok()?;
    let evals = file.object_value()?.array_value("evals")?;
    let expectation = match check {
        Check::Contains(text) => format!("The answer contains `{text}`."),
        Check::Criteria(criteria) => criteria.clone(),
    };
    let text = |text: &str| CstInputValue::String(text.to_owned());
    evals.append(CstInputValue::Object(vec![
        ("id".to_owned(), text(id)),
        ("prompt".to_owned(), text(input)),
        ("expectations".to_owned(), CstInputValue::Array(vec![text(&expectation)])),
    ]));
    Some(file.to_string())
}

fn task(id: &str, input: &str, check: &Check, canary: Option<&str>) -> String {
    let (description, grader) = match check {
        Check::Contains(text) => {
            (format!("The answer contains `{text}`."), json!({ "name": "contains", "config": { "value": text } }))
        }
        Check::Criteria(criteria) => (criteria.clone(), json!({ "name": "llm-grader" })),
    };
    let canary = canary.map(|canary| format!("\n  \"canary\": {},", quoted(canary))).unwrap_or_default();
    let (id, description, input) = (quoted(id), quoted(&description), quoted(input));
    format!(
        "{{\n  \"id\": {id},{canary}\n  \"description\": {description},\n  \"input\": {{ \"prompt\": {input} }},\n  \"graders\": [{grader}]\n}}\n"
    )
}

pub(super) fn write_calibration(arguments: &NewCalibration) -> Result<()> {
    let package = PackageHere::find()?;
    let suite = package.suite(arguments.suite.as_deref())?;
    let mut changes = Changes::new(&package.root);
    // Samples of their own: which cases have a judge is the suite's business.
    changes.create(suite.path.join("calibration.yaml"), include_str!("../../assets/new/calibration.yaml"));
    let mut manifest = package.manifest;
    manifest.add_feature("grader-tests");
    manifest.write(&mut changes);
    changes.write(arguments.force)?;
    writeln!(stdout(), "\n`cargo evalsuite calibrate {}` measures the judge of the environment.", suite.entry)?;
    Ok(())
}
