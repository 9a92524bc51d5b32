//! Hover and completion: what keys and types of graders mean, and which keys, words, types and ids of cases can be written, from the tables
//! that the reference is made from.

use std::ops::Range;
use std::path::Path;

use evalsuite_loader::key_tables::{GRADERS, Key, Status, Table, Type};
use gen_lsp_types::{CompletionItem, CompletionItemKind, MarkupContent, MarkupKind, TextEdit};

use super::documents::{FileTree, scalar};
use super::key_types::{Expected, Shape, Spot, grader, shapes};
use super::positions::{Encoding, Lines};
use super::workspace::OpenSuite;

/// Markdown about what is at a byte, and the bytes that it is about.
pub(super) fn hover_at(tree: &FileTree, offset: usize) -> Option<(String, Range<usize>)> {
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
fn of_key(key: &Key) -> String {
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
fn of_grader(table: &Table) -> String {
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

/// Stands for the word that is being typed: without it, an empty one could not be found.
const CURSOR: char = '\u{E000}';

/// What can be written at a byte of a file.
pub(super) fn completions_at(
    path: &Path,
    text: &str,
    offset: usize,
    encoding: Encoding,
    suites: &[&OpenSuite],
) -> Vec<CompletionItem> {
    let (before, after) = text.split_at(offset);
    let with_cursor = format!("{before}{CURSOR}{after}");
    let Some(tree) = FileTree::read(path, &with_cursor) else { return Vec::new() };
    let spot = tree.at(offset);
    let lines = Lines::new(text, encoding);
    let mut list = Items { items: Vec::new(), is_json: tree.is_json, lines: &lines, replaced: 0..0 };
    // In the text without the cursor.
    let replaced = |range: &Range<usize>| range.start..range.end - CURSOR.len_utf8();
    if let Some(entry) = spot.entry.filter(|_| spot.is_key) {
        list.replaced = replaced(&entry.key_range);
        list.add_keys(&spot.shapes, spot.mapping.iter().map(|entry| entry.key.as_str()).collect(), !entry.is_complete);
        return list.items;
    }
    if spot.node.scalar().is_none_or(|text| !text.contains(CURSOR)) {
        return Vec::new();
    }
    list.replaced = replaced(&spot.node.range);
    list.add_values(&spot, suites);
    let own_line = with_cursor[..spot.node.range.start].rfind(['\n', '\r']).map_or(0, |end| end + 1);
    let is_after_key = spot.entry.is_some_and(|entry| entry.value == *spot.node && entry.key_range.start >= own_line);
    if !is_after_key && !tree.is_json {
        list.add_keys(&shapes(&spot.expected, &[]), Vec::new(), true);
    }
    list.items
}

struct Items<'l> {
    items: Vec<CompletionItem>,
    is_json: bool,
    lines: &'l Lines<'l>,
    replaced: Range<usize>,
}

impl Items<'_> {
    /// Keys that are not in the mapping yet.
    fn add_keys(&mut self, shapes: &[Shape], present: Vec<&str>, with_colon: bool) {
        let is_new = |name: &str| !present.contains(&name);
        for key in shapes.iter().flat_map(|shape| shape.keys()) {
            let known = self.items.iter().any(|item| item.label == key.name);
            if key.status != Status::Current || known || !is_new(key.name) || !key.or.is_none_or(is_new) {
                continue;
            }
            let quoted = self.quoted(key.name);
            let text = if with_colon { format!("{quoted}: ") } else { quoted };
            let order = if key.required { "0" } else { "1" };
            self.add(key.name, CompletionItemKind::Property, text, &of_key(key), order);
        }
    }

    fn add_values(&mut self, spot: &Spot<'_>, suites: &[&OpenSuite]) {
        if spot.is_grader_name() {
            for table in GRADERS {
                self.add_word(table.id, CompletionItemKind::EnumMember, &of_grader(table));
            }
            let includes = suites.iter().filter_map(|suite| suite.include.as_ref());
            for grader in includes.flat_map(|include| &include.binding.graders) {
                let name = grader.name.value();
                self.add(&name, CompletionItemKind::Function, self.quoted(&name), "A grader in Rust.", "0");
            }
        } else if spot.names_case() {
            for case in suites.iter().flat_map(|suite| suite.session.cases()) {
                let text = scalar(&case.id, self.is_json);
                self.add(&case.id, CompletionItemKind::Reference, text, "A case of the suite.", "1");
            }
        }
        let doc = spot.known_key().map(of_key).unwrap_or_default();
        for expected in &spot.expected {
            match expected {
                Expected::Type(Type::Choice(words)) => {
                    for word in *words {
                        self.add_word(word, CompletionItemKind::EnumMember, &doc);
                    }
                }
                Expected::Type(Type::Boolean) => {
                    for word in ["true", "false"] {
                        self.add(word, CompletionItemKind::Value, word.to_owned(), &doc, "1");
                    }
                }
                _ => {}
            }
        }
    }

    fn add_word(&mut self, word: &str, kind: CompletionItemKind, doc: &str) {
        self.add(word, kind, self.quoted(word), doc, "1");
    }

    fn quoted(&self, text: &str) -> String {
        if self.is_json { scalar(text, true) } else { text.to_owned() }
    }

    fn add(&mut self, label: &str, kind: CompletionItemKind, text: String, doc: &str, order: &str) {
        let edit = TextEdit { range: self.lines.range(self.replaced.clone()), new_text: text };
        self.items.push(CompletionItem {
            label: label.to_owned(),
            kind: Some(kind),
            documentation: Some(MarkupContent { kind: MarkupKind::Markdown, value: doc.to_owned() }.into()),
            sort_text: Some(format!("{order}{label}")),
            filter_text: self.is_json.then(|| scalar(label, true)),
            text_edit: Some(edit.into()),
            ..CompletionItem::default()
        });
    }
}
