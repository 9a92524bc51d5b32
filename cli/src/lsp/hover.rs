//! What a key or a type of graders means, from the tables that the reference is made from.

use std::ops::Range;

use evalsuite_loader::keys::{Key, Status, Table, Type};

use super::file_tree::FileTree;
use super::key_types::grader;

/// Markdown about what is at a byte, and the bytes that it is about.
pub(super) fn at(tree: &FileTree, offset: usize) -> Option<(String, Range<usize>)> {
    let spot = tree.at(offset);
    let entry = spot.entry?;
    let key_doc = || spot.known_key().map(of_key);
    if spot.is_key {
        return Some((key_doc()?, entry.key_range.clone()));
    }
    let text = spot.node.scalar().filter(|text| !text.is_empty())?;
    let doc = if spot.is_grader_name() { of_grader(grader(text)?) } else { key_doc()? };
    Some((doc, spot.node.range.clone()))
}

/// What a key means, in Markdown.
pub(super) fn of_key(key: &Key) -> String {
    let mut text = format!("**`{}`**: {}\n\n{}", key.name, value_of(&key.value), key.doc);
    let mut sentence = |sentence: String| text.push_str(&format!(" {sentence}"));
    if let Some(unit) = key.unit {
        sentence(format!("In {unit}."));
    }
    if key.required {
        sentence("Required.".to_owned());
    }
    if let Some(default) = key.default {
        sentence(format!("Default: {default}."));
    }
    match key.status {
        Status::Replaced(by) => sentence(format!("Replaced by `{by}`.")),
        Status::NoEffect(instead) => sentence(format!("It has no effect: {instead}.")),
        Status::Refused(..) => sentence("It is not supported.".to_owned()),
        _ => {}
    }
    text.push_str(&format!("\n\n```yaml\n{}\n```", key.written_example()));
    if !key.codes.is_empty() {
        let codes: Vec<String> = key.codes.iter().map(ToString::to_string).collect();
        text.push_str(&format!("\n\nDiagnostics: {}", codes.join(", ")));
    }
    text
}

/// What a type of graders does, in Markdown.
pub(super) fn of_grader(table: &Table) -> String {
    let example =
        if table.example.is_empty() { String::new() } else { format!("\n\n```yaml\n- {}\n```", table.example) };
    format!("**`{}`**\n\n{}{example}", table.id, table.doc)
}

/// What a value can be, in a few words.
fn value_of(value: &Type) -> String {
    match value {
        Type::Any => "any value".to_owned(),
        Type::AnyText | Type::NotEmpty | Type::Text | Type::Literal => "text".to_owned(),
        Type::Pattern(_, words) => (*words).to_owned(),
        Type::Boolean => "`true` or `false`".to_owned(),
        Type::Number(range) => range.words.to_owned(),
        Type::Integer(low, high) if *high > u64::from(u32::MAX) => format!("a whole number from {low}"),
        Type::Integer(low, high) => format!("a whole number from {low} to {high}"),
        Type::Choice(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
        Type::File => "path of a file".to_owned(),
        Type::Directory => "path of a directory".to_owned(),
        Type::Command => "a command".to_owned(),
        Type::Arguments => "a list of program and arguments".to_owned(),
        Type::Data | Type::GraderSettings | Type::Object(_) | Type::Map(_) => "a mapping".to_owned(),
        Type::List(_) | Type::Some(_) => "a list".to_owned(),
        Type::Grader => "a grader".to_owned(),
        Type::OneOf(types) => {
            let mut words: Vec<String> = types.iter().map(value_of).collect();
            words.dedup();
            words.join(" or ")
        }
    }
}
