//! Documents of any shape with their comments, for programs that rewrite files.

use std::collections::BTreeMap;
use std::path::Path;

use evalsuite_schema::json::Number;

use crate::diagnostic::{Diagnostics, resolve};
pub use crate::read::node::Foreign;
use crate::read::node::{Entry, Node};
use crate::read::{self, node};
use crate::source::{FileId, Files, Position};

/// A file of YAML or JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The value of the file.
    pub root: Value,
    /// Comments after the last value, without the `#`; an empty line is an empty text.
    pub end: Vec<String>,
}

/// A value with the comments of the entry or item that it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// What it is.
    pub data: Data,
    /// Where its entry or item starts.
    pub position: Position,
    /// Comments in the lines above, without the `#`; an empty line is an empty text.
    pub above: Vec<String>,
    /// The comment at the end of the line, without the `#`.
    pub beside: Option<String>,
}

/// A value by its type. Aliases and merge keys are expanded.
#[derive(Debug, Clone, PartialEq)]
pub enum Data {
    /// Nothing.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// A mapping, in the order written.
    Mapping(Vec<(String, Value)>),
    /// What only [`read_js_yaml`] and [`parse_js_yaml`] find, and JSON does not have.
    Foreign(Foreign),
}

impl Value {
    /// A value without comments, which is in no file.
    pub fn new(data: Data) -> Self {
        Self { data, position: Position::START, above: Vec::new(), beside: None }
    }

    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(Data::Text(text.into()))
    }

    /// The value in the form of JSON, without comments.
    pub fn to_json(&self) -> evalsuite_schema::Value {
        use evalsuite_schema::json::Value as Json;
        match &self.data {
            Data::Null | Data::Foreign(_) => Json::Null,
            Data::Bool(value) => Json::Bool(*value),
            Data::Number(number) => Json::Number(number.clone()),
            Data::Text(text) => Json::String(text.clone()),
            Data::List(items) => items.iter().map(Self::to_json).collect(),
            Data::Mapping(entries) => {
                Json::Object(entries.iter().map(|(key, value)| (key.clone(), value.to_json())).collect())
            }
        }
    }

    /// The value of a key, unless it is null.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let (_, value) = self.entries().iter().find(|(name, _)| name == key)?;
        (value.data != Data::Null).then_some(value)
    }

    /// The entries of a mapping; none of any other value.
    pub fn entries(&self) -> &[(String, Self)] {
        if let Data::Mapping(entries) = &self.data { entries } else { &[] }
    }

    /// The entries of a mapping, to change them.
    pub fn entries_mut(&mut self) -> &mut [(String, Self)] {
        if let Data::Mapping(entries) = &mut self.data { entries } else { &mut [] }
    }

    /// The items of a list.
    pub fn items(&self) -> Option<&[Self]> {
        if let Data::List(items) = &self.data { Some(items) } else { None }
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        if let Data::Text(text) = &self.data { Some(text) } else { None }
    }

    /// The number, if it is one that JSON has.
    pub fn as_number(&self) -> Option<f64> {
        if let Data::Number(number) = &self.data { number.as_f64() } else { None }
    }
}

impl From<evalsuite_schema::Value> for Value {
    fn from(json: evalsuite_schema::Value) -> Self {
        use evalsuite_schema::json::Value as Json;
        Self::new(match json {
            Json::Null => Data::Null,
            Json::Bool(value) => Data::Bool(value),
            Json::Number(number) => Data::Number(number),
            Json::String(text) => Data::Text(text),
            Json::Array(items) => Data::List(items.into_iter().map(Self::from).collect()),
            Json::Object(entries) => {
                Data::Mapping(entries.into_iter().map(|(key, value)| (key, Self::from(value))).collect())
            }
        })
    }
}

/// Reads a file: JSON if its name ends in `.json`, otherwise YAML. Paths in problems are relative to `shown_from`.
///
/// # Errors
///
/// Every problem of the file, at least one of which is an error.
pub fn read(path: &Path, shown_from: &Path) -> Result<Document, evalsuite_schema::diagnostics::Diagnostics> {
    read_file(path, shown_from, Dialect::Suites)
}

/// The same as programs in JavaScript read it, which use js-yaml: numbers are rounded to doubles.
///
/// # Errors
///
/// As [`read`].
pub fn read_js_yaml(path: &Path, shown_from: &Path) -> Result<Document, evalsuite_schema::diagnostics::Diagnostics> {
    read_file(path, shown_from, Dialect::JsYaml)
}

/// Reads a text as the file `path`, which need not exist.
///
/// # Errors
///
/// Every problem of the text, at least one of which is an error.
pub fn parse(text: &str, path: &Path) -> Result<Document, evalsuite_schema::diagnostics::Diagnostics> {
    parse_text(text, path, Dialect::Suites)
}

/// The same as programs in JavaScript read it.
///
/// # Errors
///
/// As [`parse`].
pub fn parse_js_yaml(text: &str, path: &Path) -> Result<Document, evalsuite_schema::diagnostics::Diagnostics> {
    parse_text(text, path, Dialect::JsYaml)
}

/// What values scalars have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Suites,
    JsYaml,
}

fn read_file(
    path: &Path,
    shown_from: &Path,
    dialect: Dialect,
) -> Result<Document, evalsuite_schema::diagnostics::Diagnostics> {
    let files = Files::new(shown_from);
    let mut d = Diagnostics::new();
    let text = read::read_text(path, &files, &mut d);
    text.and_then(|(file, text)| parse_file(file, &text, path, dialect, &mut d)).ok_or_else(|| resolve(d, &files))
}

fn parse_text(
    text: &str,
    path: &Path,
    dialect: Dialect,
) -> Result<Document, evalsuite_schema::diagnostics::Diagnostics> {
    let (files, mut d) = (Files::new(path.parent().unwrap_or(path)), Diagnostics::new());
    let file = files.add_text(path, text.into(), [0; 32]);
    parse_file(file, text, path, dialect, &mut d).ok_or_else(|| resolve(d, &files))
}

fn parse_file(file: FileId, text: &str, path: &Path, dialect: Dialect, d: &mut Diagnostics) -> Option<Document> {
    let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    let root = match dialect {
        _ if is_json => read::parse_json(file, text, d),
        Dialect::Suites => read::parse_yaml(file, text, d),
        Dialect::JsYaml => read::parse_js_yaml(file, text, d),
    };
    let root = root.filter(|_| !d.has_errors())?;
    let mut comments = if is_json { Comments::default() } else { Comments::of(text, &root) };
    // A collection starts where its first entry does, to which the comments belong.
    let mut root = match root.data {
        node::Data::Mapping(_) | node::Data::Sequence(_) => Value::new(comments.data(&root)),
        _ => comments.value(&root, root.span.start()),
    };
    if dialect == Dialect::JsYaml {
        root.round();
    }
    Some(Document { root, end: comments.end })
}

impl Value {
    /// Rounds all numbers to doubles.
    fn round(&mut self) {
        match &mut self.data {
            Data::Number(number) => *number = rounded(number),
            Data::List(items) => items.iter_mut().for_each(Self::round),
            Data::Mapping(entries) => entries.iter_mut().for_each(|(_, value)| value.round()),
            _ => {}
        }
    }
}

/// The number as a double; a whole one as an integer if it is one of 64 bits.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::float_cmp, reason = "checked to be exact")]
fn rounded(number: &Number) -> Number {
    let Some(double) = number.as_f64() else { return number.clone() };
    match double {
        _ if number.is_f64() => number.clone(),
        _ if (double as i64) as f64 == double && double < 9e18 => (double as i64).into(),
        _ if (double as u64) as f64 == double && double < 1.8e19 => (double as u64).into(),
        _ => Number::from_f64(double).unwrap_or_else(|| number.clone()),
    }
}

impl Comments {
    /// The value of a node whose entry or item starts at `position`, with its comments.
    fn value(&mut self, node: &Node, position: Position) -> Value {
        let (above, beside) = self.take(position);
        Value { data: self.data(node), position, above, beside }
    }

    fn data(&mut self, node: &Node) -> Data {
        match &node.data {
            node::Data::Null => Data::Null,
            node::Data::Foreign(foreign) => Data::Foreign(foreign.clone()),
            node::Data::Bool(value) => Data::Bool(*value),
            node::Data::Number(number) => Data::Number(number.clone()),
            node::Data::String(text) => Data::Text(text.clone()),
            node::Data::Sequence(items) => {
                Data::List(items.iter().map(|item| self.value(item, item.span.start())).collect())
            }
            node::Data::Mapping(entries) => {
                let value = |entry: &Entry| (entry.key.clone(), self.value(&entry.value, entry.key_span.start()));
                Data::Mapping(entries.iter().map(value).collect())
            }
        }
    }
}

/// Comments by the place where their entry starts.
#[derive(Default)]
struct Comments {
    above: BTreeMap<Position, Vec<String>>,
    beside: BTreeMap<Position, String>,
    /// Those after the last entry.
    end: Vec<String>,
}

/// Where entries start, and what scalars cover.
#[derive(Default)]
struct Places {
    entries: Vec<Position>,
    /// First character of each scalar and the one after its last.
    scalars: BTreeMap<Position, Position>,
}

impl Comments {
    fn of(text: &str, root: &Node) -> Self {
        let mut places = Places::default();
        places.add(root);
        places.entries.sort();
        let mut comments = Self::default();
        let mut waiting = Vec::new();
        let mut written = read::yaml_comments(text).peekable();
        for (number, line) in (1..).zip(text.lines()) {
            let is_value = places.is_scalar(Position { line: number, column: 1 });
            match written.next_if(|(position, _)| position.line == number) {
                Some((position, comment)) => match places.last_on_line(position) {
                    Some(entry) => drop(comments.beside.insert(entry, comment)),
                    None => waiting.push(comment),
                },
                None if line.trim().is_empty() && !is_value && waiting.last().is_none_or(|last| !last.is_empty()) => {
                    waiting.push(String::new());
                }
                None => {}
            }
            let start = Position { line: number + 1, column: 1 };
            let next = places.entries.partition_point(|entry| *entry < start);
            if let Some(entry) = places.entries.get(next).filter(|entry| entry.line == number + 1)
                && !waiting.is_empty()
            {
                comments.above.insert(*entry, std::mem::take(&mut waiting));
            }
        }
        while waiting.last().is_some_and(String::is_empty) {
            waiting.pop();
        }
        comments.end = waiting;
        comments
    }

    /// The comments of the entry that starts at `position`; the outermost one that asks gets them.
    fn take(&mut self, position: Position) -> (Vec<String>, Option<String>) {
        (self.above.remove(&position).unwrap_or_default(), self.beside.remove(&position))
    }
}

impl Places {
    fn add(&mut self, node: &Node) {
        match &node.data {
            node::Data::Sequence(items) => {
                for item in items {
                    self.entries.push(item.span.start());
                    self.add(item);
                }
            }
            node::Data::Mapping(entries) => {
                for entry in entries {
                    self.entries.push(entry.key_span.start());
                    self.scalars.extend(entry.key_span.range);
                    self.add(&entry.value);
                }
            }
            _ => self.scalars.extend(node.span.range),
        }
    }

    /// Whether the character at `position` is in a scalar.
    fn is_scalar(&self, position: Position) -> bool {
        self.scalars.range(..=position).next_back().is_some_and(|(_, end)| position < *end)
    }

    /// The last entry that starts on the line of `end`, before it.
    fn last_on_line(&self, end: Position) -> Option<Position> {
        let next = self.entries.partition_point(|entry| *entry < end);
        self.entries[..next].last().copied().filter(|entry| entry.line == end.line)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn document(text: &str) -> Document {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file.yaml");
        fs::write(&path, text).unwrap();
        read(&path, directory.path()).unwrap()
    }

    /// Every entry that has comments, as `key: above | beside`.
    fn commented(key: &str, value: &Value, found: &mut Vec<String>) {
        if !value.above.is_empty() || value.beside.is_some() {
            found.push(format!("{key}: {} | {}", value.above.join("/"), value.beside.as_deref().unwrap_or("-")));
        }
        match &value.data {
            Data::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    commented(&format!("{key}[{index}]"), item, found);
                }
            }
            Data::Mapping(entries) => {
                entries.iter().for_each(|(name, value)| commented(&format!("{key}.{name}"), value, found));
            }
            _ => {}
        }
    }

    #[test]
    fn comments_belong_to_the_entry_below_or_on_their_line() {
        let text = "\
# head
name: x # beside
text: 'a # no comment'
block: |
  # no comment
  b
# first

# second
tests: # of the list
  - id: a
    # above input
    input: b#c   # beside input
  # above the item
  - id: d
# end
";
        let document = document(text);
        let mut found = Vec::new();
        commented("", &document.root, &mut found);
        assert_eq!(
            found,
            [
                ".name: head | beside",
                ".tests: first//second | of the list",
                ".tests[0].input: above input | beside input",
                ".tests[1]: above the item | -",
            ]
        );
        assert_eq!(document.end, ["end"]);
    }

    #[test]
    fn aliases_are_expanded_and_their_comments_stay_at_the_anchor() {
        let document = document("a: &a\n  # one\n  x: 1\nb: *a\n");
        let mut found = Vec::new();
        commented("", &document.root, &mut found);
        assert_eq!(found, [".a.x: one | -"]);
        let Data::Mapping(entries) = document.root.data else { panic!("a mapping") };
        let (Data::Mapping(a), Data::Mapping(b)) = (&entries[0].1.data, &entries[1].1.data) else { panic!("two") };
        assert_eq!((&a[0].0, &a[0].1.data), (&b[0].0, &b[0].1.data));
    }

    #[test]
    fn js_yaml_has_doubles_dates_and_infinities() {
        let text = "a: 9007199254740993\nb: 18446744073709551615\nc: 2024-01-01\nd: .inf\ne: 1e400\nf: -0\n.inf: 1\n";
        let root = parse_js_yaml(text, Path::new("file.yaml")).unwrap().root;
        assert_eq!(
            root.to_json().to_string(),
            r#"{"a":9007199254740992,"b":1.8446744073709552e+19,"c":null,"d":null,"e":"1e400","f":-0.0,"Infinity":1}"#
        );
        assert_eq!(root.get("c").unwrap().data, Data::Foreign(Foreign::Date("2024-01-01".to_owned())));
        assert!(parse(text, Path::new("file.yaml")).is_err());
        assert!(parse_js_yaml("2024-01-01: x\n", Path::new("file.yaml")).is_err());
        let json = parse_js_yaml("[9007199254740993]", Path::new("file.json")).unwrap();
        assert_eq!(json.root.to_json().to_string(), "[9007199254740992]");
    }

    #[test]
    fn js_yaml_refuses_custom_tags() {
        let path = Path::new("file.yaml");
        for text in ["a: !env HOME", "a: !env 'HOME'", "a: !env [x]", "a: !env\n  x: 1", "!env a: 1", "a: !", "a: !e"] {
            let problems = parse_js_yaml(text, path).map(|document| document.root.to_json());
            let Err(problems) = problems else {
                assert_eq!(text, "a: !");
                continue;
            };
            let shown: Vec<String> = problems.iter().map(|problem| problem.message.clone()).collect();
            let tag = if text == "a: !e" { "!e" } else { "!env" };
            assert_eq!(shown, [format!("the tag `{tag}` does not fit here")], "{text}");
            assert!(parse(text, path).is_ok(), "{text}");
        }
        for (text, json) in [
            ("a: ! 12", r#"{"a":"12"}"#),
            ("a: ! [1]", r#"{"a":[1]}"#),
            ("a: !!str 12", r#"{"a":"12"}"#),
            ("a: !<tag:yaml.org,2002:int> '12'", r#"{"a":12}"#),
            ("%TAG !e! tag:yaml.org,2002:\n---\na: !e!map {x: 1}", r#"{"a":{"x":1}}"#),
        ] {
            assert_eq!(parse_js_yaml(text, path).unwrap().root.to_json().to_string(), json, "{text}");
        }
    }

    #[test]
    fn a_file_that_is_no_yaml_is_a_problem() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file.yaml");
        fs::write(&path, "a: [").unwrap();
        let problems = read(&path, directory.path()).unwrap_err();
        assert_eq!(problems.len(), 1);
        assert!(read(&directory.path().join("none.yaml"), directory.path()).is_err());
    }
}
