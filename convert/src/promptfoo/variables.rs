//! Variables of a test: lists multiply the case, files are read, and variables are filled into each other.

use std::sync::LazyLock;

use evalsuite_loader::document::Value;
use evalsuite_schema::json::{Object, Value as Json};

use fancy_regex::Regex;

use super::foreign;
use super::source_files::{FILE_SCHEME, FileValue, load, unreadable};
use super::template::{self, Rendered, render_or_keep};
use super::test_case::TestCase;
use crate::report::{Place, Report};
use crate::source::SourceFiles;

/// Rounds in which variables are filled into each other.
const ROUNDS: usize = 5;

/// Most cases of one test.
const MOST: usize = 10_000;

/// The variables of each case that a test expands to, the last variable changing fastest.
pub(super) fn combinations(test: &TestCase, files: &SourceFiles, report: &mut Report) -> Vec<Object> {
    let mut combinations = vec![Object::new()];
    for (name, (value, place)) in &test.variables {
        let values = if test.expands() { values(value, files, place, report) } else { vec![value.to_json()] };
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
fn values(value: &Value, files: &SourceFiles, place: &Place, report: &mut Report) -> Vec<Json> {
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
                    foreign::dates_of_file_to_texts(&mut data, place, report);
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
