//! Tests with the defaults and the data of scenarios merged into them.

use std::path::Path;

use evalsuite_loader::document::{Data, Foreign, Value};

use super::assertions::Assertion;
use super::source_files::{FILE_SCHEME, unreadable};
use super::tests_reader::WrittenTest;
use super::values;
use super::values::elements;
use crate::report::{Place, Report};
use crate::source::SourceFiles;

/// A test before its variables and the prompts multiply it.
#[derive(Debug, Clone, Default)]
pub(super) struct TestCase {
    pub(super) place: Place,
    pub(super) description: Option<String>,
    /// Variables, and where they are written, which may be in other files than the test.
    pub(super) variables: Vec<(String, (Value, Place))>,
    pub(super) assertions: Vec<Assertion>,
    pub(super) threshold: Option<f64>,
    pub(super) metadata: Vec<(String, Value)>,
    pub(super) options: Vec<(String, Value)>,
    /// The providers that run it, and the prompts that it takes; all without.
    pub(super) providers: Option<Vec<String>>,
    pub(super) prompts: Option<Vec<String>>,
    /// Comments above it.
    pub(super) above: Vec<String>,
}

/// Settings of a test's `options` that are applied.
const OPTIONS: &[&str] = &["transform", "prefix", "suffix", "disableVarExpansion", "disableDefaultAsserts", "repeat"];

/// Reads a test. Paths of variables are relative to the directory of its file.
pub(super) fn read(test: &WrittenTest, files: &SourceFiles, report: &mut Report) -> TestCase {
    let mut case = TestCase { place: test.place.clone(), above: test.value.above.clone(), ..TestCase::default() };
    for (key, value) in test.value.entries() {
        let place = test.place.below(value.position.line.max(test.place.line), key);
        if value.data == Data::Null {
            continue;
        }
        if ["description", "threshold", "metadata", "prompts"].contains(&key.as_str()) {
            report.mapped(&place);
        }
        match key.as_str() {
            "description" => case.description = value.as_text().map(str::to_owned),
            "vars" => case.add_variables(value, &place, &test.directory, files, report),
            "assert" => {
                for (index, item) in value.items().unwrap_or_default().iter().enumerate() {
                    let place = place.below(item.position.line.max(place.line), &format!("[{index}]"));
                    case.assertions.push(Assertion { value: item.clone(), place });
                }
            }
            "threshold" => {
                case.threshold = Some(match value.data {
                    Data::Foreign(Foreign::NotFinite(number)) => number,
                    _ => value.as_number().unwrap_or(f64::NAN),
                });
            }
            "metadata" => case.metadata = value.entries().to_vec(),
            "options" => {
                // An empty text around prompts is none, so that the one of the default test holds.
                let is_empty = |(key, value): &(String, Value)| {
                    ["prefix", "suffix"].contains(&&**key) && value.as_text() == Some("")
                };
                case.options = value.entries().iter().filter(|option| !is_empty(option)).cloned().collect();
                for (key, value) in value.entries() {
                    let place = place.below(value.position.line.max(place.line), key);
                    match option_reason(key) {
                        None => report.mapped(&place),
                        Some(reason) => report.dropped(&place, reason),
                    }
                }
            }
            "provider" | "providers" => {
                case.providers = names(value);
                report.approximated(&place, "it names targets of the suite");
            }
            "prompts" => case.prompts = names(value),
            "assertScoringFunction" => {
                report.dropped(&place, "the score of a case is the weighted mean of its graders")
            }
            "providerOutput" => {
                report.dropped(&place, "the answer is the agent's: grade recorded answers with `EVALSUITE_MODE=replay`")
            }
            _ => report.dropped(&place, "there is no such setting of a case"),
        }
    }
    case
}

/// Why an option is not applied.
fn option_reason(key: &str) -> Option<&'static str> {
    match key {
        key if OPTIONS.contains(&key) => None,
        "transformVars" => Some("a program makes the variables: save what it makes"),
        "provider" => Some("the judge of a run is set where it runs, with `EVALSUITE_JUDGE_MODEL` or in Rust"),
        "rubricPrompt" => Some("judges get the prompt of `llm-grader` and `rubrics`"),
        "storeOutputAs" => Some("cases do not read each other's answers as variables: use `turns`"),
        "runSerially" => Some("cases run in parallel: set `workers: 1`"),
        "disableConversationVar" => Some("there is no `_conversation`"),
        _ => Some("there is no such option"),
    }
}

fn names(value: &Value) -> Option<Vec<String>> {
    let name = |value: &Value| {
        let label = value.get("label").or_else(|| value.get("id")).unwrap_or(value);
        label.as_text().map(str::to_owned)
    };
    match value.items() {
        Some(items) => Some(items.iter().filter_map(name).collect()),
        None => name(value).map(|name| vec![name]),
    }
}

impl TestCase {
    /// Adds variables: a mapping, or files that hold one.
    fn add_variables(
        &mut self,
        value: &Value,
        place: &Place,
        directory: &Path,
        files: &SourceFiles,
        report: &mut Report,
    ) {
        if let Data::Mapping(entries) = &value.data {
            report.mapped(place);
            self.add_entries(entries, place, files, report);
            return;
        }
        for pattern in elements(value, place).into_iter().filter_map(|(item, _)| item.as_text()) {
            let path = pattern.strip_prefix(FILE_SCHEME).unwrap_or(pattern);
            let Some(found) = report.kept(place, files.matching(path, directory, pattern, place)) else { continue };
            if found.is_empty() {
                report.dropped(place, format!("there is no file `{pattern}`"));
            }
            for file in found {
                let shown = files.shown(&file);
                match files.js_yaml(&file, pattern, place) {
                    Ok(mut document) if matches!(document.root.data, Data::Mapping(_)) => {
                        let at = Place::new(shown, 1, "vars");
                        values::dates_to_texts(&mut document.root, &at, report);
                        self.add_entries(document.root.entries(), &at, files, report);
                        report.mapped(place);
                    }
                    // promptfoo takes the characters of a text for variables, which no prompt uses.
                    Ok(_) => report.approximated(place, format!("`{shown}` holds no variables")),
                    Err(error) => report.dropped(place, unreadable(&shown, &error)),
                }
            }
        }
    }

    fn add_entries(&mut self, entries: &[(String, Value)], place: &Place, files: &SourceFiles, report: &mut Report) {
        let mut variables = Vec::new();
        for (name, value) in entries {
            let place = place.below(value.position.line.max(place.line), name);
            check_reference(value, &place, files);
            for (index, item) in value.items().unwrap_or_default().iter().enumerate() {
                check_reference(item, &place.below(item.position.line.max(place.line), &format!("[{index}]")), files);
            }
            let mut value = value.clone();
            values::numbers_to_texts(&mut value, &place, report);
            variables.push((name.clone(), (value, place)));
        }
        self.variables = merged(&self.variables, &variables);
    }
}

/// Reports a file outside of the source that a variable names. The file is read once the variables of a case are known, where it is not
/// known any more in which file a variable was written.
fn check_reference(value: &Value, place: &Place, files: &SourceFiles) {
    if let Some(path) = value.as_text().and_then(|text| text.strip_prefix(FILE_SCHEME)) {
        let fixed: Vec<&str> = path.split('/').take_while(|part| !part.contains(['*', '?', '[', '{'])).collect();
        files.allows(&files.root().join(fixed.join("/")), &format!("{FILE_SCHEME}{path}"), place);
    }
}

/// Later entries replace earlier ones in their place.
fn merged<T: Clone>(entries: &[(String, T)], more: &[(String, T)]) -> Vec<(String, T)> {
    let mut merged = entries.to_vec();
    for (key, value) in more {
        match merged.iter_mut().find(|(known, _)| known == key) {
            Some((_, known)) => known.clone_from(value),
            None => merged.push((key.clone(), value.clone())),
        }
    }
    merged
}

impl TestCase {
    fn has(&self, option: &str) -> bool {
        self.options.iter().any(|(key, value)| key == option && value.data == Data::Bool(true))
    }

    /// The text of an option.
    pub(super) fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(key, _)| key == name).and_then(|(_, value)| value.as_text())
    }

    /// Whether lists among its variables multiply it.
    pub(super) fn expands(&self) -> bool {
        !self.has("disableVarExpansion")
    }

    /// A test of a scenario with the data of one of its configurations.
    pub(super) fn in_scenario(&self, data: &Self) -> Self {
        let description = self.description.clone().or_else(|| data.description.clone());
        Self { description, ..self.over(data) }
    }

    /// The test with what holds for all tests. A threshold that is not a number is none.
    pub(super) fn with_default(&self, default: &Self) -> Self {
        let mut case = self.over(default);
        if self.has("disableDefaultAsserts") {
            case.assertions.clone_from(&self.assertions);
        }
        case.threshold = case.threshold.filter(|threshold| !threshold.is_nan());
        case.prompts = case.prompts.or_else(|| default.prompts.clone());
        case
    }

    /// The test with the settings of another one where it has none, and with its assertions, which come first.
    fn over(&self, other: &Self) -> Self {
        Self {
            variables: merged(&other.variables, &self.variables),
            options: merged(&other.options, &self.options),
            metadata: merged(&other.metadata, &self.metadata),
            assertions: other.assertions.iter().chain(&self.assertions).cloned().collect(),
            threshold: self.threshold.or(other.threshold),
            providers: self.providers.clone().or_else(|| other.providers.clone()),
            ..self.clone()
        }
    }
}
