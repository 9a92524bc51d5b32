//! Reads `suite.json` and the files of tasks as settings and cases of an eval file.

use std::path::Path;

use evalsuite_loader::document::{Data, Value};
use evalsuite_schema::json::json;

use super::SuiteSource;
use super::task_graders::assertion;
use crate::case_ids::slug;
use crate::error::ConvertError;
use crate::report::{Place, Report};
use crate::source::SourceFiles;
use crate::suite_draft::{CaseDraft, entry};

/// Largest number of bytes of a suite's name.
const LONGEST_NAME: usize = 64;
/// The threshold of a `suite.json` next to `cases/`, where none is written.
const COMBINED_THRESHOLD: f64 = 0.8;

impl SuiteSource {
    /// Reads the settings of `suite.json`. Returns whether every verdict of its tasks has to be `pass`.
    pub(super) fn task_settings(&mut self, entries: Vec<(String, Value)>, has_tasks: bool) -> bool {
        let (mut kind, mut threshold) = (None, None);
        for (key, value) in entries {
            let place = self.place.below(value.position.line, &key);
            self.report.mapped(&place);
            match key.as_str() {
                "name" => {
                    let name = name(value, &place, &mut self.report);
                    self.draft.settings.push(("name".to_owned(), name));
                }
                "kind" => kind = Some(value),
                "gates" => self.draft.settings.push((key, value)),
                "taskPassThreshold" | "task_pass_threshold" => threshold = value.as_number(),
                "requireReferenceSolution" | "require_reference_solution" => {
                    if value.data == Data::Bool(true) {
                        self.report.dropped(&place, "an eval file does not require expected outputs");
                    }
                }
                "agent_name" => {
                    if let Some(name) = value.as_text().filter(|name| *name != "agent") {
                        let bind = format!("write `agent = {name}` in the macro: without it, the function is `agent`");
                        self.report.approximated(&place, bind);
                    }
                }
                "$schema" => self.report.approximated(&place, "the schema of an eval file is another one"),
                _ => self.report.dropped(&place, "no key of `suite.json`"),
            }
        }
        self.draft.settings.push(("kind".to_owned(), kind.unwrap_or_else(|| Value::text("mixed"))));
        let every_verdict = has_tasks && threshold.is_none_or(|threshold| threshold >= 1.0);
        // Every grader is required where every verdict counts; the mean decides nothing then.
        let threshold = if every_verdict { 0.0 } else { threshold.unwrap_or(COMBINED_THRESHOLD) };
        self.draft.settings.push(entry("execution", json!({"threshold": threshold})));
        every_verdict
    }

    /// Reads the tasks as cases. Their files are removed.
    pub(super) fn tasks(&mut self, files: &SourceFiles, every_verdict: bool) -> Result<(), ConvertError> {
        let root = files.root();
        let listing = evalsuite_discovery::list(root, root, "tasks", "tasks");
        if let Some(problem) = listing.problems.first() {
            return Err(ConvertError::unsupported(format!("{}: {}", problem.path, problem.message)));
        }
        for file in listing.files {
            let task = files.document(&root.join(&file), &file, &Place::new(file.clone(), 0, ""))?.root;
            self.draft.output.remove(&file);
            let sibling = Path::new(&file).with_file_name("workspace");
            let sibling = root.join(&sibling).is_dir().then(|| sibling.to_string_lossy().replace('\\', "/"));
            self.draft.cases.push(case(&task, &file, sibling, every_verdict, &mut self.report)?);
        }
        Ok(())
    }
}

/// The name, as an eval file may have it.
fn name(value: Value, place: &Place, report: &mut Report) -> Value {
    let text = value.as_text().unwrap_or_default();
    let is_kept = |character: char| {
        character.is_ascii_lowercase() || character.is_ascii_digit() || matches!(character, '-' | '_')
    };
    if !text.is_empty() && text.len() <= LONGEST_NAME && text.chars().all(is_kept) {
        return value;
    }
    let name: String = slug(text).chars().filter(char::is_ascii).collect();
    report.approximated(place, format!("the name of an eval file has no other characters: `{name}`"));
    Value::text(name)
}

/// The case of a task, next to whose file may be the directory of a workspace.
fn case(
    task: &Value,
    file: &str,
    sibling: Option<String>,
    every_verdict: bool,
    report: &mut Report,
) -> Result<(String, CaseDraft), ConvertError> {
    let place = Place::new(file, 1, "task");
    let Some(id) = task.get("id").and_then(Value::as_text) else {
        return Err(ConvertError::unsupported(format!("{file} is not a task: it has no `id`")));
    };
    let (mut entries, mut execution, mut metadata) = (Vec::new(), Vec::new(), Vec::new());
    let mut input = None;
    for (key, value, at) in place.entries(task) {
        report.mapped(&at);
        match key {
            "id" | "$schema" => {}
            "description" => entries.push(("criteria".to_owned(), value.clone())),
            "input" => input = Some(prompt(value, &at, &mut metadata, report)),
            "metadata" => metadata.extend(value.entries().iter().cloned()),
            "trials_per_run" => execution.push(("trials".to_owned(), Value::from(json!({"count": value.to_json()})))),
            "timeout_seconds" => execution.push((key.to_owned(), value.clone())),
            "reference_solution" => entries.extend(expected_output(value, &at, report)),
            "graders" => {
                let graders = at.items(value).map(|(grader, place)| assertion(grader, every_verdict, &place, report));
                let assertions = graders.collect();
                entries.push(("assertions".to_owned(), Value::new(Data::List(assertions))));
            }
            _ => report.dropped(&at, "no key of a task"),
        }
    }
    entries.push(("input".to_owned(), input.unwrap_or_else(|| Value::text("{}"))));
    entries.extend(workspace(task, sibling, &place, report));
    for (key, values) in [("execution", execution), ("metadata", metadata)] {
        if !values.is_empty() {
            entries.push((key.to_owned(), Value::new(Data::Mapping(values))));
        }
    }
    let path = file.strip_prefix("tasks/").unwrap_or(file);
    if path != format!("{id}.json") {
        report.approximated(&place, "the test has the name of the id, where it has that of the file");
    }
    report.mapped(&place);
    Ok((id.to_owned(), CaseDraft { entries, above: Vec::new(), place }))
}

/// The workspace: `fixture_dir` of the input, else the directory `workspace` next to the file, else `base_fixture`.
fn workspace(task: &Value, sibling: Option<String>, place: &Place, report: &mut Report) -> Option<(String, Value)> {
    let named = |key: &str| task.get("input")?.get(key)?.as_text().map(str::to_owned);
    let (directory, base) = (named("fixture_dir").or(sibling), named("base_fixture"));
    if directory.is_some() && base.is_some() {
        report.dropped(&place.below(place.line, "input.base_fixture"), "a workspace has one template");
    }
    let template = directory.or(base)?;
    Some(entry("workspace", json!({"template": format!("./{}", template.trim_start_matches("./"))})))
}

/// The input as text: what the prompt of the task is.
fn prompt(input: &Value, place: &Place, metadata: &mut Vec<(String, Value)>, report: &mut Report) -> Value {
    let text = |key: &str| input.get(key).and_then(Value::as_text).map(str::to_owned);
    let asked = text("prompt").map(|text| (text, "prompt")).or_else(|| Some((text("content")?, "content")));
    let rest = input.entries().iter().filter(|(key, value)| {
        let is_fixture = ["fixture_dir", "base_fixture"].contains(&key.as_str()) && value.as_text().is_some();
        !is_fixture && asked.as_ref().is_none_or(|(_, used)| key != used)
    });
    let rest: Vec<(String, Value)> = rest.cloned().collect();
    match asked {
        Some((text, _)) => {
            if !rest.is_empty() {
                report.different(place, "the agent gets the prompt; the other keys are in `metadata.input`");
                metadata.push(("input".to_owned(), Value::new(Data::Mapping(rest))));
            }
            Value::text(text)
        }
        None => {
            report.different(place, "the agent gets the object as text");
            let json = Value::new(Data::Mapping(rest)).to_json();
            Value::text(format!("{json:#}"))
        }
    }
}

fn expected_output(solution: &Value, place: &Place, report: &mut Report) -> Option<(String, Value)> {
    if let Some(source) = solution.get("source").filter(|source| source.as_text() != Some("manual")) {
        report
            .dropped(&place.below(source.position.line, "source"), "an expected output does not say where it is from");
    }
    let outcome = solution.get("expected_outcome")?;
    if outcome.get("role").is_some() {
        report.approximated(place, "an object with `role` is a message");
    }
    Some(("expected_output".to_owned(), outcome.clone()))
}
