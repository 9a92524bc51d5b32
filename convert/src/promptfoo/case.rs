//! One case: a prompt with the variables of a test, and the rules by which its assertions decide. Lists multiply the case, files are read,
//! and variables are filled into each other.

use std::sync::LazyLock;

use evalsuite_loader::document::{Data, Value};
use evalsuite_schema::json::{Object, Value as Json, json};
use fancy_regex::Regex;

use super::assertions::{self, CaseContext, Grader, Names};
use super::prompts::{self, Prompt};
use super::source_files::{FILE_SCHEME, FileValue, load, unreadable};
use super::suite_settings::SuiteSettings;
use super::template::{self, Rendered, render_or_keep};
use super::test_case::TestCase;
use super::values::{self, comments};
use crate::report::{Place, Report};
use crate::source::SourceFiles;
use crate::suite_draft::{CaseDraft, entry};
use crate::yaml_writer::number;

/// The case of a prompt; `None` if it cannot be one. `is_first`: whether it is the first one of its test, which keeps the comments.
pub(super) fn draft(
    test: &TestCase,
    prompt: &Prompt,
    is_first: bool,
    settings: &SuiteSettings,
    context: &mut CaseContext<'_>,
) -> Option<CaseDraft> {
    let variables = context.variables;
    let around = |text: &str| {
        [test.option("prefix").unwrap_or_default(), text, test.option("suffix").unwrap_or_default()].concat()
    };
    let text = around(&prompt.text.clone().unwrap_or_else(|| as_text(variables)));
    let input = match prompt.text {
        Some(_) => filled_in(&text, variables),
        None => Ok(Rendered { text: text.clone(), ..Rendered::default() }),
    };
    let Some(mut input) = context.report.kept(&prompt.place, input) else {
        context.report.dropped(&test.place, "it has no case with a prompt that cannot be filled in");
        return None;
    };
    input.report(&prompt.place, context.report);
    if let Some(reason) = unasked(&input.text, prompt, variables, settings).filter(|_| !variables.is_empty()) {
        context.report.different(&test.place, format!("{reason}: its input is its variables"));
        input.text = as_text(variables);
    }
    if input.text.trim().is_empty() {
        context.report.dropped(&test.place, "its prompt is empty");
        return None;
    }
    if text.contains("${{") {
        context.report.different(&prompt.place, "`${{ NAME }}` is filled in from the environment");
    }
    let (graders, is_lost) = assertions::map_all(&test.assertions, context);
    if graders.is_empty() && is_lost {
        context.report.dropped(&test.place, "nothing is left that grades it");
        return None;
    }
    if test.assertions.is_empty() {
        context
            .report
            .different(&test.place, "nothing grades it: every answer passes in promptfoo, and the case is skipped");
    } else if graders.is_empty() {
        context.report.different(&test.place, "nothing grades it: the case is skipped");
    }
    let (mut assertions, threshold) = decide(graders, test, context.report);
    if !is_first {
        // JSON has no comments.
        assertions = assertions.iter().map(|assertion| Value::from(assertion.to_json())).collect();
    }
    let mut entries = vec![("input".to_owned(), prompts::input(&input.text, &prompt.place, context.report))];
    if is_first {
        entries[0].1.above = comments(&prompt.above);
    }
    entries.push(("assertions".to_owned(), Value::new(Data::List(assertions))));
    entries.extend(execution(test, threshold, &settings.targets, context.report));
    entries.extend(metadata(test, variables));
    let above = if is_first { test.above.clone() } else { Vec::new() };
    Some(CaseDraft { entries, above, ..CaseDraft::default() })
}

/// Why a prompt, which is `input` with its variables filled in, does not ask what its test is about.
fn unasked(input: &str, prompt: &Prompt, variables: &Object, settings: &SuiteSettings) -> Option<String> {
    if input.trim().is_empty() {
        return Some("its prompt is empty".to_owned());
    }
    let sent = settings.sent_variables.iter().find(|name| variables.contains_key(name));
    let is_constant = prompt.text.as_ref().is_some_and(|text| template::names(text).next().is_none());
    let sent = sent.filter(|_| is_constant)?;
    Some(format!("its prompt has no variables, and the provider fills in `{sent}`"))
}

/// The variables of a test where nothing else says what the agent is asked: the value of a single text, else JSON.
fn as_text(variables: &Object) -> String {
    let mut values = variables.values();
    match (values.next(), values.next()) {
        (None, _) => String::new(),
        (Some(Json::String(text)), None) => text.clone(),
        _ => serde_json::to_string_pretty(variables).unwrap_or_default(),
    }
}

/// A prompt with its variables filled in. In a chat, each text of it is a template of its own.
fn filled_in(text: &str, variables: &Object) -> Result<Rendered, String> {
    match evalsuite_schema::json::from_str::<Json>(text) {
        Ok(mut chat @ (Json::Array(_) | Json::Object(_))) => {
            let mut chat_rendered = Rendered::default();
            fill_in(&mut chat, variables, &mut chat_rendered)?;
            Ok(Rendered { text: serde_json::to_string_pretty(&chat).unwrap_or_default(), ..chat_rendered })
        }
        _ => {
            let (variables, difference) = rendered(variables, text);
            let rendered = template::render_or_keep(text, &variables)?;
            Ok(Rendered { difference: rendered.difference.or(difference), ..rendered })
        }
    }
}

fn fill_in(json: &mut Json, variables: &Object, chat: &mut Rendered) -> Result<(), String> {
    match json {
        Json::String(text) => {
            let rendered = template::render(text, variables)?;
            *text = rendered.text;
            chat.difference = chat.difference.or(rendered.difference);
            chat.undefined = chat.undefined.take().or(rendered.undefined);
        }
        Json::Array(items) => items.iter_mut().try_for_each(|item| fill_in(item, variables, chat))?,
        Json::Object(entries) => entries.values_mut().try_for_each(|value| fill_in(value, variables, chat))?,
        _ => {}
    }
    Ok(())
}

/// The assertions as they decide about a case, and its threshold if it is not the default.
fn decide(mut graders: Vec<Grader>, test: &TestCase, report: &mut Report) -> (Vec<Value>, Option<f64>) {
    let mut names = Names::default();
    names.threshold = test.threshold;
    if test.threshold.is_some_and(|threshold| threshold <= 0.0) {
        report.approximated(&test.place, "its threshold is not above 0: every answer passes");
        graders.iter_mut().for_each(|grader| grader.weight = 0.0);
    }
    let is_weighed = graders.iter().any(|grader| grader.weight > 0.0);
    let has_partial = graders.iter().any(Grader::passes_below_one);
    // Without a threshold every assertion decides; with one the score does, whatever fails.
    let every_verdict = test.threshold.is_none();
    let mut written: Vec<Value> =
        graders.into_iter().map(|grader| names.write(grader, every_verdict, has_partial)).collect();
    // Without weights the score is 0. Without assertions every answer passes there; here the case is skipped.
    if !is_weighed && !written.is_empty() {
        let status = i32::from(test.threshold.is_some_and(|threshold| threshold > 0.0));
        let command = format!("exit {status}");
        written.push(Value::from(json!({"type": "code-grader", "name": "nothing-is-weighed", "command": command})));
    }
    if !written.is_empty() && test.threshold.is_some_and(|threshold| threshold > 1.0) {
        report.approximated(&test.place, "its threshold is above 1: no answer passes");
        written.push(assertions::never_passes());
    }
    let threshold = test.threshold.map(|threshold| threshold.clamp(0.0, 1.0));
    (written, threshold.or_else(|| (every_verdict && has_partial).then_some(0.0)))
}

fn execution(
    test: &TestCase,
    threshold: Option<f64>,
    targets: &[String],
    report: &mut Report,
) -> Option<(String, Value)> {
    let mut execution: Vec<_> = threshold.map(|threshold| entry("threshold", number(threshold))).into_iter().collect();
    if let Some(providers) = &test.providers {
        let known: Vec<&String> = providers.iter().filter(|name| targets.contains(name)).collect();
        let place = test.place.below(test.place.line, "provider");
        match (&known[..], targets.len()) {
            ([], _) if targets.len() > 1 => report.dropped(&place, "it is none of the providers of the configuration"),
            ([], _) => execution.extend(providers.first().map(|name| entry("target", name.clone()))),
            (_, 0 | 1) => {}
            (known, _) => execution.push(entry("targets", json!(known))),
        }
    }
    (!execution.is_empty()).then(|| ("execution".to_owned(), Value::new(Data::Mapping(execution))))
}

/// The test's metadata, its description, and its variables, which graders read.
fn metadata(test: &TestCase, variables: &Object) -> Option<(String, Value)> {
    let mut metadata = test.metadata.clone();
    let mut add = |key: &str, value: Json| {
        if metadata.iter().all(|(known, _)| known != key) {
            metadata.push(entry(key, value));
        }
    };
    if let Some(description) = &test.description {
        add("description", json!(description));
    }
    if !variables.is_empty() {
        add("vars", Json::Object(variables.clone()));
    }
    (!metadata.is_empty()).then(|| ("metadata".to_owned(), Value::new(Data::Mapping(metadata))))
}

/// Rounds in which variables are filled into each other.
const ROUNDS: usize = 5;

/// Most cases of one test.
const MOST: usize = 10_000;

/// The variables of each case that a test expands to, the last variable changing fastest.
pub(super) fn combinations(test: &TestCase, files: &SourceFiles, report: &mut Report) -> Vec<Object> {
    let mut combinations = vec![Object::new()];
    for (name, (value, place)) in &test.variables {
        let values = if test.expands() { values_of(value, files, place, report) } else { vec![value.to_json()] };
        if combinations.len() * values.len() > MOST {
            report.dropped(&test.place, format!("it expands to more than {MOST} cases"));
            return Vec::new();
        }
        if values.len() > 1 {
            report.mapped(place);
        }
        let with = |combination: &Object, value: &Json| {
            let mut combination = combination.clone();
            combination.insert(name.clone(), value.clone());
            combination
        };
        combinations = combinations.iter().flat_map(|known| values.iter().map(|value| with(known, value))).collect();
    }
    let text_bytes = |variables: &Object| variables.values().filter_map(Json::as_str).map(str::len).sum();
    let resolved = combinations.into_iter().map(|combination| resolved(combination, test, files, report));
    resolved.take_while(|variables| files.takes(text_bytes(variables), &test.place)).collect()
}

/// The values that a variable takes: the texts of a list, or the files of a pattern.
fn values_of(value: &Value, files: &SourceFiles, place: &Place, report: &mut Report) -> Vec<Json> {
    if let Some([first, ..]) = value.items()
        && first.as_text().is_some()
    {
        return value.items().unwrap_or_default().iter().map(Value::to_json).collect();
    }
    if let Some((text, pattern)) = value.as_text().and_then(|text| Some((text, text.strip_prefix(FILE_SCHEME)?))) {
        let found = report.kept(place, files.matching(pattern, files.root(), text, place)).unwrap_or_default();
        if found.len() > 1 {
            return found.iter().map(|file| Json::String(format!("{FILE_SCHEME}{}", files.shown(file)))).collect();
        }
    }
    vec![value.to_json()]
}

/// The variables with files read and variables filled in.
fn resolved(mut variables: Object, test: &TestCase, files: &SourceFiles, report: &mut Report) -> Object {
    for (value, (_, (_, place))) in variables.values_mut().zip(&test.variables) {
        let Json::String(text) = value else { continue };
        if let Some(reference) = text.strip_prefix(FILE_SCHEME) {
            let is_yaml = reference.ends_with(".yaml") || reference.ends_with(".yml");
            let read = load(reference, files, place).and_then(|loaded| match loaded {
                // Other files, JSON too, are text.
                FileValue::Data(mut data) if is_yaml => {
                    values::dates_of_file_to_texts(&mut data, place, report);
                    Ok(data.to_json().to_string())
                }
                FileValue::Data(_) => files
                    .text(&files.root().join(reference), reference, place)
                    .map(|text| text.trim().to_owned())
                    .map_err(|error| unreadable(reference, &error)),
                FileValue::Text(text) => Ok(text),
                FileValue::Script(..) => {
                    Err(format!("`{reference}` is a program that writes the value: save what it writes"))
                }
            });
            if let Some(contents) = report.kept(place, read) {
                *text = contents;
            }
        }
        if text.ends_with('\n') {
            text.pop();
        }
    }
    fill_into_each_other(&mut variables);
    variables
}

/// Fills names in braces into each other: in each round, the first one of each text, unless it is not a variable.
fn fill_into_each_other(variables: &mut Object) {
    for _ in 0..ROUNDS {
        let mut is_done = true;
        for key in variables.keys().cloned().collect::<Vec<_>>() {
            let Json::String(text) = &variables[&key] else { continue };
            let Ok(Some(found)) = NAME.find(text) else { continue };
            let Some(value) = variables.get(found.as_str().trim_matches(['{', '}']).trim()) else { continue };
            let filled = text.replacen(found.as_str(), &template::string(value), 1);
            variables[&key] = Json::String(filled);
            is_done = false;
        }
        if is_done {
            return;
        }
    }
}

/// A variable in braces.
static NAME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\{\{\s*[0-9A-Za-z_]+\s*\}\}").expect("the pattern is valid"));

/// The variables as they are filled into a text: what is left of templates in them is filled in, unless it has names that are not variables.
/// With it why the text may be another one.
pub(super) fn rendered(variables: &Object, text: &str) -> (Object, Option<&'static str>) {
    let (mut filled, mut difference) = (variables.clone(), None);
    for (name, value) in variables {
        let Some(template) =
            value.as_str().filter(|value| !template::names(value).any(|name| !variables.contains_key(&name)))
        else {
            continue;
        };
        let result = render_or_keep(template, variables).unwrap_or_else(|_| Rendered {
            text: template.to_owned(),
            difference: Some(template::MAY_DIFFER),
            undefined: None,
        });
        if result.difference.is_some() && template::names(text).any(|used| used == *name) {
            difference = result.difference;
        }
        filled.insert(name.clone(), Json::String(result.text));
    }
    (filled, difference)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use evalsuite_schema::json::json;

    use super::*;
    use crate::source::Source;

    fn all(variables: Json) -> Vec<Json> {
        let variables = Value::from(variables).entries().to_vec().into_iter();
        let variables = variables.map(|(name, value)| (name, (value, Place::default()))).collect();
        let test = TestCase { variables, ..TestCase::default() };
        let files = SourceFiles::new(Path::new("."), &Source::new(".")).unwrap();
        combinations(&test, &files, &mut Report::default()).into_iter().map(Json::Object).collect()
    }

    #[test]
    fn lists_of_texts_multiply() {
        assert_eq!(
            all(json!({"a": ["x", "y"], "b": ["1", "2"]})),
            [
                json!({"a": "x", "b": "1"}),
                json!({"a": "x", "b": "2"}),
                json!({"a": "y", "b": "1"}),
                json!({"a": "y", "b": "2"})
            ]
        );
        assert_eq!(all(json!({"a": [1, 2]})), [json!({"a": [1, 2]})]);
        assert_eq!(all(json!({})), [json!({})]);
        assert_eq!(all(json!({"a": []})), [json!({"a": []})]);
    }

    #[test]
    fn variables_are_filled_into_each_other() {
        assert_eq!(
            all(json!({"a": "{{b}}!\n", "b": "x{{ c }}", "c": "y", "d": "{{c}}{{none}}{{c}}", "e": "{{ c | upper }}"})),
            [json!({"a": "xy!", "b": "xy", "c": "y", "d": "y{{none}}{{c}}", "e": "{{ c | upper }}"})]
        );
    }

    #[test]
    fn templates_in_variables_are_filled_in_with_the_text() {
        let variables =
            json!({"a": "{{ c | upper }}", "b": "{{ none | upper }}", "c": "x", "d": "{% if c %}{{ c }}{% endif %}"});
        let (filled, difference) = rendered(variables.as_object().unwrap(), "{{ c }} {{ a }}");
        assert_eq!(Json::Object(filled), json!({"a": "X", "b": "{{ none | upper }}", "c": "x", "d": "x"}));
        assert!(difference.is_some() && rendered(variables.as_object().unwrap(), "{{ b }}").1.is_none());
    }
}
