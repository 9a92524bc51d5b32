//! A TOML file as JSON, and the lines of its keys.

use std::collections::BTreeMap;
use std::path::Path;

use evalsuite_schema::json::{Object, Value};
use toml_edit::{Document, Item, TableLike};

use crate::error::ConvertError;
use crate::report::Place;
use crate::source::SourceFiles;

/// A TOML file.
#[derive(Debug)]
pub(super) struct TomlDocument {
    pub(super) root: Object,
    /// Lines by dotted paths, such as `steps[0].name`.
    lines: BTreeMap<String, u32>,
}

impl TomlDocument {
    pub(super) fn read(path: &Path, files: &SourceFiles) -> Result<Self, ConvertError> {
        let shown = files.shown(path);
        let text = files.text(path, &shown, &Place::new(shown.clone(), 0, ""))?;
        let document = Document::parse(&*text)
            .map_err(|error| ConvertError::unsupported(format!("{} is not TOML: {error}", path.display())))?;
        let mut lines = BTreeMap::new();
        let root = table(document.as_table(), "", &text, &mut lines);
        Ok(Self { root, lines })
    }

    /// The line of a key; 1 if it is not known.
    pub(super) fn line(&self, path: &str) -> u32 {
        self.lines.get(path).copied().unwrap_or(1)
    }
}

fn line(text: &str, span: Option<std::ops::Range<usize>>) -> Option<u32> {
    let before = text.get(..span?.start)?;
    u32::try_from(before.matches('\n').count() + 1).ok()
}

fn table(table: &dyn TableLike, path: &str, text: &str, lines: &mut BTreeMap<String, u32>) -> Object {
    let mut entries = Object::new();
    for (name, item) in table.iter() {
        let below = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        if let Some(line) = line(text, table.key(name).and_then(toml_edit::Key::span)) {
            lines.insert(below.clone(), line);
        }
        entries.insert(name.to_owned(), item_value(item, &below, text, lines));
    }
    entries
}

fn item_value(item: &Item, path: &str, text: &str, lines: &mut BTreeMap<String, u32>) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Table(inner) => Value::Object(table(inner, path, text, lines)),
        Item::ArrayOfTables(tables) => {
            let tables = tables.iter().enumerate().map(|(index, inner)| {
                let below = format!("{path}[{index}]");
                if let Some(line) = line(text, inner.span()) {
                    lines.insert(below.clone(), line);
                }
                Value::Object(table(inner, &below, text, lines))
            });
            tables.collect()
        }
        Item::Value(value) => plain(value, path, text, lines),
    }
}

fn plain(value: &toml_edit::Value, path: &str, text: &str, lines: &mut BTreeMap<String, u32>) -> Value {
    match value {
        toml_edit::Value::String(text) => Value::from(text.value().clone()),
        toml_edit::Value::Integer(number) => Value::from(*number.value()),
        toml_edit::Value::Float(number) => Value::from(*number.value()),
        toml_edit::Value::Boolean(value) => Value::from(*value.value()),
        toml_edit::Value::Datetime(date) => Value::from(date.value().to_string()),
        toml_edit::Value::Array(items) => items.iter().map(|item| plain(item, path, text, lines)).collect(),
        toml_edit::Value::InlineTable(inner) => Value::Object(table(inner, path, text, lines)),
    }
}
