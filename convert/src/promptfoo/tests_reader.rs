//! Tests of a configuration and of the files that it names: YAML, JSON, and CSV with variables and columns that start with `__`.

use std::path::{Path, PathBuf};

use evalsuite_loader::document::{self, Data, Value};
use evalsuite_schema::json::{Object, Value as Json, json};

use super::source_files::{FILE_SCHEME, extension_of, script_of, unreadable};
use super::values::{self, comma_list, elements};
use crate::error::ConvertError;
use crate::report::{Place, Report};
use crate::source::{MAX_CASES, SourceFiles};

/// A test as it is written.
#[derive(Debug, Clone)]
pub(super) struct WrittenTest {
    /// A mapping.
    pub(super) value: Value,
    pub(super) place: Place,
    /// The directory of its file.
    pub(super) directory: PathBuf,
}

/// Reads `tests`: a list of tests and files, or one file. Paths are relative to the directory of the configuration.
pub(super) fn read(value: &Value, place: &Place, files: &SourceFiles, report: &mut Report) -> Vec<WrittenTest> {
    let mut tests = Vec::new();
    for (item, place) in elements(value, place) {
        match item.as_text().or_else(|| item.get("path").and_then(Value::as_text)) {
            Some(path) => {
                let before = tests.len();
                for file in report.kept(&place, test_files(path, &place, files)).into_iter().flatten() {
                    report.mapped(&place);
                    let read = read_file(&file, path, &place, files, report, &mut tests);
                    report.kept(&place, read);
                }
                if let Some(first) = tests.get_mut(before) {
                    first.value.above.splice(0..0, item.above.iter().cloned());
                }
            }
            None if matches!(item.data, Data::Mapping(_)) => {
                tests.push(WrittenTest { value: item.clone(), place, directory: files.root().to_owned() });
            }
            None => report.dropped(&place, "it is neither a test nor a file of tests"),
        }
    }
    tests
}

/// The files that a path or pattern of `tests` names; the error says why there are none.
fn test_files(path: &str, place: &Place, files: &SourceFiles) -> Result<Vec<PathBuf>, String> {
    let pattern = path.strip_prefix(FILE_SCHEME).unwrap_or(path);
    if pattern.contains("://") {
        return Err(format!("`{path}` is not a file: save its rows as one"));
    }
    if script_of(pattern, files.root()).is_some() {
        return Err(format!("`{pattern}` is a program that writes tests: save them as a file"));
    }
    let found = files.matching(pattern, files.root(), path, place)?;
    if found.is_empty() { Err(format!("there is no file `{pattern}`")) } else { Ok(found) }
}

/// Adds the tests of a file that `reference` at `place` names; the error says why it has none.
fn read_file(
    file: &Path,
    reference: &str,
    place: &Place,
    files: &SourceFiles,
    report: &mut Report,
    tests: &mut Vec<WrittenTest>,
) -> Result<(), String> {
    let shown = files.shown(file);
    let unreadable = |error: ConvertError| unreadable(&shown, &error);
    let place_of = |line: u32, name: &str| Place::new(shown.clone(), line, name);
    let own_directory = file.parent().unwrap_or(files.root()).to_owned();
    // The limit of tests ends the conversion, whatever the error says.
    let mut add = |value: Value, place: Place| {
        if tests.len() == MAX_CASES {
            let message = format!("more than {MAX_CASES} tests: a suite has at most {MAX_CASES} cases");
            files.too_much(&message, &place);
            return Err(message);
        }
        tests.push(WrittenTest { value, place, directory: own_directory.clone() });
        Ok(())
    };
    match extension_of(file).as_str() {
        "csv" => {
            let text = files.text(file, reference, place).map_err(unreadable)?;
            let unreadable = |problem: csv::Error| format!("`{shown}` cannot be read: {problem}");
            for row in read_csv(&text).map_err(unreadable)? {
                let (test, unknown, line) = row.map_err(unreadable)?;
                for column in unknown {
                    report.dropped(&place_of(line, "row").below(1, &column), "promptfoo knows no such column");
                }
                add(test, place_of(line, "test"))?;
            }
        }
        "jsonl" => {
            let text = files.text(file, reference, place).map_err(unreadable)?;
            for (line, number) in text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty()) {
                let place = place_of(number, "test");
                match document::parse(line, &file.with_extension("json")) {
                    Err(_) => report.dropped(&place, "the line is not JSON"),
                    Ok(test) => add(test.root, place)?,
                }
            }
        }
        "yaml" | "yml" | "json" => {
            let mut root = files.js_yaml(file, reference, place).map_err(unreadable)?.root;
            values::dates_to_objects(&mut root, &place_of(1, ""), report);
            match root.data {
                Data::List(items) => {
                    for (index, item) in items.into_iter().enumerate() {
                        let place = place_of(item.position.line, &format!("[{index}]"));
                        match item.data {
                            Data::Mapping(_) => add(item, place)?,
                            _ => report.dropped(&place, "it is not a test"),
                        }
                    }
                }
                Data::Mapping(_) => add(root, place_of(1, "test"))?,
                _ => return Err(format!("`{shown}` holds no tests")),
            }
        }
        _ => return Err(format!("tests cannot be read from `{shown}`")),
    }
    Ok(())
}

/// A test of a file, its columns that are neither variables nor known, and its line.
type Row = (Value, Vec<String>, u32);

/// The tests of a text.
fn read_csv(text: &str) -> csv::Result<impl Iterator<Item = csv::Result<Row>>> {
    let mut reader = csv::ReaderBuilder::new().flexible(false).from_reader(text.as_bytes());
    let columns = reader.headers()?.iter().map(|name| name.trim_start_matches('\u{feff}').trim().to_owned());
    let columns: Vec<String> = columns.collect();
    Ok(reader.into_records().map(move |record| {
        let record = record?;
        let line = record.position().map_or(0, |position| u32::try_from(position.line()).unwrap_or(u32::MAX));
        let (test, unknown) = row(columns.iter().map(String::as_str).zip(&record));
        Ok((test, unknown, line))
    }))
}

fn row<'a>(cells: impl Iterator<Item = (&'a str, &'a str)>) -> (Value, Vec<String>) {
    let (mut variables, mut metadata, mut options) = (Object::new(), Object::new(), Object::new());
    let mut asserts: Vec<Object> = Vec::new();
    let mut settings: Vec<(usize, &str, Json)> = Vec::new();
    let (mut test, mut unknown, mut metric) = (Object::new(), Vec::new(), None);
    for (column, cell) in cells {
        let is_filled = !cell.trim().is_empty();
        match column.strip_prefix("__") {
            None => drop(variables.insert(column.to_owned(), json!(cell))),
            Some(name) if name.starts_with("expected") => asserts.extend(is_filled.then(|| assertion(cell.trim()))),
            Some("prefix" | "suffix") => drop(options.insert(column[2..].to_owned(), json!(cell))),
            Some("description") => drop(test.insert("description".to_owned(), json!(cell))),
            Some("metric") => metric = is_filled.then_some(cell),
            Some("threshold") => test.extend(number(cell).map(|number| ("threshold".to_owned(), number))),
            Some("providerOutput") if !is_filled => {}
            Some("providerOutput") => drop(test.insert("providerOutput".to_owned(), json!(cell))),
            Some(name) => match (name.strip_prefix("metadata:"), name.strip_prefix("config:")) {
                (Some(key), _) if is_filled => match key.strip_suffix("[]") {
                    Some(key) => drop(metadata.insert(key.to_owned(), escaped_list(cell))),
                    None => drop(metadata.insert(key.to_owned(), json!(cell))),
                },
                (Some(_), _) => {}
                (None, Some(setting)) => match (setting.split_once(':'), number(cell)) {
                    (Some((expected, key)), Some(value)) => {
                        let number = expected.trim_start_matches("__expected").parse().unwrap_or(1_usize);
                        settings.push((number.saturating_sub(1), key, value));
                    }
                    _ => unknown.push(column.to_owned()),
                },
                (None, None) => unknown.push(column.to_owned()),
            },
        }
    }
    for (index, key, value) in settings {
        if let Some(assert) = asserts.get_mut(index) {
            assert.insert(key.to_owned(), value.clone());
            metadata.insert(key.to_owned(), value);
        }
    }
    if let Some(metric) = metric {
        asserts.iter_mut().for_each(|assert| drop(assert.insert("metric".to_owned(), json!(metric))));
    }
    test.insert("vars".to_owned(), Json::Object(variables));
    test.insert("assert".to_owned(), asserts.into_iter().map(Json::Object).collect());
    for (key, entries) in [("metadata", metadata), ("options", options)] {
        if !entries.is_empty() {
            test.insert(key.to_owned(), Json::Object(entries));
        }
    }
    (Value::new(Value::from(Json::Object(test)).data), unknown)
}

/// A list whose commas may be escaped.
fn escaped_list(cell: &str) -> Json {
    let texts = cell.replace("\\,", "\u{0}");
    texts.split(',').map(|text| json!(text.trim().replace('\u{0}', ","))).collect()
}

fn number(cell: &str) -> Option<Json> {
    cell.trim().parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| json!(number))
}

/// Whether the text of a type may carry a threshold in a cell, and has one of 0.75 without it. `None` for what is no type.
fn takes_threshold(kind: &str) -> Option<bool> {
    match kind {
        "answer-relevance" | "classifier" | "context-recall" | "context-relevance" | "cost" | "latency"
        | "levenshtein" | "perplexity" | "perplexity-score" | "rouge-n" | "similar" | "starts-with" => Some(true),
        "context-faithfulness" => Some(true),
        "bleu" | "contains" | "contains-all" | "contains-any" | "contains-html" | "contains-json" | "contains-sql"
        | "contains-xml" | "equals" | "factuality" | "finish-reason" | "g-eval" | "gleu" | "guardrails"
        | "icontains" | "icontains-all" | "icontains-any" | "is-html" | "is-json" | "is-refusal" | "is-sql"
        | "is-xml" | "javascript" | "llm-rubric" | "meteor" | "moderation" | "pi" | "python" | "regex" | "ruby"
        | "similar:cosine" | "similar:dot" | "similar:euclidean" | "skill-used" | "tool-call-f1" | "webhook"
        | "word-count" => Some(false),
        "conversation-relevance" | "model-graded-closedqa" | "model-graded-factuality" => Some(false),
        "is-valid-function-call" | "is-valid-openai-function-call" | "is-valid-openai-tools-call" => Some(false),
        _ => None,
    }
}

/// The assertion in a cell: `type(threshold): value`, or text that the answer equals.
fn assertion(cell: &str) -> Object {
    let of = |kind: &str, value: Json| {
        let mut entries = Object::new();
        entries.insert("type".to_owned(), json!(kind));
        if !value.is_null() {
            entries.insert("value".to_owned(), value);
        }
        entries
    };
    match cell.split_once(':') {
        Some(("javascript" | "fn" | "eval", code)) => of("javascript", json!(code.trim())),
        Some(("python", code)) => of("python", json!(code.trim())),
        Some(("grade" | "llm-rubric", text)) => of("llm-rubric", json!(text)),
        Some(("file", path)) if path.starts_with("//") => {
            let is_python = path.ends_with(".py") || path.contains(".py:");
            of(if is_python { "python" } else { "javascript" }, json!(cell))
        }
        _ => typed(cell, &of).unwrap_or_else(|| of("equals", json!(cell))),
    }
}

fn typed(cell: &str, of: &dyn Fn(&str, Json) -> Object) -> Option<Object> {
    let (not, rest) = cell.strip_prefix("not-").map_or(("", cell), |rest| ("not-", rest));
    let metrics = ["similar:cosine", "similar:dot", "similar:euclidean"];
    let metric = metrics.iter().find(|kind| rest.starts_with(**kind)).map(|kind| kind.len());
    let end = metric.or(rest.find(['(', ':'])).unwrap_or(rest.len());
    let (kind, after) = rest.split_at(end);
    let takes_threshold = takes_threshold(kind)?;
    let (threshold, after) = match after.strip_prefix('(').and_then(|inner| inner.split_once(')')) {
        Some((inner, after)) => (Some(number(inner)?), after),
        None => (None, after),
    };
    let value = match after.strip_prefix(':') {
        Some(value) => json!(value.trim()),
        None if after.is_empty() => Json::Null,
        None => return None,
    };
    let is_list = matches!(kind, "contains-all" | "contains-any" | "icontains-all" | "icontains-any");
    let value = match value.as_str() {
        Some(text) if is_list => comma_list(text).0.into_iter().map(Json::String).collect(),
        _ => value,
    };
    let mut entries = of(&format!("{not}{kind}"), value);
    if takes_threshold {
        entries.insert("threshold".to_owned(), threshold.unwrap_or_else(|| json!(0.75)));
    }
    Some(entries)
}

#[cfg(test)]
mod tests {
    use evalsuite_loader::document::Data;

    use super::*;

    #[test]
    fn a_cell_is_an_assertion() {
        for (cell, expected) in [
            ("plain: text", json!({"type": "equals", "value": "plain: text"})),
            ("contains: algorithm", json!({"type": "contains", "value": "algorithm"})),
            ("contains-any: a, \"b, c\"", json!({"type": "contains-any", "value": ["a", "b, c"]})),
            ("not-contains:x", json!({"type": "not-contains", "value": "x"})),
            ("is-json", json!({"type": "is-json"})),
            ("levenshtein(3): abc", json!({"type": "levenshtein", "value": "abc", "threshold": 3.0})),
            ("starts-with: abc", json!({"type": "starts-with", "value": "abc", "threshold": 0.75})),
            ("fn: output.length", json!({"type": "javascript", "value": "output.length"})),
            ("grade: is polite", json!({"type": "llm-rubric", "value": " is polite"})),
            ("file://a.py:f", json!({"type": "python", "value": "file://a.py:f"})),
            ("is-jsonish", json!({"type": "equals", "value": "is-jsonish"})),
        ] {
            assert_eq!(Json::Object(assertion(cell)), expected, "{cell}");
        }
    }

    #[test]
    fn a_row_is_a_test() {
        let cells = [
            ("topic", "physics"),
            ("__expected1", "contains: quantum"),
            ("__expected2", "grade:x"),
            ("__expected3", " "),
            ("__metadata:tags[]", "a,b\\,c"),
            ("__config:__expected2:threshold", "0.8"),
            ("__threshold", "0"),
            ("__colour", "red"),
        ];
        let (test, unknown) = row(cells.into_iter());
        assert_eq!(
            test.to_json(),
            json!({
                "threshold": 0.0,
                "vars": {"topic": "physics"},
                "assert": [{"type": "contains", "value": "quantum"}, {"type": "llm-rubric", "value": "x", "threshold": 0.8}],
                "metadata": {"tags": ["a", "b,c"], "threshold": 0.8},
            })
        );
        assert_eq!(unknown, ["__colour"]);
        assert!(matches!(test.data, Data::Mapping(_)));
    }
}
