//! Tests with the defaults and the data of scenarios merged into them.

use std::collections::BTreeMap;
use std::path::Path;

use evalsuite_loader::document::{Data, Value};

use super::assertions::Assertion;
use super::source_files::{FILE_SCHEME, unreadable};
use super::tests_reader::WrittenTest;
use crate::report::{Place, Report};
use crate::source::SourceFiles;

/// A test before its variables and the prompts multiply it.
#[derive(Debug, Clone, Default)]
pub(super) struct TestCase {
    pub(super) place: Place,
    pub(super) description: Option<String>,
    pub(super) variables: Vec<(String, Value)>,
    /// Where variables are written, which may be in other files than the test.
    pub(super) variable_places: BTreeMap<String, Place>,
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
        match key.as_str() {
            _ if value.data == Data::Null => {}
            "description" => {
                case.description = value.as_text().map(str::to_owned);
                report.mapped(&place);
            }
            "vars" => case.add_variables(value, &place, &test.directory, files, report),
            "assert" => {
                for (index, item) in value.items().unwrap_or_default().iter().enumerate() {
                    let place = place.below(item.position.line.max(place.line), &format!("[{index}]"));
                    case.assertions.push(Assertion { value: item.clone(), place });
                }
            }
            "threshold" => {
                case.threshold = value.as_number();
                report.mapped(&place);
            }
            "metadata" => {
                case.metadata = value.entries().to_vec();
                report.mapped(&place);
            }
            "options" => {
                case.options = value.entries().to_vec();
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
            "prompts" => {
                case.prompts = names(value);
                report.mapped(&place);
            }
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
            self.add_entries(entries, place, files);
            return;
        }
        let patterns: Vec<&str> = value.items().map_or_else(
            || value.as_text().into_iter().collect(),
            |items| items.iter().filter_map(Value::as_text).collect(),
        );
        for pattern in patterns {
            let path = pattern.strip_prefix(FILE_SCHEME).unwrap_or(pattern);
            let found = match files.matching(path, directory, pattern, place) {
                Ok(found) => found,
                Err(problem) => {
                    report.dropped(place, problem);
                    continue;
                }
            };
            if found.is_empty() {
                report.dropped(place, format!("there is no file `{pattern}`"));
            }
            for file in found {
                let shown = files.shown(&file);
                match files.document(&file, pattern, place) {
                    Ok(document) if matches!(document.root.data, Data::Mapping(_)) => {
                        self.add_entries(document.root.entries(), &Place::new(shown, 1, "vars"), files);
                        report.mapped(place);
                    }
                    // promptfoo takes the characters of a text for variables, which no prompt uses.
                    Ok(_) => report.approximated(place, format!("`{shown}` holds no variables")),
                    Err(error) => report.dropped(place, unreadable(&shown, &error)),
                }
            }
        }
    }

    fn add_entries(&mut self, entries: &[(String, Value)], place: &Place, files: &SourceFiles) {
        check_references(entries, place, files);
        for (name, value) in entries {
            let place = place.below(value.position.line.max(place.line), name);
            self.variable_places.insert(name.clone(), place);
        }
        merge(&mut self.variables, entries);
    }
}

/// Reports files outside of the source that variables name. A file is read once the variables of a case are known, where it is not known
/// any more in which file a variable was written.
fn check_references(entries: &[(String, Value)], place: &Place, files: &SourceFiles) {
    let check = |value: &Value, place: &Place| {
        if let Some(path) = value.as_text().and_then(|text| text.strip_prefix(FILE_SCHEME)) {
            let fixed: Vec<&str> = path.split('/').take_while(|part| !part.contains(['*', '?', '[', '{'])).collect();
            files.allows(&files.root().join(fixed.join("/")), &format!("{FILE_SCHEME}{path}"), place);
        }
    };
    for (name, value) in entries {
        let place = place.below(value.position.line.max(place.line), name);
        check(value, &place);
        for (index, item) in value.items().unwrap_or_default().iter().enumerate() {
            check(item, &place.below(item.position.line.max(place.line), &format!("[{index}]")));
        }
    }
}

/// The places of the variables of one test that another one does not have.
fn places_of_others(of: &TestCase, other: &TestCase) -> Vec<(String, Place)> {
    let places = of.variable_places.iter().filter(|(name, _)| !other.variable_places.contains_key(*name));
    places.map(|(name, place)| (name.clone(), place.clone())).collect()
}

/// Later entries replace earlier ones in their place.
pub(super) fn merge(entries: &mut Vec<(String, Value)>, more: &[(String, Value)]) {
    for (key, value) in more {
        match entries.iter_mut().find(|(known, _)| known == key) {
            Some((_, known)) => known.clone_from(value),
            None => entries.push((key.clone(), value.clone())),
        }
    }
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
        let mut case = self.clone();
        case.variable_places.extend(places_of_others(data, self));
        case.variables.clone_from(&data.variables);
        merge(&mut case.variables, &self.variables);
        case.options.clone_from(&data.options);
        merge(&mut case.options, &self.options);
        case.metadata.clone_from(&data.metadata);
        merge(&mut case.metadata, &self.metadata);
        case.assertions = data.assertions.iter().chain(&self.assertions).cloned().collect();
        case.threshold = self.threshold.or(data.threshold);
        case.description = self.description.clone().or_else(|| data.description.clone());
        case.providers = self.providers.clone().or_else(|| data.providers.clone());
        case
    }

    /// The test with what holds for all tests, whose assertions come first.
    pub(super) fn with_default(&self, default: &Self) -> Self {
        let mut case = self.clone();
        case.variable_places.extend(places_of_others(default, self));
        case.variables.clone_from(&default.variables);
        merge(&mut case.variables, &self.variables);
        case.metadata.clone_from(&default.metadata);
        merge(&mut case.metadata, &self.metadata);
        if !self.has("disableDefaultAsserts") {
            case.assertions = default.assertions.iter().chain(&self.assertions).cloned().collect();
        }
        case.options.clone_from(&default.options);
        merge(&mut case.options, &self.options);
        case.threshold = self.threshold.or(default.threshold);
        case.providers = self.providers.clone().or_else(|| default.providers.clone());
        case.prompts = self.prompts.clone().or_else(|| default.prompts.clone());
        case
    }
}
