//! Writes YAML with comments.
//!
//! Written by hand: `yaml_serde` has no comments.

use evalsuite_loader::document::{Data, Document, Value};

/// The text of a document.
pub(crate) fn write(document: &Document) -> String {
    let mut out = String::new();
    match &document.root.data {
        Data::Mapping(entries) if !entries.is_empty() => mapping(entries, 0, &mut out),
        Data::List(items) if !items.is_empty() => list(items, 0, &mut out),
        _ => {
            comments(&document.root.above, 0, &mut out);
            value(&document.root, 0, &mut out);
        }
    }
    comments(&document.end, 0, &mut out);
    out
}

fn mapping(entries: &[(String, Value)], indent: usize, out: &mut String) {
    for (key, entry) in entries {
        comments(&entry.above, indent, out);
        out.push_str(&format!("{:indent$}{}:", "", scalar(key)));
        value(entry, indent, out);
    }
}

fn list(items: &[Value], indent: usize, out: &mut String) {
    for item in items {
        comments(&item.above, indent, out);
        let Some(((key, first), rest)) = item.entries().split_first() else {
            out.push_str(&format!("{:indent$}-", ""));
            value(item, indent, out);
            continue;
        };
        comments(&first.above, indent, out);
        out.push_str(&format!("{:indent$}- {}:", "", scalar(key)));
        match (&first.beside, &item.beside) {
            (None, Some(_)) => value(&Value { beside: item.beside.clone(), ..first.clone() }, indent + 2, out),
            _ => value(first, indent + 2, out),
        }
        mapping(rest, indent + 2, out);
    }
}

/// What comes after a `:` or `-`, up to the end of the line or of the lines below.
fn value(value: &Value, indent: usize, out: &mut String) {
    let beside = value.beside.as_ref().map_or(String::new(), |comment| format!(" # {comment}"));
    match &value.data {
        Data::Mapping(entries) if !entries.is_empty() => {
            out.push_str(&format!("{beside}\n"));
            mapping(entries, indent + 2, out);
        }
        Data::List(items) if !items.is_empty() => {
            out.push_str(&format!("{beside}\n"));
            list(items, indent + 2, out);
        }
        Data::Text(text) if is_literal(text) => {
            out.push_str(&format!(" {}{beside}\n", if text.ends_with('\n') { "|" } else { "|-" }));
            for line in text.lines() {
                let indent = if line.is_empty() { 0 } else { indent + 2 };
                out.push_str(&format!("{:indent$}{line}\n", ""));
            }
        }
        data => {
            let text = match data {
                Data::Null | Data::Foreign(_) => "null".to_owned(),
                Data::Bool(value) => value.to_string(),
                Data::Number(number) => number.to_string(),
                Data::Text(text) => scalar(text),
                Data::List(_) => "[]".to_owned(),
                Data::Mapping(_) => "{}".to_owned(),
            };
            out.push_str(&format!(" {text}{beside}\n"));
        }
    }
}

fn comments(lines: &[String], indent: usize, out: &mut String) {
    for line in lines {
        if line.is_empty() {
            // A file does not start with an empty line, and has no two in a row.
            if !out.is_empty() && !out.ends_with("\n\n") {
                out.push('\n');
            }
            continue;
        }
        out.push_str(&format!("{:indent$}# {line}\n", ""));
    }
}

/// Whether a text is written as it is, line by line.
fn is_literal(text: &str) -> bool {
    let is_plain_line = |line: &str| line.is_empty() || !line.trim().is_empty();
    text.contains('\n')
        && !text.ends_with("\n\n")
        && text.starts_with(|first: char| !first.is_whitespace())
        && text.lines().all(is_plain_line)
        && text.chars().all(|character| character == '\n' || is_printable(character))
}

/// A text on one line, quoted where it would be read as something else.
fn scalar(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    if text.chars().all(is_printable) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            character if is_printable(character) => quoted.push(character),
            character => quoted.push_str(&format!("\\U{:08x}", u32::from(character))),
        }
    }
    quoted.push('"');
    quoted
}

/// Whether a text is read as itself without quotes, also by readers of YAML 1.1.
fn is_plain(text: &str) -> bool {
    const WORDS: &[&str] = &["null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    let starts_plain = text.starts_with(|first: char| first.is_alphabetic() || "_/$(<".contains(first))
        || text.starts_with("./")
        || text.starts_with("../");
    starts_plain
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.starts_with("<<")
        && text.chars().all(is_printable)
        && !WORDS.contains(&text.to_lowercase().as_str())
}

/// Whether a character can be written as it is, in YAML and on one line of a terminal.
fn is_printable(character: char) -> bool {
    !character.is_control()
        && !matches!(character, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// A number as it is written, without `.0` if it is whole.
pub(crate) fn number(number: f64) -> evalsuite_schema::Value {
    if number.fract() == 0.0 && number.abs() < 1e15 { (number as i64).into() } else { number.into() }
}

/// An object without the keys that have no value.
pub(crate) fn without_nulls(mut object: evalsuite_schema::Value) -> evalsuite_schema::Value {
    if let Some(entries) = object.as_object_mut() {
        entries.retain(|_, value| !value.is_null());
    }
    object
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use evalsuite_loader::document::parse;
    use evalsuite_schema::json::json;

    use super::*;

    fn round_trip(text: &str) -> String {
        write(&parse(text, Path::new("a.yaml")).unwrap())
    }

    #[test]
    fn comments_and_values_stay() {
        let text = "\
# head

name: x # beside
tests: # all
  # first
  - id: a
    # inner
    input: |
      two # no comment

      lines
  - id: b
    list:
      - 1
      - 2.5
    empty: []
# end
";
        assert_eq!(round_trip(text), text);
    }

    #[test]
    fn every_text_is_read_as_itself() {
        let texts = [
            "",
            " ",
            "a b",
            "yes",
            "12",
            "1.5",
            "- a",
            "a: b",
            "a #b",
            "'q'",
            "\"d\"",
            "x:",
            "{a}",
            "[b]",
            "*c",
            "&d",
            "!e",
            "%f",
            "@g",
            "`h",
            "|",
            ">",
            "~",
            "null",
            "a\nb",
            "a\n",
            "a\n\n",
            "\na",
            " a\nb",
            "a\n \nb",
            "tab\there",
            "a\tb\nc",
            "\u{7}",
            "é",
            "\u{2028}",
            "a\r\nb",
            "<<",
            "2025-01-01",
            "#x",
            "a\n# b\n",
            "end ",
            "{{ var }}",
            "${{ X }}",
            "\u{1f600}",
            "?",
            "-",
            ":",
        ];
        for text in texts {
            let json = json!({"k": text, "list": [text, {"deep": text}], text: 1});
            let document = Document { root: Value::from(json.clone()), end: Vec::new() };
            let written = write(&document);
            let read =
                parse(&written, Path::new("a.yaml")).unwrap_or_else(|_| panic!("{text:?} is not YAML:\n{written}"));
            assert_eq!(read.root.to_json(), json, "{text:?} in\n{written}");
        }
    }
}
