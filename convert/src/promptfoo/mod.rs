//! From promptfoo configurations: prompts × tests × variables become cases, assertions become graders.

mod assertions;
mod case;
mod javascript_regex;
mod prompts;
mod source_files;
mod suite_settings;
mod template;
mod test_case;
mod tests_reader;
mod values;

use std::path::{Path, PathBuf};

use evalsuite_loader::document::{self, Data, Document, Value};

use self::assertions::CaseContext;
use self::prompts::Prompt;
use self::source_files::{FILE_SCHEME, extension_of, unreadable};
use self::suite_settings::SuiteSettings;
use self::test_case::TestCase;
use self::tests_reader::WrittenTest;
use self::values::comments;
use crate::error::ConvertError;
use crate::new_suite::{NewSuite, SourceKind};
use crate::report::{Place, Report};
use crate::source::{MAX_CASES, Source, SourceFiles};
use crate::suite_draft::{CaseIds, SuiteDraft};

/// How the table of kinds names it.
pub(crate) const KIND: SourceKind = SourceKind {
    name: "promptfoo",
    about: "A promptfoo configuration",
    is_source,
    convert: |source| from_promptfoo(source),
};

/// Names of configurations in a directory, the first that exists.
const CONFIGURATIONS: &[&str] = &["promptfooconfig.yaml", "promptfooconfig.yml", "promptfooconfig.json"];

/// Whether it is a configuration, from its name or its keys, or the directory of one.
fn is_source(path: &Path) -> bool {
    if path.is_dir() {
        return CONFIGURATIONS.iter().any(|name| path.join(name).is_file());
    }
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let root = document::read(path, path.parent().unwrap_or(path)).map(|document| document.root);
    let keys = ["prompts", "providers", "scenarios"];
    name.starts_with("promptfooconfig") || root.is_ok_and(|root| keys.iter().any(|key| root.get(key).is_some()))
}

/// Converts the promptfoo configuration `source`, a YAML or JSON file or the directory of a `promptfooconfig.yaml`.
///
/// Programs that a configuration names are not run: prompts, tests and variables that a program writes are dropped.
///
/// # Errors
///
/// If the configuration cannot be read or is not one, names files outside of its directory that are not allowed, is too large, or has no
/// case that can be converted.
pub fn from_promptfoo(source: impl Into<Source>) -> Result<NewSuite, ConvertError> {
    let source = source.into();
    let file = configuration(&source.path)?;
    let files = SourceFiles::new(file.parent().unwrap_or(&file), &source)?;
    let name = files.shown(&file);
    let mut document = match source.path.is_dir() {
        true => files.js_yaml(&file, &name, &Place::new(name.clone(), 0, ""))?,
        // A link that was named on purpose may lead anywhere.
        false => document::read_js_yaml(&file, files.root()).map_err(ConvertError::unreadable)?,
    };
    if !source_files::resolve(&mut document.root) {
        let place = Place::new(name.clone(), 0, "");
        files.too_much("its `$ref`s expand to too many values", &place);
    }
    // Only a mapping has keys.
    if !["prompts", "tests", "scenarios", "providers"].iter().any(|key| document.root.get(key).is_some()) {
        let message = "is not a promptfoo configuration: it has no prompts and no tests";
        return Err(ConvertError::unsupported(format!("{} {message}", file.display())));
    }
    let mut configuration = Configuration { files, ..Configuration::default() };
    for (key, value) in document.root.entries_mut() {
        let place = Place::new(name.clone(), value.position.line, key.clone());
        values::dates_to_objects(value, &place, &mut configuration.report);
    }
    configuration.convert(document, &Place::new(name, 1, ""), &file)
}

fn configuration(path: &Path) -> Result<PathBuf, ConvertError> {
    let shown = path.display();
    if path.is_dir() {
        let found = CONFIGURATIONS.iter().map(|name| path.join(name)).find(|file| file.is_file());
        return found.ok_or_else(|| ConvertError::unsupported(format!("{shown} has no promptfooconfig.yaml")));
    }
    match extension_of(path).as_str() {
        "yaml" | "yml" | "json" => Ok(path.to_owned()),
        _ => Err(ConvertError::unsupported(format!("{shown} is a program: write its configuration as YAML"))),
    }
}

/// A configuration that is being converted.
#[derive(Default)]
struct Configuration {
    files: SourceFiles,
    report: Report,
    ids: CaseIds,
    draft: SuiteDraft,
}

impl Configuration {
    /// `start`: the first line of the file.
    fn convert(mut self, document: Document, start: &Place, file: &Path) -> Result<NewSuite, ConvertError> {
        let (mut prompts, mut tests, mut scenarios, mut default) = (Vec::new(), Vec::new(), None, None);
        let mut settings = SuiteSettings::new(file);
        let mut above_tests = Vec::new();
        for (key, value, place) in start.entries(&document.root) {
            match key {
                _ if value.data == Data::Null => {}
                "prompts" => {
                    prompts = prompts::read(value, &place, &self.files, &mut self.report);
                    above_tests.extend(comments(&value.above));
                }
                "tests" => {
                    tests = tests_reader::read(value, &place, &self.files, &mut self.report);
                    above_tests.extend(comments(&value.above));
                }
                "scenarios" => scenarios = Some((value, place)),
                "defaultTest" => default = self.default_test(value, &place),
                "assertionTemplates" => self.report.mapped(&place),
                _ => settings.read(key, value, &place, &mut self.report),
            }
        }
        let default = default.unwrap_or_default();
        let has_tests = |tests: &Value| tests.data != Data::Null && tests.items().is_none_or(|items| !items.is_empty());
        let mut cases: Vec<TestCase> =
            tests.iter().map(|test| test_case::read(test, &self.files, &mut self.report)).collect();
        if let Some((value, place)) = scenarios {
            cases.extend(self.scenarios(value, &place));
        } else if !document.root.get("tests").is_some_and(has_tests) {
            cases.push(TestCase { place: start.below(1, "prompts"), ..TestCase::default() });
        }
        let cases: Vec<TestCase> = cases.iter().map(|case| case.with_default(&default)).collect();
        for (index, test) in cases.iter().enumerate() {
            self.cases(test, index + 1, &prompts, &settings);
        }
        let copied_from_outside = self.files.finish()?;
        let draft = SuiteDraft { settings: settings.write(), above: above_tests, end: document.end, ..self.draft };
        NewSuite::new(draft, self.report, copied_from_outside)
    }

    fn default_test(&mut self, value: &Value, place: &Place) -> Option<TestCase> {
        let (value, place) = match value.as_text() {
            None => (value.clone(), place.clone()),
            Some(text) => {
                let path = self.files.root().join(text.strip_prefix(FILE_SCHEME).unwrap_or(text));
                let read = self.files.js_yaml(&path, text, place).map_err(|error| unreadable(text, &error));
                let mut root = self.report.kept(place, read)?.root;
                let place = Place::new(self.files.shown(&path), 1, "defaultTest");
                values::dates_to_texts(&mut root, &place, &mut self.report);
                (root, place)
            }
        };
        let test = WrittenTest { value, place, directory: self.files.root().to_owned() };
        Some(test_case::read(&test, &self.files, &mut self.report))
    }

    /// The tests of all scenarios, each with the data of each configuration of its scenario.
    fn scenarios(&mut self, value: &Value, place: &Place) -> Vec<TestCase> {
        let mut cases = Vec::new();
        let single = std::slice::from_ref(value);
        for (index, item) in value.items().unwrap_or(single).iter().enumerate() {
            let place = place.below(item.position.line, &format!("[{index}]"));
            let (item, place) = match item.as_text().and_then(|text| Some((text, text.strip_prefix(FILE_SCHEME)?))) {
                None => (item.clone(), place),
                Some((text, path)) => {
                    let file = self.files.root().join(path);
                    let read = self.files.js_yaml(&file, text, &place).map_err(|error| unreadable(path, &error));
                    let Some(mut document) = self.report.kept(&place, read) else { continue };
                    let place = Place::new(self.files.shown(&file), 1, "scenario");
                    values::dates_to_texts(&mut document.root, &place, &mut self.report);
                    (document.root, place)
                }
            };
            for (key, _, at) in place.entries(&item) {
                if !["description", "config", "tests"].contains(&key) {
                    self.report.dropped(&at, "a scenario has no such setting");
                }
            }
            let read = |key: &str, report: &mut Report| {
                let Some(value) = item.get(key) else { return Vec::new() };
                let tests = tests_reader::read(value, &place.below(value.position.line, key), &self.files, report);
                tests.iter().map(|test| test_case::read(test, &self.files, report)).collect::<Vec<_>>()
            };
            let data = read("config", &mut self.report);
            let mut tests = read("tests", &mut self.report);
            if tests.is_empty() {
                tests.push(TestCase { place: place.clone(), ..TestCase::default() });
            }
            for data in &data {
                cases.extend(tests.iter().map(|test| test.in_scenario(data)));
            }
        }
        cases
    }

    /// Adds the cases that a test expands to.
    fn cases(&mut self, test: &TestCase, number: usize, prompts: &[Prompt], settings: &SuiteSettings) {
        let prompts: Vec<(usize, &Prompt)> =
            prompts.iter().enumerate().filter(|(_, prompt)| takes(test, prompt)).collect();
        if prompts.is_empty() {
            self.report.dropped(&test.place, "there is no prompt for it");
        }
        let mut is_first = true;
        for variables in case::combinations(test, &self.files, &mut self.report) {
            for (index, prompt) in &prompts {
                let otherwise = format!("test-{number}");
                let base = test.description.as_deref().unwrap_or(&otherwise);
                let text = if prompts.len() > 1 { format!("{base} prompt {}", index + 1) } else { base.to_owned() };
                if self.draft.cases.len() == MAX_CASES {
                    let message = format!("more than {MAX_CASES} cases: a suite has at most {MAX_CASES}");
                    return self.files.too_much(message, &test.place);
                }
                let id = self.ids.next(&text, &otherwise);
                if !self.files.takes(prompt.text.as_ref().map_or(0, String::len), &test.place) {
                    return;
                }
                let mut context = CaseContext {
                    variables: &variables,
                    files: &self.files,
                    id: &id,
                    scores_decide: test.threshold.is_some(),
                    transform: test.option("transform"),
                    output: &mut self.draft.output,
                    report: &mut self.report,
                };
                if let Some(case) = case::draft(test, prompt, is_first, settings, &mut context) {
                    self.draft.cases.push((id, case));
                    is_first = false;
                }
            }
        }
    }
}

/// Whether a test takes a prompt.
fn takes(test: &TestCase, prompt: &Prompt) -> bool {
    let is_name = |known: &String, name: &String| {
        known == name || name.strip_suffix('*').is_some_and(|start| known.starts_with(start))
    };
    let takes = |name: &String| prompt.names.iter().any(|known| is_name(known, name));
    test.prompts.as_ref().is_none_or(|names| names.iter().any(takes))
}

#[cfg(test)]
mod tests;
