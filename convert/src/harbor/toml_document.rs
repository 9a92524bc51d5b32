//! A TOML file as a document, whose entries have their lines.

use std::ops::Range;
use std::path::Path;

use evalsuite_loader::document::{Data, Value};
use evalsuite_schema::json::Number;
use toml_edit::{Document, Item, Key, TableLike};

use crate::error::ConvertError;
use crate::report::Place;
use crate::source::SourceFiles;

/// Reads a TOML file. An entry whose line is not known is in the first one.
pub(super) fn read(path: &Path, files: &SourceFiles) -> Result<Value, ConvertError> {
    let shown = files.shown(path);
    let text = files.text(path, &shown, &Place::new(shown.clone(), 0, ""))?;
    let document = Document::parse(&*text)
        .map_err(|error| ConvertError::unsupported(format!("{} is not TOML: {error}", path.display())))?;
    Ok(Value::new(table(document.as_table(), &text)))
}

/// A value that is written at a place of the text.
fn at(span: Option<Range<usize>>, text: &str, data: Data) -> Value {
    let before = span.and_then(|span| text.get(..span.start)).unwrap_or_default();
    let mut value = Value::new(data);
    value.position.line = u32::try_from(before.matches('\n').count() + 1).unwrap_or(1);
    value
}

fn table(table: &dyn TableLike, text: &str) -> Data {
    let entry = |(name, item): (&str, &Item)| {
        let data = match item {
            Item::None => Data::Null,
            Item::Table(inner) => self::table(inner, text),
            Item::ArrayOfTables(tables) => {
                Data::List(tables.iter().map(|inner| at(inner.span(), text, self::table(inner, text))).collect())
            }
            Item::Value(value) => plain(value, text),
        };
        (name.to_owned(), at(table.key(name).and_then(Key::span), text, data))
    };
    Data::Mapping(table.iter().map(entry).collect())
}

fn plain(value: &toml_edit::Value, text: &str) -> Data {
    match value {
        toml_edit::Value::String(text) => Data::Text(text.value().clone()),
        toml_edit::Value::Integer(number) => Data::Number((*number.value()).into()),
        toml_edit::Value::Float(number) => Number::from_f64(*number.value()).map_or(Data::Null, Data::Number),
        toml_edit::Value::Boolean(value) => Data::Bool(*value.value()),
        toml_edit::Value::Datetime(date) => Data::Text(date.value().to_string()),
        toml_edit::Value::Array(items) => {
            Data::List(items.iter().map(|item| at(item.span(), text, plain(item, text))).collect())
        }
        toml_edit::Value::InlineTable(inner) => table(inner, text),
    }
}
