//! The text that a diagnostic points at, read by a second YAML reader.

use std::path::PathBuf;

use evalsuite_loader::source::Files;
use evalsuite_schema::Value;
use evalsuite_schema::diagnostics::{Diagnostic, Position, SourceRange};

/// The text that a diagnostic points at.
#[derive(Debug, Clone)]
pub struct SourceExcerpt {
    /// The file or directory.
    pub path: PathBuf,
    /// Text of the whole file, if it is a text file.
    pub file_text: Option<String>,
    /// Text of the span; `None` for a whole file.
    pub text: Option<String>,
    /// That text read as YAML, of which JSON is a subset.
    pub value: Option<Value>,
    /// Line and column of its start.
    pub start: Position,
}

impl SourceExcerpt {
    /// The text that `diagnostic` points at.
    pub fn of(diagnostic: &Diagnostic, files: &Files) -> Self {
        Self::at(diagnostic.place.as_ref().expect("problems of files have a place"), files)
    }

    /// The text of a range.
    pub fn at(place: &SourceRange, files: &Files) -> Self {
        let shown = files.all().into_iter().filter(|file| *file.shown == *place.file);
        let file = shown.max_by_key(|file| file.text.is_some()).expect("a file that was looked at");
        let start = place.start().unwrap_or(Position::START);
        let file_text = file.text.map(|text| text.to_string());
        let text = match (place.range, &file_text) {
            (Some((start, end)), Some(text)) => Some(slice(text, start, end)),
            _ => None,
        };
        let value = text.as_deref().and_then(|text| read(text, start));
        Self { path: file.path, file_text, text, value, start }
    }

    /// The texts of the file that may contain the place: strings with its text in them, from the whole file or its line.
    pub fn texts_around(&self) -> Vec<String> {
        let file = self.file_text.as_deref().unwrap_or_default();
        let line = file.lines().nth(self.start.line as usize - 1);
        let mut texts = Vec::new();
        let values = [Some(file), line].into_iter().flatten().filter_map(from_yaml);
        values.for_each(|value| add_texts(&value, &mut texts));
        let here = self.text.as_deref().unwrap_or_default();
        // A whole value may be quoted.
        let read = from_yaml(here).and_then(|value| value.as_str().map(str::to_owned));
        texts.retain(|text| text.contains(here) || read.as_ref().is_some_and(|read| text.contains(read)));
        texts
    }

    /// The value of the key at this location: what follows its colon.
    pub fn value_of_key(&self) -> Option<Value> {
        let (Some(file), Some(text)) = (&self.file_text, &self.text) else { return None };
        let line = file.lines().nth(self.start.line as usize - 1)?;
        let after: String = line.chars().skip(self.start.column as usize - 1 + text.chars().count()).collect();
        let after = after.trim_start().strip_prefix(':')?.trim();
        // In a flow mapping the line continues after the value: take the shortest prefix that is a value.
        let ends = after.char_indices().filter(|(_, c)| matches!(c, ',' | '}')).map(|(at, _)| at);
        ends.chain([after.len()]).find_map(|end| match from_yaml(&format!("[{}]", &after[..end])) {
            Some(Value::Array(items)) if items.len() < 2 => Some(items.into_iter().next().unwrap_or_default()),
            _ => None,
        })
    }
}

impl SourceExcerpt {
    /// Whether the location may be in the case with this id: in its directory, its line of a JSONL file, its list item.
    pub fn may_be_in_case(&self, id: &str) -> bool {
        let name = self.path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        let Some(text) = &self.file_text else { return true };
        if matches!(name.as_str(), "case.yaml" | "case.yml") {
            return self.path.parent().is_some_and(|directory| directory.ends_with(id)) || text.contains(id);
        }
        let lines: Vec<&str> = text.lines().collect();
        let here = self.start.line as usize - 1;
        if name.ends_with(".jsonl") {
            return lines.get(here).is_some_and(|line| line.contains(id));
        }
        // The list item around the location: from its dash to the next one with the same indentation.
        let indent = |line: &str| line.len() - line.trim_start().len();
        let is_item = |line: &str| line.trim_start().starts_with("- ");
        let starts: Vec<usize> = (0..lines.len()).filter(|at| is_item(lines[*at])).collect();
        let Some(outermost) = starts.iter().map(|at| indent(lines[*at])).min() else { return true };
        let cases: Vec<usize> = starts.into_iter().filter(|at| indent(lines[*at]) == outermost).collect();
        let Some(first) = cases.iter().rev().find(|at| **at <= here) else { return true };
        let end = cases.iter().find(|at| **at > here).copied().unwrap_or(lines.len());
        lines[*first..end].iter().any(|line| line.contains(id))
    }
}

fn add_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| add_texts(item, texts)),
        Value::Object(entries) => entries.values().for_each(|entry| add_texts(entry, texts)),
        _ => {}
    }
}

fn slice(text: &str, start: Position, end: Position) -> String {
    let mut found = String::new();
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let number = index + 1;
        let (first, last) = (start.line as usize, end.line as usize);
        if number < first || number > last {
            continue;
        }
        let line = if number == 1 { line.strip_prefix('\u{feff}').unwrap_or(line) } else { line };
        let from = if number == first { start.column as usize - 1 } else { 0 };
        let to = if number == last { end.column as usize - 1 } else { usize::MAX };
        found.extend(line.chars().enumerate().filter(|(at, _)| (from..to).contains(at)).map(|(_, c)| c));
    }
    found
}

/// A value cut out of a file keeps its column, so that the indentation of the following lines is still correct.
fn read(text: &str, start: Position) -> Option<Value> {
    let indented = format!("{}{text}", " ".repeat(start.column as usize - 1));
    // The last key may have no value, and its colon is then not part of the text.
    from_yaml(&indented).or_else(|| from_yaml(text)).or_else(|| from_yaml(&format!("{indented}:")))
}

/// The data of a YAML text as the second reader sees it; `None` if that reader rejects it.
pub fn from_yaml(text: &str) -> Option<Value> {
    let value: serde_yaml::Value =
        serde_yaml::from_str(text).or_else(|_| serde_yaml::from_str(&with_large_integers_as_floats(text))).ok()?;
    Some(to_json(value))
}

/// The text with integers that this reader rejects, those beyond 64 bits, written as floats.
fn with_large_integers_as_floats(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let length = rest[start..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - start);
        let (number, after) = rest[start..].split_at(length);
        written.push_str(&rest[..start]);
        written.push_str(number);
        if length > 18 && !after.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '_')) {
            written.push_str(".0");
        }
        rest = after;
    }
    written + rest
}

fn to_json(value: serde_yaml::Value) -> Value {
    match value {
        serde_yaml::Value::Null => Value::Null,
        serde_yaml::Value::Bool(value) => Value::Bool(value),
        serde_yaml::Value::Number(number) => evalsuite_schema::json::to_value_by_serde(&number).unwrap_or(Value::Null),
        serde_yaml::Value::String(text) => Value::String(text),
        serde_yaml::Value::Sequence(items) => Value::Array(items.into_iter().map(to_json).collect()),
        serde_yaml::Value::Mapping(entries) => {
            let entry = |(key, value)| {
                let key = match to_json(key) {
                    Value::String(key) => key,
                    other => other.to_string(),
                };
                (key, to_json(value))
            };
            Value::Object(entries.into_iter().map(entry).collect())
        }
        serde_yaml::Value::Tagged(tagged) => to_json(tagged.value),
    }
}

/// The kind of a value, as diagnostics name it.
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}
